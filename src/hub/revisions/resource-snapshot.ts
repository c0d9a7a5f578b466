// The resource snapshot to roll out: a new one if the content has changed, after a burst of changes is over. Guarantee:
// a revision that a cluster runs is never deleted, and indexes only grow.
import { annotations, furtherSnapshotName, labels, masterSnapshotName } from '../../api/names.ts';
import { apiVersionOf, type KubeObject, refText } from '../../api/object.ts';
import type { PlacementEventReason } from '../../api/placement.ts';
import { kubeTime } from '../../base/clock.ts';
import { InvariantError } from '../../base/errors.ts';
import { create, patch, recordEvent, remove, seen } from '../../runtime/actions.ts';
import type { Action } from '../../runtime/controller.ts';
import type { Pending } from '../../runtime/due.ts';
import type { PlacementFamily } from '../families.ts';
import {
  type HubBinding,
  type HubPlacement,
  type HubResourceSnapshot,
  isLatest,
  isMaster,
  missingParts,
  resourceIndexOf,
} from '../placement-sources.ts';
import type { Content } from './content.ts';
import { detectionIn, keepsDetection, type RevisionDelays, revisionDueAt } from './delays.ts';
import { DEFAULT_HISTORY_LIMIT, expired, nextIndex } from './history.ts';
import { newestOf, snapshotMetadata } from './snapshot-metadata.ts';
import { type Places, splitOf, spread } from './split.ts';
import { bookText } from './variants.ts';

/** Maximum bytes of objects in one snapshot; larger revisions are split. */
export const SNAPSHOT_LIMIT = 800 * 1024;

/** Maximum bytes of one object: the limit of etcd is 1.5 MiB by default, and its Work adds metadata and a status. */
export const OBJECT_LIMIT = (1536 - 64) * 1024;

export interface ResourcesInput {
  readonly family: PlacementFamily;
  readonly placement: HubPlacement;
  readonly snapshots: readonly HubResourceSnapshot[];
  readonly bindings: readonly HubBinding[];
  readonly content: Content;
  /** Since when the content differs from the latest snapshot. */
  readonly pending: Pending | undefined;
  readonly throttle: RevisionDelays;
  /** The parts of the latest revision; needed if `needsPlaces`. */
  readonly places?: Places;
  /** Maximum bytes of objects in one snapshot; tests use less than SNAPSHOT_LIMIT. */
  readonly limit?: number;
  /** Indexes to keep, whatever the limit of the history. */
  readonly inUse?: ReadonlySet<number>;
  readonly now: number;
}

export type ResourcesPlan =
  | { readonly state: 'current'; readonly steps: readonly (readonly Action[])[] }
  | { readonly state: 'waits'; readonly steps: readonly (readonly Action[])[]; readonly until: number }
  | { readonly state: 'too-large' }
  | { readonly state: 'new'; readonly steps: readonly (readonly Action[])[] };

/** The master of the group that is rolled out. */
export const latestMaster = (snapshots: readonly HubResourceSnapshot[]): HubResourceSnapshot | undefined =>
  newestOf(snapshots.filter(isMaster), resourceIndexOf);

export const hashOf = ({ metadata }: HubResourceSnapshot): string | undefined =>
  metadata.annotations?.[annotations.resourceHash];

/** Needed to split a large revision like the latest one, or to find what an incomplete group lacks. */
export function needsPlaces({
  snapshots,
  content,
  limit = SNAPSHOT_LIMIT,
}: Pick<ResourcesInput, 'snapshots' | 'content'> & { readonly limit?: number | undefined }): boolean {
  const latest = latestMaster(snapshots);
  if (latest === undefined) return false;
  return hashOf(latest) === content.hash ? missingParts(snapshots, latest).length > 0 : content.bytes > limit;
}

export function planResources(input: ResourcesInput): ResourcesPlan {
  const { family, placement, snapshots, content, pending, throttle, now } = input;
  const latest = latestMaster(snapshots);
  const demoted = snapshots.filter((each) => each !== latest && isLatest(each)).map((each) => demote(family, each));
  if (latest !== undefined && hashOf(latest) === content.hash) {
    const missing = missingParts(snapshots, latest);
    if (missing.length > 0) return { state: 'new', steps: repaired(input, latest, missing) };
    const change = restored(latest, content);
    // Demoting a snapshot changes its resourceVersion, so it is deleted in the next reconcile.
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
  if ((content.largest?.bytes ?? 0) > OBJECT_LIMIT) return { state: 'too-large' };
  if (latest !== undefined && isLatest(latest) && pending !== undefined) {
    const until = revisionDueAt(pending, latest, throttle, now);
    const noted =
      keepsDetection(throttle) && detectionIn(latest) === undefined ? [noteDetection(family, latest, pending)] : [];
    if (now < until) return { state: 'waits', steps: [demoted, noted], until };
  }
  const indexes = snapshots.map(resourceIndexOf);
  const index = nextIndex([...indexes, indexIn(placement.observedResourceIndex)]);
  const because = `revision ${index}: ${content.objects.length} objects, ${content.bytes} bytes`;
  const split = splitOf(content.sizes, input.limit ?? SNAPSHOT_LIMIT, input.places);
  const [master = [], ...further] = split.map((part) => part.flatMap((at) => content.objects[at] ?? []));
  return {
    state: 'new',
    // The new snapshot is created before the old one is demoted, so that there always is a latest; if there are two,
    // the newer one counts. The other parts follow one by one, so an incomplete group lacks only its last parts.
    steps: [
      [create('hub', family.resourceSnapshot, masterFor(input, index, master, split.length), because)],
      ...further.map((objects, subindex) => [
        create('hub', family.resourceSnapshot, furtherFor(input, index, subindex, objects), because),
      ]),
      [...demoted, ...(latest !== undefined && isLatest(latest) ? [demote(family, latest)] : [])],
      warnings(input),
    ],
  };
}

/**
 * A warning with each revision that contains such a ConfigMap, because its author expects the objects in it on the
 * clusters.
 */
const warnings = ({ family, placement, content }: ResourcesInput): readonly Action[] =>
  (content.noEnvelopes ?? []).slice(0, MAX_WARNINGS).map((each) =>
    recordEvent(family.placements, placement, {
      type: 'Warning',
      reason: 'PlacementEnvelopeIgnored' satisfies PlacementEventReason,
      message: `${refText(each)} is placed as an ordinary ConfigMap: it is annotated as an envelope, but not each value of its data is one object with apiVersion, kind and name`,
    }),
  );

const MAX_WARNINGS = 5;

const indexIn = (text: string): number | undefined => (/^\d{1,9}$/.test(text) ? Number(text) : undefined);

/** Deletes whole groups: a master without its other snapshots could not be rolled back to. */
function surplus({ placement, snapshots, bindings, inUse }: ResourcesInput): readonly HubResourceSnapshot[] {
  const limit = placement.spec.revisionHistoryLimit ?? DEFAULT_HISTORY_LIMIT;
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
    'a newer one replaces it',
  );

/**
 * Differs from KubeFleet: a change that was reverted also removes its detection time; otherwise the next change would
 * not be delayed.
 */
function restored(latest: HubResourceSnapshot, { sourceHash }: Content): object | undefined {
  const isNoted = latest.metadata.annotations?.[annotations.nextSnapshotDetectionTime] !== undefined;
  const isOfSource = sourceHash === undefined || latest.metadata.annotations?.[annotations.sourceHash] === sourceHash;
  if (isLatest(latest) && !isNoted && isOfSource) return undefined;
  return {
    metadata: {
      ...(isLatest(latest) ? {} : { labels: { [labels.isLatestSnapshot]: 'true' } }),
      annotations: {
        ...(isNoted ? { [annotations.nextSnapshotDetectionTime]: null } : {}),
        ...(isOfSource ? {} : { [annotations.sourceHash]: sourceHash }),
      },
    },
  };
}

const noteDetection = (family: PlacementFamily, latest: HubResourceSnapshot, { firstSeen }: Pending): Action =>
  patch(
    seen(family.resourceSnapshots, latest),
    { metadata: { annotations: { [annotations.nextSnapshotDetectionTime]: kubeTime(firstSeen) } } },
    'changes are being collected',
  );

/** Keeps the existing parts; the missing ones get all objects that those do not contain. */
function repaired(input: ResourcesInput, latest: HubResourceSnapshot, missing: readonly number[]): Steps {
  const { family, content, places, limit = SNAPSHOT_LIMIT } = input;
  if (places === undefined) throw new InvariantError('a group is repaired without its parts having been read');
  const index = resourceIndexOf(latest) ?? 0;
  const left = content.sizes.map((_, at) => at).filter((at) => !places.has(content.sizes[at]?.key ?? ''));
  const split = spread(
    left.flatMap((at) => content.sizes[at] ?? []),
    limit,
    missing.length,
  );
  return missing.map((part, at) => {
    const objects = (split[at] ?? []).flatMap((each) => content.objects[left[each] ?? -1] ?? []);
    const because = `revision ${index} lacks a part`;
    return [create('hub', family.resourceSnapshot, furtherFor(input, index, part - 1, objects), because)];
  });
}

type Steps = readonly (readonly Action[])[];

const masterFor = (
  { family, placement, content }: ResourcesInput,
  index: number,
  objects: readonly KubeObject[],
  size: number,
): KubeObject => ({
  apiVersion: apiVersionOf(family.resourceSnapshot.group, family.resourceSnapshot.version),
  kind: family.resourceSnapshot.kind,
  metadata: snapshotMetadata(family, placement, {
    name: masterSnapshotName(placement.metadata.name ?? '', index),
    labels: { [labels.isLatestSnapshot]: 'true', [labels.resourceIndex]: String(index) },
    annotations: {
      [annotations.resourceHash]: content.hash,
      [annotations.numberOfResourceSnapshots]: String(size),
      [annotations.numberOfEnvelopedObjects]: String(content.envelopes.length),
      ...(content.commit === undefined ? {} : { [annotations.sourceCommit]: content.commit }),
      ...(content.sourceHash === undefined ? {} : { [annotations.sourceHash]: content.sourceHash }),
      ...(content.variants === undefined ? {} : { [annotations.variants]: bookText(content.variants) }),
    },
  }),
  spec: { selectedResources: objects },
});

const furtherFor = (
  { family, placement }: ResourcesInput,
  index: number,
  subindex: number,
  objects: readonly KubeObject[],
): KubeObject => ({
  apiVersion: apiVersionOf(family.resourceSnapshot.group, family.resourceSnapshot.version),
  kind: family.resourceSnapshot.kind,
  metadata: snapshotMetadata(family, placement, {
    name: furtherSnapshotName(placement.metadata.name ?? '', index, subindex),
    labels: { [labels.resourceIndex]: String(index) },
    annotations: { [annotations.subindexOfResourceSnapshot]: String(subindex) },
  }),
  spec: { selectedResources: objects },
});
