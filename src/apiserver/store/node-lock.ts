// Keeps a second writer out of a directory. The lock is a file that names the process holding it; a holder that died without
// releasing it (kill -9, power loss) is recognised and its lock taken over.
// Limit: processes on other machines or in other pid namespaces cannot be seen. A directory belongs to one machine.
import { link, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { DiskInUse } from './disk.ts';

interface Holder {
  readonly pid: number;
  /** When the process began, as its machine tells it: process ids come round again, in containers at once. */
  readonly started: string;
}

export async function lockDirectory(directory: string): Promise<() => Promise<void>> {
  const file = join(directory, 'lock');
  const own: Holder = { pid: process.pid, started: (await startOf(process.pid)) ?? 'unknown' };
  const workshop = await mkdtemp(join(directory, 'lock.')); // a name that no other contender uses
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

/** Puts the draft in place as `file`, or tells who holds it. */
async function acquire(file: string, draft: string): Promise<Holder | undefined> {
  for (;;) {
    // Written aside and linked into place: no process ever reads a lock that is still empty.
    if (await linked(draft, file)) return undefined;
    const found = await textOf(file);
    if (found === undefined) continue; // released in between
    const holder = holderIn(found);
    if (holder !== undefined && (await isAlive(holder))) return holder;
    // Of all who find it stale only one may replace it, else the second would throw out the first. That right is a lock as well.
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

/** A process that was killed keeps its id until its parent has noticed. */
const ENDED = 'ended';

/** Linux only; elsewhere a living process id is taken at its word. */
async function startOf(pid: number): Promise<string | undefined> {
  try {
    const [stat, boot] = await Promise.all([
      readFile(`/proc/${pid}/stat`, 'utf8'),
      readFile('/proc/sys/kernel/random/boot_id', 'utf8'),
    ]);
    // The name of the program is in parentheses and may contain anything; the start is the 20th field after it.
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
    return undefined; // not ours: left half-written by a crash of the machine
  }
}
