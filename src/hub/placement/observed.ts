// The observed state of a placement.
import type { MemberCluster } from '../../api/member-cluster.ts';
import type { PlacementStatus } from '../../api/placement.ts';
import type { SpecProblem } from '../../api/spec-problem.ts';
import type { Failure } from '../../runtime/controller.ts';
import type { Pending } from '../../runtime/due.ts';
import type { PlacementFamily } from '../families.ts';
import type { Orders } from '../orders/order.ts';
import type { HubBinding, HubPlacement, HubPolicySnapshot, HubResourceSnapshot } from '../placement-sources.ts';
import type { RevisionDelays } from '../revisions/delays.ts';
import type { Selected } from '../revisions/resolve-selection.ts';
import type { Places } from '../revisions/split.ts';
import type { Mirror } from './mirror.ts';
import type { PlacementStatusInput } from './status-input.ts';

export interface Observed {
  readonly family: PlacementFamily;
  readonly placement: HubPlacement;
  readonly policySnapshots: readonly HubPolicySnapshot[];
  readonly resourceSnapshots: readonly HubResourceSnapshot[];
  /** Absent while the placement is being deleted. */
  readonly living?: Living;
  readonly failure?: Failure;
  readonly now: number;
}

export interface Living {
  /** The desired state of each cluster with the newest revision; absent until there is a revision. */
  readonly orders?: Orders;
  readonly selected: Selected;
  readonly specProblem: SpecProblem | undefined;
  /** Since when the content differs from the latest snapshot. */
  readonly pending?: Pending;
  readonly delivered?: NonNullable<PlacementStatusInput['delivered']>;
  readonly bindings: readonly HubBinding[];
  readonly members: readonly MemberCluster[];
  /** undefined = the groups cannot be read. */
  readonly groups?: PlacementStatusInput['groups'];
  readonly freezes?: PlacementStatusInput['freezes'];
  readonly heldOn?: PlacementStatusInput['heldOn'];
  readonly previous: PlacementStatus | undefined;
  /** Absent = the status is not copied. */
  readonly mirror?: Mirror;
  /** The earliest time of the next status write. */
  readonly statusDue: number;
  readonly throttle: RevisionDelays;
  /** The parts of the latest revision, if the next one depends on them. */
  readonly places?: Places;
  /** Maximum bytes of objects in one snapshot. */
  readonly snapshotLimit?: number;
}
