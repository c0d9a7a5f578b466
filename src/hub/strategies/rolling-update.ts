// The RollingUpdate strategy: its limits with defaults, and its plan (planners/rolling.ts).
import { conditionOf } from '../../api/next-condition.ts';
import type { PlacementEventReason } from '../../api/placement.ts';
import { countRoundedUp, type IntOrPercent } from '../../base/int-or-percent.ts';
import type { EventText } from '../../runtime/actions.ts';
import type { HubPlacement, HubPolicySnapshot } from '../placement-sources.ts';
import { type RollingLimits, rolling } from '../planners/rolling.ts';
import { type LimitsInput, type StatusTurn, strategyWith } from './strategy.ts';

export const rollingUpdate = strategyWith({
  limitsOf: rollingLimitsOf,
  plan({ rows, limits, now }) {
    const plan = rolling({ rows, limits, state: undefined, now });
    const { ready, target, minAvailable, canBeReady, maxSurge } = plan.figures;
    return {
      ...plan,
      // The budget is based on fewer clusters than the policy asks for, because the scheduler finds no more; it may
      // find one while bindings change.
      removesLast: target < (limits.target ?? target),
      summary: `${ready} ready of ${target}, ${minAvailable} must stay, ${canBeReady} of ${target + maxSurge} placed`,
    };
  },
  news: newsOfZero,
});

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

/** The clusters that the scheduler found, if it reported for this snapshot that it cannot find more. */
export function foundOnly({ metadata, status }: HubPolicySnapshot): readonly string[] | undefined {
  const scheduled = conditionOf(status?.conditions, 'Scheduled');
  if (scheduled?.status !== 'False' || scheduled.observedGeneration !== metadata.generation) return undefined;
  return (status?.targetClusters ?? []).filter(({ selected }) => selected).map(({ clusterName }) => clusterName);
}

/** The schema accepts a quoted number. Differs from KubeFleet, where it counts as 0 unless a webhook rejects it. */
const plainCount = (value: IntOrPercent): IntOrPercent =>
  typeof value === 'string' && /^\d+$/.test(value) ? Math.min(Number(value), Number.MAX_SAFE_INTEGER) : value;

function targetOf(policy: HubPlacement['spec']['policy']): number | undefined {
  if (policy?.placementType === 'PickN') return policy.numberOfClusters ?? 0;
  if (policy?.placementType === 'PickFixed') return policy.clusterNames?.length ?? 0;
  return undefined;
}

/** An in-place update cannot respect maxUnavailable 0. An Event says so, once per revision. */
export function newsOfZero({ before, after, bindings }: StatusTurn, limits: RollingLimits): readonly EventText[] {
  const { observedResourceIndex: was = '' } = before ?? {};
  const { observedResourceIndex: is = '' } = after;
  const isInPlace = bindings.some(
    ({ metadata, spec }) => metadata.deletionTimestamp === undefined && spec.state === 'Bound',
  );
  if (was === '' || is === '' || was === is || !isInPlace || countRoundedUp(limits.maxUnavailable, 1) > 0) return [];
  const message = `maxUnavailable is 0, which content that changes in place cannot keep: revision ${is} goes to one cluster at a time`;
  return [{ type: 'Warning', reason: 'PlacementUpdatesOneByOne' satisfies PlacementEventReason, message }];
}
