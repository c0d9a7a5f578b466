// The hash by which two policies are compared. numberOfClusters of PickN is not part of it, because it changes in
// place.
import type { LabelSelector } from '../../api/label-selector.ts';
import type { PlacementPolicy } from '../../api/placement-policy.ts';
import { goJson } from '../../base/go-json.ts';
import { sha256 } from '../../base/hash.ts';

type Affinity = NonNullable<NonNullable<PlacementPolicy['affinity']>['clusterAffinity']>;
type Term = NonNullable<Affinity['requiredDuringSchedulingIgnoredDuringExecution']>['clusterSelectorTerms'][number];

/** Policies are frozen and are the same objects in every reconcile, so the hash is cached. */
const known = new WeakMap<PlacementPolicy, string>();

/** Hex in base64: the field holds bytes, and the bytes are the hex digits. */
export function policyHashOf(policy: PlacementPolicy | undefined): string {
  if (policy === undefined) return encoded('null');
  const hash = known.get(policy) ?? encoded(policyJson(policy));
  known.set(policy, hash);
  return hash;
}

const encoded = (json: string): string => Buffer.from(sha256(json)).toString('base64');

/** A Go struct as JSON: the fields in the given order, without those that are undefined. */
const goStruct = (...fields: readonly (readonly [name: string, text: string | undefined])[]): string =>
  `{${fields.flatMap(([name, text]) => (text === undefined ? [] : [`"${name}":${text}`])).join(',')}}`;

const text = (value: string | undefined) => (value === undefined || value === '' ? undefined : goJson(value));
const number = (value: number | undefined) => (value === undefined ? undefined : String(value));
const map = (value: object | undefined) =>
  value === undefined || Object.keys(value).length === 0 ? undefined : goJson(value);
/** A list with omitempty. */
const filled = <T>(items: readonly T[] | undefined, write: (item: T) => string) =>
  items === undefined || items.length === 0 ? undefined : every(items, write);
const every = <T>(items: readonly T[], write: (item: T) => string) => `[${items.map(write).join(',')}]`;
const given = <T>(value: T | undefined, write: (value: T) => string) =>
  value === undefined ? undefined : write(value);

/** The fields in the order in which KubeFleet declares them. */
export const policyJson = (policy: PlacementPolicy): string =>
  goStruct(
    ['placementType', text(policy.placementType)],
    ['clusterNames', filled(policy.clusterNames, goJson)],
    [
      'affinity',
      given(policy.affinity, (affinity) =>
        goStruct(['clusterAffinity', given(affinity.clusterAffinity, affinityJson)]),
      ),
    ],
    [
      'topologySpreadConstraints',
      filled(policy.topologySpreadConstraints, (each) =>
        goStruct(
          ['maxSkew', number(each.maxSkew)],
          ['topologyKey', goJson(each.topologyKey)],
          ['whenUnsatisfiable', text(each.whenUnsatisfiable)],
        ),
      ),
    ],
    [
      'tolerations',
      filled(policy.tolerations, (each) =>
        goStruct(
          ['key', text(each.key)],
          ['operator', text(each.operator)],
          ['value', text(each.value)],
          ['effect', text(each.effect)],
        ),
      ),
    ],
  );

const affinityJson = (affinity: Affinity): string =>
  goStruct(
    [
      'requiredDuringSchedulingIgnoredDuringExecution',
      given(affinity.requiredDuringSchedulingIgnoredDuringExecution, (required) =>
        goStruct(['clusterSelectorTerms', every(required.clusterSelectorTerms, termJson)]),
      ),
    ],
    [
      'preferredDuringSchedulingIgnoredDuringExecution',
      filled(affinity.preferredDuringSchedulingIgnoredDuringExecution, ({ weight, preference }) =>
        goStruct(['weight', String(weight)], ['preference', termJson(preference)]),
      ),
    ],
  );

const termJson = (term: Term): string =>
  goStruct(
    ['labelSelector', given(term.labelSelector, selectorJson)],
    [
      'propertySelector',
      given(term.propertySelector, ({ matchExpressions }) =>
        goStruct([
          'matchExpressions',
          every(matchExpressions, ({ name, operator, values }) =>
            goStruct(['name', goJson(name)], ['operator', goJson(operator)], ['values', every(values, goJson)]),
          ),
        ]),
      ),
    ],
    [
      'propertySorter',
      given(term.propertySorter, ({ name, sortOrder }) =>
        goStruct(['name', goJson(name)], ['sortOrder', goJson(sortOrder)]),
      ),
    ],
    // A field of Flotilla, absent if unset, so that policies without it keep their hash.
    ['clusterGroup', text(term.clusterGroup)],
  );

const selectorJson = (selector: LabelSelector): string =>
  goStruct(
    ['matchLabels', map(selector.matchLabels)],
    [
      'matchExpressions',
      filled(selector.matchExpressions, ({ key, operator, values }) =>
        goStruct(['key', goJson(key)], ['operator', goJson(operator)], ['values', filled(values, goJson)]),
      ),
    ],
  );
