// Server-side apply and the tracking of other writes, on plain objects: the owners after a write, the result of an
// applied configuration, and conflicts. Pure; the caller provides the versions of a kind.
import type { KubeObject } from '../../api/object.ts';
import { deepEqual } from '../../base/json.ts';
import {
  difference,
  EMPTY,
  type FieldSet,
  includes,
  intersection,
  isEmpty,
  isEqualSet,
  setOf,
  union,
} from './field-set.ts';
import type { FieldType } from './field-type.ts';
import { capped, identityOf, type Manager, type Owner, type Owners, ownerOf } from './managers.ts';
import { oncePerPair } from './shape.ts';
import { type Comparison, changedIn, compare, fieldsOf, withNamedFields } from './typed-fields.ts';
import { merge, removed } from './typed-merge.ts';

/** A kind in one of its versions. */
export interface VersionView {
  readonly type: FieldType;
  /** Converts from the version of the request, and back. */
  from(object: KubeObject): KubeObject;
  back(object: KubeObject): KubeObject;
}

export interface Versions {
  /** The version of the request. */
  readonly type: FieldType;
  /** undefined = no longer served. */
  view(apiVersion: string): VersionView | undefined;
  /**
   * The part of a set that this endpoint may own: the main endpoint does not own the status. `apiVersion` is the
   * version of the set.
   */
  restrict(fields: FieldSet, apiVersion: string): FieldSet;
}

/** Fields that only the server owns. */
const SERVER_FIELDS: FieldSet = setOf(
  ['f:apiVersion'],
  ['f:kind'],
  ['f:metadata'],
  ...[
    'name',
    'namespace',
    'creationTimestamp',
    'selfLink',
    'uid',
    'clusterName',
    'generation',
    'managedFields',
    'resourceVersion',
  ].map((name) => ['f:metadata', `f:${name}`]),
);

export const BEFORE_FIRST_APPLY = 'before-first-apply';

interface Change {
  readonly versions: Versions;
  readonly owners: Owners;
  readonly old: KubeObject;
  readonly next: KubeObject;
  readonly apiVersion: string;
}

function comparer({ versions, old, next, apiVersion }: Omit<Change, 'owners'>) {
  const known = new Map<string, Comparison | undefined>();
  return (version: string): Comparison | undefined => {
    if (known.has(version)) return known.get(version);
    const view = version === apiVersion ? undefined : versions.view(version);
    let found: Comparison | undefined;
    if (version === apiVersion) found = compare(versions.type, old, next);
    else if (view) found = compare(view.type, view.from(old), view.from(next));
    const comparison = found && {
      added: versions.restrict(found.added, version),
      modified: versions.restrict(found.modified, version),
      removed: versions.restrict(found.removed, version),
    };
    known.set(version, comparison);
    return comparison;
  };
}

export interface FieldConflict {
  readonly owner: Owner;
  readonly fields: FieldSet;
}

/**
 * The fields of other owners after a change, and which of them it touched. Owners without a field and of unknown
 * versions are dropped.
 */
function others(
  change: Change,
  self: string,
  comparisonIn = comparer(change),
): { readonly owners: Map<string, Owner>; readonly conflicts: FieldConflict[] } {
  const owners = new Map<string, Owner>();
  const conflicts: FieldConflict[] = [];
  for (const [identity, owner] of change.owners) {
    if (identity === self) {
      owners.set(identity, owner);
      continue;
    }
    const comparison = comparisonIn(owner.apiVersion);
    if (comparison === undefined) continue;
    const touched = intersection(owner.fields, changedIn(comparison));
    if (!isEmpty(touched)) conflicts.push({ owner, fields: touched });
    const fields = difference(difference(owner.fields, touched), comparison.removed);
    if (!isEmpty(fields)) owners.set(identity, fields === owner.fields ? owner : { ...owner, fields });
  }
  return { owners, conflicts };
}

/** The owners after a create, update or patch. */
export function ownersAfterUpdate(change: Change, by: Manager, time: string | undefined): Owners {
  const comparisonIn = comparer(change);
  const { owners } = others(change, '', comparisonIn);
  const comparison = comparisonIn(change.apiVersion) as Comparison;
  const fields = ownedIn(comparison.modified, comparison.added);
  if (isEmpty(fields)) return owners;
  const identity = identityOf(by);
  const all = union(fields, owners.get(identity)?.fields ?? EMPTY);
  const before = change.owners.get(identity)?.fields;
  // The existing set already has its FieldsV1.
  owners.set(identity, ownerOf(by, time, before !== undefined && isEqualSet(all, before) ? before : all));
  return capped(owners);
}

/** The changed fields without those of the server. */
const ownedIn = oncePerPair((modified, added) => difference(union(modified, added), SERVER_FIELDS));

export interface Application {
  readonly versions: Versions;
  readonly owners: Owners;
  readonly live: KubeObject;
  readonly config: KubeObject;
  readonly by: Manager;
  readonly force: boolean;
  readonly time: string | undefined;
}

export type Applied =
  | { readonly object: KubeObject; readonly owners: Owners }
  | { readonly conflicts: readonly FieldConflict[] };

/**
 * The live object merged with the configuration, without the fields that only this manager applied before; or the
 * conflicting managers.
 */
export function apply(application: Application): Applied {
  const { versions, owners, live, config, by, force, time } = application;
  const self = identityOf(by);
  const last = owners.get(self);
  const merged = merge(versions.type, live, config) as KubeObject;
  const own = ownerOf(by, last?.time, versions.restrict(fieldsOf(versions.type, config), by.apiVersion));
  const claimed = new Map(owners).set(self, own);
  const next = last === undefined ? merged : pruned(versions, merged, claimed, last, by.apiVersion);
  const change = { versions, owners: claimed, old: live, next, apiVersion: by.apiVersion };
  const { owners: left, conflicts } = others(change, self);
  if (conflicts.length > 0 && !force) return { conflicts };
  const fields = difference(own.fields, SERVER_FIELDS);
  if (isEmpty(fields)) left.delete(self);
  else left.set(self, { ...own, fields, time: deepEqual(live, next) ? own.time : time });
  return { object: next, owners: left };
}

/** Removes the fields that the manager has given up: it owned them before, and no manager owns them now. */
function pruned(versions: Versions, merged: KubeObject, owners: Owners, last: Owner, apiVersion: string): KubeObject {
  const own = viewOf(versions, last.apiVersion, apiVersion);
  if (own === undefined || givesUpNothing(owners, last, apiVersion)) return merged;
  const whole = own.from(merged);
  const given = withNamedFields(own.type, last.fields);
  let left = removed(own.type, whole, given) as KubeObject;
  const byVersion = new Map<string, FieldSet>();
  for (const owner of owners.values()) {
    byVersion.set(owner.apiVersion, union(byVersion.get(owner.apiVersion) ?? EMPTY, owner.fields));
  }
  const order = [last.apiVersion, ...[...byVersion.keys()].filter((version) => version !== last.apiVersion)];
  for (const version of order) {
    const view = viewOf(versions, version, apiVersion);
    const owned = byVersion.get(version);
    if (view === undefined || owned === undefined) continue;
    const all = view.from(merged);
    const named = (fields: FieldSet) => withNamedFields(view.type, fields);
    const kept = union(named(fieldsOf(view.type, view.from(own.back(left)))), named(owned));
    const gone = difference(named(fieldsOf(view.type, all)), kept);
    left = own.from(view.back(removed(view.type, all, gone) as KubeObject));
  }
  const gone = difference(
    withNamedFields(own.type, fieldsOf(own.type, whole)),
    withNamedFields(own.type, fieldsOf(own.type, left)),
  );
  return own.back(removed(own.type, whole, intersection(gone, given)) as KubeObject);
}

/** Most applies name all fields of the previous one. With a single version no other field can be removed. */
function givesUpNothing(owners: Owners, last: Owner, apiVersion: string): boolean {
  const claimed = owners.get(identityOf(last));
  if (claimed === undefined || !includes(claimed.fields, last.fields)) return false;
  return last.apiVersion === apiVersion && [...owners.values()].every((owner) => owner.apiVersion === apiVersion);
}

function viewOf(versions: Versions, version: string, requested: string): VersionView | undefined {
  if (version !== requested) return versions.view(version);
  return { type: versions.type, from: (object) => object, back: (object) => object };
}
