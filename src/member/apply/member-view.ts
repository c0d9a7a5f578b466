// What a pass sees of the member without asking: how the watches know each object. Reading here is also what wakes the Work when one changes.
import type { Resource } from '../../api/kind.ts';
import { namespaceResource } from '../../api/resources.ts';
import type { Source, View } from '../../runtime/controller.ts';
import { objectsOf, type PlacedObject } from '../sources.ts';
import type { Identifier } from './manifest.ts';
import { stateOf } from './one.ts';

export interface MemberView {
  /** `uid@resourceVersion` or `absent`; undefined = not watched, now or for good. */
  known(resource: Resource, identifier: Identifier): string | undefined;
  /** What else can make a difference to what failed in a namespace: its uid or `absent`, and how often the member's server has come back. */
  surroundings(namespace: string | undefined): string;
  /** Collections that were asked for and are not listed yet, though nothing blocks that. */
  readonly missing: readonly Source[];
  /** Collections that cannot be watched. */
  readonly blind: boolean;
}

/** One per kind, for all passes. */
export type Collections = (resource: Resource) => Source<PlacedObject>;

export function collections(): Collections {
  const made = new Map<string, Source<PlacedObject>>();
  return (resource) => {
    const text = `${resource.group}/${resource.version}/${resource.plural}`;
    let source = made.get(text);
    if (source === undefined) {
      source = objectsOf(resource);
      made.set(text, source);
    }
    return source;
  };
}

export function memberViewOf(view: View, collectionOf: Collections): MemberView {
  const missing = new Set<Source>();
  let blind = false;

  function look(resource: Resource, namespace: string | undefined, name: string): readonly PlacedObject[] | undefined {
    const source = collectionOf(resource);
    const found = view.listOnDemand(source, {
      name,
      ...(resource.namespaced && namespace !== undefined ? { namespace } : {}),
    });
    const plain = source as Source;
    if (found !== undefined) missing.delete(plain);
    else if (view.listError(plain) !== undefined) blind = true;
    else missing.add(plain);
    return found;
  }

  return {
    known(resource, { namespace, name = '' }) {
      const found = look(resource, namespace, name);
      return found === undefined ? undefined : stateOf(found[0]);
    },
    surroundings(namespace) {
      const returns = view.returns?.('member') ?? 0;
      if (namespace === undefined) return `${returns}`;
      const found = look(namespaceResource, undefined, namespace);
      return `${returns} ${found === undefined ? 'unknown' : (found[0]?.metadata.uid ?? 'absent')}`;
    },
    get missing() {
      return [...missing];
    },
    get blind() {
      return blind;
    },
  };
}
