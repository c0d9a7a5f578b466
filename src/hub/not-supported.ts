// Whether a placement uses something that is not built yet: a field of its spec, or an envelope among what it selects. Such a placement does not move. What is meant stands in api/not-supported.ts.
import { isEnvelopeConfigMap } from '../api/envelope-config-map.ts';
import type { Hold } from '../api/hold.ts';
import type { HoldEntry } from '../api/holds.ts';
import type { Resource } from '../api/kind.ts';
import { annotations } from '../api/names.ts';
import { notSupportedFields } from '../api/not-supported.ts';
import { type KubeObject, type ObjectMeta, type ObjectRef, refText } from '../api/object.ts';
import type { PlacementSpec } from '../api/placement.ts';
import { identifierOf, type ResourceIdentifier } from '../api/selected-resource.ts';

export interface NotSupported {
  /** Fields of the placement, the kind of the object, or what makes it one that is not built. */
  readonly what: string;
  /** The envelope; absent = the placement itself. */
  readonly object?: ObjectRef;
  /** What to do about the object, unless it is simply to go. */
  readonly remedy?: string;
}

interface Placed {
  readonly metadata: ObjectMeta;
  readonly spec: PlacementSpec;
}

/**
 * What of it is not built yet; empty = it may move. `selected` is what it selects, or what its snapshot holds; `envelopes` are those among them,
 * as far as their kinds tell if nobody has looked at them.
 */
export function notSupported(
  placement: Placed,
  selected: readonly ResourceIdentifier[] = [],
  envelopes: readonly ResourceIdentifier[] = selected.filter(isOfEnvelopeKind),
): readonly NotSupported[] {
  const fields = notSupportedFields(placement.spec);
  return [
    // One for all of them: they hold the same thing, and whoever removes but the first has not helped it.
    ...(fields.length === 0 ? [] : [{ what: fields.join(', ') }]),
    ...envelopes.map(notSupportedEnvelope),
  ];
}

const notSupportedEnvelope = (envelope: ResourceIdentifier): NotSupported => ({
  object: refOf(envelope),
  ...(isOfEnvelopeKind(envelope)
    ? { what: envelope.kind }
    : { what: `annotation ${annotations.envelopeConfigMap}`, remedy: 'remove the annotation' }),
});

export const notSupportedHold = (subject: ObjectRef, { what, object, remedy }: NotSupported): Hold => ({
  code: 'NotSupportedYet',
  subject,
  on: object ?? subject,
  facts: { what },
  next: object === undefined ? `remove ${what} from the placement` : remedyOf(object, remedy),
});

const remedyOf = (object: ObjectRef, remedy = `delete ${refText(object)}`): string => `${remedy}, or do not select it`;

/**
 * What a placement's own controller has found and its status says: an object, which only that controller sees. Fields are left out: everybody
 * reads those in the spec, and the status may speak of an earlier one.
 */
export function notSupportedIn(holds: readonly HoldEntry[] = [], placement: Resource): NotSupported | undefined {
  const held = holds.find(
    ({ code, on }) =>
      code === ('NotSupportedYet' satisfies Hold['code']) && on !== undefined && on.kind !== placement.kind,
  );
  if (held?.on === undefined) return undefined;
  return { what: String(held.facts?.['what'] ?? held.on.kind), object: { ...held.on, group: held.on.group ?? '' } };
}

const refOf = ({ group = '', kind, namespace, name }: ResourceIdentifier): ObjectRef => ({
  group,
  kind,
  ...(namespace === undefined ? {} : { namespace }),
  name,
});

const ENVELOPES: ReadonlySet<string> = new Set(['ClusterResourceEnvelope', 'ResourceEnvelope']);
const isOfEnvelopeKind = ({ group = '', kind }: ResourceIdentifier): boolean =>
  group === 'placement.kubernetes-fleet.io' && ENVELOPES.has(kind);

/** It stands for the objects in it. */
export const isEnvelope = (object: KubeObject): boolean =>
  isOfEnvelopeKind(identifierOf(object)) || isEnvelopeConfigMap(object);
