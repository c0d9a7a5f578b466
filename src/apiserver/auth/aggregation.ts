// The rules of a ClusterRole with an aggregationRule: those of all ClusterRoles that its selectors match.
import type { KubeObject } from '../../api/object.ts';
import { by } from '../../base/compare.ts';
import { canonicalJson, isObject } from '../../base/json.ts';
import { compileLabelSelector, type LabelSelector } from '../../base/selector.ts';
import type { PolicyRule } from '../cluster.ts';
import { rulesOf } from './binding-index.ts';

/** True if aggregation must keep its rules up to date. */
export const isAggregated = (role: KubeObject): boolean => isObject(role.aggregationRule);

/**
 * The union without duplicates: by selector, then by role name, then in the order of the role. The result does not
 * depend on the order of the input. An invalid selector matches nothing.
 */
export function aggregatedRules(role: KubeObject, clusterRoles: Iterable<KubeObject>): readonly PolicyRule[] {
  const others = [...clusterRoles]
    .filter((each) => each.metadata.name !== role.metadata.name)
    .sort(by((each) => each.metadata.name ?? ''));
  const rules = new Map<string, PolicyRule>();
  for (const selector of selectorsOf(role)) {
    const picks = pickerOf(selector);
    for (const other of others) {
      if (!picks(other)) continue;
      for (const rule of rulesOf(other)) {
        const text = canonicalJson(rule);
        if (!rules.has(text)) rules.set(text, rule);
      }
    }
  }
  return [...rules.values()];
}

function selectorsOf({ aggregationRule }: KubeObject): readonly LabelSelector[] {
  const selectors = isObject(aggregationRule) ? aggregationRule.clusterRoleSelectors : undefined;
  return Array.isArray(selectors) ? selectors : [];
}

function pickerOf(selector: LabelSelector): (role: KubeObject) => boolean {
  try {
    const compiled = compileLabelSelector(selector);
    return (role) => compiled.matches(role.metadata.labels);
  } catch {
    return () => false;
  }
}
