// The scheduler: turns the policy, members and existing bindings of a placement into bindings, decisions and the
// Scheduled condition.
//
// This file has the writes, their order, and the clean-up. cycle.ts and plugins/ pick the clusters, report.ts has the
// status of the policy snapshot, affected.ts the affected placements, settled.ts when no cycle is needed. Guarantee: a
// crash after any prefix of the steps is safe: new bindings are written before old ones are unscheduled, and the status
// is written last.
import { isAbandoning } from '../../api/admission-warnings.ts';
import { annotations, finalizers, labels } from '../../api/names.ts';
import { apiVersionOf, type KubeObject } from '../../api/object.ts';
import type { SpecProblem } from '../../api/spec-problem.ts';
import { messageOf, UserError } from '../../base/errors.ts';
import { assertUnchanged, create, patch, patchStatus, remove, seen } from '../../runtime/actions.ts';
import { type Action, type Decision, type Failure, idle } from '../../runtime/controller.ts';
import { isLasting } from '../bindings/lasting-failure.ts';
import { ORPHAN_GRACE_MS } from '../bindings/orphan-grace.ts';
import type { PlacementFamily } from '../families.ts';
import { type HubBinding, type HubPlacement, type HubPolicySnapshot, isMarked } from '../placement-sources.ts';
import { clusterOf, type Duplicate, stateBefore } from './bindings.ts';
import { type CycleInput, cycle, type Outcome, type Picked } from './cycle.ts';
import { newBindingName } from './names.ts';
import { reportOf, reportOfTrouble } from './report.ts';
import { stands } from './settled.ts';

export interface Observed {
  /** Absent = deleted. */
  readonly placement?: HubPlacement;
  /** Policy snapshots that are labeled as the latest. */
  readonly snapshots: readonly HubPolicySnapshot[];
  readonly bindings: readonly HubBinding[];
  readonly members: CycleInput['members'];
  /** Leaving members that still have a binding, by cluster: when each counts as deleted. */
  readonly leaving: ReadonlyMap<string, number>;
  /** Why the spec is invalid: the placement gets no clusters. */
  readonly specProblem?: SpecProblem;
  /** The policy names ClusterGroups, and they cannot be read. */
  readonly lacksGroups?: true;
  readonly failure?: Failure;
  /**
   * The last run found nothing to do, and nothing that a run reads has changed since; false = it has, or it is unknown.
   */
  readonly isSettled: boolean;
  readonly now: number;
}

type Step = readonly Action[];

export const decideFor =
  (family: PlacementFamily) =>
  (observed: Observed): Decision => {
    const { placement, bindings } = observed;
    // A binding that is being deleted (by an eviction, by the rollout) waits for this finalizer to be removed.
    const released = release(family, bindings);
    if (placement === undefined) return clearAway(family, observed, released);
    const unmarked = bindings.filter((binding) => !isMarked(binding));
    if (unmarked.length > 0) return mark(family, placement, unmarked);
    if (placement.metadata.deletionTimestamp !== undefined) {
      return cleanUp(family, placement, bindings);
    }
    const snapshot = policyIn(observed);
    if (typeof snapshot === 'string') return decision([released], snapshot);
    return untilGone(observed, schedule(family, { ...observed, placement, snapshot }, released));
  };

/** Members are being deleted, and none of them counts as deleted yet. */
const stillLeaving = ({ leaving, now }: Observed): boolean =>
  leaving.size > 0 && [...leaving.values()].every((from) => from > now);

/** Requeues when the next leaving member counts as deleted. */
function untilGone({ leaving, now }: Observed, decided: Decision): Decision {
  const moments = [...leaving.values()].filter((from) => from > now);
  return moments.length === 0 ? decided : { ...decided, wakeAt: Math.min(...moments, decided.wakeAt ?? Infinity) };
}

/** Without the label no controller would find them: they would never change, and outlive the placement. */
function mark(family: PlacementFamily, { metadata }: HubPlacement, unmarked: readonly HubBinding[]): Decision {
  const change = { metadata: { labels: { [labels.parentPlacement]: metadata.name ?? '' } } };
  const because = 'another client removed the placement label from bindings';
  return decision([unmarked.map((binding) => patch(seen(family.bindings, binding), change, because))], because);
}

/** The policy to schedule by, or why there is none. */
function policyIn({ snapshots, specProblem, lacksGroups }: Observed): HubPolicySnapshot | string {
  if (specProblem !== undefined) return `not scheduled: ${specProblem.message}`;
  if (lacksGroups === true) return 'not scheduled: ClusterGroups cannot be read';
  const [snapshot] = snapshots;
  if (snapshot === undefined) return 'no policy snapshot yet; its creation wakes us';
  return snapshots.length > 1 ? 'several policy snapshots say that they are the latest' : snapshot;
}

/** Whether the decision comes from a scheduling run, or from one that need not be repeated. */
export const isScheduled = (observed: Observed): boolean =>
  observed.placement !== undefined &&
  observed.placement.metadata.deletionTimestamp === undefined &&
  typeof policyIn(observed) !== 'string';

const decision = (steps: readonly Step[], because: string): Decision => {
  const filled = steps.filter((step) => step.length > 0);
  return filled.length === 0 ? idle(because) : { steps: filled, holds: [], because };
};

// ---- scheduling

interface Scheduling extends Observed {
  readonly placement: HubPlacement;
  readonly snapshot: HubPolicySnapshot;
}

function schedule(family: PlacementFamily, observed: Scheduling, released: Step): Decision {
  const { snapshot, failure, now } = observed;
  const generation = countIn(snapshot, annotations.placementGeneration);
  const report = { snapshot, generation: generation ?? snapshot.status?.observedCRPGeneration ?? 0, now };
  const troubled = (cause: string): Decision => {
    const status = reportOfTrouble(cause, report);
    return decision([released, ...statusStep(family, snapshot, status, cause)], `cannot schedule: ${cause}`);
  };

  if (failure !== undefined && isLasting(failure)) {
    // Reported once; then the write is retried.
    const { steps, because } = troubled(failure.message);
    if (steps.length > 0) return { steps, holds: [], because };
  }
  if (generation === undefined) return troubled(`annotation ${annotations.placementGeneration} is no number`);
  const numberOfClusters = countIn(snapshot, annotations.numberOfClusters);
  if (snapshot.spec.policy?.placementType === 'PickN' && numberOfClusters === undefined) {
    return troubled(`annotation ${annotations.numberOfClusters} is no number`);
  }

  // A reachable member that is being deleted keeps its placements, so it is no reason for a run either.
  if (observed.isSettled && (stillLeaving(observed) || stands({ ...observed, numberOfClusters }))) {
    const because = 'nothing has happened that a run looks at: only the generation is followed';
    const isFollowed = snapshot.status?.observedCRPGeneration === generation;
    const status = isFollowed ? undefined : { observedCRPGeneration: generation };
    return decision([released, ...statusStep(family, snapshot, status, because)], because);
  }

  let outcome: Outcome;
  try {
    outcome = cycle(cycleInput(observed, numberOfClusters ?? 0));
  } catch (error) {
    if (error instanceof UserError) return troubled(messageOf(error));
    throw error;
  }
  const { creates, patches } = bindingSteps(family, observed, outcome);
  const unscheduled = outcome.unschedule.map((binding) => unschedule(family, binding));
  const { found, wanted } = outcome;
  const because = `${found} of ${wanted} clusters: ${creates.length} new, ${patches.length} taken over, ${unscheduled.length} given up`;
  const hold = held(family, observed.placement);
  const isNew = hold.length > 0;
  // For a new placement, the conditional write of the finalizer proves that it is still this one.
  const sure = unscheduled.length + (isNew ? 0 : creates.length) === 0 ? [] : certain(family, snapshot);
  const told = statusStep(family, snapshot, reportOf(outcome, report), because);
  const ended = outcome.duplicates.length === 0 ? [] : endDuplicates(family, outcome.duplicates);
  // Bindings of a predecessor are handled before the finalizer is added, because the finalizer means that there are
  // none left.
  const steps = isNew
    ? [released, ...ended, patches, sure, unscheduled, hold, creates, ...told]
    : [released, ...ended, sure, creates, patches, unscheduled, ...told];
  return decision(steps, because);
}

/**
 * A duplicate's objects belong to the survivor, so it is marked before it is deleted: the work generator then hands its
 * objects over without deleting them. Without the check, a hub with a stale cache would delete the only binding that is
 * left.
 */
function endDuplicates({ bindings }: PlacementFamily, duplicates: readonly Duplicate[]): readonly Step[] {
  const survivors = [...new Set(duplicates.map(({ survivor }) => survivor))];
  return [
    survivors.map((survivor) =>
      assertUnchanged(seen(bindings, survivor), `makes sure that "${survivor.metadata.name}" is still there`),
    ),
    duplicates.map(({ binding, survivor }) => {
      const because = `"${survivor.metadata.name}" is also bound to "${clusterOf(binding)}"`;
      const mark = { [annotations.twinOf]: survivor.metadata.name ?? '' };
      return binding.metadata.annotations?.[annotations.twinOf] === survivor.metadata.name
        ? remove(seen(bindings, binding), because)
        : patch(seen(bindings, binding), { metadata: { annotations: mark } }, because);
    }),
  ];
}

/** A hub with a stale cache would schedule by an outdated policy, or for a deleted placement of the same name. */
const certain = ({ policySnapshots }: PlacementFamily, snapshot: HubPolicySnapshot): Step => [
  assertUnchanged(seen(policySnapshots, snapshot), 'makes sure that the policy is still this one'),
];

const cycleInput = ({ placement, snapshot, members, bindings, now }: Scheduling, numberOfClusters: number) => ({
  policy: snapshot.spec.policy,
  numberOfClusters,
  // Before our finalizer is on the placement, nothing was picked for it: bindings and policies of these names belong to
  // a predecessor of the same name.
  snapshot: placement.metadata.finalizers?.includes(finalizers.schedulerCleanup) ? (snapshot.metadata.name ?? '') : '',
  ...(placement.metadata.namespace === undefined ? {} : { namespace: placement.metadata.namespace }),
  members,
  bindings,
  now,
});

function countIn({ metadata }: HubPolicySnapshot, annotation: string): number | undefined {
  const text = metadata.annotations?.[annotation];
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

const statusStep = (
  family: PlacementFamily,
  snapshot: HubPolicySnapshot,
  status: object | undefined,
  because: string,
): readonly Step[] =>
  status === undefined ? [] : [[patchStatus(seen(family.policySnapshots, snapshot), status, because)]];

// ---- finalizers

/** No binding is created before the finalizer is on the placement; otherwise it could be deleted without a clean-up. */
function held({ placements }: PlacementFamily, placement: HubPlacement): Step {
  const { finalizers: present = [] } = placement.metadata;
  if (present.includes(finalizers.schedulerCleanup)) return [];
  const merge = { metadata: { finalizers: [...present, finalizers.schedulerCleanup] } };
  return [patch(seen(placements, placement), merge, 'deletes the bindings before the placement')];
}

const release = ({ bindings: source }: PlacementFamily, bindings: readonly HubBinding[]): Step =>
  bindings
    .filter(({ metadata }) => metadata.deletionTimestamp !== undefined && isHeld(metadata.finalizers))
    .map((binding) =>
      patch(
        seen(source, binding),
        { metadata: { finalizers: without(binding.metadata.finalizers, finalizers.schedulerBindingCleanup) } },
        `removes the finalizer from the deleted binding to "${clusterOf(binding)}"`,
      ),
    );

const isHeld = (present: readonly string[] | undefined): boolean =>
  present?.includes(finalizers.schedulerBindingCleanup) ?? false;

const without = (present: readonly string[] | undefined, finalizer: string): readonly string[] =>
  (present ?? []).filter((each) => each !== finalizer);

/**
 * Created for a placement that was deleted at the same time, before it got the finalizer. No other controller would
 * delete it.
 */
export const isStranded = ({ metadata }: HubBinding): boolean =>
  metadata.deletionTimestamp === undefined && isHeld(metadata.finalizers);

function clearAway(family: PlacementFamily, { bindings, now }: Observed, released: Step): Decision {
  const orphaned = bindings
    .filter(isStranded)
    .map((binding) => ({ binding, until: Date.parse(binding.metadata.creationTimestamp ?? '') + ORPHAN_GRACE_MS }));
  const over = orphaned.filter(({ until }) => !(now < until));
  const ends = orphaned.map(({ until }) => until).filter((until) => now < until);
  const removed = over.map(({ binding }) =>
    remove(seen(family.bindings, binding), `the placement of "${clusterOf(binding)}" does not exist any more`),
  );
  return {
    ...decision([released, removed], 'the placement does not exist any more'),
    ...(ends.length === 0 ? {} : { wakeAt: Math.min(...ends) }),
  };
}

/**
 * All bindings are deleted, then their finalizers are removed, then that of the placement. This does not wait for the
 * Works: the work generator has its own finalizer on the bindings.
 */
function cleanUp(family: PlacementFamily, placement: HubPlacement, bindings: readonly HubBinding[]): Decision {
  const { finalizers: present } = placement.metadata;
  if (!present?.includes(finalizers.schedulerCleanup)) {
    return decision(
      [release(family, bindings)],
      'the placement is being deleted, and it has no finalizer of the scheduler',
    );
  }
  const standing = bindings.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const because = `the placement is being deleted: ${bindings.length} bindings`;
  if (standing.length > 0) {
    // The placement may be deleted before the Works are, so the bindings record which objects to keep.
    const marks: readonly string[] = [
      ...(placement.metadata.annotations?.[annotations.keepTakenOver] === 'true' ? [annotations.keepTakenOver] : []),
      ...(isAbandoned(placement, bindings) ? [annotations.abandon] : []),
    ];
    const untold = standing.filter(({ metadata }) => marks.some((key) => metadata.annotations?.[key] !== 'true'));
    if (untold.length > 0) {
      const change = { metadata: { annotations: Object.fromEntries(marks.map((key) => [key, 'true'])) } };
      const why = 'the bindings record what stays on the clusters when the placement is deleted';
      return decision([untold.map((binding) => patch(seen(family.bindings, binding), change, why))], why);
    }
    return decision(
      [
        standing.map((binding) =>
          remove(seen(family.bindings, binding), `the placement of "${clusterOf(binding)}" is being deleted`),
        ),
      ],
      because,
    );
  }
  const merge = { metadata: { finalizers: without(present, finalizers.schedulerCleanup) } };
  return decision(
    [
      release(family, bindings),
      [patch(seen(family.placements, placement), merge, 'all bindings of the placement are being deleted')],
    ],
    because,
  );
}

/**
 * If one binding is marked, all must be: after a restart the hub may not see any more that the placement was deleted
 * with orphan propagation.
 */
const isAbandoned = ({ spec, isOrphaned }: HubPlacement, bindings: readonly HubBinding[]): boolean =>
  isAbandoning(spec) ||
  isOrphaned === true ||
  bindings.some(({ metadata }) => metadata.annotations?.[annotations.abandon] === 'true');

// ---- bindings

function bindingSteps(family: PlacementFamily, observed: Scheduling, { picks, sorted }: Outcome) {
  const { placement, snapshot, bindings } = observed;
  const used = new Set(bindings.map(({ metadata }) => metadata.name ?? ''));
  const leaving = new Map<string, HubBinding[]>();
  for (const binding of sorted.deleting) {
    leaving.set(clusterOf(binding), [...(leaving.get(clusterOf(binding)) ?? []), binding]);
  }
  const newOne = (pick: Picked): Action => {
    const cluster = pick.decision.clusterName;
    const deleting = leaving.get(cluster) ?? [];
    const name = newBindingName({ placement, cluster, deleting, isUsed: (each) => used.has(each) });
    const object = newBinding(family, { placement, snapshot, pick, name });
    return create('hub', family.binding, object, pick.decision.reason);
  };
  return {
    creates: picks.filter((pick) => existing(pick) === undefined).map(newOne),
    patches: picks.flatMap((pick) => {
      const binding = existing(pick);
      return binding === undefined ? [] : [takeOver(family, binding, pick, snapshot)];
    }),
  };
}

const existing = ({ obsolete, unscheduled }: Picked): HubBinding | undefined => obsolete ?? unscheduled;

interface NewBinding {
  readonly placement: HubPlacement;
  readonly snapshot: HubPolicySnapshot;
  readonly pick: Picked;
  readonly name: string;
}

function newBinding({ binding }: PlacementFamily, { placement, snapshot, pick, name }: NewBinding): KubeObject {
  const { namespace, name: parent = '', uid = '' } = placement.metadata;
  return {
    apiVersion: apiVersionOf(binding.group, binding.version),
    kind: binding.kind,
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      labels: { [labels.parentPlacement]: parent },
      annotations: { [annotations.placementUid]: uid },
      // The second finalizer belongs to the work generator: adding it here saves a write before the first Work.
      finalizers: [finalizers.schedulerBindingCleanup, finalizers.workCleanup],
    },
    spec: {
      state: 'Scheduled',
      targetCluster: pick.decision.clusterName,
      schedulingPolicySnapshotName: snapshot.metadata.name,
      // Set by the rollout.
      resourceSnapshotName: '',
      clusterDecision: pick.decision,
    },
  };
}

function takeOver(
  { bindings }: PlacementFamily,
  binding: HubBinding,
  { decision: { clusterScore, ...picked }, unscheduled }: Picked,
  snapshot: HubPolicySnapshot,
): Action {
  const spec = {
    schedulingPolicySnapshotName: snapshot.metadata.name,
    clusterDecision: { ...picked, clusterScore: clusterScore ?? null },
  };
  if (unscheduled === undefined) return patch(seen(bindings, binding), { spec }, picked.reason);
  return patch(
    seen(bindings, binding),
    {
      // Differs from KubeFleet: there the annotation stays on the server, where it is outdated.
      metadata: { annotations: { [annotations.previousBindingState]: null } },
      spec: { ...spec, state: stateBefore(binding) },
    },
    picked.reason,
  );
}

/** Differs from KubeFleet: annotations of others stay. */
const unschedule = ({ bindings }: PlacementFamily, binding: HubBinding): Action =>
  patch(
    seen(bindings, binding),
    {
      metadata: { annotations: { [annotations.previousBindingState]: binding.spec.state } },
      spec: { state: 'Unscheduled' },
    },
    `cluster "${clusterOf(binding)}" is not picked any more`,
  );
