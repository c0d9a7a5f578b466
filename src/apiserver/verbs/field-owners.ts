// Connects the verbs with field ownership. The first write by a tracked client gives an object owners; from then on
// every write is tracked. Objects written only by the server's own process have no owners and cost nothing: the first
// apply assigns existing fields to `before-first-apply`.

import { shapeTyped } from '../../api/builtin/typed-shape.ts';
import { typeNameOf } from '../../api/builtin/types.ts';
import { apiVersionOf, groupVersionOf, type KubeObject } from '../../api/object.ts';
import { kubeTime } from '../../base/clock.ts';
import { deepEqual, deepFreeze, isObject } from '../../base/json.ts';
import { EMPTY, type FieldSet, setOf, without } from '../managed-fields/field-set.ts';
import { objectType } from '../managed-fields/field-type.ts';
import {
  BadManagedFields,
  decodeOwners,
  encodeOwners,
  type Manager,
  type Operation,
  type Owners,
} from '../managed-fields/managers.ts';
import { ownersAfterUpdate, type Versions } from '../managed-fields/ownership.ts';
import type { Behaviour, Draft, ServedResource, ServedVersion } from '../registry.ts';
import type { At, Caller } from './call.ts';

export type ManagedFields = readonly unknown[];

export function setManagedFields(draft: Draft, managedFields: ManagedFields | undefined): void {
  if (managedFields !== undefined && managedFields.length > 0) draft.metadata.managedFields = [...managedFields];
}

export const managerAt = (at: At, manager: string, operation: Operation): Manager => ({
  manager: manager === '' ? 'unknown' : manager,
  operation,
  apiVersion: apiVersionOf(at.resource.group, at.version.version),
  subresource: at.subresource ?? '',
});

const NOT_OF_OBJECT = setOf(['f:status']);
const notOfStatus = new WeakMap<Behaviour, FieldSet>();

/** The fields that an endpoint cannot own, because it does not write them. */
function notOf({ resource, subresource }: At): FieldSet {
  if (subresource !== 'status') return resource.hasStatus ? NOT_OF_OBJECT : EMPTY;
  const { behaviour } = resource;
  let fields = notOfStatus.get(behaviour);
  if (fields === undefined) {
    const { statusKeeps } = behaviour;
    const kept = statusKeeps === undefined || statusKeeps.areOwned ? [] : statusKeeps.fields;
    fields = setOf(['f:spec'], ...kept.map((field) => ['f:metadata', `f:${field}`]));
    notOfStatus.set(behaviour, fields);
  }
  return fields;
}

export function versionsAt(at: At): Versions {
  const { resource, version } = at;
  const closed = notOf(at);
  const requested = apiVersionOf(resource.group, version.version);
  return {
    type: objectType(version.schema),
    // For custom kinds a real server restricts only sets in the version of the request.
    restrict: (fields, apiVersion) =>
      fields.size === 0 || (resource.custom && apiVersion !== requested) ? fields : without(fields, closed),
    view(apiVersion) {
      const asked = groupVersionOf(apiVersion);
      const other = resource.versions.find((each) => each.version === asked.version);
      if (other === undefined || asked.group !== resource.group) return undefined;
      return {
        type: objectType(other.schema),
        from: (object) => between(resource, version, other, object),
        back: (object) => between(resource, other, version, object),
      };
    },
  };
}

function between(resource: ServedResource, from: ServedVersion, to: ServedVersion, object: KubeObject): KubeObject {
  if (from === to) return object;
  const stored = from.convert ? from.convert.toStored(object) : object;
  return to.convert
    ? to.convert.fromStored(stored)
    : { ...stored, apiVersion: apiVersionOf(resource.group, to.version) };
}

/** A draft converted from the storage version to that of the request, without its owners. */
function shown({ resource, version }: At, object: KubeObject): KubeObject {
  if (object.metadata.managedFields === undefined) return between(resource, resource.stored, version, object);
  const { managedFields: _owners, ...metadata } = object.metadata;
  return between(resource, resource.stored, version, { ...object, metadata });
}

const nothings = new WeakMap<ServedVersion, KubeObject>();

/** An empty object of a kind: a typed one has the values that its type always has. */
export function nothingOf({ resource, version }: At): KubeObject {
  let nothing = nothings.get(version);
  if (nothing?.kind !== resource.kind) {
    nothing = makeNothing(resource, version);
    nothings.set(version, nothing);
  }
  return nothing;
}

function makeNothing(resource: ServedResource, version: ServedVersion): KubeObject {
  const { group, kind } = resource;
  const nothing: Record<string, unknown> = { apiVersion: apiVersionOf(group, version.version), kind, metadata: {} };
  const typeName = resource.custom ? undefined : typeNameOf(group, version.version, kind);
  if (typeName !== undefined) shapeTyped(typeName, nothing);
  return deepFreeze(nothing) as unknown as KubeObject;
}

/** The owners of an object; empty if they cannot be decoded. */
export function readable(managedFields: ManagedFields | undefined): Owners {
  try {
    return decodeOwners(managedFields);
  } catch (error) {
    if (error instanceof BadManagedFields) return new Map();
    throw error;
  }
}

const isReset = (managedFields: ManagedFields | undefined): boolean => {
  if (managedFields === undefined || managedFields === null) return false;
  const [only] = managedFields;
  return managedFields.length === 0 || (managedFields.length === 1 && isObject(only) && Object.keys(only).length === 0);
};

/** A client may write owners, but one that does not know them must not delete them accidentally. */
function ownersIn(at: At, sent: ManagedFields | undefined, before: ManagedFields | undefined): Owners {
  if (at.subresource !== undefined) return readable(before);
  if (isReset(sent)) return new Map();
  const owners = readable(sent);
  return owners.size > 0 ? owners : readable(before);
}

export interface TrackedWrite {
  readonly at: At;
  /** In the storage version; absent = a create. */
  readonly before: KubeObject | undefined;
  /** With defaults, before the server sets its own fields. */
  readonly next: Draft;
  /** The managedFields in the client's body. */
  readonly sent: ManagedFields | undefined;
  readonly caller: Pick<Caller, 'manager' | 'tracksFields'>;
  readonly now: number;
}

/** The metadata.managedFields after a create, update or patch; undefined = none. */
export function trackedFields({ at, before, next, sent, caller, now }: TrackedWrite): ManagedFields | undefined {
  const known = before?.metadata.managedFields;
  if (before === undefined ? !caller.tracksFields : sent === undefined && known === undefined) return undefined;
  const owners = ownersIn(at, sent, known);
  if (before !== undefined && owners.size === 0) return undefined;
  const by = managerAt(at, caller.manager, 'Update');
  const change = {
    versions: versionsAt(at),
    owners,
    old: before === undefined ? nothingOf(at) : shown(at, before),
    next: shown(at, next as KubeObject),
    apiVersion: by.apiVersion,
  };
  const after = ownersAfterUpdate(change, by, kubeTime(now));
  if (after.size === 0) return undefined;
  return sent === undefined && isSameOwners(after, owners) ? known : encodeOwners(after);
}

/**
 * A write by the server itself, with the resulting owners: other managers lose the changed fields. An object without
 * owners stays without.
 */
export function withOwners(
  at: At,
  before: KubeObject,
  next: KubeObject,
  by: { manager: string; now: number },
): KubeObject {
  if (before.metadata.managedFields === undefined) return next;
  const { manager, now } = by;
  const owners = trackedFields({ at, before, next: next as Draft, sent: undefined, caller: { manager }, now });
  const { managedFields: _before, ...metadata } = next.metadata;
  return { ...next, metadata: { ...metadata, ...(owners === undefined ? {} : { managedFields: owners }) } };
}

const isSameOwners = (a: Owners, b: Owners): boolean =>
  a.size === b.size && [...a].every(([identity, owner]) => b.get(identity) === owner);

/** Equal except for times: such a write changes nothing. */
export function isSameButTimes(a: ManagedFields | undefined, b: ManagedFields | undefined): boolean {
  const timeless = (entries: ManagedFields | undefined) =>
    (entries ?? []).map((entry) => (isObject(entry) ? { ...entry, time: undefined } : entry));
  return deepEqual(timeless(a), timeless(b));
}
