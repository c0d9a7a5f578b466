// Acceptance cases of spec 08 §15 about one cluster: from the state of a binding to the limits and the status.
import { describe, expect, test } from 'vitest';
import type { PartitionedStrategy } from '../../api/partitioned-strategy.ts';
import type { Row } from '../planners/planner.ts';
import { partitioned } from './partitioned.ts';

const NEW = { snapshot: 'web-2-snapshot', overrides: 'o-2', strategy: '' };
const OLD = { snapshot: 'web-1-snapshot', overrides: 'o-2', strategy: '' };
const placement = { group: 'placement.kubernetes-fleet.io', kind: 'ClusterResourcePlacement', name: 'web' };

const MODES = ['FleetDocumented', 'FleetExact'] as const;
type Mode = (typeof MODES)[number];
type Facts = Partial<Row>;

/** A healthy cluster with the newest revision. */
const row = (cluster: string, facts: Facts = {}): Row => ({
  key: cluster,
  cluster,
  state: 'bound',
  deleting: false,
  has: NEW,
  wants: NEW,
  health: 'available',
  since: 0,
  reachable: true,
  labels: {},
  ...facts,
});

/** As the scheduler creates it: nothing is deployed. */
const none: Facts = { state: 'scheduled', has: { snapshot: '', overrides: '', strategy: '' }, health: 'unknown' };

function plan(rows: readonly Row[], settings: PartitionedStrategy, mode: Mode, { paused = false, now = 0 } = {}) {
  const strategy = { type: 'Partitioned', partitioned: { ...settings, mode }, paused };
  const spec = { resourceSelectors: [], strategy };
  const family = { binding: { group: placement.group, kind: 'ClusterResourceBinding' } };
  return partitioned.plan({
    rows,
    now,
    family,
    spec,
    policySnapshot: undefined,
    placement,
    groups: [],
  } as unknown as Parameters<typeof partitioned.plan>[0]);
}

describe.each(MODES)('acceptance cases of spec 08 §15, mode %s', (mode) => {
  const rolloutOf = (...facts: readonly Facts[]) =>
    plan(
      facts.map((each, index) => row(`c${index}`, each)),
      { maxNew: 0, maxUnavailable: 0 },
      mode,
    ).rollout;

  const isNotYetApplied: Facts = { health: 'progressing', at: 'Applied' };
  const isStarting: Facts = { health: 'starting', at: 'Available' };

  test.each<[it: string, facts: Facts, isUnavailable: boolean]>([
    ['nothing deployed', none, false],
    ['not applied yet', isNotYetApplied, true],
    ['told anew, nothing said yet', { health: 'unknown' }, true],
    ['applied and ready', {}, false],
    ['applied and not ready', isStarting, true],
    ['applied and failed', { health: 'failed', at: 'Available' }, true],
  ])('A11: unavailable: %s', (_, facts, isUnavailable) => {
    const rollout = rolloutOf(facts, {});
    expect(rollout).toMatchObject({ unavailable: Number(isUnavailable) });
    expect(rollout?.partitions).toMatchObject([{ unavailable: Number(isUnavailable) }]);
  });

  test('what the rollout counts as unavailable is what its partitions count', () => {
    const rows = [
      row('down', isStarting),
      row('moved', { has: OLD }),
      row('offline', { reachable: false }),
      row('fine'),
      row('new', none),
    ];
    const all = plan(rows, { maxUnavailable: 5 }, mode);
    // FleetExact uses the last report, because it ignores heartbeats.
    const unavailable = mode === 'FleetExact' ? 3 : 4;
    expect(all.move).toEqual(['moved', 'new']);
    expect(all.rollout).toMatchObject({ unavailable, partitions: [{ unavailable }] });
    const paused = plan(rows, { maxUnavailable: 5 }, mode, { paused: true });
    expect(paused.rollout).toMatchObject({
      unavailable: unavailable - 2,
      partitions: [{ unavailable: unavailable - 2 }],
    });
  });

  test('A20: while it is paused every cluster with an older revision is OutOfSync', () => {
    const { rollout } = plan([row('c0', { has: OLD }), row('c1', { has: OLD })], {}, mode, { paused: true });
    expect(rollout).toMatchObject({ state: 'OutOfSync', outOfSync: 2, waitApplied: 0, unavailable: 0 });
    const resumed = plan([row('c0', { has: OLD }), row('c1', { has: OLD })], { maxUnavailable: 1 }, mode);
    expect(resumed.move).toEqual(['c0']);
  });

  test.each<[it: string, settings: PartitionedStrategy]>([
    ['an operator', { partitions: [{ clusterSelector: { matchExpressions: [{ key: 'a', operator: 'Near' }] } }] }],
    ['a number', { maxUnavailable: 'many' }],
    ['a number of a partition', { partitions: [{ clusterSelector: {}, maxUnavailable: 'x' }] }],
    ['a size', { autoPartitionThreshold: 1, autoPartitionSize: 'half' }],
  ] as never)('A26: with %s that is invalid nothing moves and nothing is removed', (_, settings) => {
    const rows = [row('c0', { has: OLD }), row('c1', none), row('c2', { state: 'unscheduled' }), row('c3')];
    const { move, remove, stale, holds, rollout, done } = plan(rows, settings, mode);
    expect({ move, remove, stale, done, rollout }).toEqual({
      move: [],
      remove: [],
      stale: ['c0', 'c1'],
      done: false,
      rollout: undefined,
    });
    expect(Object.values(holds).map(({ code }) => code)).toEqual(['SpecInvalid', 'SpecInvalid']);
    expect(plan([row('c3')], settings, mode).holds).toMatchObject({ c3: { code: 'SpecInvalid' } });
  });

  test.each<[it: string, facts: Facts, isUpToDate: boolean]>([
    ['nothing deployed', none, false],
    ['an older revision', { has: OLD }, false],
    ['the newest revision with older overrides', { has: { ...NEW, overrides: 'o-1' } }, false],
    ['a revision that nobody knows', { has: undefined } as unknown as Facts, false],
    ['the newest revision, not ready', isStarting, true],
    ['the newest revision, not applied yet', isNotYetApplied, true],
  ])('A12: up to date: %s', (_, facts, isUpToDate) => {
    const { upToDate } = plan([row('c0', facts)], { maxNew: 0 }, mode);
    expect(upToDate).toEqual(isUpToDate ? ['c0'] : []);
  });

  test('A21: a cluster whose objects were changed by others is Modified, not unavailable, and others are updated', () => {
    const rows = [row('c0', { drifted: true }), row('c1', { has: OLD })];
    const { move, rollout } = plan(rows, { maxUnavailable: 1 }, mode);
    expect(move).toEqual(['c1']);
    expect(rollout).toMatchObject({ modified: 1, ready: 0, waitApplied: 1, unavailable: 1 });
    expect(rolloutOf({ drifted: true }, {})).toMatchObject({
      state: 'Modified',
      modified: 1,
      ready: 1,
      unavailable: 0,
    });
  });

  test('A23: the headline is the worst state that any cluster is in, however many there are', () => {
    const failed: Facts = { health: 'failed', at: 'Applied' };
    const outOfSync: Facts = { has: OLD };
    const words: readonly (readonly [word: string, counter: string, facts: Facts])[] = [
      ['Ready', 'ready', {}],
      ['NotReady', 'notReady', isStarting],
      ['Pending', 'pending', none],
      ['OutOfSync', 'outOfSync', outOfSync],
      ['Modified', 'modified', { drifted: true }],
      ['WaitApplied', 'waitApplied', isNotYetApplied],
      ['ErrApplied', 'errApplied', failed],
    ];
    for (const [index, [word, counter]] of words.entries()) {
      const upTo = words.slice(0, index + 1).map(([, , facts]) => facts);
      expect(rolloutOf(...upTo, ...Array.from({ length: 20 }, () => ({})))).toMatchObject({
        state: word,
        [counter]: counter === 'ready' ? 21 : 1,
      });
    }
    expect(rolloutOf(none, isNotYetApplied)).toMatchObject({ state: 'WaitApplied', pending: 1, waitApplied: 1 });
    expect(rolloutOf()).toMatchObject({ state: 'Ready', desiredReady: 0 });
  });

  test('A25: a cluster that is no longer picked loses its copy, and the others keep theirs', () => {
    const rows = [row('c0'), row('c1', { state: 'unscheduled' }), row('c2'), row('c3', { has: OLD, ...isStarting })];
    const { remove, move, rollout } = plan(rows, { maxUnavailable: 2 }, mode);
    expect(remove).toEqual(['c1']);
    expect(move).toEqual(['c3']);
    expect(rollout).toMatchObject({ desiredReady: 3, ready: 2 });
  });
});

/** Unreachable clusters, and those with a paused MemberCluster, may be left out: spec 08 §13. */
describe('the policies of a partitioned rollout', () => {
  const BY_NAME = (...names: string[]) => ({
    partitions: names.map((name) => ({ name, clusterSelector: { matchLabels: { part: name } } })),
  });
  const of = (part: string, facts: Facts = {}): Facts => ({ ...facts, labels: { part } });
  const offline: Facts = { reachable: false };
  const paused: Facts = { paused: true };

  interface Case {
    readonly it: string;
    readonly rows: readonly Row[];
    readonly settings: PartitionedStrategy;
    readonly move: readonly string[];
    /** The states of the partitions in order. */
    readonly states: readonly string[];
    readonly unavailable: number;
    readonly holds: Readonly<Record<string, string>>;
  }

  const unreachable = [row('c0', { ...offline, has: OLD }), row('c1', { has: OLD }), row('c2', { has: OLD })];
  const pausedOnes = [
    row('c0', of('a', { ...paused, has: OLD })),
    row('c1', of('a')),
    row('c2', of('b', { has: OLD })),
  ];

  test.each<Case>([
    {
      it: 'an unreachable cluster takes the place of another one',
      rows: unreachable,
      settings: { maxUnavailable: 1 },
      move: [],
      states: ['NotReady'],
      unavailable: 1,
      holds: { c0: 'PartitionWindow', c1: 'PartitionWindow', c2: 'PartitionWindow' },
    },
    {
      it: 'one that is left out takes none, and does not move',
      rows: unreachable,
      settings: { maxUnavailable: 1, unreachablePolicy: 'Exclude' },
      move: ['c1'],
      states: ['NotReady'],
      unavailable: 1,
      holds: { c0: 'Unreachable', c2: 'PartitionWindow' },
    },
    {
      it: 'one that is left out keeps no later partition back',
      rows: [
        row('c0', of('a', offline)),
        row('c1', of('a', { ...offline, ...none })),
        row('c2', of('b', { has: OLD })),
      ],
      settings: { maxUnavailable: 0, unreachablePolicy: 'Exclude', ...BY_NAME('a', 'b') },
      move: ['c2'],
      states: ['Ready', 'NotReady'],
      unavailable: 1,
      holds: { c0: 'Unreachable', c1: 'Unreachable' },
    },
    {
      it: 'one that counts does',
      rows: [row('c0', of('a', offline)), row('c2', of('b', { has: OLD }))],
      settings: { maxUnavailable: 0, ...BY_NAME('a', 'b') },
      move: [],
      states: ['NotReady', 'Pending'],
      unavailable: 1,
      holds: { c0: 'Unreachable', c2: 'EarlierPartition' },
    },
    {
      it: 'a paused cluster that waits keeps later partitions back',
      rows: pausedOnes,
      settings: { maxUnavailable: 0, ...BY_NAME('a', 'b') },
      move: [],
      states: ['NotReady', 'Pending'],
      unavailable: 0,
      holds: { c0: 'Paused', c2: 'EarlierPartition' },
    },
    {
      it: 'one that is left out does not',
      rows: pausedOnes,
      settings: { maxUnavailable: 0, pausedPolicy: 'Exclude', ...BY_NAME('a', 'b') },
      move: ['c2'],
      states: ['Ready', 'NotReady'],
      unavailable: 1,
      holds: { c0: 'Paused' },
    },
    {
      it: 'a paused cluster that has the newest revision counts as any other',
      rows: [row('c0', of('a', { ...paused, health: 'starting', at: 'Available' })), row('c2', of('b', { has: OLD }))],
      settings: { maxUnavailable: 0, pausedPolicy: 'Exclude', ...BY_NAME('a', 'b') },
      move: [],
      states: ['NotReady', 'Pending'],
      unavailable: 1,
      holds: { c0: 'NotAvailable', c2: 'EarlierPartition' },
    },
  ])('$it', ({ rows, settings, move, states, unavailable, holds }) => {
    const found = plan(rows, settings, 'FleetDocumented');
    expect(found.move).toEqual(move);
    expect(found.rollout).toMatchObject({ unavailable });
    expect(found.rollout?.partitions?.map(({ state }) => state)).toEqual(states);
    expect(Object.fromEntries(Object.entries(found.holds).map(([key, { code }]) => [key, code]))).toEqual(holds);
  });

  test.each<{ it: string; soakSeconds?: number; max?: number; now: number; move: readonly string[]; wakeAt?: number }>([
    { it: 'without soak time the next partition starts at once', now: 1_000, move: ['c2'] },
    { it: 'it waits until the last cluster has soaked', soakSeconds: 60, now: 61_000, move: [], wakeAt: 70_000 },
    { it: 'and starts then', soakSeconds: 60, now: 70_000, move: ['c2'] },
    {
      it: 'clusters within the limit need not have soaked',
      max: 1,
      soakSeconds: 60,
      now: 60_000,
      move: ['c2'],
      wakeAt: 70_000,
    },
  ])('$it', ({ soakSeconds, max = 0, now, move, wakeAt }) => {
    const rows = [
      row('c0', of('a', { since: 0 })),
      row('c1', of('a', { since: 10_000 })),
      row('c2', of('b', { has: OLD, since: 0 })),
    ];
    const settings = {
      maxUnavailable: max,
      ...(soakSeconds === undefined ? {} : { soakSeconds }),
      ...BY_NAME('a', 'b'),
    };
    const found = plan(rows, settings, 'FleetDocumented', { now });
    expect(found.move).toEqual(move);
    expect(found.wakeAt).toBe(wakeAt);
    if (move.length === 0) {
      expect(found.holds).toMatchObject({ c2: { code: 'EarlierPartition' } });
      // It is soaking, which does not make it unavailable.
      expect(found.rollout).toMatchObject({ unavailable: 0, partitions: [{ notReady: 1, unavailable: 0 }, {}] });
    }
  });
});
