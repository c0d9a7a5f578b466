// Built-in resources that our controllers read or write.
import type { Resource } from './kind.ts';

const core = (kind: string, plural: string, namespaced: boolean): Resource => ({
  group: '',
  version: 'v1',
  kind,
  plural,
  namespaced,
});

export const namespaceResource = core('Namespace', 'namespaces', false);
export const nodeResource = core('Node', 'nodes', false);
export const podResource = core('Pod', 'pods', true);
export const serviceAccountResource = core('ServiceAccount', 'serviceaccounts', true);
export const configMapResource = core('ConfigMap', 'configmaps', true);
export const secretResource = core('Secret', 'secrets', true);

export const RBAC_GROUP = 'rbac.authorization.k8s.io';

const rbac = (kind: string, plural: string, namespaced = true): Resource => ({
  group: RBAC_GROUP,
  version: 'v1',
  kind,
  plural,
  namespaced,
});

export const roleResource = rbac('Role', 'roles');
export const clusterRoleResource = rbac('ClusterRole', 'clusterroles', false);
export const roleBindingResource = rbac('RoleBinding', 'rolebindings');
