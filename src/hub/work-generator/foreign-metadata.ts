// What another client put into the metadata of a Work. A member may write there, since its finalizer keeps a Work until it has cleaned up; with
// anything else it could hold its Works for ever, or tie them to the life of another object.
import { finalizers } from '../../api/names.ts';
import type { Labels, ObjectMeta } from '../../api/object.ts';
import type { JsonObject } from '../../base/json.ts';
import { patch, seen } from '../../runtime/actions.ts';
import type { Action } from '../../runtime/controller.ts';
import { type HubWork, works as workSource } from '../work-source.ts';

/** The agent's own, and those that a deletion itself brings. */
const KNOWN_FINALIZERS: readonly string[] = [finalizers.workCleanup, 'foregroundDeletion', 'orphan'];

/** A merge patch of the metadata that takes owners and foreign finalizers away; empty if there are none. */
export function withoutForeign({ ownerReferences = [], finalizers: all = [] }: ObjectMeta): JsonObject {
  const known = all.filter((each) => KNOWN_FINALIZERS.includes(each));
  return {
    ...(ownerReferences.length === 0 ? {} : { ownerReferences: null }),
    ...(known.length === all.length ? {} : { finalizers: known.length === 0 ? null : known }),
  };
}

/** A merge patch of labels that takes those away which the hub did not set. */
export const withoutLabels = (has: Labels = {}, wanted: Labels): JsonObject =>
  Object.fromEntries(Object.keys(has).flatMap((name) => (Object.hasOwn(wanted, name) ? [] : [[name, null]])));

/** For Works that are being deleted: nothing but the agent may hold them. */
export const releases = (works: readonly HubWork[]): readonly Action[] =>
  works.flatMap((each) => {
    const metadata = withoutForeign(each.metadata);
    if (Object.keys(metadata).length === 0) return [];
    return [patch(seen(workSource, each), { metadata }, `removes foreign finalizers of Work "${each.metadata.name}"`)];
  });
