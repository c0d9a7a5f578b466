// Decides whether a status has to be written and which Events to record: only if it has changed, and once per
// transition.
import { isStartFailure } from '../../api/apply-cause.ts';
import type { Condition } from '../../api/conditions.ts';
import { BLOCKING, sentenceOf } from '../../api/hold.ts';
import type { HoldEntry } from '../../api/holds.ts';
import { conditionOf } from '../../api/next-condition.ts';
import { type ObjectRef, refText } from '../../api/object.ts';
import {
  type PlacementCondition,
  type PlacementEventReason,
  type PlacementStatus,
  placementConditionType,
  STALLED,
} from '../../api/placement.ts';
import { deepEqual } from '../../base/json.ts';
import type { EventText } from '../../runtime/actions.ts';
import { holdOf } from '../status/holds-summary.ts';

/**
 * Changed numbers of a hold are not written, because during a rollout they change with every cluster. An unreachable
 * member is: it is recorded nowhere else, and a user who waits for that member would wait in vain.
 */
const gist = ({ code, on, count, facts }: HoldEntry) => ({
  code,
  on,
  count,
  isUnreachable: facts?.['cause'] === 'unreachable',
});

export const saysTheSame = (a: PlacementStatus | undefined, b: PlacementStatus): boolean =>
  a !== undefined && deepEqual(gistOf(a), gistOf(b));

const gistOf = ({ conditions = [], holds = [], ...status }: PlacementStatus) => ({
  ...status,
  holds: holds.map(gist),
  conditions: conditions.map(withoutNumbers),
});

/** While a rollout waits, this message contains the numbers of the hold. */
const withoutNumbers = (condition: Condition): Condition =>
  condition.type.endsWith('RolloutStarted') && condition.status !== 'True' ? { ...condition, message: '' } : condition;

/** A merge patch that also removes the fields that the status, or its `rollout`, no longer has. */
export const statusChange = (live: PlacementStatus | undefined, wanted: PlacementStatus): object => {
  const { rollout } = wanted;
  return {
    ...withoutOld(live, wanted),
    ...(rollout === undefined ? {} : { rollout: withoutOld(live?.rollout, rollout) }),
  };
};

const withoutOld = <T extends object>(live: T | undefined, wanted: T): object => {
  const old = Object.keys(live ?? {}).filter((field) => wanted[field as keyof T] === undefined);
  return { ...wanted, ...Object.fromEntries(old.map((field) => [field, null])) };
};

interface Told {
  readonly condition: PlacementCondition;
  readonly reason: PlacementEventReason;
  readonly message: string;
}

const TOLD: readonly Told[] = [
  {
    condition: 'RolloutStarted',
    reason: 'PlacementRolloutStarted',
    message: 'The rollout of the latest resources has begun',
  },
  { condition: 'Overridden', reason: 'PlacementOverriddenSucceeded', message: 'All overrides have been applied' },
  {
    condition: 'WorkSynchronized',
    reason: 'PlacementWorkSynchronized',
    message: 'The works of all selected clusters have been written',
  },
  { condition: 'Applied', reason: 'PlacementApplied', message: 'The resources are applied on all selected clusters' },
  {
    condition: 'Available',
    reason: 'PlacementAvailable',
    message: 'The resources are available on all selected clusters',
  },
  {
    condition: 'DiffReported',
    reason: 'PlacementDiffReported',
    message: 'The differences on all selected clusters are reported',
  },
];
const LAST: readonly PlacementCondition[] = ['Available', 'DiffReported'];

const GATES: readonly string[] = ['BudgetUsed', 'SurgeUsed'];
const LASTING: readonly unknown[] = ['failed', 'unreachable'];

/** The hold that blocks the placement, or of a cluster that blocks others for longer than it takes to start. */
const holderIn = (status: PlacementStatus | undefined): HoldEntry | undefined =>
  status?.holds?.find(
    ({ code, facts }) => BLOCKING.includes(code) || (GATES.includes(code) && LASTING.includes(facts?.['cause'])),
  );

function newsOfHolder(
  subject: ObjectRef,
  before: PlacementStatus | undefined,
  after: PlacementStatus,
): readonly EventText[] {
  const [was, is] = [holderIn(before), holderIn(after)];
  if (is === undefined || (was?.code === is.code && was.on?.name === is.on?.name)) return [];
  const message = sentenceOf(holdOf(is, subject));
  return [{ type: 'Warning', reason: 'PlacementRolloutHeld' satisfies PlacementEventReason, message }];
}

/** Once per stall; renewed progress is reported by the partitions. */
function newsOfStall(before: PlacementStatus | undefined, after: PlacementStatus): readonly EventText[] {
  const stalled = conditionOf(after.conditions, STALLED);
  if (stalled?.status !== 'True' || conditionOf(before?.conditions, STALLED)?.status === 'True') return [];
  const reason = 'PlacementRolloutStalled' satisfies PlacementEventReason;
  return [{ type: 'Warning', reason, message: `The rollout is stalled: ${stalled.message}` }];
}

interface Refused {
  readonly cluster: string;
  readonly message: string;
}

/** Clusters that refused objects, each with the first object. */
const refusedIn = (status: PlacementStatus | undefined): readonly Refused[] =>
  (status?.placementStatuses ?? []).flatMap(({ clusterName: cluster = '', failedPlacements = [] }) =>
    failedPlacements
      .filter(({ condition }) => condition.type === 'Applied')
      .slice(0, 1)
      .map(({ condition: { message, reason } }) => ({ cluster, message: message || reason })),
  );

/** Once per revision; more clusters that refuse it are not reported. */
function newsOfRefusal(before: readonly Refused[], after: readonly Refused[]): readonly EventText[] {
  const [first, ...others] = after;
  if (first === undefined || before.length > 0) return [];
  const more = others.length === 0 ? '' : `; and ${others.length} more ${others.length === 1 ? 'cluster' : 'clusters'}`;
  const message = `cluster "${first.cluster}": ${first.message}${more}`;
  return [{ type: 'Warning', reason: 'PlacementApplyFailed' satisfies PlacementEventReason, message }];
}

interface Stuck {
  readonly cluster: string;
  readonly revision: string;
  readonly object: string;
  readonly cause: { readonly code: string; readonly message?: string };
}

/** Workloads that cannot start, by cause and revision. */
function stuckIn(status: PlacementStatus | undefined): ReadonlyMap<string, readonly Stuck[]> {
  const found = new Map<string, Stuck[]>();
  for (const { clusterName = '', observedResourceIndex = '', failedPlacements = [] } of status?.placementStatuses ?? [])
    for (const { cause, ...failed } of failedPlacements) {
      if (cause === undefined || !isStartFailure(cause.code)) continue;
      const key = `${observedResourceIndex} ${cause.code}`;
      const one = { cluster: clusterName, revision: observedResourceIndex, object: refText(failed), cause };
      found.set(key, [...(found.get(key) ?? []), one]);
    }
  return found;
}

/** Once per cause and revision; more clusters with it are not reported. */
function newsOfStuck(before: PlacementStatus | undefined, after: PlacementStatus): readonly EventText[] {
  const known = stuckIn(before);
  return [...stuckIn(after)]
    .filter(([key]) => !known.has(key))
    .map(([, [one, ...others]]) => {
      const { cluster, revision, object, cause } = one as Stuck;
      const more = others.length === 0 ? '' : `; and ${others.length} more`;
      const why = cause.message === undefined ? cause.code : `${cause.code} (${cause.message})`;
      const message = `cluster "${cluster}": ${object} of revision ${revision} cannot start: ${why}${more}`;
      return { type: 'Warning', reason: 'PlacementWorkloadCannotStart' satisfies PlacementEventReason, message };
    });
}

/** Once per failure; recovery shows only in the condition. */
function newsOfMirror(before: Condition | undefined, after: Condition | undefined): readonly EventText[] {
  if (after?.status !== 'False' || before?.status === 'False') return [];
  return [{ type: 'Warning', reason: after.reason, message: after.message }];
}

/** The Events for users. A scheduler result is reported if it is not good: there is nothing else to see then. */
export function newsIn(
  placement: ObjectRef,
  before: PlacementStatus | undefined,
  after: PlacementStatus,
): readonly EventText[] {
  const of = (status: PlacementStatus | undefined, condition: PlacementCondition): Condition | undefined =>
    conditionOf(status?.conditions, placementConditionType(placement, condition));
  // A fast rollout may skip the state in between, so a new revision counts as a transition.
  const isNewRevision = before?.observedResourceIndex !== after.observedResourceIndex;
  const turned = TOLD.filter(
    ({ condition }) =>
      of(after, condition)?.status === 'True' && (isNewRevision || of(before, condition)?.status !== 'True'),
  ).map(({ reason, message }): EventText => ({ type: 'Normal', reason, message }));
  const isComplete = (status: PlacementStatus | undefined) =>
    of(status, 'Scheduled')?.status === 'True' && LAST.some((last) => of(status, last)?.status === 'True');
  const verdict = of(after, 'Scheduled');
  const earlier = of(before, 'Scheduled');
  const isBadNews = verdict?.status === 'False' && (earlier?.status !== 'False' || earlier.reason !== verdict.reason);
  return [
    ...(isBadNews ? [{ type: 'Warning' as const, reason: verdict.reason, message: verdict.message }] : []),
    ...newsOfHolder(placement, before, after),
    ...newsOfStall(before, after),
    ...newsOfRefusal(isNewRevision ? [] : refusedIn(before), refusedIn(after)),
    ...newsOfStuck(before, after),
    ...newsOfMirror(of(before, 'StatusSynced'), of(after, 'StatusSynced')),
    ...turned,
    ...(isComplete(after) && (isNewRevision || !isComplete(before))
      ? [
          {
            type: 'Normal' as const,
            reason: 'PlacementRolloutCompleted',
            message: 'The rollout to all selected clusters is complete',
          },
        ]
      : []),
  ];
}
