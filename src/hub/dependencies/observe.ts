// Reads the dependencies of a placement, and finds the placements that depend on another one, to requeue them when it
// changes.
import type { Hold } from '../../api/hold.ts';
import type { ObjectRef } from '../../api/object.ts';
import type { RolloutWord } from '../../api/rollout-state.ts';
import { deepEqual } from '../../base/json.ts';
import { refTo } from '../../runtime/actions.ts';
import { keyOf } from '../../runtime/cache.ts';
import type { View } from '../../runtime/controller.ts';
import type { PlacementFamily } from '../families.ts';
import { isReachable } from '../members/reachable.ts';
import { newestComplete } from '../orders/newest-snapshot.ts';
import { revisionOn } from '../orders/order.ts';
import { ANY_PLACEMENT, type HubBinding, type HubPlacement, placementKeyOf } from '../placement-sources.ts';
import { isNoNews } from '../planners/changes.ts';
import { judge } from '../planners/health.ts';
import { memberClusters } from '../sources.ts';
import { wordOf } from '../strategies/partitioned.ts';
import { type DependencyFacts, holdsOf } from './dependencies.ts';

const ownKey = ({ metadata }: HubPlacement): string => keyOf(metadata.namespace, metadata.name ?? '');

/** Why each cluster of the bindings waits; undefined = the placement has no dependencies. */
export function observeDependencies(
  view: View,
  family: PlacementFamily,
  placement: HubPlacement,
  bindings: readonly HubBinding[],
): ((cluster: string) => Hold | undefined) | undefined {
  const { dependsOn = [] } = placement.spec;
  if (dependsOn.length === 0) return undefined;
  const { namespace, name } = placement.metadata;
  const isByName = dependsOn.every((each) => each.name !== undefined && each.name !== '');
  const others = isByName
    ? dependsOn.flatMap((each) => view.get(family.placements, each.name ?? '', namespace) ?? [])
    : view.all(family.placements, namespace);
  const { group, kind } = family.placement;
  const within = namespace === undefined ? {} : { namespace };
  const holdFor = holdsOf({
    dependsOn,
    others: others
      .filter(({ metadata }) => metadata.name !== name && metadata.deletionTimestamp === undefined)
      .map((each) => factsOf(view, family, each)),
    refOf: (wanted): ObjectRef => ({ group, kind, ...within, name: wanted }),
  });
  const holds = new Map(bindings.map(({ spec }) => [spec.targetCluster, holdFor(spec.targetCluster)]));
  return (cluster) => holds.get(cluster);
}

function factsOf(view: View, family: PlacementFamily, placement: HubPlacement): DependencyFacts {
  const key = ownKey(placement);
  let newest: string | undefined;
  let bindings: ReadonlyMap<string, HubBinding> | undefined;
  const known = new Map<string, RolloutWord | undefined>();
  const look = (cluster: string): RolloutWord | undefined => {
    newest ??= newestComplete(view.by(family.resourceSnapshots, 'placement', key))?.metadata.name ?? '';
    bindings ??= new Map(
      view
        .by(family.bindings, 'placement', key)
        .filter(({ metadata, spec }) => metadata.deletionTimestamp === undefined && spec.state !== 'Unscheduled')
        .map((each) => [each.spec.targetCluster, each]),
    );
    const binding = bindings.get(cluster);
    return binding && stateOf(view, binding, newest);
  };
  return {
    ref: refTo(family.placement, placement),
    labels: placement.metadata.labels ?? {},
    stateOn(cluster) {
      if (!known.has(cluster)) known.set(cluster, look(cluster));
      return known.get(cluster);
    },
  };
}

const NOTHING = { snapshot: '', overrides: '', strategy: '' };

function stateOf(view: View, binding: HubBinding, newest: string): RolloutWord {
  const { metadata, spec, driftedPlacements = [] } = binding;
  const member = view.get(memberClusters, spec.targetCluster);
  const has = revisionOn(spec);
  return wordOf({
    key: metadata.name ?? '',
    cluster: spec.targetCluster,
    state: spec.state === 'Bound' ? 'bound' : 'scheduled',
    deleting: false,
    ...(has === undefined ? {} : { has }),
    wants: { ...(has ?? NOTHING), snapshot: newest },
    ...judge(binding),
    reachable: member !== undefined && isReachable(member),
    labels: {},
    ...(driftedPlacements.length > 0 ? { drifted: true as const } : {}),
  });
}

// ---- requeues

/** The placements that depend on the one of a binding. */
export function dependentsOf(
  view: View,
  family: PlacementFamily,
  binding: HubBinding,
  old: HubBinding | undefined,
): readonly string[] {
  const key = placementKeyOf(binding);
  const dependents = dependentsOn(view, family, key, binding.metadata.namespace);
  if (dependents.length === 0) return dependents;
  const isSame =
    old !== undefined && isNoNews(binding, old) && deepEqual(binding.driftedPlacements, old.driftedPlacements);
  return isSame ? [] : dependents;
}

/** Placements that depend on this key, or on labels that the placement may have. */
export const dependentsOn = (
  view: View,
  { placements }: PlacementFamily,
  key: string,
  namespace: string | undefined,
): readonly string[] =>
  [key, keyOf(namespace, ANY_PLACEMENT)]
    .flatMap((each) => view.by(placements, 'dependsOn', each))
    .map(ownKey)
    .filter((each) => each !== key);
