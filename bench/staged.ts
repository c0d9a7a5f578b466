// A staged run from its creation to its success: 100 clusters in three stages of 20, 30 and 50, half of a stage at a time, on a hub with 1,000
// members (or those named: `npm run bench -- staged 20 40`), against the bare sum of its six waves: for each, as many dependent durable writes
// as it has, through the same transports to the same kind of servers. Then ten and a hundred such runs at once, and runs over fewer and more clusters.
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { LINEAR, type Vitals } from './fleet-process.ts';
import { median, type Row } from './report.ts';
import { type Counted, type StagedFleet, startStagedFleet, wavesOf } from './staged-fleet.ts';
import { ROUND_TRIP, startWaves } from './staged-relay.ts';

const USUAL = { clusters: 100, members: 1000 };
/** A hub that has just started is slower, and so is a relay. */
const WARM_UPS = 8;
const ROUNDS = 9;
const MOST = 3;
/** The first has this name, where deliver-legs.ts looks for what it is like. */
const FIRST = 'shop';

type Tell = (row: Row) => void;

export async function rows(tell: Tell): Promise<void> {
  const [clusters = USUAL.clusters, members = Math.min(USUAL.members, clusters * 10)] = process.argv
    .slice(3)
    .map(Number);
  if (!(clusters > 0 && clusters % 20 === 0 && members >= clusters)) {
    throw new Error('the clusters of a run are a multiple of 20, and at most as many as there are members');
  }
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-bench-staged-'));
  try {
    await using fleet = await startStagedFleet(folder, members);
    const one = await tellOne(folder, fleet, { clusters, members }, tell);
    await tellClusters(fleet, { clusters, members, one }, tell);
    await tellRuns(fleet, { clusters, members, one }, tell);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Size {
  readonly clusters: number;
  readonly members: number;
}

interface Measured {
  readonly runs: number;
  readonly clusters: number;
  /** Until the last of them, the median of the rounds. */
  readonly ms: number;
  readonly cpuMs: number;
  readonly loop: Vitals['loop'];
  readonly counted: Counted;
}

const consecutive = (count: number, from = 0): readonly number[] => Array.from({ length: count }, (_, at) => from + at);

// ---- one run

async function tellOne(folder: string, fleet: StagedFleet, size: Size, tell: Tell): Promise<Measured> {
  const { clusters, members } = size;
  const own = consecutive(clusters);
  await fleet.place(FIRST, own);
  const [firstMs = 0] = await fleet.roll([FIRST]);
  const waves = wavesOf(own);
  using relay = await startWaves(folder, fleet, { members, waves });
  const bare: number[] = [];
  const measured = await measure(
    fleet,
    { placements: [FIRST], clusters, warmUps: WARM_UPS, rounds: ROUNDS },
    async () => {
      bare.push(await relay.run());
    },
  );
  const bareMs = median(bare.slice(WARM_UPS));
  const name = `${clusters} clusters of ${members} members`;
  tell({
    name: `${name}: run to Succeeded`,
    ratio: measured.ms / bareMs,
    bound: { atMost: MOST },
    figures: `${measured.ms.toFixed(0)} ms against ${bareMs.toFixed(0)} ms of ${waves.length} bare waves (${waves.map(({ length }) => length).join(', ')}) of ${ROUND_TRIP.length} writes; ${load()}`,
  });
  tell({
    name: `${name}: the first run, new to every cluster`,
    ratio: firstMs / measured.ms,
    figures: `${firstMs.toFixed(0)} ms, then ${measured.ms.toFixed(0)} ms`,
  });
  tellCounts(name, measured, tell);
  return measured;
}

function tellCounts(name: string, { clusters, runs, counted, loop, ms }: Measured, tell: Tell): void {
  const of = clusters * runs;
  const listed = (each: Readonly<Record<string, number>>) =>
    Object.entries(each)
      .map(([what, count]) => `${what} ${(count / of).toFixed(2)}`)
      .join(', ');
  tell({ name: `${name}: writes per cluster`, ratio: sum(counted.writes) / of, figures: listed(counted.writes) });
  tell({
    name: `${name}: reconciles of the hub per cluster`,
    ratio: sum(counted.reconciles) / of,
    figures: listed(counted.reconciles),
  });
  tell({
    name: `${name}: event-loop delay p99 of a run`,
    ratio: loop.p99 / ms,
    figures: `p99 ${loop.p99.toFixed(0)} ms, max ${loop.max.toFixed(0)} ms, of ${ms.toFixed(0)} ms`,
  });
}

// ---- growth

async function tellClusters(fleet: StagedFleet, { clusters, members, one }: Size & { one: Measured }, tell: Tell) {
  const few = await ofSize(fleet, 'few', Math.max(20, Math.round(clusters / 5 / 20) * 20));
  const many = clusters * 4 <= members ? await ofSize(fleet, 'many', clusters * 4) : undefined;
  for (const [a, b] of [[few, one] as const, ...(many === undefined ? [] : [[one, many] as const])]) {
    if (a.clusters === b.clusters) continue;
    const name = (what: string) => `${what} per cluster, ${b.clusters} clusters against ${a.clusters}`;
    tellGrowth(name, a, b, ({ clusters }) => clusters, tell);
  }
}

async function ofSize(fleet: StagedFleet, name: string, clusters: number): Promise<Measured> {
  await fleet.place(name, consecutive(clusters));
  return measure(fleet, { placements: [name], clusters, warmUps: 2, rounds: 5 });
}

async function tellRuns(fleet: StagedFleet, { clusters, members, one }: Size & { one: Measured }, tell: Tell) {
  const groups = Math.floor(members / clusters);
  const names = Array.from({ length: 100 }, (_, at) => `app-${at}`);
  for (const [at, name] of names.entries()) {
    await fleet.place(name, consecutive(clusters, (at % groups) * clusters));
  }
  let before = one;
  for (const [runs, rounds] of [
    [10, 4],
    [100, 1],
  ] as const) {
    const measured = await measure(fleet, { placements: names.slice(0, runs), clusters, warmUps: 1, rounds });
    const name = `${runs} such runs at once`;
    tell({
      name: `${name}: to Succeeded`,
      ratio: measured.ms / one.ms,
      figures: `${measured.ms.toFixed(0)} ms for ${runs * clusters} clusters, against ${one.ms.toFixed(0)} ms of one run; ${load()}`,
    });
    tellCounts(name, measured, tell);
    tellGrowth(
      (what) => `${what} per run, ${runs} runs against ${before.runs}`,
      before,
      measured,
      (of) => of.runs,
      tell,
    );
    before = measured;
  }
}

function tellGrowth(
  name: (what: string) => string,
  small: Measured,
  large: Measured,
  per: (of: Measured) => number,
  tell: Tell,
): void {
  const growth = (what: string, figure: (of: Measured) => number, unit: string, isBound: boolean) => {
    const [a, b] = [figure(small) / per(small), figure(large) / per(large)];
    tell({
      name: name(what),
      ratio: b / a,
      ...(isBound ? { bound: { atMost: LINEAR } } : {}),
      figures: `${b.toFixed(2)}${unit} against ${a.toFixed(2)}${unit}`,
    });
  };
  growth('time', ({ ms }) => ms, ' ms', false);
  growth('processor time', ({ cpuMs }) => cpuMs, ' ms', true);
  growth('writes', ({ counted }) => sum(counted.writes), '', true);
  growth('reconciles', ({ counted }) => sum(counted.reconciles), '', true);
}

// ---- measuring

interface Task {
  readonly placements: readonly string[];
  readonly clusters: number;
  readonly warmUps: number;
  readonly rounds: number;
}

/** The last of the rounds is counted. `between`: what is measured in turn with it. */
async function measure(fleet: StagedFleet, task: Task, between?: () => Promise<void>): Promise<Measured> {
  const { placements, clusters, warmUps, rounds } = task;
  for (let round = 0; round < warmUps; round++) {
    await fleet.roll(placements);
    await between?.();
  }
  const taken: number[] = [];
  const spent: number[] = [];
  const loops: Vitals['loop'][] = [];
  let counted: Counted | undefined;
  for (let round = 1; round <= rounds; round++) {
    const before = await fleet.vitals();
    if (round === rounds) counted = await fleet.counted(placements);
    taken.push(Math.max(...(counted?.ms ?? (await fleet.roll(placements)))));
    const after = await fleet.vitals();
    spent.push(cpu(after) - cpu(before) - before.reduce((total, { collectMs }) => total + collectMs, 0));
    loops.push(...after.map(({ loop }) => loop));
    await between?.();
  }
  return {
    runs: placements.length,
    clusters,
    ms: median(taken),
    cpuMs: median(spent),
    loop: { p99: Math.max(...loops.map(({ p99 }) => p99)), max: Math.max(...loops.map(({ max }) => max)) },
    counted: counted as Counted,
  };
}

const cpu = (all: readonly Vitals[]): number => all.reduce((total, { cpuMs }) => total + cpuMs, 0);
const sum = (counts: Readonly<Record<string, number>>): number => Object.values(counts).reduce((a, b) => a + b, 0);
const load = () => `load ${loadavg()[0]?.toFixed(1)}`;
