// Who wants to be woken, by prefix. A wake carries nothing: the woken pull what they want.
// Guarantees: one wake per subscriber and step however many changes the step had; no subscriber can break another.
import type { KeyPrefixes } from './history.ts';

interface Subscription {
  readonly wake: () => void;
}

export class Subscribers {
  readonly #byPrefix = new Map<string, Set<Subscription>>();
  readonly #touched = new Set<string>();
  readonly #report: (error: unknown) => void;

  constructor(report: (error: unknown) => void) {
    this.#report = report;
  }

  subscribe(prefix: string, wake: () => void): () => void {
    const subscription = { wake }; // own identity: the same function may subscribe twice
    let set = this.#byPrefix.get(prefix);
    if (set === undefined) {
      set = new Set();
      this.#byPrefix.set(prefix, set);
    }
    set.add(subscription);
    return () => {
      const current = this.#byPrefix.get(prefix);
      if (current?.delete(subscription) && current.size === 0) this.#byPrefix.delete(prefix);
    };
  }

  /** Notes that something changed under these prefixes. True if a watch listens. */
  touch(prefixes: KeyPrefixes): boolean {
    if (this.#byPrefix.size === 0) return false;
    this.#note('');
    this.#note(prefixes.ofResource);
    this.#note(prefixes.ofNamespace);
    return this.#touched.size > 0;
  }

  /** Notes that everything changed. */
  touchAll(): void {
    for (const prefix of this.#byPrefix.keys()) this.#touched.add(prefix);
  }

  /** Wakes all whose prefix was touched since the last time. */
  wake(): void {
    if (this.#touched.size === 0) return;
    const prefixes = [...this.#touched];
    this.#touched.clear();
    for (const prefix of prefixes) {
      const set = this.#byPrefix.get(prefix);
      if (set === undefined) continue;
      // A copy, since a watch that is woken may unsubscribe itself or others, or subscribe again.
      for (const subscription of [...set]) {
        if (!set.has(subscription)) continue;
        try {
          subscription.wake();
        } catch (error) {
          this.#report(error);
        }
      }
    }
  }

  #note(prefix: string): void {
    if (this.#byPrefix.has(prefix)) this.#touched.add(prefix);
  }
}

/** Where errors of woken subscribers go unless the owner says otherwise: seen, but not fatal. */
export const warnOfError = (error: unknown): void =>
  process.emitWarning(error instanceof Error ? error : new Error(String(error)));
