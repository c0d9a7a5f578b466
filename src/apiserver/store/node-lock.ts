// Locks a directory against a second writer. The lock is a file that names its process; the lock of a process that died
// without releasing it (kill -9, power loss) is detected and replaced. Limit: processes on other machines or in other
// PID namespaces are not visible, so a directory must be used by one machine only.
import { link, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { DiskInUse } from './disk.ts';

interface Holder {
  readonly pid: number;
  /** The start time of the process on its machine, because process ids are reused, in containers immediately. */
  readonly started: string;
}

export async function lockDirectory(directory: string): Promise<() => Promise<void>> {
  const file = join(directory, 'lock');
  const own: Holder = { pid: process.pid, started: (await startOf(process.pid)) ?? 'unknown' };
  const workshop = await mkdtemp(join(directory, 'lock.')); // a name that no other process uses
  const text = `${JSON.stringify({ ...own, made: basename(workshop) })}\n`;
  try {
    const draft = join(workshop, 'draft');
    await writeFile(draft, text);
    const holder = await acquire(file, draft);
    if (holder !== undefined) {
      throw new DiskInUse(`the data directory ${directory} is in use by process ${holder.pid}`);
    }
  } finally {
    await rm(workshop, { recursive: true, force: true });
  }
  return async () => {
    if ((await textOf(file)) === text) await rm(file, { force: true });
  };
}

/** Puts the draft in place as `file`, or returns the current holder. */
async function acquire(file: string, draft: string): Promise<Holder | undefined> {
  for (;;) {
    // Written to a draft and linked into place, so that no process ever reads an empty lock.
    if (await linked(draft, file)) return undefined;
    const found = await textOf(file);
    if (found === undefined) continue; // released meanwhile
    const holder = holderIn(found);
    if (holder !== undefined && (await isAlive(holder))) return holder;
    // Of all processes that find it stale only one may replace it, or the second would remove the lock of the first.
    // That permission is a lock, too.
    const right = `${file}.stale`;
    if ((await acquire(right, draft)) !== undefined) continue;
    try {
      if ((await textOf(file)) !== found) continue;
      const copy = `${draft}-for-${basename(file)}`;
      await link(draft, copy);
      await rename(copy, file);
      return undefined;
    } finally {
      await rm(right, { force: true });
    }
  }
}

async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

async function isAlive(holder: Holder): Promise<boolean> {
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    // EPERM: it exists, but belongs to another user.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  const started = await startOf(holder.pid);
  if (started === ENDED) return false;
  return started === undefined || holder.started === 'unknown' || started === holder.started;
}

/** A killed process keeps its id until its parent has reaped it. */
const ENDED = 'ended';

/** Linux only; elsewhere an existing process id counts as the holder. */
async function startOf(pid: number): Promise<string | undefined> {
  try {
    const [stat, boot] = await Promise.all([
      readFile(`/proc/${pid}/stat`, 'utf8'),
      readFile('/proc/sys/kernel/random/boot_id', 'utf8'),
    ]);
    // The name of the program is in parentheses and may contain anything; the start time is the 20th field after it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return ENDED;
    const ticks = fields[19];
    return `${boot.trim()} ${ticks}`;
  } catch {
    return undefined;
  }
}

async function textOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function holderIn(text: string): Holder | undefined {
  try {
    const holder = JSON.parse(text) as Holder;
    return Number.isInteger(holder.pid) && holder.pid > 0 ? holder : undefined;
  } catch {
    return undefined; // not ours: a crash of the machine left it incomplete
  }
}
