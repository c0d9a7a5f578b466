// The cached Freezes. The source is not optional: a hub that cannot read them must not move anything.
import { type Freeze, freeze } from '../../api/freeze.ts';
import type { ObjectMeta } from '../../api/object.ts';
import { deepEqual } from '../../base/json.ts';
import { keyOf } from '../../runtime/cache.ts';
import type { Source, View, WatchRule } from '../../runtime/controller.ts';
import type { PlacementFamily } from '../families.ts';
import { only } from '../only.ts';
import { coversPlacement, type FreezeFacts } from './frozen.ts';

export interface HubFreeze extends FreezeFacts {
  readonly metadata: ObjectMeta;
}

export const freezes: Source<HubFreeze> = {
  on: 'hub',
  resource: freeze,
  project(object) {
    const { metadata, spec } = object as Freeze;
    return { metadata: only(metadata), name: metadata.name ?? '', spec };
  },
};

export const freezesIn = (view: View): readonly HubFreeze[] => view.all(freezes);

/** Requeues the placements that a freeze covers, or covered. `ofPlacements` maps them to the keys of the controller. */
export const freezeRule = (
  { placements }: PlacementFamily,
  ofPlacements: (keys: readonly string[], view: View) => readonly string[] = (keys) => keys,
): WatchRule<HubFreeze> => ({
  source: freezes,
  toKeys: (item, view, old) =>
    old !== undefined && deepEqual(item.spec, old.spec)
      ? []
      : ofPlacements(
          view
            .all(placements)
            .filter(({ metadata: { name = '', namespace } }) =>
              [item, ...(old === undefined ? [] : [old])].some((each) =>
                coversPlacement(each, { name, ...(namespace === undefined ? {} : { namespace }) }),
              ),
            )
            .map(({ metadata }) => keyOf(metadata.namespace, metadata.name ?? '')),
          view,
        ),
});
