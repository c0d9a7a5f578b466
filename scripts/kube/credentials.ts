// The keys and certificates of one control plane, made once and kept in its folder: an authority, the server, and who may speak to it.
import { createPublicKey } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { User } from '../../src/api/object.ts';
import {
  type Credential,
  createAuthority,
  DAY_MS,
  issueClientCertificate,
  issueServerCertificate,
  newPrivateKey,
  SERVER_HOSTS,
} from '../../src/apiserver/auth/certificates.ts';
import { kubeconfigText } from '../../src/apiserver/auth/kubeconfig.ts';
import { systemRandom } from '../../src/base/random.ts';

/** By which name what was made here is known again. */
export const AUTHORITY = 'kube-plane';

const CLIENTS = {
  admin: { user: 'kube-admin', groups: ['system:masters'] },
  'controller-manager': { user: 'system:kube-controller-manager', groups: [] },
} as const;

/** The first address of the Services' range, which Pods know the API server by. */
const SERVICE_ADDRESS = '10.0.0.1';

/** `folder` is for its owner's eyes only. */
export function makeCredentials(folder: string): void {
  // The last that is written.
  if (existsSync(join(folder, 'accounts.pub'))) return;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const issuing = issuingNow();
  const authority = createAuthority({ ...issuing, name: AUTHORITY });
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text, { mode: 0o600 });
  const keep = (name: string, { certificate, privateKey }: Credential) => {
    write(`${name}.crt`, certificate);
    write(`${name}.key`, privateKey);
  };
  keep('ca', authority);
  keep('apiserver', issueServerCertificate(authority, { ...issuing, hosts: [...SERVER_HOSTS, SERVICE_ADDRESS] }));
  for (const [name, who] of Object.entries(CLIENTS))
    keep(name, issueClientCertificate(authority, { ...issuing, ...who }));
  const accounts = newPrivateKey();
  write('accounts.key', accounts);
  write('accounts.pub', createPublicKey(accounts).export({ type: 'spki', format: 'pem' }).toString());
}

const issuingNow = () => ({ now: Date.now(), random: systemRandom, lifetimeMs: 3650 * DAY_MS });

/** For anybody whom the plane is to know by this name. */
export const issueClient = (folder: string, { name, groups }: User): Credential =>
  issueClientCertificate(readCredential(folder, 'ca'), { ...issuingNow(), user: name, groups });

export const authorityIn = (folder: string): string => readFileSync(join(folder, 'ca.crt'), 'utf8');

export const clientIn = (folder: string, name: keyof typeof CLIENTS): Credential => readCredential(folder, name);

const readCredential = (folder: string, name: string): Credential => ({
  certificate: readFileSync(join(folder, `${name}.crt`), 'utf8'),
  privateKey: readFileSync(join(folder, `${name}.key`), 'utf8'),
});

/** For one of the plane's own programs. */
export const ownKubeconfig = (folder: string, name: keyof typeof CLIENTS, server: string): string =>
  kubeconfigText({
    clusters: { own: { server, caCertificate: authorityIn(folder) } },
    users: { own: clientIn(folder, name) },
    contexts: { own: { cluster: 'own', user: 'own' } },
    current: 'own',
  });
