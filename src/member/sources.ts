// What an agent caches: its Works on the hub, and of its own cluster the objects that size and usage are computed from.
import { type AppliedWork, appliedWork } from '../api/applied-work.ts';
import type { Draft, PodSpec, Quantities } from '../api/builtin/shapes.ts';
import { type InternalMemberCluster, internalMemberCluster } from '../api/internal-member-cluster.ts';
import type { Resource } from '../api/kind.ts';
import { annotations, labels, memberNamespace } from '../api/names.ts';
import { groupVersionOf, type KubeObject, type ObjectMeta } from '../api/object.ts';
import { namespaceResource, nodeResource, podResource } from '../api/resources.ts';
import { type Work, work } from '../api/work.ts';
import type { Source } from '../runtime/controller.ts';
import { type Amounts, amountsOf, podRequests } from './amounts.ts';
import { inSpec, ordersOf } from './apply/manifest.ts';
import { type TroubledPod, troubleOf } from './availability/trouble.ts';

const identity = ({ name, namespace, uid, resourceVersion }: ObjectMeta): ObjectMeta => ({
  ...(name === undefined ? {} : { name }),
  ...(namespace === undefined ? {} : { namespace }),
  ...(uid === undefined ? {} : { uid }),
  ...(resourceVersion === undefined ? {} : { resourceVersion }),
});

// ---- on the hub, in the agent's own namespace

/** Metadata and placement labels of a Work; its manifests are read with the full object. */
export interface AgentWork {
  readonly metadata: ObjectMeta;
  /** Of all objects that the Work names; undefined = unknown, because a list returns only metadata. */
  readonly identities?: ReadonlySet<string>;
}

export interface HubSources {
  readonly internal: Source<InternalMemberCluster>;
  /** Cached without their manifests. */
  readonly works: Source<AgentWork>;
}

export const hubSources = (cluster: string): HubSources => ({
  internal: {
    on: 'hub',
    resource: internalMemberCluster,
    namespace: memberNamespace(cluster),
    project(object) {
      const { managedFields: _managedFields, ...metadata } = object.metadata;
      return { ...(object as InternalMemberCluster), metadata };
    },
  },
  works: {
    on: 'hub',
    resource: work,
    namespace: memberNamespace(cluster),
    // Full objects in the watch save the agent a read, and so a round trip, before it applies. The price: every status
    // that it reports comes back with the whole Work.
    isReadWhole: true,
    project: (object, old) => ({
      ...identitiesIn(object as Partial<Work>, old),
      metadata: {
        ...identity(object.metadata),
        ...(object.metadata.generation === undefined ? {} : { generation: object.metadata.generation }),
        ...(object.metadata.finalizers === undefined ? {} : { finalizers: object.metadata.finalizers }),
        ...(object.metadata.deletionTimestamp === undefined
          ? {}
          : { deletionTimestamp: object.metadata.deletionTimestamp }),
        ...placementLabels(object.metadata),
        ...knownAnnotations(object.metadata),
      },
    }),
  },
});

function identitiesIn({ metadata = {}, spec }: Partial<Work>, old?: AgentWork): Pick<AgentWork, 'identities'> {
  if (old?.identities !== undefined && isSameOrder(metadata, old.metadata)) return { identities: old.identities };
  return spec === undefined ? {} : { identities: inSpec(ordersOf(spec.workload?.manifests ?? [])) };
}

const isSameOrder = (a: ObjectMeta, b: ObjectMeta): boolean =>
  a.generation !== undefined && a.generation === b.generation && a.uid === b.uid;

const KNOWN = [annotations.keepTakenOver, annotations.orderedBy, annotations.parentResourceSnapshotName];

function knownAnnotations({ annotations: all }: ObjectMeta): Pick<ObjectMeta, 'annotations'> {
  const known = Object.fromEntries(
    KNOWN.flatMap((name) => (all?.[name] === undefined ? [] : [[name, all[name] as string]])),
  );
  return Object.keys(known).length === 0 ? {} : { annotations: known };
}

const KNOWN_LABELS = [
  labels.parentPlacement,
  labels.parentPlacementNamespace,
  labels.parentBinding,
  labels.envelopeWork,
  labels.envelopeName,
  labels.envelopeNamespace,
];

/** The labels that name the placement of a Work. */
function placementLabels({ labels: all = {} }: ObjectMeta): Pick<ObjectMeta, 'labels'> {
  if (all[labels.parentPlacement] === undefined) return {};
  return {
    labels: Object.fromEntries(
      KNOWN_LABELS.flatMap((name) => (all[name] === undefined ? [] : [[name, all[name] as string]])),
    ),
  };
}

// ---- on the member

export interface MemberNode {
  readonly metadata: ObjectMeta;
  readonly capacity: Amounts;
  readonly allocatable: Amounts;
}

export const nodes: Source<MemberNode> = {
  on: 'member',
  resource: nodeResource,
  project({ metadata, status }) {
    const { capacity, allocatable } = (status ?? {}) as { capacity?: Quantities; allocatable?: Quantities };
    return {
      metadata: identity(metadata),
      capacity: amountsOf(capacity),
      allocatable: amountsOf(allocatable ?? capacity),
    };
  },
};

export interface MemberPod {
  readonly metadata: ObjectMeta;
  readonly requests: Amounts;
  /** Why it does not start. */
  readonly trouble?: TroubledPod;
}

/** Pods that use resources: they have a node and have not finished. */
export const busyPods: Source<MemberPod> = {
  on: 'member',
  resource: podResource,
  fields: 'spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed',
  project: (pod) => ({
    metadata: identity(pod.metadata),
    requests: podRequests((pod.spec ?? {}) as Draft<PodSpec>),
    ...troubleIn(pod),
  }),
};

const troubleIn = (pod: KubeObject): Pick<MemberPod, 'trouble'> => {
  const trouble = troubleOf(pod);
  return trouble === undefined ? {} : { trouble };
};

/** Pods without a node: few, and only for a short time, unless no node fits. */
export const unscheduledPods: Source<Pick<MemberPod, 'metadata' | 'trouble'>> = {
  on: 'member',
  resource: podResource,
  fields: 'spec.nodeName=,status.phase!=Succeeded,status.phase!=Failed',
  project: (pod) => ({ metadata: identity(pod.metadata), ...troubleIn(pod) }),
};

export interface MemberNamespace {
  readonly metadata: ObjectMeta;
  /** The name of the AppliedWork that owns it, or empty. */
  readonly placedBy: string;
  readonly isTerminating: boolean;
}

const ownerOf = ({ metadata }: KubeObject): string =>
  metadata.ownerReferences?.find(
    ({ apiVersion, kind }) => kind === appliedWork.kind && groupVersionOf(apiVersion).group === appliedWork.group,
  )?.name ?? '';

export const memberNamespaces: Source<MemberNamespace> = {
  on: 'member',
  resource: namespaceResource,
  view: 'metadata',
  project: (object) => ({
    metadata: identity(object.metadata),
    placedBy: ownerOf(object),
    isTerminating: object.metadata.deletionTimestamp !== undefined,
  }),
};

/** The record of the objects placed for each Work. */
export const appliedWorks: Source<AppliedWork> = {
  on: 'member',
  resource: appliedWork,
  project(object) {
    const { managedFields: _managedFields, ...metadata } = object.metadata;
    return { ...(object as AppliedWork), metadata };
  },
};

export interface PlacedObject {
  readonly metadata: ObjectMeta;
  /**
   * A change that leaves the projection equal wakes no key, but here every change must, so the projection contains the
   * resourceVersion.
   */
  readonly revision: string;
}

/**
 * All objects of a kind, watched so that a change of a placed object wakes its Work. The watch is metadata-only: nearly
 * all objects of the kind belong to others (every Secret of the cluster), and a live read of the one that changed costs
 * less than the bodies of all.
 */
export const objectsOf = (resource: Resource): Source<PlacedObject> => ({
  on: 'member',
  resource,
  view: 'metadata',
  project: ({ metadata }) => ({ metadata: identity(metadata), revision: metadata.resourceVersion ?? '' }),
});
