// A PUT or an apply that creates needs the right to create as well.
import { forbiddenError } from '../auth/rbac.ts';
import type { Cluster } from '../cluster.ts';
import type { At, Caller } from './call.ts';

/** Who may update what is there may not therefore add what is not. */
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
