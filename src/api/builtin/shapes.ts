// The shapes of built-in objects: for each kind the fields that Flotilla reads or sets. They describe the stored
// object, so a field that the API server always sets is required; the request body is the `Draft` of a shape.
import type { IntOrPercent } from '../../base/int-or-percent.ts';
import type { LabelSelector } from '../../base/selector.ts';
import type { KubeObject, Labels, OwnerReference } from '../object.ts';

/** An incomplete, mutable shape: every field may be absent. */
export type Draft<T> = unknown extends T
  ? T
  : T extends readonly (infer Item)[]
    ? Draft<Item>[]
    : T extends object
      ? IsMap<T> extends true
        ? { -readonly [K in keyof T]: T[K] }
        : { -readonly [K in keyof T]?: Draft<T[K]> }
      : T;

/** A map with arbitrary keys to values of one type. */
type IsMap<T> = string extends keyof T ? (unknown extends T[string & keyof T] ? false : true) : false;

/** Resource name to quantity. */
export type Quantities = Readonly<Record<string, string | number>>;

export interface TemplateMeta {
  readonly name?: string;
  readonly labels?: Labels;
  readonly annotations?: Labels;
  readonly ownerReferences?: readonly OwnerReference[];
}

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
  readonly lastUpdateTime?: string;
  readonly observedGeneration?: number;
}

export interface KeyRef {
  readonly name?: string;
  readonly key?: string;
  readonly optional?: boolean;
}

export interface FieldRef {
  readonly apiVersion?: string;
  readonly fieldPath?: string;
}

export interface EnvVar {
  readonly name?: string;
  readonly value?: string;
  readonly valueFrom?: {
    readonly fieldRef?: FieldRef;
    readonly resourceFieldRef?: { readonly resource?: string; readonly divisor?: string };
    readonly configMapKeyRef?: KeyRef;
    readonly secretKeyRef?: KeyRef;
    readonly fileKeyRef?: object;
  };
}

export interface HttpGet {
  readonly path?: string;
  readonly port?: IntOrPercent;
  readonly scheme?: string;
}

export interface Handler {
  readonly exec?: { readonly command?: readonly string[] };
  readonly httpGet?: HttpGet;
  readonly tcpSocket?: { readonly port?: IntOrPercent };
  readonly grpc?: { readonly port?: number; readonly service?: string };
  readonly sleep?: { readonly seconds?: number };
}

export interface Probe extends Handler {
  readonly initialDelaySeconds?: number;
  readonly timeoutSeconds?: number;
  readonly periodSeconds?: number;
  readonly successThreshold?: number;
  readonly failureThreshold?: number;
  readonly terminationGracePeriodSeconds?: number;
}

export interface ContainerPort {
  readonly name?: string;
  readonly hostPort?: number;
  readonly containerPort?: number;
  readonly protocol?: string;
  readonly hostIP?: string;
}

export interface VolumeMount {
  readonly name?: string;
  readonly mountPath?: string;
  readonly subPath?: string;
  readonly subPathExpr?: string;
  readonly readOnly?: boolean;
}

export interface Resources {
  readonly limits?: Quantities;
  readonly requests?: Quantities;
  readonly claims?: readonly { readonly name?: string }[];
}

export interface Container {
  readonly name: string;
  readonly image?: string;
  readonly resources?: Resources;
  readonly restartPolicy?: string;
  readonly restartPolicyRules?: unknown;
  readonly ports?: readonly ContainerPort[];
  readonly env?: readonly EnvVar[];
  readonly envFrom?: readonly {
    readonly prefix?: string;
    readonly configMapRef?: KeyRef;
    readonly secretRef?: KeyRef;
  }[];
  readonly volumeMounts?: readonly VolumeMount[];
  readonly volumeDevices?: readonly { readonly name?: string; readonly devicePath?: string }[];
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly startupProbe?: Probe;
  readonly lifecycle?: { readonly postStart?: Handler; readonly preStop?: Handler };
  readonly terminationMessagePath?: string;
  readonly terminationMessagePolicy?: string;
  readonly imagePullPolicy?: string;
  readonly securityContext?: { readonly privileged?: boolean };
  readonly [field: string]: unknown;
}

export interface DownwardItems {
  readonly items?: readonly {
    readonly path?: string;
    readonly fieldRef?: FieldRef;
    readonly resourceFieldRef?: { readonly resource?: string; readonly divisor?: string };
  }[];
  readonly defaultMode?: number;
}

export interface ClaimSpec {
  readonly accessModes?: readonly string[];
  readonly resources?: Resources;
  readonly volumeMode?: string;
  readonly volumeName?: string;
  readonly storageClassName?: string;
  readonly selector?: LabelSelector;
}

export interface Volume {
  readonly name?: string;
  readonly emptyDir?: { readonly medium?: string; readonly sizeLimit?: string };
  readonly hostPath?: { readonly path?: string; readonly type?: string };
  readonly secret?: { readonly secretName?: string; readonly defaultMode?: number };
  readonly configMap?: { readonly name?: string; readonly defaultMode?: number };
  readonly downwardAPI?: DownwardItems;
  readonly projected?: {
    readonly sources?: readonly {
      readonly serviceAccountToken?: { readonly expirationSeconds?: number; readonly path?: string };
      readonly downwardAPI?: DownwardItems;
    }[];
    readonly defaultMode?: number;
  };
  readonly ephemeral?: {
    readonly volumeClaimTemplate?: { readonly metadata?: TemplateMeta; readonly spec?: ClaimSpec };
  };
  readonly persistentVolumeClaim?: { readonly claimName?: string };
  readonly image?: { readonly reference?: string; readonly pullPolicy?: string };
  readonly [source: string]: unknown;
}

export interface Toleration {
  readonly key?: string;
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
  readonly tolerationSeconds?: number;
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
      readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly {
        readonly weight?: number;
        readonly preference?: NodeSelectorTerm;
      }[];
    };
    readonly [field: string]: unknown;
  };
  readonly tolerations?: readonly Toleration[];
  readonly restartPolicy?: string;
  readonly schedulerName?: string;
  readonly schedulingGates?: readonly { readonly name?: string }[];
  readonly readinessGates?: readonly { readonly conditionType: string }[];
  readonly hostNetwork?: boolean;
  readonly overhead?: Quantities;
  /** Pod-level requests; they replace the requests of the containers. */
  readonly resources?: Resources;
  readonly volumes?: readonly Volume[];
  readonly ephemeralContainers?: readonly Container[];
  readonly terminationGracePeriodSeconds?: number;
  readonly activeDeadlineSeconds?: number;
  readonly dnsPolicy?: string;
  readonly serviceAccountName?: string;
  readonly serviceAccount?: string;
  readonly automountServiceAccountToken?: boolean;
  readonly securityContext?: object;
  readonly imagePullSecrets?: readonly { readonly name?: string }[];
  readonly hostname?: string;
  readonly subdomain?: string;
  readonly priorityClassName?: string;
  readonly priority?: number;
  readonly preemptionPolicy?: string;
  readonly enableServiceLinks?: boolean;
  readonly dnsConfig?: { readonly nameservers?: readonly string[] };
  readonly hostAliases?: readonly { readonly ip?: string; readonly hostnames?: readonly string[] }[];
  readonly os?: { readonly name?: string };
  readonly runtimeClassName?: string;
  readonly topologySpreadConstraints?: readonly {
    readonly maxSkew?: number;
    readonly topologyKey?: string;
    readonly whenUnsatisfiable?: string;
    readonly labelSelector?: LabelSelector;
  }[];
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
  readonly metadata?: TemplateMeta;
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
  readonly updateStrategy: {
    readonly type: string;
    readonly rollingUpdate?: { readonly partition?: number; readonly maxUnavailable?: IntOrPercent };
  };
  readonly ordinals?: { readonly start?: number };
  readonly minReadySeconds?: number;
  readonly revisionHistoryLimit?: number;
  readonly persistentVolumeClaimRetentionPolicy?: { readonly whenDeleted?: string; readonly whenScaled?: string };
  readonly volumeClaimTemplates?: readonly KubeObject<ClaimSpec, { readonly phase?: string }>[];
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
  readonly backoffLimitPerIndex?: number;
  readonly maxFailedIndexes?: number;
  readonly managedBy?: string;
  readonly selector?: LabelSelector;
  readonly manualSelector?: boolean;
  readonly podReplacementPolicy?: string;
  readonly podFailurePolicy?: {
    readonly rules?: readonly { readonly onPodConditions?: readonly { readonly status?: string }[] }[];
  };
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
  readonly podCIDR?: string;
  readonly podCIDRs?: readonly string[];
  readonly providerID?: string;
  readonly taints?: readonly Taint[];
  readonly unschedulable?: boolean;
  readonly [field: string]: unknown;
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

export interface ServicePort {
  readonly name?: string;
  readonly protocol?: string;
  readonly port?: number;
  readonly targetPort?: IntOrPercent;
  readonly nodePort?: number;
  readonly appProtocol?: string;
}

export interface ServiceSpec {
  readonly type?: string;
  readonly loadBalancerClass?: string;
  readonly loadBalancerIP?: string;
  readonly ports?: readonly ServicePort[];
  readonly selector?: Labels;
  readonly clusterIP?: string;
  readonly clusterIPs?: readonly string[];
  readonly externalIPs?: readonly string[];
  readonly externalName?: string;
  readonly externalTrafficPolicy?: string;
  readonly internalTrafficPolicy?: string;
  readonly sessionAffinity?: string;
  readonly sessionAffinityConfig?: { readonly clientIP?: { readonly timeoutSeconds?: number } };
  readonly ipFamilies?: readonly string[];
  readonly ipFamilyPolicy?: string;
  readonly healthCheckNodePort?: number;
  readonly allocateLoadBalancerNodePorts?: boolean;
  readonly loadBalancerSourceRanges?: readonly string[];
  readonly trafficDistribution?: string;
}

export interface ServiceStatus {
  readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string; readonly ipMode?: string }[] };
  readonly [field: string]: unknown;
}

export type Service = KubeObject<ServiceSpec, ServiceStatus>;

export type ServiceExport = KubeObject<unknown, { readonly conditions?: readonly Condition[] }>;
