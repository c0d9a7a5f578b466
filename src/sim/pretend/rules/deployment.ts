// A Deployment: one ReplicaSet per template, sized so that a rollout keeps its budget, and the status for `kubectl
// rollout status`.

import type {
  Condition,
  Deployment,
  DeploymentSpec,
  DeploymentStatus,
  Pod,
  PodTemplate,
  ReplicaSet,
} from '../../../api/builtin/shapes.ts';
import { kubeTime } from '../../../base/clock.ts';
import { by } from '../../../base/compare.ts';
import { deepEqual } from '../../../base/json.ts';
import { templateHash } from '../names.ts';
import { byCreation, isFinished } from '../pods.ts';
import { conditionOf, isDeleting, timeOf } from '../reading.ts';
import { deployments, replicaSets } from '../resources.ts';
import { earliest, managedBy, nothing, type Rule, statusWrites, type Write } from '../rule.ts';
import { type Budget, budgetOf, newestSize, olderSizes, proportionalSizes, type Sized } from './rolling.ts';

export interface DeploymentRelated {
  /** The ReplicaSets that this Deployment manages. */
  readonly replicaSets: readonly ReplicaSet[];
  /** Their Pods; read only for the strategy Recreate. */
  readonly pods: readonly Pod[];
  /** Names of other ReplicaSets in the namespace. */
  readonly taken: ReadonlySet<string>;
}

const REVISION = 'deployment.kubernetes.io/revision';
const HISTORY = 'deployment.kubernetes.io/revision-history';
const DESIRED = 'deployment.kubernetes.io/desired-replicas';
const MAX = 'deployment.kubernetes.io/max-replicas';
export const HASH_LABEL = 'pod-template-hash';
/** Annotations that describe only the Deployment. */
const NOT_COPIED: ReadonlySet<string> = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  'deprecated.deployment.rollback.to',
  REVISION,
  HISTORY,
  DESIRED,
  MAX,
]);
/** The value for "no deadline". */
const NO_DEADLINE = 2 ** 31 - 1;

export const deployment: Rule<Deployment, DeploymentRelated> = (object, related, now) => {
  const { spec } = object;
  if (spec === undefined) return nothing;
  const newest = newestOf(object, related.replicaSets);
  const older = related.replicaSets.filter((set) => set !== newest).toSorted(byCreation);
  if (isDeleting(object)) return { writes: reportCounts({ object, spec, newest, older }, now) };

  const plan: Plan = { object, spec, newest, older };
  if (spec.paused === true || isScaled(plan)) return scale(plan, now);
  return spec.strategy.type === 'Recreate' ? recreate(plan, related, now) : rollOut(plan, related, now);
};

interface Plan {
  readonly object: Deployment;
  readonly spec: DeploymentSpec;
  readonly newest: ReplicaSet | undefined;
  /** Oldest first. */
  readonly older: readonly ReplicaSet[];
}

const nameOf = ({ metadata }: ReplicaSet): string => metadata.name ?? '';
const sizeOf = ({ spec }: ReplicaSet): number => spec?.replicas ?? 0;
const availableIn = ({ status }: ReplicaSet): number => status?.availableReplicas ?? 0;
const numberIn = ({ metadata }: ReplicaSet, annotation: string): number | undefined => {
  const text = metadata.annotations?.[annotation];
  return text === undefined || !/^\d{1,10}$/.test(text) ? undefined : Number(text);
};
const revisionOf = (set: ReplicaSet): number => numberIn(set, REVISION) ?? 0;
const sized = (set: ReplicaSet): Sized => ({
  name: nameOf(set),
  size: sizeOf(set),
  available: availableIn(set),
  isBehind: (set.status?.observedGeneration ?? 0) < (set.metadata.generation ?? 0),
  annotatedMax: numberIn(set, MAX),
});

/** The ReplicaSet of the current template. */
function newestOf({ spec }: Deployment, sets: readonly ReplicaSet[]): ReplicaSet | undefined {
  if (spec === undefined) return undefined;
  return sets.toSorted(byCreation).find((set) => set.spec && deepEqual(withoutHash(set.spec.template), spec.template));
}

function withoutHash(template: PodTemplate): PodTemplate {
  const { [HASH_LABEL]: _hash, ...labels } = template.metadata?.labels ?? {};
  return { ...template, metadata: { ...template.metadata, labels } };
}

// ---- rollout

function rollOut(plan: Plan, { taken }: DeploymentRelated, now: number) {
  const { spec, newest, older } = plan;
  const budget = budgetOf(spec);
  if (newest === undefined) return begin(plan, taken, now);
  const outcome = { ...plan, writes: [] as Write[] };

  const size = newestSize(spec.replicas, budget, sizeOf(newest), older.map(sized));
  const renewed = renew(plan, newest, size, budget);
  outcome.writes.push(...renewed.writes);
  outcome.newest = renewed.set;
  if (size === sizeOf(newest)) {
    const sizes = olderSizes(spec.replicas, budget, sized(newest), older.map(sized));
    const resized = older.map((set) => resize(set, sizes.get(nameOf(set)) ?? sizeOf(set), spec, budget, 'fixed'));
    outcome.older = resized.map(({ set }) => set);
    outcome.writes.push(...resized.flatMap(({ writes }) => writes));
  }
  return conclude(outcome, now);
}

function recreate(plan: Plan, { pods, taken }: DeploymentRelated, now: number) {
  const { spec, newest, older } = plan;
  const budget = budgetOf(spec);
  const resized = older.map((set) => resize(set, 0, spec, budget, 'fixed'));
  const emptied: Plan = { ...plan, older: resized.map(({ set }) => set) };
  const writes = resized.flatMap((each) => each.writes);
  const isRunning = pods.some(
    (pod) => !isFinished(pod) && pod.metadata.ownerReferences?.every((owner) => owner.uid !== newest?.metadata.uid),
  );
  if (writes.length > 0 || isRunning) return conclude({ ...emptied, writes }, now);
  if (newest === undefined) return begin(plan, taken, now);
  const renewed = renew(plan, newest, spec.replicas, budget);
  return conclude({ ...plan, newest: renewed.set, writes: [...renewed.writes] }, now);
}

/** Creates the ReplicaSet of a new template; changes the name if a foreign one has it. */
function begin(plan: Plan, taken: ReadonlySet<string>, now: number) {
  const { object, spec, older } = plan;
  const budget = budgetOf(spec);
  const { name = '', namespace = '' } = object.metadata;
  const collisions = object.status?.collisionCount ?? 0;
  const hash = templateHash(spec.template, collisions);
  if (taken.has(`${name}-${hash}`)) {
    const status = { ...object.status, collisionCount: collisions + 1 };
    return { writes: statusWrites(deployments, object, { status, because: 'another ReplicaSet has the name' }) };
  }
  const size =
    spec.strategy.type === 'Recreate' ? spec.replicas : newestSize(spec.replicas, budget, 0, older.map(sized));
  const revision = Math.max(0, ...older.map(revisionOf)) + 1;
  const labels = { ...spec.template.metadata?.labels, [HASH_LABEL]: hash };
  const set: ReplicaSet = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: `${name}-${hash}`,
      namespace,
      labels,
      annotations: { ...copied(object), ...sizeAnnotations(spec, budget), [REVISION]: String(revision) },
      ownerReferences: [managedBy(deployments, object)],
    },
    spec: {
      replicas: size,
      ...(spec.minReadySeconds ? { minReadySeconds: spec.minReadySeconds } : {}),
      selector: { ...spec.selector, matchLabels: { ...spec.selector.matchLabels, [HASH_LABEL]: hash } },
      template: { ...spec.template, metadata: { ...spec.template.metadata, labels } },
    },
  };
  const writes: Write[] = [{ do: 'create', resource: replicaSets, object: set, because: `revision ${revision}` }];
  const created = progressing(now, 'NewReplicaSetCreated', `Created new replica set "${nameOf(set)}"`);
  return conclude({ ...plan, newest: set, writes, begun: created }, now);
}

const copied = ({ metadata }: Deployment): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(metadata.annotations ?? {}).filter(([key]) => !NOT_COPIED.has(key)));

const sizeAnnotations = ({ replicas }: DeploymentSpec, { surge }: Budget) => ({
  [DESIRED]: String(replicas),
  [MAX]: String(replicas + surge),
});

interface Resized {
  readonly set: ReplicaSet;
  readonly writes: readonly Write[];
}

function patched(
  set: ReplicaSet,
  size: number,
  annotations: Readonly<Record<string, string>>,
  minReadySeconds?: number,
): Resized {
  const missing = Object.entries(annotations).filter(([key, value]) => set.metadata.annotations?.[key] !== value);
  const spec = {
    ...(size === sizeOf(set) ? {} : { replicas: size }),
    ...(minReadySeconds === undefined || minReadySeconds === (set.spec?.minReadySeconds ?? 0)
      ? {}
      : { minReadySeconds }),
  };
  if (missing.length === 0 && Object.keys(spec).length === 0) return { set, writes: [] };
  const merge = {
    ...(missing.length === 0 ? {} : { metadata: { annotations: Object.fromEntries(missing) } }),
    ...(Object.keys(spec).length === 0 ? {} : { spec }),
  };
  const because = size === sizeOf(set) ? 'annotations follow the Deployment' : `from ${sizeOf(set)} to ${size} Pods`;
  return {
    set: {
      ...set,
      metadata: { ...set.metadata, annotations: { ...set.metadata.annotations, ...annotations } },
      spec: { ...set.spec!, ...spec },
    },
    writes: [{ do: 'patch', resource: replicaSets, of: set, merge, because }],
  };
}

/** An older ReplicaSet is written only if its size changes; when the Deployment is scaled, all are. */
function resize(
  set: ReplicaSet,
  size: number,
  spec: DeploymentSpec,
  budget: Budget,
  mode: 'fixed' | 'scaled',
): Resized {
  if (mode === 'fixed' && size === sizeOf(set)) return { set, writes: [] };
  return patched(set, size, sizeAnnotations(spec, budget));
}

/** The newest one has the highest revision; one from an earlier rollout records its old number. */
function renew({ object, spec, older }: Plan, set: ReplicaSet, size: number, budget: Budget): Resized {
  const own = revisionOf(set);
  const highest = Math.max(0, ...older.map(revisionOf));
  const history = [set.metadata.annotations?.[HISTORY], own === 0 ? undefined : String(own)].filter(Boolean).join(',');
  const revision =
    own > highest ? {} : { [REVISION]: String(highest + 1), ...(history === '' ? {} : { [HISTORY]: history }) };
  return patched(
    set,
    size,
    { ...copied(object), ...sizeAnnotations(spec, budget), ...revision },
    spec.minReadySeconds ?? 0,
  );
}

// ---- scaling

/** `replicas` has changed since the sizes were last set. */
const isScaled = ({ spec, newest, older }: Plan): boolean =>
  [...older, ...(newest ? [newest] : [])].some(
    (set) => sizeOf(set) > 0 && (numberIn(set, DESIRED) ?? spec.replicas) !== spec.replicas,
  );

function scale(plan: Plan, now: number) {
  const { spec, newest, older } = plan;
  const budget = budgetOf(spec);
  const all = [...older, ...(newest ? [newest] : [])];
  const active = all.filter((set) => sizeOf(set) > 0);
  const sizes = scaledSizes(plan, active, budget);
  const resized = new Map(
    all.map((set) => {
      const size = sizes.get(nameOf(set));
      return [set, size === undefined ? { set, writes: [] } : resize(set, size, spec, budget, 'scaled')] as const;
    }),
  );
  const next = (set: ReplicaSet) => resized.get(set)?.set ?? set;
  const writes = [...resized.values()].flatMap((each) => each.writes);
  const then: Plan = { ...plan, newest: newest && next(newest), older: older.map(next) };
  return { writes: [...writes, ...(spec.paused === true ? trim(then) : []), ...reportCounts(then, now)] };
}

function scaledSizes(
  { spec, newest, older }: Plan,
  active: readonly ReplicaSet[],
  budget: Budget,
): ReadonlyMap<string, number> {
  if (active.length <= 1) {
    const only = active[0] ?? newest ?? older.at(-1);
    return new Map(only === undefined ? [] : [[nameOf(only), spec.replicas]]);
  }
  const isSaturated =
    newest !== undefined &&
    sizeOf(newest) === spec.replicas &&
    numberIn(newest, DESIRED) === spec.replicas &&
    availableIn(newest) === spec.replicas;
  if (isSaturated) return new Map(older.filter((set) => sizeOf(set) > 0).map((set) => [nameOf(set), 0]));
  if (spec.strategy.type !== 'RollingUpdate') return new Map();
  return proportionalSizes(spec.replicas, budget, active.toSorted(byCreation).toReversed().map(sized));
}

// ---- status

const counted = ({ object, newest, older }: Plan): DeploymentStatus => {
  const all = [...older, ...(newest ? [newest] : [])];
  const sum = (of: (set: ReplicaSet) => number | undefined) => all.reduce((total, set) => total + (of(set) ?? 0), 0);
  const available = sum(availableIn);
  return {
    observedGeneration: object.metadata.generation ?? 0,
    ...positive({
      replicas: sum((set) => set.status?.replicas),
      updatedReplicas: newest?.status?.replicas ?? 0,
      readyReplicas: sum((set) => set.status?.readyReplicas),
      availableReplicas: available,
      unavailableReplicas: Math.max(0, sum(sizeOf) - available),
    }),
    ...(object.status?.collisionCount === undefined ? {} : { collisionCount: object.status.collisionCount }),
  };
};

/** Kubernetes omits counts of zero. */
export const positive = <T extends Readonly<Record<string, number>>>(counts: T): Partial<T> =>
  Object.fromEntries(Object.entries(counts).filter(([, value]) => value > 0)) as Partial<T>;

const progressing = (now: number, reason: string, message: string, status = 'True'): Condition => ({
  type: 'Progressing',
  status,
  lastUpdateTime: kubeTime(now),
  lastTransitionTime: kubeTime(now),
  reason,
  message,
});

/**
 * A condition keeps its transition time while its status is the same, and is not changed while its reason is the same,
 * too.
 */
export function withCondition(conditions: readonly Condition[], next: Condition, touch = false): readonly Condition[] {
  const old = conditionOf(conditions, next.type);
  if (old?.status === next.status && old.reason === next.reason && !touch) return conditions;
  const since = old?.status === next.status ? old.lastTransitionTime : next.lastTransitionTime;
  return [
    ...conditions.filter((each) => each.type !== next.type),
    { ...next, ...(since === undefined ? {} : { lastTransitionTime: since }) },
  ];
}

export function availability(now: number, spec: DeploymentSpec, available: number): Condition {
  const isEnough = available >= spec.replicas - budgetOf(spec).unavailable;
  return {
    type: 'Available',
    status: isEnough ? 'True' : 'False',
    lastUpdateTime: kubeTime(now),
    lastTransitionTime: kubeTime(now),
    reason: isEnough ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable',
    message: isEnough ? 'Deployment has minimum availability.' : 'Deployment does not have minimum availability.',
  };
}

/** While paused or scaled: only counts and availability are reported, not progress. */
function reportCounts(plan: Plan, now: number): readonly Write[] {
  const { object, spec, newest } = plan;
  const counts = counted(plan);
  let conditions = withCondition(
    object.status?.conditions ?? [],
    availability(now, spec, counts.availableReplicas ?? 0),
  );
  conditions = pausedOrResumed(conditions, spec, now);
  return statusWrites(deployments, object, {
    status: { ...counts, conditions },
    because: spec.paused === true ? 'paused' : 'scaled',
    ...(newest === undefined ? {} : { annotations: { [REVISION]: String(revisionOf(newest)) } }),
  });
}

function pausedOrResumed(conditions: readonly Condition[], spec: DeploymentSpec, now: number): readonly Condition[] {
  if (!hasDeadline(spec)) return conditions;
  const reason = conditionOf(conditions, 'Progressing')?.reason;
  if (reason === 'ProgressDeadlineExceeded') return conditions;
  if (spec.paused === true && reason !== 'DeploymentPaused') {
    return withCondition(conditions, progressing(now, 'DeploymentPaused', 'Deployment is paused', 'Unknown'));
  }
  if (spec.paused !== true && reason === 'DeploymentPaused') {
    return withCondition(conditions, progressing(now, 'DeploymentResumed', 'Deployment is resumed', 'Unknown'));
  }
  return conditions;
}

export const hasDeadline = ({ progressDeadlineSeconds }: DeploymentSpec): boolean =>
  progressDeadlineSeconds !== undefined && progressDeadlineSeconds !== NO_DEADLINE;

/** Reports the progress of the rollout, and deletes old ReplicaSets when it is complete. */
function conclude(plan: Plan & { readonly writes: readonly Write[]; readonly begun?: Condition }, now: number) {
  const { object, spec, newest, begun } = plan;
  const before = object.status ?? {};
  const status = counted(plan);
  const { replicas = 0, updatedReplicas = 0, availableReplicas = 0 } = status;
  let conditions = withCondition(
    pausedOrResumed(before.conditions ?? [], spec, now),
    availability(now, spec, availableReplicas),
  );
  const isComplete = [replicas, updatedReplicas, availableReplicas].every((count) => count === spec.replicas);
  let deadline: number | undefined;
  if (!hasDeadline(spec)) {
    conditions = conditions.filter((each) => each.type !== 'Progressing');
  } else {
    if (begun !== undefined) conditions = withCondition(conditions, begun, true);
    const told = conditionOf(conditions, 'Progressing');
    const isTold = told?.reason === 'NewReplicaSetAvailable' && replicas === updatedReplicas;
    const name = newest === undefined ? `Deployment "${object.metadata.name}"` : `ReplicaSet "${nameOf(newest)}"`;
    if (told === undefined && newest !== undefined) {
      conditions = withCondition(
        conditions,
        progressing(now, 'FoundNewReplicaSet', `Found new replica set "${nameOf(newest)}"`),
      );
    }
    const due = deadlineOf(spec, told);
    if (isTold) {
      // It was complete before, and the template has not changed: a lost Pod is not a rollout.
    } else if (isComplete) {
      conditions = withCondition(
        conditions,
        progressing(now, 'NewReplicaSetAvailable', `${name} has successfully progressed.`),
      );
    } else if (begun === undefined && hasMoved(before, status)) {
      conditions = withCondition(conditions, progressing(now, 'ReplicaSetUpdated', `${name} is progressing.`), true);
      deadline = deadlineOf(spec, conditionOf(conditions, 'Progressing'));
    } else if (due !== undefined && due <= now) {
      conditions = withCondition(
        conditions,
        progressing(now, 'ProgressDeadlineExceeded', `${name} has timed out progressing.`, 'False'),
      );
    } else {
      deadline = deadlineOf(spec, conditionOf(conditions, 'Progressing'));
    }
  }
  const writes = statusWrites(deployments, object, {
    status: { ...status, conditions },
    because: isComplete
      ? 'complete'
      : `${updatedReplicas} of ${spec.replicas} Pods updated, ${availableReplicas} available`,
    ...(newest === undefined ? {} : { annotations: { [REVISION]: String(revisionOf(newest)) } }),
  });
  return { writes: [...plan.writes, ...(isComplete ? trim(plan) : []), ...writes], ...earliest(deadline) };
}

/** When a rollout without progress counts as failed; undefined if it is complete or has failed already. */
export function deadlineOf(spec: DeploymentSpec, told: Condition | undefined): number | undefined {
  if (told === undefined || told.reason === 'NewReplicaSetAvailable' || told.reason === 'ProgressDeadlineExceeded')
    return undefined;
  // Times have whole seconds, so the deadline has certainly passed only when the next second has begun.
  return timeOf(told.lastUpdateTime) + (spec.progressDeadlineSeconds ?? 0) * 1000 + 1000;
}

function hasMoved(before: DeploymentStatus, after: DeploymentStatus): boolean {
  const old = (status: DeploymentStatus) => (status.replicas ?? 0) - (status.updatedReplicas ?? 0);
  return (
    (after.updatedReplicas ?? 0) > (before.updatedReplicas ?? 0) ||
    (after.readyReplicas ?? 0) > (before.readyReplicas ?? 0) ||
    (after.availableReplicas ?? 0) > (before.availableReplicas ?? 0) ||
    old(after) < old(before)
  );
}

/** Empty old ReplicaSets beyond the history limit, least recent revision first. */
function trim({ spec, older }: Plan): readonly Write[] {
  const limit = spec.revisionHistoryLimit;
  if (limit === undefined) return [];
  const idle = older.filter((set) => sizeOf(set) === 0 && !isDeleting(set));
  return idle
    .toSorted((a, b) => revisionOf(a) - revisionOf(b) || by(nameOf)(a, b))
    .slice(0, Math.max(0, idle.length - limit))
    .filter(
      (set) =>
        (set.status?.replicas ?? 0) === 0 && (set.status?.observedGeneration ?? 0) >= (set.metadata.generation ?? 0),
    )
    .map((of): Write => ({ do: 'delete', resource: replicaSets, of, because: 'beyond revisionHistoryLimit' }));
}
