// Makes equal schemas one value. Each cluster parses its own copy of a CRD, and compiled forms are cached per schema
// value, so a thousand clusters with the same CRD must share the value. References are weak: a schema that no cluster
// uses is garbage-collected.
import { createHash } from 'node:crypto';
import type { Schema } from '../../api/schema.ts';
import { canonicalJson, deepFreeze } from '../../base/json.ts';

const byIdentity = new WeakMap<Schema, Schema>();
const byContent = new Map<string, WeakRef<Schema>>();
const forgotten = new FinalizationRegistry<string>((hash) => {
  if (byContent.get(hash)?.deref() === undefined) byContent.delete(hash);
});

/** The shared value of all schemas equal to this one. Frozen. */
export function sharedSchema(schema: Schema): Schema {
  const known = byIdentity.get(schema);
  if (known !== undefined) return known;
  const hash = createHash('sha256').update(canonicalJson(schema)).digest('base64');
  let shared = byContent.get(hash)?.deref();
  if (shared === undefined) {
    shared = deepFreeze(schema);
    byContent.set(hash, new WeakRef(shared));
    forgotten.register(shared, hash);
  }
  byIdentity.set(schema, shared);
  byIdentity.set(shared, shared);
  return shared;
}
