// What must hold of a delivery, as seen from outside: never more clusters without an available copy than the budget allows because of us, nor
// more with one than target and surge; an answer about one revision is never taken for another; what is foreign is neither changed nor deleted.
// And in the end: the newest revision is everywhere it should be and nowhere else; or, if it cannot work, it has stopped at the budget and the
// status names for everyone who waits a cluster that really holds it up.
import type { Binding } from '../../../src/api/binding.ts';
import type { Resource } from '../../../src/api/kind.ts';
import { type MemberCluster, memberCluster } from '../../../src/api/member-cluster.ts';
import { labels, masterWorkName, memberNamespace, workBaseName } from '../../../src/api/names.ts';
import { conditionOf } from '../../../src/api/next-condition.ts';
import type { KubeObject } from '../../../src/api/object.ts';
import type { Placement } from '../../../src/api/placement.ts';
import type { ResourceSnapshot } from '../../../src/api/resource-snapshot.ts';
import { work } from '../../../src/api/work.ts';
import type { PlacementFamily } from '../../../src/hub/families.ts';
import { type Checker, changeChecker, type Sight } from '../../../src/sim/check.ts';
import type { Readable } from '../../../src/sim/server.ts';
import { imageOf, isBad, isUp } from './workloads.ts';

export const SHOP = 'shop';
export const MAX_UNAVAILABLE = 1;
export const MAX_SURGE = 1;
/** How many clusters a moving placement is on. */
export const TARGET = 2;
export const FOREIGN = 'not-yours';
export const EDITED = 'web:edited';
/** Comes and goes. */
export const EXTRA = 'extra';

export interface Story {
  /** Of the placement, which is in the shop itself if it is in a namespace at all; then the members have a shop of their own. */
  readonly family: PlacementFamily;
  readonly members: readonly string[];
  /** On two of the members, and again and again on others. */
  readonly isMoving: boolean;
  /**
   * How many act at once. A limit that spans several bindings is kept by one who sees what it did itself; two that do not know of each other's
   * newest writes may each use it: while one moves c2 to a revision, the other moves c1 to the next. No condition on a single write prevents it.
   */
  readonly leaders: number;
  /** Those that left once: what they had stays there. */
  readonly left: Set<string>;
}

// ---- what can be seen

/** Where the placement and all that is made for it are. */
export const homeOf = ({ placement }: PlacementFamily): { readonly namespace?: string } =>
  placement.namespaced ? { namespace: SHOP } : {};

export const workNameOf = (family: PlacementFamily): string =>
  masterWorkName(workBaseName(SHOP, homeOf(family).namespace));

const keyIn = (family: PlacementFamily, { group, plural }: Resource, name: string): string =>
  `${group}/${plural}/${homeOf(family).namespace ?? ''}/${name}`;

const isDeleting = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined;

const saidOf = ({ metadata, status }: Binding, type: string) => {
  const condition = conditionOf(status?.conditions, type);
  return condition?.observedGeneration === metadata.generation ? condition : undefined;
};

const isAvailable = (each: Binding): boolean => saidOf(each, 'Available')?.status === 'True';

const isFailed = (each: Binding): boolean =>
  saidOf(each, 'Available')?.status === 'False' || saidOf(each, 'Applied')?.reason === 'NotAllWorkHaveBeenApplied';

/** As it said of itself before it was given up; what is known to be down already costs nothing. */
const isWorking = ({ metadata, status }: Binding): boolean => {
  const [applied, available] = ['Applied', 'Available'].map((type) => conditionOf(status?.conditions, type));
  const isStale = (applied?.observedGeneration ?? 0) < (metadata.generation ?? 0);
  return (
    applied?.status === 'True' &&
    available?.status === 'True' &&
    (isStale || isAvailable({ metadata, status } as Binding))
  );
};

const inAll = <T extends KubeObject>(store: Readable, { group, plural }: { group: string; plural: string }) =>
  store.range(`${group}/${plural}/`).items.map((item) => item.object() as T);

const bindingsIn = (store: Readable, { binding }: PlacementFamily): readonly Binding[] =>
  inAll<Binding>(store, binding);

const placementIn = (store: Readable, family: PlacementFamily): Placement | undefined =>
  store.get(keyIn(family, family.placement, SHOP))?.object() as Placement | undefined;

const hasShop = (store: Readable | undefined): boolean => store?.get(`/namespaces//${SHOP}`) !== undefined;

const hasExtra = (store: Readable | undefined): boolean => {
  const extra = store?.get(`/configmaps/${SHOP}/${EXTRA}`)?.object();
  return extra !== undefined && !isDeleting(extra);
};

const deploymentOn = (sight: Sight, member: string): KubeObject | undefined =>
  sight.store(member)?.get(`apps/deployments/${SHOP}/web`)?.object();

function imageIn(store: Readable | undefined, family: PlacementFamily, snapshot: string): string | undefined {
  const found = store?.get(keyIn(family, family.resourceSnapshot, snapshot))?.object() as ResourceSnapshot | undefined;
  const web = found?.spec.selectedResources.find((each) => each.kind === 'Deployment');
  return web && imageOf(web);
}

// ---- what must hold

/** Of the clusters that we moved, and that were available before, only so many have not become available again. */
export function budgetIsKept({ family, isMoving, leaders }: Story): Checker {
  /** Bindings that lost an available copy because of us. */
  const taken = new Set<string>();
  /** Bindings that have one, as far as we are concerned. */
  const standing = new Set<string>();
  return changeChecker('the budget is kept', ({ key, stored, previous, deleted }, server, sight) => {
    const now = stored.object() as Binding;
    if (server !== 'hub' || now.kind !== family.binding.kind) return undefined;
    const before = previous?.object() as Binding | undefined;
    // A cluster that is not to have a copy any more lacks none.
    if (deleted || isAvailable(now) || now.spec.state === 'Unscheduled') taken.delete(key);
    if (deleted || isDeleting(now)) standing.delete(key);
    else if (isAvailable(now)) standing.add(key);
    if (deleted || before === undefined) return undefined;
    if (before.spec.resourceSnapshotName !== now.spec.resourceSnapshotName && isAvailable(before)) {
      taken.add(key);
      standing.delete(key);
      if (taken.size <= MAX_UNAVAILABLE * leaders) return undefined;
      return `${now.spec.targetCluster} was moved to ${now.spec.resourceSnapshotName}: ${[...taken].join(', ')} were taken at once`;
    }
    const isTakenOut =
      isMoving &&
      leaders === 1 &&
      isWorking(before) &&
      isDeleting(now) &&
      !isDeleting(before) &&
      now.spec.state === 'Unscheduled';
    const store = sight.store(server);
    if (!isTakenOut || store === undefined || !isPlaced(store, family)) return undefined;
    // A member that is deleted serves no one, and one that is being deleted keeps its copy: its Work is not removed.
    const { targetCluster } = now.spec;
    if (!isMember(store, targetCluster) || isLeaving(store, targetCluster)) return undefined;
    const picked = bindingsIn(store, family).filter((each) => !isDeleting(each) && each.spec.state !== 'Unscheduled');
    if (standing.size >= Math.min(TARGET, picked.length) - MAX_UNAVAILABLE) return undefined;
    return `${now.spec.targetCluster} was taken out, and only ${standing.size} of ${picked.length} have a copy`;
  });
}

const isMember = (store: Readable, name: string): boolean =>
  store.get(`${memberCluster.group}/${memberCluster.plural}//${name}`) !== undefined;

const isLeaving = (store: Readable, name: string): boolean => {
  const member = store.get(`${memberCluster.group}/${memberCluster.plural}//${name}`)?.object();
  return member !== undefined && isDeleting(member);
};

const isPlaced = (store: Readable, family: PlacementFamily): boolean => {
  const placed = placementIn(store, family);
  return placed !== undefined && !isDeleting(placed);
};

/** How long whoever binds may not have heard that a cluster works after all. */
const BEHIND_MS = 90_000;

/** When a cluster gets a copy, not too many others have one that is not known to have failed. */
export function surgeIsKept({ family, leaders }: Story): Checker {
  const failedAt = new Map<string, number>();
  return changeChecker('the surge is kept', ({ stored, previous, deleted }, server, sight) => {
    const now = stored.object() as Binding;
    const store = sight.store(server);
    if (server !== 'hub' || now.kind !== family.binding.kind || store === undefined || deleted) return undefined;
    if (isFailed(now)) failedAt.set(now.metadata.uid ?? '', sight.now);
    const before = previous?.object() as Binding | undefined;
    if (now.spec.state !== 'Bound' || before?.spec.state !== 'Scheduled') return undefined;
    const holding = bindingsIn(store, family).flatMap(({ metadata, spec }) => {
      const last = failedAt.get(metadata.uid ?? '') ?? Number.NEGATIVE_INFINITY;
      // A copy that is given up because its member leaves stays on that member, and counts for no limit.
      const isLeft = spec.state === 'Unscheduled' && isLeaving(store, spec.targetCluster);
      const hasCopy = spec.resourceSnapshotName !== '' && isMember(store, spec.targetCluster) && !isLeft;
      return hasCopy && last < sight.now - BEHIND_MS ? [spec.targetCluster] : [];
    });
    const clusters = new Set(holding);
    if (clusters.size <= TARGET + MAX_SURGE * leaders) return undefined;
    return `${now.spec.targetCluster} was bound: ${[...clusters].join(', ')} have copies`;
  });
}

/** Holds on a placement as a whole: nothing of it moves. */
const WHOLE_HOLDS: ReadonlySet<string> = new Set([
  'SelectionPending',
  'SnapshotTooLarge',
  'SpecInvalid',
  'StepRefused',
]);

/** While a placement as a whole does not move, no condition after Scheduled is True for its present generation: a wait for one must not pass. */
export const greenMeansDone = ({ family: { placement } }: Story): Checker =>
  changeChecker('green means done', ({ stored, deleted }, server) => {
    const { kind, metadata, status } = stored.object() as Placement;
    if (deleted || server !== 'hub' || kind !== placement.kind) return undefined;
    const hold = status?.holds?.find(({ code }) => WHOLE_HOLDS.has(code));
    const [scheduled, ...later] = status?.conditions ?? [];
    // Selectors that make no sense leave the other conditions as they were.
    if (hold === undefined || scheduled?.reason === 'InvalidResourceSelectors') return undefined;
    const green = later.find((each) => each.status === 'True' && each.observedGeneration === metadata.generation);
    return green && `${green.type} of generation ${metadata.generation} is True while ${hold.code} holds the placement`;
  });

/** A binding becomes available when its cluster really runs what the binding's snapshot says. */
export function healthIsOfTheRevision({ family, members, leaders }: Story): Checker {
  const editedAt = new Map<string, number>();
  return changeChecker('health is of the revision', ({ stored, previous, deleted }, server, sight) => {
    const now = stored.object() as Binding;
    if (members.includes(server) && now.kind === 'Deployment' && imageOf(now) === EDITED) {
      editedAt.set(server, sight.now);
    }
    if (server !== 'hub' || deleted || now.kind !== family.binding.kind || !isAvailable(now)) return undefined;
    if (previous !== undefined && isAvailable(previous.object() as Binding)) return undefined;
    const cluster = now.spec.targetCluster;
    const live = deploymentOn(sight, cluster);
    const image = imageIn(sight.store('hub'), family, now.spec.resourceSnapshotName);
    // A member that is down cannot be looked at.
    if (image === undefined || sight.store(cluster) === undefined) return undefined;
    if (live === undefined) return leaders > 1 ? undefined : `${cluster} is called available and has nothing`;
    // A Work that was just edited by hand is put right soon.
    if (imageOf(live) === EDITED) return undefined;
    if (imageOf(live) === image && isUp(live)) return undefined;
    // Of two that act, one may not have heard of the edit at all, and say of the binding what was true before it.
    const edited = editedAt.get(cluster) ?? Number.NEGATIVE_INFINITY;
    if (leaders > 1 && imageOf(live) === image && sight.now - edited < BEHIND_MS) return undefined;
    return `${cluster} is called available with ${image}, but has ${imageOf(live)}${isUp(live) ? '' : ' and is not up'}`;
  });
}

const versionOf = (image: string): number => Number(/\d+$/.exec(image)?.[0] ?? Number.NaN);

/**
 * Who is behind undoes nothing: no binding goes back to a snapshot that was made earlier, and no cluster, while one leads, to an older image.
 * By when it was made, not by its number: a placement that is made anew counts from the beginning.
 */
export function nothingGoesBack({ family, members, leaders }: Story): Checker {
  let made = 0;
  const madeAs = new Map<string, number>();
  const has = new Map<string, number>();
  return changeChecker('nothing goes back', ({ key, stored, previous, deleted }, server) => {
    const now = stored.object();
    if (now.kind === family.resourceSnapshot.kind) {
      if (previous === undefined && !deleted) madeAs.set(now.metadata.name ?? '', made++);
      return undefined;
    }
    if (now.kind === family.binding.kind) {
      const { resourceSnapshotName } = (now as Binding).spec;
      const before = (previous?.object() as Binding | undefined)?.spec.resourceSnapshotName;
      const [had = -1, gets] = [has.get(key), madeAs.get(resourceSnapshotName)];
      if (deleted) has.delete(key);
      else if (gets !== undefined && before !== resourceSnapshotName) has.set(key, gets);
      const isBack = !deleted && before !== resourceSnapshotName && gets !== undefined && gets < had;
      return isBack ? `${now.metadata.name} went back to ${resourceSnapshotName}` : undefined;
    }
    if (deleted || previous === undefined || now.kind !== 'Deployment') return undefined;
    if (!members.includes(server) || leaders > 1) return undefined;
    const images = [imageOf(previous.object()), imageOf(now)] as const;
    return versionOf(images[1]) < versionOf(images[0])
      ? `${server} went back from ${images[0]} to ${images[1]}`
      : undefined;
  });
}

/** A binding is there as long as its Work is; and one of a member that never left is not given up where all are wanted. */
export const bindingsStay = ({ family, isMoving, left }: Story): Checker =>
  changeChecker('bindings stay', ({ stored, previous, deleted }, server, sight) => {
    const now = stored.object() as Binding;
    const store = sight.store(server);
    if (server !== 'hub' || now.kind !== family.binding.kind || store === undefined) return undefined;
    const { targetCluster, state } = now.spec;
    if (deleted) {
      const key = `${work.group}/${work.plural}/${memberNamespace(targetCluster)}/${workNameOf(family)}`;
      const order = store.get(key)?.object();
      const isOrphan = order?.metadata.labels?.[labels.parentBinding] === now.metadata.name;
      // What runs on a member that leaves keeps running: its Works stay until its namespace is deleted.
      const member = store.get(`${memberCluster.group}/${memberCluster.plural}//${targetCluster}`)?.object();
      if (member === undefined || isDeleting(member)) return undefined;
      return isOrphan ? `${now.metadata.name} is gone before its Work` : undefined;
    }
    const wasGivenUp = (previous?.object() as Binding | undefined)?.spec.state !== state && state === 'Unscheduled';
    if (!wasGivenUp || isMoving || left.has(targetCluster)) return undefined;
    const others = bindingsIn(store, family).filter(({ spec }) => spec.targetCluster === targetCluster);
    return others.length > 1 ? undefined : `${targetCluster} was given up`;
  });

/**
 * What is in a namespace that goes goes with it: the placement brought the namespace, or took it over. One that only brings what is in there
 * leaves the namespace alone.
 */
export const foreignThingsStay = ({ family, members }: Story): Checker =>
  changeChecker('foreign things stay', ({ stored, deleted, previous }, server, sight) => {
    const now = stored.object();
    const { name, namespace = '', ownerReferences = [] } = now.metadata;
    const isForeignShop = family.placement.namespaced && now.kind === 'Namespace' && name === SHOP;
    const isForeign = name === FOREIGN || isForeignShop;
    if (!members.includes(server) || !isForeign || previous === undefined) return undefined;
    const home = sight.store(server)?.get(`/namespaces//${namespace}`)?.object();
    const isHomeless = !isForeignShop && (home === undefined || isDeleting(home));
    if ((deleted || isDeleting(now)) && !isHomeless) return `${now.kind} ${namespace}/${name} was deleted on ${server}`;
    return ownerReferences.length > 0 ? `${name} on ${server} was taken over` : undefined;
  });

// ---- what must be so in the end

export function unsettled(sight: Sight, story: Story): string | undefined {
  const { family } = story;
  const store = sight.store('hub');
  if (store === undefined || story.members.some((name) => sight.store(name) === undefined)) return 'a server is down';
  const wanted = store.get(`apps/deployments/${SHOP}/web`)?.object();
  if (wanted === undefined) return 'the user never got through';
  const members = inAll<MemberCluster>(store, memberCluster);
  const leaving = members.find(isDeleting);
  if (leaving !== undefined) return `${leaving.metadata.name} still leaves`;
  const joined = members
    .map(({ metadata }) => metadata.name ?? '')
    .filter((name) => !family.placement.namespaced || hasShop(sight.store(name)));
  const bindings = bindingsIn(store, family);
  const going = bindings.find(isDeleting);
  if (going !== undefined) return `${going.metadata.name} still goes`;
  const placed = placementIn(store, family);
  const picked = bindings.filter(({ spec }) => spec.state !== 'Unscheduled').map(({ spec }) => spec.targetCluster);
  return (
    notPickedAsAsked(placed, joined, picked, bindings) ??
    remains(sight, story, bindings) ??
    (placed === undefined ? undefined : notDelivered(sight, { placed, bindings, image: imageOf(wanted), story }))
  );
}

function notPickedAsAsked(
  placed: Placement | undefined,
  joined: readonly string[],
  picked: readonly string[],
  bindings: readonly Binding[],
): string | undefined {
  if (placed === undefined) {
    const bound = bindings.map(({ spec }) => spec.targetCluster);
    return bound.length === 0 ? undefined : `${bound.join(', ')} are bound to nothing`;
  }
  if (isDeleting(placed)) return 'the placement is still being deleted';
  const { policy } = placed.spec;
  const [term] =
    policy?.affinity?.clusterAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.clusterSelectorTerms ?? [];
  const [{ values } = { values: undefined }] = term?.labelSelector?.matchExpressions ?? [];
  const fit = joined.filter((name) => values === undefined || values.includes(name));
  const count = policy === undefined ? fit.length : Math.min(TARGET, fit.length);
  if (picked.length === count && new Set(picked).size === count && picked.every((name) => fit.includes(name))) {
    return undefined;
  }
  return `${picked.join(', ') || 'none'} are picked, ${count} of ${fit.join(', ')} should be`;
}

/** Where nothing should be, nothing is. */
function remains(sight: Sight, { members, left }: Story, bindings: readonly Binding[]): string | undefined {
  const bound = new Set(bindings.map(({ spec }) => spec.targetCluster));
  const full = members.find((name) => !bound.has(name) && !left.has(name) && deploymentOn(sight, name) !== undefined);
  if (full !== undefined) return `${full} still has what it should not have`;
  const works = inAll<KubeObject>(sight.store('hub') as Readable, work).length;
  return works <= bound.size ? undefined : `${works} Works for ${bound.size} bindings`;
}

interface Delivery {
  readonly placed: Placement;
  readonly bindings: readonly Binding[];
  readonly image: string;
  readonly story: Story;
}

function notDelivered(sight: Sight, { placed, bindings, image, story }: Delivery): string | undefined {
  if (bindings.length === 0) return undefined;
  const saysOfItself = (suffix: string, wanted: string) => statusIs(placed, `${placed.kind}${suffix}`, wanted);
  const rows = bindings.map(({ spec }) => {
    const web = deploymentOn(sight, spec.targetCluster);
    const has = web === undefined ? 'nothing' : imageOf(web);
    return { cluster: spec.targetCluster, state: spec.state, has, isUp: web !== undefined && isUp(web) };
  });
  const picked = rows.filter(({ state }) => state !== 'Unscheduled');
  if (!isBad(image)) {
    const behind = picked.find(({ has, isUp: up }) => has !== image || !up);
    if (behind !== undefined) return `${behind.cluster} has ${behind.has}, not ${image}`;
    const isWanted = hasExtra(sight.store('hub'));
    // An agent that dies while it applies has named in the Work's status what may be there. If the member leaves then, the Work goes, and with
    // it the only word of it.
    const isForgotten = (cluster: string) => !isWanted && story.left.has(cluster);
    const other = picked.find(({ cluster }) => hasExtra(sight.store(cluster)) !== isWanted && !isForgotten(cluster));
    if (other !== undefined) return `${other.cluster} has ${isWanted ? 'not all' : 'what is left over'}`;
    const given = rows.find(({ state }) => state === 'Unscheduled');
    return given === undefined ? saysOfItself('Available', 'True') : `${given.cluster} is not picked and stays`;
  }
  const trying = picked.filter(({ has }) => has === image);
  // Clusters that were down already may all be given something else, even if that does not help either.
  if (picked.length > 0 && trying.length < MAX_UNAVAILABLE) return `nobody tries ${image}`;
  const isPartial = trying.length < picked.length;
  const unheld = rows.find(
    (row) =>
      !isHeld(
        placed,
        row.cluster,
        trying.map(({ cluster }) => cluster),
      ),
  );
  if (unheld !== undefined) {
    return `no true hold says why ${unheld.cluster} is not well: ${JSON.stringify(placed.status?.holds ?? [])}`;
  }
  if (picked.length === 0) return undefined;
  return isPartial ? saysOfItself('RolloutStarted', 'False') : saysOfItself('Available', 'False');
}

/** Whoever waits, or has what cannot work, is told of a cluster that really has it. */
const isHeld = ({ status }: Placement, cluster: string, culprits: readonly string[]): boolean =>
  (status?.holds ?? []).some(({ clusters, on }) => clusters?.includes(cluster) && culprits.includes(on?.name ?? ''));

function statusIs({ metadata, status }: Placement, type: string, wanted: string): string | undefined {
  const condition = conditionOf(status?.conditions, type);
  if (condition?.status === wanted && condition.observedGeneration === metadata.generation) return undefined;
  return `the placement says ${type} ${condition?.status ?? 'nothing'} (${condition?.message ?? ''})`;
}
