// Strings that other programs compare: labels, annotations, finalizers, names of generated objects, reserved names.

const FLEET = 'kubernetes-fleet.io/';

/** The prefix of KubeFleet's labels and annotations; drift comparison ignores them. */
export const FLEET_PREFIX = FLEET;

export const labels = {
  /** On snapshots, bindings and Works: the placement's name, also for ResourcePlacements. */
  parentPlacement: `${FLEET}parent-CRP`,
  isLatestSnapshot: `${FLEET}is-latest-snapshot`,
  resourceIndex: `${FLEET}resource-index`,
  policyIndex: `${FLEET}policy-index`,
  overrideIndex: `${FLEET}override-index`,
  parentOverride: `${FLEET}parent-resource-override`,
  parentBinding: `${FLEET}parent-resource-binding`,
  parentPlacementNamespace: `${FLEET}parent-placement-namespace`,
  parentResourceSnapshotIndex: `${FLEET}parent-resource-snapshot-index`,
  envelopeWork: `${FLEET}envelope-work`,
  envelopeName: `${FLEET}envelope-name`,
  envelopeNamespace: `${FLEET}envelope-namespace`,
  /** On a MemberCluster: its own name, so that selectors can name one cluster. */
  memberName: `${FLEET}member-name`,
  /**
   * Ours. On the ServiceAccount and the Secret that `flotilla join` created: the member's name. They are deleted after
   * the member has left.
   */
  joinedMember: 'flotilla.dev/joined-member',
  /** Ours. On a placement that a GitRepo created: the name of the GitRepo. */
  gitRepo: 'flotilla.dev/gitrepo',
  /** On the namespace of a member. */
  isFleetResource: `${FLEET}is-fleet-resource`,
  targetUpdateRun: `${FLEET}targetUpdateRun`,
  targetUpdatingStage: `${FLEET}targetUpdatingStage`,
  taskType: `${FLEET}taskType`,
  isLatestUpdateRunApproval: `${FLEET}isLatestUpdateRunApproval`,
  /** On a ClusterProfile. */
  clusterManager: 'x-k8s.io/cluster-manager',
} as const;

export const annotations = {
  resourceHash: `${FLEET}resource-hash`,
  numberOfResourceSnapshots: `${FLEET}number-of-resource-snapshots`,
  numberOfEnvelopedObjects: `${FLEET}number-of-enveloped-object`,
  subindexOfResourceSnapshot: `${FLEET}subindex-of-resource-snapshot`,
  nextSnapshotDetectionTime: `${FLEET}next-resource-snapshot-candidate-detection-time`,
  placementGeneration: `${FLEET}CRP-generation`,
  numberOfClusters: `${FLEET}number-of-clusters`,
  previousBindingState: `${FLEET}previous-binding-state`,
  parentResourceSnapshotName: `${FLEET}parent-resource-snapshot-name`,
  parentResourceOverrideSnapshotHash: `${FLEET}parent-resource-override-snapshot-hash`,
  parentClusterResourceOverrideSnapshotHash: `${FLEET}parent-cluster-resource-override-snapshot-hash`,
  specHash: `${FLEET}spec-hash`,
  lastApplied: `${FLEET}last-applied-configuration`,
  envelopeConfigMap: `${FLEET}envelope-configmap`,
  // Ours.
  /**
   * On an object with comparePatches that server-side apply wrote: the hash of the labels and annotations that the spec
   * hash leaves out. Comparisons leave it out by its prefix.
   */
  metadataHash: `${FLEET}metadata-hash`,
  trackAvailability: 'flotilla.dev/track-availability',
  /** On a MemberCluster: `true` keeps partitioned rollouts from updating it. */
  memberPaused: 'flotilla.dev/paused',
  membershipChange: 'flotilla.dev/membership-change',
  /**
   * On a MemberCluster, copied to its InternalMemberCluster when it leaves: `Purge` removes the placed objects first.
   */
  onLeave: 'flotilla.dev/on-leave',
  unreachableAfter: 'flotilla.dev/unreachable-after',
  /** On a placement, copied to its Works: objects that were taken over are released instead of deleted. */
  keepTakenOver: 'flotilla.dev/keep-taken-over',
  /** On a binding and its Works, before they are deleted: the placed objects stay on the member and are released. */
  abandon: 'flotilla.dev/abandon',
  /**
   * On an object of a cluster-scoped placement: the agent creates its namespace on a member that lacks it, and never
   * deletes it.
   */
  createNamespace: 'flotilla.dev/create-namespace',
  /** On an object of a member that existed before a Work placed it. */
  takenOver: 'flotilla.dev/taken-over',
  /** On a duplicate binding that is being deleted: the name of the survivor for the same cluster. */
  twinOf: 'flotilla.dev/twin-of',
  /**
   * On a binding: uid of the placement that it was created for, because a placement that is deleted and recreated
   * reuses the names of snapshots.
   */
  placementUid: 'flotilla.dev/placement-uid',
  /** On a binding: the generation of the rollout's last change, which the work generator may act on. */
  releasedGeneration: 'flotilla.dev/released-generation',
  /** On the first binding to move in a batch of first copies: the uids of the others, separated by commas. */
  batch: 'flotilla.dev/batch',
  /**
   * On an eviction: the uid of the binding to delete and the reason why that is allowed, recorded before the deletion.
   */
  evicting: 'flotilla.dev/evicting',
  /** On a binding: the uid of the eviction that deletes it. */
  evictedBy: 'flotilla.dev/evicted-by',
  /** On the Lease of the hub: the first start of a hub that executes evictions. Older evictions are not executed. */
  evictionsSince: 'flotilla.dev/evictions-since',
  /**
   * On a Work: uid and generation of the binding that it was generated from, and when (epoch milliseconds), as of its
   * last write.
   */
  orderedBy: 'flotilla.dev/ordered-by',
  /** On a resource snapshot: the commit that its content was first read from. */
  sourceCommit: 'flotilla.dev/source-commit',
  /**
   * On a placement that a GitRepo created, and on its newest resource snapshot: a hash of the last content of the
   * repository.
   */
  sourceHash: 'flotilla.dev/source-hash',
  /** On the first resource snapshot of a revision with content variants: the variant of each cluster (JSON). */
  variants: 'flotilla.dev/variants',
  /** On an object within a resource snapshot: the variants that contain it. Never on an object of a cluster. */
  variant: 'flotilla.dev/variant',
} as const;

export const finalizers = {
  memberCluster: `${FLEET}membercluster-finalizer`,
  clusterProfileCleanup: `${FLEET}cluster-profile-cleanup`,
  /** Both placement kinds. */
  placementCleanup: `${FLEET}crp-cleanup`,
  schedulerCleanup: `${FLEET}scheduler-cleanup`,
  /** Both binding kinds. */
  schedulerBindingCleanup: `${FLEET}scheduler-crb-cleanup`,
  /** Bindings and Works. */
  workCleanup: `${FLEET}work-cleanup`,
  overrideCleanup: `${FLEET}override-cleanup`,
  /** Ours. On a GitRepo until its placements are deleted. */
  gitRepoCleanup: 'flotilla.dev/gitrepo-cleanup',
  updateRun: `${FLEET}stagedupdaterun-finalizer`,
} as const;

export const fieldManagers = {
  placement: 'cluster-placement-controller',
  memberCluster: 'member-cluster-controller',
  override: 'override-controller',
  updateRun: 'cluster-staged-update-run-controller',
  apply: 'work-api-agent',
} as const;

/** The value of `annotations.onLeave`; with any other value the placed objects stay. */
export const PURGE = 'Purge';

/** The value of `labels.clusterManager` and the manager name in ClusterProfiles. */
export const CLUSTER_MANAGER = 'KubeFleet';

export const properties = {
  nodeCount: `${FLEET}node-count`,
  kubernetesVersion: 'k8s.io/k8s-version',
  clusterEntrypoint: 'k8s.io/cluster-entrypoint',
  /** Only on the InternalMemberCluster; the hub copies it only to the ClusterProfile. */
  certificateAuthority: 'k8s.io/cluster-certificate-authority-data',
  /** `resources.kubernetes-fleet.io/available-cpu` in a selector means `status.resourceUsage.available.cpu`. */
  resourcePrefix: 'resources.kubernetes-fleet.io/',
} as const;

/** Variables in the values of an override. */
export const overrideVariables = {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is what users write
  clusterName: '${MEMBER-CLUSTER-NAME}',
  clusterLabelPrefix: '${MEMBER-CLUSTER-LABEL-KEY-',
} as const;

// ---- namespaces

export const SYSTEM_NAMESPACE = 'fleet-system';
/** The ServiceAccount of the hub's controllers, and its user name. */
export const HUB_ACCOUNT = 'flotilla-hub';
export const HUB_USER_NAME = `system:serviceaccount:${SYSTEM_NAMESPACE}:${HUB_ACCOUNT}`;
const MEMBER_NAMESPACE_PREFIX = 'fleet-member-';
export const RESERVED_PREFIXES: readonly string[] = ['fleet-', 'kube-'];

/** Never placed; Pods may run there. */
export const isReservedNamespace = (namespace: string): boolean =>
  RESERVED_PREFIXES.some((prefix) => namespace.startsWith(prefix));

export const memberNamespace = (cluster: string): string => `${MEMBER_NAMESPACE_PREFIX}${cluster}`;

/** The cluster that the namespace belongs to, or undefined. */
export const clusterOfNamespace = (namespace: string): string | undefined =>
  namespace.startsWith(MEMBER_NAMESPACE_PREFIX) && namespace.length > MEMBER_NAMESPACE_PREFIX.length
    ? namespace.slice(MEMBER_NAMESPACE_PREFIX.length)
    : undefined;

// ---- generated names. Find objects by label and owner, never by parsing a name: `a-1-0` is ambiguous.

export const memberRole = (cluster: string): string => `fleet-role-${cluster}`;
export const memberRoleBinding = (cluster: string): string => `fleet-rolebinding-${cluster}`;
export const memberServiceAccount = (cluster: string): string => `${cluster}-hub-cluster-access`;
export const memberTokenSecret = (cluster: string): string => `${cluster}-hub-cluster-access-token`;

export const masterSnapshotName = (placement: string, index: number): string => `${placement}-${index}-snapshot`;
export const furtherSnapshotName = (placement: string, index: number, subindex: number): string =>
  `${placement}-${index}-${subindex}`;
export const policySnapshotName = (placement: string, index: number): string => `${placement}-${index}`;
export const overrideSnapshotName = (override: string, index: number): string => `${override}-${index}`;

/** A DNS label of at most 63 characters; the suffix has eight. */
export const bindingName = (placement: string, cluster: string, suffix: string): string =>
  `${placement.slice(0, 26)}-${cluster.slice(0, 27)}-${suffix}`;

export const workBaseName = (placement: string, namespace?: string): string =>
  namespace === undefined ? placement : `${namespace}.${placement}`;
export const masterWorkName = (base: string): string => `${base}-work`;
export const furtherWorkName = (base: string, subindex: number): string => `${base}-${subindex}`;
/** `hash`: the first 16 hex digits of SHA-256 over `type/namespace/name` of the envelope. */
export const envelopeWorkName = (work: string, hash: string): string => `${work}-envelope-${hash}`;

/** The base of any name above; undefined = not a generated name. */
export const workBaseIn = (name: string): string | undefined =>
  /^(.+)-(?:work|\d{1,5})(?:-envelope-[0-9a-f]{16})?$/.exec(name)?.[1];

export const approvalRequestName = (run: string, when: 'before' | 'after', stage: string): string =>
  `${run}-${when}-${stage}`;

export const DELETION_STAGE = `${FLEET}deleteStage`;
export const TASK_TYPES = { before: 'beforeStage', after: 'afterStage' } as const;

/** In the message of a failed run it marks an error that the user must fix. */
export const CLIENT_ERROR_MARKER = 'failed to process the request due to a client error';

/** Lease names of KubeFleet's agents; holding them prevents both from acting at the same time. */
export const leases = {
  hub: '136224848560.hub.fleet.azure.com',
  member: '136224848560.member.fleet.azure.com',
} as const;

export const eventSources = {
  clusterPlacement: 'cluster-resource-placement-controller',
  namespacedPlacement: 'resource-placement-controller',
  eviction: 'cluster-resource-placement-eviction-controller',
  clusterRun: 'cluster-staged-update-run-controller',
  namespacedRun: 'staged-update-run-controller',
} as const;
