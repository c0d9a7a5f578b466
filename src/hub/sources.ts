// What the hub's controllers keep in memory, each defined once: one watch, one projection, however many controllers read it.
// Begin here when a controller needs a kind that no controller has watched yet.
import { type InternalMemberCluster, internalMemberCluster } from '../api/internal-member-cluster.ts';
import type { Resource } from '../api/kind.ts';
import { type MemberCluster, memberCluster } from '../api/member-cluster.ts';
import { clusterOfNamespace, labels, SYSTEM_NAMESPACE } from '../api/names.ts';
import type { KubeObject, ObjectMeta } from '../api/object.ts';
import {
  namespaceResource,
  roleBindingResource,
  roleResource,
  secretResource,
  serviceAccountResource,
} from '../api/resources.ts';
import { canonicalJson } from '../base/json.ts';
import type { Source } from '../runtime/controller.ts';
import { heartbeatOf } from './members/leaving-member.ts';
import { only } from './only.ts';

/** Small kinds stay whole, but for the record of who wrote what. */
const lean = <T extends KubeObject>(object: KubeObject): T => {
  const { managedFields: _managedFields, ...metadata } = object.metadata;
  return { ...object, metadata } as T;
};

export const memberClusters: Source<MemberCluster> = {
  on: 'hub',
  resource: memberCluster,
  project: lean,
  stamp: heartbeatOf,
};

export const internalMemberClusters: Source<InternalMemberCluster> = {
  on: 'hub',
  resource: internalMemberCluster,
  project: lean,
};

export interface HubNamespace {
  readonly metadata: ObjectMeta;
  /** What the API server says about a deletion that takes its time. */
  readonly remaining?: string;
}

interface NamespaceCondition {
  readonly type: string;
  readonly status: string;
  readonly message?: string;
}

/** All of them, because a namespace in a member's place may have another owner. */
export const namespaces: Source<HubNamespace> = {
  on: 'hub',
  resource: namespaceResource,
  project(object) {
    const metadata = only(object.metadata, 'labels', 'ownerReferences', 'deletionTimestamp');
    if (metadata.deletionTimestamp === undefined) return { metadata };
    const { conditions = [] } = (object.status ?? {}) as { readonly conditions?: readonly NamespaceCondition[] };
    const remaining = conditions
      .filter(({ type, status }) => status === 'True' && type.endsWith('Remaining'))
      .map(({ message = '' }) => message)
      .join('; ');
    return remaining === '' ? { metadata } : { metadata, remaining };
  },
};

export interface HubRole {
  readonly metadata: ObjectMeta;
  /** Canonical JSON of the rules: equal rules are equal texts. Only of Roles in members' namespaces. */
  readonly rules: string;
}

const isOfMember = (object: KubeObject): boolean => clusterOfNamespace(object.metadata.namespace ?? '') !== undefined;

export const roles: Source<HubRole> = {
  on: 'hub',
  resource: roleResource,
  project(object) {
    return {
      metadata: only(object.metadata),
      rules: isOfMember(object) ? canonicalJson(object['rules'] ?? []) : '',
    };
  },
};

/** What `flotilla join` made for members, by its label alone. Metadata only: no token is ever in memory. */
const identitySource = (resource: Resource): Source => ({
  on: 'hub',
  resource,
  namespace: SYSTEM_NAMESPACE,
  labels: labels.joinedMember,
  view: 'metadata',
  project: ({ metadata }) => ({ metadata: only(metadata, 'labels', 'deletionTimestamp') }),
});

/** The token first: a ServiceAccount without it can do nothing, and tokens that expire end with their ServiceAccount. */
export const joinedIdentities: readonly Source[] = [
  secretResource,
  serviceAccountResource,
  roleBindingResource,
  roleResource,
].map(identitySource);

export interface HubRoleBinding {
  readonly metadata: ObjectMeta;
  /** Canonical JSON. */
  readonly roleRef: string;
  /** Canonical JSON. */
  readonly subjects: string;
}

export const roleBindings: Source<HubRoleBinding> = {
  on: 'hub',
  resource: roleBindingResource,
  project(object) {
    if (!isOfMember(object)) return { metadata: only(object.metadata), roleRef: '', subjects: '' };
    return {
      metadata: only(object.metadata),
      roleRef: canonicalJson(object['roleRef'] ?? {}),
      subjects: canonicalJson(object['subjects'] ?? []),
    };
  },
};
