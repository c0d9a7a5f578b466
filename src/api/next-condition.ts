// Conditions over time: lastTransitionTime changes only with the status.
import { kubeTime } from '../base/clock.ts';
import type { Condition } from './conditions.ts';

export type Finding = Omit<Condition, 'lastTransitionTime'>;

export function conditionOf(conditions: readonly Condition[] | undefined, type: string): Condition | undefined {
  // Called for every member of a large fleet at once, so it allocates no closure.
  for (const each of conditions ?? NONE) if (each.type === type) return each;
  return undefined;
}

const NONE: readonly Condition[] = [];

/** The successor of the previous condition. */
export const nextCondition = (previous: Condition | undefined, finding: Finding, now: number): Condition => ({
  ...finding,
  lastTransitionTime: previous?.status === finding.status ? previous.lastTransitionTime : kubeTime(now),
});

/**
 * Only details after the same message are new, which is not worth a write. This is the only decision that depends on a
 * message.
 */
export const isReportedAlready = (last: Condition | undefined, finding: Finding): boolean =>
  last !== undefined &&
  last.status === finding.status &&
  last.reason === finding.reason &&
  last.observedGeneration === finding.observedGeneration &&
  last.message.startsWith(finding.message);
