// Typed verbs over any Transport: requests and responses have the spec and status types of their kind.
import type { Kind, Resource } from '../api/kind.ts';
import type { KubeList, KubeObject } from '../api/object.ts';
import type { Answer, PatchType, Propagation, Request, SubresourceName, Target, Transport } from '../api/transport.ts';
import { ApiError, InvariantError } from '../base/errors.ts';
import type { Json } from '../base/json.ts';

/** The objects of a resource: typed for our kinds, plain for others. */
export type ObjectOf<R extends Resource> =
  R extends Kind<infer Spec, infer Status> ? KubeObject<Spec, Status> : KubeObject;

/** The address of an object. */
export interface At {
  readonly name: string;
  readonly namespace?: string;
  readonly subresource?: SubresourceName;
}

export interface ListQuery {
  readonly namespace?: string;
  readonly labels?: string;
  readonly fields?: string;
  readonly revision?: string;
  /** Objects per page. */
  readonly limit?: number;
  readonly view?: 'object' | 'metadata';
}

export interface WatchQuery extends Omit<ListQuery, 'limit'> {
  readonly bookmarks?: boolean;
  readonly timeoutSeconds?: number;
}

export interface TypedEvent<R extends Resource> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  /** A bookmark has only a resourceVersion. */
  readonly object: ObjectOf<R>;
}

export interface WriteOptions {
  readonly dryRun?: true;
  readonly signal?: AbortSignal;
}

export interface DeleteOptions extends WriteOptions {
  readonly uid?: string;
  readonly revision?: string;
  readonly propagation?: Propagation;
  readonly graceSeconds?: number;
}

export interface Client {
  get<R extends Resource>(resource: R, at: At, signal?: AbortSignal): Promise<ObjectOf<R>>;
  /** undefined = it does not exist. */
  find<R extends Resource>(resource: R, at: At, signal?: AbortSignal): Promise<ObjectOf<R> | undefined>;
  /** All pages as one list, of a single revision. */
  list<R extends Resource>(resource: R, query?: ListQuery, signal?: AbortSignal): Promise<KubeList<ObjectOf<R>>>;
  /** Page by page. Throws ApiError 410 if the server has compacted the revision of the first page. */
  pages<R extends Resource>(resource: R, query?: ListQuery, signal?: AbortSignal): AsyncIterable<KubeList<ObjectOf<R>>>;
  create<R extends Resource>(
    resource: R,
    object: ObjectOf<R>,
    options?: WriteOptions & { readonly subresource?: SubresourceName },
  ): Promise<ObjectOf<R>>;
  update<R extends Resource>(
    resource: R,
    object: ObjectOf<R>,
    options?: WriteOptions & { readonly subresource?: SubresourceName },
  ): Promise<ObjectOf<R>>;
  patch<R extends Resource>(
    resource: R,
    at: At,
    patch: { readonly type: PatchType; readonly body: Json; readonly force?: boolean },
    options?: WriteOptions,
  ): Promise<ObjectOf<R>>;
  /** The remaining object while finalizers or a grace period keep it; undefined = it is deleted. */
  delete<R extends Resource>(resource: R, at: At, options?: DeleteOptions): Promise<ObjectOf<R> | undefined>;
  watch<R extends Resource>(
    resource: R,
    query: WatchQuery,
    signal: AbortSignal,
  ): AsyncIterable<readonly TypedEvent<R>[]>;
}

/** A page of usual objects has about a megabyte. */
const PAGE = 500;

/** `manager` becomes the field manager of writes. */
export function createClient(transport: Transport, manager: string): Client {
  const one = async <R extends Resource>(request: Request, signal?: AbortSignal): Promise<ObjectOf<R>> =>
    objectIn(await transport.call(request, signal)) as ObjectOf<R>;

  async function* pages<R extends Resource>(
    resource: R,
    query: ListQuery = {},
    signal?: AbortSignal,
  ): AsyncIterable<KubeList<ObjectOf<R>>> {
    const { namespace, limit = PAGE, ...rest } = query;
    let token: string | undefined;
    do {
      const from = token === undefined ? rest : { ...without(rest, 'revision'), continue: token };
      const page = listIn(
        await transport.call({ verb: 'list', at: targetOf(resource, { namespace }), limit, ...from }, signal),
      );
      yield page as KubeList<ObjectOf<R>>;
      token = page.metadata.continue || undefined;
    } while (token !== undefined);
  }

  return {
    get: (resource, at, signal) => one({ verb: 'get', at: targetOf(resource, at) }, signal),
    async find<R extends Resource>(resource: R, at: At, signal?: AbortSignal) {
      try {
        return await one<R>({ verb: 'get', at: targetOf(resource, at) }, signal);
      } catch (error) {
        if (error instanceof ApiError && error.code === 404) return undefined;
        throw error;
      }
    },
    pages,
    async list<R extends Resource>(resource: R, query: ListQuery = {}, signal?: AbortSignal) {
      const read: KubeList<ObjectOf<R>>[] = [];
      try {
        for await (const page of pages(resource, query, signal)) read.push(page);
      } catch (error) {
        // The revision expired during paging: a list without a limit cannot expire.
        if (!(error instanceof ApiError && error.code === 410 && read.length > 0)) throw error;
        const { namespace, limit: _, ...rest } = query;
        const answer = await transport.call({ verb: 'list', at: targetOf(resource, { namespace }), ...rest }, signal);
        return listIn(answer) as KubeList<ObjectOf<R>>;
      }
      return joined(read);
    },
    create: (resource, object, { signal, subresource, dryRun } = {}) =>
      one(
        {
          verb: 'create',
          at: targetOf(resource, {
            namespace: object.metadata.namespace,
            subresource,
            // The path contains the name only for a subresource.
            ...(subresource === undefined ? {} : { name: object.metadata.name }),
          }),
          object,
          manager,
          ...rehearsed(dryRun),
        },
        signal,
      ),
    update: (resource, object, { signal, subresource, dryRun } = {}) =>
      one(
        {
          verb: 'update',
          at: targetOf(resource, { namespace: object.metadata.namespace, name: object.metadata.name, subresource }),
          object,
          manager,
          ...rehearsed(dryRun),
        },
        signal,
      ),
    patch: (resource, at, patch, { signal, dryRun } = {}) =>
      one({ verb: 'patch', at: targetOf(resource, at), patch, manager, ...rehearsed(dryRun) }, signal),
    async delete<R extends Resource>(resource: R, at: At, { signal, ...options }: DeleteOptions = {}) {
      const { object } = await transport.call({ verb: 'delete', at: targetOf(resource, at), ...options }, signal);
      return object as ObjectOf<R> | undefined;
    },
    watch: <R extends Resource>(resource: R, { namespace, ...rest }: WatchQuery, signal: AbortSignal) =>
      transport.watch({ at: targetOf(resource, { namespace }), ...rest }, signal) as AsyncIterable<
        readonly TypedEvent<R>[]
      >,
  };
}

const rehearsed = (dryRun: true | undefined): { readonly dryRun?: true } => (dryRun ? { dryRun } : {});

type Place = { readonly [Key in keyof At]?: At[Key] | undefined };

const targetOf = (resource: Resource, { namespace, name, subresource }: Place): Target => ({
  resource,
  ...(namespace === undefined ? {} : { namespace }),
  ...(name === undefined ? {} : { name }),
  ...(subresource === undefined ? {} : { subresource }),
});

function without<T extends object, Key extends keyof T>(value: T, key: Key): Omit<T, Key> {
  const { [key]: _, ...rest } = value;
  return rest;
}

function joined<Item extends KubeObject>(pages: readonly KubeList<Item>[]): KubeList<Item> {
  const [first] = pages;
  if (first === undefined) throw new InvariantError('a list has at least one page');
  if (pages.length === 1) return first;
  const { resourceVersion } = first.metadata;
  return Object.freeze({
    ...first,
    metadata: Object.freeze({ resourceVersion }),
    items: Object.freeze(pages.flatMap((page) => page.items)),
  });
}

function objectIn({ object }: Answer): KubeObject {
  if (object === undefined) throw new InvariantError('the server answered without an object');
  return object;
}

function listIn({ list }: Answer): KubeList {
  if (list === undefined) throw new InvariantError('the server answered without a list');
  return list;
}
