// The least that any delivery can cost: a relay of durable writes to bare files, without an API server; nothing is decided.
//   node file-relay.mjs CERT KEY CA FOLDER MEMBERS HOPS BYTES [two]     prints its port
// A letter of HOPS is a write: u of the user, H one of the hub's for all members, h one of the hub's for each member, r a member's on the hub,
// m a member's on itself. Members live in this process and call the hub directly, or with `two` in one of their own and over https: a watch
// and a connection for writes each. The user posts to /, and /?of=user tells the last write for each member.
import { fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import https from 'node:https';
import { createInterface } from 'node:readline';

const [, , cert, key, ca, folder, count, hops, bytes, mode] = process.argv;
const text = 'x'.repeat(Number(bytes));
const all = Array.from({ length: Number(count) }, (_, member) => member);
const reading = (input, use) => createInterface({ input }).on('line', (line) => use(JSON.parse(line)));
const lineOf = (write) => `${JSON.stringify({ ...write, text })}\n`;
async function openLog(name, tell) {
  const handle = await open(`${folder}/${name}`, 'w');
  const gathering = [];
  let isFlushing = false;
  async function flush() {
    while (gathering.length > 0) {
      const batch = gathering.splice(0);
      await handle.write(batch.map(({ write }) => lineOf(write)).join(''));
      await handle.datasync();
      for (const { write, done } of batch) tell(write, done?.());
    }
    isFlushing = false;
  }
  return (write, done) => {
    gathering.push({ write, done });
    if (!isFlushing) setImmediate(flush);
    isFlushing = true;
  };
}

function goOn({ change, hop, member }, log) {
  const whom = hops[hop + 1] === 'h' && member === undefined ? all : [member];
  for (const each of whom) log({ change, hop: hop + 1, member: each });
}

/** What a member does when it hears of a write: what it writes on itself is its own affair. */
async function actor(onHub) {
  const act = (write) => goOn(write, hops[write.hop + 1] === 'm' ? own : onHub);
  const own = await openLog('members.log', act);
  return act;
}

async function hub() {
  const streams = new Map();
  const onHub = await openLog('hub.log', (write) => {
    if (write.hop === hops.length - 1) streams.get('user').write(lineOf(write));
    else if ('Hh'.includes(hops[write.hop + 1])) goOn(write, onHub);
    else if (act) act(write);
    else streams.get(String(write.member)).write(lineOf(write));
  });
  const act = mode ? undefined : await actor(onHub);
  const server = https.createServer({ cert: readFileSync(cert), key: readFileSync(key) }, (request, response) => {
    const [, who] = request.url.split('of=');
    if (who) streams.set(who, response) && response.flushHeaders();
    else reading(request, (write) => onHub(write, () => response.end('{}')));
  });
  const port = await new Promise((told) => server.listen(0, '127.0.0.1', () => told(server.address().port)));
  if (act) return console.log(port);
  const child = fork(process.argv[1], process.argv.slice(2, 9).concat(port)).once('message', () => console.log(port));
  process.once('SIGTERM', () => process.exit(child.kill('SIGKILL') ? 0 : 1)); // it would take our end for a failure
}

async function members(port) {
  const to = { ca: readFileSync(ca), host: '127.0.0.1', servername: 'localhost', port };
  const agents = all.map(() => new https.Agent({ keepAlive: true, maxSockets: 1 }));
  const post = ({ member }) => https.request({ ...to, method: 'POST', agent: agents[member] }, (got) => got.resume());
  const act = await actor((write) => post(write).end(lineOf(write)));
  const watch = (of) => new Promise((heard) => https.get({ ...to, path: `/?of=${of}`, agent: false }, heard));
  for (const member of all) reading(await watch(member), act);
  process.send('ready');
}

process.on('disconnect', () => process.exit());
await (mode === undefined || mode === 'two' ? hub() : members(Number(mode)));
