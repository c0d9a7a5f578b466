// The world's interface for an API server in it. The world does not know how to build one: main/ passes it in.
import type { KubeObject, User } from '../api/object.ts';
import type { Answer, Request, Transport } from '../api/transport.ts';
import type { Clock } from '../base/clock.ts';
import type { Random } from '../base/random.ts';

/**
 * The checkers' view of a server: everything that clients can see, without sending a request. The store of apiserver/
 * has this shape.
 */
export interface Readable {
  /** The newest visible revision. */
  readonly visible: number;
  get(key: string): ReadableItem | undefined;
  range(prefix: string): { readonly items: readonly ReadableItem[] };
  since(revision: number, prefix: string): readonly ReadableChange[] | 'compacted';
}

export interface ReadableItem {
  readonly key: string;
  readonly revision: number;
  object(): KubeObject;
}

export interface ReadableChange {
  readonly key: string;
  readonly revision: number;
  readonly stored: ReadableItem;
  readonly deleted: boolean;
  readonly previous: ReadableItem | undefined;
}

/** The dependencies of one incarnation of a server. */
export interface Host {
  readonly name: string;
  readonly clock: Clock;
  readonly random: Random;
  /** Resolves when the world decides: for external operations of a real server, such as its disk. */
  pause(what: string): Promise<void>;
}

/** How a machine fails: only the process, or the power, which loses unsynced data and tears some of it. */
export type DiskFate = 'kept' | 'torn';

/** One incarnation of a server. */
export interface SimServer {
  readonly store: Readable;
  as(user: User): Transport;
  /** The list of a server whose cache is at this older revision; rejects if that is no longer known. */
  listAt(user: User, request: Extract<Request, { verb: 'list' }>, revision: number): Promise<Answer>;
}

/** A program that can be started, and restarted after a crash with the surviving data. */
export interface ServerProgram {
  boot(host: Host): Promise<SimServer>;
  /** Ends the current incarnation without cleanup. */
  crash(random: Random, disk: DiskFate): void;
}
