// A relay, that of baseline/transport-relay.mjs unless the file of the legs names another, on API servers like those of a fleet, with the transports that its controllers and agents have:
//   relay-process.mjs up DATA-DIR MEMBERS LEGS-FILE      servers of its own, as `flotilla up` has them: above 50 members in two processes
//   relay-process.mjs kube KUBECONFIG MEMBERS LEGS-FILE  servers that are there, with a context `hub` and one for each member
// Prints "ready". What it measures with is built, as the product is.
import { fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { hubKinds } from '../dist/api/kinds.js';
import { MASTERS } from '../dist/apiserver/auth/service-account.js';
import { directTransport } from '../dist/apiserver/direct.js';
import { wallClock } from '../dist/base/clock.js';
import { httpTransport } from '../dist/client/http.js';
import { connectionFrom } from '../dist/client/kubeconfig.js';
import { HUB, openEmbedded } from '../dist/main/embedded.js';
import { usualFleet } from '../dist/main/fleet.js';
import { startServers } from '../dist/main/members.js';

const MOST_IN_ONE_PROCESS = 50;
const [, , where, place, count, legsFile, part] = process.argv;
const legs = JSON.parse(readFileSync(legsFile, 'utf8'));
const { hubSide, memberSide } = await import(legs.relay ?? './baseline/transport-relay.mjs');
const fleet = usualFleet(Number(count));
const names = fleet.map(({ name }) => name);
const user = { name: 'relay', groups: [MASTERS] };
const kubeconfig = where === 'kube' ? place : join(place, 'kubeconfig');
const direct = ({ cluster }) => directTransport(cluster, user);
const overHttp = (context) => {
  const files = [{ text: readFileSync(kubeconfig, 'utf8'), readFile: (path) => readFileSync(path, 'utf8') }];
  return httpTransport(connectionFrom(files, context), { clock: wallClock });
};

const begin = {
  /** Everything in one process. */
  async up() {
    const embedded = await openEmbedded({ dataDir: place, port: 0 });
    const hub = direct(await embedded.start(HUB, hubKinds));
    const listening = await embedded.listen();
    if (names.length > MOST_IN_ONE_PROCESS) {
      const child = membersProcess();
      await embedded.writeKubeconfig(kubeconfig, listening.port, { names, port: await child.said() });
      await hubSide(hub, names, legs);
      await child.ready();
      return;
    }
    const servers = await startServers(embedded, fleet);
    await embedded.writeKubeconfig(kubeconfig, listening.port);
    await hubSide(hub, names, legs);
    await membersPart(
      () => hub,
      (name) => direct(servers.get(name)),
    );
  },
  async 'up members'() {
    const embedded = await openEmbedded({ dataDir: place, port: 0 }, { membersOnly: true });
    const servers = await startServers(embedded, fleet);
    process.send((await embedded.listen()).port);
    await new Promise((told) => process.once('message', told));
    await membersPart(
      () => overHttp(HUB),
      (name) => direct(servers.get(name)),
    );
    process.send('ready');
  },
  async kube() {
    const child = membersProcess();
    await hubSide(overHttp(HUB), names, legs);
    await child.ready();
  },
  async 'kube members'() {
    await new Promise((told) => process.once('message', told));
    await membersPart(() => overHttp(HUB), overHttp);
    process.send('ready');
  },
};

async function membersPart(hubFor, ownOf) {
  for (const name of names) await memberSide(name, hubFor(name), ownOf(name), legs);
}

function membersProcess() {
  const child = fork(process.argv[1], [...process.argv.slice(2), 'members']);
  const said = () => new Promise((told) => child.once('message', told));
  process.once('disconnect', () => child.kill());
  // Before the hub that it watches is gone, which it would call a failure.
  process.once('SIGTERM', () => {
    child.removeAllListeners('exit');
    child.kill('SIGKILL');
    process.exit();
  });
  child.once('exit', () => process.exit(1));
  return {
    said,
    ready() {
      child.send('go on');
      return said();
    },
  };
}

process.once('disconnect', () => process.exit());
await begin[part === undefined ? where : `${where} ${part}`]();
if (part === undefined) console.log('ready');
