// The API calls of a worker: fenced like every write, and folded into the caches like every response. After a lost
// response, the object is read live first.
import type { Answer, Request } from '../api/transport.ts';
import { LostError } from '../base/errors.ts';
import type { ServerName, WorkerClient } from './controller.ts';
import type { Deps } from './deps.ts';
import { type Folds, foldDeleted, foldWritten, objectIn } from './fold-answer.ts';
import { transportOf } from './informers.ts';
import { FencedError, isNoAnswer } from './outcome.ts';
import type { EventAction } from './perform.ts';
import type { Place } from './place.ts';

export interface WorkerClientOptions {
  readonly deps: Deps;
  readonly informers: Folds;
  mayWrite(): boolean;
  record(event: EventAction): void;
  readonly reading: AbortSignal;
  readonly writing: AbortSignal;
}

/** Created per reconcile. */
export interface CountedClient extends WorkerClient {
  readonly writes: number;
  /** Objects to read live before the next reconcile, because their write may or may not have happened. */
  readonly unsettled: readonly Place[];
  /** The servers that did not answer a call. */
  readonly unanswered: ReadonlySet<ServerName>;
}

export function createWorkerClient({
  deps,
  informers,
  mayWrite,
  record,
  reading,
  writing,
}: WorkerClientOptions): CountedClient {
  const unsettled: Place[] = [];
  let writes = 0;
  const unanswered = new Set<ServerName>();

  function placeOf(on: ServerName, request: Request): Place | undefined {
    const { resource, namespace, name = nameIn(request), subresource } = request.at;
    if (name === undefined || (subresource !== undefined && subresource !== 'status')) return undefined;
    return { on, resource, ...(namespace === undefined ? {} : { namespace }), name };
  }

  function fold(place: Place, request: Request, answer: Answer): void {
    const object = objectIn(answer);
    if (request.verb === 'delete') foldDeleted(informers, place, request.uid ?? object?.metadata.uid ?? '', object);
    else if (request.verb !== 'get' || request.view === undefined || request.view === 'object') {
      foldWritten(informers, place, object);
    }
  }

  return {
    signal: reading,
    get writes() {
      return writes;
    },
    unsettled,
    unanswered,
    async call(on, request) {
      const isDry = 'dryRun' in request && request.dryRun === true;
      const isWrite = request.verb !== 'get' && request.verb !== 'list' && !isDry;
      if (isWrite && !mayWrite()) throw new FencedError('write refused: not the leader, or stopping');
      const place = placeOf(on, request);
      const end = isWrite && place !== undefined ? informers.writes(place) : undefined;
      let revision: string | undefined;
      try {
        const answer = await transportOf(deps, on).call(request, isWrite ? writing : reading);
        if (isWrite) writes++;
        if (place !== undefined && !isDry && request.verb !== 'list') fold(place, request, answer);
        revision = objectIn(answer)?.metadata.resourceVersion;
        return answer;
      } catch (error) {
        if (isNoAnswer(error)) unanswered.add(on);
        if (isWrite && place !== undefined && error instanceof LostError) unsettled.push(place);
        throw error;
      } finally {
        end?.(revision);
      }
    },
    record: (event) => record({ do: 'event', because: event.reason, ...event }),
  };
}

const nameIn = (request: Request): string | undefined =>
  request.verb === 'create' || request.verb === 'update' ? request.object.metadata.name : undefined;
