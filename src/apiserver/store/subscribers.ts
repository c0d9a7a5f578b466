// Subscriptions by prefix. A wake has no payload: subscribers pull. Guarantee: one wake per subscriber and step however
// many changes the step had; no subscriber can break another one.
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
    const subscription = { wake }; // its own identity, because the same function may subscribe twice
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

  /** Records a change under these prefixes. True if a watch is subscribed. */
  touch(prefixes: KeyPrefixes): boolean {
    if (this.#byPrefix.size === 0) return false;
    this.#note('');
    this.#note(prefixes.ofResource);
    this.#note(prefixes.ofNamespace);
    return this.#touched.size > 0;
  }

  /** Records that everything changed. */
  touchAll(): void {
    for (const prefix of this.#byPrefix.keys()) this.#touched.add(prefix);
  }

  /** Wakes all subscribers of prefixes that were touched since the last call. */
  wake(): void {
    if (this.#touched.size === 0) return;
    const prefixes = [...this.#touched];
    this.#touched.clear();
    for (const prefix of prefixes) {
      const set = this.#byPrefix.get(prefix);
      if (set === undefined) continue;
      // Iterates over a copy, because a woken watch may unsubscribe itself or others, or subscribe again.
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

/** The default handler for errors of woken subscribers: reports them without crashing. */
export const warnOfError = (error: unknown): void =>
  process.emitWarning(error instanceof Error ? error : new Error(String(error)));
