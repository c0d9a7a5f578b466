// Spec 08 §6, §9, §13–§15 in both modes, with the rows that K6, K8 and K9 change for the default mode.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Partition, type PartitionMember, type PartitionSettings, partitionsOf } from '../../api/partitions.ts';
import { partitionLimit } from '../../base/int-or-percent.ts';
import { type PartitionMode, type PassTarget, partitionPass } from './partition-pass.ts';

interface Settings extends PartitionSettings {
  readonly maxUnavailablePartitions?: number | string;
  readonly maxNew?: number;
}

/** A cluster of the simulated fleet: its version (0 = none), and whether that version works. */
interface Cluster extends PartitionMember {
  version: number;
  isUp: boolean;
  isPaused?: boolean;
  isOffline?: boolean;
  /** Waits for its predecessor or for a dependency. */
  isDelayed?: boolean;
  isInBatch?: boolean;
}

type Target = PassTarget & PartitionMember;

const MODES: readonly PartitionMode[] = ['FleetDocumented', 'FleetExact'];

const fleet = (count: number, facts: (index: number) => Partial<Cluster> = () => ({})): Cluster[] =>
  Array.from({ length: count }, (_, index) => ({
    cluster: `c-${String(index).padStart(4, '0')}`,
    labels: {},
    groups: [],
    version: 0,
    isUp: false,
    ...facts(index),
  }));

const healthy = (count: number, version = 1) => fleet(count, () => ({ version, isUp: true }));

function targetOf(cluster: Cluster, want: number, mode: PartitionMode): Target {
  const isServing = cluster.version > 0 && cluster.isUp;
  return {
    key: cluster.cluster,
    cluster: cluster.cluster,
    labels: cluster.labels,
    groups: cluster.groups,
    isPresent: cluster.version > 0,
    isCurrent: cluster.version === want,
    isServing,
    isAvailable: isServing && (mode === 'FleetExact' || cluster.isOffline !== true),
    isHeld: (cluster.isPaused ?? false) || (cluster.isDelayed ?? false),
    isDelayed: cluster.isDelayed ?? false,
    isInBatch: cluster.isInBatch ?? false,
    isExcluded: false,
    isSoaking: false,
  };
}

function pass(clusters: readonly Cluster[], settings: Settings, want: number, mode: PartitionMode) {
  const targets = clusters.map((cluster) => targetOf(cluster, want, mode));
  const partitions = partitionsOf(settings, targets) as readonly Partition<Target>[];
  const result = partitionPass(targets, partitions, {
    mode,
    maxNew: settings.maxNew ?? 50,
    max: partitionLimit(targets.length, settings.maxUnavailable),
    maxPartitions: partitionLimit(partitions.length, settings.maxUnavailablePartitions, 0),
  });
  return { ...result, partitions };
}

/** Applies the moves: a moved cluster has the wanted version, which does not work yet. */
function carryOut(clusters: Cluster[], move: readonly string[], want: number): void {
  const moving = new Set(move);
  for (const cluster of clusters)
    if (moving.has(cluster.cluster)) {
      cluster.version = want;
      cluster.isUp = false;
    }
}

const becomeReady = (clusters: Cluster[]) => {
  for (const cluster of clusters) if (cluster.version > 0 && cluster.isOffline !== true) cluster.isUp = true;
};

/**
 * Returns the number of moves of each pass. `ready`: all clusters become ready after each pass; otherwise none ever
 * does.
 */
function play(clusters: Cluster[], settings: Settings, mode: PartitionMode, ready = true) {
  const want = Math.max(...clusters.map(({ version }) => version)) + 1;
  const moves: number[] = [];
  let peak = 0;
  for (let round = 0; round < 1000; round++) {
    const { move } = pass(clusters, settings, want, mode);
    if (move.length === 0) break;
    moves.push(move.length);
    carryOut(clusters, move, want);
    peak = Math.max(peak, clusters.filter(({ version, isUp }) => version > 0 && !isUp).length);
    if (ready) becomeReady(clusters);
  }
  return { moves, peak, isDone: clusters.every(({ version }) => version === want) };
}

const stages = (first: number) => (index: number) => ({
  labels: { stage: index < first ? 'demoRollout' : 'stable' },
});
const strict: Settings = {
  maxUnavailable: 0,
  maxUnavailablePartitions: 0,
  partitions: ['demoRollout', 'stable'].map((stage) => ({
    name: stage,
    clusterSelector: { matchLabels: { stage } },
  })),
};
const fives: Settings = {
  maxUnavailable: '10%',
  maxUnavailablePartitions: 0,
  partitions: [0, 1, 2, 3, 4].map((part) => ({ clusterSelector: { matchLabels: { part: String(part) } } })),
};
const inFives = (index: number) => ({ labels: { part: String(Math.floor(index / 40)) } });
const demo: Settings = {
  partitions: [
    { name: 'demoRollout', maxUnavailable: '10%', clusterSelector: { matchLabels: { stage: 'demoRollout' } } },
    { name: 'stable', maxUnavailable: '5%', clusterSelector: { matchLabels: { stage: 'stable' } } },
  ],
};
const times = (count: number, value: number): number[] => Array.from({ length: count }, () => value);

describe.each(MODES)('traces of spec 08 §14, mode %s', (mode) => {
  const isExact = mode === 'FleetExact';

  test('T1: 25 clusters, limit 5', () => {
    const settings = { maxUnavailable: 5 };
    expect(play(fleet(25), settings, mode).moves).toEqual([25]);
    expect(play(healthy(25), settings, mode)).toMatchObject({ moves: times(5, 5), isDone: true });
  });

  test('T2: 50 clusters, 10 %: all at once, judged after', () => {
    const settings = { maxUnavailable: '10%' };
    const first = pass(fleet(50), settings, 1, mode);
    expect(first.move).toHaveLength(50);
    expect(first.verdicts).toMatchObject([{ bad: 50, isBeyondLimit: true }]);
    expect(play(healthy(50), settings, mode).moves).toEqual(times(10, 5));
  });

  test('T3: 100 clusters, 10 %: the second batch waits for the first one', () => {
    const settings = { maxUnavailable: '10%' };
    const clusters = fleet(100);
    carryOut(clusters, pass(clusters, settings, 1, mode).move, 1);
    clusters.forEach((cluster, index) => {
      cluster.isUp = index < 40;
    });
    const held = pass(clusters, settings, 1, mode);
    expect(held.move).toHaveLength(isExact ? 50 : 0);
    if (!isExact) expect(held.gates.get('c-0099')).toEqual({ gate: 'BatchGate', partition: 0 });
    (clusters[40] as Cluster).isUp = true;
    expect(pass(clusters, settings, 1, mode).move).toHaveLength(50);
    expect(play(healthy(100), settings, mode).moves).toEqual(times(10, 10));
  });

  test('T4: 199 clusters, defaults', () => {
    expect(play(fleet(199), {}, mode, false).moves).toEqual([50, 50, 50, 49]);
    expect(play(healthy(199), {}, mode, false).moves).toEqual(isExact ? [199] : [50, 50, 50, 49]); // K6
  });

  test('T5: 200 clusters, defaults', () => {
    expect(play(fleet(200), {}, mode, false).moves).toEqual(times(4, 50));
    expect(play(healthy(200), {}, mode, false).moves).toEqual(isExact ? [200] : times(4, 50)); // K6
  });

  test('T6: partitions of 10 % with the default limit wait for nothing', () => {
    const settings = { autoPartitionSize: '10%', maxUnavailablePartitions: 1 };
    expect(play(fleet(200), settings, mode, false).moves).toEqual(times(4, 50));
    expect(play(healthy(200), settings, mode, false).moves).toEqual(isExact ? [200] : times(4, 50)); // K6
  });

  test('T6b: the same with 10 %: two partitions in flight', () => {
    const settings = { autoPartitionSize: '10%', maxUnavailablePartitions: 1, maxUnavailable: '10%' };
    expect(play(fleet(200), settings, mode).moves).toEqual(times(5, 40));
    const update = play(healthy(200), settings, mode);
    expect([update.moves.length, update.peak, update.moves[0], update.isDone]).toEqual([46, 8, 4, true]);
  });

  test('T7: five partitions of 40, 10 %', () => {
    const clusters = fleet(200, inFives);
    carryOut(clusters, pass(clusters, fives, 1, mode).move, 1);
    expect(clusters.filter(({ version }) => version > 0)).toHaveLength(40);
    const up = (count: number) => {
      for (const [index, cluster] of clusters.entries()) cluster.isUp = index < count;
    };
    up(35);
    const held = pass(clusters, fives, 1, mode);
    expect(held.move).toEqual([]);
    expect(held.gates.get('c-0199')).toEqual({ gate: 'EarlierPartition', partition: 0 });
    up(36);
    expect(pass(clusters, fives, 1, mode).move).toHaveLength(40);
    const settled = fleet(200, (index) => ({ ...inFives(index), version: 1, isUp: true }));
    const update = play(settled, fives, mode);
    expect([update.moves.length, update.peak, update.isDone]).toEqual([46, 8, true]);
  });

  test('T8: strict, two partitions', () => {
    const install = play(fleet(200, stages(20)), strict, mode);
    expect(install).toMatchObject({ moves: [20, 50, 50, 50, 30], isDone: true });
    const unready = fleet(200, stages(20));
    carryOut(unready, pass(unready, strict, 1, mode).move, 1);
    for (const cluster of unready.slice(0, 19)) cluster.isUp = true;
    expect(pass(unready, strict, 1, mode).move).toEqual([]);
    const update = play(
      fleet(200, (index) => ({ ...stages(20)(index), version: 1, isUp: true })),
      strict,
      mode,
    );
    expect(update).toMatchObject(isExact ? { moves: [] } : { moves: times(200, 1), peak: 1, isDone: true });
  });

  test('T9: 230 clusters, defaults', () => {
    expect(play(fleet(230), {}, mode, false).moves).toEqual([50, 50, 50, 50, 30]);
    expect(play(healthy(230), {}, mode, false).moves).toEqual(isExact ? [230] : [50, 50, 50, 50, 30]); // K6
  });

  test('T10: 230 clusters, 10 %', () => {
    const settings = { maxUnavailable: '10%' };
    expect(play(fleet(230), settings, mode).moves).toEqual([50, 7, 50, 7, 50, 7, 50, 7, 2]);
    const update = play(healthy(230), settings, mode);
    expect([update.moves.length, update.peak, update.moves[0]]).toEqual([46, 7, 5]);
  });

  test("T11: the seed's example", () => {
    expect(play(fleet(120, stages(20)), demo, mode).moves).toEqual([20, 50, 50]);
    const update = play(
      fleet(120, (index) => ({ ...stages(20)(index), version: 1, isUp: true })),
      demo,
      mode,
    );
    expect([update.moves.length, update.peak, update.isDone]).toEqual([29, 7, true]);
  });

  test('T12: all limits at 100 %', () => {
    const settings = { autoPartitionSize: '10%', maxUnavailable: '100%', maxUnavailablePartitions: '100%' };
    expect(play(fleet(200), settings, mode, false).moves).toEqual(times(4, 50));
    expect(play(healthy(200), settings, mode, false).moves).toEqual(isExact ? [200] : times(4, 50)); // K6
  });

  test('offline clusters in T6b without spare partitions', () => {
    const settings = { autoPartitionSize: '10%', maxUnavailable: '10%' };
    const offline = (count: number) => (index: number) => (index < count ? { isOffline: true } : {});
    expect(play(fleet(200, offline(3)), settings, mode).moves).toEqual([20]);
    const update = (count: number) =>
      play(
        fleet(200, (index) => ({ ...offline(count)(index), version: 1, isUp: true })),
        settings,
        mode,
      );
    expect(update(1).isDone).toBe(true);
    // K8: an unreachable cluster uses the window from the start, so it does not even get a revision that no other
    // cluster has proven.
    expect(update(2).moves).toEqual(isExact ? [2] : []);
    expect(update(3).moves).toEqual(isExact ? [2] : []);
  });
});

describe.each(MODES)('acceptance cases of spec 08 §15, mode %s', (mode) => {
  const isExact = mode === 'FleetExact';

  test.each([
    [10, 100, 10],
    [200, 20, 20],
    [0, 10, 0],
    [undefined, 100, 50],
  ])('A10: maxNew %s of %d new clusters', (maxNew, count, expected) => {
    expect(pass(fleet(count), { ...(maxNew === undefined ? {} : { maxNew }) }, 1, mode).move).toHaveLength(expected);
  });

  test('A13, A14: what counts as bad', () => {
    const three = healthy(3);
    (three[1] as Cluster).isUp = false;
    expect(pass(three, { maxUnavailable: 0 }, 1, mode).verdicts).toMatchObject([{ bad: 1, isBeyondLimit: true }]);
    expect(pass(three, { maxUnavailable: 1 }, 1, mode).verdicts).toMatchObject([{ bad: 1, isBeyondLimit: false }]);
    const six = [...healthy(5), ...fleet(1).map((cluster) => ({ ...cluster, cluster: 'z' }))];
    (six[3] as Cluster).isUp = false;
    (six[4] as Cluster).isUp = false;
    expect(pass(six, { maxNew: 0 }, 1, mode).verdicts).toMatchObject([{ bad: 3, unavailable: 2 }]);
  });

  test('A16: one cluster per partition, none may be bad', () => {
    const clusters = fleet(3);
    const settings = { autoPartitionThreshold: 1, autoPartitionSize: 1, maxUnavailable: 0 };
    expect(play(clusters, settings, mode)).toMatchObject({ moves: [1, 1, 1], isDone: true });
    expect(play(fleet(3), settings, mode, false).moves).toEqual([1]);
  });

  test('A17: new clusters and updates in one pass', () => {
    const clusters = fleet(60, (index) => (index < 40 ? { version: 1, isUp: true } : {}));
    const { move } = pass(clusters, { maxUnavailable: '10%' }, 2, mode);
    expect(move).toHaveLength(26);
    expect(move.filter((name) => name < 'c-0040')).toHaveLength(6);
  });

  test('A18: overlapping partitions share the window over all', () => {
    const clusters = fleet(100, (index) => ({
      version: 1,
      isUp: true,
      labels: { ...(index < 60 ? { env: 'testing' } : {}), ...(index >= 40 ? { group: 'a' } : {}) },
    }));
    const settings: Settings = {
      maxUnavailable: '10%',
      maxUnavailablePartitions: 1,
      partitions: [
        { clusterSelector: { matchLabels: { env: 'testing' } } },
        { clusterSelector: { matchLabels: { group: 'a' } } },
      ],
    };
    const result = pass(clusters, settings, 2, mode);
    expect(result.move.filter((name) => name < 'c-0040')).toHaveLength(6);
    expect(result.move).toHaveLength(10);
    expect(result.stoppedAt).toBe(1);
  });

  test('A19: a newer revision in mid-rollout goes where the last one is not ready yet', () => {
    const clusters = fleet(100, (index) => (index < 10 ? { version: 2, isUp: false } : { version: 1, isUp: true }));
    const { move } = pass(clusters, { maxUnavailable: '10%' }, 3, mode);
    expect(move).toEqual(clusters.slice(0, 10).map(({ cluster }) => cluster));
  });

  test('A20: nothing moves while paused', () => {
    const clusters = fleet(10, (index) => ({ version: index < 5 ? 1 : 0, isUp: true, isPaused: true }));
    const result = pass(clusters, {}, 2, mode);
    expect(result.move).toEqual([]);
    expect(new Set([...result.gates.values()].map(({ gate }) => gate))).toEqual(new Set(['Own']));
  });

  test('A7: clusters in no partition are named and never moved', () => {
    const clusters = fleet(100, (index) => ({ labels: { half: index < 50 ? 'first' : 'second' } }));
    const settings = { partitions: [{ clusterSelector: { matchLabels: { half: 'first' } } }] };
    const result = pass(clusters, settings, 1, mode);
    expect(result.move).toHaveLength(50);
    expect(result.gates.get('c-0099')).toEqual({ gate: 'NoPartition' });
  });

  test('A28: half of four partitions may be bad, so three may be in flight', () => {
    const settings: Settings = {
      autoPartitionThreshold: 1,
      autoPartitionSize: 1,
      maxUnavailable: 0,
      maxUnavailablePartitions: '50%',
    };
    expect(pass(fleet(4), settings, 1, mode)).toMatchObject({ stoppedAt: 2, move: ['c-0000', 'c-0001', 'c-0002'] });
  });

  test('a partition with its own limit and the limit over all (K9)', () => {
    const clusters = fleet(10, () => ({ version: 1, isUp: true }));
    const settings = { maxUnavailable: 1, partitions: [{ clusterSelector: {}, maxUnavailable: '50%' }] };
    expect(pass(clusters, settings, 2, mode).move).toHaveLength(isExact ? 1 : 5);
  });
});

/**
 * Carries out a pass as far as the writes for these clusters succeed; if the first one of a batch fails, nothing moves.
 */
function carryOutOf(
  clusters: Cluster[],
  { move, batch = [] }: Pick<ReturnType<typeof pass>, 'move' | 'batch'>,
  succeeds: (cluster: string) => boolean,
): readonly string[] {
  const [first] = batch;
  if (first !== undefined && !succeeds(first)) return [];
  const named = new Set(batch);
  for (const cluster of clusters) if (named.has(cluster.cluster)) cluster.isInBatch = true;
  const moved = move.filter((each) => each === first || succeeds(each));
  carryOut(clusters, moved, 1);
  return moved;
}

describe('a batch of first copies that has begun (ADR 16)', () => {
  const at = (index: number) => `c-${String(index).padStart(4, '0')}`;
  const upTo = (end: number) => (cluster: string) => cluster < at(end);
  const install = (clusters: readonly Cluster[], settings: Settings, mode: PartitionMode = 'FleetDocumented') =>
    pass(clusters, settings, 1, mode);

  const SETTINGS: readonly (readonly [it: string, count: number, settings: Settings, batch: number])[] = [
    ['T7: 40 of a partition of 40', 200, fives, 40],
    ['T3: 50 of 100', 100, { maxUnavailable: '10%' }, 50],
    ['T8: 20 of a strict partition', 200, strict, 20],
    ['50 of a strict partition', 100, { maxUnavailable: 0 }, 50],
    ['T2: all 50', 50, { maxUnavailable: '10%' }, 50],
  ];
  test.each(SETTINGS)('%s: the next pass moves what the last one could not', (_, count, settings, size) => {
    const clusters = fleet(count, (index) => ({ labels: { ...inFives(index).labels, ...stages(20)(index).labels } }));
    const first = install(clusters, settings);
    expect(first.batch).toEqual(first.move);
    expect(carryOutOf(clusters, first, upTo(15))).toHaveLength(15);
    const next = install(clusters, settings);
    expect([next.move.length, next.move[0], next.batch]).toEqual([size - 15, at(15), undefined]);
    carryOutOf(clusters, next, upTo(count));
    // None of them is ready, so the next batch does not start.
    expect(install(clusters, settings).move).toEqual([]);
  });

  test('nothing of a batch moves that is not recorded', () => {
    const clusters = fleet(100);
    expect(carryOutOf(clusters, install(clusters, { maxUnavailable: '10%' }), (each) => each !== at(0))).toEqual([]);
    expect(install(clusters, { maxUnavailable: '10%' }).move).toHaveLength(50);
  });

  test.each<[it: string, count: number, settings: Settings]>([
    ['the default limit', 199, {}],
    ['one cluster for each partition (A16)', 3, { autoPartitionThreshold: 1, autoPartitionSize: 1, maxUnavailable: 0 }],
    ['a limit above the size of a batch', 100, { maxUnavailable: 60 }],
  ])('no record is written where the gate cannot cut a batch in two: %s', (_, count, settings) => {
    expect(install(fleet(count), settings).batch).toBeUndefined();
  });

  test('the exact mode has no gate, and no record', () => {
    const clusters = fleet(100);
    const first = install(clusters, { maxUnavailable: '10%' }, 'FleetExact');
    expect(first.batch).toBeUndefined();
    carryOutOf(clusters, first, upTo(15));
    expect(install(clusters, { maxUnavailable: '10%' }, 'FleetExact').move).toHaveLength(50);
  });

  test('clusters that wait for a predecessor or a dependency follow as soon as they may, as far as the batch has room', () => {
    const clusters = fleet(40, (index) => ({ isDelayed: index >= 4 }));
    const first = install(clusters, { maxUnavailable: '10%' });
    expect([first.move.length, first.batch?.length]).toEqual([4, 40]);
    carryOutOf(clusters, first, upTo(40));
    expect(install(clusters, { maxUnavailable: '10%' }).move).toEqual([]);
    for (const cluster of clusters.slice(0, 30)) cluster.isDelayed = false;
    expect(install(clusters, { maxUnavailable: '10%' }).move).toEqual(
      clusters.slice(4, 30).map((each) => each.cluster),
    );

    const many = fleet(100, (index) => ({ isDelayed: index >= 30 }));
    const begun = install(many, { maxUnavailable: '10%' });
    expect([begun.move.length, begun.batch?.length]).toEqual([30, 50]);
    carryOutOf(many, begun, upTo(100));
    for (const cluster of many) cluster.isDelayed = false;
    const next = install(many, { maxUnavailable: '10%' });
    expect(next.move).toEqual(many.slice(30, 50).map((each) => each.cluster));
    expect(next.gates.get(at(50))).toEqual({ gate: 'BatchGate', partition: 0 });
  });

  test('paused clusters are in no batch', () => {
    const clusters = fleet(20, (index) => ({ isPaused: index >= 15 }));
    expect(install(clusters, { maxUnavailable: '10%' }).batch).toHaveLength(15);
  });

  test('clusters of a batch that were delayed for long do not come on top of the next batch', () => {
    const settings = { maxUnavailable: 4, maxNew: 10 };
    const clusters = fleet(30, (index) => ({ isDelayed: index >= 5 && index < 10 }));
    const first = install(clusters, settings);
    expect([first.move.length, first.batch?.length]).toEqual([10, 10]);
    for (const cluster of clusters.slice(10, 15)) cluster.isDelayed = true;
    const smaller = install(clusters.slice(0, 15), settings);
    expect([smaller.move.length, smaller.batch?.length]).toEqual([5, 10]);
    carryOutOf(clusters, smaller, upTo(15));
    becomeReady(clusters);
    for (const cluster of clusters.slice(10, 15)) cluster.isDelayed = false;
    for (const cluster of clusters.slice(5, 10)) Object.assign(cluster, { isDelayed: true });
    carryOutOf(clusters, install(clusters, settings), () => true);
    expect(clusters.filter(({ version }) => version > 0)).toHaveLength(15);
    for (const cluster of clusters.slice(5, 10)) cluster.isDelayed = false;
    // Ten clusters of the second batch are down; with an open gate, three more would be.
    expect(install(clusters, settings).move).toHaveLength(3);
  });
});

test('a fleet that shrinks below the threshold in mid-rollout is one partition from then on, and finishes', () => {
  const settings = { maxUnavailable: '10%' };
  const clusters = healthy(200);
  carryOut(clusters, pass(clusters, settings, 2, 'FleetDocumented').move, 2);
  expect(clusters.filter(({ version }) => version === 2)).toHaveLength(5);
  clusters.pop();
  const next = pass(clusters, settings, 2, 'FleetDocumented');
  // Of 199 clusters, 19 may be unavailable and five are.
  expect(next.partitions.map(({ name, targets, max }) => [name, targets.length, max])).toEqual([['All', 199, 19]]);
  expect(next.move).toHaveLength(14);
  carryOut(clusters, next.move, 2);
  expect(pass(clusters, settings, 2, 'FleetDocumented').move).toEqual([]);
  for (let round = 0; round < 20; round++) {
    becomeReady(clusters);
    carryOut(clusters, pass(clusters, settings, 2, 'FleetDocumented').move, 2);
  }
  expect(clusters.every(({ version }) => version === 2)).toBe(true);
});

describe('properties of the default mode', () => {
  const anyFleet = fc.array(fc.record({ version: fc.constantFrom(0, 1, 1, 1), isUp: fc.boolean(), part: fc.nat(4) }), {
    minLength: 1,
    maxLength: 80,
  });
  const anyLimit = fc.oneof(
    fc.nat(6),
    fc.integer({ min: 0, max: 100 }).map((share) => `${share}%`),
  );
  const anySettings = fc.record({
    maxUnavailable: anyLimit,
    maxUnavailablePartitions: fc.nat(3),
    maxNew: fc.integer({ min: 1, max: 20 }),
    isManual: fc.boolean(),
    size: fc.integer({ min: 1, max: 20 }),
  });
  const build = (
    rows: readonly { version: number; isUp: boolean; part: number }[],
    { isManual, size, ...settings }: { isManual: boolean; size: number } & Settings,
  ): [Cluster[], Settings] => [
    fleet(rows.length, (index) => {
      const { part, version, isUp } = rows[index] as (typeof rows)[number];
      return { labels: { part: String(part) }, version, isUp: version > 0 && isUp };
    }),
    isManual
      ? {
          ...settings,
          partitions: [0, 1, 2, 3, 4].map((part) => ({ clusterSelector: { matchLabels: { part: String(part) } } })),
        }
      : { ...settings, autoPartitionThreshold: 1, autoPartitionSize: size },
  ];

  test('at most the allowed number of partitions beyond their limit are passed', () => {
    fc.assert(
      fc.property(anyFleet, anySettings, (rows, drawn) => {
        const [clusters, settings] = build(rows, drawn);
        const { verdicts, partitions } = pass(clusters, settings, 2, 'FleetDocumented');
        const beyond = verdicts.filter(({ isEntered, isBeyondLimit }) => isEntered && isBeyondLimit).length;
        const allowed = partitionLimit(partitions.length, settings.maxUnavailablePartitions, 0);
        expect(beyond).toBeLessThanOrEqual(allowed + 1);
      }),
    );
  });

  test('an update never takes down more clusters than the limit, and at most maxNew healthy or new ones move', () => {
    fc.assert(
      fc.property(anyFleet, anySettings, (rows, drawn) => {
        const [clusters, settings] = build(rows, drawn);
        const { move, partitions } = pass(clusters, settings, 2, 'FleetDocumented');
        const moving = new Set(move);
        const wasUp = clusters.filter(({ cluster, version, isUp }) => version > 0 && isUp && moving.has(cluster));
        const isNew = clusters.filter(({ cluster, version }) => version === 0 && moving.has(cluster));
        expect(wasUp.length + isNew.length).toBeLessThanOrEqual(settings.maxNew ?? 50);
        for (const { targets, max } of partitions) {
          const before = targets.filter(({ isPresent, isAvailable }) => isPresent && !isAvailable).length;
          const after = before + targets.filter(({ key, isAvailable }) => isAvailable && moving.has(key)).length;
          expect(after).toBeLessThanOrEqual(Math.max(before, max, 1));
        }
      }),
    );
  });

  const anyWrites = fc.array(fc.record({ lost: fc.nat(9), delayed: fc.nat(9), ready: fc.nat(9) }), { maxLength: 12 });
  const number = ({ cluster }: Pick<Cluster, 'cluster'>): number => Number(cluster.slice(2)) % 10;
  const toInstall = (count: number, drawn: Parameters<typeof build>[1]) =>
    build(
      Array.from({ length: count + 1 }, (_, index) => ({ version: 0, isUp: false, part: index % 3 })),
      drawn,
    );

  test('nothing goes on top of a batch, whatever writes fail, whatever is delayed and whatever becomes ready', () => {
    fc.assert(
      fc.property(fc.nat(79), anySettings, anyWrites, (count, drawn, writes) => {
        const [clusters, settings] = toInstall(count, drawn);
        for (const { lost, delayed, ready } of writes) {
          for (const cluster of clusters) {
            cluster.isDelayed = number(cluster) < delayed;
            if (number(cluster) < ready) cluster.isUp = cluster.version > 0;
          }
          const result = pass(clusters, settings, 1, 'FleetDocumented');
          carryOutOf(clusters, result, (cluster) => number({ cluster }) >= lost);
          const down = new Set(
            clusters.filter(({ version, isUp }) => version > 0 && !isUp).map((each) => each.cluster),
          );
          for (const { targets, max } of result.partitions) {
            const own = targets.filter(({ cluster }) => down.has(cluster)).length;
            expect(own).toBeLessThanOrEqual(Math.max(max - 1, 0) + (settings.maxNew ?? 50));
          }
        }
      }),
    );
  });

  test('what a pass has chosen is installed in the end, whatever writes fail and even if nothing becomes ready', () => {
    fc.assert(
      fc.property(fc.nat(79), anySettings, anyWrites, (count, drawn, writes) => {
        const [clusters, settings] = toInstall(count, drawn);
        const chosen = new Set<string>();
        const once = (succeeds: (cluster: string) => boolean): number => {
          const result = pass(clusters, settings, 1, 'FleetDocumented');
          for (const each of result.move) chosen.add(each);
          return carryOutOf(clusters, result, succeeds).length;
        };
        for (const { lost } of writes) once((cluster) => number({ cluster }) >= lost);
        while (once(() => true) > 0);
        const missing = clusters.filter(({ cluster, version }) => version === 0 && chosen.has(cluster));
        expect(missing.map(({ cluster }) => cluster)).toEqual([]);
      }),
    );
  });

  test('a healthy fleet finishes', () => {
    fc.assert(
      fc.property(anyFleet, anySettings, (rows, drawn) => {
        const [clusters, settings] = build(
          rows.map((row) => ({ ...row, version: 1, isUp: true })),
          drawn,
        );
        expect(play(clusters, settings, 'FleetDocumented').isDone).toBe(true);
      }),
    );
  });

  test('the result does not depend on the order of the input', () => {
    fc.assert(
      fc.property(anyFleet, anySettings, (rows, drawn) => {
        const [clusters, settings] = build(rows, drawn);
        const forward = pass(clusters, settings, 2, 'FleetDocumented');
        const backward = pass([...clusters].reverse(), settings, 2, 'FleetDocumented');
        expect([...backward.move].sort()).toEqual([...forward.move].sort());
        expect(backward.verdicts).toEqual(forward.verdicts);
      }),
    );
  });

  test('every cluster that should move either moves or names its gate', () => {
    fc.assert(
      fc.property(anyFleet, anySettings, fc.constantFrom(...MODES), (rows, drawn, mode) => {
        const [clusters, settings] = build(rows, drawn);
        const { move, gates } = pass(clusters, settings, 2, mode);
        for (const { cluster } of clusters) expect(move.includes(cluster) !== gates.has(cluster)).toBe(true);
      }),
    );
  });
});
