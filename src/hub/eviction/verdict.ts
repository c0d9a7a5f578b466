// The verdict on one eviction, by the rules in order; the messages are those of KubeFleet, which its tools compare.
// Guarantee: pure, and an eviction may exceed a budget only if the placement has failed on the cluster.
import type { DisruptionBudgetSpec } from '../../api/disruption-budget.ts';
import { annotations } from '../../api/names.ts';
import type { HubBinding, HubPlacement } from '../placement-sources.ts';
import { judge } from '../planners/health.ts';
import { askBudget, type Counts, countsOf, placementTypeOf } from './budget.ts';

export interface Case {
  /** undefined = it does not exist. */
  readonly placement: HubPlacement | undefined;
  /** All bindings of the placement. */
  readonly bindings: readonly HubBinding[];
  /** undefined = there is no budget of the placement's name. */
  readonly budget: DisruptionBudgetSpec | undefined;
  readonly cluster: string;
}

/** Why a binding may be deleted. */
export type Allowance = { readonly code: 'failed' | 'no-budget' } | ({ readonly code: 'budget' } & Counts);

export type Verdict =
  | { readonly end: 'invalid' | 'executed' | 'blocked'; readonly message: string }
  | { readonly end: 'evict'; readonly binding: HubBinding; readonly allowance: Allowance };

const INVALID = {
  notFound: 'Failed to find ClusterResourcePlacement targeted by eviction',
  deleting: 'Found deleting ClusterResourcePlacement targeted by eviction',
  pickFixed: 'Found ClusterResourcePlacement with PickFixed placement type targeted by eviction',
  severalBindings: 'Found more than one scheduler decision for placement in cluster targeted by eviction',
  noBinding: 'Failed to find scheduler decision for placement in cluster targeted by eviction',
} as const;

export const VALID = 'Eviction is valid';
export const BEING_REMOVED =
  'Eviction is allowed, resources propagated by placement is currently being removed from cluster targeted by eviction';
const NOT_PROPAGATED = 'Eviction is blocked, placement has not propagated resources to target cluster yet';
const MISCONFIGURED =
  'Eviction is blocked by misconfigured ClusterResourcePlacementDisruptionBudget, either MaxUnavailable is specified or MinAvailable is specified as a percentage for PickAll ClusterResourcePlacement';

const counted = ({ available, total }: Counts): string =>
  `availablePlacements: ${available}, totalPlacements: ${total}`;

export function messageOf(allowance: Allowance): string {
  switch (allowance.code) {
    case 'failed':
      return 'Eviction is allowed, placement has failed';
    case 'no-budget':
      return 'Eviction is allowed, no ClusterResourcePlacementDisruptionBudget specified';
    case 'budget':
      return `Eviction is allowed by specified ClusterResourcePlacementDisruptionBudget, ${counted(allowance)}`;
  }
}

export function judgeEviction({ placement, bindings, budget, cluster }: Case): Verdict {
  const invalid = (why: keyof typeof INVALID): Verdict => ({ end: 'invalid', message: INVALID[why] });
  const blocked = (message: string): Verdict => ({ end: 'blocked', message });
  if (placement === undefined) return invalid('notFound');
  if (placement.metadata.deletionTimestamp !== undefined) return invalid('deleting');
  const { policy } = placement.spec;
  if (placementTypeOf(policy) === 'PickFixed') return invalid('pickFixed');

  const own = bindings.filter(({ spec }) => spec.targetCluster === cluster);
  // Differs from KubeFleet: there a binding that is being deleted counts as a second decision while its successor
  // exists.
  const [binding, ...more] = own.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  if (more.length > 0) return invalid('severalBindings');
  if (binding === undefined) {
    return own.length === 0 ? invalid('noBinding') : { end: 'executed', message: BEING_REMOVED };
  }
  if (!isPresent(binding)) return blocked(NOT_PROPAGATED);

  const evict = (allowance: Allowance): Verdict => ({ end: 'evict', binding, allowance });
  if (hasFailed(binding)) return evict({ code: 'failed' });
  if (budget === undefined) return evict({ code: 'no-budget' });
  const counts = countsOf(bindings);
  switch (askBudget(budget, policy, counts)) {
    case 'misconfigured':
      return blocked(MISCONFIGURED);
    case 'allowed':
      return evict({ code: 'budget', ...counts });
    case 'blocked':
      return blocked(`Eviction is blocked by specified ClusterResourcePlacementDisruptionBudget, ${counted(counts)}`);
  }
}

/** The cluster has the placed objects, or had them when it was unscheduled. */
const isPresent = ({ metadata, spec }: HubBinding): boolean =>
  spec.state === 'Bound' ||
  (spec.state === 'Unscheduled' && metadata.annotations?.[annotations.previousBindingState] === 'Bound');

/**
 * Differs from KubeFleet: there a placement in the middle of a rollout, or whose new Work could not be written, counts
 * as failed and is evicted past the budget. Here only a failure on the cluster counts.
 */
function hasFailed(binding: HubBinding): boolean {
  const { health, at } = judge(binding);
  // Also with ReportDiff: nothing is applied there, and a budget must not protect a member that never answers.
  if (at === 'DiffReported') return true;
  return health === 'failed' && (at === 'Applied' || at === 'Available');
}
