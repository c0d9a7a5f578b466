// A cluster without a server: objects by resource and name, to which writes are applied; nothing else happens. For
// property tests of rules, where an API server would be too slow.
import type { Resource } from '../../api/kind.ts';
import type { KubeObject } from '../../api/object.ts';
import { kubeTime } from '../../base/clock.ts';
import { deepEqual, deepFreeze, isObject } from '../../base/json.ts';
import type { Write } from './rule.ts';

export class Model {
  now = Date.parse('2026-01-01T00:00:00Z');
  readonly #objects = new Map<string, KubeObject>();
  #serial = 0;

  all<T extends KubeObject>({ plural }: Resource): readonly T[] {
    const found = [...this.#objects].filter(([key]) => key.startsWith(`${plural}/`));
    return found.map(([, object]) => object as T);
  }

  get<T extends KubeObject>({ plural }: Resource, name: string): T | undefined {
    return this.#objects.get(`${plural}/${name}`) as T | undefined;
  }

  put(resource: Resource, object: object): void {
    const { metadata = {}, ...rest } = object as KubeObject;
    const uid = metadata.uid ?? `uid-${++this.#serial}`;
    const creationTimestamp = metadata.creationTimestamp ?? kubeTime(this.now);
    const whole = {
      ...rest,
      metadata: { namespace: 'default', generation: 1, ...metadata, uid, creationTimestamp },
    };
    this.#objects.set(
      `${resource.plural}/${metadata.name}`,
      deepFreeze(JSON.parse(JSON.stringify(whole)) as KubeObject),
    );
  }

  change(resource: Resource, name: string, merge: object): void {
    const object = this.get(resource, name);
    if (object !== undefined) this.#set(resource, merged(object, merge) as KubeObject, object);
  }

  remove({ plural }: Resource, name: string): void {
    this.#objects.delete(`${plural}/${name}`);
  }

  /** Pods that no kubelet runs are deleted immediately, as on an API server. */
  apply(write: Write): void {
    const { resource } = write;
    if (write.do === 'create') {
      if (this.get(resource, write.object.metadata.name ?? '') === undefined) this.put(resource, write.object);
      return;
    }
    const name = write.of.metadata.name ?? '';
    const object = this.get(resource, name);
    if (object?.metadata.uid !== write.of.metadata.uid) return;
    if (write.do === 'delete') this.remove(resource, name);
    else if (object !== undefined) this.#set(resource, merged(object, write.merge) as KubeObject, object);
  }

  #set({ plural }: Resource, next: KubeObject, old: KubeObject): void {
    const generation = (old.metadata.generation ?? 0) + (deepEqual(next.spec, old.spec) ? 0 : 1);
    const whole = { ...next, metadata: { ...next.metadata, generation } };
    this.#objects.set(`${plural}/${old.metadata.name}`, deepFreeze(JSON.parse(JSON.stringify(whole)) as KubeObject));
  }
}

export function merged(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const result: Record<string, unknown> = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = merged(result[key], value);
  }
  return result;
}
