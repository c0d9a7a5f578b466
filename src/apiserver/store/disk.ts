// The file system interface of the log, so that a simulation can tear, lose, reorder and fill up without real files.
// One flat directory. After a crash a file contains everything that was synced and some prefix of later appends; a name
// that was created, replaced or removed is durable only after the call has resolved.

export interface Disk {
  /** The location, for messages. */
  readonly place: string;
  /** Locks out other processes until it is released. Rejects with DiskInUse if another process holds the lock. */
  lock(): Promise<() => Promise<void>>;
  list(): Promise<readonly string[]>;
  size(file: string): Promise<number>;
  /** Returns fewer bytes at the end of the file. */
  read(file: string, from: number, length: number): Promise<Uint8Array>;
  /**
   * Appends bytes to the file, which is created if needed. The bytes must not change afterwards. Never fails: sync
   * does.
   */
  append(file: string, bytes: Uint8Array): void;
  /** Resolves when all earlier appends are durable. If it rejects, any part of them may be in the file: truncate it. */
  sync(file: string): Promise<void>;
  /** Truncates the file and drops unsynced appends; durable when it resolves. */
  truncate(file: string, length: number): Promise<void>;
  /**
   * Renames over an existing file: after a crash either the old or the new one exists, never neither. Durable when it
   * resolves.
   */
  replace(from: string, to: string): Promise<void>;
  /** A crash may undo it. Removing a missing file is not an error. */
  remove(file: string): Promise<void>;
  /** Releases handles. No calls are allowed afterwards. */
  close(): Promise<void>;
}

export class DiskInUse extends Error {
  override readonly name = 'DiskInUse';
}
