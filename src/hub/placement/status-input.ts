// The input of `placementStatus` (status.ts): plain data, all observed in one reconcile. The size of a status and how
// often it is written are decided in bound-status.ts and decide.ts.
import type { Hold } from '../../api/hold.ts';
import type { Resource } from '../../api/kind.ts';
import type { MemberCluster } from '../../api/member-cluster.ts';
import type { PlacementStatus } from '../../api/placement.ts';
import type { ResourceIdentifier } from '../../api/selected-resource.ts';
import type { FreezeFacts } from '../freezes/frozen.ts';
import type { Orders } from '../orders/order.ts';
import type { HubBinding, HubPlacement, HubPolicySnapshot, HubResourceSnapshot } from '../placement-sources.ts';
import type { ClusterGroupFacts } from '../planners/partitioned.ts';

export interface PlacementStatusInput {
  /** The kind of the placement, which prefixes the types of its own conditions (placementConditionType). */
  readonly kind: Resource;
  readonly placement: HubPlacement;
  /** The full status as last written; transition times come from here. */
  readonly previous: PlacementStatus | undefined;
  readonly selection: SelectionState;
  /** The newest policy snapshot, with or without the label; absent until it is created. */
  readonly policySnapshot?: HubPolicySnapshot;
  /** All snapshots of the placement, masters and others, sorted by name. */
  readonly resourceSnapshots: readonly HubResourceSnapshot[];
  /** The master of the newest group. */
  readonly latestSnapshot?: HubResourceSnapshot;
  /** The desired state of each cluster with the newest revision; absent = unchanged. */
  readonly orders?: Orders;
  /**
   * The objects for `selectedResources`, in the order of the snapshot: of the newest group with RollingUpdate, of the
   * one that all bindings reference with External. Absent = there is none yet, or with External the clusters differ.
   */
  readonly delivered?: { readonly snapshot: string; readonly resources: readonly ResourceIdentifier[] };
  /** All bindings of the placement, sorted by name, including those being deleted. */
  readonly bindings: readonly HubBinding[];
  /** The existing members of these bindings, sorted by name; the planners get reachability and labels from here. */
  readonly members: readonly MemberCluster[];
  /** undefined = the groups cannot be read. */
  readonly groups?: readonly ClusterGroupFacts[] | undefined;
  /** Why a cluster waits for other placements; absent = the placement has no dependencies. */
  readonly heldOn?: ((cluster: string) => Hold | undefined) | undefined;
  /** Absent = there are no freezes. */
  readonly freezes?: readonly FreezeFacts[] | undefined;
  /**
   * Why the placement as a whole does not progress (SpecInvalid, SelectionPending, RevisionPending,
   * SnapshotTooLarge). They precede the holds of the planner in `status.holds`. With any of them, Scheduled is Unknown
   * / SchedulePending with `sentenceOf` of the first as its message.
   */
  readonly holds: readonly Hold[];
  readonly now: number;
}

export type SelectionState =
  /**
   * The objects selected now. While a new snapshot is delayed, `delivered` still has the old content, and the status
   * shows that.
   */
  | {
      readonly state: 'selected';
      readonly resources: readonly ResourceIdentifier[];
      /** Messages for the user: named selectors that match nothing, reserved namespaces that were left out. */
      readonly notes: readonly string[];
    }
  /**
   * An error of the user: Scheduled=False / InvalidResourceSelectors with this message; the rest of the status stays.
   */
  | { readonly state: 'invalid'; readonly message: string }
  /** Not known yet, because something cannot be read; a hold says what. */
  | { readonly state: 'pending' };
