// Builds the HTTP request of a call: method, path, query, headers, body.
import { apiVersionOf } from '../api/object.ts';
import { badRequest, methodNotAllowed } from '../api/status.ts';
import type { Request, Target, View, WatchRequest } from '../api/transport.ts';

export interface Outgoing {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly accept: string;
  readonly contentType?: string;
  readonly body?: string;
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

/** A field that the server does not know is our mistake and must not be dropped silently. */
const STRICT = { fieldValidation: 'Strict' } as const;

export function outgoingFor(request: Request): Outgoing {
  if (NEEDS_NAME.has(request.verb)) checkName(request.at.name);
  const path = pathOf(request.verb === 'list' ? collectionOf(request.at) : request.at);
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
        path: withQuery(path, { fieldManager: request.manager, ...STRICT, dryRun }),
        accept: ACCEPT.object,
        contentType: 'application/json',
        body: JSON.stringify(request.object),
      };
    case 'patch': {
      const { type, body, force } = request.patch;
      return {
        method: 'PATCH',
        path: withQuery(path, { fieldManager: request.manager, ...STRICT, dryRun, force }),
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
        // In the body: if there is one, servers ignore the query, and a dry run would become a deletion.
        dryRun: dryRun === undefined ? undefined : [dryRun],
      };
      return {
        method: 'DELETE',
        path,
        accept: ACCEPT.object,
        contentType: 'application/json',
        body: JSON.stringify(options),
      };
    }
  }
}

export function outgoingForWatch(request: WatchRequest): Outgoing {
  const query = {
    watch: true,
    labelSelector: request.labels,
    fieldSelector: request.fields,
    resourceVersion: request.revision,
    allowWatchBookmarks: request.bookmarks,
    timeoutSeconds: request.timeoutSeconds,
  };
  return {
    method: 'GET',
    path: withQuery(pathOf(collectionOf(request.at)), query),
    accept: ACCEPT[request.view ?? 'object'],
  };
}

const NEEDS_NAME: ReadonlySet<Request['verb']> = new Set(['get', 'update', 'patch', 'delete']);

/** Without a name the path would be that of the collection: a get would list, and a delete would delete everything. */
function checkName(name: string | undefined): void {
  if (!name) throw methodNotAllowed('the server does not allow this method on the requested resource');
  if (name === '.' || name === '..') throw badRequest(`Name parameter invalid: "${name}": may not be '${name}'`);
}

const collectionOf = ({ resource, namespace }: Target): Target => ({
  resource,
  ...(namespace === undefined ? {} : { namespace }),
});

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
