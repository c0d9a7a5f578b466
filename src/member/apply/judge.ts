// Decides what to do with one manifest: pure, from the desired state, the live object and its owners to one operation.
//
// Guarantee: an object that is not ours is written only where the strategy allows a take-over, and the same write adds
// our owner reference; every write to a live object is conditional on the state that was judged.
// Differs from KubeFleet: take-over and apply are one write, so an object whose API server rejects our manifest keeps
// its owner.
import type { ApplyCause } from '../../api/apply-cause.ts';
import { isClusterOwned } from '../../api/cluster-owned.ts';
import { annotations } from '../../api/names.ts';
import type { KubeObject, OwnerReference } from '../../api/object.ts';
import { compared } from '../compare/compare.ts';
import { ignoredPaths, type Path } from '../compare/ignored.ts';
import { hasNewMetadata, withMetadataHash } from './applied-metadata.ts';
import { clientSide } from './client-side.ts';
import { describe, type Refusal } from './manifest.ts';
import type { Case, Operation } from './manner.ts';
import { clipped, namedPaths } from './outcome.ts';
import { nameOwners, namesAppliedWork, type Owners, ownersAround, ownersOf } from './ownership.ts';
import { serverSide } from './server-side.ts';
import { MAX_ANNOTATION_BYTES } from './wanted.ts';

export function judge(each: Case): Operation {
  const { identifier, wanted, live, strategy } = each;
  const what = describe(identifier);
  if (wanted.plainAnnotationBytes > MAX_ANNOTATION_BYTES) {
    return refuse(
      'ManifestApplyFailed',
      `${what} is too large: its annotations take ${wanted.plainAnnotationBytes} of at most ${MAX_ANNOTATION_BYTES} bytes`,
      { code: 'TooLarge' },
    );
  }
  const owners = live && ownersFor(each, live);
  const own = isClusterOwned(identifier, wanted.object.metadata) || isClusterOwned(identifier, live?.metadata ?? {});
  if (own) {
    return {
      do: 'refuse',
      reason: live === undefined ? 'ManifestApplyFailed' : 'FailedToTakeOver',
      message: `${what} belongs to the cluster itself: it is never placed, taken over or deleted; remove it from the placement`,
      ...(owners?.isOurs ? { isOurs: true as const } : {}),
    };
  }
  const paths = ignoredPaths(strategy.comparePatches, wanted.object);
  const isServerSide = strategy.type === 'ServerSideApply' || wanted.annotationBytes > MAX_ANNOTATION_BYTES;
  const manner = isServerSide ? serverSide : clientSide;
  const marked = isServerSide && paths.length > 0 ? withMetadataHash(wanted) : wanted;
  if (live === undefined || owners === undefined) return { do: 'create', object: manner.created(marked) };
  const refusal = objection(each, live, owners);
  if (refusal !== undefined) return refusal;
  if (live.metadata.deletionTimestamp !== undefined) {
    return refuse('ManifestApplyFailed', `${what} is being deleted on the member; it is created again afterwards`);
  }
  const unlikeness = unlike(each, live, owners);
  if (unlikeness !== undefined) return unlikeness;
  return manner.change({ ...each, wanted: marked, ignored: ignoredIn(each, paths, live, owners) }, live, owners);
}

/** Written with a new object or a new manifest; else what the member has there stays. */
function ignoredIn(
  { wanted, strategy }: Case,
  paths: readonly Path[],
  live: KubeObject,
  { isOurs }: Owners,
): Case['ignored'] {
  if (paths.length === 0) return undefined;
  const areLeft = isOurs
    ? hashOf(live) === hashOf(wanted.object) && !hasNewMetadata(wanted, live)
    : strategy.whenToTakeOver === 'IfNoDiff';
  return { paths, areLeft };
}

/** An object that another Work of the binding hands over was placed by Flotilla, so this is not a take-over. */
function ownersFor({ owner, isOrphaned, isYielded }: Case, live: KubeObject): Owners {
  const isHanded = (reference: OwnerReference) => namesAppliedWork(reference) && (isYielded?.(reference) ?? false);
  const owners = ownersAround(live, owner, (reference) => isHanded(reference) || isOrphaned(reference));
  return ownersOf(live).some(isHanded) ? { ...owners, isOurs: true } : owners;
}

/**
 * Differences that the strategy does not allow us to overwrite. A manifest that has changed since the last apply is
 * applied over any drift, as in KubeFleet.
 */
function unlike(
  { identifier, wanted, strategy }: Case,
  live: KubeObject,
  { isOurs, isAsWanted }: Owners,
): Operation | undefined {
  const { whenToTakeOver, whenToApply, comparisonOption, comparePatches } = strategy;
  const what = describe(identifier);
  if (!isOurs) {
    const diffs = whenToTakeOver === 'IfNoDiff' ? compared(wanted.object, live, comparisonOption, comparePatches) : [];
    if (diffs.length === 0) return undefined;
    const message = `${what} was on the member before and differs from the hub in ${namedPaths(diffs)}; whenToTakeOver is IfNoDiff`;
    return { do: 'refuse', reason: 'FailedToTakeOver', message, diffs, cause: { code: 'FoundDiff' } };
  }
  if (whenToApply === 'Always' || hashOf(live) !== hashOf(wanted.object)) return undefined;
  const drifts = compared(wanted.object, live, comparisonOption, comparePatches);
  if (drifts.length === 0) return undefined;
  // Changes by other clients stay and are reported; only a missing owner reference is written.
  if (whenToApply === 'OnRevision') return isAsWanted ? { do: 'nothing' } : undefined;
  const message = `${what} was changed on the member in ${namedPaths(drifts)}; whenToApply is IfNotDrifted`;
  return { do: 'refuse', reason: 'FoundDrifts', message, drifts, cause: { code: 'FoundDrifts' } };
}

const hashOf = ({ metadata }: KubeObject): string | undefined => metadata.annotations?.[annotations.specHash];

const refuse = (reason: Refusal['reason'], message: string, cause?: ApplyCause): Operation => ({
  do: 'refuse',
  reason,
  message,
  ...(cause === undefined ? {} : { cause }),
});

/** Why the object must not be touched. */
function objection(
  { identifier, strategy, placementOf, bothPlaces }: Case,
  live: KubeObject,
  { isOurs, others }: Owners,
): Operation | undefined {
  const what = describe(identifier);
  if (!isOurs && strategy.whenToTakeOver === 'Never') {
    const whose = ownersOf(live).length === 0 ? '' : `, owned by ${nameOwners(ownersOf(live))}`;
    return refuse('NotTakenOver', `${what} was on the member before${whose}, and whenToTakeOver is Never`, {
      code: 'NotTakenOver',
    });
  }
  const reason = isOurs ? 'ManifestApplyFailed' : 'FailedToTakeOver';
  const works = others.filter(namesAppliedWork);
  if (works.length > 0) {
    const [places] = works.flatMap((each) => bothPlaces?.(each) ?? []);
    if (places !== undefined)
      return refuse(reason, `${what} is in the placement twice: ${places}; remove one of them`, {
        code: 'PlacedTwice',
        by: clipped(places),
      });
    const placements = works.flatMap((each) => placementOf(each) ?? []);
    const which = placements.length === 0 ? '' : `, ${placements.join(', ')}`;
    return refuse(
      reason,
      `${what} is already placed by another placement${which} (${nameOwners(works)}): let only one of them select it`,
      { code: 'PlacedByAnother', ...(placements.length === 0 ? {} : { by: clipped(placements.join(', ')) }) },
    );
  }
  if (others.length > 0 && !strategy.allowCoOwnership) {
    const by = nameOwners(others);
    return refuse(reason, `${what} is owned by ${by}, and allowCoOwnership is not set`, {
      code: 'OwnedByOthers',
      by: clipped(by),
    });
  }
  return undefined;
}
