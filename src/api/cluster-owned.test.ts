import { expect, test } from 'vitest';
import { isClusterOwned } from './cluster-owned.ts';

const RBAC = 'rbac.authorization.k8s.io';
const PRIORITY = { group: 'scheduling.k8s.io', kind: 'PriorityClass' };
const ROLE = { group: RBAC, kind: 'ClusterRole' };
const BINDING = { group: RBAC, kind: 'ClusterRoleBinding' };

test.each([
  [ROLE, 'system:node', true],
  [ROLE, 'cluster-admin', true],
  [ROLE, 'admin', true],
  [ROLE, 'edit', true],
  [ROLE, 'view', true],
  [ROLE, 'viewer', false],
  [ROLE, 'my-system:node', false],
  [BINDING, 'cluster-admin', true],
  [BINDING, 'system:basic-user', true],
  [BINDING, 'alice-is-admin', false],
  [{ group: RBAC, kind: 'Role' }, 'view', false],
  [{ group: RBAC, kind: 'RoleBinding' }, 'admin', false],
  [PRIORITY, 'system-node-critical', true],
  [PRIORITY, 'business', false],
  [{ group: 'example.com', kind: 'ClusterRole' }, 'view', false],
  [{ kind: 'ConfigMap' }, 'system:node', false],
] as const)('%j "%s" belongs to the cluster itself: %s', (of, name, is) => {
  expect(isClusterOwned(of, { name })).toBe(is);
});

test('whatever carries the label of the API server belongs to the cluster itself', () => {
  const labels = { 'kubernetes.io/bootstrapping': 'rbac-defaults' };
  expect(isClusterOwned({ kind: 'ConfigMap' }, { name: 'any', labels })).toBe(true);
});
