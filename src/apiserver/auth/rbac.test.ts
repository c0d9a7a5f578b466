import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import type { KubeObject, User } from '../../api/object.ts';
import type { Attributes, Authorizer, PolicyRule } from '../cluster.ts';
import { createMemoryStore } from '../store/memory.ts';
import { keyOf, type Store } from '../store/store.ts';
import { RBAC_GROUP } from './binding-index.ts';
import { bootstrapPolicy } from './bootstrap-policy.ts';
import { createAuthorizer, forbiddenError } from './rbac.ts';

let store: Store;
let authorizer: Authorizer;

beforeEach(() => {
  store = createMemoryStore();
  authorizer = createAuthorizer(store);
});

const PLURALS: Record<string, string> = {
  Role: 'roles',
  ClusterRole: 'clusterroles',
  RoleBinding: 'rolebindings',
  ClusterRoleBinding: 'clusterrolebindings',
};

function keyFor({ kind, metadata }: KubeObject): string {
  return keyOf(RBAC_GROUP, PLURALS[kind]!, metadata.namespace ?? '', metadata.name!);
}

function put(object: KubeObject, into = store): void {
  const key = keyFor(object);
  into.commit({ key, expect: into.get(key, 'head')?.revision ?? 'absent', value: object });
}

function drop(object: KubeObject): void {
  const key = keyFor(object);
  store.commit({ key, expect: store.get(key)!.revision, value: undefined });
}

const object = (kind: string, name: string, namespace: string, more: object): KubeObject => ({
  apiVersion: `${RBAC_GROUP}/v1`,
  kind,
  metadata: { name, ...(namespace === '' ? {} : { namespace }) },
  ...more,
});
const clusterRole = (name: string, ...rules: PolicyRule[]) => object('ClusterRole', name, '', { rules });
const role = (namespace: string, name: string, ...rules: PolicyRule[]) => object('Role', name, namespace, { rules });
const user = (name: string, ...groups: string[]): User => ({ name, groups });
const toUser = (name: string) => ({ kind: 'User', apiGroup: RBAC_GROUP, name });
const toGroup = (name: string) => ({ kind: 'Group', apiGroup: RBAC_GROUP, name });
const toAccount = (namespace: string, name: string) => ({
  kind: 'ServiceAccount',
  name,
  ...(namespace ? { namespace } : {}),
});
const bindCluster = (name: string, to: string, ...subjects: object[]) =>
  object('ClusterRoleBinding', name, '', {
    roleRef: { apiGroup: RBAC_GROUP, kind: 'ClusterRole', name: to },
    subjects,
  });
const bind = (namespace: string, name: string, to: { kind: string; name: string }, ...subjects: object[]) =>
  object('RoleBinding', name, namespace, { roleRef: { apiGroup: RBAC_GROUP, ...to }, subjects });

const ask = (who: User, what: Attributes) => authorizer.allows(who, what);
const getPods = (namespace = '') => ({ verb: 'get', group: '', resource: 'pods', ...(namespace ? { namespace } : {}) });

describe('a rule', () => {
  const of = (more: Partial<PolicyRule>): PolicyRule => ({
    verbs: ['get'],
    apiGroups: [''],
    resources: ['pods'],
    ...more,
  });
  const asks = (more: Partial<Attributes>): Attributes => ({ verb: 'get', group: '', resource: 'pods', ...more });
  const url = (nonResourceURLs: string[], path: string, verbs = ['get']) => ({
    rule: { verbs, nonResourceURLs },
    what: { verb: 'get', path },
  });

  test.each([
    { it: 'allows what it names', rule: of({}), what: asks({}), is: true },
    { it: 'does not allow another verb', rule: of({}), what: asks({ verb: 'list' }), is: false },
    { it: 'with all verbs allows any', rule: of({ verbs: ['*'] }), what: asks({ verb: 'zork' }), is: true },
    { it: 'does not allow another group', rule: of({}), what: asks({ group: 'apps' }), is: false },
    { it: 'with all groups allows any', rule: of({ apiGroups: ['*'] }), what: asks({ group: 'apps' }), is: true },
    { it: 'does not allow another resource', rule: of({}), what: asks({ resource: 'secrets' }), is: false },
    {
      it: 'with all resources allows any',
      rule: of({ resources: ['*'] }),
      what: asks({ resource: 'x', subresource: 'y' }),
      is: true,
    },
    {
      it: 'on a resource does not reach its subresources',
      rule: of({}),
      what: asks({ subresource: 'log' }),
      is: false,
    },
    {
      it: 'on a subresource allows it',
      rule: of({ resources: ['pods/log'] }),
      what: asks({ subresource: 'log' }),
      is: true,
    },
    {
      it: 'on a subresource does not reach the resource',
      rule: of({ resources: ['pods/log'] }),
      what: asks({}),
      is: false,
    },
    {
      it: 'on a subresource of all allows it',
      rule: of({ resources: ['*/scale'] }),
      what: asks({ subresource: 'scale' }),
      is: true,
    },
    {
      it: 'on a subresource of all allows no other',
      rule: of({ resources: ['*/scale'] }),
      what: asks({ subresource: 'status' }),
      is: false,
    },
    {
      it: 'on a subresource of all does not reach resources',
      rule: of({ resources: ['*/scale'] }),
      what: asks({}),
      is: false,
    },
    { it: 'with names allows those', rule: of({ resourceNames: ['a', 'b'] }), what: asks({ name: 'b' }), is: true },
    { it: 'with names allows no other', rule: of({ resourceNames: ['a'] }), what: asks({ name: 'c' }), is: false },
    {
      it: 'with names allows no list',
      rule: of({ verbs: ['list'], resourceNames: ['a'] }),
      what: asks({ verb: 'list' }),
      is: false,
    },
    { it: 'without names allows every name', rule: of({}), what: asks({ name: 'c' }), is: true },
    {
      it: 'about resources says nothing of paths',
      rule: of({ resources: ['*'] }),
      what: { verb: 'get', path: '/pods' },
      is: false,
    },
    {
      it: 'about paths says nothing of resources',
      rule: { verbs: ['*'], nonResourceURLs: ['*'] },
      what: asks({}),
      is: false,
    },
    { it: 'allows its path', ...url(['/version'], '/version'), is: true },
    { it: 'does not allow what lies below', ...url(['/version'], '/version/x'), is: false },
    { it: 'with a star at the end allows what lies below', ...url(['/api/*'], '/api/v1'), is: true },
    { it: 'with a star at the end does not allow the path above', ...url(['/api/*'], '/api'), is: false },
    { it: 'with a star elsewhere means the star', ...url(['/a/*/c'], '/a/b/c'), is: false },
    { it: 'with nothing but a star allows all paths', ...url(['*'], '/x'), is: true },
    { it: 'allows a path for its verbs only', ...url(['*'], '/x', ['post']), is: false },
    { it: 'finds no rights in inherited names', rule: of({}), what: asks({ resource: '__proto__' }), is: false },
  ])('$it', ({ rule, what, is }) => {
    put(clusterRole('r', rule));
    put(bindCluster('b', 'r', toUser('u')));
    expect(ask(user('u'), what).allowed).toBe(is);
  });
});

describe('a binding', () => {
  const reader: PolicyRule = { verbs: ['get'], apiGroups: [''], resources: ['pods'] };

  test.each([
    { it: 'a user', subject: toUser('u'), who: user('u'), reason: 'User "u"' },
    { it: 'a group', subject: toGroup('g'), who: user('u', 'f', 'g'), reason: 'Group "g"' },
    {
      it: 'a ServiceAccount',
      subject: toAccount('n', 's'),
      who: user('system:serviceaccount:n:s'),
      reason: 'ServiceAccount "s/n"',
    },
  ])('of a ClusterRole to $it works everywhere and says why', ({ subject, who, reason }) => {
    put(clusterRole('reader', reader));
    put(bindCluster('all', 'reader', subject));
    for (const namespace of ['', 'x']) {
      expect(ask(who, getPods(namespace))).toEqual({
        allowed: true,
        reason: `RBAC: allowed by ClusterRoleBinding "all" of ClusterRole "reader" to ${reason}`,
      });
    }
    expect(ask(user('somebody'), getPods())).toEqual({ allowed: false, reason: '' });
  });

  test('of a Role works in its namespace only', () => {
    put(role('x', 'reader', reader));
    put(role('y', 'reader'));
    put(bind('x', 'b', { kind: 'Role', name: 'reader' }, toUser('u')));
    put(bind('y', 'b', { kind: 'Role', name: 'reader' }, toUser('u')));
    expect(ask(user('u'), getPods('x'))).toEqual({
      allowed: true,
      reason: 'RBAC: allowed by RoleBinding "b/x" of Role "reader" to User "u"',
    });
    expect(ask(user('u'), getPods('y')).allowed).toBe(false);
    expect(ask(user('u'), getPods()).allowed).toBe(false);
  });

  test('in a namespace may point at a ClusterRole, and means a ServiceAccount of its own when none is named', () => {
    put(clusterRole('reader', reader));
    put(bind('x', 'b', { kind: 'ClusterRole', name: 'reader' }, toAccount('', 'robot')));
    expect(ask(user('system:serviceaccount:x:robot'), getPods('x'))).toMatchObject({
      allowed: true,
      reason: 'RBAC: allowed by RoleBinding "b/x" of ClusterRole "reader" to ServiceAccount "robot/x"',
    });
    expect(ask(user('system:serviceaccount:y:robot'), getPods('x')).allowed).toBe(false);
    expect(ask(user('system:serviceaccount:x:robot'), getPods()).allowed).toBe(false);
  });

  test('of a user does not help a group of that name, nor the other way round', () => {
    put(clusterRole('reader', reader));
    put(bindCluster('b', 'reader', toUser('x')));
    put(bindCluster('c', 'reader', toGroup('y')));
    expect(ask(user('u', 'x'), getPods()).allowed).toBe(false);
    expect(ask(user('y'), getPods()).allowed).toBe(false);
  });

  test('to a role that is not there is named in the refusal, and does not stand in the way of others', () => {
    put(bindCluster('b', 'gone', toUser('u')));
    put(bind('x', 'b', { kind: 'Role', name: 'lost' }, toUser('u')));
    const missing = `clusterrole.${RBAC_GROUP} "gone" not found`;
    expect(ask(user('u'), getPods()).reason).toBe(`RBAC: ${missing}`);
    const verdict = ask(user('u'), getPods('x'));
    expect(verdict.reason).toBe(`RBAC: [${missing}, role.${RBAC_GROUP} "lost" not found]`);
    put(clusterRole('reader', reader));
    put(bindCluster('z', 'reader', toUser('u')));
    expect(ask(user('u'), getPods('x')).allowed).toBe(true);
  });

  test('that makes no sense grants nothing and breaks nothing', () => {
    put(object('ClusterRoleBinding', 'a', '', { subjects: [toUser('u')] }));
    put(object('ClusterRoleBinding', 'b', '', { roleRef: { kind: 'Zork', name: 'x' }, subjects: [toUser('u')] }));
    put(bindCluster('c', 'reader', { kind: 'Zork', name: 'u' }, { kind: 'User' }, toAccount('', 'u')));
    put(object('ClusterRoleBinding', 'd', '', { roleRef: { kind: 'ClusterRole', name: 'reader' } }));
    put(clusterRole('reader', reader));
    expect(ask(user('u'), getPods()).allowed).toBe(false);
  });
});

describe('the answer', () => {
  test('follows every write at once', () => {
    const reader: PolicyRule = { verbs: ['get'], apiGroups: [''], resources: ['pods'] };
    const who = user('u');
    const allowed = () => ask(who, getPods()).allowed;
    expect(allowed()).toBe(false);
    put(bindCluster('b', 'r', toUser('u')));
    expect(allowed()).toBe(false);
    put(clusterRole('r', reader));
    expect(allowed()).toBe(true);
    put(clusterRole('r', { ...reader, verbs: ['list'] }));
    expect(allowed()).toBe(false);
    put(clusterRole('r', reader));
    put(bindCluster('b', 'r', toUser('v')));
    expect(allowed()).toBe(false);
    put(bindCluster('b', 'r', toUser('u'), toUser('u')));
    expect(allowed()).toBe(true);
    drop(clusterRole('r'));
    expect(allowed()).toBe(false);
    put(clusterRole('r', reader));
    drop(bindCluster('b', 'r'));
    expect(allowed()).toBe(false);
  });

  test('is yes for system:masters, even in an empty cluster', () => {
    expect(ask(user('root', 'system:masters'), { verb: 'zork', path: '/x' })).toEqual({ allowed: true, reason: '' });
  });

  // The model evaluates all definitions again for each query.
  test('is that of a simple model after any history, also when the store has forgotten some of it', () => {
    const names = fc.constantFrom('a', 'b');
    const places = fc.constantFrom('', 'x', 'y');
    const rule = fc.record({
      verbs: fc.subarray(['get', 'list'], { minLength: 1 }),
      apiGroups: fc.constant(['']),
      resources: fc.subarray(['pods', 'pods/log', '*/log'], { minLength: 1 }),
    });
    const step = fc.oneof(
      fc.record({
        do: fc.constant('role' as const),
        name: names,
        place: places,
        rules: fc.array(rule, { maxLength: 2 }),
      }),
      fc.record({
        do: fc.constant('bind' as const),
        name: names,
        place: places,
        to: names,
        isCluster: fc.boolean(),
        subjects: fc.array(fc.constantFrom(toUser('u'), toGroup('g'), toAccount('x', 's'), toAccount('', 's')), {
          maxLength: 2,
        }),
      }),
      fc.record({ do: fc.constant('drop' as const), pick: fc.nat() }),
      fc.record({ do: fc.constant('noise' as const) }),
      fc.record({
        do: fc.constant('ask' as const),
        who: fc.constantFrom(user('u'), user('v', 'g'), user('system:serviceaccount:x:s')),
        what: fc.record({
          verb: fc.constantFrom('get', 'list'),
          group: fc.constant(''),
          resource: fc.constant('pods'),
          subresource: fc.constantFrom('', 'log'),
          namespace: places,
        }),
      }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        store = createMemoryStore({ windowChanges: 4 });
        authorizer = createAuthorizer(store);
        const world = new Map<string, KubeObject>();
        for (const each of steps) {
          if (each.do === 'ask') {
            expect(ask(each.who, each.what).allowed).toBe(modelAllows([...world.values()], each.who, each.what));
          } else if (each.do === 'drop') {
            const victim = [...world.values()][each.pick % (world.size || 1)];
            if (victim) {
              drop(victim);
              world.delete(keyFor(victim));
            }
          } else if (each.do === 'noise') {
            const key = keyOf('', 'configmaps', 'x', 'noise');
            const value = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'noise', namespace: 'x' } };
            store.commit({ key, expect: store.get(key)?.revision ?? 'absent', value });
          } else {
            const made =
              each.do === 'role'
                ? each.place === ''
                  ? clusterRole(each.name, ...each.rules)
                  : role(each.place, each.name, ...each.rules)
                : each.place === ''
                  ? bindCluster(each.name, each.to, ...each.subjects)
                  : bind(
                      each.place,
                      each.name,
                      { kind: each.isCluster ? 'ClusterRole' : 'Role', name: each.to },
                      ...each.subjects,
                    );
            put(made);
            world.set(keyFor(made), made);
          }
        }
      }),
    );
  });

  function modelAllows(world: readonly KubeObject[], who: User, what: Attributes): boolean {
    return world.some((binding) => {
      const ref = binding.roleRef as { kind: string; name: string } | undefined;
      const place = binding.metadata.namespace ?? '';
      if (!ref || (place !== '' && place !== what.namespace)) return false;
      const isBound = (binding.subjects as { kind: string; name: string; namespace?: string }[]).some((subject) =>
        subject.kind === 'User'
          ? subject.name === who.name
          : subject.kind === 'Group'
            ? who.groups.includes(subject.name)
            : who.name === `system:serviceaccount:${subject.namespace ?? place}:${subject.name}`,
      );
      const found = world.find(
        (each) =>
          each.kind === ref.kind &&
          each.metadata.name === ref.name &&
          (ref.kind === 'ClusterRole' || each.metadata.namespace === place),
      );
      const wanted = what.subresource ? [`pods/${what.subresource}`, `*/${what.subresource}`] : ['pods'];
      return (
        isBound &&
        ((found?.rules ?? []) as PolicyRule[]).some(
          (rule) => rule.verbs.includes(what.verb) && rule.resources!.some((each) => wanted.includes(each)),
        )
      );
    });
  }
});

describe('the rules of a user', () => {
  const rule = (resource: string): PolicyRule => ({ verbs: ['get'], apiGroups: [''], resources: [resource] });

  test('are those of all bindings, each once, cluster-wide ones first, in the order of their names', () => {
    put(clusterRole('one', rule('a'), rule('b')));
    put(clusterRole('two', rule('c')));
    put(role('x', 'three', rule('d')));
    put(bindCluster('z', 'one', toUser('u'), toGroup('g')));
    put(bindCluster('y', 'two', toGroup('g')));
    put(bind('x', 'w', { kind: 'Role', name: 'three' }, toUser('u')));
    put(bindCluster('gone', 'gone', toUser('u')));
    const resources = (namespace: string) =>
      authorizer.rulesFor(user('u', 'g'), namespace).flatMap((each) => each.resources ?? []);
    expect(resources('x')).toEqual(['c', 'a', 'b', 'd']);
    expect(resources('')).toEqual(['c', 'a', 'b']);
    expect(authorizer.rulesFor(user('v'), 'x')).toEqual([]);
  });
});

describe('with the roles that every cluster begins with', () => {
  beforeEach(() => {
    for (const each of bootstrapPolicy()) put(each);
  });

  test.each([
    { who: 'system:anonymous', groups: ['system:unauthenticated'], what: { verb: 'get', path: '/version' }, is: true },
    { who: 'system:anonymous', groups: ['system:unauthenticated'], what: { verb: 'get', path: '/api' }, is: false },
    { who: 'u', groups: ['system:authenticated'], what: { verb: 'get', path: '/apis/apps/v1' }, is: true },
    { who: 'u', groups: ['system:authenticated'], what: { verb: 'get', path: '/metrics' }, is: false },
    {
      ...{ who: 'u', groups: ['system:authenticated'], is: true },
      what: { verb: 'create', group: 'authorization.k8s.io', resource: 'selfsubjectaccessreviews' },
    },
    { who: 'u', groups: ['system:authenticated'], what: getPods('x'), is: false },
  ])('$who asks for $what: $is', ({ who, groups, what, is }) => {
    expect(ask(user(who, ...groups), what).allowed).toBe(is);
  });

  test.each([
    { role: 'view', verb: 'list', resource: 'pods', is: true },
    { role: 'view', verb: 'list', resource: 'secrets', is: false },
    { role: 'view', verb: 'delete', resource: 'pods', is: false },
    { role: 'edit', verb: 'delete', resource: 'pods', is: true },
    { role: 'edit', verb: 'create', group: RBAC_GROUP, resource: 'rolebindings', is: false },
    { role: 'admin', verb: 'create', group: RBAC_GROUP, resource: 'rolebindings', is: true },
    { role: 'admin', verb: 'list', resource: 'nodes', is: false },
    { role: 'cluster-admin', verb: 'zork', resource: 'anything', is: true },
  ])('$role may $verb $resource: $is', ({ role: name, is, ...what }) => {
    put(bind('x', 'b', { kind: 'ClusterRole', name }, toUser('u')));
    expect(ask(user('u'), { group: '', ...what, namespace: 'x' }).allowed).toBe(is);
    expect(ask(user('u'), { group: '', ...what, namespace: 'y' }).allowed).toBe(false);
  });
});

describe('a refusal', () => {
  test.each([
    {
      what: { verb: 'list', group: '', resource: 'pods', namespace: 'x' },
      says: 'pods is forbidden: User "alice" cannot list resource "pods" in API group "" in the namespace "x"',
      details: { kind: 'pods' },
    },
    {
      what: { verb: 'get', group: '', resource: 'pods', namespace: 'x', name: 'p' },
      says: 'pods "p" is forbidden: User "alice" cannot get resource "pods" in API group "" in the namespace "x"',
      details: { name: 'p', kind: 'pods' },
    },
    {
      what: { verb: 'get', group: 'apps', resource: 'deployments', subresource: 'scale', namespace: 'x', name: 'd' },
      says: 'deployments.apps "d" is forbidden: User "alice" cannot get resource "deployments/scale" in API group "apps" in the namespace "x"',
      details: { name: 'd', group: 'apps', kind: 'deployments' },
    },
    {
      what: { verb: 'watch', group: '', resource: 'pods' },
      says: 'pods is forbidden: User "alice" cannot watch resource "pods" in API group "" at the cluster scope',
      details: { kind: 'pods' },
    },
    {
      what: { verb: 'get', path: '/zork/<a>&"b"' },
      says: 'forbidden: User "alice" cannot get path "/zork/&lt;a&gt;&amp;\\"b\\""',
      details: {},
    },
  ])('of $what reads as a real one', ({ what, says, details }) => {
    const error = forbiddenError(user('alice'), what);
    expect(error).toMatchObject({ code: 403, reason: 'Forbidden', message: says, details });
  });

  test('quotes names as a real one and may tell more', () => {
    const error = forbiddenError(user('a"l\\ice<é\u0001\v'), getPods(), 'RBAC: role.x "y" not found');
    expect(error.message).toBe(
      'pods is forbidden: User "a\\"l\\\\ice&lt;é\\x01\\v" cannot get resource "pods" in API group "" at the cluster scope: RBAC: role.x "y" not found',
    );
  });
});
