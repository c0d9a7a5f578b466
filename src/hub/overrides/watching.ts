// Requeues the placements to which an override may apply.
import { deepEqual } from '../../base/json.ts';
import { keyOf } from '../../runtime/cache.ts';
import type { View, WatchRule } from '../../runtime/controller.ts';
import type { PlacementFamily } from '../families.ts';
import { matchesPlacement, type Override } from './matching.ts';
import { overrideFamilies } from './sources.ts';

const isSame = (a: Override, b: Override): boolean =>
  a.metadata.uid === b.metadata.uid &&
  a.metadata.deletionTimestamp === b.metadata.deletionTimestamp &&
  deepEqual(a.spec, b.spec);

/** `toKeys`: maps placements to keys of the controller. */
export const overrideRules = (
  { placement, placements }: PlacementFamily,
  toKeys = (keys: readonly string[], _view: View): readonly string[] => keys,
): readonly WatchRule<Override>[] =>
  overrideFamilies
    .flatMap(({ overrides, snapshots }) => [overrides, snapshots])
    .map((source) => ({
      source: source as WatchRule<Override>['source'],
      toKeys(item: Override, view: View, old?: Override) {
        if (old !== undefined && isSame(item, old)) return [];
        const within = placement.namespaced ? item.metadata.namespace : undefined;
        const keys = view
          .all(placements, within)
          .filter((each) => matchesPlacement(item, each.metadata))
          .map(({ metadata }) => keyOf(metadata.namespace, metadata.name ?? ''));
        return toKeys(keys, view);
      },
    }));
