// The content of a revision: the selected objects without hub-specific fields, with their hash and size. Everything
// derived from an object is cached by identity and computed once.
import { isMarkedConfigMap } from '../../api/envelope-config-map.ts';
import { envelopeIn, innerIdentifiers } from '../../api/enveloped.ts';
import { annotations } from '../../api/names.ts';
import type { KubeObject } from '../../api/object.ts';
import { identifierOf, type ResourceIdentifier } from '../../api/selected-resource.ts';
import { goJson } from '../../base/go-json.ts';
import { sha256 } from '../../base/hash.ts';
import { canonicalJson, deepFreeze } from '../../base/json.ts';
import type { HubPlacement } from '../placement-sources.ts';
import { isTokenSecret } from './propagation.ts';
import type { Places, Sized } from './split.ts';
import { strip } from './strip.ts';
import { bookText, type VariantBook } from './variants.ts';

export interface Content {
  readonly resources: readonly ResourceIdentifier[];
  /** Stripped, as they are stored in the snapshot. */
  readonly objects: readonly KubeObject[];
  readonly hash: string;
  /** Counted as in KubeFleet: the JSON of each object plus a newline. */
  readonly bytes: number;
  /** The size of each object, in the order of `objects`. */
  readonly sizes: readonly Sized[];
  /** The objects that are envelopes: for a ConfigMap this depends on its data. */
  readonly envelopes: readonly ResourceIdentifier[];
  /** ConfigMaps that are annotated as envelopes but contain other data; absent = there are none. */
  readonly noEnvelopes?: readonly ResourceIdentifier[];
  /** The commit, if the content comes from a repository. */
  readonly commit?: string;
  /** The hash of the rollout settings of that commit: targets, strategy. */
  readonly sourceHash?: string;
  /** Which cluster gets which of the objects; absent = every cluster gets all of them. */
  readonly variants?: VariantBook;
  /** The first of the largest objects; absent = there are no objects. */
  readonly largest?: { readonly of: ResourceIdentifier; readonly bytes: number };
}

interface Part {
  readonly object: KubeObject;
  readonly json: string;
  readonly bytes: number;
  readonly identifier: ResourceIdentifier;
  readonly isEnvelope: boolean;
  readonly isMarkedOnly: boolean;
  readonly inner: readonly ResourceIdentifier[];
}

// Objects are frozen, so values derived from them stay valid.
const parts = new WeakMap<KubeObject, Part>();

function partOf(whole: KubeObject): Part {
  const known = parts.get(whole);
  if (known !== undefined) return known;
  const object = strip(whole);
  const json = goJson(object);
  const part = {
    object,
    json,
    bytes: Buffer.byteLength(json) + 1,
    identifier: identifierOf(whole),
    isEnvelope: envelopeIn(object) !== undefined,
    isMarkedOnly: isMarkedConfigMap(object) && envelopeIn(object) === undefined,
    inner: innerIdentifiers(object),
  };
  if (Object.isFrozen(whole)) parts.set(whole, part);
  return part;
}

/** Settings of a placement that apply to all its objects. */
export interface Marks {
  /** Rollouts wait for its Jobs, unless a Job is annotated otherwise. */
  readonly tracksJobs: boolean;
}

export const marksOf = ({ metadata }: Pick<HubPlacement, 'metadata'>): Marks => ({
  tracksJobs: metadata.annotations?.[annotations.trackAvailability] === 'true',
});

/**
 * The content of full objects, in their order. Service account tokens are left out here, because only the full object
 * shows its type.
 */
export function contentOf(
  wholes: readonly KubeObject[],
  { tracksJobs }: Marks = { tracksJobs: false },
  variants?: VariantBook,
): Content {
  const all = wholes
    .filter((whole) => !isTokenSecret(whole))
    .map((whole) => partOf(tracksJobs && isJob(whole) ? tracked(whole) : whole));
  const noEnvelopes = all.filter((part) => part.isMarkedOnly).map(({ identifier }) => identifier);
  return {
    resources: onceEach(
      all.flatMap(({ identifier, inner }) => [identifier, ...inner]),
      variants,
    ),
    objects: all.map(({ object }) => object),
    hash: sha256(
      `{"selectedResources":[${all.map(({ json }) => json).join(',')}]}${variants === undefined ? '' : bookText(variants)}`,
    ),
    bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
    sizes: all.map(({ identifier, object, bytes }) => ({ key: keyOf(identifier, object), bytes })),
    envelopes: all.filter((part) => part.isEnvelope).map(({ identifier }) => identifier),
    ...(noEnvelopes.length === 0 ? {} : { noEnvelopes }),
    ...(variants === undefined ? {} : { variants }),
    ...largestOf(all),
  };
}

/** Without the version: an object is the same in every API version. The variants of an object have different keys. */
const keyOf = ({ group = '', kind, namespace = '', name }: ResourceIdentifier, { metadata }: KubeObject): string =>
  `${group}/${kind}/${namespace}/${name}/${metadata.annotations?.[annotations.variant] ?? ''}`;

/** The part that each object of a group is in; `parts` carry their number, and missing parts are left out. */
export function placesOf(parts: readonly { readonly part: number; readonly objects: readonly KubeObject[] }[]): Places {
  return new Map(
    parts.flatMap(({ part, objects }) =>
      objects.map((object) => {
        const { identifier, bytes } = partOf(object);
        return [keyOf(identifier, object), { part, bytes }] as const;
      }),
    ),
  );
}

/** Deduplicates: an object that differs by variant is in the list more than once. */
export function onceEach(
  list: readonly ResourceIdentifier[],
  variants: VariantBook | undefined,
): readonly ResourceIdentifier[] {
  if (variants === undefined) return list;
  const known = new Map(list.map((each) => [canonicalJson(each), each]));
  return [...known.values()];
}

const isJob = ({ apiVersion, kind }: KubeObject): boolean => kind === 'Job' && apiVersion === 'batch/v1';

const trackedJobs = new WeakMap<KubeObject, KubeObject>();

/** Copies the setting of the placement to the Job, because the agent sees only the Job. */
function tracked(whole: KubeObject): KubeObject {
  const said = whole.metadata.annotations ?? {};
  if (Object.hasOwn(said, annotations.trackAvailability)) return whole;
  const known = trackedJobs.get(whole);
  if (known !== undefined) return known;
  const marked = deepFreeze({
    ...whole,
    metadata: { ...whole.metadata, annotations: { ...said, [annotations.trackAvailability]: 'true' } },
  });
  if (Object.isFrozen(whole)) trackedJobs.set(whole, marked);
  return marked;
}

function largestOf(all: readonly Part[]): Pick<Content, 'largest'> {
  let largest: Part | undefined;
  for (const part of all) if (largest === undefined || part.bytes > largest.bytes) largest = part;
  return largest === undefined ? {} : { largest: { of: largest.identifier, bytes: largest.bytes } };
}
