// Runs controllers: watches their sources, and reconciles a key whenever something happens to it until nothing is left
// to do. Guarantees: no wake-up is lost; one pass per key at a time; a pass sees the effects of all earlier passes of
// this process; a controller decides nothing before all its sources are listed; after `stop` no write is sent.
//
// Begin with pass.ts. The parts: informers.ts (caches), waking.ts (which keys a change concerns), queue.ts (when they
// run), perform.ts (writes), outcome.ts (what follows a failure), full-objects.ts (objects that a decision needs in
// full), server-recovery.ts (when a server answers again), running-manager.ts (the state).
import { setMaxListeners } from 'node:events';
import type { Registry } from 'prom-client';
import type { Hold } from '../api/hold.ts';
import { AbortError } from '../base/errors.ts';
import { createObjectCache } from './content.ts';
import type { AnyController, AnyWorker, Source, WatchRule } from './controller.ts';
import type { Deps } from './deps.ts';
import type { Next } from './due.ts';
import { createRecorder } from './events.ts';
import { createDependents, FIRST_LIST } from './full-objects.ts';
import { createInformers, type Informer, type Informers } from './informers.ts';
import type { ManagerState } from './manager-state.ts';
import { noMetrics, runtimeMetrics } from './metrics.ts';
import { createOnDemandWatches } from './on-demand-watches.ts';
import { createOwnWrites } from './own-writes.ts';
import { type PassOptions, reconcile } from './pass.ts';
import { type Place, placeText } from './place.ts';
import { createQueue } from './queue.ts';
import type { Running } from './running.ts';
import { type Author, own, type RunningManager, type Synced } from './running-manager.ts';
import { createServerRecovery } from './server-recovery.ts';
import { createTimeSlice } from './time-slice.ts';
import { createView } from './view.ts';
import {
  countDepth,
  dispatch,
  isLookedAt,
  makeReady,
  onListed,
  retryUnanswered,
  wake,
  wakeFromOutside,
  wakeReaders,
  walk,
} from './waking.ts';

export interface ManagerOptions {
  readonly controllers: readonly (AnyController | AnyWorker)[];
  /** Passes at a time, per controller. */
  readonly workers?: number;
  /** Every key is reconciled this often even if nothing happens, in case a wake-up was lost to a bug. */
  readonly resyncMs?: number;
  /** False as soon as no write may be sent any more (see leader.ts). */
  mayWrite?(): boolean;
  readonly metrics?: Registry;
  /** Field manager of our writes. */
  readonly manager?: string;
  /** Actions of one step that are performed at a time. */
  readonly sideBySide?: number;
  /** Bytes of full objects that are kept in memory. */
  readonly contentBytes?: number;
  /** How long `stop` waits for calls under way before it cancels them. */
  readonly stopGraceMs?: number;
}

export interface Manager {
  /** Resolves when all sources are listed; rejects with AbortError if the manager is stopped before. */
  readonly synced: Promise<void>;
  /** Starts no pass and no write any more; resolves when everything under way has ended. */
  stop(): Promise<void>;
  /** All sources are listed, no key waits, runs or failed, no Event is pending. Future wake-ups do not count. */
  idle(): boolean;
  state(): ManagerState;
  /** The holds of the last decision about this key, of one controller or of all. */
  holdsOf(key: string, controller?: string): readonly Hold[];
}

const TEN_HOURS_MS = 36_000_000;

export function startManager(given: Deps, options: ManagerOptions): Manager {
  const manager = managerOf(given, options);
  const { informers, metrics, running, reading, synced } = manager;
  manager.cancelResync = resyncLater(manager, options);
  metrics.watches(informers.all.length);
  informers.start();
  for (const each of running) {
    each.controller.begin?.((key) => wakeFromOutside(manager, each, key), reading.signal, each.memories);
    makeReady(manager, each);
  }
  if (running.every(({ isReady }) => isReady)) synced.resolve();

  return {
    synced: synced.promise,
    stop() {
      manager.stopped ??= shutDown(manager, options);
      return manager.stopped;
    },
    idle: () => isIdle(manager),
    state: () => stateOf(manager),
    holdsOf: (key, name) =>
      running
        .filter(({ controller }) => name === undefined || controller.name === name)
        .flatMap(({ holds }) => holds.get(key) ?? []),
  };
}

function managerOf(given: Deps, options: ManagerOptions): RunningManager {
  const recovery = createServerRecovery(given, (on) => retryUnanswered(manager, on));
  const deps: Deps = { ...given, servers: recovery.servers };
  const { clock, nextTick } = deps;
  const { sideBySide = 8, manager: fieldManager = 'flotilla', contentBytes = 64 * 2 ** 20 } = options;
  const metrics = options.metrics === undefined ? noMetrics : runtimeMetrics(options.metrics);
  const slice = createTimeSlice(clock, nextTick === undefined ? {} : { nextTick });
  const reading = new AbortController();
  const writing = new AbortController();
  // There are as many listeners as watches and calls, which is no leak.
  setMaxListeners(0, reading.signal, writing.signal);
  const mayWrite = () => !manager.isStopping && (options.mayWrite?.() ?? true);

  const informers = createInformers({
    deps,
    pace: slice,
    signal: reading.signal,
    sources: [...new Set(options.controllers.flatMap(({ watches }) => watches.map(({ source }) => source as Source)))],
    onChange: (informer, change) => dispatch(manager, informer, change),
    onWhole({ source: { on, resource } }, object, isNew) {
      const { namespace, name = '' } = object.metadata;
      const place: Place = { on, resource, ...(namespace === undefined ? {} : { namespace }), name };
      // Objects that no pass reads must not push out those that passes read.
      if (isNew || isLookedAt(manager, place)) contents.put(place, object);
    },
    onSynced: (informer) => onListed(manager, informer),
    onTrouble: (informer) => wakeReaders(manager, informer, FIRST_LIST),
  });
  const onDemand = createOnDemandWatches({
    clock,
    onIdle(informer) {
      metrics.watches(-1);
      informers.shut(informer);
      if (informer.reflector !== undefined) own(manager, informer.reflector.done);
    },
  });
  const contents = createObjectCache(contentBytes, (place) => informers.look(place, reading.signal));
  const recorder = createRecorder({ deps, manager: fieldManager, metrics, mayWrite, signal: writing.signal });
  const ownWrites = createOwnWrites<Author>();
  const running = options.controllers.map((controller) => {
    const needed = controller.watches.filter(({ optional }) => !optional).map(({ source }) => informers.of(source));
    const { name } = controller;
    const each: Running = {
      controller,
      queue: createQueue({
        name,
        clock,
        random: deps.random.fork(`queue/${name}`),
        slice,
        workers: options.workers ?? 8,
        run: (key) => run(manager, each, key),
        ...(deps.yieldToOthers === undefined ? {} : { yieldToOthers: deps.yieldToOthers }),
      }),
      informers: [...new Set(needed)],
      viewAt: createView(controller, informers, recovery.returns),
      view: undefined,
      memories: new Map(),
      holds: new Map(),
      unsettled: new Map(),
      dependents: createDependents(),
      busy: new Map(),
      failures: new Map(),
      unanswered: new Map(),
      early: new Set(),
      isReady: false,
      passes: 0,
      depth: 0,
    };
    return each;
  });
  const passes: PassOptions = {
    deps,
    informers,
    contents,
    onDemand,
    recorder,
    metrics,
    manager: fieldManager,
    sideBySide,
    mayWrite,
    reading: reading.signal,
    writing: writing.signal,
    silentIn: recovery.silentIn,
    isLookedAt: (place) => isLookedAt(manager, place),
    signed(of, key, fold) {
      manager.author = { of, key };
      try {
        fold();
      } finally {
        manager.author = undefined;
      }
    },
    writes: (of, key, place) => ownWrites.begin(placeText(place), { of, key }, () => wake(manager, of, key, 'fresh')),
  };

  const manager: RunningManager = {
    deps,
    metrics,
    slice,
    recovery,
    reading,
    writing,
    informers,
    onDemand,
    contents,
    recorder,
    ownWrites,
    running,
    rulesOf: rulesBy(informers, running),
    passes,
    synced: createSynced(),
    owned: new Set(),
    author: undefined,
    news: undefined,
    isStopping: false,
    stopped: undefined,
    cancelResync() {},
  };
  return manager;
}

function createSynced(): Synced {
  let resolve = () => {};
  let reject = (_error: Error) => {};
  const promise = new Promise<void>((done, failed) => {
    resolve = done;
    reject = failed;
  });
  // A caller need not wait for it.
  promise.catch(() => {});
  return { promise, resolve, reject };
}

function rulesBy(informers: Informers, running: readonly Running[]): RunningManager['rulesOf'] {
  const rules = new Map<Informer, { readonly rule: WatchRule; readonly of: Running }[]>(
    informers.all.map((informer) => [informer, []]),
  );
  for (const each of running) {
    for (const rule of each.controller.watches) rules.get(informers.of(rule.source))?.push({ rule, of: each });
  }
  return rules;
}

async function run(manager: RunningManager, of: Running, key: string): Promise<Next> {
  const { deps, passes, recovery } = manager;
  of.passes++;
  of.busy.set(key, deps.clock.now());
  countDepth(manager, of);
  const before = { hub: recovery.returns('hub'), member: recovery.returns('member') };
  const next = await reconcile(passes, of, key);
  of.busy.delete(key);
  // A server that came back meanwhile did not wake this key.
  for (const on of of.unanswered.get(key) ?? []) if (recovery.returns(on) !== before[on]) of.queue.retryNow(key);
  return next;
}

// ---- life

function resyncLater(manager: RunningManager, options: ManagerOptions): () => void {
  const { clock, random } = manager.deps;
  const { resyncMs = TEN_HOURS_MS } = options;
  const at = clock.now() + Math.ceil(resyncMs * (0.9 + random.fork(`resync/${clock.now()}`).next() / 5));
  return clock.at(at, 'resync', () => {
    for (const each of manager.running) if (each.isReady) own(manager, walk(manager, each));
    manager.cancelResync = resyncLater(manager, options);
  });
}

async function shutDown(manager: RunningManager, { stopGraceMs = 10_000 }: ManagerOptions): Promise<void> {
  const { deps, running, informers, recorder, reading, writing } = manager;
  manager.isStopping = true;
  manager.cancelResync();
  manager.onDemand.stop();
  reading.abort();
  manager.synced.reject(new AbortError('stopped before everything was known'));
  manager.metrics.watches(-informers.all.length);
  const giveUp = deps.clock.at(deps.clock.now() + stopGraceMs, 'stop grace', () => writing.abort());
  await Promise.all([
    ...running.map(({ queue }) => queue.stop()),
    recorder.stop(),
    ...informers.all.map(({ reflector }) => reflector?.done),
    ...manager.owned,
  ]);
  giveUp();
  for (const each of running) countDepth(manager, each);
}

const isIdle = ({ running, owned, informers, recorder }: RunningManager): boolean =>
  running.every(({ isReady }) => isReady) &&
  owned.size === 0 &&
  informers.all.every(({ isSynced, reflector }) => isSynced || reflector?.state().lastError !== undefined) &&
  recorder.pending === 0 &&
  running.every(({ queue }) => queue.waiting === 0 && queue.running === 0 && queue.failing === 0);

const stateOf = ({ informers, running, contents, recorder, stopped }: RunningManager): ManagerState => ({
  sources: informers.all.map(({ name, cache, reflector }) => ({
    phase: 'stopped' as const,
    synced: false,
    lists: 0,
    watches: 0,
    failures: 0,
    heardAt: undefined,
    ...reflector?.state(),
    name,
    optional: !running.some((each) => each.informers.some((informer) => informer.name === name)),
    revision: cache.revision,
    items: cache.size,
    tombstones: cache.tombstones,
  })),
  controllers: running.map(({ controller, queue, memories, holds, unsettled, dependents, busy, isReady, passes }) => ({
    name: controller.name,
    ready: isReady,
    waiting: queue.waiting,
    running: queue.running,
    failing: queue.failing,
    remembered: queue.remembered,
    memories: memories.size,
    blocked: unsettled.size,
    holds: holds.size,
    dependencies: dependents.size,
    nextWakeAt: queue.nextWakeAt,
    passes,
    busySince: busy.size === 0 ? undefined : Math.min(...busy.values()),
  })),
  contents: { bytes: contents.bytes, entries: contents.entries, inFlight: contents.inFlight },
  events: { pending: recorder.pending, known: recorder.known },
  stopped: stopped !== undefined,
});
