// Roles and bindings as the registry wants them; what is special about them stands in auth/.
import { rbacBehaviours } from '../auth/rbac-objects.ts';
import type { Behaviour } from '../registry.ts';
import { behaviour, pathName } from './behaviour.ts';

const shared = { createOnUpdate: true, nameError: pathName } as const;

export const role: Behaviour = behaviour({ ...shared, ...rbacBehaviours.roles });
export const clusterRole: Behaviour = behaviour({ ...shared, ...rbacBehaviours.clusterroles });
export const roleBinding: Behaviour = behaviour({ ...shared, ...rbacBehaviours.rolebindings });
export const clusterRoleBinding: Behaviour = behaviour({ ...shared, ...rbacBehaviours.clusterrolebindings });
