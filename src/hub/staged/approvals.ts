// Gates with approvals. Guarantees: an approval counts only if this run, not an earlier one of the same name, created
// the request, and only for the present generation of the request. An accepted approval cannot be withdrawn, and its
// condition is restored if another client overwrites it. An approval that does not count gets a condition with the
// reason.
import { type ApprovalReason, REJECTED } from '../../api/approval-request.ts';
import type { Condition } from '../../api/conditions.ts';
import { labels, TASK_TYPES } from '../../api/names.ts';
import { conditionOf, nextCondition } from '../../api/next-condition.ts';
import { apiVersionOf, type KubeObject } from '../../api/object.ts';
import { type StagedUpdateRunStatus, tasksOf } from '../../api/staged-update-run.ts';
import { create, patchStatus, seen } from '../../runtime/actions.ts';
import type { Action } from '../../runtime/controller.ts';
import type { PlacementFamily } from '../families.ts';
import type { Approval, Gate } from '../planners/staged-plan.ts';
import { isTrue } from '../planners/staged-tree.ts';
import type { HubApprovalRequest, HubRun } from '../staged-sources.ts';
import type { Observed } from './observed.ts';

const ACCEPTED = 'ApprovalAccepted';

export function approvalOf(
  request: HubApprovalRequest | undefined,
  { metadata }: Pick<HubRun, 'metadata'>,
  stage: string,
): Approval {
  if (request === undefined) return { state: 'absent' };
  const { parentStageRollout, targetStage } = request.spec;
  if (parentStageRollout !== metadata.name || targetStage !== stage) return { state: 'foreign' };
  if (!isAskedBy(request, metadata)) {
    const isDeleting = request.metadata.deletionTimestamp !== undefined;
    return { state: 'stale', hint: 'this run did not request it: it is requested again', isDeleting };
  }
  if (conditionOf(request.conditions, ACCEPTED)?.status === 'True') return { state: 'accepted' };
  // It is being deleted, and will be requested again.
  if (request.metadata.deletionTimestamp !== undefined) return { state: 'open' };
  const hint = hintFor(request);
  if (hint !== undefined) return { state: 'open', hint };
  return { state: isApproved(request) ? 'approved' : 'open' };
}

/**
 * Differs from KubeFleet: there any request of that name counts, even one that was approved for an earlier run of the
 * same name.
 */
const isAskedBy = ({ owners }: HubApprovalRequest, { uid }: HubRun['metadata']): boolean =>
  uid !== undefined && owners.includes(uid);

const isApproved = ({ conditions }: HubApprovalRequest): boolean =>
  conditionOf(conditions, 'Approved')?.status === 'True';

const isRejected = ({ conditions }: HubApprovalRequest): boolean => {
  const approved = conditionOf(conditions, 'Approved');
  return approved?.status === 'False' && approved.reason.endsWith(REJECTED);
};

/** Why an approval does not count; undefined = it counts, or there is none. */
function hintFor(request: HubApprovalRequest): string | undefined {
  const approved = conditionOf(request.conditions, 'Approved');
  const { generation } = request.metadata;
  if (isRejected(request)) return approved?.message;
  if (approved?.status !== 'True' || approved.observedGeneration === generation) return undefined;
  const told =
    approved.observedGeneration === undefined
      ? 'no observedGeneration'
      : `observedGeneration ${approved.observedGeneration}`;
  return `condition Approved has ${told}, and this object is at generation ${generation}: approve again with observedGeneration ${generation}`;
}

export function askFor(family: PlacementFamily, { metadata }: HubRun, { name, stage, when }: Gate): Action {
  const { approvalRequest } = family;
  const { name: run = '', namespace, uid = '' } = metadata;
  const apiVersion = apiVersionOf(family.run.group, family.run.version);
  const object: KubeObject = {
    apiVersion: apiVersionOf(approvalRequest.group, approvalRequest.version),
    kind: approvalRequest.kind,
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      labels: {
        [labels.targetUpdateRun]: run,
        [labels.targetUpdatingStage]: stage,
        [labels.taskType]: TASK_TYPES[when],
        [labels.isLatestUpdateRunApproval]: 'true',
      },
      // Differs from KubeFleet: the owner reference lets a request be garbage collected that a hub with a stale cache
      // creates after the run was deleted.
      ownerReferences: [{ apiVersion, kind: family.run.kind, name: run, uid }],
    },
    spec: { parentStageRollout: run, targetStage: stage },
  };
  return create('hub', approvalRequest, object, `requests the approval ${when} stage "${stage}"`);
}

/** The conditions of the requests: that an approval was accepted, or why it was not. */
export function answers(
  { family, run, request, now }: Pick<Observed, 'family' | 'run' | 'request' | 'now'>,
  status: StagedUpdateRunStatus,
  accept: readonly string[],
): readonly Action[] {
  return (status.stagesStatus ?? []).flatMap(tasksOf).flatMap(({ approvalRequestName: name = '', ...task }) => {
    const found = name === '' ? undefined : request(name);
    if (found === undefined || found.metadata.deletionTimestamp !== undefined) return [];
    if (!isAskedBy(found, run.metadata)) return uncalledFor(family, run, found, now);
    // A client that replaces the whole list of conditions may have removed ours.
    const isAccepted = accept.includes(name) || isTrue(task, 'ApprovalRequestApproved');
    return answer(family, found, isAccepted, now);
  });
}

/** Most gates have their turn soon, and then a request that the run did not create is removed. */
const WORTH_TELLING_AFTER_MS = 120_000;

/** When to report that an approved request was not created by this run; undefined = never. */
function tellUncalledAt({ metadata }: HubRun, request: HubApprovalRequest): number | undefined {
  const isTaken = conditionOf(request.conditions, ACCEPTED)?.status === 'True';
  if (request.spec.parentStageRollout !== metadata.name || hintFor(request) === undefined || isTaken) return undefined;
  const since = Date.parse(conditionOf(request.conditions, 'Approved')?.lastTransitionTime ?? '');
  return Number.isNaN(since) ? 0 : since + WORTH_TELLING_AFTER_MS;
}

/** The condition of a request that this run did not create. */
export function uncalledFor(
  family: PlacementFamily,
  run: HubRun,
  request: HubApprovalRequest,
  now: number,
): readonly Action[] {
  const at = tellUncalledAt(run, request);
  if (at === undefined || now < at) return [];
  const message = `the run has not asked for this request: when the turn of stage "${request.spec.targetStage}" comes, it is removed and requested again`;
  return say(family, request, { status: 'False', reason: 'ApprovalRequestNotAskedFor', message }, now);
}

/** When the next condition of a request is due by time alone. */
export function nextWordAt({ run, requests, now }: Pick<Observed, 'run' | 'requests' | 'now'>): number | undefined {
  const moments = requests
    .filter((request) => !isAskedBy(request, run.metadata))
    .flatMap((request) => tellUncalledAt(run, request) ?? [])
    .filter((moment) => moment > now);
  return moments.length === 0 ? undefined : Math.min(...moments);
}

function answer(
  family: PlacementFamily,
  request: HubApprovalRequest,
  isAccepted: boolean,
  now: number,
): readonly Action[] {
  const old = conditionOf(request.conditions, ACCEPTED);
  if (old?.status === 'True') return [];
  const hint = hintFor(request);
  if (isAccepted) {
    const message = `the run has accepted the approval of ${approverOf(request)}`;
    return say(family, request, { status: 'True', reason: 'ApprovalRequestApprovalAccepted', message }, now);
  }
  if (hint !== undefined) {
    const reason = isRejected(request) ? 'ApprovalRequestRejected' : 'ApprovalRequestGenerationMismatch';
    return say(family, request, { status: 'False', reason, message: hint }, now);
  }
  if (old === undefined) return [];
  const conditions = request.conditions.filter(({ type }) => type !== ACCEPTED);
  return [patchStatus(seen(family.approvalRequests, request), { conditions }, 'the hint is out of date')];
}

interface Word {
  readonly status: 'True' | 'False';
  readonly reason: ApprovalReason;
  readonly message: string;
}

/** Empty if the condition is already set. */
function say(family: PlacementFamily, request: HubApprovalRequest, word: Word, now: number): readonly Action[] {
  const old = conditionOf(request.conditions, ACCEPTED);
  if (old?.status === word.status && old.message === word.message) return [];
  const { generation } = request.metadata;
  const finding = { type: ACCEPTED, ...word, ...(generation === undefined ? {} : { observedGeneration: generation }) };
  const others = request.conditions.filter(({ type }) => type !== ACCEPTED);
  const conditions: readonly Condition[] = [...others, nextCondition(old, finding, now)];
  return [patchStatus(seen(family.approvalRequests, request), { conditions }, word.message)];
}

/** The approver, if the server recorded it. */
export const approverOf = ({ approval }: HubApprovalRequest): string =>
  approval === undefined ? 'an unknown user' : `"${approval.user}"`;
