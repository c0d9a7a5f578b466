// The metadata that both kinds of snapshots have in common.
import { labels } from '../../api/names.ts';
import { apiVersionOf, type ObjectMeta } from '../../api/object.ts';
import type { PlacementFamily } from '../families.ts';
import type { HubPlacement } from '../placement-sources.ts';

export function snapshotMetadata(
  family: PlacementFamily,
  { metadata }: HubPlacement,
  own: {
    readonly name: string;
    readonly labels: ObjectMeta['labels'];
    readonly annotations: ObjectMeta['annotations'];
  },
): ObjectMeta {
  const { name = '', namespace, uid = '' } = metadata;
  const { group, version, kind } = family.placement;
  return {
    name: own.name,
    ...(namespace === undefined ? {} : { namespace }),
    labels: { [labels.parentPlacement]: name, ...own.labels },
    annotations: own.annotations ?? {},
    ownerReferences: [
      { apiVersion: apiVersionOf(group, version), kind, name, uid, controller: true, blockOwnerDeletion: true },
    ],
  };
}

/** The latest by label; if several have the label, or none has it after a crash, the newest. */
export function newestOf<T extends { readonly metadata: ObjectMeta }>(
  items: readonly T[],
  indexOf: (item: T) => number | undefined,
): T | undefined {
  const living = items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const marked = living.filter(({ metadata }) => metadata.labels?.[labels.isLatestSnapshot] === 'true');
  const among = marked.length > 0 ? marked : living;
  return among.reduce<T | undefined>(
    (best, item) => (best === undefined || (indexOf(item) ?? -1) > (indexOf(best) ?? -1) ? item : best),
    undefined,
  );
}
