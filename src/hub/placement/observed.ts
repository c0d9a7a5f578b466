// What a pass over a placement sees.
import type { MemberCluster } from '../../api/member-cluster.ts';
import type { PlacementStatus } from '../../api/placement.ts';
import type { Failure } from '../../runtime/controller.ts';
import type { Pending } from '../../runtime/due.ts';
import type { PlacementFamily } from '../families.ts';
import type { Orders } from '../orders/order.ts';
import type { NotSupported } from '../orders/unsupported.ts';
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
  /** Absent of one that goes: nothing of it matters any more. */
  readonly living?: Living;
  readonly failure?: Failure;
  readonly now: number;
}

export interface Living {
  /** What each cluster should have with the newest revision; absent until there is one. */
  readonly orders?: Orders;
  readonly selected: Selected;
  readonly notSupported: readonly NotSupported[];
  /** Since when the content differs from the latest snapshot. */
  readonly pending?: Pending;
  readonly delivered?: NonNullable<PlacementStatusInput['delivered']>;
  readonly bindings: readonly HubBinding[];
  readonly members: readonly MemberCluster[];
  /** undefined = they cannot be read. */
  readonly groups?: PlacementStatusInput['groups'];
  readonly freezes?: PlacementStatusInput['freezes'];
  readonly heldOn?: PlacementStatusInput['heldOn'];
  readonly previous: PlacementStatus | undefined;
  /** Absent = its status is not copied. */
  readonly mirror?: Mirror;
  /** The earliest moment of the next write of the status. */
  readonly statusDue: number;
  readonly throttle: RevisionDelays;
  /** Where the objects of the latest revision are, if the next one depends on it. */
  readonly places?: Places;
  /** Bytes of objects in one snapshot. */
  readonly snapshotLimit?: number;
}
