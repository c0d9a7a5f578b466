// The scope of a Freeze in words. Pure.
import type { FreezeSpec } from '../../api/freeze.ts';
import { compileLabelSelector, formatSelector } from '../../base/selector.ts';

const MAX_NAMED = 3;

/** `all placements`, `placement/shop, clusters env=prod` */
export function scopeOf({ placements, clusterSelector }: FreezeSpec): string {
  const named = (placements ?? [])
    .slice(0, MAX_NAMED)
    .map(({ name, namespace }) => `placement/${name}${namespace === undefined ? '' : ` -n ${namespace}`}`);
  const more = (placements?.length ?? 0) - named.length;
  const labels = clusterSelector === undefined ? '' : formatSelector(compileLabelSelector(clusterSelector));
  return [
    ...(placements === undefined ? ['all placements'] : named),
    ...(more > 0 ? [`and ${more} more`] : []),
    ...(labels === '' ? [] : [`clusters ${labels}`]),
  ].join(', ');
}
