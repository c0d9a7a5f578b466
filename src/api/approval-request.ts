// ClusterApprovalRequest and ApprovalRequest: a run requests the approval of a gate.
import { admitApproval } from './approval-admission.ts';
import { definePair, type Infer, type Pair, s, type WithSpec } from './build.ts';
import { age, conditionStatus, text } from './columns.ts';
import { conditionsByType } from './conditions.ts';
import { placementGroup, V1, V1_AND_ALPHA } from './groups.ts';
import { frozen } from './immutable.ts';

const spec = s.object(
  {
    parentStageRollout: s.string({ doc: 'The run that requests the approval.', maxLength: 255 }),
    targetStage: s.string({ doc: 'The stage whose gate it is.', maxLength: 255 }),
  },
  {
    doc: 'Desired state. Immutable.',
    rules: [frozen('the spec of an approval request', 'the run creates a request for each gate')],
  },
);

const status = s.object(
  {
    conditions: s.optional(
      conditionsByType(
        'Set Approved to True, with the generation of this object as observedGeneration, to open the gate.',
      ),
    ),
    // Additive: set by admission, so that no user can approve in the name of another.
    approval: s.optional(
      s.object(
        {
          user: s.string({ doc: 'Who approved.' }),
          groups: s.optional(s.array(s.string({ doc: 'A group.' }), { doc: 'The groups of that user.' })),
          time: s.time('When.'),
          generation: s.integer({ doc: 'Generation of the request that was approved.', format: 'int64' }),
        },
        { doc: 'Who approved. Filled in by the server; what clients write here is replaced.' },
      ),
    ),
  },
  { doc: 'The answer.' },
);

const pair = definePair({
  in: placementGroup,
  versions: V1,
  spec,
  status,
  columns: [
    text('Update-Run', '.spec.parentStageRollout'),
    text('Stage', '.spec.targetStage'),
    conditionStatus('Approved', 'Approved'),
    age,
  ],
  cluster: {
    kind: 'ClusterApprovalRequest',
    plural: 'clusterapprovalrequests',
    short: 'careq',
    versions: V1_AND_ALPHA,
    doc: 'A ClusterStagedUpdateRun waits for approval at a gate.',
  },
  namespaced: {
    kind: 'ApprovalRequest',
    plural: 'approvalrequests',
    short: 'areq',
    doc: 'A StagedUpdateRun waits for approval at a gate.',
  },
});

export const approvalRequest: Pair<ApprovalRequestSpec, ApprovalRequestStatus> = {
  cluster: Object.freeze({ ...pair.cluster, admit: admitApproval }),
  namespaced: Object.freeze({ ...pair.namespaced, admit: admitApproval }),
};

export type ApprovalRequestSpec = Infer<typeof spec>;
export type ApprovalRequestStatus = Infer<typeof status>;
export type ApprovalRequest = WithSpec<ApprovalRequestSpec, ApprovalRequestStatus>;

export type ApprovalCondition = 'Approved' | 'ApprovalAccepted';
/** The user may set any reason on Approved. */
export type ApprovalReason =
  | 'ApprovalRequestApprovalAccepted'
  /** Ours, with status False: Approved has another observedGeneration. */
  | 'ApprovalRequestGenerationMismatch'
  /** Ours, with status False: a user has rejected it. */
  | 'ApprovalRequestRejected'
  /** Ours, with status False: the request belongs to another client, or to an earlier run of the same name. */
  | 'ApprovalRequestNotAskedFor';

/** Message of an approval without a comment. */
export const PLAIN_APPROVAL = 'approved from the command line';

/** Suffix of the reason of an Approved condition that a user has set to False. */
export const REJECTED = 'Rejected';
