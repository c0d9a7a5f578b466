// The content of a revision: the selected objects without what belongs to the hub, their hash and their size. What is made from an object is
// made once, however often it is looked at.
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
  /** Stripped, as they stand in the snapshot. */
  readonly objects: readonly KubeObject[];
  readonly hash: string;
  /** As KubeFleet counts it: each object's JSON and a newline. */
  readonly bytes: number;
  /** Of each object, in their order. */
  readonly sizes: readonly Sized[];
  /** Those that are envelopes: of a ConfigMap only its content tells. */
  readonly envelopes: readonly ResourceIdentifier[];
  /** ConfigMaps that are annotated as envelopes and hold other data; absent = there are none. */
  readonly noEnvelopes?: readonly ResourceIdentifier[];
  /** The commit that it was read from, if it comes from a repository. */
  readonly commit?: string;
  /** The hash of what that commit asks for besides: targets, strategy. */
  readonly sourceHash?: string;
  /** Which cluster has which of the objects; absent = each has all. */
  readonly variants?: VariantBook;
  /** The first of those that take the most; absent = there are no objects. */
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

// Objects on their way through the program are frozen, so what was made from one stays true.
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

/** What a placement says of all that it selects. */
export interface Marks {
  /** Its Jobs are waited for, unless one says otherwise. */
  readonly tracksJobs: boolean;
}

export const marksOf = ({ metadata }: Pick<HubPlacement, 'metadata'>): Marks => ({
  tracksJobs: metadata.annotations?.[annotations.trackAvailability] === 'true',
});

/** Of whole objects in their order. The tokens of service accounts are left out: what they are shows only here. */
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

/** Without the version: the object stays the same when it is read in another one. Variants of an object are told apart. */
const keyOf = ({ group = '', kind, namespace = '', name }: ResourceIdentifier, { metadata }: KubeObject): string =>
  `${group}/${kind}/${namespace}/${name}/${metadata.annotations?.[annotations.variant] ?? ''}`;

/** Where the objects of a group are; `parts` by their number, those that are missing are left out. */
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

/** An object that differs by variant is there more than once. */
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

/** The agent looks at the Job alone, so the Job carries what its placement says. */
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
