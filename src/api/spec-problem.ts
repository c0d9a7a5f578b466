// Why the spec of a placement cannot work although the API accepts it: a mistake of its author. Such a placement is not
// scheduled and not rolled out until its spec is corrected. Pure.
import type { Hold } from './hold.ts';
import type { ObjectRef } from './object.ts';
import type { PlacementSpec } from './placement.ts';

export interface SpecProblem {
  readonly message: string;
  /** What the author can do. */
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

/** undefined = the spec can work. */
export function specProblemIn({
  strategy,
  policy,
}: Pick<PlacementSpec, 'strategy' | 'policy'>): SpecProblem | undefined {
  const { type, destination } = strategy?.reportBackStrategy ?? {};
  return type === 'Mirror' && destination === 'OriginalResource' && !picksOneCluster(policy) ? ONE_STATUS : undefined;
}

/** For the author of the spec, who may not look at the status. */
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
