// Orders for one cluster: the Works that its binding asks for, and back on the binding what the member says of them.
// Guarantees: a Work is written only if it differs from what it should be, whatever changed it; the finalizer of a
// binding is removed only when its Works are
// gone, so a successor on the same cluster meets no remnants.
import type { ApplyStrategy, ReportBackStrategy } from '../../api/apply-strategy.ts';
import type { BindingReason } from '../../api/binding.ts';
import type { Condition } from '../../api/conditions.ts';
import { annotations, finalizers, labels } from '../../api/names.ts';
import { conditionOf, nextCondition } from '../../api/next-condition.ts';
import { apiVersionOf, type KubeObject, type ObjectMeta } from '../../api/object.ts';
import type { ResourceSnapshot } from '../../api/resource-snapshot.ts';
import { work } from '../../api/work.ts';
import { canonicalJson, deepEqual, isObject, type Json } from '../../base/json.ts';
import type { JsonOperation } from '../../base/json-patch.ts';
import {
  assertUnchanged,
  create,
  patch,
  patchByOperations,
  patchStatus,
  recordEvent,
  refTo,
  remove,
  seen,
} from '../../runtime/actions.ts';
import { type Action, type Decision, type Failure, idle } from '../../runtime/controller.ts';
import { bindingSentence } from '../bindings/binding-sentences.ts';
import { keptLists } from '../bindings/kept-lists.ts';
import { isLasting } from '../bindings/lasting-failure.ts';
import type { PlacementFamily } from '../families.ts';
import { replacing } from '../orders/order.ts';
import { isReleased, isReleasedByMove, startedOf } from '../orders/release.ts';
import type { HubOverrideSnapshot } from '../overrides/matching.ts';
import type { HubBinding } from '../placement-sources.ts';
import { type HubWork, works as workSource } from '../work-source.ts';
import { type DesiredWork, desiredWorks, type Failed, isFailed, originOf } from './desired.ts';
import { envelopesAsNamed } from './envelope-works.ts';
import { releases, withoutForeign, withoutLabels } from './foreign-metadata.ts';
import { type Said, type Summary, summarise } from './summary.ts';

export interface Observed {
  readonly family: PlacementFamily;
  readonly binding: HubBinding;
  /** Those labelled with the binding, and those that have the names it asks for. */
  readonly works: readonly HubWork[];
  /** The whole group that the binding names; `missing` = the snapshot is gone, `incomplete` = parts are still to come. */
  readonly group: readonly ResourceSnapshot[] | 'missing' | 'incomplete';
  /** Those that the binding names, cluster-scoped ones first; a text = the key of one that does not exist. */
  readonly overrides: readonly HubOverrideSnapshot[] | string;
  readonly isMemberThere: boolean;
  /** It is being deleted: its Works stay until its namespace goes, so what runs there keeps running. */
  readonly isMemberLeaving: boolean;
  /** Another binding is the survivor for its cluster: its Works are not touched but to hand them over. */
  readonly survivor?: HubBinding;
  /** Whether its Works keep what they have taken over; undefined = as they say themselves. */
  readonly keepsTakenOver?: boolean | undefined;
  /** How its Works report back; `as it is` = the placement is gone. */
  readonly reportBack?: ReportBackStrategy | 'as it is' | undefined;
  /** What stopped the last pass over this binding. */
  readonly failure?: Failure;
  readonly now: number;
}

export function decide(observed: Observed): Decision {
  const { binding } = observed;
  if (binding.metadata.deletionTimestamp !== undefined) return cleanUp(observed);
  if (observed.survivor !== undefined)
    return idle(`"${observed.survivor.metadata.name}" is the survivor for its cluster`);
  if (binding.spec.state === 'Scheduled') return idle('the rollout has not reached it');
  if (!observed.isMemberThere) return idle('its member does not exist any more; the scheduler unschedules it');
  if (!hasFinalizer(binding)) return addOwnFinalizer(observed);
  if (binding.spec.state === 'Bound' && !isReleased(binding)) return idle('the rollout has not released it yet');
  if (observed.group === 'incomplete') return idle('parts of its snapshot are still to come');
  if (observed.group === 'missing')
    return withoutSnapshot(observed, `the resource snapshot "${binding.spec.resourceSnapshotName}" does not exist`);
  if (typeof observed.overrides === 'string')
    return withoutSnapshot(observed, `the override snapshot "${observed.overrides}" does not exist`);
  const desired = desiredWorks(binding, observed.group, observed.overrides);
  return isFailed(desired) ? withoutRendering(observed, desired) : order(observed, desired);
}

export const keepsTakenOver = ({ metadata }: { readonly metadata: ObjectMeta }): boolean =>
  metadata.annotations?.[annotations.keepTakenOver] === 'true';

const KEEPING = 'says whether what was taken over is kept';

/** undefined = it says so already. */
const changedKeeping = (known: HubWork, keeps: boolean | undefined): Record<string, string | null> | undefined =>
  keeps === undefined || keepsTakenOver(known) === keeps
    ? undefined
    : { [annotations.keepTakenOver]: keeps ? 'true' : null };

/** A binding is marked only when its placement is deleted; a cluster that is no longer picked is cleaned up, as ever. */
function changedMarks(
  binding: HubBinding,
  known: HubWork,
  keeps: boolean | undefined,
): Record<string, string | null> | undefined {
  const keeping = changedKeeping(known, keeps);
  if (!isAbandoned(binding) || isAbandoned(known)) return keeping;
  return { ...keeping, [annotations.abandon]: 'true' };
}

const isAbandoned = ({ metadata }: { readonly metadata: ObjectMeta }): boolean =>
  metadata.annotations?.[annotations.abandon] === 'true';

const hasFinalizer = ({ metadata }: HubBinding): boolean =>
  metadata.finalizers?.includes(finalizers.workCleanup) ?? false;

function addFinalizer({ bindings }: PlacementFamily, binding: HubBinding): Action {
  const all = [...(binding.metadata.finalizers ?? []), finalizers.workCleanup];
  return patch(seen(bindings, binding), { metadata: { finalizers: all } }, 'will have Works to clean up');
}

function addOwnFinalizer({ family, binding }: Observed): Decision {
  const held = addFinalizer(family, binding);
  return { steps: [[held]], holds: [], because: held.because };
}

/**
 * Differs from KubeFleet: it waits until the Works are gone, not until they are marked. And it removes none of a member that is being deleted, which
 * may be dead: the binding goes, and membership releases the Works with the namespace.
 */
function cleanUp({ family, binding, works, survivor, isMemberLeaving, keepsTakenOver: keeps }: Observed): Decision {
  if (survivor !== undefined) {
    const inherited = works.filter((each) => isOf(binding, each));
    if (inherited.length > 0) return handOver(family, survivor, inherited);
  }
  const own = survivor === undefined && !isMemberLeaving ? works.filter((each) => isCleanedUpWith(binding, each)) : [];
  const live = own.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const untold = live.flatMap((each) => {
    const change = changedMarks(binding, each, keeps);
    return change === undefined ? [] : [patch(seen(workSource, each), { metadata: { annotations: change } }, KEEPING)];
  });
  // The member must know what to keep before the Work goes.
  if (untold.length > 0) return { steps: [untold], holds: [], because: KEEPING };
  if (live.length > 0) {
    const because = `deletes ${live.length} Works`;
    return { steps: [live.map((each) => remove(seen(workSource, each), because))], holds: [], because };
  }
  const released = releases(own);
  if (released.length > 0) return { steps: [released], holds: [], because: released[0]?.because ?? '' };
  if (own.length > 0) {
    const because = `the member is still cleaning up ${own.length} Works`;
    const subject = refTo(family.binding, binding);
    const on = refTo(work, own[0] as HubWork);
    const facts = { works: own.length, cluster: binding.spec.targetCluster };
    return idle(because, {
      holds: [{ code: 'CleaningUp', subject, on, facts, next: 'check the agent of the member' }],
    });
  }
  const left = (binding.metadata.finalizers ?? []).filter((each) => each !== finalizers.workCleanup);
  if (left.length === (binding.metadata.finalizers ?? []).length)
    return idle('another client has a finalizer on the binding');
  const because = isMemberLeaving
    ? 'its member is being deleted; what runs there keeps running'
    : survivor === undefined
      ? 'nothing is left on the cluster'
      : `the objects on the cluster belong to "${survivor.metadata.name}"`;
  return {
    steps: [
      [patch(seen(family.bindings, binding), { metadata: { finalizers: left.length === 0 ? null : left } }, because)],
    ],
    holds: [],
    because,
  };
}

/**
 * Nothing may be on the cluster that no binding answers for: the survivor may not have been told yet what to do, or even that it will have something to
 * clean up.
 */
function handOver(family: PlacementFamily, survivor: HubBinding, inherited: readonly HubWork[]): Decision {
  const because = `"${survivor.metadata.name}" takes over ${inherited.length} Works`;
  const change = { metadata: { labels: { [labels.parentBinding]: survivor.metadata.name } } };
  const held = hasFinalizer(survivor)
    ? assertUnchanged(seen(family.bindings, survivor), `makes sure that "${survivor.metadata.name}" is still there`)
    : addFinalizer(family, survivor);
  return {
    steps: [[held], inherited.map((each) => patch(seen(workSource, each), change, because))],
    holds: [],
    because,
  };
}

const isOf = ({ metadata }: HubBinding, { metadata: { labels: told } }: HubWork): boolean =>
  told?.[labels.parentBinding] === metadata.name && told?.[labels.parentPlacementNamespace] === metadata.namespace;

/** Also the one that has the binding's name for it, but lost its labels: it would else stay for ever. */
export const isCleanedUpWith = (binding: HubBinding, each: HubWork): boolean =>
  isOf(binding, each) || (each.metadata.labels?.[labels.parentBinding] === undefined && !isForeign(binding, each));

/**
 * It has no mark of any hub, and this binding has not had one yet: a user created it by hand, and its objects are that user's. Differs from KubeFleet, where it
 * becomes the placement's.
 */
function isForeign({ conditions }: HubBinding, each: HubWork): boolean {
  const { labels: marks, annotations: notes } = each.metadata;
  const said = conditionOf(conditions, 'WorkSynchronized');
  return (
    notes?.[annotations.orderedBy] === undefined &&
    marks?.[labels.parentBinding] === undefined &&
    marks?.[labels.parentPlacement] === undefined &&
    (said === undefined || said.reason === NOT_MANAGED)
  );
}

const NOT_MANAGED = 'WorkNotManaged' satisfies BindingReason;

const ofSomebodyElse = ({ metadata }: HubWork): string =>
  `Work "${metadata.namespace}/${metadata.name}" exists and is not managed by Flotilla; delete it or rename the placement`;

/** History may have taken the snapshot; Works that carry it already are what they should be. */
function withoutSnapshot(observed: Observed, message: string): Decision {
  const { binding, works } = observed;
  const own = works.filter((each) => isOf(binding, each));
  const origin = originOf(binding);
  const carry = own.filter(({ metadata }) => carries(metadata.annotations, origin));
  const going = own.find(isDeleting);
  if (going !== undefined)
    return whileGoing(observed, going, 'its snapshot does not exist any more, so it cannot be replaced');
  if (own.some((each) => isLater(binding, each))) return idle(REPLACED);
  if (own.length > 0 && carry.length === own.length) {
    const writes = carry.flatMap((each) => wayOf(observed, each));
    return report(observed, writes.length > 0 ? undefined : own, [writes]);
  }
  // Differs from KubeFleet: there this reads as a failed override.
  return notSynchronized(observed, { status: 'False', reason: 'SyncWorkFailed', message });
}

/** What is on the cluster stays as it is until the override is fixed. */
function withoutRendering(observed: Observed, { reason, message }: Failed): Decision {
  if (observed.works.some((each) => isOf(observed.binding, each) && isLater(observed.binding, each)))
    return idle(REPLACED);
  if (reason === 'SyncWorkFailed') return notSynchronized(observed, { status: 'False', reason, message });
  const said: Said = { type: 'Overridden', status: 'False', reason, message };
  const none = { failedPlacements: [], driftedPlacements: [], diffedPlacements: [] };
  return reportSteps(observed, { said: [said], ...none }, []);
}

/** The apply strategy is on the binding, and does not need the snapshot. */
function wayOf({ binding: { metadata, spec }, reportBack, now }: Observed, known: HubWork): readonly Action[] {
  const change = changedWay(known, spec.applyStrategy, reportBack);
  if (Object.keys(change).length === 0) return [];
  const marks = { annotations: { [annotations.orderedBy]: orderBy(metadata, now) } };
  return [patch(seen(workSource, known), { metadata: marks, spec: change }, upToDate(known.metadata.name))];
}

/** Its objects are deleted with it, whatever deleted it: until it exists again this cluster must not count as available. */
const whileGoing = (observed: Observed, { metadata }: Pick<HubWork, 'metadata'>, then: string): Decision =>
  notSynchronized(observed, {
    status: 'Unknown',
    reason: 'WorkSynchronizedUnknown',
    message: `Work "${metadata.namespace}/${metadata.name}" is being deleted; ${then}`,
  });

const besideForeign = (observed: Observed, foreign: HubWork): Decision =>
  notSynchronized(observed, { status: 'False', reason: NOT_MANAGED, message: ofSomebodyElse(foreign) });

function notSynchronized(observed: Observed, why: Omit<Said, 'type'>): Decision {
  const said: Said = { type: 'WorkSynchronized', ...why };
  return reportSteps(observed, { said: [said], failedPlacements: [], driftedPlacements: [], diffedPlacements: [] }, []);
}

const isDeleting = ({ metadata }: HubWork): boolean => metadata.deletionTimestamp !== undefined;

function order(observed: Observed, asked: readonly DesiredWork[]): Decision {
  const { binding, works } = observed;
  const { desired, duplicates } = envelopesAsNamed(
    asked,
    works.filter((each) => isOf(binding, each) && !isDeleting(each)),
  );
  const byName = new Map(works.map((each) => [each.metadata.name ?? '', each]));
  const going = desired.map(({ name }) => byName.get(name)).find((each) => each !== undefined && isDeleting(each));
  if (going !== undefined) {
    const released = releases([going]);
    if (released.length > 0) return { steps: [released], holds: [], because: released[0]?.because ?? '' };
    return whileGoing(observed, going, 'it is created again when it is deleted');
  }
  if (desired.some(({ name }) => isLater(binding, byName.get(name)))) return idle(REPLACED);
  const foreign = desired
    .map(({ name }) => byName.get(name))
    .find((each) => each !== undefined && isForeign(binding, each));
  if (foreign !== undefined) return besideForeign(observed, foreign);
  const writes = desired.flatMap((each) => write(observed, each, byName.get(each.name)));
  const wanted = new Set(desired.map(({ name }) => name));
  const extra = works.filter(
    (each) =>
      !observed.isMemberLeaving &&
      isOf(binding, each) &&
      !wanted.has(each.metadata.name ?? '') &&
      each.metadata.deletionTimestamp === undefined,
  );
  const taken = extra.map((each) => remove(seen(workSource, each), 'no longer part of the desired state'));
  const refused = writes.length + taken.length > 0 ? refusal(observed) : undefined;
  if (refused !== undefined) return refused;
  const present = desired.flatMap(({ name }) => byName.get(name) ?? []);
  // A stale hub would create a Work for a deleted binding, and no controller would ever delete it.
  const sure = writes.some((each) => each.do === 'create')
    ? [assertUnchanged(seen(observed.family.bindings, binding), 'makes sure that the binding is still there')]
    : [];
  // New Works first: an object that moves into one must be named there before the Work it leaves stops naming it.
  const made = writes.filter((each) => each.do === 'create');
  const changed = writes.filter((each) => each.do !== 'create');
  const told = duplicates.map((message) =>
    recordEvent(observed.family.bindings, binding, { type: 'Warning', reason: 'DuplicateEnvelopeWorks', message }),
  );
  return report(observed, writes.length > 0 ? undefined : present, [sure, made, changed, taken, told]);
}

/**
 * What the hub's own server did not take is said once; then it is tried again. Not of a cluster that is given up: it has what it had, and would
 * be taken for one that does not work.
 */
function refusal(observed: Observed): Decision | undefined {
  const { failure, binding } = observed;
  if (failure === undefined || !isLasting(failure) || binding.spec.state !== 'Bound') return undefined;
  const message = `cannot write the Work for cluster "${binding.spec.targetCluster}": ${failure.message}`;
  const said = notSynchronized(observed, { status: 'False', reason: 'SyncWorkFailed', message });
  return said.steps.length > 0 ? said : undefined;
}

/** Something that the member has to act on, or a request without effect. */
const isOrder = (action: Action): boolean =>
  action.do === 'create' ||
  action.do === 'json-patch' ||
  action.do === 'delete' ||
  (action.do === 'patch' && isObject(action.merge) && (action.merge['spec'] !== undefined || isEmpty(action.merge)));

const isEmpty = (merge: object): boolean => Object.keys(merge).length === 0;

const REPLACED = 'a later generation of this binding has been written; its event will follow';

/** Who is behind would bring back an order that has been replaced. */
function isLater(binding: HubBinding, known: HubWork | undefined): boolean {
  const ordered = known === undefined ? Number.POSITIVE_INFINITY : orderedIn(binding, known);
  return Number.isFinite(ordered) && ordered > (binding.metadata.generation ?? 0);
}

const orderBy = ({ uid, generation = 0 }: ObjectMeta, now: number): string => `${uid}/${generation}/${now}`;

const upToDate = (name: string | undefined): string => `brings Work "${name}" up to date`;

function write(observed: Observed, desired: DesiredWork, known: HubWork | undefined): readonly Action[] {
  const { name, namespace, content, strategy } = desired;
  const { keepsTakenOver: keeps } = observed;
  const keeping = known === undefined ? keeps && { [annotations.keepTakenOver]: 'true' } : changedKeeping(known, keeps);
  const marks = {
    labels: desired.labels,
    annotations: {
      ...desired.annotations,
      ...keeping,
      [annotations.orderedBy]: orderBy(observed.binding.metadata, observed.now),
    },
  };
  const specOf = () => ({
    workload: { manifests: desired.manifests() },
    ...(strategy === undefined ? {} : { applyStrategy: strategy }),
    ...reportedBack(observed.reportBack, known),
  });
  if (known === undefined) {
    const object: KubeObject = {
      apiVersion: apiVersionOf(work.group, work.version),
      kind: work.kind,
      metadata: { name, namespace, ...(marks as Pick<ObjectMeta, 'labels' | 'annotations'>) },
      spec: specOf(),
    };
    return [create('hub', work, object, `creates Work "${name}"`)];
  }
  const isSameContent = known.content === content;
  const way = changedWay(known, strategy, observed.reportBack);
  const isSameWay = Object.keys(way).length === 0;
  // The generation alone is not worth a write.
  const isMarked =
    keeping === undefined &&
    carries(known.metadata.labels, desired.labels) &&
    !isOfOtherScope(known, desired) &&
    carries(known.metadata.annotations, desired.annotations);
  const foreign = withoutForeign(known.metadata);
  const foreignLabels = withoutLabels(known.metadata.labels, desired.labels);
  const isForeignFree = Object.keys(foreign).length + Object.keys(foreignLabels).length === 0;
  if (isSameContent && isSameWay && isMarked && isForeignFree) return [];
  const of = seen(workSource, known);
  if (!isSameContent) {
    // By JSON patch: a merge patch would drop nulls from the manifests. Foreign finalizers and owners are left to the next reconcile.
    const operations: readonly JsonOperation[] = [
      { op: 'add', path: '/metadata/labels', value: marks.labels },
      {
        op: 'add',
        path: '/metadata/annotations',
        value: withoutNulls({ ...known.metadata.annotations, ...marks.annotations }),
      },
      { op: 'add', path: '/spec', value: specOf() as unknown as Json },
    ];
    return [patchByOperations(of, operations, upToDate(name))];
  }
  const metadata = { ...marks, labels: { ...marks.labels, ...foreignLabels }, ...foreign };
  return [patch(of, { metadata, ...(isSameWay ? {} : { spec: way }) }, upToDate(name))];
}

/** A JSON patch replaces the map: an entry that goes is left out. */
const withoutNulls = (map: Readonly<Record<string, string | null>>): Record<string, string> =>
  Object.fromEntries(Object.entries(map).flatMap(([key, value]) => (value === null ? [] : [[key, value]])));

/** It says that it is of a placement in a namespace, and is of one without: those who look after the others would take it away. */
const isOfOtherScope = ({ metadata }: HubWork, desired: DesiredWork): boolean =>
  metadata.labels?.[labels.parentPlacementNamespace] !== undefined &&
  desired.labels[labels.parentPlacementNamespace] === undefined;

const carries = (
  has: Readonly<Record<string, string>> | undefined,
  wanted: Readonly<Record<string, string>>,
): boolean => Object.entries(wanted).every(([name, value]) => has?.[name] === value);

/** All of the order but the manifests: what of it must change. */
const changedWay = (known: HubWork, strategy: DesiredWork['strategy'], reportBack: Observed['reportBack']): object => ({
  ...(known.strategy === (strategy === undefined ? '' : canonicalJson(strategy))
    ? {}
    : { applyStrategy: strategyPatch(known.strategy, strategy) }),
  ...(reportBack === 'as it is' || known.reportBack === (reportBack && canonicalJson(reportBack))
    ? {}
    : { reportBackStrategy: reportBack ?? null }),
});

/** A JSON patch replaces the spec: what stays is repeated. */
const reportedBack = (reportBack: Observed['reportBack'], known: HubWork | undefined): object => {
  const kept = known?.reportBack === undefined ? undefined : JSON.parse(known.reportBack);
  const wanted = reportBack === 'as it is' ? kept : reportBack;
  return wanted === undefined ? {} : { reportBackStrategy: wanted };
};

function strategyPatch(known: string, strategy: DesiredWork['strategy']): object | null {
  return strategy === undefined
    ? null
    : replacing(known === '' ? undefined : (JSON.parse(known) as ApplyStrategy), strategy);
}

const synced = (reason: 'AllWorkSynced' | 'NoOverrideSpecified' | 'OverriddenSucceeded', type: Said['type']): Said => ({
  type,
  status: 'True',
  reason,
  message: bindingSentence(reason),
});

/** How long a member may take to answer before its binding says that it has not: most answer sooner, and that is one write less. */
export const ANSWER_MS = 500;

/** `present`: the Works as they should be; undefined while they are being written, because no report on them can exist yet. */
function report(
  observed: Observed,
  present: readonly HubWork[] | undefined,
  steps: readonly (readonly Action[])[],
): Decision {
  const { now } = observed;
  const written = steps.flat();
  if (present === undefined) {
    // What comes next is the member's answer, unless the order is one that it has answered already.
    const again = written.every(isOrder) ? { again: 'later' as const, wakeAt: now + ANSWER_MS } : {};
    const because = written.at(-1)?.because ?? '';
    return { steps: steps.filter((step) => step.length > 0), holds: [], ...again, because };
  }
  const summary = summarise(present, observed.binding.spec.applyStrategy?.type === 'ReportDiff');
  const due = isAnswered(summary) ? now : answerDue(present, now);
  if (now < due) {
    const because = 'the member has not answered yet';
    return { steps: steps.filter((step) => step.length > 0), holds: [], wakeAt: due, because };
  }
  return reportSteps(
    observed,
    { ...summary, said: [synced('AllWorkSynced', 'WorkSynchronized'), ...summary.said] },
    steps,
  );
}

const isAnswered = ({ said }: Summary): boolean => !said.some(({ reason }) => UNANSWERED.includes(reason));

const UNANSWERED: readonly string[] = ['ApplyInProgress', 'DiffReportInProgress'];

/** The last of them was ordered at most ANSWER_MS before that; if the clock was set back, as if just now. */
function answerDue(works: readonly HubWork[], now: number): number {
  const ordered = works.map(({ metadata }) =>
    Number(metadata.annotations?.[annotations.orderedBy]?.split('/')[2] ?? 0),
  );
  return Math.min(now, Math.max(0, ...ordered.filter(Number.isFinite))) + ANSWER_MS;
}

const OURS: readonly string[] = ['Overridden', 'WorkSynchronized', 'Applied', 'Available', 'DiffReported'];

function reportSteps(observed: Observed, summary: Summary, steps: readonly (readonly Action[])[]): Decision {
  const { family, binding, now } = observed;
  const { generation } = binding.metadata;
  const isOverridden = summary.said.some(({ type }) => type === 'Overridden');
  const said = [...(isOverridden ? [] : [overriddenOf(binding)]), ...summary.said];
  const conditions = said.map((finding): Condition => {
    const old = binding.conditions.find(({ type }) => type === finding.type);
    return nextCondition(
      old !== undefined && isOfAnotherOrder(observed, old) ? undefined : old,
      { ...finding, ...(generation === undefined ? {} : { observedGeneration: generation }) },
      now,
    );
  });
  const started = startedBy(binding, now);
  const others = binding.conditions.filter(({ type }) => !OURS.includes(type) && type !== started?.type);
  const before = {
    conditions: binding.conditions.filter(({ type }) => OURS.includes(type)).toSorted(inOrder),
    failedPlacements: binding.failedPlacements,
    driftedPlacements: binding.driftedPlacements,
    diffedPlacements: binding.diffedPlacements,
    detailsDigest: binding.detailsDigest,
  };
  const { failedPlacements, driftedPlacements, diffedPlacements } = summary;
  const after = { conditions, ...keptLists(summary) };
  const last = conditions.at(-1);
  const because = `${last?.type} is ${last?.status}: ${last?.reason}`;
  if (deepEqual(before, after) && started === undefined)
    return { steps: steps.filter((step) => step.length > 0), holds: [], because };
  const status = {
    conditions: [...(started === undefined ? [] : [started]), ...others, ...conditions],
    failedPlacements: orNull(failedPlacements),
    driftedPlacements: orNull(driftedPlacements),
    diffedPlacements: orNull(diffedPlacements),
  };
  return {
    steps: [...steps, [patchStatus(seen(family.bindings, binding), status, because)]].filter((step) => step.length > 0),
    holds: [],
    because,
  };
}

function overriddenOf({ spec }: HubBinding): Said {
  const { clusterResourceOverrideSnapshots: wide = [], resourceOverrideSnapshots: narrow = [] } = spec;
  return synced(wide.length + narrow.length === 0 ? 'NoOverrideSpecified' : 'OverriddenSucceeded', 'Overridden');
}

/** RolloutStarted, if the move has released the binding and it has not been reported yet. */
function startedBy(binding: HubBinding, now: number): Condition | undefined {
  if (startedOf(binding) !== undefined || !isReleasedByMove(binding)) return undefined;
  const finding = {
    type: 'RolloutStarted',
    status: 'True',
    reason: 'RolloutStarted',
    message: bindingSentence('RolloutStarted'),
    observedGeneration: binding.metadata.generation ?? 0,
  } as const;
  return nextCondition(conditionOf(binding.conditions, 'RolloutStarted'), finding, now);
}

/**
 * What was available before this order proves nothing about it. Otherwise the time of a cluster that cannot be tracked would
 * count from the order before. A generation that changed no Work, as that
 * of another policy by which the cluster is picked all the same, is no other order: what is told of it is as old as it is.
 */
const isOfAnotherOrder = ({ binding, works }: Observed, { type, observedGeneration = 0 }: Condition): boolean =>
  (type === 'Available' || type === 'Applied' || type === 'DiffReported') &&
  binding.spec.state === 'Bound' &&
  observedGeneration !== binding.metadata.generation &&
  works.some((each) => isOf(binding, each) && orderedIn(binding, each) > observedGeneration);

/** The generation of the binding by which the Work was written last; unknown = later than any. */
function orderedIn({ metadata: { uid } }: HubBinding, { metadata }: HubWork): number {
  const [by, of] = metadata.annotations?.[annotations.orderedBy]?.split('/') ?? [];
  return by === uid && of !== undefined ? Number(of) : Number.POSITIVE_INFINITY;
}

const orNull = <T>(list: readonly T[]): readonly T[] | null => (list.length === 0 ? null : list);

const inOrder = (a: Condition, b: Condition): number => OURS.indexOf(a.type) - OURS.indexOf(b.type);
