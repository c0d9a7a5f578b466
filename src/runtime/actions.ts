// Constructors for the actions of a decision.
import { type Kind, preferredVersion, type Resource } from '../api/kind.ts';
import { apiVersionOf, type KubeObject, type ObjectRef } from '../api/object.ts';
import type { Propagation } from '../api/transport.ts';
import type { Json } from '../base/json.ts';
import type { JsonOperation } from '../base/json-patch.ts';
import type { Action, Projected, Seen, ServerName, Source } from './controller.ts';

/** The precondition of a write to this item: its uid and resourceVersion. */
export const seen = <T extends Projected>(source: Source<T>, { metadata }: T): Seen => ({
  on: source.on,
  resource: source.resource,
  ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
  name: metadata.name ?? '',
  uid: metadata.uid ?? '',
  resourceVersion: metadata.resourceVersion ?? '',
});

export const create = (on: ServerName, resource: Resource, object: KubeObject, because: string): Action => ({
  do: 'create',
  on,
  resource,
  object,
  because,
});

export const patch = (of: Seen, merge: object, because: string): Action => ({
  do: 'patch',
  of,
  merge: merge as Json,
  because,
});

/** For changes that a merge patch cannot express, because it treats null as "remove". */
export const patchByOperations = (of: Seen, operations: readonly JsonOperation[], because: string): Action => ({
  do: 'json-patch',
  of,
  operations,
  because,
});

/**
 * Writes nothing, and fails with a conflict if the object has changed since it was read. Needed before a step that
 * relies on a cached state: two hubs may both believe that they lead, and the cache of one of them may be stale.
 */
export const assertUnchanged = (of: Seen, because: string): Action => patch(of, {}, because);

export const patchStatus = (of: Seen, status: object, because: string): Action => ({
  do: 'patch',
  of,
  merge: { status } as Json,
  subresource: 'status',
  because,
});

export const remove = (of: Seen, because: string, propagation?: Propagation): Action => ({
  do: 'delete',
  of,
  ...(propagation === undefined ? {} : { propagation }),
  because,
});

/** The reference to an object that Events and Holds carry. */
export const refTo = (resource: Resource | Kind, { metadata }: Projected): ObjectRef => ({
  group: resource.group,
  kind: resource.kind,
  ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
  name: metadata.name ?? '',
  ...(metadata.uid === undefined ? {} : { uid: metadata.uid }),
});

export interface EventText {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

/** An Event about an item of a source. */
export const recordEvent = <T extends Projected>(source: Source<T>, item: T, event: EventText): Action => ({
  do: 'event',
  on: source.on,
  about: {
    ...refTo(source.resource, item),
    apiVersion: apiVersionOf(source.resource.group, preferredVersion(source.resource)),
  },
  ...event,
  because: event.message,
});
