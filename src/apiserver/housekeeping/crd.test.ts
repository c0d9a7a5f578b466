import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../api/object.ts';
import type { Clock } from '../../base/clock.ts';
import type { Cluster } from '../cluster.ts';
import type { Draft, ServedResource } from '../registry.ts';
import { CRD_PREFIX, type Crd, type CrdNames, type CrdStatus } from '../schema/crd.ts';
import { markCrdTerminating } from '../schema/crd-behaviour.ts';
import { establish } from '../schema/establish.ts';
import { FakeDisk } from '../store/fake-disk.ts';
import { openLog } from '../store/log.ts';
import { createMemoryStore } from '../store/memory.ts';
import { keyOf, type Store } from '../store/store.ts';
import { startCrdHousekeeping } from './crd.ts';

const NOW = Date.UTC(2026, 0, 1);
const crd = (names: CrdNames, more: Partial<Crd> = {}): Crd => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${names.plural}.a.example`, uid: `uid-${names.plural}`, generation: 1 },
  spec: {
    group: 'a.example',
    scope: 'Namespaced',
    names: { singular: names.kind.toLowerCase(), listKind: `${names.kind}List`, ...names },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
  ...more,
});
const widgets = crd({ plural: 'widgets', kind: 'Widget', shortNames: ['wi'] });
const accepted = (each: Crd): Crd => ({ ...each, status: establish(each, [], NOW) });
const conditionsOf = (status: CrdStatus | undefined): string[] =>
  (status?.conditions ?? []).map(({ type, status: is, reason, message }) => `${type}=${is} ${reason}: ${message}`);

describe('a definition', () => {
  test('is established when its names are free', () => {
    const status = establish(widgets, [], NOW);
    expect(conditionsOf(status)).toEqual([
      'NamesAccepted=True NoConflicts: no conflicts found',
      'Established=True InitialNamesAccepted: the initial names have been accepted',
    ]);
    expect(status.acceptedNames).toEqual({
      plural: 'widgets',
      singular: 'widget',
      shortNames: ['wi'],
      kind: 'Widget',
      listKind: 'WidgetList',
    });
    expect(status.storedVersions).toEqual(['v1']);
    expect(status.conditions?.[0]?.lastTransitionTime).toBe('2026-01-01T00:00:00Z');
  });
  test.each<[string, CrdNames, string, Partial<CrdNames>]>([
    [
      'kind and list kind',
      { plural: 'xs', kind: 'Widget', singular: 'x' },
      'ListKindConflict: "WidgetList" is already in use',
      { plural: 'xs', singular: 'x', kind: '' },
    ],
    [
      'singular',
      { plural: 'xs', kind: 'X', singular: 'widget' },
      'SingularConflict: "widget" is already in use',
      { plural: 'xs', kind: 'X', listKind: 'XList' },
    ],
    [
      'short name',
      { plural: 'xs', kind: 'X', shortNames: ['wi', 'x1'] },
      'ShortNamesConflict: "wi" is already in use',
      { plural: 'xs', singular: 'x', kind: 'X', listKind: 'XList' },
    ],
    [
      'a short name that is a plural elsewhere',
      { plural: 'xs', kind: 'X', shortNames: ['widgets', 'wi'] },
      'ShortNamesConflict: ["widgets" is already in use, "wi" is already in use]',
      { plural: 'xs', singular: 'x', kind: 'X', listKind: 'XList' },
    ],
  ])('waits when somebody has its %s', (_what, names, conflict, acceptedNames) => {
    const status = establish(crd(names), [accepted(widgets)], NOW);
    expect(conditionsOf(status)).toEqual([
      `NamesAccepted=False ${conflict}`,
      'Established=False NotAccepted: not all names are accepted',
    ]);
    expect(status.acceptedNames).toEqual(acceptedNames);
  });
  test('of another group does not stand in the way', () => {
    const other = accepted(widgets);
    const mine = crd({ plural: 'xs', kind: 'Widget' });
    expect(
      conditionsOf(establish(mine, [{ ...other, spec: { ...other.spec, group: 'b.example' } }], NOW))[0],
    ).toContain('NoConflicts');
  });
  test('that is established stays so, and nothing changes without a reason', () => {
    const done = accepted(widgets);
    expect(establish(done, [done], NOW + 5_000)).toBe(done.status);
    const renamed = { ...done, spec: { ...done.spec, names: { ...done.spec.names, shortNames: ['taken'] } } };
    const other = accepted(crd({ plural: 'taken', kind: 'Taken' }));
    expect(conditionsOf(establish(renamed, [other], NOW))).toEqual([
      'NamesAccepted=False ShortNamesConflict: "taken" is already in use',
      'Established=True InitialNamesAccepted: the initial names have been accepted',
    ]);
  });
});

const put = (store: Store, key: string, value: KubeObject | undefined): void => {
  store.commit({ key, expect: store.get(key, 'head')?.revision ?? 'absent', value });
};
const crdKey = (each: Crd): string => `${CRD_PREFIX}/${each.metadata.name}`;
const instanceKey = (name: string): string => keyOf('a.example', 'widgets', 'ns', name);
const instance = (name: string, finalizers?: string[]): KubeObject => ({
  apiVersion: 'a.example/v1',
  kind: 'Widget',
  metadata: { name, namespace: 'ns', generation: 1, ...(finalizers ? { finalizers } : {}) },
});
const statusIn = (store: Store, each: Crd): string[] =>
  conditionsOf((store.get(crdKey(each))?.object() as Crd | undefined)?.status);

const standingClock: Clock = { now: () => NOW, at: () => () => {} };

function start(store = createMemoryStore(), clock = standingClock) {
  const served: (readonly ServedResource[])[] = [];
  const cluster = { store, clock } as unknown as Cluster;
  const stop = startCrdHousekeeping(cluster, {
    onServed: (resources) => served.push(resources),
    onError: (error) => expect.unreachable(String(error)),
  });
  const plurals = (): string[] => (served.at(-1) ?? []).map(({ plural }) => plural);
  return { store, served, plurals, stop };
}
const awake = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the housekeeping of definitions', () => {
  test('serves a new one as soon as its creator can go on', async () => {
    const { store, plurals } = start();
    const { durable } = store.commit({ key: crdKey(widgets), expect: 'absent', value: widgets });
    await durable;
    expect(plurals()).toEqual(['widgets']);
    expect(statusIn(store, widgets)[1]).toContain('Established=True');
  });
  test('serves at once what was established before a restart', () => {
    const store = createMemoryStore();
    put(store, crdKey(widgets), accepted(widgets));
    expect(start(store).plurals()).toEqual(['widgets']);
  });
  test('writes nothing, and serves the same values, when nothing changed', async () => {
    const { store, served } = start();
    put(store, crdKey(widgets), widgets);
    await awake();
    const { head } = store;
    const [first] = served.at(-1) ?? [];
    put(store, crdKey(widgets), {
      ...(store.get(crdKey(widgets))?.object() as Crd),
      metadata: { ...widgets.metadata, labels: { a: 'b' } },
    });
    await awake();
    expect(store.head).toBe(head + 1);
    expect(served.at(-1)?.[0]).toBe(first);
  });
  test('serves a changed definition as a new value', async () => {
    const { store, served } = start();
    put(store, crdKey(widgets), widgets);
    await awake();
    const [first] = served.at(-1) ?? [];
    const now = store.get(crdKey(widgets))?.object() as Crd;
    put(store, crdKey(widgets), { ...now, spec: { ...now.spec, names: { ...now.spec.names, shortNames: ['w'] } } });
    await awake();
    expect(served.at(-1)?.[0]).not.toBe(first);
    expect(served.at(-1)?.[0]?.shortNames).toEqual(['w']);
  });
  test('gives names to whoever came first, and to the next when they are free', async () => {
    const { store, plurals } = start();
    const rival = crd({ plural: 'rivals', kind: 'Widget' });
    put(store, crdKey(widgets), widgets);
    put(store, crdKey(rival), rival);
    await awake();
    expect(plurals()).toEqual(['widgets']);
    put(store, crdKey(widgets), undefined);
    await awake();
    expect(plurals()).toEqual(['rivals']);
  });
  test('reads past a definition that makes no sense', async () => {
    const { store, plurals } = start();
    put(store, `${CRD_PREFIX}/broken`, {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'broken' },
    });
    put(store, crdKey(widgets), widgets);
    await awake();
    expect(plurals()).toEqual(['widgets']);
  });
  test('stops when it is told to', async () => {
    const { store, served, stop } = start();
    stop();
    put(store, crdKey(widgets), widgets);
    await awake();
    expect(served).toEqual([[]]);
  });
});

describe('a definition that is deleted', () => {
  const remove = (store: Store): void => {
    const draft = structuredClone(store.get(crdKey(widgets))?.object()) as unknown as Draft;
    draft.metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
    markCrdTerminating(draft);
    put(store, crdKey(widgets), draft as KubeObject);
  };
  test('takes its instances along', async () => {
    const { store, plurals } = start();
    put(store, crdKey(widgets), widgets);
    put(store, instanceKey('a'), instance('a'));
    put(store, keyOf('a.example', 'widgetsets', 'ns', 'other'), instance('other'));
    await awake();
    remove(store);
    await awake();
    expect(plurals()).toEqual([]);
    expect(store.range('').items.map(({ key }) => key)).toEqual([keyOf('a.example', 'widgetsets', 'ns', 'other')]);
  });
  test('waits for instances that somebody holds, still served', async () => {
    const { store, plurals, served } = start();
    put(store, crdKey(widgets), widgets);
    put(store, instanceKey('held'), instance('held', ['x.io/y']));
    put(store, instanceKey('free'), instance('free'));
    await awake();
    remove(store);
    await awake();
    expect(store.get(instanceKey('free'))).toBeUndefined();
    expect(store.get(instanceKey('held'))?.object().metadata).toMatchObject({
      deletionTimestamp: '2026-01-01T00:00:00Z',
      deletionGracePeriodSeconds: 0,
      generation: 2,
    });
    expect(plurals()).toEqual(['widgets']);
    expect(served.at(-1)?.[0]?.verbs).not.toContain('create');
    expect(statusIn(store, widgets).at(-1)).toBe(
      'Terminating=True InstanceDeletionInProgress: CustomResource deletion is in progress',
    );
    put(store, instanceKey('held'), undefined);
    await awake();
    expect(store.get(crdKey(widgets))).toBeUndefined();
    expect(plurals()).toEqual([]);
  });
  test('with many instances leaves others a turn every few milliseconds, and looks at each instance once', async () => {
    const pauses: (() => void)[] = [];
    let now = NOW;
    const { store, plurals } = start(createMemoryStore(), {
      now: () => now,
      at(_epochMs, _name, run) {
        pauses.push(run);
        return () => {};
      },
    });
    put(store, crdKey(widgets), widgets);
    for (let i = 0; i < 23; i++) put(store, instanceKey(`i${i}`), instance(`i${i}`, i === 7 ? ['x.io/y'] : undefined));
    await awake();
    let looks = 0;
    const get = store.get.bind(store);
    store.get = (key, at) => {
      const isLook = key.startsWith('a.example/widgets/') && at === 'head';
      if (isLook) now = NOW + ++looks; // each read takes a millisecond
      return get(key, at);
    };
    remove(store);
    const left = () => store.range('a.example/widgets/').items.length;
    await awake();
    const seen = [left()];
    while (pauses.length > 0) {
      expect(pauses).toHaveLength(1);
      pauses.pop()?.();
      await awake();
      seen.push(left());
    }
    expect(seen).toEqual([18, 13, 8, 3, 1]);
    expect(looks).toBe(23);
    expect(plurals()).toEqual(['widgets']);
    store.get = get;
    put(store, instanceKey('i7'), undefined);
    await awake();
    expect(store.range('').items).toEqual([]);
  });
  test('stays as long as others hold it', async () => {
    const { store } = start();
    put(store, crdKey(widgets), { ...widgets, metadata: { ...widgets.metadata, finalizers: ['x.io/y'] } });
    await awake();
    remove(store);
    await awake();
    expect(store.get(crdKey(widgets))?.object().metadata.finalizers).toEqual(['x.io/y']);
    expect(statusIn(store, widgets).at(-1)).toBe('Terminating=False InstanceDeletionCompleted: removed all instances');
  });
  test('takes along what was written while its deletion was still on its way to the disk', async () => {
    const held: (() => void)[] = [];
    let isOpen = true;
    const disk = new FakeDisk({
      onStep: (operation) =>
        isOpen || operation !== 'sync' ? undefined : new Promise<void>((resolve) => held.push(resolve)),
    });
    const log = await openLog({ disk });
    const store = log.store('a');
    start(store);
    put(store, crdKey(widgets), widgets);
    while (store.visible < store.head) await awake();
    isOpen = false;
    remove(store);
    while (held.length === 0) await awake();
    put(store, instanceKey('late'), instance('late'));
    isOpen = true;
    for (const release of held) release();
    while (store.visible < store.head) await awake();
    expect(store.range('').items.map(({ key }) => key)).toEqual([]);
  });
  test('goes on after a restart in the middle', async () => {
    const { store, stop } = start();
    put(store, crdKey(widgets), widgets);
    put(store, instanceKey('a'), instance('a'));
    await awake();
    stop();
    remove(store);
    const again = start(store);
    await awake();
    expect(store.range('').items).toEqual([]);
    expect(again.plurals()).toEqual([]);
  });
});
