// Checkers observe a world from outside, after every step, and never act. A failing checker ends the run.
import type { Answer, Request } from '../api/transport.ts';
import type { ApiError } from '../base/errors.ts';
import type { Readable, ReadableChange } from './server.ts';

interface Called {
  readonly who: string;
  readonly server: string;
  readonly request: Request;
}

export type Happening =
  /** An actor has sent a request, which has not arrived yet. */
  | (Called & { readonly what: 'sent' })
  /** The server has executed the request, whether or not its caller receives the response. */
  | (Called & { readonly what: 'executed'; readonly answer: Answer })
  /** The caller has received the response. */
  | (Called & { readonly what: 'acknowledged'; readonly answer: Answer })
  | (Called & { readonly what: 'refused'; readonly error: ApiError })
  /** The caller has received a LostError. */
  | (Called & { readonly what: 'lost' })
  | { readonly what: 'started' | 'crashed' | 'stopped'; readonly who: string };

/** A checker's view of the world. */
export interface Sight {
  readonly now: number;
  readonly steps: number;
  readonly servers: readonly string[];
  /** undefined while the server is down. */
  store(server: string): Readable | undefined;
}

export interface Checker {
  readonly name: string;
  /** Called with each event; a returned string is a failure. */
  hear?(happening: Happening, sight: Sight): string | undefined;
  /** Called after each step. */
  look?(sight: Sight): string | undefined;
}

export interface Failure {
  readonly checker: string;
  readonly message: string;
  readonly seed: number;
  readonly step: number;
  readonly simulatedMs: number;
  /** The end of the trace. */
  readonly lines: readonly string[];
}

/** A checker of every visible change of every server, each passed once and in order. */
export function changeChecker(
  name: string,
  check: (change: ReadableChange, server: string, sight: Sight) => string | undefined,
): Checker {
  const seen = new Map<string, number>();
  return {
    name,
    look(sight) {
      for (const server of sight.servers) {
        const store = sight.store(server);
        if (store === undefined) continue;
        const from = seen.get(server) ?? 0;
        if (store.visible === from) continue;
        const changes = store.since(from, '');
        seen.set(server, store.visible);
        // Skips the initial objects of a server, because no client has written them.
        if (changes === 'compacted') continue;
        for (const change of changes) {
          const objection = check(change, server, sight);
          if (objection !== undefined) return objection;
        }
      }
      return undefined;
    },
  };
}

/**
 * Acknowledged writes are never undone: they are visible, and objects that were visible once still exist after a crash,
 * unless a later write replaced them.
 */
export function noWriteLost(): Checker {
  const known = new Map<string, { revision: number; items: Map<string, number>; isFresh: boolean }>();
  const follow = (server: string, sight: Sight): string | undefined => {
    const store = sight.store(server);
    if (store === undefined) return undefined;
    let mirror = known.get(server);
    if (mirror === undefined) {
      mirror = { revision: 0, items: new Map(), isFresh: true };
      known.set(server, mirror);
    }
    if (mirror.isFresh) {
      mirror.isFresh = false;
      if (store.visible < mirror.revision) {
        return `${server} was at revision ${mirror.revision} before it crashed and is at ${store.visible} now`;
      }
      const items = new Map(store.range('').items.map((item) => [item.key, item.revision]));
      for (const [key, revision] of mirror.items) {
        const left = items.get(key);
        // Missing or older: allowed only if a later write did it.
        if (left === revision || (left ?? store.visible) > mirror.revision) continue;
        return `${server} lost ${key} at revision ${revision} in a crash: it has ${left ?? 'nothing'}`;
      }
      mirror.items = items;
      mirror.revision = store.visible;
      return undefined;
    }
    if (store.visible === mirror.revision) return undefined;
    const changes = store.since(mirror.revision, '');
    if (changes === 'compacted') mirror.items = new Map(store.range('').items.map((item) => [item.key, item.revision]));
    else {
      for (const change of changes) {
        if (change.deleted) mirror.items.delete(change.key);
        else mirror.items.set(change.key, change.revision);
      }
    }
    mirror.revision = store.visible;
    return undefined;
  };
  return {
    name: 'no write is lost',
    hear(happening, sight) {
      if (happening.what === 'crashed') {
        const mirror = known.get(happening.who);
        if (mirror !== undefined) mirror.isFresh = true;
        return undefined;
      }
      if (happening.what !== 'executed') return undefined;
      const { request, answer, server } = happening;
      if (request.verb === 'get' || request.verb === 'list' || 'dryRun' in request) return undefined;
      const revision = Number(answer.object?.metadata.resourceVersion ?? 0);
      const visible = sight.store(server)?.visible ?? 0;
      if (revision <= visible) return undefined;
      return `${server} acknowledged ${request.verb} of ${request.at.resource.plural} at revision ${revision} though only ${visible} is visible`;
    },
    look(sight) {
      for (const server of sight.servers) {
        const objection = follow(server, sight);
        if (objection !== undefined) return objection;
      }
      return undefined;
    },
  };
}

interface Speaking {
  readonly type: string;
  readonly observedGeneration?: number;
}

/**
 * A condition describes the object that it is in, at its current or an earlier generation: never a later one, nor
 * another object of the same name.
 */
export const conditionsAreOfTheirObject = (): Checker =>
  changeChecker('conditions are of their object', ({ key, stored }) => {
    const { metadata, status } = stored.object();
    const { conditions = [] } = (status ?? {}) as { readonly conditions?: readonly Speaking[] };
    const wrong = conditions.find(({ observedGeneration = 0 }) => observedGeneration > (metadata.generation ?? 0));
    return (
      wrong && `${wrong.type} of ${key} speaks of generation ${wrong.observedGeneration}, not ${metadata.generation}`
    );
  });

/**
 * After a write with an unknown outcome the object is read before it is written again: treating "lost" as "failed"
 * would repeat the write. Events may be repeated, and a Lease is renewed from the last state seen or not at all. Where
 * several controllers of one actor write the same object, only creates can be checked: one of them creates it, and
 * another one need not know that its own create was lost. Do not use it for actors with leader election: a write of the
 * last term may become lost after the next term has read everything.
 */
export function looksAfterLoss(
  controllers: readonly string[],
  which: 'all writes' | 'creates' = 'all writes',
): Checker {
  const unknown = new Map<string, Set<string>>();
  return {
    name: 'what was lost is looked up first',
    hear(happening) {
      const { who } = happening;
      if (!('request' in happening)) {
        unknown.delete(who);
        return undefined;
      }
      const { server, request } = happening;
      if (!controllers.includes(who)) return undefined;
      const object = `${server} ${objectText(request)}`;
      const isRead = request.verb === 'get' || request.verb === 'list';
      if (request.at.resource.kind === 'Event' || request.at.resource.kind === 'Lease') return undefined;
      const isAskedAbout = which === 'creates' ? request.verb === 'create' : !isRead;
      if (happening.what === 'lost' && isAskedAbout) {
        const lost = unknown.get(who) ?? new Set();
        unknown.set(who, lost.add(object));
      }
      const isTold =
        happening.what === 'acknowledged' || (happening.what === 'refused' && happening.error.code === 404);
      if (isRead && isTold) {
        const lost = unknown.get(who);
        for (const each of lost ?? []) if (each.startsWith(object)) lost?.delete(each);
      }
      if (happening.what !== 'sent' || !isAskedAbout || !unknown.get(who)?.has(object)) return undefined;
      return `${who} writes ${object} again without having looked what became of its lost write`;
    },
  };
}

/** For a list: the prefix of its objects' texts. */
const objectText = (request: Request): string => {
  const { resource, namespace, name } = request.at;
  const named = name ?? ('object' in request ? request.object.metadata.name : undefined);
  const place = `${resource.plural}.${resource.group}/`;
  if (named !== undefined) return `${place}${namespace ?? ''}/${named}`;
  return namespace === undefined ? place : `${place}${namespace}/`;
};
