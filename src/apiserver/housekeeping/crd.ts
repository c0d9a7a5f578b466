import type { KubeObject } from '../../api/object.ts';
import { kubeTime } from '../../base/clock.ts';
import { deepEqual } from '../../base/json.ts';
import type { Cluster } from '../cluster.ts';
import type { ServedResource } from '../registry.ts';
import { CLEANUP_FINALIZER, CRD_PREFIX, type Crd, hasCondition, withCondition } from '../schema/crd.ts';
import { servedResourceOf } from '../schema/custom-resource.ts';
import { AcceptedNames, establishAmong } from '../schema/establish.ts';
import { prefixOf, type Store, StoreUnavailable } from '../store/store.ts';
import { type InstanceRemoval, instanceRemoval } from './crd-instances.ts';

export interface CrdHousekeepingOptions {
  /** Called with all custom resources whenever they change; an unchanged resource is the same value. */
  onServed(resources: readonly ServedResource[]): void;
  /** Admission of our own kinds. */
  admission?(group: string, kind: string): ServedResource['admission'];
  onError(error: unknown, what: string): void;
}

/** Reconciles the CRDs of a cluster now and whenever they change. Returns a function that stops it. */
export function startCrdHousekeeping(cluster: Cluster, options: CrdHousekeepingOptions): () => void {
  const { store } = cluster;
  const serving = new Serving(options);
  // Instances of terminating CRDs whose deletion is awaited.
  const awaited = new Map<string, () => void>();
  const removal = instanceRemoval(cluster, { onDone: () => run(), onError: (error) => fail(error) });
  let isRunning = false;
  let isStopped = false;

  // A store that accepts no writes reports that to its clients; there is nothing to reconcile in it.
  const fail = (error: unknown): void => {
    if (!(error instanceof StoreUnavailable)) options.onError(error, 'custom resource definitions');
  };

  const run = (): void => {
    // Our own writes trigger another run later; until then nothing has changed.
    if (isRunning || isStopped) return;
    isRunning = true;
    try {
      const crds = tidy(cluster, crdsIn(store), removal);
      options.onServed(serving.resources(crds));
      watchInstances(crds);
    } catch (error) {
      fail(error);
    } finally {
      isRunning = false;
    }
  };

  const watchInstances = (crds: readonly Crd[]): void => {
    const wanted = new Set(crds.filter(isTerminating).map(instancesOf));
    for (const prefix of wanted) if (!awaited.has(prefix)) awaited.set(prefix, store.subscribe(prefix, run));
    for (const [prefix, unsubscribe] of awaited) {
      if (wanted.has(prefix)) continue;
      unsubscribe();
      awaited.delete(prefix);
      removal.forget(prefix);
    }
  };

  const unsubscribe = store.subscribe(CRD_PREFIX, run);
  run();
  return () => {
    isStopped = true;
    unsubscribe();
    for (const [prefix, each] of awaited) {
      each();
      removal.forget(prefix);
    }
  };
}

/** The newest state of every visible CRD. */
function crdsIn(store: Store): readonly Crd[] {
  const crds: Crd[] = [];
  for (const { key } of store.range(CRD_PREFIX).items) {
    const object = store.get(key, 'head')?.object();
    if (isReadable(object)) crds.push(object);
  }
  return crds;
}

const isReadable = (object: KubeObject | undefined): object is Crd => {
  const spec = object?.spec as Partial<Crd['spec']> | undefined;
  return spec?.names !== undefined && Array.isArray(spec.versions) && spec.versions.length > 0;
};

const isTerminating = (crd: Crd): boolean => crd.metadata.deletionTimestamp !== undefined;

const instancesOf = ({ spec }: Crd): string => prefixOf(spec.group, spec.names.plural);

/** Makes due writes and returns the resulting CRDs. The first CRD that requests a name gets it. */
function tidy(cluster: Cluster, before: readonly Crd[], removal: InstanceRemoval): readonly Crd[] {
  const crds = new Map(before.map((crd) => [crd.metadata.name ?? '', crd]));
  const names = new AcceptedNames(before);
  for (const crd of before.toSorted((a, b) => revisionOf(a) - revisionOf(b))) {
    const next = isTerminating(crd) ? clean(cluster, crd, removal) : named(cluster, crd, names);
    if (next === crd) continue;
    names.replace(crd, next);
    if (next === undefined) crds.delete(crd.metadata.name ?? '');
    else crds.set(crd.metadata.name ?? '', next);
  }
  return [...crds.values()];
}

const revisionOf = (crd: Crd): number => Number(crd.metadata.resourceVersion ?? 0);

function named(cluster: Cluster, crd: Crd, names: AcceptedNames): Crd {
  const status = establishAmong(crd, names, cluster.clock.now());
  return status === crd.status ? crd : write(cluster.store, crd, { ...crd, status });
}

/** Deletes the instances without finalizers, marks the others, and releases the CRD when none is left. */
function clean(cluster: Cluster, crd: Crd, removal: InstanceRemoval): Crd | undefined {
  const { store } = cluster;
  const finalizers = crd.metadata.finalizers ?? [];
  if (!finalizers.includes(CLEANUP_FINALIZER)) return crd;
  const time = kubeTime(cluster.clock.now());
  const instances = instancesOf(crd);
  // An instance may not be visible yet. It was written before the CRD stopped accepting instances, and writes become
  // visible in order, so once that is visible, every instance is.
  if (hasBegun(store.get(keyOfCrd(crd))?.object() as Crd | undefined)) removal.begin(instances);
  if (!removal.isOver(instances)) {
    return write(store, crd, withTerminating(crd, IN_PROGRESS, 'CustomResource deletion is in progress', time));
  }
  const { finalizers: _, ...metadata } = crd.metadata;
  const others = finalizers.filter((each) => each !== CLEANUP_FINALIZER);
  if (others.length === 0) {
    forget(store.commit({ key: keyOfCrd(crd), expect: revisionOf(crd), value: undefined }).durable);
    return undefined;
  }
  const done: Crd = { ...crd, metadata: { ...metadata, finalizers: others } };
  return write(store, crd, withTerminating(done, 'InstanceDeletionCompleted', 'removed all instances', time, 'False'));
}

const IN_PROGRESS = 'InstanceDeletionInProgress';

const hasBegun = (crd: Crd | undefined): boolean =>
  crd?.status?.conditions?.some(({ type, reason }) => type === 'Terminating' && reason === IN_PROGRESS) === true;

function withTerminating(
  crd: Crd,
  reason: string,
  message: string,
  time: string,
  status: 'True' | 'False' = 'True',
): Crd {
  const conditions = withCondition(
    crd.status?.conditions ?? [],
    { type: 'Terminating', status, reason, message },
    time,
  );
  return { ...crd, status: { ...crd.status, conditions } };
}

function write(store: Store, old: Crd, next: Crd): Crd {
  if (deepEqual(old, next)) return old;
  const { stored, durable } = store.commit({ key: keyOfCrd(old), expect: revisionOf(old), value: next });
  forget(durable);
  return stored.object() as Crd;
}

const keyOfCrd = (crd: Crd): string => `${CRD_PREFIX}/${crd.metadata.name}`;

/** No client waits for the durability of our own writes. */
const forget = (durable: Promise<void>): void => {
  durable.catch(() => {});
};

interface Served {
  readonly crd: Crd;
  readonly resource: ServedResource;
}

/** Caches the resources, so that an unchanged CRD keeps the same one. */
class Serving {
  readonly #options: Pick<CrdHousekeepingOptions, 'admission'>;
  #known: ReadonlyMap<string, Served> = new Map();

  constructor(options: Pick<CrdHousekeepingOptions, 'admission'>) {
    this.#options = options;
  }

  resources(crds: readonly Crd[]): readonly ServedResource[] {
    const next = new Map<string, Served>();
    for (const crd of crds) {
      if (!hasCondition(crd, 'Established')) continue;
      const name = crd.metadata.name ?? '';
      const known = this.#known.get(name);
      next.set(name, known !== undefined && servesAlike(known.crd, crd) ? known : { crd, resource: this.#make(crd) });
    }
    this.#known = next;
    return [...next.values()].map(({ resource }) => resource);
  }

  #make(crd: Crd): ServedResource {
    const admission = this.#options.admission?.(crd.spec.group, crd.spec.names.kind);
    const known = made.get(crd);
    if (known !== undefined && known.admission === admission) return known;
    const resource = servedResourceOf(crd, admission === undefined ? {} : { admission });
    made.set(crd, resource);
    return resource;
  }
}

/** Clusters that start from the same image have the same CRD objects. */
const made = new WeakMap<Crd, ServedResource>();

const servesAlike = (a: Crd, b: Crd): boolean =>
  a.metadata.uid === b.metadata.uid &&
  hasCondition(a, 'Terminating') === hasCondition(b, 'Terminating') &&
  deepEqual(a.status?.acceptedNames, b.status?.acceptedNames) &&
  deepEqual(a.spec, b.spec);
