// One reconcile of a Work: ensure the AppliedWork, record the objects that will exist, remove left-overs, apply wave by
// wave, report.
//
// Guarantee: whenever the agent dies, the AppliedWork owns every placed object, and the AppliedWork or the Work's
// status names it; the next reconcile continues from there. A manifest that fails does not stop the others.
import type { AppliedWork } from '../../api/applied-work.ts';
import type { LiveCatalogue } from '../../api/catalogue.ts';
import type { Resource } from '../../api/kind.ts';
import { annotations, finalizers, labels } from '../../api/names.ts';
import { conditionOf } from '../../api/next-condition.ts';
import type { KubeObject, OwnerReference } from '../../api/object.ts';
import type { ManifestCondition, Work, WorkStatus } from '../../api/work.ts';
import { sha256 } from '../../base/hash.ts';
import { canonicalJson } from '../../base/json.ts';
import { lazy } from '../../base/lazy.ts';
import { mapLimit } from '../../base/map-limit.ts';
import type { Random } from '../../base/random.ts';
import type { WorkerClient } from '../../runtime/controller.ts';
import type { TroubledPod } from '../availability/trouble.ts';
import { type HubWork, hubWork } from './hub-work.ts';
import {
  describe,
  type Identifier,
  identityOf,
  inSpec,
  type Order,
  ordersOf,
  placed,
  type Refusal,
  resourceOf,
  unserved,
} from './manifest.ts';
import type { Strategy } from './manner.ts';
import type { MemberView } from './member-view.ts';
import type { Memory } from './memory.ts';
import { applyOne, type One, standing } from './one.ts';
import { type Outcome, refused } from './outcome.ts';
import { AT_A_TIME, prepare } from './preparation.ts';
import { appliedResources, keepRecord, recordOf } from './record.ts';
import type { Siblings } from './siblings.ts';
import { withTrouble } from './starting.ts';
import { summarise, withinSize } from './summarise.ts';
import { keepsTakenOver } from './taken-over.ts';
import { ownerReferenceTo, type Wanted, wantedOf } from './wanted.ts';
import { inWaves, LAST_WAVE, waveOf } from './waves.ts';

export interface PassInput {
  readonly client: WorkerClient;
  readonly onMember: MemberView;
  readonly catalogue: LiveCatalogue;
  readonly random: Random;
  readonly memory: Memory;
  readonly work: Work;
  /** The AppliedWork of this name, of whichever hub. */
  readonly record: AppliedWork | undefined;
  /** For references to other AppliedWorks. */
  isOrphaned(reference: OwnerReference): boolean;
  placementOf(reference: OwnerReference): string | undefined;
  readonly siblings?: Siblings;
  troubledPods(namespace: string): readonly TroubledPod[];
  readonly now: number;
  readonly isRecheck: boolean;
  /** Whether to refresh discovery for kinds that are not known. */
  readonly asksForKinds: boolean;
}

export interface PassEnd {
  readonly outcomes: readonly Outcome[];
  /** The member does not serve the kind of a manifest. */
  readonly lacksKinds: boolean;
  /** An object changed during the reconcile. */
  readonly isOutrun: boolean;
  /** Another Work of the binding must take objects over first. */
  readonly isHandingOver?: boolean;
  readonly refusal?: string;
}

export async function pass(input: PassInput): Promise<PassEnd> {
  const { client, work, now } = input;
  const { name = '', namespace = '', generation = 0 } = work.metadata;
  const orders = await readOrders(input);
  const hub = hubWork(client, work);
  const refuseAll = (refusal: string) => reportRefusal(hub, orders, refusal, { generation, now });

  if (work.spec.applyStrategy?.type === 'ReportDiff') return reportDiff(input, hub, orders);
  if (!work.metadata.finalizers?.includes(finalizers.workCleanup)) {
    await hub.setFinalizers([...(work.metadata.finalizers ?? []), finalizers.workCleanup]);
  }
  const record = await recordOf(client, input.record, name, namespace);
  if (typeof record === 'string') return refuseAll(record);
  const owner = ownerReferenceTo(name, record.metadata.uid ?? '');

  const { staying, kept, handing, remaining } = await prepare(input, { hub, record, owner, orders });
  const { outcomes: applied, ones } = await applyAll(input, orders, owner);
  const outcomes = await Promise.all(applied.map((each) => withTrouble(client, each, input.troubledPods)));
  const all = [...outcomes, ...staying];
  const previous = hub.now.status;
  const status = summarise({ outcomes: all, previous, generation, now });
  await hub.report(withinSize(status, () => restBytes(work), { previous, generation, now }));
  await keepRecord(client, kept, appliedResources(kept.status, outcomes, remaining));
  return {
    outcomes: all,
    lacksKinds: lacks(input, orders),
    isOutrun: ones.some((one) => isOutrun(input, one)),
    isHandingOver: handing.length > 0,
  };
}

/**
 * Nothing is written on the member, not even a record. Records of objects that an earlier strategy placed stay, so that
 * they are handled when the strategy applies again, or deleted with the Work.
 */
async function reportDiff(input: PassInput, hub: HubWork, orders: readonly Order[]): Promise<PassEnd> {
  const { work, now, record } = input;
  const { name = '', generation = 0 } = work.metadata;
  const { outcomes, ones } = await applyAll(input, orders, ownerReferenceTo(name, record?.metadata.uid ?? ''));
  const previous = hub.now.status;
  const named = inSpec(orders);
  const kept = (previous?.manifestConditions ?? []).filter(
    ({ identifier, conditions }) =>
      !named.has(identityOf(identifier)) && conditionOf(conditions, 'Applied') !== undefined,
  );
  const status = summarise({ outcomes, kept, isReport: true, previous, generation, now });
  await hub.report(withinSize(status, () => restBytes(work), { previous, generation, now }));
  return { outcomes, lacksKinds: lacks(input, orders), isOutrun: ones.some((one) => isOutrun(input, one)) };
}

const restBytes = ({ status: _status, ...rest }: Work): number => Buffer.byteLength(JSON.stringify(rest));

const lacks = ({ catalogue }: PassInput, orders: readonly Order[]): boolean =>
  orders.some(({ manifest, identifier }) => manifest !== undefined && resourceOf(catalogue, identifier) === undefined);

/** The cache has a newer state than the one just read, so no further event will wake the Work for it. */
const isOutrun = ({ onMember, memory }: PassInput, one: One): boolean => {
  const known = onMember.known(one.resource, one.identifier);
  const found = memory.get(identityOf(one.identifier));
  return (
    found !== undefined &&
    standing({ ...one, known, before: found, isRecheck: false }) === undefined &&
    known !== undefined
  );
};

async function readOrders(input: PassInput): Promise<readonly Order[]> {
  const orders = ordersOf(input.work.spec.workload?.manifests ?? []);
  if (input.asksForKinds && lacks(input, orders)) await refreshed(input.catalogue);
  return orders.map((order) => {
    const resource = resourceOf(input.catalogue, order.identifier);
    return resource === undefined ? order : { ...order, identifier: placed(order.identifier, resource) };
  });
}

/** If discovery fails, the known kinds stay; a manifest of a missing kind reports it. */
const refreshed = (catalogue: LiveCatalogue): Promise<void> => catalogue.refresh().catch(() => undefined);

// ---- applying

async function applyAll(input: PassInput, orders: readonly Order[], owner: OwnerReference) {
  const { catalogue, memory } = input;
  const outcomes = new Map<number, Outcome>();
  const ones: One[] = [];
  const ready = orders.filter(({ manifest }) => manifest !== undefined);
  for (const { identifier, refusal } of orders) {
    if (refusal !== undefined) outcomes.set(identifier.ordinal, refused(identifier, refusal));
  }
  let hasNewKinds = false;
  const waveIn = ({ identifier }: Order) => {
    const resource = resourceOf(catalogue, identifier);
    return resource === undefined ? LAST_WAVE : waveOf(resource);
  };
  for (const group of inWaves(ready, waveIn)) {
    if (hasNewKinds && lacks(input, group)) await refreshed(catalogue);
    await mapLimit(group, AT_A_TIME, async ({ identifier, manifest }) => {
      const resource = resourceOf(catalogue, identifier);
      const problem =
        resource === undefined
          ? unserved(identifier)
          : wrongScope(identifier, resource, manifest as KubeObject, input.work);
      if (resource === undefined || problem !== undefined) {
        outcomes.set(identifier.ordinal, refused(identifier, problem as Refusal));
        return;
      }
      const one = oneOf(input, {
        identifier: placed(identifier, resource),
        resource,
        manifest: manifest as KubeObject,
        owner,
      });
      ones.push(one);
      const stands = standing(one);
      const found = stands ?? (await applyOne(input.client, one));
      memory.set(identityOf(one.identifier), found);
      outcomes.set(identifier.ordinal, { ...found.outcome, identifier: one.identifier });
      if (stands === undefined && resource.plural === 'customresourcedefinitions') hasNewKinds = true;
    });
  }
  forget(memory, ones);
  return { outcomes: [...outcomes.values()].sort((a, b) => a.identifier.ordinal - b.identifier.ordinal), ones };
}

/** Drops the memory of objects that are no longer in the Work. */
function forget(memory: Memory, ones: readonly One[]): void {
  const named = new Set(ones.map(({ identifier }) => identityOf(identifier)));
  for (const key of memory.keys()) if (!named.has(key) && !key.startsWith('left over|')) memory.delete(key);
}

/**
 * An author may place an object by an envelope only within the envelope's scope, so the kind must have the scope that
 * its namespace implies.
 */
function wrongScope(
  identifier: Identifier,
  { namespaced }: Resource,
  { metadata }: KubeObject,
  work: Work,
): Refusal | undefined {
  if (namespaced && identifier.namespace === undefined)
    return { reason: 'DecodingErred', message: `${describe(identifier)} needs a namespace` };
  const isEnveloped = work.metadata.labels?.[labels.envelopeWork] !== undefined;
  if (!isEnveloped || namespaced || metadata.namespace === undefined || metadata.namespace === '') return undefined;
  const message = `${describe(identifier)} is cluster-scoped and must not have a namespace in an envelope`;
  return { reason: 'DecodingErred', message };
}

interface Parts {
  readonly identifier: Identifier;
  readonly resource: Resource;
  readonly manifest: KubeObject;
  readonly owner: OwnerReference;
}

const strategyOf = ({ spec }: Work): Strategy => {
  const asked = spec.applyStrategy;
  return {
    type: asked?.type ?? 'ClientSideApply',
    comparisonOption: asked?.comparisonOption ?? 'PartialComparison',
    whenToApply: asked?.whenToApply ?? 'Always',
    whenToTakeOver: asked?.whenToTakeOver ?? 'Always',
    allowCoOwnership: asked?.allowCoOwnership ?? false,
    ...(asked?.serverSideApplyConfig === undefined ? {} : { serverSideApplyConfig: asked.serverSideApplyConfig }),
    ...(asked?.comparePatches === undefined ? {} : { comparePatches: asked.comparePatches }),
    ...(asked?.ignoreConditions === undefined ? {} : { ignoreConditions: asked.ignoreConditions }),
  };
};

function oneOf(input: PassInput, { identifier, resource, manifest, owner }: Parts): One {
  const { onMember, work, memory } = input;
  const { wanted, desiredHash } = preparedFor(
    inScope(manifest, resource),
    owner,
    work.spec.applyStrategy?.forceSyncGeneration,
  );
  return {
    identifier,
    resource,
    wanted,
    desiredHash,
    owner,
    strategy: strategyOf(work),
    keeps: keepsTakenOver(work.metadata),
    createsNamespace: createsNamespace(manifest, work),
    reportsBack: work.spec.reportBackStrategy?.type === 'Mirror',
    wasApplied: wasApplied(work, identifier),
    isOrphaned: input.isOrphaned,
    isYielded: (reference) => input.siblings?.yields(reference.name, identifier) ?? false,
    placementOf: input.placementOf,
    bothPlaces: (reference) => input.siblings?.bothPlaces(reference.name),
    known: onMember.known(resource, identifier),
    context: onMember.context(identifier.namespace),
    before: memory.get(identityOf(identifier)),
    order: work.metadata.generation ?? 0,
    now: input.now,
    random: input.random,
    isRecheck: input.isRecheck,
  };
}

/** By an agent before this one, for the order as it is. */
function wasApplied({ metadata, spec, status }: Work, identifier: Identifier): boolean {
  if (spec.applyStrategy?.comparePatches === undefined) return false;
  if (conditionOf(status?.conditions, 'Applied')?.observedGeneration !== metadata.generation) return false;
  const known = status?.manifestConditions?.find((each) => identityOf(each.identifier) === identityOf(identifier));
  return conditionOf(known?.conditions, 'Applied')?.status === 'True';
}

/** A ResourcePlacement must not create its namespace on clusters where the team has none. */
const createsNamespace = ({ metadata }: KubeObject, work: Work): boolean =>
  metadata.annotations?.[annotations.createNamespace] === 'true' &&
  work.metadata.labels?.[labels.parentPlacementNamespace] === undefined;

/** The API server would reject a namespace on a cluster-scoped object. */
function inScope(manifest: KubeObject, { namespaced }: Resource): KubeObject {
  if (namespaced || manifest.metadata.namespace === undefined) return manifest;
  const { namespace: _namespace, ...metadata } = manifest.metadata;
  return { ...manifest, metadata };
}

interface Prepared {
  readonly owner: string;
  readonly force: number;
  readonly wanted: () => Wanted;
  readonly desiredHash: string;
}

/** Manifests are frozen and the same object is passed to every reconcile, so the result is cached by identity. */
const prepared = new WeakMap<KubeObject, Prepared>();

function preparedFor(manifest: KubeObject, owner: OwnerReference, force = 0): Prepared {
  const known = prepared.get(manifest);
  if (known?.owner === owner.uid && known.force === force) return known;
  const fresh = {
    owner: owner.uid,
    force,
    // Most manifests of a new generation are unchanged, and need only the hash.
    wanted: lazy(() => wantedOf(manifest, owner, force)),
    desiredHash: sha256(canonicalJson([owner.uid, manifest, ...(force === 0 ? [] : [force])])),
  };
  prepared.set(manifest, fresh);
  return fresh;
}

// ---- when nothing may be placed

interface At {
  readonly generation: number;
  readonly now: number;
}

/** Every manifest reports the reason. Objects that may already exist stay on record. */
async function reportRefusal(hub: HubWork, orders: readonly Order[], refusal: string, at: At): Promise<PassEnd> {
  const previous: WorkStatus | undefined = hub.now.status;
  const named = inSpec(orders);
  const kept: readonly ManifestCondition[] = (previous?.manifestConditions ?? []).filter(
    ({ identifier }) => !named.has(identityOf(identifier)),
  );
  const outcomes = orders.map((order) =>
    refused(order.identifier, order.refusal ?? { reason: 'ManifestApplyFailed', message: refusal }),
  );
  await hub.report(summarise({ outcomes, kept, refusal, previous, ...at }));
  return { outcomes, lacksKinds: false, isOutrun: false, refusal };
}
