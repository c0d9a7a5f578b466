import { describe, expect, test } from 'vitest';
import type { ComparePatch } from '../../api/compare-patch.ts';
import type { KubeObject } from '../../api/object.ts';
import { deepEqual } from '../../base/json.ts';
import { type Comparison, compared, sidesOf } from './compare.ts';

const object = (apiVersion: string, kind: string, more: object = {}, metadata: object = {}): KubeObject =>
  ({ apiVersion, kind, metadata: { name: 'web', namespace: 'shop', ...metadata }, ...more }) as KubeObject;
const config = (data: object, metadata: object = {}) => object('v1', 'ConfigMap', { data }, metadata);
const deployment = (spec: object) => object('apps/v1', 'Deployment', { spec });
const containers = (...list: readonly object[]) => deployment({ template: { spec: { containers: list } } });
const widget = (spec: object) => object('example.com/v1', 'Widget', { spec });

interface Row {
  readonly it: string;
  readonly pointers: readonly string[];
  readonly hub: KubeObject;
  readonly member: KubeObject;
  /** The paths that still differ. */
  readonly partial: readonly string[];
  /** As partial, if absent. */
  readonly full?: readonly string[];
}

const ROWS: readonly Row[] = [
  {
    it: 'a field that differs',
    pointers: ['/data/a'],
    hub: config({ a: '1', b: '1' }),
    member: config({ a: '2', b: '2' }),
    partial: ['/data/b'],
  },
  {
    it: 'a field that only one of them has',
    pointers: ['/data/a', '/data/b'],
    hub: config({ a: '1' }),
    member: config({ b: '2', c: '3' }),
    partial: [],
    full: ['/data/c'],
  },
  {
    it: 'a field in a map that only the member has',
    pointers: ['/spec/more/a'],
    hub: widget({ size: 1 }),
    member: widget({ size: 1, more: { a: 1, b: 2 } }),
    partial: [],
    full: ['/spec/more/b'],
  },
  {
    it: 'the only field of a map that the member lacks',
    pointers: ['/spec/more/a'],
    hub: widget({ size: 1, more: { a: 1 } }),
    member: widget({ size: 1 }),
    partial: [],
  },
  {
    it: 'everything below a path',
    pointers: ['/spec'],
    hub: widget({ size: 1, more: { a: 1 } }),
    member: widget({ size: 2 }),
    partial: [],
  },
  {
    it: 'labels and annotations by the whole metadata',
    pointers: ['/metadata'],
    hub: config({}, { labels: { a: '1' }, annotations: { b: '1' } }),
    member: config({}, { labels: { a: '2', c: '3' } }),
    partial: [],
  },
  {
    it: 'a key with a slash',
    pointers: ['/metadata/labels/example.com~1owner'],
    hub: config({}, { labels: { 'example.com/owner': 'a' } }),
    member: config({}, { labels: { 'example.com/owner': 'b' } }),
    partial: [],
  },
  {
    it: 'an entry of a list, counted as on the member',
    pointers: ['/spec/template/spec/containers/1/image'],
    hub: containers({ name: 'a', image: 'a:1' }, { name: 'b', image: 'b:1' }),
    member: containers({ name: 'sidecar', image: 's' }, { name: 'a', image: 'a:2' }, { name: 'b', image: 'b:2' }),
    partial: ['/spec/template/spec/containers/2/image'],
    full: [
      '/spec/template/spec/containers/0/image',
      '/spec/template/spec/containers/0/name',
      '/spec/template/spec/containers/1/name',
      '/spec/template/spec/containers/-',
    ],
  },
  {
    it: 'entries that only the member has, by the path of the report',
    pointers: ['/spec/list/-'],
    hub: widget({ list: ['a'] }),
    member: widget({ list: ['a', 'b', 'c'] }),
    partial: [],
  },
  {
    it: 'an entry that the member lacks',
    pointers: ['/spec/list/1'],
    hub: widget({ list: ['a', 'b'] }),
    member: widget({ list: ['a'] }),
    partial: [],
  },
  {
    it: 'nothing by a path that leads nowhere',
    pointers: ['/data/x/y', '/data/a/0', '/nothing/-', '/data/a/b/c'],
    hub: config({ a: '1' }),
    member: config({ a: '2' }),
    partial: ['/data/a'],
  },
];

describe('fields that comparePatches name are not compared', () => {
  const cases = ROWS.flatMap(({ full, partial, ...row }) => [
    { ...row, option: 'PartialComparison' as Comparison, paths: partial },
    { ...row, option: 'FullComparison' as Comparison, paths: full ?? partial },
  ]);
  test.each(cases)('$option: $it', ({ pointers, hub, member, option, paths }) => {
    const found = (patches: readonly ComparePatch[]) => compared(hub, member, option, patches).map(({ path }) => path);
    expect(found([{ jsonPointers: pointers }])).toEqual(paths);
    expect(found([{ operations: pointers.map((path) => ({ op: 'remove', path })) }])).toEqual(paths);
    const { hub: left, member: right } = sidesOf(hub, member, option, [{ jsonPointers: pointers }]);
    expect(deepEqual(left, right)).toBe(paths.length === 0);
  });

  test('of a Secret the data that is written as stringData, too', () => {
    const hub = object('v1', 'Secret', { stringData: { a: '1' } });
    const member = object('v1', 'Secret', { data: { a: 'Mg==' } });
    expect(compared(hub, member, 'PartialComparison', [{ jsonPointers: ['/stringData/a'] }])).toEqual([]);
  });
});

describe('which objects comparePatches are for', () => {
  const rows: readonly { readonly it: string; readonly patch: ComparePatch; readonly isFor: boolean }[] = [
    { it: 'all of them', patch: {}, isFor: true },
    {
      it: 'what it names',
      patch: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'shop', name: 'web' },
      isFor: true,
    },
    { it: 'empty texts', patch: { apiVersion: '', kind: '', namespace: '', name: '' }, isFor: true },
    { it: 'another version', patch: { apiVersion: 'v2' }, isFor: false },
    { it: 'another kind', patch: { kind: 'Secret' }, isFor: false },
    { it: 'another namespace', patch: { namespace: 'sho' }, isFor: false },
    { it: 'another name', patch: { name: 'we' }, isFor: false },
    { it: 'an expression', patch: { name: 'w.*' }, isFor: false },
  ];
  test.each(rows)('fields: $it', ({ patch, isFor }) => {
    const found = compared(config({ a: '1' }), config({ a: '2' }), 'PartialComparison', [
      { ...patch, jsonPointers: ['/data/a'] },
    ]);
    expect(found).toHaveLength(isFor ? 0 : 1);
  });

  const missing = (patch: ComparePatch) =>
    compared(config({}), undefined, 'PartialComparison', [{ ...patch, operations: [{ op: 'ignore' }] }]);
  test.each([
    ...rows.slice(0, -2),
    { it: 'an expression', patch: { name: 'w.*' }, isFor: true },
    { it: 'a part of the name, as in Rancher Fleet', patch: { name: 'eb' }, isFor: true },
    { it: 'an expression for another name', patch: { name: '^w$' }, isFor: false },
    { it: 'an expression that is none', patch: { name: '(web' }, isFor: false },
  ])('an object that is missing: $it', ({ patch, isFor }) => {
    expect(missing(patch)).toHaveLength(isFor ? 0 : 1);
    const { hub, member } = sidesOf(config({}), undefined, 'PartialComparison', [
      { ...patch, operations: [{ op: 'ignore' }] },
    ]);
    expect(member).toEqual(isFor ? hub : undefined);
  });

  test('an expression takes no time', () => {
    const long = object('v1', 'ConfigMap', {}, { name: `${'a'.repeat(250)}!` });
    const patches: readonly ComparePatch[] = [{ name: '(a+)+$', operations: [{ op: 'ignore' }] }];
    expect(compared(long, undefined, 'PartialComparison', patches)).toHaveLength(1);
  });
});
