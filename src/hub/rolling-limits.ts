// The limits of a placement's rolling update, defaults in place: the rollout moves by them, the status and `flotilla why` explain with them.
import type { PlacementFamily } from './families.ts';
import type { HubPlacement } from './placement-sources.ts';
import type { RollingLimits } from './planners/rolling.ts';

export interface LimitsInput {
  readonly family: Pick<PlacementFamily, 'binding'>;
  readonly spec: HubPlacement['spec'];
  readonly isExhausted: boolean;
}

export function rollingLimitsOf({ family, spec, isExhausted }: LimitsInput): RollingLimits {
  const limits = spec.strategy?.rollingUpdate;
  return {
    maxUnavailable: limits?.maxUnavailable ?? '25%',
    maxSurge: limits?.maxSurge ?? '25%',
    unavailablePeriodMs: (limits?.unavailablePeriodSeconds ?? 60) * 1000,
    target: targetOf(spec.policy),
    isExhausted,
    binding: { group: family.binding.group, kind: family.binding.kind },
  };
}

function targetOf(policy: HubPlacement['spec']['policy']): number | undefined {
  if (policy?.placementType === 'PickN') return policy.numberOfClusters ?? 0;
  if (policy?.placementType === 'PickFixed') return policy.clusterNames?.length ?? 0;
  return undefined;
}
