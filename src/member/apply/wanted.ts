// From a manifest to the object that is to be on the member: without what belongs to another cluster, with our marks.

import { appliedWork } from '../../api/applied-work.ts';
import { annotations } from '../../api/names.ts';
import { apiVersionOf, type KubeObject, type OwnerReference } from '../../api/object.ts';
import { goJson } from '../../base/go-json.ts';
import { isObject, type JsonObject } from '../../base/json.ts';
import { appliedPart } from './applied-part.ts';
import { specHash } from './spec-hash.ts';

/** The object is created as it is here; a live one is compared with it, except for the owners. */
export interface Wanted {
  readonly object: KubeObject;
  /** The same for server-side apply, where the server keeps the record of what was wanted. */
  readonly configuration: KubeObject;
  /** The record that the object carries of what was wanted. */
  readonly lastApplied: string;
  /** Bytes of all keys and values of its annotations, with and without that record. */
  readonly annotationBytes: number;
  readonly plainAnnotationBytes: number;
}

/** Client-side apply turns to server-side apply above this, as in KubeFleet: API servers refuse more. */
export const MAX_ANNOTATION_BYTES = 262_144;

const ANNOTATIONS_DROPPED: readonly string[] = [
  annotations.specHash,
  annotations.lastApplied,
  annotations.takenOver,
  'kubectl.kubernetes.io/last-applied-configuration',
  'deployment.kubernetes.io/revision',
];

/** The reference that says: this object was placed here for that Work. */
export const ownerReferenceTo = (name: string, uid: string): OwnerReference => ({
  apiVersion: apiVersionOf(appliedWork.group, appliedWork.version),
  blockOwnerDeletion: true,
  kind: appliedWork.kind,
  name,
  uid,
});

/** Only what a person meant: nothing that a cluster fills in. */
export function sanitised(manifest: KubeObject): KubeObject {
  const { status: _status, ...rest } = manifest;
  const {
    creationTimestamp: _creationTimestamp,
    deletionGracePeriodSeconds: _deletionGracePeriodSeconds,
    deletionTimestamp: _deletionTimestamp,
    generation: _generation,
    managedFields: _managedFields,
    ownerReferences: _ownerReferences,
    resourceVersion: _resourceVersion,
    selfLink: _selfLink,
    uid: _uid,
    annotations: written,
    ...metadata
  } = rest.metadata;
  const kept = Object.fromEntries(Object.entries(written ?? {}).filter(([key]) => !ANNOTATIONS_DROPPED.includes(key)));
  return {
    ...withPlainData(rest as KubeObject),
    metadata: { ...metadata, ...(Object.keys(kept).length === 0 ? {} : { annotations: kept }) },
  };
}

export function wantedOf(manifest: KubeObject, owner: OwnerReference): Wanted {
  const clean = sanitised(manifest);
  const marked: KubeObject = {
    ...clean,
    metadata: {
      ...clean.metadata,
      annotations: { ...clean.metadata.annotations, [annotations.specHash]: specHash(manifest) },
      ownerReferences: [owner],
    },
  };
  const lastApplied = goJson(marked);
  const all = { ...marked.metadata.annotations, [annotations.lastApplied]: lastApplied };
  return {
    lastApplied,
    object: { ...marked, metadata: { ...marked.metadata, annotations: all } },
    configuration: marked,
    annotationBytes: bytesOf(all),
    plainAnnotationBytes: bytesOf(marked.metadata.annotations ?? {}),
  };
}

const bytesOf = (map: Readonly<Record<string, string>>): number =>
  Object.entries(map).reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0);

/** What was wanted when we applied last: by the record on the live object, else by what the server recorded of our server-side apply. */
export const lastAppliedOf = (live: KubeObject): JsonObject =>
  live.metadata.annotations?.[annotations.lastApplied] === undefined ? appliedPart(live) : recordIn(live);

/** The record of client-side apply; nothing if there is none that can be read. */
export function recordIn(live: KubeObject): JsonObject {
  const text = live.metadata.annotations?.[annotations.lastApplied];
  if (text === undefined || text === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? (value as JsonObject) : {};
  } catch {
    return {};
  }
}

/** A Secret's stringData is never read back; where it is compared, it must stand where the server puts it. */
function withPlainData(object: KubeObject): KubeObject {
  const { stringData, ...rest } = object;
  if (object.apiVersion !== 'v1' || object.kind !== 'Secret' || !isObject(stringData)) return object;
  const encoded = Object.entries(stringData).map(([key, value]) => [
    key,
    typeof value === 'string' ? Buffer.from(value).toString('base64') : value,
  ]);
  const { data } = rest;
  return { ...rest, data: { ...(isObject(data) ? data : {}), ...Object.fromEntries(encoded) } } as KubeObject;
}
