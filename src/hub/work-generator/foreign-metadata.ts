// Metadata that another client added to a Work. A member may write it, because its finalizer keeps a Work until it has
// cleaned up; other finalizers or owner references would let it block the deletion of its Works, or tie them to another
// object.
import { finalizers } from '../../api/names.ts';
import type { Labels, ObjectMeta } from '../../api/object.ts';
import type { JsonObject } from '../../base/json.ts';
import { patch, seen } from '../../runtime/actions.ts';
import type { Action } from '../../runtime/controller.ts';
import { type HubWork, works as workSource } from '../work-source.ts';

/** The finalizer of the agent, and those that a deletion itself adds. */
const KNOWN_FINALIZERS: readonly string[] = [finalizers.workCleanup, 'foregroundDeletion', 'orphan'];

/** A merge patch that removes owner references and unknown finalizers; empty if there are none. */
export function withoutForeign({ ownerReferences = [], finalizers: all = [] }: ObjectMeta): JsonObject {
  const known = all.filter((each) => KNOWN_FINALIZERS.includes(each));
  return {
    ...(ownerReferences.length === 0 ? {} : { ownerReferences: null }),
    ...(known.length === all.length ? {} : { finalizers: known.length === 0 ? null : known }),
  };
}

/** A merge patch that removes labels that the hub did not set. */
export const withoutLabels = (has: Labels = {}, wanted: Labels): JsonObject =>
  Object.fromEntries(Object.keys(has).flatMap((name) => (Object.hasOwn(wanted, name) ? [] : [[name, null]])));

/** For Works that are being deleted: only the agent may delay that. */
export const releases = (works: readonly HubWork[]): readonly Action[] =>
  works.flatMap((each) => {
    const metadata = withoutForeign(each.metadata);
    if (Object.keys(metadata).length === 0) return [];
    return [patch(seen(workSource, each), { metadata }, `removes foreign finalizers of Work "${each.metadata.name}"`)];
  });
