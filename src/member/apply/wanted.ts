// Computes the object for the member from a manifest: without fields that belong to another cluster, with our
// annotations and owner reference.

import { appliedWork } from '../../api/applied-work.ts';
import { annotations } from '../../api/names.ts';
import { apiVersionOf, type KubeObject, type OwnerReference } from '../../api/object.ts';
import { goJson } from '../../base/go-json.ts';
import { sha256 } from '../../base/hash.ts';
import { isObject, type JsonObject } from '../../base/json.ts';
import { sanitised } from '../compare/sanitised.ts';
import { specHash } from '../compare/spec-hash.ts';
import { appliedPart } from './applied-part.ts';

/** The body of a create; a live object is compared with it, except for the owners. */
export interface Wanted {
  readonly object: KubeObject;
  /** The body for server-side apply, where the server records the desired state. */
  readonly configuration: KubeObject;
  /** The annotation value that records the desired state. */
  readonly lastApplied: string;
  /** Bytes of all annotation keys and values, with and without that record. */
  readonly annotationBytes: number;
  readonly plainAnnotationBytes: number;
}

/**
 * Above this size client-side apply switches to server-side apply, as in KubeFleet: API servers reject larger
 * annotations.
 */
export const MAX_ANNOTATION_BYTES = 262_144;

/** The owner reference that marks an object as placed for that Work. */
export const ownerReferenceTo = (name: string, uid: string): OwnerReference => ({
  apiVersion: apiVersionOf(appliedWork.group, appliedWork.version),
  blockOwnerDeletion: true,
  kind: appliedWork.kind,
  name,
  uid,
});

/** `force`: another number makes another hash of the same manifest, so that it is applied again. */
export function wantedOf(manifest: KubeObject, owner: OwnerReference, force = 0): Wanted {
  const clean = sanitised(manifest);
  const hash = specHash(manifest);
  const marked: KubeObject = {
    ...clean,
    metadata: {
      ...clean.metadata,
      annotations: {
        ...clean.metadata.annotations,
        [annotations.specHash]: force === 0 ? hash : sha256(`${hash}/${force}`),
      },
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

/**
 * The desired state of the last apply: from the annotation, or from the field set that the server recorded for our
 * server-side apply.
 */
export const lastAppliedOf = (live: KubeObject): JsonObject =>
  live.metadata.annotations?.[annotations.lastApplied] === undefined ? appliedPart(live) : recordIn(live);

/** The record of client-side apply; empty if there is none or it cannot be parsed. */
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
