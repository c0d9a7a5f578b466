// How a binding is. Only conditions that speak of its present generation count: after a change the status still praises the old content.
import type { Condition } from '../../api/conditions.ts';
import { conditionOf } from '../../api/next-condition.ts';
import type { HubBinding } from '../placement-sources.ts';
import type { Health } from './planner.ts';

/** True, but availability could not be tracked. */
const UNTRACKED: readonly string[] = ['NotAllWorkAreAvailabilityTrackable', 'WorkNotTrackable'];

/**
 * False for now, not for good.
 * Differs from KubeFleet: there ApplyInProgress counts as failed, and a cluster that is only slow lets one more surge.
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
  /** The type of the condition that it rests on. */
  readonly at?: string;
  readonly why?: string;
}

type Judged = Pick<HubBinding, 'metadata' | 'conditions' | 'failedPlacements'>;

/**
 * Differs from KubeFleet: there what is not available has failed. What is only starting keeps its place within the surge; it can be fixed for free
 * all the same, for it is down.
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
