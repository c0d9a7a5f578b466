// Validation of overrides that a schema cannot express: their number, and that each object is selected by one override
// only. Pure.
import { UserError } from '../base/errors.ts';
import { deepEqual } from '../base/json.ts';
import { compileLabelSelector, type LabelSelector } from '../base/selector.ts';
import type { AdmitQuestion, AdmitRead, AdmitRequest, Admitted, FieldCause, Resource } from './kind.ts';
import type { KubeObject } from './object.ts';
import { forbiddenField, invalidValue } from './status.ts';

/** Per fleet for ClusterResourceOverrides, per namespace for ResourceOverrides. */
export const MAX_OVERRIDES = 100;

/** Snapshots carry the name of their override as a label value. */
export const MAX_OVERRIDE_NAME = 63;

export interface OverrideSelector {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly name?: string;
  readonly selectionScope?: string;
}

/** Two overrides must not have selectors with the same text. */
export const selectorText = ({ group, version, kind, name = '', selectionScope = '' }: OverrideSelector): string =>
  `${group}/${version}/${kind}/${name}/${selectionScope}`;

type SelectorField = 'clusterResourceSelectors' | 'resourceSelectors';

interface Rule {
  readonly jsonPatchOverrides?: readonly { readonly op?: string; readonly value?: unknown }[];
  readonly clusterSelector?: {
    readonly clusterSelectorTerms?: readonly { readonly labelSelector?: LabelSelector | undefined }[];
  };
}

type Spec = Readonly<Partial<Record<SelectorField, readonly OverrideSelector[]>>> & {
  readonly policy?: { readonly overrideRules?: readonly Rule[] };
};

/** `kind`: the kind of the overrides; `field`: the field with its selectors. */
export function overrideAdmission(kind: Resource, field: SelectorField) {
  const specOf = (object: KubeObject | undefined): Spec => (object?.spec ?? {}) as Spec;
  const selectorsOf = (object: KubeObject | undefined) => specOf(object)[field] ?? [];
  const isJudged = ({ verb, subresource }: AdmitQuestion<unknown, unknown>): boolean =>
    verb !== 'delete' && subresource === undefined;
  // A stored override with unchanged selectors is not validated again: a new finalizer or label must not fail because
  // of other overrides.
  const hasNewSelectors = ({ object, old }: AdmitQuestion<unknown, unknown>): boolean =>
    old === undefined || !deepEqual(selectorsOf(object), selectorsOf(old));
  const placeOf = ({ object }: AdmitQuestion<unknown, unknown>): string | undefined =>
    kind.namespaced ? object?.metadata.namespace : undefined;

  const limitCauses = (others: readonly KubeObject[]): readonly FieldCause[] => {
    if (others.length < MAX_OVERRIDES) return [];
    const what = kind.namespaced ? 'resources can be created in a namespace' : 'cluster resources can be created';
    const why = `${kind.kind} limit has been reached: at most ${MAX_OVERRIDES} ${what}; delete one first`;
    return [forbiddenField('metadata.name', why)];
  };

  const nameCauses = (name: string): readonly FieldCause[] =>
    name.length <= MAX_OVERRIDE_NAME
      ? []
      : [invalidValue('metadata.name', name, `must be no more than ${MAX_OVERRIDE_NAME} characters`)];

  const sharedCauses = (object: KubeObject, others: readonly KubeObject[]): readonly FieldCause[] => {
    const owners = new Map(
      others.flatMap((each) => selectorsOf(each).map((one) => [selectorText(one), each.metadata.name ?? ''] as const)),
    );
    return selectorsOf(object).flatMap((one, at): readonly FieldCause[] => {
      const owner = owners.get(selectorText(one));
      if (owner === undefined) return [];
      const why = `${one.kind} "${one.name ?? ''}" has been selected by both ${object.metadata.name} and ${owner}, which is not supported`;
      return [forbiddenField(`spec.${field}[${at}]`, why)];
    });
  };

  return {
    reads: (request: AdmitQuestion<unknown, unknown>): readonly AdmitRead[] => {
      if (!isJudged(request) || !hasNewSelectors(request)) return [];
      const namespace = placeOf(request);
      return [{ resource: kind, ...(namespace === undefined ? {} : { namespace }) }];
    },
    admit(request: AdmitRequest<unknown, unknown>): Admitted {
      const { verb, object, old } = request;
      const admitted: Admitted = { ok: true, object: (object ?? old) as KubeObject, warnings: [] };
      if (!isJudged(request) || object === undefined) return admitted;
      const isSelecting = hasNewSelectors(request);
      const all = isSelecting ? request.lookup.list(kind, placeOf(request)) : [];
      const others = all.filter(({ metadata }) => metadata.name !== object.metadata.name);
      const isNewPolicy = !deepEqual(specOf(object).policy, specOf(old).policy);
      const causes = [
        ...(verb === 'create' ? [...nameCauses(object.metadata.name ?? ''), ...limitCauses(others)] : []),
        ...(isSelecting ? sharedCauses(object, others) : []),
        ...(isNewPolicy ? (specOf(object).policy?.overrideRules ?? []).flatMap(ruleCauses) : []),
      ];
      return causes.length > 0 ? { ok: false, causes } : admitted;
    },
  };
}

function ruleCauses(rule: Rule, at: number): readonly FieldCause[] {
  const field = `spec.policy.overrideRules[${at}]`;
  // The schema has a rule for it, but some servers hide untyped fields from CEL.
  const valued = (rule.jsonPatchOverrides ?? []).flatMap(({ op, value }, patch): readonly FieldCause[] => {
    if (op !== 'remove' || value === undefined) return [];
    return [forbiddenField(`${field}.jsonPatchOverrides[${patch}].value`, 'op remove takes no value')];
  });
  return [...selectorCauses(rule, field), ...valued];
}

/** The schema accepts label keys and values that no cluster can have, and the rule would silently select nothing. */
function selectorCauses({ clusterSelector }: Rule, rule: string): readonly FieldCause[] {
  return (clusterSelector?.clusterSelectorTerms ?? []).flatMap(({ labelSelector }, term): readonly FieldCause[] => {
    try {
      compileLabelSelector(labelSelector);
      return [];
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      const field = `${rule}.clusterSelector.clusterSelectorTerms[${term}].labelSelector`;
      return [invalidValue(field, labelSelector, error.message)];
    }
  });
}
