// The table of each built-in kind.
import type { TableShape } from '../../registry.ts';
import * as core from './core.ts';
import * as devices from './devices.ts';
import * as network from './network.ts';
import { pod } from './pod.ts';
import * as policy from './policy.ts';
import { roleBinding } from './rbac.ts';
import * as scaling from './scaling.ts';
import * as storage from './storage.ts';
import { created, generic } from './table.ts';
import * as workloads from './workloads.ts';

const tables: ReadonlyMap<string, TableShape> = new Map(
  Object.entries({
    '/ConfigMap': core.configMap,
    '/Endpoints': network.endpoints,
    '/Event': core.event,
    '/LimitRange': created,
    '/Namespace': core.namespace,
    '/Node': core.node,
    '/PersistentVolume': storage.persistentVolume,
    '/PersistentVolumeClaim': storage.persistentVolumeClaim,
    '/Pod': pod,
    '/PodTemplate': workloads.podTemplate,
    '/ReplicationController': workloads.replicationController,
    '/ResourceQuota': core.resourceQuota,
    '/Secret': core.secret,
    '/Service': network.service,
    '/ServiceAccount': core.serviceAccount,
    'admissionregistration.k8s.io/MutatingWebhookConfiguration': policy.webhookConfiguration,
    'admissionregistration.k8s.io/ValidatingAdmissionPolicy': policy.validatingAdmissionPolicy,
    'admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding': policy.validatingAdmissionPolicyBinding,
    'admissionregistration.k8s.io/ValidatingWebhookConfiguration': policy.webhookConfiguration,
    'apiextensions.k8s.io/CustomResourceDefinition': created,
    'apiregistration.k8s.io/APIService': policy.apiService,
    'apps/ControllerRevision': workloads.controllerRevision,
    'apps/DaemonSet': workloads.daemonSet,
    'apps/Deployment': workloads.deployment,
    'apps/ReplicaSet': workloads.replicaSet,
    'apps/StatefulSet': workloads.statefulSet,
    'autoscaling/HorizontalPodAutoscaler': scaling.horizontalPodAutoscaler,
    'batch/CronJob': workloads.cronJob,
    'batch/Job': workloads.job,
    'certificates.k8s.io/CertificateSigningRequest': policy.certificateSigningRequest,
    'coordination.k8s.io/Lease': core.lease,
    'discovery.k8s.io/EndpointSlice': network.endpointSlice,
    'events.k8s.io/Event': core.event,
    'flowcontrol.apiserver.k8s.io/FlowSchema': policy.flowSchema,
    'flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration': policy.priorityLevelConfiguration,
    'networking.k8s.io/IPAddress': network.ipAddress,
    'networking.k8s.io/Ingress': network.ingress,
    'networking.k8s.io/IngressClass': network.ingressClass,
    'networking.k8s.io/NetworkPolicy': network.networkPolicy,
    'networking.k8s.io/ServiceCIDR': network.serviceCidr,
    'node.k8s.io/RuntimeClass': policy.runtimeClass,
    'policy/PodDisruptionBudget': scaling.podDisruptionBudget,
    'rbac.authorization.k8s.io/ClusterRole': created,
    'rbac.authorization.k8s.io/ClusterRoleBinding': roleBinding,
    'rbac.authorization.k8s.io/Role': created,
    'rbac.authorization.k8s.io/RoleBinding': roleBinding,
    'resource.k8s.io/ResourceClaim': devices.resourceClaim,
    'resource.k8s.io/ResourceSlice': devices.resourceSlice,
    'scheduling.k8s.io/PriorityClass': policy.priorityClass,
    'storage.k8s.io/CSIDriver': storage.csiDriver,
    'storage.k8s.io/CSINode': storage.csiNode,
    'storage.k8s.io/CSIStorageCapacity': created,
    'storage.k8s.io/StorageClass': storage.storageClass,
    'storage.k8s.io/VolumeAttachment': storage.volumeAttachment,
    'storage.k8s.io/VolumeAttributesClass': storage.volumeAttributesClass,
  }),
);

/** The table of a built-in kind, in any version; Name and Age for kinds without their own. */
export const tableFor = (group: string, kind: string): TableShape => tables.get(`${group}/${kind}`) ?? generic;
