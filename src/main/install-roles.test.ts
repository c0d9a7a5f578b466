// What users may do on a hub, checked with the server's own authorizer: the table of personas in S2-2.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { aCluster, admin, type TestCluster, theHub } from '../../test/cluster.ts';
import { placementGroup } from '../api/groups.ts';
import { hubKinds } from '../api/kinds.ts';
import { RBAC_GROUP } from '../api/resources.ts';
import { APPROVER, CLUSTER_APPROVER } from '../cli/setup/roles.ts';
import { installRoles } from './install-roles.ts';

const GROUP = placementGroup.group;
const REVIEWS = {
  group: 'authorization.k8s.io',
  version: 'v1',
  kind: 'SubjectAccessReview',
  plural: 'subjectaccessreviews',
  namespaced: false,
} as const;

/** Each role is bound to a user of its name in namespace `team`; the last one in the whole cluster. */
async function aHub(): Promise<TestCluster> {
  const cluster = await aCluster({ kinds: hubKinds });
  await installRoles(cluster.as(theHub));
  await cluster.create('namespaces', undefined, { metadata: { name: 'team' } });
  for (const name of ['view', 'edit', 'admin', APPROVER, CLUSTER_APPROVER]) {
    const isWide = name === CLUSTER_APPROVER;
    await cluster.create(isWide ? 'clusterrolebindings' : 'rolebindings', isWide ? undefined : 'team', {
      metadata: { name },
      roleRef: { apiGroup: RBAC_GROUP, kind: 'ClusterRole', name },
      subjects: [{ kind: 'User', apiGroup: RBAC_GROUP, name }],
    });
  }
  await cluster.settled();
  return cluster;
}

async function may(cluster: TestCluster, user: string, verb: string, path: string, namespace: string) {
  const [resource = '', subresource = ''] = path.split('/');
  const { object } = await cluster.as(admin).call({
    verb: 'create',
    at: { resource: REVIEWS },
    object: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: REVIEWS.kind,
      metadata: {},
      spec: { user, resourceAttributes: { group: GROUP, resource, subresource, verb, namespace } },
    },
    manager: 'test',
  });
  return (object?.status as { readonly allowed?: boolean } | undefined)?.allowed === true;
}

const EVERYBODY = ['view', 'edit', 'admin'];
const WRITERS = ['edit', 'admin'];

describe('with the roles for people', () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await aHub();
  });
  afterAll(() => cluster[Symbol.asyncDispose]());

  test.each<{ verb: string; what: string; in?: string; who: readonly string[] }>([
    { verb: 'list', what: 'resourceplacements', who: EVERYBODY },
    { verb: 'create', what: 'resourceplacements', who: WRITERS },
    { verb: 'patch', what: 'resourceplacements/status', who: [] },
    { verb: 'get', what: 'stagedupdateruns', who: [...EVERYBODY, APPROVER] },
    { verb: 'patch', what: 'stagedupdateruns', who: WRITERS },
    { verb: 'delete', what: 'stagedupdatestrategies', who: WRITERS },
    { verb: 'update', what: 'resourceoverrides', who: WRITERS },
    { verb: 'create', what: 'resourceenvelopes', who: WRITERS },
    { verb: 'get', what: 'resourceenvelopes', who: WRITERS },
    { verb: 'get', what: 'resourcesnapshots', who: WRITERS },
    { verb: 'delete', what: 'resourcesnapshots', who: [] },
    { verb: 'get', what: 'resourcebindings', who: EVERYBODY },
    { verb: 'patch', what: 'resourcebindings', who: [] },
    { verb: 'watch', what: 'approvalrequests', who: [...EVERYBODY, APPROVER] },
    { verb: 'create', what: 'approvalrequests', who: [] },
    { verb: 'delete', what: 'approvalrequests', who: [] },
    { verb: 'patch', what: 'approvalrequests/status', who: ['admin', APPROVER] },
    { verb: 'get', what: 'works', who: [] },
    // In another namespace, and at cluster scope.
    { verb: 'list', what: 'resourceplacements', in: 'other', who: [] },
    { verb: 'patch', what: 'approvalrequests/status', in: 'other', who: [] },
    { verb: 'list', what: 'clusterresourceplacements', in: '', who: [] },
    { verb: 'create', what: 'clusterstagedupdateruns', in: '', who: [] },
    { verb: 'get', what: 'clusterstagedupdateruns', in: '', who: [CLUSTER_APPROVER] },
    { verb: 'patch', what: 'clusterapprovalrequests/status', in: '', who: [CLUSTER_APPROVER] },
    { verb: 'delete', what: 'clusterapprovalrequests', in: '', who: [] },
  ])('$verb $what is for $who', async ({ verb, what, in: namespace = 'team', who }) => {
    const allowed: string[] = [];
    for (const user of [...EVERYBODY, APPROVER, CLUSTER_APPROVER]) {
      if (await may(cluster, user, verb, what, namespace)) allowed.push(user);
    }
    expect(allowed).toEqual(who);
  });

  test('a second start writes nothing, and a role that somebody changed is as it should be again', async () => {
    const before = await cluster.get('clusterroles', undefined, 'flotilla-edit');
    await installRoles(cluster.as(theHub));
    expect(await cluster.get('clusterroles', undefined, 'flotilla-edit')).toEqual(before);
    await cluster.call({
      verb: 'patch',
      at: cluster.at('clusterroles', undefined, 'flotilla-edit'),
      patch: { type: 'merge', body: { rules: [] } },
      manager: 'somebody',
    });
    await installRoles(cluster.as(theHub));
    const after = await cluster.get('clusterroles', undefined, 'flotilla-edit');
    expect(after['rules']).toEqual(before['rules']);
  });
});
