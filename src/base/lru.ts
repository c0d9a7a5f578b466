// A map that keeps the most recently used entries up to a maximum number or total weight.

export interface Lru<Key, Value> {
  readonly size: number;
  /** The total weight of all entries; by default their number. */
  readonly weight: number;
  get(key: Key): Value | undefined;
  /** Does not mark the entry as used. */
  peek(key: Key): Value | undefined;
  set(key: Key, value: Value): void;
  delete(key: Key): void;
}

/** An entry that weighs more than `max` by itself is not stored. */
export function createLru<Key, Value>(max: number, weigh: (value: Value) => number = () => 1): Lru<Key, Value> {
  // A Map iterates in insertion order, so its first key is the least recently used one.
  const entries = new Map<Key, { readonly value: Value; readonly weight: number }>();
  let weight = 0;

  function forget(key: Key): void {
    weight -= entries.get(key)?.weight ?? 0;
    entries.delete(key);
  }

  return {
    get size() {
      return entries.size;
    },
    get weight() {
      return weight;
    },
    get(key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      entries.delete(key);
      entries.set(key, entry);
      return entry.value;
    },
    peek: (key) => entries.get(key)?.value,
    set(key, value) {
      forget(key);
      const own = weigh(value);
      if (own > max) return;
      entries.set(key, { value, weight: own });
      weight += own;
      for (const oldest of entries.keys()) {
        if (weight <= max) break;
        forget(oldest);
      }
    },
    delete: forget,
  };
}
