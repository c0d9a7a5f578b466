// Whether the work generator may act on a binding as it is. The scheduler, staged runs and people change bindings, too: their members follow them only
// once the rollout has seen the binding's present generation and says so. It says so with the move itself (an annotation in the same patch, which is
// conditional, so the next generation is known), or later with the condition RolloutStarted.
import type { Condition } from '../../api/conditions.ts';
import { annotations } from '../../api/names.ts';
import { conditionOf } from '../../api/next-condition.ts';
import type { ObjectMeta } from '../../api/object.ts';
import type { HubBinding } from '../placement-sources.ts';

type Released = Pick<HubBinding, 'metadata' | 'conditions'>;

/** RolloutStarted of the present generation. */
export const startedOf = ({ metadata, conditions }: Released): Condition | undefined => {
  const started = conditionOf(conditions, 'RolloutStarted');
  return started?.observedGeneration === metadata.generation ? started : undefined;
};

/** The move that made this generation has released it. */
export const isReleasedByMove = ({ metadata }: Pick<Released, 'metadata'>): boolean =>
  metadata.generation !== undefined &&
  metadata.annotations?.[annotations.releasedGeneration] === String(metadata.generation);

/** For or against: then the spec is what the rollout wants. */
export const isReleased = (binding: Released): boolean => startedOf(binding) !== undefined || isReleasedByMove(binding);

/** Its member is told to follow it. */
export const hasStarted = (binding: Released): boolean => {
  const started = startedOf(binding);
  return started === undefined ? isReleasedByMove(binding) : started.status === 'True';
};

/** The annotation that a move adds to release the generation that it makes. */
export const releasing = ({ generation }: ObjectMeta): Record<string, string> =>
  generation === undefined ? {} : { [annotations.releasedGeneration]: String(generation + 1) };
