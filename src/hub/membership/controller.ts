// What membership watches and how it sees.

import { memberRules } from '../../api/agent-rights.ts';
import type { InternalMemberCluster } from '../../api/internal-member-cluster.ts';
import type { MemberCluster } from '../../api/member-cluster.ts';
import { clusterOfNamespace, labels, memberNamespace, memberRole, memberRoleBinding } from '../../api/names.ts';
import { namespaceResource } from '../../api/resources.ts';
import type { Controller, Projected, See, WholeRef } from '../../runtime/controller.ts';
import { type Beat, beatSeen } from '../members/beats.ts';
import { clusterProfiles } from '../profiles/sources.ts';
import {
  internalMemberClusters,
  joinedIdentities,
  memberClusters,
  namespaces,
  roleBindings,
  roles,
} from '../sources.ts';
import { works } from '../work-source.ts';
import { decide } from './decide.ts';
import { type MemberMetrics, noMemberMetrics } from './metrics.ts';
import type { Identity, Observed, Settings } from './observed.ts';
import { agentsOf, memberAgentOf } from './report.ts';

const MINUTE = 60_000;

export const defaultSettings: Settings = {
  agents: ['MemberAgent'],
  forceDeleteWaitMs: 15 * MINUTE,
  unreachablePeriods: 3,
  rules: memberRules,
};

/** The member in whose namespace an object lives. */
const byNamespace = ({ metadata }: Projected): readonly string[] => {
  const cluster = clusterOfNamespace(metadata.namespace ?? '');
  return cluster === undefined ? [] : [cluster];
};

/** Its report is older than what is told of it. */
function isBehind(internal: InternalMemberCluster | undefined, cluster: MemberCluster): boolean {
  const [heard, told] = [internal, cluster].map((each) =>
    Date.parse(memberAgentOf(each?.status?.agentStatus)?.lastReceivedHeartbeat ?? ''),
  ) as [number, number];
  return heard < told;
}

/** By their label alone; a ServiceAccount that `flotilla join` did not make belongs to others, whatever its name. */
const identitiesOf = (see: See, cluster: string): readonly Identity[] =>
  joinedIdentities.flatMap((source) =>
    (see.among(source) ?? [])
      .filter(({ metadata }) => metadata.labels?.[labels.joinedMember] === cluster)
      .map((item) => ({ source, item })),
  );

interface Memory {
  beat: Beat | undefined;
}

export function membership(
  settings: Partial<Settings> = {},
  metrics: MemberMetrics = noMemberMetrics,
): Controller<Observed, Memory> {
  const all: Settings = { ...defaultSettings, ...settings };
  return {
    name: 'membership',
    eventSource: 'mcv1beta1',
    watches: [
      { source: memberClusters, toKeys: ({ metadata }) => [metadata.name ?? ''] },
      { source: internalMemberClusters, toKeys: byNamespace },
      {
        source: namespaces,
        toKeys: ({ metadata }) => {
          const cluster = clusterOfNamespace(metadata.name ?? '');
          return cluster === undefined ? [] : [cluster];
        },
      },
      { source: roles, toKeys: byNamespace },
      { source: roleBindings, toKeys: byNamespace },
      // A member that is being deleted waits for its ClusterProfile.
      { source: clusterProfiles, optional: true, toKeys: ({ metadata }) => [metadata.name ?? ''] },
      // Only counted and let go of; a Work by itself changes nothing about a membership.
      { source: works, toKeys: () => [] },
    ],

    memory: () => ({ beat: undefined }),
    forget: metrics.forget,

    observe(see, key, memory) {
      const cluster = see.get(memberClusters, key);
      if (cluster === undefined) return undefined;
      const place = memberNamespace(key);
      const internal = see.get(internalMemberClusters, key, place);
      if (isBehind(internal, cluster)) {
        // The member has reported more than this cache has, and another hub has passed that on; or its clock was set back. The server knows which.
        const part = { namespace: place, name: key };
        if (see.isRefreshed?.(internalMemberClusters, part) === false)
          return { need: [], ask: [{ source: internalMemberClusters, part }] };
      }
      const namespace = see.get(namespaces, place);
      const isLast = cluster.metadata.deletionTimestamp !== undefined && namespace === undefined;
      if (isLast) {
        const ref: WholeRef = {
          on: 'hub',
          resource: namespaceResource,
          group: '',
          kind: 'Namespace',
          name: place,
          live: true,
        };
        if (see.whole(ref) === undefined) return { need: [ref] };
        // Without the right to list them a member must still be able to leave; any other trouble passes, and a token must not outlive it.
        const unlisted = joinedIdentities.filter(
          (source) => see.among(source) === undefined && see.listError(source)?.reason !== 'Forbidden',
        );
        if (unlisted.length > 0) return { need: [], watch: unlisted };
        // A watch may be behind, and what it does not show yet would outlive the member.
        const part = { labels: `${labels.joinedMember}=${key}` };
        const unasked = joinedIdentities.filter(
          (source) => see.among(source) !== undefined && see.isRefreshed?.(source, part) === false,
        );
        if (unasked.length > 0) return { need: [], ask: unasked.map((source) => ({ source, part })) };
      }
      const role = see.get(roles, memberRole(key), place);
      const roleBinding = see.get(roleBindings, memberRoleBinding(key), place);
      const profile = see.get(clusterProfiles, key, clusterProfiles.namespace);
      const stamp = memberAgentOf(
        agentsOf({ cluster, ...(internal === undefined ? {} : { internal }) }),
      )?.lastReceivedHeartbeat;
      const { uid = '' } = cluster.metadata;
      if (stamp !== undefined) memory.beat = beatSeen(memory.beat, { uid, stamp, now: see.now });
      const beatSeenAt = stamp === undefined ? undefined : memory.beat?.seenAt;
      metrics.looked(cluster, beatSeenAt);
      return {
        cluster,
        ...(internal === undefined ? {} : { internal }),
        ...(namespace === undefined ? {} : { namespace }),
        ...(role === undefined ? {} : { role }),
        ...(roleBinding === undefined ? {} : { roleBinding }),
        ...(profile === undefined ? {} : { profile }),
        ...(see.isListed?.(clusterProfiles) === false ? { isProfileUnknown: true as const } : {}),
        works: see.all(works, place),
        ...(isLast ? { identities: identitiesOf(see, key) } : {}),
        ...(beatSeenAt === undefined ? {} : { beatSeenAt }),
        ...(see.failure === undefined ? {} : { failure: see.failure }),
        now: see.now,
        settings: all,
      };
    },

    decide,
  };
}
