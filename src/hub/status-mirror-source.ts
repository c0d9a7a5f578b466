// The cached copies of placement statuses: a digest instead of the content, which may have a megabyte.
import type { Resource } from '../api/kind.ts';
import type { ObjectMeta } from '../api/object.ts';
import type { PlacementStatus } from '../api/placement.ts';
import type { ClusterResourcePlacementStatus } from '../api/placement-status.ts';
import { sha256 } from '../base/hash.ts';
import { canonicalJson } from '../base/json.ts';
import type { Source } from '../runtime/controller.ts';
import { only } from './only.ts';

export interface HubStatusMirror {
  readonly metadata: ObjectMeta;
  /** The uid of the placement; '' = it has no owner. */
  readonly owner: string;
  readonly digest: string;
}

export const digestOf = (status: PlacementStatus): string => sha256(canonicalJson(status));

/** Index: `placement` (its name). */
export const statusMirrorSource = (resource: Resource): Source<HubStatusMirror> => ({
  on: 'hub',
  resource,
  project(object) {
    const { metadata, sourceStatus } = object as ClusterResourcePlacementStatus;
    return {
      metadata: only(metadata),
      owner: metadata.ownerReferences?.find((each) => each.controller === true)?.uid ?? '',
      digest: digestOf(sourceStatus),
    };
  },
  indexes: { placement: ({ metadata }) => [metadata.name ?? ''] },
});
