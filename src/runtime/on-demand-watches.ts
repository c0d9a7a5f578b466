// Tracks which keys read which on-demand collections. A collection that is not read any more is watched a little
// longer, because most readers return (a reconcile that failed, a placement that was applied again), and then dropped.
import type { Clock } from '../base/clock.ts';
import type { Informer } from './informers.ts';

export interface OnDemandWatches {
  /** Replaces the collections of a reader with those of its last `observe`. */
  set(reader: string, informers: ReadonlySet<Informer>): void;
  stop(): void;
}

export interface OnDemandOptions {
  readonly clock: Clock;
  readonly lingerMs?: number;
  /** The collection has no reader any more. */
  onIdle(informer: Informer): void;
}

export function createOnDemandWatches({ clock, onIdle, lingerMs = 60_000 }: OnDemandOptions): OnDemandWatches {
  const readersOf = new Map<Informer, Set<string>>();
  const readBy = new Map<string, readonly Informer[]>();
  const ending = new Map<Informer, () => void>();

  function join(reader: string, informer: Informer): void {
    const readers = readersOf.get(informer);
    if (readers !== undefined) readers.add(reader);
    else readersOf.set(informer, new Set([reader]));
    ending.get(informer)?.();
    ending.delete(informer);
  }

  function leave(reader: string, informer: Informer): void {
    const readers = readersOf.get(informer);
    readers?.delete(reader);
    if (readers === undefined || readers.size > 0) return;
    readersOf.delete(informer);
    const cancel = clock.at(clock.now() + lingerMs, `${informer.name} unread`, () => {
      ending.delete(informer);
      onIdle(informer);
    });
    ending.set(informer, cancel);
  }

  return {
    set(reader, informers) {
      const before = readBy.get(reader) ?? [];
      if (before.length === informers.size && before.every((informer) => informers.has(informer))) return;
      for (const informer of before) if (!informers.has(informer)) leave(reader, informer);
      if (informers.size === 0) readBy.delete(reader);
      else readBy.set(reader, [...informers]);
      for (const informer of informers) join(reader, informer);
    },
    stop() {
      for (const cancel of ending.values()) cancel();
      ending.clear();
    },
  };
}
