// An in-memory store for forecasts: the writes of a decision change its objects instead of those of the hub. Guarantee:
// objects are never mutated, only replaced, like objects from a server.
import type { KubeObject } from '../../api/object.ts';
import { kubeTime } from '../../base/clock.ts';
import { deepEqual, type Json, type JsonObject } from '../../base/json.ts';
import { patched } from '../../base/json-patch.ts';
import { mergePatch } from '../../base/merge-patch.ts';
import type { decide } from '../../hub/staged/decide.ts';

export type Step = ReturnType<typeof decide>['steps'][number];
type Action = Step[number];

export interface ScratchStore {
  all(kind: string): readonly KubeObject[];
  find(kind: string, name: string): KubeObject | undefined;
  /** Replaces the object of the same name. */
  put(object: KubeObject): void;
  /** Performs the steps of a decision; true = something has changed. */
  perform(steps: readonly Step[], now: number): boolean;
  /** Objects that were created here. */
  readonly created: readonly KubeObject[];
}

/** All objects are in one namespace, or in none. */
export function createScratchStore(objects: readonly KubeObject[]): ScratchStore {
  const kinds = new Map<string, Map<string, KubeObject>>();
  const created: KubeObject[] = [];
  let writes = 0;
  const of = (kind: string) => {
    const known = kinds.get(kind) ?? new Map<string, KubeObject>();
    kinds.set(kind, known);
    return known;
  };
  const put = (object: KubeObject) => void of(object.kind).set(object.metadata.name ?? '', object);
  for (const object of objects) put(object);

  function create(object: KubeObject, now: number): boolean {
    if (of(object.kind).has(object.metadata.name ?? '')) return false;
    writes++;
    const metadata = {
      ...object.metadata,
      uid: `forecast-${writes}`,
      resourceVersion: `forecast-${writes}`,
      generation: 1,
      creationTimestamp: kubeTime(now),
    };
    created.push(object);
    put({ ...object, metadata });
    return true;
  }

  function patch(action: Extract<Action, { readonly do: 'patch' | 'json-patch' }>): boolean {
    const { of: seen, subresource } = action;
    const before = of(seen.resource.kind).get(seen.name);
    // An empty patch only checks that the object is unchanged.
    if (before === undefined || isEmpty(action)) return false;
    const after = (action.do === 'patch'
      ? mergePatch(before as unknown as Json, action.merge as JsonObject)
      : patched(before as unknown as Json, action.operations)) as unknown as KubeObject;
    writes++;
    const isOther = subresource === undefined && !deepEqual(before.spec, after.spec);
    const generation = (after.metadata.generation ?? 0) + (isOther ? 1 : 0);
    put({ ...after, metadata: { ...after.metadata, generation, resourceVersion: `forecast-${writes}` } });
    return true;
  }

  function perform(action: Action, now: number): boolean {
    switch (action.do) {
      case 'create':
        return create(action.object, now);
      case 'patch':
      case 'json-patch':
        return patch(action);
      case 'delete':
        return of(action.of.resource.kind).delete(action.of.name);
      case 'event':
        return false;
    }
  }

  return {
    all: (kind) => [...of(kind).values()],
    find: (kind, name) => of(kind).get(name),
    put,
    perform: (steps, now) =>
      steps
        .flat()
        .map((action) => perform(action, now))
        .some(Boolean),
    created,
  };
}

const isEmpty = (action: Extract<Action, { readonly do: 'patch' | 'json-patch' }>): boolean =>
  action.do === 'patch' ? Object.keys(action.merge as JsonObject).length === 0 : action.operations.length === 0;
