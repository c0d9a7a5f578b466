// The overrides of one cluster: which apply, with which rules, and the values of their variables. Pure.
import type { Labels } from '../../api/object.ts';
import type { NamespacedName } from '../../api/selected-resource.ts';
import { byText } from '../../base/compare.ts';
import type { Json } from '../../base/json.ts';
import { type HubOverrideSnapshot, matchesCluster } from './matching.ts';
import { valueFor, variablesIn } from './variables.ts';

export interface Overrides {
  readonly clusterResourceOverrideSnapshots?: readonly string[];
  readonly resourceOverrideSnapshots?: readonly NamespacedName[];
  /** The values of their variables when the order was created: a member whose labels change gets a new order. */
  readonly overrideValues?: Readonly<Record<string, string>>;
}

/**
 * If not all rules of a snapshot apply, the matching ones are recorded with the values: like variables, they depend on
 * the labels of the member.
 */
const rulesKey = ({ namespace, name }: { readonly namespace?: string | undefined; readonly name: string }): string =>
  namespace === undefined ? `rules/${name}` : `rules/${namespace}/${name}`;

/** `applicable`: the snapshots in force that match objects of the placement. */
export function overridesOn(
  applicable: readonly HubOverrideSnapshot[],
  cluster: string,
  labels: Labels,
): Overrides | undefined {
  const listed = applicable
    .map((snapshot) => ({
      snapshot,
      namespace: snapshot.metadata.namespace,
      name: snapshot.metadata.name ?? '',
      rules: snapshot.rules.flatMap((rule, at) => (matchesCluster(rule, labels) ? [at] : [])),
    }))
    .filter(({ rules }) => rules.length > 0)
    .toSorted((a, b) => byText(a.namespace ?? '', b.namespace ?? '') || byText(a.name, b.name));
  if (listed.length === 0) return undefined;
  const values: Record<string, string> = {};
  for (const { snapshot, namespace, name, rules } of listed) {
    if (rules.length < snapshot.rules.length) values[rulesKey({ namespace, name })] = rules.join(',');
    for (const at of rules) {
      for (const { value } of snapshot.rules[at]?.jsonPatchOverrides ?? []) {
        for (const variable of variablesIn(value as Json | undefined)) {
          const known = valueFor(variable, cluster, labels);
          if (known !== undefined) values[variable] = known;
        }
      }
    }
  }
  const wide = listed.filter(({ namespace }) => namespace === undefined).map(({ name }) => name);
  const narrow = listed.flatMap(({ namespace, name }) => (namespace === undefined ? [] : [{ namespace, name }]));
  return {
    ...(wide.length === 0 ? {} : { clusterResourceOverrideSnapshots: wide }),
    ...(narrow.length === 0 ? {} : { resourceOverrideSnapshots: narrow }),
    ...(Object.keys(values).length === 0 ? {} : { overrideValues: values }),
  };
}

/** The rules of a snapshot that apply, with their indexes, as recorded. */
export function rulesIn(
  { metadata, rules }: HubOverrideSnapshot,
  values: NonNullable<Overrides['overrideValues']>,
): readonly { readonly at: number; readonly rule: HubOverrideSnapshot['rules'][number] }[] {
  const recorded = values[rulesKey({ namespace: metadata.namespace, name: metadata.name ?? '' })];
  const chosen = recorded?.split(',').map(Number);
  return rules.flatMap((rule, at) => (chosen === undefined || chosen.includes(at) ? [{ at, rule }] : []));
}
