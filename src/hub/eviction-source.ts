// The cached evictions.
import type { Condition } from '../api/conditions.ts';
import { type Eviction, type EvictionSpec, eviction } from '../api/eviction.ts';
import { conditionOf } from '../api/next-condition.ts';
import type { ObjectMeta } from '../api/object.ts';
import type { Source } from '../runtime/controller.ts';
import { only } from './only.ts';

export interface HubEviction {
  readonly metadata: ObjectMeta;
  readonly spec: EvictionSpec;
  readonly conditions: readonly Condition[];
}

/** Index: `placement` (its name). */
export const evictionSource: Source<HubEviction> = {
  on: 'hub',
  resource: eviction,
  project(object) {
    const { metadata, spec, status } = object as Eviction;
    return {
      metadata: only(metadata, 'generation', 'creationTimestamp', 'deletionTimestamp', 'annotations'),
      spec: spec as EvictionSpec,
      conditions: status?.conditions ?? [],
    };
  },
  indexes: { placement: ({ spec }) => [spec.placementName] },
};

/** Its outcome is final: it was invalid, executed or blocked. */
export const isTerminal = ({ conditions }: Pick<HubEviction, 'conditions'>): boolean =>
  conditionOf(conditions, 'Valid')?.status === 'False' || conditionOf(conditions, 'Executed') !== undefined;
