// When a change of the selected resources becomes a revision: shortly after the last change of a burst, but never long
// after the first.
import { annotations } from '../../api/names.ts';
import { dueAt, newThrottle, type Pending, sawChange, sawNoChange, type Throttle } from '../../runtime/due.ts';
import type { HubResourceSnapshot } from '../placement-sources.ts';

export interface RevisionDelays {
  /** The wait after the last change; 0 = none. */
  readonly debounceMs: number;
  /** The longest wait after the first change. */
  readonly longestMs: number;
  /** KubeFleet's resource-changes-collection-duration. */
  readonly collectionMs: number;
  /** KubeFleet's resource-snapshot-creation-minimum-interval. */
  readonly minimumIntervalMs: number;
}

/** Differs from KubeFleet, which waits 15 s to collect changes and at least 30 s between snapshots. */
export const defaultDelays: RevisionDelays = {
  debounceMs: 100,
  longestMs: 1000,
  collectionMs: 0,
  minimumIntervalMs: 0,
};

/**
 * With KubeFleet's settings the time of detection is kept in an annotation, so that a restart does not restart the
 * wait.
 */
export const keepsDetection = ({ collectionMs, minimumIntervalMs }: RevisionDelays): boolean =>
  collectionMs > 0 || minimumIntervalMs > 0;

/** undefined = there is no annotation. */
export function detectionIn({ metadata }: HubResourceSnapshot): number | undefined {
  const at = Date.parse(metadata.annotations?.[annotations.nextSnapshotDetectionTime] ?? '');
  return Number.isNaN(at) ? undefined : at;
}

/** Content that differs from the latest snapshot. */
export interface NewContent {
  readonly hash: string;
  readonly snapshot: string;
}

/**
 * Records the selected content (undefined = the same as in the latest snapshot) and returns since when it has been
 * pending.
 */
export function sawContent(of: Throttle, content: NewContent | undefined, now: number): Pending | undefined {
  const before = of.seen?.value as NewContent | undefined;
  // A new snapshot includes all changes from before it.
  if (before?.snapshot !== content?.snapshot) sawNoChange(of);
  return content && sawChange(of, content, now);
}

/** The earliest time for the next snapshot with the pending content. */
export function revisionDueAt(
  pending: Pending,
  latest: HubResourceSnapshot,
  delays: RevisionDelays,
  now: number,
): number {
  const { debounceMs: quietMs, longestMs: maxWaitMs, collectionMs, minimumIntervalMs } = delays;
  const settled = dueAt({ ...newThrottle(), pending }, { quietMs, maxWaitMs }, now);
  if (!keepsDetection(delays)) return settled;
  const created = Date.parse(latest.metadata.creationTimestamp ?? '');
  return Math.max(
    settled,
    (detectionIn(latest) ?? pending.firstSeen) + collectionMs,
    Number.isNaN(created) ? 0 : created + minimumIntervalMs,
  );
}
