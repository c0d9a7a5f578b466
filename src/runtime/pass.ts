// One pass over a key: observe, as often as more objects are needed; decide, or let a worker work; perform; report the
// outcome and when the key runs again. Guarantees: nothing is decided before a lost write of the key is read live; what
// the pass has read wakes the key from before its first wait; a pass that is stopped leaves nothing behind.
import { ApiError, messageOf } from '../base/errors.ts';
import { mapLimit } from '../base/map-limit.ts';
import type { ObjectCache } from './content.ts';
import {
  type AnyWorker,
  type Decision,
  type Failure,
  idle,
  isNeed,
  isWorker,
  type Need,
  type ServerName,
  type Source,
  type View,
} from './controller.ts';
import type { Deps } from './deps.ts';
import type { Next } from './due.ts';
import type { Recorder } from './events.ts';
import type { Folds } from './fold-answer.ts';
import { createFullObjects, FIRST_LIST, type FullObjects } from './full-objects.ts';
import type { Informer, Informers } from './informers.ts';
import type { RuntimeMetrics } from './metrics.ts';
import type { OnDemandWatches } from './on-demand-watches.ts';
import { classOf, classOfRead, type FailureClass, longestWait, OUTCOMES, retryAfterMs } from './outcome.ts';
import type { EndWrite } from './own-writes.ts';
import { type Performed, perform } from './perform.ts';
import { type Place, placeText } from './place.ts';
import { forget, memoryOf, type Running } from './running.ts';
import { createWorkerClient } from './worker-client.ts';

export interface PassOptions {
  readonly deps: Deps;
  readonly informers: Informers;
  readonly contents: ObjectCache;
  readonly onDemand: OnDemandWatches;
  readonly recorder: Recorder;
  readonly metrics: RuntimeMetrics;
  /** Field manager of our writes. */
  readonly manager: string;
  /** Actions of one step that are performed at a time. */
  readonly sideBySide: number;
  /** Aborted as soon as the manager stops: then nothing is started any more. */
  readonly reading: AbortSignal;
  readonly writing: AbortSignal;
  mayWrite(): boolean;
  /** Whether a pass has read this object in full. */
  isLookedAt(place: Place): boolean;
  /** Changes of the cache during `fold` do not wake this key. */
  signed(of: Running, key: string, fold: () => void): void;
  /** The server that did not answer; undefined = the error is an answer, or of another kind. */
  silentIn(error: unknown): ServerName | undefined;
  /** Called when the pass starts a write. */
  writes(of: Running, key: string, place: Place): EndWrite;
}

/** One pass over one key, and what all passes of a manager share. */
interface Pass {
  readonly options: PassOptions;
  readonly of: Running;
  readonly key: string;
}

/** The result of observing: a decision to carry out, or what a worker has done. */
interface Looked {
  readonly decision: Decision;
  /** The time of the decision. */
  readonly at?: number;
  readonly performed?: Performed;
  /** Servers that did not answer a call of a worker, even if the worker went on. */
  readonly unanswered?: ReadonlySet<ServerName>;
  /** A read that was refused, and that the pass went on without: the key is retried. */
  readonly refused?: ApiError;
}

interface Working {
  readonly controller: AnyWorker;
  readonly memory: unknown;
  readonly view: View;
  readonly full: FullObjects;
}

interface Report {
  readonly durationMs: number;
  readonly decision: Decision | undefined;
  readonly performed: Performed | undefined;
  readonly failure: Failed | undefined;
}

interface Failed {
  readonly error: unknown;
  readonly class: FailureClass;
  readonly resource?: Place['resource'];
}

const MAX_NEED_ROUNDS = 8;
const LOOKS_AT_A_TIME = 8;

/** One pass over a key. It never rejects. */
export async function reconcile(options: PassOptions, of: Running, key: string): Promise<Next> {
  const pass: Pass = { options, of, key };
  const { metrics, reading } = options;
  const { clock } = options.deps;
  const { controller } = of;
  const startedAt = clock.now();
  let decision: Decision | undefined;
  let performed: Performed | undefined;
  let seen: Looked | undefined;
  let next: Next;
  let error: unknown;
  let refused: ApiError | undefined;
  try {
    await settle(pass);
    seen = await look(pass);
    if (reading.aborted) return { next: 'done' };
    decision = seen?.decision;
    performed = seen?.performed;
    remember(pass, decision, seen?.at);
    if (decision !== undefined && decision.steps.length > 0) performed = await carryOut(pass, decision);
    // A key that failed is retried and decides again, so a coalesced run must not come before the retry.
    const hasFailed = (performed?.failures.length ?? 0) > 0;
    if (decision?.coalesceUntil !== undefined && !hasFailed) of.queue.addAt(key, decision.coalesceUntil, 'report');
    next = performed === undefined ? { next: 'done' } : after(pass, performed, decision?.again);
    refused = seen?.refused;
    if (refused !== undefined) next = afterRefusal(pass, next);
  } catch (thrown) {
    if (reading.aborted) return { next: 'done' };
    error = thrown;
    const kind = isWorker(controller) ? classOf(thrown) : classOfRead(thrown);
    metrics.failed(controller.name, kind);
    next = { next: OUTCOMES[kind].next, notBefore: clock.now() + retryAfterMs(thrown) };
  }
  const failure: Failed | undefined =
    error === undefined
      ? performed?.failures[0]
      : { error, class: isWorker(controller) ? classOf(error) : classOfRead(error) };
  const silent = [error, ...(performed?.failures ?? []).map((each) => each.error)].flatMap(
    (each) => options.silentIn(each) ?? [],
  );
  const unanswered = silent.length === 0 ? seen?.unanswered : new Set([...silent, ...(seen?.unanswered ?? [])]);
  if (unanswered === undefined || unanswered.size === 0) of.unanswered.delete(key);
  else of.unanswered.set(key, unanswered);
  if (failure !== undefined && OUTCOMES[failure.class].isWorthTelling) of.failures.set(key, told(failure));
  else if (failure === undefined) of.failures.delete(key);
  // The controller has handled a refused read already; here it is only logged.
  const logged = failure ?? (refused && { error: refused, class: 'refused' as const });
  report(pass, { durationMs: clock.now() - startedAt, decision, performed, failure: logged });
  return next;
}

/** Reads the objects of lost writes live, before anything is decided. */
async function settle({ options, of, key }: Pass): Promise<void> {
  const { informers, reading } = options;
  const places = of.unsettled.get(key);
  if (places === undefined) return;
  await mapLimit([...places], LOOKS_AT_A_TIME, async ([text, place]) => {
    await informers.look(place, reading);
    places.delete(text);
  });
  of.unsettled.delete(key);
}

/** Observes, as often as more objects are needed, and decides; undefined = the key is not the controller's. */
async function look(pass: Pass): Promise<Looked | undefined> {
  const { options, of, key } = pass;
  const { informers, contents, reading } = options;
  const { controller } = of;
  const memory = memoryOf(of, key);
  const full = createFullObjects(
    informers,
    contents,
    isWorker(controller) ? (text) => of.dependents.add(key, text) : undefined,
  );
  for (let round = 0; ; round++) {
    full.begin();
    const view = of.viewAt(options.deps.clock.now(), full, of.failures.get(key));
    const found = isWorker(controller)
      ? await letWork(pass, { controller, memory, view, full })
      : controller.observe(view, key, memory);
    if (!isNeed(found)) {
      note(pass, full);
      if (found === undefined) {
        forget(of, key);
        return undefined;
      }
      const [refused] = full.refusals.values();
      return {
        ...(isWorker(controller) ? (found as Looked) : { decision: controller.decide(found, memory) }),
        at: view.now,
        ...(refused === undefined ? {} : { refused }),
      };
    }
    if (round === MAX_NEED_ROUNDS) {
      throw new Error(`still asks for ${found.need.map((ref) => placeText(ref)).join(', ')} after ${round} gets`);
    }
    const lists = (found.watch ?? []).map((source) => open(pass, full, source));
    // Before the first wait, so that a change meanwhile wakes the key.
    note(pass, full);
    await mapLimit(found.need, LOOKS_AT_A_TIME, (ref) => full.fetch(ref));
    if (found.ask !== undefined) await mapLimit(found.ask, LOOKS_AT_A_TIME, (each) => full.ask(each, reading));
    if (reading.aborted) return undefined;
    const missing = lists.filter(({ isSynced }) => !isSynced);
    if (missing.length > 0) {
      return { decision: idle(`waits for the first list of ${missing.map(({ name }) => name).join(', ')}`) };
    }
  }
}

function open({ options }: Pass, full: FullObjects, source: Source): Informer {
  const { informers, metrics } = options;
  if (informers.opened(source) === undefined) metrics.watches(1);
  const informer = informers.open(source);
  full.touch(informer, FIRST_LIST);
  return informer;
}

/** Changes of these objects wake the key from now on. */
function note({ options, of, key }: Pass, full: FullObjects): void {
  of.dependents.set(key, full.used);
  options.onDemand.set(`${of.controller.name} ${key}`, full.read);
}

async function letWork(pass: Pass, { controller, memory, view, full }: Working): Promise<Looked | Need | undefined> {
  const { deps, recorder, mayWrite, reading, writing } = pass.options;
  const client = createWorkerClient({
    deps,
    informers: signedFolds(pass),
    mayWrite,
    record: (event) => recorder.record(controller.eventSource, event),
    reading,
    writing,
  });
  try {
    const rest = await controller.work(view, pass.key, client, memory);
    if (rest === undefined || isNeed(rest)) return rest;
    return {
      decision: { steps: [], ...rest },
      performed: { done: client.writes, changed: false, failures: [], unsettled: client.unsettled },
      unanswered: client.unanswered,
    };
  } catch (error) {
    note(pass, full);
    throw error;
  } finally {
    block(pass, client.unsettled);
  }
}

function block({ of, key }: Pass, places: readonly Place[]): void {
  if (places.length > 0) of.unsettled.set(key, new Map(places.map((place) => [placeText(place), place])));
}

function remember({ of, key }: Pass, decision: Decision | undefined, lookedAt: number | undefined): void {
  of.queue.wakeAt(key, decision?.wakeAt, lookedAt);
  if (decision === undefined || decision.holds.length === 0) of.holds.delete(key);
  else of.holds.set(key, decision.holds);
}

/** Its own writes do not wake a key: a decision that wrote runs again anyway, and a worker has its answers. */
function signedFolds({ options, of, key }: Pass): Folds {
  const { informers, contents } = options;
  const signed = (fold: () => void) => options.signed(of, key, fold);
  return {
    fold(on, resource, object) {
      const { name = '', namespace } = object.metadata;
      const place: Place = { on, resource, ...(namespace === undefined ? {} : { namespace }), name };
      if (options.isLookedAt(place)) contents.put(place, object);
      signed(() => informers.fold(on, resource, object));
    },
    foldGone: (...args) => signed(() => informers.foldGone(...args)),
    foldEnded: (...args) => signed(() => informers.foldEnded(...args)),
    look: informers.look,
    writes: (place) => options.writes(of, key, place),
    made: contents.put,
  };
}

async function carryOut(pass: Pass, decision: Decision): Promise<Performed> {
  const { deps, recorder, manager, sideBySide, mayWrite, writing } = pass.options;
  const performed = await perform(decision.steps, {
    deps,
    informers: signedFolds(pass),
    manager,
    sideBySide,
    mayWrite,
    record: (event) => recorder.record(pass.of.controller.eventSource, event),
    signal: writing,
  });
  block(pass, performed.unsettled);
  return performed;
}

function after({ options, of }: Pass, { failures, changed }: Performed, again: Decision['again']): Next {
  if (failures.length === 0) {
    return {
      next: changed && again !== 'later' ? 'continue' : 'done',
      ...(again === 'at once' ? { atOnce: true } : {}),
    };
  }
  for (const failure of failures) options.metrics.failed(of.controller.name, failure.class);
  return {
    next: longestWait(failures.map((failure) => OUTCOMES[failure.class].next)),
    notBefore: options.deps.clock.now() + Math.max(...failures.map(({ error }) => retryAfterMs(error))),
  };
}

function afterRefusal({ options, of }: Pass, { next, notBefore }: Next): Next {
  options.metrics.failed(of.controller.name, 'refused');
  return { next: longestWait([next, OUTCOMES.refused.next]), ...(notBefore === undefined ? {} : { notBefore }) };
}

function report({ options, of, key }: Pass, { durationMs, decision, performed, failure }: Report): void {
  const { metrics, deps } = options;
  const actions = performed?.done ?? 0;
  metrics.wrote(of.controller.name, actions);
  const result = failure ? 'failed' : decision === undefined ? 'not-ours' : actions > 0 ? 'acted' : 'idle';
  metrics.reconciled(of.controller.name, result, durationMs);
  const fields = {
    controller: of.controller.name,
    key,
    because: decision?.because ?? (failure === undefined ? 'not ours' : 'failed'),
    actions,
    durationMs,
  };
  if (failure === undefined) deps.log[actions > 0 ? 'info' : 'debug']('reconciled', fields);
  else {
    const failures = performed === undefined ? 1 : performed.failures.length;
    deps.log[OUTCOMES[failure.class].level]('reconciled', {
      ...fields,
      error: messageOf(failure.error),
      class: failure.class,
      failures,
    });
  }
}

const told = ({ error, class: kind, resource }: Failed): Failure => ({
  message: messageOf(error),
  reason: error instanceof ApiError ? error.reason : kind,
  ...(resource === undefined ? {} : { resource }),
});
