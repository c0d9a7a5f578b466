// The location of an object: server, resource, namespace and name.
import type { Resource } from '../api/kind.ts';
import type { Target } from '../api/transport.ts';
import { keyOf } from './cache.ts';
import type { ServerName } from './controller.ts';

export interface Place {
  readonly on: ServerName;
  readonly resource: Resource;
  readonly namespace?: string;
  readonly name: string;
}

/** The same for every API version, so that one object has one text. */
export const placeText = (place: Place): string =>
  `${collectionText(place.on, place.resource)}/${keyOf(place.resource.namespaced ? place.namespace : undefined, place.name)}`;

export const collectionText = (on: ServerName, { group, plural }: Resource): string => `${on}/${group}/${plural}`;

export const targetOf = ({ resource, namespace, name }: Place): Target => ({
  resource,
  ...(namespace === undefined ? {} : { namespace }),
  name,
});
