// The eviction controller: requeued by evictions, and by bindings of placements with an open one. Its key is the
// placement, so that evictions of one placement are carried out one after the other. verdict.ts has the rules,
// decide.ts the writes.
import { type DisruptionBudget, disruptionBudget } from '../../api/disruption-budget.ts';
import { eventSources, labels } from '../../api/names.ts';
import type { Placement } from '../../api/placement.ts';
import { keyOf } from '../../runtime/cache.ts';
import type { Controller, FullRef, Need, View } from '../../runtime/controller.ts';
import { evictionSource, type HubEviction } from '../eviction-source.ts';
import type { PlacementFamily } from '../families.ts';
import { type HubBinding, type HubPlacement, placementKeyOf } from '../placement-sources.ts';
import { decide, nextOf, type Observed } from './decide.ts';
import { type EvictionMetrics, noEvictionMetrics } from './metrics.ts';

export interface EvictionOptions {
  /** Evictions created before this time are not carried out (epoch milliseconds). */
  readonly since?: number;
  readonly metrics?: EvictionMetrics;
}

export function evictionController(family: PlacementFamily, options: EvictionOptions = {}): Controller<Observed> {
  const { since, metrics = noEvictionMetrics } = options;
  const liveRef = (resource: typeof family.placement, name: string): FullRef => ({
    on: 'hub',
    resource,
    group: resource.group,
    kind: resource.kind,
    name,
    live: true,
  });

  /**
   * Everything that decides the outcome is read live: a stale cache would break the budget, or miss a placement that
   * was just created.
   */
  function liveState(view: View, name: string): Pick<Observed, 'placement' | 'bindings' | 'budget'> | Need {
    const part = { labels: `${labels.parentPlacement}=${name}` };
    const refs = [liveRef(family.placement, name), liveRef(disruptionBudget, name)];
    const [placement, budget] = refs.map((ref) => view.getFull(ref));
    const isAsked = view.isRefreshed?.(family.bindings, part) ?? true;
    if (placement === undefined || budget === undefined || !isAsked) {
      return {
        need: refs.filter((ref) => view.getFull(ref) === undefined),
        ...(isAsked ? {} : { ask: [{ source: family.bindings, part }] }),
      };
    }
    // The cache may still have deleted bindings, which would count as available.
    const answer = view.answered?.(family.bindings, part);
    return {
      placement: placement === null ? undefined : projected(family, placement as Placement),
      bindings: view
        .by(family.bindings, 'placement', name)
        .filter(({ metadata }) => answer?.has(keyOf(metadata.namespace, metadata.name ?? '')) ?? true),
      budget: (budget as DisruptionBudget | null)?.spec,
    };
  }

  return {
    name: `eviction/${family.placement.kind}`,
    eventSource: eventSources.eviction,
    watches: [
      { source: evictionSource, toKeys: ({ spec }: HubEviction) => [spec.placementName] },
      {
        source: family.bindings,
        toKeys(binding: HubBinding, view) {
          const name = placementKeyOf(binding);
          return nextOf(view.by(evictionSource, 'placement', name)) === undefined ? [] : [name];
        },
      },
    ],
    observe(view, name) {
      const evictions = view.by(evictionSource, 'placement', name);
      metrics.looked(name, evictions);
      if (nextOf(evictions) === undefined) return undefined;
      const live = liveState(view, name);
      if ('need' in live) return live;
      return {
        evictions,
        ...live,
        source: family.bindings,
        ...(since === undefined ? {} : { since }),
        now: view.now,
      };
    },
    decide,
  };
}

const projected = (family: PlacementFamily, placement: Placement): HubPlacement =>
  (family.placements.project as (object: Placement) => HubPlacement)(placement);
