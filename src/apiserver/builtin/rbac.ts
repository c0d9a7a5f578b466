// Roles and bindings for the registry; their special behavior is in auth/.

import type { Behaviour, Draft } from '../registry.ts';
import { behaviour, pathName } from './behaviour.ts';
import { rbacBehaviours } from './rbac-objects.ts';

const shared = { createOnUpdate: true, nameError: pathName } as const;

// Validation rejects a rule without verbs later; until then the list is empty.
const verbsPresent = (draft: Draft): void => {
  for (const rule of (draft.rules ?? []) as { verbs?: string[] | null }[]) rule.verbs ??= [];
};

/** An empty list of rules is stored as null. */
const noEmptyRules = (draft: Draft): void => {
  if (Array.isArray(draft.rules) && draft.rules.length === 0) draft.rules = null;
};

const ruled = { ...shared, default: verbsPresent, drop: noEmptyRules } as const;
export const role: Behaviour = behaviour({ ...ruled, ...rbacBehaviours.roles });
export const clusterRole: Behaviour = behaviour({ ...ruled, ...rbacBehaviours.clusterroles });
export const roleBinding: Behaviour = behaviour({ ...shared, ...rbacBehaviours.rolebindings });
export const clusterRoleBinding: Behaviour = behaviour({ ...shared, ...rbacBehaviours.clusterrolebindings });
