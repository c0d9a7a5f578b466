// ClusterProfiles: what the controller watches. MemberClusters without their heartbeats, and only the certificates of
// InternalMemberClusters.
import type { MemberCluster } from '../../api/member-cluster.ts';
import { memberNamespace, properties } from '../../api/names.ts';
import { conditionOf } from '../../api/next-condition.ts';
import { deepEqual } from '../../base/json.ts';
import type { Controller } from '../../runtime/controller.ts';
import { internalMemberClusters, memberClusters } from '../sources.ts';
import { certificatesIn, decide, healthOf, type Observed } from './decide.ts';
import { clusterProfiles } from './sources.ts';

const nameOf = ({ metadata }: { readonly metadata: { readonly name?: string } }): string => metadata.name ?? '';

/** The fields that a profile depends on. */
const partOf = (member: MemberCluster): unknown => {
  const { uid, generation, deletionTimestamp, finalizers } = member.metadata;
  const { conditions, properties: facts } = member.status ?? {};
  return {
    ...{ uid, generation, deletionTimestamp, finalizers },
    joined: conditionOf(conditions, 'Joined'),
    health: healthOf(member),
    version: facts?.[properties.kubernetesVersion]?.value,
    entrypoint: facts?.[properties.clusterEntrypoint]?.value,
  };
};

export const profileController = (): Controller<Observed> => ({
  name: 'clusterprofiles',
  eventSource: 'clusterprofile-controller',
  watches: [
    {
      source: memberClusters,
      toKeys: (member, _see, old) =>
        old !== undefined && deepEqual(partOf(old), partOf(member)) ? [] : [nameOf(member)],
    },
    { source: clusterProfiles, toKeys: (profile) => [nameOf(profile)] },
    {
      source: internalMemberClusters,
      toKeys: (internal, _see, old) =>
        old !== undefined && certificatesIn(old.status) === certificatesIn(internal.status) ? [] : [nameOf(internal)],
    },
  ],
  observe(view, key) {
    const cluster = view.get(memberClusters, key);
    if (cluster === undefined) return undefined;
    const internal = view.get(internalMemberClusters, key, memberNamespace(key));
    const profile = view.get(clusterProfiles, key, clusterProfiles.namespace);
    return {
      cluster,
      ...(internal === undefined ? {} : { internal }),
      ...(profile === undefined ? {} : { profile }),
      now: view.now,
    };
  },
  decide,
});
