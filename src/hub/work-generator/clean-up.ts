// What is cleaned up with a binding that is being deleted.
// Guarantee: the finalizer of a binding is removed only when its Works are gone, so a successor on the same cluster
// meets no remnants.
import { finalizers, labels } from '../../api/names.ts';
import { work } from '../../api/work.ts';
import { assertUnchanged, patch, refTo, remove, seen } from '../../runtime/actions.ts';
import { type Action, type Decision, idle } from '../../runtime/controller.ts';
import type { PlacementFamily } from '../families.ts';
import type { HubBinding } from '../placement-sources.ts';
import { type HubWork, works as workSource } from '../work-source.ts';
import { releases } from './foreign-metadata.ts';
import { changedMarks, KEEPING } from './keeping.ts';
import type { Observed } from './observed.ts';
import { isCleanedUpWith, isOf } from './whose-work.ts';

/**
 * Differs from KubeFleet: it waits until the Works are deleted, not until they are marked. It deletes none of a member
 * that is being deleted, which may not answer: membership releases these Works with the namespace.
 */
export function cleanUp({
  family,
  binding,
  works,
  survivor,
  isMemberLeaving,
  keepsTakenOver: keeps,
}: Observed): Decision {
  if (survivor !== undefined) {
    const inherited = works.filter((each) => isOf(binding, each));
    if (inherited.length > 0) return handOver(family, survivor, inherited);
  }
  const own = survivor === undefined && !isMemberLeaving ? works.filter((each) => isCleanedUpWith(binding, each)) : [];
  const live = own.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const untold = live.flatMap((each) => {
    const change = changedMarks(binding, each, keeps);
    return change === undefined ? [] : [patch(seen(workSource, each), { metadata: { annotations: change } }, KEEPING)];
  });
  // The member must know what to keep before the Work goes.
  if (untold.length > 0) return { steps: [untold], holds: [], because: KEEPING };
  if (live.length > 0) {
    const because = `deletes ${live.length} Works`;
    return { steps: [live.map((each) => remove(seen(workSource, each), because))], holds: [], because };
  }
  const released = releases(own);
  if (released.length > 0) return { steps: [released], holds: [], because: released[0]?.because ?? '' };
  if (own.length > 0) {
    const because = `the member is still cleaning up ${own.length} Works`;
    const subject = refTo(family.binding, binding);
    const on = refTo(work, own[0] as HubWork);
    const facts = { works: own.length, cluster: binding.spec.targetCluster };
    return idle(because, {
      holds: [{ code: 'CleaningUp', subject, on, facts, next: 'check the agent of the member' }],
    });
  }
  const left = (binding.metadata.finalizers ?? []).filter((each) => each !== finalizers.workCleanup);
  if (left.length === (binding.metadata.finalizers ?? []).length)
    return idle('another client has a finalizer on the binding');
  const because = isMemberLeaving
    ? 'its member is being deleted; what runs there keeps running'
    : survivor === undefined
      ? 'nothing is left on the cluster'
      : `the objects on the cluster belong to "${survivor.metadata.name}"`;
  return {
    steps: [
      [patch(seen(family.bindings, binding), { metadata: { finalizers: left.length === 0 ? null : left } }, because)],
    ],
    holds: [],
    because,
  };
}

/**
 * Every Work must belong to a binding with the finalizer. The survivor may not have it yet, so it gets it in the step
 * before the Works are handed over.
 */
function handOver(family: PlacementFamily, survivor: HubBinding, inherited: readonly HubWork[]): Decision {
  const because = `"${survivor.metadata.name}" takes over ${inherited.length} Works`;
  const change = { metadata: { labels: { [labels.parentBinding]: survivor.metadata.name } } };
  const held = hasFinalizer(survivor)
    ? assertUnchanged(seen(family.bindings, survivor), `makes sure that "${survivor.metadata.name}" is still there`)
    : addFinalizer(family, survivor);
  return {
    steps: [[held], inherited.map((each) => patch(seen(workSource, each), change, because))],
    holds: [],
    because,
  };
}

export const hasFinalizer = ({ metadata }: HubBinding): boolean =>
  metadata.finalizers?.includes(finalizers.workCleanup) ?? false;

export function addFinalizer({ bindings }: PlacementFamily, binding: HubBinding): Action {
  const all = [...(binding.metadata.finalizers ?? []), finalizers.workCleanup];
  return patch(seen(bindings, binding), { metadata: { finalizers: all } }, 'will have Works to clean up');
}
