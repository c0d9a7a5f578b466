// docs/security.md: each statement names a test that is there, and the few that no other test holds are held here.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { hubKinds } from '../../src/api/kinds.ts';
import { defaultEventLimits } from '../../src/apiserver/housekeeping/event-expiry.ts';
import { createAccounts } from '../../src/apiserver/http/accounts.ts';
import { decodeObject } from '../../src/apiserver/http/body.ts';
import { defaultLimits } from '../../src/apiserver/http/limits.ts';
import { LARGE_BYTES } from '../../src/apiserver/http/resource-server.ts';
import { keyOf } from '../../src/apiserver/store/store.ts';
import { MAX_OBJECT_BYTES } from '../../src/apiserver/verbs/commit.ts';
import { createPropagation } from '../../src/hub/revisions/propagation.ts';
import { installRoles } from '../../src/main/install-roles.ts';
import { aCluster, admin, testClock } from '../cluster.ts';

interface Rule {
  readonly verbs: readonly string[];
  readonly resources: readonly string[];
}

const ROOT = join(import.meta.dirname, '../..');
const statements = readFileSync(join(ROOT, 'docs/security.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('- '));

test('the page has statements', () => expect(statements.length).toBeGreaterThan(20));

test.each(statements)('%s', (statement) => {
  const named = [...statement.matchAll(/`((?:src|test)\/[\w/.-]+\.ts)`/g)].map(([, path]) => path as string);
  expect(named.length).toBeGreaterThan(0);
  for (const path of named) expect(existsSync(join(ROOT, path)), path).toBe(true);
});

const roleBinding = { group: 'rbac.authorization.k8s.io', version: 'v1', kind: 'RoleBinding' };
const deployment = { group: 'apps', version: 'v1', kind: 'Deployment' };

test('RoleBindings and workloads can be placed, unless their group is skipped', () => {
  const usual = createPropagation();
  expect([roleBinding, deployment].map((kind) => usual.allowsKind(kind))).toEqual([true, true]);
  const strict = createPropagation({ skippedApis: 'rbac.authorization.k8s.io' });
  expect([roleBinding, deployment].map((kind) => strict.allowsKind(kind))).toEqual([false, true]);
});

test('flotilla-edit becomes part of edit, and with it the right to create placements', async () => {
  await using cluster = await aCluster({ kinds: hubKinds });
  const rules = async () => {
    const { rules: all } = (await cluster.get('clusterroles', undefined, 'edit')) as unknown as { rules: Rule[] };
    return all.filter(({ verbs }) => verbs.includes('create')).flatMap(({ resources }) => resources);
  };
  await cluster.settled();
  expect(await rules()).toContain('configmaps');
  expect(await rules()).not.toContain('resourceplacements');
  await installRoles(cluster.as(admin));
  await cluster.settled();
  expect(await rules()).toContain('resourceplacements');
});

describe('the figures of the page are the defaults:', () => {
  const MIB = 1024 * 1024;
  const { requestsPerUser, watchesPerUser, unsentBytesPerUser, requests, watches, idleMs } = defaultLimits;
  const { ttlMs, maxPerNamespace, maxBytesPerNamespace } = defaultEventLimits;
  const count = (number: number) => number.toLocaleString('en-US');
  test.each([
    `No stored object is larger than ${MAX_OBJECT_BYTES / MIB} MiB`,
    `at most ${requestsPerUser} requests in flight, ${watchesPerUser} watches and ${unsentBytesPerUser / MIB} MiB`,
    `at most ${count(requests)} requests in flight and ${count(watches)} watches`,
    `carries nothing for ${idleMs / 60_000} minutes`,
    `Bodies above ${LARGE_BYTES / 1024} KiB`,
    `more than ${count(maxPerNamespace)} or ${maxBytesPerNamespace / MIB} MiB in one namespace`,
  ])('%s', (figure) => {
    expect(statements.filter((statement) => statement.includes(figure))).toHaveLength(1);
  });
  test('an hour', () => expect(ttlMs).toBe(60 * 60_000));

  test('and a server without other settings has them', async () => {
    const accounts = createAccounts({ limits: defaultLimits, clock: testClock() });
    const user = { name: 'x', groups: [] };
    const isRefused = (attempt: () => unknown) => expect(attempt).toThrow(expect.objectContaining({ code: 429 }));
    const [account] = Array.from({ length: 200 }, () => accounts.enter(user));
    isRefused(() => accounts.enter(user));
    for (let at = 0; at < 500; at++) account?.openWatch();
    isRefused(() => account?.openWatch());
    account?.addUnsent(16 * MIB);
    expect(account?.isUnread()).toBe(false);
    account?.addUnsent(1);
    expect(account?.isUnread()).toBe(true);
  });
});

test('a server without other settings keeps 10,000 Events of a namespace, for an hour', async () => {
  await using cluster = await aCluster({ kinds: hubKinds });
  const count = () => cluster.store.range('/events/default/').items.length;
  for (let at = 0; at < 10_010; at++) {
    const value = { apiVersion: 'v1', kind: 'Event', metadata: { name: `e${at}`, namespace: 'default' } };
    cluster.store.commit({ key: keyOf('', 'events', 'default', `e${at}`), expect: 'absent', value });
  }
  await cluster.settled();
  expect(count()).toBe(10_000);
  cluster.clock.advance(59 * 60_000);
  await cluster.settled();
  expect(count()).toBe(10_000);
  cluster.clock.advance(2 * 60_000);
  await cluster.settled();
  expect(count()).toBe(0);
});

test('the data key __proto__ is kept, and no prototype is touched', () => {
  const text = '{"data":{"__proto__":{"x":1},"a":"1"}}';
  expect(JSON.stringify(decodeObject(Buffer.from(text), 'json', 'ConfigMap'))).toBe(text);
  expect(({} as Record<string, unknown>)['x']).toBeUndefined();
});
