// One pass of a partitioned rollout over many clusters, against a bare loop that reads the same rows and keeps one record for each, and whether
// the cost per cluster grows with their number.
import { type PartitionedLimits, partitioned } from '../src/hub/planners/partitioned.ts';
import type { Health, Row as Target } from '../src/hub/planners/planner.ts';
import { median, type Row } from './report.ts';

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
}
