// The Transport of an actor: every call and every watch batch becomes an event of the world, which decides when it
// happens and with which fault.
//
// A call has two events, its arrival and its reply, so that other events can happen in between. A request may arrive
// after its actor has crashed; a crashed actor receives no replies.
import { apiVersionOf, type User } from '../api/object.ts';
import type { Answer, Request, Target, Transport, WatchEvent, WatchRequest } from '../api/transport.ts';
import { AbortError, ApiError, LostError, messageOf } from '../base/errors.ts';
import type { Random } from '../base/random.ts';
import type { Happening } from './check.ts';
import { type Fate, type Faults, goneError, nameOf } from './faults.ts';
import type { Matrix } from './matrix.ts';
import type { SimServer } from './server.ts';

/** One incarnation of an actor or a server. */
export interface Life {
  readonly name: string;
  /** It has no faults. */
  readonly steady: boolean;
  isAlive: boolean;
  /** Called when it ends, for any reason. */
  readonly onEnd: Set<() => void>;
}

export interface WorldEvent {
  /** The owner: the event is removed when its owner ends. */
  readonly life: Life | undefined;
  readonly text: string;
  run(): void;
  /** A request that was sent: a crash of its owner may be too late to stop it. */
  readonly isSent?: true;
}

/** The world's interface for a link. */
export interface Field {
  readonly now: number;
  readonly faults: Faults;
  readonly dice: Random;
  readonly matrix: Matrix;
  soon(event: WorldEvent): void;
  later(delayMs: number, event: WorldEvent): void;
  running(name: string): { readonly life: Life; readonly sim: SimServer } | undefined;
  isCut(who: string, server: string): boolean;
  /** Calls `run` when the partition between the two has ended. */
  onHeal(who: string, server: string, run: () => void): void;
  crashAndRestart(life: Life): void;
  tell(happening: Happening): void;
  fail(checker: string, message: string): void;
}

export interface Line {
  readonly life: Life;
  readonly server: string;
  readonly user: User;
}

export function linkOf(field: Field, line: Line): Transport {
  const underWay = new Set<Call>();
  return {
    call: (request, signal) =>
      line.life.isAlive ? new Call(field, line, request, underWay).send(signal) : new Promise<never>(() => {}),
    watch: (request, signal) => ({ [Symbol.asyncIterator]: () => new Watch(field, line, request, signal) }),
  };
}

const isWrite = (request: Request): boolean => request.verb !== 'get' && request.verb !== 'list';

const placeOf = ({ resource, subresource, namespace, name }: Target): string =>
  `${resource.kind}${subresource === undefined ? '' : `/${subresource}`} ${namespace === undefined ? '' : `${namespace}/`}${name ?? ''}`;

const rowOf = (verb: string, { resource, subresource }: Target): string =>
  `${verb} ${resource.kind}${subresource === undefined ? '' : `/${subresource}`}`;

class Call {
  readonly #field: Field;
  readonly #line: Line;
  readonly #request: Request;
  readonly #text: string;
  readonly #called: { readonly who: string; readonly server: string; readonly request: Request };
  /** All calls in flight on this connection. */
  readonly #underWay: Set<Call>;
  #resolve!: (answer: Answer) => void;
  #reject!: (error: unknown) => void;
  #isLost = false;
  #isOver = false;

  constructor(field: Field, line: Line, request: Request, underWay: Set<Call>) {
    this.#field = field;
    this.#line = line;
    this.#request = request;
    this.#underWay = underWay;
    this.#called = { who: line.life.name, server: line.server, request };
    const { at } = request;
    // A create has no name in its path, but in its object.
    const name = at.name ?? ('object' in request ? request.object.metadata.name : undefined);
    this.#text = `${line.life.name} ${request.verb} ${placeOf(name === undefined ? at : { ...at, name })} at ${line.server}`;
  }

  send(signal: AbortSignal | undefined): Promise<Answer> {
    if (signal?.aborted) return Promise.reject(new AbortError('the call was given up before it began'));
    return new Promise((resolve, reject) => {
      const giveUp = () => this.#end(() => reject(new AbortError('the call was given up')));
      signal?.addEventListener('abort', giveUp, { once: true });
      const settled = () => signal?.removeEventListener('abort', giveUp);
      this.#resolve = (answer) => {
        settled();
        resolve(answer);
      };
      this.#reject = (error) => {
        settled();
        reject(error);
      };
      this.#underWay.add(this);
      this.#field.tell({ what: 'sent', ...this.#called });
      this.#field.soon({ life: this.#line.life, text: this.#text, run: () => this.#leave(), isSent: true });
    });
  }

  /** The request is sent: its fate is determined. */
  #leave(): void {
    const { life } = this.#line;
    if (this.#isLost) {
      if (this.#field.dice.next() < 0.5) this.#arrive('deliver');
      return;
    }
    const { faults, now } = this.#field;
    const besides = [...this.#underWay].filter((call) => call !== this && isWrite(call.#request)).length;
    const fate: Fate = life.steady || !life.isAlive ? 'deliver' : faults.call(life.name, this.#request, now, besides);
    if (isWrite(this.#request) && !life.steady)
      this.#field.matrix.count(rowOf(this.#request.verb, this.#request.at), nameOf(fate));
    if (fate === 'deliver' || fate === 'lose-reply' || fate === 'crash-after' || fate === 'rewind') this.#arrive(fate);
    else if (fate === 'lose-request') this.#lose('lose-request');
    else if (fate === 'lose-all') for (const call of [...this.#underWay]) call.#lose('lose-all');
    else if (fate === 'crash-before') this.#field.crashAndRestart(life);
    else if ('refuse' in fate) this.#answer('refused', () => this.#refuse(fate.refuse));
    else if (this.#field.dice.next() < 0.5) {
      const run = () => this.#arrive('deliver');
      this.#field.later(fate.delayMs, { life, text: `${this.#text} (late)`, run, isSent: true });
    } else this.#arrive(fate);
  }

  #arrive(fate: Fate): void {
    const { life, server: name, user } = this.#line;
    if (this.#field.isCut(life.name, name)) {
      this.#lose('partitioned');
      return;
    }
    const server = this.#field.running(name);
    if (server === undefined) {
      this.#lose('server down');
      return;
    }
    // A crash of the server ends the call.
    const onServerEnd = () => this.#lose('server crashed');
    server.life.onEnd.add(onServerEnd);
    const isPast = fate === 'rewind' && this.#request.verb === 'list';
    const execution =
      isPast && this.#request.verb === 'list'
        ? pastList(server.sim, user, this.#request, this.#field.dice)
        : server.sim.as(user).call(this.#request);
    execution.then(
      (answer) => {
        if (!server.life.isAlive) return;
        server.life.onEnd.delete(onServerEnd);
        this.#field.tell({ what: 'executed', ...this.#called, answer });
        this.#reply(fate, textOf(answer), () => {
          this.#field.tell({ what: 'acknowledged', ...this.#called, answer });
          this.#resolve(answer);
        });
      },
      (error: unknown) => {
        if (!server.life.isAlive) return;
        server.life.onEnd.delete(onServerEnd);
        if (!(error instanceof ApiError)) {
          this.#field.fail('servers answer with ApiErrors', `${this.#text}: ${stackOf(error)}`);
        }
        this.#reply(fate, messageOf(error), () => this.#refuse(error));
      },
    );
  }

  #reply(fate: Fate, text: string, run: () => void): void {
    const { life } = this.#line;
    if (!life.isAlive) return;
    if (fate === 'lose-reply') {
      this.#lose('lose-reply');
      return;
    }
    if (fate === 'crash-after') {
      this.#field.soon({ life, text: `${this.#text} crash-after`, run: () => this.#field.crashAndRestart(life) });
      return;
    }
    this.#answer(text, run, typeof fate === 'object' && 'delayMs' in fate ? fate.delayMs : 0);
  }

  #answer(text: string, run: () => void, delayMs = 0): void {
    const { life } = this.#line;
    if (!life.isAlive || this.#isLost) return;
    const heard = () => {
      if (!this.#isLost) this.#end(run);
    };
    this.#field.later(delayMs, { life, text: `${this.#text} -> ${text}`, run: heard });
  }

  #refuse(error: unknown): void {
    if (error instanceof ApiError) this.#field.tell({ what: 'refused', ...this.#called, error });
    this.#reject(error);
  }

  #lose(why: string): void {
    const { life } = this.#line;
    if (!life.isAlive || this.#isLost) return;
    this.#isLost = true;
    const text = `${this.#text} -> lost (${why})`;
    const run = () =>
      this.#end(() => {
        this.#field.tell({ what: 'lost', ...this.#called });
        this.#reject(new LostError(`no answer to ${this.#text}: ${why}`));
      });
    this.#field.later(this.#field.faults.waitMs(), { life, text, run });
  }

  #end(run: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#underWay.delete(this);
    run();
  }
}

/** A list of an older state that is not older than requested. */
function pastList(
  server: SimServer,
  user: User,
  request: Extract<Request, { verb: 'list' }>,
  dice: Random,
): Promise<Answer> {
  const oldest = Math.max(Number(request.revision ?? 0), server.store.visible - 50);
  const revision = oldest + Math.floor(dice.next() * (server.store.visible - oldest + 1));
  return revision >= server.store.visible ? server.as(user).call(request) : server.listAt(user, request, revision);
}

const textOf = ({ object, list }: Answer): string =>
  object
    ? `ok ${object.metadata.resourceVersion ?? ''}`
    : `ok ${list?.items.length ?? 0} items at ${list?.metadata.resourceVersion ?? ''}`;

const stackOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error));

type Item = { readonly batch: readonly WatchEvent[] } | { readonly end: true } | { readonly error: unknown };

const REMEMBERED = 32;

class Watch implements AsyncIterator<readonly WatchEvent[]> {
  readonly #field: Field;
  readonly #line: Line;
  readonly #request: WatchRequest;
  readonly #text: string;
  readonly #signal: AbortSignal;
  readonly #arrived: Item[] = [];
  /** The last delivered events, for a server that sends them again. */
  #told: WatchEvent[] = [];
  #waiting: { resolve(result: IteratorResult<readonly WatchEvent[]>): void; reject(error: unknown): void } | undefined;
  #state: 'new' | 'opening' | 'open' | 'silent' | 'over' = 'new';
  #isDelivering = false;
  #hangUp = () => {};

  constructor(field: Field, line: Line, request: WatchRequest, signal: AbortSignal) {
    this.#field = field;
    this.#line = line;
    this.#request = request;
    this.#signal = signal;
    this.#text = `${line.life.name} watch ${placeOf(request.at)} at ${line.server}`;
  }

  next(): Promise<IteratorResult<readonly WatchEvent[]>> {
    if (!this.#line.life.isAlive) return new Promise<never>(() => {});
    if (this.#state === 'over' || this.#signal.aborted) {
      this.#end();
      return Promise.resolve({ done: true, value: undefined });
    }
    const result = new Promise<IteratorResult<readonly WatchEvent[]>>((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
    if (this.#state === 'new') {
      this.#state = 'opening';
      this.#signal.addEventListener('abort', () => this.#end(), { once: true });
      this.#field.soon({ life: this.#line.life, text: `${this.#text} opens`, run: () => this.#open() });
    } else this.#schedule();
    return result;
  }

  return(): Promise<IteratorResult<readonly WatchEvent[]>> {
    this.#end();
    return Promise.resolve({ done: true, value: undefined });
  }

  #fate(batch: readonly WatchEvent[]) {
    const { life } = this.#line;
    const fate = life.steady ? 'deliver' : this.#field.faults.watch(life.name, this.#request, batch, this.#field.now);
    // A fault on a batch of bookmarks loses nothing, so it proves nothing.
    const isNews = batch.some(({ type }) => type !== 'BOOKMARK');
    if (!life.steady && isNews) this.#field.matrix.count(`watch ${this.#request.at.resource.kind}`, nameOf(fate));
    return fate;
  }

  #open(): void {
    if (this.#state !== 'opening') return;
    const { life, server: name, user } = this.#line;
    const server = this.#field.running(name);
    if (server === undefined || this.#field.isCut(life.name, name)) {
      this.#fail(new LostError(`${this.#text}: no connection`));
      return;
    }
    this.#state = 'open';
    const controller = new AbortController();
    const onServerEnd = () => this.#fail(new LostError(`${this.#text}: the server went away`));
    const hangUp = () => {
      server.life.onEnd.delete(onServerEnd);
      life.onEnd.delete(hangUp);
      controller.abort();
    };
    this.#hangUp = hangUp;
    server.life.onEnd.add(onServerEnd);
    life.onEnd.add(hangUp);
    const feed = server.sim.as(user).watch(this.#request, controller.signal)[Symbol.asyncIterator]();
    const pump = (): void => {
      feed.next().then(
        (result) => {
          this.#arrived.push(result.done ? { end: true } : { batch: result.value });
          this.#schedule();
          if (!result.done) pump();
        },
        (error: unknown) => {
          this.#arrived.push({ error });
          this.#schedule();
        },
      );
    };
    pump();
  }

  /** One event for the next batch, so that batches stay in order. */
  #schedule(): void {
    if (this.#state !== 'open' || this.#isDelivering || !this.#waiting || this.#arrived.length === 0) return;
    this.#isDelivering = true;
    this.#field.soon({ life: this.#line.life, text: `${this.#text} delivers`, run: () => this.#deliver() });
  }

  #deliver(isLate = false): void {
    if (this.#state !== 'open') return;
    const { life, server } = this.#line;
    if (this.#field.isCut(life.name, server)) {
      this.#field.onHeal(life.name, server, () => {
        this.#isDelivering = false;
        if (this.#field.dice.next() < 0.5) this.#fail(new LostError(`${this.#text}: broke off while partitioned`));
        else this.#schedule();
      });
      return;
    }
    const first = this.#arrived[0];
    if (first === undefined || !('batch' in first)) {
      this.#isDelivering = false;
      if (first && 'error' in first) this.#fail(first.error);
      else this.#end();
      return;
    }
    const fate = isLate ? 'deliver' : this.#fate(first.batch);
    if (typeof fate === 'object') {
      const run = () => this.#deliver(true);
      this.#field.later(fate.delayMs, { life, text: `${this.#text} delivers (late)`, run });
      return;
    }
    this.#isDelivering = false;
    switch (fate) {
      case 'cut':
        if (this.#field.dice.next() < 0.5) this.#end();
        else this.#fail(new LostError(`${this.#text}: cut`));
        return;
      case 'gone-410':
        this.#fail(goneError());
        return;
      case 'silence':
        this.#state = 'silent';
        this.#hangUp();
        if (this.#field.faults.silenceMs < Number.POSITIVE_INFINITY) {
          const run = () => this.#fail(new LostError(`${this.#text}: had been dead for long`));
          this.#field.later(this.#field.faults.silenceMs, { life, text: `${this.#text} is found dead`, run });
        }
        return;
      default:
        this.#hand(this.#gather(fate === 'rewind'));
    }
  }

  /** The first batch, possibly joined with later ones, preceded by repeated events, or followed by a bookmark. */
  #gather(isRewound: boolean): readonly WatchEvent[] {
    const { dice } = this.#field;
    const most = 1 + Math.floor(dice.next() * this.#arrived.length);
    const events: WatchEvent[] = [];
    for (let taken = 0; taken < most; taken++) {
      const item = this.#arrived[0];
      if (item === undefined || !('batch' in item)) break;
      events.push(...item.batch);
      this.#arrived.shift();
    }
    const again = isRewound ? this.#told.slice(-1 - Math.floor(dice.next() * this.#told.length)) : [];
    this.#told = [...this.#told, ...events].slice(-REMEMBERED);
    const bookmark = this.#bookmark();
    return [...again, ...events, ...bookmark];
  }

  #bookmark(): readonly WatchEvent[] {
    const store = this.#field.running(this.#line.server)?.sim.store;
    if (!this.#request.bookmarks || this.#arrived.length > 0 || !store || this.#field.dice.next() < 0.7) return [];
    const { group, version, kind } = this.#request.at.resource;
    const metadata = { resourceVersion: String(store.visible) };
    return [{ type: 'BOOKMARK', object: { apiVersion: apiVersionOf(group, version), kind, metadata } }];
  }

  #hand(value: readonly WatchEvent[]): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.resolve({ done: false, value });
  }

  #fail(error: unknown): void {
    if (this.#state === 'over') return;
    const waiting = this.#waiting;
    if (waiting === undefined) {
      // Thrown when the next batch is read.
      this.#arrived.splice(0, this.#arrived.length, { error });
      this.#hangUp();
      return;
    }
    this.#close();
    if (this.#line.life.isAlive) waiting.reject(error);
  }

  #end(): void {
    if (this.#state === 'over') return;
    const waiting = this.#waiting;
    this.#close();
    if (this.#line.life.isAlive) waiting?.resolve({ done: true, value: undefined });
  }

  #close(): void {
    this.#state = 'over';
    this.#waiting = undefined;
    this.#hangUp();
  }
}
