// Which objects, in which placements, an override is about. Pure.
import type { Resource } from '../../api/kind.ts';
import type { ObjectMeta } from '../../api/object.ts';
import type { ResourceIdentifier } from '../../api/selected-resource.ts';

export interface HubOverride {
  readonly metadata: ObjectMeta;
  readonly resource: Resource;
  /** The one placement it is for. */
  readonly placement?: { readonly name: string; readonly scope?: string };
  readonly selectors: readonly {
    readonly group: string;
    readonly version: string;
    readonly kind: string;
    readonly name?: string;
  }[];
}

/** A ClusterResourceOverride that names a placement never means a ResourcePlacement. */
export function matchesPlacement({ metadata, placement }: HubOverride, placed: ObjectMeta): boolean {
  if (placement === undefined) return true;
  if (placement.name !== placed.name) return false;
  return placement.scope === 'Namespaced' ? placed.namespace === metadata.namespace : placed.namespace === undefined;
}

/** By name; a Namespace means all it contains, too. */
export function matches({ metadata, selectors }: HubOverride, object: ResourceIdentifier): boolean {
  const { group = '', version, kind, namespace, name } = object;
  const isSame = (each: HubOverride['selectors'][number]) =>
    each.group === group && each.version === version && each.kind === kind && each.name === name;
  if (metadata.namespace !== undefined) return namespace === metadata.namespace && selectors.some(isSame);
  if (namespace === undefined) return selectors.some(isSame);
  return selectors.some(
    (each) => each.group === '' && each.version === 'v1' && each.kind === 'Namespace' && each.name === namespace,
  );
}
