// Sorted keys, with their items as one array that is built on demand and kept until something changes.
import { byText } from '../base/compare.ts';

export class SortedKeys<T> {
  readonly #itemOf: (key: string) => T;
  readonly #keys: string[] = [];
  #items: readonly T[] | undefined;

  constructor(itemOf: (key: string) => T) {
    this.#itemOf = itemOf;
  }

  get size(): number {
    return this.#keys.length;
  }

  add(key: string): void {
    this.#items = undefined;
    const last = this.#keys.at(-1);
    // Lists arrive sorted, so most keys are appended.
    if (last === undefined || byText(last, key) < 0) {
      this.#keys.push(key);
      return;
    }
    const at = this.#find(key);
    if (this.#keys[at] !== key) this.#keys.splice(at, 0, key);
  }

  delete(key: string): void {
    this.#items = undefined;
    const at = this.#find(key);
    if (this.#keys[at] === key) this.#keys.splice(at, 1);
  }

  /** The item of one of the keys was replaced. */
  changed(): void {
    this.#items = undefined;
  }

  keys(): readonly string[] {
    return this.#keys;
  }

  items(): readonly T[] {
    this.#items ??= Object.freeze(this.#keys.map(this.#itemOf));
    return this.#items;
  }

  itemsUnder(prefix: string): readonly T[] {
    const items: T[] = [];
    for (let at = this.#find(prefix); at < this.#keys.length; at++) {
      const key = this.#keys[at] as string;
      if (!key.startsWith(prefix)) break;
      items.push(this.#itemOf(key));
    }
    return items;
  }

  /** The index of the key, or where to insert it. */
  #find(key: string): number {
    let low = 0;
    let high = this.#keys.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (byText(this.#keys[middle] as string, key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
