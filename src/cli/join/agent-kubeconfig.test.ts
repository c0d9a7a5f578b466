import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parseYaml } from '../../base/yaml.ts';
import type { Connection } from '../../client/connection.ts';
import { agentKubeconfig, checkAgentFile, writeAgentFile } from './agent-kubeconfig.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const caller: Connection = { server: 'https://hub.test:6443', insecure: false, namespace: 'default' };
const secret = { token: 'the-token', ca: base64('what the Secret says') };

const clusterIn = (hub: Connection): unknown => {
  const { clusters } = parseYaml(agentKubeconfig('east', hub, secret)) as {
    readonly clusters: readonly { readonly cluster: unknown }[];
  };
  return clusters[0]?.cluster;
};

// Behind a load balancer with its own certificates, only the caller's kubeconfig has the right CA.
test('an agent trusts whom the caller trusts', () => {
  expect(clusterIn({ ...caller, ca: 'what the caller trusts' })).toEqual({
    server: caller.server,
    'certificate-authority-data': base64('what the caller trusts'),
  });
});

test('and without a word from the caller, whom the Secret names', () => {
  expect(clusterIn(caller)).toEqual({ server: caller.server, 'certificate-authority-data': secret.ca });
});

test('it takes the same way', () => {
  expect(clusterIn({ ...caller, serverName: 'hub', proxy: 'http://proxy.test:8080' })).toMatchObject({
    'tls-server-name': 'hub',
    'proxy-url': 'http://proxy.test:8080',
  });
});

test.each(['a file', 'nothing'])('a symbolic link that leads to %s is refused, and nothing is written', (target) => {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-link-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [link, there] = [join(folder, 'link'), join(folder, 'there')];
  if (target === 'a file') writeFileSync(there, agentKubeconfig('x', caller, secret));
  symlinkSync(there, link);
  expect(() => checkAgentFile(link, 'x')).toThrow(`${link} is a symbolic link`);
  expect(() => writeAgentFile(link, 'new')).toThrow(`cannot write ${link}`);
  expect(existsSync(there) && readFileSync(there, 'utf8') === 'new').toBe(false);
});
