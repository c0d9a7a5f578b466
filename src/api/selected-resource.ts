// How a status names a selected object, and its problems on a member cluster.
import { applyCause } from './apply-cause.ts';
import { type Infer, s } from './build.ts';
import { condition } from './conditions.ts';
import { groupVersionOf, type KubeObject, refText, withObject } from './object.ts';

export const envelopeIdentifier = s.object(
  {
    name: s.string({ doc: 'Name of the envelope.' }),
    namespace: s.optional(s.string({ doc: 'Namespace of the envelope, if it has one.' })),
    // Differs from KubeFleet: its v1 has no ConfigMap here, although an annotated ConfigMap can be an envelope.
    type: s.defaulted(
      s.oneOf(['ConfigMap', 'ClusterResourceEnvelope', 'ResourceEnvelope'], { doc: 'Kind of the envelope.' }),
      'ConfigMap',
    ),
  },
  { doc: 'The envelope that the object came in.' },
);

const identity = {
  group: s.optional(s.string({ doc: 'API group; empty for core.' })),
  version: s.string({ doc: 'API version.' }),
  kind: s.string({ doc: 'Kind.' }),
  namespace: s.optional(s.string({ doc: 'Namespace, if it has one.' })),
  name: s.string({ doc: 'Name.' }),
  envelope: s.optional(envelopeIdentifier),
};

export const resourceIdentifier = s.object(identity, { doc: 'An object.' });
export type ResourceIdentifier = Infer<typeof resourceIdentifier>;

/** The identifier of an object in a status. */
export function identifierOf({ apiVersion, kind, metadata }: KubeObject): ResourceIdentifier {
  const { group, version } = groupVersionOf(apiVersion);
  return {
    ...(group === '' ? {} : { group }),
    version,
    kind,
    ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
    name: metadata.name ?? '',
  };
}

type Placed = Pick<ResourceIdentifier, 'kind' | 'namespace' | 'name' | 'envelope'>;

/** ` (in ResourceEnvelope "shop/wrap")`; empty for an object outside of envelopes. */
export const envelopeSuffix = ({ envelope }: Pick<Placed, 'envelope'>): string =>
  envelope === undefined ? '' : ` (in ${refText({ ...envelope, kind: envelope.type ?? 'ConfigMap' })})`;

/**
 * A message about an object of a placement, with the object and its envelope. Only for display: no decision may depend
 * on the result.
 */
export const withPlaced = (object: Placed, text: string): string =>
  `${withObject(object, text)}${envelopeSuffix(object)}`;

export const namespacedName = s.object(
  { name: s.string({ doc: 'Name.' }), namespace: s.string({ doc: 'Namespace.' }) },
  { doc: 'An object in a namespace.' },
);
export type NamespacedName = Infer<typeof namespacedName>;

const MAX_PATH_LENGTH = 4096;
const MAX_VALUE_LENGTH = 262_144;

export const fieldDifference = s.object(
  {
    path: s.string({ doc: 'JSON pointer to the field.', maxLength: MAX_PATH_LENGTH }),
    valueInMember: s.optional(
      s.string({ doc: 'Value on the member; absent if it has no such field.', maxLength: MAX_VALUE_LENGTH }),
    ),
    valueInHub: s.optional(
      s.string({ doc: 'Value on the hub; absent if it has no such field.', maxLength: MAX_VALUE_LENGTH }),
    ),
  },
  { doc: 'One field that differs.' },
);
export type FieldDifference = Infer<typeof fieldDifference>;

/** One entry in place of a list that is too large. */
export function omittedDetails(list: readonly FieldDifference[]): FieldDifference[] {
  const [first, ...rest] = list;
  if (first === undefined) return [];
  const path = rest.length === 0 ? first.path : `${first.path} and ${rest.length} more path(s)`;
  return [{ path, valueInHub: '(omitted)', valueInMember: '(omitted)' }];
}

export const failedPlacements = s.array(
  s.object(
    { ...identity, condition: s.doc('The condition that is not True.', condition), cause: s.optional(applyCause) },
    { doc: 'An object that failed.' },
  ),
  { doc: 'Objects that could not be applied or are not available; at most 100.', maxItems: 100 },
);

export const driftedPlacements = s.array(
  s.object(
    {
      ...identity,
      observationTime: s.time('When the drift was seen last.'),
      targetClusterObservedGeneration: s.integer({ doc: 'Generation of the object on the member.', format: 'int64' }),
      firstDriftedObservedTime: s.time('When the drift was seen first.'),
      observedDrifts: s.optional(s.array(fieldDifference, { doc: 'The fields that drifted.' })),
    },
    { doc: 'An object that was changed on the member.' },
  ),
  { doc: 'Objects that were changed on the member after we applied them; at most 100.', maxItems: 100 },
);

export const diffedPlacements = s.array(
  s.object(
    {
      ...identity,
      observationTime: s.time('When the difference was seen last.'),
      targetClusterObservedGeneration: s.optional(
        s.integer({ doc: 'Generation of the object on the member; absent if it is missing there.', format: 'int64' }),
      ),
      firstDiffedObservedTime: s.time('When the difference was seen first.'),
      observedDiffs: s.optional(s.array(fieldDifference, { doc: 'The fields that differ.' })),
    },
    { doc: 'An object that differs.' },
  ),
  { doc: 'Objects whose state on the member differs from the hub; at most 100.', maxItems: 100 },
);
