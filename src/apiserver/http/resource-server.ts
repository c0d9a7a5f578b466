// Translates a request for a resource into the verb's arguments, and the verb's result into a response.
import type { User } from '../../api/object.ts';
import { noSuchResource } from '../../api/status.ts';
import type { Clock } from '../../base/clock.ts';
import { AbortError } from '../../base/errors.ts';
import type { Found } from '../registry.ts';
import type { At, Caller, Listed, WatchFeed } from '../verbs/call.ts';
import { checkOffered } from '../verbs/offered.ts';
import type { Account } from './accounts.ts';
import { decodeObject, decodeOptions, decodePatch, type OnRepeated, readBody } from './body.ts';
import { createEventEncoder, eventShape } from './event-encoder.ts';
import type { HttpCluster } from './http-cluster.ts';
import type { Limits } from './limits.ts';
import { sendList } from './list-stream.ts';
import { bodyFormat, type Choose, type Form, patchType } from './negotiate.ts';
import {
  deletionOf,
  includeObject,
  listOptions,
  managerOf,
  patchForce,
  type Query,
  type WriteOptions,
  watchOptions,
  writeOptions,
} from './options.ts';
import type { ResourcePath } from './request-info.ts';
import { type Exchange, sendJson } from './respond.ts';
import { sendObject, singleForm } from './single.ts';
import { isExpired, sendExpiredWatch, type WatchHub } from './watch-stream.ts';

export interface ResourceRequest {
  readonly served: HttpCluster;
  readonly found: Found;
  readonly where: ResourcePath;
  readonly verb: string;
  readonly query: Query;
  readonly user: User;
  readonly account: Account;
}

export interface ResourceServer {
  /** Throws, or rejects; returns a promise only if something must be awaited. */
  serve(exchange: Exchange, request: ResourceRequest): void | Promise<void>;
}

export interface ResourceServerOptions {
  readonly clock: Clock;
  readonly choose: Choose;
  readonly watches: WatchHub;
  readonly limits: Pick<Limits, 'bodyBytes'>;
}

const LIST_FORMS: ReadonlySet<Form> = new Set(['json', 'yaml', 'table', 'metadata', 'metadata-list']);
const WATCH_FORMS: ReadonlySet<Form> = new Set(['json', 'table', 'metadata', 'metadata-list']);

export function createResourceServer({ clock, choose, watches, limits }: ResourceServerOptions): ResourceServer {
  const encoder = createEventEncoder({ now: () => clock.now() });

  const answer = (
    exchange: Exchange,
    code: number,
    at: At,
    stored: Parameters<typeof sendObject>[2]['stored'],
    query: Query,
  ) => sendObject(exchange, code, { at, stored, query, choose, now: clock.now() });

  const serveWatch = (exchange: Exchange, request: ResourceRequest, at: At): void | Promise<void> => {
    const { served, query, where, account } = request;
    const { timeoutSeconds, ...asked } = watchOptions(query);
    // The deprecated form of a watch may name one object.
    const fields = where.isWatch && where.name !== undefined ? { fields: `metadata.name=${where.name}` } : {};
    const { form, version } = choose(exchange.request.headers.accept, WATCH_FORMS);
    const include = form === 'table' ? includeObject(query) : 'Metadata';
    account.openWatch();
    const open = (feed: WatchFeed) => {
      if (exchange.response.destroyed) return account.closeWatch(); // the client disconnected before the watch started
      const shape = eventShape({
        at,
        form: form === 'table' ? 'table' : form === 'json' ? 'json' : 'metadata',
        version,
        include,
      });
      const sendsBookmarks = asked.bookmarks === true;
      watches.open(exchange, { feed, shape, encoder, account, sendsBookmarks, timeoutSeconds });
    };
    const refuse = (error: unknown) => {
      account.closeWatch();
      if (!isExpired(error)) throw error;
      sendExpiredWatch(exchange, error);
    };
    try {
      const feed = served.verbs.watch(served.cluster, at, { ...asked, ...fields });
      return feed instanceof Promise ? feed.then(open).catch(refuse) : open(feed);
    } catch (error) {
      return refuse(error);
    }
  };

  const serveRead = (exchange: Exchange, request: ResourceRequest, at: At): void | Promise<void> => {
    const { served, query, verb } = request;
    if (verb === 'get') return answer(exchange, 200, at, served.verbs.get(served.cluster, at), query);
    if (verb === 'watch') return serveWatch(exchange, request, at);
    const representation = choose(exchange.request.headers.accept, LIST_FORMS);
    const include = representation.form === 'table' ? includeObject(query) : 'Metadata';
    const listed = served.verbs.list(served.cluster, at, listOptions(query));
    const send = (found: Listed) =>
      sendList(exchange, { at, listed: found, representation, include, now: clock.now() });
    return listed instanceof Promise ? listed.then(send) : send(listed);
  };

  const serveWrite = async (exchange: Exchange, request: ResourceRequest, asked: At): Promise<void> => {
    const { served, query, verb, user, where } = request;
    const { cluster, verbs } = served;
    const { headers } = exchange.request;
    // A client that accepts none of our media types is rejected before anything is written.
    if (verb === 'deletecollection') choose(headers.accept, LIST_FORMS);
    else singleForm(exchange, { at: asked, query, choose });
    /** Kinds may change while a client is still sending: the kinds served at the end of the body count. */
    const received = async () => {
      const bytes = await readBody(exchange.request, limits.bodyBytes);
      const found = cluster.registry.find(where.group, where.version, where.plural);
      if (!found) throw noSuchResource();
      return { bytes, at: found.resource === asked.resource ? asked : locate({ ...request, found }) };
    };
    const caller = (options: WriteOptions): Caller => ({
      ...options,
      tracksFields: true,
      user,
      warn: (text) => exchange.warnings.add(text),
    });
    if (verb === 'patch') {
      const type = patchType(headers['content-type'], asked.resource.custom !== undefined);
      const force = patchForce(query, type);
      const by = caller(writeOptions(query, 'PatchOptions', headers['user-agent']));
      const { bytes, at } = await received();
      const [body, told] = withRepeated(by, (onRepeated) => decodePatch(bytes, type, onRepeated));
      const written = await verbs.patch(cluster, at, { type, body, ...(force === undefined ? {} : { force }) }, told);
      return answer(exchange, written.created ? 201 : 200, at, written.stored, query);
    }
    const format = bodyFormat(headers['content-type']);
    const kind = kindOf(asked);
    if (verb === 'create') {
      const by = caller(writeOptions(query, 'CreateOptions', headers['user-agent']));
      const { bytes, at } = await received();
      const [body, told] = withRepeated(by, (onRepeated) => decodeObject(bytes, format, kind, onRepeated));
      const written = await verbs.create(cluster, at, body, told);
      return answer(exchange, 201, at, written.stored, query);
    }
    if (verb === 'update') {
      const by = caller(writeOptions(query, 'UpdateOptions', headers['user-agent']));
      const { bytes, at } = await received();
      const [body, told] = withRepeated(by, (onRepeated) => decodeObject(bytes, format, kind, onRepeated));
      const written = await verbs.update(cluster, at, body, told);
      return answer(exchange, written.created ? 201 : 200, at, written.stored, query);
    }
    const { bytes, at } = await received();
    const deletion = deletionOf(query, bytes.length === 0 ? undefined : decodeOptions(bytes, format));
    const by = caller({
      manager: managerOf(headers['user-agent']),
      dryRun: deletion.dryRun,
      fieldValidation: 'Ignore',
    });
    if (verb === 'deletecollection') {
      const items = await verbs.deleteCollection(cluster, at, { ...listOptions(query), ...deletion.options }, by);
      const representation = choose(headers.accept, LIST_FORMS);
      const listed = { items, revision: cluster.store.visible };
      return sendList(exchange, { at, listed, representation, include: includeObject(query), now: clock.now() });
    }
    const { stored, gone, returnsObject } = await verbs.remove(cluster, at, deletion.options, by);
    const code = !gone && deletion.orphansExplicitlyNot ? 202 : 200;
    if (!gone || returnsObject) return answer(exchange, code, at, stored, query);
    return sendJson(exchange, code, deletedStatus(at, stored.object().metadata.uid));
  };

  /**
   * Otherwise many large bodies of one user that are complete at the same time would block all other requests until the
   * last one is processed.
   */
  const serveInTurn = async (exchange: Exchange, request: ResourceRequest, asked: At): Promise<void> => {
    const endTurn = await request.account.takeTurn();
    try {
      if (exchange.request.destroyed) throw new AbortError('the client went away before its turn');
      await serveWrite(exchange, request, asked);
    } finally {
      endTurn();
    }
  };

  return {
    serve(exchange, request) {
      const at = locate(request);
      const { deprecationWarning } = at.version;
      if (deprecationWarning !== undefined) exchange.warnings.add(deprecationWarning);
      if (READS.has(request.verb)) return serveRead(exchange, request, at);
      return isLarge(exchange.request) ? serveInTurn(exchange, request, at) : serveWrite(exchange, request, at);
    },
  };
}

/** Decodes a body and finds its duplicate fields, which are searched only if the client requests validation. */
function withRepeated<T>(by: Caller, decode: (onRepeated?: OnRepeated) => T): readonly [T, Caller] {
  if (by.fieldValidation === 'Ignore') return [decode(), by];
  let repeatedFields: readonly string[] | undefined;
  const body = decode((paths) => {
    repeatedFields = paths;
  });
  return [body, repeatedFields === undefined ? by : { ...by, repeatedFields }];
}

/** A body of unknown length counts as large. */
export const LARGE_BYTES = 64 * 1024;
const isLarge = ({ headers }: Exchange['request']): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > LARGE_BYTES;

const READS: ReadonlySet<string> = new Set(['get', 'list', 'watch']);

/** The object at the path, if the verb is allowed on it. */
function locate({ found, where, verb }: ResourceRequest): At {
  const { resource, version } = found;
  const { name, subresource } = where;
  const isNamespaceItself = resource.group === '' && resource.plural === 'namespaces';
  const namespace = isNamespaceItself ? '' : where.namespace;
  checkOffered(resource, { namespace, name, subresource }, verb);
  if (subresource !== undefined && (where.hasRest || where.isWatch)) throw noSuchResource();
  return {
    resource,
    version,
    namespace,
    ...(name === undefined || where.isWatch ? {} : { name }),
    ...(subresource === undefined ? {} : { subresource }),
  };
}

/** The expected kind of the body, for error messages. */
function kindOf({ resource, subresource }: At): string {
  if (subresource === undefined || subresource === 'status') return resource.kind;
  if (subresource === 'scale') return 'Scale';
  return resource.subresources.find((each) => each.name === subresource)?.kind ?? resource.kind;
}

const deletedStatus = ({ resource, name }: At, uid: string | undefined) => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Success',
  details: {
    name,
    ...(resource.group === '' ? {} : { group: resource.group }),
    kind: resource.plural,
    ...(uid === undefined ? {} : { uid }),
  },
});
