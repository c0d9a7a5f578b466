// What a member, a tenant and an anonymous client may do, tried on every resource that the server serves: one case for each of them and each
// resource, made from the registry, so that a new kind is covered on the day it comes.
import { beforeAll, describe, expect, test } from 'vitest';
import { hubKinds } from '../../src/api/kinds.ts';
import { memberNamespace } from '../../src/api/names.ts';
import type { KubeObject, User } from '../../src/api/object.ts';
import { editRules, memberRules, viewRules } from '../../src/api/rights.ts';
import type { Request, Target, Transport } from '../../src/api/transport.ts';
import { ApiError } from '../../src/base/errors.ts';
import { aCluster, type TestCluster } from '../cluster.ts';

const OWN = memberNamespace('x');
const OTHER = memberNamespace('y');
const TENANT = 'team';

const account = (namespace: string, name: string): User => ({
  name: `system:serviceaccount:${namespace}:${name}`,
  groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
});
const member = account('fleet-system', 'x-hub-cluster-access');
const tenant: User = { name: 'tenant', groups: ['system:authenticated'] };
const anonymous: User = { name: 'system:anonymous', groups: ['system:unauthenticated'] };

const RBAC = 'rbac.authorization.k8s.io';

/** What may be done, by `resource verb`; all else is to be refused. */
const memberMay: ReadonlySet<string> = new Set(
  memberRules.flatMap(({ apiGroups, resources, verbs }) =>
    resources.flatMap((resource) => verbs.map((verb) => `${apiGroups[0]}/${resource} ${verb}`)),
  ),
);
/** Everybody who is known may ask what he may do, and who he is. */
const REVIEWS = /^(authorization|authentication)\.k8s\.io\/self/;

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await aCluster({ kinds: hubKinds });
  for (const name of [OWN, OTHER, TENANT]) await cluster.create('namespaces', undefined, { metadata: { name } });
  await cluster.settled();
  await cluster.create('roles', OWN, { metadata: { name: 'member' }, rules: memberRules });
  const bind = (namespace: string, roleRef: object, subject: object) =>
    cluster.create('rolebindings', namespace, {
      metadata: { generateName: 'it-' },
      roleRef: { apiGroup: RBAC, ...roleRef },
      subjects: [subject],
    });
  await bind(
    OWN,
    { kind: 'Role', name: 'member' },
    { kind: 'ServiceAccount', namespace: 'fleet-system', name: 'x-hub-cluster-access' },
  );
  // As `flotilla roles people` adds it to Kubernetes' own `edit`.
  await cluster.create('roles', TENANT, { metadata: { name: 'fleet-edit' }, rules: [...viewRules, ...editRules] });
  await bind(TENANT, { kind: 'Role', name: 'fleet-edit' }, { kind: 'User', apiGroup: RBAC, name: 'tenant' });
  await bind(TENANT, { kind: 'ClusterRole', name: 'edit' }, { kind: 'User', apiGroup: RBAC, name: 'tenant' });
});

interface Attempt {
  readonly verb: string;
  readonly subresource: string;
  run(transport: Transport, at: Target): Promise<unknown>;
}

const body = (at: Target): KubeObject => ({
  apiVersion: at.resource.group === '' ? at.resource.version : `${at.resource.group}/${at.resource.version}`,
  kind: at.resource.kind,
  metadata: { name: 'it', ...(at.namespace === undefined ? {} : { namespace: at.namespace }) },
});
const call = (verb: string, request: (at: Target) => Request, subresource = ''): Attempt => ({
  verb,
  subresource,
  run: (transport, at) => transport.call(request(at)),
});
const named = (at: Target) => ({ ...at, name: 'it' });
const status = (at: Target) => ({ ...named(at), subresource: 'status' as const });
const nothing = { type: 'merge', body: {} } as const;
const ATTEMPTS: readonly Attempt[] = [
  call('get', (at) => ({ verb: 'get', at: named(at) })),
  call('list', (at) => ({ verb: 'list', at })),
  call('create', (at) => ({ verb: 'create', at, object: body(at), manager: 't' })),
  call('create', (at) => ({ verb: 'create', at, object: body(at), manager: 't', dryRun: true })),
  call('update', (at) => ({ verb: 'update', at: named(at), object: body(at), manager: 't' })),
  call('patch', (at) => ({ verb: 'patch', at: named(at), patch: nothing, manager: 't' })),
  call('delete', (at) => ({ verb: 'delete', at: named(at) })),
  call('patch', (at) => ({ verb: 'patch', at: status(at), patch: nothing, manager: 't' }), '/status'),
  call('update', (at) => ({ verb: 'update', at: status(at), object: body(at), manager: 't' }), '/status'),
  {
    verb: 'watch',
    subresource: '',
    async run(transport, at) {
      const ending = new AbortController();
      for await (const _batch of transport.watch({ at }, ending.signal)) break;
      ending.abort();
    },
  },
];

/** False: the server says that it is forbidden. Any other answer means that it was let through to the object, which is not there. */
async function isLetIn(user: User, { run }: Attempt, at: Target): Promise<boolean> {
  try {
    await run(cluster.as(user), at);
    return true;
  } catch (error) {
    if (error instanceof ApiError) return error.code !== 403 && error.code !== 401;
    throw error;
  }
}

const resources = (await aCluster({ kinds: hubKinds })).running.cluster.registry
  .all()
  .map(({ group, plural, kind, namespaced, versions }) => ({
    id: `${group}/${plural}`,
    resource: { group, plural, kind, namespaced, version: versions[0]?.version ?? '' },
  }));

/** Where it is tried: in all namespaces that matter, or once for the whole cluster. */
const placesOf = ({ resource }: (typeof resources)[number]): readonly Target[] =>
  resource.namespaced
    ? [OWN, OTHER, TENANT, 'kube-system', 'default'].map((namespace) => ({ resource, namespace }))
    : [{ resource }];

async function letIn(user: User, one: (typeof resources)[number], mayNot: (at: Target, attempt: Attempt) => boolean) {
  const found: string[] = [];
  for (const at of placesOf(one)) {
    for (const attempt of ATTEMPTS) {
      if (!mayNot(at, attempt)) continue;
      if (attempt.verb === 'watch' && found.length > 0) continue;
      if (await isLetIn(user, attempt, at))
        found.push(`${attempt.verb}${attempt.subresource} in "${at.namespace ?? ''}"`);
    }
  }
  return found;
}

test('there are enough resources to speak of', () => {
  expect(resources.length * 3).toBeGreaterThanOrEqual(200);
});

describe('a member may do what its Role says in its own namespace, and nothing else, with', () => {
  test.each(resources)('$id', async (one) => {
    const isMine = (at: Target, { verb, subresource }: Attempt) =>
      at.namespace === OWN && memberMay.has(`${one.id}${subresource} ${verb}`);
    expect(await letIn(member, one, (at, attempt) => !isMine(at, attempt) && !REVIEWS.test(one.id))).toEqual([]);
    for (const attempt of ATTEMPTS.filter(({ verb }) => verb !== 'watch')) {
      const at: Target = { resource: one.resource, namespace: OWN };
      if (isMine(at, attempt)) expect(await isLetIn(member, attempt, at), `${attempt.verb}`).toBe(true);
    }
  });
});

describe('a tenant may do nothing outside of its namespace with', () => {
  test.each(resources)('$id', async (one) => {
    expect(await letIn(tenant, one, (at) => at.namespace !== TENANT && !REVIEWS.test(one.id))).toEqual([]);
  });
});

test('a tenant may work in its namespace', async () => {
  for (const id of ['/configmaps', 'placement.kubernetes-fleet.io/resourceplacements']) {
    const { resource } = resources.find((each) => each.id === id) as (typeof resources)[number];
    for (const attempt of ATTEMPTS.filter(({ verb }) => verb === 'get' || verb === 'create')) {
      expect(await isLetIn(tenant, attempt, { resource, namespace: TENANT }), id).toBe(true);
    }
  }
});

describe('a tenant cannot change who may do what, or what a member is told, in its own namespace, with', () => {
  const OTHERS = /\/(roles|rolebindings|works|internalmemberclusters|resourcebindings|schedulingpolicysnapshots)$/;
  test.each(resources.filter(({ id }) => OTHERS.test(id)))('$id', async (one) => {
    const writes = ['create', 'update', 'patch', 'delete'];
    expect(await letIn(tenant, one, (at, { verb }) => at.namespace === TENANT && writes.includes(verb))).toEqual([]);
  });
});

describe('an anonymous client may do nothing with', () => {
  test.each(resources)('$id', async (one) => {
    expect(await letIn(anonymous, one, () => true)).toEqual([]);
  });
});
