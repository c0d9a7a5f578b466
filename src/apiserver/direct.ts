// The in-process Transport: calls the verbs as a given user, with the same authorization as over the wire, and hands out the store's
// frozen objects without serialising anything.
import type { KubeObject, User } from '../api/object.ts';
import { noSuchResource } from '../api/status.ts';
import type { Answer, Request, Target, Transport, View, WatchEvent, WatchRequest } from '../api/transport.ts';
import { AbortError } from '../base/errors.ts';
import { deepFreeze } from '../base/json.ts';
import { forbiddenError } from './auth/rbac.ts';
import type { Cluster } from './cluster.ts';
import { tableOf } from './http/table.ts';
import { objectIn } from './represent.ts';
import { type Stored, StoreUnavailable } from './store/store.ts';
import { unavailable } from './unavailable.ts';
import type { At, Caller, FeedEvent } from './verbs/call.ts';
import { create } from './verbs/create.ts';
import { remove } from './verbs/delete.ts';
import { get } from './verbs/get.ts';
import { list } from './verbs/list.ts';
import { checkOffered } from './verbs/offered.ts';
import { patch } from './verbs/patch.ts';
import { update } from './verbs/update.ts';
import { watch } from './verbs/watch.ts';

export function directTransport(cluster: Cluster, user: User): Transport {
  return {
    async call(request, signal) {
      if (signal?.aborted) throw new AbortError('the call was given up before it began');
      authorize(cluster, user, request.verb, request.at);
      try {
        return await answer(cluster, user, request);
      } catch (error) {
        throw error instanceof StoreUnavailable ? unavailable(error) : error;
      }
    },
    async *watch(request, signal) {
      authorize(cluster, user, 'watch', request.at);
      yield* follow(cluster, request, signal);
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
      return show(get(cluster, at), request.view);
    case 'list':
      return { ...listed(cluster, at, request), warnings };
    case 'create':
      return show((await create(cluster, at, deepFreeze(request.object), caller)).stored);
    case 'update':
      return show((await update(cluster, at, deepFreeze(request.object), caller)).stored);
    case 'patch':
      return show((await patch(cluster, at, request.patch, caller)).stored);
    case 'delete': {
      const removed = await remove(cluster, at, deleteOptions(request), caller);
      return show(removed.stored);
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
function listed(
  cluster: Cluster,
  at: At,
  request: Extract<Request, { verb: 'list' }>,
): Pick<Answer, 'list' | 'object'> {
  const found = list(cluster, at, request);
  const metadata = {
    resourceVersion: String(found.revision),
    ...(found.continue === undefined ? {} : { continue: found.continue }),
    ...(found.remaining === undefined ? {} : { remainingItemCount: found.remaining }),
  };
  const items = (view: View) => found.items.map((stored) => viewed(cluster, at, stored, view));
  if (request.view === 'table') {
    return { object: tableOf(items('object'), at.version.table, { now: cluster.clock.now(), metadata }) };
  }
  return {
    list: { apiVersion: apiVersion(at), kind: at.resource.listKind, metadata, items: items(request.view ?? 'object') },
  };
}

const apiVersion = (at: At): string => (at.resource.group === '' ? '' : `${at.resource.group}/`) + at.version.version;

function viewed(cluster: Cluster, at: At, stored: Stored, view: View): KubeObject {
  // Scales, tokens and reviews are kinds of their own and have no versions of the resource.
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
): AsyncIterable<readonly WatchEvent[]> {
  const at = locate(cluster, request.at, 'watch');
  const feed = watch(cluster, at, request);
  let wake = () => {};
  const stop = feed.onWake(() => wake());
  const onAbort = () => wake();
  signal.addEventListener('abort', onAbort);
  const deadline =
    request.timeoutSeconds === undefined ? undefined : cluster.clock.now() + request.timeoutSeconds * 1000;
  let isOver = false;
  const cancel =
    deadline === undefined
      ? () => {}
      : cluster.clock.at(deadline, 'watch timeout', () => {
          isOver = true;
          wake();
        });
  try {
    while (!signal.aborted && !isOver) {
      const woken = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const events = feed.pull().map((event) => eventFor(cluster, at, event, request.view ?? 'object'));
      if (events.length > 0) yield events;
      else await woken;
    }
  } finally {
    stop();
    cancel();
    signal.removeEventListener('abort', onAbort);
  }
}

function eventFor(cluster: Cluster, at: At, event: FeedEvent, view: View): WatchEvent {
  if (event.stored) return { type: event.type, object: viewed(cluster, at, event.stored, view) };
  const metadata = {
    resourceVersion: String(event.revision),
    ...(event.initialEventsEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}),
  };
  return { type: 'BOOKMARK', object: { apiVersion: apiVersion(at), kind: at.resource.kind, metadata } };
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
