// Whether the work generator may act on the present generation of a binding. The scheduler, staged runs and users
// change bindings too, and their members follow only after the rollout has seen that generation and released it: with
// the move itself (an annotation in the same conditional patch, so the next generation is known), or later with the
// condition RolloutStarted.
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

/** The move that created this generation released it. */
export const isReleasedByMove = ({ metadata }: Pick<Released, 'metadata'>): boolean =>
  metadata.generation !== undefined &&
  metadata.annotations?.[annotations.releasedGeneration] === String(metadata.generation);

/** Released or held back: in both cases the rollout has seen this spec. */
export const isReleased = (binding: Released): boolean => startedOf(binding) !== undefined || isReleasedByMove(binding);

/** Released to its member. */
export const hasStarted = (binding: Released): boolean => {
  const started = startedOf(binding);
  return started === undefined ? isReleasedByMove(binding) : started.status === 'True';
};

/** The annotation by which a move releases the generation that it creates. */
export const releasing = ({ generation }: ObjectMeta): Record<string, string> =>
  generation === undefined ? {} : { [annotations.releasedGeneration]: String(generation + 1) };
