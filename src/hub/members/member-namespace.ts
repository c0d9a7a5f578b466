// The namespace of a member on the hub: who owns it, and what has to be corrected.

import type { MemberCluster } from '../../api/member-cluster.ts';
import { memberCluster } from '../../api/member-cluster.ts';
import { labels, memberNamespace } from '../../api/names.ts';
import {
  apiVersionOf,
  groupVersionOf,
  type KubeObject,
  type ObjectMeta,
  type OwnerReference,
} from '../../api/object.ts';
import type { HubNamespace } from '../sources.ts';

export const ownerReference = (cluster: MemberCluster): OwnerReference => ({
  apiVersion: apiVersionOf(memberCluster.group, memberCluster.version),
  kind: memberCluster.kind,
  name: cluster.metadata.name ?? '',
  uid: cluster.metadata.uid ?? '',
  controller: true,
});

export const isTerminating = (namespace: HubNamespace): boolean => namespace.metadata.deletionTimestamp !== undefined;

/** Refers to this MemberCluster, or to an earlier one of the same name. */
const namesCluster = ({ apiVersion, kind, name }: OwnerReference, cluster: MemberCluster): boolean =>
  groupVersionOf(apiVersion).group === memberCluster.group &&
  kind === memberCluster.kind &&
  name === cluster.metadata.name;

/** Another object controls it: `Kind "name"`, or undefined. */
export function foreignOwner(namespace: HubNamespace, cluster: MemberCluster): string | undefined {
  const owner = namespace.metadata.ownerReferences?.find((each) => each.controller && !namesCluster(each, cluster));
  return owner === undefined ? undefined : `${owner.kind} "${owner.name}"`;
}

/** Belongs to another MemberCluster of this name: an earlier one, or, if the cache is stale, the present one. */
export const isNamesakes = ({ metadata }: { readonly metadata: ObjectMeta }, cluster: MemberCluster): boolean =>
  metadata.ownerReferences?.some(
    (each) => each.controller && namesCluster(each, cluster) && each.uid !== cluster.metadata.uid,
  ) === true;

/**
 * May be deleted with the member. A namespace without our owner reference and label existed before, and was never taken
 * over.
 */
export const isOurs = (namespace: HubNamespace, cluster: MemberCluster): boolean =>
  foreignOwner(namespace, cluster) === undefined &&
  !isNamesakes(namespace, cluster) &&
  (namespace.metadata.labels?.[labels.isFleetResource] === 'true' ||
    namespace.metadata.ownerReferences?.some((each) => each.uid === cluster.metadata.uid) === true);

export const newNamespace = (cluster: MemberCluster): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: {
    name: memberNamespace(cluster.metadata.name ?? ''),
    labels: { [labels.isFleetResource]: 'true' },
    ownerReferences: [ownerReference(cluster)],
  },
});

/**
 * The patch that takes the namespace over, or undefined if it is ours. Differs from KubeFleet: an existing namespace
 * gets the owner reference too, so that it cannot outlive the member.
 */
export function adoption(namespace: HubNamespace, cluster: MemberCluster): object | undefined {
  const { labels: present = {}, ownerReferences: owners = [] } = namespace.metadata;
  const isLabelled = present[labels.isFleetResource] === 'true';
  const isOwned = owners.some((each) => each.uid === cluster.metadata.uid && each.controller);
  if (isLabelled && isOwned) return undefined;
  return {
    metadata: {
      ...(isLabelled ? {} : { labels: { [labels.isFleetResource]: 'true' } }),
      ...(isOwned
        ? {}
        : { ownerReferences: [...owners.filter((each) => !namesCluster(each, cluster)), ownerReference(cluster)] }),
    },
  };
}
