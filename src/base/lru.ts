// A map that remembers the most recently used entries and no more than it was told to.

export interface Lru<Key, Value> {
  readonly size: number;
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): void;
  delete(key: Key): void;
}

export function createLru<Key, Value>(max: number): Lru<Key, Value> {
  // A Map iterates in order of insertion, so its first key is the one that was not used for the longest time.
  const entries = new Map<Key, Value>();
  return {
    get size() {
      return entries.size;
    },
    get(key) {
      const value = entries.get(key);
      if (value === undefined) return undefined;
      entries.delete(key);
      entries.set(key, value);
      return value;
    },
    set(key, value) {
      entries.delete(key);
      entries.set(key, value);
      if (entries.size > max) entries.delete(entries.keys().next().value as Key);
    },
    delete(key) {
      entries.delete(key);
    },
  };
}
