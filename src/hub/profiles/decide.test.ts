import { describe, expect, test } from 'vitest';
import type { InternalMemberCluster } from '../../api/internal-member-cluster.ts';
import type { MemberCluster } from '../../api/member-cluster.ts';
import type { MemberStatus } from '../../api/member-status.ts';
import { finalizers, properties } from '../../api/names.ts';
import type { ObjectMeta } from '../../api/object.ts';
import type { JsonObject } from '../../base/json.ts';
import { mergePatch } from '../../base/merge-patch.ts';
import type { Decision } from '../../runtime/controller.ts';
import { aCluster, aCondition, ago, anAgent, NOW } from '../membership/member.testing.ts';
import { certificatesIn, decide, type Observed } from './decide.ts';
import type { HubProfile } from './sources.ts';

const HELD = [finalizers.memberCluster, finalizers.clusterProfileCleanup];
const OWNER = {
  apiVersion: 'cluster.kubernetes-fleet.io/v1beta1',
  kind: 'MemberCluster',
  name: 'east',
  uid: 'uid-east',
  controller: true,
};
const PEM = '-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----\n';
const fact = (value: string) => ({ value, observationTime: ago(0) });

const joinedStatus = (more: Partial<MemberStatus> = {}): MemberStatus => ({
  conditions: [aCondition('Joined', 'True', { observedGeneration: 1 }), aCondition('Healthy', 'True')],
  agentStatus: [anAgent('True')],
  ...more,
});
const aMember = (status: MemberStatus = joinedStatus(), metadata: ObjectMeta = { finalizers: HELD }): MemberCluster =>
  aCluster({ metadata, status });
const aProfile = (more: { metadata?: ObjectMeta; spec?: HubProfile['spec']; status?: HubProfile['status'] } = {}) =>
  ({
    spec: { displayName: 'east', clusterManager: { name: 'KubeFleet' } },
    ...more,
    metadata: {
      name: 'east',
      namespace: 'fleet-system',
      uid: 'p',
      resourceVersion: '7',
      generation: 1,
      labels: { 'x-k8s.io/cluster-manager': 'KubeFleet' },
      ownerReferences: [OWNER],
      ...more.metadata,
    },
  }) as HubProfile;
const observed = (more: Partial<Observed> = {}): Observed => ({ cluster: aMember(), now: NOW, ...more });
const words = ({ steps }: Decision): readonly string[] =>
  steps.flat().map((action) => {
    if (action.do === 'create') return `create ${action.object.kind} ${action.object.metadata.name}`;
    if (action.do !== 'patch' && action.do !== 'delete') return action.do;
    const part = action.do === 'patch' && action.subresource === 'status' ? '/status' : '';
    return `${action.do} ${action.of.resource.kind}${part}`;
  });
/** The status of the profile after the decision. */
const reported = (seen: Observed): HubProfile['status'] => {
  const [[action] = []] = decide(seen).steps;
  if (action?.do !== 'patch' || action.subresource !== 'status') return seen.profile?.status;
  return (
    mergePatch({ status: seen.profile?.status ?? {} } as never, action.merge as JsonObject) as never as HubProfile
  ).status;
};

describe('the ClusterProfile of a member', () => {
  test.each<{ it: string; seen: Observed; does: readonly string[] }>([
    {
      it: 'is created when a finalizer keeps the member for it',
      seen: observed(),
      does: ['create ClusterProfile east'],
    },
    {
      it: 'is not created before',
      seen: observed({ cluster: aMember({ agentStatus: [anAgent('True')] }, {}) }),
      does: [],
    },
    {
      it: 'is not touched while it is being deleted',
      seen: observed({ profile: aProfile({ metadata: { deletionTimestamp: ago(1) } }) }),
      does: [],
    },
    {
      it: 'gets its label back',
      seen: observed({ profile: aProfile({ metadata: { labels: {} } }) }),
      does: ['patch ClusterProfile'],
    },
    {
      it: 'gets its name back',
      seen: observed({
        profile: aProfile({ spec: { displayName: 'mine', clusterManager: { name: 'KubeFleet' } } }),
      }),
      does: ['patch ClusterProfile'],
    },
    {
      it: 'of an earlier member of this name is taken over, if the member still exists',
      seen: observed({ profile: aProfile({ metadata: { ownerReferences: [{ ...OWNER, uid: 'old' }] } }) }),
      does: ['patch MemberCluster', 'patch ClusterProfile'],
    },
    {
      it: 'of another manager is left alone',
      seen: observed({ profile: aProfile({ spec: { clusterManager: { name: 'other' } } }) }),
      does: [],
    },
    {
      it: 'is deleted when the deletion of the member begins',
      seen: observed({
        cluster: aMember(joinedStatus(), { finalizers: HELD, deletionTimestamp: ago(1) }),
        profile: aProfile(),
      }),
      does: ['delete ClusterProfile'],
    },
    {
      it: 'is waited for when others hold it',
      seen: observed({
        cluster: aMember(joinedStatus(), { finalizers: HELD, deletionTimestamp: ago(1) }),
        profile: aProfile({ metadata: { deletionTimestamp: ago(1) } }),
      }),
      does: [],
    },
    {
      it: 'of another manager is not deleted with the member',
      seen: observed({
        cluster: aMember(joinedStatus(), { finalizers: HELD, deletionTimestamp: ago(1) }),
        profile: aProfile({ spec: { clusterManager: { name: 'other' } } }),
      }),
      does: [],
    },
    {
      it: 'of the next member of this name is not deleted',
      seen: observed({
        cluster: aMember(joinedStatus(), { finalizers: HELD, deletionTimestamp: ago(1) }),
        profile: aProfile({ metadata: { ownerReferences: [{ ...OWNER, uid: 'next' }] } }),
      }),
      does: [],
    },
    {
      it: 'does not concern a member that is being deleted and had none',
      seen: observed({ cluster: aMember(joinedStatus(), { deletionTimestamp: ago(1) }) }),
      does: [],
    },
  ])('$it', ({ seen, does }) => {
    expect(words(decide(seen))).toEqual(does);
  });

  test('is written once', () => {
    const profile = aProfile();
    const status = reported(observed({ profile })) as NonNullable<HubProfile['status']>;
    expect(decide(observed({ profile: aProfile({ status }), now: NOW + 60_000 })).steps).toEqual([]);
  });
});

describe('the condition ControlPlaneHealthy', () => {
  const withAgent = (healthy: 'True' | 'False' | 'Unknown') =>
    joinedStatus({ agentStatus: [anAgent('True', { healthy })] });
  const silent = aCondition('Healthy', 'Unknown', { reason: 'MemberUnreachable', message: 'no heartbeat' });
  const { conditions: _conditions, ...unprobed } = anAgent('True');
  test.each<{ it: string; status: MemberStatus; is: string }>([
    {
      it: 'without a report',
      status: { conditions: joinedStatus().conditions ?? [] },
      is: 'Unknown MemberAgentReportedNoStatus',
    },
    {
      it: 'without the health',
      status: joinedStatus({ agentStatus: [unprobed] }),
      is: 'Unknown MemberAgentReportedNoHealthInfo',
    },
    {
      it: 'of a member that is unreachable',
      status: joinedStatus({ conditions: [silent] }),
      is: 'False MemberAgentHeartbeatLost',
    },
    { it: 'of a health that is unknown', status: withAgent('Unknown'), is: 'Unknown MemberAgentReportedNoHealthInfo' },
    { it: 'of one that is unhealthy', status: withAgent('False'), is: 'False MemberClusterAPIServerUnhealthy' },
    { it: 'of one that is healthy', status: withAgent('True'), is: 'True MemberClusterAPIServerHealthy' },
  ])('$it is $is', ({ status, is }) => {
    const [condition] = reported(observed({ cluster: aMember(status), profile: aProfile() }))?.conditions ?? [];
    expect(`${condition?.status} ${condition?.reason}`).toBe(is);
    expect(condition).toMatchObject({ type: 'ControlPlaneHealthy', observedGeneration: 1 });
  });
});

describe('how to reach a member', () => {
  const cluster = aMember(
    joinedStatus({
      properties: {
        [properties.kubernetesVersion]: fact('v1.34.4'),
        [properties.clusterEntrypoint]: fact('https://east'),
      },
    }),
  );
  const internal = (value: string) =>
    ({
      metadata: {},
      status: { properties: { [properties.certificateAuthority]: fact(value) } },
    }) as never as InternalMemberCluster;
  const base64 = Buffer.from(PEM).toString('base64');

  test('is in the profile: version, address and certificates', () => {
    expect(reported(observed({ cluster, internal: internal(base64), profile: aProfile() }))).toMatchObject({
      version: { kubernetes: 'v1.34.4' },
      accessProviders: [
        { name: 'KubeFleet', cluster: { server: 'https://east', 'certificate-authority-data': base64 } },
      ],
    });
  });

  test('is removed when it is no longer reported', () => {
    const status = reported(observed({ cluster, profile: aProfile() })) as NonNullable<HubProfile['status']>;
    const after = reported(observed({ profile: aProfile({ status }) }));
    expect(after).not.toHaveProperty('version');
    expect(after).not.toHaveProperty('accessProviders');
  });

  test.each([
    ['as text', PEM, base64],
    ['in base64', base64, base64],
    ['that are neither', 'a b', undefined],
    ['that are empty', '', undefined],
  ])('certificates %s', (_it, value, expected) => {
    expect(certificatesIn(internal(value).status)).toBe(expected);
  });
});
