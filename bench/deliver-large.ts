// `npm run bench -- deliver --large`: a placement of three ConfigMaps of 700 KiB, hence of three Works per cluster, of which one object changes by a few
// bytes. Told are the bytes that this writes to the logs and sends, what hub and members hold in memory, and whether it grows with the fleet.
// Up to 50 members run in the hub's process: then nothing is sent.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Fleet, startFleet } from './deliver-fleet.ts';
import { LINEAR, type Vitals } from './fleet-process.ts';
import { median, type Row } from './report.ts';

const WORKS = 3;
const WORK_BYTES = 700 * 1024;
const CHANGES = 5;
/** After a change, for what is still to be told of it. */
const TAIL_MS = 3000;
/**
 * A log holds whole objects. On the hub: the spec and the status of one Work, the metadata of two. On a member: the object. Sent: those four as events,
 * the answer to the status, and what the agent reads before it acts. With a little room for what is written twice.
 */
const MOST = [
  { log: 5, sent: 7.5 },
  { log: 1.25, sent: 0.5 },
] as const;
const MIB = 2 ** 20;

/** Of one process, for a change. */
interface Taken {
  readonly log: number;
  readonly snapshots: number;
  readonly sent: number;
}

interface Large {
  readonly members: number;
  readonly firstMs: number;
  readonly changeMs: number;
  /** The hub with its API server; then the members with theirs, if they have a process of their own. */
  readonly taken: readonly Taken[];
  readonly memory: readonly Vitals[];
  /** Of a fleet of as many members that has one small object. */
  readonly smallMemory: readonly Vitals[];
}

const PROCESSES = ['the hub and its API server', 'the members and their API servers'];

export async function largeRows(sizes: readonly number[], tell: (row: Row) => void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-deliver-'));
  try {
    let before: Large | undefined;
    for (const members of sizes) {
      const measured = await measure(folder, members);
      tellSize(measured, tell);
      if (before?.taken.length === measured.taken.length) tellGrowth(before, measured, tell);
      before = measured;
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(folder: string, members: number): Promise<Large> {
  const smallMemory = await smallVitals(folder, members);
  const begun = performance.now();
  await using fleet = await startFleet(folder, members, '0', new Array(WORKS).fill(WORK_BYTES));
  const firstMs = performance.now() - begun;
  await changed(fleet);
  const before = await fleet.vitals();
  const times: number[] = [];
  for (let round = 0; round < CHANGES; round++) times.push(await changed(fleet));
  const memory = await fleet.vitals();
  const taken = memory.map(({ bytes }, index): Taken => {
    const earlier = (before[index] as Vitals).bytes;
    const each = (figure: keyof Taken) => (bytes[figure] - earlier[figure]) / CHANGES;
    return { log: each('log'), snapshots: each('snapshots'), sent: each('sent') };
  });
  return { members, firstMs, changeMs: median(times), taken, memory, smallMemory };
}

async function smallVitals(folder: string, members: number): Promise<readonly Vitals[]> {
  await using fleet = await startFleet(folder, members, '0');
  await changed(fleet);
  return await fleet.vitals();
}

/** Until all clusters have it, in ms. */
async function changed(fleet: Fleet): Promise<number> {
  const all = Math.max(...(await fleet.change()));
  await sleep(TAIL_MS);
  await fleet.statusMs();
  return all;
}

// ---- what is told

const mib = (bytes: number) => `${(bytes / MIB).toFixed(1)} MiB`;

function tellSize({ members, firstMs, changeMs, taken, memory, smallMemory }: Large, tell: (row: Row) => void): void {
  const one = members * WORK_BYTES;
  const all = WORKS * one;
  taken.forEach(({ log, snapshots, sent }, index) => {
    const most = taken.length === 1 ? undefined : MOST[index];
    const of = taken.length === 1 ? 'all processes' : PROCESSES[index];
    tell({
      name: `${members} members: log of ${of}`,
      ratio: log / one,
      ...(most === undefined ? {} : { bound: { atMost: most.log } }),
      figures: `${mib(log)} per change, and ${mib(snapshots)} of snapshots; the Works that change have ${mib(one)}, all Works ${mib(all)}`,
    });
    if (most !== undefined) {
      const name = `${members} members: sent by ${of}`;
      tell({ name, ratio: sent / one, bound: { atMost: most.sent }, figures: `${mib(sent)} per change` });
    }
    const [now, small] = [memory[index], smallMemory[index]] as [Vitals, Vitals];
    tell({
      name: `${members} members: memory of ${of}`,
      ratio: (now.heap - small.heap) / all,
      figures: `heap ${mib(now.heap)}, with one small object ${mib(small.heap)}; resident ${mib(now.rss)}, at most ${mib(now.most)}, with one small object ${mib(small.rss)}`,
    });
  });
  tell({
    name: `${members} members: change to Available, all members`,
    ratio: changeMs / firstMs,
    figures: `${changeMs.toFixed(0)} ms, median of ${CHANGES}; the fleet's start with the first placement ${firstMs.toFixed(0)} ms`,
  });
}

function tellGrowth(small: Large, large: Large, tell: (row: Row) => void): void {
  const growth = (name: string, figure: (of: Large) => number, text: (value: number) => string, isBound = true) => {
    const [a, b] = [figure(small) / small.members, figure(large) / large.members];
    tell({
      name: `${name} per cluster, ${large.members} against ${small.members}`,
      ratio: b / a,
      ...(isBound ? { bound: { atMost: LINEAR } } : {}),
      figures: `${text(b)} against ${text(a)}`,
    });
  };
  const sum = (of: Large, figure: keyof Taken) => of.taken.reduce((total, each) => total + each[figure], 0);
  const heap = (of: readonly Vitals[]) => of.reduce((total, each) => total + each.heap, 0);
  growth('bytes in the logs', (of) => sum(of, 'log'), mib);
  if (large.taken.length > 1) growth('bytes on the wire', (of) => sum(of, 'sent'), mib);
  growth('heap for the content', ({ memory, smallMemory }) => heap(memory) - heap(smallMemory), mib);
  growth(
    'time to all',
    ({ changeMs }) => changeMs,
    (ms) => `${ms.toFixed(1)} ms`,
    false,
  );
}
