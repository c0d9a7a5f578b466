// A world in which a seed determines everything: actors, API servers, time, and the faults between them.
//
// Actors get only a Clock, a Random and Transports. Each call, reply, watch batch, timer and disk operation is an
// event. A step takes one due event, executes it, and waits until no microtask is left; then the checkers run. Time
// advances a little with every event, and to the next timer if nothing else is due.
// Equal seeds give equal traces: alone, after other worlds, and in another process.
import { createHash } from 'node:crypto';
import type { User } from '../api/object.ts';
import type { Clock } from '../base/clock.ts';
import { byText } from '../base/compare.ts';
import { messageOf } from '../base/errors.ts';
import { type Random, seededRandom } from '../base/random.ts';
import type { ServerName } from '../runtime/controller.ts';
import type { Deps, Log } from '../runtime/deps.ts';
import type { Checker, Failure, Happening, Sight } from './check.ts';
import { type Crowd, type Faults, noFaults } from './faults.ts';
import { type Guard, raiseGuard } from './guard.ts';
import { type Field, type Life, linkOf, type WorldEvent } from './link.ts';
import { Matrix } from './matrix.ts';
import type { Host, Readable, ServerProgram, SimServer } from './server.ts';
import { Timeline } from './timeline.ts';
import { Trace, type TraceOptions } from './trace.ts';

/** Stops an actor gracefully. */
export type Stop = () => void | Promise<void>;

export interface ActorOptions {
  readonly servers?: Readonly<Partial<Record<ServerName, { readonly server: string; readonly as: User }>>>;
  /** It does not crash by itself and has no faults: for the simulated user. */
  readonly steady?: boolean;
}

export interface Limits {
  readonly steps: number;
  readonly simulatedMs: number;
}

export interface Outcome {
  /**
   * done: the awaited state is reached; quiet: there are no events left within the time; limit: out of steps or time.
   */
  readonly result: 'done' | 'quiet' | 'limit' | 'failed';
  readonly steps: number;
  readonly simulatedMs: number;
  readonly failure?: Failure;
}

export interface World extends Sight {
  readonly seed: number;
  readonly matrix: Matrix;
  /** The true time, without skew, for the code that controls the world. */
  readonly clock: Clock;
  /** Adds an API server; it starts with the next steps. */
  server(name: string, program: ServerProgram): void;
  actor(name: string, start: (deps: Deps) => Stop | undefined, options?: ActorOptions): void;
  /**
   * Ends a server or an actor immediately: its timers are removed, its calls get no response, and it is not notified.
   */
  crash(name: string): void;
  /** Restarts it if it is down. */
  restart(name: string): void;
  /** Stops an actor gracefully, if it supports that. */
  stop(name: string): void;
  /** Blocks all traffic between an actor and a server for a time. */
  partition(actor: string, server: string, forMs: number): void;
  isUp(name: string): boolean;
  check(checker: Checker): void;
  /** Executes one event; false if there are no more. */
  step(): Promise<boolean>;
  run(until: () => boolean, limits: Limits): Promise<Outcome>;
  /** A failure of the world in its current state, for a check after its end. */
  objection(checker: string, message: string): Failure;
  /** A hash of all events so far and of the content of the servers. */
  traceHash(): string;
}

export interface WorldOptions extends TraceOptions {
  readonly seed: number;
  readonly faults?: Faults;
  readonly startMs?: number;
}

export const WORLD_START_MS = Date.UTC(2026, 0, 1);

export const createWorld = (options: WorldOptions): World => new SimWorld(options);

interface Actor {
  readonly name: string;
  readonly options: ActorOptions;
  readonly start: (deps: Deps) => Stop | undefined;
  lives: number;
  life: Life | undefined;
  stop: Stop | undefined;
}

interface Server {
  readonly name: string;
  readonly program: ServerProgram;
  lives: number;
  life: Life | undefined;
  sim: SimServer | undefined;
  /** The first revision of its own history: the initial objects are the same in all worlds. */
  begun: number | undefined;
}

// Nothing takes no time: half of the events take up to this long. Otherwise two actors could undo each other's writes
// forever, and the timer that ends it would never fire.
const LONGEST_EVENT_MS = 10;
// After this many steps the event loop runs: for signals, the test runner, and finalizers of the garbage collector.
const STEPS_AT_ONCE = 5_000;

class SimWorld implements World, Field {
  readonly seed: number;
  readonly matrix = new Matrix();
  readonly faults: Faults;
  readonly dice: Random;
  readonly clock: Clock;
  readonly #root: Random;
  readonly #order: Random;
  readonly #trace: Trace;
  readonly #actors = new Map<string, Actor>();
  readonly #servers = new Map<string, Server>();
  readonly #ready: WorldEvent[] = [];
  readonly #timeline = new Timeline<WorldEvent>();
  readonly #checkers: Checker[] = [];
  readonly #cuts = new Map<string, (() => void)[]>();
  readonly #startMs: number;
  #serverNames: readonly string[] = [];
  #crowd: Crowd | undefined;
  #now: number;
  #step = 0;
  #failure: Failure | undefined;
  #guard: Guard | undefined;

  constructor(options: WorldOptions) {
    this.seed = options.seed;
    this.faults = options.faults ?? noFaults;
    this.#root = seededRandom(options.seed);
    this.#order = this.#root.fork('order');
    this.dice = this.#root.fork('dice');
    this.#trace = new Trace(options);
    this.#startMs = options.startMs ?? WORLD_START_MS;
    this.#now = this.#startMs;
    this.clock = this.#clockOf(undefined, 0);
  }

  get now(): number {
    return this.#now;
  }

  get steps(): number {
    return this.#step;
  }

  get servers(): readonly string[] {
    return this.#serverNames;
  }

  store(name: string): Readable | undefined {
    return this.#servers.get(name)?.sim?.store;
  }

  // ---- actors and servers

  server(name: string, program: ServerProgram): void {
    this.#servers.set(name, { name, program, lives: 0, life: undefined, sim: undefined, begun: undefined });
    this.#serverNames = [...this.#servers.keys()].sort(byText);
    this.restart(name);
  }

  actor(name: string, start: (deps: Deps) => Stop | undefined, options: ActorOptions = {}): void {
    this.#actors.set(name, { name, options, start, lives: 0, life: undefined, stop: undefined });
    this.restart(name);
  }

  isUp(name: string): boolean {
    const server = this.#servers.get(name);
    return server ? server.sim !== undefined : this.#actors.get(name)?.life !== undefined;
  }

  restart(name: string): void {
    const server = this.#servers.get(name);
    const actor = this.#actors.get(name);
    if (server && server.life === undefined) this.#boot(server);
    if (actor && actor.life === undefined) this.#start(actor);
  }

  crash(name: string): void {
    const server = this.#servers.get(name);
    const actor = this.#actors.get(name);
    const life = server?.life ?? actor?.life;
    if (life === undefined) return;
    this.#trace.line(`${this.#time()} crash ${name}`);
    if (actor) this.matrix.count(`actor ${name}`, 'crash');
    this.tell({ what: 'crashed', who: name });
    this.#end(life);
    if (actor) {
      actor.life = undefined;
      actor.stop = undefined;
    }
    if (server) {
      server.life = undefined;
      server.sim = undefined;
      const disk = this.faults.disk(name);
      this.matrix.count(`server ${name}`, `crash-${disk}`);
      server.program.crash(this.dice, disk);
    }
  }

  stop(name: string): void {
    const actor = this.#actors.get(name);
    const life = actor?.life;
    if (!actor || !life) return;
    const over = () => {
      if (!life.isAlive) return;
      this.tell({ what: 'stopped', who: name });
      this.#end(life);
      actor.life = undefined;
      actor.stop = undefined;
    };
    const run = () => {
      Promise.resolve(actor.stop?.()).then(over, (error: unknown) => this.fail(`stopping ${name}`, messageOf(error)));
    };
    this.soon({ life, text: `stop ${name}`, run });
  }

  partition(actor: string, server: string, forMs: number): void {
    const pair = `${actor}>${server}`;
    if (this.#cuts.has(pair)) return;
    this.#trace.line(`${this.#time()} partition ${pair} for ${forMs} ms`);
    this.#cuts.set(pair, []);
    this.matrix.count(`actor ${actor}`, 'partition');
    const heal = () => {
      const waiting = this.#cuts.get(pair) ?? [];
      this.#cuts.delete(pair);
      for (const run of waiting) run();
    };
    this.later(forMs, { life: undefined, text: `heal ${pair}`, run: heal });
  }

  #start(actor: Actor): void {
    const { name, options } = actor;
    const life = this.#newLife(name, options.steady ?? false);
    const skewMs = life.steady ? 0 : this.faults.clockSkewMs(name);
    const random = this.#root.fork(`actor/${name}/${actor.lives++}`);
    actor.life = life;
    const servers = Object.fromEntries(
      Object.entries(options.servers ?? {}).map(([as, { server, as: user }]) => [
        as,
        linkOf(this, { life, server, user }),
      ]),
    );
    const deps: Deps = { clock: this.#clockOf(life, skewMs), random, servers, log: this.#logOf(life) };
    const run = () => {
      this.tell({ what: 'started', who: name });
      if (!life.steady) this.matrix.count(`actor ${name}`, skewMs === 0 ? 'deliver' : 'skew');
      actor.stop = actor.start(deps);
    };
    this.soon({ life, text: `start ${name} (clock ${skewMs} ms)`, run });
  }

  #boot(server: Server): void {
    const { name, program } = server;
    const life = this.#newLife(name, false);
    server.life = life;
    const skewMs = this.faults.clockSkewMs(name);
    const host: Host = {
      name,
      clock: this.#clockOf(life, skewMs),
      random: this.#root.fork(`server/${name}/${server.lives++}`),
      pause: (what) =>
        new Promise((resolve) => {
          if (life.isAlive) this.soon({ life, text: `${name} ${what}`, run: resolve });
        }),
    };
    const run = () => {
      program.boot(host).then(
        (sim) => {
          if (!life.isAlive) return;
          server.sim = sim;
          server.begun ??= sim.store.visible;
          this.tell({ what: 'started', who: name });
        },
        (error: unknown) => {
          if (life.isAlive) this.fail(`starting ${name}`, stackOf(error));
        },
      );
    };
    this.soon({ life, text: `boot ${name} (clock ${skewMs} ms)`, run });
  }

  #newLife(name: string, steady: boolean): Life {
    this.#crowd = undefined;
    return { name, steady, isAlive: true, onEnd: new Set() };
  }

  #end(life: Life): void {
    this.#crowd = undefined;
    life.isAlive = false;
    // Requests in flight may have been sent before the crash, and then arrive at any time.
    const mine = (event: WorldEvent) => event.life === life;
    const sent = [...this.#ready.filter(mine), ...[...this.#timeline].filter(mine)].filter(
      (event) => event.isSent && this.faults.outlives(life.name),
    );
    this.#ready.splice(0, this.#ready.length, ...this.#ready.filter((event) => !mine(event)));
    for (const event of [...this.#timeline]) if (mine(event)) this.#timeline.remove(event);
    for (const { text, run } of sent) {
      this.later(this.faults.waitMs(), { life: undefined, text: `${text} (from a former life)`, run });
    }
    for (const run of [...life.onEnd]) run();
    life.onEnd.clear();
  }

  #clockOf(life: Life | undefined, skewMs: number): Clock {
    const name = life?.name ?? 'world';
    return {
      now: () => this.#now + skewMs,
      at: (epochMs, what, run) => {
        if (life?.isAlive === false) return () => {};
        const event: WorldEvent = { life, text: `${name} timer ${what}`, run };
        this.#timeline.add(Math.max(this.#now, Math.ceil(epochMs - skewMs)), event);
        return () => this.#cancel(event);
      },
    };
  }

  #cancel(event: WorldEvent): void {
    this.#timeline.remove(event);
    const index = this.#ready.indexOf(event);
    if (index >= 0) this.#take(index);
  }

  #logOf({ name }: Life): Log {
    const note = (level: string) => (message: string, fields: Readonly<Record<string, unknown>>) =>
      this.#trace.remark(() => `  ${name} ${level}: ${message} ${JSON.stringify(fields)}`);
    return { debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error') };
  }

  // ---- for links

  soon(event: WorldEvent): void {
    this.#ready.push(event);
  }

  later(delayMs: number, event: WorldEvent): void {
    if (delayMs <= 0) this.#ready.push(event);
    else this.#timeline.add(this.#now + delayMs, event);
  }

  running(name: string): { readonly life: Life; readonly sim: SimServer } | undefined {
    const server = this.#servers.get(name);
    return server?.life && server.sim ? { life: server.life, sim: server.sim } : undefined;
  }

  isCut(who: string, server: string): boolean {
    return this.#cuts.has(`${who}>${server}`);
  }

  onHeal(who: string, server: string, run: () => void): void {
    this.#cuts.get(`${who}>${server}`)?.push(run);
  }

  crashAndRestart({ name }: Life): void {
    this.crash(name);
    this.#restartIn(this.faults.waitMs(), name);
  }

  #restartIn(downMs: number, name: string): void {
    this.later(downMs, { life: undefined, text: `restart ${name}`, run: () => this.restart(name) });
  }

  tell(happening: Happening): void {
    for (const checker of this.#checkers) {
      const objection = checker.hear?.(happening, this);
      if (objection !== undefined) this.fail(checker.name, objection);
    }
  }

  fail(checker: string, message: string): void {
    this.#failure ??= this.objection(checker, message);
  }

  objection(checker: string, message: string): Failure {
    return {
      checker,
      message,
      seed: this.seed,
      step: this.#step,
      simulatedMs: this.#now - this.#startMs,
      lines: this.#trace.last(),
    };
  }

  // ---- events

  check(checker: Checker): void {
    this.#checkers.push(checker);
  }

  async step(): Promise<boolean> {
    using guard = raiseGuard();
    this.#guard = guard;
    return this.#advance(Number.POSITIVE_INFINITY);
  }

  async run(until: () => boolean, limits: Limits): Promise<Outcome> {
    const first = this.#step;
    const horizon = this.#now + limits.simulatedMs;
    const onRejection = (error: unknown) => this.fail('every promise has an owner', stackOf(error));
    process.on('unhandledRejection', onRejection);
    try {
      let result: Outcome['result'] | undefined;
      while (result === undefined) {
        using guard = raiseGuard();
        this.#guard = guard;
        for (let steps = 0; steps < STEPS_AT_ONCE && result === undefined; steps++) {
          if (this.#failure) result = 'failed';
          else if (until()) result = 'done';
          else if (this.#step - first >= limits.steps) result = 'limit';
          else if (!(await this.#advance(horizon))) result = this.#timeline.next() === undefined ? 'quiet' : 'limit';
        }
        // Unhandled rejections are reported when the event loop turns.
        guard[Symbol.dispose]();
        await new Promise((resolve) => setImmediate(resolve));
        if (this.#failure) result = 'failed';
      }
      const outcome = { result, steps: this.#step - first, simulatedMs: this.#now - this.#startMs };
      return this.#failure ? { ...outcome, failure: this.#failure } : outcome;
    } finally {
      process.off('unhandledRejection', onRejection);
    }
  }

  traceHash(): string {
    const hash = createHash('sha256').update(this.#trace.hash());
    for (const name of this.#serverNames) {
      const server = this.#servers.get(name);
      const store = server?.sim?.store;
      const changes = store?.since(server?.begun ?? 0, '') ?? 'down';
      hash.update(`${name} ${store?.visible ?? 'down'}\n`);
      if (typeof changes === 'string') hash.update(changes);
      else
        for (const change of changes)
          hash.update(`${change.key} ${change.deleted} ${JSON.stringify(change.stored.object())}\n`);
    }
    return hash.digest('hex');
  }

  /** Executes one event; false if none is due before the horizon. */
  async #advance(horizon: number): Promise<boolean> {
    const mishap = this.faults.mishap(this.#present(), this.#now);
    if (mishap === undefined) {
      const event = this.#choose(horizon);
      if (event === undefined) return false;
      this.#step++;
      this.#trace.line(`${this.#time()} ${event.text}`);
      this.#attempt(event.text, () => event.run());
    } else {
      this.#step++;
      if ('crash' in mishap) {
        this.#attempt(`crash ${mishap.crash}`, () => this.crash(mishap.crash));
        this.#restartIn(mishap.downMs, mishap.crash);
      } else this.partition(mishap.partition, mishap.from, mishap.forMs);
    }
    await this.#guard?.drained();
    for (const checker of this.#checkers) {
      const objection = checker.look?.(this);
      if (objection !== undefined) this.fail(checker.name, objection);
    }
    return true;
  }

  #choose(horizon: number): WorldEvent | undefined {
    if (this.#ready.length > 0) this.#now += Math.max(0, Math.ceil((2 * this.#order.next() - 1) * LONGEST_EVENT_MS));
    else {
      const next = this.#timeline.next();
      if (next !== undefined && next <= horizon) this.#now = Math.max(this.#now, next);
    }
    for (let due = this.#timeline.take(this.#now); due; due = this.#timeline.take(this.#now)) this.#ready.push(due);
    if (this.#ready.length === 0) return undefined;
    return this.#take(Math.floor(this.#order.next() * this.#ready.length));
  }

  #take(index: number): WorldEvent {
    const taken = this.#ready[index]!;
    const last = this.#ready.pop()!;
    if (index < this.#ready.length) this.#ready[index] = last;
    return taken;
  }

  #attempt(text: string, run: () => void): void {
    try {
      run();
    } catch (error) {
      this.fail('nothing throws into the world', `${text}: ${stackOf(error)}`);
    }
  }

  #present(): Crowd {
    this.#crowd ??= {
      actors: [...this.#actors.values()]
        .filter(({ life }) => life !== undefined && !life.steady)
        .map(({ name, options }) => ({
          name,
          servers: Object.values(options.servers ?? {}).map(({ server }) => server),
        })),
      servers: this.#serverNames.filter((name) => this.#servers.get(name)?.life !== undefined),
    };
    return this.#crowd;
  }

  #time(): string {
    return `${this.#step} +${this.#now - this.#startMs}ms`;
  }
}

const stackOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error));
