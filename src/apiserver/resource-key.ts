// Where the objects of a resource stand in the store. Most stand under the resource's own name; a resource that shows another's
// objects (events of events.k8s.io) names where those are kept.
import type { ServedResource } from './registry.ts';
import { keyOf, prefixOf } from './store/store.ts';

type Kept = Pick<ServedResource, 'group' | 'plural' | 'keptAs'>;

export function keyIn(resource: Kept, namespace: string, name: string): string {
  const { group, plural } = resource.keptAs ?? resource;
  return keyOf(group, plural, namespace, name);
}

export function prefixIn(resource: Kept, namespace?: string): string {
  const { group, plural } = resource.keptAs ?? resource;
  return prefixOf(group, plural, namespace);
}
