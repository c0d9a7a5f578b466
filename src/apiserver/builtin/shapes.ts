// The parts of built-in kinds that the server itself looks at. Drafts have been decoded against the facts by the time these are
// used, so a field that is present has the type named here; only what behaviours read or set is listed.
import type { Labels, OwnerReference } from '../../api/object.ts';

export type IntOrString = number | string;
/** Resource name to quantity. */
export type Quantities = Record<string, string | number>;

export interface SelectorShape {
  matchLabels?: Labels;
  matchExpressions?: { key?: string; operator?: string; values?: string[] }[];
}

export interface MetaShape {
  name?: string;
  labels?: Labels;
  annotations?: Labels;
  ownerReferences?: OwnerReference[];
}

export interface KeyRef {
  name?: string;
  key?: string;
  optional?: boolean;
}

export interface FieldRef {
  apiVersion?: string;
  fieldPath?: string;
}

export interface EnvVar {
  name?: string;
  value?: string;
  valueFrom?: {
    fieldRef?: FieldRef;
    resourceFieldRef?: { resource?: string; divisor?: string };
    configMapKeyRef?: KeyRef;
    secretKeyRef?: KeyRef;
    fileKeyRef?: object;
  };
}

export interface HttpGet {
  path?: string;
  port?: IntOrString;
  scheme?: string;
}

export interface Handler {
  exec?: { command?: string[] };
  httpGet?: HttpGet;
  tcpSocket?: { port?: IntOrString };
  grpc?: { port?: number; service?: string };
  sleep?: { seconds?: number };
}

export interface Probe extends Handler {
  initialDelaySeconds?: number;
  timeoutSeconds?: number;
  periodSeconds?: number;
  successThreshold?: number;
  failureThreshold?: number;
  terminationGracePeriodSeconds?: number;
}

export interface ContainerPort {
  name?: string;
  hostPort?: number;
  containerPort?: number;
  protocol?: string;
  hostIP?: string;
}

export interface VolumeMount {
  name?: string;
  mountPath?: string;
  subPath?: string;
  subPathExpr?: string;
  readOnly?: boolean;
}

export interface Resources {
  limits?: Quantities;
  requests?: Quantities;
  claims?: { name?: string }[];
}

export interface Container {
  restartPolicyRules?: unknown;
  name?: string;
  image?: string;
  ports?: ContainerPort[];
  env?: EnvVar[];
  envFrom?: { prefix?: string; configMapRef?: KeyRef; secretRef?: KeyRef }[];
  resources?: Resources;
  restartPolicy?: string;
  volumeMounts?: VolumeMount[];
  volumeDevices?: { name?: string; devicePath?: string }[];
  livenessProbe?: Probe;
  readinessProbe?: Probe;
  startupProbe?: Probe;
  lifecycle?: { postStart?: Handler; preStop?: Handler };
  terminationMessagePath?: string;
  terminationMessagePolicy?: string;
  imagePullPolicy?: string;
  securityContext?: { privileged?: boolean };
}

export interface DownwardItems {
  items?: { path?: string; fieldRef?: FieldRef; resourceFieldRef?: { resource?: string; divisor?: string } }[];
  defaultMode?: number;
}

export interface ClaimSpec {
  accessModes?: string[];
  resources?: Resources;
  volumeMode?: string;
  volumeName?: string;
  storageClassName?: string;
  selector?: SelectorShape;
}

export interface Volume {
  name?: string;
  emptyDir?: { medium?: string; sizeLimit?: string };
  hostPath?: { path?: string; type?: string };
  secret?: { secretName?: string; defaultMode?: number };
  configMap?: { name?: string; defaultMode?: number };
  downwardAPI?: DownwardItems;
  projected?: {
    sources?: {
      serviceAccountToken?: { expirationSeconds?: number; path?: string };
      downwardAPI?: DownwardItems;
    }[];
    defaultMode?: number;
  };
  ephemeral?: { volumeClaimTemplate?: { metadata?: MetaShape; spec?: ClaimSpec } };
  persistentVolumeClaim?: { claimName?: string };
  image?: { reference?: string; pullPolicy?: string };
  [source: string]: unknown;
}

export interface Toleration {
  key?: string;
  operator?: string;
  value?: string;
  effect?: string;
  tolerationSeconds?: number;
}

export interface NodeSelectorTerm {
  matchExpressions?: { key?: string; operator?: string; values?: string[] }[];
  matchFields?: { key?: string; operator?: string; values?: string[] }[];
}

export interface PodSpec {
  volumes?: Volume[];
  initContainers?: Container[];
  containers?: Container[];
  ephemeralContainers?: Container[];
  restartPolicy?: string;
  terminationGracePeriodSeconds?: number;
  activeDeadlineSeconds?: number;
  dnsPolicy?: string;
  nodeSelector?: Labels;
  serviceAccountName?: string;
  serviceAccount?: string;
  automountServiceAccountToken?: boolean;
  nodeName?: string;
  hostNetwork?: boolean;
  securityContext?: object;
  imagePullSecrets?: { name?: string }[];
  hostname?: string;
  subdomain?: string;
  affinity?: {
    nodeAffinity?: {
      requiredDuringSchedulingIgnoredDuringExecution?: { nodeSelectorTerms?: NodeSelectorTerm[] };
      preferredDuringSchedulingIgnoredDuringExecution?: { weight?: number; preference?: NodeSelectorTerm }[];
    };
  };
  schedulerName?: string;
  tolerations?: Toleration[];
  priorityClassName?: string;
  priority?: number;
  preemptionPolicy?: string;
  enableServiceLinks?: boolean;
  schedulingGates?: { name?: string }[];
  readinessGates?: { conditionType?: string }[];
  dnsConfig?: { nameservers?: string[] };
  hostAliases?: { ip?: string; hostnames?: string[] }[];
  os?: { name?: string };
  runtimeClassName?: string;
  topologySpreadConstraints?: {
    maxSkew?: number;
    topologyKey?: string;
    whenUnsatisfiable?: string;
    labelSelector?: SelectorShape;
  }[];
  [field: string]: unknown;
}

export interface PodTemplate {
  metadata?: MetaShape;
  spec?: PodSpec;
}

export interface RollingUpdate {
  maxUnavailable?: IntOrString;
  maxSurge?: IntOrString;
  partition?: number;
}

export interface Strategy {
  type?: string;
  rollingUpdate?: RollingUpdate;
}

export interface WorkloadSpec {
  replicas?: number;
  selector?: SelectorShape;
  template?: PodTemplate;
  strategy?: Strategy;
  updateStrategy?: Strategy;
  minReadySeconds?: number;
  revisionHistoryLimit?: number;
  progressDeadlineSeconds?: number;
  podManagementPolicy?: string;
  serviceName?: string;
  persistentVolumeClaimRetentionPolicy?: { whenDeleted?: string; whenScaled?: string };
  volumeClaimTemplates?: {
    apiVersion?: string;
    kind?: string;
    metadata?: MetaShape;
    spec?: ClaimSpec;
    status?: { phase?: string };
  }[];
  ordinals?: { start?: number };
}

export interface JobSpec {
  parallelism?: number;
  completions?: number;
  activeDeadlineSeconds?: number;
  backoffLimit?: number;
  backoffLimitPerIndex?: number;
  maxFailedIndexes?: number;
  managedBy?: string;
  selector?: SelectorShape;
  manualSelector?: boolean;
  template?: PodTemplate;
  ttlSecondsAfterFinished?: number;
  completionMode?: string;
  suspend?: boolean;
  podReplacementPolicy?: string;
  podFailurePolicy?: { rules?: { onPodConditions?: { status?: string }[] }[] };
}

export interface ServicePort {
  name?: string;
  protocol?: string;
  port?: number;
  targetPort?: IntOrString;
  nodePort?: number;
  appProtocol?: string;
}

export interface ServiceSpec {
  type?: string;
  ports?: ServicePort[];
  selector?: Labels;
  clusterIP?: string;
  clusterIPs?: string[];
  externalIPs?: string[];
  externalName?: string;
  externalTrafficPolicy?: string;
  internalTrafficPolicy?: string;
  sessionAffinity?: string;
  sessionAffinityConfig?: { clientIP?: { timeoutSeconds?: number } };
  ipFamilies?: string[];
  ipFamilyPolicy?: string;
  healthCheckNodePort?: number;
  allocateLoadBalancerNodePorts?: boolean;
  loadBalancerIP?: string;
  loadBalancerClass?: string;
  loadBalancerSourceRanges?: string[];
  trafficDistribution?: string;
}
