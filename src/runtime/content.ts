// Whole objects that a decision needs. Bounded in bytes. Asked for by uid and by whoever knows which state is current, so nothing stale is ever
// given; of an object only what was put last is kept. One get at a time per object, however many keys want it.
import type { KubeObject } from '../api/object.ts';
import type { Place } from './place.ts';
import { placeText } from './place.ts';

export interface Contents {
  readonly bytes: number;
  readonly entries: number;
  readonly inFlight: number;
  get(place: Place, uid: string, isCurrent: (object: KubeObject) => boolean): KubeObject | undefined;
  /** null = not there. */
  fetch(place: Place): Promise<KubeObject | null>;
  /** An object that came by another way: the answer to a write, the event of a watch. */
  put(place: Place, object: KubeObject): void;
}

interface Entry {
  readonly object: KubeObject;
  readonly bytes: number;
}

export function createContents(maxBytes: number, look: (place: Place) => Promise<KubeObject | null>): Contents {
  // In the order of use: the first was not used for the longest time.
  const entries = new Map<string, Entry>();
  const inFlight = new Map<string, Promise<KubeObject | null>>();
  let bytes = 0;

  function keep(text: string, object: KubeObject): void {
    forget(text);
    const entry = { object, bytes: roughBytes(object) };
    if (entry.bytes > maxBytes) return;
    entries.set(text, entry);
    bytes += entry.bytes;
    for (const oldest of entries.keys()) {
      if (bytes <= maxBytes) break;
      forget(oldest);
    }
  }

  function forget(text: string): void {
    const entry = entries.get(text);
    if (entry === undefined) return;
    entries.delete(text);
    bytes -= entry.bytes;
  }

  return {
    get bytes() {
      return bytes;
    },
    get entries() {
      return entries.size;
    },
    get inFlight() {
      return inFlight.size;
    },
    get(place, uid, isCurrent) {
      const text = objectText(place, uid);
      const entry = entries.get(text);
      if (entry === undefined || !isCurrent(entry.object)) return undefined;
      entries.delete(text);
      entries.set(text, entry);
      return entry.object;
    },
    put: (place, object) => keep(objectText(place, object.metadata.uid), object),
    fetch(place) {
      const text = `${placeText(place)}@${place.resource.version}`;
      let fetching = inFlight.get(text);
      if (fetching === undefined) {
        fetching = look(place)
          .then((object) => {
            if (object !== null) keep(objectText(place, object.metadata.uid), object);
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

/** What an object costs in memory, within a factor of two. */
export function roughBytes(value: unknown): number {
  if (typeof value === 'string') return 16 + value.length;
  if (typeof value !== 'object' || value === null) return 8;
  let sum = 32;
  if (Array.isArray(value)) for (const item of value) sum += 8 + roughBytes(item);
  else for (const key in value) sum += 16 + key.length + roughBytes((value as Record<string, unknown>)[key]);
  return sum;
}
