// What a member, a tenant and an anonymous client may do, tried on every resource that a server serves: one case for each of them and each
// resource, made from what the server has, so that a new kind is covered on the day it comes. Asked of the embedded server in
// boundaries.test.ts and of a real one in test/kube/boundaries.proof.test.ts.
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { patience } from '../../scripts/gate/patience.ts';
import { memberRules } from '../../src/api/agent-rights.ts';
import { joinObjects } from '../../src/api/join.ts';
import type { Resource } from '../../src/api/kind.ts';
import { memberNamespace, memberServiceAccount, SYSTEM_NAMESPACE } from '../../src/api/names.ts';
import type { KubeObject, User } from '../../src/api/object.ts';
import { editRules, viewRules } from '../../src/api/rights.ts';
import type { Request, SubresourceName, Target, Transport } from '../../src/api/transport.ts';
import { createAuthority, DAY_MS, issueClientCertificate } from '../../src/apiserver/auth/certificates.ts';
import { ApiError } from '../../src/base/errors.ts';
import { systemRandom } from '../../src/base/random.ts';
import type { Connection } from '../../src/client/connection.ts';
import { BODIES, CREDENTIALS, IMPERSONATIONS, PATHS, type RawRequest, send } from './requests.ts';

/** Names that no fleet of another suite uses. */
const OWN = memberNamespace('bounds-x');
const OTHER = memberNamespace('bounds-y');
const TENANT = 'bounds-team';
export const NAMESPACES = [OWN, OTHER, TENANT] as const;
const OWN_ACCOUNT = memberServiceAccount('bounds-x');

const account = (namespace: string, name: string): User => ({
  name: `system:serviceaccount:${namespace}:${name}`,
  groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
});
const member = account(SYSTEM_NAMESPACE, OWN_ACCOUNT);
const tenant: User = { name: 'bounds-tenant', groups: ['system:authenticated'] };
const anonymous: User = { name: 'system:anonymous', groups: ['system:unauthenticated'] };

const RBAC = 'rbac.authorization.k8s.io';

export interface Served {
  /** `group/plural` */
  readonly id: string;
  readonly resource: Resource;
}

/** A server with the kinds of a hub. */
export interface Ground {
  as(user: User): Transport;
  /** Over TLS, with a certificate of this user; the anonymous one has none. */
  connectionAs(user: User): Connection;
  /** As its administrator; what exists already is fine. */
  create(plural: string, namespace: string | undefined, object: object): Promise<unknown>;
  /** What follows from what was created is done. */
  settled(): Promise<void>;
}

/** What may be done, by `resource verb`; all else is to be refused. */
const memberMay: ReadonlySet<string> = new Set(
  memberRules.flatMap(({ apiGroups, resources, verbs }) =>
    resources.flatMap((resource) => verbs.map((verb) => `${apiGroups[0]}/${resource} ${verb}`)),
  ),
);
/** Everybody who is known may ask what he may do, and who he is. */
const REVIEWS = /^(authorization|authentication)\.k8s\.io\/self/;

async function people({ create, settled }: Ground): Promise<void> {
  for (const name of [SYSTEM_NAMESPACE, ...NAMESPACES]) await create('namespaces', undefined, { metadata: { name } });
  await settled();
  await create('roles', OWN, { metadata: { name: 'member' }, rules: memberRules });
  const bind = (namespace: string, roleRef: object, subject: object) =>
    create('rolebindings', namespace, {
      metadata: { generateName: 'it-' },
      roleRef: { apiGroup: RBAC, ...roleRef },
      subjects: [subject],
    });
  const asUser = { kind: 'User', apiGroup: RBAC, name: tenant.name };
  await bind(
    OWN,
    { kind: 'Role', name: 'member' },
    { kind: 'ServiceAccount', namespace: SYSTEM_NAMESPACE, name: OWN_ACCOUNT },
  );
  // As `flotilla join` makes them: the right to renew its own token is all that a member has elsewhere.
  const { renewalRole, renewalRoleBinding } = joinObjects({ name: 'bounds-x' });
  await create('roles', SYSTEM_NAMESPACE, renewalRole);
  await create('rolebindings', SYSTEM_NAMESPACE, renewalRoleBinding);
  // As `flotilla roles people` adds it to Kubernetes' own `edit`.
  await create('roles', TENANT, { metadata: { name: 'fleet-edit' }, rules: [...viewRules, ...editRules] });
  await bind(TENANT, { kind: 'Role', name: 'fleet-edit' }, asUser);
  await bind(TENANT, { kind: 'ClusterRole', name: 'edit' }, asUser);
}

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
const WATCH_SECONDS = 2;
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
      for await (const _batch of transport.watch({ at, timeoutSeconds: WATCH_SECONDS }, ending.signal)) break;
      ending.abort();
    },
  },
];

/** False: the server says that it is forbidden. Any other answer means that it was let through to the object, which is not there. */
async function isLetIn(transport: Transport, { run }: Pick<Attempt, 'run'>, at: Target): Promise<boolean> {
  try {
    await run(transport, at);
    return true;
  } catch (error) {
    if (error instanceof ApiError) return error.code !== 403 && error.code !== 401;
    throw error;
  }
}

/** Where it is tried: in all namespaces that matter, or once for the whole cluster. */
const placesOf = ({ resource }: Served): readonly Target[] =>
  resource.namespaced
    ? [...NAMESPACES, SYSTEM_NAMESPACE, 'kube-system', 'default'].map((namespace) => ({ resource, namespace }))
    : [{ resource }];

const oneOf = (served: readonly Served[], id: string): Resource => {
  const found = served.find((each) => each.id === id);
  if (found === undefined) throw new Error(`${id} is not served`);
  return found.resource;
};

/** What else leads to rights of others, or out of the namespace: each is refused, but for what is listed. */
interface Escape {
  readonly it: string;
  readonly id: string;
  readonly namespace?: string;
  readonly name: string;
  readonly subresource?: SubresourceName;
  readonly verb: 'create' | 'update' | 'patch';
  readonly body?: object;
}

const grant = { apiGroup: RBAC, kind: 'ClusterRole', name: 'cluster-admin' };
const memberEscapes: readonly Escape[] = [
  {
    it: 'a token of another ServiceAccount',
    id: '/serviceaccounts',
    namespace: SYSTEM_NAMESPACE,
    name: 'default',
    subresource: 'token',
    verb: 'create',
  },
  {
    it: 'a token of an account of another member',
    id: '/serviceaccounts',
    namespace: SYSTEM_NAMESPACE,
    name: memberServiceAccount('bounds-y'),
    subresource: 'token',
    verb: 'create',
  },
  {
    it: 'a token of an account of its own namespace',
    id: '/serviceaccounts',
    namespace: OWN,
    name: 'default',
    subresource: 'token',
    verb: 'create',
  },
  {
    it: 'more rights in its Role',
    id: `${RBAC}/roles`,
    namespace: OWN,
    name: 'member',
    verb: 'patch',
    body: { rules: [] },
  },
  {
    it: 'a binding to cluster-admin',
    id: `${RBAC}/rolebindings`,
    namespace: OWN,
    name: 'mine',
    verb: 'create',
    body: { roleRef: grant },
  },
  {
    it: 'a binding for the whole cluster',
    id: `${RBAC}/clusterrolebindings`,
    name: 'mine',
    verb: 'create',
    body: { roleRef: grant },
  },
  { it: 'a certificate', id: 'certificates.k8s.io/certificatesigningrequests', name: 'mine', verb: 'create' },
  {
    it: 'the end of its own membership',
    id: 'cluster.kubernetes-fleet.io/memberclusters',
    name: 'bounds-x',
    verb: 'patch',
  },
  {
    it: 'another spec of its InternalMemberCluster',
    id: 'cluster.kubernetes-fleet.io/internalmemberclusters',
    namespace: OWN,
    name: 'bounds-x',
    verb: 'patch',
  },
  {
    it: 'the heartbeat of another member',
    id: 'cluster.kubernetes-fleet.io/internalmemberclusters',
    namespace: OTHER,
    name: 'bounds-y',
    subresource: 'status',
    verb: 'patch',
  },
  {
    it: 'a Work of its own making',
    id: 'placement.kubernetes-fleet.io/works',
    namespace: OWN,
    name: 'mine',
    verb: 'create',
  },
  { it: 'the end of its namespace', id: '/namespaces', name: OWN, subresource: 'finalize', verb: 'update' },
];
const tenantEscapes: readonly Escape[] = [
  {
    it: 'a binding to cluster-admin',
    id: `${RBAC}/rolebindings`,
    namespace: TENANT,
    name: 'mine',
    verb: 'create',
    body: { roleRef: grant },
  },
  {
    it: 'a token of an account of the system',
    id: '/serviceaccounts',
    namespace: SYSTEM_NAMESPACE,
    name: OWN_ACCOUNT,
    subresource: 'token',
    verb: 'create',
  },
  {
    it: 'a placement for the whole cluster',
    id: 'placement.kubernetes-fleet.io/clusterresourceplacements',
    name: 'mine',
    verb: 'create',
  },
  {
    it: 'an approval in its own namespace',
    id: 'placement.kubernetes-fleet.io/approvalrequests',
    namespace: TENANT,
    name: 'it',
    subresource: 'status',
    verb: 'patch',
  },
  {
    it: 'an approval for the whole cluster',
    id: 'placement.kubernetes-fleet.io/clusterapprovalrequests',
    name: 'it',
    subresource: 'status',
    verb: 'patch',
  },
  {
    it: 'the status of its placement',
    id: 'placement.kubernetes-fleet.io/resourceplacements',
    namespace: TENANT,
    name: 'it',
    subresource: 'status',
    verb: 'patch',
  },
  {
    it: 'a Pod of the system evicted',
    id: '/pods',
    namespace: 'kube-system',
    name: 'it',
    subresource: 'eviction',
    verb: 'create',
  },
  { it: 'the end of its namespace', id: '/namespaces', name: TENANT, subresource: 'finalize', verb: 'update' },
];

function attemptOf({ name, subresource, verb, body: more = {} }: Escape): Pick<Attempt, 'run'> {
  const of = (at: Target): Target => ({ ...at, name, ...(subresource === undefined ? {} : { subresource }) });
  const object = (at: Target): KubeObject => ({ ...body(at), metadata: { ...body(at).metadata, name }, ...more });
  return {
    run(transport, at) {
      if (verb === 'patch')
        return transport.call({ verb, at: of(at), patch: { type: 'merge', body: more as never }, manager: 't' });
      const where = verb === 'create' && subresource === undefined ? at : of(at);
      return transport.call({ verb, at: where, object: object(at), manager: 't' });
    },
  };
}

async function areInForce({ as }: Ground, served: readonly Served[]): Promise<void> {
  const get = (user: User, id: string, namespace: string) =>
    isLetIn(as(user), ATTEMPTS[0] as Attempt, { resource: oneOf(served, id), namespace });
  const works = 'placement.kubernetes-fleet.io/works';
  const placements = 'placement.kubernetes-fleet.io/resourceplacements';
  const may = [
    await get(member, works, OWN),
    await get(tenant, placements, TENANT),
    await get(tenant, '/pods', TENANT),
  ];
  expect(may).toEqual([true, true, true]);
  const renew = attemptOf({ it: '', id: '', name: OWN_ACCOUNT, subresource: 'token', verb: 'create' });
  const resource = oneOf(served, '/serviceaccounts');
  expect(await isLetIn(as(member), renew, { resource, namespace: SYSTEM_NAMESPACE })).toBe(true);
}

/** `served` is known before the tests are collected, the ground when they run. */
export function describeBoundaries(served: readonly Served[], start: () => Promise<Ground>): void {
  let ground: Ground;
  beforeAll(async () => {
    ground = await start();
    await people(ground);
    // A real server learns of roles by watches of its own.
    await vi.waitFor(() => areInForce(ground, served), { timeout: patience(30_000), interval: 100 });
  });

  async function letIn(user: User, one: Served, mayNot: (at: Target, attempt: Attempt) => boolean) {
    const found: string[] = [];
    const transport = ground.as(user);
    for (const at of placesOf(one)) {
      for (const attempt of ATTEMPTS) {
        if (!mayNot(at, attempt)) continue;
        if (attempt.verb === 'watch' && found.length > 0) continue;
        if (await isLetIn(transport, attempt, at))
          found.push(`${attempt.verb}${attempt.subresource} in "${at.namespace ?? ''}"`);
      }
    }
    return found;
  }

  test('there are enough resources to speak of', () => {
    expect(served.length * 3).toBeGreaterThanOrEqual(200);
  });

  describe('a member may do what its Role says in its own namespace, and nothing else, with', () => {
    test.each(served)('$id', async (one) => {
      const isMine = (at: Target, { verb, subresource }: Attempt) =>
        at.namespace === OWN && memberMay.has(`${one.id}${subresource} ${verb}`);
      expect(await letIn(member, one, (at, attempt) => !isMine(at, attempt) && !REVIEWS.test(one.id))).toEqual([]);
      for (const attempt of ATTEMPTS.filter(({ verb }) => verb !== 'watch')) {
        const at: Target = { resource: one.resource, namespace: OWN };
        if (isMine(at, attempt)) expect(await isLetIn(ground.as(member), attempt, at), `${attempt.verb}`).toBe(true);
      }
    });
  });

  describe('a member cannot get', () => {
    test.each(memberEscapes)('$it', (one) => isRefused(member, one));
    test('more than a token of its own account, which it may renew', async () => {
      const resource = oneOf(served, '/serviceaccounts');
      const renew = attemptOf({ it: '', id: '', name: OWN_ACCOUNT, subresource: 'token', verb: 'create' });
      expect(await isLetIn(ground.as(member), renew, { resource, namespace: SYSTEM_NAMESPACE })).toBe(true);
    });
  });

  describe('a tenant may do nothing outside of its namespace with', () => {
    test.each(served)('$id', async (one) => {
      expect(await letIn(tenant, one, (at) => at.namespace !== TENANT && !REVIEWS.test(one.id))).toEqual([]);
    });
  });

  test('a tenant may work in its namespace', async () => {
    for (const id of ['/configmaps', 'placement.kubernetes-fleet.io/resourceplacements']) {
      const at: Target = { resource: oneOf(served, id), namespace: TENANT };
      for (const attempt of ATTEMPTS.filter(({ verb }) => verb === 'get' || verb === 'create'))
        expect(await isLetIn(ground.as(tenant), attempt, at), id).toBe(true);
    }
  });

  describe('a tenant cannot change who may do what, or what a member is told, in its own namespace, with', () => {
    const OTHERS = /\/(roles|rolebindings|works|internalmemberclusters|resourcebindings|schedulingpolicysnapshots)$/;
    test.each(served.filter(({ id }) => OTHERS.test(id)))('$id', async (one) => {
      const writes = ['create', 'update', 'patch', 'delete'];
      expect(await letIn(tenant, one, (at, { verb }) => at.namespace === TENANT && writes.includes(verb))).toEqual([]);
    });
  });

  describe('a tenant cannot get', () => {
    test.each(tenantEscapes)('$it', (one) => isRefused(tenant, one));
  });

  describe('an anonymous client may do nothing with', () => {
    test.each(served)('$id', async (one) => {
      expect(await letIn(anonymous, one, () => true)).toEqual([]);
    });
  });

  describe('a raw request is refused, and the server goes on:', () => {
    const refused = async (user: User, raw: RawRequest) => {
      const { code, text } = await send(ground.connectionAs(user), raw);
      expect(code, text).toBeGreaterThanOrEqual(300);
      expect(code, text).toBeLessThan(raw.mayFail ? 501 : 500);
      const health = await send(ground.connectionAs(anonymous), { it: 'health', path: '/readyz' });
      expect(health.code, health.text).toBe(200);
    };

    test('what they are made of is answered', async () => {
      const works = `/apis/placement.kubernetes-fleet.io/v1beta1/namespaces/${OWN}/works`;
      expect(await send(ground.connectionAs(member), { it: '', path: works })).toMatchObject({ code: 200 });
      const maps = `/api/v1/namespaces/${TENANT}/configmaps`;
      expect(await send(ground.connectionAs(tenant), { it: '', path: maps })).toMatchObject({ code: 200 });
    });
    test.each(PATHS)('a member asks for $it', (raw) => refused(member, raw));
    test.each(PATHS)('an anonymous client asks for $it', (raw) => refused(anonymous, raw));
    test.each(CREDENTIALS)('a client shows $it', (raw) => refused(anonymous, raw));
    test.each(IMPERSONATIONS)('a member acts as $it', (raw) => refused(member, raw));
    test.each(IMPERSONATIONS)('a tenant acts as $it', (raw) => refused(tenant, raw));
    test.each(BODIES)('a tenant sends $it', (raw) => refused(tenant, raw));

    test('a client shows a certificate of another authority with the same name', async () => {
      const now = { now: Date.now(), random: systemRandom, lifetimeMs: DAY_MS };
      const authority = createAuthority({ ...now, name: 'kubernetes-ca' });
      const { certificate, privateKey } = issueClientCertificate(authority, {
        ...now,
        user: 'kubernetes-admin',
        groups: ['system:masters'],
      });
      const connection = { ...ground.connectionAs(anonymous), certificate, key: privateKey };
      const { code } = await send(connection, { it: '', path: '/api/v1/secrets' });
      expect([401, 403]).toContain(code);
    });
  });

  async function isRefused(user: User, one: Escape): Promise<void> {
    const { id, namespace } = one;
    const at: Target = { resource: oneOf(served, id), ...(namespace === undefined ? {} : { namespace }) };
    expect(await isLetIn(ground.as(user), attemptOf(one), at)).toBe(false);
  }
}
