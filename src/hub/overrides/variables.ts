// Variables in the values of overrides: `${MEMBER-CLUSTER-NAME}` and `${MEMBER-CLUSTER-LABEL-KEY-<key>}`. They are
// resolved when the order of a cluster is created and recorded with it, so that a changed label is rolled out like any
// other change. See docs/adr/0013-values-of-overrides.md.
import { overrideVariables } from '../../api/names.ts';
import type { Labels } from '../../api/object.ts';
import type { Json } from '../../base/json.ts';

const { clusterName, clusterLabelPrefix } = overrideVariables;

/** The variable without `${` and `}`, as it is named in the recorded values. */
const CLUSTER_NAME = clusterName.slice(2, -1);
const LABEL_PREFIX = clusterLabelPrefix.slice(2);

/** Names of the variables in a value; an unterminated variable does not count. */
export function variablesIn(value: Json | undefined): readonly string[] {
  if (value === undefined) return [];
  const text = JSON.stringify(value);
  const names = new Set<string>();
  if (text.includes(clusterName)) names.add(CLUSTER_NAME);
  for (let at = text.indexOf(clusterLabelPrefix); at >= 0; at = text.indexOf(clusterLabelPrefix, at + 1)) {
    const end = text.indexOf('}', at);
    if (end >= 0) names.add(text.slice(at + 2, end));
  }
  return [...names];
}

/** undefined = the cluster has no such label. */
export function valueFor(variable: string, cluster: string, labels: Labels): string | undefined {
  if (variable === CLUSTER_NAME) return cluster;
  const key = variable.slice(LABEL_PREFIX.length);
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}

export type FilledIn = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly why: string };

/** The value with its variables replaced, in both keys and strings. */
export function filledIn(value: Json, values: Readonly<Record<string, string>>): FilledIn {
  let text = JSON.stringify(value);
  if (!text.includes(clusterName) && !text.includes(clusterLabelPrefix)) return { ok: true, value };
  const name = values[CLUSTER_NAME];
  if (name !== undefined) text = text.replaceAll(clusterName, () => name);
  for (let at = text.indexOf(clusterLabelPrefix); at >= 0; at = text.indexOf(clusterLabelPrefix)) {
    const end = text.indexOf('}', at);
    if (end < 0) return { ok: false, why: `${text.slice(at, at + 80)} has no closing brace` };
    const variable = text.slice(at + 2, end);
    const found = Object.hasOwn(values, variable) ? values[variable] : undefined;
    if (found === undefined) {
      return { ok: false, why: `the cluster has no label "${variable.slice(LABEL_PREFIX.length)}"` };
    }
    text = `${text.slice(0, at)}${found}${text.slice(end + 1)}`;
  }
  return { ok: true, value: JSON.parse(text) as Json };
}
