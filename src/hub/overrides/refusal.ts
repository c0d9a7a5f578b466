// Overrides that are not in force: admission refuses them, and a hub without admission must not act on them either. Pure.
import { MAX_OVERRIDES } from '../../api/override.ts';
import { byText } from '../../base/compare.ts';
import type { HubOverride, OverrideSelector } from './matching.ts';

/** The older one goes first; of two of the same second, the first by name. */
const byAge = (a: HubOverride, b: HubOverride): number =>
  byText(a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? '') ||
  byText(a.metadata.name ?? '', b.metadata.name ?? '');

const textOf = ({ group, version, kind, name = '', selectionScope = '' }: OverrideSelector): string =>
  `${group}/${version}/${kind}/${name}/${selectionScope}`;

/** `all`: those of its kind, in its namespace. Why it is not in force, for people; undefined = it is. */
export function refusalOf(override: HubOverride, all: readonly HubOverride[]): string | undefined {
  const older = all.filter((each) => each.metadata.uid !== override.metadata.uid && byAge(each, override) < 0);
  if (older.length >= MAX_OVERRIDES) {
    const where =
      override.metadata.namespace === undefined ? 'the fleet' : `namespace "${override.metadata.namespace}"`;
    return `${older.length} older overrides of this kind exist in ${where}, at most ${MAX_OVERRIDES} are in force; delete one of them`;
  }
  const own = new Map(override.selectors.map((each) => [textOf(each), each]));
  for (const each of older) {
    const shared = each.selectors.find((selector) => own.has(textOf(selector)));
    if (shared !== undefined) {
      return `${shared.kind} "${shared.name ?? ''}" is selected by both ${each.metadata.name} and ${override.metadata.name}, and the older one is in force; select another object or delete one of them`;
    }
  }
  return undefined;
}
