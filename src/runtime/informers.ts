// The informers of a manager: one reflector and one cache per Source, shared by all its controllers. The response to a
// write or a get is folded into every cache that the object belongs to.
import type { Resource } from '../api/kind.ts';
import type { KubeObject } from '../api/object.ts';
import type { Transport } from '../api/transport.ts';
import { ApiError, InvariantError } from '../base/errors.ts';
import { type Cache, type Change, createCache, keyOf } from './cache.ts';
import type { Asked, Projected, ServerName, Source } from './controller.ts';
import type { Deps } from './deps.ts';
import { collectionText, type Place, targetOf } from './place.ts';
import { type Reflector, startReflector } from './reflector.ts';
import type { TimeSlice } from './time-slice.ts';

export interface Informer {
  readonly source: Source;
  readonly name: string;
  readonly cache: Cache<Projected>;
  /** Stops an informer that was opened on demand. */
  readonly close?: () => void;
  reflector?: Reflector;
  isSynced: boolean;
}

export interface FeedsOptions {
  readonly deps: Deps;
  readonly pace: TimeSlice;
  readonly signal: AbortSignal;
  readonly sources: readonly Source[];
  onChange(informer: Informer, change: Change<Projected>): void;
  /** A watch of full objects (`isReadWhole`) brought this object. `isNew`: it was not cached before. */
  onWhole(informer: Informer, object: KubeObject, isNew: boolean): void;
  onSynced(informer: Informer): void;
  /** The first failure, or a failure with another cause than before. */
  onTrouble(informer: Informer): void;
}

export interface Informers {
  /** Including the ones on demand. */
  readonly all: readonly Informer[];
  of(source: Source): Informer;
  /** The informer that was opened on demand for this source or an equal one. */
  opened(source: Source): Informer | undefined;
  /** Opens an informer on demand. */
  open(source: Source): Informer;
  /** Stops an informer that was opened on demand, and drops its cache. */
  shut(informer: Informer): void;
  /** The informers of this resource, in the order of the sources. */
  at(on: ServerName, resource: Resource): readonly Informer[];
  start(): void;
  /** Folds in an object from a response. */
  fold(on: ServerName, resource: Resource, object: KubeObject): void;
  /** The server answered that the object with this uid does not exist any more. */
  foldGone(place: Place, uid: string): void;
  /** The response shows the final state of an object that the request deleted. */
  foldEnded(place: Place, object: KubeObject): void;
  /** Live read of one object: folds in its state, or its absence. */
  look(place: Place, signal: AbortSignal): Promise<KubeObject | null>;
  /**
   * Live list of a part of a collection: returns its keys and folds in its objects. Removing deleted objects is left to
   * the watch.
   */
  ask(asked: Asked, signal: AbortSignal): Promise<ReadonlySet<string>>;
}

export function transportOf({ servers }: Deps, on: ServerName): Transport {
  const transport = servers[on];
  if (transport === undefined) throw new InvariantError(`this program has no connection to a ${on}`);
  return transport;
}

export function createInformers(options: FeedsOptions): Informers {
  const { deps, pace: slice, signal } = options;
  const all: Informer[] = [];
  const bySource = new Map<Source, Informer>();
  const onDemand = new Map<string, Informer>();
  const byCollection = new Map<string, Informer[]>();

  function add(source: Source, close?: () => void): Informer {
    const cache = createCache(source, deps.clock) as Cache<Projected>;
    const informer: Informer = { source, name: nameOf(source), cache, isSynced: false, ...(close ? { close } : {}) };
    const text = collectionText(source.on, source.resource);
    all.push(informer);
    byCollection.set(text, [...(byCollection.get(text) ?? []), informer]);
    return informer;
  }
  for (const source of options.sources) bySource.set(source, add(source));

  function start(informer: Informer, until: AbortSignal): void {
    informer.reflector = startReflector({
      name: informer.name,
      cache: informer.cache,
      transport: transportOf(deps, informer.source.on),
      clock: deps.clock,
      random: deps.random.fork(`reflector/${informer.name}`),
      pace: slice,
      log: deps.log,
      signal: until,
      onChanges: (changes) => {
        for (const change of changes) options.onChange(informer, change);
      },
      onWhole: (object, isNew) => options.onWhole(informer, object, isNew),
      onSynced() {
        informer.isSynced = true;
        options.onSynced(informer);
      },
      onTrouble: () => options.onTrouble(informer),
    });
  }

  const at = (on: ServerName, resource: Resource): readonly Informer[] =>
    byCollection.get(collectionText(on, resource)) ?? [];
  /** The caches that may contain this object. Another API version has another shape and is left to its own watch. */
  const concerned = ({ on, resource, namespace }: Omit<Place, 'name'>) =>
    at(on, resource).filter(
      ({ source }) =>
        source.resource.version === resource.version &&
        (source.namespace === undefined || !resource.namespaced || source.namespace === namespace),
    );
  const emit = (informer: Informer, change: Change<Projected> | undefined) => {
    if (change !== undefined) options.onChange(informer, change);
  };
  const keyAt = ({ resource, namespace, name }: Place) => keyOf(resource.namespaced ? namespace : undefined, name);

  const informers: Informers = {
    all,
    at,
    of(source) {
      const informer = bySource.get(source);
      if (informer === undefined) throw new InvariantError(`no controller watches ${nameOf(source)}`);
      return informer;
    },
    opened: (source) => onDemand.get(nameOf(source)),
    open(source) {
      const name = nameOf(source);
      const open = onDemand.get(name);
      if (open !== undefined) return open;
      const ending = new AbortController();
      const close = () => ending.abort();
      signal.addEventListener('abort', close, { once: true });
      const informer = add(source, () => {
        signal.removeEventListener('abort', close);
        close();
      });
      onDemand.set(name, informer);
      start(informer, ending.signal);
      return informer;
    },
    shut(informer) {
      informer.close?.();
      onDemand.delete(informer.name);
      all.splice(all.indexOf(informer), 1);
      const text = collectionText(informer.source.on, informer.source.resource);
      const left = (byCollection.get(text) ?? []).filter((each) => each !== informer);
      if (left.length === 0) byCollection.delete(text);
      else byCollection.set(text, left);
    },
    start() {
      for (const informer of all) start(informer, signal);
    },
    fold(on, resource, object) {
      const { namespace } = object.metadata;
      for (const informer of concerned({ on, resource, ...(namespace === undefined ? {} : { namespace }) })) {
        emit(informer, informer.cache.answered(informer.source.view === 'metadata' ? metadataOnly(object) : object));
      }
    },
    foldGone(place, uid) {
      for (const informer of concerned(place)) emit(informer, informer.cache.gone(keyAt(place), uid));
    },
    foldEnded(place, object) {
      for (const informer of concerned(place)) emit(informer, informer.cache.ended(object));
    },
    async look(place, lookSignal) {
      // NotFound describes the past: remove only the uids that were cached before the get, not an object created
      // meanwhile.
      const known = concerned(place).map((informer) => informer.cache.get(keyAt(place))?.metadata.uid);
      try {
        const { object } = await transportOf(deps, place.on).call({ verb: 'get', at: targetOf(place) }, lookSignal);
        if (object === undefined) throw new InvariantError(`a get of ${targetText(place)} came back empty`);
        informers.fold(place.on, place.resource, object);
        return object;
      } catch (error) {
        if (!(error instanceof ApiError) || error.reason !== 'NotFound') throw error;
        for (const uid of new Set(known)) if (uid !== undefined) informers.foldGone(place, uid);
        return null;
      }
    },
    async ask({ source, part }, askSignal) {
      const { on, resource } = source;
      const labels = [source.labels, part.labels].filter((each) => each !== undefined && each !== '').join(',');
      const view = source.isReadWhole ? 'metadata' : source.view;
      const namespace = resource.namespaced ? (part.namespace ?? source.namespace) : undefined;
      const fields = part.name === undefined ? source.fields : `metadata.name=${part.name}`;
      const keys = new Set<string>();
      let token: string | undefined;
      do {
        const { list } = await transportOf(deps, on).call(
          {
            verb: 'list',
            at: { resource, ...(namespace === undefined ? {} : { namespace }) },
            ...(view === undefined ? {} : { view }),
            ...(labels === '' ? {} : { labels }),
            ...(fields === undefined ? {} : { fields }),
            limit: PAGE,
            ...(token === undefined ? {} : { continue: token }),
          },
          askSignal,
        );
        const informer = bySource.get(source) ?? onDemand.get(nameOf(source));
        for (const { metadata } of list?.items ?? []) keys.add(keyOf(metadata.namespace, metadata.name ?? ''));
        if (informer === undefined || list === undefined) return keys;
        for (const object of list.items) emit(informer, informer.cache.answered(object));
        token = list.metadata.continue === '' ? undefined : list.metadata.continue;
      } while (token !== undefined);
      return keys;
    },
  };
  return informers;
}

const PAGE = 500;

const targetText = ({ resource, namespace, name }: Place): string =>
  `${resource.kind} "${keyOf(resource.namespaced ? namespace : undefined, name)}"`;

export const metadataOnly = (object: KubeObject): KubeObject => ({
  apiVersion: 'meta.k8s.io/v1',
  kind: 'PartialObjectMetadata',
  metadata: object.metadata,
});

/** Sources are static objects and their names are needed in every reconcile, so the names are kept. */
const names = new WeakMap<Source, string>();

export function nameOf(source: Source): string {
  let name = names.get(source);
  if (name === undefined) {
    name = madeName(source);
    names.set(source, name);
  }
  return name;
}

function madeName({ on, resource, namespace, labels, fields, view, isReadWhole }: Source): string {
  const parts = [`${on}/${resource.group === '' ? '' : `${resource.group}/`}${resource.version}/${resource.plural}`];
  if (namespace !== undefined) parts.push(`in ${namespace}`);
  if (labels !== undefined) parts.push(`with ${labels}`);
  if (fields !== undefined) parts.push(`where ${fields}`);
  // Named after its list request.
  if (view === 'metadata' || isReadWhole) parts.push('(metadata)');
  return parts.join(' ');
}
