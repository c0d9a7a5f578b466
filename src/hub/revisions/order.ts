// The order of the selected objects. It is part of the hash, so another order would create a new revision of every
// placement.
import { apiVersionOf } from '../../api/object.ts';
import { byText } from '../../base/compare.ts';

export interface Ordered {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
}

/** By the name of the kind, whatever its group. Members apply objects in another order. */
const KINDS = [
  'PriorityClass',
  'Namespace',
  'NetworkPolicy',
  'ResourceQuota',
  'LimitRange',
  'PodDisruptionBudget',
  'ServiceAccount',
  'Secret',
  'ConfigMap',
  'StorageClass',
  'PersistentVolume',
  'PersistentVolumeClaim',
  'CustomResourceDefinition',
  'ClusterRole',
  'ClusterRoleBinding',
  'Role',
  'RoleBinding',
  'Service',
  'DaemonSet',
  'Pod',
  'ReplicationController',
  'ReplicaSet',
  'Deployment',
  'HorizontalPodAutoscaler',
  'StatefulSet',
  'Job',
  'CronJob',
  'IngressClass',
  'Ingress',
  'APIService',
  'MutatingWebhookConfiguration',
  'ValidatingWebhookConfiguration',
];
const RANKS: ReadonlyMap<string, number> = new Map(KINDS.map((kind, rank) => [kind, rank]));

const placeOf = ({ namespace = '', name }: Ordered): string => `${namespace}/${name}`;
const fullKindOf = ({ group, version, kind }: Ordered): string => `${group}/${version}, Kind=${kind}`;

/** A total order over distinct objects. */
export function inOrder(a: Ordered, b: Ordered): number {
  const rankA = RANKS.get(a.kind) ?? KINDS.length;
  const rankB = RANKS.get(b.kind) ?? KINDS.length;
  if (rankA !== rankB) return rankA - rankB;
  const byKind =
    rankA === KINDS.length
      ? byText(fullKindOf(a), fullKindOf(b))
      : byText(apiVersionOf(a.group, a.version), apiVersionOf(b.group, b.version));
  return byKind === 0 ? byText(placeOf(a), placeOf(b)) : byKind;
}
