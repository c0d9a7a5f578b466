// Runs one program of a suite: its output goes through as it is, or line by line behind a prefix, and its CPU time is measured.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
}

export interface Manner {
  /** Absent = the output goes through unchanged. */
  readonly prefix?: string;
  /** How far the processes step back for others. */
  readonly niceness?: number;
  /** The shell leaves the CPU times here. */
  readonly timesFile: string;
}

export interface Ended {
  readonly isGreen: boolean;
  readonly wallMs: number;
  readonly cpuMs?: number;
}

/** A shell knows the CPU time of its children; Node.js does not. */
const MEASURED = '"$@"; code=$?; times >"$FLOTILLA_TIMES_FILE"; exit $code';

export async function runCommand(
  { program, args, env }: Command,
  { prefix, niceness = 0, timesFile }: Manner,
): Promise<Ended> {
  const began = performance.now();
  const nice = niceness === 0 ? [] : ['nice', '-n', String(niceness)];
  const child = spawn('sh', ['-c', MEASURED, 'sh', ...nice, program, ...args], {
    stdio: prefix === undefined ? 'inherit' : ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env, FLOTILLA_TIMES_FILE: timesFile },
  });
  if (prefix !== undefined) forwardLines(child, prefix);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const cpuMs = existsSync(timesFile) ? childrenMs(readFileSync(timesFile, 'utf8')) : undefined;
  const wallMs = performance.now() - began;
  return { isGreen: code === 0, wallMs, ...(cpuMs === undefined ? {} : { cpuMs }) };
}

function forwardLines({ stdout, stderr }: ChildProcess, prefix: string): void {
  for (const stream of [stdout, stderr])
    if (stream !== null) createInterface({ input: stream }).on('line', (line) => console.log(`${prefix}${line}`));
}

/** `times` prints the shell's own times, then those of its children, each as `1m2.34s` for user and system. */
export function childrenMs(text: string): number | undefined {
  const children = text.trim().split('\n')[1] ?? '';
  const times = [...children.matchAll(/(\d+)m([\d.]+)s/g)];
  return times.length === 2
    ? times.reduce((total, [, minutes, seconds]) => total + Number(minutes) * 60_000 + Number(seconds) * 1000, 0)
    : undefined;
}
