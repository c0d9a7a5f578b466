// Picks the metadata that a projection keeps: the identity of the object, and the named fields. Field by field, because
// a copy with `...rest` would also keep fields that are never read.
import type { ObjectMeta } from '../api/object.ts';

export function only(metadata: ObjectMeta, ...fields: readonly (keyof ObjectMeta)[]): ObjectMeta {
  const kept: Record<string, unknown> = {
    name: metadata.name,
    uid: metadata.uid,
    resourceVersion: metadata.resourceVersion,
  };
  if (metadata.namespace !== undefined) kept['namespace'] = metadata.namespace;
  for (const field of fields) if (metadata[field] !== undefined) kept[field] = metadata[field];
  return kept;
}
