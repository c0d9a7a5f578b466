import { describe, expect, test } from 'vitest';
import { memberRules } from '../../api/agent-rights.ts';
import type { InternalMemberCluster } from '../../api/internal-member-cluster.ts';
import { finalizers } from '../../api/names.ts';
import { kubeTime } from '../../base/clock.ts';
import type { Action } from '../../runtime/controller.ts';
import type { HubProfile } from '../profiles/sources.ts';
import { joinedIdentities } from '../sources.ts';
import { decide } from './decide.ts';
import {
  aCluster,
  aCondition,
  ago,
  aNamespace,
  anAgent,
  anInternal,
  aRole,
  aRoleBinding,
  aWork,
  inWords,
  leavingSince,
  MINUTE,
  NOW,
  observed,
  type Setup,
  statusPatch,
  written,
} from './member.testing.ts';
import { READY, statusFor } from './report.ts';

const createdBy = (setup: Setup, kind: string) =>
  decide(observed(setup))
    .steps.flat()
    .find(
      (action): action is Extract<Action, { do: 'create' }> => action.do === 'create' && action.resource.kind === kind,
    )?.object;
const patchOf = (setup: Setup, kind: string) =>
  decide(observed(setup))
    .steps.flat()
    .find(
      (action): action is Extract<Action, { do: 'patch' }> => action.do === 'patch' && action.of.resource.kind === kind,
    )?.merge;

const nothingYet = { namespace: null, role: null, roleBinding: null, internal: null };
const owner = {
  apiVersion: 'cluster.kubernetes-fleet.io/v1beta1',
  kind: 'MemberCluster',
  name: 'east',
  uid: 'uid-east',
  controller: true,
};
const joinedInternal = (stamp = ago(1000)) => anInternal({ status: { agentStatus: [anAgent('True', { stamp })] } });
/** A member whose status is up to date with this InternalMemberCluster. */
const settled = (internal: InternalMemberCluster, more: Setup = {}): Setup => {
  const before = observed({ internal, ...more });
  // Once it has joined, it has a ClusterProfile.
  const held = [finalizers.memberCluster, finalizers.clusterProfileCleanup];
  const metadata = { ...before.cluster.metadata, finalizers: held };
  const cluster = { ...before.cluster, metadata, status: statusFor(before, { readyToJoin: READY }) };
  return { internal, ...more, cluster };
};

describe('a new member', () => {
  test('is marked, gets its place, its permissions and an order to join, in this order, and each is told', () => {
    const cluster = aCluster({ metadata: { finalizers: [], labels: { env: 'prod' } } });
    expect(inWords(decide(observed({ cluster, ...nothingYet })))).toEqual([
      'patch MemberCluster east',
      'create Namespace fleet-member-east',
      'create Role fleet-role-east',
      'create RoleBinding fleet-rolebinding-east',
      'create InternalMemberCluster east',
      'event NamespaceCreated',
      'event RoleCreated',
      'event RoleBindingCreated',
      'event InternalMemberClusterCreated',
    ]);
  });

  test('is written to one step at a time, so that every prefix is a good place to die', () => {
    const { steps } = decide(observed({ cluster: aCluster({ metadata: { finalizers: [] } }), ...nothingYet }));
    expect(steps.slice(0, 5).map((step) => step.length)).toEqual([1, 1, 1, 1, 1]);
  });

  test('keeps the finalizers and labels of others', () => {
    const cluster = aCluster({ metadata: { finalizers: ['else'], labels: { env: 'prod' } } });
    expect(patchOf({ cluster }, 'MemberCluster')).toEqual({
      metadata: {
        finalizers: ['else', 'kubernetes-fleet.io/membercluster-finalizer'],
        labels: { 'kubernetes-fleet.io/member-name': 'east' },
      },
    });
  });

  test('owns all that is made for it', () => {
    for (const kind of ['Namespace', 'Role', 'RoleBinding', 'InternalMemberCluster']) {
      expect(createdBy(nothingYet, kind)?.metadata.ownerReferences, kind).toEqual([owner]);
    }
  });

  test('has a namespace that is marked as ours', () => {
    expect(createdBy(nothingYet, 'Namespace')?.metadata.labels).toEqual({
      'kubernetes-fleet.io/is-fleet-resource': 'true',
    });
  });

  test('is asked to join with its period', () => {
    const cluster = aCluster({ spec: { heartbeatPeriodSeconds: 7 } });
    expect(createdBy({ ...nothingYet, cluster }, 'InternalMemberCluster')?.spec).toEqual({
      state: 'Join',
      heartbeatPeriodSeconds: 7,
    });
  });

  test.each([
    {
      it: 'a ServiceAccount',
      identity: { kind: 'ServiceAccount', name: 'a', namespace: 'n' },
      subject: { kind: 'ServiceAccount', name: 'a', namespace: 'n' },
    },
    {
      it: 'a User, whose API group is filled in',
      identity: { kind: 'User', name: 'a' },
      subject: { kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'a' },
    },
    {
      it: 'a Group with an empty API group',
      identity: { kind: 'Group', name: 'a', apiGroup: '' },
      subject: { kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'a' },
    },
  ])('may be $it', ({ identity, subject }) => {
    const binding = createdBy({ ...nothingYet, cluster: aCluster({ spec: { identity } }) }, 'RoleBinding');
    expect(binding?.['subjects']).toEqual([subject]);
    expect(binding?.['roleRef']).toEqual({
      apiGroup: 'rbac.authorization.k8s.io',
      kind: 'Role',
      name: 'fleet-role-east',
    });
  });

  test('is ready to join when all is there, and nobody is alarmed that it has not joined yet', () => {
    const decision = decide(observed());
    expect(inWords(decision)).toEqual(['patch MemberCluster east (status)', 'event MemberClusterReadyToJoin']);
    expect(written(decision, 'ReadyToJoin')).toBe('True/MemberClusterReadyToJoin');
    expect(written(decision, 'Joined')).toBe('Unknown/MemberClusterJoinStateUnknown');
    expect(written(decision, 'Healthy')).toBeUndefined();
    expect(decision.holds.map(({ code }) => code)).toEqual(['AgentNotConnected']);
    expect(decision.wakeAt).toBeUndefined();
  });
});

describe('a member that is set up', () => {
  test('is left alone', () => {
    const decision = decide(observed(settled(joinedInternal(), { beatSeenAt: NOW })));
    expect(decision.steps).toEqual([]);
    expect(decision.because).toBe('east is up to date');
  });

  test.each<{ it: string; setup: Setup; does: readonly string[] }>([
    {
      it: 'gets its label back',
      setup: { cluster: aCluster({ metadata: { labels: {} } }) },
      does: ['patch MemberCluster east'],
    },
    {
      it: 'gets its finalizer back',
      setup: { cluster: aCluster({ metadata: { finalizers: [] } }) },
      does: ['patch MemberCluster east'],
    },
    {
      it: 'adopts a namespace that was there before, with label and owner',
      setup: { namespace: aNamespace({ labels: { team: 'a' }, ownerReferences: [] }) },
      does: ['patch Namespace fleet-member-east', 'event NamespacePatched'],
    },
    {
      it: 'becomes the owner of a namespace that has only the label',
      setup: { namespace: aNamespace({ ownerReferences: [] }) },
      does: ['patch Namespace fleet-member-east', 'event NamespacePatched'],
    },
    {
      it: 'gets its Role back',
      setup: { role: null },
      does: ['create Role fleet-role-east', 'event RoleCreated'],
    },
    {
      it: 'gets the rules of its Role back',
      setup: { role: aRole([...memberRules, { apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]) },
      does: ['patch Role fleet-role-east', 'event RoleUpdated'],
    },
    {
      it: 'gets its RoleBinding back',
      setup: { roleBinding: null },
      does: ['create RoleBinding fleet-rolebinding-east', 'event RoleBindingCreated'],
    },
    {
      it: 'has its identity bound anew when it changed',
      setup: { cluster: aCluster({ spec: { identity: { kind: 'User', name: 'new' } } }) },
      does: ['patch RoleBinding fleet-rolebinding-east', 'event RoleBindingUpdated'],
    },
    {
      it: 'has a binding to another role removed, because that cannot be changed',
      setup: {
        roleBinding: aRoleBinding({
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
        }),
      },
      does: ['delete RoleBinding fleet-rolebinding-east', 'event RoleBindingUpdated'],
    },
    {
      it: 'gets its InternalMemberCluster back',
      setup: { internal: null },
      does: ['create InternalMemberCluster east', 'event InternalMemberClusterCreated'],
    },
    {
      it: 'hands on a new period',
      setup: { internal: anInternal({ period: 30 }) },
      does: ['patch InternalMemberCluster east', 'event InternalMemberClusterSpecUpdated'],
    },
    {
      it: 'is asked to join again if somebody asked it to leave',
      setup: { internal: anInternal({ state: 'Leave' }) },
      does: ['patch InternalMemberCluster east', 'event InternalMemberClusterSpecUpdated'],
    },
  ])('$it', ({ setup, does }) => {
    const words = inWords(decide(observed(setup)));
    expect(words.slice(0, does.length)).toEqual(does);
    // A reconcile that adds finalizers to the MemberCluster does not write its status; every other one does.
    const marks = does[0] === 'patch MemberCluster east';
    expect(words.slice(does.length)).toEqual(
      marks ? [] : ['patch MemberCluster east (status)', 'event MemberClusterReadyToJoin'],
    );
  });

  test('replaces the reference to an owner of the same name that is no more, and keeps those of others', () => {
    const other = { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'u' };
    const namespace = aNamespace({ ownerReferences: [{ ...owner, uid: 'former' }, other] });
    expect(patchOf({ namespace }, 'Namespace')).toEqual({ metadata: { ownerReferences: [other, owner] } });
  });

  test('is looked at before it takes over a namespace: of two hubs one may be behind, and the other member be the newer one', () => {
    const namespace = aNamespace({ ownerReferences: [{ ...owner, uid: 'another' }] });
    expect(inWords(decide(observed({ namespace }))).slice(0, 2)).toEqual([
      'patch MemberCluster east',
      'patch Namespace fleet-member-east',
    ]);
    expect(patchOf({ namespace }, 'MemberCluster')).toEqual({});
  });
});

describe('a member that cannot join says why in ReadyToJoin', () => {
  const foreign = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'u', controller: true };
  test.each<{ it: string; setup: Setup; reason: string; says: string; code?: string; does?: readonly string[] }>([
    {
      it: 'a name that is too long for a namespace',
      setup: {
        ...nothingYet,
        cluster: aCluster({
          metadata: { name: 'e'.repeat(51), labels: { 'kubernetes-fleet.io/member-name': 'e'.repeat(51) } },
        }),
      },
      reason: 'SpecInvalid',
      says: 'at most 50 characters',
    },
    {
      it: 'a name with dots',
      setup: {
        ...nothingYet,
        cluster: aCluster({ metadata: { name: 'a.b', labels: { 'kubernetes-fleet.io/member-name': 'a.b' } } }),
      },
      reason: 'SpecInvalid',
      says: 'no dots',
    },
    {
      it: 'an identity that no RoleBinding can name',
      setup: { ...nothingYet, cluster: aCluster({ spec: { identity: { kind: 'Robot', name: 'r' } } }) },
      reason: 'SpecInvalid',
      says: 'spec.identity.kind',
    },
    {
      it: "somebody else's namespace",
      setup: { namespace: aNamespace({ ownerReferences: [foreign] }), internal: joinedInternal() },
      reason: 'NamespaceForeign',
      says: 'belongs to Deployment "web"',
    },
    {
      it: 'a namespace that is terminating',
      setup: { namespace: aNamespace({ deletionTimestamp: ago(1000) }), internal: joinedInternal() },
      reason: 'NamespaceTerminating',
      says: 'is still terminating',
    },
    {
      it: 'a namespace that has been terminating for a quarter of an hour',
      setup: {
        namespace: aNamespace(
          { deletionTimestamp: ago(15 * MINUTE) },
          {
            conditions: [
              { type: 'NamespaceFinalizersRemaining', status: 'True', message: 'x in 1 resource instances' },
            ],
          },
        ),
      },
      reason: 'NamespaceStuck',
      says: 'x in 1 resource instances',
      code: 'NamespaceTerminating',
    },
    {
      it: 'a step that the server refused',
      setup: { role: null, failure: { reason: 'Forbidden', message: 'roles is forbidden' } },
      reason: 'StepRefused',
      says: 'roles is forbidden',
      does: [
        'patch MemberCluster east (status)',
        'warning StepRefused',
        'create Role fleet-role-east',
        'event RoleCreated',
      ],
    },
  ])('$it', ({ setup, reason, says, code, does }) => {
    const decision = decide(observed(setup));
    expect(written(decision, 'ReadyToJoin')).toBe(`False/${reason}`);
    expect(statusPatch(decision)?.conditions?.find(({ type }) => type === 'ReadyToJoin')?.message).toContain(says);
    expect(inWords(decision)).toEqual(
      does ??
        ['patch MemberCluster east (status)', `warning ${reason}`].map((word) =>
          word.replace('east', setup.cluster?.metadata.name ?? 'east'),
        ),
    );
    expect(decision.holds[0]?.code).toBe(code ?? reason);
  });

  test('and says it once', () => {
    const setup: Setup = { role: null, failure: { reason: 'Forbidden', message: 'roles is forbidden' } };
    const status = statusPatch(decide(observed(setup)));
    const again = decide(observed({ ...setup, cluster: aCluster(status === undefined ? {} : { status }) }));
    expect(inWords(again)).toEqual(['create Role fleet-role-east', 'event RoleCreated']);
  });

  test('but not that two writers met', () => {
    for (const reason of ['Conflict', 'AlreadyExists']) {
      const decision = decide(observed({ role: null, failure: { reason, message: 'again' } }));
      expect(written(decision, 'ReadyToJoin')).toBe('True/MemberClusterReadyToJoin');
    }
  });

  test('and an old failure does not matter when nothing is missing', () => {
    const decision = decide(observed({ failure: { reason: 'Forbidden', message: 'old' } }));
    expect(written(decision, 'ReadyToJoin')).toBe('True/MemberClusterReadyToJoin');
  });

  test('Works in a terminating namespace are let go, since the agent lost its permission to do so', () => {
    const namespace = aNamespace({ deletionTimestamp: ago(1000) });
    const works = [aWork('b'), aWork('a', ['x', 'y']), aWork('free', [])];
    expect(inWords(decide(observed({ namespace, works })))).toEqual([
      'patch MemberCluster east (status)',
      'warning NamespaceTerminating',
      'patch Namespace fleet-member-east',
      'patch Work a',
      'patch Work b',
    ]);
  });

  test("Works in somebody else's namespace are not touched", () => {
    const namespace = aNamespace({ ownerReferences: [foreign], deletionTimestamp: ago(1000) });
    expect(inWords(decide(observed({ namespace, works: [aWork('a')] })))).not.toContain('patch Work a');
  });
});

describe('what the agents report', () => {
  const agents = (...agentStatus: NonNullable<NonNullable<InternalMemberCluster['status']>['agentStatus']>) => ({
    internal: anInternal({ status: { agentStatus } }),
  });
  const three = ['MemberAgent', 'MultiClusterServiceAgent', 'ServiceExportImportAgent'] as const;
  const all = (...states: readonly ('True' | 'False' | 'Unknown' | undefined)[]) =>
    agents(...states.map((state, i) => anAgent(state, { type: three[i] as string })));

  test.each<{ it: string; setup: Setup; is: string; says?: string }>([
    { it: 'one agent, joined', setup: all('True'), is: 'True/MemberClusterJoined' },
    { it: 'one agent, left', setup: all('False'), is: 'False/MemberClusterLeft' },
    {
      it: 'one agent, undecided',
      setup: all('Unknown'),
      is: 'Unknown/MemberClusterJoinStateUnknown',
      says: 'MemberAgent=Unknown',
    },
    {
      it: 'one agent, silent',
      setup: all(undefined),
      is: 'Unknown/MemberClusterJoinStateUnknown',
      says: 'MemberAgent',
    },
    { it: 'no agent', setup: {}, is: 'Unknown/MemberClusterJoinStateUnknown', says: '0 of 1' },
    {
      it: 'only an unexpected agent',
      setup: agents(anAgent('True', { type: 'Other' })),
      is: 'Unknown/MemberClusterJoinStateUnknown',
      says: '0 of 1',
    },
    {
      it: 'an unexpected agent disagrees',
      setup: agents(anAgent('True'), anAgent('False', { type: 'Other' })),
      is: 'True/MemberClusterJoined',
    },
    {
      it: 'three of three joined',
      setup: { ...all('True', 'True', 'True'), settings: { agents: three } },
      is: 'True/MemberClusterJoined',
    },
    {
      it: 'two of three',
      setup: { ...all('True', 'True'), settings: { agents: three } },
      is: 'Unknown/MemberClusterJoinStateUnknown',
      says: 'ServiceExportImportAgent',
    },
    {
      it: 'three of three left',
      setup: { ...all('False', 'False', 'False'), settings: { agents: three } },
      is: 'False/MemberClusterLeft',
    },
    {
      it: 'three that disagree',
      setup: { ...all('True', 'False', 'True'), settings: { agents: three } },
      is: 'Unknown/MemberClusterJoinStateUnknown',
      says: 'MultiClusterServiceAgent=False',
    },
  ])('becomes Joined: $it', ({ setup, is, says = '' }) => {
    const decision = decide(observed(setup));
    expect(written(decision, 'Joined')).toBe(is);
    expect(statusPatch(decision)?.conditions?.find(({ type }) => type === 'Joined')?.message).toContain(says);
  });

  test.each([
    { from: 'Unknown', to: 'True', tells: ['event MemberClusterJoined'] },
    { from: 'True', to: 'Unknown', tells: ['warning MemberClusterJoinStateUnknown'] },
    { from: 'True', to: 'False', tells: ['event MemberClusterLeft'] },
    { from: 'True', to: 'True', tells: [] },
  ] as const)('is told when Joined goes from $from to $to', ({ from, to, tells }) => {
    const before = settled(all(from).internal, { beatSeenAt: NOW });
    const words = inWords(decide(observed({ ...before, internal: all(to).internal })));
    expect(words.filter((word) => /Joined|Left|JoinState/.test(word))).toEqual(tells);
  });

  const usage = { capacity: { cpu: '8' }, allocatable: { cpu: '7' }, available: { cpu: '3' }, observationTime: ago(1) };
  const report = {
    agentStatus: [anAgent('True', { generation: 9 })],
    properties: { 'kubernetes-fleet.io/node-count': { value: '2', observationTime: ago(1) } },
    resourceUsage: usage,
    namespaces: { default: '', shop: 'web-work' },
    conditions: [aCondition('NamespaceCollectionSucceeded', 'True', { observedGeneration: 9, reason: 'Succeeded' })],
  };

  test('is repeated on the MemberCluster, at its generation', () => {
    const cluster = aCluster({ metadata: { generation: 4 } });
    const patch = statusPatch(decide(observed({ cluster, internal: anInternal({ status: report }) })));
    expect(patch).toMatchObject({
      properties: report.properties,
      resourceUsage: usage,
      namespaces: report.namespaces,
    });
    const generations = [...(patch?.conditions ?? []), ...(patch?.agentStatus?.[0]?.conditions ?? [])];
    expect(generations.map((each) => each.observedGeneration)).toEqual(generations.map(() => 4));
    expect(patch?.agentStatus?.[0]?.lastReceivedHeartbeat).toBe(report.agentStatus[0]?.lastReceivedHeartbeat);
  });

  test('vanishes when it is reported no more', () => {
    const before = settled(anInternal({ status: report }), { beatSeenAt: NOW });
    const internal = anInternal({
      status: {
        agentStatus: report.agentStatus,
        resourceUsage: { capacity: { cpu: '8' } },
        namespaces: { default: '' },
      },
    });
    const patch = statusPatch(decide(observed({ ...before, internal })));
    expect(patch).toMatchObject({
      properties: null,
      namespaces: { shop: null },
      resourceUsage: { allocatable: null, available: null, observationTime: null },
    });
    expect(patch?.conditions?.map(({ type }) => type)).toEqual(['ReadyToJoin', 'Joined', 'Healthy']);
  });

  test('stays while an InternalMemberCluster is new and nobody has reported there', () => {
    const before = settled(anInternal({ status: report }), { beatSeenAt: NOW });
    expect(inWords(decide(observed({ ...before, internal: anInternal() })))).toEqual([]);
  });

  test('cannot speak for the hub, and cannot make the hub choke on two conditions of one type', () => {
    const conditions = [
      aCondition('ReadyToJoin', 'False'),
      aCondition('X', 'True'),
      aCondition('X', 'False'),
      aCondition('Joined', 'False'),
    ];
    const patch = statusPatch(decide(observed({ internal: anInternal({ status: { ...report, conditions } }) })));
    expect(patch?.conditions?.map(({ type, status }) => `${type}=${status}`)).toEqual([
      'ReadyToJoin=True',
      'Joined=True',
      'Healthy=True',
      'X=False',
    ]);
  });

  test('moves the stamp of a condition only with its status', () => {
    const before = settled(anInternal({ status: report }), { beatSeenAt: NOW });
    const internal = anInternal({ status: { ...report, agentStatus: [anAgent('True', { stamp: ago(0) })] } });
    const patch = statusPatch(decide(observed({ ...before, internal, now: NOW + MINUTE, beatSeenAt: NOW + MINUTE })));
    expect(patch?.agentStatus?.[0]?.lastReceivedHeartbeat).toBe(ago(0));
    expect(patch?.conditions).toBeUndefined();
  });
});

describe('a silent member', () => {
  const period = 60_000;
  const joined = (seenAgo: number) => settled(joinedInternal(), { beatSeenAt: NOW - seenAgo });

  test('is waited for until three periods have passed on the hub', () => {
    const decision = decide(observed(joined(period)));
    expect(decision.steps).toEqual([]);
    expect(decision.wakeAt).toBe(NOW + 2 * period);
  });

  test('is then unreachable: Healthy is unknown, Joined stays, somebody is warned', () => {
    const before = settled(joinedInternal(), { beatSeenAt: NOW });
    const decision = decide(observed({ ...before, now: NOW + 3 * period }));
    expect(inWords(decision)).toEqual(['patch MemberCluster east (status)', 'warning MemberUnreachable']);
    expect(written(decision, 'Healthy')).toBe('Unknown/MemberUnreachable');
    expect(written(decision, 'Joined')).toBe('True/MemberClusterJoined');
    expect(decision.wakeAt).toBeUndefined();
    expect(decision.holds.map(({ code }) => code)).toEqual(['Unreachable']);
  });

  test.each([
    { periods: 1, seconds: 60 },
    { periods: 5, seconds: 600 },
  ])('is waited for $periods periods of $seconds s if so told', ({ periods, seconds }) => {
    const cluster = aCluster({ spec: { heartbeatPeriodSeconds: seconds } });
    const setup = {
      ...settled(joinedInternal(), { cluster, beatSeenAt: NOW }),
      settings: { unreachablePeriods: periods },
    };
    const end = NOW + periods * seconds * 1000;
    expect(written(decide(observed({ ...setup, now: end - 1 })), 'Healthy')).toBeUndefined();
    expect(written(decide(observed({ ...setup, now: end })), 'Healthy')).toBe('Unknown/MemberUnreachable');
  });

  const unreachable = (): Setup => {
    const before = observed({ ...settled(joinedInternal(), { beatSeenAt: NOW }), now: NOW + 3 * period });
    const status = statusFor(before, { readyToJoin: READY });
    return { cluster: { ...before.cluster, status }, internal: joinedInternal(), now: NOW + 4 * period };
  };

  test('is unreachable once', () => {
    expect(decide(observed({ ...unreachable(), beatSeenAt: NOW })).steps).toEqual([]);
  });

  test('stays unreachable when the hub restarts and begins to count anew', () => {
    const decision = decide(observed({ ...unreachable(), beatSeenAt: NOW + 4 * period }));
    expect(decision.steps).toEqual([]);
    expect(decision.holds.map(({ code }) => code)).toEqual(['Unreachable']);
  });

  test('is healed by the next beat, whatever its stamp says', () => {
    for (const stamp of [ago(-5 * period), ago(600 * period)]) {
      const setup = { ...unreachable(), internal: joinedInternal(stamp), beatSeenAt: NOW + 4 * period };
      const decision = decide(observed(setup));
      expect(written(decision, 'Healthy')).toBe('True/InternalMemberClusterHealthy');
      expect(inWords(decision)).toEqual(['patch MemberCluster east (status)', 'event MemberReachable']);
    }
  });

  test('that never spoke is not connected, which is something else', () => {
    const decision = decide(observed({ ...settled(anInternal()), now: NOW + 100 * period }));
    expect(decision.steps).toEqual([]);
    expect(decision.holds.map(({ code }) => code)).toEqual(['AgentNotConnected']);
  });

  test('that is ill says so itself', () => {
    const internal = anInternal({ status: { agentStatus: [anAgent('True', { healthy: 'False' })] } });
    expect(written(decide(observed({ internal, beatSeenAt: NOW })), 'Healthy')).toMatch(/^False/);
  });
});

describe('a member that leaves', () => {
  const internalLeft = (generation = 2, observedGeneration = generation) =>
    anInternal({
      state: 'Leave',
      generation,
      status: { agentStatus: [anAgent('False', { generation: observedGeneration })] },
    });

  test.each<{ it: string; row: number; setup: Setup; does: readonly string[] }>([
    {
      it: 'is none of our business without our finalizer',
      row: 1,
      setup: { cluster: aCluster({ metadata: { deletionTimestamp: ago(1), finalizers: ['else'] } }) },
      does: [],
    },
    {
      it: 'is gone when its namespace is gone',
      row: 2,
      setup: { cluster: aCluster(leavingSince(1000)), namespace: null, internal: null, role: null, roleBinding: null },
      does: ['patch MemberCluster east'],
    },
    {
      it: 'waits for a namespace that is going, and lets its Works go',
      row: 3,
      setup: {
        cluster: aCluster(leavingSince(1000)),
        namespace: aNamespace({ deletionTimestamp: ago(500) }),
        works: [aWork('a'), aWork('b', [])],
      },
      does: ['patch Namespace fleet-member-east', 'patch Work a'],
    },
    {
      it: 'says after a while that the namespace is still going',
      row: 3,
      setup: { cluster: aCluster(leavingSince(MINUTE)), namespace: aNamespace({ deletionTimestamp: ago(MINUTE) }) },
      does: ['patch MemberCluster east (status)', 'event Leaving'],
    },
    {
      it: 'warns when the namespace is stuck',
      row: 3,
      setup: {
        cluster: aCluster(leavingSince(20 * MINUTE)),
        namespace: aNamespace({ deletionTimestamp: ago(15 * MINUTE) }),
      },
      does: ['patch MemberCluster east (status)', 'warning NamespaceStuck'],
    },
    {
      it: 'is cleaned up when its InternalMemberCluster does not exist any more',
      row: 4,
      setup: { cluster: aCluster(leavingSince(1000)), internal: null, works: [aWork('a')] },
      does: [
        'patch MemberCluster east (status)',
        'event Leaving',
        'patch Namespace fleet-member-east',
        'patch Work a',
        'delete Namespace fleet-member-east',
      ],
    },
    {
      it: 'is cleaned up when its agents have left',
      row: 5,
      setup: { cluster: aCluster(leavingSince(1000)), internal: internalLeft(), works: [aWork('a', ['other'])] },
      does: [
        'patch MemberCluster east (status)',
        'event MemberClusterLeft',
        'patch Namespace fleet-member-east',
        'patch Work a',
        'delete Namespace fleet-member-east',
      ],
    },
    {
      it: 'is not cleaned up because of what its agents said before they were asked',
      row: 7,
      setup: { cluster: aCluster(leavingSince(1000)), internal: internalLeft(2, 1) },
      does: ['patch MemberCluster east (status)', 'event MemberClusterLeft'],
    },
    {
      it: 'is asked although its agents say that they are not there',
      row: 7,
      setup: {
        cluster: aCluster(leavingSince(1000)),
        internal: anInternal({ status: { agentStatus: [anAgent('False')] } }),
      },
      does: ['patch InternalMemberCluster east', 'patch MemberCluster east (status)', 'event MemberClusterLeft'],
    },
    {
      it: 'is removed by force when its agents take too long',
      row: 6,
      setup: {
        cluster: aCluster(leavingSince(15 * MINUTE)),
        internal: anInternal({ state: 'Leave' }),
        works: [aWork('a')],
      },
      does: [
        'patch MemberCluster east (status)',
        'event Leaving',
        'patch Namespace fleet-member-east',
        'patch Work a',
        'delete Namespace fleet-member-east',
        'warning MemberClusterLeaveForced',
      ],
    },
    {
      it: 'is asked first, however long ago it was deleted',
      row: 7,
      setup: {
        cluster: aCluster(leavingSince(60 * MINUTE)),
        internal: anInternal({ status: { agentStatus: [anAgent(undefined)] } }),
      },
      does: ['patch InternalMemberCluster east', 'patch MemberCluster east (status)', 'event Leaving'],
    },
    {
      it: 'is removed at once if no agent has ever reported, unless one reports in the meantime',
      row: 7,
      setup: { cluster: aCluster(leavingSince(0)), internal: anInternal() },
      does: [
        'patch InternalMemberCluster east',
        'patch MemberCluster east (status)',
        'event Leaving',
        'delete Namespace fleet-member-east',
      ],
    },
    {
      it: 'is asked to leave, not deleted',
      row: 7,
      setup: { cluster: aCluster(leavingSince(1000)), internal: anInternal(), works: [aWork('a')] },
      does: ['patch InternalMemberCluster east', 'patch MemberCluster east (status)', 'event Leaving'],
    },
  ])('$it (row $row)', ({ setup, does }) => {
    expect(inWords(decide(observed(setup)))).toEqual(does);
  });

  describe('and has a ClusterProfile', () => {
    const held = [finalizers.memberCluster, finalizers.clusterProfileCleanup];
    const { metadata } = leavingSince(1000);
    const cluster = aCluster({ metadata: { ...metadata, finalizers: held } });
    const profile = (manager: string, uid = cluster.metadata.uid) =>
      ({
        metadata: {
          name: 'east',
          ownerReferences: [{ ...aNamespace().metadata.ownerReferences?.[0], uid }],
        },
        spec: { clusterManager: { name: manager } },
      }) as HubProfile;
    const merge = (setup: Setup) => {
      const action = decide(observed({ cluster, ...setup })).steps[0]?.[0];
      return action?.do === 'patch' && action.of.resource.kind === 'MemberCluster' ? action.merge : undefined;
    };

    test.each([
      { it: 'keeps its finalizer until the profile is deleted', setup: { profile: profile('KubeFleet') } },
      { it: 'loses its finalizer when the profile is deleted', setup: {}, left: [finalizers.memberCluster] },
      {
        it: 'does not wait for a profile of another manager',
        setup: { profile: profile('other') },
        left: [finalizers.memberCluster],
      },
      {
        it: 'does not wait for the profile of the next member of its name',
        setup: { profile: profile('KubeFleet', 'next') },
        left: [finalizers.memberCluster],
      },
    ])('$it', ({ setup, left }) => {
      const found = merge(setup) as { readonly metadata?: { readonly finalizers?: readonly string[] } } | undefined;
      expect(found?.metadata?.finalizers).toEqual(left);
    });
  });

  test('keeps the finalizers of others', () => {
    const cluster = aCluster({
      metadata: { deletionTimestamp: ago(1), finalizers: ['kubernetes-fleet.io/membercluster-finalizer', 'else'] },
    });
    expect(patchOf({ cluster, namespace: null }, 'MemberCluster')).toEqual({ metadata: { finalizers: ['else'] } });
  });

  test('loses all finalizers of its Works, since nobody is left to honour them', () => {
    const setup = { cluster: aCluster(leavingSince(1000)), internal: internalLeft(), works: [aWork('a', ['x', 'y'])] };
    expect(patchOf(setup, 'Work')).toEqual({ metadata: { finalizers: null } });
  });

  test('lets its Works go before the namespace, one step each', () => {
    const setup = { cluster: aCluster(leavingSince(1000)), internal: internalLeft(), works: [aWork('b'), aWork('a')] };
    const { steps } = decide(observed(setup));
    expect(steps.map((step) => step.map((action) => action.do).join())).toEqual([
      'patch',
      'event',
      'patch',
      'patch,patch',
      'delete',
    ]);
  });

  // Two hubs lead at once: the cache of one lacks that the member has left and another one has joined under its name.
  const successor = { ...owner, uid: 'uid-successor' };
  const itsNamespace = aNamespace({ ownerReferences: [successor] });
  const itsInternal = anInternal();
  const ofSuccessor = { ...itsInternal, metadata: { ...itsInternal.metadata, ownerReferences: [successor] } };
  test.each<{ it: string; setup: Setup; does: readonly string[] }>([
    {
      it: 'does not touch the namespace of a successor',
      setup: { internal: null, namespace: itsNamespace, works: [aWork('a')] },
      does: [],
    },
    {
      it: 'does not go before the namespace of a predecessor has gone',
      setup: {
        internal: null,
        namespace: aNamespace({ ownerReferences: [successor], deletionTimestamp: ago(1) }),
        works: [aWork('a')],
      },
      does: ['patch Namespace fleet-member-east', 'patch Work a'],
    },
    {
      it: 'does not ask the agents of a successor to leave',
      setup: { internal: ofSuccessor, works: [aWork('a')] },
      does: [],
    },
  ])('$it', ({ setup, does }) => {
    expect(inWords(decide(observed({ cluster: aCluster(leavingSince(1000)), ...setup })))).toEqual(does);
  });

  test('checks the namespace without changing it before it lets Works go that may be those of a successor', () => {
    const setup = { cluster: aCluster(leavingSince(1000)), internal: internalLeft(), works: [aWork('a')] };
    expect(patchOf(setup, 'Namespace')).toEqual({});
  });

  test('is waited for until the force-delete wait is over, and looked at now and then for its progress', () => {
    const at = (sinceMs: number, forceDeleteWaitMs?: number) =>
      decide(
        observed({
          cluster: aCluster(leavingSince(sinceMs)),
          internal: anInternal({ state: 'Leave', status: { agentStatus: [anAgent('True')] } }),
          ...(forceDeleteWaitMs === undefined ? {} : { settings: { forceDeleteWaitMs } }),
        }),
      ).wakeAt;
    expect(at(0)).toBe(NOW + 10_000);
    expect(at(15 * MINUTE - 3000)).toBe(NOW + 3000);
    expect(at(25_000, 30_000)).toBe(NOW + 5000);
  });

  test('shows how many Works remain, as a hold and in a condition', () => {
    const setup = {
      cluster: aCluster(leavingSince(1000)),
      internal: joinedInternal(),
      works: [aWork('a'), aWork('b'), aWork('c', [])],
    };
    const decision = decide(observed(setup));
    expect(decision.holds).toMatchObject([{ code: 'Leaving', facts: { works: 2 }, until: NOW - 1000 + 15 * MINUTE }]);
    const ready = statusPatch(decision)?.conditions?.find(({ type }) => type === 'ReadyToJoin');
    expect(ready).toMatchObject({ status: 'False', reason: 'Leaving' });
    expect(ready?.message).toContain('2 works remain');
  });

  test('says that it goes at once if no agent has ever reported', () => {
    const decision = decide(observed({ cluster: aCluster(leavingSince(1000)), internal: anInternal() }));
    const message = `MemberCluster "east" is leaving: 0 works remain; its agent has never connected, so the member is removed now`;
    expect(statusPatch(decision)?.conditions?.find(({ type }) => type === 'ReadyToJoin')?.message).toBe(message);
    expect(decision.steps.flat()).toContainEqual(expect.objectContaining({ do: 'event', reason: 'Leaving', message }));
    expect(decision.steps.flat()).toContainEqual(
      expect.objectContaining({ do: 'delete', because: 'no agent of it has ever reported' }),
    );
    expect(decision.holds[0]?.until).toBeUndefined();
  });

  test('says when it goes without an agent that never came, if Works are still held for it', () => {
    const setup = { cluster: aCluster(leavingSince(1000)), internal: anInternal(), works: [aWork('a')] };
    const message = `MemberCluster "east" is leaving: 1 work remains; its agent has never connected, so the member will be removed at ${kubeTime(NOW - 1000 + 15 * MINUTE)} regardless`;
    expect(statusPatch(decide(observed(setup)))?.conditions?.find(({ type }) => type === 'ReadyToJoin')?.message).toBe(
      message,
    );
  });

  test('tells of a new number without an Event', () => {
    const setup = {
      cluster: aCluster(leavingSince(1000)),
      internal: anInternal({ state: 'Leave' }),
      works: [aWork('a'), aWork('b')],
    };
    const status = statusPatch(decide(observed(setup)));
    const later = {
      ...setup,
      cluster: { ...setup.cluster, ...(status === undefined ? {} : { status }) },
      works: [aWork('a')],
    };
    expect(inWords(decide(observed(later)))).toEqual(['patch MemberCluster east (status)']);
  });

  test('that has left is not ready to join and not joined', () => {
    const decision = decide(observed({ cluster: aCluster(leavingSince(1000)), internal: internalLeft() }));
    expect(written(decision, 'Joined')).toBe('False/MemberClusterLeft');
    expect(written(decision, 'ReadyToJoin')).toBe('False/MemberClusterNotReadyToJoin');
  });

  // An agent that is asked to leave sends no more heartbeats and answers within seconds; without an answer it is
  // unreachable like any other.
  test.each([
    { it: 'is as healthy as before while it may still answer', silentMs: 2 * MINUTE, says: 'True' },
    { it: 'is unreachable after three silent periods', silentMs: 3 * MINUTE, says: 'Unknown' },
    { it: 'is as healthy as before once it has left', silentMs: 60 * MINUTE, left: true, says: 'True' },
  ])('$it', ({ silentMs, left, says }) => {
    const before = settled(joinedInternal(), { beatSeenAt: NOW });
    const cluster = { ...before.cluster, ...aCluster(leavingSince(5 * MINUTE)), status: before.cluster?.status };
    const internal = left ? internalLeft() : anInternal({ state: 'Leave' });
    const decision = decide(observed({ cluster: cluster as never, internal, beatSeenAt: NOW - silentMs }));
    expect(statusPatch(decision)?.conditions?.find(({ type }) => type === 'Healthy')).toMatchObject({ status: says });
  });

  test('loses the identity that join made for it, token first', () => {
    const identities = joinedIdentities.map((source) => ({
      source,
      item: { metadata: { name: 'east-x', namespace: 'fleet-system', uid: 'u', resourceVersion: '1' } },
    }));
    const setup = { cluster: aCluster(leavingSince(1000)), namespace: null, internal: null, identities };
    expect(inWords(decide(observed(setup)))).toEqual([
      'delete Secret east-x',
      'delete ServiceAccount east-x',
      'delete RoleBinding east-x',
      'delete Role east-x',
      'patch MemberCluster east',
    ]);
  });

  test.each([
    {
      it: 'belongs to somebody else',
      namespace: aNamespace({
        ownerReferences: [{ apiVersion: 'v1', kind: 'X', name: 'x', uid: 'u', controller: true }],
      }),
    },
    { it: 'was there before and never adopted', namespace: aNamespace({ labels: {}, ownerReferences: [] }) },
  ])('does not take a namespace with it that $it', ({ namespace }) => {
    const setup = { cluster: aCluster(leavingSince(1000)), namespace, works: [aWork('a')] };
    expect(inWords(decide(observed(setup)))).toEqual(['patch MemberCluster east']);
  });

  test('waits for agents that are expected but absent, and is then removed by force', () => {
    const settings = { agents: ['MemberAgent', 'MultiClusterServiceAgent'] as const };
    const setup = { cluster: aCluster(leavingSince(MINUTE)), internal: internalLeft(), settings };
    expect(inWords(decide(observed(setup)))).not.toContain('delete Namespace fleet-member-east');
    const late = { ...setup, cluster: aCluster(leavingSince(15 * MINUTE)) };
    expect(inWords(decide(observed(late)))).toContain('delete Namespace fleet-member-east');
  });
});
