// PriorityClasses: immutable values, below those of the system's own.
import type { FieldCause } from '../../api/kind.ts';
import { forbiddenField } from '../../api/status.ts';
import type { Behaviour } from '../registry.ts';
import { behaviour } from './behaviour.ts';

const HIGHEST = 1_000_000_000;

/** The priority classes of the system. */
export const SYSTEM_PRIORITIES: readonly {
  readonly name: string;
  readonly value: number;
  readonly description: string;
}[] = [
  {
    name: 'system-node-critical',
    value: 2_000_001_000,
    description: 'Used for system critical pods that must not be moved from their current node.',
  },
  {
    name: 'system-cluster-critical',
    value: 2_000_000_000,
    description:
      'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
  },
];

export const priorityClass: Behaviour = behaviour({
  countsGeneration: true,
  default(draft) {
    draft.preemptionPolicy ??= 'PreemptLowerPriority';
  },
  validate(object, old) {
    const { name = '' } = object.metadata;
    const value = (object.value ?? 0) as number;
    const causes: FieldCause[] = [];
    if (name.startsWith('system-')) {
      if (!SYSTEM_PRIORITIES.some((each) => each.name === name && each.value === value)) {
        const why = `priority class names with 'system-' prefix are reserved for system use only. error: ${name} is not a known system priority class`;
        causes.push(forbiddenField('metadata.name', why));
      }
    } else if (value > HIGHEST) {
      causes.push(forbiddenField('value', `maximum allowed value of a user defined priority is ${HIGHEST}`));
    }
    if (old === undefined) return causes;
    if (value !== (old.value ?? 0)) causes.push(forbiddenField('value', 'may not be changed in an update.'));
    if (object.preemptionPolicy !== old.preemptionPolicy) {
      causes.push(forbiddenField('preemptionPolicy', 'may not be changed in an update.'));
    }
    return causes;
  },
});
