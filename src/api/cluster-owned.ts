// Objects that belong to a cluster itself: every API server creates them, and a cluster does not work without them.
// They are never placed, taken over or deleted (docs/adr/0010).
// Differs from KubeFleet, which takes them over like any object and deletes them with the placement.
import type { ObjectMeta } from './object.ts';
import { RBAC_GROUP } from './resources.ts';

/** On objects that the API server creates when it starts, and restores when it restarts. */
export const BOOTSTRAPPING_LABEL = 'kubernetes.io/bootstrapping';

const ROLES: ReadonlySet<string> = new Set(['cluster-admin', 'admin', 'edit', 'view']);
const isSystemRole = (name: string): boolean => name.startsWith('system:') || ROLES.has(name);

/** By `group/Kind`, any version. */
const NAMES: ReadonlyMap<string, (name: string) => boolean> = new Map([
  [`${RBAC_GROUP}/ClusterRole`, isSystemRole],
  [`${RBAC_GROUP}/ClusterRoleBinding`, isSystemRole],
  ['scheduling.k8s.io/PriorityClass', (name: string) => name.startsWith('system-')],
]);

interface OfKind {
  readonly group?: string | undefined;
  readonly kind?: string | undefined;
}

export const hasClusterOwnedName = ({ group = '', kind = '' }: OfKind, name: string): boolean =>
  NAMES.get(`${group}/${kind}`)?.(name) ?? false;

export const isClusterOwned = (of: OfKind, { name = '', labels = {} }: Pick<ObjectMeta, 'name' | 'labels'>): boolean =>
  Object.hasOwn(labels, BOOTSTRAPPING_LABEL) || hasClusterOwnedName(of, name);
