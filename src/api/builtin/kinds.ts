// The served built-in kinds with their names, verbs and subresources: as in the discovery of a Kubernetes 1.34 with
// default settings, except for the deprecated ComponentStatus.
// Maintained by hand, because no published type has short names, categories and subresources; the test compares scopes
// and status fields with the facts.
import { deepFreeze } from '../../base/json.ts';
import { typeNameOf } from './types.ts';

export interface BuiltinSubresource {
  readonly name: string;
  /** The kind of the request and the response. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly verbs: readonly string[];
}

export interface BuiltinKind {
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly listKind: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  /** Served versions, preferred first; the first one is also the storage version. */
  readonly versions: readonly string[];
  readonly hasStatus: boolean;
  /** `labelSelectorPath` points to a LabelSelector (for a ReplicationController: a map of labels), not to a string. */
  readonly scale?: {
    readonly specReplicasPath: string;
    readonly statusReplicasPath: string;
    readonly labelSelectorPath: string;
  };
  /** Except `status` and `scale`. */
  readonly subresources: readonly BuiltinSubresource[];
}

/** The name of a kind's type in one of its versions. */
export function typeNameOfKind(kind: BuiltinKind, version: string): string {
  const name = typeNameOf(kind.group, version, kind.kind);
  if (name === undefined) throw new Error(`no facts about ${kind.kind} in ${kind.group}/${version}`);
  return name;
}

interface Traits {
  readonly cluster?: true;
  readonly short?: readonly string[];
  readonly categories?: readonly string[];
  readonly verbs?: readonly string[];
  readonly versions?: readonly string[];
  readonly status?: true;
  readonly scale?: true;
  readonly sub?: Readonly<Record<string, Sub>>;
}

/** Verbs of a subresource, and its kind where it differs from that of the resource. */
interface Sub {
  readonly verbs: readonly string[];
  readonly kind?: string;
  readonly group?: string;
}

const allVerbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
const createOnly = ['create'];
const readAndChange = ['get', 'patch', 'update'];
const stream = ['create', 'get'];
const anyMethod = ['create', 'delete', 'get', 'patch', 'update'];

const kind = (group: string, name: string, plural: string, traits: Traits): BuiltinKind => {
  const versions = traits.versions ?? ['v1'];
  return {
    group,
    kind: name,
    plural,
    singular: name.toLowerCase(),
    listKind: `${name}List`,
    namespaced: traits.cluster !== true,
    shortNames: traits.short ?? [],
    categories: traits.categories ?? [],
    verbs: traits.verbs ?? allVerbs,
    versions,
    hasStatus: traits.status === true,
    ...(traits.scale === true ? { scale: replicasOfSpec } : {}),
    subresources: Object.entries(traits.sub ?? {}).map(([subresource, sub]) => ({
      name: subresource,
      group: sub.group ?? group,
      version: 'v1',
      kind: sub.kind ?? name,
      verbs: sub.verbs,
    })),
  };
};

const replicasOfSpec = {
  specReplicasPath: '.spec.replicas',
  statusReplicasPath: '.status.replicas',
  labelSelectorPath: '.spec.selector',
};

const all = ['all'];
const extension = ['api-extensions'];

const pod: Traits['sub'] = {
  attach: { verbs: stream, kind: 'PodAttachOptions' },
  binding: { verbs: createOnly, kind: 'Binding' },
  ephemeralcontainers: { verbs: readAndChange },
  eviction: { verbs: createOnly, kind: 'Eviction', group: 'policy' },
  exec: { verbs: stream, kind: 'PodExecOptions' },
  log: { verbs: ['get'] },
  portforward: { verbs: stream, kind: 'PodPortForwardOptions' },
  proxy: { verbs: anyMethod, kind: 'PodProxyOptions' },
  resize: { verbs: readAndChange },
};

const token: Traits['sub'] = {
  token: { verbs: createOnly, kind: 'TokenRequest', group: 'authentication.k8s.io' },
};

/** All served built-in kinds, by group in the order of discovery, then by plural. */
export const builtinKinds: readonly BuiltinKind[] = deepFreeze([
  kind('', 'Binding', 'bindings', { verbs: createOnly }),
  kind('', 'ConfigMap', 'configmaps', { short: ['cm'] }),
  kind('', 'Endpoints', 'endpoints', { short: ['ep'] }),
  kind('', 'Event', 'events', { short: ['ev'] }),
  kind('', 'LimitRange', 'limitranges', { short: ['limits'] }),
  kind('', 'Namespace', 'namespaces', {
    cluster: true,
    short: ['ns'],
    verbs: allVerbs.filter((verb) => verb !== 'deletecollection'),
    status: true,
    sub: { finalize: { verbs: ['update'] } },
  }),
  kind('', 'Node', 'nodes', {
    cluster: true,
    short: ['no'],
    status: true,
    sub: { proxy: { verbs: anyMethod, kind: 'NodeProxyOptions' } },
  }),
  kind('', 'PersistentVolumeClaim', 'persistentvolumeclaims', { short: ['pvc'], status: true }),
  kind('', 'PersistentVolume', 'persistentvolumes', { cluster: true, short: ['pv'], status: true }),
  kind('', 'Pod', 'pods', { short: ['po'], categories: all, status: true, sub: pod }),
  kind('', 'PodTemplate', 'podtemplates', {}),
  kind('', 'ReplicationController', 'replicationcontrollers', {
    short: ['rc'],
    categories: all,
    status: true,
    scale: true,
  }),
  kind('', 'ResourceQuota', 'resourcequotas', { short: ['quota'], status: true }),
  kind('', 'Secret', 'secrets', {}),
  kind('', 'ServiceAccount', 'serviceaccounts', { short: ['sa'], sub: token }),
  kind('', 'Service', 'services', {
    short: ['svc'],
    categories: all,
    status: true,
    sub: { proxy: { verbs: anyMethod, kind: 'ServiceProxyOptions' } },
  }),

  kind('apiregistration.k8s.io', 'APIService', 'apiservices', { cluster: true, categories: extension, status: true }),

  kind('apps', 'ControllerRevision', 'controllerrevisions', {}),
  kind('apps', 'DaemonSet', 'daemonsets', { short: ['ds'], categories: all, status: true }),
  kind('apps', 'Deployment', 'deployments', { short: ['deploy'], categories: all, status: true, scale: true }),
  kind('apps', 'ReplicaSet', 'replicasets', { short: ['rs'], categories: all, status: true, scale: true }),
  kind('apps', 'StatefulSet', 'statefulsets', { short: ['sts'], categories: all, status: true, scale: true }),

  kind('events.k8s.io', 'Event', 'events', { short: ['ev'] }),

  kind('authentication.k8s.io', 'SelfSubjectReview', 'selfsubjectreviews', { cluster: true, verbs: createOnly }),
  kind('authentication.k8s.io', 'TokenReview', 'tokenreviews', { cluster: true, verbs: createOnly }),

  kind('authorization.k8s.io', 'LocalSubjectAccessReview', 'localsubjectaccessreviews', { verbs: createOnly }),
  kind('authorization.k8s.io', 'SelfSubjectAccessReview', 'selfsubjectaccessreviews', {
    cluster: true,
    verbs: createOnly,
  }),
  kind('authorization.k8s.io', 'SelfSubjectRulesReview', 'selfsubjectrulesreviews', {
    cluster: true,
    verbs: createOnly,
  }),
  kind('authorization.k8s.io', 'SubjectAccessReview', 'subjectaccessreviews', { cluster: true, verbs: createOnly }),

  kind('autoscaling', 'HorizontalPodAutoscaler', 'horizontalpodautoscalers', {
    short: ['hpa'],
    categories: all,
    versions: ['v2', 'v1'],
    status: true,
  }),

  kind('batch', 'CronJob', 'cronjobs', { short: ['cj'], categories: all, status: true }),
  kind('batch', 'Job', 'jobs', { categories: all, status: true }),

  kind('certificates.k8s.io', 'CertificateSigningRequest', 'certificatesigningrequests', {
    cluster: true,
    short: ['csr'],
    status: true,
    sub: { approval: { verbs: readAndChange } },
  }),

  kind('networking.k8s.io', 'IngressClass', 'ingressclasses', { cluster: true }),
  kind('networking.k8s.io', 'Ingress', 'ingresses', { short: ['ing'], status: true }),
  kind('networking.k8s.io', 'IPAddress', 'ipaddresses', { cluster: true, short: ['ip'] }),
  kind('networking.k8s.io', 'NetworkPolicy', 'networkpolicies', { short: ['netpol'] }),
  kind('networking.k8s.io', 'ServiceCIDR', 'servicecidrs', { cluster: true, status: true }),

  kind('policy', 'PodDisruptionBudget', 'poddisruptionbudgets', { short: ['pdb'], status: true }),

  kind('rbac.authorization.k8s.io', 'ClusterRoleBinding', 'clusterrolebindings', { cluster: true }),
  kind('rbac.authorization.k8s.io', 'ClusterRole', 'clusterroles', { cluster: true }),
  kind('rbac.authorization.k8s.io', 'RoleBinding', 'rolebindings', {}),
  kind('rbac.authorization.k8s.io', 'Role', 'roles', {}),

  kind('storage.k8s.io', 'CSIDriver', 'csidrivers', { cluster: true }),
  kind('storage.k8s.io', 'CSINode', 'csinodes', { cluster: true }),
  kind('storage.k8s.io', 'CSIStorageCapacity', 'csistoragecapacities', {}),
  kind('storage.k8s.io', 'StorageClass', 'storageclasses', { cluster: true, short: ['sc'] }),
  kind('storage.k8s.io', 'VolumeAttachment', 'volumeattachments', { cluster: true, status: true }),
  kind('storage.k8s.io', 'VolumeAttributesClass', 'volumeattributesclasses', { cluster: true, short: ['vac'] }),

  kind('admissionregistration.k8s.io', 'MutatingWebhookConfiguration', 'mutatingwebhookconfigurations', {
    cluster: true,
    categories: extension,
  }),
  kind('admissionregistration.k8s.io', 'ValidatingAdmissionPolicy', 'validatingadmissionpolicies', {
    cluster: true,
    categories: extension,
    status: true,
  }),
  kind('admissionregistration.k8s.io', 'ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings', {
    cluster: true,
    categories: extension,
  }),
  kind('admissionregistration.k8s.io', 'ValidatingWebhookConfiguration', 'validatingwebhookconfigurations', {
    cluster: true,
    categories: extension,
  }),

  kind('apiextensions.k8s.io', 'CustomResourceDefinition', 'customresourcedefinitions', {
    cluster: true,
    short: ['crd', 'crds'],
    categories: extension,
    status: true,
  }),

  kind('scheduling.k8s.io', 'PriorityClass', 'priorityclasses', { cluster: true, short: ['pc'] }),

  kind('coordination.k8s.io', 'Lease', 'leases', {}),

  kind('node.k8s.io', 'RuntimeClass', 'runtimeclasses', { cluster: true }),

  kind('discovery.k8s.io', 'EndpointSlice', 'endpointslices', {}),

  kind('resource.k8s.io', 'DeviceClass', 'deviceclasses', { cluster: true }),
  kind('resource.k8s.io', 'ResourceClaim', 'resourceclaims', { status: true }),
  kind('resource.k8s.io', 'ResourceClaimTemplate', 'resourceclaimtemplates', {}),
  kind('resource.k8s.io', 'ResourceSlice', 'resourceslices', { cluster: true }),

  kind('flowcontrol.apiserver.k8s.io', 'FlowSchema', 'flowschemas', { cluster: true, status: true }),
  kind('flowcontrol.apiserver.k8s.io', 'PriorityLevelConfiguration', 'prioritylevelconfigurations', {
    cluster: true,
    status: true,
  }),
]);
