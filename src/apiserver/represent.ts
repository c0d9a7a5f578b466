// A stored object in one of its versions. Versions with equal fields differ only in apiVersion, which comes first in
// the stored bytes, so such an object is converted by splicing, without parsing.
import { apiVersionOf, type KubeObject } from '../api/object.ts';
import { deepFreeze } from '../base/json.ts';
import type { ServedResource, ServedVersion } from './registry.ts';
import type { Stored } from './store/store.ts';

const converted = new WeakMap<Stored, Map<ServedVersion, KubeObject>>();

/** The object in a version. Frozen. */
export function objectIn(resource: ServedResource, version: ServedVersion, stored: Stored): KubeObject {
  const object = stored.object();
  if (version === resource.stored) return object;
  const known = converted.get(stored) ?? new Map<ServedVersion, KubeObject>();
  converted.set(stored, known);
  let shown = known.get(version);
  if (!shown) {
    const apiVersion = apiVersionOf(resource.group, version.version);
    shown = deepFreeze(version.convert ? version.convert.fromStored(object) : { ...object, apiVersion });
    known.set(version, shown);
  }
  return shown;
}

/** The object's JSON in a version. */
export function bytesIn(resource: ServedResource, version: ServedVersion, stored: Stored): Uint8Array {
  if (version === resource.stored) return stored.bytes();
  if (version.convert) return Buffer.from(JSON.stringify(objectIn(resource, version, stored)));
  const opening = (of: ServedVersion) => `{"apiVersion":"${apiVersionOf(resource.group, of.version)}"`;
  return Buffer.concat([Buffer.from(opening(version)), stored.bytes().subarray(opening(resource.stored).length)]);
}

/** An object in a response that is not in the store: of a dry run, a review, a scale. */
export function unsaved(key: string, object: KubeObject): Stored {
  const frozen = deepFreeze(object);
  const { apiVersion, kind, metadata, ...rest } = frozen;
  return {
    key,
    revision: Number(metadata.resourceVersion ?? 0),
    object: () => frozen,
    bytes: () => Buffer.from(JSON.stringify({ apiVersion, kind, metadata, ...rest })),
  };
}
