// The special behavior of Roles, ClusterRoles and their bindings: defaults, validation, and who may write them.
import type { FieldCause } from '../../api/kind.ts';
import { invalidValue, required, unsupportedValue } from '../../api/status.ts';
import { deepEqual } from '../../base/json.ts';
import { dnsSubdomainErrors, pathSegmentErrors } from '../../base/names.ts';
import { RBAC_GROUP } from '../auth/binding-index.ts';
import { checkClusterRole, checkClusterRoleBinding, checkRole, checkRoleBinding } from '../auth/escalation.ts';
import type { PolicyRule } from '../cluster.ts';
import type { Behaviour } from '../registry.ts';
import type { SelectorDraft } from './drafts.ts';
import { selectorCauses } from './field-checks.ts';

type Special = Pick<Behaviour, 'default' | 'prepare' | 'validate'>;

/** Drafts are decoded against their schema first, so present fields have these types. */
interface Subject {
  kind?: string;
  apiGroup?: string;
  name?: string;
  namespace?: string;
}

interface RoleRef {
  apiGroup?: string;
  kind?: string;
  name?: string;
}

type Causes = readonly FieldCause[];

// ---- roles

const ruleCauses = (rules: unknown, isNamespaced: boolean): Causes =>
  ((rules ?? []) as readonly Partial<PolicyRule>[]).flatMap((rule, index) =>
    causesOfRule(`rules[${index}]`, rule, isNamespaced),
  );

function causesOfRule(at: string, rule: Partial<PolicyRule>, isNamespaced: boolean): Causes {
  const { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const causes: FieldCause[] = [];
  if (verbs.length === 0) causes.push(required(`${at}.verbs`, 'verbs must contain at least one value'));
  if (nonResourceURLs.length > 0) {
    const refuse = (why: string) => causes.push(invalidValue(`${at}.nonResourceURLs`, nonResourceURLs, why));
    if (isNamespaced) refuse('namespaced rules cannot apply to non-resource URLs');
    if (apiGroups.length > 0 || resources.length > 0 || resourceNames.length > 0) {
      refuse('rules cannot apply to both regular resources and non-resource URLs');
    }
    return causes;
  }
  if (apiGroups.length === 0) {
    causes.push(required(`${at}.apiGroups`, 'resource rules must supply at least one api group'));
  }
  if (resources.length === 0) {
    causes.push(required(`${at}.resources`, 'resource rules must supply at least one resource'));
  }
  return causes;
}

function aggregationCauses(aggregationRule: unknown): Causes {
  if (aggregationRule === undefined || aggregationRule === null) return [];
  const { clusterRoleSelectors = [] } = aggregationRule as { clusterRoleSelectors?: readonly SelectorDraft[] };
  const at = 'aggregationRule.clusterRoleSelectors';
  if (clusterRoleSelectors.length === 0) {
    return [required(at, 'at least one clusterRoleSelector required if aggregationRule is non-nil')];
  }
  return clusterRoleSelectors.flatMap((selector, index) => {
    const causes = selectorCauses(`${at}[${index}]`, selector);
    return causes.length === 0 ? [] : [...causes, invalidValue(`${at}[${index}]`, null, 'invalid label selector.')];
  });
}

// ---- bindings

const defaultBinding: Behaviour['default'] = (draft) => {
  const roleRef = draft.roleRef as RoleRef | undefined;
  if (roleRef && !roleRef.apiGroup) roleRef.apiGroup = RBAC_GROUP;
  for (const subject of (draft.subjects ?? []) as Subject[]) {
    if (!subject.apiGroup && (subject.kind === 'User' || subject.kind === 'Group')) subject.apiGroup = RBAC_GROUP;
  }
};

const validateBinding =
  (roleKinds: readonly string[], isNamespaced: boolean): NonNullable<Behaviour['validate']> =>
  (object, old) => {
    const { apiGroup = '', kind = '', name = '' } = (object.roleRef ?? {}) as RoleRef;
    const causes: FieldCause[] = [];
    if (apiGroup !== RBAC_GROUP) causes.push(unsupportedValue('roleRef.apiGroup', apiGroup, [RBAC_GROUP]));
    if (!roleKinds.includes(kind)) causes.push(unsupportedValue('roleRef.kind', kind, roleKinds));
    if (name === '') causes.push(required('roleRef.name'));
    else causes.push(...pathSegmentErrors(name).map((why) => invalidValue('roleRef.name', name, why)));
    for (const [index, subject] of ((object.subjects ?? []) as readonly Subject[]).entries()) {
      causes.push(...subjectCauses(`subjects[${index}]`, subject, isNamespaced));
    }
    if (old && !deepEqual(old.roleRef, object.roleRef)) {
      causes.push(invalidValue('roleRef', { APIGroup: apiGroup, Kind: kind, Name: name }, 'cannot change roleRef'));
    }
    return causes;
  };

function subjectCauses(at: string, subject: Subject, isNamespaced: boolean): Causes {
  const { kind = '', apiGroup = '', name = '', namespace = '' } = subject;
  const causes: FieldCause[] = [];
  if (name === '') causes.push(required(`${at}.name`));
  switch (kind) {
    case 'ServiceAccount':
      if (name !== '') causes.push(...dnsSubdomainErrors(name).map((why) => invalidValue(`${at}.name`, name, why)));
      if (apiGroup !== '') causes.push(unsupportedValue(`${at}.apiGroup`, apiGroup, ['']));
      if (!isNamespaced && namespace === '') causes.push(required(`${at}.namespace`));
      break;
    case 'User':
    case 'Group':
      if (apiGroup !== RBAC_GROUP) causes.push(unsupportedValue(`${at}.apiGroup`, apiGroup, [RBAC_GROUP]));
      break;
    default:
      causes.push(unsupportedValue(`${at}.kind`, kind, ['ServiceAccount', 'User', 'Group']));
  }
  return causes;
}

/** By plural; to be spread over the common behavior. `prepare` throws the 403 of a forbidden grant. */
export const rbacBehaviours: Readonly<
  Record<'roles' | 'clusterroles' | 'rolebindings' | 'clusterrolebindings', Special>
> = {
  roles: { prepare: checkRole, validate: (object) => ruleCauses(object.rules, true) },
  clusterroles: {
    prepare: checkClusterRole,
    validate: (object) => [...ruleCauses(object.rules, false), ...aggregationCauses(object.aggregationRule)],
  },
  rolebindings: {
    default: defaultBinding,
    prepare: checkRoleBinding,
    validate: validateBinding(['Role', 'ClusterRole'], true),
  },
  clusterrolebindings: {
    default: defaultBinding,
    prepare: checkClusterRoleBinding,
    validate: validateBinding(['ClusterRole'], false),
  },
};
