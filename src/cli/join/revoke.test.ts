// Revoking the identity of a member takes effect at once: with a hub over https, and with the tokens of `join`.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parseYaml } from '../../base/yaml.ts';
import { printing, type Serving, serving } from '../served.testing.ts';
import { join } from './join.ts';
import { revoke } from './revoke.ts';

const open = async (of: Serving) => ({ ...(await of.server()), [Symbol.dispose]() {} });

async function joined(name: string) {
  const folder = mkdtempSync(joinPath(tmpdir(), 'flotilla-revoke-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const hub = await serving([]);
  const { subject } = hub;
  const connected = await open(hub);
  const output = joinPath(folder, 'x.kubeconfig');
  const again = () =>
    join(
      connected,
      { server: 'https://127.0.0.1:1', insecure: false, namespace: 'default' },
      name,
      { labels: {}, output },
      printing().print,
    );
  await again();
  const tokenIn = () =>
    (parseYaml(readFileSync(output, 'utf8')) as { users: [{ user: { token: string } }] }).users[0].user.token;
  const isAccepted = (token: string) => subject.cluster.running.cluster.checkToken?.(token, []).ok;
  return { connected, again, tokenIn, isAccepted, subject };
}

test('every token of the member stops working at once, and a new identity is another one', async () => {
  const { connected, again, tokenIn, isAccepted, subject } = await joined('x');
  const stolen = tokenIn();
  expect(isAccepted(stolen)).toBe(true);
  const { out, print } = printing();
  await revoke(connected, 'x', print);
  expect(isAccepted(stolen)).toBe(false);
  expect(out).toEqual([
    'serviceaccount/x-hub-cluster-access deleted',
    expect.stringMatching(/^(secret\/x-hub-cluster-access-token deleted|the identity of member "x" is revoked)/),
    ...out.slice(2),
  ]);
  expect(out.at(-1)).toContain('flotilla join x');
  await subject.cluster.settled();
  await again();
  expect(isAccepted(stolen)).toBe(false);
  expect(isAccepted(tokenIn())).toBe(true);
});

test('a member without an identity is named', async () => {
  const hub = await open(await serving([]));
  await expect(revoke(hub, 'nobody', printing().print)).rejects.toThrow('member "nobody" has no identity on this hub');
});

test('a credential that the hub did not issue cannot be revoked, and the message says what can be done', async () => {
  const hub = await serving([
    {
      apiVersion: 'cluster.kubernetes-fleet.io/v1beta1',
      kind: 'MemberCluster',
      metadata: { name: 'y' },
      spec: { identity: { kind: 'User', name: 'agent-y' } },
    },
  ]);
  await expect(revoke(await open(hub), 'y', printing().print)).rejects.toThrow(/User "agent-y".*spec\.identity/);
});
