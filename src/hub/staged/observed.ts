// What a pass over a run sees.
import type { StagedUpdateRunStatus } from '../../api/staged-update-run.ts';
import type { Failure } from '../../runtime/controller.ts';
import type { PlacementFamily } from '../families.ts';
import type { FreezeFacts } from '../freezes/frozen.ts';
import type { Orders } from '../orders/order.ts';
import type { NotSupported } from '../orders/unsupported.ts';
import type { HubBinding, HubPlacement, HubPolicySnapshot, HubResourceSnapshot } from '../placement-sources.ts';
import type { MemberFacts } from '../planners/rows.ts';
import type { Selected } from '../revisions/resolve-selection.ts';
import type { Places } from '../revisions/split.ts';
import type { HubApprovalRequest, HubRun, HubStrategy } from '../staged-sources.ts';

/** From when on a cluster that is being updated counts as stuck, by default. */
export const DEFAULT_STUCK_AFTER_MS = 300_000;

/** What of the fleet a run depends on. */
export interface Facts {
  readonly family: PlacementFamily;
  readonly run: HubRun;
  readonly placement: HubPlacement | undefined;
  readonly strategy: HubStrategy | undefined;
  /** Those of the placement that say they are the latest. */
  readonly policySnapshots: readonly HubPolicySnapshot[];
  readonly resourceSnapshots: readonly HubResourceSnapshot[];
  readonly bindings: readonly HubBinding[];
  /** Other runs on the same placement. */
  readonly others: readonly HubRun[];
  member(cluster: string): MemberFacts | undefined;
  /** What clusters should have with a revision, by the name of its first snapshot; undefined = something must be read first. */
  ordersOf(snapshot: string): Orders | undefined;
  /** absent = there are none. */
  readonly freezes?: readonly FreezeFacts[];
  readonly now: number;
}

export interface Observed extends Facts {
  /** The run's own tree. */
  readonly status: StagedUpdateRunStatus | undefined;
  /** Those labelled with the run: they go with it. */
  readonly requests: readonly HubApprovalRequest[];
  request(name: string): HubApprovalRequest | undefined;
  /** What the placement selects now; only for a run that takes its own revision. */
  readonly selected?: Selected;
  /** Where the objects of the latest revision are, if the next one depends on it. */
  readonly places?: Places;
  /** Bytes of objects in one snapshot. */
  readonly snapshotLimit?: number;
  /** What the placement uses that is not built yet. */
  readonly unsupported: readonly NotSupported[];
  /** Whether a binding has had the revision because of this run; absent = as far as the status tells. */
  wasGiven?(binding: string): boolean;
  /** The earliest moment of the next write of the status. */
  readonly statusDue: number;
  /** The same if it tells a turn; absent = no earlier. */
  readonly turnDue?: number;
  /** From when on a cluster that is under way counts as stuck. */
  readonly stuckAfterMs: number;
  readonly failure?: Failure;
}

/** An object that a verdict for good rests on: before it is said, the server is asked, since a watch may be behind. */
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

/** What ends a run, or keeps it from beginning. */
export interface Wrong {
  /** Who can fix it. */
  readonly blame: 'user' | 'internal';
  readonly message: string;
  readonly rests: readonly Premise[];
}
