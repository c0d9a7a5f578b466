// What an agent keeps in memory: its orders on the hub, and of its own cluster just enough to say how large and how busy it is.
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

/** Its generation, finalizers and deletion, and whose it is; the manifests stay with the whole object. */
export interface AgentWork {
  readonly metadata: ObjectMeta;
  /** Of all objects that it names; undefined = unknown, since a list brings only metadata. */
  readonly identities?: ReadonlySet<string>;
}

export interface HubSources {
  readonly internal: Source<InternalMemberCluster>;
  /** Kept without their manifests. */
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
    // An agent that must ask for its order first gets it a round trip later. The price: what it reports comes back with the order once more.
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

/** Whose order it is, for people. */
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
  /** What keeps it from starting. */
  readonly trouble?: TroubledPod;
}

/** Those that use something: they have a node and have not ended. */
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

/** Those without a node: few, and not for long, unless none fits. */
export const unscheduledPods: Source<Pick<MemberPod, 'metadata' | 'trouble'>> = {
  on: 'member',
  resource: podResource,
  fields: 'spec.nodeName=,status.phase!=Succeeded,status.phase!=Failed',
  project: (pod) => ({ metadata: identity(pod.metadata), ...troubleIn(pod) }),
};

export interface MemberNamespace {
  readonly metadata: ObjectMeta;
  /** The AppliedWork that placed it here, or empty. */
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

/** What was placed for each Work. */
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
  /** Once more, because a change that leaves the rest of a projection as it was wakes no key, and here every change counts. */
  readonly revision: string;
}

/**
 * All objects of a kind, to be woken when one of those that we placed changes. Only their metadata travels: nearly all of them belong to
 * else's (every Secret of the cluster), and one of ours that changed is read by itself, which costs less than the bodies of all others.
 */
export const objectsOf = (resource: Resource): Source<PlacedObject> => ({
  on: 'member',
  resource,
  view: 'metadata',
  project: ({ metadata }) => ({ metadata: identity(metadata), revision: metadata.resourceVersion ?? '' }),
});
