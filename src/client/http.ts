// The Transport over the wire: any Kubernetes API server, embedded or real. One keep-alive pool per transport.
import http from 'node:http';
import https from 'node:https';
import { apiVersionOf, type KubeList, type KubeObject } from '../api/object.ts';
import type { Answer, Request, Target, Transport, View, WatchEvent, WatchRequest } from '../api/transport.ts';
import { AbortError, ApiError, LostError, messageOf } from '../base/errors.ts';
import { deepFreeze, isObject, type Json } from '../base/json.ts';
import type { Connection } from './kubeconfig.ts';

export interface HttpTransport extends Transport {
  /** GET of any path, for discovery. */
  read(path: string, accept?: string): Promise<Json>;
  /** Ends idle connections. */
  close(): void;
}

const ACCEPT: Readonly<Record<View, string>> = {
  object: 'application/json',
  metadata: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
  table: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json',
};
const ACCEPT_METADATA_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

const PATCH_TYPES = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

interface Outgoing {
  readonly method: string;
  readonly path: string;
  readonly accept: string;
  readonly contentType?: string;
  readonly body?: string;
}

export function httpTransport(connection: Connection): HttpTransport {
  const isSecure = connection.server.startsWith('https:');
  const agent = isSecure ? new https.Agent(tlsOptions(connection)) : new http.Agent({ keepAlive: true });
  const send = (outgoing: Outgoing, signal?: AbortSignal) => open(connection, agent, outgoing, signal);
  return {
    async call(request, signal) {
      const response = await send(outgoingFor(request), signal);
      const body = await wholeBody(response, signal);
      const value = parsed(response, body);
      return deepFreeze(answerFrom(request, value, warningsOf(response)));
    },
    async *watch(request, signal) {
      const response = await send(outgoingForWatch(request), signal);
      if ((response.statusCode ?? 0) >= 400) throw errorFrom(response, await wholeBody(response, signal));
      yield* eventsOf(response, signal);
    },
    async read(path, accept = 'application/json') {
      const response = await send({ method: 'GET', path, accept });
      return parsed(response, await wholeBody(response));
    },
    close: () => agent.destroy(),
  };
}

function tlsOptions(connection: Connection): https.AgentOptions {
  return {
    keepAlive: true,
    rejectUnauthorized: !connection.insecure,
    ...(connection.ca === undefined ? {} : { ca: connection.ca }),
    ...(connection.certificate === undefined ? {} : { cert: connection.certificate }),
    ...(connection.key === undefined ? {} : { key: connection.key }),
    ...(connection.serverName === undefined ? {} : { servername: connection.serverName }),
  };
}

function open(
  connection: Connection,
  agent: http.Agent | https.Agent,
  outgoing: Outgoing,
  signal: AbortSignal | undefined,
): Promise<http.IncomingMessage> {
  const url = new URL(connection.server + outgoing.path);
  const headers: http.OutgoingHttpHeaders = {
    accept: outgoing.accept,
    'user-agent': 'flotilla',
    ...(outgoing.contentType === undefined ? {} : { 'content-type': outgoing.contentType }),
    ...(outgoing.body === undefined ? {} : { 'content-length': Buffer.byteLength(outgoing.body) }),
    ...(connection.token === undefined ? {} : { authorization: `Bearer ${connection.token}` }),
    ...(connection.impersonate === undefined ? {} : { 'impersonate-user': connection.impersonate }),
    ...(connection.impersonateGroups.length === 0 ? {} : { 'impersonate-group': [...connection.impersonateGroups] }),
  };
  const request = (url.protocol === 'https:' ? https : http).request(url, {
    method: outgoing.method,
    agent,
    headers,
    ...(signal === undefined ? {} : { signal }),
  });
  return new Promise((resolve, reject) => {
    request.on('response', resolve);
    request.on('error', (cause) => reject(lostOrAborted(cause, signal, outgoing)));
    request.end(outgoing.body);
  });
}

function lostOrAborted(cause: unknown, signal: AbortSignal | undefined, { method, path }: Outgoing): Error {
  if (signal?.aborted) return new AbortError('the call was given up', { cause });
  return new LostError(`no answer to ${method} ${path}: ${messageOf(cause)}`, { cause });
}

// ---- requests

function pathOf({ resource, namespace, name, subresource }: Target): string {
  const root = resource.group === '' ? '/api' : '/apis';
  const parts = [root, apiVersionOf(resource.group, resource.version)];
  if (namespace) parts.push('namespaces', encodeURIComponent(namespace));
  parts.push(resource.plural);
  if (name !== undefined) parts.push(encodeURIComponent(name));
  if (subresource !== undefined) parts.push(subresource);
  return parts.join('/');
}

function withQuery(path: string, query: Readonly<Record<string, string | number | boolean | undefined>>): string {
  const parameters = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) if (value !== undefined) parameters.set(key, String(value));
  const text = parameters.toString();
  return text === '' ? path : `${path}?${text}`;
}

function outgoingFor(request: Request): Outgoing {
  const path = pathOf(request.at);
  const dryRun = 'dryRun' in request && request.dryRun ? 'All' : undefined;
  switch (request.verb) {
    case 'get':
      return { method: 'GET', path, accept: ACCEPT[request.view ?? 'object'] };
    case 'list': {
      const { labels, fields, limit, revision } = request;
      const query = {
        labelSelector: labels,
        fieldSelector: fields,
        limit,
        continue: request.continue,
        resourceVersion: revision,
      };
      const accept = request.view === 'metadata' ? ACCEPT_METADATA_LIST : ACCEPT[request.view ?? 'object'];
      return { method: 'GET', path: withQuery(path, query), accept };
    }
    case 'create':
    case 'update':
      return {
        method: request.verb === 'create' ? 'POST' : 'PUT',
        path: withQuery(path, { fieldManager: request.manager, fieldValidation: 'Strict', dryRun }),
        accept: ACCEPT.object,
        contentType: 'application/json',
        body: JSON.stringify(request.object),
      };
    case 'patch': {
      const { type, body, force } = request.patch;
      return {
        method: 'PATCH',
        path: withQuery(path, { fieldManager: request.manager, dryRun, force }),
        accept: ACCEPT.object,
        contentType: PATCH_TYPES[type],
        body: JSON.stringify(body),
      };
    }
    case 'delete': {
      const { uid, revision, propagation, graceSeconds } = request;
      const preconditions = { uid, resourceVersion: revision };
      const options = {
        apiVersion: 'v1',
        kind: 'DeleteOptions',
        ...(uid === undefined && revision === undefined ? {} : { preconditions }),
        propagationPolicy: propagation,
        gracePeriodSeconds: graceSeconds,
      };
      return {
        method: 'DELETE',
        path: withQuery(path, { dryRun }),
        accept: ACCEPT.object,
        contentType: 'application/json',
        body: JSON.stringify(options),
      };
    }
  }
}

function outgoingForWatch(request: WatchRequest): Outgoing {
  const query = {
    watch: true,
    labelSelector: request.labels,
    fieldSelector: request.fields,
    resourceVersion: request.revision,
    allowWatchBookmarks: request.bookmarks,
    timeoutSeconds: request.timeoutSeconds,
  };
  return { method: 'GET', path: withQuery(pathOf(request.at), query), accept: ACCEPT[request.view ?? 'object'] };
}

// ---- answers

async function wholeBody(response: http.IncomingMessage, signal?: AbortSignal): Promise<string> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of response) chunks.push(chunk as Buffer);
  } catch (cause) {
    throw signal?.aborted
      ? new AbortError('the call was given up', { cause })
      : new LostError('the answer broke off', { cause });
  }
  return Buffer.concat(chunks).toString();
}

function parsed(response: http.IncomingMessage, body: string): Json {
  if ((response.statusCode ?? 0) >= 400) throw errorFrom(response, body);
  try {
    return JSON.parse(body) as Json;
  } catch (cause) {
    throw new LostError('the answer is not JSON', { cause });
  }
}

function errorFrom(response: http.IncomingMessage, body: string): ApiError {
  const code = response.statusCode ?? 0;
  try {
    return statusError(JSON.parse(body) as unknown, code);
  } catch {
    // Some paths answer in plain text, and so does whatever stands in front of a server.
    return new ApiError(code, '', body.trim() || (response.statusMessage ?? ''));
  }
}

function statusError(value: unknown, code: number): ApiError {
  const status = isObject(value) ? value : {};
  const { reason, message, details } = status as { reason?: string; message?: string; details?: ApiError['details'] };
  return new ApiError(typeof status['code'] === 'number' ? status['code'] : code, reason ?? '', message ?? '', details);
}

function answerFrom(request: Request, value: Json, warnings: readonly string[]): Answer {
  if (request.verb === 'list' && request.view !== 'table')
    return { list: withKinds(value as unknown as KubeList), warnings };
  return { object: value as unknown as KubeObject, warnings };
}

/** Items of a list of a built-in kind come without their own kind; readers of ours never have to guess it. */
function withKinds(list: KubeList): KubeList {
  const kind = list.kind.replace(/List$/, '');
  const { apiVersion } = list;
  return { ...list, items: (list.items ?? []).map((item) => (item.kind ? item : { ...item, apiVersion, kind })) };
}

function warningsOf(response: http.IncomingMessage): readonly string[] {
  const header = response.headers['warning'];
  if (typeof header !== 'string') return [];
  return [...header.matchAll(/\d{3} \S+ "((?:[^"\\]|\\.)*)"/g)].map((match) =>
    (match[1] ?? '').replace(/\\(.)/g, '$1'),
  );
}

async function* eventsOf(response: http.IncomingMessage, signal: AbortSignal): AsyncIterable<readonly WatchEvent[]> {
  let rest = '';
  response.setEncoding('utf8');
  try {
    for await (const chunk of response) {
      const lines = (rest + (chunk as string)).split('\n');
      rest = lines.pop() as string;
      const events = lines.filter((line) => line !== '').map(eventFrom);
      if (events.length > 0) yield deepFreeze(events);
    }
  } catch (cause) {
    if (cause instanceof ApiError) throw cause;
    if (signal.aborted) return;
    throw new LostError('the watch broke off', { cause });
  } finally {
    response.destroy();
  }
}

function eventFrom(line: string): WatchEvent {
  const event = JSON.parse(line) as { type: string; object: KubeObject };
  if (event.type === 'ERROR') throw statusError(event.object, 500);
  return event as WatchEvent;
}
