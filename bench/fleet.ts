// Fleets of 100 and 1,000 members as `flotilla up` runs them: the time until all have joined, what a member costs, whether anything grows faster than
// the fleet; and one agent as a process of its own against a Node process that does nothing.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { childrenOf, ended, LINEAR, program, said, type Vitals, vitalsFlags, vitalsOf } from './fleet-process.ts';
import { collectionRows, heartbeatRows } from './heartbeats.ts';
import { median, type Row } from './report.ts';

const SMALL = 100;
const LARGE = 1000;
/** Both fleets have their members in a process of their own. */
const PROCESSES = 2;
const QUIET_SECONDS = 20;
const ROUNDS = 5;
const MB = 2 ** 20;

interface Measured {
  readonly members: number;
  readonly joinMs: number;
  readonly cpuMs: number;
  readonly rss: number;
  readonly heap: number;
  /** The worst of the processes. */
  readonly joining: Vitals['loop'];
  readonly quiet: Vitals['loop'];
  readonly quietCpuMs: number;
}

export async function rows(tell: (row: Row) => void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-fleet-'));
  try {
    await heartbeatRows(tell);
    collectionRows(tell);
    await agentRows(folder, tell);
    // What does not grow with the fleet: a hub with hardly any members, once for each of the two processes that a large fleet has.
    const base = await measure(folder, 1);
    const small = await measure(folder, SMALL);
    const large = await measure(folder, LARGE);
    fleetRows(base, small, large, tell);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function fleetRows(base: Measured, small: Measured, large: Measured, tell: (row: Row) => void): void {
  const growth = (name: string, figure: (of: Measured) => number, unit: string, digits: number, isBound = true) => {
    const each = (of: Measured) => (figure(of) - PROCESSES * figure(base)) / of.members;
    const [a, b] = [each(small), each(large)];
    tell({
      name: `${name} per member, 1,000 against 100`,
      ratio: b / a,
      ...(isBound ? { bound: { atMost: LINEAR } } : {}),
      figures: `${b.toFixed(digits)} ${unit} against ${a.toFixed(digits)} ${unit}; in all ${figure(large).toFixed(0)} ${unit}, ${figure(small).toFixed(0)} ${unit}, ${figure(base).toFixed(0)} ${unit} with one`,
    });
  };
  // Others use this machine as well: processor time is the figure that they do not change.
  growth('time to all joined', ({ joinMs }) => joinMs, 'ms', 1, false);
  growth('processor time to all joined', ({ cpuMs }) => cpuMs, 'ms', 1);
  growth('memory', ({ rss }) => rss / MB, 'MB', 2);
  growth('heap', ({ heap }) => heap / MB, 'MB', 2);
  growth(`processor time of ${QUIET_SECONDS} quiet s`, ({ quietCpuMs }) => quietCpuMs, 'ms', 2);
  const loop = ({ p99, max }: Vitals['loop']) => `p99 ${p99.toFixed(0)} ms, max ${max.toFixed(0)} ms`;
  for (const when of ['joining', 'quiet'] as const) {
    tell({
      name: `event-loop delay p99, ${when}, 1,000 against 100`,
      ratio: large[when].p99 / Math.max(0.1, small[when].p99),
      figures: `${loop(large[when])} against ${loop(small[when])}`,
    });
  }
}

async function measure(folder: string, members: number): Promise<Measured> {
  const data = mkdtempSync(join(folder, 'data-'));
  const began = performance.now();
  const up = spawn(
    process.execPath,
    [...vitalsFlags, program, 'up', '--port', '0', '--data-dir', data, '--members', String(members)],
    { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, FLOTILLA_BENCH_FOLDER: folder } },
  );
  try {
    await said(up, 'ready:');
    const joinMs = performance.now() - began;
    const pids = [up.pid as number, ...childrenOf(up.pid as number)];
    const joined = await vitalsOf(folder, pids);
    await new Promise((resolve) => setTimeout(resolve, QUIET_SECONDS * 1000));
    const later = await vitalsOf(folder, pids);
    const sum = (all: readonly Vitals[], figure: (of: Vitals) => number) =>
      all.reduce((total, each) => total + figure(each), 0);
    const worst = (all: readonly Vitals[]) => ({
      p99: Math.max(...all.map(({ loop }) => loop.p99)),
      max: Math.max(...all.map(({ loop }) => loop.max)),
    });
    return {
      members,
      joinMs,
      cpuMs: sum(joined, ({ cpuMs }) => cpuMs),
      rss: sum(later, ({ rss }) => rss),
      heap: sum(later, ({ heap }) => heap),
      joining: worst(joined),
      quiet: worst(later),
      quietCpuMs: sum(later, ({ cpuMs }) => cpuMs) - sum(joined, ({ cpuMs, collectMs }) => cpuMs + collectMs),
    };
  } finally {
    await ended(up);
    rmSync(data, { recursive: true, force: true });
  }
}

// ---- one agent

async function agentRows(folder: string, tell: (row: Row) => void): Promise<void> {
  const data = mkdtempSync(join(folder, 'data-'));
  const kubeconfig = join(data, 'kubeconfig');
  const up = spawn(process.execPath, [program, 'up', '--port', '0', '--data-dir', data, '--members', '1'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    await said(up, 'ready:');
    const agentFile = join(data, 'extra.kubeconfig');
    execFileSync(process.execPath, [program, 'join', 'extra', '--kubeconfig', kubeconfig, '--output', agentFile]);
    const starting = (args: readonly string[], word: string) => startOnce(folder, [...vitalsFlags, ...args], word);
    const member = ['--hub-kubeconfig', agentFile, '--kubeconfig', kubeconfig, '--context', 'member-1'];
    const agent = [program, 'member', '--name', 'extra', ...member, '--log-level', 'info'];
    const bare = ['--eval', 'console.log("running"); setInterval(() => {}, 1e6)'];
    const ours: Started[] = [];
    const theirs: Started[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      ours.push(await starting(agent, 'reports the heartbeat'));
      theirs.push(await starting(bare, 'running'));
    }
    const of = (all: readonly Started[], figure: keyof Started) => median(all.map((each) => each[figure]));
    const row = (name: string, figure: keyof Started, unit: string, digits: number, bound?: number) =>
      tell({
        name,
        ratio: of(ours, figure) / of(theirs, figure),
        ...(bound === undefined ? {} : { bound: { atMost: bound } }),
        figures: `${of(ours, figure).toFixed(digits)} ${unit} against ${of(theirs, figure).toFixed(digits)} ${unit} of a bare process`,
      });
    // Measured: 89 MB against 43. Of the 46 more, 23 are there once its code is loaded, 13 are room for new objects, and 10 come with its work.
    row('an agent process, memory', 'rssMb', 'MB', 0, 3);
    row('an agent process, start to first heartbeat', 'startMs', 'ms', 0);
    row('an agent process, processor time to there', 'cpuMs', 'ms', 0);
  } finally {
    await ended(up);
    rmSync(data, { recursive: true, force: true });
  }
}

interface Started {
  readonly startMs: number;
  readonly cpuMs: number;
  readonly rssMb: number;
}

async function startOnce(folder: string, args: readonly string[], word: string): Promise<Started> {
  const began = performance.now();
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, FLOTILLA_BENCH_FOLDER: folder },
  });
  // An agent's log goes to standard error, what it says to people to standard output.
  child.stderr.on('data', (chunk: Buffer) => child.stdout.emit('data', chunk));
  try {
    await said(child, word);
    const startMs = performance.now() - began;
    const [vitals] = await vitalsOf(folder, [child.pid as number]);
    const { cpuMs, rss } = vitals as Vitals;
    return { startMs, cpuMs, rssMb: rss / MB };
  } finally {
    await ended(child);
  }
}
