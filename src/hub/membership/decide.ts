// Membership: creates a namespace, permissions and an InternalMemberCluster for a MemberCluster, and copies the reports
// of its agents into its status.
//
// It owns joining, leaving, the status of a member, and when it counts as unreachable. The agent's part is in
// member/heartbeat, eligibility in hub/members/eligibility.ts. Start at join.ts.
import type { Decision } from '../../runtime/controller.ts';
import { join } from './join.ts';
import { leave } from './leave.ts';
import type { Observed } from './observed.ts';

export const decide = (observed: Observed): Decision =>
  observed.cluster.metadata.deletionTimestamp === undefined ? join(observed) : leave(observed);
