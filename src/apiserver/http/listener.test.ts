import { request as httpsRequest } from 'node:https';
import { connect, type Socket } from 'node:net';
import { type ConnectionOptions, type TLSSocket, connect as tlsConnect } from 'node:tls';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { wallClock } from '../../base/clock.ts';
import { UserError } from '../../base/errors.ts';
import { systemRandom } from '../../base/random.ts';
import { createAuthority, DAY_MS, issueClientCertificate, issueServerCertificate } from '../auth/certificates.ts';
import { loopbackFault } from './loopback.ts';
import { aCluster, aConfigMap, aServer, type TestServer } from './server.testing.ts';
import { type Listening, serve } from './server.ts';

let server: TestServer | undefined;
let secure: Listening | undefined;
afterEach(async () => {
  await server?.close();
  await secure?.close();
  server = undefined;
  secure = undefined;
});

const issuing = { now: Date.now(), random: systemRandom, lifetimeMs: DAY_MS };
const authority = createAuthority({ ...issuing, name: 'ca' });
const stranger = createAuthority({ ...issuing, name: 'ca' });
const own = issueServerCertificate(authority, { ...issuing, hosts: ['127.0.0.1', 'localhost'] });
const certificateOf = (ca: typeof authority, user: string) =>
  issueClientCertificate(ca, { ...issuing, user, groups: ['devs', 'admins'] });

const aSecureServer = async () => {
  const seen: unknown[] = [];
  const cluster = aCluster({
    allows(user) {
      seen.push(user);
      return true;
    },
  });
  secure = await serve({
    clusters: () => cluster,
    host: '127.0.0.1',
    port: 0,
    tls: { key: own.privateKey, certificate: own.certificate, clientCa: authority.certificate },
    clock: wallClock,
    limits: { closeMs: 200 },
  });
  return seen;
};

const ask = (options: Record<string, unknown>): Promise<number> =>
  new Promise((resolve, reject) => {
    const about = {
      host: '127.0.0.1',
      port: secure?.port,
      path: '/api/v1/nodes',
      ca: authority.certificate,
      agent: false,
      ...options,
    };
    httpsRequest(about, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    })
      .on('error', reject)
      .end();
  });

describe('a connection', () => {
  const limits = { closeMs: 200, headersMs: 300, requestMs: 300, checkMs: 50, keepAliveMs: 300, idleMs: 300 };
  const start = async (more: object = {}) => {
    const cluster = aCluster();
    secure = await serve({
      clusters: () => cluster,
      host: '127.0.0.1',
      port: 0,
      tls: { key: own.privateKey, certificate: own.certificate, clientCa: authority.certificate },
      clock: wallClock,
      limits: { ...limits, ...more },
    });
    return { cluster, listening: secure };
  };
  const sockets: Socket[] = [];
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });
  const opened = <T extends Socket>(socket: T): T => {
    socket.on('error', () => {});
    sockets.push(socket);
    return socket;
  };
  const secured = (bytes = ''): Promise<TLSSocket> =>
    new Promise((resolve) => {
      const about = { host: '127.0.0.1', port: secure?.port as number, ca: authority.certificate };
      const socket = opened(
        tlsConnect(about, () => {
          socket.pause();
          socket.write(bytes);
          resolve(socket);
        }),
      );
    });
  const asking = (path: string) => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer t-x\r\n\r\n`;
  /** No client reads, so only the server shows that it has closed the connection. */
  const closed = (listening: Listening) =>
    vi.waitFor(() => expect(listening.load.connections).toBe(0), { timeout: 60_000, interval: 10 });

  test.each<{ it: string; open: () => unknown }>([
    { it: 'that never begins with TLS', open: () => opened(connect(secure?.port as number, '127.0.0.1')) },
    { it: 'that sends nothing after the handshake', open: () => secured() },
    { it: 'that sends half of a request', open: () => secured('GET / HTTP/1.1\r\nHost:') },
    { it: 'that sends nothing after a request', open: () => secured(asking('/readyz')) },
  ])('$it is closed', async ({ open }) => {
    const { listening } = await start();
    for (let at = 0; at < 5; at++) await open();
    await vi.waitFor(() => expect(listening.load.connections).toBeGreaterThan(0), { timeout: 60_000, interval: 1 });
    await closed(listening);
  });

  test('whose answer is not read is closed', async () => {
    const { cluster, listening } = await start({ keepAliveMs: 60_000 });
    cluster.seed([aConfigMap('big', { big: 'x'.repeat(1_400_000) })]);
    const socket = await secured();
    // Enough to fill the buffers of the operating system.
    for (let at = 0; at < 16; at++) socket.write(asking('/api/v1/namespaces/default/configmaps/big'));
    await closed(listening);
  });

  test('with a watch on which nothing happens stays', async () => {
    const { cluster, listening } = await start();
    const watching = await secured(asking('/api/v1/namespaces/default/configmaps?watch=1'));
    let text = '';
    watching.on('data', (chunk) => {
      text += chunk;
    });
    watching.resume();
    await vi.waitFor(() => expect(listening.load.watches).toBe(1), { timeout: 60_000 });
    // Other connections are opened and closed for being idle, one after the other, for longer than the idle timeout.
    for (let at = 0; at < 3; at++) {
      await secured();
      await vi.waitFor(() => expect(listening.load.connections).toBe(1), { timeout: 60_000, interval: 10 });
    }
    cluster.seed([aConfigMap('news')]);
    await vi.waitFor(() => expect(text).toContain('uid-news'), { timeout: 60_000 });
  });
});

test('which clusters there are is told to nobody without a credential', async () => {
  const cluster = aCluster();
  secure = await serve({
    clusters: (name) => (name === '' || name === 'm1' ? cluster : undefined),
    host: '127.0.0.1',
    port: 0,
    tls: { key: own.privateKey, certificate: own.certificate, clientCa: authority.certificate },
    clock: wallClock,
    limits: { closeMs: 200 },
  });
  for (const path of ['/healthz', '/readyz', '/version', '/api/v1/nodes', '/']) {
    for (const headers of [{}, { authorization: 'Bearer wrong' }]) {
      const codes = await Promise.all(['m1', 'm2'].map((name) => ask({ path: `/clusters/${name}${path}`, headers })));
      expect(codes, path).toEqual([401, 401]);
    }
  }
  const headers = { authorization: 'Bearer t-bob' };
  expect(await ask({ path: '/clusters/m1/healthz', headers })).toBe(200);
  expect(await ask({ path: '/clusters/m2/healthz', headers })).toBe(404);
  expect(await ask({ path: '/healthz' })).toBe(200);
});

describe('over https', () => {
  test('a client is who its certificate says, if our CA signed it; else nobody', async () => {
    const seen = await aSecureServer();
    const alice = certificateOf(authority, 'alice');
    expect(await ask({ key: alice.privateKey, cert: alice.certificate })).toBe(200);
    const mallory = certificateOf(stranger, 'alice');
    expect(await ask({ key: mallory.privateKey, cert: mallory.certificate })).toBe(200);
    expect(await ask({})).toBe(200);
    expect(await ask({ headers: { authorization: 'Bearer t-bob' } })).toBe(200);
    expect(await ask({ headers: { authorization: 'Bearer wrong' } })).toBe(401);
    expect(seen.map((user) => (user as { name: string }).name)).toEqual([
      'alice',
      'system:anonymous',
      'system:anonymous',
      'bob',
    ]);
    expect(seen[0]).toMatchObject({ groups: ['devs', 'admins'] });
  });

  test('a resumed session without a certificate is nobody, with one still the same', async () => {
    const seen = await aSecureServer();
    const alice = certificateOf(authority, 'alice');
    const get = 'GET /api/v1/nodes HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
    const once = (options: object): Promise<Buffer | undefined> =>
      new Promise((resolve, reject) => {
        let session: Buffer | undefined;
        const about: ConnectionOptions = {
          host: '127.0.0.1',
          port: secure?.port,
          ca: authority.certificate,
          ...options,
        };
        const socket: TLSSocket = tlsConnect(about, () => socket.write(get));
        socket.on('session', (ticket: Buffer) => {
          session = ticket;
        });
        socket.on('error', reject).on('close', () => resolve(session));
        socket.resume();
      });
    const anonymous = await once({});
    await once({ session: anonymous });
    const certified = await once({ key: alice.privateKey, cert: alice.certificate });
    await once({ key: alice.privateKey, cert: alice.certificate, session: certified });
    expect(seen.map((user) => (user as { name: string }).name)).toEqual([
      'system:anonymous',
      'system:anonymous',
      'alice',
      'alice',
    ]);
  });

  test('http/1.1 is spoken, whatever else is offered', async () => {
    await aSecureServer();
    const protocol = await new Promise((resolve, reject) => {
      const socket = tlsConnect(
        {
          host: '127.0.0.1',
          port: secure?.port as number,
          ca: authority.certificate,
          ALPNProtocols: ['h2', 'http/1.1'],
        },
        () => {
          resolve(socket.alpnProtocol);
          socket.destroy();
        },
      );
      socket.on('error', reject);
    });
    expect(protocol).toBe('http/1.1');
  });

  test('bytes that are no TLS harm nobody', async () => {
    await aSecureServer();
    const { connect } = await import('node:net');
    await new Promise<void>((resolve) => {
      const socket = connect(secure?.port as number, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\n\r\n'));
      socket.on('error', () => {}).on('close', () => resolve());
      socket.resume();
    });
    expect(await ask({})).toBe(200);
  });
});

describe('plain http', () => {
  test.each([
    { host: 'localhost:80', port: 80, fine: true },
    { host: 'localhost', port: 80, fine: true },
    { host: 'LocalHost:7', port: 7, fine: true },
    { host: '127.0.0.1:7', port: 7, fine: true },
    { host: '[::1]:7', port: 7, fine: true },
    { host: '[::1]:7', port: 7, origin: 'http://[::1]:7', fine: true },
    { host: 'localhost:7', port: 7, origin: 'http://localhost:7', fine: true },
    { host: 'localhost:7', port: 7, origin: 'https://localhost:7', fine: false },
    { host: 'localhost:7', port: 7, origin: 'http://evil.example', fine: false },
    { host: 'localhost:7', port: 7, origin: 'null', fine: false },
    { host: 'localhost:8', port: 7, fine: false },
    { host: 'localhost', port: 7, fine: false },
    { host: 'evil.example:7', port: 7, fine: false },
    { host: 'localhost.evil.example:7', port: 7, fine: false },
    { host: undefined, port: 7, fine: false },
  ])('with Host $host and Origin $origin on port $port: $fine', ({ fine, port, ...headers }) => {
    expect(loopbackFault(headers, port) === undefined).toBe(fine);
  });

  test('refuses pages of strangers and everybody who is not on this machine', async () => {
    server = await aServer();
    const evil = await server.call('GET', '/api/v1/nodes', { headers: { host: 'evil.example' } });
    expect(evil.json).toMatchObject({ kind: 'Status', code: 403, reason: 'Forbidden' });
    const across = await server.call('GET', '/api/v1/nodes', { headers: { origin: 'http://evil.example' } });
    expect(across.code).toBe(403);
    const options = { clusters: () => undefined, port: 0, clock: wallClock };
    const user = { name: 'me', groups: [] };
    await expect(serve({ ...options, host: '0.0.0.0', plainHttp: { user } })).rejects.toThrow(UserError);
    await expect(serve({ ...options, host: '127.0.0.1' })).rejects.toThrow('either a certificate or plain http');
  });

  test('knows nobody but its one user, whatever token comes along', async () => {
    const names: string[] = [];
    const allows = (user: { readonly name: string }) => {
      names.push(user.name);
      return true;
    };
    server = await aServer(aCluster({ allows }));
    await server.call('GET', '/api/v1/nodes', { headers: { authorization: 'Bearer t-bob' } });
    expect(names).toEqual(['me']);
  });
});

describe('closing', () => {
  test('lets a request finish, tells others to go and closes for good', async () => {
    let answer = () => {};
    let arrived = () => {};
    const hasArrived = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const cluster = aCluster({
      verbs: {
        create: () =>
          new Promise((_resolve, reject) => {
            answer = () => reject(Object.assign(new Error('late')));
            arrived();
          }),
      },
    });
    server = await aServer(cluster, { limits: { closeMs: 60_000 } });
    const slow = server.call('POST', '/api/v1/nodes', { body: '{}' });
    await hasArrived;
    const closed = server.close();
    answer();
    expect((await slow).code).toBe(500);
    await closed;
    await expect(server.call('GET', '/healthz')).rejects.toThrow('ECONNREFUSED');
    await server.close();
  });

  test('cuts what does not end in time', async () => {
    const cluster = aCluster({ verbs: { create: () => new Promise(() => {}) } });
    server = await aServer(cluster, { limits: { closeMs: 20 } });
    const stuck = server.call('POST', '/api/v1/nodes', { body: '{}' });
    const cut = expect(stuck).rejects.toThrow();
    await server.call('GET', '/healthz');
    await server.close();
    await cut;
  });

  test('of a port in use is an error that names it', async () => {
    server = await aServer();
    const options = { clusters: () => undefined, host: '127.0.0.1', port: server.port, clock: wallClock };
    await expect(serve({ ...options, plainHttp: { user: { name: 'me', groups: [] } } })).rejects.toThrow('EADDRINUSE');
  });
});
