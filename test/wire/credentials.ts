// The tokens of members, as somebody presents them who has kept one; and all that a hub knows of a member.
import { readFileSync } from 'node:fs';
import { internalMemberCluster } from '../../src/api/internal-member-cluster.ts';
import { memberNamespace } from '../../src/api/names.ts';
import { parseYaml } from '../../src/base/yaml.ts';
import type { Kubectl } from './fleet.ts';
import { call } from './https.ts';

/** The token in a file that `flotilla join` wrote. */
export function tokenIn(file: string): string {
  const { users } = parseYaml(readFileSync(file, 'utf8')) as { users: [{ user: { token: string } }] };
  return users[0].user.token;
}

/** The status code of the hub of this kubeconfig for somebody with this token who asks for what is a member's own. */
export async function codeFor(kubeconfig: string, token: string, member: string): Promise<number> {
  const { group, version, plural } = internalMemberCluster;
  const path = `/apis/${group}/${version}/namespaces/${memberNamespace(member)}/${plural}`;
  const headers = { authorization: `Bearer ${token}` };
  return (await call(kubeconfig, 'GET', path, { anonymous: true, headers })).code;
}

/** Kind, namespace and name of every object on the hub that names the member anywhere. Events tell of the past. */
export async function tracesOf(kubectl: Kubectl, member: string): Promise<readonly string[]> {
  const hub = (args: readonly string[]) => kubectl.ok(['--context', 'hub', ...args]);
  const kinds = (await hub(['api-resources', '--verbs=list', '-o', 'name'])).trim().split('\n');
  const listed = kinds.filter((kind) => !/^events(\.|$)/.test(kind)).join(',');
  const { items } = JSON.parse(await hub(['get', listed, '-A', '-o', 'json'])) as {
    readonly items: readonly {
      readonly kind: string;
      readonly metadata: { readonly namespace?: string; readonly name: string };
    }[];
  };
  return items
    .filter((item) => JSON.stringify(item).includes(member))
    .map(({ kind, metadata: { namespace = '', name } }) => `${kind} ${namespace}/${name}`);
}
