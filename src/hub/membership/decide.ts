// Membership: a MemberCluster becomes a namespace, permissions and an InternalMemberCluster on the hub, and tells what its agents report.
//
// Lives here: join, leave, what is known of a member, and when it counts as unreachable. Elsewhere: what the agent does (member/heartbeat),
// who may be picked (hub/members/eligibility.ts). Begin with join.ts.
import type { Decision } from '../../runtime/controller.ts';
import { join } from './join.ts';
import { leave } from './leave.ts';
import type { Observed } from './observed.ts';

export const decide = (observed: Observed): Decision =>
  observed.cluster.metadata.deletionTimestamp === undefined ? join(observed) : leave(observed);
