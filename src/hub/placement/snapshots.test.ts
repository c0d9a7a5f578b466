// Snapshots, their history and when they are created, as tables.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { annotations, labels } from '../../api/names.ts';
import type { ResourceSnapshot } from '../../api/resource-snapshot.ts';
import { kubeTime } from '../../base/clock.ts';
import type { Action } from '../../runtime/controller.ts';
import { newThrottle, type Pending } from '../../runtime/due.ts';
import { clusterFamily as family } from '../families.ts';
import type { HubBinding, HubPlacement, HubPolicySnapshot, HubResourceSnapshot } from '../placement-sources.ts';
import type { Content } from '../revisions/content.ts';
import { defaultDelays, type RevisionDelays, sawContent } from '../revisions/delays.ts';
import { expired, nextIndex } from '../revisions/history.ts';
import { needsPlaces, OBJECT_LIMIT, planResources, type ResourcesPlan } from '../revisions/resource-snapshot.ts';
import type { Places } from '../revisions/split.ts';
import { policyHashOf } from './policy-hash.ts';
import { policySteps } from './policy-snapshot.ts';

const T0 = Date.parse('2026-01-01T00:00:00Z');
const placement = (more: object = {}): HubPlacement =>
  ({
    metadata: { name: 'web', uid: 'u', resourceVersion: '1', generation: 4 },
    spec: {
      resourceSelectors: [],
      policy: { placementType: 'PickN', numberOfClusters: 2 },
      revisionHistoryLimit: 10,
      ...more,
    },
    conditions: [],
    observedResourceIndex: '',
  }) as unknown as HubPlacement;

/** A short description of an action. */
const told = (action: Action): string => {
  switch (action.do) {
    case 'create':
      return `create ${action.object.metadata.name}`;
    case 'json-patch':
      return `patch ${action.of.name}`;
    case 'patch': {
      const { labels: changed, annotations: noted } = (action.merge as { metadata: Record<string, object> }).metadata;
      return [
        `patch ${action.of.name}`,
        ...(changed ? Object.values(changed) : []),
        ...(noted ? Object.entries(noted).map(([key, value]) => `${key.split('/')[1]}=${value}`) : []),
      ].join(' ');
    }
    case 'delete':
      return `delete ${action.of.name}`;
    case 'event':
      return `tell ${action.reason}`;
  }
};
const shown = (steps: readonly (readonly Action[])[]) =>
  steps.filter((step) => step.length > 0).map((step) => step.map(told).join(', '));

describe('what goes of the history', () => {
  const revisions = (indexes: readonly number[], referenced: readonly number[] = []) =>
    indexes.map((index) => ({ index, items: [index], isReferenced: referenced.includes(index) }));
  const upTo = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, at) => first + at);

  test.each<[number, readonly number[], readonly number[], readonly number[]]>([
    [10, upTo(0, 10), [], [0]],
    [10, upTo(0, 9), [], []],
    [2, [0, 1, 2], [], [0]],
    [1, [4, 5], [], [4]],
    [1, [5], [], []],
    [2, [0, 1, 2, 3], [0], [1]],
    [2, [10, 9, 2], [], [2]],
  ])('limit %i of %j with %j referenced: %j', (limit, indexes, referenced, gone) => {
    expect(expired(revisions(indexes, referenced), limit)).toEqual(gone);
  });

  test('the newest stays, what is referenced stays, and no more than the limit otherwise', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.nat(50), { minLength: 1 }),
        fc.array(fc.nat(50)),
        fc.integer({ min: 1, max: 12 }),
        (indexes, referenced, limit) => {
          const gone = expired(revisions(indexes, referenced), limit);
          const left = indexes.filter((index) => !gone.includes(index));
          expect(left).toContain(Math.max(...indexes));
          for (const index of indexes) if (referenced.includes(index)) expect(left).toContain(index);
          expect(left.filter((index) => !referenced.includes(index)).length).toBeLessThanOrEqual(limit);
        },
      ),
    );
  });

  test('numbers only grow', () => {
    expect(nextIndex([])).toBe(0);
    expect(nextIndex([2, undefined, 10, 9])).toBe(11);
  });
});

describe('policy snapshots', () => {
  const snapshot = (index: number, latest: boolean, more: { policy?: object; generation?: number; n?: number } = {}) =>
    ({
      metadata: {
        name: `web-${index}`,
        uid: `p${index}`,
        resourceVersion: '1',
        labels: { [labels.policyIndex]: String(index), [labels.isLatestSnapshot]: String(latest) },
        annotations: {
          [annotations.placementGeneration]: String(more.generation ?? 4),
          [annotations.numberOfClusters]: String(more.n ?? 2),
        },
      },
      spec: { policyHash: policyHashOf((more.policy ?? { placementType: 'PickN' }) as never) },
    }) as unknown as HubPolicySnapshot;
  const other = { policy: { placementType: 'PickAll' } };
  const stepsFor = (snapshots: readonly HubPolicySnapshot[], spec: object = {}, bindings: readonly HubBinding[] = []) =>
    shown(policySteps({ family, placement: placement(spec), snapshots, bindings }));

  test.each<[string, readonly HubPolicySnapshot[], readonly string[]]>([
    ['none yet', [], ['create web-0']],
    ['as it should be', [snapshot(0, true)], []],
    ['another generation', [snapshot(0, true, { generation: 3 })], ['patch web-0 CRP-generation=4']],
    ['another N', [snapshot(0, true, { n: 5 })], ['patch web-0 number-of-clusters=2']],
    ['another policy', [snapshot(0, true, other)], ['patch web-0 false', 'create web-1']],
    ['none says that it is the latest, as after a crash', [snapshot(3, false, other)], ['create web-4']],
    ['a policy that came back', [snapshot(1, false, other), snapshot(2, false)], ['patch web-2 true']],
    ['two say so', [snapshot(1, true), snapshot(2, true)], ['patch web-1 false']],
    [
      'the policy of an older one',
      [snapshot(1, false), snapshot(2, true, other)],
      ['patch web-2 false', 'create web-3'],
    ],
    ['nine before ten', [snapshot(9, false), snapshot(10, false, other)], ['create web-11']],
  ])('%s', (_name, snapshots, steps) => {
    expect(stepsFor(snapshots)).toEqual(steps);
  });

  test('beyond the limit the oldest go, but those that a binding was decided under', () => {
    const binding = { metadata: {}, spec: { schedulingPolicySnapshotName: 'web-0' } } as HubBinding;
    const all = [snapshot(0, false, other), snapshot(1, false, other), snapshot(2, false, other), snapshot(3, true)];
    expect(stepsFor(all, { revisionHistoryLimit: 2 }, [binding])).toEqual(['delete web-1']);
  });
});

describe('resource snapshots', () => {
  const content = (hash: string, bytes = 10): Content => ({
    resources: [],
    objects: [],
    hash,
    bytes,
    sizes: [],
    envelopes: [],
    largest: { of: { version: 'v1', kind: 'ConfigMap', name: 'big' }, bytes },
  });
  const snapshot = (index: number, latest: boolean, hash = 'old', more: object = {}) =>
    ({
      metadata: {
        name: `web-${index}-snapshot`,
        uid: `r${index}`,
        resourceVersion: '1',
        creationTimestamp: kubeTime(T0),
        labels: { [labels.resourceIndex]: String(index), [labels.isLatestSnapshot]: String(latest) },
        annotations: { [annotations.resourceHash]: hash, ...more },
      },
    }) as HubResourceSnapshot;
  const settled: Pending = { firstSeen: 0, lastSeen: 0 };
  const plan = (
    snapshots: readonly HubResourceSnapshot[],
    with_: Content,
    more: { pending?: Pending; throttle?: Partial<RevisionDelays>; now?: number; seenIndex?: string } = {},
  ) => {
    const result = planResources({
      family,
      placement: { ...placement(), observedResourceIndex: more.seenIndex ?? '' },
      snapshots,
      bindings: [],
      content: with_,
      pending: more.pending ?? settled,
      throttle: { ...defaultDelays, ...more.throttle },
      now: more.now ?? T0,
    });
    return result.state === 'too-large' ? result : { ...result, steps: shown(result.steps) };
  };

  test.each<[string, readonly HubResourceSnapshot[], string, readonly string[]]>([
    ['none yet', [], 'new', ['create web-0-snapshot']],
    ['as it should be', [snapshot(0, true, 'new')], 'new', []],
    ['other content', [snapshot(0, true)], 'new', ['create web-1-snapshot', 'patch web-0-snapshot false']],
    ['none says that it is the latest', [snapshot(4, false, 'new')], 'new', ['patch web-4-snapshot true']],
    ['none says so, and the content is another', [snapshot(4, false)], 'new', ['create web-5-snapshot']],
    ['two say so', [snapshot(1, true), snapshot(2, true, 'new')], 'new', ['patch web-1-snapshot false']],
    [
      'content that came back from further behind',
      [snapshot(1, false, 'new'), snapshot(2, true)],
      'new',
      ['create web-3-snapshot', 'patch web-2-snapshot false'],
    ],
  ])('%s', (_name, snapshots, hash, steps) => {
    expect(plan(snapshots, content(hash))).toMatchObject({ steps });
  });

  test('a number that the status has shown is not given again, though all snapshots are gone', () => {
    expect(plan([], content('new'), { seenIndex: '7' })).toMatchObject({ steps: ['create web-8-snapshot'] });
  });

  test('what is too large is not made; what has been made is not judged again', () => {
    expect(plan([], content('new', OBJECT_LIMIT))).toMatchObject({ state: 'new' });
    expect(plan([], content('new', OBJECT_LIMIT + 1))).toEqual({ state: 'too-large' });
    expect(plan([snapshot(0, true, 'new')], content('new', OBJECT_LIMIT + 1))).toMatchObject({ state: 'current' });
  });

  describe('of a revision that is larger than one', () => {
    const objects = ['a', 'b', 'c', 'd'].map((name) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } }));
    const large: Content = {
      ...content('new', 180),
      objects,
      sizes: [60, 30, 50, 40].map((bytes, at) => ({ key: objects[at]?.metadata.name ?? '', bytes })),
    };
    const further = (index: number, subindex: number) =>
      ({
        metadata: {
          name: `web-${index}-${subindex}`,
          labels: { [labels.resourceIndex]: String(index) },
          annotations: { [annotations.subindexOfResourceSnapshot]: String(subindex) },
        },
      }) as HubResourceSnapshot;
    const of = (size: number) => ({ [annotations.numberOfResourceSnapshots]: String(size) });
    const made = (snapshots: readonly HubResourceSnapshot[], places?: Places, limit = 100) =>
      planResources({
        family,
        placement: { ...placement(), observedResourceIndex: '' },
        snapshots,
        bindings: [],
        content: large,
        pending: settled,
        throttle: defaultDelays,
        limit,
        ...(places === undefined ? {} : { places }),
        now: T0,
      });
    const created = (result: ResourcesPlan) =>
      ('steps' in result ? result.steps : []).flat().flatMap((action) => {
        if (action.do !== 'create') return [];
        const { metadata, spec } = action.object as ResourceSnapshot;
        return [
          {
            name: metadata.name,
            objects: spec.selectedResources.map((each) => each.metadata.name).join(' '),
            marks: { ...metadata.labels, ...metadata.annotations },
          },
        ];
      });

    test('has the master first, with the hash of all, then the others', () => {
      const group = created(made([]));
      expect(group.map(({ name, objects: held }) => [name, held])).toEqual([
        ['web-0-snapshot', 'a b'],
        ['web-0-0', 'c d'],
      ]);
      expect(group[0]?.marks).toEqual({
        [labels.parentPlacement]: 'web',
        [labels.isLatestSnapshot]: 'true',
        [labels.resourceIndex]: '0',
        [annotations.resourceHash]: 'new',
        [annotations.numberOfResourceSnapshots]: '2',
        [annotations.numberOfEnvelopedObjects]: '0',
      });
      expect(group[1]?.marks).toEqual({
        [labels.parentPlacement]: 'web',
        [labels.resourceIndex]: '0',
        [annotations.subindexOfResourceSnapshot]: '0',
      });
    });

    test.each<[string, readonly HubResourceSnapshot[], readonly string[], readonly string[]]>([
      ['complete: nothing', [snapshot(3, true, 'new', of(2)), further(3, 0)], ['a', 'b', 'c', 'd'], []],
      ['without its last', [snapshot(3, true, 'new', of(2))], ['a', 'b'], ['web-3-0: c d']],
      ['without two', [snapshot(3, true, 'new', of(3))], ['a'], ['web-3-0: b c', 'web-3-1: d']],
      ['without one in the middle', [snapshot(3, true, 'new', of(3)), further(3, 1)], ['a', 'd'], ['web-3-0: b c']],
      ['with that of another revision', [snapshot(3, true, 'new', of(2)), further(2, 0)], ['a', 'b'], ['web-3-0: c d']],
    ])('that is %s', (_what, snapshots, held, steps) => {
      const places: Places = new Map(held.map((key) => [key, { part: 0, bytes: 1 }]));
      expect(created(made(snapshots, places)).map(({ name, objects: has }) => `${name}: ${has}`)).toEqual(steps);
      expect(needsPlaces({ snapshots, content: large, limit: 100 })).toBe(steps.length > 0);
    });

    test('leaves objects in the part that had them', () => {
      const places: Places = new Map([
        ['a', { part: 1, bytes: 60 }],
        ['c', { part: 0, bytes: 50 }],
        ['d', { part: 0, bytes: 40 }],
      ]);
      const before = [snapshot(0, true, 'old', of(2)), further(0, 0)];
      expect(created(made(before, places)).map(({ name, objects: has }) => `${name}: ${has}`)).toEqual([
        'web-1-snapshot: c d',
        'web-1-0: a b',
      ]);
    });

    test('is deleted from history as a whole, and counts once', () => {
      const all = [0, 1, 2].flatMap((index) => [
        snapshot(index, index === 2, index === 2 ? 'new' : 'old', of(2)),
        further(index, 0),
      ]);
      const result = planResources({
        family,
        placement: { ...placement({ revisionHistoryLimit: 2 }), observedResourceIndex: '' },
        snapshots: all,
        bindings: [],
        content: large,
        pending: settled,
        throttle: defaultDelays,
        now: T0,
      });
      expect('steps' in result && shown(result.steps).join(' ')).toBe('delete web-0-snapshot, delete web-0-0');
    });
  });

  describe('wait for changes to come to rest', () => {
    const peer = { debounceMs: 0, collectionMs: 15_000, minimumIntervalMs: 30_000 };
    const at = (seconds: number): Pending => ({ firstSeen: T0 + seconds * 1000, lastSeen: T0 + seconds * 1000 });
    const noted = (seconds: number) => ({ [annotations.nextSnapshotDetectionTime]: kubeTime(T0 + seconds * 1000) });

    test.each<[string, Partial<RevisionDelays>, Pending, object, number]>([
      ['100 ms after the last change', {}, { firstSeen: T0, lastSeen: T0 + 300 }, {}, 400],
      ['a second after the first at most', {}, { firstSeen: T0, lastSeen: T0 + 990 }, {}, 1000],
      ['not without a debounce', { debounceMs: 0 }, at(5), {}, 5000],
      ['as the peer, soon after the last snapshot', peer, at(5), noted(5), 30_000],
      ['as the peer, long after the last snapshot', peer, at(100), noted(100), 115_000],
      ['as the peer, from the moment that was noted', peer, at(100), noted(90), 105_000],
      [
        'as the peer, with a note that is no time',
        peer,
        at(100),
        { [annotations.nextSnapshotDetectionTime]: 'soon' },
        115_000,
      ],
    ])('%s', (_name, throttle, pending, more, due) => {
      const latest = snapshot(0, true, 'old', more);
      const early = plan([latest], content('new'), { throttle, pending, now: T0 + due - 1 });
      const late = plan([latest], content('new'), { throttle, pending, now: T0 + due });
      expect(early).toMatchObject({ state: 'waits', until: T0 + due });
      expect(late).toMatchObject({ state: 'new' });
    });

    test('the moment of detection is noted for the peer’s settings, and goes when the change is taken back', () => {
      expect(
        plan([snapshot(0, true)], content('new'), { throttle: peer, pending: at(5), now: T0 + 5000 }),
      ).toMatchObject({
        steps: ['patch web-0-snapshot next-resource-snapshot-candidate-detection-time=2026-01-01T00:00:05Z'],
      });
      expect(plan([snapshot(0, true)], content('new'), { pending: at(5), now: T0 + 5000 })).toMatchObject({
        state: 'waits',
        steps: [],
      });
      expect(plan([snapshot(0, true, 'new', noted(5))], content('new'), { throttle: peer })).toMatchObject({
        steps: ['patch web-0-snapshot next-resource-snapshot-candidate-detection-time=null'],
      });
    });
  });
});

test('changes that no snapshot has are counted from the first and from the last of each burst', () => {
  const of = newThrottle();
  const saw = (hash: string, snapshot: string, now: number) => sawContent(of, { hash, snapshot }, now);
  expect(saw('a', 'web-0', 100)).toEqual({ firstSeen: 100, lastSeen: 100 });
  expect(saw('a', 'web-0', 150)).toEqual({ firstSeen: 100, lastSeen: 100 });
  expect(saw('b', 'web-0', 200)).toEqual({ firstSeen: 100, lastSeen: 200 });
  expect(saw('b', 'web-0', 50)).toEqual({ firstSeen: 50, lastSeen: 50 });
  expect(saw('c', 'web-1', 60)).toEqual({ firstSeen: 60, lastSeen: 60 });
  expect(sawContent(of, undefined, 70)).toBeUndefined();
  expect(saw('c', 'web-1', 300)).toEqual({ firstSeen: 300, lastSeen: 300 });
});

test('however often it is cut off, one revision says that it is the latest in the end, and numbers grow', () => {
  type World = Map<string, { index: number; latest: boolean; hash: string; version: number }>;
  const view = (world: World): readonly HubResourceSnapshot[] =>
    [...world].map(([name, { index, latest, hash, version }]) => ({
      metadata: {
        name,
        uid: name,
        resourceVersion: String(version),
        labels: { [labels.resourceIndex]: String(index), [labels.isLatestSnapshot]: String(latest) },
        annotations: { [annotations.resourceHash]: hash },
      },
    }));
  const steps = (world: World, hash: string) => {
    const result = planResources({
      family,
      placement: placement({ revisionHistoryLimit: 2 }),
      snapshots: view(world),
      bindings: [],
      content: { resources: [], objects: [], hash, bytes: 1, sizes: [], envelopes: [] },
      pending: { firstSeen: 0, lastSeen: 0 },
      throttle: defaultDelays,
      now: T0,
    });
    return 'steps' in result ? result.steps.flat() : [];
  };
  const perform = (world: World, action: Action) => {
    if (action.do === 'create') {
      const { name = '', labels: own = {}, annotations: noted = {} } = action.object.metadata;
      expect(world.has(name)).toBe(false);
      world.set(name, {
        index: Number(own[labels.resourceIndex]),
        latest: true,
        hash: noted[annotations.resourceHash] ?? '',
        version: 1,
      });
    } else if (action.do === 'delete') {
      expect(world.get(action.of.name)?.version).toBe(Number(action.of.resourceVersion));
      world.delete(action.of.name);
    } else if (action.do === 'patch') {
      const known = world.get(action.of.name);
      expect(known?.version).toBe(Number(action.of.resourceVersion));
      const changed = (action.merge as { metadata: { labels: Record<string, string> } }).metadata.labels;
      if (known)
        Object.assign(known, { latest: changed[labels.isLatestSnapshot] === 'true', version: known.version + 1 });
    }
  };
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.nat(4)), { minLength: 1, maxLength: 30 }),
      (script) => {
        const world: World = new Map();
        let highest = -1;
        for (const [hash, done] of script) {
          for (const action of steps(world, hash).slice(0, done)) perform(world, action);
          const newest = Math.max(-1, ...[...world.values()].map(({ index }) => index));
          expect(newest).toBeGreaterThanOrEqual(highest);
          highest = newest;
        }
        const last = script.at(-1)?.[0] ?? 'a';
        for (let round = 0; round < 4; round++) for (const action of steps(world, last)) perform(world, action);
        const latest = [...world.values()].filter((each) => each.latest);
        expect(latest).toMatchObject([{ hash: last }]);
        expect(latest[0]?.index).toBe(Math.max(...[...world.values()].map(({ index }) => index)));
        expect(world.size).toBeLessThanOrEqual(2);
      },
    ),
  );
});
