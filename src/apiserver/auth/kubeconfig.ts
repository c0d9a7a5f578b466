// Kubeconfig files: how clients reach a server, trust it, and authenticate.
import { dirname } from 'node:path';
import { stringify } from 'yaml';
import { makeDirectory } from '../store/make-directory.ts';
import type { Credential } from './certificates.ts';
import { writePrivateFile } from './private-file.ts';

export interface KubeconfigCluster {
  readonly server: string;
  /** PEM. Absent for plain http. */
  readonly caCertificate?: string;
}

/** A client certificate, a token, or nothing. */
export type KubeconfigUser = Credential | { readonly token: string } | Readonly<Record<string, never>>;

export interface KubeconfigContext {
  readonly cluster: string;
  readonly user: string;
  readonly namespace?: string;
}

export interface Kubeconfig {
  readonly clusters: Readonly<Record<string, KubeconfigCluster>>;
  readonly users: Readonly<Record<string, KubeconfigUser>>;
  readonly contexts: Readonly<Record<string, KubeconfigContext>>;
  readonly current: string;
}

/** The address of a server; with `cluster`, of one cluster behind a listener with several. */
export function serverUrl(at: {
  readonly scheme?: 'https' | 'http';
  readonly host: string;
  readonly port: number;
  readonly cluster?: string;
}): string {
  const host = at.host.includes(':') ? `[${at.host}]` : at.host;
  const path = at.cluster === undefined ? '' : `/clusters/${encodeURIComponent(at.cluster)}`;
  return `${at.scheme ?? 'https'}://${host}:${at.port}${path}`;
}

export const kubeconfigText = ({ clusters, users, contexts, current }: Kubeconfig): string =>
  stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: named(clusters, 'cluster', clusterEntry),
      users: named(users, 'user', userEntry),
      contexts: named(contexts, 'context', (context) => context),
      'current-context': current,
    },
    // Keys are long single lines; folding them would be valid YAML, but break grep.
    { lineWidth: 0 },
  );

/** Writes to the given path, readable only by the owner. It never changes the user's default kubeconfig by itself. */
export async function writeKubeconfig(path: string, kubeconfig: Kubeconfig): Promise<void> {
  await makeDirectory(dirname(path));
  await writePrivateFile(path, kubeconfigText(kubeconfig));
}

const named = <T>(entries: Readonly<Record<string, T>>, word: string, show: (entry: T) => object) =>
  Object.entries(entries).map(([name, entry]) => ({ name, [word]: show(entry) }));

const clusterEntry = ({ server, caCertificate }: KubeconfigCluster) => ({
  server,
  ...(caCertificate === undefined ? {} : { 'certificate-authority-data': base64(caCertificate) }),
  // There is nothing to verify over http, but some client libraries require the option.
  ...(server.startsWith('http:') ? { 'insecure-skip-tls-verify': true } : {}),
});

function userEntry(user: KubeconfigUser): object {
  if ('token' in user) return { token: user.token };
  if (!('certificate' in user)) return {};
  const { certificate, privateKey } = user as Credential;
  return { 'client-certificate-data': base64(certificate), 'client-key-data': base64(privateKey) };
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');
