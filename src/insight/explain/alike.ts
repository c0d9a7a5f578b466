// Merges holds that say the same about several clusters into one cause. Pure.
import type { HoldEntry } from '../../api/holds.ts';
import { memberCluster } from '../../api/member-cluster.ts';
import { canonicalJson } from '../../base/json.ts';

/** A hold that a cluster causes for itself. */
export const isItself = ({ count = 0, clusters = [], on }: HoldEntry): boolean =>
  count === 1 && on?.kind === memberCluster.kind && on.name === clusters[0];

/** Never empty. */
export type Alike = readonly [HoldEntry, ...HoldEntry[]];

/** In the order of the first entries. */
export function alike(entries: readonly HoldEntry[]): readonly Alike[] {
  const groups = new Map<string, [HoldEntry, ...HoldEntry[]]>();
  for (const [at, entry] of entries.entries()) {
    const { code, facts = {} } = entry;
    // The next step for an unreachable cluster contains its name more than once, so these are not merged.
    const isSilent = code === 'Unreachable' || facts['cause'] === 'unreachable';
    const key = isItself(entry) && !isSilent ? canonicalJson([code, facts]) : String(at);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [entry]);
    else group.push(entry);
  }
  return [...groups.values()];
}

const MAX_NAMES = 20;

/** Phrases in messages (api/hold.ts) about one cluster, with their plural. */
const PLURALS: readonly (readonly [one: string, many: string])[] = [
  [' cannot be tracked; it counts', ' cannot be tracked; they count'],
  [' is ', ' are '],
  [' blocks ', ' block '],
  [' has ', ' have '],
];

/** Rewrites a message about the first cluster to be about all of them. */
export function ofAll(text: string, [first = '', ...others]: readonly string[]): string {
  if (others.length === 0) return text;
  const shown = [first, ...others.slice(0, MAX_NAMES - 1)].map((name) => `"${name}"`).join(', ');
  const more = others.length >= MAX_NAMES ? ` and ${others.length - MAX_NAMES + 1} more` : '';
  const [one, many] = [`MemberCluster "${first}"`, `MemberClusters ${shown}${more}`];
  return PLURALS.reduce((told, [of, ofMany]) => told.replaceAll(`${one}${of}`, () => `${many}${ofMany}`), text)
    .replaceAll(one, () => many)
    .replaceAll(`cluster "${first}"`, () => `clusters ${shown}${more}`);
}
