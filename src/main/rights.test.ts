import { describe, expect, test } from 'vitest';
import { aCluster, admin, type TestCluster } from '../../test/cluster.ts';
import { agentBasicRules, memberRules, type Rule } from '../api/agent-rights.ts';
import { hubKinds, memberKinds } from '../api/kinds.ts';
import { HUB_ACCOUNT, SYSTEM_NAMESPACE } from '../api/names.ts';
import { groupVersionOf, type KubeObject, type User } from '../api/object.ts';
import { hubBasicRules, hubSystemRules } from '../api/rights.ts';
import { accountUserName } from '../apiserver/auth/service-account.ts';
import { AGENT_ACCOUNT, rolesFor } from '../cli/setup/roles.ts';
import { checkRights, type Needed } from './rights.ts';

const account = (name: string): User => ({
  name: accountUserName(SYSTEM_NAMESPACE, name),
  groups: ['system:serviceaccounts', 'system:authenticated'],
});

const NEEDED: Readonly<Record<'hub' | 'member', readonly Needed[]>> = {
  hub: [{ rules: hubBasicRules }, { rules: hubSystemRules, namespace: SYSTEM_NAMESPACE }],
  member: [{ rules: agentBasicRules }],
};
const ACCOUNTS = { hub: HUB_ACCOUNT, member: AGENT_ACCOUNT };

async function apply(cluster: TestCluster, objects: readonly KubeObject[]): Promise<void> {
  for (const object of objects) {
    const { group } = groupVersionOf(object.apiVersion);
    const found = cluster.running.cluster.registry
      .all()
      .find((each) => each.kind === object.kind && each.group === group);
    const { plural } = found as { readonly plural: string };
    await cluster.call({
      verb: 'create',
      at: cluster.at(plural, object.metadata.namespace),
      object,
      manager: 'test',
    });
  }
}

const check = (cluster: TestCluster, target: 'hub' | 'member') =>
  checkRights(cluster.as(account(ACCOUNTS[target])), { whom: 'it', needed: NEEDED[target], remedy: 'ask for them' });

describe.each(['hub', 'member'] as const)('the identity of a %s', (target) => {
  test('has with the roles that are printed for it all that is needed, and is no administrator', async () => {
    await using cluster = await aCluster({ kinds: [...hubKinds, ...memberKinds] });
    await apply(cluster, rolesFor(target));
    await cluster.settled();
    await check(cluster, target);
    const impersonate = { apiGroups: [''], resources: ['users'], verbs: ['impersonate'] };
    await expect(
      checkRights(cluster.as(account(ACCOUNTS[target])), {
        whom: 'it',
        needed: [{ rules: [impersonate] }],
        remedy: 'never',
      }),
    ).rejects.toThrow('it may not impersonate users: never');
  });

  test('without them is told each verb and resource', async () => {
    await using cluster = await aCluster({ kinds: [...hubKinds, ...memberKinds] });
    await expect(check(cluster, target)).rejects.toMatchObject({
      reason: 'RightsMissing',
      message: expect.stringMatching(/^it may not get, list, watch, .*; .*: ask for them$/),
    });
  });
});

test('the hub writes statuses of placed objects only where that was opted into, and nothing else of them', async () => {
  await using cluster = await aCluster({ kinds: hubKinds });
  await apply(cluster, rolesFor('hub'));
  await cluster.settled();
  const rules = (resource: string): readonly Rule[] => [
    { apiGroups: ['apps'], resources: [resource], verbs: ['patch'] },
  ];
  const hub = cluster.as(account(HUB_ACCOUNT));
  const asks = (resource: string) =>
    checkRights(hub, { whom: 'it', needed: [{ rules: rules(resource) }], remedy: 'no' });
  await expect(asks('deployments/status')).rejects.toThrow('it may not patch deployments.apps/status: no');
  await apply(cluster, rolesFor('hub-status'));
  await cluster.settled();
  await asks('deployments/status');
  await expect(asks('deployments')).rejects.toThrow('it may not patch deployments.apps: no');
});

test('only what is missing is told, with the group, the subresource and the namespace', async () => {
  await using cluster = await aCluster();
  const user: User = { name: 'somebody', groups: ['system:authenticated'] };
  const rules: readonly Rule[] = [
    { apiGroups: [''], resources: ['pods', 'pods/status'], verbs: ['get', 'patch'] },
    { apiGroups: ['apps'], resources: ['deployments'], verbs: ['get'] },
  ];
  await apply(cluster, [
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'some' },
      rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
    } as never,
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'some' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'some' },
      subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: user.name }],
    } as never,
  ]);
  await cluster.settled();
  const needed = [{ rules, namespace: 'team' }];
  await expect(checkRights(cluster.as(user), { whom: 'it', needed, remedy: 'no' })).rejects.toThrow(
    'it may not patch pods in namespace team; get, patch pods/status in namespace team; get deployments.apps in namespace team: no',
  );
  await checkRights(cluster.as(admin), { whom: 'it', needed, remedy: 'no' });
});

test('the hub holds whatever it gives to members: nobody can give away what they do not have', () => {
  const held = new Set(rightsOf(hubBasicRules));
  expect(rightsOf(memberRules).filter((right) => !held.has(right))).toEqual([]);
});

const rightsOf = (rules: readonly Rule[]): readonly string[] =>
  rules.flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) => resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}.${group}`))),
  );
