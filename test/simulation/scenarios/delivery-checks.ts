// The invariants of a delivery, observed from outside: we never cause more clusters without an available copy than the
// budget permits, nor more copies than target and surge; a status of one revision never counts for another; foreign
// objects are neither changed nor deleted.
// And the end state: the newest revision is on every picked cluster and nowhere else; or, if it cannot work, the
// rollout has stopped at the budget, and the status names a cluster that really blocks it.
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
/** How many clusters a moving placement picks. */
export const TARGET = 2;
export const FOREIGN = 'not-yours';
export const EDITED = 'web:edited';
/** Exists only at times. */
export const EXTRA = 'extra';

export interface Story {
  /** Of the placement. A namespaced placement is in the shop itself; then the members have their own namespace shop. */
  readonly family: PlacementFamily;
  readonly members: readonly string[];
  /** The placement picks two of the members, and the policy changes again and again. */
  readonly isMoving: boolean;
  /**
   * How many hubs act at the same time. A limit that spans several bindings is kept by one hub that sees its own
   * writes; two that do not see each other's newest writes may each use it: while one moves c2 to a revision, the other
   * moves c1 to the next. No precondition on a single write prevents it.
   */
  readonly leaders: number;
  /** Members that left once: their objects stay there. */
  readonly left: Set<string>;
}

// ---- observations

/** The namespace of the placement and of all objects created for it. */
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

/** Whether it worked before it was given up; replacing an unavailable copy costs no budget. */
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

// ---- invariants

/** Of the available clusters that we updated, at most the budget have not become available again. */
export function budgetIsKept({ family, isMoving, leaders }: Story): Checker {
  /** Bindings that lost an available copy because of us. */
  const taken = new Set<string>();
  /** Bindings with an available copy, except for losses that we did not cause. */
  const standing = new Set<string>();
  return changeChecker('the budget is kept', ({ key, stored, previous, deleted }, server, sight) => {
    const now = stored.object() as Binding;
    if (server !== 'hub' || now.kind !== family.binding.kind) return undefined;
    const before = previous?.object() as Binding | undefined;
    // A cluster that should no longer have a copy does not count as lacking one.
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
    // A deleted member serves nothing, and one that is being deleted keeps its copy: its Work is not removed.
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

/** How long a hub may not have seen that a cluster works again. */
const BEHIND_MS = 90_000;

/** When a cluster gets a copy, at most target and surge clusters have one that is not known to have failed. */
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
      // A copy that is given up because its member leaves stays on that member, and does not count.
      const isLeft = spec.state === 'Unscheduled' && isLeaving(store, spec.targetCluster);
      const hasCopy = spec.resourceSnapshotName !== '' && isMember(store, spec.targetCluster) && !isLeft;
      return hasCopy && last < sight.now - BEHIND_MS ? [spec.targetCluster] : [];
    });
    const clusters = new Set(holding);
    if (clusters.size <= TARGET + MAX_SURGE * leaders) return undefined;
    return `${now.spec.targetCluster} was bound: ${[...clusters].join(', ')} have copies`;
  });
}

/** Holds of a whole placement: nothing of it moves. */
const WHOLE_HOLDS: ReadonlySet<string> = new Set([
  'SelectionPending',
  'SnapshotTooLarge',
  'SpecInvalid',
  'StepRefused',
]);

/**
 * While a hold blocks the whole placement, no condition after Scheduled is True for its current generation: a `kubectl
 * wait` for one must not succeed.
 */
export const greenMeansDone = ({ family: { placement } }: Story): Checker =>
  changeChecker('green means done', ({ stored, deleted }, server) => {
    const { kind, metadata, status } = stored.object() as Placement;
    if (deleted || server !== 'hub' || kind !== placement.kind) return undefined;
    const hold = status?.holds?.find(({ code }) => WHOLE_HOLDS.has(code));
    const [scheduled, ...later] = status?.conditions ?? [];
    // Invalid selectors leave the other conditions unchanged.
    if (hold === undefined || scheduled?.reason === 'InvalidResourceSelectors') return undefined;
    const green = later.find((each) => each.status === 'True' && each.observedGeneration === metadata.generation);
    return green && `${green.type} of generation ${metadata.generation} is True while ${hold.code} holds the placement`;
  });

/** A binding becomes available only if its cluster really runs the content of the binding's snapshot. */
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
    // The state of a member whose server is down is unknown.
    if (image === undefined || sight.store(cluster) === undefined) return undefined;
    if (live === undefined) return leaders > 1 ? undefined : `${cluster} is called available and has nothing`;
    // A manual edit on the member is corrected soon.
    if (imageOf(live) === EDITED) return undefined;
    if (imageOf(live) === image && isUp(live)) return undefined;
    // One of two hubs may not have seen the edit, and report a binding status that was true before it.
    const edited = editedAt.get(cluster) ?? Number.NEGATIVE_INFINITY;
    if (leaders > 1 && imageOf(live) === image && sight.now - edited < BEHIND_MS) return undefined;
    return `${cluster} is called available with ${image}, but has ${imageOf(live)}${isUp(live) ? '' : ' and is not up'}`;
  });
}

const versionOf = (image: string): number => Number(/\d+$/.exec(image)?.[0] ?? Number.NaN);

/**
 * A stale cache undoes nothing: no binding goes back to a snapshot that was created earlier, and with one leader no
 * cluster to an older image. Compared by creation, not by index: a recreated placement starts again at 0.
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

/**
 * A binding exists at least as long as its Work; and one of a member that never left is not given up where all are
 * picked.
 */
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
      // Workloads on a leaving member keep running: its Works stay until its namespace is deleted.
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
 * Objects in a deleted namespace are deleted with it: the placement created the namespace, or took it over. A placement
 * inside the namespace does not touch the namespace itself.
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

// ---- end state

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

/** Clusters that should have nothing have nothing. */
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
    // An agent that dies while it applies has recorded in the Work's status what may exist. If the member leaves then,
    // the Work is deleted, and with it the only record.
    const isForgotten = (cluster: string) => !isWanted && story.left.has(cluster);
    const other = picked.find(({ cluster }) => hasExtra(sight.store(cluster)) !== isWanted && !isForgotten(cluster));
    if (other !== undefined) return `${other.cluster} has ${isWanted ? 'not all' : 'what is left over'}`;
    const given = rows.find(({ state }) => state === 'Unscheduled');
    return given === undefined ? saysOfItself('Available', 'True') : `${given.cluster} is not picked and stays`;
  }
  const trying = picked.filter(({ has }) => has === image);
  // Clusters that were already unavailable may all be updated, even if that does not help either.
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

/**
 * Every cluster that waits, or that has content that cannot work, is in a hold that names a cluster which really has
 * that content.
 */
const isHeld = ({ status }: Placement, cluster: string, culprits: readonly string[]): boolean =>
  (status?.holds ?? []).some(({ clusters, on }) => clusters?.includes(cluster) && culprits.includes(on?.name ?? ''));

function statusIs({ metadata, status }: Placement, type: string, wanted: string): string | undefined {
  const condition = conditionOf(status?.conditions, type);
  if (condition?.status === wanted && condition.observedGeneration === metadata.generation) return undefined;
  return `the placement says ${type} ${condition?.status ?? 'nothing'} (${condition?.message ?? ''})`;
}
