// The RBAC bindings by subject, updated from the store's changes.
//
// Guarantee: after `sync` the index contains everything that is visible in the store. There is no subscription: each
// query applies the RBAC changes since the last one, and a cluster without queries costs nothing.
import type { KubeObject } from '../../api/object.ts';
import { by } from '../../base/compare.ts';
import { isObject } from '../../base/json.ts';
import type { PolicyRule, Verdict } from '../cluster.ts';
import { keyOf, prefixOf, type Store } from '../store/store.ts';
import { type CompiledRole, compileRole } from './policy-rule.ts';
import { quote } from './quote.ts';
import { accountUserName } from './service-account.ts';

export const RBAC_GROUP = 'rbac.authorization.k8s.io';

const BINDINGS = ['clusterrolebindings', 'rolebindings'].map((plural) => prefixOf(RBAC_GROUP, plural));
const ROLES = ['clusterroles', 'roles'].map((plural) => prefixOf(RBAC_GROUP, plural));

export interface Binding {
  readonly key: string;
  /** The key of the role, and its name for messages if it does not exist. */
  readonly roleKey: string;
  readonly missing: string;
}

/** One subject of one binding. */
export interface Grant {
  readonly binding: Binding;
  readonly verdict: Verdict;
}

/** Two maps instead of one with prefixed keys, so that a query allocates no string. ServiceAccounts are users. */
interface Shelf {
  readonly users: Map<string, Grant[]>;
  readonly groups: Map<string, Grant[]>;
}

type SubjectKind = keyof Shelf;

interface Placed {
  readonly kind: SubjectKind;
  readonly name: string;
}

export interface Grants {
  readonly users: ReadonlyMap<string, readonly Grant[]>;
  readonly groups: ReadonlyMap<string, readonly Grant[]>;
}

export interface BindingIndex {
  /** Applies the changes that became visible in the store since the last call. */
  sync(): void;
  /** The grants in a namespace, by user name and by group name; '' = the cluster-wide ones. */
  grants(namespace: string): Grants | undefined;
  role(key: string): CompiledRole | undefined;
}

export function createBindingIndex(store: Store): BindingIndex {
  let seen: number | undefined;
  const byNamespace = new Map<string, Shelf>();
  /** The subjects that each binding added, to remove them again. */
  const subjectsOf = new Map<string, { readonly namespace: string; readonly subjects: readonly Placed[] }>();
  /** Compiled on first use; null = the role does not exist. */
  const roles = new Map<string, CompiledRole | null>();

  function add(key: string, object: KubeObject): void {
    const namespace = object.metadata.namespace ?? '';
    const binding = bindingOf(key, object);
    if (!binding) return;
    const subjects: Placed[] = [];
    const shelf = byNamespace.get(namespace) ?? { users: new Map(), groups: new Map() };
    byNamespace.set(namespace, shelf);
    for (const subject of listOf(object.subjects)) {
      const placed = placeOf(subject, namespace);
      if (!placed) continue;
      subjects.push(placed);
      const grant = { binding, verdict: verdictOf(object, placed) };
      const others = shelf[placed.kind].get(placed.name);
      if (!others) shelf[placed.kind].set(placed.name, [grant]);
      else if (others.push(grant) > 1 && others.at(-2)!.binding.key > key)
        others.sort(by((each: Grant) => each.binding.key));
    }
    subjectsOf.set(key, { namespace, subjects });
  }

  function remove(key: string): void {
    const known = subjectsOf.get(key);
    if (!known) return;
    subjectsOf.delete(key);
    const shelf = byNamespace.get(known.namespace);
    if (!shelf) return;
    for (const { kind, name } of known.subjects) {
      const left = shelf[kind].get(name)?.filter((grant) => grant.binding.key !== key) ?? [];
      if (left.length > 0) shelf[kind].set(name, left);
      else shelf[kind].delete(name);
    }
    if (shelf.users.size === 0 && shelf.groups.size === 0) byNamespace.delete(known.namespace);
  }

  function readAll(): void {
    byNamespace.clear();
    subjectsOf.clear();
    roles.clear();
    for (const prefix of BINDINGS) {
      for (const stored of store.range(prefix).items) add(stored.key, stored.object());
    }
  }

  return {
    sync() {
      const { visible } = store;
      if (visible === seen) return;
      const since = seen;
      seen = visible;
      if (since === undefined) return readAll();
      for (const prefix of ROLES) {
        const changes = store.since(since, prefix);
        if (changes === 'compacted') return readAll();
        for (const { key } of changes) roles.delete(key);
      }
      for (const prefix of BINDINGS) {
        const changes = store.since(since, prefix);
        if (changes === 'compacted') return readAll();
        for (const { key, deleted, stored } of changes) {
          remove(key);
          if (!deleted) add(key, stored.object());
        }
      }
    },
    grants: (namespace) => byNamespace.get(namespace),
    role(key) {
      let role = roles.get(key);
      if (role === undefined) {
        const object = store.get(key)?.object();
        role = object ? compileRole(rulesOf(object)) : null;
        roles.set(key, role);
      }
      return role ?? undefined;
    },
  };
}

const NO_RULES: readonly PolicyRule[] = Object.freeze([]);

/** The rules of a Role or ClusterRole as stored. */
export const rulesOf = (role: KubeObject): readonly PolicyRule[] =>
  Array.isArray(role.rules) ? (role.rules as readonly PolicyRule[]) : NO_RULES;

/** The store key of the role that a binding references; undefined if the reference is invalid. */
export function roleKeyOf(roleRef: unknown, namespace: string): string | undefined {
  if (!isObject(roleRef) || typeof roleRef.name !== 'string') return undefined;
  if (roleRef.kind === 'ClusterRole') return keyOf(RBAC_GROUP, 'clusterroles', '', roleRef.name);
  return roleRef.kind === 'Role' ? keyOf(RBAC_GROUP, 'roles', namespace, roleRef.name) : undefined;
}

function bindingOf(key: string, object: KubeObject): Binding | undefined {
  const roleKey = roleKeyOf(object.roleRef, object.metadata.namespace ?? '');
  if (roleKey === undefined) return undefined;
  const { kind, name } = object.roleRef as { readonly kind: string; readonly name: string };
  return { key, roleKey, missing: `${kind.toLowerCase()}.${RBAC_GROUP} ${quote(name)} not found` };
}

interface PlacedSubject extends Placed {
  /** As printed in reasons. */
  readonly shown: string;
}

function placeOf(subject: unknown, bindingNamespace: string): PlacedSubject | undefined {
  if (!isObject(subject) || typeof subject.name !== 'string') return undefined;
  const { kind, name } = subject;
  if (kind === 'User') return { kind: 'users', name, shown: `User ${quote(name)}` };
  if (kind === 'Group') return { kind: 'groups', name, shown: `Group ${quote(name)}` };
  const namespace = (typeof subject.namespace === 'string' && subject.namespace) || bindingNamespace;
  if (kind !== 'ServiceAccount' || namespace === '') return undefined;
  const shown = `ServiceAccount ${quote(`${name}/${namespace}`)}`;
  return { kind: 'users', name: accountUserName(namespace, name), shown };
}

function verdictOf({ kind, metadata, roleRef }: KubeObject, { shown }: PlacedSubject): Verdict {
  const role = roleRef as { readonly kind: string; readonly name: string };
  const bound = metadata.namespace ? `${metadata.name}/${metadata.namespace}` : (metadata.name ?? '');
  const reason = `RBAC: allowed by ${kind} ${quote(bound)} of ${role.kind} ${quote(role.name)} to ${shown}`;
  return Object.freeze({ allowed: true, reason });
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
