// Which keys read which collections on demand. A collection that is not read any more is watched a little longer, because most that stop
// reading begin again (a pass that failed, a placement applied again), and then dropped.
import type { Clock } from '../base/clock.ts';
import type { Feed } from './feeds.ts';

export interface Demand {
  /** What a reader read in its last look, in place of what it read before. */
  set(reader: string, feeds: ReadonlySet<Feed>): void;
  stop(): void;
}

export interface DemandOptions {
  readonly clock: Clock;
  readonly lingerMs?: number;
  /** It has no reader any more. */
  onIdle(feed: Feed): void;
}

export function createDemand({ clock, onIdle, lingerMs = 60_000 }: DemandOptions): Demand {
  const readersOf = new Map<Feed, Set<string>>();
  const readBy = new Map<string, readonly Feed[]>();
  const ending = new Map<Feed, () => void>();

  function join(reader: string, feed: Feed): void {
    const readers = readersOf.get(feed);
    if (readers !== undefined) readers.add(reader);
    else readersOf.set(feed, new Set([reader]));
    ending.get(feed)?.();
    ending.delete(feed);
  }

  function leave(reader: string, feed: Feed): void {
    const readers = readersOf.get(feed);
    readers?.delete(reader);
    if (readers === undefined || readers.size > 0) return;
    readersOf.delete(feed);
    const cancel = clock.at(clock.now() + lingerMs, `${feed.name} unread`, () => {
      ending.delete(feed);
      onIdle(feed);
    });
    ending.set(feed, cancel);
  }

  return {
    set(reader, feeds) {
      const before = readBy.get(reader) ?? [];
      if (before.length === feeds.size && before.every((feed) => feeds.has(feed))) return;
      for (const feed of before) if (!feeds.has(feed)) leave(reader, feed);
      if (feeds.size === 0) readBy.delete(reader);
      else readBy.set(reader, [...feeds]);
      for (const feed of feeds) join(reader, feed);
    },
    stop() {
      for (const cancel of ending.values()) cancel();
      ending.clear();
    },
  };
}
