// Full objects that decisions need, in an LRU cache bounded in bytes. Entries are keyed by uid and the caller checks
// that the state is current, so no stale object is returned. Concurrent gets of one object share one request.
import type { KubeObject } from '../api/object.ts';
import { createLru } from '../base/lru.ts';
import type { Place } from './place.ts';
import { placeText } from './place.ts';

export interface ObjectCache {
  readonly bytes: number;
  readonly entries: number;
  readonly inFlight: number;
  get(place: Place, uid: string, isCurrent: (object: KubeObject) => boolean): KubeObject | undefined;
  /** null = the object does not exist. */
  fetch(place: Place): Promise<KubeObject | null>;
  /** Stores an object from another source: the response to a write, or a watch event. */
  put(place: Place, object: KubeObject): void;
}

export function createObjectCache(maxBytes: number, look: (place: Place) => Promise<KubeObject | null>): ObjectCache {
  const objects = createLru<string, KubeObject>(maxBytes, roughBytes);
  const inFlight = new Map<string, Promise<KubeObject | null>>();
  const keep = (place: Place, object: KubeObject) => objects.set(objectText(place, object.metadata.uid), object);

  return {
    get bytes() {
      return objects.weight;
    },
    get entries() {
      return objects.size;
    },
    get inFlight() {
      return inFlight.size;
    },
    get(place, uid, isCurrent) {
      const text = objectText(place, uid);
      const object = objects.peek(text);
      // `peek` first: reading an outdated object must not mark it as recently used.
      return object === undefined || !isCurrent(object) ? undefined : objects.get(text);
    },
    put: keep,
    fetch(place) {
      const text = `${placeText(place)}@${place.resource.version}`;
      let fetching = inFlight.get(text);
      if (fetching === undefined) {
        fetching = look(place)
          .then((object) => {
            if (object !== null) keep(place, object);
            return object;
          })
          .finally(() => inFlight.delete(text));
        inFlight.set(text, fetching);
      }
      return fetching;
    },
  };
}

const objectText = ({ resource }: Place, uid = ''): string => `${uid}/${resource.version}`;

/** An estimate of the memory that an object uses, within a factor of two. */
export function roughBytes(value: unknown): number {
  if (typeof value === 'string') return 16 + value.length;
  if (typeof value !== 'object' || value === null) return 8;
  let sum = 32;
  if (Array.isArray(value)) for (const item of value) sum += 8 + roughBytes(item);
  else for (const key in value) sum += 16 + key.length + roughBytes((value as Record<string, unknown>)[key]);
  return sum;
}
