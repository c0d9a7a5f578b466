// The observed state of a run.
import type { SpecProblem } from '../../api/spec-problem.ts';
import type { StagedUpdateRunStatus } from '../../api/staged-update-run.ts';
import type { Failure } from '../../runtime/controller.ts';
import type { PlacementFamily } from '../families.ts';
import type { FreezeFacts } from '../freezes/frozen.ts';
import type { Orders } from '../orders/order.ts';
import type { HubBinding, HubPlacement, HubPolicySnapshot, HubResourceSnapshot } from '../placement-sources.ts';
import type { MemberFacts } from '../planners/rows.ts';
import type { Selected } from '../revisions/resolve-selection.ts';
import type { Places } from '../revisions/split.ts';
import type { HubApprovalRequest, HubRun, HubStrategy } from '../staged-sources.ts';

/** The default time after which a cluster in progress counts as stuck. */
export const DEFAULT_STUCK_AFTER_MS = 300_000;

/** The state of the fleet that a run depends on. */
export interface Facts {
  readonly family: PlacementFamily;
  readonly run: HubRun;
  readonly placement: HubPlacement | undefined;
  readonly strategy: HubStrategy | undefined;
  /** The latest policy snapshots of the placement, by label. */
  readonly policySnapshots: readonly HubPolicySnapshot[];
  readonly resourceSnapshots: readonly HubResourceSnapshot[];
  readonly bindings: readonly HubBinding[];
  /** Other runs of the same placement. */
  readonly others: readonly HubRun[];
  member(cluster: string): MemberFacts | undefined;
  /**
   * The desired state of the clusters with a revision, by the name of its master snapshot; undefined = something must
   * be read first.
   */
  ordersOf(snapshot: string): Orders | undefined;
  /** Absent = there are no freezes. */
  readonly freezes?: readonly FreezeFacts[];
  readonly now: number;
}

export interface Observed extends Facts {
  /** The status of the run. */
  readonly status: StagedUpdateRunStatus | undefined;
  /** The requests with the label of the run: they are deleted with it. */
  readonly requests: readonly HubApprovalRequest[];
  request(name: string): HubApprovalRequest | undefined;
  /** The present selection of the placement; only for a run that creates its own revision. */
  readonly selected?: Selected;
  /** The parts of the latest revision, if the next one depends on them. */
  readonly places?: Places;
  /** Maximum bytes of objects in one snapshot. */
  readonly snapshotLimit?: number;
  /** Why the spec of the placement is invalid; undefined = it is valid. */
  readonly specProblem: SpecProblem | undefined;
  /** Whether this run has given the binding its revision; absent = use only the status. */
  wasGiven?(binding: string): boolean;
  /** The earliest time of the next status write. */
  readonly statusDue: number;
  /** The same for a turn; absent = no earlier. */
  readonly turnDue?: number;
  /** After this time a cluster in progress counts as stuck. */
  readonly stuckAfterMs: number;
  readonly failure?: Failure;
}

/** An object that a final result depends on: it is read live first, because the cache may be stale. */
export interface Premise {
  readonly of:
    | 'placement'
    | 'strategy'
    | 'policySnapshot'
    | 'resourceSnapshot'
    | 'binding'
    | 'member'
    | 'run'
    | 'approvalRequest';
  readonly name: string;
}

/** Why a run ends or cannot start. */
export interface Wrong {
  /** Who can fix it. */
  readonly blame: 'user' | 'internal';
  readonly message: string;
  readonly rests: readonly Premise[];
}
