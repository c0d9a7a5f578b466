// The special behavior of each built-in kind. A kind that is not listed is plain data with a DNS name.
import type { Behaviour } from '../registry.ts';
import { KEEPS_OWNED_METADATA } from '../status-keeps.ts';
import { mutatingWebhooks, validatingPolicy, validatingPolicyBinding, validatingWebhooks } from './admission.ts';
import { apiService } from './api-service.ts';
import { horizontalPodAutoscaler } from './autoscaling.ts';
import { behaviour } from './behaviour.ts';
import { certificateSigningRequest } from './certificates.ts';
import { configMap, secret } from './config.ts';
import { customResourceDefinition } from './custom-resource-definition.ts';
import { resourceClaim, resourceClaimTemplate } from './devices.ts';
import { endpointSlice, endpoints } from './endpoints.ts';
import { coreEvent, newEvent } from './event.ts';
import { flowSchema, priorityLevelConfiguration } from './flow-control.ts';
import { cronJob, job } from './jobs.ts';
import { lease } from './lease.ts';
import { namespace } from './namespace.ts';
import { ingress, ingressClass, networkPolicy } from './networking.ts';
import { node } from './node.ts';
import { pod } from './pod.ts';
import { podDisruptionBudget } from './policy.ts';
import { priorityClass } from './priority-class.ts';
import { limitRange, resourceQuota } from './quota.ts';
import { clusterRole, clusterRoleBinding, role, roleBinding } from './rbac.ts';
import { isReview, review } from './reviews.ts';
import { controllerRevision, podTemplate } from './revisions.ts';
import { service } from './service.ts';
import { serviceAccount } from './service-account.ts';
import {
  csiDriver,
  csiNode,
  csiStorageCapacity,
  persistentVolume,
  persistentVolumeClaim,
  storageClass,
  volumeAttachment,
  volumeAttributesClass,
} from './storage.ts';
import { daemonSet, deployment, replicaSet, replicationController, statefulSet } from './workloads.ts';

const PLAIN: Behaviour = behaviour();

const BY_GROUP: Readonly<Record<string, Readonly<Record<string, Behaviour>>>> = {
  '': {
    ConfigMap: configMap,
    Endpoints: endpoints,
    Event: coreEvent,
    LimitRange: limitRange,
    Namespace: namespace,
    Node: node,
    PersistentVolume: persistentVolume,
    PersistentVolumeClaim: persistentVolumeClaim,
    Pod: pod,
    PodTemplate: podTemplate,
    ReplicationController: replicationController,
    ResourceQuota: resourceQuota,
    Secret: secret,
    Service: service,
    ServiceAccount: serviceAccount,
  },
  'admissionregistration.k8s.io': {
    MutatingWebhookConfiguration: mutatingWebhooks,
    ValidatingAdmissionPolicy: validatingPolicy,
    ValidatingAdmissionPolicyBinding: validatingPolicyBinding,
    ValidatingWebhookConfiguration: validatingWebhooks,
  },
  'apiextensions.k8s.io': { CustomResourceDefinition: customResourceDefinition },
  'apiregistration.k8s.io': { APIService: apiService },
  apps: {
    ControllerRevision: controllerRevision,
    DaemonSet: daemonSet,
    Deployment: deployment,
    ReplicaSet: replicaSet,
    StatefulSet: statefulSet,
  },
  autoscaling: { HorizontalPodAutoscaler: horizontalPodAutoscaler },
  batch: { CronJob: cronJob, Job: job },
  'certificates.k8s.io': { CertificateSigningRequest: certificateSigningRequest },
  'coordination.k8s.io': { Lease: lease },
  'discovery.k8s.io': { EndpointSlice: endpointSlice },
  'events.k8s.io': { Event: newEvent },
  'flowcontrol.apiserver.k8s.io': {
    FlowSchema: flowSchema,
    PriorityLevelConfiguration: priorityLevelConfiguration,
  },
  'networking.k8s.io': {
    Ingress: ingress,
    IngressClass: ingressClass,
    NetworkPolicy: networkPolicy,
    ServiceCIDR: behaviour({ statusKeeps: KEEPS_OWNED_METADATA }),
  },
  'node.k8s.io': { RuntimeClass: behaviour({ createOnUpdate: true, unconditionalUpdate: false }) },
  policy: { PodDisruptionBudget: podDisruptionBudget },
  'rbac.authorization.k8s.io': {
    ClusterRole: clusterRole,
    ClusterRoleBinding: clusterRoleBinding,
    Role: role,
    RoleBinding: roleBinding,
  },
  'resource.k8s.io': {
    DeviceClass: behaviour({ countsGeneration: true, returnsDeleted: true }),
    ResourceClaim: resourceClaim,
    ResourceClaimTemplate: resourceClaimTemplate,
    ResourceSlice: behaviour({ countsGeneration: true, returnsDeleted: true }),
  },
  'scheduling.k8s.io': { PriorityClass: priorityClass },
  'storage.k8s.io': {
    CSIDriver: csiDriver,
    CSINode: csiNode,
    CSIStorageCapacity: csiStorageCapacity,
    StorageClass: storageClass,
    VolumeAttachment: volumeAttachment,
    VolumeAttributesClass: volumeAttributesClass,
  },
};

/** The behavior of a built-in kind. Names come from the table of kinds, never from a request. */
export function behaviourFor(group: string, kind: string): Behaviour {
  if (isReview(kind)) return review(kind);
  return BY_GROUP[group]?.[kind] ?? PLAIN;
}
