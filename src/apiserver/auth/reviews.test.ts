import { beforeEach, describe, expect, test } from 'vitest';
import type { KubeObject, User } from '../../api/object.ts';
import type { Cluster } from '../cluster.ts';
import type { Draft, WriteContext } from '../registry.ts';
import { createMemoryStore } from '../store/memory.ts';
import { keyOf } from '../store/store.ts';
import { RBAC_GROUP } from './binding-index.ts';
import { bootstrapPolicy } from './bootstrap-policy.ts';
import { createAuthorizer } from './rbac.ts';
import { reviewAnswers } from './reviews.ts';

let cluster: Cluster;
const PLURALS: Record<string, string> = {
  Role: 'roles',
  ClusterRole: 'clusterroles',
  RoleBinding: 'rolebindings',
  ClusterRoleBinding: 'clusterrolebindings',
};

beforeEach(() => {
  const store = createMemoryStore();
  for (const value of bootstrapPolicy()) {
    const key = keyOf(RBAC_GROUP, PLURALS[value.kind]!, value.metadata.namespace ?? '', value.metadata.name!);
    store.commit({ key, expect: 'absent', value });
  }
  cluster = {
    authorizer: createAuthorizer(store),
    checkToken: (token: string, audiences: readonly string[]) =>
      token === 'good'
        ? {
            ok: true,
            user: { name: 'jane', uid: '7', groups: ['g'], extra: { k: ['v'] } },
            audiences: ['hub', ...audiences],
          }
        : { ok: false, error: 'invalid bearer token' },
  } as unknown as Cluster;
});

const jane: User = { name: 'jane', groups: ['system:authenticated'] };
const root: User = { name: 'root', groups: ['system:masters', 'system:authenticated'] };

function answer(kind: keyof typeof reviewAnswers, spec: object, user: User = jane, metadata = {}): KubeObject {
  const group = kind === 'TokenReview' || kind === 'SelfSubjectReview' ? 'authentication' : 'authorization';
  const draft: Draft = { apiVersion: `${group}.k8s.io/v1`, kind, metadata, spec };
  const now = Date.parse('2026-01-01T00:00:00Z');
  const context: WriteContext = {
    cluster,
    user,
    now,
    dryRun: false,
    verb: 'create',
    subresource: undefined,
    warn: () => {},
  };
  return reviewAnswers[kind](draft, context);
}

const pods = { verb: 'get', resource: 'pods', namespace: 'x' };
const DISCOVERY =
  'RBAC: allowed by ClusterRoleBinding "system:discovery" of ClusterRole "system:discovery" to Group "system:authenticated"';

describe('the review of access', () => {
  test('of oneself answers for the caller and repeats the question', () => {
    expect(answer('SelfSubjectAccessReview', { resourceAttributes: pods })).toEqual({
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      metadata: {},
      spec: { resourceAttributes: pods },
      status: { allowed: false },
    });
    expect(answer('SelfSubjectAccessReview', { resourceAttributes: pods }, root).status).toEqual({ allowed: true });
    const path = { nonResourceAttributes: { verb: 'get', path: '/apis' } };
    expect(answer('SelfSubjectAccessReview', path).status).toEqual({ allowed: true, reason: DISCOVERY });
  });

  test('of others answers for them and not for the caller', () => {
    const path = { nonResourceAttributes: { verb: 'get', path: '/apis' } };
    const status = (spec: object) => answer('SubjectAccessReview', { ...path, ...spec }, root).status;
    expect(status({ user: 'u2', groups: ['system:authenticated'] })).toEqual({ allowed: true, reason: DISCOVERY });
    expect(status({ user: 'u2' })).toEqual({ allowed: false });
    expect(status({ groups: ['system:masters'] })).toEqual({ allowed: true });
  });

  test('in a namespace asks about that one', () => {
    const spec = { user: 'u', resourceAttributes: pods };
    expect(answer('LocalSubjectAccessReview', spec, root, { namespace: 'x' })).toMatchObject({
      metadata: { namespace: 'x' },
      status: { allowed: false },
    });
  });

  const both = { resourceAttributes: pods, nonResourceAttributes: { verb: 'get', path: '/version' } };
  const path = { nonResourceAttributes: { verb: 'get', path: '/x' } };
  const all = { user: 'x', resourceAttributes: { verb: 'get', resource: 'pods' } };
  test.each([
    {
      kind: 'SelfSubjectAccessReview' as const,
      spec: {},
      says: 'spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified',
    },
    {
      kind: 'SubjectAccessReview' as const,
      spec: { ...both, user: 'x' },
      says: 'spec.nonResourceAttributes: Invalid value: {"Path":"/version","Verb":"get"}: cannot be specified in combination with resourceAttributes',
    },
    {
      kind: 'SubjectAccessReview' as const,
      spec: path,
      says: 'spec.user: Invalid value: "": at least one of user or group must be specified',
    },
    {
      kind: 'LocalSubjectAccessReview' as const,
      spec: all,
      says: 'spec.resourceAttributes.namespace: Invalid value: "": must match metadata.namespace',
    },
    {
      kind: 'LocalSubjectAccessReview' as const,
      spec: { ...path, user: 'x' },
      says: 'spec.nonResourceAttributes: Invalid value: {"Path":"/x","Verb":"get"}: disallowed on this kind of request',
    },
  ])('refuses: $says', ({ kind, spec, says }) => {
    const asked = () => answer(kind, spec, root, { namespace: 'x' });
    expect(asked).toThrow(`.authorization.k8s.io "" is invalid: ${says}`);
    try {
      asked();
    } catch (error) {
      expect(error).toMatchObject({ code: 422, reason: 'Invalid', details: { group: 'authorization.k8s.io' } });
      expect((error as { details: object }).details).not.toHaveProperty('kind');
    }
  });
});

describe('the review of rules', () => {
  test('lists what the caller may do, resources and paths apart', () => {
    expect(answer('SelfSubjectRulesReview', { namespace: 'x' })).toEqual({
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectRulesReview',
      metadata: {},
      spec: {},
      status: {
        resourceRules: [
          {
            verbs: ['create'],
            apiGroups: ['authorization.k8s.io'],
            resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
          },
          { verbs: ['create'], apiGroups: ['authentication.k8s.io'], resources: ['selfsubjectreviews'] },
        ],
        nonResourceRules: [
          { verbs: ['get'], nonResourceURLs: expect.arrayContaining(['/openapi/*']) },
          { verbs: ['get'], nonResourceURLs: ['/healthz', '/livez', '/readyz', '/version', '/version/'] },
        ],
        incomplete: false,
      },
    });
    expect(answer('SelfSubjectRulesReview', { namespace: 'x' }, root).status).toMatchObject({
      resourceRules: expect.arrayContaining([{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }]),
    });
  });

  test('needs a namespace', () => {
    expect(() => answer('SelfSubjectRulesReview', {})).toThrow('no namespace on request');
  });
});

describe('the review of identity', () => {
  test('tells the caller who they are', () => {
    const user = { name: 'u', uid: '1', groups: ['g'], extra: { k: ['v'] } };
    expect(answer('SelfSubjectReview', {}, user)).toEqual({
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'SelfSubjectReview',
      metadata: { creationTimestamp: '2026-01-01T00:00:00Z' },
      status: { userInfo: { username: 'u', uid: '1', groups: ['g'], extra: { k: ['v'] } } },
    });
  });

  test('of a token tells whose it is', () => {
    expect(answer('TokenReview', { token: 'good', audiences: ['a'] }).status).toEqual({
      authenticated: true,
      user: { username: 'jane', uid: '7', groups: ['g'], extra: { k: ['v'] } },
      audiences: ['hub', 'a'],
    });
    expect(answer('TokenReview', { token: 'bad' })).toMatchObject({
      spec: { token: 'bad' },
      status: { user: {}, error: 'invalid bearer token' },
    });
    expect(() => answer('TokenReview', {})).toThrow('token is required for TokenReview in authentication');
  });
});
