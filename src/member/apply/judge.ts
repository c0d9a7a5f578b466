// What is to be done about one manifest: pure, from the wish, the live object and its owners to one operation.
//
// Guarantee: an object that is not ours is written only where the strategy lets us take it over, and in one step with the mark that makes it
// ours; every write to a live object fits only the state that was judged. Differs from KubeFleet: taking over and applying are one write, so
// an object that refuses our manifest stays its owner's.
import type { ApplyCause } from '../../api/apply-cause.ts';
import type { ApplyStrategy } from '../../api/apply-strategy.ts';
import { threeWayDifference } from '../../api/builtin/three-way.ts';
import { typeNameOf } from '../../api/builtin/types.ts';
import { isClusterOwned } from '../../api/cluster-owned.ts';
import type { Resource } from '../../api/kind.ts';
import { annotations } from '../../api/names.ts';
import type { KubeObject, OwnerReference } from '../../api/object.ts';
import type { Json, JsonObject } from '../../base/json.ts';
import { compared } from '../compare/compare.ts';
import { overlaid } from '../compare/overlay.ts';
import { describe, type Identifier, type Refusal } from './manifest.ts';
import { clipped, namedPaths } from './outcome.ts';
import { nameOwners, namesAppliedWork, type Owners, ownersAround, ownersOf } from './ownership.ts';
import { type Dropped, type ServerSideApply, serverSideApply } from './server-side.ts';
import { wasThereBefore } from './taken-over.ts';
import { lastAppliedOf, MAX_ANNOTATION_BYTES, recordIn, type Wanted } from './wanted.ts';

export type Operation =
  | { readonly do: 'create'; readonly object: KubeObject }
  | {
      readonly do: 'patch';
      readonly type: 'strategic' | 'merge';
      readonly body: JsonObject;
      readonly takesOver: boolean;
    }
  | ServerSideApply
  | { readonly do: 'nothing' }
  /** `isOurs`: it must be given back. */
  | ({ readonly do: 'refuse'; readonly isOurs?: true } & Refusal);

export type Strategy = Pick<
  ApplyStrategy,
  'type' | 'comparisonOption' | 'whenToApply' | 'whenToTakeOver' | 'allowCoOwnership' | 'serverSideApplyConfig'
>;

export interface Case {
  readonly identifier: Identifier;
  readonly resource: Resource;
  readonly wanted: Wanted;
  readonly live: KubeObject | undefined;
  readonly owner: OwnerReference;
  /** Of references to AppliedWorks: their owner does not exist any more. */
  isOrphaned(reference: OwnerReference): boolean;
  /** Of references to AppliedWorks: another Work of the binding that hands the object over. */
  isYielded?(reference: OwnerReference): boolean;
  /** Of references to AppliedWorks: the placement behind it, if it can be told. */
  placementOf(reference: OwnerReference): string | undefined;
  /** Of references to AppliedWorks: where the same placement names the object twice. */
  bothPlaces?(reference: OwnerReference): string | undefined;
  readonly strategy: Strategy;
}

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
  const isServerSide = strategy.type === 'ServerSideApply' || wanted.annotationBytes > MAX_ANNOTATION_BYTES;
  if (live === undefined || owners === undefined)
    return { do: 'create', object: isServerSide ? wanted.configuration : wanted.object };
  const refusal = objection(each, live, owners);
  if (refusal !== undefined) return refusal;
  if (live.metadata.deletionTimestamp !== undefined) {
    return refuse('ManifestApplyFailed', `${what} is being deleted on the member; it is created again afterwards`);
  }
  const unlikeness = unlike(each, live, owners);
  if (unlikeness !== undefined) return unlikeness;
  const force = strategy.serverSideApplyConfig?.force ?? false;
  return isServerSide
    ? serverSideApply(wanted, live, owners, { force, dropped: dropped(each, live) })
    : difference(each, live, owners);
}

/** An object that another Work of the binding hands over was placed by us: this is no take-over. */
function ownersFor({ owner, isOrphaned, isYielded }: Case, live: KubeObject): Owners {
  const isHanded = (reference: OwnerReference) => namesAppliedWork(reference) && (isYielded?.(reference) ?? false);
  const owners = ownersAround(live, owner, (reference) => isHanded(reference) || isOrphaned(reference));
  return ownersOf(live).some(isHanded) ? { ...owners, isOurs: true } : owners;
}

/** What the strategy does not let us write over. A manifest that has changed since is applied over any drift, as in KubeFleet. */
function unlike(
  { identifier, wanted, strategy }: Case,
  live: KubeObject,
  { isOurs, isAsWanted }: Owners,
): Operation | undefined {
  const { whenToTakeOver, whenToApply, comparisonOption } = strategy;
  const what = describe(identifier);
  if (!isOurs) {
    const diffs = whenToTakeOver === 'IfNoDiff' ? compared(wanted.object, live, comparisonOption) : [];
    if (diffs.length === 0) return undefined;
    const message = `${what} was on the member before and differs from the hub in ${namedPaths(diffs)}; whenToTakeOver is IfNoDiff`;
    return { do: 'refuse', reason: 'FailedToTakeOver', message, diffs, cause: { code: 'FoundDiff' } };
  }
  if (whenToApply === 'Always' || hashOf(live) !== hashOf(wanted.object)) return undefined;
  const drifts = compared(wanted.object, live, comparisonOption);
  if (drifts.length === 0) return undefined;
  // What others changed stays and is reported; an owner that is missing is worth a write.
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

/** Why we may not touch it. */
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

/**
 * What client-side apply placed and the manifest no longer has. The server cannot know it: the record of that is ours, and a server may not
 * have recorded field managers then.
 */
function dropped({ resource, wanted }: Case, live: KubeObject): Dropped {
  const typeName = typeNameOf(resource.group, resource.version, resource.kind);
  const configuration = comparable(wanted.configuration as JsonObject);
  const body = threeWayDifference(
    {
      last: comparable(recordIn(live)),
      wanted: configuration,
      // With the manifest laid over it nothing is left to change, only to remove.
      live: overlaid(configuration, live as JsonObject, typeName),
    },
    typeName,
  );
  return { type: typeName === undefined ? 'merge' : 'strategic', body };
}

function difference({ resource, wanted, owner }: Case, live: KubeObject, owners: Owners): Operation {
  const typeName = typeNameOf(resource.group, resource.version, resource.kind);
  const body = threeWayDifference(
    {
      last: comparable(lastAppliedOf(live)),
      wanted: comparable(wanted.object as JsonObject),
      live: live as JsonObject,
    },
    typeName,
  );
  if (owners.isAsWanted && Object.keys(body).length === 0) return { do: 'nothing' };
  const type = typeName === undefined ? 'merge' : 'strategic';
  const { uid, resourceVersion } = live.metadata;
  const said = body['metadata'] as JsonObject | undefined;
  const isFirst = !owners.isOurs && wasThereBefore(live);
  const metadata = {
    ...said,
    ...(isFirst
      ? { annotations: { ...(said?.['annotations'] as JsonObject | undefined), [annotations.takenOver]: 'true' } }
      : {}),
    ...(owners.isAsWanted ? {} : { ownerReferences: ownersPatch(live, owner, owners, type) }),
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
  return { do: 'patch', type, body: { ...body, metadata }, takesOver: !owners.isOurs };
}

/** Owners are merged by uid; where lists cannot be merged, the whole list goes out. */
function ownersPatch(live: KubeObject, owner: OwnerReference, owners: Owners, type: 'strategic' | 'merge'): Json {
  if (type === 'merge') return owners.wanted as unknown as Json;
  const gone = ownersOf(live).filter((each) => !owners.wanted.some(({ uid }) => uid === each.uid));
  return [{ ...owner }, ...gone.map(({ uid }) => ({ $patch: 'delete', uid }))];
}

/** What is not compared: the type, the names, the owners, and what the server alone writes. */
function comparable(object: JsonObject): JsonObject {
  const { apiVersion: _apiVersion, kind: _kind, status: _status, metadata, ...rest } = object;
  const {
    name: _name,
    namespace: _namespace,
    generateName: _generateName,
    ownerReferences: _owners,
    ...meta
  } = (metadata ?? {}) as JsonObject;
  return { ...rest, metadata: meta };
}
