import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { afterEach, describe, expect, test } from 'vitest';
import { testClock } from '../../test/cluster.ts';
import { json, type Reply, type Scripted, scripted, status } from '../../test/conformance/scripted-server.ts';
import { connectionTo, credentialOf, http2Server, portOf } from '../../test/conformance/subjects.ts';
import type { Connection, LoginPlugin } from './connection.ts';
import { httpTransport } from './http.ts';

const commonName = (stream: ServerHttp2Stream): unknown =>
  ((stream.session as ServerHttp2Session).socket as TLSSocket).getPeerCertificate().subject['CN'];

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});
const aFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-login-'));
  folders.push(folder);
  return folder;
};

const resource = { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true };
const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
const at = { resource, namespace: 'default', name: 'a' };

/** Accepts the token that is currently valid. */
function guarded(valid: { token: string }): Reply {
  return (response, { headers }) =>
    headers.authorization === `Bearer ${valid.token}`
      ? json(response, object)
      : json(response, status(401, 'Unauthorized'), 401);
}
const plain = ({ port }: Scripted, more: Partial<Connection> = {}): Connection => ({
  server: `http://127.0.0.1:${port}`,
  insecure: false,
  namespace: 'default',
  ...more,
});
const outcome = (call: Promise<unknown>): Promise<unknown> => call.catch((error: unknown) => error);
const tokens = ({ asked }: Scripted) => asked.map(({ headers }) => headers.authorization?.replace('Bearer ', ''));

describe('a token that somebody renews', () => {
  const start = async (first: string) => {
    const valid = { token: first };
    const server = await scripted(guarded(valid));
    const file = { token: first, isBroken: false, reads: 0 };
    const reload = () => {
      file.reads++;
      if (file.isBroken) throw new Error('no such file');
      return plain(server, { token: file.token, tokenIsRenewed: true });
    };
    const clock = testClock();
    const transport = httpTransport(reload(), { clock, reload });
    return {
      valid,
      server,
      file,
      clock,
      get: () => outcome(transport.call({ verb: 'get', at })),
      put: () => outcome(transport.call({ verb: 'update', at, object, manager: 'test' })),
      async [Symbol.asyncDispose]() {
        transport.close();
        await server[Symbol.asyncDispose]();
      },
    };
  };

  test('is read again after ten seconds', async () => {
    await using run = await start('one');
    await run.get();
    run.file.token = 'two';
    run.clock.advance(9_999);
    await run.get();
    run.clock.advance(1);
    run.valid.token = 'two';
    expect(await run.get()).toMatchObject({ object });
    expect(tokens(run.server)).toEqual(['one', 'one', 'two']);
    expect(run.file.reads).toBe(2);
  });

  test('is read at once when the old one is refused, and the call goes out again', async () => {
    await using run = await start('one');
    run.file.token = 'two';
    run.valid.token = 'two';
    expect(await run.put()).toMatchObject({ object });
    expect(tokens(run.server)).toEqual(['one', 'two']);
  });

  test('that is still the same is not tried twice', async () => {
    await using run = await start('one');
    run.valid.token = 'two';
    expect(await run.put()).toMatchObject({ name: 'ApiError', code: 401, reason: 'Unauthorized' });
    expect(tokens(run.server)).toEqual(['one']);
  });

  test('that is refused as well is not read for ever', async () => {
    await using run = await start('one');
    run.file.token = 'two';
    run.valid.token = 'three';
    expect(await run.put()).toMatchObject({ name: 'ApiError', code: 401 });
    expect(tokens(run.server)).toEqual(['one', 'two']);
  });

  test('that cannot be read stays as it was', async () => {
    await using run = await start('one');
    run.file.isBroken = true;
    run.clock.advance(10_000);
    expect(await run.get()).toMatchObject({ object });
    run.valid.token = 'two';
    expect(await run.get()).toMatchObject({ name: 'ApiError', code: 401 });
  });

  test('is read once for many calls that are refused together', async () => {
    await using run = await start('one');
    run.file.token = 'two';
    run.valid.token = 'two';
    const answers = await Promise.all(Array.from({ length: 20 }, () => run.get()));
    expect(answers.every((answer) => (answer as { object?: unknown }).object !== undefined)).toBe(true);
    expect(run.file.reads).toBe(2);
  });
});

test('a certificate that was renewed is shown on a new connection', async () => {
  const server = await http2Server();
  let valid = 'old';
  server.on('request', (request, response) => {
    const name = commonName(request.stream);
    response
      .writeHead(name === valid ? 200 : 401)
      .end(JSON.stringify(name === valid ? object : status(401, 'Unauthorized')));
  });
  const as = (name: string) => connectionTo(portOf(server), { name, groups: [] });
  const transport = httpTransport(as('old'), { clock: testClock(), reload: () => as(valid) });
  expect(await outcome(transport.call({ verb: 'get', at }))).toMatchObject({ object });
  valid = 'new';
  expect(await outcome(transport.call({ verb: 'get', at }))).toMatchObject({ object });
  transport.close();
  server.closeHard();
});

describe('a kubeconfig with exec or auth-provider', () => {
  const exec = (script: string, more: object = {}): LoginPlugin => ({
    kind: 'exec',
    user: 'dev',
    config: { apiVersion: 'client.authentication.k8s.io/v1', command: process.execPath, args: ['-e', script], ...more },
  });
  const granting = (status: string) => `
    const fs = require('node:fs');
    const runs = Number(fs.existsSync(process.env.COUNT) ? fs.readFileSync(process.env.COUNT, 'utf8') : 0) + 1;
    fs.writeFileSync(process.env.COUNT, String(runs));
    fs.writeFileSync(process.env.COUNT + '.info', process.env.KUBERNETES_EXEC_INFO ?? '');
    console.log(JSON.stringify({ apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status: ${status} }));`;
  const counted = () => {
    const file = join(aFolder(), 'count');
    return {
      env: [{ name: 'COUNT', value: file }],
      runs: () => Number(readFileSync(file, 'utf8')),
      info: () => JSON.parse(readFileSync(`${file}.info`, 'utf8')),
    };
  };

  test('runs the program once, and again when its token is refused', async () => {
    const valid = { token: 't-1' };
    await using server = await scripted(guarded(valid));
    const { env, runs, info } = counted();
    const plugin = exec(granting("{ token: 't-' + runs }"), { env, provideClusterInfo: true });
    const transport = httpTransport(plain(server, { plugin, serverName: 'x' }), { clock: testClock() });
    for (let i = 0; i < 3; i++) await transport.call({ verb: 'get', at });
    expect(runs()).toBe(1);
    expect(info()).toEqual({
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      spec: { interactive: false, cluster: { server: `http://127.0.0.1:${server.port}`, 'tls-server-name': 'x' } },
    });
    valid.token = 't-2';
    expect(await outcome(transport.call({ verb: 'update', at, object, manager: 'test' }))).toMatchObject({ object });
    expect(runs()).toBe(2);
    expect(tokens(server)).toEqual(['t-1', 't-1', 't-1', 't-1', 't-2']);
    transport.close();
  });

  test('may be given a certificate', async () => {
    const server = await http2Server();
    const names: unknown[] = [];
    server.on('request', (request, response) => {
      names.push(commonName(request.stream));
      response.end(JSON.stringify(object));
    });
    const { certificate, privateKey } = credentialOf({ name: 'by-exec', groups: [] });
    const granted = JSON.stringify({ clientCertificateData: certificate, clientKeyData: privateKey });
    const plugin = exec(granting(granted), { env: counted().env });
    const transport = httpTransport({ ...connectionTo(portOf(server)), plugin }, { clock: testClock() });
    await transport.call({ verb: 'get', at });
    expect(names).toEqual(['by-exec']);
    transport.close();
    server.closeHard();
  });

  test.each([
    {
      it: 'a program that fails',
      plugin: exec("console.error('no ticket'); process.exit(1)"),
      message: `cannot log in as the kubeconfig's user "dev" by running "${process.execPath}": no ticket`,
    },
    {
      it: 'a program that is not there',
      plugin: exec('', { command: '/nonexistent/no-such-program-xyz', installHint: 'Get it from your platform team.' }),
      message: 'spawn /nonexistent/no-such-program-xyz ENOENT. Get it from your platform team.',
    },
    { it: 'a program that talks rubbish', plugin: exec("console.log('hello')"), message: 'cannot log in as' },
    {
      it: 'a program that gives nothing',
      plugin: exec('console.log(\'{"status":{}}\')'),
      message: 'it gave neither a token nor a certificate',
    },
    {
      it: 'an identity provider without a token',
      plugin: { kind: 'auth-provider', user: 'dev', config: { name: 'oidc', config: {} } } as LoginPlugin,
      message: 'by "oidc": it gave neither a token nor a certificate',
    },
  ])('$it is one sentence, and nothing is sent', async ({ plugin, message }) => {
    await using server = await scripted(guarded({ token: 'x' }));
    const transport = httpTransport(plain(server, { plugin }), { clock: testClock() });
    const error = await outcome(transport.call({ verb: 'get', at }));
    expect(error).toMatchObject({ name: 'LostError', sent: false, message: expect.stringContaining(message) });
    expect((error as Error).message).not.toContain('\n');
    expect(server.asked).toEqual([]);
    transport.close();
  });

  test('a program that never ends does not hold a call longer than it waits', async () => {
    await using server = await scripted(guarded({ token: 'x' }));
    const clock = testClock();
    // It exits when its file is deleted.
    const alive = join(aFolder(), 'alive');
    writeFileSync(alive, '');
    const plugin = exec(
      `setInterval(() => require('node:fs').existsSync(${JSON.stringify(alive)}) || process.exit(1), 20)`,
    );
    const transport = httpTransport(plain(server, { plugin }), { clock, timeoutMs: 5_000 });
    const call = outcome(transport.call({ verb: 'get', at }));
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(5_000);
    expect(await call).toMatchObject({ name: 'LostError', sent: false });
    rmSync(alive);
    transport.close();
  });

  test('uses an identity provider', async () => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const token = `${part({ alg: 'none' })}.${part({ exp: 4_000_000_000 })}.sig`;
    await using server = await scripted(guarded({ token }));
    const plugin: LoginPlugin = {
      kind: 'auth-provider',
      user: 'dev',
      config: { name: 'oidc', config: { 'id-token': token, 'client-id': 'x' } },
    };
    const transport = httpTransport(plain(server, { plugin }), { clock: testClock() });
    expect(await outcome(transport.call({ verb: 'get', at }))).toMatchObject({ object });
    transport.close();
  });
});
