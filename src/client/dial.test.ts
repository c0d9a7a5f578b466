import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { testClock } from '../../test/cluster.ts';
import { json, scripted } from '../../test/conformance/scripted-server.ts';
import { connectionTo, credentialOf, pki, portOf } from '../../test/conformance/subjects.ts';
import { createAuthority, DAY_MS, issueServerCertificate } from '../apiserver/auth/certificates.ts';
import { seededRandom } from '../base/random.ts';
import type { Connection } from './connection.ts';
import { httpTransport } from './http.ts';

const resource = { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true };
const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };

async function get(connection: Connection): Promise<unknown> {
  const transport = httpTransport(connection, { clock: testClock() });
  try {
    return (await transport.call({ verb: 'get', at: { resource, namespace: 'default', name: 'a' } })).object;
  } catch (error) {
    return error;
  } finally {
    transport.close();
  }
}

describe('trust', () => {
  const answering = () => scripted((response) => json(response, object), { tls: true });
  const other = () =>
    createAuthority({
      now: Date.parse('2025-01-01'),
      random: seededRandom(9),
      lifetimeMs: 9999 * DAY_MS,
      name: 'other',
    });

  test.each([
    { it: 'the right authority', change: () => ({}), fine: true },
    { it: 'another authority', change: () => ({ ca: other().certificate }), fine: false },
    { it: 'no verification at all', change: () => ({ ca: undefined, insecure: true }), fine: true },
    { it: 'what the system trusts', change: () => ({ ca: undefined }), fine: false },
    { it: 'a name that the certificate has', change: () => ({ serverName: 'kubernetes.default.svc' }), fine: true },
    { it: 'a name that the certificate has not', change: () => ({ serverName: 'elsewhere.example' }), fine: false },
  ])('with $it: $fine', async ({ change, fine }) => {
    await using server = await answering();
    const { ca, ...rest } = { ...connectionTo(server.port), ...(change() as Partial<Connection>) };
    const outcome = await get({ ...rest, ...(ca === undefined ? {} : { ca }) });
    if (fine) return expect(outcome).toEqual(object);
    expect(outcome).toMatchObject({ name: 'LostError', sent: false });
    expect(server.asked).toEqual([]);
  });

  test('goes both ways: the client shows its certificate', async () => {
    const { server: own, authority } = pki();
    const names: unknown[] = [];
    const server = createHttpsServer(
      { key: own.privateKey, cert: own.certificate, ca: authority.certificate, requestCert: true },
      (request, response) => {
        names.push((request.socket as import('node:tls').TLSSocket).getPeerCertificate().subject['CN']);
        json(response, object);
      },
    ).listen(0, '127.0.0.1');
    await once(server, 'listening');
    expect(await get(connectionTo(portOf(server), { name: 'jane', groups: ['g'] }))).toEqual(object);
    expect(await get(connectionTo(portOf(server)))).toMatchObject({ name: 'LostError' });
    expect(names).toEqual(['jane']);
    server.close();
  });

  test('a key that is none is a sentence, not a crash', async () => {
    await using server = await answering();
    const { certificate } = credentialOf({ name: 'jane', groups: [] });
    const outcome = await get({ ...connectionTo(server.port), certificate, key: '-----BEGIN PRIVATE KEY-----\nx\n' });
    expect(outcome).toMatchObject({ name: 'LostError', sent: false });
  });

  test('an address of IPv6 is reached and verified', async () => {
    const { server: own } = pki();
    const server = createHttpsServer({ key: own.privateKey, cert: own.certificate }, (_, response) =>
      json(response, object),
    );
    server.listen(0, '::1');
    try {
      await once(server, 'listening');
    } catch {
      return; // this machine has none
    }
    expect(await get({ ...connectionTo(0), server: `https://[::1]:${portOf(server)}` })).toEqual(object);
    server.close();
  });
});

describe('a proxy', () => {
  /** Opens tunnels, or rejects them. */
  async function aProxy(options: { readonly refuses?: string; readonly tls?: true; readonly mute?: true } = {}) {
    const asked: { path: string | undefined; authorization: string | undefined }[] = [];
    const open = new Set<Duplex>();
    const onConnect = (request: IncomingMessage, near: Duplex) => {
      asked.push({ path: request.url, authorization: request.headers['proxy-authorization'] });
      open.add(near);
      near.on('error', () => {});
      if (options.mute) return;
      if (options.refuses) return void near.end(`HTTP/1.1 ${options.refuses}\r\nContent-Length: 0\r\n\r\n`);
      const url = new URL(`http://${request.url}`);
      const far = connect(Number(url.port), url.hostname, () => {
        near.write('HTTP/1.1 200 Connection established\r\n\r\n');
        near.pipe(far).pipe(near);
      });
      far.on('error', () => near.destroy());
    };
    const server = options.tls
      ? createHttpsServer({
          ...(() => {
            const { privateKey: key, certificate: cert } = issueServerCertificate(pki().authority, {
              now: Date.parse('2025-01-01'),
              random: seededRandom(3),
              lifetimeMs: 9999 * DAY_MS,
              hosts: ['localhost'],
            });
            return { key, cert };
          })(),
        })
      : createHttpServer();
    server.on('connect', onConnect);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return {
      port: portOf(server),
      asked,
      async [Symbol.asyncDispose]() {
        server.close();
        server.closeAllConnections();
        for (const socket of open) socket.destroy();
      },
    };
  }

  test.each([{ tls: true }, {}] as const)('carries calls and watches ($tls)', async (options) => {
    await using server = await scripted(
      (response, { path }) =>
        path.includes('watch')
          ? response.end(`${JSON.stringify({ type: 'ADDED', object })}\n`)
          : json(response, object),
      options,
    );
    await using proxy = await aProxy();
    const to: Connection = {
      ...connectionTo(server.port),
      server: `${options.tls ? 'https' : 'http'}://127.0.0.1:${server.port}`,
      proxy: `http://127.0.0.1:${proxy.port}`,
    };
    const transport = httpTransport(to, { clock: testClock() });
    const answer = await transport.call({ verb: 'get', at: { resource, namespace: 'default', name: 'a' } });
    expect(answer.object).toEqual(object);
    const seen = [];
    for await (const batch of transport.watch({ at: { resource } }, new AbortController().signal)) seen.push(...batch);
    expect(seen).toEqual([{ type: 'ADDED', object }]);
    expect(new Set(proxy.asked.map(({ path }) => path))).toEqual(new Set([`127.0.0.1:${server.port}`]));
    transport.close();
  });

  test('is told who asks, if its address says so', async () => {
    await using server = await scripted((response) => json(response, object), { tls: true });
    await using proxy = await aProxy();
    const login = `${encodeURIComponent('jä:ne')}:${encodeURIComponent('p@ss')}`;
    expect(await get({ ...connectionTo(server.port), proxy: `http://${login}@127.0.0.1:${proxy.port}` })).toEqual(
      object,
    );
    expect(proxy.asked[0]?.authorization).toBe(`Basic ${Buffer.from('jä:ne:p@ss').toString('base64')}`);
    expect(server.asked[0]?.headers['proxy-authorization']).toBeUndefined();
  });

  test('that refuses is named in one sentence, and nothing was sent', async () => {
    await using server = await scripted((response) => json(response, object), { tls: true });
    await using proxy = await aProxy({ refuses: '407 Proxy Authentication Required' });
    expect(await get({ ...connectionTo(server.port), proxy: `http://127.0.0.1:${proxy.port}` })).toMatchObject({
      name: 'LostError',
      sent: false,
      message: expect.stringContaining(
        `the proxy 127.0.0.1:${proxy.port} answered 407 Proxy Authentication Required to CONNECT 127.0.0.1:${server.port}`,
      ),
    });
  });

  test('that says nothing is given up by the clock', async () => {
    await using proxy = await aProxy({ mute: true });
    const clock = testClock();
    const transport = httpTransport({ ...connectionTo(1), proxy: `http://127.0.0.1:${proxy.port}` }, { clock });
    const call = transport.call({ verb: 'list', at: { resource } }).catch((error: unknown) => error);
    await expect.poll(() => proxy.asked.length).toBe(1);
    clock.advance(15_000);
    expect(await call).toMatchObject({ name: 'LostError', sent: false });
    transport.close();
  });

  test('that is itself behind TLS must be trusted by the system', async () => {
    await using server = await scripted((response) => json(response, object), { tls: true });
    await using proxy = await aProxy({ tls: true });
    expect(await get({ ...connectionTo(server.port), proxy: `https://localhost:${proxy.port}` })).toMatchObject({
      name: 'LostError',
      sent: false,
      message: expect.stringContaining('certificate'),
    });
    expect(proxy.asked).toEqual([]);
  });
});
