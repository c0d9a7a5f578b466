// A rule of the simulated cluster: a pure function from the observed state to the desired writes and, optionally, a
// time for the next run. It does not know what woke it. Writes are in the order in which they must happen; adjacent
// writes of one kind concern different objects and may be made in parallel. A crash after any prefix is safe: the next
// run starts from the current state.
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

/** Writes the desired status if it differs. Metadata is part of the same write. */
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

/** The merge patch between two objects; undefined if they are equal. */
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

/** The owner reference of a controller. */
export const managedBy = (resource: Resource, { metadata }: KubeObject): OwnerReference => ({
  apiVersion: apiVersionOf(resource.group, resource.version),
  kind: resource.kind,
  name: metadata.name ?? '',
  uid: metadata.uid ?? '',
  controller: true,
  blockOwnerDeletion: true,
});

/** The earliest of some times, some of which may be absent. */
export function earliest(...moments: readonly (number | undefined)[]): { readonly wakeAt?: number } {
  const known = moments.filter((moment) => moment !== undefined && Number.isFinite(moment)) as number[];
  return known.length === 0 ? {} : { wakeAt: Math.min(...known) };
}
