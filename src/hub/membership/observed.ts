// What membership reads: one MemberCluster and the objects around it.

import type { Rule } from '../../api/agent-rights.ts';
import type { InternalMemberCluster } from '../../api/internal-member-cluster.ts';
import type { MemberCluster } from '../../api/member-cluster.ts';
import type { AgentType } from '../../api/member-status.ts';
import type { Failure, Projected, Source } from '../../runtime/controller.ts';
import type { HubProfile } from '../profiles/sources.ts';
import type { HubNamespace, HubRole, HubRoleBinding } from '../sources.ts';
import type { HubWork } from '../work-source.ts';

export interface Settings {
  /** All of them have to have joined. */
  readonly agents: readonly AgentType[];
  /** How long a leaving member may take before it is removed without its consent. */
  readonly forceDeleteWaitMs: number;
  /** So many periods without a new heartbeat, by the hub's clock, make a member unreachable. */
  readonly unreachablePeriods: number;
  /** What the member's identity may do in its namespace. */
  readonly rules: readonly Rule[];
}

export interface Observed {
  readonly cluster: MemberCluster;
  readonly internal?: InternalMemberCluster;
  readonly namespace?: HubNamespace;
  readonly role?: HubRole;
  readonly roleBinding?: HubRoleBinding;
  /** Its ClusterProfile, or another one of its name. */
  readonly profile?: HubProfile;
  /** The ClusterProfiles have not been listed yet: an absent one may exist. */
  readonly isProfileUnknown?: true;
  /** All Works in the member's namespace. */
  readonly works: readonly HeldWork[];
  /** When the hub saw the newest heartbeat appear, by its own clock; since its start if it was there before. */
  readonly beatSeenAt?: number;
  /** What `flotilla join` made for it, as far as the hub may see it; looked for only when its namespace is gone. */
  readonly identities?: readonly Identity[];
  readonly failure?: Failure;
  readonly now: number;
  readonly settings: Settings;
}

export interface Identity {
  readonly source: Source;
  readonly item: Projected;
}

/** Of a Work only who holds it counts here. */
export type HeldWork = Pick<HubWork, 'metadata'>;
