// Decides what to do about a placement: snapshots, status, deletion. Guarantees: nothing is created before the
// finalizer is set. A placement with an invalid spec or invalid selectors gets no new snapshots, so nothing moves. The
// status is written only if it has changed, and not too often (status/status-rule.ts).
import type { Hold } from '../../api/hold.ts';
import { finalizers } from '../../api/names.ts';
import type { PlacementStatus } from '../../api/placement.ts';
import { specProblemHold } from '../../api/spec-problem.ts';
import { patch, patchStatus, recordEvent, refTo, remove, seen } from '../../runtime/actions.ts';
import { type Action, type Decision, idle } from '../../runtime/controller.ts';
import { latestMaster, planResources, type ResourcesPlan } from '../revisions/resource-snapshot.ts';
import { isLarge, tooLarge } from '../revisions/too-large.ts';
import { STATUS_INTERVAL_MS } from '../status/status-rule.ts';
import { isExternal, strategyOf } from '../strategies/table.ts';
import { boundStatus } from './bound-status.ts';
import { mirrored } from './mirror.ts';
import type { Living, Observed } from './observed.ts';
import { latestPolicy, policySteps } from './policy-snapshot.ts';
import { nextStall } from './stalled.ts';
import { placementStatus } from './status.ts';
import type { SelectionState } from './status-input.ts';
import { newsIn, saysTheSame, statusChange } from './write-status.ts';

type Steps = readonly (readonly Action[])[];

export function decide(observed: Observed): Decision {
  const { living, placement, family, failure } = observed;
  if (living === undefined) return decideEnd(observed);

  const plan = planOf(observed, living);
  const guarded = guard(observed);
  const snapshots = sideBySide(
    isBlocked(living)
      ? []
      : policySteps({ family, placement, snapshots: observed.policySnapshots, bindings: living.bindings }),
    plan?.state === 'too-large' ? [] : (plan?.steps ?? []),
  );
  const waitsUntil = plan?.state === 'waits' ? plan.until : Number.POSITIVE_INFINITY;

  // The status describes existing snapshots, so it is written once there is none left to create, or if creating one
  // fails. Deletions for the history do not delay it; a refused one is only logged.
  const isMaking = snapshots.some((step) => step.some((action) => action.do !== 'delete'));
  const holds = holdsOf(observed, living, { plan, isMaking });
  const isTold = !isMaking || (failure !== undefined && guarded.length === 0);
  const status = isTold && guarded.length === 0 ? statusSteps(observed, living, holds) : NOTHING_TOLD;
  const waking = (moment: number) => (Number.isFinite(moment) ? { wakeAt: moment } : {});
  if (status.isLater) {
    const because = 'the status was written a moment ago';
    return { steps: snapshots, holds, ...waking(waitsUntil), coalesceUntil: living.statusDue, because };
  }
  // Only the status and deletions for the history remain: they can wait, while other controllers wait for the
  // snapshots.
  if (guarded.length === 0 && !isTold) {
    const because = snapshots[0]?.[0]?.because ?? '';
    return {
      steps: snapshots,
      holds,
      ...waking(waitsUntil),
      coalesceUntil: observed.now + STATUS_INTERVAL_MS,
      again: 'later',
      because,
    };
  }
  const steps = [...guarded, ...status.steps, ...snapshots];
  const wakeAt = waking(Math.min(waitsUntil, status.until));
  if (steps.length === 0) {
    return idle(Number.isFinite(waitsUntil) ? 'the selected resources still change' : 'everything is up to date', {
      holds,
      ...wakeAt,
    });
  }
  return { steps, holds, ...wakeAt, because: steps[0]?.[0]?.because ?? '' };
}

// ---- deletion

/** The scheduler and the work generator clean up under finalizers of their own, in any order with this one. */
function decideEnd({ family, placement, policySnapshots, resourceSnapshots }: Observed): Decision {
  const kept = placement.metadata.finalizers ?? [];
  if (!kept.includes(finalizers.placementCleanup)) return idle('it is being deleted; other finalizers remain');
  const left = kept.filter((each) => each !== finalizers.placementCleanup);
  const steps = [
    policySnapshots.map((each) => remove(seen(family.policySnapshots, each), 'its placement is deleted')),
    resourceSnapshots.map((each) => remove(seen(family.resourceSnapshots, each), 'its placement is deleted')),
    [patch(seen(family.placements, placement), { metadata: { finalizers: left } }, 'no snapshots are left')],
    [
      recordEvent(family.placements, placement, {
        type: 'Normal',
        reason: 'PlacementCleanupFinalizerRemoved',
        message: 'The snapshots of the placement are deleted',
      }),
    ],
  ];
  return { steps: steps.filter((step) => step.length > 0), holds: [], because: 'the placement is deleted' };
}

// ---- the finalizer

function guard({ family, placement }: Observed): Steps {
  const kept = placement.metadata.finalizers ?? [];
  if (kept.includes(finalizers.placementCleanup)) return [];
  const all = [...kept, finalizers.placementCleanup];
  return [
    [
      patch(
        seen(family.placements, placement),
        { metadata: { finalizers: all } },
        'nothing is created before the finalizer is set',
      ),
    ],
  ];
}

// ---- snapshots

const isBlocked = ({ specProblem, selected }: Living): boolean =>
  specProblem !== undefined || selected.state !== 'selected';

/** undefined = this controller creates no snapshot now. With External the runs create them. */
function planOf({ family, placement, resourceSnapshots, now }: Observed, living: Living): ResourcesPlan | undefined {
  const { selected, bindings, pending, throttle, places, snapshotLimit: limit } = living;
  if (isBlocked(living) || selected.state !== 'selected') return undefined;
  if (isExternal(placement)) return undefined;
  const { content } = selected;
  return planResources({
    family,
    placement,
    snapshots: resourceSnapshots,
    bindings,
    content,
    pending,
    throttle,
    ...(places === undefined ? {} : { places }),
    ...(limit === undefined ? {} : { limit }),
    now,
  });
}

/** Merges the step lists: steps that concern different objects need not wait for each other. */
function sideBySide(...lists: readonly Steps[]): Steps {
  const filled = lists.map((steps) => steps.filter((step) => step.length > 0));
  const longest = Math.max(...filled.map((steps) => steps.length));
  return Array.from({ length: longest }, (_, index) => filled.flatMap((steps) => steps[index] ?? []));
}

// ---- why the placement does not progress

function holdsOf(
  { family, placement, failure, now }: Observed,
  { selected, specProblem, pending, throttle }: Living,
  { plan, isMaking }: { readonly plan: ResourcesPlan | undefined; readonly isMaking: boolean },
): readonly Hold[] {
  const subject = refTo(family.placement, placement);
  const holds: Hold[] = specProblem === undefined ? [] : [specProblemHold(subject, specProblem)];
  if (selected.state === 'pending') {
    const { kind, message, next } = selected;
    holds.push({ code: 'SelectionPending', subject, facts: { kind, message }, next });
  }
  if (plan?.state === 'too-large' && selected.state === 'selected') {
    holds.push({ code: 'SnapshotTooLarge', subject, ...tooLarge(selected.content) });
  }
  // The short delay of a burst of changes is not reported.
  if (plan?.state === 'waits' && plan.until > now + throttle.longestMs) {
    holds.push({
      code: 'RevisionPending',
      subject,
      facts: {},
      ...(pending === undefined ? {} : { since: pending.firstSeen }),
      until: plan.until,
      next: 'wait, or let the hub collect changes for less long (--resource-changes-collection-duration, --resource-snapshot-creation-minimum-interval)',
    });
  }
  // The error of the last reconcile matters only while a snapshot must be created; a refused status is simply written
  // again.
  if (failure !== undefined && isMaking) {
    const large = selected.state === 'selected' && isLarge(selected.content) ? tooLarge(selected.content) : undefined;
    holds.push({
      code: 'StepRefused',
      subject,
      facts: { message: failure.message, reason: failure.reason, ...large?.facts },
      ...(large === undefined ? {} : { next: large.next }),
    });
  }
  return holds;
}

// ---- the status

interface Said {
  readonly steps: Steps;
  /** Not due yet: the status was just written. */
  readonly isLater?: boolean;
  /** When the status changes by time alone. */
  readonly until: number;
}

const NOTHING_TOLD: Said = { steps: [], until: Number.POSITIVE_INFINITY };

function statusSteps(observed: Observed, living: Living, holds: readonly Hold[]): Said {
  const { family, placement, now } = observed;
  const { previous, statusDue, mirror } = living;
  if (now < statusDue) return { ...NOTHING_TOLD, isLater: true };
  const policySnapshot = latestPolicy(observed.policySnapshots);
  const latestSnapshot = latestMaster(observed.resourceSnapshots);
  const wanted = boundStatus(
    placementStatus({
      kind: family.placement,
      placement,
      previous,
      selection: selectionState(living),
      ...(policySnapshot === undefined ? {} : { policySnapshot }),
      resourceSnapshots: observed.resourceSnapshots,
      ...(latestSnapshot === undefined ? {} : { latestSnapshot }),
      ...(living.orders === undefined ? {} : { orders: living.orders }),
      ...(living.delivered === undefined ? {} : { delivered: living.delivered }),
      bindings: living.bindings,
      members: living.members,
      groups: living.groups,
      freezes: living.freezes,
      heldOn: living.heldOn,
      holds,
      now,
    }),
  );
  const copying =
    mirror && mirrored({ family, placement, mirror, previous, status: wanted, failure: observed.failure, now });
  const copy = copying?.step === undefined ? [] : [[copying.step]];
  const status = copying?.status ?? wanted;
  const deadline = placement.spec.strategy?.partitioned?.progressDeadlineSeconds;
  const until = Math.min(firstEnd(status, now), nextStall(status, deadline));
  if (saysTheSame(previous, status)) return { steps: copy, until };
  const news = newsOf(observed, living, status).map((each) => recordEvent(family.placements, placement, each));
  // Events follow the write: if it conflicts, there is nothing to report yet.
  const change = statusChange(previous, status);
  const own = [
    [patchStatus(seen(family.placements, placement), change, 'the status is out of date')],
    ...(news.length === 0 ? [] : [news]),
  ];
  return { steps: copying?.isRefused ? [...own, ...copy] : [...copy, ...own], until };
}

function newsOf({ family, placement, policySnapshots }: Observed, living: Living, status: PlacementStatus) {
  const { previous, bindings } = living;
  const policySnapshot = latestPolicy(policySnapshots);
  const turn = { before: previous, after: status, bindings };
  return [
    ...(strategyOf(placement)?.news({
      family,
      spec: placement.spec,
      policySnapshot,
      placement: refTo(family.placement, placement),
      groups: living.groups,
      ...turn,
    }) ?? []),
    ...newsIn(refTo(family.placement, placement), previous, status),
  ];
}

/**
 * When the first hold with an end is over: it must not stay in the status for longer. Times in the status are whole
 * seconds.
 */
function firstEnd({ holds = [] }: PlacementStatus, now: number): number {
  const ends = holds.flatMap(({ until }) => (until === undefined ? [] : Date.parse(until) + 1));
  return Math.min(Number.POSITIVE_INFINITY, ...ends.filter((end) => end > now));
}

function selectionState({ selected }: Living): SelectionState {
  switch (selected.state) {
    case 'selected':
      return { state: 'selected', resources: selected.content.resources, notes: selected.notes };
    case 'invalid':
      return selected;
    case 'pending':
      return { state: 'pending' };
  }
}
