// One manifest, from the look at the live object to its outcome: resolve, judge, operate. Passing collisions are looked at again at once;
// what lasts becomes an outcome, so that one object never stops the others.
//
// An object that fails is left alone for a while, longer each time, unless something about it changes that could make a difference. One that
// another client keeps changing back or deleting is applied again less and less often, because two clients that both
// insist would keep each other and the API
// server busy for good. A new order of the hub is a request of a user, who may wait for just this object: then it is tried at once, once.
import { typeNameOf } from '../../api/builtin/types.ts';
import type { Resource } from '../../api/kind.ts';
import { annotations, fieldManagers } from '../../api/names.ts';
import type { KubeObject, OwnerReference } from '../../api/object.ts';
import { namespaceResource } from '../../api/resources.ts';
import type { Target } from '../../api/transport.ts';
import { kubeTime } from '../../base/clock.ts';
import { ApiError, LostError } from '../../base/errors.ts';
import { sha256 } from '../../base/hash.ts';
import { canonicalJson, isObject, type Json, type JsonObject } from '../../base/json.ts';
import type { Random } from '../../base/random.ts';
import type { WorkerClient } from '../../runtime/controller.ts';
import { verdictOf } from '../availability/table.ts';
import { compared } from '../compare/compare.ts';
import { missingFields } from './client-side.ts';
import { contendersIn } from './contenders.ts';
import { judge } from './judge.ts';
import type { Identifier } from './manifest.ts';
import type { Dropped, Operation, ServerSideApply, Strategy } from './manner.ts';
import { type Feud, failureDelayMs, fightDelayMs, MAX_TRANSIENT_ERRORS, PEACE_MS, type Remembered } from './memory.ts';
import {
  applyFailure,
  changedBack,
  changedOnAdmission,
  failedToFind,
  isFieldConflict,
  isMissingNamespace,
  keptLater,
  type Outcome,
  refused,
  undone,
} from './outcome.ts';
import { reported } from './report-diff.ts';
import { giveBack, isTakenOver } from './taken-over.ts';
import { targetOf } from './targets.ts';
import type { Wanted } from './wanted.ts';

export interface One {
  readonly identifier: Identifier;
  readonly resource: Resource;
  wanted(): Wanted;
  /** Equal manifests of the same owner have equal ones. */
  readonly wish: string;
  readonly owner: OwnerReference;
  readonly strategy: Strategy;
  /** What was taken over stays on the member when it is no longer wanted. */
  readonly keeps: boolean;
  /** A namespace that is missing is created. */
  readonly createsNamespace?: boolean;
  /** The status of the object goes into the Work. */
  readonly reportsBack?: boolean;
  isOrphaned(reference: OwnerReference): boolean;
  /** Of references to AppliedWorks: another Work of the binding that hands the object over. */
  isYielded?(reference: OwnerReference): boolean;
  placementOf(reference: OwnerReference): string | undefined;
  bothPlaces?(reference: OwnerReference): string | undefined;
  /** The live object as the watch knows it: `uid@resourceVersion` or `absent`; undefined = it does not know. */
  readonly known: string | undefined;
  readonly surroundings: string;
  readonly before: Remembered | undefined;
  /** The generation of the Work. */
  readonly order: number;
  readonly now: number;
  readonly random: Random;
  /** Look, even if nothing seems to have changed. */
  readonly isRecheck: boolean;
}

export const stateOf = (live: Pick<KubeObject, 'metadata'> | undefined): string =>
  live === undefined ? 'absent' : `${live.metadata.uid}@${live.metadata.resourceVersion}`;

const ATTEMPTS = 3;

/** The outcome that still holds; undefined = look. */
export function standing(one: One): Remembered | undefined {
  const { before, known, order, now, wish, surroundings } = one;
  if (before === undefined || before.wish !== wish) return undefined;
  if (before.restsFor !== undefined && before.restsFor !== order) return undefined;
  if (known !== undefined && before.basis !== basisOf(one, known)) return undefined;
  const isWaiting = before.notBefore !== undefined && now < before.notBefore;
  if (before.outcome.refusal !== undefined)
    return isWaiting && before.surroundings === surroundings ? before : undefined;
  const isDue = one.isRecheck || known === undefined || (before.notBefore !== undefined && !isWaiting);
  return isDue ? undefined : before;
}

export async function applyOne(client: WorkerClient, one: One): Promise<Remembered> {
  for (let attempt = 1; ; attempt++) {
    const isLast = attempt === ATTEMPTS;
    let live: KubeObject | undefined;
    try {
      live = await find(client, one);
    } catch (error) {
      if (error instanceof LostError && !isLast) continue;
      if (!isAnswer(error)) throw error;
      if (isHiccup(one, error)) return afterHiccup(one);
      return failed(one, one.known ?? 'unknown', refused(one.identifier, failedToFind(one.identifier, error)));
    }
    if (one.strategy.type === 'ReportDiff')
      return { ...remembered(one, stateOf(live), reported(one, live)), failures: 0 };
    const operation = judge({ ...one, wanted: one.wanted(), live });
    try {
      if (operation.do === 'refuse' && operation.isOurs && live !== undefined)
        await giveBack(client, targetOf(one.resource, one.identifier), live, one.owner);
    } catch (error) {
      if (isPassing(error) && !isLast) continue;
      if (!isAnswer(error)) throw error;
    }
    if (operation.do === 'refuse')
      return failed(one, stateOf(live), refused(one.identifier, operation, live?.metadata.generation));
    if (operation.do === 'nothing' || isSettled(one, operation, live))
      return done(one, live as KubeObject, 'as it was', printOf(one, operation, live));
    const stillRefused = refusedStill(one, operation, live);
    if (stillRefused !== undefined) return stillRefused;
    const feud = feudOf(one);
    if (feud !== undefined && feud.order === one.order && one.now < feud.restUntil)
      return resting(one, operation, live, feud);
    try {
      const isFight = feud !== undefined && feud.fights > 0;
      const after = await operate(client, one, isFight ? recordingManagers(one, operation, live) : operation);
      // What the server had filled in it has filled in again: no client changed it.
      if (stateOf(after) === stateOf(live)) return done(one, after, 'as it was', printOf(one, operation, after));
      return done(one, after, 'applied', leftAfter(one, after));
    } catch (error) {
      // Another client was faster, or the response was lost: the live object decides.
      if (isPassing(error) && !isLast) continue;
      if (!isAnswer(error)) throw error;
      if (isHiccup(one, error)) return afterHiccup(one);
      if (!isLast && (await createdNamespace(client, one, error))) continue;
      return failed(
        one,
        stateOf(live),
        refused(
          one.identifier,
          applyFailure(one.identifier, operation.do, error, {
            managers: operation.do === 'apply' ? operation.foreign : [],
            bytes: () => Buffer.byteLength(JSON.stringify([live, operation])),
          }),
          live?.metadata.generation,
        ),
        // A collision says nothing about what was to be written.
        isPassing(error) ? undefined : printOf(one, operation, live),
      );
    }
  }
}

async function find(client: WorkerClient, { resource, identifier }: One): Promise<KubeObject | undefined> {
  try {
    return (await client.call('member', { verb: 'get', at: targetOf(resource, identifier) })).object;
  } catch (error) {
    if (error instanceof ApiError && error.reason === 'NotFound') return undefined;
    throw error;
  }
}

type Write = Extract<Operation, { do: 'create' | 'patch' | 'apply' }>;

async function operate(client: WorkerClient, { resource, identifier }: One, operation: Write): Promise<KubeObject> {
  const at = targetOf(resource, identifier);
  const manager = fieldManagers.apply;
  if (operation.do === 'create') {
    const { name: _name, ...collection } = at;
    const answer = await client.call('member', { verb: 'create', at: collection, object: operation.object, manager });
    const made = answer.object as KubeObject;
    const isRecorded = made.metadata.managedFields !== undefined || operation.object.metadata.annotations?.[RECORD];
    if (isRecorded) return made;
    // A server that records no managers of its own process records those of server-side apply, and later removals rest on that.
    const { uid, resourceVersion } = made.metadata;
    const body = { ...operation.object, metadata: { ...operation.object.metadata, uid, resourceVersion } };
    const patch = { type: 'apply' as const, body: body as unknown as Json, force: true };
    return (await client.call('member', { verb: 'patch', at, patch, manager })).object as KubeObject;
  }
  if (operation.do === 'apply') return applyServerSide(client, at, operation);
  const { type, body } = operation;
  return (await client.call('member', { verb: 'patch', at, patch: { type, body }, manager })).object as KubeObject;
}

/**
 * A server that records no field managers of its own process records those of other clients from this write on, so that the next report can name
 * the one that changes the object.
 */
function recordingManagers({ now }: One, operation: Write, live: KubeObject | undefined): Write {
  if (operation.do !== 'patch' || live === undefined || live.metadata.managedFields !== undefined) return operation;
  const entry = {
    manager: fieldManagers.apply,
    operation: 'Update',
    apiVersion: live.apiVersion,
    time: kubeTime(now),
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:metadata': { 'f:annotations': { [`f:${annotations.specHash}`]: {} } } },
  };
  const metadata = { ...(operation.body['metadata'] as JsonObject), managedFields: [entry] };
  return { ...operation, body: { ...operation.body, metadata } };
}

const RECORD = annotations.lastApplied;

/** Each write fits only the state that the one before left; after a death in between the next look begins with the first again. */
async function applyServerSide(client: WorkerClient, at: Target, operation: ServerSideApply): Promise<KubeObject> {
  const { body, force, first, drops } = operation;
  const manager = fieldManagers.apply;
  const merged = async (metadata: object, more: Dropped = { type: 'merge', body: {} }) => {
    const patch = { type: more.type, body: { ...more.body, metadata } as unknown as Json };
    return (await client.call('member', { verb: 'patch', at, patch, manager })).object as KubeObject;
  };
  const metadata = body['metadata'] as JsonObject;
  const { uid, resourceVersion } = metadata;
  const moved =
    first === undefined
      ? undefined
      : await merged({ ...(first.body['metadata'] as JsonObject), uid, resourceVersion }, first);
  const fresh = { ...metadata, ...(moved === undefined ? {} : { resourceVersion: moved.metadata.resourceVersion }) };
  const patch = { type: 'apply' as const, body: { ...body, metadata: fresh } as Json, force };
  const after = (await client.call('member', { verb: 'patch', at, patch, manager })).object as KubeObject;
  const { ownerReferences = [] } = after.metadata;
  const kept = ownerReferences.filter((each) => !drops.includes(each.uid));
  if (kept.length === ownerReferences.length) return after;
  return merged({ uid, resourceVersion: after.metadata.resourceVersion, ownerReferences: kept });
}

/** Nothing owns it, so it stays when the last object in it goes: others may use it by then. */
async function createdNamespace(
  client: WorkerClient,
  { createsNamespace, identifier }: One,
  error: unknown,
): Promise<boolean> {
  const { namespace: name } = identifier;
  if (createsNamespace !== true || name === undefined || !isMissingNamespace(error, identifier)) return false;
  const object: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
  try {
    await client.call('member', {
      verb: 'create',
      at: { resource: namespaceResource },
      object,
      manager: fieldManagers.apply,
    });
    return true;
  } catch (refusal) {
    if (!isAnswer(refusal)) throw refusal;
    return isPassing(refusal);
  }
}

/** Not ours to handle: being stopped or fenced, and our own mistakes. */
const isAnswer = (error: unknown): boolean => error instanceof ApiError || error instanceof LostError;

function isPassing(error: unknown): boolean {
  if (error instanceof LostError) return true;
  if (!(error instanceof ApiError)) return false;
  return (error.reason === 'Conflict' && !isFieldConflict(error)) || error.reason === 'AlreadyExists';
}

/** The server had no time, or could not be reached: that says nothing about an object that was as wanted. Not for long, though. */
const isHiccup = ({ before, wish }: One, error: unknown): boolean =>
  (error instanceof LostError || (error instanceof ApiError && BUSY.includes(error.code))) &&
  before !== undefined &&
  before.wish === wish &&
  before.outcome.refusal === undefined &&
  (before.hiccups ?? 0) < MAX_TRANSIENT_ERRORS;

const BUSY: readonly number[] = [429, 503, 504];

function afterHiccup(one: One): Remembered {
  const { now, random } = one;
  // If a new order has ended a rest, it waits for the server now, and no longer for its time.
  const { restsFor: _restsFor, ...before } = one.before as Remembered;
  const hiccups = (before.hiccups ?? 0) + 1;
  const basis = basisOf(one, one.known ?? 'unknown');
  return { ...before, basis, hiccups, notBefore: now + failureDelayMs(hiccups, random) };
}

/** The difference is only how the server writes what we sent: since then no client has touched the fields of the desired state. */
function isSettled(one: One, operation: Operation, live: KubeObject | undefined): boolean {
  const { before, wish } = one;
  if (before?.print === undefined || before.wish !== wish || before.outcome.refusal !== undefined) return false;
  return before.print === printOf(one, operation, live);
}

/** The same write was refused, and what is new about the object, such as its status, is nothing that the wish speaks of. */
function refusedStill(one: One, operation: Write, live: KubeObject | undefined): Remembered | undefined {
  const { before, wish, now, surroundings } = one;
  if (before?.outcome.refusal === undefined || before.print === undefined) return undefined;
  if (before.wish !== wish || before.surroundings !== surroundings || now >= (before.notBefore ?? now))
    return undefined;
  if (before.print !== printOf(one, operation, live)) return undefined;
  const outcome = { ...before.outcome, generation: live?.metadata.generation ?? 0 };
  return { ...before, outcome, basis: basisOf(one, stateOf(live)) };
}

/** Neither a refusal nor a hiccup ends it: only another wish does. */
const feudOf = ({ before, wish }: One): Feud | undefined => (before?.wish === wish ? before.feud : undefined);

/** What we applied is kept, even if another client has changed it since, and reported. What is not there, or no longer ours, is not applied. */
function resting(one: One, operation: Write, live: KubeObject | undefined, { restUntil }: Feud): Remembered {
  const { before, identifier, order } = one;
  if (operation.do !== 'create' && !operation.takesOver) {
    const print = before?.outcome.refusal === undefined ? before?.print : undefined;
    const found = done(one, live as KubeObject, 'as it was', print);
    // A server-side apply sends the whole manifest, and others may own what they did not change.
    const change =
      operation.do === 'patch'
        ? operation.body
        : missingFields({ resource: one.resource, wanted: one.wanted() }, live as KubeObject);
    const by = contendersIn(live as KubeObject, change);
    const isAltered = by.length === 0 && before?.outcome.cause?.code === 'ChangedOnAdmission';
    const said = isAltered ? alteredOf(one, live as KubeObject) : changedBack(identifier, restUntil, by);
    return { ...found, outcome: { ...found.outcome, ...said }, restsFor: order };
  }
  const outcome = refused(identifier, undone(identifier, operation.do, restUntil), live?.metadata.generation);
  return { ...remembered(one, stateOf(live), outcome), failures: 0, restsFor: order, notBefore: restUntil };
}

// ---- what is remembered

const basisOf = ({ wish, owner, strategy, keeps, reportsBack = false }: One, state: string): string =>
  [wish, owner.uid, canonicalJson(strategy), keeps, reportsBack, state].join('|');

function remembered(one: One, state: string, outcome: Outcome, print?: string) {
  const { wish, surroundings } = one;
  const feud = feudOf(one);
  return {
    outcome,
    basis: basisOf(one, state),
    surroundings,
    wish,
    ...(print === undefined ? {} : { print }),
    ...(feud === undefined ? {} : { feud }),
  };
}

function failed(one: One, state: string, outcome: Outcome, print?: string): Remembered {
  const { before, wish, now, random, surroundings } = one;
  const isAgain = before?.outcome.refusal !== undefined && before.wish === wish && before.surroundings === surroundings;
  const failures = isAgain ? before.failures + 1 : 1;
  const notBefore = now + failureDelayMs(failures, random);
  return { ...remembered(one, state, outcome, print), failures, notBefore };
}

function done(one: One, live: KubeObject, how: 'as it was' | 'applied', print?: string): Remembered {
  const { identifier, resource, now } = one;
  const { uid, generation = 0 } = live.metadata;
  const outcome: Outcome = {
    identifier,
    verdict: verdictOf(resource, live),
    generation,
    ...(one.keeps && isTakenOver(live) ? { note: keptLater(identifier) } : {}),
    ...(uid === undefined ? {} : { uid }),
    ...(how === 'applied' || print !== undefined ? alteredOf(one, live) : {}),
    ...driftsOf(one, live),
    ...(one.reportsBack && live.status !== undefined
      ? { observedStatus: { apiVersion: live.apiVersion, kind: live.kind, status: live.status } }
      : {}),
  };
  const common = { ...remembered(one, stateOf(live), outcome, print), failures: 0 };
  const feud = how === 'applied' ? afterWrite(one) : feudOf(one);
  if (feud === undefined) return common;
  return { ...common, feud, ...(now < feud.restUntil ? { notBefore: feud.restUntil } : {}) };
}

/** What the server left of what we wrote, in fields that the manifest sets. */
function alteredOf({ identifier, wanted }: One, live: KubeObject): Pick<Outcome, 'note' | 'cause'> {
  const found = compared(wanted().object, live, 'PartialComparison');
  return found.length === 0 ? {} : changedOnAdmission(identifier, found);
}

/** Applied, and still reported: fields that only the member has with FullComparison, changes of others with OnRevision. */
function driftsOf({ strategy, wanted }: One, live: KubeObject): Pick<Outcome, 'drifts'> {
  if (strategy.comparisonOption !== 'FullComparison' && strategy.whenToApply !== 'OnRevision') return {};
  const drifts = compared(wanted().object, live, strategy.comparisonOption);
  return drifts.length === 0 ? {} : { drifts };
}

function afterWrite(one: One): Feud {
  const { now, order, random } = one;
  const former = feudOf(one);
  if (former === undefined || now - former.appliedAt >= PEACE_MS)
    return { fights: 0, appliedAt: now, order, restUntil: now };
  const fights = former.fights + 1;
  return { fights, appliedAt: now, order, restUntil: now + fightDelayMs(fights, random) };
}

/** What a server fills into a built-in kind is known; should it ever not be, that costs one write which changes nothing. */
function leftAfter(one: One, after: KubeObject): string | undefined {
  const { group, version, kind } = one.resource;
  const left = judge({ ...one, wanted: one.wanted(), live: after });
  if (left.do !== 'apply' && typeNameOf(group, version, kind) !== undefined) return undefined;
  return printOf(one, left, after);
}

/** What is left to do about an object, and of the object what the wish speaks of. Undefined = nothing is left to do. */
function printOf({ wanted }: One, operation: Operation, live: KubeObject | undefined): string | undefined {
  if ((operation.do !== 'patch' && operation.do !== 'apply') || live === undefined) return undefined;
  const { resourceVersion: _resourceVersion, ...metadata } = operation.body['metadata'] as JsonObject;
  const said = [{ ...operation.body, metadata }, spokenOf(operation.body, live)];
  if (operation.do === 'patch') return sha256(canonicalJson([said[0], spokenOf(wanted().object, live)]));
  const { force, foreign, drops } = operation;
  return sha256(canonicalJson([...said, force, foreign, drops]));
}

/** Maps as far as the wish goes, for others may add to them; lists as they are. */
const spokenOf = (wish: unknown, live: unknown): unknown =>
  isObject(wish) && isObject(live)
    ? Object.fromEntries(
        Object.keys(wish)
          .filter((key) => Object.hasOwn(live, key))
          .map((key) => [key, spokenOf(wish[key], live[key])]),
      )
    : live;
