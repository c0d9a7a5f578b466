// Members on a real API server in memory: hub and agents with their real permissions, on a clock that the test
// controls.
import { describe, expect, test } from 'vitest';
import { finalizers } from '../../src/api/names.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { aFleet, type Fleet, identityOf } from '../fleet.ts';

const MINUTE = 60_000;
const PLACE = 'fleet-member-east';

const countsOf = (fleet: Fleet) => Object.fromEntries([...fleet.writes].sort());

/** The cost of a member's report: one write of its agent, and one of the hub. */
const REPORT = { 'east patch internalmemberclusters/status': 1, 'hub patch memberclusters/status': 1 };

/** A fleet with one joined member. */
async function joined(options: { readonly heartbeatPeriodSeconds?: number } = {}): Promise<Fleet> {
  const fleet = await aFleet();
  await fleet.join('east', options);
  await fleet.pass(5000);
  expect(await fleet.condition('east', 'Joined')).toBe('True/MemberClusterJoined');
  fleet.writes.clear();
  return fleet;
}

const aWork = (name: string) => ({
  metadata: { name, finalizers: [finalizers.workCleanup] },
  spec: { workload: { manifests: [] } },
});

describe('a member joins', () => {
  test('in so many writes and no more', async () => {
    await using fleet = await aFleet();
    await fleet.join('east', { agent: false });
    await fleet.settles();
    expect(countsOf(fleet)).toEqual({
      'hub create namespaces': 1,
      'hub create roles': 1,
      'hub create rolebindings': 1,
      'hub create internalmemberclusters': 1,
      'hub patch memberclusters': 1,
      'hub patch memberclusters/status': 1,
      'hub create events': 5,
    });
    expect(await fleet.condition('east', 'ReadyToJoin')).toBe('True/MemberClusterReadyToJoin');
    expect(await fleet.condition('east', 'Joined')).toBe('Unknown/MemberClusterJoinStateUnknown');

    fleet.writes.clear();
    fleet.startAgent('east');
    await fleet.settles();
    expect(countsOf(fleet)).toEqual({
      'east patch internalmemberclusters/status': 1,
      'east create events': 2,
      'hub patch memberclusters/status': 1,
      'hub create events': 1,
      // Its ClusterProfile, with its finalizer.
      'hub patch memberclusters': 1,
      'hub create clusterprofiles': 1,
      'hub patch clusterprofiles/status': 1,
    });
    expect(await fleet.condition('east', 'Joined')).toBe('True/MemberClusterJoined');
    expect(await fleet.condition('east', 'Healthy')).toBe('True/InternalMemberClusterHealthy');
    const events = await fleet.events('east');
    expect(events.slice(0, 5)).toEqual([
      'NamespaceCreated',
      'RoleCreated',
      'RoleBindingCreated',
      'InternalMemberClusterCreated',
      'MemberClusterReadyToJoin',
    ]);
    expect(events.slice(5).sort()).toEqual([
      'InternalMemberClusterHealthy',
      'InternalMemberClusterJoined',
      'MemberClusterJoined',
    ]);
  });

  test('also when its agent was there first and was turned away for want of permissions', async () => {
    await using fleet = await aFleet();
    await fleet.stopHub();
    await fleet.join('east');
    await fleet.pass(5000);
    await fleet.restartHub();
    await fleet.pass(2 * MINUTE);
    expect(await fleet.condition('east', 'Joined')).toBe('True/MemberClusterJoined');
  });

  test('and tells its size and its namespaces', async () => {
    await using fleet = await aFleet();
    await fleet.join('east', { agent: false });
    const member = fleet.member('east');
    const resources = { cpu: '4', memory: '8Gi' };
    const node = await member.create('nodes', undefined, { metadata: { name: 'n1' } });
    await member.call({
      verb: 'update',
      at: { ...member.at('nodes', undefined, 'n1'), subresource: 'status' },
      object: { ...node, status: { capacity: resources, allocatable: { cpu: '3500m', memory: '7Gi' } } } as KubeObject,
      manager: 'test',
    });
    const container = { name: 'c', image: 'i', resources: { requests: { cpu: '500m', memory: '1Gi' } } };
    const pod = (name: string, nodeName?: string) => ({
      metadata: { name },
      spec: { containers: [container], ...(nodeName === undefined ? {} : { nodeName }) },
    });
    await member.create('serviceaccounts', 'default', { metadata: { name: 'default' } }).catch(() => {});
    await member.create('pods', 'default', pod('busy', 'n1'));
    await member.create('pods', 'default', pod('waiting'));
    await member.create('namespaces', undefined, { metadata: { name: 'shop' } });
    fleet.startAgent('east');
    await fleet.settles();
    const { status } = await fleet.memberCluster('east');
    expect(status?.properties?.['kubernetes-fleet.io/node-count']?.value).toBe('1');
    expect(status?.resourceUsage).toMatchObject({
      capacity: resources,
      allocatable: { cpu: '3500m', memory: '7Gi' },
      available: { cpu: '3', memory: '6Gi' },
    });
    expect(status?.namespaces).toMatchObject({ default: '', 'kube-system': '', shop: '' });
    expect(await fleet.condition('east', 'NamespaceCollectionSucceeded')).toBe('True/Succeeded');
  });

  test('although its API server is down, and says so, and tells more when it is up', async () => {
    await using fleet = await aFleet();
    await fleet.join('east', { agent: false });
    await fleet.settles();
    fleet.down('east', true);
    fleet.startAgent('east');
    await fleet.settles();
    expect(await fleet.condition('east', 'Joined')).toBe('True/MemberClusterJoined');
    const { status } = await fleet.memberCluster('east');
    expect(status?.conditions?.find(({ type }) => type === 'Healthy')).toMatchObject({
      status: 'False',
      reason: 'InternalMemberClusterUnhealthy',
      message: 'east at home cannot get through',
    });
    expect(status).not.toHaveProperty('properties');
    expect(await fleet.events('east')).toContain('warning InternalMemberClusterUnhealthy');

    fleet.down('east', false);
    await fleet.pass(3 * MINUTE, 5000);
    expect(await fleet.condition('east', 'Healthy')).toBe('True/InternalMemberClusterHealthy');
    expect((await fleet.memberCluster('east')).status).toHaveProperty('properties');
  });

  test('and keeps beating when its API server fails later, with what was known of it', async () => {
    await using fleet = await joined();
    fleet.down('east', true);
    await fleet.pass(5 * MINUTE, 5000);
    expect(await fleet.condition('east', 'Healthy')).toBe('False/InternalMemberClusterUnhealthy');
    expect((await fleet.memberCluster('east')).status?.namespaces).toHaveProperty('default');
    expect(countsOf(fleet)['east patch internalmemberclusters/status']).toBeGreaterThanOrEqual(4);
  });
});

describe('a heartbeat', () => {
  test('is two writes and nothing else, and an idle fleet writes nothing besides', async () => {
    await using fleet = await joined();
    const passes = () =>
      Object.fromEntries(fleet.manager.state().controllers.map((each) => [each.name, each.passes] as const));
    const before = passes();
    await fleet.pass(10 * MINUTE, 5000);
    const counts = countsOf(fleet);
    const beats = counts['east patch internalmemberclusters/status'] ?? 0;
    expect([9, 10]).toContain(beats);
    expect(counts).toEqual({
      'east patch internalmemberclusters/status': beats,
      'hub patch memberclusters/status': beats,
    });
    // One reconcile that writes and one without changes; no other controller is woken.
    expect(passes()).toEqual({ ...before, membership: (before['membership'] ?? 0) + 2 * beats });
  });

  test('carries what changed on the member since the last one, which causes no write of its own', async () => {
    await using fleet = await joined();
    await fleet.member('east').create('nodes', undefined, { metadata: { name: 'n1' } });
    await fleet.pass(20_000);
    expect(countsOf(fleet)).toEqual({});
    await fleet.pass(50_000);
    const { status } = await fleet.memberCluster('east');
    expect(status?.properties?.['kubernetes-fleet.io/node-count']?.value).toBe('1');
    expect(countsOf(fleet)).toEqual(REPORT);
  });

  test('follows a new period at once', async () => {
    await using fleet = await joined();
    await fleet.patch('memberclusters', undefined, 'east', { spec: { heartbeatPeriodSeconds: 5 } });
    await fleet.pass(21_000);
    const beats = countsOf(fleet)['east patch internalmemberclusters/status'] ?? 0;
    expect(beats).toBeGreaterThanOrEqual(4);
    expect(beats).toBeLessThanOrEqual(6);
  });

  test('comes on its period although every one of them fails', async () => {
    await using fleet = await joined();
    fleet.cut('east', true);
    await fleet.pass(20 * MINUTE, 5000);
    fleet.cut('east', false);
    fleet.writes.clear();
    await fleet.pass(64_000);
    expect(await fleet.condition('east', 'Healthy')).toBe('True/InternalMemberClusterHealthy');
    const beats = countsOf(fleet)['east patch internalmemberclusters/status'] ?? 0;
    expect([1, 2]).toContain(beats);
  });
});

describe('the namespaces of a member', () => {
  const beatOf = async (fleet: Fleet) =>
    (await fleet.memberCluster('east')).status?.agentStatus?.[0]?.lastReceivedHeartbeat;
  /** The next heartbeat is nearly ten minutes away. */
  const justBeaten = async () => {
    const fleet = await joined({ heartbeatPeriodSeconds: 600 });
    const first = await beatOf(fleet);
    while ((await beatOf(fleet)) === first) await fleet.pass(5000, 5000);
    fleet.writes.clear();
    return fleet;
  };
  const told = async (fleet: Fleet) => Object.keys((await fleet.memberCluster('east')).status?.namespaces ?? {});

  test('are told soon after they change, many at once, and nothing is written when they are told', async () => {
    await using fleet = await justBeaten();
    const member = fleet.member('east');
    const before = await beatOf(fleet);
    for (const name of ['a', 'b', 'c', 'd']) {
      await member.create('namespaces', undefined, { metadata: { name } });
      await fleet.pass(200, 100);
    }
    expect(countsOf(fleet)).toEqual({});
    await fleet.pass(1000, 100);
    expect(await told(fleet)).toEqual(expect.arrayContaining(['a', 'b', 'c', 'd']));
    expect(countsOf(fleet)).toEqual(REPORT);
    expect(await beatOf(fleet)).toBe(before);

    fleet.writes.clear();
    await fleet.pass(60_000, 5000);
    expect(countsOf(fleet)).toEqual({});

    await member.call({ verb: 'delete', at: member.at('namespaces', undefined, 'b') });
    await fleet.pass(2000, 100);
    expect(await told(fleet)).not.toContain('b');
    expect(countsOf(fleet)).toEqual(REPORT);
    expect(await beatOf(fleet)).toBe(before);
  });

  test('are not told if they are again as they were', async () => {
    await using fleet = await justBeaten();
    const member = fleet.member('east');
    await member.create('namespaces', undefined, { metadata: { name: 'brief' } });
    await fleet.pass(200, 100);
    await member.call({ verb: 'delete', at: member.at('namespaces', undefined, 'brief') });
    await fleet.pass(2000, 100);
    await fleet.pass(60_000, 5000);
    expect(countsOf(fleet)).toEqual({});
  });
});

describe('a silent member', () => {
  test('is unreachable after three periods, stays joined, and is healed by its next beat', async () => {
    await using fleet = await joined();
    fleet.cut('east', true);
    await fleet.pass(4 * MINUTE, 5000);
    expect(await fleet.condition('east', 'Healthy')).toBe('Unknown/MemberUnreachable');
    expect(await fleet.condition('east', 'Joined')).toBe('True/MemberClusterJoined');
    expect(await fleet.events('east')).toContain('warning MemberUnreachable');
    expect(countsOf(fleet)['hub patch memberclusters/status']).toBe(1);
    expect(fleet.manager.holdsOf('east').map(({ code }) => code)).toEqual(['Unreachable']);
    fleet.cut('east', false);
    await fleet.pass(2 * MINUTE, 5000);
    expect(await fleet.condition('east', 'Healthy')).toBe('True/InternalMemberClusterHealthy');
    expect(await fleet.events('east')).toContain('MemberReachable');
    expect(fleet.manager.holdsOf('east')).toEqual([]);
  });

  test('is given three full periods by a hub that has just started', async () => {
    await using fleet = await joined();
    await fleet.stopHub();
    await fleet.stopAgent('east');
    await fleet.pass(10 * MINUTE, 30_000);
    await fleet.restartHub();
    await fleet.pass(170_000, 5000);
    expect(await fleet.condition('east', 'Healthy')).toBe('True/InternalMemberClusterHealthy');
    await fleet.pass(15_000, 5000);
    expect(await fleet.condition('east', 'Healthy')).toBe('Unknown/MemberUnreachable');
  });

  test('that was unreachable is still so after a restart of the hub', async () => {
    await using fleet = await joined();
    await fleet.stopAgent('east');
    await fleet.pass(4 * MINUTE, 5000);
    fleet.writes.clear();
    await fleet.restartHub();
    await fleet.pass(MINUTE, 5000);
    expect(await fleet.condition('east', 'Healthy')).toBe('Unknown/MemberUnreachable');
    expect(countsOf(fleet)).toEqual({});
  });

  test('whose clock is far off is not silent', async () => {
    await using fleet = await joined();
    // The agent's stamps are the only ones that are read, and they are never compared with a clock.
    await fleet.stopAgent('east');
    const internal = await fleet.hub.get('internalmemberclusters', PLACE, 'east');
    const beat = async (stamp: string) => {
      const [agent] = (internal.status as { agentStatus: object[] }).agentStatus;
      const at = { ...fleet.hub.at('internalmemberclusters', PLACE, 'east'), subresource: 'status' as const };
      const body = { status: { agentStatus: [{ ...agent, lastReceivedHeartbeat: stamp }] } };
      await fleet.hub.call({ verb: 'patch', at, patch: { type: 'merge', body: body as never }, manager: 'test' });
    };
    for (let i = 0; i < 6; i++) {
      await beat(`1999-01-01T00:0${i}:00Z`);
      await fleet.pass(MINUTE, 10_000);
    }
    expect(await fleet.condition('east', 'Healthy')).toBe('True/InternalMemberClusterHealthy');
  });
});

describe('a member leaves', () => {
  test('by its own consent, and what was made for it is gone', async () => {
    await using fleet = await joined();
    for (const name of ['a', 'b', 'c']) await fleet.hub.create('works', PLACE, aWork(name));
    await fleet.settles();
    fleet.writes.clear();
    await fleet.deleteMember('east');
    await fleet.settles();
    expect(await fleet.exists('memberclusters', undefined, 'east')).toBe(false);
    expect(await fleet.exists('namespaces', undefined, PLACE)).toBe(false);
    expect(countsOf(fleet)).toEqual({
      'hub patch internalmemberclusters': 1,
      'hub patch memberclusters/status': 2,
      'hub delete namespaces': 1,
      'hub delete secrets': 1,
      'hub delete serviceaccounts': 1,
      'hub delete roles': 1,
      'hub delete rolebindings': 1,
      'hub delete clusterprofiles': 1,
      'hub patch memberclusters': 2,
      'hub create events': 2,
      'east patch works': 3,
      'east patch internalmemberclusters/status': 1,
      'east create events': 1,
    });
    expect(await fleet.events('east')).toEqual(expect.arrayContaining(['Leaving', 'MemberClusterLeft']));
  });

  test('and its agent falls silent, and can join again later', async () => {
    await using fleet = await joined();
    await fleet.deleteMember('east');
    await fleet.settles();
    fleet.writes.clear();
    await fleet.pass(5 * MINUTE, 10_000);
    expect(countsOf(fleet)).toEqual({});
    const spec = { identity: { kind: 'ServiceAccount', name: 'east-hub-cluster-access', namespace: 'fleet-system' } };
    await fleet.hub.create('memberclusters', undefined, { metadata: { name: 'east' }, spec });
    await fleet.pass(2 * MINUTE, 5000);
    expect(await fleet.condition('east', 'Joined')).toBe('True/MemberClusterJoined');
  });

  test('by force when its agent is gone, and says meanwhile how far it is', async () => {
    await using fleet = await joined();
    await fleet.hub.create('works', PLACE, aWork('a'));
    await fleet.stopAgent('east');
    await fleet.deleteMember('east');
    await fleet.pass(14 * MINUTE, 10_000);
    expect(await fleet.condition('east', 'ReadyToJoin')).toBe('False/Leaving');
    const ready = (await fleet.memberCluster('east')).status?.conditions?.find(({ type }) => type === 'ReadyToJoin');
    expect(ready?.message).toMatch(
      /^MemberCluster "east" is leaving: 1 work remains; its agent is unreachable, so the member will be removed at 20/,
    );
    expect(fleet.manager.holdsOf('east')).toMatchObject([{ code: 'Leaving', facts: { works: 1 } }]);
    expect(await fleet.condition('east', 'Healthy')).toBe('Unknown/MemberUnreachable');
    await fleet.pass(2 * MINUTE, 10_000);
    expect(await fleet.exists('memberclusters', undefined, 'east')).toBe(false);
    expect(await fleet.exists('namespaces', undefined, PLACE)).toBe(false);
    expect(await fleet.events('east')).toContain('warning MemberClusterLeaveForced');
  });

  test('sooner by force if the hub is told to wait less', async () => {
    await using fleet = await aFleet({ forceDeleteWaitMs: 30_000 });
    await fleet.join('east');
    await fleet.pass(5000);
    await fleet.stopAgent('east');
    await fleet.deleteMember('east');
    await fleet.pass(25_000, 5000);
    expect(await fleet.exists('memberclusters', undefined, 'east')).toBe(true);
    await fleet.pass(10_000, 5000);
    expect(await fleet.exists('memberclusters', undefined, 'east')).toBe(false);
  });

  test('at once if it never reported', async () => {
    await using fleet = await aFleet();
    await fleet.join('east', { agent: false });
    await fleet.settles();
    await fleet.deleteMember('east');
    await fleet.settles();
    expect(await fleet.exists('memberclusters', undefined, 'east')).toBe(false);
    expect(await fleet.exists('namespaces', undefined, PLACE)).toBe(false);
  });

  test('when its agent lost its rights, after the wait', async () => {
    await using fleet = await joined();
    await fleet.hub.create('works', PLACE, aWork('a'));
    await fleet.settles();
    await fleet.patch('memberclusters', undefined, 'east', { spec: { identity: { name: 'somebody-else' } } });
    await fleet.settles();
    await fleet.deleteMember('east');
    await fleet.pass(14 * MINUTE, 10_000);
    expect(await fleet.exists('memberclusters', undefined, 'east')).toBe(true);
    await fleet.pass(2 * MINUTE, 10_000);
    expect(await fleet.exists('memberclusters', undefined, 'east')).toBe(false);
  });

  test('at once when it was deleted before it had a namespace', async () => {
    await using fleet = await aFleet();
    await fleet.stopHub();
    await fleet.join('east', { agent: false });
    await fleet.deleteMember('east');
    await fleet.restartHub();
    expect(await fleet.exists('memberclusters', undefined, 'east')).toBe(false);
    expect(await fleet.exists('namespaces', undefined, PLACE)).toBe(false);
    // Its token is deleted with it, although no hub has ever seen the member.
    expect(await fleet.exists('serviceaccounts', 'fleet-system', 'east-hub-cluster-access')).toBe(false);
  });

  test('with a namespace that was already going and that finalizers held', async () => {
    await using fleet = await joined();
    await fleet.hub.create('works', PLACE, aWork('a'));
    await fleet.stopAgent('east');
    await fleet.settles();
    await fleet.stopHub();
    await fleet.hub.call({ verb: 'delete', at: fleet.hub.at('namespaces', undefined, PLACE) });
    await fleet.deleteMember('east');
    await fleet.settles();
    expect(await fleet.exists('works', PLACE, 'a')).toBe(true);
    await fleet.restartHub();
    expect(await fleet.exists('memberclusters', undefined, 'east')).toBe(false);
  });
});

describe('people interfere', () => {
  test('a namespace that somebody deletes comes back, the Works in it do not hold it, and the member stays joined', async () => {
    await using fleet = await joined();
    await fleet.hub.create('works', PLACE, aWork('a'));
    await fleet.settles();
    const before = await fleet.hub.get('namespaces', undefined, PLACE);
    await fleet.hub.call({ verb: 'delete', at: fleet.hub.at('namespaces', undefined, PLACE) });
    await fleet.pass(2 * MINUTE, 5000);
    const after = await fleet.hub.get('namespaces', undefined, PLACE);
    expect(after.metadata.uid).not.toBe(before.metadata.uid);
    expect(after.metadata.deletionTimestamp).toBeUndefined();
    expect(await fleet.exists('works', PLACE, 'a')).toBe(false);
    expect(await fleet.condition('east', 'ReadyToJoin')).toBe('True/MemberClusterReadyToJoin');
    expect(await fleet.condition('east', 'Joined')).toBe('True/MemberClusterJoined');
    fleet.writes.clear();
    await fleet.pass(3 * MINUTE, 5000);
    expect(countsOf(fleet)['east patch internalmemberclusters/status']).toBeGreaterThanOrEqual(2);
  });

  test('a new identity has the rights at once, the old one loses them', async () => {
    await using fleet = await joined();
    const may = (who: string) =>
      fleet.hub.running.cluster.authorizer.allows(identityOf(who), {
        verb: 'list',
        group: 'placement.kubernetes-fleet.io',
        resource: 'works',
        namespace: PLACE,
      }).allowed;
    expect([may('east'), may('west')]).toEqual([true, false]);
    await fleet.patch('memberclusters', undefined, 'east', { spec: { identity: { name: 'west-hub-cluster-access' } } });
    await fleet.settles();
    expect([may('east'), may('west')]).toEqual([false, true]);
    expect(await fleet.events('east')).toContain('RoleBindingUpdated');
  });

  test('a member that is created again while its namespace terminates waits, and says so', async () => {
    await using fleet = await joined();
    await fleet.stopAgent('east');
    // A foreign finalizer on a Secret keeps the namespace.
    await fleet.hub.create('secrets', PLACE, { metadata: { name: 's', finalizers: ['example.com/mine'] } });
    await fleet.patch('memberclusters', undefined, 'east', { metadata: { finalizers: null } });
    await fleet.stopHub();
    await fleet.patch('memberclusters', undefined, 'east', { metadata: { finalizers: null } });
    await fleet.deleteMember('east');
    await fleet.hub.call({ verb: 'delete', at: fleet.hub.at('namespaces', undefined, PLACE) }).catch(() => {});
    await fleet.settles();
    const spec = { identity: { kind: 'ServiceAccount', name: 'east-hub-cluster-access', namespace: 'fleet-system' } };
    await fleet.hub.create('memberclusters', undefined, { metadata: { name: 'east' }, spec });
    await fleet.restartHub();
    expect(await fleet.condition('east', 'ReadyToJoin')).toBe('False/NamespaceTerminating');
    await fleet.pass(16 * MINUTE, 10_000);
    expect(await fleet.condition('east', 'ReadyToJoin')).toBe('False/NamespaceStuck');
    expect(await fleet.events('east')).toContain('warning NamespaceStuck');
    await fleet.patch('secrets', PLACE, 's', { metadata: { finalizers: null } });
    await fleet.settles();
    expect(await fleet.condition('east', 'ReadyToJoin')).toBe('True/MemberClusterReadyToJoin');
  });

  test("somebody else's namespace in the member's place is left alone, when it joins and when it leaves", async () => {
    await using fleet = await aFleet();
    const owner = await fleet.hub.create('clusterroles', undefined, { metadata: { name: 'theirs' }, rules: [] });
    const { uid = '' } = owner.metadata;
    await fleet.hub.create('namespaces', undefined, {
      metadata: {
        name: PLACE,
        ownerReferences: [
          { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', name: 'theirs', uid, controller: true },
        ],
      },
    });
    await fleet.join('east', { agent: false });
    await fleet.settles();
    expect(await fleet.condition('east', 'ReadyToJoin')).toBe('False/NamespaceForeign');
    expect(await fleet.exists('roles', PLACE, 'fleet-role-east')).toBe(false);
    await fleet.deleteMember('east');
    await fleet.settles();
    expect(await fleet.exists('memberclusters', undefined, 'east')).toBe(false);
    expect(await fleet.exists('namespaces', undefined, PLACE)).toBe(true);
  });

  test('a namespace that was there before is adopted and goes with the member', async () => {
    await using fleet = await aFleet();
    await fleet.hub.create('namespaces', undefined, { metadata: { name: PLACE, labels: { team: 'a' } } });
    await fleet.join('east');
    await fleet.pass(2000);
    const { metadata } = await fleet.hub.get('namespaces', undefined, PLACE);
    expect(metadata.labels).toMatchObject({ team: 'a', 'kubernetes-fleet.io/is-fleet-resource': 'true' });
    expect(metadata.ownerReferences).toMatchObject([{ kind: 'MemberCluster', name: 'east', controller: true }]);
    expect(await fleet.events('east')).toContain('NamespacePatched');
    await fleet.deleteMember('east');
    await fleet.settles();
    expect(await fleet.exists('namespaces', undefined, PLACE)).toBe(false);
  });

  test.each(['roles/fleet-role-east', 'rolebindings/fleet-rolebinding-east', 'internalmemberclusters/east'])(
    'what somebody deletes comes back: %s',
    async (what) => {
      await using fleet = await joined();
      const [plural = '', name = ''] = what.split('/');
      await fleet.hub.call({ verb: 'delete', at: fleet.hub.at(plural, PLACE, name) });
      await fleet.pass(2 * MINUTE, 5000);
      expect(await fleet.exists(plural, PLACE, name)).toBe(true);
      expect(await fleet.condition('east', 'Joined')).toBe('True/MemberClusterJoined');
      expect(await fleet.condition('east', 'Healthy')).toBe('True/InternalMemberClusterHealthy');
    },
  );

  test('two agents under one name are noticed, and it is told until one of them stops', async () => {
    await using fleet = await joined({ heartbeatPeriodSeconds: 10 });
    // With this seed the two do not report within the same second, which is the resolution of stamps.
    const second = fleet.startAgent('east', { seed: 71 });
    await fleet.pass(MINUTE);
    expect(await fleet.condition('east', 'SoleAgent')).toBe('False/AnotherAgentReports');
    expect(await fleet.events('east')).toContain('warning AnotherAgentReports');
    await second.stop();
    await fleet.pass(MINUTE);
    expect(await fleet.condition('east', 'SoleAgent')).toBeUndefined();
  });

  test('an agent that is restarted is not taken for a second one', async () => {
    await using fleet = await joined({ heartbeatPeriodSeconds: 10 });
    await fleet.stopAgent('east');
    fleet.startAgent('east', { seed: 77 });
    await fleet.pass(MINUTE);
    expect(await fleet.events('east')).not.toContain('warning AnotherAgentReports');
  });

  test('a status that somebody forges is put right at once', async () => {
    await using fleet = await joined();
    const at = { ...fleet.hub.at('memberclusters', undefined, 'east'), subresource: 'status' as const };
    const body = { status: { namespaces: { forged: '' }, conditions: [] } };
    await fleet.hub.call({ verb: 'patch', at, patch: { type: 'merge', body }, manager: 'test' });
    await fleet.settles();
    expect(await fleet.condition('east', 'Joined')).toBe('True/MemberClusterJoined');
    expect((await fleet.memberCluster('east')).status?.namespaces).not.toHaveProperty('forged');
  });

  test('a hub that may not create Roles says so, and goes on when it may', async () => {
    const poor = { name: 'poor-hub', groups: ['system:authenticated'] };
    await using fleet = await aFleet({}, poor);
    const rule = (...resources: string[]) => ({ apiGroups: ['*'], resources, verbs: ['*'] });
    const rules = [
      rule('memberclusters', 'memberclusters/status', 'internalmemberclusters', 'works', 'namespaces', 'events'),
      { apiGroups: ['*'], resources: ['roles', 'rolebindings'], verbs: ['get', 'list', 'watch'] },
    ];
    await fleet.hub.create('clusterroles', undefined, { metadata: { name: 'poor' }, rules });
    await fleet.hub.create('clusterrolebindings', undefined, {
      metadata: { name: 'poor' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'poor' },
      subjects: [{ kind: 'User', name: 'poor-hub', apiGroup: 'rbac.authorization.k8s.io' }],
    });
    await fleet.join('east', { agent: false });
    await fleet.pass(3 * MINUTE, 5000);
    const ready = (await fleet.memberCluster('east')).status?.conditions?.find(({ type }) => type === 'ReadyToJoin');
    expect(ready).toMatchObject({ status: 'False', reason: 'StepRefused' });
    expect(ready?.message).toContain('User "poor-hub" cannot create resource "roles"');
    expect(countsOf(fleet)['hub patch memberclusters/status']).toBe(1);
    expect(await fleet.events('east')).toContain('warning StepRefused');

    await fleet.patch('clusterroles', undefined, 'poor', {
      rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }],
    });
    await fleet.pass(2 * MINUTE, 5000);
    expect(await fleet.condition('east', 'ReadyToJoin')).toBe('True/MemberClusterReadyToJoin');
  });

  test('a bad identity is refused by the API server, in one sentence', async () => {
    await using fleet = await aFleet();
    const create = (identity: object, name = 'east') =>
      fleet.hub.create('memberclusters', undefined, { metadata: { name }, spec: { identity } });
    await expect(create({ kind: 'Robot', name: 'r' })).rejects.toThrow(
      'spec.identity.kind: Unsupported value: "Robot"',
    );
    await expect(create({ kind: 'User', name: '' })).rejects.toThrow('spec.identity.name: Required value');
    await expect(create({ kind: 'User', name: 'a', apiGroup: 'x' })).rejects.toThrow('spec.identity.apiGroup');
    await expect(create({ kind: 'User', name: 'a' }, 'a.b')).rejects.toThrow('no dots');
    await expect(create({ kind: 'User', name: 'a' }, 'e'.repeat(51))).rejects.toThrow('at most 50 characters');
    await create({ kind: 'User', name: 'a' }, 'e'.repeat(50));
    await fleet.settles();
    expect(await fleet.exists('namespaces', undefined, `fleet-member-${'e'.repeat(50)}`)).toBe(true);
  });
});
