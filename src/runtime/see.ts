// What a controller sees: the caches of the sources that it watches, and no others. Reading what one does not watch would be a wake-up lost;
// what is watched on demand remembers who read which part of it.
import { InvariantError } from '../base/errors.ts';
import { keyOf } from './cache.ts';
import type { Controller, Failure, Part, Projected, See, Source } from './controller.ts';
import type { Feed, Feeds } from './feeds.ts';
import { FIRST_LIST, type FullObjects, namespacePart, WHOLE_COLLECTION } from './wholes.ts';

/** Makes the view of one controller at one moment. Without `wholes` (in toKeys) no whole object is known. */
export type SeeAt = (now: number, wholes?: FullObjects, failure?: Failure) => See;

export function createSee(
  controller: Pick<Controller, 'name' | 'watches'>,
  feeds: Feeds,
  returns: NonNullable<See['returns']>,
): SeeAt {
  const watched = new Map<Source, Feed>(
    controller.watches.map(({ source }) => [source as Source, feeds.of(source as Source)]),
  );
  const feedOf = <T extends Projected>(source: Source<T>): Feed => {
    const feed = watched.get(source as Source);
    if (feed !== undefined) return feed;
    throw new InvariantError(`${controller.name} reads ${source.resource.plural} without watching them`);
  };
  const reads: Omit<See, 'now' | 'whole' | 'among' | 'isRefreshed' | 'answered'> = {
    get<T extends Projected>(source: Source<T>, name: string, namespace?: string) {
      const inNamespace = source.resource.namespaced ? (namespace ?? source.namespace) : undefined;
      return feedOf(source).cache.get(keyOf(inNamespace, name)) as T | undefined;
    },
    all: <T extends Projected>(source: Source<T>, namespace?: string) =>
      feedOf(source).cache.all(namespace) as readonly T[],
    by: <T extends Projected>(source: Source<T>, index: string, value: string) =>
      feedOf(source).cache.by(index, value) as readonly T[],
    returns,
    since: (source, name, namespace) =>
      feedOf(source).cache.since(keyOf(source.resource.namespaced ? (namespace ?? source.namespace) : undefined, name)),
    isListed: (source) => feedOf(source).isSynced,
    listError(source) {
      const feed = feeds.opened(source as Source);
      const state = feed?.isSynced === false ? feed.reflector?.state() : undefined;
      if (state?.lastError === undefined) return undefined;
      return { message: state.lastError, reason: state.lastReason ?? 'other' };
    },
  };
  const among = <T extends Projected>(
    source: Source<T>,
    part: Part,
    wholes?: FullObjects,
  ): readonly T[] | undefined => {
    const feed = feeds.opened(source as Source);
    if (feed === undefined) return undefined;
    const { cache } = feed;
    const namespace = source.resource.namespaced ? (part.namespace ?? source.namespace) : undefined;
    const isAmbiguous = part.name !== undefined && source.resource.namespaced && namespace === undefined;
    if (isAmbiguous) throw new InvariantError(`${controller.name} reads "${part.name}" without a namespace`);
    const key = part.name === undefined ? undefined : keyOf(namespace, part.name);
    wholes?.touch(feed, key ?? (namespace === undefined ? WHOLE_COLLECTION : namespacePart(namespace)));
    if (!feed.isSynced) {
      wholes?.touch(feed, FIRST_LIST);
      return undefined;
    }
    if (key === undefined) return cache.all(namespace) as readonly T[];
    const item = cache.get(key) as T | undefined;
    return item === undefined ? [] : [item];
  };
  return (now, wholes, failure) => ({
    now,
    ...(failure === undefined ? {} : { failure }),
    ...reads,
    whole: (ref) => wholes?.see(ref),
    refusal: (ref) => wholes?.refusal(ref),
    among: (source, part = {}) => among(source, part, wholes),
    isRefreshed: (source, part) => wholes?.isRefreshed({ source, part }) ?? false,
    answered: (source, part) => wholes?.answered({ source, part }),
  });
}
