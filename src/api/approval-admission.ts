// Records who approved, and protects the hub's acceptance.
// Guarantee: `status.approval` names the user that set Approved to True, whatever a client writes there. Only the hub
// can set, change or remove ApprovalAccepted, so that no client opens a gate in its name.
import { kubeTime } from '../base/clock.ts';
import { deepEqual } from '../base/json.ts';
import type { ApprovalRequestSpec, ApprovalRequestStatus } from './approval-request.ts';
import type { Condition } from './conditions.ts';
import type { AdmitRequest, Admitted } from './kind.ts';
import { HUB_USER_NAME } from './names.ts';
import { conditionOf } from './next-condition.ts';
import type { KubeObject } from './object.ts';
import { forbiddenField } from './status.ts';

type Request = AdmitRequest<ApprovalRequestSpec, ApprovalRequestStatus>;
type Conditions = readonly Condition[];

const ACCEPTED = 'ApprovalAccepted';

export function admitApproval({ verb, subresource, user, now, object, old }: Request): Admitted {
  if (object === undefined || verb !== 'update' || subresource !== 'status') return admitted(object ?? old);
  const before = old?.status?.conditions ?? [];
  const after = object.status?.conditions ?? [];
  const isHub = user.name === HUB_USER_NAME;
  if (!isHub && isForged(before, after)) {
    const why = `${ACCEPTED} is written by the hub alone (${HUB_USER_NAME}), when it sees Approved`;
    return { ok: false, causes: [forbiddenField('status.conditions', why)] };
  }
  const conditions = isHub ? after : withVerdict(before, after);
  const { approval: _written, conditions: _conditions, ...rest } = object.status ?? {};
  const approval = approvalAfter(old?.status, conditions, {
    user: user.name,
    ...(user.groups.length === 0 ? {} : { groups: user.groups }),
    time: kubeTime(now),
    generation: object.metadata.generation ?? 1,
  });
  const status: ApprovalRequestStatus = {
    ...rest,
    // An empty list stays as written.
    ...(conditions.length === 0 && object.status?.conditions === undefined ? {} : { conditions }),
    ...(approval === undefined ? {} : { approval }),
  };
  return admitted(deepEqual(status, object.status ?? {}) ? object : { ...object, status });
}

/** Whether a client writes an ApprovalAccepted that differs from the stored one. */
function isForged(before: Conditions, after: Conditions): boolean {
  const verdict = conditionOf(after, ACCEPTED);
  return verdict !== undefined && !deepEqual(verdict, conditionOf(before, ACCEPTED));
}

/**
 * A merge patch replaces the whole list of conditions, so a second approval would drop ApprovalAccepted
 * unintentionally.
 */
function withVerdict(before: Conditions, after: Conditions): Conditions {
  const verdict = conditionOf(before, ACCEPTED);
  return verdict === undefined || conditionOf(after, ACCEPTED) !== undefined ? after : [...after, verdict];
}

type Approval = NonNullable<ApprovalRequestStatus['approval']>;

function approvalAfter(
  old: ApprovalRequestStatus | undefined,
  conditions: Conditions,
  present: Approval,
): Approval | undefined {
  // The first approval opened the gate; a later one does not change who approved.
  if (conditionOf(old?.conditions, ACCEPTED)?.status === 'True') return old?.approval;
  const [was, is] = [conditionOf(old?.conditions, 'Approved'), conditionOf(conditions, 'Approved')];
  if (is?.status !== 'True') return undefined;
  // An approval of another generation did not count, so the user that updates it to the current one is the approver.
  const isAsBefore = was?.status === 'True' && was.observedGeneration === is.observedGeneration;
  return isAsBefore ? old?.approval : present;
}

const admitted = (object: KubeObject | undefined): Admitted => ({
  ok: true,
  object: object as KubeObject,
  warnings: [],
});
