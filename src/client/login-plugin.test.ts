import { describe, expect, test, vi } from 'vitest';
import { testClock } from '../../test/cluster.ts';
import { json, scripted } from '../../test/conformance/scripted-server.ts';
import { credentialOf } from '../../test/conformance/subjects.ts';
import type { Connection } from './connection.ts';
import { inClusterConnection } from './in-cluster.ts';
import { connectionFrom } from './kubeconfig.ts';

const resource = { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true };
const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
const at = { resource, namespace: 'default', name: 'a' };

describe('the official client library', () => {
  const kubeconfig = (port: number, user: object) => ({
    text: JSON.stringify({
      'current-context': 'c',
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
      clusters: [{ name: 'c', cluster: { server: `http://127.0.0.1:${port}` } }],
      users: [{ name: 'u', user }],
    }),
    readFile: () => 'from-file',
  });
  /** A transport in a new process without the optional package. */
  const freshly = async () => {
    let loads = 0;
    vi.resetModules();
    vi.doMock('@kubernetes/client-node', () => {
      loads++;
      throw new Error('Cannot find package');
    });
    const { httpTransport } = await import('./http.ts');
    return { httpTransport, loads: () => loads };
  };
  const { certificate, privateKey } = credentialOf({ name: 'x', groups: [] });
  const base64 = (text: string) => Buffer.from(text).toString('base64');

  test.each([
    { it: 'a token', user: { token: 'x' } },
    { it: 'a token file', user: { tokenFile: 't' } },
    {
      it: 'a certificate',
      user: { 'client-certificate-data': base64(certificate), 'client-key-data': base64(privateKey) },
    },
    { it: 'impersonation', user: { token: 'x', as: 'jane' } },
    { it: 'nobody', user: {} },
  ])('is not loaded for $it', async ({ user }) => {
    const fresh = await freshly();
    await using server = await scripted((response) => json(response, object));
    const transport = fresh.httpTransport(connectionFrom([kubeconfig(server.port, user)]), { clock: testClock() });
    await transport.call({ verb: 'get', at });
    expect(fresh.loads()).toBe(0);
    transport.close();
  });

  test('is not loaded for a service account', async () => {
    const fresh = await freshly();
    await using server = await scripted((response) => json(response, object));
    const environment = { KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: String(server.port) };
    const own = inClusterConnection(environment, () => 'x') as Connection;
    const transport = fresh.httpTransport(
      { ...own, server: `http://127.0.0.1:${server.port}` },
      { clock: testClock() },
    );
    await transport.call({ verb: 'get', at });
    expect(fresh.loads()).toBe(0);
    transport.close();
  });

  test('is loaded when exec asks for it; where it is missing one sentence says so', async () => {
    const fresh = await freshly();
    await using server = await scripted((response) => json(response, object));
    const connection = connectionFrom([kubeconfig(server.port, { exec: { command: 'aws' } })]);
    const transport = fresh.httpTransport(connection, { clock: testClock() });
    const error = await transport.call({ verb: 'get', at }).catch((thrown: unknown) => thrown);
    expect(fresh.loads()).toBe(1);
    expect(error).toMatchObject({
      name: 'LostError',
      sent: false,
      message:
        'no answer to GET /api/v1/namespaces/default/configmaps/a: the kubeconfig\'s user "u" logs in by "exec", which needs the package @kubernetes/client-node: install it (npm install @kubernetes/client-node@1.4.0), or give the user a certificate or a token',
    });
    transport.close();
  });
});
