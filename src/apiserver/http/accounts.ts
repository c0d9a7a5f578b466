// What one identity may cost at a time: requests in flight, open watches, and bytes that it was sent and has not read. An identity at its
// maximum is refused, others are not: with limits for all together the first client could use them up. Constant cost per request.
//
// Members of system:masters are exempt, as on a real server: who could lock them out could not be stopped by them.
import type { User } from '../../api/object.ts';
import { tooManyRequests } from '../../api/status.ts';
import type { Clock } from '../../base/clock.ts';
import type { ApiError } from '../../base/errors.ts';
import { createLru } from '../../base/lru.ts';
import type { Limits } from './limits.ts';

export type LimitName = 'requests' | 'watches' | 'unsent-bytes';
const LIMIT_NAMES: readonly LimitName[] = ['requests', 'watches', 'unsent-bytes'];

export interface Limited {
  readonly user: string;
  readonly limit: LimitName;
  readonly max: number;
}

/** One request, on the account of its user. */
export interface Account {
  /** Throws 429 when there are too many. */
  openWatch(): void;
  closeWatch(): void;
  /**
   * Resolves when no other large body of this user is being read or carried out; the result ends the turn. A body that is not read waits at its
   * sender, so one user keeps at most one in memory, and between two of them everybody else is answered.
   */
  takeTurn(): Promise<() => void>;
  /** Bytes that wait for their reader: more, or with a negative number fewer. */
  addUnsent(bytes: number): void;
  /** Nothing more is sent before some of it is read; logged once. */
  isUnread(): boolean;
  leave(): void;
}

export interface Accounts {
  /** One more request of this user. Throws 429 when there are too many; else it is in flight until leave(). */
  enter(user: User): Account;
  readonly refused: ReadonlyMap<LimitName, number>;
  /** Users with anything open: none is remembered longer. */
  readonly size: number;
}

export interface AccountOptions {
  readonly limits: Pick<Limits, 'requestsPerUser' | 'watchesPerUser' | 'unsentBytesPerUser' | 'unsentBytes'>;
  readonly clock: Clock;
  /** At most once a minute for each user and limit. */
  readonly onLimit?: (what: Limited) => void;
}

const OVERLOADED = 'the server has received too many requests and has asked us to try again later';
const EXEMPT = 'system:masters';
const LOG_EVERY_MS = 60_000;
const MAX_REMEMBERED_LOGS = 1000;
/** When all together have too much unread, only those with more than this are cut off. */
const SMALL_BYTES = 1024 * 1024;

export function createAccounts(options: AccountOptions): Accounts {
  return new Book(options);
}

/** What one user has open now. */
interface Open {
  requests: number;
  watches: number;
  unsent: number;
  /** A large body is being read or carried out. */
  isBusy: boolean;
  readonly waiting: (() => void)[];
}

class Book implements Accounts {
  readonly limits: AccountOptions['limits'];
  readonly refused = new Map<LimitName, number>(LIMIT_NAMES.map((name) => [name, 0]));
  readonly #clock: Clock;
  readonly #onLimit: AccountOptions['onLimit'];
  readonly #open = new Map<string, Open>();
  readonly #logged = createLru<string, number>(MAX_REMEMBERED_LOGS);
  unsent = 0;

  constructor({ limits, clock, onLimit }: AccountOptions) {
    this.limits = limits;
    this.#clock = clock;
    this.#onLimit = onLimit;
  }

  get size(): number {
    return this.#open.size;
  }

  enter({ name, groups }: User): Account {
    const isExempt = groups.includes(EXEMPT);
    let open = this.#open.get(name);
    if (open === undefined) {
      open = { requests: 0, watches: 0, unsent: 0, isBusy: false, waiting: [] };
      this.#open.set(name, open);
    } else if (!isExempt) {
      const { requestsPerUser, unsentBytesPerUser } = this.limits;
      if (open.requests >= requestsPerUser) throw this.refusal(name, 'requests', requestsPerUser);
      if (open.unsent > unsentBytesPerUser) throw this.refusal(name, 'unsent-bytes', unsentBytesPerUser);
    }
    open.requests++;
    return new Entry(this, name, isExempt, open);
  }

  /** Nothing is remembered of those who have nothing open. */
  settle(name: string, { requests, watches, unsent }: Open): void {
    if (requests === 0 && watches === 0 && unsent === 0) this.#open.delete(name);
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
  readonly #isExempt: boolean;
  readonly #open: Open;

  constructor(book: Book, name: string, isExempt: boolean, open: Open) {
    this.#book = book;
    this.#name = name;
    this.#isExempt = isExempt;
    this.#open = open;
  }

  openWatch(): void {
    const { watchesPerUser } = this.#book.limits;
    if (!this.#isExempt && this.#open.watches >= watchesPerUser) {
      this.#book.note(this.#name, 'watches', watchesPerUser);
      throw tooManyRequests(`too many watches are open: user "${this.#name}" may have ${watchesPerUser}`, 10);
    }
    this.#open.watches++;
  }

  closeWatch(): void {
    this.#open.watches--;
    this.#book.settle(this.#name, this.#open);
  }

  async takeTurn(): Promise<() => void> {
    if (this.#isExempt) return () => {};
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
    const isMine = !this.#isExempt && this.#open.unsent > unsentBytesPerUser;
    if (!isMine && (this.#book.unsent <= unsentBytes || this.#open.unsent <= SMALL_BYTES)) return false;
    this.#book.note(this.#name, 'unsent-bytes', isMine ? unsentBytesPerUser : unsentBytes);
    return true;
  }

  leave(): void {
    this.#open.requests--;
    this.#book.settle(this.#name, this.#open);
  }
}
