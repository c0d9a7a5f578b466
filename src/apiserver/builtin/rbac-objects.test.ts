import { beforeEach, describe, expect, test } from 'vitest';
import type { KubeObject, User } from '../../api/object.ts';
import type { ApiError } from '../../base/errors.ts';
import { RBAC_GROUP } from '../auth/binding-index.ts';
import { bootstrapPolicy } from '../auth/bootstrap-policy.ts';
import { createAuthorizer } from '../auth/rbac.ts';
import type { Cluster, PolicyRule } from '../cluster.ts';
import type { Draft, WriteContext } from '../registry.ts';
import { createMemoryStore } from '../store/memory.ts';
import { keyOf, type Store } from '../store/store.ts';
import { rbacBehaviours } from './rbac-objects.ts';

type Plural = keyof typeof rbacBehaviours;
const PLURALS: Record<string, Plural> = {
  Role: 'roles',
  ClusterRole: 'clusterroles',
  RoleBinding: 'rolebindings',
  ClusterRoleBinding: 'clusterrolebindings',
};

let store: Store;
let cluster: Cluster;

const user = (name: string, ...groups: string[]): User => ({ name, groups: [...groups, 'system:authenticated'] });
const draft = (kind: string, name: string, more: object, namespace = ''): Draft => ({
  apiVersion: `${RBAC_GROUP}/v1`,
  kind,
  metadata: { name, ...(namespace ? { namespace } : {}) },
  ...structuredClone(more),
});
const put = (object: Draft | KubeObject) => {
  const { name = '', namespace = '' } = object.metadata;
  const key = keyOf(RBAC_GROUP, PLURALS[object.kind]!, namespace, name);
  store.commit({ key, expect: store.get(key)?.revision ?? 'absent', value: structuredClone(object) as KubeObject });
};
/** Grants rules to a user, in a namespace or cluster-wide. */
const give = (name: string, rules: readonly PolicyRule[], namespace = '') => {
  const id = `of-${name}-${namespace}`;
  put(draft(namespace ? 'Role' : 'ClusterRole', id, { rules }, namespace));
  const roleRef = { apiGroup: RBAC_GROUP, kind: namespace ? 'Role' : 'ClusterRole', name: id };
  const subjects = [{ apiGroup: RBAC_GROUP, kind: 'User', name }];
  put(draft(namespace ? 'RoleBinding' : 'ClusterRoleBinding', id, { roleRef, subjects }, namespace));
};

beforeEach(() => {
  store = createMemoryStore();
  cluster = { name: 'test', store, authorizer: createAuthorizer(store) } as unknown as Cluster;
  for (const each of bootstrapPolicy()) put(each);
});

const context = (who: User): WriteContext => ({
  ...{ cluster, user: who, now: 0, dryRun: false, verb: 'create', subresource: undefined, warn: () => {} },
});

function write(who: User, object: Draft, old?: KubeObject): ApiError | undefined {
  const special = rbacBehaviours[PLURALS[object.kind]!];
  special.default?.(object);
  try {
    special.prepare?.(object, old, context(who));
    return undefined;
  } catch (error) {
    return error as ApiError;
  }
}

const rule = (verbs: string, group: string, resources: string, ...resourceNames: string[]): PolicyRule => ({
  verbs: verbs.split(' '),
  apiGroups: [group],
  resources: resources.split(' '),
  ...(resourceNames.length ? { resourceNames } : {}),
});
const urls = (verbs: string, ...nonResourceURLs: string[]): PolicyRule => ({
  verbs: verbs.split(' '),
  nonResourceURLs,
});
const EVERYTHING = [rule('*', '*', '*'), urls('*', '*')];

describe('who writes a role', () => {
  test.each([
    { it: 'exactly what it has', held: [rule('get', '', 'pods')], wanted: [rule('get', '', 'pods')], is: true },
    {
      it: 'less than it has',
      held: [rule('get list', '', 'pods secrets')],
      wanted: [rule('get', '', 'pods')],
      is: true,
    },
    { it: 'one verb more', held: [rule('get', '', 'pods')], wanted: [rule('get list', '', 'pods')], is: false },
    { it: 'all verbs, having some', held: [rule('get', '', 'pods')], wanted: [rule('*', '', 'pods')], is: false },
    { it: 'some verbs, having all', held: [rule('*', '', 'pods')], wanted: [rule('get', '', 'pods')], is: true },
    { it: 'another group', held: [rule('get', '', 'pods')], wanted: [rule('get', 'apps', 'pods')], is: false },
    { it: 'one group, having all', held: [rule('get', '*', 'pods')], wanted: [rule('get', 'apps', 'pods')], is: true },
    { it: 'all resources, having one', held: [rule('get', '', 'pods')], wanted: [rule('get', '', '*')], is: false },
    {
      it: 'a subresource, having the resource',
      held: [rule('get', '', 'pods')],
      wanted: [rule('get', '', 'pods/log')],
      is: false,
    },
    {
      it: 'a subresource, having it of all',
      held: [rule('get', '', '*/log')],
      wanted: [rule('get', '', 'pods/log')],
      is: true,
    },
    {
      it: 'a subresource of all, having one',
      held: [rule('get', '', 'pods/log')],
      wanted: [rule('get', '', '*/log')],
      is: false,
    },
    {
      it: 'a subresource of all, having everything',
      held: [rule('get', '', '*')],
      wanted: [rule('get', '', '*/log')],
      is: true,
    },
    { it: 'one name, having all', held: [rule('get', '', 'pods')], wanted: [rule('get', '', 'pods', 'a')], is: true },
    { it: 'all names, having one', held: [rule('get', '', 'pods', 'a')], wanted: [rule('get', '', 'pods')], is: false },
    {
      it: 'another name',
      held: [rule('get', '', 'pods', 'a')],
      wanted: [rule('get', '', 'pods', 'a', 'b')],
      is: false,
    },
    {
      it: 'what two rules make together',
      held: [rule('get', '', 'pods'), rule('list', '', 'pods'), rule('get list', '', 'secrets')],
      wanted: [rule('get list', '', 'pods secrets')],
      is: true,
    },
    {
      it: 'what two rules do not make together',
      held: [rule('get', '', 'pods'), rule('list', '', 'secrets')],
      wanted: [rule('get list', '', 'pods')],
      is: false,
    },
    { it: 'a path below', held: [urls('get', '/a/*')], wanted: [urls('get', '/a/b', '/a/b/*')], is: true },
    { it: 'a path above', held: [urls('get', '/a/*')], wanted: [urls('get', '/a')], is: false },
    { it: 'all paths, having one', held: [urls('get', '/a')], wanted: [urls('get', '*')], is: false },
    { it: 'nothing at all', held: [], wanted: [], is: true },
    { it: 'everything, having everything', held: EVERYTHING, wanted: EVERYTHING, is: true },
  ])('may give $it: $is', ({ held, wanted, is }) => {
    give('u', held);
    expect(write(user('u'), draft('ClusterRole', 'r', { rules: wanted }))?.code).toBe(is ? undefined : 403);
  });

  test('is told what is missing', () => {
    give('u', [rule('create', RBAC_GROUP, 'roles')], 'x');
    const rules = [
      { verbs: ['get', 'list'], apiGroups: ['', 'apps'], resources: ['pods', 'deployments'] },
      rule('get', '', 'secrets', 'b', 'a'),
      rule('create', RBAC_GROUP, 'roles'),
    ];
    const error = write(user('u'), draft('Role', 'r1', { rules }, 'x'));
    expect(error).toMatchObject({
      reason: 'Forbidden',
      details: { name: 'r1', group: RBAC_GROUP, kind: 'roles' },
      message: [
        'roles.rbac.authorization.k8s.io "r1" is forbidden: user "u" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:',
        '{APIGroups:[""], Resources:["deployments"], Verbs:["get" "list"]}',
        '{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}',
        '{APIGroups:[""], Resources:["secrets"], ResourceNames:["a"], Verbs:["get"]}',
        '{APIGroups:[""], Resources:["secrets"], ResourceNames:["b"], Verbs:["get"]}',
        '{APIGroups:["apps"], Resources:["deployments"], Verbs:["get" "list"]}',
        '{APIGroups:["apps"], Resources:["pods"], Verbs:["get" "list"]}',
      ].join('\n'),
    });
  });

  test('is told of paths verb by verb', () => {
    const rules = [urls('get post', '/x', '/y/*', '/api/v1'), rule('*', '*', '*')];
    expect(write(user('u', 'g1'), draft('ClusterRole', 'r', { rules }))?.message).toBe(
      [
        'clusterroles.rbac.authorization.k8s.io "r" is forbidden: user "u" (groups=["g1" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:',
        '{APIGroups:["*"], Resources:["*"], Verbs:["*"]}',
        '{NonResourceURLs:["/api/v1"], Verbs:["post"]}',
        '{NonResourceURLs:["/x"], Verbs:["get"]}',
        '{NonResourceURLs:["/x"], Verbs:["post"]}',
        '{NonResourceURLs:["/y/*"], Verbs:["get"]}',
        '{NonResourceURLs:["/y/*"], Verbs:["post"]}',
      ].join('\n'),
    );
  });

  test('may give anything with the verb escalate, and as a master', () => {
    give('u', [rule('escalate', RBAC_GROUP, 'clusterroles')]);
    give('n', [rule('escalate', RBAC_GROUP, 'roles')], 'x');
    const all = (kind: string, namespace = '') => draft(kind, 'r', { rules: [rule('*', '*', '*')] }, namespace);
    expect(write(user('u'), all('ClusterRole'))).toBeUndefined();
    expect(write(user('u'), all('Role', 'x'))?.code).toBe(403);
    expect(write(user('n'), all('Role', 'x'))).toBeUndefined();
    expect(write(user('n'), all('Role', 'y'))?.code).toBe(403);
    expect(write(user('root', 'system:masters'), all('ClusterRole'))).toBeUndefined();
  });

  test('holds in a namespace what a binding there gives, and nothing of it elsewhere', () => {
    give('u', [rule('get', '', 'pods')], 'x');
    const wanted = { rules: [rule('get', '', 'pods')] };
    expect(write(user('u'), draft('Role', 'r', wanted, 'x'))).toBeUndefined();
    expect(write(user('u'), draft('Role', 'r', wanted, 'y'))?.code).toBe(403);
    expect(write(user('u'), draft('ClusterRole', 'r', wanted))?.code).toBe(403);
  });

  test('may aggregate only when holding everything', () => {
    const more = { rules: [], aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] } };
    expect(write(user('u'), draft('ClusterRole', 'r', more))?.message).toBe(
      'clusterroles.rbac.authorization.k8s.io "r" is forbidden: must have cluster-admin privileges to use the aggregationRule',
    );
    const old = draft('ClusterRole', 'r', more) as KubeObject;
    expect(write(user('u'), draft('ClusterRole', 'r', { rules: [] }), old)?.code).toBe(403);
    give('u', EVERYTHING);
    expect(write(user('u'), draft('ClusterRole', 'r', more))).toBeUndefined();
  });

  test('is checked again on every change but the ones that let an object go', () => {
    const old = draft('ClusterRole', 'r', { rules: [rule('*', '*', '*')] }) as KubeObject;
    const held = { ...old, metadata: { ...old.metadata, finalizers: ['a.io/b'], ownerReferences: [] } };
    expect(write(user('u'), structuredClone(old) as Draft, held)).toBeUndefined();
    const labelled = { ...structuredClone(old), metadata: { name: 'r', labels: { a: 'b' } } } as Draft;
    expect(write(user('u'), labelled, old)?.code).toBe(403);
  });

  test('cannot keep the server busy with lists that multiply', () => {
    give('u', [rule('*', '', '*')]);
    const many = Array.from({ length: 2000 }, (_, i) => `r${i}`);
    const rules = [{ verbs: many, apiGroups: many, resources: many }];
    expect(write(user('u'), draft('ClusterRole', 'r', { rules }))?.message).toContain('too many to compare');
  });
});

describe('who writes a binding', () => {
  const binding = (kind: string, to: { kind: string; name: string }, namespace = '') =>
    draft(kind, 'b', { roleRef: to, subjects: [{ kind: 'User', name: 'x' }] }, namespace);
  const view = { kind: 'ClusterRole', name: 'view' };

  test('must hold what the role gives', () => {
    expect(
      write(user('u'), binding('ClusterRoleBinding', { kind: 'ClusterRole', name: 'cluster-admin' }))?.message,
    ).toBe(
      'clusterrolebindings.rbac.authorization.k8s.io "b" is forbidden: user "u" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:["*"], Resources:["*"], Verbs:["*"]}\n{NonResourceURLs:["*"], Verbs:["*"]}',
    );
    give(
      'editor',
      (store.get(keyOf(RBAC_GROUP, 'clusterroles', '', 'edit'))!.object().rules ?? []) as PolicyRule[],
      'x',
    );
    expect(write(user('editor'), binding('RoleBinding', view, 'x'))).toBeUndefined();
    expect(write(user('editor'), binding('RoleBinding', view, 'y'))?.code).toBe(403);
    expect(write(user('editor'), binding('ClusterRoleBinding', view))?.code).toBe(403);
    expect(write(user('editor'), binding('RoleBinding', { ...view, name: 'admin' }, 'x'))?.code).toBe(403);
  });

  test('may bind that role with the verb bind, and any role as a master', () => {
    give('u', [rule('bind', RBAC_GROUP, 'clusterroles', 'view')]);
    expect(write(user('u'), binding('ClusterRoleBinding', view))).toBeUndefined();
    expect(write(user('u'), binding('RoleBinding', view, 'x'))).toBeUndefined();
    expect(write(user('u'), binding('RoleBinding', { ...view, name: 'edit' }, 'x'))?.code).toBe(403);
    expect(write(user('u'), binding('RoleBinding', { kind: 'Role', name: 'view' }, 'x'))?.code).toBe(404);
    expect(
      write(user('r', 'system:masters'), binding('RoleBinding', { kind: 'Role', name: 'none' }, 'x')),
    ).toBeUndefined();
  });

  test('hears of a role that is not there in the words of a real server', () => {
    expect(write(user('u'), binding('RoleBinding', { kind: 'Role', name: 'nosuch' }, 'x'))).toMatchObject({
      code: 404,
      message: 'rolebindings.rbac.authorization.k8s.io "nosuch" not found',
      details: { name: 'nosuch', group: RBAC_GROUP, kind: 'rolebindings' },
    });
  });
});

describe('validation', () => {
  const causes = (object: Draft, old?: KubeObject) => {
    const special = rbacBehaviours[PLURALS[object.kind]!];
    special.default?.(object);
    const found = special.validate?.(object as KubeObject, old, context(user('u'))) ?? [];
    return found.map(({ field, message }) => `${field}: ${message}`);
  };

  test('of a Role', () => {
    const rules = [
      { verbs: [], apiGroups: [], resources: [] },
      { verbs: ['get'], nonResourceURLs: ['/x'] },
      { verbs: ['get'], apiGroups: [''], resources: ['a'], nonResourceURLs: ['/x'] },
      { verbs: ['get'] },
    ];
    expect(causes(draft('Role', 'r', { rules }, 'x'))).toEqual([
      'rules[0].verbs: Required value: verbs must contain at least one value',
      'rules[0].apiGroups: Required value: resource rules must supply at least one api group',
      'rules[0].resources: Required value: resource rules must supply at least one resource',
      'rules[1].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to non-resource URLs',
      'rules[2].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to non-resource URLs',
      'rules[2].nonResourceURLs: Invalid value: ["/x"]: rules cannot apply to both regular resources and non-resource URLs',
      'rules[3].apiGroups: Required value: resource rules must supply at least one api group',
      'rules[3].resources: Required value: resource rules must supply at least one resource',
    ]);
  });

  test('of a ClusterRole', () => {
    const rules = [urls('get', '/x'), { verbs: ['get'], nonResourceURLs: ['/x'], resourceNames: ['z'] }];
    expect(causes(draft('ClusterRole', 'r', { rules }))).toEqual([
      'rules[1].nonResourceURLs: Invalid value: ["/x"]: rules cannot apply to both regular resources and non-resource URLs',
    ]);
    expect(causes(draft('ClusterRole', 'r', { aggregationRule: {} }))).toEqual([
      'aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil',
    ]);
    const clusterRoleSelectors = [{ matchExpressions: [{ key: 'a', operator: 'Foo' }] }];
    expect(causes(draft('ClusterRole', 'r', { aggregationRule: { clusterRoleSelectors } }))).toEqual([
      'aggregationRule.clusterRoleSelectors[0].matchExpressions[0].operator: Invalid value: "Foo": not a valid selector operator',
      'aggregationRule.clusterRoleSelectors[0]: Invalid value: null: invalid label selector.',
    ]);
    expect(causes(draft('ClusterRole', 'r', {}))).toEqual([]);
  });

  test('of a RoleBinding', () => {
    const more = {
      roleRef: { apiGroup: 'x', kind: 'Foo', name: '' },
      subjects: [
        { kind: 'User', name: '', apiGroup: 'x' },
        { kind: 'ServiceAccount', name: 'A_b', namespace: '', apiGroup: 'z' },
        { kind: 'Group', name: '', apiGroup: 'x' },
        { kind: 'Zork', name: 'x' },
        { kind: 'User', name: 'u' },
      ],
    };
    expect(causes(draft('RoleBinding', 'b', more, 'x'))).toEqual([
      'roleRef.apiGroup: Unsupported value: "x": supported values: "rbac.authorization.k8s.io"',
      'roleRef.kind: Unsupported value: "Foo": supported values: "Role", "ClusterRole"',
      'roleRef.name: Required value',
      'subjects[0].name: Required value',
      'subjects[0].apiGroup: Unsupported value: "x": supported values: "rbac.authorization.k8s.io"',
      `subjects[1].name: Invalid value: "A_b": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`,
      'subjects[1].apiGroup: Unsupported value: "z": supported values: ""',
      'subjects[2].name: Required value',
      'subjects[2].apiGroup: Unsupported value: "x": supported values: "rbac.authorization.k8s.io"',
      'subjects[3].kind: Unsupported value: "Zork": supported values: "ServiceAccount", "User", "Group"',
    ]);
  });

  test('of a ClusterRoleBinding', () => {
    const more = { roleRef: { kind: 'Role', name: 'v/v' }, subjects: [{ kind: 'ServiceAccount', name: 'a' }] };
    expect(causes(draft('ClusterRoleBinding', 'b', more))).toEqual([
      'roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"',
      'roleRef.name: Invalid value: "v/v": may not contain \'/\'',
      'subjects[0].namespace: Required value',
    ]);
  });

  test('does not let a binding change its role', () => {
    const made = (name: string) =>
      draft('RoleBinding', 'b', { roleRef: { apiGroup: RBAC_GROUP, kind: 'Role', name }, subjects: [] }, 'x');
    expect(causes(made('other'), made('one') as KubeObject)).toEqual([
      'roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"Role","Name":"other"}: cannot change roleRef',
    ]);
    expect(causes(made('one'), made('one') as KubeObject)).toEqual([]);
  });

  test('comes after the group of subjects and role was filled in', () => {
    const object = draft('RoleBinding', 'b', {
      roleRef: { kind: 'Role', name: 'r' },
      subjects: [
        { kind: 'User', name: 'u' },
        { kind: 'Group', name: 'g' },
        { kind: 'ServiceAccount', name: 's' },
      ],
    });
    rbacBehaviours.rolebindings.default?.(object);
    expect(object.roleRef).toEqual({ apiGroup: RBAC_GROUP, kind: 'Role', name: 'r' });
    expect(object.subjects).toEqual([
      { kind: 'User', name: 'u', apiGroup: RBAC_GROUP },
      { kind: 'Group', name: 'g', apiGroup: RBAC_GROUP },
      { kind: 'ServiceAccount', name: 's' },
    ]);
  });
});
