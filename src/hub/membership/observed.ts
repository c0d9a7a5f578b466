// The input of membership: one MemberCluster and the objects that belong to it.

import type { Rule } from '../../api/agent-rights.ts';
import type { InternalMemberCluster } from '../../api/internal-member-cluster.ts';
import type { MemberCluster } from '../../api/member-cluster.ts';
import type { AgentType } from '../../api/member-status.ts';
import type { Failure, Projected, Source } from '../../runtime/controller.ts';
import type { HubProfile } from '../profiles/sources.ts';
import type { HubNamespace, HubRole, HubRoleBinding } from '../sources.ts';
import type { HubWork } from '../work-source.ts';

export interface Settings {
  /** All of these agents must join. */
  readonly agents: readonly AgentType[];
  /** How long a leaving member may take before it is removed without an answer. */
  readonly forceDeleteWaitMs: number;
  /** A member is unreachable after this many periods without a heartbeat, by the hub's clock. */
  readonly unreachablePeriods: number;
  /** The permissions of the member's identity in its namespace. */
  readonly rules: readonly Rule[];
}

export interface Observed {
  readonly cluster: MemberCluster;
  readonly internal?: InternalMemberCluster;
  readonly namespace?: HubNamespace;
  readonly role?: HubRole;
  readonly roleBinding?: HubRoleBinding;
  /** Its ClusterProfile, or another one of that name. */
  readonly profile?: HubProfile;
  /** The ClusterProfiles are not listed yet, so one may exist. */
  readonly isProfileUnknown?: true;
  /** All Works in the member's namespace. */
  readonly works: readonly HeldWork[];
  /** When the hub saw the newest heartbeat, by its own clock; its start if the heartbeat was there before. */
  readonly beatSeenAt?: number;
  /**
   * The objects that `flotilla join` created for the member, as far as the hub may read them; only read once its
   * namespace is deleted.
   */
  readonly identities?: readonly Identity[];
  readonly failure?: Failure;
  readonly now: number;
  readonly settings: Settings;
}

export interface Identity {
  readonly source: Source;
  readonly item: Projected;
}

/** Only the finalizers of a Work matter here. */
export type HeldWork = Pick<HubWork, 'metadata'>;
