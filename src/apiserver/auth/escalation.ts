// Prevents privilege escalation: no user can grant permissions that they do not have.
//
// A Role or ClusterRole may contain only permissions that its author holds, unless the author may `escalate`; a binding
// may reference only a role whose rules its author holds, unless the author may `bind` it. Members of system:masters
// may do both. Each check throws the ApiError of a real server; call it before validation, with the object to be
// stored.
import type { KubeObject, User } from '../../api/object.ts';
import { forbidden, notFound } from '../../api/status.ts';
import { deepEqual } from '../../base/json.ts';
import type { PolicyRule } from '../cluster.ts';
import type { Draft, WriteContext } from '../registry.ts';
import { isAggregated } from './aggregation.ts';
import { RBAC_GROUP, roleKeyOf, rulesOf } from './binding-index.ts';
import { type Atom, atomCount, describeAtoms, uncovered } from './covering.ts';
import { quote, quoteAll } from './quote.ts';
import { MASTERS } from './service-account.ts';

type Check = (draft: Draft, old: KubeObject | undefined, context: WriteContext) => void;

const EVERYTHING: readonly PolicyRule[] = [
  { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
  { nonResourceURLs: ['*'], verbs: ['*'] },
];

export const checkRole: Check = (draft, old, context) => checkRules('roles', draft, old, context);

export const checkClusterRole: Check = (draft, old, context) => checkRules('clusterroles', draft, old, context);

function checkRules(
  plural: 'roles' | 'clusterroles',
  draft: Draft,
  old: KubeObject | undefined,
  { cluster, user }: WriteContext,
): void {
  if (user.groups.includes(MASTERS) || onlyMovesTowardsDeletion(draft, old)) return;
  const namespace = draft.metadata.namespace ?? '';
  const { name = '' } = draft.metadata;
  const mayEscalate = cluster.authorizer.allows(user, {
    verb: 'escalate',
    group: RBAC_GROUP,
    resource: plural,
    ...(namespace === '' ? {} : { namespace }),
    // The name of a new object is not part of the request.
    ...(old === undefined ? {} : { name }),
  });
  if (mayEscalate.allowed) return;
  const held = cluster.authorizer.rulesFor(user, namespace);
  const refused = (why: string) => forbidden({ group: RBAC_GROUP, plural }, name, why);
  const wanted = rulesOf(draft as KubeObject);
  if (isBeyondComparing(wanted)) throw refused(BEYOND_COMPARING);
  const missing = uncovered(held, wanted);
  if (missing.length > 0) throw refused(attempt(user, missing));
  // Its rules will be those of other roles with the label, so only users with all permissions may create it.
  const aggregates = isAggregated(draft as KubeObject) || (old !== undefined && isAggregated(old));
  if (plural === 'clusterroles' && aggregates && uncovered(held, EVERYTHING).length > 0) {
    throw refused('must have cluster-admin privileges to use the aggregationRule');
  }
}

export const checkRoleBinding: Check = (draft, old, context) => checkBinding('rolebindings', draft, old, context);

export const checkClusterRoleBinding: Check = (draft, old, context) =>
  checkBinding('clusterrolebindings', draft, old, context);

function checkBinding(
  plural: 'rolebindings' | 'clusterrolebindings',
  draft: Draft,
  old: KubeObject | undefined,
  { cluster, user }: WriteContext,
): void {
  if (user.groups.includes(MASTERS) || onlyMovesTowardsDeletion(draft, old)) return;
  const namespace = draft.metadata.namespace ?? '';
  const { name = '' } = draft.metadata;
  const key = roleKeyOf(draft.roleRef, namespace);
  if (key === undefined) return; // validation reports the error
  const role = draft.roleRef as { readonly kind: string; readonly name: string };
  const mayBind = cluster.authorizer.allows(user, {
    verb: 'bind',
    group: RBAC_GROUP,
    resource: role.kind === 'Role' ? 'roles' : 'clusterroles',
    ...(namespace === '' ? {} : { namespace }),
    name: role.name,
  });
  if (mayBind.allowed) return;
  const resource = { group: RBAC_GROUP, plural };
  const bound = cluster.store.get(key)?.object();
  // A real server names the resource of the binding here, although the role is missing.
  if (!bound) throw notFound(resource, role.name);
  const wanted = rulesOf(bound);
  if (isBeyondComparing(wanted)) throw forbidden(resource, name, BEYOND_COMPARING);
  const missing = uncovered(cluster.authorizer.rulesFor(user, namespace), wanted);
  if (missing.length > 0) throw forbidden(resource, name, attempt(user, missing));
}

// Differs from Kubernetes, which has no limit: a few kilobytes of lists would keep this server busy for hours.
const MAX_ATOMS = 50_000;
const BEYOND_COMPARING = `the rules expand to more than ${MAX_ATOMS} permissions, too many to compare with those of the user`;

const isBeyondComparing = (rules: readonly PolicyRule[]): boolean =>
  rules.reduce((sum, rule) => sum + atomCount(rule), 0) > MAX_ATOMS;

const attempt = (user: User, missing: readonly Atom[]): string =>
  `user ${quote(user.name)} (groups=${quoteAll(user.groups)}) is attempting to grant RBAC permissions not currently held:\n${describeAtoms(missing)}`;

/**
 * A write that only removes finalizers or owner references allows a deletion and grants nothing, whatever the object
 * contains.
 */
function onlyMovesTowardsDeletion(draft: Draft, old: KubeObject | undefined): boolean {
  if (old === undefined) return false;
  const bare = (object: Draft | KubeObject) => {
    const {
      finalizers: _,
      ownerReferences: __,
      managedFields: ___,
      resourceVersion: ____,
      ...metadata
    } = object.metadata;
    return { ...object, metadata };
  };
  return deepEqual(bare(draft), bare(old));
}
