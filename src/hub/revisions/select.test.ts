import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Resource } from '../../api/kind.ts';
import { apiVersionOf } from '../../api/object.ts';
import type { ResourceSelector } from '../../api/resource-selector.ts';
import { namespaceResource } from '../../api/resources.ts';
import { deepFreeze } from '../../base/json.ts';
import { type Candidate, createPropagation, type PropagationSettings } from './propagation.ts';
import { select, type Unread } from './select.ts';

const kind = (group: string, version: string, name: string, namespaced = true): Resource => ({
  group,
  version,
  kind: name,
  plural: `${name.toLowerCase()}s`,
  namespaced,
});
const PREFERRED = [
  namespaceResource,
  kind('', 'v1', 'ConfigMap'),
  kind('', 'v1', 'Service'),
  kind('', 'v1', 'Endpoints'),
  kind('', 'v1', 'Pod'),
  kind('', 'v1', 'Event'),
  kind('events.k8s.io', 'v1', 'Event'),
  kind('apps', 'v1', 'Deployment'),
  kind('rbac.authorization.k8s.io', 'v1', 'ClusterRole', false),
];
const SERVED = [...PREFERRED, kind('apps', 'v1beta2', 'Deployment')];

interface Item {
  readonly name: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly deleting?: true;
}
type Hub = Readonly<Record<string, readonly Item[]>>;

const candidate = ({ name, namespace, labels = {}, deleting }: Item): Candidate => ({
  metadata: {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    labels,
    ...(deleting ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
  },
});

const catalogue = {
  byKind: (apiVersion: string, name: string) =>
    SERVED.find(({ group, version, kind }) => apiVersionOf(group, version) === apiVersion && kind === name),
  preferred: PREFERRED,
};

interface Look {
  readonly namespace?: string;
  readonly settings?: PropagationSettings;
  readonly unknown?: readonly string[];
  readonly unread?: readonly Unread[];
}

function selected(hub: Hub, terms: readonly Partial<ResourceSelector>[], look: Look = {}) {
  const selectors = terms.map((term) => ({ group: '', version: 'v1', ...term }) as ResourceSelector);
  const result = select({
    ...(look.namespace === undefined ? {} : { namespace: look.namespace }),
    selectors: deepFreeze(selectors),
    catalogue,
    propagation: createPropagation(look.settings),
    ...(look.unread === undefined ? {} : { unread: look.unread }),
    sight: {
      list: (resource, { namespace, name }) =>
        look.unknown?.includes(resource.kind)
          ? undefined
          : (hub[resource.kind] ?? [])
              .filter((each) => namespace === undefined || each.namespace === namespace)
              .filter((each) => name === undefined || each.name === name)
              .map(candidate),
    },
  });
  if (result.state !== 'selected') return result;
  const { picked, notes } = result;
  const names = picked.map(({ resource, namespace, name }) =>
    [resource.kind, ...(namespace === undefined ? [] : [namespace]), name].join(' '),
  );
  return { names, notes };
}

const HUB: Hub = {
  Namespace: [
    { name: 'default' },
    { name: 'kube-system', labels: { team: 'a' } },
    { name: 'fleet-system' },
    { name: 'gone', deleting: true },
    { name: 'shop', labels: { team: 'a' } },
    { name: 'till', labels: { team: 'b' } },
  ],
  ConfigMap: [
    { namespace: 'shop', name: 'app', labels: { tier: 'front' } },
    { namespace: 'shop', name: 'kube-root-ca.crt' },
    { namespace: 'shop', name: 'old', deleting: true },
    { namespace: 'till', name: 'app' },
  ],
  Deployment: [{ namespace: 'shop', name: 'web' }],
  Service: [{ namespace: 'shop', name: 'web' }],
  Endpoints: [
    { namespace: 'shop', name: 'web' },
    { namespace: 'shop', name: 'outside' },
  ],
  Pod: [{ namespace: 'shop', name: 'web-1' }],
  Event: [{ namespace: 'shop', name: 'news' }],
  ClusterRole: [{ name: 'reader', labels: { team: 'a' } }, { name: 'writer' }],
};
const namespaceTerm = (more: Partial<ResourceSelector>) => ({ kind: 'Namespace', ...more });
const clusterRole = (more: Partial<ResourceSelector>) => ({
  group: 'rbac.authorization.k8s.io',
  kind: 'ClusterRole',
  ...more,
});
const shop = [
  'Namespace shop',
  'ConfigMap shop app',
  'Service shop web',
  'Deployment shop web',
  'Endpoints shop outside',
];
const inShop = namespaceTerm({ name: 'shop', selectionScope: 'NamespaceWithResourceSelectors' });

describe('a cluster-scoped placement selects', () => {
  test.each<[string, readonly Partial<ResourceSelector>[], readonly string[], readonly string[]]>([
    ['a namespace with its content', [namespaceTerm({ name: 'shop' })], shop, []],
    ['a namespace alone', [namespaceTerm({ name: 'shop', selectionScope: 'NamespaceOnly' })], ['Namespace shop'], []],
    [
      'namespaces by label, without the reserved ones, and says so',
      [namespaceTerm({ labelSelector: { matchLabels: { team: 'a' } }, selectionScope: 'NamespaceOnly' })],
      ['Namespace shop'],
      ['selector v1 Namespace by labels leaves out reserved namespaces: kube-system'],
    ],
    [
      'all namespaces, without the reserved ones and those that go',
      [namespaceTerm({ selectionScope: 'NamespaceOnly' })],
      ['Namespace shop', 'Namespace till'],
      ['selector v1 Namespace, all leaves out reserved namespaces: default, kube-system, fleet-system'],
    ],
    ['a cluster-scoped object by name', [clusterRole({ name: 'reader' })], ['ClusterRole reader'], []],
    ['by label', [clusterRole({ labelSelector: { matchLabels: { team: 'a' } } })], ['ClusterRole reader'], []],
    ['all of a kind', [clusterRole({})], ['ClusterRole reader', 'ClusterRole writer'], []],
    [
      'with an empty name all of a kind, too',
      [clusterRole({ name: '' })],
      ['ClusterRole reader', 'ClusterRole writer'],
      [],
    ],
    [
      'with an empty label selector all of a kind',
      [clusterRole({ labelSelector: {} })],
      ['ClusterRole reader', 'ClusterRole writer'],
      [],
    ],
    [
      'only some of what a namespace contains',
      [inShop, { kind: 'ConfigMap', labelSelector: { matchLabels: { tier: 'front' } } }],
      ['Namespace shop', 'ConfigMap shop app'],
      [],
    ],
    ['terms in any order', [{ kind: 'ConfigMap', name: 'app' }, inShop], ['Namespace shop', 'ConfigMap shop app'], []],
    [
      'nothing by a name that does not exist, and says so',
      [clusterRole({ name: 'nobody' })],
      [],
      ['selector rbac.authorization.k8s.io/v1 ClusterRole "nobody" matches nothing'],
    ],
    [
      'no namespace that does not exist, and says so',
      [namespaceTerm({ name: 'nowhere' })],
      [],
      ['selector v1 Namespace "nowhere" matches nothing'],
    ],
    [
      'nothing that is being deleted',
      [namespaceTerm({ name: 'gone' })],
      [],
      ['selector v1 Namespace "gone" brings nothing: the object is being deleted'],
    ],
    [
      'an object once that two terms select',
      [namespaceTerm({ name: 'shop' }), namespaceTerm({ name: 'shop', selectionScope: 'NamespaceOnly' })],
      shop,
      [],
    ],
    [
      'nothing by labels that match nothing, and says so',
      [clusterRole({ labelSelector: { matchLabels: { team: 'z' } } })],
      [],
      ['selector rbac.authorization.k8s.io/v1 ClusterRole by labels matches nothing'],
    ],
    [
      'no kind that is never placed, and says so',
      [inShop, { kind: 'Pod' }],
      ['Namespace shop'],
      ['selector v1 Pod, all brings nothing: objects of this kind are never placed'],
    ],
    [
      'no object that is never placed, and says so',
      [inShop, { kind: 'ConfigMap', name: 'kube-root-ca.crt' }],
      ['Namespace shop'],
      ['selector v1 ConfigMap "kube-root-ca.crt" brings nothing: this object is never placed'],
    ],
    [
      'a kind in a version that is served and not preferred',
      [inShop, { group: 'apps', version: 'v1beta2', kind: 'Deployment' }],
      ['Namespace shop', 'Deployment shop web'],
      [],
    ],
  ])('%s', (_name, terms, names, notes) => {
    expect(selected(HUB, terms)).toEqual({ names, notes });
  });

  test.each<[string, readonly Partial<ResourceSelector>[], string]>([
    ['a reserved namespace by name', [namespaceTerm({ name: 'kube-system' })], 'reserved'],
    [
      'a reserved namespace by name alone',
      [namespaceTerm({ name: 'default', selectionScope: 'NamespaceOnly' })],
      'reserved',
    ],
    [
      'the inside of a reserved namespace',
      [namespaceTerm({ name: 'fleet-x', selectionScope: 'NamespaceWithResourceSelectors' })],
      'reserved',
    ],
    [
      'the inside of a namespace that is not there',
      [namespaceTerm({ name: 'nowhere', selectionScope: 'NamespaceWithResourceSelectors' })],
      'nowhere',
    ],
    [
      'the inside of a namespace that goes',
      [namespaceTerm({ name: 'gone', selectionScope: 'NamespaceWithResourceSelectors' })],
      'gone',
    ],
    ['a namespaced kind without its namespace', [{ kind: 'ConfigMap', name: 'app' }], 'lives in namespaces'],
    [
      'a namespaced kind beside a namespace with content',
      [namespaceTerm({ name: 'shop' }), { kind: 'ConfigMap' }],
      'lives in namespaces',
    ],
    ['a kind that is not served', [{ group: 'shop.example', kind: 'Till' }], 'no Till in shop.example/v1'],
    [
      'an object in two versions',
      [inShop, { group: 'apps', kind: 'Deployment' }, { group: 'apps', version: 'v1beta2', kind: 'Deployment' }],
      'two versions',
    ],
  ])('not %s', (_name, terms, word) => {
    expect(selected(HUB, terms)).toEqual({ state: 'invalid', message: expect.stringContaining(word) });
  });

  test('nothing yet while something that counts is not known', () => {
    expect(selected(HUB, [namespaceTerm({ name: 'shop' })], { unknown: ['Deployment'] })).toEqual({ state: 'unknown' });
    expect(selected(HUB, [inShop], { unknown: ['Namespace'] })).toEqual({ state: 'unknown' });
  });

  test('what is wrong is told even while other things are not known', () => {
    const result = selected(HUB, [namespaceTerm({ name: 'shop' }), { kind: 'ConfigMap' }], { unknown: ['Deployment'] });
    expect(result).toMatchObject({ state: 'invalid' });
  });

  test('what settings leave out stays out', () => {
    const sweep = [namespaceTerm({ name: 'shop' })];
    expect(selected(HUB, sweep, { settings: { skippedApis: 'apps' } })).toMatchObject({
      names: shop.filter((name) => !name.startsWith('Deployment')),
    });
    expect(selected(HUB, sweep, { settings: { allowedApis: 'v1/Namespace,ConfigMap' } })).toMatchObject({
      names: ['Namespace shop', 'ConfigMap shop app'],
    });
    expect(selected(HUB, sweep, { settings: { skippedNamespaces: 'till,shop' } })).toMatchObject({ state: 'invalid' });
  });
});

describe('of a group version whose API server does not answer', () => {
  const hidden = (...placedIn: string[]): Look => ({
    unread: [{ group: 'gadgets.example.com', version: 'v1', placedIn: new Set(placedIn) }],
  });
  const unread = { state: 'unread', groupVersion: 'gadgets.example.com/v1' };
  const gadget = { group: 'gadgets.example.com', kind: 'Gadget' };

  test('nothing is taken for gone from a namespace that was placed with it', () => {
    expect(selected(HUB, [namespaceTerm({ name: 'shop' })], hidden('shop'))).toEqual(unread);
    expect(selected(HUB, [namespaceTerm({})], hidden('till'))).toEqual(unread);
  });

  test.each<[string, readonly Partial<ResourceSelector>[], Look]>([
    ['a namespace of which nothing of it was placed', [namespaceTerm({ name: 'shop' })], hidden()],
    ['a namespace, if it was placed from another one', [namespaceTerm({ name: 'shop' })], hidden('till')],
  ])('nothing keeps back %s', (_name, terms, look) => {
    expect(selected(HUB, terms, look)).toEqual({ names: shop, notes: [] });
  });

  test('nothing keeps back who does not look for it any more', () => {
    const alone = namespaceTerm({ name: 'shop', selectionScope: 'NamespaceOnly' });
    expect(selected(HUB, [alone], hidden('shop'))).toMatchObject({ names: ['Namespace shop'] });
    expect(selected(HUB, [inShop, { kind: 'ConfigMap' }], hidden('shop'))).toMatchObject({
      names: ['Namespace shop', 'ConfigMap shop app'],
    });
  });

  test('a kind that is named is waited for, and not said to be missing', () => {
    expect(selected(HUB, [inShop, gadget], hidden())).toEqual(unread);
    expect(selected(HUB, [gadget], { namespace: 'shop', ...hidden() })).toEqual(unread);
    expect(selected(HUB, [inShop, { ...gadget, version: 'v2' }], hidden())).toMatchObject({ state: 'invalid' });
  });

  test('a kind that is never placed is not waited for', () => {
    const metrics = { group: 'metrics.k8s.io', version: 'v1beta1', placedIn: new Set<string>() };
    const pods = { group: 'metrics.k8s.io', version: 'v1beta1', kind: 'PodMetrics' };
    expect(selected(HUB, [inShop, pods], { unread: [metrics] })).toEqual({
      names: ['Namespace shop'],
      notes: ['selector metrics.k8s.io/v1beta1 PodMetrics, all brings nothing: objects of this kind are never placed'],
    });
  });

  test('what is wrong is told all the same', () => {
    expect(selected(HUB, [namespaceTerm({ name: 'shop' }), { kind: 'ConfigMap' }], hidden('shop'))).toMatchObject({
      state: 'invalid',
    });
  });
});

describe('a ResourcePlacement selects', () => {
  const own = { namespace: 'shop' };
  test('in its own namespace', () => {
    expect(selected(HUB, [{ kind: 'ConfigMap' }], own)).toEqual({ names: ['ConfigMap shop app'], notes: [] });
    expect(selected(HUB, [{ kind: 'ConfigMap', name: 'app' }], { namespace: 'till' })).toMatchObject({
      names: ['ConfigMap till app'],
    });
  });

  test.each<[string, Partial<ResourceSelector>, Look]>([
    ['a Namespace', namespaceTerm({ name: 'shop' }), own],
    ['a cluster-scoped kind', clusterRole({}), own],
    ['anything of a reserved namespace', { kind: 'ConfigMap' }, { namespace: 'kube-system' }],
    ['anything of the default namespace', { kind: 'ConfigMap' }, { namespace: 'default' }],
  ])('not %s', (_name, term, look) => {
    expect(selected(HUB, [term], look)).toMatchObject({ state: 'invalid' });
  });
});

test('the selection does not depend on the order of terms, nor of what is listed', () => {
  const terms = [
    namespaceTerm({ name: 'shop' }),
    clusterRole({}),
    namespaceTerm({ name: 'till', selectionScope: 'NamespaceOnly' as const }),
  ];
  const straight = selected(HUB, terms) as { names: readonly string[] };
  fc.assert(
    fc.property(
      fc.shuffledSubarray(terms, { minLength: terms.length }),
      fc.infiniteStream(fc.nat()),
      (shuffled, random) => {
        const hub = Object.fromEntries(
          Object.entries(HUB).map(([name, items]) => {
            const keys = new Map(items.map((item) => [item, random.next().value ?? 0]));
            return [name, items.toSorted((a, b) => (keys.get(a) ?? 0) - (keys.get(b) ?? 0))];
          }),
        );
        expect((selected(hub, shuffled) as typeof straight).names).toEqual(straight.names);
      },
    ),
  );
});
