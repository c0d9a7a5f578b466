import { once } from 'node:events';
import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import { connect, createServer, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { testClock } from '../../test/cluster.ts';
import { type ClosableHttp2Server, connectionTo, http2Server, portOf } from '../../test/conformance/subjects.ts';
import type { KubeObject } from '../api/object.ts';
import type { Request, WatchEvent } from '../api/transport.ts';
import { LostError } from '../base/errors.ts';
import { httpTransport } from './http.ts';
import { PING_MS, PONG_MS } from './http2.ts';

const resource = { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true };
const at = { resource, namespace: 'default', name: 'a' };
const object: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
const read: Request = { verb: 'get', at };
const write: Request = { verb: 'update', at, object, manager: 'test' };
const event = `${JSON.stringify({ type: 'ADDED', object })}\n`;

type Reply = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, nth: number) => void;

const isWatch = (headers: IncomingHttpHeaders) => String(headers[':path']).includes('watch=true');

/** Answers calls, and sends one event to every watch. */
const usual: Reply = (stream, headers) => {
  stream.respond({ ':status': 200 });
  if (isWatch(headers)) stream.write(event);
  else stream.end(JSON.stringify(object));
};

async function open(reply: Reply = usual, settings: Parameters<typeof http2Server>[0] = {}) {
  const server: ClosableHttp2Server = await http2Server(settings);
  let asked = 0;
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {});
    reply(stream, headers, asked++);
  });
  const clock = testClock();
  const transport = httpTransport(connectionTo(portOf(server)), { clock });
  return {
    server,
    clock,
    transport,
    asked: () => asked,
    async [Symbol.asyncDispose]() {
      transport.close();
      server.closeHard();
    },
  };
}

const outcome = (call: Promise<unknown>): Promise<unknown> => call.catch((error: unknown) => error);

function watching(transport: ReturnType<typeof httpTransport>) {
  const controller = new AbortController();
  const batches = transport.watch({ at: { resource } }, controller.signal)[Symbol.asyncIterator]();
  return {
    next: () => batches.next() as Promise<IteratorResult<readonly WatchEvent[]>>,
    stop: () => controller.abort(),
  };
}

describe('over HTTP/2', () => {
  test('all calls and watches share one connection', async () => {
    await using run = await open();
    let sessions = 0;
    run.server.on('session', () => sessions++);
    const watches = Array.from({ length: 40 }, () => watching(run.transport));
    const firsts = await Promise.all(watches.map((watch) => watch.next()));
    expect(firsts.every(({ value }) => value?.length === 1)).toBe(true);
    const answers = await Promise.all(Array.from({ length: 100 }, () => run.transport.call(write)));
    expect(answers.every((answer) => answer.object?.kind === 'ConfigMap')).toBe(true);
    expect(sessions).toBe(1);
    for (const watch of watches) watch.stop();
    expect((await Promise.all(watches.map((watch) => watch.next()))).every(({ done }) => done)).toBe(true);
  });

  test('watches beyond what the server allows on a connection open another one, and calls are not held up', async () => {
    await using run = await open(usual, { maxConcurrentStreams: 5 });
    let sessions = 0;
    run.server.on('session', () => sessions++);
    const watches = Array.from({ length: 12 }, () => watching(run.transport));
    await Promise.all(watches.map((watch) => watch.next()));
    expect((await run.transport.call(read)).object).toEqual(object);
    expect(sessions).toBe(3);
    for (const watch of watches) watch.stop();
  });

  test('a watch that nobody reads does not hold up the others', async () => {
    const large = `${JSON.stringify({ type: 'ADDED', object: { ...object, data: { text: 'x'.repeat(4_000_000) } } })}\n`;
    await using run = await open((stream, headers, nth) => {
      stream.respond({ ':status': 200 });
      // One watch is read; of the other one the client accepts only as much as fits into its window.
      if (nth === 0) for (const text of [large, large]) stream.write(text);
      else if (isWatch(headers)) stream.write(event);
      else stream.end(JSON.stringify(object));
    });
    const lazy = watching(run.transport);
    await lazy.next(); // the second one waits
    for (let i = 0; i < 3; i++) {
      expect((await run.transport.call(write)).object).toEqual(object);
      const other = watching(run.transport);
      expect((await other.next()).value).toHaveLength(1);
      other.stop();
    }
    lazy.stop();
  });

  test('a watch that is given up is reset, and the connection stays', async () => {
    const closed: number[] = [];
    await using run = await open((stream, headers, nth) => {
      stream.once('close', () => closed.push(stream.rstCode ?? -1));
      usual(stream, headers, nth);
    });
    const watch = watching(run.transport);
    await watch.next();
    watch.stop();
    await watch.next();
    await run.transport.call(read);
    await expect.poll(() => closed).toContain(constants.NGHTTP2_CANCEL);
    expect(run.server.sessions.size).toBe(1);
  });

  test('a request that the server refuses to look at goes out again, even a write', async () => {
    await using run = await open((stream, headers, nth) =>
      nth < 2 ? stream.close(constants.NGHTTP2_REFUSED_STREAM) : usual(stream, headers, nth),
    );
    expect((await run.transport.call(write)).object).toEqual(object);
    expect(run.asked()).toBe(3);
  });

  test('a server that refuses everything is not asked for ever', async () => {
    await using run = await open((stream) => stream.close(constants.NGHTTP2_REFUSED_STREAM));
    expect(await outcome(run.transport.call(write))).toMatchObject({ name: 'LostError', sent: false });
    expect(run.asked()).toBe(4);
  });

  test.each([
    { it: 'is reset', how: (stream: ServerHttp2Stream) => stream.close(constants.NGHTTP2_INTERNAL_ERROR) },
    { it: 'is cancelled', how: (stream: ServerHttp2Stream) => stream.close(constants.NGHTTP2_CANCEL) },
    { it: 'ends without an answer', how: (stream: ServerHttp2Stream) => stream.close(constants.NGHTTP2_NO_ERROR) },
    { it: 'loses its connection', how: (stream: ServerHttp2Stream) => stream.session?.destroy() },
    {
      it: 'is reset in the middle of the answer',
      how: (stream: ServerHttp2Stream) => {
        stream.respond({ ':status': 200 });
        stream.write('{"kind":', () => stream.close(constants.NGHTTP2_CANCEL));
      },
    },
    {
      it: 'loses its connection in the middle of the answer',
      how: (stream: ServerHttp2Stream) => {
        stream.respond({ ':status': 200 });
        stream.write('{"kind":', () => stream.session?.destroy());
      },
    },
  ])('a write that $it is lost and not repeated', async ({ how }) => {
    await using run = await open((stream) => void how(stream));
    expect(await outcome(run.transport.call(write))).toMatchObject({ name: 'LostError', sent: true });
    expect(run.asked()).toBe(1);
  });

  test.each([
    { it: 'resets', how: (stream: ServerHttp2Stream) => stream.destroy(new Error('a bug of the server')) },
    { it: 'cuts the connection of', how: (stream: ServerHttp2Stream) => stream.session?.destroy() },
  ])('a watch that the server $it is lost, not ended', async ({ how }) => {
    const opened: ServerHttp2Stream[] = [];
    await using run = await open((stream, headers, nth) => {
      opened.push(stream);
      usual(stream, headers, nth);
    });
    const watch = watching(run.transport);
    await watch.next();
    how(opened[0] as ServerHttp2Stream);
    expect(await outcome(watch.next())).toBeInstanceOf(LostError);
    // Later requests succeed.
    expect((await run.transport.call(write)).object).toEqual(object);
  });

  test('a connection that the server winds down finishes what it has; new requests go over a new one', async () => {
    const opened: ServerHttp2Stream[] = [];
    await using run = await open((stream, headers, nth) => {
      opened.push(stream);
      usual(stream, headers, nth);
    });
    let sessions = 0;
    run.server.on('session', () => sessions++);
    const watch = watching(run.transport);
    await watch.next();
    const [first] = run.server.sessions;
    first?.goaway(constants.NGHTTP2_NO_ERROR);
    await expect
      .poll(async () => {
        await run.transport.call(write);
        return sessions;
      })
      .toBe(2);
    opened[0]?.write(event);
    expect((await watch.next()).value).toHaveLength(1);
    opened[0]?.end();
    expect((await watch.next()).done).toBe(true);
  });

  test('a server that comes back elsewhere on the same port is found again', async () => {
    await using run = await open();
    await run.transport.call(read);
    for (const session of run.server.sessions) session.destroy();
    expect((await run.transport.call(read)).object).toEqual(object);
    expect((await run.transport.call(write)).object).toEqual(object);
  });
});

describe('a connection whose other end is gone', () => {
  test('is noticed by a ping, and everything on it is lost', async () => {
    await using run = await open((stream, headers, nth) => {
      if (nth < 2) usual(stream, headers, nth); // later ones are never answered
    });
    await using relay = await relayTo(portOf(run.server));
    const transport = httpTransport(connectionTo(relay.port), { clock: run.clock, timeoutMs: 10 * 60_000 });
    const watch = watching(transport);
    await watch.next();
    const next = outcome(watch.next());
    await transport.call(read);
    relay.freeze();
    const call = outcome(transport.call(write));
    await new Promise((resolve) => setImmediate(resolve));
    run.clock.advance(PING_MS);
    run.clock.advance(PONG_MS - 1);
    expect(relay.sockets.size).toBe(2);
    run.clock.advance(1);
    const message = expect.stringContaining('no answer to a ping');
    expect(await next).toMatchObject({ name: 'LostError', message });
    expect(await call).toMatchObject({ name: 'LostError', sent: true, message });
    transport.close();
  });

  test('is not taken for gone as long as it answers', async () => {
    await using run = await open();
    const watch = watching(run.transport);
    await watch.next();
    const [session] = run.server.sessions;
    for (let i = 0; i < 5; i++) {
      const pinged = once(session as NonNullable<typeof session>, 'ping');
      run.clock.advance(PING_MS);
      await pinged;
      // The response is on its way: a later call does not overtake it.
      await run.transport.call(read);
    }
    run.clock.advance(PONG_MS);
    expect((await run.transport.call(write)).object).toEqual(object);
    expect(run.server.sessions.size).toBe(1);
    watch.stop();
  });
});

/** Relays bytes until it stops without closing anything, like an unplugged cable. */
async function relayTo(port: number) {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('error', () => to.destroy());
      from.once('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: portOf(server),
    sockets,
    freeze() {
      for (const socket of sockets) {
        socket.unpipe();
        socket.pause();
      }
    },
    async [Symbol.asyncDispose]() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
