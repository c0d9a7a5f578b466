// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is what users write
// Spec 05 §1, row by row: which objects, placements and clusters an override applies to, and how it changes an object.
import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../api/object.ts';
import type { OverrideRule } from '../../api/override.ts';
import { deepFreeze } from '../../base/json.ts';
import { applyOverrides } from './applying.ts';
import { decide, type Observed } from './decide.ts';
import { newestIn } from './in-force.ts';
import {
  type HubOverride,
  type HubOverrideSnapshot,
  isAbout,
  matches,
  matchesCluster,
  matchesPlacement,
  offeredIn,
} from './matching.ts';
import type { Overrides } from './overriding.ts';
import { overridesOn } from './overriding.ts';
import { refusalOf } from './refusal.ts';
import { clusterOverrides, overrideFamilies } from './sources.ts';

const named = (group: string, kind: string, name: string, version = 'v1') => ({ group, version, kind, name });
const ALL = { clusterSelectorTerms: [] };
const rule = (
  patches: OverrideRule['jsonPatchOverrides'],
  clusterSelector: OverrideRule['clusterSelector'] = ALL,
): OverrideRule => ({ clusterSelector, overrideType: 'JSONPatch', jsonPatchOverrides: patches }) as OverrideRule;
const ON_PROD = {
  clusterSelectorTerms: [{ labelSelector: { matchLabels: { env: 'prod' } } }],
} as OverrideRule['clusterSelector'];
const DELETE: OverrideRule = { clusterSelector: ALL, overrideType: 'Delete' } as OverrideRule;

function snapshot(
  name: string,
  selectors: HubOverrideSnapshot['selectors'],
  rules: readonly OverrideRule[],
  more: { namespace?: string; placement?: HubOverrideSnapshot['placement']; index?: number } = {},
): HubOverrideSnapshot {
  const { namespace, placement, index = 0 } = more;
  return {
    metadata: { name: `${name}-${index}`, ...(namespace === undefined ? {} : { namespace }) },
    override: name,
    index,
    selectors,
    rules,
    ...(placement === undefined ? {} : { placement }),
    spec: { name, rules },
  };
}

describe('an override matches', () => {
  const shop = { version: 'v1', kind: 'Namespace', name: 'shop' };
  const web = { group: 'apps', version: 'v1', kind: 'Deployment', namespace: 'shop', name: 'web' };
  const reader = { group: 'rbac.authorization.k8s.io', version: 'v1', kind: 'ClusterRole', name: 'reader' };
  const offered = offeredIn([shop, web, reader]);
  const cluster = (...selectors: HubOverrideSnapshot['selectors']) => snapshot('cro', selectors, []);
  const inShop = (...selectors: HubOverrideSnapshot['selectors']) =>
    snapshot('ro', selectors, [], { namespace: 'shop' });
  test.each([
    ['a Namespace and all that it contains', cluster(named('', 'Namespace', 'shop')), [shop, web]],
    ['a cluster-scoped object by name', cluster(named(reader.group, 'ClusterRole', 'reader')), [reader]],
    ['no other version', cluster(named(reader.group, 'ClusterRole', 'reader', 'v1beta1')), []],
    ['no namespaced object by its own name', cluster(named('apps', 'Deployment', 'web')), []],
    ['no Namespace of another group', cluster(named('x', 'Namespace', 'shop')), []],
    ['an object of its own namespace', inShop(named('apps', 'Deployment', 'web')), [web]],
    [
      'nothing of another namespace',
      { ...inShop(named('apps', 'Deployment', 'web')), metadata: { namespace: 'b' } },
      [],
    ],
    ['nothing that is not there', inShop(named('apps', 'Deployment', 'other')), []],
  ])('%s', (_what, override, expected) => {
    const found = [shop, web, reader].filter((each) => matches(override, each));
    expect(found).toEqual(expected);
    expect(isAbout(override, offered)).toBe(expected.length > 0);
  });

  test.each([
    ['any placement without a reference', {}, { name: 'p' }, true],
    ['a ClusterResourcePlacement by name', { placement: { name: 'p', scope: 'Cluster' } }, { name: 'p' }, true],
    ['no other name', { placement: { name: 'q', scope: 'Cluster' } }, { name: 'p' }, false],
    ['no ResourcePlacement with scope Cluster', { placement: { name: 'p' } }, { name: 'p', namespace: 'shop' }, false],
    [
      'a ResourcePlacement',
      { namespace: 'shop', placement: { name: 'p', scope: 'Namespaced' } },
      { name: 'p', namespace: 'shop' },
      true,
    ],
    [
      'no ClusterResourcePlacement with scope Namespaced',
      { namespace: 'shop', placement: { name: 'p', scope: 'Namespaced' } },
      { name: 'p' },
      false,
    ],
  ])('%s', (_what, more, placed, expected) => {
    expect(matchesPlacement(snapshot('o', [], [], more), placed)).toBe(expected);
  });

  test.each([
    ['no cluster without a selector', undefined, false],
    ['every cluster with an empty selector', {}, true],
    ['every cluster with no terms', ALL, true],
    [
      'a cluster that one of the terms selects',
      {
        clusterSelectorTerms: [
          { labelSelector: { matchLabels: { env: 'x' } } },
          { labelSelector: { matchLabels: { env: 'prod' } } },
        ],
      },
      true,
    ],
    [
      'no cluster that no term selects',
      { clusterSelectorTerms: [{ labelSelector: { matchLabels: { env: 'x' } } }] },
      false,
    ],
    [
      'no cluster with an invalid selector',
      { clusterSelectorTerms: [{ labelSelector: { matchExpressions: [{ key: 'env', operator: 'Bad' }] } }] },
      false,
    ],
  ])('%s', (_what, clusterSelector, expected) => {
    expect(matchesCluster({ ...rule([]), clusterSelector } as OverrideRule, { env: 'prod' })).toBe(expected);
  });
});

const configMap: KubeObject = deepFreeze({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'app', namespace: 'shop', labels: { a: '1' } },
  data: { list: ['x'], key: 'old' },
} as unknown as KubeObject);
const CRO = (...rules: readonly OverrideRule[]) => snapshot('cro', [named('', 'Namespace', 'shop')], rules);
const RO = (...rules: readonly OverrideRule[]) =>
  snapshot('ro', [named('', 'ConfigMap', 'app')], rules, { namespace: 'shop' });
const on = (
  snapshots: readonly HubOverrideSnapshot[],
  labels: Readonly<Record<string, string>> = { env: 'prod' },
): Overrides => overridesOn(snapshots, 'eu-1', labels) ?? {};
function made(snapshots: readonly HubOverrideSnapshot[], labels?: Readonly<Record<string, string>>) {
  const applied = applyOverrides([configMap], snapshots, on(snapshots, labels));
  return applied.ok ? applied.manifests[0] : { [applied.reason]: applied.message };
}

describe('a rule makes of an object', () => {
  const add = (path: string, value: unknown) => ({ op: 'add', path, value }) as const;
  test.each([
    ['a field more', [CRO(rule([add('/data/new', 'v')]))], { data: { key: 'old', new: 'v' } }],
    ['a field replaced by add', [CRO(rule([add('/data/key', 'v')]))], { data: { key: 'v' } }],
    [
      'the whole map replaced',
      [CRO(rule([add('/metadata/labels', { b: '2' })]))],
      { metadata: { labels: { b: '2' } } },
    ],
    ['an appended item', [CRO(rule([add('/data/list/-', 'y')]))], { data: { list: ['x', 'y'] } }],
    [
      'what the namespaced override says',
      [CRO(rule([add('/data/key', 'c')])), RO(rule([add('/data/key', 'r')]))],
      { data: { key: 'r' } },
    ],
    [
      'what the last rule says',
      [CRO(rule([add('/data/key', '1')]), rule([add('/data/key', '2')]))],
      { data: { key: '2' } },
    ],
    [
      'what earlier rules prepared',
      [CRO(rule([add('/data/m', {})]), rule([add('/data/m/x', '1')]))],
      { data: { m: { x: '1' } } },
    ],
    [
      'the name of the cluster',
      [CRO(rule([add('/data/key', 'a ${MEMBER-CLUSTER-NAME} b ${MEMBER-CLUSTER-NAME}')]))],
      { data: { key: 'a eu-1 b eu-1' } },
    ],
    [
      'labels of the cluster, in keys too',
      [CRO(rule([add('/data/m', { '${MEMBER-CLUSTER-LABEL-KEY-env}': '${MEMBER-CLUSTER-LABEL-KEY-a.b/c}' })]))],
      { data: { m: { prod: 'x' } } },
    ],
    ['an escaped path', [CRO(rule([add('/metadata/labels/a.b~1c', 'v')]))], { metadata: { labels: { 'a.b/c': 'v' } } }],
  ] as const)('%s', (_what, snapshots, expected) => {
    expect(made(snapshots, { env: 'prod', 'a.b/c': 'x' })).toMatchObject(expected);
    expect(configMap['data']).toEqual({ list: ['x'], key: 'old' });
  });

  test.each([
    ['a missing parent', rule([add('/metadata/annotations/a', 'v')]), '/metadata/annotations/a'],
    ['a missing path to remove', rule([{ op: 'remove', path: '/data/none' }]), '/data/none'],
    ['a missing path to replace', rule([{ op: 'replace', path: '/data/none', value: 1 }]), '/data/none'],
    ['a bad index', rule([add('/data/list/7', 'v')]), '/data/list/7'],
    ['a missing label', rule([add('/data/key', '${MEMBER-CLUSTER-LABEL-KEY-none}')]), 'none'],
    ['a variable in lower case is text', rule([add('/none/key', '${member-cluster-name}')]), '/none/key'],
    ['a variable that does not end', rule([add('/data/key', '${MEMBER-CLUSTER-LABEL-KEY-env')]), '/data/key'],
  ] as const)('fails with %s, and names rule, object and path', (_what, bad, named) => {
    const message = (made([CRO(rule([add('/data/a', 'b')]), bad)]) as Record<string, string>)['OverriddenFailed'];
    for (const word of ['cro-0', 'rule 2', 'ConfigMap "shop/app"', named]) expect(message).toContain(word);
  });

  test('nothing if it deletes it, whatever later ones say', () => {
    const snapshots = [CRO(DELETE, rule([add('/none/x', 1)])), RO(rule([add('/none/x', 1)]))];
    expect(applyOverrides([configMap], snapshots, on(snapshots))).toEqual({ ok: true, manifests: [] });
  });

  test('the object itself if no rule applies', () => {
    const list = [configMap];
    const applied = applyOverrides(
      list,
      [snapshot('x', [named('', 'ConfigMap', 'b')], [rule([])], { namespace: 'shop' })],
      {},
    );
    expect(applied).toEqual({ ok: true, manifests: list });
    expect(applied.ok && applied.manifests).toBe(list);
  });

  test('nothing of an entry of an envelope that is no object', () => {
    const list = ['text', { apiVersion: 'v1', kind: 'X' }] as unknown as readonly KubeObject[];
    expect(applyOverrides(list, [CRO(DELETE)], on([CRO(DELETE)]))).toEqual({ ok: true, manifests: list });
  });

  test('something that cannot be sent if metadata is malformed', () => {
    expect(made([CRO(rule([add('/metadata/annotations', 'text')]))])).toHaveProperty('SyncWorkFailed');
    expect(made([CRO(rule([add('/metadata/labels', { a: 1 })]))])).toHaveProperty('SyncWorkFailed');
  });

  test('20 rules with 20 patches each are all applied', () => {
    const rules = Array.from({ length: 20 }, (_, at) =>
      rule(Array.from({ length: 20 }, (_, n) => add(`/data/k${at}-${n}`, String(at)))),
    );
    expect(Object.keys((made([CRO(...rules)]) as KubeObject)['data'] as object)).toHaveLength(402);
  });
});

describe('the overrides of a cluster', () => {
  const both = CRO(
    rule([{ op: 'add', path: '/data/a', value: 'all' }]),
    rule([{ op: 'add', path: '/data/a', value: 'prod' }], ON_PROD),
  );
  test('are those with a rule for it, sorted', () => {
    const list = [
      RO(rule([])),
      snapshot('b', [], [rule([])]),
      snapshot('a', [], [rule([])]),
      snapshot('c', [], [rule([], ON_PROD)]),
    ];
    expect(on(list, { env: 'test' })).toEqual({
      clusterResourceOverrideSnapshots: ['a-0', 'b-0'],
      resourceOverrideSnapshots: [{ namespace: 'shop', name: 'ro-0' }],
    });
    expect(overridesOn([list[3] as HubOverrideSnapshot], 'eu-1', {})).toBeUndefined();
  });

  test('record which rules apply: labels that change later change nothing until the order does', () => {
    expect(on([both], { env: 'prod' })).toEqual({ clusterResourceOverrideSnapshots: ['cro-0'] });
    const order = on([both], { env: 'test' });
    expect(order.overrideValues).toEqual({ 'rules/cro-0': '0' });
    expect(applyOverrides([configMap], [both], order)).toMatchObject({ manifests: [{ data: { a: 'all' } }] });
  });

  test('record the values of variables that rules for it use, and no others', () => {
    const region = rule([{ op: 'add', path: '/data/a', value: '${MEMBER-CLUSTER-LABEL-KEY-region}' }]);
    expect(on([CRO(region)], { region: 'eu', env: 'prod' }).overrideValues).toEqual({
      'MEMBER-CLUSTER-LABEL-KEY-region': 'eu',
    });
    expect(
      on([CRO({ ...region, clusterSelector: ON_PROD } as OverrideRule, rule([]))], { region: 'eu' }).overrideValues,
    ).toEqual({ 'rules/cro-0': '1' });
  });
});

describe('snapshots of an override', () => {
  const family = overrideFamilies[0] as (typeof overrideFamilies)[number];
  const override = (spec: object, metadata: object = {}): HubOverride => ({
    metadata: {
      name: 'cro',
      uid: 'u',
      resourceVersion: '1',
      finalizers: ['kubernetes-fleet.io/override-cleanup'],
      ...metadata,
    },
    resource: clusterOverrides.resource,
    selectors: [named('', 'Namespace', 'shop')],
    rules: [],
    spec,
  });
  const taken = (index: number, spec: object, latest = false): HubOverrideSnapshot => ({
    ...snapshot('cro', [], [], { index }),
    metadata: {
      name: `cro-${index}`,
      uid: `s${index}`,
      resourceVersion: '1',
      labels: { 'kubernetes-fleet.io/is-latest-snapshot': String(latest) },
    },
    spec,
  });
  const observed = (more: Partial<Observed>): Observed => ({
    family,
    override: override({ v: 1 }),
    snapshots: [],
    isReported: false,
    isInUse: () => false,
    ...more,
  });
  const done = (more: Partial<Observed>) =>
    decide(observed(more)).steps.map((step) =>
      step.map((action) =>
        action.do === 'create'
          ? `create ${action.object.metadata.name}`
          : `${action.do} ${'of' in action ? action.of.name : ''}`,
      ),
    );

  test.each([
    [
      'the first, after the finalizer',
      { override: override({ v: 1 }, { finalizers: [] }) },
      [['patch cro'], ['create cro-0']],
    ],
    [
      'the next before the last loses its label',
      { snapshots: [taken(0, { v: 0 }, true)] },
      [['create cro-1'], ['patch cro-0']],
    ],
    ['none if nothing changed', { snapshots: [taken(0, { v: 0 }), taken(1, { v: 1 }, true)] }, []],
    [
      'a label put right',
      { snapshots: [taken(0, { v: 0 }, true), taken(1, { v: 1 })] },
      [['patch cro-1'], ['patch cro-0']],
    ],
    ['none if it is refused, with an Event', { refusal: 'why' }, [['event ']]],
    ['none if it is refused, and no second Event', { refusal: 'why', isReported: true }, []],
    [
      'all deleted with it',
      { override: override({}, { deletionTimestamp: 'now' }), snapshots: [taken(3, {})] },
      [['delete cro-3']],
    ],
    ['then the finalizer', { override: override({}, { deletionTimestamp: 'now' }) }, [['patch cro']]],
  ] as const)('%s', (_what, more, expected) => {
    expect(done(more)).toEqual(expected);
  });

  test('go beyond ten, but for those in use', () => {
    const snapshots = Array.from({ length: 13 }, (_, at) => taken(at, { v: at === 12 ? 1 : -at }, at === 12));
    expect(done({ snapshots, isInUse: (name) => name === 'cro-1' })).toEqual([['delete cro-0', 'delete cro-2']]);
  });

  test('carry the hash of the spec in hex, in base64', () => {
    const [[action] = []] = decide(observed({})).steps;
    const spec = (action?.do === 'create' ? action.object.spec : {}) as { overrideHash: string; overrideSpec: object };
    expect(Buffer.from(spec.overrideHash, 'base64').toString()).toMatch(/^[0-9a-f]{64}$/);
    expect(spec.overrideSpec).toEqual({ v: 1 });
  });

  test('the newest counts by number, not by label', () => {
    expect(newestIn([taken(9, {}, true), taken(10, {})])?.index).toBe(10);
  });

  test('are not taken for the 101st override, or the later of two on one object', () => {
    const made = (name: string, creationTimestamp: string, kind = name): HubOverride => ({
      ...override({}, { name, uid: name, creationTimestamp }),
      selectors: [named('', kind, 'x')],
    });
    const first = made('b', '2026-01-01T00:00:00Z', 'K');
    const second = made('a', '2026-01-02T00:00:00Z', 'K');
    expect(refusalOf(first, [first, second])).toBeUndefined();
    expect(refusalOf(second, [first, second])).toContain('b and a');
    const many = Array.from({ length: 100 }, (_, at) => made(`o${at}`, '2026-01-01T00:00:00Z'));
    expect(refusalOf(second, [...many, second])).toContain('at most 100');
    expect(refusalOf(second, [...many.slice(1), second])).toBeUndefined();
  });
});
