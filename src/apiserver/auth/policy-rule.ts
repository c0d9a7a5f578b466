// The permissions of one RBAC role, compiled so that a check is a lookup instead of a scan of all rules.
import type { Attributes, PolicyRule } from '../cluster.ts';

export interface CompiledRole {
  readonly rules: readonly PolicyRule[];
  permits(what: Attributes): boolean;
}

interface ResourceRule {
  readonly verbs: readonly string[];
  readonly groups: readonly string[];
  /** undefined = all names. */
  readonly names: ReadonlySet<string> | undefined;
}

const compiled = new WeakMap<readonly PolicyRule[], CompiledRole>();

/** The rules must be frozen: the compiled form is cached by identity, so clusters that share a role share it, too. */
export function compileRole(rules: readonly PolicyRule[]): CompiledRole {
  let role = compiled.get(rules);
  if (!role) {
    role = compile(rules);
    compiled.set(rules, role);
  }
  return role;
}

function compile(rules: readonly PolicyRule[]): CompiledRole {
  // By the resource as written: `pods`, `pods/log`, `*/scale` or `*`.
  const byResource = new Map<string, ResourceRule[]>();
  const paths: { readonly verbs: readonly string[]; readonly urls: readonly string[] }[] = [];
  for (const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } of rules) {
    const names = resourceNames.length === 0 ? undefined : new Set(resourceNames);
    for (const resource of resources) {
      const others = byResource.get(resource);
      const rule = { verbs, groups: apiGroups, names };
      if (others) others.push(rule);
      else byResource.set(resource, [rule]);
    }
    if (nonResourceURLs.length > 0) paths.push({ verbs, urls: nonResourceURLs });
  }

  const permitsResource = (written: string, what: Attributes): boolean =>
    byResource
      .get(written)
      ?.some(
        ({ verbs, groups, names }) =>
          names?.has(what.name ?? '') !== false && hasOrAll(verbs, what.verb) && hasOrAll(groups, what.group ?? ''),
      ) === true;

  return {
    rules,
    permits(what) {
      const { path, resource = '', subresource, verb } = what;
      if (path !== undefined) {
        return paths.some(({ verbs, urls }) => hasOrAll(verbs, verb) && urls.some((url) => urlCovers(url, path)));
      }
      if (!subresource) return permitsResource(resource, what) || permitsResource('*', what);
      return (
        permitsResource(`${resource}/${subresource}`, what) ||
        permitsResource('*', what) ||
        permitsResource(`*/${subresource}`, what)
      );
    },
  };
}

export const hasOrAll = (words: readonly string[], word: string): boolean =>
  words.includes(word) || words.includes('*');

/** A URL of a rule covers itself and, with a trailing `*`, every path with that prefix. */
export const urlCovers = (url: string, path: string): boolean =>
  url === path || (url.endsWith('*') && path.startsWith(url.slice(0, -1)));
