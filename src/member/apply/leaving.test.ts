import { describe, expect, test } from 'vitest';
import type { ComparePatch } from '../../api/compare-patch.ts';
import type { Resource } from '../../api/kind.ts';
import { annotations } from '../../api/names.ts';
import type { KubeObject } from '../../api/object.ts';
import type { JsonObject } from '../../base/json.ts';
import { judge } from './judge.ts';
import type { Case } from './manner.ts';
import { ownerReferenceTo, wantedOf } from './wanted.ts';

const deployments: Resource = {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  namespaced: true,
};
const widgets: Resource = {
  group: 'example.com',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  namespaced: true,
};
const owner = ownerReferenceTo('web-work', 'ours');

const container = (name: string, image: string) => ({ name, image });
const manifest = (spec: object, metadata: object = {}): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'shop', ...metadata },
  spec,
});
const withContainers = (...containers: readonly object[]) => ({ template: { spec: { containers } } });

const REPLICAS: readonly ComparePatch[] = [{ jsonPointers: ['/spec/replicas'] }];

interface Given {
  readonly wants: KubeObject;
  /** What was applied last; absent = the same. */
  readonly applied?: KubeObject;
  readonly live: object;
  readonly metadata?: object;
  readonly patches: readonly ComparePatch[];
  readonly strategy?: Partial<Case['strategy']>;
  readonly isForeign?: boolean;
  readonly managers?: readonly object[];
}

function judged({ wants, applied = wants, live, metadata = {}, patches, strategy, isForeign, managers }: Given) {
  const base = isForeign ? manifest({}) : wantedOf(applied, owner).object;
  return judge({
    identifier: { ordinal: 0, kind: 'Deployment', namespace: 'shop', name: 'web' },
    resource: wants.kind === 'Widget' ? widgets : deployments,
    wanted: wantedOf(wants, owner),
    live: {
      ...base,
      metadata: {
        ...base.metadata,
        ...metadata,
        uid: 'u',
        resourceVersion: '7',
        ownerReferences: isForeign ? [] : [owner],
        ...(managers === undefined ? {} : { managedFields: managers }),
      },
      spec: live,
    } as KubeObject,
    owner,
    isOrphaned: () => false,
    placementOf: () => undefined,
    strategy: {
      type: 'ClientSideApply',
      comparisonOption: 'PartialComparison',
      whenToApply: 'Always',
      whenToTakeOver: 'Always',
      allowCoOwnership: false,
      ...strategy,
      comparePatches: patches,
    },
  });
}

const specIn = (operation: ReturnType<typeof judge>) =>
  operation.do === 'patch' || operation.do === 'apply' ? (operation.body['spec'] as JsonObject | undefined) : undefined;

describe('a three-way merge', () => {
  const two = manifest({ replicas: 2, paused: false });

  test('leaves a field that comparePatches name, and writes the others', () => {
    const given = { wants: two, patches: REPLICAS };
    expect(judged({ ...given, live: { replicas: 5, paused: false } })).toEqual({ do: 'nothing' });
    expect(judged({ ...given, live: { paused: false } })).toEqual({ do: 'nothing' });
    expect(specIn(judged({ ...given, live: { replicas: 5, paused: true } }))).toEqual({ paused: false });
    expect(specIn(judged({ ...given, patches: [], live: { replicas: 5 } }))).toEqual({ replicas: 2 });
  });

  test('writes it with a new manifest', () => {
    const next = manifest({ replicas: 3, paused: false });
    const operation = judged({ wants: next, applied: two, live: { replicas: 5, paused: false }, patches: REPLICAS });
    expect(specIn(operation)).toEqual({ replicas: 3 });
  });

  test.each([{ whenToApply: 'IfNotDrifted' }, { whenToApply: 'OnRevision' }] as const)(
    'does not call it drift: %o',
    (strategy) => {
      const given = { wants: two, patches: REPLICAS, strategy };
      expect(judged({ ...given, live: { replicas: 5, paused: false } })).toEqual({ do: 'nothing' });
      const operation = judged({ ...given, live: { replicas: 5, paused: true } });
      expect(operation.do).toBe(strategy.whenToApply === 'OnRevision' ? 'nothing' : 'refuse');
      if (operation.do === 'refuse') expect(operation.drifts?.map(({ path }) => path)).toEqual(['/spec/paused']);
    },
  );

  test('takes an object over that differs in nothing else, and leaves the field even then', () => {
    const given = { wants: two, patches: REPLICAS, isForeign: true, strategy: { whenToTakeOver: 'IfNoDiff' } } as const;
    const operation = judged({ ...given, live: { replicas: 5, paused: false } });
    expect(operation).toMatchObject({ do: 'patch', takesOver: true });
    expect(specIn(operation)).toBeUndefined();
    expect(judged({ ...given, live: { replicas: 5, paused: true } }).do).toBe('refuse');
    const always = judged({ ...given, strategy: {}, live: { replicas: 5, paused: false } });
    expect(specIn(always)).toEqual({ replicas: 2 });
  });

  describe('of a list that is written as a whole', () => {
    const widget = (spec: object): KubeObject => ({
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: { name: 'web', namespace: 'shop' },
      spec,
    });
    const part = (name: string, size: number, more: object = {}) => ({ name, size, ...more });
    const wants = widget({ parts: [part('a', 1), part('b', 1)], color: 'red' });
    const left = (pointer: string, parts: readonly object[], more: object = { color: 'red' }) => {
      const operation = judged({ wants, live: { parts, ...more }, patches: [{ jsonPointers: [pointer] }] });
      return operation.do === 'patch' ? operation.body['spec'] : operation.do;
    };

    test('the part that comparePatches name is as on the member', () => {
      const size = '/spec/parts/0/size';
      expect(left(size, [part('a', 5), part('b', 1)])).toBe('nothing');
      expect(left(size, [part('a', 5), part('b', 2)])).toEqual({ parts: [part('a', 5), part('b', 1)] });
      expect(left(size, [{ name: 'a' }, part('b', 2)])).toEqual({ parts: [{ name: 'a' }, part('b', 1)] });
      expect(left('/spec/parts/1/also', [part('a', 2), part('b', 1, { also: 1 })])).toEqual({
        parts: [part('a', 1), part('b', 1, { also: 1 })],
      });
    });

    test('entries that only the member has stay', () => {
      const more = [part('a', 1), part('b', 1), part('c', 1)];
      expect(left('/spec/parts/-', more)).toBe('nothing');
      expect(left('/spec/parts/2', more)).toBe('nothing');
      expect(left('/spec/parts/-', more, { color: 'blue' })).toEqual({ color: 'red' });
      expect(left('/spec/parts/-', [part('a', 2), ...more.slice(1)])).toEqual({ parts: more });
    });

    test('an index is none where the member has inserted entries', () => {
      expect(left('/spec/parts/1/size', [part('x', 9), part('a', 8), part('b', 1)])).toEqual({
        parts: [part('a', 1), part('b', 1)],
      });
    });

    test('also within an entry of a list that merges', () => {
      const args = (...list: readonly string[]) => ({ ...container('b', 'b:1'), args: list });
      const operation = judged({
        wants: manifest(withContainers(args('--size=1', '--color=red'))),
        live: withContainers(container('sidecar', 's'), args('--size=5', '--color=blue')),
        patches: [{ jsonPointers: ['/spec/template/spec/containers/1/args/0'] }],
      });
      expect(JSON.stringify(specIn(operation))).toContain('["--size=5","--color=red"]');
    });
  });

  test('counts entries of a list as the member has them', () => {
    const wants = manifest(withContainers(container('a', 'a:1'), container('b', 'b:1')));
    const live = withContainers(container('sidecar', 's'), container('a', 'a:2'), container('b', 'b:2'));
    const patches = [{ jsonPointers: ['/spec/template/spec/containers/1/image'] }];
    expect(JSON.stringify(specIn(judged({ wants, live, patches })))).not.toContain('a:1');
    expect(JSON.stringify(specIn(judged({ wants, live, patches })))).toContain('b:1');
  });

  test('writes our own annotations, whatever is left of the others', () => {
    const wants = manifest({ replicas: 2 }, { annotations: { owner: 'hub' } });
    const given = { wants, live: { replicas: 2 }, patches: [{ jsonPointers: ['/metadata/annotations'] }] };
    const all = wantedOf(wants, owner).object.metadata.annotations;
    expect(judged({ ...given, metadata: { annotations: { ...all, owner: 'member' } } })).toEqual({ do: 'nothing' });
    const operation = judged({ ...given, metadata: { annotations: { ...all, [annotations.lastApplied]: 'x' } } });
    expect(operation).toMatchObject({
      body: { metadata: { annotations: { [annotations.lastApplied]: expect.anything() } } },
    });
  });
});

describe('server-side apply', () => {
  const wants = manifest({ replicas: 2, ...withContainers(container('a', 'a:1'), container('b', 'b:1')) });
  const live = {
    replicas: 5,
    ...withContainers(container('sidecar', 's'), container('b', 'b:9'), container('a', 'a:9')),
  };
  const sets = (manager: string, spec: object) => ({ manager, operation: 'Update', fieldsV1: { 'f:spec': spec } });
  const others = (...list: readonly object[]) => [{ manager: 'work-api-agent', operation: 'Apply' }, ...list];
  const images = (operation: ReturnType<typeof judge>) =>
    JSON.parse(JSON.stringify(specIn(operation)))['template']['spec']['containers'];
  const server = (more: Partial<Given> = {}, force = false) =>
    judged({
      wants,
      live,
      patches: REPLICAS,
      ...more,
      strategy: { type: 'ServerSideApply', serverSideApplyConfig: { force } },
    });

  test('keeps the value of the member where nobody else owns it: else the server would remove the field', () => {
    expect(specIn(server())).toMatchObject({ replicas: 5 });
    expect(specIn(server({ managers: others(sets('person', { 'f:paused': {} })) }))).toMatchObject({ replicas: 5 });
  });

  test('says nothing of what another manager owns, so that it does not become ours', () => {
    const managers = others(sets('hpa', { '.': {}, 'f:replicas': {} }));
    expect(specIn(server({ managers }))).not.toHaveProperty('replicas');
    expect(specIn(server({ managers }, true))).not.toHaveProperty('replicas');
  });

  test('writes a new manifest, over others only by force', () => {
    const next = { ...wants, spec: { ...(wants.spec as object), replicas: 3 } };
    const managers = others(sets('hpa', { 'f:replicas': {} }));
    const given = { wants: next, applied: wants };
    expect(specIn(server(given))).toMatchObject({ replicas: 3 });
    expect(specIn(server({ ...given, managers }))).not.toHaveProperty('replicas');
    expect(specIn(server({ ...given, managers }, true))).toMatchObject({ replicas: 3 });
  });

  test('finds the entry of a list by its key', () => {
    const patches = [{ jsonPointers: ['/spec/template/spec/containers/1/image'] }];
    expect(images(server({ patches }))).toEqual([container('a', 'a:1'), container('b', 'b:9')]);
    const image = { 'f:template': { 'f:spec': { 'f:containers': { 'k:{"name":"b"}': { 'f:image': {} } } } } };
    const managers = others(sets('updater', image));
    expect(images(server({ patches, managers }))).toEqual([container('a', 'a:1'), { name: 'b' }]);
    expect(images(server({ patches: [{ jsonPointers: ['/spec/template/spec/containers/0/image'] }] }))).toEqual([
      container('a', 'a:1'),
      container('b', 'b:1'),
    ]);
  });

  test('leaves the fields of a map one by one, and never the name of an entry', () => {
    const patches = [{ jsonPointers: ['/spec/template/spec/containers/1', '/spec/replicas'] }];
    const b = { '.': {}, 'f:name': {}, 'f:image': {} };
    const managers = others(
      sets('updater', { 'f:template': { 'f:spec': { 'f:containers': { 'k:{"name":"b"}': b } } } }),
    );
    const operation = server({ patches, managers });
    expect(images(operation)).toEqual([container('a', 'a:1'), { name: 'b' }]);
    expect(specIn(operation)).toMatchObject({ replicas: 5 });
  });

  test('is the configuration as it is without comparePatches', () => {
    expect(specIn(server({ patches: [] }))).toEqual(wants.spec);
    expect(specIn(server({ patches: [{ jsonPointers: ['/spec/nothing', '/status', '/kind'] }] }))).toEqual(wants.spec);
  });
});
