// Keeps the rules of aggregated ClusterRoles equal to the union of what their selectors pick.
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
      // Any role may be a part of any aggregate, also of one that is itself a part of another.
      for (const each of aggregated) want(each);
    },
    async work(key) {
      const stored = headOf(cluster, key);
      const role = stored?.object();
      if (stored === undefined || role === undefined || !isAggregated(role)) return;
      const roles = cluster.store.range(ROLES).items.map((each) => each.object());
      const rules = aggregatedRules(role, roles);
      if (isSameSet(rules, role.rules)) return;
      await replaceObject(cluster, stored, { ...role, rules } as KubeObject);
    },
  };
}

/** The order of rules means nothing, so a different order is no reason to write. */
function isSameSet(rules: readonly unknown[], old: unknown): boolean {
  const before = Array.isArray(old) ? old : [];
  return rules.length === before.length && rules.every((rule) => before.some((each) => deepEqual(rule, each)));
}
