// How many more clusters of a placement may be evicted, by its ClusterResourcePlacementDisruptionBudget. Guarantee:
// involuntary disruptions count, so an eviction is allowed only if the budget still holds with one cluster less.
import type { DisruptionBudgetSpec } from '../../api/disruption-budget.ts';
import { conditionOf } from '../../api/next-condition.ts';
import type { PlacementSpec } from '../../api/placement.ts';
import { countRoundedUp } from '../../base/int-or-percent.ts';
import type { HubBinding } from '../placement-sources.ts';

export interface Counts {
  /** Bindings that are available at their present generation. */
  readonly available: number;
  /** All bindings of the placement, including those being deleted. */
  readonly total: number;
}

export const countsOf = (bindings: readonly HubBinding[]): Counts => ({
  available: bindings.filter(isAvailable).length,
  total: bindings.length,
});

function isAvailable({ metadata, conditions }: HubBinding): boolean {
  const available = conditionOf(conditions, 'Available');
  return (
    metadata.deletionTimestamp === undefined &&
    available?.status === 'True' &&
    available.observedGeneration === metadata.generation
  );
}

export type BudgetAnswer = 'allowed' | 'blocked' | 'misconfigured';

type Policy = PlacementSpec['policy'];

/** Without a policy, PickAll. */
export const placementTypeOf = (policy: Policy): 'PickAll' | 'PickN' | 'PickFixed' =>
  policy?.placementType ?? 'PickAll';

/** PickAll has no number of clusters, so percentages and maxUnavailable cannot be computed. */
export const isMisconfigured = ({ maxUnavailable, minAvailable }: DisruptionBudgetSpec, policy: Policy): boolean =>
  placementTypeOf(policy) === 'PickAll' && (maxUnavailable !== undefined || typeof minAvailable === 'string');

/** How many evictions are left; 0 or less = none. Percentages are of `numberOfClusters`. */
export function disruptionsAllowed(budget: DisruptionBudgetSpec, policy: Policy, counts: Counts): number {
  const { maxUnavailable, minAvailable } = budget;
  const wanted = policy?.numberOfClusters ?? 0;
  if (maxUnavailable !== undefined) return countRoundedUp(maxUnavailable, wanted) - (counts.total - counts.available);
  if (minAvailable !== undefined) return counts.available - countRoundedUp(minAvailable, wanted);
  // A budget without either field allows nothing.
  return 0;
}

export function askBudget(budget: DisruptionBudgetSpec, policy: Policy, counts: Counts): BudgetAnswer {
  if (isMisconfigured(budget, policy)) return 'misconfigured';
  return disruptionsAllowed(budget, policy, counts) > 0 ? 'allowed' : 'blocked';
}
