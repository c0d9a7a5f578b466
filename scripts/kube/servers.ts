// Servers that outlive whoever started them: each has its output in NAME.log and its process id in NAME.pid, and is ended by that id, after a
// look whether the process still is what was started. A machine hands out ids again.
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive } from './lock.ts';

const LOOK_AGAIN_MS = 50;
/** An API server takes its time while somebody watches. */
const STOP_PATIENCE_MS = 12_000;

export interface ServerPlace {
  readonly folder: string;
  readonly name: string;
}

const pidFile = ({ folder, name }: ServerPlace): string => join(folder, `${name}.pid`);
export const logFile = ({ folder, name }: ServerPlace): string => join(folder, `${name}.log`);

/** Starts it unless it runs. */
export function launch(place: ServerPlace, program: string, args: readonly string[]): void {
  if (runningPid(place) !== undefined) return;
  const log = openSync(logFile(place), 'a');
  try {
    const child = spawn(program, [...args], { detached: true, stdio: ['ignore', log, log] });
    // What goes wrong here is found by whoever waits for the server.
    child.once('error', () => {});
    if (child.pid === undefined) throw new Error(`cannot start ${program}`);
    writeFileSync(pidFile(place), `${child.pid} ${basename(program)}`);
    child.unref();
  } finally {
    closeSync(log);
  }
}

/** The process id, while it is the one that was started. */
export function runningPid(place: ServerPlace): number | undefined {
  if (!existsSync(pidFile(place))) return undefined;
  const [text, program] = readFileSync(pidFile(place), 'utf8').split(' ');
  const pid = Number(text);
  return Number.isInteger(pid) && pid > 1 && isAlive(pid) && programOf(pid) === program ? pid : undefined;
}

/** Ends it and waits until it is gone: asked first, then by force, or by `signal` at once. */
export async function end(place: ServerPlace, signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
  const pid = runningPid(place);
  if (pid !== undefined) {
    process.kill(pid, signal);
    const impatient = Date.now() + STOP_PATIENCE_MS;
    let isForced = false;
    while (runningPid(place) === pid) {
      if (!isForced && Date.now() > impatient) {
        process.kill(pid, 'SIGKILL');
        isForced = true;
      }
      await sleep(LOOK_AGAIN_MS);
    }
  }
  rmSync(pidFile(place), { force: true });
}

/** Empty for one that has ended and that nobody has waited for. */
function programOf(pid: number): string {
  try {
    return basename(readlinkSync(`/proc/${pid}/exe`).replace(/ \(deleted\)$/, ''));
  } catch {
    if (existsSync('/proc/self')) return '';
    const { stdout } = spawnSync('ps', ['-o', 'comm=', '-p', String(pid)], { encoding: 'utf8' });
    return basename((stdout ?? '').trim());
  }
}
