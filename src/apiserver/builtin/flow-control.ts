// Flow schemas and priority levels: stored with their defaults. They have no effect here.
import { required } from '../../api/status.ts';
import type { Behaviour } from '../registry.ts';
import { KEEPS_METADATA } from '../status-keeps.ts';
import { behaviour, specOf, startsWith } from './behaviour.ts';

interface FlowSchemaSpec {
  matchingPrecedence?: number;
  priorityLevelConfiguration?: { name?: string };
}

export const flowSchema: Behaviour = behaviour({
  countsGeneration: true,
  statusKeeps: KEEPS_METADATA,
  default(draft) {
    specOf<FlowSchemaSpec>(draft).matchingPrecedence ||= 1000;
  },
  prepare: startsWith(() => ({})),
  validate(object, _old, { subresource }) {
    const { priorityLevelConfiguration: level } = (object.spec ?? {}) as FlowSchemaSpec;
    return subresource !== undefined || level?.name
      ? []
      : [required('spec.priorityLevelConfiguration.name', 'must reference a priority level')];
  },
});

interface PriorityLevelSpec {
  type?: string;
  limited?: {
    nominalConcurrencyShares?: number;
    lendablePercent?: number;
    limitResponse?: {
      type?: string;
      queuing?: { queues?: number; handSize?: number; queueLengthLimit?: number };
    };
  };
  exempt?: { nominalConcurrencyShares?: number; lendablePercent?: number };
}

export const priorityLevelConfiguration: Behaviour = behaviour({
  countsGeneration: true,
  statusKeeps: KEEPS_METADATA,
  default(draft) {
    const { limited, exempt } = specOf<PriorityLevelSpec>(draft);
    if (exempt) {
      exempt.nominalConcurrencyShares ??= 0;
      exempt.lendablePercent ??= 0;
    }
    if (!limited) return;
    limited.nominalConcurrencyShares ??= 30;
    limited.lendablePercent ??= 0;
    const queuing = limited.limitResponse?.queuing;
    if (!queuing) return;
    queuing.queues ||= 64;
    queuing.handSize ||= 8;
    queuing.queueLengthLimit ||= 50;
  },
  prepare: startsWith(() => ({})),
  validate(object, _old, { subresource }) {
    const { limited } = (object.spec ?? {}) as PriorityLevelSpec;
    const response = limited?.limitResponse;
    return subresource === undefined && response?.type === 'Queue' && response.queuing === undefined
      ? [required('spec.limited.limitResponse.queuing', 'must not be empty if limited.limitResponse.type is Limited')]
      : [];
  },
});
