// `flotilla join NAME --revoke`: revokes the identity of a member at once. Deleting its ServiceAccount invalidates all
// of its tokens, also issued ones, and a new ServiceAccount of that name is another identity.
import { joinObjects } from '../../api/join.ts';
import { type MemberCluster, memberCluster } from '../../api/member-cluster.ts';
import type { KubeObject } from '../../api/object.ts';
import { ApiError, UserError } from '../../base/errors.ts';
import type { Connected } from '../server/connect.ts';
import { type Print, refer, targetOf } from '../server/target.ts';

export async function revoke(server: Connected, name: string, print: Print): Promise<void> {
  const identity = (await memberOf(server, name))?.spec.identity;
  if (identity !== undefined && identity.kind !== 'ServiceAccount') {
    throw new UserError(
      'NotRevocable',
      `member "${name}" is the ${identity.kind} "${identity.name}": the hub did not issue its credential and cannot revoke it; give the MemberCluster another spec.identity, or delete it`,
    );
  }
  const { serviceAccount, tokenSecret } = joinObjects({ name });
  const account: KubeObject =
    identity === undefined
      ? serviceAccount
      : {
          ...serviceAccount,
          metadata: { name: identity.name, namespace: identity.namespace ?? serviceAccount.metadata.namespace ?? '' },
        };
  const deleted = [];
  for (const object of [account, tokenSecret]) if (await removeIfThere(server, object, print)) deleted.push(object);
  if (deleted.length === 0) throw new UserError('NoIdentity', `member "${name}" has no identity on this hub`);
  print.line(`the identity of member "${name}" is revoked; to give it a new one, run:`);
  print.line(`  flotilla join ${name} -o <new file>`);
}

async function memberOf(server: Connected, name: string): Promise<MemberCluster | undefined> {
  try {
    const { object } = await server.transport.call({ verb: 'get', at: { resource: memberCluster, name } });
    return object as MemberCluster | undefined;
  } catch (error) {
    if (error instanceof ApiError && error.code === 404) return undefined;
    throw error;
  }
}

async function removeIfThere(server: Connected, object: KubeObject, print: Print): Promise<boolean> {
  const at = targetOf(server, object);
  try {
    await server.transport.call({ verb: 'delete', at });
  } catch (error) {
    if (error instanceof ApiError && error.code === 404) return false;
    throw error;
  }
  print.line(`${refer(at)} deleted`);
  return true;
}
