// A fleet as `flotilla up` runs it, started for a benchmark: what it says, its processes, and how they are (vitals.mjs).
import { type ChildProcess, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const program = fileURLToPath(new URL('../dist/main/flotilla.js', import.meta.url));
/** For Node: loads vitals.mjs, which also needs FLOTILLA_BENCH_FOLDER. */
export const vitalsFlags: readonly string[] = [
  '--expose-gc',
  '--import',
  new URL('./vitals.mjs', import.meta.url).href,
];
/** Ten times the members may cost so much more than ten times as much, each. */
export const LINEAR = 1.25;

export interface Vitals {
  readonly loop: { readonly p99: number; readonly max: number };
  readonly rss: number;
  /** The most that `rss` has ever been. */
  readonly most: number;
  /** With what lies outside of it, such as buffers. */
  readonly heap: number;
  /** Written since it began: to logs, to the snapshots that shorten them, and to sockets (on Linux). */
  readonly bytes: { readonly log: number; readonly snapshots: number; readonly sent: number };
  readonly cpuMs: number;
  /** Spent by the bench's own collection, after `cpuMs` was read. */
  readonly collectMs: number;
}

export async function vitalsOf(folder: string, pids: readonly number[]): Promise<readonly Vitals[]> {
  for (const pid of pids) process.kill(pid, 'SIGUSR2');
  const files = pids.map((pid) => join(folder, `${pid}.json`));
  while (!files.every((file) => existsSync(file))) await new Promise((resolve) => setTimeout(resolve, 20));
  return files.map((file) => {
    const vitals = JSON.parse(readFileSync(file, 'utf8')) as Vitals;
    rmSync(file);
    return vitals;
  });
}

export function childrenOf(pid: number): readonly number[] {
  try {
    return execFileSync('pgrep', ['-P', String(pid)])
      .toString()
      .trim()
      .split('\n')
      .map(Number);
  } catch {
    return []; // pgrep ends with 1 when there are none
  }
}

export async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill();
  await once(child, 'exit');
}

export function said(child: ChildProcess, word: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes('still waiting')) reject(new Error(text));
      if (text.includes(word)) resolve();
    });
    child.once('exit', (code) => reject(new Error(`ended with ${code} before it said "${word}": ${text}`)));
  });
}
