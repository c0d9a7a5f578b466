// Built-in objects before they are stored. Drafts have been decoded against the facts, so a present field has the type
// named here, and every field may be absent.
import type * as shapes from '../../api/builtin/shapes.ts';
import type { LabelSelector } from '../../base/selector.ts';

type Draft<T> = shapes.Draft<T>;

export type SelectorDraft = Draft<LabelSelector>;
export type ClaimSpec = Draft<shapes.ClaimSpec>;
export type Condition = Draft<shapes.Condition>;
export type Container = Draft<shapes.Container>;
export type ContainerPort = Draft<shapes.ContainerPort>;
export type DownwardItems = Draft<shapes.DownwardItems>;
export type EnvVar = Draft<shapes.EnvVar>;
export type FieldRef = Draft<shapes.FieldRef>;
export type Handler = Draft<shapes.Handler>;
export type JobSpec = Draft<shapes.JobSpec>;
export type KeyRef = Draft<shapes.KeyRef>;
export type NodeSelectorTerm = Draft<shapes.NodeSelectorTerm>;
export type NodeSpec = Draft<shapes.NodeSpec>;
export type PodSpec = Draft<shapes.PodSpec>;
export type PodTemplate = Draft<shapes.PodTemplate>;
export type Probe = Draft<shapes.Probe>;
export type Quantities = Draft<shapes.Quantities>;
export type Resources = Draft<shapes.Resources>;
export type ServicePort = Draft<shapes.ServicePort>;
export type ServiceSpec = Draft<shapes.ServiceSpec>;
export type Taint = Draft<shapes.Taint>;
export type Toleration = Draft<shapes.Toleration>;
export type Volume = Draft<shapes.Volume>;
export type VolumeMount = Draft<shapes.VolumeMount>;

/** The common fields of Deployments, ReplicaSets, StatefulSets, DaemonSets and ReplicationControllers. */
export type WorkloadSpec = Draft<shapes.DeploymentSpec & shapes.StatefulSetSpec & shapes.DaemonSetSpec>;
export type RollingUpdate = NonNullable<NonNullable<WorkloadSpec['strategy']>['rollingUpdate']> &
  NonNullable<NonNullable<WorkloadSpec['updateStrategy']>['rollingUpdate']>;
