// The pieces of an answer: a cause from a hold, a cause from how far a cluster is.
import { type Hold, sentenceOf } from '../api/hold.ts';
import { chainFrom, clusterChain, isTold, type Looking } from './evidence-chain.ts';
import type { Cause, Explanation } from './explanation.ts';
import type { ClusterProgress } from './placement-progress.ts';

export type Answer = Omit<Explanation, 'about'>;

export const MOST_CLUSTERS = 20;
export const HUB_RUNS = "see that the hub's controllers run (`flotilla up` or `flotilla hub`)";

export const answer = (sentence: string, more: Partial<Answer> = {}): Answer => ({
  sentence,
  isWaiting: true,
  causes: [],
  next: [],
  notes: [],
  ...more,
});

export const causeOfHold = async (looking: Looking, hold: Hold): Promise<Cause> => ({
  code: hold.code,
  sentence: sentenceOf(hold),
  ...(hold.since === undefined ? {} : { since: hold.since }),
  ...(hold.until === undefined ? {} : { until: hold.until }),
  // What to do about an object is said where its chain is told.
  ...(hold.next === undefined || isTold(looking, hold.on) ? {} : { next: hold.next }),
  evidence: await chainFrom(looking, hold.on ?? hold.subject),
});

export async function causeOfStage(
  looking: Looking,
  { cluster, stage, message, since }: ClusterProgress,
): Promise<Cause> {
  const next = nextFor(stage, cluster);
  return {
    sentence: `cluster "${cluster}" is ${stage}${message === '' ? '' : `: ${message}`}`,
    ...(since === undefined ? {} : { since }),
    evidence: await clusterChain(looking, cluster),
    ...(next === undefined ? {} : { next }),
  };
}

function nextFor(stage: ClusterProgress['stage'], cluster: string): string | undefined {
  if (stage === 'ApplyFailed' || stage === 'NotAvailable' || stage === 'OverrideFailed' || stage === 'CompareFailed') {
    return `mend what failed on cluster "${cluster}" (a fix moves on by itself)`;
  }
  return stage === 'Applying' || stage === 'Applied' || stage === 'Comparing'
    ? `wait for cluster "${cluster}"`
    : undefined;
}
