// All that the log asks of a file system, so that a simulation can tear, lose, reorder and fill up without real files.
// One flat directory. After a crash a file has everything that was synced and any beginning of what was appended since; a name that
// was created, replaced or removed counts only once the call that did it has resolved.

export interface Disk {
  /** Where this is, for sentences that people read. */
  readonly place: string;
  /** Keeps other processes out until it is released. Rejects with DiskInUse if another one holds it. */
  lock(): Promise<() => Promise<void>>;
  list(): Promise<readonly string[]>;
  size(file: string): Promise<number>;
  /** Shorter than asked at the end of the file. */
  read(file: string, from: number, length: number): Promise<Uint8Array>;
  /** Takes bytes for the end of the file, which comes into being if need be. They must not change afterwards. Never fails: sync does. */
  append(file: string, bytes: Uint8Array): void;
  /** Resolves when all that was appended before the call is durable. If it rejects, any part of it may be in the file: truncate. */
  sync(file: string): Promise<void>;
  /** Cuts the file off, forgets what was appended and not synced, and is durable when it resolves. */
  truncate(file: string, length: number): Promise<void>;
  /** Renames over what was there: after a crash there is the old or the new one, never neither. Durable when it resolves. */
  replace(from: string, to: string): Promise<void>;
  /** May come undone by a crash. Removing what is not there is no error. */
  remove(file: string): Promise<void>;
  /** Gives back handles. Nothing may be called afterwards. */
  close(): Promise<void>;
}

export class DiskInUse extends Error {
  override readonly name = 'DiskInUse';
}
