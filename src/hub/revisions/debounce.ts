// When a change of the selected resources becomes a revision: a moment after the last of a burst of changes, but never long after the first.
import { annotations } from '../../api/names.ts';
import type { HubResourceSnapshot } from '../placement-sources.ts';

export interface Throttle {
  /** Waited after the last change; 0 = none. */
  readonly debounceMs: number;
  /** Longest wait after the first change. */
  readonly longestMs: number;
  /** KubeFleet's resource-changes-collection-duration. */
  readonly collectionMs: number;
  /** KubeFleet's resource-snapshot-creation-minimum-interval. */
  readonly minimumIntervalMs: number;
}

/** Differs from KubeFleet, which waits 15 s to collect changes and at least 30 s between snapshots. */
export const defaultThrottle: Throttle = { debounceMs: 100, longestMs: 1000, collectionMs: 0, minimumIntervalMs: 0 };

/** The settings of KubeFleet keep the moment of detection in an annotation, so that a restart does not begin to count anew. */
export const keepsDetection = ({ collectionMs, minimumIntervalMs }: Throttle): boolean =>
  collectionMs > 0 || minimumIntervalMs > 0;

/** undefined = no time there. */
export function detectionIn({ metadata }: HubResourceSnapshot): number | undefined {
  const at = Date.parse(metadata.annotations?.[annotations.nextSnapshotDetectionTime] ?? '');
  return Number.isNaN(at) ? undefined : at;
}

export interface Pending {
  readonly firstSeen: number;
  readonly lastSeen: number;
}

/** The moment from which the pending content may follow the latest snapshot. */
export function dueAt(pending: Pending, latest: HubResourceSnapshot, throttle: Throttle): number {
  const { debounceMs, longestMs, collectionMs, minimumIntervalMs } = throttle;
  const settled = Math.min(pending.lastSeen + debounceMs, pending.firstSeen + longestMs);
  if (!keepsDetection(throttle)) return settled;
  const created = Date.parse(latest.metadata.creationTimestamp ?? '');
  return Math.max(
    settled,
    (detectionIn(latest) ?? pending.firstSeen) + collectionMs,
    Number.isNaN(created) ? 0 : created + minimumIntervalMs,
  );
}

/** What was seen of each placement's selected resources and status, and since when. In memory: after a restart the count begins anew. */
export interface Changes {
  /** Notes what is there now, which differs from what this snapshot has. */
  seen(key: string, hash: string, snapshot: string, now: number): Pending;
  /** The snapshot has what is there. */
  none(key: string): void;
  readonly size: number;
}

export function createChanges(): Changes {
  const noted = new Map<string, Pending & { readonly hash: string; readonly snapshot: string }>();
  return {
    seen(key, hash, snapshot, now) {
      const last = noted.get(key);
      // What came before the snapshot is in it. If the clock was set back, the count begins anew instead of lasting for hours.
      const isUsable = last !== undefined && last.snapshot === snapshot && last.lastSeen <= now;
      if (isUsable && last.hash === hash) return last;
      const pending = { hash, snapshot, firstSeen: isUsable ? last.firstSeen : now, lastSeen: now };
      noted.set(key, pending);
      return pending;
    },
    none: (key) => {
      noted.delete(key);
    },
    get size() {
      return noted.size;
    },
  };
}
