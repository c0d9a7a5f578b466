// Overrides that are not in force: admission rejects them, and a hub without admission must not apply them either.
// Pure.
import { MAX_OVERRIDE_NAME, MAX_OVERRIDES, selectorText } from '../../api/override-admission.ts';
import { byText } from '../../base/compare.ts';
import type { HubOverride } from './matching.ts';

/** The older one wins; of two created in the same second, the first by name. */
const byAge = (a: HubOverride, b: HubOverride): number =>
  byText(a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? '') ||
  byText(a.metadata.name ?? '', b.metadata.name ?? '');

/**
 * `all`: the overrides of its kind in its namespace. Returns why it is not in force, as a message; undefined = it is in
 * force.
 */
export function refusalOf(override: HubOverride, all: readonly HubOverride[]): string | undefined {
  if ((override.metadata.name ?? '').length > MAX_OVERRIDE_NAME)
    return `its name has more than ${MAX_OVERRIDE_NAME} characters, and its snapshots carry it as a label; create one with a shorter name`;
  const older = all.filter((each) => each.metadata.uid !== override.metadata.uid && byAge(each, override) < 0);
  if (older.length >= MAX_OVERRIDES) {
    const where =
      override.metadata.namespace === undefined ? 'the fleet' : `namespace "${override.metadata.namespace}"`;
    return `${older.length} older overrides of this kind exist in ${where}, at most ${MAX_OVERRIDES} are in force; delete one of them`;
  }
  const own = new Map(override.selectors.map((each) => [selectorText(each), each]));
  for (const each of older) {
    const shared = each.selectors.find((selector) => own.has(selectorText(selector)));
    if (shared !== undefined) {
      return `${shared.kind} "${shared.name ?? ''}" is selected by both ${each.metadata.name} and ${override.metadata.name}, and the older one is in force; select another object or delete one of them`;
    }
  }
  return undefined;
}
