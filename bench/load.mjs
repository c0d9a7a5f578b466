// Load from another process, cheap enough that the server is what is measured: raw TLS sockets, prepared requests, no client library.
// Takes jobs over IPC: { id, kind: 'requests' | 'once' | 'openWatch' | 'emit' | 'closeWatch', … } and answers { id, … }.
import { readFileSync } from 'node:fs';
import tls from 'node:tls';

const [, , certFile, keyFile, caFile] = process.argv;
const identity = {
  cert: readFileSync(certFile),
  key: readFileSync(keyFile),
  ca: readFileSync(caFile),
  servername: 'localhost',
};

const connect = (port) =>
  new Promise((resolve, reject) => {
    const socket = tls.connect({ ...identity, port, host: '127.0.0.1' }, () => {
      socket.off('error', reject);
      resolve(socket);
    });
    socket.setNoDelay(true);
    socket.on('error', reject);
  });

const text = ({ method, path, body, accept = 'application/json', type = 'application/json' }) =>
  `${method} ${path} HTTP/1.1\r\nhost: localhost\r\naccept: ${accept}\r\nuser-agent: load\r\n` +
  (body === undefined ? '\r\n' : `content-type: ${type}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);

/** One request at a time on a socket; resolves with status and length of the body. */
function exchange(socket, request) {
  return new Promise((resolve, reject) => {
    let seen = Buffer.alloc(0);
    let bodyStart = -1;
    let total = 0;
    let length;
    let isChunked = false;
    let status = 0;
    const fail = (why) => reject(new Error(why));
    const onData = (chunk) => {
      total += chunk.length;
      if (bodyStart < 0) {
        seen = seen.length === 0 ? chunk : Buffer.concat([seen, chunk]);
        bodyStart = seen.indexOf('\r\n\r\n');
        if (bodyStart < 0) return;
        bodyStart += 4;
        const head = seen.subarray(0, bodyStart).toString('latin1').toLowerCase();
        length = /content-length: (\d+)/.exec(head)?.[1];
        isChunked = head.includes('transfer-encoding: chunked');
        status = Number(head.slice(9, 12));
      }
      const isDone = isChunked ? chunk.subarray(-7).includes('0\r\n\r\n') : total - bodyStart >= Number(length ?? 0);
      if (!isDone) return;
      socket.off('data', onData);
      socket.off('close', onClose);
      if (status >= 400) fail(`${request.slice(0, 80)}: ${seen.toString().slice(0, 1500)}`);
      else resolve(total - bodyStart);
    };
    const onClose = () => fail('the server closed the connection');
    socket.on('data', onData);
    socket.once('close', onClose);
    socket.write(request);
  });
}

/** `count` requests over `clients` sockets; `{i}` in path and body is the running number. */
async function requests({ port, clients, count, method, path, body, type, from = 0 }) {
  const sockets = await Promise.all(Array.from({ length: clients }, () => connect(port)));
  const latencies = new Float64Array(count);
  let next = 0;
  const start = process.hrtime.bigint();
  await Promise.all(
    sockets.map(async (socket) => {
      for (let i = next++; i < count; i = next++) {
        const number = String(from + i);
        const request = text({
          method,
          path: path.replaceAll('{i}', number),
          body: body?.replaceAll('{i}', number),
          type,
        });
        const began = process.hrtime.bigint();
        await exchange(socket, request);
        latencies[i] = Number(process.hrtime.bigint() - began) / 1e6;
      }
    }),
  );
  const seconds = Number(process.hrtime.bigint() - start) / 1e9;
  for (const socket of sockets) socket.destroy();
  latencies.sort();
  return { perSecond: count / seconds, p50: latencies[count >> 1], p99: latencies[Math.floor(count * 0.99)] };
}

const watches = new Map();

/** Opens `watchers` streams under a name. */
async function openWatch({ port, watchers, path, name }) {
  const sockets = [];
  for (let opened = 0; opened < watchers; opened += 50) {
    sockets.push(...(await Promise.all(Array.from({ length: Math.min(50, watchers - opened) }, () => connect(port)))));
  }
  const watch = { sockets, writer: await connect(port), bytes: 0, wanted: Number.POSITIVE_INFINITY, done: () => {} };
  await Promise.all(
    sockets.map(
      (socket) =>
        new Promise((resolve) => {
          socket.on('data', (chunk) => {
            resolve();
            watch.bytes += chunk.length;
            if (watch.bytes >= watch.wanted) watch.done();
          });
          socket.write(text({ method: 'GET', path }));
        }),
    ),
  );
  watches.set(name, watch);
  return {};
}

/** Sends `events` writes one after the other: the time from each write to its last delivery. The first one tells how many bytes that is. */
async function emit({ name, events, method, path, body }) {
  const watch = watches.get(name);
  const write = (i) =>
    exchange(watch.writer, text({ method, path, body: body.replaceAll('{i}', String(i).padStart(6, '0')) }));
  const quiet = async () => {
    for (let last = -1; watch.bytes !== last; ) {
      last = watch.bytes;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  };
  await quiet();
  watch.bytes = 0;
  await write(0);
  await quiet();
  const perEvent = watch.bytes;
  const times = [];
  for (let i = 1; i <= events; i++) {
    watch.bytes = 0;
    watch.wanted = perEvent;
    const all = new Promise((resolve) => {
      watch.done = resolve;
    });
    const began = process.hrtime.bigint();
    await write(i);
    await all;
    times.push(Number(process.hrtime.bigint() - began) / 1e6);
  }
  watch.wanted = Number.POSITIVE_INFINITY;
  times.sort((a, b) => a - b);
  return { p50: times[times.length >> 1], p99: times[Math.floor(times.length * 0.99)], perEvent };
}

function closeWatch({ name }) {
  const { sockets, writer } = watches.get(name);
  for (const socket of [...sockets, writer]) socket.destroy();
  watches.delete(name);
  return {};
}

/** The same request again and again on one socket: median time and size of the answer. */
async function once({ port, path, times, method = 'GET' }) {
  const socket = await connect(port);
  const taken = [];
  let bytes = 0;
  for (let i = 0; i < times; i++) {
    const began = process.hrtime.bigint();
    bytes = await exchange(socket, text({ method, path }));
    taken.push(Number(process.hrtime.bigint() - began) / 1e6);
  }
  socket.destroy();
  taken.sort((a, b) => a - b);
  return { p50: taken[taken.length >> 1], bytes };
}

const jobs = { requests, openWatch, emit, closeWatch, once };
process.on('message', async ({ id, kind, ...job }) => {
  try {
    process.send({ id, result: await jobs[kind](job) });
  } catch (error) {
    process.send({ id, error: error.stack });
  }
});
process.on('disconnect', () => process.exit());
process.send({ id: 'ready' });
