// What the rules read of built-in objects: only the fields that decide something. Objects come from an API server that has filled in
// defaults and refused nonsense, so what Kubernetes always sets is required here.
import type { KubeObject, Labels, OwnerReference } from '../../api/object.ts';
import type { IntOrPercent } from '../../base/int-or-percent.ts';
import type { LabelSelector } from '../../base/selector.ts';

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
  readonly lastUpdateTime?: string;
  readonly observedGeneration?: number;
}

export interface Container {
  readonly name: string;
  readonly image?: string;
  readonly resources?: { readonly requests?: Readonly<Record<string, string | number>> };
  readonly restartPolicy?: string;
  readonly [field: string]: unknown;
}

export interface Toleration {
  readonly key?: string;
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
}

export interface Requirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

export interface NodeSelectorTerm {
  readonly matchExpressions?: readonly Requirement[];
  readonly matchFields?: readonly Requirement[];
}

export interface PodSpec {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly nodeName?: string;
  readonly nodeSelector?: Labels;
  readonly affinity?: {
    readonly nodeAffinity?: {
      readonly requiredDuringSchedulingIgnoredDuringExecution?: {
        readonly nodeSelectorTerms: readonly NodeSelectorTerm[];
      };
    };
    readonly [field: string]: unknown;
  };
  readonly tolerations?: readonly Toleration[];
  readonly restartPolicy?: string;
  readonly schedulerName?: string;
  readonly schedulingGates?: readonly unknown[];
  readonly readinessGates?: readonly { readonly conditionType: string }[];
  readonly hostNetwork?: boolean;
  readonly [field: string]: unknown;
}

export interface ContainerStatus {
  readonly name: string;
  readonly ready: boolean;
  readonly restartCount: number;
  readonly state?: {
    readonly waiting?: { readonly reason?: string; readonly message?: string };
    readonly running?: { readonly startedAt?: string };
    readonly terminated?: { readonly exitCode: number; readonly finishedAt?: string };
  };
  readonly lastState?: { readonly terminated?: { readonly finishedAt?: string } };
  readonly [field: string]: unknown;
}

export interface PodStatus {
  readonly phase?: string;
  readonly startTime?: string;
  readonly podIP?: string;
  readonly hostIP?: string;
  readonly conditions?: readonly Condition[];
  readonly containerStatuses?: readonly ContainerStatus[];
  readonly [field: string]: unknown;
}

export type Pod = KubeObject<PodSpec, PodStatus>;

export interface PodTemplate {
  readonly metadata?: { readonly labels?: Labels; readonly annotations?: Labels };
  readonly spec: PodSpec;
}

export interface DeploymentSpec {
  readonly replicas: number;
  readonly selector: LabelSelector;
  readonly template: PodTemplate;
  readonly strategy: {
    readonly type: string;
    readonly rollingUpdate?: { readonly maxSurge?: IntOrPercent; readonly maxUnavailable?: IntOrPercent };
  };
  readonly minReadySeconds?: number;
  readonly revisionHistoryLimit?: number;
  readonly progressDeadlineSeconds?: number;
  readonly paused?: boolean;
}

export interface DeploymentStatus {
  readonly observedGeneration?: number;
  readonly replicas?: number;
  readonly updatedReplicas?: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
  readonly unavailableReplicas?: number;
  readonly collisionCount?: number;
  readonly conditions?: readonly Condition[];
}

export type Deployment = KubeObject<DeploymentSpec, DeploymentStatus>;

export interface ReplicaSetSpec {
  readonly replicas: number;
  readonly selector: LabelSelector;
  readonly template: PodTemplate;
  readonly minReadySeconds?: number;
}

export interface ReplicaSetStatus {
  readonly observedGeneration?: number;
  readonly replicas: number;
  readonly fullyLabeledReplicas?: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
}

export type ReplicaSet = KubeObject<ReplicaSetSpec, ReplicaSetStatus>;

export interface StatefulSetSpec {
  readonly replicas: number;
  readonly serviceName?: string;
  readonly selector: LabelSelector;
  readonly template: PodTemplate;
  readonly podManagementPolicy?: string;
  readonly updateStrategy: { readonly type: string; readonly rollingUpdate?: { readonly partition?: number } };
  readonly ordinals?: { readonly start?: number };
  readonly minReadySeconds?: number;
  readonly revisionHistoryLimit?: number;
  readonly volumeClaimTemplates?: readonly KubeObject[];
}

export interface StatefulSetStatus {
  readonly observedGeneration?: number;
  readonly replicas: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
  readonly currentReplicas?: number;
  readonly updatedReplicas?: number;
  readonly currentRevision?: string;
  readonly updateRevision?: string;
  readonly collisionCount?: number;
  readonly conditions?: readonly Condition[];
}

export type StatefulSet = KubeObject<StatefulSetSpec, StatefulSetStatus>;

export interface DaemonSetSpec {
  readonly selector: LabelSelector;
  readonly template: PodTemplate;
  readonly updateStrategy: {
    readonly type: string;
    readonly rollingUpdate?: { readonly maxSurge?: IntOrPercent; readonly maxUnavailable?: IntOrPercent };
  };
  readonly minReadySeconds?: number;
  readonly revisionHistoryLimit?: number;
}

export interface DaemonSetStatus {
  readonly observedGeneration?: number;
  readonly desiredNumberScheduled: number;
  readonly currentNumberScheduled: number;
  readonly updatedNumberScheduled?: number;
  readonly numberMisscheduled: number;
  readonly numberReady: number;
  readonly numberAvailable?: number;
  readonly numberUnavailable?: number;
  readonly conditions?: readonly Condition[];
}

export type DaemonSet = KubeObject<DaemonSetSpec, DaemonSetStatus>;

export type ControllerRevision = KubeObject & {
  readonly revision: number;
  readonly data?: { readonly spec?: { readonly template?: PodTemplate } };
};

export interface JobSpec {
  readonly parallelism: number;
  readonly completions?: number;
  readonly backoffLimit: number;
  readonly completionMode?: string;
  readonly suspend?: boolean;
  readonly activeDeadlineSeconds?: number;
  readonly ttlSecondsAfterFinished?: number;
  readonly template: PodTemplate;
}

export interface JobStatus {
  readonly startTime?: string;
  readonly completionTime?: string;
  readonly active?: number;
  readonly ready?: number;
  readonly terminating?: number;
  readonly succeeded?: number;
  readonly failed?: number;
  readonly completedIndexes?: string;
  readonly uncountedTerminatedPods?: object;
  readonly conditions?: readonly Condition[];
}

export type Job = KubeObject<JobSpec, JobStatus>;

export interface BudgetSpec {
  readonly minAvailable?: IntOrPercent;
  readonly maxUnavailable?: IntOrPercent;
  readonly selector?: LabelSelector;
}

export interface BudgetStatus {
  readonly observedGeneration?: number;
  readonly disruptionsAllowed: number;
  readonly currentHealthy: number;
  readonly desiredHealthy: number;
  readonly expectedPods: number;
  readonly disruptedPods?: Readonly<Record<string, string>>;
  readonly conditions?: readonly Condition[];
}

export type Budget = KubeObject<BudgetSpec, BudgetStatus>;

export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
}

export interface NodeSpec {
  readonly taints?: readonly Taint[];
  readonly unschedulable?: boolean;
}

export interface NodeStatus {
  readonly capacity?: Readonly<Record<string, string>>;
  readonly allocatable?: Readonly<Record<string, string>>;
  readonly addresses?: readonly { readonly type: string; readonly address: string }[];
  readonly conditions?: readonly (Condition & { readonly lastHeartbeatTime?: string })[];
  readonly [field: string]: unknown;
}

export type Node = KubeObject<NodeSpec, NodeStatus>;

export type Lease = KubeObject<{ readonly holderIdentity?: string; readonly renewTime?: string }>;

export interface ServiceSpec {
  readonly type?: string;
  readonly loadBalancerClass?: string;
  readonly loadBalancerIP?: string;
}

export interface ServiceStatus {
  readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string; readonly ipMode?: string }[] };
  readonly [field: string]: unknown;
}

export type Service = KubeObject<ServiceSpec, ServiceStatus>;

export type ServiceExport = KubeObject<unknown, { readonly conditions?: readonly Condition[] }>;

/** Who manages an object: the one owner reference that says so. */
export const controllerOf = ({ metadata }: KubeObject): OwnerReference | undefined =>
  metadata.ownerReferences?.find((owner) => owner.controller === true);

export const isDeleting = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined;

export const conditionOf = <C extends Condition>(conditions: readonly C[] | undefined, type: string): C | undefined =>
  conditions?.find((condition) => condition.type === type);

/** Epoch milliseconds of a Kubernetes time; an absent one is long ago. */
export const timeOf = (text: string | undefined): number => (text === undefined ? 0 : Date.parse(text));
