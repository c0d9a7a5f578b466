// One of several processes does a long job and the others wait for it, instead of all doing it. A lock whose holder was killed is taken over. Two that do so
// at the very same instant may both have it, so a result that must be whole is put in place by a rename.
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const LOOK_AGAIN_MS = 500;

/** Runs with the lock held. `waiting` is called once, with the holder's process id, if somebody else has it. */
export async function withLock<T>(
  file: string,
  run: () => Promise<T>,
  waiting: (holder: number) => void = () => {},
): Promise<T> {
  let isTold = false;
  while (!take(file)) {
    const holder = holderOf(file);
    if (holder === undefined || !isAlive(holder)) {
      removeDead(file, holder);
      continue;
    }
    if (!isTold) waiting(holder);
    isTold = true;
    await sleep(LOOK_AGAIN_MS);
  }
  try {
    return await run();
  } finally {
    if (holderOf(file) === process.pid) rmSync(file, { force: true });
  }
}

/** Moved aside first: if it is another's by now, it is put back. */
function removeDead(file: string, holder: number | undefined): void {
  const aside = `${file}.${process.pid}.dead`;
  try {
    renameSync(file, aside);
    if (holderOf(aside) !== holder) linkSync(aside, file);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!['ENOENT', 'EEXIST'].includes(code)) throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

/** A link is made with its content in it, or not at all: nobody ever sees a lock without a holder. */
function take(file: string): boolean {
  const own = `${file}.${process.pid}`;
  writeFileSync(own, String(process.pid));
  try {
    linkSync(own, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  } finally {
    rmSync(own, { force: true });
  }
}

function holderOf(file: string): number | undefined {
  try {
    const pid = Number(readFileSync(file, 'utf8'));
    return Number.isInteger(pid) && pid > 0 ? pid : undefined;
  } catch {
    return undefined;
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Somebody else's process is alive as well.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
