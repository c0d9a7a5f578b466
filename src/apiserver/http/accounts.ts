// Limits per identity: requests in flight, open watches, and bytes that were sent and not read. An identity at its
// limit is rejected and others are not. The total limits are shared fairly, so that many identities cannot use them up,
// either. Constant cost per request.
//
// Members of system:masters are exempt, as on a real server: otherwise an attacker could lock out the users who must
// stop the attack. Health checks are exempt, too.
import type { User } from '../../api/object.ts';
import { tooManyRequests } from '../../api/status.ts';
import type { Clock } from '../../base/clock.ts';
import type { ApiError } from '../../base/errors.ts';
import { createLru } from '../../base/lru.ts';
import type { Limits } from './limits.ts';

const LIMIT_NAMES = ['requests', 'watches', 'unsent-bytes', 'share-of-requests', 'share-of-watches'] as const;
export type LimitName = (typeof LIMIT_NAMES)[number];

export interface Limited {
  readonly user: string;
  readonly limit: LimitName;
  readonly max: number;
}

/** One request, counted for its user. */
export interface Account {
  /** Throws 429 if there are too many. */
  openWatch(): void;
  closeWatch(): void;
  /**
   * Resolves when no other large body of this user is being read or processed; call the result to end the turn. A body
   * that is not read waits at the client, so each user has at most one in memory, and other users' requests are
   * answered between two of them.
   */
  takeTurn(): Promise<() => void>;
  /** Bytes that the client has not read: a negative number subtracts. */
  addUnsent(bytes: number): void;
  /** The client must read before anything else is sent; logged once. */
  isUnread(): boolean;
  leave(): void;
}

export interface Accounts {
  /**
   * One more request of this user. Throws 429 if there are too many; otherwise it is in flight until leave(). Health
   * checks are not limited.
   */
  enter(user: User, isHealthCheck?: boolean): Account;
  readonly refused: ReadonlyMap<LimitName, number>;
  /** The number of users with anything open: others are not stored. */
  readonly size: number;
}

export interface AccountOptions {
  readonly limits: Pick<
    Limits,
    'requests' | 'watches' | 'requestsPerUser' | 'watchesPerUser' | 'unsentBytesPerUser' | 'unsentBytes'
  >;
  readonly clock: Clock;
  /** Called at most once a minute for each user and limit. */
  readonly onLimit?: (what: Limited) => void;
}

const OVERLOADED = 'the server has received too many requests and has asked us to try again later';
const EXEMPT = 'system:masters';
const LOG_EVERY_MS = 60_000;
const MAX_REMEMBERED_LOGS = 1000;
/** When the total of unread bytes is too large, only identities with more than this are cut off. */
const SMALL_BYTES = 1024 * 1024;

export function createAccounts(options: AccountOptions): Accounts {
  return new Book(options);
}

/** The open requests, watches and bytes of one user. */
interface Open {
  readonly isExempt: boolean;
  requests: number;
  watches: number;
  unsent: number;
  /** A large body is being read or processed. */
  isBusy: boolean;
  readonly waiting: (() => void)[];
}

/**
 * The total limit for one resource. While there is room, every user may have more; without room, only users with less
 * than an equal share. These exceed the maximum until others end, by at most the sum of their shares.
 */
class Pool {
  readonly #max: number;
  #used = 0;
  #users = 0;

  constructor(max: number) {
    this.#max = max;
  }

  isFullFor(has: number): boolean {
    return this.#used >= this.#max && has >= this.share(has);
  }

  share(has: number): number {
    return Math.max(1, Math.floor(this.#max / (has === 0 ? this.#users + 1 : this.#users)));
  }

  /** `has`: how many the user already has. */
  add(has: number): void {
    this.#used++;
    if (has === 0) this.#users++;
  }

  remove(has: number): void {
    this.#used--;
    if (has === 0) this.#users--;
  }
}

class Book implements Accounts {
  readonly limits: AccountOptions['limits'];
  readonly refused = new Map<LimitName, number>(LIMIT_NAMES.map((name) => [name, 0]));
  readonly #clock: Clock;
  readonly #onLimit: AccountOptions['onLimit'];
  readonly requests: Pool;
  readonly watches: Pool;
  readonly #open = new Map<string, Open>();
  readonly #exempt = new Map<string, Open>();
  readonly #logged = createLru<string, number>(MAX_REMEMBERED_LOGS);
  unsent = 0;

  constructor({ limits, clock, onLimit }: AccountOptions) {
    this.limits = limits;
    this.requests = new Pool(limits.requests);
    this.watches = new Pool(limits.watches);
    this.#clock = clock;
    this.#onLimit = onLimit;
  }

  get size(): number {
    return this.#open.size + this.#exempt.size;
  }

  enter({ name, groups }: User, isHealthCheck = false): Account {
    const isExempt = isHealthCheck || groups.includes(EXEMPT);
    const all = isExempt ? this.#exempt : this.#open;
    let open = all.get(name);
    if (!isExempt) this.#check(name, open);
    if (open === undefined) {
      open = { isExempt, requests: 0, watches: 0, unsent: 0, isBusy: false, waiting: [] };
      all.set(name, open);
    }
    if (!isExempt) this.requests.add(open.requests);
    open.requests++;
    return new Entry(this, name, open);
  }

  #check(name: string, open: Open | undefined): void {
    const { requestsPerUser, unsentBytesPerUser } = this.limits;
    const has = open?.requests ?? 0;
    if (has >= requestsPerUser) throw this.refusal(name, 'requests', requestsPerUser);
    if (open && open.unsent > unsentBytesPerUser) throw this.refusal(name, 'unsent-bytes', unsentBytesPerUser);
    if (this.requests.isFullFor(has)) throw this.refusal(name, 'share-of-requests', this.requests.share(has));
  }

  /** Drops users with nothing open. */
  settle(name: string, { isExempt, requests, watches, unsent }: Open): void {
    if (requests === 0 && watches === 0 && unsent === 0) (isExempt ? this.#exempt : this.#open).delete(name);
  }

  refusal(user: string, limit: LimitName, max: number): ApiError {
    this.note(user, limit, max);
    return tooManyRequests(OVERLOADED, 1);
  }

  note(user: string, limit: LimitName, max: number): void {
    this.refused.set(limit, (this.refused.get(limit) ?? 0) + 1);
    const key = `${limit} ${user}`;
    const last = this.#logged.get(key);
    if (last !== undefined && this.#clock.now() - last < LOG_EVERY_MS) return;
    this.#logged.set(key, this.#clock.now());
    this.#onLimit?.({ user, limit, max });
  }
}

class Entry implements Account {
  readonly #book: Book;
  readonly #name: string;
  readonly #open: Open;

  constructor(book: Book, name: string, open: Open) {
    this.#book = book;
    this.#name = name;
    this.#open = open;
  }

  openWatch(): void {
    const { isExempt, watches: has } = this.#open;
    const { watches, limits } = this.#book;
    if (!isExempt) {
      if (has >= limits.watchesPerUser) throw this.#tooMany('watches', limits.watchesPerUser);
      if (watches.isFullFor(has)) throw this.#tooMany('share-of-watches', watches.share(has));
      watches.add(has);
    }
    this.#open.watches++;
  }

  #tooMany(limit: LimitName, max: number): ApiError {
    this.#book.note(this.#name, limit, max);
    return tooManyRequests(`too many watches are open: user "${this.#name}" may have ${max}`, 10);
  }

  closeWatch(): void {
    const open = this.#open;
    open.watches--;
    if (!open.isExempt) this.#book.watches.remove(open.watches);
    this.#book.settle(this.#name, open);
  }

  async takeTurn(): Promise<() => void> {
    if (this.#open.isExempt) return () => {};
    const open = this.#open;
    if (open.isBusy) await new Promise<void>((resolve) => open.waiting.push(resolve));
    open.isBusy = true;
    return () => {
      const next = open.waiting.shift();
      if (next === undefined) open.isBusy = false;
      else next();
    };
  }

  addUnsent(bytes: number): void {
    this.#open.unsent += bytes;
    this.#book.unsent += bytes;
    if (bytes < 0) this.#book.settle(this.#name, this.#open);
  }

  isUnread(): boolean {
    const { unsentBytesPerUser, unsentBytes } = this.#book.limits;
    const isMine = !this.#open.isExempt && this.#open.unsent > unsentBytesPerUser;
    if (!isMine && (this.#book.unsent <= unsentBytes || this.#open.unsent <= SMALL_BYTES)) return false;
    this.#book.note(this.#name, 'unsent-bytes', isMine ? unsentBytesPerUser : unsentBytes);
    return true;
  }

  leave(): void {
    const open = this.#open;
    open.requests--;
    if (!open.isExempt) this.#book.requests.remove(open.requests);
    this.#book.settle(this.#name, open);
  }
}
