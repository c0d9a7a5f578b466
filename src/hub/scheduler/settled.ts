// When there is no run: a run has found nothing to do, and nothing has happened since that a run looks at. Of a placement whose selectors were edited
// only the generation has moved then, and decisions do not follow that.
// Differs from KubeFleet: there each new generation is a reason for a run, which moves what is on a cluster that is leaving, if not gone.
//
// A pass does not know what woke it, and one pass may be woken by several things. So what has happened is remembered by those who wake (the
// watch rules), for each placement until a run has found nothing to do; who knows nothing, as after a start, makes a run.
import { finalizers } from '../../api/names.ts';
import type { Projected, WatchRule } from '../../runtime/controller.ts';
import type { HubBinding, HubPlacement, HubPolicySnapshot } from '../placement-sources.ts';
import { clusterOf } from './bindings.ts';
import type { CycleInput } from './cycle.ts';
import { nameOf } from './plugin.ts';
import { scheduledCondition } from './report.ts';

/** In memory; as large as there are placements. */
export interface Settled {
  has(key: string): boolean;
  /** A run found nothing to do. */
  add(key: string): void;
  forget(key: string): void;
  /** The same rule: whom it wakes, something has happened to, unless `isNone` says that no run looks at it. */
  told<T extends Projected>(rule: WatchRule<T>, isNone?: (item: T, old: T) => boolean): WatchRule<T>;
}

export function createSettled(): Settled {
  const keys = new Set<string>();
  return {
    has: (key) => keys.has(key),
    add: (key) => void keys.add(key),
    forget: (key) => void keys.delete(key),
    told: (rule, isNone = () => false) => ({
      ...rule,
      toKeys(item, see, old) {
        const woken = rule.toKeys(item, see, old);
        if (old === undefined || !isNone(item, old)) for (const key of woken) keys.delete(key);
        return woken;
      },
    }),
  };
}

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
 * Whether all that was decided stands, by the objects themselves: the policy is fulfilled, and the bindings are those of its decisions. A policy
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
