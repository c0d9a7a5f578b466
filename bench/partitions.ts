// One pass of a partitioned rollout over many clusters, against a bare loop that reads the same rows and keeps one record for each, and whether
// the cost per cluster grows with their number. Then the rollouts of seed 000 on `flotilla up` with 200 members: a whole update against the bare sum of its batches
// (staged-relay.ts), and install and update against a minute.
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PartitionedLimits, partitioned } from '../src/hub/planners/partitioned.ts';
import type { Health, Row as Target } from '../src/hub/planners/planner.ts';
import { type PartitionedFleet, startPartitionedFleet } from './partitions-fleet.ts';
import { median, type Row } from './report.ts';
import { memberName } from './staged-fleet.ts';
import { ROUND_TRIP, startWaves } from './staged-relay.ts';

const SIZES = [200, 5000, 50_000] as const;
const ROUNDS = 9;
/** Each measurement looks at about so many rows, so that small fleets are measured as long as large ones. */
const ROWS_PER_ROUND = 100_000;

const revision = (snapshot: string) => ({ snapshot, overrides: '', strategy: '' });
const NEW = revision('web-1-snapshot');
const OLD = revision('web-0-snapshot');
const HEALTH: readonly Health[] = ['available', 'available', 'available', 'starting', 'failed'];

const targets = (count: number): readonly Target[] =>
  Array.from({ length: count }, (_, at): Target => {
    const name = `c-${String(at).padStart(6, '0')}`;
    return {
      key: name,
      cluster: name,
      state: 'bound',
      deleting: false,
      has: at < count / 10 ? NEW : OLD,
      wants: NEW,
      health: at < count / 10 ? (HEALTH[at % HEALTH.length] as Health) : 'available',
      since: 0,
      reachable: true,
      labels: { ring: at % 2 === 0 ? 'even' : 'odd' },
    };
  });

const LIMITS: PartitionedLimits = {
  maxUnavailable: '10%',
  maxUnavailablePartitions: 0,
  maxNew: 50,
  mode: 'FleetDocumented',
  excludesUnreachable: false,
  excludesPaused: false,
  soakMs: 0,
  groups: [],
  placement: { group: 'placement.kubernetes-fleet.io', kind: 'ClusterResourcePlacement', name: 'web' },
  binding: { group: 'placement.kubernetes-fleet.io', kind: 'ClusterResourceBinding' },
};

const pass = (rows: readonly Target[]): number =>
  partitioned({ rows, limits: LIMITS, state: undefined, now: 0 }).stale.length;

/** The least that an answer per cluster costs: the same fields read, and a record kept by name. */
function bareLoop(rows: readonly Target[]): number {
  const waiting = new Map<string, object>();
  let unavailable = 0;
  for (const { key, cluster, state, health, has, wants, reachable, since } of rows) {
    const isCurrent = has?.snapshot === wants.snapshot && has.overrides === wants.overrides;
    const isAvailable = state === 'bound' && health === 'available' && reachable;
    if (!isAvailable) unavailable++;
    if (!isCurrent) waiting.set(key, { code: 'waits', subject: { cluster }, facts: { unavailable }, since });
  }
  return waiting.size;
}

function microsPerRow(run: (rows: readonly Target[]) => number, rows: readonly Target[]): number {
  const repeats = Math.max(1, Math.round(ROWS_PER_ROUND / rows.length));
  const begin = performance.now();
  for (let each = 0; each < repeats; each++) if (run(rows) === 0) throw new Error('nothing waits');
  return ((performance.now() - begin) * 1000) / (repeats * rows.length);
}

export async function rows(tell: (row: Row) => void): Promise<void> {
  const own = new Map<number, number>();
  for (const size of SIZES) {
    const fleet = targets(size);
    const rounds: { readonly ours: number; readonly bare: number }[] = [];
    for (let warm = 0; warm < 3; warm++) microsPerRow(pass, fleet);
    for (let round = 0; round < ROUNDS; round++)
      rounds.push({ ours: microsPerRow(pass, fleet), bare: microsPerRow(bareLoop, fleet) });
    const ours = median(rounds.map((each) => each.ours));
    own.set(size, ours);
    tell({
      name: `a pass over ${size} clusters / bare loop`,
      ratio: median(rounds.map((each) => each.ours / each.bare)),
      bound: { atMost: 10 },
      figures: `${ours.toFixed(2)} us / ${median(rounds.map(({ bare }) => bare)).toFixed(2)} us per cluster`,
    });
  }
  const [small, large] = [own.get(5000) as number, own.get(50_000) as number];
  tell({
    name: 'per cluster with 50,000 / with 5,000',
    ratio: large / small,
    bound: { atMost: 2 },
    figures: `${large.toFixed(2)} us / ${small.toFixed(2)} us`,
  });
  await tellRollouts(tell);
}

// ---- whole rollouts

const MEMBERS = 200;
const ROLLOUTS = 3;
const MINUTE_MS = 60_000;
const MAX_OF_BARE = 3;

interface Scenario {
  readonly name: string;
  readonly partitioned: object;
  /** Clusters that an update moves at a time, and how often. */
  readonly batch: number;
}

const byLabel = (label: string, values: readonly string[]) =>
  values.map((value) => ({ name: value, clusterSelector: { matchLabels: { [label]: value } } }));

/** Spec 08 §14. */
const SCENARIOS: readonly Scenario[] = [
  { name: 'T5, defaults', partitioned: {}, batch: 50 },
  {
    name: 'T6b, 10 % of 10 partitions',
    partitioned: { autoPartitionSize: '10%', maxUnavailablePartitions: 1, maxUnavailable: '10%' },
    batch: 4,
  },
  {
    name: 'T7, 10 % of 5 partitions',
    partitioned: { maxUnavailable: '10%', partitions: byLabel('wave', ['1', '2', '3', '4', '5']) },
    batch: 4,
  },
  {
    name: 'T8, strict',
    partitioned: { maxUnavailable: 0, partitions: byLabel('stage', ['demoRollout', 'stable']) },
    batch: 1,
  },
];

async function tellRollouts(tell: (row: Row) => void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-bench-partitions-'));
  try {
    await using fleet = await startPartitionedFleet(folder, MEMBERS);
    for (const scenario of SCENARIOS) await tellRollout(folder, fleet, scenario, tell);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function tellRollout(folder: string, fleet: PartitionedFleet, scenario: Scenario, tell: (row: Row) => void) {
  const { name, partitioned, batch } = scenario;
  const installed = await fleet.install(partitioned);
  const clusters = Array.from({ length: MEMBERS }, (_, at) => memberName(at));
  const waves = Array.from({ length: MEMBERS / batch }, (_, at) => clusters.slice(at * batch, (at + 1) * batch));
  const own: number[] = [];
  const bare: number[] = [];
  let sumMs = 0;
  {
    using relay = await startWaves(folder, fleet, { members: MEMBERS, waves });
    for (let round = 0; round < ROLLOUTS; round++) {
      const updated = await fleet.update();
      own.push(updated.ms);
      sumMs = updated.sumMs;
      bare.push(await relay.run());
    }
  }
  await fleet.remove();
  const [ms, bareMs] = [median(own), median(bare)];
  const load = `load ${loadavg()[0]?.toFixed(1)}`;
  tell({
    name: `${name}: an update of ${MEMBERS} clusters / its batches`,
    ratio: ms / bareMs,
    bound: { atMost: MAX_OF_BARE },
    figures: `${ms.toFixed(0)} ms against ${bareMs.toFixed(0)} ms of ${waves.length} bare waves of ${batch}, each of ${ROUND_TRIP.length} writes; ${load}`,
  });
  tell({
    name: `${name}: install and update / a minute`,
    ratio: (installed.ms + ms) / MINUTE_MS,
    bound: { atMost: 1 },
    figures: `${installed.ms.toFixed(0)} ms and ${ms.toFixed(0)} ms`,
  });
  if (batch > 1) return;
  // Its waves follow one another, so what is not in them is the time between two of them.
  tell({
    name: `${name}: an update / its own waves`,
    ratio: (own.at(-1) ?? 0) / sumMs,
    bound: { atMost: 1.1 },
    figures: `${own.at(-1)?.toFixed(0)} ms against ${sumMs.toFixed(0)} ms`,
  });
}
