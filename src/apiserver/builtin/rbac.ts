// Roles and bindings as the registry wants them; what is special about them stands in auth/.

import type { Behaviour, Draft } from '../registry.ts';
import { behaviour, pathName } from './behaviour.ts';
import { rbacBehaviours } from './rbac-objects.ts';

const shared = { createOnUpdate: true, nameError: pathName } as const;

// A rule without verbs is refused later; until then it has none rather than nothing.
const verbsPresent = (draft: Draft): void => {
  // No rules are nothing, not an empty list.
  if (Array.isArray(draft.rules) && draft.rules.length === 0) draft.rules = null;
  for (const rule of (draft.rules ?? []) as { verbs?: string[] | null }[]) rule.verbs ??= [];
};

export const role: Behaviour = behaviour({ ...shared, default: verbsPresent, ...rbacBehaviours.roles });
export const clusterRole: Behaviour = behaviour({ ...shared, default: verbsPresent, ...rbacBehaviours.clusterroles });
export const roleBinding: Behaviour = behaviour({ ...shared, ...rbacBehaviours.rolebindings });
export const clusterRoleBinding: Behaviour = behaviour({ ...shared, ...rbacBehaviours.clusterrolebindings });
