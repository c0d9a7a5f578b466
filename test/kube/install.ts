// What a person does on real clusters before and while Flotilla runs there, with kubectl and the program's own commands.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { kubeconfigOf, type Plane } from '../../scripts/kube/plane.ts';
import { findProgram } from '../../scripts/kube/programs.ts';
import { type Kubeconfig, kubeconfigText } from '../../src/apiserver/auth/kubeconfig.ts';
import { flotilla, type Kubectl, kubectlFor } from '../wire/fleet.ts';

/** Context names and the planes that they mean. The first is the current one. */
export type Contexts = Readonly<Record<string, Plane>>;

/** Further contexts: a token of an account of that cluster. */
export type Accounts = Readonly<Record<string, { readonly cluster: string; readonly token: string }>>;

/** A kubeconfig in the folder: the administrator of all of them, and whom else. */
export function writeContexts(folder: string, contexts: Contexts, accounts: Accounts = {}): string {
  const named = Object.entries(contexts).map(([name, { folder: place }]) => ({ name, folder: place }));
  const file = join(folder, 'kubeconfig');
  writeFileSync(file, kubeconfigText(withAccounts(kubeconfigOf(named), accounts)), { mode: 0o600 });
  return file;
}

const withAccounts = ({ clusters, users, contexts, current }: Kubeconfig, accounts: Accounts): Kubeconfig => ({
  clusters,
  users: {
    ...users,
    ...Object.fromEntries(Object.entries(accounts).map(([name, { token }]) => [name, { token }])),
  },
  contexts: {
    ...contexts,
    ...Object.fromEntries(Object.entries(accounts).map(([name, { cluster }]) => [name, { cluster, user: name }])),
  },
  current,
});

/** The kubectl of the planes' own version. */
export const kubectlOf = (kubeconfig: string, home: string): Kubectl =>
  kubectlFor({ kubeconfig }, home, findProgram('kubectl'));

/** Everything that the hub's controllers need. Returns a token of the account that they run as. */
export async function installHub(kubectl: Kubectl, home: string, context: string): Promise<string> {
  for (const args of [['crds', 'hub'], ['roles', 'hub'], ['policies']])
    await applyPrinted(kubectl, home, context, args);
  return tokenOf(kubectl, context, 'flotilla-hub');
}

/** Everything that an agent needs on its own cluster. Returns a token of the account that it runs as. */
export async function installMember(kubectl: Kubectl, home: string, context: string): Promise<string> {
  for (const what of ['crds', 'roles']) await applyPrinted(kubectl, home, context, [what, 'member']);
  return tokenOf(kubectl, context, 'flotilla-member');
}

async function applyPrinted(kubectl: Kubectl, home: string, context: string, args: readonly string[]): Promise<void> {
  const { code, stdout, stderr } = await flotilla(home, args);
  if (code !== 0) throw new Error(`flotilla ${args.join(' ')} ended with ${code}: ${stderr}`);
  await kubectl.ok(['--context', context, 'apply', '-f', '-'], stdout);
}

const tokenOf = async (kubectl: Kubectl, context: string, account: string): Promise<string> =>
  (await kubectl.ok(['--context', context, '-n', 'fleet-system', 'create', 'token', account, '--duration=8h'])).trim();

/** The file with which the agent of this member reaches the hub. */
export async function joinMember(
  folder: string,
  kubeconfig: string,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<string> {
  const file = join(folder, `${name}.kubeconfig`);
  const given = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  const { code, stderr } = await flotilla(folder, [
    ...['join', name, '--kubeconfig', kubeconfig, '--context', 'hub', '-o', file],
    ...(given.length === 0 ? [] : ['--labels', given.join(',')]),
  ]);
  if (code !== 0) throw new Error(`join ${name} ended with ${code}: ${stderr}`);
  return file;
}
