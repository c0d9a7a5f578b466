// When a change of the selected resources becomes a revision: a moment after the last of a burst of changes, but never long after the first.
import { annotations } from '../../api/names.ts';
import { dueAt, newThrottle, type Pending, sawChange, sawNoChange, type Throttle } from '../../runtime/due.ts';
import type { HubResourceSnapshot } from '../placement-sources.ts';

export interface RevisionDelays {
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
export const defaultDelays: RevisionDelays = {
  debounceMs: 100,
  longestMs: 1000,
  collectionMs: 0,
  minimumIntervalMs: 0,
};

/** The settings of KubeFleet keep the moment of detection in an annotation, so that a restart does not begin to count anew. */
export const keepsDetection = ({ collectionMs, minimumIntervalMs }: RevisionDelays): boolean =>
  collectionMs > 0 || minimumIntervalMs > 0;

/** undefined = no time there. */
export function detectionIn({ metadata }: HubResourceSnapshot): number | undefined {
  const at = Date.parse(metadata.annotations?.[annotations.nextSnapshotDetectionTime] ?? '');
  return Number.isNaN(at) ? undefined : at;
}

/** Content that differs from what this snapshot, the latest, has. */
export interface NewContent {
  readonly hash: string;
  readonly snapshot: string;
}

/** Notes what is selected now; undefined = what the latest snapshot has. Since when there are changes that no snapshot has. */
export function sawContent(of: Throttle, content: NewContent | undefined, now: number): Pending | undefined {
  const before = of.seen?.value as NewContent | undefined;
  // Changes from before the snapshot are in it.
  if (before?.snapshot !== content?.snapshot) sawNoChange(of);
  return content && sawChange(of, content, now);
}

/** The moment from which the pending content may follow the latest snapshot. */
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
