// Whether a placement uses an unsupported field in its spec, which blocks it. api/not-supported.ts has the list.
import type { Hold } from '../../api/hold.ts';
import type { HoldEntry } from '../../api/holds.ts';
import type { Resource } from '../../api/kind.ts';
import { notSupportedFields } from '../../api/not-supported.ts';
import { type ObjectMeta, type ObjectRef, refText } from '../../api/object.ts';
import type { PlacementSpec } from '../../api/placement.ts';

export interface NotSupported {
  /** Fields of the placement, or the kind of the object. */
  readonly what: string;
  /** A selected object, as a hub of an earlier version reported it; absent = the placement itself. */
  readonly object?: ObjectRef;
  /** The next step for the object, if removing it is not enough. */
  readonly remedy?: string;
}

interface Placed {
  readonly metadata: ObjectMeta;
  readonly spec: PlacementSpec;
}

/** Unsupported fields of the placement; empty = it may move. */
export function notSupported({ spec }: Placed): readonly NotSupported[] {
  const fields = notSupportedFields(spec);
  // One hold for all fields: removing only the first would not help.
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
 * An unsupported object that the placement controller reported in the status, because only that controller reads
 * objects. Fields are left out: every controller reads them from the spec, and the status may be outdated.
 */
export function notSupportedIn(holds: readonly HoldEntry[] = [], placement: Resource): NotSupported | undefined {
  const held = holds.find(
    ({ code, on }) =>
      code === ('NotSupportedYet' satisfies Hold['code']) && on !== undefined && on.kind !== placement.kind,
  );
  if (held?.on === undefined) return undefined;
  return { what: String(held.facts?.['what'] ?? held.on.kind), object: { ...held.on, group: held.on.group ?? '' } };
}
