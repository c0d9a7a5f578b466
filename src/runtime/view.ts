// What a controller can read: the caches of the sources that it watches, and no others, because a change elsewhere
// would not requeue its key. For on-demand watches, the view records which part was read.
import { InvariantError } from '../base/errors.ts';
import { keyOf } from './cache.ts';
import type { Controller, Failure, Part, Projected, Source, View } from './controller.ts';
import { FIRST_LIST, type FullObjects, namespacePart, WHOLE_COLLECTION } from './full-objects.ts';
import type { Informer, Informers } from './informers.ts';

/** Creates the view of one controller at one time. Without `full` (in toKeys) no full objects are available. */
export type ViewAt = (now: number, full?: FullObjects, failure?: Failure) => View;

export function createView(
  controller: Pick<Controller, 'name' | 'watches'>,
  informers: Informers,
  returns: NonNullable<View['returns']>,
): ViewAt {
  const watched = new Map<Source, Informer>(
    controller.watches.map(({ source }) => [source as Source, informers.of(source as Source)]),
  );
  const informerOf = <T extends Projected>(source: Source<T>): Informer => {
    const informer = watched.get(source as Source);
    if (informer !== undefined) return informer;
    throw new InvariantError(`${controller.name} reads ${source.resource.plural} without watching them`);
  };
  const reads: Omit<View, 'now' | 'getFull' | 'listOnDemand' | 'isRefreshed' | 'answered'> = {
    get<T extends Projected>(source: Source<T>, name: string, namespace?: string) {
      const inNamespace = source.resource.namespaced ? (namespace ?? source.namespace) : undefined;
      return informerOf(source).cache.get(keyOf(inNamespace, name)) as T | undefined;
    },
    all: <T extends Projected>(source: Source<T>, namespace?: string) =>
      informerOf(source).cache.all(namespace) as readonly T[],
    by: <T extends Projected>(source: Source<T>, index: string, value: string) =>
      informerOf(source).cache.by(index, value) as readonly T[],
    returns,
    since: (source, name, namespace) =>
      informerOf(source).cache.since(
        keyOf(source.resource.namespaced ? (namespace ?? source.namespace) : undefined, name),
      ),
    isListed: (source) => informerOf(source).isSynced,
    listError(source) {
      const informer = informers.opened(source as Source);
      const state = informer?.isSynced === false ? informer.reflector?.state() : undefined;
      if (state?.lastError === undefined) return undefined;
      return { message: state.lastError, reason: state.lastReason ?? 'other' };
    },
  };
  const listed = <T extends Projected>(source: Source<T>, part: Part, full?: FullObjects): readonly T[] | undefined => {
    const informer = informers.opened(source as Source);
    if (informer === undefined) return undefined;
    const { cache } = informer;
    const namespace = source.resource.namespaced ? (part.namespace ?? source.namespace) : undefined;
    const isAmbiguous = part.name !== undefined && source.resource.namespaced && namespace === undefined;
    if (isAmbiguous) throw new InvariantError(`${controller.name} reads "${part.name}" without a namespace`);
    const key = part.name === undefined ? undefined : keyOf(namespace, part.name);
    full?.touch(informer, key ?? (namespace === undefined ? WHOLE_COLLECTION : namespacePart(namespace)));
    if (!informer.isSynced) {
      full?.touch(informer, FIRST_LIST);
      return undefined;
    }
    if (key === undefined) return cache.all(namespace) as readonly T[];
    const item = cache.get(key) as T | undefined;
    return item === undefined ? [] : [item];
  };
  return (now, full, failure) => ({
    now,
    ...(failure === undefined ? {} : { failure }),
    ...reads,
    getFull: (ref) => full?.see(ref),
    refusal: (ref) => full?.refusal(ref),
    listOnDemand: (source, part = {}) => listed(source, part, full),
    isRefreshed: (source, part) => full?.isRefreshed({ source, part }) ?? false,
    answered: (source, part) => full?.answered({ source, part }),
  });
}
