// All kinds that we define, by the cluster on which their CRDs are installed.
import { warnedOf } from './admission-warnings.ts';
import { appliedWork } from './applied-work.ts';
import { approvalRequest } from './approval-request.ts';
import { binding } from './binding.ts';
import { clusterGroup } from './cluster-group.ts';
import { clusterProfile } from './cluster-profile.ts';
import { disruptionBudget } from './disruption-budget.ts';
import { envelope } from './envelope.ts';
import { eviction } from './eviction.ts';
import { freeze } from './freeze.ts';
import { gitRepo } from './git-repo.ts';
import { internalMemberCluster } from './internal-member-cluster.ts';
import type { Kind } from './kind.ts';
import { memberCluster } from './member-cluster.ts';
import { override } from './override.ts';
import { overrideSnapshot } from './override-snapshot.ts';
import { placement } from './placement.ts';
import { clusterResourcePlacementStatus } from './placement-status.ts';
import { policySnapshot } from './policy-snapshot.ts';
import { resourceSnapshot } from './resource-snapshot.ts';
import { stagedUpdateRun } from './staged-update-run.ts';
import { stagedUpdateStrategy } from './staged-update-strategy.ts';
import { work } from './work.ts';

const both = (pair: { readonly cluster: Kind; readonly namespaced: Kind }): readonly Kind[] => [
  pair.cluster,
  pair.namespaced,
];

const onHub: readonly Kind[] = [
  memberCluster,
  internalMemberCluster,
  ...both(placement),
  clusterResourcePlacementStatus,
  ...both(resourceSnapshot),
  ...both(policySnapshot),
  ...both(binding),
  work,
  ...both(override),
  ...both(overrideSnapshot),
  ...both(envelope),
  ...both(stagedUpdateStrategy),
  ...both(stagedUpdateRun),
  ...both(approvalRequest),
  eviction,
  disruptionBudget,
  clusterProfile,
  clusterGroup,
  gitRepo,
  freeze,
];

/** Installed on a hub. */
export const hubKinds: readonly Kind[] = onHub.map(warnedOf);

/** Installed on every member. */
export const memberKinds: readonly Kind[] = [appliedWork];
