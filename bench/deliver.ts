// From a change on the hub to bindings that are Available, on 3, 100 and 1,000 members (or those named: `npm run bench -- deliver 3,100`; with
// `--kube` on real API servers, by default with 3; with `--overrides` only what an override costs; with `--large` only what a placement of three
// large Works takes, by default on 60 and 100 members), against a bare relay of as many dependent
// durable writes through the same transports to the same kind of servers, and for the record against one to bare files. Changes alternate, so that what else the machine does falls on all, and
// so that each begins at rest: nobody changes a fleet ten times a second. What the placement's own status costs is told apart: it follows,
// nobody waits for it.
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type Counted, type Fleet, startFleet } from './deliver-fleet.ts';
import { largeRows } from './deliver-large.ts';
import { type Relayed, startFileRelay, startRelay } from './deliver-relays.ts';
import { LINEAR, type Vitals } from './fleet-process.ts';
import type { Row } from './report.ts';

/**
 * Each is started by the event of the one before; letters as the baselines have them. That the member asks the hub, before it touches anything, whether its order
 * is still the newest is a call on top: it stores nothing as long as the same objects are placed.
 */
const CHAIN = [
  ['u', "the user's ConfigMap"],
  ['H', 'resource snapshot'],
  ['h', 'binding'],
  ['h', 'Work'],
  ['m', "the member's ConfigMap"],
  ['r', 'Work status: what became of it'],
  ['h', 'binding status: Available'],
] as const;
const HOPS = CHAIN.map(([letter]) => letter).join('');
/** About what our objects have on average. */
const BYTES = 2000;

interface Size {
  readonly members: number;
  readonly changes: number;
  /** Not measured with the others: a fleet that has just started is told apart. */
  readonly warmUps: number;
}

const sizeOf = (members: number): Size => ({
  members,
  // Of a few hundred changes of a small fleet the median is off by 5 % now and then, on a machine that is not ours alone.
  changes: members <= 10 ? 800 : members <= 200 ? 15 : 5,
  warmUps: members <= 10 ? 400 : members <= 200 ? 20 : 2,
});
/** Of the warm-ups of a small fleet, those that count as its first. */
const FIRST = 20;
/** After the last change, for what is still to be told of it. */
const TAIL_MS = 3000;
/** How long a fleet is left alone, to see what it takes then: every member has its heartbeat once. */
const REST_SECONDS = 60;
/** From so many members on growth is told. */
const MANY = 50;
/** Changes of two fleets that are compared with each other. */
const MAX_OVERRIDDEN = 200;
type StartFleet = (folder: string, members: number, debounce: string) => Promise<Fleet>;

interface Measured extends Size {
  readonly ours: Times;
  readonly bare: Times;
  readonly files: Times;
  readonly first: Times;
  readonly statusMs: number;
  readonly loop: Vitals['loop'];
  /** For a change, with what the fleet takes meanwhile for its heartbeats. */
  readonly cpuMs: number;
  /** The same without that; only of those whose growth is told. */
  readonly ownCpuMs?: number;
  readonly counted: Counted;
}

export async function rows(tell: (row: Row) => void): Promise<void> {
  const { values, positionals } = parseArgs({
    args: process.argv.slice(3),
    options: {
      kube: { type: 'boolean', default: false },
      overrides: { type: 'boolean', default: false },
      large: { type: 'boolean', default: false },
    },
    allowPositionals: true,
  });
  const begin: StartFleet = values.kube ? (await import('./deliver-kube.ts')).startRealFleet : startFleet;
  const sizes = (positionals[0] ?? (values.large ? '60,100' : values.kube ? '3' : '3,100,1000')).split(',').map(Number);
  if (sizes.some((size) => !Number.isInteger(size) || size < 1)) throw new Error('sizes are like 3,100,1000');
  if (values.large) {
    if (values.kube) throw new Error('--large is measured on the API servers of flotilla up only');
    return largeRows(sizes, tell);
  }
  console.log(`a chain of ${CHAIN.length} dependent durable writes: ${CHAIN.map(([, what]) => what).join(', ')}`);
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-deliver-'));
  try {
    let before: Measured | undefined;
    for (const members of sizes) {
      if (values.overrides) {
        await tellOverridden(folder, sizeOf(members), begin, tell);
        continue;
      }
      const measured = await measure(folder, sizeOf(members), begin);
      tellSize(measured, tell);
      if (members <= 200) {
        await tellUsual(folder, measured, begin, tell);
        if (!values.kube) await tellOverridden(folder, measured, begin, tell);
      }
      if (before !== undefined && Math.min(before.members, members) >= MANY) tellGrowth(before, measured, tell);
      before = measured;
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(folder: string, size: Size, begin: StartFleet): Promise<Measured> {
  const { members, changes, warmUps } = size;
  await using fleet = await begin(folder, members, '0');
  const relayed: Relayed = { members, hops: HOPS, bytes: BYTES };
  using relay = await startRelay(folder, fleet, relayed);
  using files = await startFileRelay(folder, fleet, relayed);
  const done: Record<'first' | 'ours' | 'bare' | 'files', (readonly number[])[]> = {
    first: [],
    ours: [],
    bare: [],
    files: [],
  };
  const statusMs: number[] = [];
  for (let round = 0; round < warmUps; round++) {
    const { each } = await settled(fleet, () => fleet.change());
    if (round < FIRST) done.first.push(each);
    await relay.change();
    await files.change();
  }
  const first = await fleet.vitals();
  const began = performance.now();
  for (let round = 0; round < changes; round++) {
    const { each, toldMs } = await settled(fleet, () => fleet.change());
    done.ours.push(each);
    statusMs.push(toldMs);
    done.bare.push(await relay.change());
    done.files.push(await files.change());
  }
  await sleep(TAIL_MS);
  const last = await fleet.vitals();
  const seconds = (performance.now() - began) / 1000;
  const cpuMs = cpuBetween(first, last) / changes;
  const rest = members < MANY ? undefined : await restCpuMs(fleet, last);
  return {
    ...size,
    ours: timesOf(done.ours),
    bare: timesOf(done.bare),
    files: timesOf(done.files),
    first: timesOf(done.first),
    statusMs: percentile(statusMs, 50),
    loop: {
      p99: Math.max(...last.map(({ loop }) => loop.p99)),
      max: Math.max(...last.map(({ loop }) => loop.max)),
    },
    cpuMs,
    ...(rest === undefined ? {} : { ownCpuMs: cpuMs - (rest * seconds) / changes }),
    counted: await fleet.count(),
  };
}

/** In a second in which nothing is changed. */
async function restCpuMs(fleet: Fleet, before: readonly Vitals[]): Promise<number> {
  await sleep(REST_SECONDS * 1000);
  return cpuBetween(before, await fleet.vitals()) / REST_SECONDS;
}

function cpuBetween(before: readonly Vitals[], after: readonly Vitals[]): number {
  const sum = (all: readonly Vitals[], of: (each: Vitals) => number) =>
    all.reduce((total, each) => total + of(each), 0);
  return sum(after, ({ cpuMs }) => cpuMs) - sum(before, ({ cpuMs, collectMs }) => cpuMs + collectMs);
}

/** The next change begins when nothing of this one is under way any more. */
async function settled(fleet: Fleet, change: () => Promise<readonly number[]>) {
  const each = await change();
  return { each, toldMs: await fleet.statusMs() };
}

// ---- what is told

interface Times {
  readonly p50: number;
  readonly p99: number;
  /** Until the last member of a change has it; the median of the changes. */
  readonly all: number;
}

const percentile = (values: readonly number[], percent: number): number => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] as number;
};

const timesOf = (changes: readonly (readonly number[])[]): Times => ({
  p50: percentile(changes.flat(), 50),
  p99: percentile(changes.flat(), 99),
  all: percentile(
    changes.map((each) => Math.max(...each)),
    50,
  ),
});

const load = () => `load ${loadavg()[0]?.toFixed(1)}`;

function tellSize(
  { members, changes, ours, bare, files, first, statusMs, loop, counted, warmUps }: Measured,
  tell: (row: Row) => void,
): void {
  const isBound = members === 3;
  const row = (name: string, figure: keyof Times, atMost: number) =>
    tell({
      name: `${members} members: change to Available, ${name}`,
      ratio: ours[figure] / bare[figure],
      ...(isBound && figure !== 'all' ? { bound: { atMost } } : {}),
      figures: `${ours[figure].toFixed(1)} ms against ${bare[figure].toFixed(1)} ms of a relay of ${CHAIN.length} writes; ${changes} changes, ${load()}`,
    });
  row('p50', 'p50', 2);
  row('p99', 'p99', 4);
  row('all members', 'all', 0);
  tell({
    name: `${members} members: against a relay to bare files, p50`,
    ratio: ours.p50 / files.p50,
    figures: `${ours.p50.toFixed(1)} ms against ${files.p50.toFixed(1)} ms without any API server; the relay above is ${(bare.p50 / files.p50).toFixed(1)}x of it`,
  });
  tell({
    name: `${members} members: the first changes of a new fleet, p50`,
    ratio: first.p50 / ours.p50,
    figures: `${first.p50.toFixed(1)} ms, then ${ours.p50.toFixed(1)} ms after ${warmUps} of them`,
  });
  tell({
    name: `${members} members: placement status done`,
    ratio: statusMs / ours.all,
    figures: `${statusMs.toFixed(0)} ms after the change, all Available after ${ours.all.toFixed(0)} ms; ${counted.placement.writes} writes, ${kb(counted.placement.bytes)} for the change`,
  });
  tell({
    name: `${members} members: event-loop delay p99`,
    ratio: loop.p99 / Math.max(0.1, ours.p50),
    figures: `p99 ${loop.p99.toFixed(0)} ms, max ${loop.max.toFixed(0)} ms, of ${ours.p50.toFixed(0)} ms p50`,
  });
  tell({
    name: `${members} members: writes per cluster`,
    ratio: writesIn(counted) / members,
    figures: `bindings ${counted.bindings.writes}, Works ${counted.works.writes} on the hub, ${kb(bytesIn(counted) / members)} per cluster; ${counted.onOneMember} on a member`,
  });
}

const kb = (bytes: number) => `${(bytes / 1024).toFixed(1)} KB`;
const writesIn = ({ bindings, works }: Counted) => bindings.writes + works.writes;
const bytesIn = ({ bindings, works }: Counted) => bindings.bytes + works.bytes;

/** With the debounce that people have. */
async function tellUsual(
  folder: string,
  { members, ours }: Measured,
  begin: StartFleet,
  tell: (row: Row) => void,
): Promise<void> {
  await using fleet = await begin(folder, members, '100ms');
  const changes: (readonly number[])[] = [];
  for (let round = 0; round < FIRST; round++) changes.push((await settled(fleet, () => fleet.change())).each);
  const usual = timesOf(changes);
  tell({
    name: `${members} members: with the default debounce, p50`,
    ratio: usual.p50 / ours.p50,
    figures: `${usual.p50.toFixed(1)} ms with 100 ms of debounce against ${ours.p50.toFixed(1)} ms with none`,
  });
}

/** One fleet has an override that differs by cluster, the other none; changes alternate. */
async function tellOverridden(
  folder: string,
  { members, changes, warmUps }: Size,
  begin: StartFleet,
  tell: (row: Row) => void,
): Promise<void> {
  await using plain = await begin(folder, members, '0');
  await using overridden = await begin(folder, members, '0');
  await overridden.override();
  const done: { readonly of: Fleet; readonly each: readonly number[] }[] = [];
  const warm = Math.min(warmUps, MAX_OVERRIDDEN);
  for (let round = 0; round < warm + Math.min(changes, MAX_OVERRIDDEN); round++) {
    for (const of of [plain, overridden]) {
      const { each } = await settled(of, () => of.change());
      if (round >= warm) done.push({ of, each });
    }
  }
  const [without, own] = [plain, overridden].map((fleet) =>
    timesOf(done.filter(({ of }) => of === fleet).map(({ each }) => each)),
  ) as [Times, Times];
  tell({
    name: `${members} members: with an override that names its cluster, p50`,
    ratio: own.p50 / without.p50,
    bound: { atMost: 1.3 },
    figures: `${own.p50.toFixed(1)} ms against ${without.p50.toFixed(1)} ms without; all after ${own.all.toFixed(0)} ms against ${without.all.toFixed(0)} ms; ${load()}`,
  });
}

function tellGrowth(small: Measured, large: Measured, tell: (row: Row) => void): void {
  const growth = (name: string, figure: (of: Measured) => number, text: (value: number) => string, isBound = true) => {
    const [a, b] = [figure(small) / small.members, figure(large) / large.members];
    tell({
      name: `${name} per cluster, ${large.members} against ${small.members}`,
      ratio: b / a,
      ...(isBound ? { bound: { atMost: LINEAR } } : {}),
      figures: `${text(b)} against ${text(a)}`,
    });
  };
  const ms = (value: number) => `${value.toFixed(2)} ms`;
  growth('time to all', ({ ours }) => ours.all, ms, false);
  growth('time of the relay', ({ bare }) => bare.all, ms, false);
  growth('processor time without that at rest', ({ ownCpuMs = Number.NaN }) => ownCpuMs, ms);
  growth('processor time, all of it,', ({ cpuMs }) => cpuMs, ms, false);
  growth(
    'writes',
    ({ counted }) => writesIn(counted),
    (value) => value.toFixed(2),
  );
  growth('bytes', ({ counted }) => bytesIn(counted), kb);
}
