// What a binding's conditions say to people when all is well. A hundred thousand bindings say the same few things: in memory each sentence is
// there once.
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

/** The same condition, with our own copy of its sentence where it is one of ours. */
export function shared(condition: Condition): Condition {
  const sentence = (SENTENCES as Readonly<Record<string, string>>)[condition.reason];
  return sentence === condition.message ? { ...condition, message: sentence } : condition;
}
