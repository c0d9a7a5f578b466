// Keeps the rules of aggregated ClusterRoles equal to the union of the roles that their selectors match.
import type { KubeObject } from '../../api/object.ts';
import { deepEqual } from '../../base/json.ts';
import { aggregatedRules, isAggregated } from '../auth/aggregation.ts';
import type { Cluster } from '../cluster.ts';
import { prefixOf } from '../store/store.ts';
import type { Loop } from './loop.ts';
import { headOf, replaceObject } from './objects.ts';

const ROLES = prefixOf('rbac.authorization.k8s.io', 'clusterroles');

export function clusterRoleAggregation(cluster: Cluster): Loop {
  const aggregated = new Set<string>();
  return {
    name: 'cluster role aggregation',
    reset: () => aggregated.clear(),
    notice({ key, stored, deleted }, want) {
      if (!key.startsWith(ROLES)) return;
      if (!deleted && isAggregated(stored.object())) aggregated.add(key);
      else aggregated.delete(key);
      // Any role may be part of any aggregate, including one that is itself part of another.
      for (const each of aggregated) want(each);
    },
    async work(key) {
      const stored = headOf(cluster, key);
      const role = stored?.object();
      if (stored === undefined || role === undefined || !isAggregated(role)) return;
      const roles = cluster.store.range(ROLES).items.map((each) => each.object());
      if (isKnownRight(role, roles)) return;
      const rules = aggregatedRules(role, roles);
      if (isSameSet(rules, role.rules)) rememberRight(role, roles);
      else await replaceObject(cluster, stored, { ...role, rules } as KubeObject);
    },
  };
}

// The rules of every new cluster are the same frozen values in all clusters of a process, so they are checked only
// once.
const right = new WeakMap<object, readonly unknown[]>();

const inputOf = (role: KubeObject, roles: readonly KubeObject[]): readonly unknown[] => [
  role.aggregationRule,
  ...roles.flatMap(({ metadata, rules }) => [metadata.name, metadata.labels, rules]),
];

function isKnownRight(role: KubeObject, roles: readonly KubeObject[]): boolean {
  const known = typeof role.rules === 'object' && role.rules !== null ? right.get(role.rules) : undefined;
  if (known === undefined) return false;
  const input = inputOf(role, roles);
  return input.length === known.length && input.every((each, index) => each === known[index]);
}

function rememberRight(role: KubeObject, roles: readonly KubeObject[]): void {
  if (typeof role.rules === 'object' && role.rules !== null) right.set(role.rules, inputOf(role, roles));
}

/** The order of rules has no meaning, so a different order is not written. */
function isSameSet(rules: readonly unknown[], old: unknown): boolean {
  const before = Array.isArray(old) ? old : [];
  return rules.length === before.length && rules.every((rule) => before.some((each) => deepEqual(rule, each)));
}
