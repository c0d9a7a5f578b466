// Whether a placement uses something that is not built yet: a field of its spec, an envelope among what it selects, or an override that
// matches what it selects. Such a placement does not move. What is meant stands in api/not-supported.ts.
import type { Hold } from '../api/hold.ts';
import type { Resource } from '../api/kind.ts';
import { notSupportedFields } from '../api/not-supported.ts';
import type { KubeObject, ObjectMeta, ObjectRef } from '../api/object.ts';
import { override } from '../api/override.ts';
import type { PlacementSpec } from '../api/placement.ts';
import type { ResourceIdentifier } from '../api/selected-resource.ts';
import { refTo } from '../runtime/actions.ts';
import type { Source } from '../runtime/controller.ts';
import { only } from './only.ts';

export interface NotSupported {
  /** A field of the placement, or the kind of the object. */
  readonly what: string;
  /** The envelope or the override; absent = the placement itself. */
  readonly object?: ObjectRef;
}

interface Placed {
  readonly metadata: ObjectMeta;
  readonly spec: PlacementSpec;
}

/** What of it is not built yet; empty = it may move. `selected` is what it selects, or what its snapshot holds. */
export function notSupported(
  placement: Placed,
  selected: readonly ResourceIdentifier[] = [],
  overrides: readonly HubOverride[] = [],
): readonly NotSupported[] {
  return [
    ...notSupportedFields(placement.spec).map((what) => ({ what })),
    ...selected.filter(isEnvelope).map((each) => ({ what: each.kind, object: refOf(each) })),
    ...overrides
      .filter((each) => matchesPlacement(each, placement.metadata) && selected.some((object) => matches(each, object)))
      .map((each) => ({ what: each.resource.kind, object: refTo(each.resource, each) })),
  ];
}

export const notSupportedHold = (subject: ObjectRef, { what, object }: NotSupported): Hold => ({
  code: 'NotSupportedYet',
  subject,
  on: object ?? subject,
  facts: { what },
  next: object === undefined ? `remove ${what} from the placement` : `delete the ${object.kind}, or do not select it`,
});

const refOf = ({ group = '', kind, namespace, name }: ResourceIdentifier): ObjectRef => ({
  group,
  kind,
  ...(namespace === undefined ? {} : { namespace }),
  name,
});

const ENVELOPES: ReadonlySet<string> = new Set(['ClusterResourceEnvelope', 'ResourceEnvelope']);
export const isEnvelope = ({ group = '', kind }: ResourceIdentifier): boolean =>
  group === 'placement.kubernetes-fleet.io' && ENVELOPES.has(kind);

// ---- overrides

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

const overrideSource = (resource: Resource, list: string): Source<HubOverride> => ({
  on: 'hub',
  resource,
  project({ metadata, spec }: KubeObject) {
    const { placement, [list]: selectors } = spec as Readonly<Record<string, unknown>>;
    return {
      metadata: only(metadata),
      resource,
      ...(placement === undefined ? {} : { placement: placement as NonNullable<HubOverride['placement']> }),
      selectors: (selectors ?? []) as HubOverride['selectors'],
    };
  },
});

export const clusterOverrides = overrideSource(override.cluster, 'clusterResourceSelectors');
export const namespacedOverrides = overrideSource(override.namespaced, 'resourceSelectors');

/** A ClusterResourceOverride that names a placement never means a ResourcePlacement. */
function matchesPlacement({ metadata, placement }: HubOverride, placed: ObjectMeta): boolean {
  if (placement === undefined) return true;
  if (placement.name !== placed.name) return false;
  return placement.scope === 'Namespaced' ? placed.namespace === metadata.namespace : placed.namespace === undefined;
}

/** By name; a Namespace means all it contains, too. */
function matches({ metadata, selectors }: HubOverride, object: ResourceIdentifier): boolean {
  const { group = '', version, kind, namespace, name } = object;
  const isSame = (each: HubOverride['selectors'][number]) =>
    each.group === group && each.version === version && each.kind === kind && each.name === name;
  if (metadata.namespace !== undefined) return namespace === metadata.namespace && selectors.some(isSame);
  if (namespace === undefined) return selectors.some(isSame);
  return selectors.some(
    (each) => each.group === '' && each.version === 'v1' && each.kind === 'Namespace' && each.name === namespace,
  );
}
