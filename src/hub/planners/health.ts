// Derives the health of a binding. Only conditions of its present generation count: after a change, the others still
// describe the old content.
import type { Condition } from '../../api/conditions.ts';
import { conditionOf } from '../../api/next-condition.ts';
import type { HubBinding } from '../placement-sources.ts';
import type { Health } from './planner.ts';

/** Reasons of a True condition if availability could not be tracked. */
const UNTRACKED: readonly string[] = ['NotAllWorkAreAvailabilityTrackable', 'WorkNotTrackable'];

/**
 * Reasons of a False condition that is not final. Differs from KubeFleet: there ApplyInProgress counts as failed, and a
 * slow cluster makes room for one more surge.
 */
const PENDING: readonly string[] = [
  'OverriddenPending',
  'WorkNotSynchronizedYet',
  'ApplyPending',
  'ApplyInProgress',
  'ResourceNotAvailableYet',
  'DiffReportInProgress',
];

const JUDGED = ['Overridden', 'WorkSynchronized', 'Applied', 'Available'] as const;

export interface Judgement {
  readonly health: Health;
  readonly since: number;
  /** The type of the condition that decided the health. */
  readonly at?: string;
  readonly why?: string;
}

type Judged = Pick<HubBinding, 'metadata' | 'conditions' | 'failedPlacements'>;

/**
 * Differs from KubeFleet: there a cluster that is not available has failed. Here a starting cluster keeps its place in
 * the surge; an update of it still costs no budget, because it is unavailable anyway.
 */
const hasGivenUp = ({ failedPlacements = [] }: Judged): boolean =>
  failedPlacements.some(({ condition }) => condition.type === 'Available' && condition.reason === 'Failed');

export function judge(binding: Judged): Judgement {
  const { metadata, conditions } = binding;
  const fresh = (type: string): Condition | undefined => {
    const condition = conditionOf(conditions, type);
    return condition?.observedGeneration === metadata.generation ? condition : undefined;
  };
  const as = (health: Health, condition?: Condition): Judgement => ({
    health,
    since: condition === undefined ? 0 : Date.parse(condition.lastTransitionTime),
    ...(condition === undefined ? {} : { at: condition.type }),
    ...(condition === undefined || condition.status === 'True' ? {} : { why: condition.message || condition.reason }),
  });

  const diffed = fresh('DiffReported');
  if (diffed?.status === 'False' && PENDING.includes(diffed.reason)) return as('progressing', diffed);
  if (diffed !== undefined) return as(diffed.status === 'True' ? 'diffed' : 'diff-failed', diffed);
  const told = JUDGED.map(fresh);
  const failed = told.find((each) => each?.status === 'False' && !PENDING.includes(each.reason));
  if (failed !== undefined)
    return as(failed.type === 'Available' && !hasGivenUp(binding) ? 'starting' : 'failed', failed);
  const available = fresh('Available');
  if (available?.status === 'True')
    return as(UNTRACKED.includes(available.reason) ? 'untracked' : 'available', available);
  const last = told.findLast((each) => each !== undefined);
  return last === undefined ? as('unknown') : as('progressing', last);
}
