// A rule of the pretend cluster: a pure function from what is seen to the writes wanted and, perhaps, a moment to look again. It never
// learns what woke it. Writes stand in the order in which they must happen; neighbours of one sort touch different objects and may go out
// side by side. Every prefix is a safe place to die: the next look starts from what is there.
import type { Resource } from '../../api/kind.ts';
import { apiVersionOf, type KubeObject, type OwnerReference } from '../../api/object.ts';
import { deepEqual, isObject, type Json } from '../../base/json.ts';
import type { Profile } from './profile.ts';

export type Write = { readonly because: string; readonly resource: Resource } & (
  | { readonly do: 'create'; readonly object: KubeObject }
  | { readonly do: 'patch'; readonly of: KubeObject; readonly merge: Json; readonly subresource?: 'status' }
  | { readonly do: 'delete'; readonly of: KubeObject }
);

export interface Outcome {
  readonly writes: readonly Write[];
  /** Epoch milliseconds. */
  readonly wakeAt?: number;
}

export type Rule<Object, Related> = (object: Object, related: Related, now: number, profile: Profile) => Outcome;

export const nothing: Outcome = Object.freeze({ writes: Object.freeze([]) });

/** Writes the status that is wanted, if it is not there already. Metadata given with it goes out in the same write. */
export function statusWrites(
  resource: Resource,
  object: KubeObject,
  want: { readonly status: object; readonly because: string; readonly annotations?: Readonly<Record<string, string>> },
): readonly Write[] {
  const status = mergeBetween(object.status ?? {}, want.status);
  const have = object.metadata.annotations ?? {};
  const missing = Object.entries(want.annotations ?? {}).filter(([key, value]) => have[key] !== value);
  if (status === undefined && missing.length === 0) return [];
  const merge = {
    ...(missing.length === 0 ? {} : { metadata: { annotations: Object.fromEntries(missing) } }),
    ...(status === undefined ? {} : { status }),
  };
  return [{ do: 'patch', resource, of: object, merge, subresource: 'status', because: want.because }];
}

/** The merge patch that turns one object into the other; undefined when they are equal. */
export function mergeBetween(from: unknown, to: unknown): Json | undefined {
  if (deepEqual(from, to)) return undefined;
  if (!isObject(from) || !isObject(to)) return to as Json;
  const patch: Record<string, Json> = {};
  for (const key of Object.keys(from)) if (to[key] === undefined && from[key] !== undefined) patch[key] = null;
  for (const key of Object.keys(to)) {
    if (to[key] === undefined) continue;
    const inner = mergeBetween(from[key], to[key]);
    if (inner !== undefined) patch[key] = inner;
  }
  return patch;
}

/** The owner reference that says "I manage this". */
export const managedBy = (resource: Resource, { metadata }: KubeObject): OwnerReference => ({
  apiVersion: apiVersionOf(resource.group, resource.version),
  kind: resource.kind,
  name: metadata.name ?? '',
  uid: metadata.uid ?? '',
  controller: true,
  blockOwnerDeletion: true,
});

/** The earliest of some moments, some of which may never come. */
export function earliest(...moments: readonly (number | undefined)[]): { readonly wakeAt?: number } {
  const known = moments.filter((moment) => moment !== undefined && Number.isFinite(moment)) as number[];
  return known.length === 0 ? {} : { wakeAt: Math.min(...known) };
}
