// The stored form of an object: with its revision, frozen, and as JSON with apiVersion, kind and metadata first, so
// that they can be read from the bytes without parsing the rest.
import type { KubeObject } from '../../api/object.ts';
import { deepFreeze } from '../../base/json.ts';
import { ObjectTooLarge, type Stored } from './store.ts';

/** The object at a revision, frozen. Takes ownership of the given one: its content is frozen, too. */
export function stamped(value: KubeObject, revision: number): KubeObject {
  // These three come first regardless of the input order. A spread defines properties, so a key `__proto__` remains
  // data.
  const object = { apiVersion: '', kind: '', metadata: {}, ...(value as Record<string, unknown>) } as {
    apiVersion: string;
    kind: string;
    metadata: KubeObject['metadata'];
  };
  object.metadata = { ...value.metadata, resourceVersion: String(revision) };
  return deepFreeze(object);
}

const LAYOUT = '{"apiVersion":';

export function jsonOf(object: KubeObject): string {
  const text = JSON.stringify(object);
  if (text.startsWith(LAYOUT)) return text;
  // Integer-like keys are enumerated before all others, so these three are written separately.
  const { apiVersion, kind, metadata, ...rest } = object;
  const others = JSON.stringify(rest).slice(1);
  const first = `"kind":${JSON.stringify(kind)},"metadata":${JSON.stringify(metadata)}`;
  return `${LAYOUT}${JSON.stringify(apiVersion)},${first}${others === '}' ? '' : ','}${others}`;
}

/** Most objects are small enough without counting: a UTF-16 unit has at most three bytes in UTF-8. */
export function checkSize(json: string, maxBytes = Number.POSITIVE_INFINITY): void {
  if (json.length * 3 > maxBytes && Buffer.byteLength(json) > maxBytes) throw new ObjectTooLarge();
}

/**
 * The result of a deletion: the last object, at the revision of the deletion. Object and bytes are created on demand.
 */
export class DeletedStored implements Stored {
  readonly key: string;
  readonly revision: number;
  readonly #last: Stored;
  #object: KubeObject | undefined;
  #bytes: Uint8Array | undefined;

  constructor(last: Stored, revision: number) {
    this.key = last.key;
    this.revision = revision;
    this.#last = last;
  }

  object(): KubeObject {
    this.#object ??= stamped(this.#last.object(), this.revision);
    return this.#object;
  }

  bytes(): Uint8Array {
    this.#bytes ??= Buffer.from(jsonOf(this.object()));
    return this.#bytes;
  }
}
