// Why the spec of a placement cannot work although the API accepts it. Such a placement is not scheduled and not rolled
// out until its author corrects the spec. Pure.
import type { Hold } from './hold.ts';
import type { ObjectRef } from './object.ts';
import type { PlacementSpec } from './placement.ts';

export interface SpecProblem {
  readonly message: string;
  /** The next step for the author. */
  readonly next: string;
}

/** An object on the hub has one status, so the policy must pick exactly one cluster. */
export const picksOneCluster = (policy: PlacementSpec['policy']): boolean =>
  policy?.placementType === 'PickFixed'
    ? policy.clusterNames?.length === 1
    : policy?.placementType === 'PickN' && policy.numberOfClusters === 1;

const ONE_STATUS: SpecProblem = {
  message:
    'spec.strategy.reportBackStrategy.destination OriginalResource needs a policy that picks exactly one cluster',
  next: 'use placementType PickFixed with one name, PickN with numberOfClusters 1, or destination WorkAPI',
};

/** undefined = the spec is valid. */
export function specProblemIn({
  strategy,
  policy,
}: Pick<PlacementSpec, 'strategy' | 'policy'>): SpecProblem | undefined {
  const { type, destination } = strategy?.reportBackStrategy ?? {};
  return type === 'Mirror' && destination === 'OriginalResource' && !picksOneCluster(policy) ? ONE_STATUS : undefined;
}

/** A warning for the author, who may not read the status. */
export const specProblemWarnings = (spec: PlacementSpec): readonly string[] => {
  const problem = specProblemIn(spec);
  return problem === undefined ? [] : [`${problem.message}; this placement is not rolled out: ${problem.next}`];
};

export const specProblemHold = (subject: ObjectRef, { message, next }: SpecProblem): Hold => ({
  code: 'SpecInvalid',
  subject,
  on: subject,
  facts: { message },
  next,
});
