// Deletes an Event when it was not written for a while, and the oldest ones of a namespace with too many. So the Events
// of one namespace have a bounded cost, and never displace those of another.
//
// A restart counts as a write, because the time of the last write is not stored, and the author chooses the Event's own
// times.
import { messageOf } from '../../base/errors.ts';
import type { Cluster } from '../cluster.ts';
import { prefixOf, RevisionMismatch, type Stored } from '../store/store.ts';
import { partsOf } from './objects.ts';

export interface EventLimits {
  /** 0 = Events do not expire. */
  readonly ttlMs: number;
  readonly maxPerNamespace: number;
  readonly maxBytesPerNamespace: number;
}

export const defaultEventLimits: EventLimits = {
  ttlMs: 60 * 60 * 1000,
  maxPerNamespace: 10_000,
  maxBytesPerNamespace: 16 * 1024 * 1024,
};

const EVENTS = prefixOf('', 'events');
/** Events that expire at almost the same time are deleted together. */
const BETWEEN_ROUNDS_MS = 10_000;
const PER_TURN = 256;

interface Known {
  readonly writtenAt: number;
  readonly bytes: number;
}

/** The Events of one namespace, oldest write first. */
class Kept {
  readonly events = new Map<string, Known>();
  bytes = 0;

  put(key: string, known: Known): void {
    this.take(key);
    this.events.set(key, known);
    this.bytes += known.bytes;
  }

  take(key: string): void {
    this.bytes -= this.events.get(key)?.bytes ?? 0;
    this.events.delete(key);
  }

  get oldest(): readonly [string, Known] | undefined {
    for (const entry of this.events) return entry;
    return undefined;
  }
}

export function startEventExpiry(
  cluster: Cluster,
  limits: EventLimits,
  onError: (error: unknown, what: string) => void,
): () => void {
  const { store, clock } = cluster;
  const namespaces = new Map<string, Kept>();
  let seen: number | undefined;
  let cancelTimer: (() => void) | undefined;
  let isStopped = false;

  const note = (stored: Stored, isDeleted: boolean): void => {
    const { namespace } = partsOf(stored.key);
    const kept = namespaces.get(namespace) ?? new Kept();
    if (isDeleted) kept.take(stored.key);
    else kept.put(stored.key, { writtenAt: clock.now(), bytes: stored.weight ?? stored.bytes().length });
    if (kept.events.size === 0) namespaces.delete(namespace);
    else namespaces.set(namespace, kept);
  };

  const pull = (): void => {
    const changes = seen === undefined ? 'compacted' : store.since(seen, EVENTS);
    if (changes === 'compacted') {
      namespaces.clear();
      const { items, revision } = store.range(EVENTS);
      for (const stored of items.toSorted((a, b) => a.revision - b.revision)) note(stored, false);
      seen = revision;
      return;
    }
    for (const { stored, deleted, revision } of changes) {
      note(stored, deleted);
      seen = revision;
    }
  };

  const remove = (kept: Kept, key: string): void => {
    kept.take(key);
    const old = store.get(key, 'head');
    if (old === undefined) return;
    try {
      store.commit({ key, expect: old.revision, value: undefined }).durable.catch(() => {});
    } catch (error) {
      if (!(error instanceof RevisionMismatch)) onError(error, `events: ${key}: ${messageOf(error)}`);
    }
  };

  const isTooMuch = ({ events, bytes }: Kept): boolean =>
    events.size > limits.maxPerNamespace || bytes > limits.maxBytesPerNamespace;

  /** Deletes due Events, up to a maximum; true if more are due now. */
  const sweep = (): boolean => {
    const ended = limits.ttlMs === 0 ? Number.NEGATIVE_INFINITY : clock.now() - limits.ttlMs;
    let left = PER_TURN;
    for (const kept of namespaces.values()) {
      for (let oldest = kept.oldest; oldest !== undefined; oldest = kept.oldest) {
        const [key, { writtenAt }] = oldest;
        if (writtenAt > ended && !isTooMuch(kept)) break;
        if (left-- === 0) return true;
        remove(kept, key);
      }
    }
    return false;
  };

  const later = (at: number): void => {
    cancelTimer?.();
    cancelTimer = clock.at(at, 'events expire', () => {
      cancelTimer = undefined;
      run();
    });
  };

  const run = (): void => {
    if (isStopped) return;
    pull();
    if (sweep()) {
      later(clock.now());
      return;
    }
    // A pending timer is early enough, because newer Events expire later.
    if (limits.ttlMs === 0 || cancelTimer !== undefined) return;
    let first = Number.POSITIVE_INFINITY;
    for (const kept of namespaces.values()) first = Math.min(first, kept.oldest?.[1].writtenAt ?? first);
    if (first === Number.POSITIVE_INFINITY) return;
    later(Math.max(first + limits.ttlMs, clock.now() + BETWEEN_ROUNDS_MS));
  };

  const unsubscribe = store.subscribe(EVENTS, run);
  run();
  return () => {
    isStopped = true;
    unsubscribe();
    cancelTimer?.();
  };
}
