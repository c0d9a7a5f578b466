// Actions, written short: what a decision consists of.
import { type Kind, preferredVersion, type Resource } from '../api/kind.ts';
import { apiVersionOf, type KubeObject, type ObjectRef } from '../api/object.ts';
import type { Propagation } from '../api/transport.ts';
import type { Json } from '../base/json.ts';
import type { JsonOperation } from '../base/json-patch.ts';
import type { Action, Projected, Seen, ServerName, Source } from './controller.ts';

/** What a write to this item is conditional on. */
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

/** Where a merge patch cannot say it: null is a value here. */
export const patchByOperations = (of: Seen, operations: readonly JsonOperation[], because: string): Action => ({
  do: 'json-patch',
  of,
  operations,
  because,
});

/**
 * Changes nothing, and fails unless the object is still as it was seen. Before a step that rests on it: two leaders may both believe that
 * they lead, and what one of them saw may long be over.
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

/** An object as Events and Holds name it. */
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
