// Carries out a decision: steps one after the other, the actions of a step concurrently with a limit. A step with a
// failure is the last. Every write has a precondition or is a create with a fixed name, and its response is folded in
// before the next decision.
import type { Request } from '../api/transport.ts';
import { InvariantError } from '../base/errors.ts';
import { isObject, type Json } from '../base/json.ts';
import type { JsonOperation } from '../base/json-patch.ts';
import { mapLimit } from '../base/map-limit.ts';
import type { Action, Seen } from './controller.ts';
import type { Deps } from './deps.ts';
import { type Folds, foldDeleted, foldWritten, objectIn } from './fold-answer.ts';
import { transportOf } from './informers.ts';
import { classOf, type FailureClass, FencedError, OUTCOMES } from './outcome.ts';
import type { Place } from './place.ts';

export type EventAction = Extract<Action, { do: 'event' }>;
type WriteAction = Exclude<Action, EventAction>;

export interface PerformOptions {
  readonly deps: Deps;
  readonly informers: Folds;
  /** The field manager of our writes. */
  readonly manager: string;
  readonly sideBySide: number;
  /** False once this process must not send writes any more. */
  mayWrite(): boolean;
  /** Hands an Event to the recorder. */
  record(event: EventAction): void;
  /** Aborts calls in flight. */
  readonly signal: AbortSignal;
}

export interface Failure {
  readonly class: FailureClass;
  readonly error: unknown;
  readonly because: string;
  /** The resource of the object to be written; absent = an Event. */
  readonly resource?: Place['resource'];
}

export interface Performed {
  /** The number of actions that succeeded. */
  readonly done: number;
  /** A write changed something on a server: reconcile again. */
  readonly changed: boolean;
  readonly failures: readonly Failure[];
  /** Objects to read live before the next decision for this key, because their write may or may not have happened. */
  readonly unsettled: readonly Place[];
}

export async function perform(steps: readonly (readonly Action[])[], options: PerformOptions): Promise<Performed> {
  const failures: Failure[] = [];
  const unsettled: Place[] = [];
  let done = 0;
  let changed = false;

  const act = async (action: Action): Promise<void> => {
    if (failures.some((failure) => OUTCOMES[failure.class].endsStep)) return;
    try {
      if (!options.mayWrite()) throw new FencedError('write refused: not the leader, or stopping');
      if (action.do === 'event') options.record(action);
      else if (await write(action, options)) changed = true;
      done++;
    } catch (error) {
      const failure: Failure = {
        class: classOf(error),
        error,
        because: action.because,
        ...(action.do === 'event' ? {} : { resource: resourceOf(action) }),
      };
      failures.push(failure);
      const { look } = OUTCOMES[failure.class];
      if (action.do === 'event' || look === undefined) return;
      const place = placeOf(action);
      if (look === 'first' || (look === 'now' && !(await looked(place, options)))) unsettled.push(place);
    }
  };

  for (const [index, step] of steps.entries()) {
    if (index > 0 && changed && step.every(isReport)) await othersActed(options.deps);
    await mapLimit(step, options.sideBySide, act);
    if (failures.length > 0) break;
  }
  return { done, changed, failures, unsettled };
}

const isReport = (action: Action): boolean =>
  (action.do === 'patch' || action.do === 'json-patch') && action.subresource === 'status';

/**
 * Lets the keys that wait for these writes run before the status is written: first they reconcile, then their writes
 * are flushed.
 */
async function othersActed({ yieldToOthers, spreadOverTurns }: Deps): Promise<void> {
  if (yieldToOthers === undefined) return;
  await new Promise<void>(yieldToOthers);
  await new Promise<void>(yieldToOthers);
  if (spreadOverTurns !== undefined) await new Promise<void>(spreadOverTurns);
}

/** True if the write changed the object. */
async function write(action: WriteAction, { deps, informers, manager, signal }: PerformOptions): Promise<boolean> {
  const place = placeOf(action);
  const end = informers.writes(place);
  let revision: string | undefined;
  try {
    const object = objectIn(await transportOf(deps, place.on).call(requestFor(action, place, manager), signal));
    revision = object?.metadata.resourceVersion;
    const isAsBefore = action.do !== 'create' && revision === action.of.resourceVersion;
    if (action.do === 'delete') foldDeleted(informers, place, action.of.uid, object);
    else if (!isAsBefore) foldWritten(informers, place, object);
    if (action.do === 'create' && object !== undefined) informers.made(place, object);
    return !isAsBefore;
  } finally {
    end(revision);
  }
}

async function looked(place: Place, { informers, signal }: PerformOptions): Promise<boolean> {
  try {
    await informers.look(place, signal);
    return true;
  } catch {
    return false; // the next reconcile reads it first, with its own error handling
  }
}

const resourceOf = (action: WriteAction): Place['resource'] =>
  action.do === 'create' ? action.resource : action.of.resource;

function placeOf(action: WriteAction): Place {
  if (action.do !== 'create') {
    const { on, resource, namespace, name } = action.of;
    return { on, resource, ...(namespace === undefined ? {} : { namespace }), name };
  }
  const { name, namespace } = action.object.metadata;
  if (name === undefined || name === '') {
    throw new InvariantError(`a ${action.resource.kind} to be created has no name: names must be known before`);
  }
  return {
    on: action.on,
    resource: action.resource,
    ...(namespace === undefined ? {} : { namespace }),
    name,
  };
}

function requestFor(action: WriteAction, { resource, namespace, name }: Place, manager: string): Request {
  const inNamespace = namespace === undefined ? {} : { namespace };
  switch (action.do) {
    case 'create':
      return { verb: 'create', at: { resource, ...inNamespace }, object: action.object, manager };
    case 'patch':
    case 'json-patch': {
      const { subresource, of } = action;
      const at = { resource, ...inNamespace, name, ...(subresource === undefined ? {} : { subresource }) };
      const patch =
        action.do === 'patch'
          ? ({ type: 'merge', body: conditional(of, action.merge) } as const)
          : ({ type: 'json', body: conditionalOperations(of, action.operations) } as const);
      return { verb: 'patch', at, patch, manager };
    }
    case 'delete': {
      const { of, propagation } = action;
      return {
        verb: 'delete',
        at: { resource, ...inNamespace, name },
        uid: of.uid,
        revision: of.resourceVersion,
        ...(propagation === undefined ? {} : { propagation }),
      };
    }
  }
}

/**
 * The precondition as a JSON patch. `test` is not used, because a failed test is a 422 and not the 409 of a conflict.
 */
const conditionalOperations = ({ uid, resourceVersion }: Seen, operations: readonly JsonOperation[]): Json =>
  [
    { op: 'replace', path: '/metadata/uid', value: uid },
    { op: 'replace', path: '/metadata/resourceVersion', value: resourceVersion },
    ...operations,
  ] as unknown as Json;

/** A merge patch that fails with a conflict if the object has changed since it was read. */
function conditional({ uid, resourceVersion }: Seen, merge: Json): Json {
  if (!isObject(merge)) throw new InvariantError('a merge patch must be an object');
  const metadata = isObject(merge['metadata']) ? merge['metadata'] : {};
  return { ...merge, metadata: { ...metadata, uid, resourceVersion } } as Json;
}
