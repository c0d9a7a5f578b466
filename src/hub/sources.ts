// The sources of the hub's controllers, each defined once: one watch and one projection, however many controllers read
// it. Add a source here when a controller needs a new kind.
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

/** Small kinds are cached as full objects without managedFields. */
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
  /** The API server's message about a deletion that takes long. */
  readonly remaining?: string;
}

interface NamespaceCondition {
  readonly type: string;
  readonly status: string;
  readonly message?: string;
}

/** All namespaces, because a namespace with the name of a member's may have another owner. */
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
  /** The rules as canonical JSON, so that equal rules are equal texts. Only for Roles in members' namespaces. */
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

/**
 * The objects that `flotilla join` created for members, by label. Metadata only, so that no token is ever in memory.
 */
const identitySource = (resource: Resource): Source => ({
  on: 'hub',
  resource,
  namespace: SYSTEM_NAMESPACE,
  labels: labels.joinedMember,
  view: 'metadata',
  project: ({ metadata }) => ({ metadata: only(metadata, 'labels', 'deletionTimestamp') }),
});

/**
 * Sorted for deletion, the token first: a ServiceAccount without it can do nothing, and tokens that expire end with
 * their ServiceAccount.
 */
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
