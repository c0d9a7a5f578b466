// What is known when the status of a placement is written: the input of `placementStatus` (status.ts). Plain data, all of it as seen in one
// pass. How large a status may become and how often it is written are not its business: bound-status.ts and decide.ts see to that.
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
  /** The placement's kind: conditions of the placement itself have it in front (placementConditionType). */
  readonly kind: Resource;
  readonly placement: HubPlacement;
  /** The status as it was written last, whole; transition times come from here. */
  readonly previous: PlacementStatus | undefined;
  readonly selection: SelectionState;
  /** The newest one, whether it carries the label or not; absent until it is made. */
  readonly policySnapshot?: HubPolicySnapshot;
  /** All of the placement, masters and others, by name. */
  readonly resourceSnapshots: readonly HubResourceSnapshot[];
  /** Master of the newest group. */
  readonly latestSnapshot?: HubResourceSnapshot;
  /** What each cluster should have with it; absent as it is. */
  readonly orders?: Orders;
  /**
   * What the snapshot holds that `selectedResources` is about, in its order: of the newest group with RollingUpdate, of the one that all
   * bindings name with External. Absent = there is none (yet), or with External the clusters differ.
   */
  readonly delivered?: { readonly snapshot: string; readonly resources: readonly ResourceIdentifier[] };
  /** All of the placement, deleting ones too, by name. */
  readonly bindings: readonly HubBinding[];
  /** Those that the bindings name, as far as they exist, by name. `reachable` and other rows for the planners come from here. */
  readonly members: readonly MemberCluster[];
  /** undefined = they cannot be read. */
  readonly groups?: readonly ClusterGroupFacts[] | undefined;
  /** What a cluster waits for of other placements; absent = it depends on none. */
  readonly heldOn?: ((cluster: string) => Hold | undefined) | undefined;
  /** absent = there are none. */
  readonly freezes?: readonly FreezeFacts[] | undefined;
  /**
   * Why the placement as a whole does not move (NotSupportedYet, SelectionPending, RevisionPending, SnapshotTooLarge). They go into `status.holds` in front of
   * those of the planner. With one of them Scheduled is Unknown / SchedulePending and `sentenceOf` of the first is the message.
   */
  readonly holds: readonly Hold[];
  readonly now: number;
}

export type SelectionState =
  /** What is selected now. While a new snapshot is waited with, `delivered` still has the old content, and the status shows that. */
  | {
      readonly state: 'selected';
      readonly resources: readonly ResourceIdentifier[];
      /** Sentences for people: named selectors that match nothing, reserved namespaces that were left out. */
      readonly notes: readonly string[];
    }
  /** The user's mistake: Scheduled=False / InvalidResourceSelectors with this message; everything else in the status stays. */
  | { readonly state: 'invalid'; readonly message: string }
  /** Not known yet: something cannot be read. There is a hold about it. */
  | { readonly state: 'pending' };
