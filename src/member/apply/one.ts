// Applies one manifest: reads the live object, judges it, writes, and returns an outcome. A collision with another
// writer is retried at once; an error that lasts becomes an outcome, so that one object never stops the others.
//
// An object that fails, or that another client keeps changing back or deleting, is applied less and less often: two
// clients that both insist would keep the API server busy. After a change of the Work it is tried once without delay.
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
import { ignoredPaths, mayBeMissing } from '../compare/ignored.ts';
import { missingFields } from './client-side.ts';
import { contendersIn } from './contenders.ts';
import { judge } from './judge.ts';
import type { Identifier } from './manifest.ts';
import type { Dropped, Operation, ServerSideApply, Strategy } from './manner.ts';
import {
  CONTENTION_RESET_MS,
  type Contention,
  failureDelayMs,
  MAX_TRANSIENT_ERRORS,
  type Remembered,
  reapplyDelayMs,
} from './memory.ts';
import {
  applyFailure,
  changedBack,
  changedOnAdmission,
  failedToFind,
  isFieldConflict,
  isMissingNamespace,
  keptLater,
  leftDeleted,
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
  /** Of the manifest and the owner: equal for equal ones. */
  readonly desiredHash: string;
  readonly owner: OwnerReference;
  readonly strategy: Strategy;
  /** What was taken over stays on the member when it is no longer wanted. */
  readonly keeps: boolean;
  /** A namespace that is missing is created. */
  readonly createsNamespace?: boolean;
  /** The status of the object goes into the Work. */
  readonly reportsBack?: boolean;
  /** The Work's status says that it was applied for this order. */
  readonly wasApplied?: boolean;
  isOrphaned(reference: OwnerReference): boolean;
  /** Of references to AppliedWorks: another Work of the binding that hands the object over. */
  isYielded?(reference: OwnerReference): boolean;
  placementOf(reference: OwnerReference): string | undefined;
  bothPlaces?(reference: OwnerReference): string | undefined;
  /** The live object in the watch cache: `uid@resourceVersion` or `absent`; undefined = not known. */
  readonly known: string | undefined;
  readonly context: string;
  readonly before: Remembered | undefined;
  /** The generation of the Work. */
  readonly order: number;
  readonly now: number;
  readonly random: Random;
  /** The live object is read even if nothing seems to have changed. */
  readonly isRecheck: boolean;
}

export const stateOf = (live: Pick<KubeObject, 'metadata'> | undefined): string =>
  live === undefined ? 'absent' : `${live.metadata.uid}@${live.metadata.resourceVersion}`;

const ATTEMPTS = 3;

/** The outcome that still holds; undefined = the live object must be read. */
export function standing(one: One): Remembered | undefined {
  const { before, known, order, now, desiredHash, context } = one;
  if (before === undefined || before.desiredHash !== desiredHash) return undefined;
  if (before.backingOffFor !== undefined && before.backingOffFor !== order) return undefined;
  if (known !== undefined && before.basis !== basisOf(one, known)) return undefined;
  const isWaiting = before.notBefore !== undefined && now < before.notBefore;
  if (before.outcome.refusal !== undefined) return isWaiting && before.context === context ? before : undefined;
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
      if (isTransient(one, error)) return afterTransientError(one);
      return failed(one, one.known ?? 'unknown', refused(one.identifier, failedToFind(one.identifier, error)));
    }
    if (one.strategy.type === 'ReportDiff')
      return { ...remembered(one, stateOf(live), reported(one, live)), failures: 0 };
    if (live === undefined && staysDeleted(one))
      return { ...remembered(one, 'absent', leftDeleted(one.identifier)), failures: 0 };
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
      return done(one, live as KubeObject, 'as it was', fingerprintOf(one, operation, live));
    const stillRefused = refusedStill(one, operation, live);
    if (stillRefused !== undefined) return stillRefused;
    const contention = contentionOf(one);
    if (contention !== undefined && contention.order === one.order && one.now < contention.backOffUntil)
      return backingOff(one, operation, live, contention);
    try {
      const isReapply = contention !== undefined && contention.reapplies > 0;
      const after = await operate(client, one, isReapply ? recordingManagers(one, operation, live) : operation);
      // The write changed nothing: the server filled in the same values again.
      if (stateOf(after) === stateOf(live)) return done(one, after, 'as it was', fingerprintOf(one, operation, after));
      return done(one, after, 'applied', leftAfter(one, after));
    } catch (error) {
      // Another client wrote first, or the response was lost: read the live object again.
      if (isPassing(error) && !isLast) continue;
      if (!isAnswer(error)) throw error;
      if (isTransient(one, error)) return afterTransientError(one);
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
        // After a collision nothing is known about this write.
        isPassing(error) ? undefined : fingerprintOf(one, operation, live),
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

/** It was applied, which a report of its differences does not show, and comparePatches allow it to be missing. */
function staysDeleted({ strategy, wanted, before, desiredHash, wasApplied = false }: One): boolean {
  if (strategy.comparePatches === undefined || !mayBeMissing(strategy.comparePatches, wanted().object)) return false;
  return before === undefined ? wasApplied : before.desiredHash === desiredHash && before.outcome.verdict !== undefined;
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
    // Later removals need field managers. A server that records none of its own process does for server-side apply.
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
 * From this write on, a server that records no field managers of its own process records those of other clients. The
 * next report can then name the one that changes the object.
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

/** Each write requires the state that the previous one left; after a crash in between, the next reconcile restarts. */
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

/** The namespace gets no owner, so it stays when its last object is deleted: others may use it by then. */
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

/** Other errors are not handled here: a stop, a lost lease, and bugs. */
const isAnswer = (error: unknown): boolean => error instanceof ApiError || error instanceof LostError;

function isPassing(error: unknown): boolean {
  if (error instanceof LostError) return true;
  if (!(error instanceof ApiError)) return false;
  return (error.reason === 'Conflict' && !isFieldConflict(error)) || error.reason === 'AlreadyExists';
}

/** The server is busy or unreachable, which for a short time does not change the outcome of an applied object. */
const isTransient = ({ before, desiredHash }: One, error: unknown): boolean =>
  (error instanceof LostError || (error instanceof ApiError && BUSY.includes(error.code))) &&
  before !== undefined &&
  before.desiredHash === desiredHash &&
  before.outcome.refusal === undefined &&
  (before.transientErrors ?? 0) < MAX_TRANSIENT_ERRORS;

const BUSY: readonly number[] = [429, 503, 504];

function afterTransientError(one: One): Remembered {
  const { now, random } = one;
  // If a change of the Work ended a back-off, the object now waits for the server only.
  const { backingOffFor: _backingOffFor, ...before } = one.before as Remembered;
  const transientErrors = (before.transientErrors ?? 0) + 1;
  const basis = basisOf(one, one.known ?? 'unknown');
  return { ...before, basis, transientErrors, notBefore: now + failureDelayMs(transientErrors, random) };
}

/** The remaining difference is how the server stores the manifest: since then no client changed a field of it. */
function isSettled(one: One, operation: Operation, live: KubeObject | undefined): boolean {
  const { before, desiredHash } = one;
  if (before?.fingerprint === undefined || before.desiredHash !== desiredHash || before.outcome.refusal !== undefined)
    return false;
  return before.fingerprint === fingerprintOf(one, operation, live);
}

/** The same write was refused before, and no field that the manifest sets has changed since. */
function refusedStill(one: One, operation: Write, live: KubeObject | undefined): Remembered | undefined {
  const { before, desiredHash, now, context } = one;
  if (before?.outcome.refusal === undefined || before.fingerprint === undefined) return undefined;
  if (before.desiredHash !== desiredHash || before.context !== context || now >= (before.notBefore ?? now))
    return undefined;
  if (before.fingerprint !== fingerprintOf(one, operation, live)) return undefined;
  const outcome = { ...before.outcome, generation: live?.metadata.generation ?? 0 };
  return { ...before, outcome, basis: basisOf(one, stateOf(live)) };
}

/** Only another desired state ends a contention, not a refusal or a transient error. */
const contentionOf = ({ before, desiredHash }: One): Contention | undefined =>
  before?.desiredHash === desiredHash ? before.contention : undefined;

/** A changed object counts as applied, with a note. An object that is absent or lost our owner reference does not. */
function backingOff(
  one: One,
  operation: Write,
  live: KubeObject | undefined,
  { backOffUntil }: Contention,
): Remembered {
  const { before, identifier, order } = one;
  if (operation.do !== 'create' && !operation.takesOver) {
    const fingerprint = before?.outcome.refusal === undefined ? before?.fingerprint : undefined;
    const found = done(one, live as KubeObject, 'as it was', fingerprint);
    // A server-side apply sends the whole manifest, also the fields that are as they should be.
    const change = operation.do === 'patch' ? operation.body : missingIn(one, live as KubeObject);
    const by = contendersIn(live as KubeObject, change);
    const isAltered = by.length === 0 && before?.outcome.cause?.code === 'ChangedOnAdmission';
    const note = isAltered ? alteredOf(one, live as KubeObject) : changedBack(identifier, backOffUntil, by);
    return { ...found, outcome: { ...found.outcome, ...note }, backingOffFor: order };
  }
  const outcome = refused(identifier, undone(identifier, operation.do, backOffUntil), live?.metadata.generation);
  return { ...remembered(one, stateOf(live), outcome), failures: 0, backingOffFor: order, notBefore: backOffUntil };
}

/** The contention is about none of these fields. */
const ignoredBy = ({ strategy, wanted }: One) => ({
  paths: ignoredPaths(strategy.comparePatches, wanted().object),
  areLeft: true,
});

// ---- what is remembered

const basisOf = ({ desiredHash, owner, strategy, keeps, reportsBack = false }: One, state: string): string =>
  [desiredHash, owner.uid, canonicalJson(strategy), keeps, reportsBack, state].join('|');

function remembered(one: One, state: string, outcome: Outcome, fingerprint?: string) {
  const { desiredHash, context } = one;
  const contention = contentionOf(one);
  return {
    outcome,
    basis: basisOf(one, state),
    context,
    desiredHash,
    ...(fingerprint === undefined ? {} : { fingerprint }),
    ...(contention === undefined ? {} : { contention }),
  };
}

function failed(one: One, state: string, outcome: Outcome, fingerprint?: string): Remembered {
  const { before, desiredHash, now, random, context } = one;
  const isAgain =
    before?.outcome.refusal !== undefined && before.desiredHash === desiredHash && before.context === context;
  const failures = isAgain ? before.failures + 1 : 1;
  const notBefore = now + failureDelayMs(failures, random);
  return { ...remembered(one, state, outcome, fingerprint), failures, notBefore };
}

function done(one: One, live: KubeObject, how: 'as it was' | 'applied', fingerprint?: string): Remembered {
  const { identifier, resource, now } = one;
  const { uid, generation = 0 } = live.metadata;
  const outcome: Outcome = {
    identifier,
    verdict: verdictOf(resource, live, one.strategy.ignoreConditions),
    generation,
    ...(one.keeps && isTakenOver(live) ? { note: keptLater(identifier) } : {}),
    ...(uid === undefined ? {} : { uid }),
    ...(how === 'applied' || fingerprint !== undefined ? alteredOf(one, live) : {}),
    ...driftsOf(one, live),
    ...(one.reportsBack && live.status !== undefined
      ? { observedStatus: { apiVersion: live.apiVersion, kind: live.kind, status: live.status } }
      : {}),
  };
  const common = { ...remembered(one, stateOf(live), outcome, fingerprint), failures: 0 };
  const contention = how === 'applied' ? afterWrite(one) : contentionOf(one);
  if (contention === undefined) return common;
  return { ...common, contention, ...(now < contention.backOffUntil ? { notBefore: contention.backOffUntil } : {}) };
}

const missingIn = (one: One, live: KubeObject): JsonObject =>
  missingFields({ resource: one.resource, wanted: one.wanted(), ignored: ignoredBy(one) }, live);

/** Fields of the manifest that the server did not store as they were written. */
function alteredOf(one: One, live: KubeObject): Pick<Outcome, 'note' | 'cause'> {
  const { identifier, wanted, strategy } = one;
  const found = compared(wanted().object, live, 'PartialComparison', strategy.comparePatches);
  return found.length === 0 || isShared(one, live) ? {} : changedOnAdmission(identifier, found);
}

/** Server-side apply keeps the entries of others in a list of a custom object, but lists are compared as a whole. */
const isShared = (one: One, live: KubeObject): boolean =>
  one.strategy.type === 'ServerSideApply' &&
  typeNameOf(one.resource.group, one.resource.version, one.resource.kind) === undefined &&
  contendersIn(live, missingIn(one, live)).length > 0;

/** Differences that are reported of an applied object: with FullComparison or OnRevision. */
function driftsOf({ strategy, wanted }: One, live: KubeObject): Pick<Outcome, 'drifts'> {
  if (strategy.comparisonOption !== 'FullComparison' && strategy.whenToApply !== 'OnRevision') return {};
  const drifts = compared(wanted().object, live, strategy.comparisonOption, strategy.comparePatches);
  return drifts.length === 0 ? {} : { drifts };
}

function afterWrite(one: One): Contention {
  const { now, order, random } = one;
  const former = contentionOf(one);
  if (former === undefined || now - former.appliedAt >= CONTENTION_RESET_MS)
    return { reapplies: 0, appliedAt: now, order, backOffUntil: now };
  const reapplies = former.reapplies + 1;
  return { reapplies, appliedAt: now, order, backOffUntil: now + reapplyDelayMs(reapplies, random) };
}

/** Values that a server fills into a built-in kind are known; an unknown one costs one write that changes nothing. */
function leftAfter(one: One, after: KubeObject): string | undefined {
  const { group, version, kind } = one.resource;
  const left = judge({ ...one, wanted: one.wanted(), live: after });
  if (left.do !== 'apply' && typeNameOf(group, version, kind) !== undefined) return undefined;
  return fingerprintOf(one, left, after);
}

/** Hash of the remaining write and of the fields that the manifest sets; undefined = nothing is left to write. */
function fingerprintOf({ wanted }: One, operation: Operation, live: KubeObject | undefined): string | undefined {
  if ((operation.do !== 'patch' && operation.do !== 'apply') || live === undefined) return undefined;
  const { resourceVersion: _resourceVersion, ...metadata } = operation.body['metadata'] as JsonObject;
  const body = { ...operation.body, metadata };
  if (operation.do === 'patch') return sha256(canonicalJson([body, fieldsSetBy(wanted().object, live)]));
  const { force, foreign, drops } = operation;
  return sha256(canonicalJson([body, fieldsSetBy(body, live), force, foreign, drops]));
}

/** Other clients may add keys to maps, so only keys of the manifest count; lists count as a whole. */
const fieldsSetBy = (manifest: unknown, live: unknown): unknown =>
  isObject(manifest) && isObject(live)
    ? Object.fromEntries(
        Object.keys(manifest)
          .filter((key) => Object.hasOwn(live, key))
          .map((key) => [key, fieldsSetBy(manifest[key], live[key])]),
      )
    : live;
