// A disk in memory that loses unsynced writes like a real one. Code that survives every crash here is safe on hardware
// that honors a sync. A crash
//   - keeps synced bytes, and some prefix of later appends, possibly with a range of zeros inside (a torn write);
//   - keeps any combination of the names created, replaced or removed since the directory was last synced;
//   - leaves the old disk dead: none of its calls ever settles, as if the process had exited.
// A kill ends only the process: the same, but remaining unsynced bytes stay in the page cache, until a later crash
// loses them.
import type { Random } from '../../base/random.ts';
import { type Disk, DiskInUse } from './disk.ts';

export interface FakeDiskOptions {
  /** Called before and after each operation takes effect; the operation awaits it. */
  readonly onStep?: (operation: DiskOperation, file: string) => void | Promise<void>;
  /** Capacity for all files together. */
  readonly capacity?: number;
  /** Files whose syncs resolve without making anything durable, to prove that tests detect it. */
  readonly lies?: (file: string) => boolean;
}

export type DiskOperation = 'read' | 'sync' | 'truncate' | 'replace' | 'remove';

interface Inode {
  content: Buffer;
  length: number;
  /** Bytes before this offset survive. */
  synced: number;
}

/** A change of the directory that is not durable yet. */
interface NameChange {
  readonly name: string;
  readonly inode: Inode | undefined;
  readonly from?: string;
}

export class FakeDisk implements Disk {
  readonly place = 'fake-disk';
  capacity: number;
  readonly #options: FakeDiskOptions;
  readonly #names = new Map<string, Inode>();
  readonly #durableNames = new Map<string, Inode>();
  readonly #failures: { readonly operation: DiskOperation; readonly error: Error }[] = [];
  #nameChanges: NameChange[] = [];
  #locked = false;
  #dead = false;

  constructor(options: FakeDiskOptions = {}) {
    this.#options = options;
    this.capacity = options.capacity ?? Number.POSITIVE_INFINITY;
  }

  /** The next such operation rejects; a failing sync leaves a part of the appends in the file. */
  failNext(operation: DiskOperation, error: Error): void {
    this.#failures.push({ operation, error });
  }

  /** From now on no call settles. */
  die(): void {
    this.#dead = true;
  }

  /** The process ends, and the machine continues. Returns the disk for the next process. */
  kill(random: Random, options: FakeDiskOptions = this.#options): FakeDisk {
    const left = this.#successor(options);
    const copies = new Map<Inode, Inode>();
    const copyOf = (inode: Inode): Inode => {
      const copy = copies.get(inode) ?? { ...torn(inode, random), synced: inode.synced };
      copies.set(inode, copy);
      return copy;
    };
    for (const [name, inode] of this.#names) left.#names.set(name, copyOf(inode));
    for (const [name, inode] of this.#durableNames) left.#durableNames.set(name, copyOf(inode));
    left.#nameChanges = this.#nameChanges.map((change) => ({
      ...change,
      inode: change.inode === undefined ? undefined : copyOf(change.inode),
    }));
    return left;
  }

  /** The machine loses power. Returns the surviving disk. */
  crash(random: Random, options: FakeDiskOptions = this.#options): FakeDisk {
    const left = this.#successor(options);
    const names = new Map(this.#durableNames);
    for (const change of this.#nameChanges) if (random.next() < 0.5) applyTo(names, change);
    const survivors = new Map<Inode, Inode>();
    for (const [name, inode] of names) {
      const survivor = survivors.get(inode) ?? torn(inode, random);
      survivors.set(inode, survivor);
      left.#names.set(name, survivor);
      left.#durableNames.set(name, survivor);
    }
    return left;
  }

  /** For tests that damage a file: its bytes, to be changed in place. */
  contentOf(file: string): Buffer {
    const inode = this.#inode(file);
    return inode.content.subarray(0, inode.length);
  }

  async lock(): Promise<() => Promise<void>> {
    if (this.#locked) throw new DiskInUse(`the data directory ${this.place} is in use by this process`);
    this.#locked = true;
    return async () => {
      this.#locked = false;
    };
  }

  async list(): Promise<readonly string[]> {
    return [...this.#names.keys()].sort();
  }

  async size(file: string): Promise<number> {
    return this.#inode(file).length;
  }

  async read(file: string, from: number, length: number): Promise<Uint8Array> {
    await this.#step('read', file);
    const inode = this.#inode(file);
    return Buffer.from(inode.content.subarray(from, Math.min(inode.length, from + length)));
  }

  append(file: string, bytes: Uint8Array): void {
    let inode = this.#names.get(file);
    if (inode === undefined) {
      inode = { content: Buffer.alloc(256), length: 0, synced: 0 };
      this.#names.set(file, inode);
      this.#nameChanges.push({ name: file, inode });
    }
    const length = inode.length + bytes.length;
    if (length > inode.content.length) {
      const larger = Buffer.alloc(length * 2);
      inode.content.copy(larger, 0, 0, inode.length);
      inode.content = larger;
    }
    inode.content.set(bytes, inode.length);
    inode.length = length;
  }

  async sync(file: string): Promise<void> {
    const inode = this.#inode(file);
    const upTo = inode.length;
    await this.#step('sync', file);
    const excess = this.#used() - this.capacity;
    if (excess > 0 && inode.length > inode.synced) {
      inode.length = Math.max(inode.synced, inode.length - excess);
      throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
    }
    if (this.#options.lies?.(file) !== true) {
      inode.synced = Math.max(inode.synced, upTo);
      this.#syncNames();
    }
    await this.#step('sync', file);
  }

  async truncate(file: string, length: number): Promise<void> {
    await this.#step('truncate', file);
    const inode = this.#inode(file);
    inode.length = length;
    inode.synced = length;
    await this.#step('truncate', file);
  }

  async replace(from: string, to: string): Promise<void> {
    await this.#step('replace', to);
    const change = { name: to, inode: this.#inode(from), from };
    applyTo(this.#names, change);
    this.#nameChanges.push(change);
    await this.#step('replace', to);
    this.#syncNames();
    await this.#step('replace', to);
  }

  async remove(file: string): Promise<void> {
    await this.#step('remove', file);
    if (!this.#names.delete(file)) return;
    this.#nameChanges.push({ name: file, inode: undefined });
    await this.#step('remove', file);
  }

  async close(): Promise<void> {}

  #successor(options: FakeDiskOptions): FakeDisk {
    this.#dead = true;
    const successor = new FakeDisk(options);
    successor.capacity = this.capacity;
    return successor;
  }

  async #step(operation: DiskOperation, file: string): Promise<void> {
    await this.#options.onStep?.(operation, file);
    if (this.#dead) await new Promise<never>(() => {});
    const at = this.#failures.findIndex((failure) => failure.operation === operation);
    if (at >= 0) throw this.#failures.splice(at, 1)[0]!.error;
  }

  #syncNames(): void {
    for (const change of this.#nameChanges) applyTo(this.#durableNames, change);
    this.#nameChanges = [];
  }

  #used(): number {
    let used = 0;
    for (const inode of new Set(this.#names.values())) used += inode.length;
    return used;
  }

  #inode(file: string): Inode {
    const inode = this.#names.get(file);
    if (inode === undefined) {
      throw Object.assign(new Error(`ENOENT: no such file or directory, open '${file}'`), { code: 'ENOENT' });
    }
    return inode;
  }
}

function applyTo(names: Map<string, Inode>, { name, inode, from }: NameChange): void {
  if (from !== undefined) names.delete(from);
  if (inode === undefined) names.delete(name);
  else names.set(name, inode);
}

function torn(inode: Inode, random: Random): Inode {
  const between = (low: number, high: number) => low + Math.floor(random.next() * (high - low + 1));
  const length = between(inode.synced, inode.length);
  const content = Buffer.from(inode.content.subarray(0, Math.max(length, 16)));
  if (length > inode.synced && random.next() < 0.3) {
    const start = between(inode.synced, length);
    content.fill(0, start, between(start, length));
  }
  return { content, length, synced: length };
}
