// A partitioned rollout under all faults. Partition 1 has four clusters, so that it needs more than one batch, the
// others two. Bad content is released again and again, and the user pauses and resumes.
//
// `partitioned`: one of two hubs leads. `partitioned-two-leaders`: both act; each keeps the windows by its own cache,
// so together they may use them twice. Whether a partition may start depends on facts that stay true (a cluster was
// available at the revision), so that holds for two hubs as well.
import type { Binding } from '../../../src/api/binding.ts';
import { type Checker, changeChecker } from '../../../src/sim/check.ts';
import { usualRates } from '../../../src/sim/faults.ts';
import type { Scenario } from '../../../src/sim/scenario.ts';
import type { Readable } from '../../../src/sim/server.ts';
import {
  bindingsIn,
  type Deed,
  isBinding,
  merge,
  notEverywhere,
  orderedFor,
  placed,
  release,
  saysTrue,
  settleFleet,
  wantedText,
} from './rollout-world.ts';

const CALM_MS = 15_000;
const FAULT_MS = 110_000;
const SILENCE_MS = 60_000;
export const MAX_NEW = 2;
/** Per partition. */
const MAX = 1;
export const PARTITIONS = [
  ['c1', 'c2', 'c3', 'c4'],
  ['c5', 'c6'],
  ['c7', 'c8'],
];
const names = PARTITIONS.flat();
export const members = Object.fromEntries(
  PARTITIONS.flatMap((clusters, at) => clusters.map((name) => [name, { part: `p${at}` }])),
);
const partitionOf = (cluster: string): number => PARTITIONS.findIndex((clusters) => clusters.includes(cluster));

/** In half of the worlds one partition may exceed its threshold. */
export const allowedIn = (seed: number): number => seed % 2;

export const strategyOf = (maxUnavailablePartitions: number, maxNew = MAX_NEW): object => ({
  type: 'Partitioned',
  partitioned: {
    maxNew,
    maxUnavailablePartitions,
    partitions: PARTITIONS.map((_, at) => ({
      name: `Part ${at}`,
      maxUnavailable: MAX,
      clusterSelector: { matchLabels: { part: `p${at}` } },
    })),
  },
});

export interface PartitionedOptions {
  readonly name: string;
  readonly isLed: boolean;
  readonly ciRuns: number;
}

export const partitionedScenario = ({ name, isLed, ciRuns }: PartitionedOptions): Scenario => ({
  name,
  calmMs: CALM_MS,
  faultMs: FAULT_MS,
  rates: { ...usualRates, silenceMs: SILENCE_MS },
  dazedMs: SILENCE_MS + 30_000,
  healMs: 1_200_000,
  steps: 100_000,
  ciRuns,
  set(world) {
    const allowed = allowedIn(world.seed);
    const leaders = isLed ? 1 : 2;
    const strategy = strategyOf(allowed);
    settleFleet(world, { members, isLed, strategy, forMs: FAULT_MS - 5_000, pauseMs: 8_000, deed: changes() });
    world.check(partitionsAreEnteredInTurn(allowed));
    world.check(windowsAreKept(leaders));
    world.check(batchesAreGated(leaders));
    return () => unsettled(world.store('hub'), allowed);
  },
});

function changes(): Deed {
  const next = release();
  return (api, roll) =>
    roll(6) === 0 ? merge(api, placed, { spec: { strategy: { paused: roll(2) === 0 } } }) : next(api, roll);
}

// ---- invariants

/** The snapshot that a change brings to a cluster; undefined = none. */
function movedTo(now: Binding, before: Binding | undefined): string | undefined {
  const { resourceSnapshotName, state } = now.spec;
  if (state !== 'Bound' || resourceSnapshotName === '') return undefined;
  return before?.spec.resourceSnapshotName === resourceSnapshotName ? undefined : resourceSnapshotName;
}

/**
 * A cluster gets a revision only if at most the allowed number of earlier partitions exceed their threshold with it.
 */
export function partitionsAreEnteredInTurn(allowed: number): Checker {
  /** Clusters that were available with a snapshot at some moment. */
  const proven = new Map<string, Set<string>>();
  /** The cluster of each binding. */
  const bound = new Map<string, string>();
  return changeChecker('partitions are entered in turn', ({ key, stored, previous, deleted }, server) => {
    const now = stored.object();
    if (server !== 'hub' || !isBinding(now)) return undefined;
    const { targetCluster, resourceSnapshotName } = now.spec;
    if (deleted) bound.delete(key);
    else bound.set(key, targetCluster);
    if (deleted) return undefined;
    if (saysTrue(now, 'Available')) {
      const known = proven.get(resourceSnapshotName) ?? new Set();
      proven.set(resourceSnapshotName, known.add(targetCluster));
    }
    const snapshot = movedTo(now, previous?.object() as Binding | undefined);
    if (snapshot === undefined) return undefined;
    const known = proven.get(snapshot);
    const present = new Set(bound.values());
    const beyond = PARTITIONS.slice(0, partitionOf(targetCluster)).filter(
      (clusters) => clusters.filter((each) => present.has(each) && !known?.has(each)).length > MAX,
    );
    return beyond.length <= allowed
      ? undefined
      : `${targetCluster} gets ${snapshot} while ${beyond.map((each) => each.join(' ')).join(' and ')} are not ready`;
  });
}

/** Of the available clusters of a partition that were updated, at most the window have not become available again. */
function windowsAreKept(leaders: number): Checker {
  const taken = new Set<string>();
  return changeChecker('windows are kept', ({ stored, previous, deleted }, server) => {
    const now = stored.object();
    if (server !== 'hub' || !isBinding(now)) return undefined;
    const { targetCluster } = now.spec;
    if (deleted || saysTrue(now, 'Available')) taken.delete(targetCluster);
    const before = previous?.object() as Binding | undefined;
    if (deleted || before === undefined || movedTo(now, before) === undefined) return undefined;
    if (!saysTrue(before, 'Available')) return undefined;
    taken.add(targetCluster);
    const beside = [...taken].filter((each) => partitionOf(each) === partitionOf(targetCluster));
    return beside.length <= MAX * leaders ? undefined : `${beside.join(' and ')} were taken at once`;
  });
}

/** The next batch of first copies starts after the previous one has proven itself. */
export function batchesAreGated(leaders: number, maxNew = MAX_NEW): Checker {
  const unproven = new Set<string>();
  return changeChecker('batches are gated', ({ stored, previous, deleted }, server) => {
    const now = stored.object();
    if (server !== 'hub' || !isBinding(now)) return undefined;
    const { targetCluster } = now.spec;
    if (deleted || saysTrue(now, 'Available')) unproven.delete(targetCluster);
    const before = previous?.object() as Binding | undefined;
    if (deleted || now.spec.state !== 'Bound' || before?.spec.state !== 'Scheduled') return undefined;
    unproven.add(targetCluster);
    const beside = [...unproven].filter((each) => partitionOf(each) === partitionOf(targetCluster));
    return beside.length <= maxNew * leaders + MAX - 1 ? undefined : `${beside.join(', ')} were installed at once`;
  });
}

// ---- end state

interface Rollout {
  readonly ready?: number;
  readonly desiredReady?: number;
  readonly unavailablePartitions?: number;
}

function unsettled(store: Readable | undefined, allowed: number): string | undefined {
  if (store === undefined) return 'the hub is down';
  const placement = store.get(`${placed.resource.group}/${placed.resource.plural}//${placed.name}`)?.object();
  if (placement === undefined) return 'the user never got through';
  const { strategy } = placement.spec as { strategy?: { paused?: boolean } };
  const { rollout, holds = [] } = (placement.status ?? {}) as { rollout?: Rollout; holds?: readonly object[] };
  if (strategy?.paused === true) return rollout === undefined ? 'the status has no rollout' : undefined;
  const text = wantedText(store) ?? '';
  if (!text.includes('bad')) {
    const missing = notEverywhere(store, names);
    if (missing !== undefined) return `${missing}: ${JSON.stringify(holds)}`;
    const isTold = rollout?.ready === names.length && rollout.desiredReady === names.length;
    return isTold ? undefined : `the status says ${JSON.stringify(rollout)}`;
  }
  const trying = bindingsIn(store)
    .map(({ spec }) => spec.targetCluster)
    .filter((cluster) => orderedFor(store, cluster)?.['text'] === text);
  if (trying.length === 0) return `no cluster gets ${text}`;
  const entered = new Set(trying.map(partitionOf)).size;
  if (entered > allowed + 1) return `${entered} partitions have ${text}`;
  if (rollout?.unavailablePartitions !== entered) return `the status says ${JSON.stringify(rollout)}`;
  return holds.length === 0 ? 'no hold says why the rollout does not go on' : undefined;
}
