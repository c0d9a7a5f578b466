// The cached ClusterProfiles: only those of the system namespace.
import { type ClusterProfile, clusterProfile } from '../../api/cluster-profile.ts';
import { SYSTEM_NAMESPACE } from '../../api/names.ts';
import type { Source } from '../../runtime/controller.ts';
import { only } from '../only.ts';

export type HubProfile = Pick<ClusterProfile, 'metadata' | 'spec' | 'status'>;

export const clusterProfiles: Source<HubProfile> = {
  on: 'hub',
  resource: clusterProfile,
  namespace: SYSTEM_NAMESPACE,
  project(object) {
    const { metadata, spec, status } = object as ClusterProfile;
    return {
      metadata: only(metadata, 'labels', 'ownerReferences', 'generation', 'deletionTimestamp'),
      spec,
      ...(status === undefined ? {} : { status }),
    };
  },
};
