// Runs controllers: watches what they name, and whenever something happens to a key observes, decides and performs until there is nothing
// left to do. Guarantees: no wake-up is lost; one pass per key at a time; a pass sees the effects of all earlier passes of this process;
// a controller decides nothing before all it watches is known; after `stop` no write goes out.
//
// Begin with pass.ts. The parts: informers.ts (what is known), queue.ts (what must be looked at), perform.ts (what is done), outcome.ts (what
// is done about failures), full-objects.ts (objects that a decision needs in full), server-recovery.ts (when a server is back).
import { setMaxListeners } from 'node:events';
import type { Registry } from 'prom-client';
import type { Hold } from '../api/hold.ts';
import { AbortError, messageOf } from '../base/errors.ts';
import type { Change } from './cache.ts';
import { keyOf } from './cache.ts';
import { createObjectCache } from './content.ts';
import type { AnyController, AnyWorker, Projected, ServerName, Source, View, WatchRule } from './controller.ts';
import type { Deps } from './deps.ts';
import { forWait, type Next } from './due.ts';
import { createRecorder } from './events.ts';
import { createDependents, FIRST_LIST, namespacePart, partText, specText, WHOLE_COLLECTION } from './full-objects.ts';
import { createInformers, type Informer } from './informers.ts';
import type { ManagerState } from './manager-state.ts';
import { noMetrics, runtimeMetrics } from './metrics.ts';
import { createOnDemandWatches } from './on-demand-watches.ts';
import { createOwnWrites } from './own-writes.ts';
import { type PassOptions, reconcile } from './pass.ts';
import { collectionText, type Place, placeText } from './place.ts';
import { type Coalesced, createQueue } from './queue.ts';
import type { Running } from './running.ts';
import { createServerRecovery } from './server-recovery.ts';
import { createTimeSlice } from './time-slice.ts';
import { createView } from './view.ts';

export interface ManagerOptions {
  readonly controllers: readonly (AnyController | AnyWorker)[];
  /** Passes at a time, per controller. */
  readonly workers?: number;
  /** Every key is looked at this often even if nothing happens: the last resort against our own mistakes. */
  readonly resyncMs?: number;
  /** False from the moment that no write may be issued any more (see leader.ts). */
  mayWrite?(): boolean;
  readonly metrics?: Registry;
  /** Field manager of our writes. */
  readonly manager?: string;
  /** Actions of one step at a time. */
  readonly sideBySide?: number;
  /** Whole objects kept in memory. */
  readonly contentBytes?: number;
  /** How long `stop` waits for calls under way before it gives them up. */
  readonly stopGraceMs?: number;
}

export interface Manager {
  /** Resolves when everything that is watched is known; rejects with AbortError when stopped before. */
  readonly synced: Promise<void>;
  /** Begins no pass and no write any more; resolves when all that runs has ended. */
  stop(): Promise<void>;
  /** Nothing to do now: all is known, no key waits, runs or failed, no Event is on its way. Wake-ups in the future do not count. */
  idle(): boolean;
  state(): ManagerState;
  /** What the last decision about this key waits for, of one controller or of all. */
  holdsOf(key: string, controller?: string): readonly Hold[];
}

interface Author {
  readonly of: Running;
  readonly key: string;
}

/** It came or went, or its kind does not tell what has changed. */
const hasNewSpec = ({ item, old }: Change<Projected>): boolean =>
  item === undefined ||
  old === undefined ||
  item.metadata.uid !== old.metadata.uid ||
  item.metadata.generation === undefined ||
  item.metadata.generation !== old.metadata.generation;

type Sides = Pick<Change<Projected>, 'item' | 'old'>;

/** Of a change both sides are asked, so that a rule that only looks at the item wakes the former owner, too. */
function bothSides(rule: WatchRule, { item, old }: Sides, view: View): readonly string[] {
  if (item === undefined) return old === undefined ? [] : rule.toKeys(old, view);
  if (old === undefined) return rule.toKeys(item, view);
  return [...new Set([...rule.toKeys(item, view, old), ...rule.toKeys(old, view, item)])];
}

function noteIn({ memories }: Running, rule: WatchRule, { item, old }: Sides, keys: readonly string[]): void {
  const [now, before] = item === undefined ? [old] : [item, old];
  if (rule.note === undefined || now === undefined) return;
  for (const key of keys) if (memories.has(key)) rule.note(memories.get(key), now, before);
}

const TEN_HOURS_MS = 36_000_000;
const WALK_CHUNK = 256;

export function startManager(given: Deps, options: ManagerOptions): Manager {
  const recovery = createServerRecovery(given, retryUnanswered);
  const deps: Deps = { ...given, servers: recovery.servers };
  const { clock, log } = deps;
  const { workers = 8, resyncMs = TEN_HOURS_MS, sideBySide = 8, manager = 'flotilla', stopGraceMs = 10_000 } = options;
  const metrics = options.metrics === undefined ? noMetrics : runtimeMetrics(options.metrics);
  const slice = createTimeSlice(clock, deps.nextTick === undefined ? {} : { nextTick: deps.nextTick });
  /** Reads and watches end at once when we stop; writes that are under way get some time. */
  const reading = new AbortController();
  const writing = new AbortController();
  // As many listeners as watches and calls: no leak.
  setMaxListeners(0, reading.signal, writing.signal);
  let isStopping = false;
  let stopped: Promise<void> | undefined;
  const mayWrite = () => !isStopping && (options.mayWrite?.() ?? true);

  const sources = [
    ...new Set(options.controllers.flatMap(({ watches }) => watches.map(({ source }) => source as Source))),
  ];
  const informers = createInformers({
    deps,
    pace: slice,
    signal: reading.signal,
    sources,
    onChange: dispatch,
    onWhole({ source: { on, resource } }, object, isNew) {
      const { namespace, name = '' } = object.metadata;
      const place: Place = { on, resource, ...(namespace === undefined ? {} : { namespace }), name };
      // Beside what is read there may be much that is not: it must not push out what is.
      if (isNew || isLookedAt(place)) contents.put(place, object);
    },
    onSynced: onFeedSynced,
    onTrouble: (informer) => wakeReaders(informer, FIRST_LIST),
  });
  const onDemand = createOnDemandWatches({
    clock,
    onIdle(informer) {
      metrics.watches(-1);
      informers.shut(informer);
      if (informer.reflector !== undefined) own(informer.reflector.done);
    },
  });
  const contents = createObjectCache(options.contentBytes ?? 64 * 2 ** 20, (place) =>
    informers.look(place, reading.signal),
  );
  const recorder = createRecorder({ deps, manager, metrics, mayWrite, signal: writing.signal });
  const running: readonly Running[] = options.controllers.map(begin);
  const rulesOf = new Map<Informer, { readonly rule: WatchRule; readonly of: Running }[]>(
    informers.all.map((informer) => [informer, []]),
  );
  for (const each of running) {
    for (const rule of each.controller.watches) rulesOf.get(informers.of(rule.source))?.push({ rule, of: each });
  }
  /** The pass that a change comes from. It looks again anyway. */
  let author: Author | undefined;
  const echoes = createOwnWrites<Author>();
  /** What is being told to whom it concerns. */
  let news: { readonly place: string; readonly revision: string | undefined } | undefined;
  /** Promises of ours that `stop` waits for. */
  const owned = new Set<Promise<void>>();

  let markSynced = () => {};
  let markStopped = (_error: Error) => {};
  const synced = new Promise<void>((resolve, reject) => {
    markSynced = resolve;
    markStopped = reject;
  });
  synced.catch(() => {});

  function begin(controller: AnyController | AnyWorker): Running {
    const needed = controller.watches.filter(({ optional }) => !optional).map(({ source }) => informers.of(source));
    const each: Running = {
      controller,
      queue: createQueue({
        name: controller.name,
        clock,
        random: deps.random.fork(`queue/${controller.name}`),
        slice,
        workers,
        run: (key) => pass(each, key),
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
  }

  // ---- from events to keys

  function onFeedSynced(informer: Informer): void {
    if (informer.close !== undefined) {
      wakeReaders(informer, FIRST_LIST);
      return;
    }
    for (const each of running) {
      if (!each.isReady) makeReady(each);
      // An optional source came in: what looked absent is known now, to every key.
      else if (each.controller.watches.some(({ source }) => source === informer.source)) own(walk(each));
    }
    if (running.every(({ isReady }) => isReady)) markSynced();
  }

  function makeReady(each: Running): void {
    if (!each.informers.every(({ isSynced }) => isSynced)) return;
    each.isReady = true;
    for (const key of each.early) wake(each, key, 'fresh');
    each.early.clear();
    own(walk(each));
  }

  function dispatch(informer: Informer, change: Change<Projected>): void {
    const place = `${collectionText(informer.source.on, informer.source.resource)}/${change.key}`;
    news = { place, revision: change.item?.metadata.resourceVersion };
    try {
      tell(informer, change, place);
    } finally {
      news = undefined;
    }
  }

  function tell(informer: Informer, change: Change<Projected>, place: string): void {
    const spec = hasNewSpec(change) ? specText(place) : undefined;
    for (const each of running) {
      if (!each.isReady || each.dependents.size === 0) continue;
      for (const key of [...each.dependents.of(place)]) wake(each, key, 'fresh');
      if (spec !== undefined) for (const key of [...each.dependents.of(spec)]) wake(each, key, 'fresh');
    }
    // Of a source that is still being listed, `walk` tells everything at its end.
    if (!informer.isSynced) return;
    if (informer.close !== undefined) tellReaders(informer, change);
    if (change.isSame) return;
    for (const { rule, of } of rulesOf.get(informer) ?? []) {
      if (!of.isReady) continue;
      for (const key of keysFor(of, rule, change)) {
        wake(of, key, rule.as ?? 'fresh', rule.wait && forWait(rule.wait, of.memories.get(key), clock.now()));
      }
    }
  }

  /** Without a projection the watch cannot tell what a change means (the data of a ConfigMap is not in its metadata): all of them count. */
  function tellReaders(informer: Informer, { key, item, old, isSame }: Change<Projected>): void {
    if (isSame && informer.source.project !== undefined) return;
    const namespace = (item ?? old)?.metadata.namespace;
    wakeReaders(informer, WHOLE_COLLECTION);
    wakeReaders(informer, key);
    if (namespace !== undefined) wakeReaders(informer, namespacePart(namespace));
  }

  function wakeReaders(informer: Informer, part: string): void {
    for (const each of running) {
      for (const key of [...each.dependents.of(partText(informer, part))]) wake(each, key, 'fresh');
    }
  }

  /** Some pass has read this object in full. */
  function isLookedAt(place: Place): boolean {
    const text = placeText(place);
    const spec = specText(text);
    return running.some(({ dependents }) => dependents.has(text) || dependents.has(spec));
  }

  function keysFor(of: Running, rule: WatchRule, { item, old }: Sides): readonly string[] {
    const now = clock.now();
    if (of.view?.now !== now) of.view = of.viewAt(now);
    const view = of.view as View;
    try {
      const all = bothSides(rule, { item, old }, view);
      const { onlyIf } = rule;
      const keys =
        onlyIf === undefined ? all : all.filter((key) => of.memories.has(key) && onlyIf(of.memories.get(key)));
      noteIn(of, rule, { item, old }, keys);
      return keys;
    } catch (error) {
      const name = keyOf((item ?? old)?.metadata.namespace, (item ?? old)?.metadata.name ?? '');
      metrics.failed(of.controller.name, 'invariant');
      log.error('failed to map a change to keys', {
        controller: of.controller.name,
        resource: rule.source.resource.plural,
        name,
        error: messageOf(error),
      });
      return [];
    }
  }

  /** A server answers again that did not for a while. A pass that runs finds out by itself; see `pass`. */
  function retryUnanswered(on: ServerName): void {
    if (isStopping) return;
    for (const { source, reflector } of informers.all) if (source.on === on) reflector?.retryNow();
    for (const each of running) {
      for (const [key, servers] of each.unanswered) {
        if (servers.has(on) && !each.busy.has(key)) each.queue.retryNow(key);
      }
      countDepth(each);
    }
  }

  function wakeFromOutside(of: Running, key: string): void {
    if (isStopping) return;
    if (of.isReady) wake(of, key, 'fresh');
    else of.early.add(key);
  }

  function wake(of: Running, key: string, as: Coalesced | 'resync', notBefore = 0): void {
    const isPass = (each: Author) => each.of === of && each.key === key;
    if (author !== undefined && isPass(author)) return;
    if (news !== undefined && echoes.keeps(news.place, news.revision, isPass)) return;
    if (as !== 'resync' && notBefore > clock.now()) of.queue.addAt(key, notBefore, as);
    else of.queue.add(key, as);
    countDepth(of);
  }

  function countDepth(of: Running): void {
    const { waiting } = of.queue;
    if (waiting !== of.depth) metrics.depth(of.controller.name, waiting - of.depth);
    of.depth = waiting;
  }

  /** Every key of a controller, behind all that is new. */
  async function walk(each: Running): Promise<void> {
    for (const rule of each.controller.watches) {
      const { cache } = informers.of(rule.source);
      let count = 0;
      for (const key of [...cache.keys()]) {
        if (isStopping) return;
        const item = cache.get(key);
        if (item !== undefined) for (const woken of keysFor(each, rule, { item })) wake(each, woken, 'resync');
        if (++count % WALK_CHUNK === 0) await slice.turn();
      }
    }
  }

  function resyncLater(): () => void {
    const at = clock.now() + Math.ceil(resyncMs * (0.9 + deps.random.fork(`resync/${clock.now()}`).next() / 5));
    return clock.at(at, 'resync', () => {
      for (const each of running) if (each.isReady) own(walk(each));
      cancelResync = resyncLater();
    });
  }

  // ---- one pass over a key

  const passes: PassOptions = {
    deps,
    informers,
    contents,
    onDemand,
    recorder,
    metrics,
    manager,
    sideBySide,
    mayWrite,
    reading: reading.signal,
    writing: writing.signal,
    silentIn: recovery.silentIn,
    isLookedAt,
    signed(of, key, fold) {
      author = { of, key };
      try {
        fold();
      } finally {
        author = undefined;
      }
    },
    writes: (of, key, place) => echoes.begin(placeText(place), { of, key }, () => wake(of, key, 'fresh')),
  };

  async function pass(of: Running, key: string): Promise<Next> {
    of.passes++;
    of.busy.set(key, clock.now());
    countDepth(of);
    const before = { hub: recovery.returns('hub'), member: recovery.returns('member') };
    const next = await reconcile(passes, of, key);
    of.busy.delete(key);
    for (const on of of.unanswered.get(key) ?? []) if (recovery.returns(on) !== before[on]) of.queue.retryNow(key);
    return next;
  }

  // ---- life

  function own(promise: Promise<void>): void {
    owned.add(promise);
    promise.catch((error) => log.error('bug', { error: messageOf(error) })).finally(() => owned.delete(promise));
  }

  async function shutDown(): Promise<void> {
    isStopping = true;
    cancelResync();
    onDemand.stop();
    reading.abort();
    markStopped(new AbortError('stopped before everything was known'));
    metrics.watches(-informers.all.length);
    const giveUp = clock.at(clock.now() + stopGraceMs, 'stop grace', () => writing.abort());
    await Promise.all([
      ...running.map(({ queue }) => queue.stop()),
      recorder.stop(),
      ...informers.all.map(({ reflector }) => reflector?.done),
      ...owned,
    ]);
    giveUp();
    for (const each of running) countDepth(each);
  }

  let cancelResync = resyncLater();
  metrics.watches(informers.all.length);
  informers.start();
  for (const each of running) {
    each.controller.begin?.((key) => wakeFromOutside(each, key), reading.signal, each.memories);
    makeReady(each);
  }
  if (running.every(({ isReady }) => isReady)) markSynced();

  return {
    synced,
    stop() {
      stopped ??= shutDown();
      return stopped;
    },
    idle: () =>
      running.every(({ isReady }) => isReady) &&
      owned.size === 0 &&
      informers.all.every(({ isSynced, reflector }) => isSynced || reflector?.state().lastError !== undefined) &&
      recorder.pending === 0 &&
      running.every(({ queue }) => queue.waiting === 0 && queue.running === 0 && queue.failing === 0),
    state: () => ({
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
      controllers: running.map(
        ({ controller, queue, memories, holds, unsettled, dependents, busy, isReady, passes }) => ({
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
        }),
      ),
      contents: { bytes: contents.bytes, entries: contents.entries, inFlight: contents.inFlight },
      events: { pending: recorder.pending, known: recorder.known },
      stopped: stopped !== undefined,
    }),
    holdsOf: (key, name) =>
      running
        .filter(({ controller }) => name === undefined || controller.name === name)
        .flatMap(({ holds }) => holds.get(key) ?? []),
  };
}
