// Validation of a placement that a schema cannot express: property names that no cluster can report, values that are
// not numbers, and comparisons that contradict each other. Such a policy could never match a cluster.
import { deepEqual } from '../base/json.ts';
import { quantityError } from '../base/quantity.ts';
import { admitPlacement as admitWithWarnings } from './admission-warnings.ts';
import type { ClusterSelectorTerm } from './cluster-selector.ts';
import type { AdmitRequest, Admitted, FieldCause } from './kind.ts';
import type { PlacementSpec, PlacementStatus } from './placement.ts';
import type { PlacementPolicy } from './placement-policy.ts';
import { contradictionIn } from './property-bounds.ts';
import { propertySourceOf } from './property-name.ts';
import { invalidValue } from './status.ts';

export function admitPlacement(request: AdmitRequest<PlacementSpec, PlacementStatus>): Admitted {
  const { verb, subresource, object, old } = request;
  const policy = object?.spec?.policy;
  // An unchanged policy is not validated again: a new label or finalizer must not fail because of it.
  const isJudged = verb !== 'delete' && subresource === undefined && !deepEqual(policy, old?.spec?.policy);
  const causes = isJudged && policy !== undefined ? policyCauses(policy) : [];
  return causes.length > 0 ? { ok: false, causes } : admitWithWarnings(request);
}

const AFFINITY = 'spec.policy.affinity.clusterAffinity';
const REQUIRED = `${AFFINITY}.requiredDuringSchedulingIgnoredDuringExecution.clusterSelectorTerms`;
const PREFERRED = `${AFFINITY}.preferredDuringSchedulingIgnoredDuringExecution`;

export function policyCauses({ affinity }: PlacementPolicy): readonly FieldCause[] {
  const { requiredDuringSchedulingIgnoredDuringExecution: required, ...rest } = affinity?.clusterAffinity ?? {};
  const preferred = rest.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  return [
    ...(required?.clusterSelectorTerms ?? []).flatMap((term, at) => selectorCauses(term, `${REQUIRED}[${at}]`)),
    ...preferred.flatMap(({ preference }, at) => sorterCauses(preference, `${PREFERRED}[${at}].preference`)),
  ];
}

function selectorCauses({ propertySelector }: ClusterSelectorTerm, term: string): readonly FieldCause[] {
  const at = `${term}.propertySelector.matchExpressions`;
  const expressions = propertySelector?.matchExpressions ?? [];
  const causes = expressions.flatMap(({ name, values }, index) => [
    ...nameCauses(name, `${at}[${index}].name`),
    ...values.flatMap((value, which) => {
      const error = quantityError(value);
      return error === undefined ? [] : [invalidValue(`${at}[${index}].values[${which}]`, value, error)];
    }),
  ]);
  const found = causes.length > 0 ? undefined : contradictionIn(expressions);
  if (found === undefined) return causes;
  return [invalidValue(at, found.property, `no cluster can match: ${found.between} contradict each other`)];
}

const sorterCauses = ({ propertySorter }: ClusterSelectorTerm, term: string): readonly FieldCause[] =>
  propertySorter === undefined ? [] : nameCauses(propertySorter.name, `${term}.propertySorter.name`);

function nameCauses(name: string, at: string): readonly FieldCause[] {
  if (propertySourceOf(name) !== undefined) return [];
  return [
    invalidValue(
      at,
      name,
      'a resource property is named resources.kubernetes-fleet.io/ and then total-, allocatable- or available- with the resource',
    ),
  ];
}
