// A PUT or an apply that creates an object also needs the create permission.
import { forbiddenError } from '../auth/rbac.ts';
import type { Cluster } from '../cluster.ts';
import type { At, Caller } from './call.ts';

/** The permission to update existing objects does not include the permission to create. */
export function checkMayCreate(
  { authorizer }: Cluster,
  { resource, namespace, name = '' }: At,
  { user }: Caller,
): void {
  const { group, plural } = resource;
  const wanted = { verb: 'create', group, resource: plural, ...(namespace === '' ? {} : { namespace }), name };
  const { allowed, reason } = authorizer.allows(user, wanted);
  if (!allowed) throw forbiddenError(user, wanted, reason);
}
