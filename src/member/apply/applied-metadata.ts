// Labels and annotations that the spec hash leaves out, such as nginx.ingress.kubernetes.io/rewrite-target: whether a
// new manifest changes them. Only objects with fields that may differ need this: all others are written either way. Pure.
import { annotations } from '../../api/names.ts';
import type { KubeObject, Labels } from '../../api/object.ts';
import { sha256 } from '../../base/hash.ts';
import { canonicalJson, isObject } from '../../base/json.ts';
import { sanitised } from '../compare/sanitised.ts';
import { isUnhashed } from '../compare/spec-hash.ts';
import { appliedPart } from './applied-part.ts';
import { recordIn, type Wanted } from './wanted.ts';

type Part = Readonly<Record<'labels' | 'annotations', Labels>>;

/** For server-side apply, which keeps no copy of the manifest on the object. */
export function withMetadataHash(wanted: Wanted): Wanted {
  const hash = hashOf(unhashedIn(wanted.object));
  if (hash === undefined) return wanted;
  const { configuration } = wanted;
  const { metadata } = configuration;
  const marks = { ...metadata.annotations, [annotations.metadataHash]: hash };
  return { ...wanted, configuration: { ...configuration, metadata: { ...metadata, annotations: marks } } };
}

/** Against the record of the last apply, or the hash. An object that has neither yet has at least its owned fields. */
export function hasNewMetadata(wanted: Wanted, live: KubeObject): boolean {
  const next = unhashedIn(wanted.object);
  const record = recordIn(live);
  if (isObject(record['metadata'])) return hashOf(unhashedIn(record as unknown as KubeObject)) !== hashOf(next);
  const mark = live.metadata.annotations?.[annotations.metadataHash];
  if (mark !== undefined) return mark !== hashOf(next);
  const { metadata } = appliedPart(live);
  if (!isObject(metadata)) return false;
  const owned = unhashedIn({ metadata } as unknown as KubeObject);
  return FIELDS.some((field) =>
    Object.entries(next[field]).some(([key, value]) => Object.hasOwn(owned[field], key) && owned[field][key] !== value),
  );
}

const FIELDS = ['labels', 'annotations'] as const;

function unhashedIn(object: KubeObject): Part {
  const { labels, annotations: written } = sanitised(object).metadata;
  return { labels: unhashed(labels), annotations: unhashed(written) };
}

const unhashed = (map: Labels = {}): Labels =>
  Object.fromEntries(Object.entries(map).filter(([key]) => isUnhashed(key)));

/** undefined = there are none. */
const hashOf = (part: Part): string | undefined =>
  FIELDS.every((field) => Object.keys(part[field]).length === 0) ? undefined : sha256(canonicalJson(part));
