// The roles and bindings of every new cluster: facts of Kubernetes 1.34, frozen and shared by all clusters of a
// process.
//
// Roles of controllers and components that do not exist here are omitted, because they would have no subjects:
// system:controller:*, those of the scheduler and the controller manager, and the approvers of certificates.
import type { KubeObject } from '../../api/object.ts';
import { deepFreeze } from '../../base/json.ts';
import { lazy } from '../../base/lazy.ts';
import type { PolicyRule } from '../cluster.ts';
import { aggregatedRules } from './aggregation.ts';
import { RBAC_GROUP } from './binding-index.ts';

const words = (text: string): string[] => text.split(' ');

/** Arguments are lists separated by spaces; the core group is `core`. */
const rule = (verbs: string, groups: string, resources: string, names?: string): PolicyRule => ({
  apiGroups: words(groups).map((group) => (group === 'core' ? '' : group)),
  ...(names === undefined ? {} : { resourceNames: words(names) }),
  resources: words(resources),
  verbs: words(verbs),
});

const paths = (verbs: string, urls: string): PolicyRule => ({ nonResourceURLs: words(urls), verbs: words(verbs) });

const READ = 'get list watch';
const WRITE = 'create delete deletecollection patch update';

const CLUSTER_ROLES: Readonly<Record<string, readonly PolicyRule[]>> = {
  'cluster-admin': [rule('*', '*', '*'), paths('*', '*')],
  'system:aggregate-to-admin': [
    rule('create', 'authorization.k8s.io', 'localsubjectaccessreviews'),
    rule(
      'create delete deletecollection get list patch update watch',
      'rbac.authorization.k8s.io',
      'rolebindings roles',
    ),
  ],
  'system:aggregate-to-edit': [
    rule(READ, 'core', 'pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy'),
    rule('impersonate', 'core', 'serviceaccounts'),
    rule(WRITE, 'core', 'pods pods/attach pods/exec pods/portforward pods/proxy'),
    rule('create', 'core', 'pods/eviction'),
    rule(
      WRITE,
      'core',
      'configmaps events persistentvolumeclaims replicationcontrollers replicationcontrollers/scale secrets serviceaccounts services services/proxy',
    ),
    rule('create', 'core', 'serviceaccounts/token'),
    rule(
      WRITE,
      'apps',
      'daemonsets deployments deployments/rollback deployments/scale replicasets replicasets/scale statefulsets statefulsets/scale',
    ),
    rule(WRITE, 'autoscaling', 'horizontalpodautoscalers'),
    rule(WRITE, 'batch', 'cronjobs jobs'),
    rule(
      WRITE,
      'extensions',
      'daemonsets deployments deployments/rollback deployments/scale ingresses networkpolicies replicasets replicasets/scale replicationcontrollers/scale',
    ),
    rule(WRITE, 'policy', 'poddisruptionbudgets'),
    rule(WRITE, 'networking.k8s.io', 'ingresses networkpolicies'),
    rule('create delete deletecollection get list patch update watch', 'coordination.k8s.io', 'leases'),
    rule(WRITE, 'resource.k8s.io', 'resourceclaims resourceclaimtemplates'),
  ],
  'system:aggregate-to-view': [
    rule(
      READ,
      'core',
      'configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods replicationcontrollers replicationcontrollers/scale serviceaccounts services services/status',
    ),
    rule(
      READ,
      'core',
      'bindings events limitranges namespaces/status pods/log pods/status replicationcontrollers/status resourcequotas resourcequotas/status',
    ),
    rule(READ, 'core', 'namespaces'),
    rule(READ, 'discovery.k8s.io', 'endpointslices'),
    rule(
      READ,
      'apps',
      'controllerrevisions daemonsets daemonsets/status deployments deployments/scale deployments/status replicasets replicasets/scale replicasets/status statefulsets statefulsets/scale statefulsets/status',
    ),
    rule(READ, 'autoscaling', 'horizontalpodautoscalers horizontalpodautoscalers/status'),
    rule(READ, 'batch', 'cronjobs cronjobs/status jobs jobs/status'),
    rule(
      READ,
      'extensions',
      'daemonsets daemonsets/status deployments deployments/scale deployments/status ingresses ingresses/status networkpolicies replicasets replicasets/scale replicasets/status replicationcontrollers/scale',
    ),
    rule(READ, 'policy', 'poddisruptionbudgets poddisruptionbudgets/status'),
    rule(READ, 'networking.k8s.io', 'ingresses ingresses/status networkpolicies'),
    rule(READ, 'resource.k8s.io', 'resourceclaims resourceclaims/status resourceclaimtemplates'),
  ],
  'system:auth-delegator': [
    rule('create', 'authentication.k8s.io', 'tokenreviews'),
    rule('create', 'authorization.k8s.io', 'subjectaccessreviews'),
  ],
  'system:basic-user': [
    rule('create', 'authorization.k8s.io', 'selfsubjectaccessreviews selfsubjectrulesreviews'),
    rule('create', 'authentication.k8s.io', 'selfsubjectreviews'),
  ],
  'system:discovery': [
    paths('get', '/api /api/* /apis /apis/* /healthz /livez /openapi /openapi/* /readyz /version /version/'),
  ],
  'system:kube-aggregator': [rule(READ, 'core', 'endpoints services')],
  'system:kubelet-api-admin': [
    rule(READ, 'core', 'nodes'),
    rule('proxy', 'core', 'nodes'),
    rule('*', 'core', 'nodes/log nodes/metrics nodes/proxy nodes/stats'),
    rule('*', 'core', 'nodes/configz nodes/healthz nodes/pods'),
  ],
  'system:monitoring': [
    paths('get', '/healthz /healthz/* /livez /livez/* /metrics /metrics/slis /readyz /readyz/*'),
    rule('get', 'core', 'nodes/metrics'),
  ],
  'system:node': [
    rule('create', 'authentication.k8s.io', 'tokenreviews'),
    rule('create', 'authorization.k8s.io', 'localsubjectaccessreviews subjectaccessreviews'),
    rule(READ, 'core', 'services'),
    rule('create get list watch', 'core', 'nodes'),
    rule('patch update', 'core', 'nodes/status'),
    rule('patch update', 'core', 'nodes'),
    rule('create patch update', 'core', 'events'),
    rule(READ, 'core', 'pods'),
    rule('create delete', 'core', 'pods'),
    rule('patch update', 'core', 'pods/status'),
    rule('create', 'core', 'pods/eviction'),
    rule(READ, 'core', 'configmaps secrets'),
    rule('get', 'core', 'persistentvolumeclaims persistentvolumes'),
    rule('get', 'core', 'endpoints'),
    rule('create get list watch', 'certificates.k8s.io', 'certificatesigningrequests'),
    rule('create delete get patch update', 'coordination.k8s.io', 'leases'),
    rule('get', 'storage.k8s.io', 'volumeattachments'),
    rule('create', 'core', 'serviceaccounts/token'),
    rule('get patch update', 'core', 'persistentvolumeclaims/status'),
    rule(READ, 'storage.k8s.io', 'csidrivers'),
    rule('create delete get patch update', 'storage.k8s.io', 'csinodes'),
    rule(READ, 'node.k8s.io', 'runtimeclasses'),
    rule('get', 'resource.k8s.io', 'resourceclaims'),
    rule('deletecollection', 'resource.k8s.io', 'resourceslices'),
    rule('get', 'core', 'serviceaccounts'),
  ],
  'system:node-bootstrapper': [rule('create get list watch', 'certificates.k8s.io', 'certificatesigningrequests')],
  'system:node-problem-detector': [
    rule('get', 'core', 'nodes'),
    rule('patch', 'core', 'nodes/status'),
    rule('create patch update', 'core events.k8s.io', 'events'),
  ],
  'system:node-proxier': [
    rule('list watch', 'core', 'endpoints services'),
    rule(READ, 'core', 'nodes'),
    rule('create patch update', 'core events.k8s.io', 'events'),
    rule('list watch', 'networking.k8s.io', 'servicecidrs'),
    rule('list watch', 'discovery.k8s.io', 'endpointslices'),
  ],
  'system:persistent-volume-provisioner': [
    rule('create delete get list watch', 'core', 'persistentvolumes'),
    rule('get list update watch', 'core', 'persistentvolumeclaims'),
    rule(READ, 'storage.k8s.io', 'storageclasses'),
    rule('watch', 'core', 'events'),
    rule('create patch update', 'core events.k8s.io', 'events'),
  ],
  'system:public-info-viewer': [paths('get', '/healthz /livez /readyz /version /version/')],
  'system:service-account-issuer-discovery': [
    paths(
      'get',
      '/.well-known/openid-configuration /.well-known/openid-configuration/ /openid/v1/jwks /openid/v1/jwks/',
    ),
  ],
};

/** Aggregated roles, with the label that selects their parts. `view` is a part of `edit`, `edit` a part of `admin`. */
const AGGREGATED = ['view', 'edit', 'admin'] as const;
const AGGREGATED_INTO: Readonly<Record<string, string>> = {
  view: 'edit',
  edit: 'admin',
  'system:aggregate-to-view': 'view',
  'system:aggregate-to-edit': 'edit',
  'system:aggregate-to-admin': 'admin',
};

const subject = (kind: 'User' | 'Group') => (name: string) => ({ apiGroup: RBAC_GROUP, kind, name });
const user = subject('User');
const group = subject('Group');

/** ClusterRoleBindings, each to the ClusterRole of the same name. */
const CLUSTER_ROLE_BINDINGS: Readonly<Record<string, readonly object[]>> = {
  'cluster-admin': [group('system:masters')],
  'system:basic-user': [group('system:authenticated')],
  'system:discovery': [group('system:authenticated')],
  'system:monitoring': [group('system:monitoring')],
  'system:node': [],
  'system:node-proxier': [user('system:kube-proxy')],
  'system:public-info-viewer': [group('system:authenticated'), group('system:unauthenticated')],
  'system:service-account-issuer-discovery': [group('system:serviceaccounts')],
};

const READER = 'extension-apiserver-authentication-reader';
const READERS = [user('system:kube-controller-manager'), user('system:kube-scheduler')];

const aggregateLabel = (name: string): string => `${RBAC_GROUP}/aggregate-to-${name}`;

const metadataOf = (name: string, labels: Readonly<Record<string, string>> = {}): KubeObject['metadata'] => ({
  name,
  labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults', ...labels },
  annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'true' },
});

const kind = (name: string) => ({ apiVersion: `${RBAC_GROUP}/v1`, kind: name });

const labelsOf = (role: string): Readonly<Record<string, string>> =>
  Object.hasOwn(AGGREGATED_INTO, role) ? { [aggregateLabel(AGGREGATED_INTO[role]!)]: 'true' } : {};

const roleRef = (kindOfRole: string, name: string) => ({ apiGroup: RBAC_GROUP, kind: kindOfRole, name });

/** Without uid and creation time. A cluster with these objects also needs the namespace kube-system. */
export const bootstrapPolicy: () => readonly KubeObject[] = lazy(() => {
  const roles: KubeObject[] = Object.entries(CLUSTER_ROLES).map(([name, rules]) => ({
    ...kind('ClusterRole'),
    metadata: metadataOf(name, labelsOf(name)),
    rules,
  }));
  // In this order the parts of each role are already there.
  for (const name of AGGREGATED) {
    const role = {
      ...kind('ClusterRole'),
      metadata: metadataOf(name, labelsOf(name)),
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [aggregateLabel(name)]: 'true' } }] },
    };
    roles.push({ ...role, rules: aggregatedRules(role, roles) });
  }
  const bindings = Object.entries(CLUSTER_ROLE_BINDINGS).map(([name, subjects]) => ({
    ...kind('ClusterRoleBinding'),
    metadata: metadataOf(name),
    roleRef: roleRef('ClusterRole', name),
    ...(subjects.length === 0 ? {} : { subjects }),
  }));
  const reader = {
    ...kind('Role'),
    metadata: { ...metadataOf(READER), namespace: 'kube-system' },
    rules: [rule(READ, 'core', 'configmaps', 'extension-apiserver-authentication')],
  };
  const readers = {
    ...kind('RoleBinding'),
    metadata: { ...metadataOf(`system::${READER}`), namespace: 'kube-system' },
    roleRef: roleRef('Role', READER),
    subjects: READERS,
  };
  return deepFreeze([...roles, ...bindings, reader, readers]);
});
