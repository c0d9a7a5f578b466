// The resource snapshot that is rolled out: a new one when the content differs, not before the changes have come to rest. Guarantee: what a
// cluster runs is never deleted, and numbers only grow.
import { annotations, labels, masterSnapshotName } from '../../api/names.ts';
import { apiVersionOf, type KubeObject } from '../../api/object.ts';
import { kubeTime } from '../../base/clock.ts';
import { create, patch, remove, seen } from '../../runtime/actions.ts';
import type { Action } from '../../runtime/controller.ts';
import type { PlacementFamily } from '../families.ts';
import {
  type HubBinding,
  type HubPlacement,
  type HubResourceSnapshot,
  isLatest,
  isMaster,
  resourceIndexOf,
} from '../placement-sources.ts';
import type { Content } from './content.ts';
import { detectionIn, dueAt, keepsDetection, type Pending, type Throttle } from './debounce.ts';
import { DEFAULT_HISTORY_LIMIT, expired, nextIndex } from './history.ts';
import { newestOf, snapshotMetadata } from './snapshot-metadata.ts';

/** What one object may hold; more is to be spread over several, which is not built yet. */
export const SNAPSHOT_LIMIT = 800 * 1024;

export interface ResourcesInput {
  readonly family: PlacementFamily;
  readonly placement: HubPlacement;
  readonly snapshots: readonly HubResourceSnapshot[];
  readonly bindings: readonly HubBinding[];
  readonly content: Content;
  /** Since when the content differs from the latest snapshot. */
  readonly pending: Pending | undefined;
  readonly throttle: Throttle;
  /** Indexes that somebody will still need, whatever the limit of the history. */
  readonly inUse?: ReadonlySet<number>;
  readonly now: number;
}

export type ResourcesPlan =
  | { readonly state: 'current'; readonly steps: readonly (readonly Action[])[] }
  | { readonly state: 'waits'; readonly steps: readonly (readonly Action[])[]; readonly until: number }
  | { readonly state: 'too-large' }
  | { readonly state: 'new'; readonly steps: readonly (readonly Action[])[] };

/** Master of the group that is rolled out. */
export const latestMaster = (snapshots: readonly HubResourceSnapshot[]): HubResourceSnapshot | undefined =>
  newestOf(snapshots.filter(isMaster), resourceIndexOf);

export const hashOf = ({ metadata }: HubResourceSnapshot): string | undefined =>
  metadata.annotations?.[annotations.resourceHash];

export function planResources(input: ResourcesInput): ResourcesPlan {
  const { family, placement, snapshots, content, pending, throttle, now } = input;
  const latest = latestMaster(snapshots);
  const demoted = snapshots.filter((each) => each !== latest && isLatest(each)).map((each) => demote(family, each));
  if (latest !== undefined && hashOf(latest) === content.hash) {
    const change = restored(latest);
    // What was demoted just now is another object than the one seen: it goes in the next pass.
    const gone = demoted.length > 0 ? [] : surplus(input);
    return {
      state: 'current',
      steps: [
        demoted,
        change === undefined ? [] : [patch(seen(family.resourceSnapshots, latest), change, 'it is the latest')],
        gone.map((each) => remove(seen(family.resourceSnapshots, each), 'older than the history that is kept')),
      ],
    };
  }
  if (content.bytes > SNAPSHOT_LIMIT) return { state: 'too-large' };
  if (latest !== undefined && isLatest(latest) && pending !== undefined) {
    const until = dueAt(pending, latest, throttle);
    const noted =
      keepsDetection(throttle) && detectionIn(latest) === undefined ? [noteDetection(family, latest, pending)] : [];
    if (now < until) return { state: 'waits', steps: [demoted, noted], until };
  }
  const indexes = snapshots.map(resourceIndexOf);
  const index = nextIndex([...indexes, indexIn(placement.observedResourceIndex)]);
  const because = `revision ${index}: ${content.objects.length} objects, ${content.bytes} bytes`;
  return {
    state: 'new',
    // The new one first: there is never a moment without a latest. Two for a moment are no harm, the newer one counts.
    steps: [
      [create('hub', family.resourceSnapshot, masterFor(family, placement, index, content), because)],
      [...demoted, ...(latest !== undefined && isLatest(latest) ? [demote(family, latest)] : [])],
    ],
  };
}

const indexIn = (text: string): number | undefined => (/^\d{1,9}$/.test(text) ? Number(text) : undefined);

/** Whole groups: a master without its further snapshots could not be rolled back to. */
function surplus({ placement, snapshots, bindings, inUse }: ResourcesInput): readonly HubResourceSnapshot[] {
  const limit = placement.spec.revisionHistoryLimit ?? DEFAULT_HISTORY_LIMIT;
  if (snapshots.length <= limit) return [];
  const referenced = new Set(bindings.map(({ spec }) => spec.resourceSnapshotName));
  const groups = new Map<number, HubResourceSnapshot[]>();
  for (const snapshot of snapshots) {
    const index = resourceIndexOf(snapshot) ?? -1;
    groups.set(index, [...(groups.get(index) ?? []), snapshot]);
  }
  return expired(
    [...groups].map(([index, items]) => ({
      index,
      items,
      isReferenced: inUse?.has(index) || items.some(({ metadata }) => referenced.has(metadata.name ?? '')),
    })),
    limit,
  );
}

const demote = (family: PlacementFamily, snapshot: HubResourceSnapshot): Action =>
  patch(
    seen(family.resourceSnapshots, snapshot),
    { metadata: { labels: { [labels.isLatestSnapshot]: 'false' } } },
    'a newer one takes its place',
  );

/** Differs from KubeFleet: a change that was taken back takes the moment of its detection with it, else the next one would not be waited with. */
function restored(latest: HubResourceSnapshot): object | undefined {
  const isNoted = latest.metadata.annotations?.[annotations.nextSnapshotDetectionTime] !== undefined;
  if (isLatest(latest) && !isNoted) return undefined;
  return {
    metadata: {
      ...(isLatest(latest) ? {} : { labels: { [labels.isLatestSnapshot]: 'true' } }),
      ...(isNoted ? { annotations: { [annotations.nextSnapshotDetectionTime]: null } } : {}),
    },
  };
}

const noteDetection = (family: PlacementFamily, latest: HubResourceSnapshot, { firstSeen }: Pending): Action =>
  patch(
    seen(family.resourceSnapshots, latest),
    { metadata: { annotations: { [annotations.nextSnapshotDetectionTime]: kubeTime(firstSeen) } } },
    'changes are being collected',
  );

const masterFor = (family: PlacementFamily, placement: HubPlacement, index: number, content: Content): KubeObject => ({
  apiVersion: apiVersionOf(family.resourceSnapshot.group, family.resourceSnapshot.version),
  kind: family.resourceSnapshot.kind,
  metadata: snapshotMetadata(family, placement, {
    name: masterSnapshotName(placement.metadata.name ?? '', index),
    labels: { [labels.resourceIndex]: String(index) },
    annotations: {
      [annotations.resourceHash]: content.hash,
      [annotations.numberOfResourceSnapshots]: '1',
      [annotations.numberOfEnvelopedObjects]: String(content.envelopes.length),
      ...(content.commit === undefined ? {} : { [annotations.sourceCommit]: content.commit }),
    },
  }),
  spec: { selectedResources: content.objects },
});
