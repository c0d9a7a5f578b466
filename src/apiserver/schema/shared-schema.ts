// Equal schemas are one value. Each cluster parses its own copy of a CRD; what is compiled from a schema hangs on the schema value, so
// a thousand clusters with the same CRD must end up with the same value. Held weakly: a schema that no cluster uses is forgotten.
import { createHash } from 'node:crypto';
import type { Schema } from '../../api/schema.ts';
import { canonicalJson, deepFreeze } from '../../base/json.ts';

const byIdentity = new WeakMap<Schema, Schema>();
const byContent = new Map<string, WeakRef<Schema>>();
const forgotten = new FinalizationRegistry<string>((hash) => {
  if (byContent.get(hash)?.deref() === undefined) byContent.delete(hash);
});

/** The one value for all schemas that are equal to this one. Frozen. */
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
