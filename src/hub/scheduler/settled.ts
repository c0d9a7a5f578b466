// When there is no run: a run has found nothing to do, and nothing has happened since that a run looks at. Of a placement whose selectors were edited
// only the generation has moved then, and decisions do not follow that.
// Differs from KubeFleet: there each new generation is a reason for a run, which moves what is on a cluster that is leaving, if not gone.
//
// A reconcile does not know what woke it, and several events may have. So the watch rules note for each placement that something has happened, until
// a run has found nothing to do. Without that memory, as after a start, there is a run.
import { finalizers } from '../../api/names.ts';
import type { Projected, WatchRule } from '../../runtime/controller.ts';
import type { HubBinding, HubPlacement, HubPolicySnapshot } from '../placement-sources.ts';
import { clusterOf } from './bindings.ts';
import type { CycleInput } from './cycle.ts';
import { nameOf } from './plugin.ts';
import { scheduledCondition } from './report.ts';

export interface Memory {
  /** The last run found nothing to do, and nothing has happened since that a run looks at. */
  isSettled: boolean;
}

/** The same rule, which notes for each key that something has happened, unless `isNone` says that no run looks at it. */
export const unsettling = <T extends Projected>(
  rule: WatchRule<T>,
  isNone: (item: T, old: T) => boolean = () => false,
): WatchRule<T, Memory> => ({
  ...rule,
  note(memory, item, old) {
    if (old === undefined || !isNone(item, old)) memory.isSettled = false;
  },
});

export interface Standing {
  readonly placement: HubPlacement;
  readonly snapshot: HubPolicySnapshot;
  /** Of PickN. */
  readonly numberOfClusters: number | undefined;
  readonly members: CycleInput['members'];
  readonly bindings: readonly HubBinding[];
  /** By cluster, of members that are being deleted: the moment from which each counts as gone. */
  readonly leaving: ReadonlyMap<string, number>;
  readonly now: number;
}

/**
 * Whether all decisions are carried out, by the objects themselves: the policy is fulfilled, and the bindings are those of its decisions. A policy
 * that is not fulfilled is worth a run whenever there is a reason to look. A member that is leaving changes nothing until it counts as gone.
 */
export function stands({ placement, snapshot, numberOfClusters, members, bindings, leaving, now }: Standing): boolean {
  const said = scheduledCondition(snapshot);
  if (said?.status !== 'True' || said.observedGeneration !== snapshot.metadata.generation) return false;
  if (!placement.metadata.finalizers?.includes(finalizers.schedulerCleanup)) return false;
  const decisions = snapshot.status?.targetClusters ?? [];
  const picked = new Set(decisions.filter(({ selected }) => selected).map(({ clusterName }) => clusterName));
  if (numberOfClusters !== undefined && picked.size !== numberOfClusters) return false;
  const known = new Set(members.map(nameOf));
  for (const [cluster, from] of leaving) if (from <= now) known.delete(cluster);
  const live = bindings.filter(({ spec }) => spec.state !== 'Unscheduled');
  return (
    live.length === picked.size &&
    new Set(live.map(clusterOf)).size === live.length &&
    bindings.every(({ metadata }) => metadata.deletionTimestamp === undefined) &&
    live.every(
      (binding) =>
        binding.spec.schedulingPolicySnapshotName === snapshot.metadata.name &&
        picked.has(clusterOf(binding)) &&
        known.has(clusterOf(binding)),
    )
  );
}
