// Overrides on a server that has others: which requests are rejected, in both scopes, and which changes stay possible.
import { describe, expect, test } from 'vitest';
import { aCluster, type TestCluster } from '../../test/cluster.ts';
import { messageOf } from '../base/errors.ts';
import { hubKinds } from './kinds.ts';
import { MAX_OVERRIDES } from './override-admission.ts';

const SCOPES = [
  { scope: 'fleet', plural: 'clusterresourceoverrides', namespace: undefined, field: 'clusterResourceSelectors' },
  { scope: 'namespace', plural: 'resourceoverrides', namespace: 'team', field: 'resourceSelectors' },
] as const;
type Scope = (typeof SCOPES)[number];

const role = (name: string, more: object = {}) => ({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'ClusterRole',
  name,
  ...more,
});
const RULE = { clusterSelector: {}, overrideType: 'Delete' };
const selecting = (
  { field }: Scope,
  names: readonly (string | object)[],
  overrideRules: readonly object[] = [RULE],
) => ({
  [field]: names.map((each) => (typeof each === 'string' ? role(each) : each)),
  policy: { overrideRules },
});

const hubOf = async (): Promise<TestCluster> => {
  const hub = await aCluster({ kinds: hubKinds });
  for (const name of ['team', 'other']) await hub.create('namespaces', undefined, { metadata: { name } });
  return hub;
};

async function written(
  hub: TestCluster,
  { plural, namespace }: { readonly plural: string; readonly namespace?: string | undefined },
  name: string,
  spec: object,
): Promise<string> {
  const at = hub.at(plural, namespace);
  const { group, version, kind } = at.resource;
  const metadata = { name, ...(namespace === undefined ? {} : { namespace }) };
  try {
    const object = { apiVersion: `${group}/${version}`, kind, metadata, spec };
    await hub.call({ verb: 'create', at, object, manager: 'test' });
    return 'accepted';
  } catch (error) {
    return messageOf(error);
  }
}

async function patched(hub: TestCluster, { plural, namespace }: Scope, name: string, body: object): Promise<string> {
  const at = hub.at(plural, namespace, name);
  try {
    await hub.call({ verb: 'patch', at, patch: { type: 'merge', body }, manager: 'test' } as never);
    return 'accepted';
  } catch (error) {
    return messageOf(error);
  }
}

describe.each(SCOPES)('overrides of a $scope', (scope) => {
  test('are at most 100, and the others stay changeable', async () => {
    await using hub = await hubOf();
    for (let at = 0; at < MAX_OVERRIDES; at++)
      expect(await written(hub, scope, `o${at}`, selecting(scope, [`r${at}`]))).toBe('accepted');
    const says =
      scope.namespace === undefined ? 'at most 100 cluster resources can be created' : 'at most 100 resources';
    expect(await written(hub, scope, 'more', selecting(scope, ['more']))).toContain(`limit has been reached: ${says}`);
    const changed = selecting(scope, ['r1', 'another']);
    expect(await patched(hub, scope, 'o1', { spec: changed })).toBe('accepted');
    if (scope.namespace !== undefined)
      expect(await written(hub, { ...scope, namespace: 'other' }, 'more', selecting(scope, ['more']))).toBe('accepted');
  });

  test('select an object once, whichever placement they are for', async () => {
    await using hub = await hubOf();
    const one = { ...selecting(scope, ['a', 'b']), placement: { name: 'first' } };
    const two = { ...selecting(scope, ['c', 'b']), placement: { name: 'second' } };
    expect(await written(hub, scope, 'one', one)).toBe('accepted');
    expect(await written(hub, scope, 'two', two)).toContain(
      `spec.${scope.field}[1]: Forbidden: ClusterRole "b" has been selected by both two and one, which is not supported`,
    );
    expect(await written(hub, scope, 'two', selecting(scope, ['c', role('b', { version: 'v2' })]))).toBe('accepted');
    expect(await patched(hub, scope, 'two', { spec: selecting(scope, ['b']) })).toContain(
      'selected by both two and one',
    );
    expect(await patched(hub, scope, 'one', { spec: selecting(scope, ['b', 'd']) })).toBe('accepted');
    if (scope.namespace !== undefined)
      expect(await written(hub, { ...scope, namespace: 'other' }, 'two', two)).toBe('accepted');
  });

  test('have names that fit into a label, and selectors that labels can match', async () => {
    await using hub = await hubOf();
    expect(await written(hub, scope, 'a'.repeat(64), selecting(scope, ['a']))).toContain('no more than 63 characters');
    expect(await written(hub, scope, 'a'.repeat(63), selecting(scope, ['a']))).toBe('accepted');
    const on = (labelSelector: object) => ({ ...RULE, clusterSelector: { clusterSelectorTerms: [{ labelSelector }] } });
    const bad = selecting(scope, ['z'], [RULE, on({ matchLabels: { 'not a key': 'x' } })]);
    expect(await written(hub, scope, 'z', bad)).toContain('overrideRules[1].clusterSelector.clusterSelectorTerms[0]');
    expect(await written(hub, scope, 'z', selecting(scope, ['z'], [on({ matchLabels: { key: 'x' } })]))).toBe(
      'accepted',
    );
  });

  test.each([
    ['only labelSelector is supported', { ...RULE, clusterSelector: { clusterSelectorTerms: [{}] } }],
    [
      'cannot override typeMeta fields',
      { clusterSelector: {}, jsonPatchOverrides: [{ op: 'add', path: '/kind', value: 'x' }] },
    ],
    [
      'labels can be overridden',
      { clusterSelector: {}, jsonPatchOverrides: [{ op: 'add', path: '/metadata/name', value: 'x' }] },
    ],
    [
      'op remove takes no value',
      { clusterSelector: {}, jsonPatchOverrides: [{ op: 'remove', path: '/data/a', value: 'x' }] },
    ],
  ])('are refused: %s', async (says, rule) => {
    await using hub = await hubOf();
    expect(await written(hub, scope, 'bad', selecting(scope, ['a'], [rule]))).toContain(says);
  });
});

test('two overrides of one object that were stored before may still get a finalizer, and be told apart', async () => {
  const [cluster] = SCOPES;
  await using hub = await aCluster({ kinds: hubKinds.map(({ admit: _admit, reads: _reads, ...kind }) => kind) });
  for (const name of ['one', 'two']) await written(hub, cluster, name, selecting(cluster, ['a']));
  // The same store under a server with admission.
  const { admit, reads } = hubKinds.find(({ plural }) => plural === cluster.plural) ?? {};
  const [one, two] = await Promise.all(
    ['one', 'two'].map((name) => hub.get('clusterresourceoverrides', undefined, name)),
  );
  const question = { verb: 'update', dryRun: false, now: 0, user: { name: 'hub', groups: [] }, old: two } as const;
  const kept = { ...question, object: { ...two, metadata: { ...two?.metadata, finalizers: ['f'] } } } as never;
  expect(reads?.(kept)).toEqual([]);
  expect(
    admit?.({ ...(kept as object), lookup: { get: () => undefined, list: () => [one, two] } } as never),
  ).toMatchObject({
    ok: true,
  });
});
