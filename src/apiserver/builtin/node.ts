// Nodes: allocatable defaults to the capacity, and nothing is scheduled before the node is ready.
import type { FieldCause } from '../../api/kind.ts';
import { duplicate, forbiddenField, invalidValue } from '../../api/status.ts';
import { deepEqual } from '../../base/json.ts';
import { labelValueErrors, qualifiedNameErrors } from '../../base/names.ts';
import type { Behaviour } from '../registry.ts';
import { behaviour, specOf } from './behaviour.ts';
import type { NodeSpec, Taint } from './drafts.ts';
import { type Causes, cidr, complaints, oneOf } from './field-checks.ts';
import { TAINT_EFFECTS } from './pod-spec-validation.ts';

const NOT_READY: Taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };

export const node: Behaviour = behaviour({
  default(draft) {
    const spec = specOf<NodeSpec>(draft);
    const [first] = spec.podCIDRs ?? [];
    if (spec.podCIDR && first === undefined) spec.podCIDRs = [spec.podCIDR];
    else if (first !== undefined) spec.podCIDR = first;
    const status = draft.status as { capacity?: object; allocatable?: object } | undefined;
    if (status?.capacity && !status.allocatable) status.allocatable = { ...status.capacity };
  },
  prepare(draft, old) {
    if (old !== undefined) return;
    const spec = specOf<NodeSpec>(draft);
    const isTainted = spec.taints?.some((taint) => taint.key === NOT_READY.key && taint.effect === NOT_READY.effect);
    if (!isTainted) spec.taints = [...(spec.taints ?? []), { ...NOT_READY }];
  },
  validate(object, old, { subresource }) {
    if (subresource !== undefined) return [];
    const spec = (object.spec ?? {}) as NodeSpec;
    const causes: FieldCause[] = [...taintCauses('metadata.taints', spec.taints ?? [])];
    spec.podCIDRs?.forEach((range, index) => {
      causes.push(...cidr(`spec.podCIDRs[${index}]`, range));
    });
    return old === undefined ? causes : [...causes, ...updateCauses(spec, (old.spec ?? {}) as NodeSpec)];
  },
  selectableFields: {
    'spec.unschedulable': (object) => String((object.spec as NodeSpec | undefined)?.unschedulable === true),
  },
});

function taintCauses(field: string, taints: readonly Taint[]): Causes {
  const seen = new Set<string>();
  return taints.flatMap((taint, index) => {
    const at = `${field}[${index}]`;
    const { key = '', value = '', effect = '' } = taint;
    const causes: FieldCause[] = [...complaints(`${at}.key`, key, qualifiedNameErrors(key))];
    const errors = labelValueErrors(value);
    if (errors.length > 0) causes.push(invalidValue(`${at}.value`, value, errors.join(';')));
    causes.push(...oneOf(`${at}.effect`, effect, TAINT_EFFECTS));
    const text = `${key}:${effect}`;
    if (seen.has(text)) {
      const repeated = duplicate(at, taint);
      causes.push({ ...repeated, message: `${repeated.message}: taints must be unique by key and effect pair` });
    }
    seen.add(text);
    return causes;
  });
}

function updateCauses(spec: NodeSpec, old: NodeSpec): Causes {
  const causes: FieldCause[] = [];
  const mayBeSetOnce = (field: 'podCIDRs' | 'providerID', why: string) => {
    const isSet = old[field] !== undefined && old[field] !== '' && (old[field] as string | string[]).length > 0;
    if (isSet && !deepEqual(spec[field], old[field])) causes.push(forbiddenField(`spec.${field}`, why));
  };
  mayBeSetOnce('podCIDRs', 'node updates may not change podCIDR except from "" to valid');
  mayBeSetOnce('providerID', 'node updates may not change providerID except from "" to valid');
  const fixed = ({ podCIDR: _a, podCIDRs: _b, providerID: _c, unschedulable: _d, taints: _e, ...rest }: NodeSpec) => {
    const { configSource: _f, ...others } = rest;
    return others;
  };
  if (!deepEqual(fixed(spec), fixed(old))) {
    const why =
      'node updates may only change labels, taints, or capacity (or configSource, if the DynamicKubeletConfig feature gate is enabled)';
    causes.push(forbiddenField('spec', why));
  }
  return causes;
}
