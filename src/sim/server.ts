// What a world asks of an API server that lives in it. The world does not know how one is built: main/ hands it in.
import type { KubeObject, User } from '../api/object.ts';
import type { Answer, Request, Transport } from '../api/transport.ts';
import type { Clock } from '../base/clock.ts';
import type { Random } from '../base/random.ts';

/** What checkers read: everything that clients could see, without asking as one. The store of apiserver/ has this shape. */
export interface Readable {
  /** Newest visible revision. */
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

/** What one life of a server is given. */
export interface Host {
  readonly name: string;
  readonly clock: Clock;
  readonly random: Random;
  /** Waits until the world says so: for what a real server waits for outside of itself, its disk. */
  pause(what: string): Promise<void>;
}

/** How a machine goes down: the process alone, or the power with all that was not synced, some of it torn. */
export type DiskFate = 'kept' | 'torn';

/** One life of a server. */
export interface SimServer {
  readonly store: Readable;
  as(user: User): Transport;
  /** A list as a server would give it whose cache is at this older revision; rejects when it is not known any more. */
  listAt(user: User, request: Extract<Request, { verb: 'list' }>, revision: number): Promise<Answer>;
}

/** What can be started, and started again after a crash with what is left. */
export interface ServerProgram {
  boot(host: Host): Promise<SimServer>;
  /** Ends the present life without a goodbye. */
  crash(random: Random, disk: DiskFate): void;
}
