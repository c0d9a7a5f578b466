// The messages of a binding's conditions when all is well. A hundred thousand bindings have the same few messages, so
// each is in memory once.
import type { BindingReason } from '../../api/binding.ts';
import type { Condition } from '../../api/conditions.ts';

const SENTENCES: Readonly<Partial<Record<BindingReason, string>>> = {
  RolloutStarted: 'the newest content is on its way to the cluster',
  RolloutNotStartedYet: 'the cluster waits for its turn in the rollout',
  NoOverrideSpecified: 'no overrides apply to the cluster',
  OverriddenSucceeded: 'the overrides for the cluster have been applied',
  AllWorkSynced: 'every Work for the cluster is up to date',
  ApplyInProgress: 'the cluster has not reported on the newest content yet',
  DiffReportInProgress: 'the cluster has not reported the differences to the newest content yet',
  AllWorkHaveDiffReported: 'the differences on the cluster have been reported',
  AllWorkHaveBeenApplied: 'everything has been applied on the cluster',
  AllWorkAreAvailable: 'everything is available on the cluster',
};

export const bindingSentence = (reason: BindingReason): string => SENTENCES[reason] ?? '';

/** The same condition, with the shared copy of its message if it is one of these. */
export function shared(condition: Condition): Condition {
  const sentence = (SENTENCES as Readonly<Record<string, string>>)[condition.reason];
  return sentence === condition.message ? { ...condition, message: sentence } : condition;
}
