// Handles a request: parses the path, authenticates, authorizes, and calls the verb. Only reading and responding is
// here; the verbs do the work.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { User } from '../../api/object.ts';
import { badRequest, methodNotAllowed, noSuchResource, unauthorized } from '../../api/status.ts';
import type { Clock } from '../../base/clock.ts';
import { AbortError, ApiError } from '../../base/errors.ts';
import type { Random } from '../../base/random.ts';
import { clientCertificateOf } from '../auth/client-certificate.ts';
import { impersonate } from '../auth/impersonation.ts';
import { forbiddenError } from '../auth/rbac.ts';
import type { Attributes } from '../cluster.ts';
import { type Account, type AccountOptions, createAccounts } from './accounts.ts';
import { createDiscovery } from './discovery.ts';
import type { HttpCluster } from './http-cluster.ts';
import type { Limits } from './limits.ts';
import { createMetrics, type RequestFacts } from './metrics.ts';
import { negotiator } from './negotiate.ts';
import { servePlain } from './nonresource.ts';
import { createOpenApi } from './openapi.ts';
import { isWatchAsked, type Query, queryOf } from './options.ts';
import { nameFault, pathCache, type RequestPath, type ResourcePath, verbOf } from './request-info.ts';
import { createResourceServer } from './resource-server.ts';
import { asApiError, type Exchange, sendError, sendNoSuchPage } from './respond.ts';
import { createWatchHub } from './watch-stream.ts';

export interface HandlerOptions {
  /** '' = the cluster at the root. */
  clusters(name: string): HttpCluster | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly limits: Limits;
  /** Plain http: every client is this user. */
  readonly everybody?: User;
  /** Called for internal errors, not for errors of the client. */
  readonly onFailure?: (error: unknown, request: { readonly method: string; readonly path: string }) => void;
  /** Called when an identity reaches one of its limits. */
  readonly onLimit?: AccountOptions['onLimit'];
}

export interface Handler {
  handle(request: IncomingMessage, response: ServerResponse): void;
  /** Ends all watches; later responses close their connections. */
  windDown(): void;
  readonly inFlight: number;
  readonly watchers: number;
}

/** Answered immediately and without a body, so they need no limit. */
const HEALTH_CHECK = /^\/(healthz|livez|readyz)(\/|$)/;

/** Maximum of pipelined requests on one connection. Known clients send none. */
const MAX_WAITING = 64;

export function createHandler(options: HandlerOptions): Handler {
  const { clock, random, limits, everybody } = options;
  const pathOf = pathCache();
  const choose = negotiator();
  const watches = createWatchHub({ clock, random, limits });
  const discovery = createDiscovery();
  const openApi = createOpenApi();
  const resources = createResourceServer({ clock, choose, watches, limits });
  const accounts = createAccounts({ limits, clock, ...(options.onLimit ? { onLimit: options.onLimit } : {}) });
  const metrics = createMetrics({
    inFlight: () => inFlight,
    watchers: () => watches.size,
    limited: () => accounts.refused,
  });
  let inFlight = 0;
  let isWindingDown = false;

  /** The user, and the account that the request counts for: with impersonation it is that of the original user. */
  const identify = (served: HttpCluster, { request }: Exchange, note: Note, isHealthCheck = false): User => {
    const { headers, socket } = request;
    const certificate = !everybody && socket instanceof TLSSocket ? clientCertificateOf(socket) : undefined;
    const { authorization } = headers;
    const known =
      everybody ??
      served.authenticate({
        ...(certificate === undefined ? {} : { certificate }),
        ...(authorization === undefined ? {} : { authorization }),
      });
    if (known instanceof ApiError) throw known;
    note.account = accounts.enter(known, isHealthCheck);
    if (!isImpersonating(headers)) return known;
    const other = impersonate(known, request.headersDistinct, served.cluster.authorizer);
    if (other instanceof ApiError) throw other;
    return other;
  };

  /**
   * Only clients with a credential can find out which clusters exist; for others every name looks like a cluster that
   * rejects them.
   */
  const checkNamed = (served: HttpCluster | undefined, { headers, socket }: IncomingMessage) => {
    if (everybody || (socket instanceof TLSSocket && clientCertificateOf(socket) !== undefined)) return;
    const { authorization } = headers;
    if (authorization === undefined) throw unauthorized();
    if (served) return;
    const known = options.clusters('')?.authenticate({ authorization }) ?? unauthorized();
    if (known instanceof ApiError) throw known;
  };

  const authorize = (served: HttpCluster, user: User, what: Attributes) => {
    const verdict = served.cluster.authorizer.allows(user, what);
    if (!verdict.allowed) throw forbiddenError(user, what, verdict.reason);
  };

  const serveResource = (exchange: Exchange, served: HttpCluster, where: ResourcePath, query: Query, note: Note) => {
    const user = identify(served, exchange, note);
    const { method } = exchange.request;
    const verb = verbOf(method, where, isWatchAsked(query));
    note.verb = verb ?? 'OTHER';
    authorize(served, user, attributesOf(where, verb ?? (method ?? '').toLowerCase(), query));
    const found = served.cluster.registry.find(where.group, where.version, where.plural);
    if (!found) {
      if (!isBuiltinGroup(served, where.group)) return sendNoSuchPage(exchange);
      throw noSuchResource();
    }
    if (verb === undefined || method === 'HEAD') {
      throw methodNotAllowed('the server does not allow this method on the requested resource');
    }
    const fault = where.name === undefined ? undefined : nameFault(where.name);
    if (fault !== undefined) throw badRequest(fault);
    // From here on an unknown subresource returns 404, and metrics must not record its name.
    note.resource = where;
    return resources.serve(exchange, { served, found, where, verb, query, user, account: note.account as Account });
  };

  const servePath = (exchange: Exchange, served: HttpCluster, { path }: RequestPath, query: Query, note: Note) => {
    const isHealthCheck = HEALTH_CHECK.test(path);
    const user = identify(served, exchange, note, isHealthCheck);
    const method = exchange.request.method ?? '';
    authorize(served, user, { verb: method.toLowerCase(), path });
    if (method !== 'GET' && method !== 'HEAD' && !isHealthCheck) {
      throw methodNotAllowed('the server does not allow this method on the requested resource');
    }
    const { registry } = served.cluster;
    if (discovery.serve(exchange, registry, path, choose)) return undefined;
    if (openApi.serve(exchange, registry, path, query, clock.now())) return undefined;
    const answered = servePlain(exchange, { served, path, query, metrics, choose });
    if (answered === false) {
      const group = path.startsWith('/api/') ? '' : /^\/apis\/([^/]+)\//.exec(path)?.[1];
      if (group !== undefined && isBuiltinGroup(served, group)) throw noSuchResource();
      return sendNoSuchPage(exchange);
    }
    if (answered === true) return undefined;
    return answered.then((isAnswered) => (isAnswered ? undefined : sendNoSuchPage(exchange)));
  };

  const route = (exchange: Exchange, note: Note): void | Promise<void> => {
    const url = exchange.request.url ?? '/';
    const mark = url.indexOf('?');
    const where = pathOf(mark < 0 ? url : url.slice(0, mark));
    note.path = where.path;
    const query = queryOf(mark < 0 ? '' : url.slice(mark + 1));
    const served = options.clusters(where.cluster);
    if (where.cluster !== '') checkNamed(served, exchange.request);
    if (!served) return sendNoSuchPage(exchange);
    if (where.resource) return serveResource(exchange, served, where.resource, query, note);
    return servePath(exchange, served, where, query, note);
  };

  const fail = (exchange: Exchange, note: Note, thrown: unknown) => {
    if (thrown instanceof AbortError) return;
    const error = asApiError(thrown);
    if (error.code >= 500 && !(thrown instanceof ApiError)) {
      options.onFailure?.(thrown, { method: exchange.request.method ?? '', path: note.path });
    }
    const { request, response } = exchange;
    const isStillSent = error.code === 413 && !request.complete;
    try {
      sendError(exchange, error, { staysOpen: isStillSent });
    } catch {
      // The response has begun, or cannot be encoded: destroy it, so that the client does not take a part for the
      // whole.
      response.destroy();
      return;
    }
    if (isStillSent) discardRest(request, response, limits.bodyBytes);
  };

  const waiting = new WeakMap<Socket, number>();
  /**
   * A pipelined request waits for the response before it, as its client expects: a GET after a POST sees the POST's
   * write.
   */
  const handleInTurn = (request: IncomingMessage, response: ServerResponse) => {
    if (response.socket) return handle(request, response);
    const { socket } = request;
    const count = (waiting.get(socket) ?? 0) + 1;
    if (count > MAX_WAITING) return socket.destroy();
    waiting.set(socket, count);
    response.once('socket', () => {
      waiting.set(socket, (waiting.get(socket) ?? 1) - 1);
      handle(request, response);
    });
  };

  const handle = (request: IncomingMessage, response: ServerResponse) => {
    const startedAt = clock.now();
    const exchange: Exchange = {
      request,
      response,
      auditId: random.uuid(),
      warnings: new Set(),
      isLast: isWindingDown,
    };
    const note: Note = { path: '', verb: request.method ?? '', resource: undefined, account: undefined };
    const done = () => {
      inFlight--;
      if (note.account !== undefined) leave(note.account, response);
      metrics.observe(factsOf(note, response.statusCode), clock.now() - startedAt);
    };
    inFlight++;
    try {
      const work = route(exchange, note);
      if (work === undefined) return done();
      work.then(done, (error: unknown) => {
        fail(exchange, note, error);
        done();
      });
    } catch (error) {
      fail(exchange, note, error);
      done();
    }
  };

  return {
    get inFlight() {
      return inFlight;
    },
    get watchers() {
      return watches.size;
    },
    handle: handleInTurn,
    windDown() {
      isWindingDown = true;
      watches.endAll();
    },
  };
}

/** The facts of a request for metrics and logs, filled in while it is handled. */
interface Note {
  path: string;
  verb: string;
  resource: ResourcePath | undefined;
  account: Account | undefined;
}

/**
 * A response that was not read completely counts for the account until it is read or aborted. Watches count separately.
 */
function leave(account: Account, response: ServerResponse): void {
  const unsent = response.writableEnded ? response.writableLength : 0;
  if (unsent > response.writableHighWaterMark && !response.destroyed) {
    account.addUnsent(unsent);
    response.once('close', () => account.addUnsent(-unsent));
  }
  account.leave();
}

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Strings from clients become metric labels only if they have few values. */
function factsOf({ verb, resource }: Note, code: number): RequestFacts {
  if (resource) {
    const { group, version, plural, subresource = '' } = resource;
    return { verb, group, version, resource: plural, subresource: code === 404 ? '' : subresource, code };
  }
  const known = METHODS.has(verb) || verb === verb.toLowerCase() ? verb : 'OTHER';
  return { verb: known, group: '', version: '', resource: '', subresource: '', code };
}

const isImpersonating = (headers: IncomingMessage['headers']): boolean => {
  for (const name in headers) if (name.startsWith('impersonate-')) return true;
  return false;
};

/**
 * The verbs that use a field selector: selecting one name counts as access to that name, so a role with that
 * resourceName is enough. Other verbs ignore the selector, so it must not give them a name.
 */
const SELECTING: ReadonlySet<string> = new Set(['list', 'watch', 'deletecollection']);

function attributesOf(where: ResourcePath, verb: string, query: Query): Attributes {
  const { group, plural, namespace, subresource } = where;
  const name = where.name ?? (SELECTING.has(verb) ? selectedName(query) : undefined);
  return {
    verb,
    group,
    resource: plural,
    ...(subresource === undefined ? {} : { subresource }),
    ...(namespace === '' ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
  };
}

function selectedName(query: Query): string | undefined {
  const selector = query.get('fieldSelector');
  return selector ? /(?:^|,)metadata\.name==?([^,=]+)(?:,|$)/.exec(selector)?.[1] : undefined;
}

/** For these groups a real server returns a Status for any path, for others a plain text. */
const isBuiltinGroup = ({ cluster }: HttpCluster, group: string): boolean =>
  cluster.registry.all().some((each) => each.group === group && !each.custom);

const MAX_DISCARDED = 64 * 1024 * 1024;

/**
 * Discards the rest of the body, then ends the response: a client that is cut off while it sends would never read the
 * error. A response that has ended closes the connection of a client without keep-alive.
 */
function discardRest(request: IncomingMessage, response: ServerResponse, bodyBytes: number): void {
  let left = Math.max(MAX_DISCARDED, bodyBytes);
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) request.socket.destroy();
  });
  request.once('close', () => response.end());
  request.resume();
}
