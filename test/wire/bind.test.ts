// A hub that listens elsewhere than on 127.0.0.1, and a member that joins it by that address. Loopback addresses only: these tests open nothing.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { flotilla, type Running, start } from './fleet.ts';
import { type Server, skipsKubectl, startServer } from './server.ts';

const ADDRESS = '127.0.0.2';
const NAME = 'hub.example.com';

const serverOf = ({ kubeconfig }: { readonly kubeconfig: string }): { url: URL; ca: string } => {
  const { clusters } = parse(readFileSync(kubeconfig, 'utf8')) as {
    readonly clusters: readonly [{ readonly cluster: Record<string, string> }];
  };
  const { server = '', 'certificate-authority-data': ca = '' } = clusters[0].cluster;
  return { url: new URL(server), ca: Buffer.from(ca, 'base64').toString() };
};

/** Whether the certificate is good for a name, and what the server answers to somebody without credentials. */
const asked = (server: Server, servername: string, path: string): Promise<{ trusted: boolean; status: string }> =>
  new Promise((resolve, reject) => {
    const { url, ca } = serverOf(server);
    const socket = connect({ host: ADDRESS, port: Number(url.port), ca, servername, rejectUnauthorized: false });
    let text = '';
    socket.on('secureConnect', () => {
      socket.write(`GET ${path} HTTP/1.1\r\nHost: ${servername}\r\nConnection: close\r\n\r\n`);
    });
    socket.on('data', (data) => {
      text += String(data);
    });
    socket.on('error', reject);
    socket.on('close', () => resolve({ trusted: socket.authorized, status: text.split(' ')[1] ?? '' }));
  });

describe('an API server with --advertise', () => {
  let server: Server;
  beforeAll(async () => {
    server = await startServer({ args: ['--bind', ADDRESS, '--advertise', NAME] });
  });
  afterAll(() => server?.[Symbol.asyncDispose]());

  test('is in the kubeconfig by that name, and has a certificate for it', async () => {
    expect(serverOf(server).url.hostname).toBe(NAME);
    expect(await asked(server, NAME, '/readyz')).toEqual({ trusted: true, status: '200' });
    expect((await asked(server, 'other.example.com', '/readyz')).trusted).toBe(false);
  });

  test('shows nothing to a client without credentials', async () => {
    expect((await asked(server, NAME, '/api/v1/namespaces')).status).toBe('403');
  });
});

test.each([
  ['a name that nobody could use', ['--advertise', NAME], '--advertise needs --bind'],
  ['all addresses without a name', ['--bind', '0.0.0.0'], 'needs --advertise HOST'],
  ['plain http for everybody', ['--bind', '192.0.2.1', '--insecure-http'], 'it cannot be used with --bind 192.0.2.1'],
  ['an address of another machine', ['--bind', '192.0.2.1'], '192.0.2.1 is not an address of this machine'],
])('refused: %s', async (_it, args, says) => {
  const { code, stderr } = await flotilla('/nonexistent', ['apiserver', '--in-memory', '--port', '0', ...args]);
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(says) });
});

describe.skipIf(skipsKubectl)('a fleet with --bind', () => {
  let hub: Server;
  let agent: Running | undefined;
  beforeAll(async () => {
    hub = await startServer({ command: 'up', args: ['--members', '1', '--bind', ADDRESS] });
  });
  afterAll(async () => {
    await agent?.[Symbol.asyncDispose]();
    await hub?.[Symbol.asyncDispose]();
  });

  test('takes in a member by the address that it advertises', async () => {
    const file = join(hub.folder, 'far.kubeconfig');
    const member = ['--kubeconfig', hub.kubeconfig, '--context', 'member-1'];
    const joined = await flotilla(hub.folder, ['join', 'far', '--kubeconfig', hub.kubeconfig, '-o', file]);
    expect(joined).toMatchObject({ code: 0, stderr: '' });
    expect(serverOf({ kubeconfig: file }).url.hostname).toBe(ADDRESS);
    agent = start(hub.folder, ['member', '--name', 'far', '--hub-kubeconfig', file, ...member]);
    await hub.ok(['wait', '--for=condition=Joined', 'membercluster/far', '--timeout=60s']);
  });

  test('and other tools find it by its ClusterProfile, with its version, address and certificates', async () => {
    const profile = 'clusterprofile/far';
    await hub.ok(['-n', 'fleet-system', 'wait', '--for=condition=ControlPlaneHealthy', profile, '--timeout=60s']);
    const { status } = JSON.parse(await hub.ok(['-n', 'fleet-system', 'get', profile, '-o', 'json'])) as {
      readonly status: {
        readonly version?: object;
        readonly accessProviders?: readonly { readonly cluster: Readonly<Record<string, string>> }[];
      };
    };
    expect(status.version).toEqual({ kubernetes: expect.stringMatching(/^v1\.\d+\.\d+/) });
    const { server, 'certificate-authority-data': certificates = '' } = status.accessProviders?.[0]?.cluster ?? {};
    expect(server).toMatch(/^https:\/\/127\.0\.0\.2:\d+\/clusters\/member-1$/);
    expect(Buffer.from(certificates, 'base64').toString()).toBe(serverOf(hub).ca);
  });
});
