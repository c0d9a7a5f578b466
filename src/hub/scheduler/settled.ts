// When no scheduling run is needed: a run found nothing to do, and nothing that a run reads has changed since. If only
// the selectors of a placement were edited, only the generation has changed, and decisions do not depend on it. Differs
// from KubeFleet: there each new generation triggers a run, which moves workloads from a cluster that is leaving but
// not gone.
//
// A reconcile does not know which events requeued it. So the watch rules note for each placement that something has
// changed, until a run finds nothing to do. Without that memory, as after a start, there is a run.
import { finalizers } from '../../api/names.ts';
import type { Projected, WatchRule } from '../../runtime/controller.ts';
import type { HubBinding, HubPlacement, HubPolicySnapshot } from '../placement-sources.ts';
import { clusterOf } from './bindings.ts';
import type { CycleInput } from './cycle.ts';
import { nameOf } from './plugin.ts';
import { scheduledCondition } from './report.ts';

export interface Memory {
  /** The last run found nothing to do, and nothing that a run reads has changed since. */
  isSettled: boolean;
}

/** The same rule, which also notes the change for each key, unless `isNone` says that no run reads it. */
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
  /** For PickN. */
  readonly numberOfClusters: number | undefined;
  readonly members: CycleInput['members'];
  readonly bindings: readonly HubBinding[];
  /** Leaving members, by cluster: when each counts as deleted. */
  readonly leaving: ReadonlyMap<string, number>;
  readonly now: number;
}

/**
 * Whether the objects show that all decisions are carried out: the policy is satisfied, and the bindings match its
 * decisions. A policy that is not satisfied runs on every reconcile. A leaving member changes nothing until it counts
 * as deleted.
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
