// Role-based access control over a cluster's store, with its error messages.
//
// Guarantee: a decision reflects every write that is visible in the store at the time of the query. Only what a rule
// grants is allowed; members of system:masters may do everything.
import type { User } from '../../api/object.ts';
import { qualified } from '../../api/status.ts';
import { by } from '../../base/compare.ts';
import { ApiError } from '../../base/errors.ts';
import type { Attributes, Authorizer, PolicyRule, Verdict } from '../cluster.ts';
import type { Store } from '../store/store.ts';
import { type Binding, type BindingIndex, createBindingIndex, type Grant } from './binding-index.ts';
import { quote } from './quote.ts';
import { MASTERS } from './service-account.ts';

const ALLOWED: Verdict = Object.freeze({ allowed: true, reason: '' });
const DENIED: Verdict = Object.freeze({ allowed: false, reason: '' });

export function createAuthorizer(store: Store): Authorizer {
  // Created with the first request of a user who is not an administrator: most clusters of a simulated fleet have none.
  let made: BindingIndex | undefined;
  const index = (): BindingIndex => {
    made ??= createBindingIndex(store);
    made.sync();
    return made;
  };

  return {
    allows(user, what) {
      if (user.groups.includes(MASTERS)) return ALLOWED;
      const bindings = index();
      const missing: string[] = [];
      const granted = (grants: readonly Grant[] | undefined): Verdict | undefined => {
        if (grants === undefined) return undefined;
        for (const { binding, verdict } of grants) {
          const role = bindings.role(binding.roleKey);
          if (role === undefined) missing.push(binding.missing);
          else if (role.permits(what)) return verdict;
        }
        return undefined;
      };
      const grantedIn = (namespace: string): Verdict | undefined => {
        const grants = bindings.grants(namespace);
        if (grants === undefined) return undefined;
        let verdict = granted(grants.users.get(user.name));
        for (let i = 0; verdict === undefined && i < user.groups.length; i++) {
          verdict = granted(grants.groups.get(user.groups[i]!));
        }
        return verdict;
      };
      const verdict = grantedIn('') ?? (what.namespace ? grantedIn(what.namespace) : undefined);
      if (verdict) return verdict;
      return missing.length === 0 ? DENIED : { allowed: false, reason: `RBAC: ${joined(missing)}` };
    },

    rulesFor(user, namespace) {
      const bindings = index();
      const rules: PolicyRule[] = [];
      for (const place of namespace === '' ? [''] : ['', namespace]) {
        const grants = bindings.grants(place);
        if (!grants) continue;
        // A binding that names the user twice (by name and by group) adds its rules once.
        const found = new Map<string, Binding>();
        for (const list of [grants.users.get(user.name), ...user.groups.map((group) => grants.groups.get(group))]) {
          for (const { binding } of list ?? []) found.set(binding.key, binding);
        }
        for (const { roleKey } of [...found.values()].sort(by((each) => each.key))) {
          rules.push(...(bindings.role(roleKey)?.rules ?? []));
        }
      }
      return rules;
    },
  };
}

const joined = (texts: readonly string[]): string => {
  const distinct = [...new Set(texts)];
  return distinct.length === 1 ? distinct[0]! : `[${distinct.join(', ')}]`;
};

/** The middle of the message: which user cannot do what, where. */
export function forbiddenMessage(user: User, what: Attributes): string {
  const { verb, group = '', resource = '', subresource, namespace, path } = what;
  const who = `User ${quote(user.name)} cannot ${verb}`;
  if (path !== undefined) return `${who} path ${quote(path)}`;
  const full = subresource ? `${resource}/${subresource}` : resource;
  const where = namespace ? `in the namespace ${quote(namespace)}` : 'at the cluster scope';
  return `${who} resource ${quote(full)} in API group ${quote(group)} ${where}`;
}

/**
 * The error for a client without permission. With a verdict's reason it also names the binding whose role is missing.
 */
export function forbiddenError(user: User, what: Attributes, reason = ''): ApiError {
  const why = `${escaped(forbiddenMessage(user, what))}${reason === '' ? '' : `: ${reason}`}`;
  const { group = '', resource: plural, name } = what;
  if (plural === undefined || what.path !== undefined) return new ApiError(403, 'Forbidden', `forbidden: ${why}`, {});
  const subject = `${qualified({ group, plural })}${name ? ` ${JSON.stringify(name)}` : ''}`;
  return new ApiError(403, 'Forbidden', `${subject} is forbidden: ${why}`, {
    ...(name ? { name } : {}),
    ...(group ? { group } : {}),
    kind: plural,
  });
}

// The message may be shown in a browser, and the caller chooses the path in it.
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
