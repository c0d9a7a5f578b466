// Who may open the gates of runs: the subjects that are bound to an approver role, as far as the caller may read that.

import type { Resource } from '../../api/kind.ts';
import type { KubeObject } from '../../api/object.ts';
import { RBAC_GROUP, roleBindingResource } from '../../api/resources.ts';
import { ApiError } from '../../base/errors.ts';
import { createClient } from '../../client/client.ts';
import type { Connected } from '../server/connect.ts';
import { APPROVER, CLUSTER_APPROVER } from '../setup/roles.ts';

const CLUSTER_ROLE_BINDINGS: Resource = {
  group: RBAC_GROUP,
  version: 'v1',
  kind: 'ClusterRoleBinding',
  plural: 'clusterrolebindings',
  namespaced: false,
};

interface Grant extends KubeObject {
  readonly roleRef?: { readonly kind: string; readonly name: string };
  readonly subjects?: readonly { readonly kind: string; readonly name: string; readonly namespace?: string }[];
}

/** As a phrase; only the role if its subjects cannot be read. */
export async function approversOf(
  { transport }: Pick<Connected, 'transport'>,
  namespace: string | undefined,
): Promise<readonly string[]> {
  const role = namespace === undefined ? CLUSTER_APPROVER : APPROVER;
  const client = createClient(transport, 'flotilla');
  try {
    const lists = await Promise.all([
      client.list(CLUSTER_ROLE_BINDINGS),
      ...(namespace === undefined ? [] : [client.list(roleBindingResource, { namespace })]),
    ]);
    const subjects = lists
      .flatMap(({ items }) => items as readonly Grant[])
      .filter(({ roleRef }) => roleRef?.kind === 'ClusterRole' && roleRef.name === role)
      .flatMap(({ subjects: given = [] }) => given)
      .map(({ kind, name, namespace: own }) => `${kind} "${own === undefined ? '' : `${own}/`}${name}"`);
    const named = [...new Set(subjects)].sort();
    return [
      named.length === 0
        ? `no one has the role ${role} yet, only administrators`
        : `${named.join(', ')} (role ${role}), and administrators`,
    ];
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return [`users with the role ${role}, and administrators`];
  }
}
