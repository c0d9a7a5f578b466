// What a member may do on the hub: read its orders, report on them, and tell of it, in its own namespace and nowhere else.
// Differs from KubeFleet: there a member may do everything with every fleet kind of its namespace, so a stolen identity could delete the
// InternalMemberCluster, forge Works, and read whatever else comes to live there.
import { internalMemberCluster } from '../../api/internal-member-cluster.ts';
import { work } from '../../api/work.ts';

export interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

const READ = ['get', 'list', 'watch'];
const REPORT = ['get', 'update', 'patch'];

export const memberRules: readonly Rule[] = [
  { apiGroups: [internalMemberCluster.group], resources: [internalMemberCluster.plural], verbs: READ },
  { apiGroups: [internalMemberCluster.group], resources: [`${internalMemberCluster.plural}/status`], verbs: REPORT },
  // update and patch: a finalizer keeps a Work until the member has cleaned up after it.
  { apiGroups: [work.group], resources: [work.plural], verbs: [...READ, 'update', 'patch'] },
  { apiGroups: [work.group], resources: [`${work.plural}/status`], verbs: REPORT },
  { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] },
];
