import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../api/object.ts';
import type { FieldDifference } from '../../api/selected-resource.ts';
import { type Comparison, compared, sidesOf } from './compare.ts';

const namespace = (labels: Record<string, string>, more: object = {}): KubeObject =>
  ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n', labels, ...more } }) as KubeObject;

const config = (data: Record<string, string>): KubeObject =>
  ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c', namespace: 'n' }, data }) as unknown as KubeObject;

const secret = (data: Record<string, string>, labels: Record<string, string> = {}): KubeObject =>
  ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 's', namespace: 'n', labels },
    data,
  }) as unknown as KubeObject;

const deployment = (spec: object): KubeObject =>
  ({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd', namespace: 'n' }, spec }) as KubeObject;

const containers = (...list: readonly object[]): KubeObject => deployment({ template: { spec: { containers: list } } });

const widget = (spec: object): KubeObject =>
  ({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w', namespace: 'n' }, spec }) as KubeObject;

interface Row {
  readonly name: string;
  readonly manifest: KubeObject;
  readonly live: KubeObject | undefined;
  readonly partial: readonly FieldDifference[];
  /** Equal to `partial` if absent. */
  readonly full?: readonly FieldDifference[];
}

const ROWS: readonly Row[] = [
  {
    name: 'a label that the member changed, and one that it added',
    manifest: namespace({ owner: 'leon' }),
    live: namespace({ owner: 'krauser', use: 'hack' }),
    partial: [{ path: '/metadata/labels/owner', valueInHub: 'leon', valueInMember: 'krauser' }],
    full: [
      { path: '/metadata/labels/owner', valueInHub: 'leon', valueInMember: 'krauser' },
      { path: '/metadata/labels/use', valueInMember: 'hack' },
    ],
  },
  {
    name: 'labels of Kubernetes, finalizers, owners, uid and status are no difference',
    manifest: namespace({ a: '1' }),
    live: {
      ...namespace(
        { a: '1', 'kubernetes.io/metadata.name': 'n' },
        {
          uid: 'u',
          resourceVersion: '7',
          generation: 3,
          finalizers: ['x/y'],
          creationTimestamp: '2026-01-01T00:00:00Z',
        },
      ),
      status: { phase: 'Active' },
    } as KubeObject,
    partial: [],
  },
  {
    name: 'a key with a slash is escaped in the path',
    manifest: namespace({ 'example.com/owner': 'a' }),
    live: namespace({ 'example.com/owner': 'b' }),
    partial: [{ path: '/metadata/labels/example.com~1owner', valueInHub: 'a', valueInMember: 'b' }],
  },
  {
    name: 'an object that is missing',
    manifest: namespace({}),
    live: undefined,
    partial: [{ path: '/', valueInHub: '(the whole object)' }],
  },
  {
    name: 'a key that was deleted on the member',
    manifest: config({ a: '1', b: '2' }),
    live: config({ a: '1' }),
    partial: [{ path: '/data/b', valueInHub: '2' }],
  },
  {
    name: 'the content of a Secret is redacted, its labels are not',
    manifest: secret({ password: 'aHVi' }, { tier: 'a' }),
    live: secret({ password: 'bWVtYmVy', extra: 'eA==' }, { tier: 'b' }),
    partial: [
      {
        path: '/data/password',
        valueInHub: '(redacted for security reasons)',
        valueInMember: '(redacted for security reasons)',
      },
      { path: '/metadata/labels/tier', valueInHub: 'a', valueInMember: 'b' },
    ],
    full: [
      { path: '/data/extra', valueInMember: '(redacted for security reasons)' },
      {
        path: '/data/password',
        valueInHub: '(redacted for security reasons)',
        valueInMember: '(redacted for security reasons)',
      },
      { path: '/metadata/labels/tier', valueInHub: 'a', valueInMember: 'b' },
    ],
  },
  {
    name: 'stringData of a Secret stands where the server puts it',
    manifest: { ...secret({}), stringData: { p: 'hub' } } as unknown as KubeObject,
    live: secret({ p: 'aHVi' }),
    partial: [],
  },
  {
    name: 'replicas, with a default beside them',
    manifest: deployment({ replicas: 2 }),
    live: deployment({ replicas: 5, revisionHistoryLimit: 10 }),
    partial: [{ path: '/spec/replicas', valueInHub: '2', valueInMember: '5' }],
    full: [
      { path: '/spec/replicas', valueInHub: '2', valueInMember: '5' },
      { path: '/spec/revisionHistoryLimit', valueInMember: '10' },
    ],
  },
  {
    name: 'another spelling of a quantity, and empty values that a typed server drops',
    manifest: containers({ name: 'a', image: 'i', env: [], resources: { requests: { cpu: '1000m', memory: '1Gi' } } }),
    live: containers({ name: 'a', image: 'i', resources: { requests: { cpu: '1', memory: '1024Mi' } } }),
    partial: [],
  },
  {
    name: 'containers are told apart by name, wherever others were put',
    manifest: containers({ name: 'a', image: 'a:1' }),
    live: containers({ name: 'sidecar', image: 's' }, { name: 'a', image: 'a:2' }),
    partial: [{ path: '/spec/template/spec/containers/1/image', valueInHub: 'a:1', valueInMember: 'a:2' }],
    full: [
      { path: '/spec/template/spec/containers/0/image', valueInHub: 'a:1', valueInMember: 's' },
      { path: '/spec/template/spec/containers/0/name', valueInHub: 'a', valueInMember: 'sidecar' },
      { path: '/spec/template/spec/containers/-', valueInMember: '{"image":"a:2","name":"a"}' },
    ],
  },
  {
    name: 'a container that was removed',
    manifest: containers({ name: 'a', image: 'a:1' }, { name: 'b', image: 'b:1' }),
    live: containers({ name: 'a', image: 'a:1' }),
    partial: [{ path: '/spec/template/spec/containers/1', valueInHub: '{"image":"b:1","name":"b"}' }],
  },
  {
    name: 'a custom object: a list that grew, a type that changed',
    manifest: widget({ list: ['a'], size: 1, on: true }),
    live: widget({ list: ['a', 'b'], size: '1', on: false }),
    partial: [
      { path: '/spec/list/-', valueInMember: 'b' },
      { path: '/spec/on', valueInHub: 'true', valueInMember: 'false' },
      { path: '/spec/size', valueInHub: '1', valueInMember: '1' },
    ],
  },
  {
    name: 'a custom object: lists are compared by position, whatever their type is in the definition',
    manifest: widget({ map: [{ name: 'a' }, { name: 'b' }], set: ['a', 'b'] }),
    live: widget({ map: [{ name: 'a', size: 1 }, { name: 'b' }, { name: 'c' }], set: ['b', 'a'] }),
    partial: [
      { path: '/spec/map/0/size', valueInMember: '1' },
      { path: '/spec/map/-', valueInMember: '{"name":"c"}' },
      { path: '/spec/set/0', valueInHub: 'a', valueInMember: 'b' },
      { path: '/spec/set/1', valueInHub: 'b', valueInMember: 'a' },
    ],
  },
  {
    name: 'a custom object: what the server filled into list entries is no partial difference',
    manifest: widget({ ports: [{ port: 80 }] }),
    live: widget({ ports: [{ port: 80, protocol: 'TCP' }] }),
    partial: [],
    full: [{ path: '/spec/ports/0/protocol', valueInMember: 'TCP' }],
  },
  {
    name: 'null is absent',
    manifest: widget({ a: null }),
    live: widget({}),
    partial: [],
  },
];

describe('the fields in which an object on a member differs', () => {
  const cases = ROWS.flatMap(({ full, partial, ...row }) => [
    { ...row, option: 'PartialComparison' as Comparison, expected: partial },
    { ...row, option: 'FullComparison' as Comparison, expected: full ?? partial },
  ]);
  test.each(cases)('$option: $name', ({ manifest, live, option, expected }) => {
    expect(compared(manifest, live, option)).toEqual(expected);
  });

  test('at most 100 for one object, and long values are cut', () => {
    const many = Object.fromEntries(Array.from({ length: 150 }, (_, at) => [`k${at}`, 'v']));
    expect(compared(config(many), config({}), 'PartialComparison')).toHaveLength(100);
    const [first] = compared(config({ a: 'x'.repeat(5000) }), config({ a: 'y' }), 'PartialComparison');
    expect(first?.valueInHub).toHaveLength(1024);
  });
});

describe('the sides that are shown beside each other', () => {
  test('have no metadata that no person wrote', () => {
    const { hub, member } = sidesOf(config({ a: '1' }), config({ a: '2' }), 'PartialComparison');
    expect(hub).toEqual({ apiVersion: 'v1', kind: 'ConfigMap', data: { a: '1' } });
    expect(member).toEqual({ apiVersion: 'v1', kind: 'ConfigMap', data: { a: '2' } });
  });

  test('keep a label that only one of them has', () => {
    const { hub, member } = sidesOf(namespace({}), namespace({ own: 'x' }), 'FullComparison');
    expect([hub['metadata'], member?.['metadata']]).toEqual([undefined, { labels: { own: 'x' } }]);
  });

  test('of a Secret differ without showing a value', () => {
    const { hub, member } = sidesOf(secret({ p: 'aHVi' }), secret({ p: 'bWVtYmVy' }), 'PartialComparison');
    expect([hub['data'], member?.['data']]).toEqual([{ p: '*** (hub)' }, { p: '*** (member)' }]);
    expect(sidesOf(secret({ p: 'aHVi' }), undefined, 'PartialComparison').hub['data']).toEqual({ p: '***' });
  });
});
