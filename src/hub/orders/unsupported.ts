// Whether a placement uses something unsupported: a field of its spec. Such a placement does not move. The list is in api/not-supported.ts.
import type { Hold } from '../../api/hold.ts';
import type { HoldEntry } from '../../api/holds.ts';
import type { Resource } from '../../api/kind.ts';
import { notSupportedFields } from '../../api/not-supported.ts';
import { type ObjectMeta, type ObjectRef, refText } from '../../api/object.ts';
import type { PlacementSpec } from '../../api/placement.ts';

export interface NotSupported {
  /** Fields of the placement, or the kind of the object. */
  readonly what: string;
  /** An object that it selects, as a hub of an earlier version reported; absent = the placement itself. */
  readonly object?: ObjectRef;
  /** What to do about the object, unless it is simply to go. */
  readonly remedy?: string;
}

interface Placed {
  readonly metadata: ObjectMeta;
  readonly spec: PlacementSpec;
}

/** Fields of the placement that are unsupported; empty = it may move. */
export function notSupported({ spec }: Placed): readonly NotSupported[] {
  const fields = notSupportedFields(spec);
  // One hold for all of them: removing only the first would not help.
  return fields.length === 0 ? [] : [{ what: fields.join(', ') }];
}

export const notSupportedHold = (subject: ObjectRef, { what, object, remedy }: NotSupported): Hold => ({
  code: 'NotSupportedYet',
  subject,
  on: object ?? subject,
  facts: { what },
  next: object === undefined ? `remove ${what} from the placement` : remedyOf(object, remedy),
});

const remedyOf = (object: ObjectRef, remedy = `delete ${refText(object)}`): string => `${remedy}, or do not select it`;

/**
 * What a placement's own controller has found and its status says: an object, which only that controller sees. Fields are left out: everybody
 * reads those in the spec, and the status may speak of an earlier one.
 */
export function notSupportedIn(holds: readonly HoldEntry[] = [], placement: Resource): NotSupported | undefined {
  const held = holds.find(
    ({ code, on }) =>
      code === ('NotSupportedYet' satisfies Hold['code']) && on !== undefined && on.kind !== placement.kind,
  );
  if (held?.on === undefined) return undefined;
  return { what: String(held.facts?.['what'] ?? held.on.kind), object: { ...held.on, group: held.on.group ?? '' } };
}
