// The keys of a resource's objects in the store. Most resources use their own name; one that serves objects of another
// (events of events.k8s.io) uses the other's.
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
