// The agent renews its token against a real API server, with the permissions that `join` gives its identity.
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { testClock } from '../../test/cluster.ts';
import { identityOf } from '../../test/fleet.ts';
import { claimsOf } from '../api/token-request.ts';
import { ApiError } from '../base/errors.ts';
import { seededRandom } from '../base/random.ts';
import { parseYaml } from '../base/yaml.ts';
import { renewAgentFile } from '../cli/join/agent-kubeconfig.ts';
import { join } from '../cli/join/join.ts';
import { printing, serving } from '../cli/served.testing.ts';
import { createCredential, keepToken, renewAt } from './keep-token.ts';

const plain = { server: 'https://127.0.0.1:1', insecure: false, namespace: 'default' };
const HOUR = 3_600_000;

async function joined(name: string, more: object = {}) {
  const folder = mkdtempSync(joinPath(tmpdir(), 'flotilla-token-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const hub = await serving([]);
  const server = { ...(await hub.server()), [Symbol.dispose]() {} };
  const output = joinPath(folder, 'x.kubeconfig');
  const said = printing();
  await join(server, plain, name, { labels: {}, output, ...more }, said.print);
  const tokenIn = () =>
    (parseYaml(readFileSync(output, 'utf8')) as { users: [{ user: { token: string } }] }).users[0].user.token;
  const isAccepted = (token: string) => hub.subject.cluster.running.cluster.checkToken?.(token, []).ok;
  return { hub, server, output, tokenIn, isAccepted, said };
}

const quiet = () => {
  const lines: string[] = [];
  const log = Object.fromEntries(
    ['debug', 'info', 'warn', 'error'].map((level) => [level, (text: string) => void lines.push(`${level} ${text}`)]),
  ) as unknown as Parameters<typeof keepToken>[0]['log'];
  return { lines, log };
};

const drained = async () => {
  for (let i = 0; i < 20; i++) await undefined;
};

describe('the token of a member', () => {
  test('expires, and its agent renews it after half of its lifetime', async () => {
    const { hub, tokenIn, isAccepted, output } = await joined('x', { tokenLifetimeMs: HOUR });
    const first = tokenIn();
    const claims = claimsOf(first);
    expect(claims).toMatchObject({ namespace: 'fleet-system', account: 'x-hub-cluster-access' });
    expect((claims?.expiresAt ?? 0) - (claims?.issuedAt ?? 0)).toBe(HOUR);
    const clock = testClock();
    clock.advance((claims?.issuedAt ?? 0) - clock.now());
    const credential = createCredential();
    expect(credential.refine({ ...plain, token: first })).toMatchObject({ token: first, tokenIsRenewed: true });
    const { log, lines } = quiet();
    const transport = hub.subject.as(identityOf('x'));
    const keep = (token: string) => renewAgentFile(output, 'x', token);
    const renewing = keepToken({ hub: transport, credential, keep, clock, random: seededRandom(1), log });
    clock.advance(HOUR / 2 - 1000);
    await drained();
    expect(tokenIn()).toBe(first);
    hub.subject.cluster.clock.advance(HOUR / 2);
    clock.advance(1000);
    await expect.poll(tokenIn).not.toBe(first);
    expect(isAccepted(tokenIn())).toBe(true);
    expect(credential.refine({ ...plain, token: first }).token).toBe(tokenIn());
    expect(lines).toEqual(['info renewed the token for the hub']);
    expect(statSync(output).mode & 0o777).toBe(0o600);
    renewing.stop();
  });

  test('is renewed by nothing but its own identity', async () => {
    const { hub, server, output } = await joined('x');
    await join(server, plain, 'y', { labels: {}, output: `${output}.y` }, printing().print);
    const issue = (as: string, of: string) =>
      hub.subject.as(identityOf(as)).call({
        verb: 'create',
        at: {
          ...hub.subject.cluster.at('serviceaccounts', 'fleet-system', `${of}-hub-cluster-access`),
          subresource: 'token',
        },
        object: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata: {}, spec: {} },
        manager: 'test',
      });
    await expect(issue('x', 'x')).resolves.toBeDefined();
    for (const [as, of] of [
      ['x', 'y'],
      ['y', 'x'],
      ['z', 'x'],
    ] as const)
      await expect(issue(as, of)).rejects.toMatchObject({ reason: 'Forbidden' } as Partial<ApiError>);
  });

  test('is tried again while the hub refuses, and the log has no token in it', async () => {
    const clock = testClock();
    const { tokenIn } = await joined('x', { tokenLifetimeMs: HOUR });
    clock.advance((claimsOf(tokenIn())?.issuedAt ?? 0) - clock.now() + HOUR);
    const credential = createCredential();
    credential.refine({ ...plain, token: tokenIn() });
    const { log, lines } = quiet();
    let calls = 0;
    const hub = {
      call: () => {
        calls += 1;
        return Promise.reject(new ApiError(403, 'Forbidden', 'no'));
      },
    } as unknown as Parameters<typeof keepToken>[0]['hub'];
    const renewing = keepToken({ hub, credential, keep: () => {}, clock, random: seededRandom(1), log });
    for (let i = 0; i < 60; i++) {
      clock.advance(1000);
      await drained();
    }
    expect(calls).toBeGreaterThanOrEqual(3);
    expect(lines.join()).not.toContain(tokenIn());
    expect(lines[0]).toBe('warn cannot renew the token for the hub');
    renewing.stop();
  });

  test('does not expire if that is asked for', async () => {
    const { tokenIn, isAccepted, said } = await joined('x', { longLivedToken: true });
    expect(claimsOf(tokenIn())).toBeUndefined();
    expect(isAccepted(tokenIn())).toBe(true);
    expect(said.text()).toContain('secret/x-hub-cluster-access-token created');
    expect(said.text()).not.toContain('valid until');
  });

  test('a later join without that names the Secret that stays', async () => {
    const { server, output } = await joined('x', { longLivedToken: true });
    const again = printing();
    await join(server, plain, 'x', { labels: {}, output }, again.print);
    expect(again.errors).toEqual([
      expect.stringContaining('secret/x-hub-cluster-access-token is from an earlier join'),
    ]);
  });
});

describe('a credential', () => {
  test('a kubeconfig with yet another token wins over what was renewed', () => {
    const credential = createCredential();
    credential.refine({ ...plain, token: 'a' });
    credential.renewed('b');
    expect(credential.refine({ ...plain, token: 'a' }).token).toBe('b');
    expect(credential.refine({ ...plain, token: 'c' }).token).toBe('c');
    expect(credential.token()).toBe('c');
  });

  test('a token that others renew is left to them', () => {
    const credential = createCredential();
    const found = { ...plain, token: 'a', tokenIsRenewed: true };
    expect(credential.refine(found)).toBe(found);
    expect(credential.token()).toBeUndefined();
  });
});

test.each([
  { it: 'fresh', now: 0, due: 500 },
  { it: 'half over', now: 500, due: 500 },
  { it: 'nearly over', now: 900, due: 900 },
  { it: 'over', now: 2000, due: 2000 },
  { it: 'from the future: the clock here is wrong', now: -5000, due: -4500 },
])('a token that is $it is renewed in time', ({ now, due }) => {
  expect(renewAt({ namespace: 'n', account: 'a', issuedAt: 0, expiresAt: 1000 }, now)).toBe(due);
});

test.each(['', 'a.b.c', 'a.e30.c', 'abcdef:token'])('"%s" tells nothing of itself', (token) => {
  expect(claimsOf(token)).toBeUndefined();
});
