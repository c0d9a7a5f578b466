// Roles and bindings as the registry wants them; what is special about them is in auth/.

import type { Behaviour, Draft } from '../registry.ts';
import { behaviour, pathName } from './behaviour.ts';
import { rbacBehaviours } from './rbac-objects.ts';

const shared = { createOnUpdate: true, nameError: pathName } as const;

// A rule without verbs is refused later; until then it has none rather than nothing.
const verbsPresent = (draft: Draft): void => {
  for (const rule of (draft.rules ?? []) as { verbs?: string[] | null }[]) rule.verbs ??= [];
};

/** No rules are nothing, not an empty list. */
const noEmptyRules = (draft: Draft): void => {
  if (Array.isArray(draft.rules) && draft.rules.length === 0) draft.rules = null;
};

const ruled = { ...shared, default: verbsPresent, drop: noEmptyRules } as const;
export const role: Behaviour = behaviour({ ...ruled, ...rbacBehaviours.roles });
export const clusterRole: Behaviour = behaviour({ ...ruled, ...rbacBehaviours.clusterroles });
export const roleBinding: Behaviour = behaviour({ ...shared, ...rbacBehaviours.rolebindings });
export const clusterRoleBinding: Behaviour = behaviour({ ...shared, ...rbacBehaviours.clusterrolebindings });
