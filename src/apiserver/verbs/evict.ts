// POST pods/<name>/eviction: deletes a Pod unless its PodDisruptionBudget forbids it.
import type { KubeObject } from '../../api/object.ts';
import { badRequest, forbidden, invalid, unsupportedValue } from '../../api/status.ts';
import { kubeTime } from '../../base/clock.ts';
import { ApiError } from '../../base/errors.ts';
import { deepEqual } from '../../base/json.ts';
import { compileLabelSelector, type LabelSelector } from '../../base/selector.ts';
import type { Cluster } from '../cluster.ts';
import { prefixOf, type Stored, type Write } from '../store/store.ts';
import type { At, Caller, DeleteOptions } from './call.ts';
import { commit } from './commit.ts';
import { checkPreconditions, remove } from './delete.ts';
import { withOwners } from './field-owners.ts';
import { headOf } from './head.ts';

/** The types of its fields have been checked. */
export interface Eviction {
  readonly metadata?: { readonly name?: string; readonly namespace?: string };
  readonly deleteOptions?: {
    readonly gracePeriodSeconds?: number;
    readonly propagationPolicy?: string;
    readonly preconditions?: NonNullable<DeleteOptions['preconditions']>;
    readonly dryRun?: readonly string[];
  };
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime?: string;
  readonly [field: string]: unknown;
}

type Pod = KubeObject<unknown, { readonly phase?: string; readonly conditions?: readonly Condition[] }>;

interface BudgetStatus {
  readonly observedGeneration?: number;
  readonly disruptionsAllowed?: number;
  readonly currentHealthy?: number;
  readonly desiredHealthy?: number;
  readonly disruptedPods?: Readonly<Record<string, string>>;
  readonly conditions?: readonly Condition[];
}

type Budget = KubeObject<
  { readonly selector?: LabelSelector; readonly unhealthyPodEvictionPolicy?: string },
  BudgetStatus
>;

const BUDGETS = { group: 'policy', plural: 'poddisruptionbudgets' } as const;
/** Maximum of evictions that the disruption controller has not confirmed. */
const MAX_DISRUPTED_PODS = 2000;

export async function evictPod(cluster: Cluster, at: At, eviction: Eviction, caller: Caller): Promise<void> {
  const { name = '' } = at;
  const { namespace = at.namespace } = eviction.metadata ?? {};
  if (namespace !== at.namespace && namespace !== '') {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  if (eviction.metadata?.name !== name) throw badRequest('name in URL does not match name in Eviction object');
  const { preconditions, gracePeriodSeconds, propagationPolicy, dryRun = [] } = eviction.deleteOptions ?? {};
  checkOptions(caller, dryRun, propagationPolicy);
  const by = { ...caller, dryRun: caller.dryRun || dryRun.length > 0 };
  const old = headOf(cluster, at);
  const pod = old.object() as Pod;
  checkPreconditions(at.resource, name, pod, { ...(preconditions === undefined ? {} : { preconditions }) });
  const spent = needsNoBudget(pod) ? undefined : spend(pod, budgetsFor(cluster, at, pod), cluster.clock.now());

  const propagation = PROPAGATIONS.find((each) => each === propagationPolicy);
  const options: DeleteOptions = {
    ...(gracePeriodSeconds === undefined ? {} : { graceSeconds: gracePeriodSeconds }),
    ...(propagation === undefined ? {} : { propagation }),
  };
  // All writes are committed before the first await, so no other request comes between them.
  const now = cluster.clock.now();
  const evicted = withOwners({ ...at, subresource: 'status' }, pod, disrupted(pod, now), { manager: MANAGER, now });
  const condition = { key: old.key, expect: old.revision, value: evicted };
  await Promise.all([
    ...(spent === undefined ? [] : [commit(cluster, at, ownedBudget(cluster, at, spent), by)]),
    ...(by.dryRun ? [] : [commit(cluster, at, condition, by)]),
    remove(cluster, at, options, by),
  ]);
}

/** The field manager of a real server's own writes. */
const MANAGER = 'kube-apiserver';

function ownedBudget(cluster: Cluster, { namespace }: At, write: Write): Write {
  const resource = cluster.registry.find(BUDGETS.group, 'v1', BUDGETS.plural)?.resource;
  const before = cluster.store.get(write.key, 'head')?.object();
  if (resource === undefined || before === undefined || write.value === undefined) return write;
  const at: At = { resource, version: resource.stored, namespace, subresource: 'status' };
  return { ...write, value: withOwners(at, before, write.value, { manager: MANAGER, now: cluster.clock.now() }) };
}

const PROPAGATIONS = ['Foreground', 'Background', 'Orphan'] as const;

function checkOptions(caller: Caller, dryRun: readonly string[], propagation: string | undefined): void {
  const isOther = dryRun.length > 0 && !deepEqual(dryRun, ['All']);
  if (caller.dryRun && isOther) {
    const content = `[${dryRun.join(' ')}]`;
    throw new ApiError(500, '', `Non-matching dry-run options in request and content: [All] and ${content}`);
  }
  const causes = [
    ...(dryRun.every((each) => each === 'All') ? [] : [unsupportedValue('dryRun', dryRun, ['All'])]),
    ...(propagation === undefined || PROPAGATIONS.some((each) => each === propagation)
      ? []
      : [unsupportedValue('propagationPolicy', propagation, [...PROPAGATIONS, 'nil'])]),
  ];
  if (causes.length > 0) throw invalid({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', causes);
}

/** Deleting a Pod that is not running causes no disruption. */
const needsNoBudget = ({ metadata, status }: Pod): boolean =>
  metadata.deletionTimestamp !== undefined || ['Succeeded', 'Failed', 'Pending'].includes(status?.phase ?? '');

const isReady = ({ status }: Pod): boolean =>
  (status?.conditions ?? []).some((each) => each.type === 'Ready' && each.status === 'True');

const budgetsFor = (cluster: Cluster, at: At, pod: Pod): readonly Stored[] =>
  cluster.store
    .rangeAtHead(prefixOf(BUDGETS.group, BUDGETS.plural, at.namespace))
    .filter((stored) => compileLabelSelector((stored.object() as Budget).spec?.selector).matches(pod.metadata.labels));

/**
 * The write that charges an eviction to the Pod's budget, or undefined if it costs nothing. Throws if the budget is
 * used up.
 */
function spend(pod: Pod, budgets: readonly Stored[], now: number): Write | undefined {
  const [stored] = budgets;
  if (stored === undefined) return undefined;
  if (budgets.length > 1) {
    const why = 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.';
    throw new ApiError(500, '', why);
  }
  const budget = stored.object() as Budget;
  const { name = '', generation = 0 } = budget.metadata;
  const { status = {}, spec } = budget;
  const { disruptionsAllowed = 0, currentHealthy = 0, desiredHealthy = 0, disruptedPods = {} } = status;
  // A Pod that is not ready does not count as healthy, so deleting it reduces nothing.
  if (!isReady(pod)) {
    if (spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow') return undefined;
    if (desiredHealthy > 0 && currentHealthy >= desiredHealthy) return undefined;
  }
  if ((status.observedGeneration ?? 0) < generation) {
    throw overBudget(`The disruption budget ${name} is still being processed by the server.`, 10);
  }
  if (disruptionsAllowed < 0) {
    throw forbidden({ ...BUDGETS, plural: 'poddisruptionbudget' }, name, 'pdb disruptions allowed is negative');
  }
  if (Object.keys(disruptedPods).length > MAX_DISRUPTED_PODS) {
    const why = 'DisruptedPods map too big - too many evictions not confirmed by PDB controller';
    throw forbidden({ ...BUDGETS, plural: 'poddisruptionbudget' }, name, why);
  }
  if (disruptionsAllowed === 0) {
    throw overBudget(
      `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`,
    );
  }
  const next: BudgetStatus = {
    ...status,
    disruptionsAllowed: disruptionsAllowed - 1,
    disruptedPods: { ...disruptedPods, [pod.metadata.name ?? '']: kubeTime(now) },
    ...(disruptionsAllowed > 1
      ? {}
      : {
          conditions: withCondition(
            status.conditions,
            {
              type: 'DisruptionAllowed',
              status: 'False',
              ...(status.observedGeneration === undefined ? {} : { observedGeneration: status.observedGeneration }),
              reason: 'InsufficientPods',
              message: '',
            },
            now,
          ),
        }),
  };
  return { key: stored.key, expect: stored.revision, value: { ...budget, status: next } };
}

const overBudget = (message: string, retryAfterSeconds?: number): ApiError =>
  new ApiError(429, 'TooManyRequests', "Cannot evict pod as it would violate the pod's disruption budget.", {
    causes: [{ reason: 'DisruptionBudget', message }],
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });

/** Records the reason of the deletion in the Pod's conditions. */
const disrupted = (pod: Pod, now: number): Pod => ({
  ...pod,
  status: {
    ...pod.status,
    conditions: withCondition(
      pod.status?.conditions,
      {
        type: 'DisruptionTarget',
        status: 'True',
        lastProbeTime: null,
        reason: 'EvictionByEvictionAPI',
        message: 'Eviction API: evicting',
      },
      now,
    ),
  },
});

function withCondition(conditions: readonly Condition[] = [], next: Condition, now: number): Condition[] {
  const old = conditions.find(({ type }) => type === next.type);
  const lastTransitionTime = old?.status === next.status ? old.lastTransitionTime : undefined;
  const made = { ...next, lastTransitionTime: lastTransitionTime ?? kubeTime(now) };
  if (old === undefined) return [...conditions, made];
  return deepEqual(old, made) ? [...conditions] : conditions.map((each) => (each === old ? made : each));
}
