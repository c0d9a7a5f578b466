// How an object is put down: stamped with its revision, frozen, and as JSON with apiVersion, kind and metadata first, so that a
// reader of the bytes finds them without parsing the rest.
import type { KubeObject } from '../../api/object.ts';
import { deepFreeze } from '../../base/json.ts';
import { ObjectTooLarge, type Stored } from './store.ts';

/** The object at a revision, frozen. Takes the given one over: what it contains is frozen, too. */
export function stamped(value: KubeObject, revision: number): KubeObject {
  // The three come first whatever order they arrived in. Spreading defines properties, so a key `__proto__` stays data.
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
  // Keys that look like whole numbers are enumerated before all others.
  const { apiVersion, kind, metadata, ...rest } = object;
  const others = JSON.stringify(rest).slice(1);
  const first = `"kind":${JSON.stringify(kind)},"metadata":${JSON.stringify(metadata)}`;
  return `${LAYOUT}${JSON.stringify(apiVersion)},${first}${others === '}' ? '' : ','}${others}`;
}

/** Most objects are small enough to need no count: a UTF-16 unit has at most three bytes in UTF-8. */
export function checkSize(json: string, maxBytes = Number.POSITIVE_INFINITY): void {
  if (json.length * 3 > maxBytes && Buffer.byteLength(json) > maxBytes) throw new ObjectTooLarge();
}

/** What a deletion leaves behind: the last object, at the revision of its deletion. Both forms are made when asked for. */
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
