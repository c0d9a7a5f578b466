// The in-process Transport: calls the verbs as a given user, with the same authorization as over the wire, and returns
// the store's frozen objects without serialization.
import type { KubeObject, User } from '../api/object.ts';
import { noSuchResource } from '../api/status.ts';
import type { Answer, Request, Target, Transport, View, WatchEvent, WatchRequest } from '../api/transport.ts';
import { onAbort, unlessAborted } from '../base/abort.ts';
import { AbortError } from '../base/errors.ts';
import { deepFreeze } from '../base/json.ts';
import { forbiddenError } from './auth/rbac.ts';
import type { Cluster } from './cluster.ts';
import { tableOf } from './http/table.ts';
import { objectIn } from './represent.ts';
import { type Stored, StoreUnavailable } from './store/store.ts';
import { unavailable } from './unavailable.ts';
import { verbs } from './verbs/all.ts';
import type { At, Caller, FeedEvent, Listed } from './verbs/call.ts';
import { checkOffered } from './verbs/offered.ts';

const givenUp = () => new AbortError('the call was given up');

export function directTransport(cluster: Cluster, user: User): Transport {
  return {
    async call(request, signal) {
      if (signal?.aborted) throw new AbortError('the call was given up before it began');
      authorize(cluster, user, request.verb, request.at);
      try {
        const pending = answer(cluster, user, request);
        return deepFreeze(await (signal === undefined ? pending : unlessAborted(pending, signal, givenUp)));
      } catch (error) {
        throw error instanceof StoreUnavailable ? unavailable(error) : error;
      }
    },
    async *watch(request, signal, onOpen) {
      authorize(cluster, user, 'watch', request.at);
      yield* follow(cluster, request, signal, onOpen);
    },
  };
}

async function answer(cluster: Cluster, user: User, request: Request): Promise<Answer> {
  const at = locate(cluster, request.at, request.verb);
  const warnings: string[] = [];
  const show = (stored: Stored, view: View = 'object'): Answer => ({
    object: viewed(cluster, at, stored, view),
    warnings,
  });
  const caller: Caller = {
    user,
    manager: 'manager' in request ? request.manager : 'direct',
    dryRun: 'dryRun' in request && request.dryRun === true,
    fieldValidation: 'Strict',
    warn: (text) => warnings.push(text),
  };
  switch (request.verb) {
    case 'get':
      return show(verbs.get(cluster, at), request.view);
    case 'list': {
      const found = verbs.list(cluster, at, request);
      return { ...listed(cluster, at, request.view, found instanceof Promise ? await found : found), warnings };
    }
    case 'create':
      return show((await verbs.create(cluster, at, deepFreeze(request.object), caller)).stored);
    case 'update':
      return show((await verbs.update(cluster, at, deepFreeze(request.object), caller)).stored);
    case 'patch':
      return show((await verbs.patch(cluster, at, request.patch, caller)).stored);
    case 'delete': {
      const { stored, gone } = await verbs.remove(cluster, at, deleteOptions(request), caller);
      return gone ? { warnings } : show(stored);
    }
  }
}

function deleteOptions(request: Extract<Request, { verb: 'delete' }>) {
  const { uid, revision, propagation, graceSeconds } = request;
  return {
    preconditions: {
      ...(uid === undefined ? {} : { uid }),
      ...(revision === undefined ? {} : { resourceVersion: revision }),
    },
    ...(propagation === undefined ? {} : { propagation }),
    ...(graceSeconds === undefined ? {} : { graceSeconds }),
  };
}

/** A table is one object with a row per item; the other views are lists. */
function listed(cluster: Cluster, at: At, as: View | undefined, found: Listed): Pick<Answer, 'list' | 'object'> {
  const metadata = {
    resourceVersion: String(found.revision),
    ...(found.continue === undefined ? {} : { continue: found.continue }),
    ...(found.remaining === undefined ? {} : { remainingItemCount: found.remaining }),
  };
  const items = (view: View) => found.items.map((stored) => viewed(cluster, at, stored, view));
  if (as === 'table') {
    return { object: tableOf(items('object'), at.version.table, { now: cluster.clock.now(), metadata }) };
  }
  if (as === 'metadata') {
    return {
      list: { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadataList', metadata, items: items('metadata') },
    };
  }
  return { list: { apiVersion: apiVersion(at), kind: at.resource.listKind, metadata, items: items('object') } };
}

const apiVersion = (at: At): string => (at.resource.group === '' ? '' : `${at.resource.group}/`) + at.version.version;

function viewed(cluster: Cluster, at: At, stored: Stored, view: View): KubeObject {
  // Scales, tokens and reviews are other kinds, so they have no versions of the resource.
  const object =
    stored.object().kind === at.resource.kind ? objectIn(at.resource, at.version, stored) : stored.object();
  if (view === 'object') return object;
  if (view === 'metadata') {
    return { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata', metadata: object.metadata };
  }
  return tableOf([object], at.version.table, { now: cluster.clock.now() });
}

async function* follow(
  cluster: Cluster,
  request: WatchRequest,
  signal: AbortSignal,
  onOpen?: () => void,
): AsyncIterable<readonly WatchEvent[]> {
  if (signal.aborted) return;
  const { clock } = cluster;
  const { view = 'object', bookmarks, timeoutSeconds } = request;
  const at = locate(cluster, request.at, 'watch');
  const starting = verbs.watch(cluster, at, request);
  const feed = starting instanceof Promise ? await starting : starting;
  onOpen?.();
  const cancels = new Map<'feed' | 'timeout' | 'bookmark' | 'abort', () => void>();
  let wake = () => {};
  let isOver = false;
  let isBookmarkDue = false;
  let isFirst = true;
  const bookmarkLater = () => {
    const run = () => {
      isBookmarkDue = true;
      wake();
      bookmarkLater();
    };
    cancels.set('bookmark', clock.at(clock.now() + BOOKMARK_MS, 'watch bookmark', run));
  };
  const end = () => {
    isOver = true;
    isBookmarkDue = true;
    wake();
  };
  cancels.set(
    'feed',
    feed.onWake(() => wake()),
  );
  if (bookmarks) bookmarkLater();
  if (timeoutSeconds !== undefined) {
    cancels.set('timeout', clock.at(clock.now() + timeoutSeconds * 1000, 'watch timeout', end));
  }
  cancels.set(
    'abort',
    onAbort(signal, () => wake()),
  );
  try {
    while (!signal.aborted) {
      const woken = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const isLast = isOver;
      const pulled = feed.pull();
      // Reports how far this watcher has seen, so that it does not need a new list after a long time without events.
      const found: readonly FeedEvent[] =
        bookmarks && isBookmarkDue ? [...pulled, { type: 'BOOKMARK', revision: feed.revision }] : pulled;
      isBookmarkDue = false;
      const events: WatchEvent[] = [];
      for (const event of found) {
        events.push(eventFor(cluster, at, event, { view, isFirst }));
        isFirst = false;
      }
      if (events.length > 0) yield deepFreeze(events);
      if (isLast) return;
      if (events.length === 0) await woken;
    }
  } finally {
    for (const cancel of cancels.values()) cancel();
  }
}

/** As often as over the wire. */
const BOOKMARK_MS = 60_000;

interface Shape {
  readonly view: View;
  /** Only the first table of a watch contains the column definitions. */
  readonly isFirst: boolean;
}

function eventFor(cluster: Cluster, at: At, event: FeedEvent, { view, isFirst }: Shape): WatchEvent {
  if (!event.stored) return { type: 'BOOKMARK', object: bookmark(at, event, view) };
  if (view !== 'table') return { type: event.type, object: viewed(cluster, at, event.stored, view) };
  const options = {
    now: cluster.clock.now(),
    metadata: { resourceVersion: String(event.stored.revision) },
    withColumns: isFirst,
  };
  return {
    type: event.type,
    object: tableOf([viewed(cluster, at, event.stored, 'object')], at.version.table, options),
  };
}

/** An object with only a resourceVersion. */
function bookmark(at: At, event: FeedEvent, view: View): KubeObject {
  const metadata = {
    resourceVersion: String(event.revision),
    ...(event.initialEventsEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}),
  };
  if (view === 'object') return { apiVersion: apiVersion(at), kind: at.resource.kind, metadata };
  const partial = { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata', metadata };
  if (view === 'metadata') return partial;
  const { columns } = at.version.table;
  return {
    apiVersion: 'meta.k8s.io/v1',
    kind: 'Table',
    metadata: { resourceVersion: metadata.resourceVersion },
    columnDefinitions: null,
    rows: [{ cells: columns.map((column) => (column.type === 'string' ? '' : null)), object: partial }],
  };
}

function locate(cluster: Cluster, { resource, namespace = '', name, subresource }: Target, verb: string): At {
  const found = cluster.registry.find(resource.group, resource.version, resource.plural);
  if (!found) throw noSuchResource();
  checkOffered(found.resource, { namespace, name, subresource }, verb);
  return {
    ...found,
    namespace,
    ...(name === undefined ? {} : { name }),
    ...(subresource === undefined ? {} : { subresource }),
  };
}

function authorize(
  cluster: Cluster,
  user: User,
  verb: string,
  { resource, namespace, name, subresource }: Target,
): void {
  const attributes = {
    verb,
    group: resource.group,
    resource: resource.plural,
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
    ...(subresource === undefined ? {} : { subresource }),
  };
  const verdict = cluster.authorizer.allows(user, attributes);
  if (!verdict.allowed) throw forbiddenError(user, attributes, verdict.reason);
}
