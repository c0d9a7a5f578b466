// The Works of one cluster: what its binding asks for is written, and what the member reports of it is repeated on the
// binding. Begin here: whose-work.ts says which Works count, write-work.ts what they should be, clean-up.ts what happens
// to them with the binding, report.ts what the binding reports.
import { assertUnchanged, recordEvent, remove, seen } from '../../runtime/actions.ts';
import { type Decision, idle } from '../../runtime/controller.ts';
import { isLasting } from '../bindings/lasting-failure.ts';
import { isReleased } from '../orders/release.ts';
import { type HubWork, works as workSource } from '../work-source.ts';
import { addFinalizer, cleanUp, hasFinalizer } from './clean-up.ts';
import { type DesiredWork, desiredWorks, type Failed, isFailed, originOf } from './desired.ts';
import { envelopesAsNamed } from './envelope-works.ts';
import { releases } from './foreign-metadata.ts';
import type { Observed } from './observed.ts';
import { notSynchronized, report, reportSteps } from './report.ts';
import type { Said } from './summary.ts';
import { isDeleting, isForeign, isLater, isOf, NOT_MANAGED, notManagedMessage, REPLACED } from './whose-work.ts';
import { carries, writeApplyStrategy, writeWork } from './write-work.ts';

export function decide(observed: Observed): Decision {
  const { binding } = observed;
  if (binding.metadata.deletionTimestamp !== undefined) return cleanUp(observed);
  if (observed.survivor !== undefined)
    return idle(`"${observed.survivor.metadata.name}" is the survivor for its cluster`);
  if (binding.spec.state === 'Scheduled') return idle('the rollout has not reached it');
  if (!observed.isMemberThere) return idle('its member does not exist any more; the scheduler unschedules it');
  if (!hasFinalizer(binding)) return addOwnFinalizer(observed);
  if (binding.spec.state === 'Bound' && !isReleased(binding)) return idle('the rollout has not released it yet');
  if (observed.group === 'incomplete') return idle('parts of its snapshot are still to come');
  if (observed.group === 'missing')
    return withoutSnapshot(observed, `the resource snapshot "${binding.spec.resourceSnapshotName}" does not exist`);
  if (typeof observed.overrides === 'string')
    return withoutSnapshot(observed, `the override snapshot "${observed.overrides}" does not exist`);
  const desired = desiredWorks(binding, observed.group, observed.overrides);
  return isFailed(desired) ? withoutRendering(observed, desired) : order(observed, desired);
}

function addOwnFinalizer({ family, binding }: Observed): Decision {
  const held = addFinalizer(family, binding);
  return { steps: [[held]], holds: [], because: held.because };
}

/** History may have taken the snapshot; Works that carry it already are what they should be. */
function withoutSnapshot(observed: Observed, message: string): Decision {
  const { binding, works } = observed;
  const own = works.filter((each) => isOf(binding, each));
  const origin = originOf(binding);
  const carry = own.filter(({ metadata }) => carries(metadata.annotations, origin));
  const going = own.find(isDeleting);
  if (going !== undefined)
    return whileGoing(observed, going, 'its snapshot does not exist any more, so it cannot be replaced');
  if (own.some((each) => isLater(binding, each))) return idle(REPLACED);
  if (own.length > 0 && carry.length === own.length) {
    const writes = carry.flatMap((each) => writeApplyStrategy(observed, each));
    return report(observed, writes.length > 0 ? undefined : own, [writes]);
  }
  // Differs from KubeFleet: there this reads as a failed override.
  return notSynchronized(observed, { status: 'False', reason: 'SyncWorkFailed', message });
}

/** What is on the cluster stays as it is until the override is fixed. */
function withoutRendering(observed: Observed, { reason, message }: Failed): Decision {
  if (observed.works.some((each) => isOf(observed.binding, each) && isLater(observed.binding, each)))
    return idle(REPLACED);
  if (reason === 'SyncWorkFailed') return notSynchronized(observed, { status: 'False', reason, message });
  const said: Said = { type: 'Overridden', status: 'False', reason, message };
  const none = { failedPlacements: [], driftedPlacements: [], diffedPlacements: [] };
  return reportSteps(observed, { said: [said], ...none }, []);
}

/** Its objects are deleted with it: until it exists again, the cluster must not count as available. */
const whileGoing = (observed: Observed, { metadata }: Pick<HubWork, 'metadata'>, then: string): Decision =>
  notSynchronized(observed, {
    status: 'Unknown',
    reason: 'WorkSynchronizedUnknown',
    message: `Work "${metadata.namespace}/${metadata.name}" is being deleted; ${then}`,
  });

const besideForeign = (observed: Observed, foreign: HubWork): Decision =>
  notSynchronized(observed, { status: 'False', reason: NOT_MANAGED, message: notManagedMessage(foreign) });

function order(observed: Observed, asked: readonly DesiredWork[]): Decision {
  const { binding, works } = observed;
  const { desired, duplicates } = envelopesAsNamed(
    asked,
    works.filter((each) => isOf(binding, each) && !isDeleting(each)),
  );
  const byName = new Map(works.map((each) => [each.metadata.name ?? '', each]));
  const going = desired.map(({ name }) => byName.get(name)).find((each) => each !== undefined && isDeleting(each));
  if (going !== undefined) {
    const released = releases([going]);
    if (released.length > 0) return { steps: [released], holds: [], because: released[0]?.because ?? '' };
    return whileGoing(observed, going, 'it is created again when it is deleted');
  }
  if (desired.some(({ name }) => isLater(binding, byName.get(name)))) return idle(REPLACED);
  const foreign = desired
    .map(({ name }) => byName.get(name))
    .find((each) => each !== undefined && isForeign(binding, each));
  if (foreign !== undefined) return besideForeign(observed, foreign);
  const writes = desired.flatMap((each) => writeWork(observed, each, byName.get(each.name)));
  const wanted = new Set(desired.map(({ name }) => name));
  const extra = works.filter(
    (each) =>
      !observed.isMemberLeaving &&
      isOf(binding, each) &&
      !wanted.has(each.metadata.name ?? '') &&
      each.metadata.deletionTimestamp === undefined,
  );
  const taken = extra.map((each) => remove(seen(workSource, each), 'no longer part of the desired state'));
  const refused = writes.length + taken.length > 0 ? refusal(observed) : undefined;
  if (refused !== undefined) return refused;
  const present = desired.flatMap(({ name }) => byName.get(name) ?? []);
  // A stale hub would create a Work for a deleted binding, and no controller would ever delete it.
  const sure = writes.some((each) => each.do === 'create')
    ? [assertUnchanged(seen(observed.family.bindings, binding), 'makes sure that the binding is still there')]
    : [];
  // New Works first: an object that moves into one must be named there before the Work it leaves stops naming it.
  const made = writes.filter((each) => each.do === 'create');
  const changed = writes.filter((each) => each.do !== 'create');
  const told = duplicates.map((message) =>
    recordEvent(observed.family.bindings, binding, { type: 'Warning', reason: 'DuplicateEnvelopeWorks', message }),
  );
  return report(observed, writes.length > 0 ? undefined : present, [sure, made, changed, taken, told]);
}

/**
 * A write that the hub's own server refuses is reported once and then retried. An unscheduled cluster does not report
 * it: what it has stays as it is, and it would count as a cluster that failed.
 */
function refusal(observed: Observed): Decision | undefined {
  const { failure, binding } = observed;
  if (failure === undefined || !isLasting(failure) || binding.spec.state !== 'Bound') return undefined;
  const message = `cannot write the Work for cluster "${binding.spec.targetCluster}": ${failure.message}`;
  const said = notSynchronized(observed, { status: 'False', reason: 'SyncWorkFailed', message });
  return said.steps.length > 0 ? said : undefined;
}
