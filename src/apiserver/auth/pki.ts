// The keys and certificates of a server, created on its first start and loaded afterwards.
//
// Guarantee: what clients rely on (the authority, the key that signs ServiceAccount tokens) is never replaced silently:
// if it is damaged, the start fails with a message. Server and administrator certificates are issued again when they
// expire soon, do not match their key, or lack a host.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, UserError } from '../../base/errors.ts';
import type { Random } from '../../base/random.ts';
import { makeDirectory } from '../store/make-directory.ts';
import {
  type Credential,
  createAuthority,
  DAY_MS,
  issueClientCertificate,
  issueServerCertificate,
  newPrivateKey,
  SERVER_HOSTS,
} from './certificates.ts';
import { addressBytes } from './ip-address.ts';
import { type SigningKey, signingKey } from './jwt.ts';
import { writePrivateFile } from './private-file.ts';
import { MASTERS } from './service-account.ts';

/** Storage for a few small files, by name. */
export interface PkiFiles {
  read(name: string): Promise<string | undefined>;
  write(name: string, text: string): Promise<void>;
}

export interface Pki {
  /** Signs the certificates of clients that join. */
  readonly authority: Credential;
  readonly server: Credential;
  /** A member of system:masters. */
  readonly admin: Credential;
  readonly signingKey: SigningKey;
}

export interface PkiOptions {
  readonly files: PkiFiles;
  readonly now: number;
  readonly random: Random;
  /** Additional names and addresses of the server. */
  readonly hosts?: readonly string[];
}

const AUTHORITY_NAME = 'flotilla';
export const ADMIN_USER = 'flotilla-admin';
const AUTHORITY_LIFETIME_MS = 10 * 365 * DAY_MS;
const LEAF_LIFETIME_MS = 365 * DAY_MS;
/** A leaf that expires sooner than this is issued again at the next start. */
const LEAF_MARGIN_MS = 60 * DAY_MS;
/** Prevents a leaf from expiring early because its authority does. */
const AUTHORITY_MARGIN_MS = 2 * LEAF_LIFETIME_MS;

export async function loadOrCreatePki({ files, now, random, hosts = [] }: PkiOptions): Promise<Pki> {
  const authority = await loadAuthority(files, now, random);
  const issuing = { now, random, lifetimeMs: LEAF_LIFETIME_MS };
  const allHosts = [...new Set([...SERVER_HOSTS, ...hosts])];
  const server = await loadLeaf(files, 'server', authority, now, {
    fits: (certificate) => allHosts.every((host) => answersTo(certificate, host)),
    issue: () => issueServerCertificate(authority, { ...issuing, hosts: allHosts }),
  });
  const admin = await loadLeaf(files, 'admin', authority, now, {
    fits: () => true,
    issue: () => issueClientCertificate(authority, { ...issuing, user: ADMIN_USER, groups: [MASTERS] }),
  });
  return { authority, server, admin, signingKey: await loadSigningKey(files) };
}

async function loadAuthority(files: PkiFiles, now: number, random: Random): Promise<Credential> {
  const privateKey = await files.read('ca.key');
  const certificate = await files.read('ca.crt');
  const issuing = { now, random, lifetimeMs: AUTHORITY_LIFETIME_MS, name: AUTHORITY_NAME };
  if (privateKey === undefined) {
    if (certificate !== undefined) {
      const next = 'put the key back, or remove ca.crt to begin with a new authority that old clients will not trust';
      throw new UserError('MissingKey', `ca.crt is there but its key ca.key is not: ${next}`);
    }
    // The key is written first: a key without a certificate is repaired below, a certificate without a key could not
    // be.
    return save(files, 'ca', createAuthority(issuing));
  }
  reading('ca.key', () => createPrivateKey(privateKey));
  if (certificate === undefined) return save(files, 'ca', createAuthority({ ...issuing, privateKey }));
  const parsed = reading('ca.crt', () => new X509Certificate(certificate));
  if (!parsed.checkPrivateKey(createPrivateKey(privateKey))) {
    throw new UserError('WrongKey', 'ca.key does not belong to ca.crt: put back the two that belong together');
  }
  const isFresh = Date.parse(parsed.validTo) - now > AUTHORITY_MARGIN_MS;
  // With the same name and key, so clients that trust the old certificate trust the new one, too.
  return isFresh ? { certificate, privateKey } : save(files, 'ca', createAuthority({ ...issuing, privateKey }));
}

interface Leaf {
  fits(certificate: X509Certificate): boolean;
  issue(): Credential;
}

async function loadLeaf(
  files: PkiFiles,
  name: string,
  authority: Credential,
  now: number,
  { fits, issue }: Leaf,
): Promise<Credential> {
  const privateKey = await files.read(`${name}.key`);
  const certificate = await files.read(`${name}.crt`);
  if (privateKey !== undefined && certificate !== undefined) {
    const found = { certificate, privateKey };
    if (isUsable(found, authority, now, fits)) return found;
  }
  return save(files, name, issue());
}

function isUsable(leaf: Credential, authority: Credential, now: number, fits: Leaf['fits']): boolean {
  try {
    const certificate = new X509Certificate(leaf.certificate);
    const issuer = new X509Certificate(authority.certificate);
    return (
      certificate.checkPrivateKey(createPrivateKey(leaf.privateKey)) &&
      certificate.checkIssued(issuer) &&
      certificate.verify(issuer.publicKey) &&
      Date.parse(certificate.validFrom) <= now &&
      Date.parse(certificate.validTo) - now > LEAF_MARGIN_MS &&
      fits(certificate)
    );
  } catch {
    return false; // damaged, so it is issued again
  }
}

const answersTo = (certificate: X509Certificate, host: string): boolean =>
  (addressBytes(host) ? certificate.checkIP(host) : certificate.checkHost(host)) !== undefined;

async function loadSigningKey(files: PkiFiles): Promise<SigningKey> {
  const found = await files.read('sa.key');
  if (found !== undefined) return reading('sa.key', () => signingKey(found));
  const made = newPrivateKey();
  await files.write('sa.key', made);
  return signingKey(made);
}

async function save(files: PkiFiles, name: string, credential: Credential): Promise<Credential> {
  await files.write(`${name}.key`, credential.privateKey);
  await files.write(`${name}.crt`, credential.certificate);
  return credential;
}

function reading<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new UserError('DamagedKey', `cannot read ${name}: ${messageOf(cause)}; put back a good copy`, { cause });
  }
}

/** Files in a directory that only their owner may access. */
export function filesIn(directory: string): PkiFiles {
  return {
    async read(name) {
      try {
        return await readFile(join(directory, name), 'utf8');
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        throw error;
      }
    },
    async write(name, text) {
      await makeDirectory(directory, 0o700);
      await writePrivateFile(join(directory, name), text);
    },
  };
}

/** For a server that stores nothing. */
export function filesInMemory(): PkiFiles {
  const files = new Map<string, string>();
  return {
    read: async (name) => files.get(name),
    write: async (name, text) => {
      files.set(name, text);
    },
  };
}
