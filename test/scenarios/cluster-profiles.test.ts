// ClusterProfiles in a complete fleet: mirrored for other tools, not written by heartbeats, and deleted with the
// member.
import { describe, expect, test } from 'vitest';
import { finalizers } from '../../src/api/names.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { aFleet, type Fleet } from '../fleet.ts';

const PLACE = 'fleet-system';
const MINUTE = 60_000;
const SERVER = { version: 'v1.34.4', entrypoint: 'https://east:6443', certificates: 'PEM' };

const profileOf = async ({ hub }: Fleet, name = 'east'): Promise<KubeObject | undefined> =>
  (await hub.call({ verb: 'list', at: hub.at('clusterprofiles', PLACE) })).list?.items.find(
    ({ metadata }) => metadata.name === name,
  ) as KubeObject | undefined;

const healthOf = async (fleet: Fleet): Promise<string> => {
  const { conditions = [] } = ((await profileOf(fleet))?.status ?? {}) as {
    readonly conditions?: readonly { readonly status: string; readonly reason: string }[];
  };
  return conditions.map(({ status, reason }) => `${status}/${reason}`).join();
};

async function joined(): Promise<Fleet> {
  const fleet = await aFleet();
  await fleet.join('east', { agent: false });
  fleet.startAgent('east', { server: () => SERVER });
  await fleet.pass(5000);
  return fleet;
}

const patch = ({ hub }: Fleet, plural: string, namespace: string | undefined, body: object) =>
  hub.call({
    verb: 'patch',
    at: hub.at(plural, namespace, 'east'),
    patch: { type: 'merge', body: body as never },
    manager: 'test',
  });

describe('a ClusterProfile', () => {
  test('tells other tools the version, the address and the certificates of a member that has joined', async () => {
    await using fleet = await joined();
    expect(await profileOf(fleet)).toMatchObject({
      metadata: { labels: { 'x-k8s.io/cluster-manager': 'KubeFleet' } },
      spec: { displayName: 'east', clusterManager: { name: 'KubeFleet' } },
      status: {
        version: { kubernetes: 'v1.34.4' },
        accessProviders: [
          {
            name: 'KubeFleet',
            cluster: {
              server: 'https://east:6443',
              'certificate-authority-data': Buffer.from('PEM').toString('base64'),
            },
          },
        ],
      },
    });
    expect(await healthOf(fleet)).toBe('True/MemberClusterAPIServerHealthy');
  });

  test('has the certificates alone: the MemberCluster, which many may read, has none', async () => {
    await using fleet = await joined();
    const properties = Object.keys((await fleet.memberCluster('east')).status?.properties ?? {}).sort();
    expect(properties).toEqual(['k8s.io/cluster-entrypoint', 'k8s.io/k8s-version', 'kubernetes-fleet.io/node-count']);
    expect(await fleet.condition('east', 'StatusTrimmed')).toBeUndefined();
  });

  test('does not exist before the member has joined', async () => {
    await using fleet = await aFleet();
    await fleet.join('east', { agent: false });
    await fleet.pass(MINUTE, 10_000);
    expect(await profileOf(fleet)).toBeUndefined();
    const { metadata } = await fleet.memberCluster('east');
    expect(metadata.finalizers).toEqual([finalizers.memberCluster]);
  });

  test('is not written by heartbeats', async () => {
    await using fleet = await joined();
    fleet.writes.clear();
    await fleet.pass(10 * MINUTE, 10_000);
    expect([...fleet.writes.keys()].filter((each) => each.includes('clusterprofiles'))).toEqual([]);
  });

  test('says when the member is silent, and when it is heard again', async () => {
    await using fleet = await joined();
    await fleet.stopAgent('east');
    await fleet.pass(4 * MINUTE, 10_000);
    expect(await healthOf(fleet)).toBe('False/MemberAgentHeartbeatLost');
    fleet.startAgent('east', { server: () => SERVER });
    await fleet.pass(5000);
    expect(await healthOf(fleet)).toBe('True/MemberClusterAPIServerHealthy');
  });

  test('that is edited or deleted is restored', async () => {
    await using fleet = await joined();
    const body = { metadata: { labels: { 'x-k8s.io/cluster-manager': null } }, spec: { displayName: 'mine' } };
    await patch(fleet, 'clusterprofiles', PLACE, body);
    await fleet.settles();
    expect(await profileOf(fleet)).toMatchObject({
      metadata: { labels: { 'x-k8s.io/cluster-manager': 'KubeFleet' } },
      spec: { displayName: 'east' },
    });
    await fleet.hub.call({ verb: 'delete', at: fleet.hub.at('clusterprofiles', PLACE, 'east') });
    await fleet.settles();
    expect(await healthOf(fleet)).toBe('True/MemberClusterAPIServerHealthy');
  });

  test('is deleted as soon as the member leaves, long before an agent that is silent is given up', async () => {
    await using fleet = await joined();
    await fleet.stopAgent('east');
    await fleet.deleteMember('east');
    await fleet.pass(5000);
    expect(await profileOf(fleet)).toBeUndefined();
    expect((await fleet.memberCluster('east')).metadata.finalizers).toEqual([finalizers.memberCluster]);
    await fleet.pass(16 * MINUTE, 10_000);
    expect(await fleet.exists('memberclusters', undefined, 'east')).toBe(false);
    expect(await profileOf(fleet)).toBeUndefined();
  });

  test('of another manager is left alone, and holds nothing', async () => {
    await using fleet = await aFleet();
    await fleet.join('east', { agent: false });
    const spec = { clusterManager: { name: 'other' } };
    await fleet.hub.create('clusterprofiles', PLACE, { metadata: { name: 'east' }, spec });
    fleet.startAgent('east');
    await fleet.pass(5000);
    expect(await fleet.condition('east', 'Joined')).toBe('True/MemberClusterJoined');
    await fleet.deleteMember('east');
    await fleet.pass(5000);
    expect(await fleet.exists('memberclusters', undefined, 'east')).toBe(false);
    expect(await profileOf(fleet)).toMatchObject({ spec });
  });
});
