// Whether a partitioned rollout with progressDeadlineSeconds is stalled: no cluster was updated or became ready within
// the deadline. Only the time of the last progress is kept, in status.rollout. A completed rollout does not stall until
// it has work again.
import type { Condition } from '../../api/conditions.ts';
import { conditionOf, nextCondition } from '../../api/next-condition.ts';
import { type PlacementStatus, STALLED, type StalledReason } from '../../api/placement.ts';
import type { RolloutState } from '../../api/rollout-state.ts';
import { kubeTime } from '../../base/clock.ts';
import type { BindingPlan } from '../strategies/strategy.ts';

export interface ProgressInput {
  readonly previous: PlacementStatus | undefined;
  /** The resource index that the status is about. */
  readonly revision: string;
  readonly plan: BindingPlan | undefined;
  /** undefined or 0 = never stalled. */
  readonly deadlineSeconds: number | undefined;
  readonly generation: number | undefined;
  readonly now: number;
}

export interface Progress {
  readonly lastProgressTime: string;
  readonly condition: Condition;
}

/** undefined = there is no deadline. */
export function progressOf({ previous, revision, plan, ...input }: ProgressInput): Progress | undefined {
  const { deadlineSeconds = 0, generation, now } = input;
  const rollout = plan?.rollout;
  if (plan === undefined || rollout === undefined || deadlineSeconds === 0) return undefined;
  const before = conditionOf(previous?.conditions, STALLED);
  const isSameRevision = (previous?.observedResourceIndex ?? '') === revision;
  const wasComplete = isSameRevision && before?.reason === ('RolloutComplete' satisfies StalledReason);
  const isComplete = isDone(plan) || (wasComplete && !hasWork(plan));
  const last = Date.parse(previous?.rollout?.lastProgressTime ?? '');
  const hasMoved =
    Number.isNaN(last) || !isSameRevision || wasComplete !== isComplete || isFurther(previous?.rollout, rollout);
  const lastProgressTime = hasMoved ? kubeTime(now) : kubeTime(last);
  const isLate = now >= stallsAt(lastProgressTime, deadlineSeconds);
  const finding = {
    type: STALLED,
    ...verdict({ rollout, isComplete, isLate, deadlineSeconds }),
    ...(generation === undefined ? {} : { observedGeneration: generation }),
  };
  return { lastProgressTime, condition: nextCondition(before, finding, now) };
}

interface Verdict {
  readonly rollout: RolloutState;
  readonly isComplete: boolean;
  readonly isLate: boolean;
  readonly deadlineSeconds: number;
}

function verdict({ rollout, isComplete, isLate, deadlineSeconds }: Verdict) {
  const not = (reason: StalledReason, message: string) => ({ status: 'False' as const, reason, message });
  if (isComplete) return not('RolloutComplete', 'the rollout is complete');
  if (rollout.paused === true) return not('RolloutPaused', 'the rollout is paused');
  if (!isLate) return not('RolloutProgressing', 'the rollout is progressing');
  return {
    status: 'True' as const,
    reason: 'ProgressDeadlineExceeded' satisfies StalledReason,
    message: `no cluster was updated or became ready for ${deadlineSeconds} s (progressDeadlineSeconds)`,
  };
}

/**
 * When a rollout without further progress is stalled. The time in the status is rounded down to seconds, so one second
 * is added.
 */
const stallsAt = (lastProgressTime: string, deadlineSeconds: number): number =>
  Date.parse(lastProgressTime) + (deadlineSeconds + 1) * 1000;

/** When the status changes without an event. */
export function nextStall({ conditions, rollout }: PlacementStatus, deadlineSeconds = 0): number {
  const isCounting = conditionOf(conditions, STALLED)?.reason === ('RolloutProgressing' satisfies StalledReason);
  return isCounting && rollout?.lastProgressTime !== undefined
    ? stallsAt(rollout.lastProgressTime, deadlineSeconds)
    : Number.POSITIVE_INFINITY;
}

/** Holds that the rollout does not resolve: the cluster is left out on purpose. */
const LEFT_OUT: readonly string[] = ['NoPartition', 'Paused'];

const isDone = (plan: BindingPlan): boolean =>
  plan.move.length === 0 && Object.values(plan.holds).every(({ code }) => LEFT_OUT.includes(code)) && !isPaused(plan);

/** A cluster waits for an update or is being updated. */
const hasWork = (plan: BindingPlan): boolean =>
  plan.move.length > 0 || plan.stale.some((key) => !LEFT_OUT.includes(plan.holds[key]?.code ?? '') || isPaused(plan));

const isPaused = ({ rollout, stale, remove }: BindingPlan): boolean =>
  rollout?.paused === true && stale.length + remove.length > 0;

const reachedIn = ({ desiredReady, pending, outOfSync }: RolloutState): number => desiredReady - pending - outOfSync;

function isFurther(before: RolloutState | undefined, after: RolloutState): boolean {
  if (before === undefined || (before.paused === true) !== (after.paused === true)) return true;
  return after.ready > before.ready || reachedIn(after) > reachedIn(before);
}
