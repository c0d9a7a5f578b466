// Conditions over time: the stamp of a condition moves only when its status does.
import { kubeTime } from '../base/clock.ts';
import type { Condition } from './conditions.ts';

export type Finding = Omit<Condition, 'lastTransitionTime'>;

export function conditionOf(conditions: readonly Condition[] | undefined, type: string): Condition | undefined {
  // Asked for every member of a large fleet in one go: without a function for each.
  for (const each of conditions ?? NONE) if (each.type === type) return each;
  return undefined;
}

const NONE: readonly Condition[] = [];

/** What is found now, as the successor of what was said before. */
export const nextCondition = (previous: Condition | undefined, finding: Finding, now: number): Condition => ({
  ...finding,
  lastTransitionTime: previous?.status === finding.status ? previous.lastTransitionTime : kubeTime(now),
});

/** Only details behind the same words are new: not worth a write of their own. The one use of a message besides showing it. */
export const isReportedAlready = (last: Condition | undefined, finding: Finding): boolean =>
  last !== undefined &&
  last.status === finding.status &&
  last.reason === finding.reason &&
  last.observedGeneration === finding.observedGeneration &&
  last.message.startsWith(finding.message);
