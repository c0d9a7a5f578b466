// The cached ClusterGroups. The source is optional everywhere: a hub whose CRDs are older than its program keeps
// working without groups.
import { type ClusterGroup, clusterGroup } from '../../api/cluster-group.ts';
import type { Labels, ObjectMeta } from '../../api/object.ts';
import { deepEqual } from '../../base/json.ts';
import type { LabelSelector } from '../../base/selector.ts';
import { keyOf } from '../../runtime/cache.ts';
import type { Source, View, WatchRule } from '../../runtime/controller.ts';
import type { PlacementFamily } from '../families.ts';
import { only } from '../only.ts';
import type { HubPlacement } from '../placement-sources.ts';
import type { ClusterGroupFacts } from '../planners/partitioned.ts';

export interface HubClusterGroup {
  readonly metadata: ObjectMeta;
  readonly name: string;
  readonly labels: Labels;
  readonly selector: LabelSelector | undefined;
  readonly status: ClusterGroup['status'];
}

export const clusterGroups: Source<HubClusterGroup> = {
  on: 'hub',
  resource: clusterGroup,
  project(object) {
    const { metadata, spec, status } = object as ClusterGroup;
    return {
      metadata: only(metadata, 'generation', 'deletionTimestamp'),
      name: metadata.name ?? '',
      labels: metadata.labels ?? {},
      selector: spec?.selector,
      status,
    };
  },
};

/** undefined = the hub does not serve them, or they are not listed yet. */
export const groupsIn = (view: View): readonly ClusterGroupFacts[] | undefined =>
  view.isListed?.(clusterGroups) === false ? undefined : view.all(clusterGroups);

const isSameGroup = (a: HubClusterGroup, b: HubClusterGroup): boolean =>
  deepEqual(a.labels, b.labels) && deepEqual(a.selector, b.selector);

/** Requeues the placements whose partitions name groups. */
export const groupRule = ({ placements }: PlacementFamily): WatchRule<HubClusterGroup> => ({
  source: clusterGroups,
  optional: true,
  toKeys: (group, view, old) =>
    old !== undefined && isSameGroup(group, old)
      ? []
      : view
          .all(placements)
          .filter(usesGroups)
          .map(({ metadata }) => keyOf(metadata.namespace, metadata.name ?? '')),
});

/** Its partitions name groups. */
export const usesGroups = ({ spec }: Pick<HubPlacement, 'spec'>): boolean =>
  (spec.strategy?.partitioned?.partitions ?? []).some(
    ({ clusterGroup: name = '', clusterGroupSelector }) => name !== '' || clusterGroupSelector !== undefined,
  );
