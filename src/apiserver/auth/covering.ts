// Whether the permissions of a user cover those that they grant, and a description of what is missing.
import type { PolicyRule } from '../cluster.ts';
import { urlCovers } from './policy-rule.ts';
import { quoteAll } from './quote.ts';

/** One verb on one resource (of one name or of all), or on one URL. */
export type Atom =
  | { readonly verb: string; readonly group: string; readonly resource: string; readonly name: string | undefined }
  | { readonly verb: string; readonly url: string };

/** The number of atoms in a rule: lists multiply, so a short rule can expand to more than can be compared. */
export const atomCount = ({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): number =>
  verbs.length *
  ((apiGroups?.length ?? 0) * (resources?.length ?? 0) * Math.max(1, resourceNames?.length ?? 0) +
    (nonResourceURLs?.length ?? 0));

/** Expands a rule into single permissions. */
function atomsOf({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): readonly Atom[] {
  const atoms: Atom[] = [];
  const names = resourceNames && resourceNames.length > 0 ? resourceNames : [undefined];
  for (const group of apiGroups ?? []) {
    for (const resource of resources ?? []) {
      for (const name of names) for (const verb of verbs) atoms.push({ verb, group, resource, name });
    }
  }
  for (const url of nonResourceURLs ?? []) for (const verb of verbs) atoms.push({ verb, url });
  return atoms;
}

/** The `wanted` permissions that no single held rule covers; empty = all are covered. */
export function uncovered(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): readonly Atom[] {
  // Indexed by verb, so that two large roles are not compared pair by pair.
  const byVerb = new Map<string, PolicyRule[]>();
  for (const rule of held) {
    for (const verb of rule.verbs) {
      const others = byVerb.get(verb);
      if (others) others.push(rule);
      else byVerb.set(verb, [rule]);
    }
  }
  const isHeld = (atom: Atom): boolean =>
    [byVerb.get('*'), byVerb.get(atom.verb)].some((rules) => rules?.some((rule) => covers(rule, atom)));
  return wanted.flatMap(atomsOf).filter((atom) => !isHeld(atom));
}

function covers(rule: PolicyRule, atom: Atom): boolean {
  if ('url' in atom) return rule.nonResourceURLs?.some((url) => urlCovers(url, atom.url)) === true;
  const { group, resource, name } = atom;
  const names = rule.resourceNames ?? [];
  return (
    (rule.apiGroups?.includes('*') || rule.apiGroups?.includes(group)) === true &&
    rule.resources?.some((each) => resourceCovers(each, resource)) === true &&
    (names.length === 0 || (name !== undefined && names.includes(name)))
  );
}

// A star covers everything, a star with a subresource that subresource of every resource. `pods` does not cover
// `pods/log`.
function resourceCovers(held: string, wanted: string): boolean {
  if (held === '*' || held === wanted) return true;
  const slash = wanted.indexOf('/');
  return slash >= 0 && held === `*${wanted.slice(slash)}`;
}

/** One line for each resource or URL, sorted: `{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}`. */
export function describeAtoms(atoms: readonly Atom[]): string {
  const lines = new Set<string>();
  const verbsOf = new Map<string, Set<string>>();
  for (const atom of atoms) {
    if ('url' in atom) {
      lines.add(`{NonResourceURLs:${quoteAll([atom.url])}, Verbs:${quoteAll([atom.verb])}}`);
      continue;
    }
    const names = atom.name === undefined ? '' : `, ResourceNames:${quoteAll([atom.name])}`;
    const place = `APIGroups:${quoteAll([atom.group])}, Resources:${quoteAll([atom.resource])}${names}`;
    const verbs = verbsOf.get(place) ?? new Set<string>();
    verbsOf.set(place, verbs.add(atom.verb));
  }
  for (const [place, verbs] of verbsOf) lines.add(`{${place}, Verbs:${quoteAll([...verbs])}}`);
  return [...lines].sort().join('\n');
}
