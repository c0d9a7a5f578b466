// PodDisruptionBudgets.
import type { FieldCause } from '../../api/kind.ts';
import { invalidValue } from '../../api/status.ts';
import type { IntOrPercent } from '../../base/int-or-percent.ts';
import type { Behaviour } from '../registry.ts';
import { behaviour, startsWith } from './behaviour.ts';
import type { SelectorDraft } from './drafts.ts';
import { type Causes, countOrPercent, notMoreThanAll, oneOf, selectorCauses } from './field-checks.ts';

interface BudgetSpec {
  minAvailable?: IntOrPercent;
  maxUnavailable?: IntOrPercent;
  selector?: SelectorDraft;
  unhealthyPodEvictionPolicy?: string;
}

export const podDisruptionBudget: Behaviour = behaviour({
  countsGeneration: true,
  unconditionalUpdate: false,
  prepare: startsWith(() => ({ disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 })),
  validate(object, _old, { subresource }) {
    return subresource === undefined ? budgetCauses((object.spec ?? {}) as BudgetSpec) : [];
  },
});

function budgetCauses(spec: BudgetSpec): Causes {
  const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy: policy } = spec;
  const causes: FieldCause[] = [];
  if (minAvailable !== undefined && maxUnavailable !== undefined) {
    causes.push(invalidValue('spec', spec, 'minAvailable and maxUnavailable cannot be both set'));
  }
  for (const [field, value] of [
    ['spec.minAvailable', minAvailable],
    ['spec.maxUnavailable', maxUnavailable],
  ] as const) {
    if (value !== undefined) causes.push(...countOrPercent(field, value), ...notMoreThanAll(field, value));
  }
  if (policy !== undefined) {
    causes.push(...oneOf('spec.unhealthyPodEvictionPolicy', policy, ['AlwaysAllow', 'IfHealthyBudget']));
  }
  return [...causes, ...selectorCauses('spec.selector', selector)];
}
