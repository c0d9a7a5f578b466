// What a reconcile knows of the member without a request: the state of each object in the watch cache. Reading an
// object here also subscribes the Work to its changes.
import type { Resource } from '../../api/kind.ts';
import { namespaceResource } from '../../api/resources.ts';
import type { Source, View } from '../../runtime/controller.ts';
import { objectsOf, type PlacedObject } from '../sources.ts';
import type { Identifier } from './manifest.ts';
import { stateOf } from './one.ts';

export interface MemberView {
  /** `uid@resourceVersion` or `absent`; undefined = not watched yet, or not watchable. */
  known(resource: Resource, identifier: Identifier): string | undefined;
  /**
   * Other state that may let a failed object in this namespace succeed: the namespace's uid or `absent`, and how often
   * the member's API server has recovered.
   */
  context(namespace: string | undefined): string;
  /** Collections that are needed and not listed yet, although nothing blocks the list. */
  readonly missing: readonly Source[];
  /** Collections that cannot be watched. */
  readonly blind: boolean;
}

/** One source per kind, shared by all reconciles. */
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
    context(namespace) {
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
