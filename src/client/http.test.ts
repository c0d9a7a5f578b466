import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { type TestClock, testClock } from '../../test/cluster.ts';
import { json, type Reply, type Scripted, scripted, status } from '../../test/conformance/scripted-server.ts';
import { connectionTo, portOf } from '../../test/conformance/subjects.ts';
import type { KubeObject } from '../api/object.ts';
import type { Request, WatchEvent } from '../api/transport.ts';
import { AbortError, ApiError, LostError } from '../base/errors.ts';
import type { Connection } from './connection.ts';
import { type HttpOptions, httpTransport } from './http.ts';

const resource = { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true };
const at = { resource, namespace: 'default', name: 'a' };
const object: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
const read: Request = { verb: 'get', at };
const write: Request = { verb: 'update', at, object, manager: 'test' };
const ok: Reply = (response) => json(response, object);

const plain = ({ port }: { readonly port: number }, more: Partial<Connection> = {}): Connection => ({
  server: `http://127.0.0.1:${port}`,
  insecure: false,
  namespace: 'default',
  ...more,
});

function transportTo(
  server: Scripted,
  options: Partial<HttpOptions> & { readonly connection?: Partial<Connection> } = {},
) {
  const clock = countingClock();
  const transport = httpTransport(plain(server, options.connection), { clock, ...options });
  return { clock, transport, [Symbol.dispose]: () => transport.close() };
}

interface CountingClock extends TestClock {
  /** Pending timers: all, or those with a name. */
  pending(named?: string): number;
}

function countingClock(): CountingClock {
  const inner = testClock();
  const timers = new Set<{ readonly name: string }>();
  return {
    ...inner,
    pending: (named) => [...timers].filter(({ name }) => named === undefined || name === named).length,
    at(epochMs, name, run) {
      const timer = { name };
      timers.add(timer);
      const cancel = inner.at(epochMs, name, () => {
        timers.delete(timer);
        run();
      });
      return () => {
        timers.delete(timer);
        cancel();
      };
    },
  };
}

const outcome = (call: Promise<unknown>): Promise<unknown> => call.catch((error: unknown) => error);

describe('a call without an answer', () => {
  test.each([
    { it: 'a read', request: read, line: 'GET /api/v1/namespaces/default/configmaps/a' },
    { it: 'a write', request: write, line: 'PUT /api/v1/namespaces/default/configmaps/a?fieldManager=test' },
  ])('$it whose server dies after it has read the request is lost, and is not repeated', async ({ request, line }) => {
    await using server = await scripted((response) => response.destroy());
    using client = transportTo(server);
    const error = await outcome(client.transport.call(request));
    expect(error).toBeInstanceOf(LostError);
    expect(error).toMatchObject({ sent: true, message: expect.stringContaining(`no answer to ${line}`) });
    expect(server.asked).toHaveLength(1);
  });

  test('that breaks off half-way is lost', async () => {
    await using server = await scripted((response) => {
      response.writeHead(200, { 'Content-Length': 1000 });
      response.write('{"kind":', () => response.destroy());
    });
    using client = transportTo(server);
    expect(await outcome(client.transport.call(write))).toMatchObject({ name: 'LostError', sent: true });
  });

  test('because nobody listens was never sent', async () => {
    const server = await scripted(ok);
    await server[Symbol.asyncDispose]();
    using client = transportTo(server);
    const error = await outcome(client.transport.call(write));
    expect(error).toMatchObject({ name: 'LostError', sent: false, message: expect.stringContaining('ECONNREFUSED') });
  });

  test('takes a minute at most, by the clock', async () => {
    await using server = await scripted(() => {});
    using client = transportTo(server);
    const call = outcome(client.transport.call(write));
    await server.seen(1);
    client.clock.advance(59_999);
    client.clock.advance(1);
    expect(await call).toMatchObject({
      name: 'LostError',
      sent: true,
      message: expect.stringContaining('it took longer than 60 s'),
    });
    expect(server.asked).toHaveLength(1);
  });

  test('in the middle of its body takes a minute at most, too', async () => {
    await using server = await scripted((response) => void response.write('{'));
    using client = transportTo(server, { timeoutMs: 5_000 });
    const call = outcome(client.transport.call(read));
    await server.seen(1);
    client.clock.advance(5_000);
    expect(await call).toMatchObject({ name: 'LostError', message: expect.stringContaining('longer than 5 s') });
  });

  test('whose connection takes too long was never sent', async () => {
    const mute = createServer(() => {});
    mute.listen(0, '127.0.0.1');
    await once(mute, 'listening');
    const clock = testClock();
    const transport = httpTransport(connectionTo(portOf(mute)), { clock });
    const accepted = once(mute, 'connection');
    const call = outcome(transport.call(write));
    const [socket] = await accepted;
    await once(socket, 'readable'); // the client has sent its hello and waits
    clock.advance(15_000);
    expect(await call).toMatchObject({
      name: 'LostError',
      sent: false,
      message: expect.stringContaining('no connection to 127.0.0.1'),
    });
    socket.destroy();
    mute.close();
  });

  test('that was waiting when the transport is closed is lost; later ones are not sent', async () => {
    await using server = await scripted(() => {});
    using client = transportTo(server);
    const call = outcome(client.transport.call(write));
    await server.seen(1);
    client.transport.close();
    expect(await call).toMatchObject({ name: 'LostError', sent: true });
    expect(await outcome(client.transport.call(read))).toMatchObject({ name: 'LostError', sent: false });
  });
});

describe('a connection that the server has closed meanwhile', () => {
  // The second request on a connection finds it closed.
  const server = () =>
    scripted((response, _, nth) => {
      if (nth === 1) response.socket?.destroy();
      else json(response, object);
    });

  test('does not matter to a read: it goes out again', async () => {
    await using running = await server();
    using client = transportTo(running);
    await client.transport.call(read);
    expect((await client.transport.call(read)).object).toEqual(object);
    expect(running.asked).toHaveLength(3);
    expect(running.connections).toBe(2);
  });

  test('makes a write lost: the server may have done it', async () => {
    await using running = await server();
    using client = transportTo(running);
    await client.transport.call(read);
    expect(await outcome(client.transport.call(write))).toMatchObject({ name: 'LostError', sent: true });
    expect(running.asked).toHaveLength(2);
  });

  test('is used again for as long as it is open', async () => {
    await using running = await scripted(ok);
    using client = transportTo(running);
    for (let i = 0; i < 5; i++) await client.transport.call(write);
    expect(running.connections).toBe(1);
  });
});

describe('a server that asks us to come back later', () => {
  const busy =
    (times: number, code: number, headers: Record<string, string> = { 'Retry-After': '2' }): Reply =>
    (response, _, nth) =>
      nth < times ? json(response, status(code, 'TooManyRequests'), code, headers) : json(response, object);

  test.each([
    { it: 'a read', request: read },
    { it: 'a write', request: write },
  ])('gets $it again when the time has come, not before', async ({ request }) => {
    await using server = await scripted(busy(2, 429));
    using client = transportTo(server);
    const call = client.transport.call(request);
    for (const asked of [1, 2]) {
      await server.seen(asked);
      await waits(client.clock);
      client.clock.advance(1_999);
      await new Promise((resolve) => setImmediate(resolve));
      expect(server.asked).toHaveLength(asked);
      client.clock.advance(1);
    }
    expect((await call).object).toEqual(object);
    expect(server.asked).toHaveLength(3);
  });

  /** Rejects requests while another one is in flight. `answer()` ends that. */
  async function onlyOneAtATime() {
    const underWay: (() => void)[] = [];
    let refused = 0;
    const server = await scripted((response) => {
      if (underWay.length === 0) {
        underWay.push(() => {
          underWay.pop();
          json(response, object);
        });
      } else {
        refused++;
        json(response, status(429, 'TooManyRequests'), 429, { 'Retry-After': '2' });
      }
    });
    return Object.assign(server, { answer: () => underWay[0]?.(), refused: () => refused });
  }

  test('gets those that it refused together, and those that come after them, one after the other', async () => {
    await using server = await onlyOneAtATime();
    const told: ApiError[] = [];
    using client = transportTo(server, { onThrottled: (error) => told.push(error) });
    const together = [1, 2, 3, 4].map(() => client.transport.call(write));
    await server.seen(4);
    await waits(client.clock, 3);
    server.answer();
    await Promise.race(together);
    client.clock.advance(2_000);
    const later = [1, 2].map(() => client.transport.call(read));
    for (let asked = 5; asked <= 9; asked++) {
      await server.seen(asked);
      await new Promise((resolve) => setImmediate(resolve));
      server.answer();
    }
    await Promise.all([...together, ...later]);
    expect(server.asked).toHaveLength(9);
    expect({ refused: server.refused(), told }).toEqual({
      refused: 3,
      told: Array.from({ length: 3 }, () => expect.objectContaining({ code: 429, message: 'TooManyRequests!' })),
    });
  });

  test('without saying when is asked a second later', async () => {
    await using server = await scripted(busy(1, 429, {}));
    using client = transportTo(server);
    const call = client.transport.call(write);
    await server.seen(1);
    await waits(client.clock);
    client.clock.advance(1_000);
    expect((await call).object).toEqual(object);
  });

  test('may also say it in its Status', async () => {
    await using server = await scripted((response, _, nth) =>
      nth === 0
        ? json(response, status(429, 'TooManyRequests', { details: { retryAfterSeconds: 7 } }), 429)
        : json(response, object),
    );
    using client = transportTo(server);
    const call = client.transport.call(write);
    await server.seen(1);
    await waits(client.clock);
    client.clock.advance(6_999);
    expect(server.asked).toHaveLength(1);
    client.clock.advance(1);
    expect((await call).object).toEqual(object);
  });

  test('is not asked for ever', async () => {
    await using server = await scripted(busy(99, 429, { 'Retry-After': '1' }));
    using client = transportTo(server);
    const call = outcome(client.transport.call(write));
    for (let i = 1; i <= 8; i++) {
      await server.seen(i);
      await waits(client.clock);
      client.clock.advance(1_000);
    }
    expect(await call).toMatchObject({ name: 'ApiError', code: 429, details: { retryAfterSeconds: 1 } });
    expect(server.asked).toHaveLength(9);
  });

  test('for longer than the call may take is believed at once', async () => {
    await using server = await scripted(busy(99, 429, { 'Retry-After': '60' }));
    using client = transportTo(server);
    const error = await outcome(client.transport.call(write));
    expect(error).toMatchObject({ name: 'ApiError', code: 429, details: { retryAfterSeconds: 60 } });
  });

  test.each([
    {
      it: 'a read again after a 503 that says when',
      request: read,
      code: 503,
      headers: { 'Retry-After': '2' },
      asked: 2,
    },
    { it: 'no write again after a 503', request: write, code: 503, headers: { 'Retry-After': '2' }, asked: 1 },
    { it: 'no read again after a 503 that does not say when', request: read, code: 503, headers: {}, asked: 1 },
    { it: 'no read again after a 500', request: read, code: 500, headers: { 'Retry-After': '2' }, asked: 1 },
  ])('gets $it', async ({ request, code, headers, asked }) => {
    await using server = await scripted(busy(1, code, headers as Record<string, string>));
    using client = transportTo(server);
    const call = outcome(client.transport.call(request));
    await server.seen(1);
    if (asked > 1) await waits(client.clock);
    client.clock.advance(2_000);
    expect(await call).toMatchObject(asked > 1 ? { object } : { name: 'ApiError', code });
    expect(server.asked).toHaveLength(asked);
  });

  test('holds up the opening of a watch in the same way', async () => {
    await using server = await scripted((response, _, nth) =>
      nth === 0
        ? json(response, status(429, 'TooManyRequests'), 429, { 'Retry-After': '1' })
        : response.end(`${JSON.stringify({ type: 'ADDED', object })}\n`),
    );
    using client = transportTo(server);
    const events = collect(client.transport.watch({ at: { resource } }, new AbortController().signal));
    await server.seen(1);
    await waits(client.clock);
    client.clock.advance(1_000);
    expect(await events).toEqual([{ type: 'ADDED', object }]);
  });
});

describe('an abort', () => {
  test.each([
    { phase: 'waits for headers', reply: (() => {}) as Reply },
    { phase: 'waits for the rest of the body', reply: ((response) => void response.write('{')) as Reply },
    {
      phase: 'waits because the server asked it to',
      reply: ((response) => json(response, status(429, 'TooManyRequests'), 429, { 'Retry-After': '9' })) as Reply,
    },
  ])('ends a call that $phase', async ({ reply }) => {
    await using server = await scripted(reply);
    using client = transportTo(server);
    const controller = new AbortController();
    const call = outcome(client.transport.call(write, controller.signal));
    await server.seen(1);
    await new Promise((resolve) => setImmediate(resolve));
    controller.abort();
    expect(await call).toBeInstanceOf(AbortError);
    expect(server.asked).toHaveLength(1);
  });

  test('ends a call that waits for a connection', async () => {
    const mute = createServer(() => {});
    mute.listen(0, '127.0.0.1');
    await once(mute, 'listening');
    const transport = httpTransport(connectionTo(portOf(mute)), { clock: testClock() });
    const accepted = once(mute, 'connection');
    const controller = new AbortController();
    const call = outcome(transport.call(write, controller.signal));
    const watching = outcome(collect(transport.watch({ at: { resource } }, controller.signal)));
    const [socket] = await accepted;
    controller.abort();
    expect(await call).toBeInstanceOf(AbortError);
    expect(await watching).toEqual([]);
    transport.close();
    socket.destroy();
    mute.close();
  });

  test('leaves no timer behind', async () => {
    await using server = await scripted(ok);
    const clock = countingClock();
    const transport = httpTransport(plain(server), { clock });
    await transport.call(read);
    const controller = new AbortController();
    const call = outcome(transport.call(read, controller.signal));
    controller.abort();
    await call;
    transport.close();
    expect(clock.pending()).toBe(0);
  });
});

describe('an answer', () => {
  test.each([
    { it: 'that is no JSON', body: '<html>', error: { name: 'LostError', sent: true } },
    {
      it: 'that is nested too deep',
      body: `${'['.repeat(200_000)}${']'.repeat(200_000)}`,
      error: { name: 'LostError' },
    },
    { it: 'that is empty', body: '', error: { name: 'LostError' } },
  ])('$it is lost', async ({ body, error }) => {
    await using server = await scripted((response) => response.end(body));
    using client = transportTo(server);
    expect(await outcome(client.transport.call(write))).toMatchObject(error);
  });

  test.each([
    { it: 'plain text', code: 502, body: 'bad gateway\n', error: { code: 502, reason: '', message: 'bad gateway' } },
    { it: 'nothing', code: 404, body: '', error: { code: 404, message: 'the server answered 404' } },
    { it: 'JSON that is no Status', code: 418, body: '[1]', error: { code: 418, message: 'the server answered 418' } },
    { it: 'a redirection', code: 302, body: 'elsewhere', error: { code: 302, message: 'elsewhere' } },
    {
      it: 'a Status with strange fields',
      code: 400,
      body: '{"kind":"Status","message":7,"reason":{"a":1},"details":"x","code":"y"}',
      error: { code: 400, reason: '', message: 'the server answered 400', details: undefined },
    },
  ])('that says no with $it is an ApiError', async ({ code, body, error }) => {
    await using server = await scripted((response) => response.writeHead(code).end(body));
    using client = transportTo(server);
    const refused = await outcome(client.transport.call(write));
    expect(refused).toBeInstanceOf(ApiError);
    expect(refused).toMatchObject(error);
    expect(server.asked).toHaveLength(1);
  });

  test('may carry warnings', async () => {
    const warning = '299 - "first \\"quoted\\" one", 299 - "second, with a comma"';
    await using server = await scripted((response) => json(response, object, 200, { Warning: warning }));
    using client = transportTo(server);
    const { warnings } = await client.transport.call(write);
    expect(warnings).toEqual(['first "quoted" one', 'second, with a comma']);
  });

  test('that is a list of a built-in kind has kinds in its items', async () => {
    const list = { kind: 'ConfigMapList', apiVersion: 'v1', metadata: { resourceVersion: '7' } };
    await using server = await scripted((response, _, nth) =>
      json(response, { ...list, items: nth === 0 ? [{ metadata: { name: 'a' } }] : null }),
    );
    using client = transportTo(server);
    const full = await client.transport.call({ verb: 'list', at: { resource } });
    expect(full.list?.items).toEqual([object]);
    const empty = await client.transport.call({ verb: 'list', at: { resource } });
    expect(empty.list).toEqual({ ...list, items: [] });
  });

  test('does not let a hostile server change what all objects inherit', async () => {
    await using server = await scripted((response) =>
      response.end('{"__proto__":{"polluted":1},"kind":"X","metadata":{}}'),
    );
    using client = transportTo(server);
    await client.transport.call(read);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });
});

describe('a request', () => {
  test('goes below the prefix of the server', async () => {
    await using server = await scripted(ok);
    using client = transportTo(server, { connection: { server: `http://127.0.0.1:${server.port}/clusters/one` } });
    await client.transport.call(read);
    expect(server.asked[0]?.path).toBe('/clusters/one/api/v1/namespaces/default/configmaps/a');
  });

  test('says who asks, and as whom', async () => {
    await using server = await scripted(ok);
    const impersonate = { user: 'jane', uid: 'u-1', groups: ['a', 'b'], extra: { 'example.dev/Scope': ['x', 'y'] } };
    using client = transportTo(server, { connection: { token: 'secret', impersonate }, userAgent: 'tests/1' });
    await client.transport.call(write);
    expect(server.asked[0]?.headers).toMatchObject({
      authorization: 'Bearer secret',
      'user-agent': 'tests/1',
      'impersonate-user': 'jane',
      'impersonate-uid': 'u-1',
      'impersonate-group': 'a, b',
      'impersonate-extra-example.dev%2fscope': 'x, y',
      'content-type': 'application/json',
    });
  });

  test('that HTTP has no form for is not sent', async () => {
    await using server = await scripted(ok);
    using client = transportTo(server, { connection: { impersonate: { user: 'a\nb', groups: [], extra: {} } } });
    expect(await outcome(client.transport.call(write))).toMatchObject({ name: 'LostError', sent: false });
    expect(server.asked).toEqual([]);
  });

  test.each(['.', '..'])('for the name "%s" is refused, lest somebody on the way tidies up the path', async (name) => {
    await using server = await scripted(ok);
    using client = transportTo(server);
    expect(await outcome(client.transport.call({ verb: 'delete', at: { ...at, name } }))).toMatchObject({ code: 400 });
    expect(server.asked).toEqual([]);
  });

  test('for any other name arrives with it', async () => {
    await using server = await scripted(ok);
    using client = transportTo(server);
    await client.transport.call({ verb: 'get', at: { ...at, name: 'system:a/b ?#%é' } });
    expect(decodeURIComponent(server.asked[0]?.path.split('/').at(-1) ?? '')).toBe('system:a/b ?#%é');
  });

  test('many at once share a bounded number of connections', async () => {
    await using server = await scripted((response) => setImmediate(() => json(response, object)));
    using client = transportTo(server);
    await Promise.all(Array.from({ length: 200 }, () => client.transport.call(read)));
    expect(server.asked).toHaveLength(200);
    expect(server.connections).toBeLessThanOrEqual(32);
  });
});

describe('a watch', () => {
  const line = (type: string, value: unknown) => `${JSON.stringify({ type, object: value })}\n`;

  test('reads events however they are cut into pieces', async () => {
    const named = ['é', '🚢', 'z'].map((name) => ({ ...object, metadata: { name } }));
    const bytes = Buffer.from(`${named.map((each) => line('ADDED', each)).join('\n')}`);
    await using server = await scripted(async (response) => {
      for (const byte of bytes) {
        response.write(Buffer.of(byte));
        await new Promise((resolve) => setImmediate(resolve));
      }
      response.end();
    });
    using client = transportTo(server);
    const events = await collect(client.transport.watch({ at: { resource } }, new AbortController().signal));
    expect(events).toEqual(named.map((each) => ({ type: 'ADDED', object: each })));
  });

  test('gives what came before an error, then the error', async () => {
    const gone = status(410, 'Expired');
    await using server = await scripted((response) => response.end(line('ADDED', object) + line('ERROR', gone)));
    using client = transportTo(server);
    const seen: WatchEvent[] = [];
    const error = await outcome(
      collect(client.transport.watch({ at: { resource } }, new AbortController().signal), seen),
    );
    expect(seen).toEqual([{ type: 'ADDED', object }]);
    expect(error).toMatchObject({ name: 'ApiError', code: 410, reason: 'Expired' });
  });

  test.each([
    { it: 'breaks off', reply: (response, kill) => void response.write(line('ADDED', object), kill) },
    { it: 'breaks off inside an event', reply: (response, kill) => void response.write('{"type":"ADD', kill) },
    { it: 'speaks no JSON', reply: (response) => void response.write('rubbish\n') },
  ] as readonly { it: string; reply: (response: Parameters<Reply>[0], kill: () => void) => void }[])(
    'that $it is lost',
    async ({ reply }) => {
      await using server = await scripted((response) => reply(response, () => response.destroy()));
      using client = transportTo(server);
      const error = await outcome(collect(client.transport.watch({ at: { resource } }, new AbortController().signal)));
      expect(error).toBeInstanceOf(LostError);
    },
  );

  test('that is open long after its timeout has nobody at its other end', async () => {
    await using server = await scripted((response) => void response.write(line('ADDED', object)));
    using client = transportTo(server);
    const iterator = client.transport
      .watch({ at: { resource }, timeoutSeconds: 100 }, new AbortController().signal)
      [Symbol.asyncIterator]();
    expect((await iterator.next()).value).toHaveLength(1);
    const next = outcome(iterator.next());
    client.clock.advance(129_999);
    await new Promise((resolve) => setImmediate(resolve));
    client.clock.advance(1);
    expect(await next).toMatchObject({ name: 'LostError', message: expect.stringContaining('long after its timeout') });
  });

  test('goes on beside calls on other connections, and lets go of its own', async () => {
    await using server = await scripted((response, { path }) =>
      path.includes('watch=true') ? void response.write(line('ADDED', object)) : json(response, object),
    );
    using client = transportTo(server);
    const controller = new AbortController();
    const watching = collect(client.transport.watch({ at: { resource } }, controller.signal));
    await server.seen(1);
    await client.transport.call(read);
    expect(server.sockets.size).toBe(2);
    const [socket] = server.sockets;
    const closed = once(socket as NonNullable<typeof socket>, 'close');
    controller.abort();
    expect(await watching).toEqual([{ type: 'ADDED', object }]);
    await closed;
    expect(server.sockets.size).toBe(1);
  });

  test('that is endless text without an event is lost, not kept', async () => {
    await using server = await scripted((response) => {
      const megabyte = Buffer.alloc(1024 * 1024, 'x');
      const more = () => {
        while (!response.destroyed && response.write(megabyte));
        if (!response.destroyed) response.once('drain', more);
      };
      more();
    });
    using client = transportTo(server);
    const error = await outcome(collect(client.transport.watch({ at: { resource } }, new AbortController().signal)));
    expect(error).toMatchObject({ name: 'LostError', message: expect.stringContaining('without a line end') });
  });
});

async function collect(batches: AsyncIterable<readonly WatchEvent[]>, into: WatchEvent[] = []): Promise<WatchEvent[]> {
  for await (const batch of batches) into.push(...batch);
  return into;
}

/** Resolves when the client has read the response and set its retry timer; the call's own timer already exists. */
async function waits(clock: CountingClock, calls = 1): Promise<void> {
  while (clock.pending('server asked to come back later') < calls)
    await new Promise((resolve) => setImmediate(resolve));
}
