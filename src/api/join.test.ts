import { describe, expect, test } from 'vitest';
import { joinObjects } from './join.ts';
import { type MemberClusterSpec, memberCluster } from './member-cluster.ts';
import { identityCauses, subjectOf } from './member-identity.ts';
import { LONGEST_MEMBER_NAME, memberNameProblem } from './member-name.ts';
import type { MemberStatus } from './member-status.ts';
import { finalizers, memberNamespace } from './names.ts';
import type { KubeObject } from './object.ts';

describe('what join creates', () => {
  test('is an identity, its token, and a member that names it', () => {
    const { namespace, serviceAccount, tokenSecret, memberCluster: member } = joinObjects({ name: 'east' });
    expect(namespace.metadata.name).toBe('fleet-system');
    const labels = { 'flotilla.dev/joined-member': 'east' };
    expect(serviceAccount.metadata).toEqual({ name: 'east-hub-cluster-access', namespace: 'fleet-system', labels });
    expect(tokenSecret).toMatchObject({
      type: 'kubernetes.io/service-account-token',
      metadata: {
        name: 'east-hub-cluster-access-token',
        namespace: 'fleet-system',
        labels,
        annotations: { 'kubernetes.io/service-account.name': 'east-hub-cluster-access' },
      },
    });
    expect(member).toEqual({
      apiVersion: 'cluster.kubernetes-fleet.io/v1beta1',
      kind: 'MemberCluster',
      metadata: { name: 'east', finalizers: [finalizers.memberCluster] },
      spec: { identity: { kind: 'ServiceAccount', name: 'east-hub-cluster-access', namespace: 'fleet-system' } },
    });
  });

  test('carries labels, taints and the period if given', () => {
    const taints = [{ key: 'a', effect: 'NoSchedule' as const }];
    const { memberCluster: member } = joinObjects({
      name: 'east',
      labels: { env: 'x' },
      taints,
      heartbeatPeriodSeconds: 5,
    });
    expect(member.metadata.labels).toEqual({ env: 'x' });
    expect(member.spec).toMatchObject({ taints, heartbeatPeriodSeconds: 5 });
  });
});

describe('the name of a member', () => {
  test.each(['east', 'e', '1-a', 'e'.repeat(50)])('may be %s', (name) => {
    expect(memberNameProblem(name)).toBeUndefined();
  });

  test.each([
    { name: 'e'.repeat(51), says: 'at most 50 characters' },
    { name: 'a.b', says: 'no dots' },
    { name: '', says: 'begins and ends' },
    { name: 'East', says: 'lower case' },
    { name: '-a', says: 'begins and ends' },
    { name: 'a/../b', says: 'no dots' },
    { name: 'a/b', says: 'lower case' },
    { name: 'a\nb', says: 'lower case' },
  ])('may not be $name', ({ name, says }) => {
    expect(memberNameProblem(name)).toContain(says);
  });

  test('is as long as a namespace allows', () => {
    expect(memberNamespace('e'.repeat(LONGEST_MEMBER_NAME))).toHaveLength(63);
  });
});

describe('an identity', () => {
  test.each([
    { kind: 'User', name: 'a' },
    { kind: 'Group', name: 'a', apiGroup: 'rbac.authorization.k8s.io' },
    { kind: 'ServiceAccount', name: 'a', namespace: 'b' },
    { kind: 'ServiceAccount', name: 'a', apiGroup: '' },
  ])('may be %j', (identity) => {
    expect(identityCauses(identity)).toEqual([]);
  });

  test.each([
    { identity: { kind: 'Robot', name: 'a' }, fields: ['spec.identity.kind'] },
    { identity: { kind: '', name: '' }, fields: ['spec.identity.kind'] },
    { identity: { kind: 'User', name: '' }, fields: ['spec.identity.name'] },
    { identity: { kind: 'User', name: '', apiGroup: 'x' }, fields: ['spec.identity.name', 'spec.identity.apiGroup'] },
    {
      identity: { kind: 'ServiceAccount', name: 'a', apiGroup: 'rbac.authorization.k8s.io' },
      fields: ['spec.identity.apiGroup'],
    },
  ])('may not be $identity', ({ identity, fields }) => {
    expect(identityCauses(identity).map(({ field }) => field)).toEqual(fields);
  });

  test('is bound as the API server stores it', () => {
    expect(subjectOf({ kind: 'ServiceAccount', name: 'a', namespace: 'b', apiGroup: '' })).toEqual({
      kind: 'ServiceAccount',
      name: 'a',
      namespace: 'b',
    });
    expect(subjectOf({ kind: 'User', name: 'a', apiGroup: '' })).toEqual({
      kind: 'User',
      apiGroup: 'rbac.authorization.k8s.io',
      name: 'a',
    });
  });
});

describe('the admission of a MemberCluster', () => {
  type Member = KubeObject<MemberClusterSpec, MemberStatus>;
  const member = (identity: object): Member => ({
    apiVersion: 'cluster.kubernetes-fleet.io/v1beta1',
    kind: 'MemberCluster',
    metadata: { name: 'east' },
    spec: { identity, heartbeatPeriodSeconds: 60 } as MemberClusterSpec,
  });
  const bad = member({ kind: 'Robot', name: 'r' });
  const good = member({ kind: 'User', name: 'u' });
  const base = {
    dryRun: false,
    now: 0,
    user: { name: 'u', groups: [] },
    lookup: { get: () => undefined, list: () => [] },
  };
  const judged = (request: object) => memberCluster.admit?.({ ...base, ...request } as never);

  test('refuses an identity that no RoleBinding can name, when it is new', () => {
    expect(judged({ verb: 'create', object: bad })).toMatchObject({ ok: false });
    expect(judged({ verb: 'update', object: bad, old: good })).toMatchObject({ ok: false });
  });

  test('lets everything else pass, so that an old one can be mended, reported on and deleted', () => {
    expect(judged({ verb: 'create', object: good })).toEqual({ ok: true, object: good, warnings: [] });
    expect(judged({ verb: 'update', object: bad, old: bad })).toMatchObject({ ok: true });
    expect(judged({ verb: 'update', subresource: 'status', object: bad, old: good })).toMatchObject({ ok: true });
    expect(judged({ verb: 'delete', old: bad })).toMatchObject({ ok: true });
  });

  test('warns of a ServiceAccount without a namespace', () => {
    const object = member({ kind: 'ServiceAccount', name: 'a' });
    expect(judged({ verb: 'create', object })).toMatchObject({
      ok: true,
      warnings: [expect.stringContaining('fleet-member-east')],
    });
  });
});
