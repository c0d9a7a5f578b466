// The limits of a placement's rolling update, defaults in place: the rollout moves by them, the status and `flotilla why` explain with them.
import { conditionOf } from '../api/next-condition.ts';
import type { IntOrPercent } from '../base/int-or-percent.ts';
import type { PlacementFamily } from './families.ts';
import type { HubPlacement, HubPolicySnapshot } from './placement-sources.ts';
import type { RollingLimits } from './planners/rolling.ts';

export interface LimitsInput {
  readonly family: Pick<PlacementFamily, 'binding'>;
  readonly spec: HubPlacement['spec'];
  /** The latest one, if there is one. */
  readonly policySnapshot: HubPolicySnapshot | undefined;
}

/** The clusters that the scheduler has found, if it has said, of this very snapshot, that it cannot find more. */
export function foundOnly({ metadata, status }: HubPolicySnapshot): readonly string[] | undefined {
  const scheduled = conditionOf(status?.conditions, 'Scheduled');
  if (scheduled?.status !== 'False' || scheduled.observedGeneration !== metadata.generation) return undefined;
  return (status?.targetClusters ?? []).filter(({ selected }) => selected).map(({ clusterName }) => clusterName);
}

export function rollingLimitsOf({ family, spec, policySnapshot }: LimitsInput): RollingLimits {
  const limits = spec.strategy?.rollingUpdate;
  return {
    maxUnavailable: plainCount(limits?.maxUnavailable ?? '25%'),
    maxSurge: plainCount(limits?.maxSurge ?? '25%'),
    unavailablePeriodMs: (limits?.unavailablePeriodSeconds ?? 60) * 1000,
    target: targetOf(spec.policy),
    foundOnly: policySnapshot && foundOnly(policySnapshot),
    binding: { group: family.binding.group, kind: family.binding.kind },
  };
}

/** The schema lets a number in quotes pass. Differs from KubeFleet, where it counts as 0 unless a webhook refuses it. */
const plainCount = (value: IntOrPercent): IntOrPercent =>
  typeof value === 'string' && /^\d+$/.test(value) ? Math.min(Number(value), Number.MAX_SAFE_INTEGER) : value;

function targetOf(policy: HubPlacement['spec']['policy']): number | undefined {
  if (policy?.placementType === 'PickN') return policy.numberOfClusters ?? 0;
  if (policy?.placementType === 'PickFixed') return policy.clusterNames?.length ?? 0;
  return undefined;
}
