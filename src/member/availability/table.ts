// How availability is determined, by kind. Group and version must match exactly: another version may have another
// status.
import type { IgnoredCondition } from '../../api/ignored-condition.ts';
import type { Resource } from '../../api/kind.ts';
import type { KubeObject } from '../../api/object.ts';
import { definition } from './definition.ts';
import { disruptionBudget } from './disruption-budget.ts';
import { withoutIgnored } from './ignored-conditions.ts';
import { job } from './job.ts';
import { service } from './service.ts';
import { serviceExport } from './service-export.ts';
import { atOnce, type Rule, untracked, type Verdict } from './verdict.ts';
import { daemonSet, deployment, statefulSet } from './workloads.ts';

/** Data: available once it exists. */
const DATA = [
  '/v1/namespaces',
  '/v1/secrets',
  '/v1/configmaps',
  '/v1/serviceaccounts',
  '/v1/limitranges',
  '/v1/resourcequotas',
  'rbac.authorization.k8s.io/v1/roles',
  'rbac.authorization.k8s.io/v1/clusterroles',
  'rbac.authorization.k8s.io/v1/rolebindings',
  'rbac.authorization.k8s.io/v1/clusterrolebindings',
  'networking.k8s.io/v1/networkpolicies',
  'networking.k8s.io/v1/ingressclasses',
  'storage.k8s.io/v1/csidrivers',
  'storage.k8s.io/v1/csinodes',
  'storage.k8s.io/v1/storageclasses',
  'storage.k8s.io/v1/csistoragecapacities',
  'apps/v1/controllerrevisions',
  'scheduling.k8s.io/v1/priorityclasses',
];

const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ['apps/v1/deployments', deployment],
  ['apps/v1/statefulsets', statefulSet],
  ['apps/v1/daemonsets', daemonSet],
  ['/v1/services', service],
  ['apiextensions.k8s.io/v1/customresourcedefinitions', definition],
  ['policy/v1/poddisruptionbudgets', disruptionBudget],
  ['batch/v1/jobs', job],
  ...DATA.map((text): [string, Rule] => [text, atOnce]),
]);

/** In every version that is served. */
const isServiceExport = ({ group, plural }: Resource): boolean =>
  group === 'networking.fleet.azure.com' && plural === 'serviceexports';

/** `ignore`: conditions that do not count. */
export function verdictOf(resource: Resource, object: KubeObject, ignore?: readonly IgnoredCondition[]): Verdict {
  const rule = isServiceExport(resource)
    ? serviceExport
    : RULES.get(`${resource.group}/${resource.version}/${resource.plural}`);
  if (rule === undefined) return untracked;
  const { live, ignored } = withoutIgnored(object, ignore);
  return rule(live, ignored);
}
