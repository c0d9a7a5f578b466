// Membership: what it watches and observes.

import { memberRules } from '../../api/agent-rights.ts';
import type { InternalMemberCluster } from '../../api/internal-member-cluster.ts';
import type { MemberCluster } from '../../api/member-cluster.ts';
import { clusterOfNamespace, labels, memberNamespace, memberRole, memberRoleBinding } from '../../api/names.ts';
import { namespaceResource } from '../../api/resources.ts';
import type { Controller, FullRef, Projected, View } from '../../runtime/controller.ts';
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

/** The member to which the namespace of an object belongs. */
const byNamespace = ({ metadata }: Projected): readonly string[] => {
  const cluster = clusterOfNamespace(metadata.namespace ?? '');
  return cluster === undefined ? [] : [cluster];
};

/** The cached report is older than the one in the status of the MemberCluster. */
function isBehind(internal: InternalMemberCluster | undefined, cluster: MemberCluster): boolean {
  const [heard, told] = [internal, cluster].map((each) =>
    Date.parse(memberAgentOf(each?.status?.agentStatus)?.lastReceivedHeartbeat ?? ''),
  ) as [number, number];
  return heard < told;
}

/** By label only: a ServiceAccount that `flotilla join` did not create belongs to others, whatever its name. */
const identitiesOf = (view: View, cluster: string): readonly Identity[] =>
  joinedIdentities.flatMap((source) =>
    (view.listOnDemand(source) ?? [])
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
      // Only counted, and their finalizers removed; a change of a Work does not affect a membership.
      { source: works, toKeys: () => [] },
    ],

    memory: () => ({ beat: undefined }),
    forget: metrics.forget,

    observe(view, key, memory) {
      const cluster = view.get(memberClusters, key);
      if (cluster === undefined) return undefined;
      const place = memberNamespace(key);
      const internal = view.get(internalMemberClusters, key, place);
      if (isBehind(internal, cluster)) {
        // Another hub has copied a newer report than this cache has, or the member's clock was set back: read it live.
        const part = { namespace: place, name: key };
        if (view.isRefreshed?.(internalMemberClusters, part) === false)
          return { need: [], ask: [{ source: internalMemberClusters, part }] };
      }
      const namespace = view.get(namespaces, place);
      const isLast = cluster.metadata.deletionTimestamp !== undefined && namespace === undefined;
      if (isLast) {
        const ref: FullRef = {
          on: 'hub',
          resource: namespaceResource,
          group: '',
          kind: 'Namespace',
          name: place,
          live: true,
        };
        if (view.getFull(ref) === undefined) return { need: [ref] };
        // Without the right to list them a member must still be able to leave; any other trouble passes, and a token must not outlive it.
        const unlisted = joinedIdentities.filter(
          (source) => view.listOnDemand(source) === undefined && view.listError(source)?.reason !== 'Forbidden',
        );
        if (unlisted.length > 0) return { need: [], watch: unlisted };
        // A watch may be behind, and what it does not show yet would outlive the member.
        const part = { labels: `${labels.joinedMember}=${key}` };
        const unasked = joinedIdentities.filter(
          (source) => view.listOnDemand(source) !== undefined && view.isRefreshed?.(source, part) === false,
        );
        if (unasked.length > 0) return { need: [], ask: unasked.map((source) => ({ source, part })) };
      }
      const role = view.get(roles, memberRole(key), place);
      const roleBinding = view.get(roleBindings, memberRoleBinding(key), place);
      const profile = view.get(clusterProfiles, key, clusterProfiles.namespace);
      const stamp = memberAgentOf(
        agentsOf({ cluster, ...(internal === undefined ? {} : { internal }) }),
      )?.lastReceivedHeartbeat;
      const { uid = '' } = cluster.metadata;
      if (stamp !== undefined) memory.beat = beatSeen(memory.beat, { uid, stamp, now: view.now });
      const beatSeenAt = stamp === undefined ? undefined : memory.beat?.seenAt;
      metrics.looked(cluster, beatSeenAt);
      return {
        cluster,
        ...(internal === undefined ? {} : { internal }),
        ...(namespace === undefined ? {} : { namespace }),
        ...(role === undefined ? {} : { role }),
        ...(roleBinding === undefined ? {} : { roleBinding }),
        ...(profile === undefined ? {} : { profile }),
        ...(view.isListed?.(clusterProfiles) === false ? { isProfileUnknown: true as const } : {}),
        works: view.all(works, place),
        ...(isLast ? { identities: identitiesOf(view, key) } : {}),
        ...(beatSeenAt === undefined ? {} : { beatSeenAt }),
        ...(view.failure === undefined ? {} : { failure: view.failure }),
        now: view.now,
        settings: all,
      };
    },

    decide,
  };
}
