// The order in which the objects of one Work are applied: dependencies first. Objects of the same wave are applied in
// parallel.
import type { Resource } from '../../api/kind.ts';
import { byNumber } from '../../base/compare.ts';

const WAVES: readonly (readonly string[])[] = [
  ['namespaces', 'priorityclasses'],
  [
    'networkpolicies',
    'resourcequotas',
    'limitranges',
    'podsecuritypolicies',
    'poddisruptionbudgets',
    'serviceaccounts',
    'secrets',
    'configmaps',
    'storageclasses',
    'persistentvolumes',
    'persistentvolumeclaims',
    'customresourcedefinitions',
    'ingressclasses',
  ],
  ['clusterroles', 'roles'],
  ['clusterrolebindings', 'rolebindings'],
  [
    'services',
    'daemonsets',
    'pods',
    'replicationcontrollers',
    'replicasets',
    'deployments',
    'horizontalpodautoscalers',
    'statefulsets',
    'jobs',
    'cronjobs',
    'ingresses',
  ],
  ['apiservices', 'validatingwebhookconfigurations', 'mutatingwebhookconfigurations'],
];

/** Only in these groups: a custom resource may have the plural of a built-in one. */
const GROUPS: ReadonlySet<string> = new Set([
  '',
  'networking.k8s.io',
  'scheduling.k8s.io',
  'policy',
  'storage.k8s.io',
  'apiextensions.k8s.io',
  'rbac.authorization.k8s.io',
  'apps',
  'autoscaling',
  'apiregistration.k8s.io',
  'admissionregistration.k8s.io',
  'batch',
]);

export const LAST_WAVE = 999;

const WAVE_OF: ReadonlyMap<string, number> = new Map(
  WAVES.flatMap((plurals, wave) => plurals.map((plural): [string, number] => [plural, wave])),
);

export const waveOf = ({ group, plural }: Pick<Resource, 'group' | 'plural'>): number =>
  GROUPS.has(group) ? (WAVE_OF.get(plural) ?? LAST_WAVE) : LAST_WAVE;

/** Sorted by wave. */
export function inWaves<T>(items: readonly T[], waveIn: (item: T) => number): T[][] {
  const waves = new Map<number, T[]>();
  for (const item of items) {
    const wave = waveIn(item);
    const group = waves.get(wave);
    if (group === undefined) waves.set(wave, [item]);
    else group.push(item);
  }
  return [...waves].sort(([a], [b]) => byNumber(a, b)).map(([, group]) => group);
}
