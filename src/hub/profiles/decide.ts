// The ClusterProfile of a member: how other tools find it, reach it, and see whether it is healthy.
//
// Guarantees: it exists from when the member has joined until the member is deleted, edits are reverted, and a profile
// of another cluster manager is never changed. Its status has no times except those of transitions, so a heartbeat
// writes nothing. Membership writes the finalizer on the MemberCluster, because only membership writes MemberClusters.
import { type ClusterProfileReason, type ClusterProfileStatus, clusterProfile } from '../../api/cluster-profile.ts';
import type { InternalMemberCluster } from '../../api/internal-member-cluster.ts';
import type { MemberCluster } from '../../api/member-cluster.ts';
import type { MemberStatus } from '../../api/member-status.ts';
import { CLUSTER_MANAGER, finalizers, labels, properties, SYSTEM_NAMESPACE } from '../../api/names.ts';
import { conditionOf, type Finding, nextCondition } from '../../api/next-condition.ts';
import { apiVersionOf } from '../../api/object.ts';
import type { JsonObject } from '../../base/json.ts';
import { threeWayPatch } from '../../base/three-way-merge.ts';
import { assertUnchanged, create, patch, patchStatus, remove, seen } from '../../runtime/actions.ts';
import { type Action, type Decision, idle } from '../../runtime/controller.ts';
import { isNamesakes, ownerReference } from '../members/member-namespace.ts';
import { memberClusters } from '../sources.ts';
import { clusterProfiles, type HubProfile } from './sources.ts';

export interface Observed {
  readonly cluster: MemberCluster;
  /** Only this object has the certificates, because many users may read the MemberCluster. */
  readonly internal?: InternalMemberCluster;
  readonly profile?: HubProfile;
  readonly now: number;
}

export function decide(observed: Observed): Decision {
  const { cluster } = observed;
  return cluster.metadata.deletionTimestamp === undefined ? mirror(observed) : cleanUp(observed);
}

const isForeign = ({ spec }: HubProfile): boolean => spec.clusterManager.name !== CLUSTER_MANAGER;

/** Belongs to this member: not to another manager, and not to a newer member of the same name. */
export const isOf = (profile: HubProfile, cluster: MemberCluster): boolean =>
  !isForeign(profile) && !isNamesakes(profile, cluster);

export const hasProfileFinalizer = ({ metadata }: MemberCluster): boolean =>
  metadata.finalizers?.includes(finalizers.clusterProfileCleanup) === true;

function cleanUp({ cluster, profile }: Observed): Decision {
  if (profile === undefined || !isOf(profile, cluster)) return idle('has no ClusterProfile');
  if (profile.metadata.deletionTimestamp !== undefined) return idle('its ClusterProfile is being deleted');
  const because = 'the member is being deleted';
  return { steps: [[remove(seen(clusterProfiles, profile), because)]], holds: [], because };
}

function mirror(observed: Observed): Decision {
  const { cluster, profile } = observed;
  if (profile !== undefined && isForeign(profile)) return idle('a ClusterProfile of another manager has its name');
  if (profile?.metadata.deletionTimestamp !== undefined) return idle('its ClusterProfile is being deleted');
  // Membership adds the finalizer once the member has joined, so that the profile is deleted before the member.
  if (!hasProfileFinalizer(cluster)) return idle('has not joined yet');
  const steps = profile === undefined ? [[creation(cluster)]] : corrections(cluster, profile);
  if (profile === undefined || steps.length > 0) {
    return { steps, holds: [], because: steps.at(-1)?.[0]?.because ?? '', again: 'at once' };
  }
  return { steps: report(observed, profile), holds: [], because: 'the ClusterProfile repeats what the member reports' };
}

type Steps = readonly (readonly Action[])[];

const isMarked = { [labels.clusterManager]: CLUSTER_MANAGER };

const creation = (cluster: MemberCluster): Action =>
  create(
    'hub',
    clusterProfile,
    {
      apiVersion: apiVersionOf(clusterProfile.group, clusterProfile.version),
      kind: clusterProfile.kind,
      metadata: {
        name: cluster.metadata.name ?? '',
        namespace: SYSTEM_NAMESPACE,
        labels: isMarked,
        ownerReferences: [ownerReference(cluster)],
      },
      spec: { displayName: cluster.metadata.name ?? '', clusterManager: { name: CLUSTER_MANAGER } },
    },
    `creates ClusterProfile ${cluster.metadata.name}`,
  );

/**
 * Differs from KubeFleet: the profile has an owner reference, so that it does not outlive a member whose finalizer was
 * removed by hand.
 */
function corrections(cluster: MemberCluster, profile: HubProfile): Steps {
  const { metadata, spec } = profile;
  const name = cluster.metadata.name ?? '';
  const owner = ownerReference(cluster);
  const isOwned = metadata.ownerReferences?.some(({ uid }) => uid === owner.uid) === true;
  const isLabeled = metadata.labels?.[labels.clusterManager] === CLUSTER_MANAGER;
  const isNamed = spec.displayName === name;
  if (isOwned && isLabeled && isNamed) return [];
  const others = (metadata.ownerReferences ?? []).filter(({ kind }) => kind !== owner.kind);
  const merge = {
    metadata: {
      ...(isLabeled ? {} : { labels: isMarked }),
      ...(isOwned ? {} : { ownerReferences: [...others, owner] }),
    },
    ...(isNamed ? {} : { spec: { displayName: name } }),
  };
  const correction = patch(seen(clusterProfiles, profile), merge, `restores ClusterProfile ${name}`);
  // With a stale cache, the profile may belong to a newer member of this name.
  const sure = assertUnchanged(seen(memberClusters, cluster), `makes sure that ${name} still exists`);
  return isOwned ? [[correction]] : [[sure], [correction]];
}

// ---- status

function report(observed: Observed, profile: HubProfile): Steps {
  const live = (profile.status ?? {}) as JsonObject;
  const wanted = statusOf(observed, profile) as JsonObject;
  const difference = threeWayPatch({ last: live, wanted, live });
  if (Object.keys(difference).length === 0) return [];
  const because = `the status is out of date in ${Object.keys(difference).sort().join(', ')}`;
  return [[patchStatus(seen(clusterProfiles, profile), difference, because)]];
}

function statusOf({ cluster, internal, now }: Observed, { metadata, status }: HubProfile): ClusterProfileStatus {
  const { properties: facts = {} } = cluster.status ?? {};
  const version = facts[properties.kubernetesVersion]?.value;
  const type = 'ControlPlaneHealthy';
  const finding: Finding = {
    type,
    ...healthOf(cluster),
    ...(metadata.generation === undefined ? {} : { observedGeneration: metadata.generation }),
  };
  const access = accessOf(facts, internal?.status);
  return {
    conditions: [nextCondition(conditionOf(status?.conditions, type), finding, now)],
    ...(version === undefined ? {} : { version: { kubernetes: version } }),
    ...(access === undefined ? {} : { accessProviders: [{ name: CLUSTER_MANAGER, cluster: access }] }),
  };
}

type Health = Pick<Finding, 'status' | 'message'> & { readonly reason: ClusterProfileReason };

/**
 * Differs from KubeFleet: heartbeats are lost once the hub reports the member as unreachable, after several periods by
 * its own clock. There it is one default period by the member's clock, and an unreachable member is only noticed hours
 * later.
 */
export function healthOf({ status }: MemberCluster): Health {
  const agent = status?.agentStatus?.find(({ type }) => type === 'MemberAgent');
  if (agent === undefined) {
    const message = 'the agent of the member has not reported';
    return { status: 'Unknown', reason: 'MemberAgentReportedNoStatus', message };
  }
  const reported = conditionOf(agent.conditions, 'Healthy');
  if (reported === undefined) {
    const message = 'the agent of the member has not reported whether its API server is healthy';
    return { status: 'Unknown', reason: 'MemberAgentReportedNoHealthInfo', message };
  }
  const known = conditionOf(status?.conditions, 'Healthy');
  if (known?.reason === 'MemberUnreachable') {
    return { status: 'False', reason: 'MemberAgentHeartbeatLost', message: known.message };
  }
  switch (reported.status) {
    case 'True': {
      const message = 'the API server of the member is healthy';
      return { status: 'True', reason: 'MemberClusterAPIServerHealthy', message };
    }
    case 'False':
      return { status: 'False', reason: 'MemberClusterAPIServerUnhealthy', message: reported.message };
    default:
      return { status: 'Unknown', reason: 'MemberAgentReportedNoHealthInfo', message: reported.message };
  }
}

type Access = NonNullable<NonNullable<ClusterProfileStatus['accessProviders']>[number]['cluster']>;

/** Differs from KubeFleet: also set without a property provider. Certificates are useless without an address. */
function accessOf(facts: NonNullable<MemberStatus['properties']>, reported?: MemberStatus): Access | undefined {
  const server = facts[properties.clusterEntrypoint]?.value;
  if (server === undefined) return undefined;
  const certificates = certificatesIn(reported);
  return { server, ...(certificates === undefined ? {} : { 'certificate-authority-data': certificates }) };
}

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** In base64, as in a kubeconfig: providers may report certificates as PEM text, our agents report base64. */
export function certificatesIn(reported: MemberStatus | undefined): string | undefined {
  const value = reported?.properties?.[properties.certificateAuthority]?.value;
  if (value === undefined || value === '') return undefined;
  if (value.startsWith('-----BEGIN CERTIFICATE-----')) return Buffer.from(value).toString('base64');
  return BASE64.test(value) && value.length % 4 === 0 ? value : undefined;
}
