// Which overrides of a placement are in force, from objects that were read. Pure.
import type { MemberCluster } from '../../api/member-cluster.ts';
import type { KubeObject, Labels, ObjectMeta } from '../../api/object.ts';
import type { PlacementFamily } from '../../hub/families.ts';
import type { Overriding } from '../../hub/orders/orders-for.ts';
import { inForce, type OverrideInForce } from '../../hub/overrides/in-force.ts';
import { offeredBy } from '../../hub/overrides/matching.ts';
import { within } from '../which-run.ts';

/** The overrides in force that match these objects; undefined = none. */
export function overridingNow(
  { placement }: PlacementFamily,
  { metadata }: { readonly metadata: ObjectMeta },
  candidates: readonly OverrideInForce[],
  objects: readonly KubeObject[],
  labelsOf: (cluster: string) => Labels | undefined,
): Overriding | undefined {
  if (candidates.length === 0) return undefined;
  const { group, kind } = placement;
  const subject = { group, kind, ...within(metadata.namespace), name: metadata.name ?? '' };
  return { ...inForce(candidates, offeredBy(objects), subject), labelsOf };
}

const NO_LABELS: Labels = {};

export function labelsAmong(members: readonly MemberCluster[]): Overriding['labelsOf'] {
  const byName = new Map(members.map(({ metadata }) => [metadata.name, metadata.labels ?? NO_LABELS]));
  return (cluster) => byName.get(cluster);
}
