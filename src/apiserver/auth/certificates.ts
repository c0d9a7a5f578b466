// Creates certificates: an authority, server certificates and client certificates (user = CN, groups = O), on P-256.
//
// Time and serial numbers come from the caller. Keys come from node:crypto, which cannot be seeded; a world that must
// be reproducible supplies its own keys.
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  X509Certificate,
} from 'node:crypto';
import type { Random } from '../../base/random.ts';
import {
  bits,
  explicit,
  implicit,
  integer,
  octets,
  oid,
  pem,
  sequence,
  setOfOne,
  tagged,
  time,
  utf8,
  yes,
} from './der.ts';
import { addressBytes } from './ip-address.ts';

/** A certificate with its key, both as PEM text. */
export interface Credential {
  readonly certificate: string;
  readonly privateKey: string;
}

export interface Issuing {
  readonly now: number;
  readonly random: Random;
  readonly lifetimeMs: number;
}

const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

/** Otherwise a client whose clock is slightly slow would reject the certificate as "not yet valid". */
const BACKDATED_MS = HOUR_MS;

const ECDSA_WITH_SHA256 = sequence(oid('1.2.840.10045.4.3.2'));
const SERVER_AUTH = oid('1.3.6.1.5.5.7.3.1');
const CLIENT_AUTH = oid('1.3.6.1.5.5.7.3.2');

const DIGITAL_SIGNATURE = bits(Uint8Array.of(0b1000_0000), 7);
/** digitalSignature, keyCertSign, cRLSign. */
const AUTHORITY_USAGE = bits(Uint8Array.of(0b1000_0110), 1);

/** A new certificate authority, or with `privateKey` a new certificate for an existing one. */
export function createAuthority({
  name,
  privateKey = newPrivateKey(),
  ...issuing
}: Issuing & { readonly name: string; readonly privateKey?: string }): Credential {
  const key = createPrivateKey(privateKey);
  const subject = nameOf({ user: name, groups: [] });
  const keyId = keyIdOf(createPublicKey(key));
  return write({
    ...issuing,
    subject,
    subjectKey: key,
    issuer: subject,
    issuerKey: key,
    extensions: [
      extension('2.5.29.19', sequence(yes), 'critical'),
      extension('2.5.29.15', AUTHORITY_USAGE, 'critical'),
      extension('2.5.29.14', octets(keyId)),
    ],
  });
}

/** For a TLS server with these `hosts`: DNS names and IP addresses. */
export const issueServerCertificate = (
  authority: Credential,
  { hosts, ...issuing }: Issuing & { readonly hosts: readonly string[] },
): Credential =>
  issue(authority, issuing, nameOf({ user: 'kube-apiserver', groups: [] }), [
    extension('2.5.29.37', sequence(SERVER_AUTH)),
    extension('2.5.29.17', sequence(...hosts.map(alternativeName))),
  ]);

/** For a client that authenticates as `user`, a member of `groups`. */
export const issueClientCertificate = (
  authority: Credential,
  { user, groups, ...issuing }: Issuing & { readonly user: string; readonly groups: readonly string[] },
): Credential => issue(authority, issuing, nameOf({ user, groups }), [extension('2.5.29.37', sequence(CLIENT_AUTH))]);

/** The names under which Pods and users reach an API server, and the loopback addresses. */
export const SERVER_HOSTS: readonly string[] = Object.freeze([
  'localhost',
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  'kubernetes.default.svc.cluster.local',
  '127.0.0.1',
  '::1',
]);

export const newPrivateKey = (): string =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

function issue(
  authority: Credential,
  issuing: Issuing,
  subject: Uint8Array,
  extensions: readonly Uint8Array[],
): Credential {
  const issuerKey = createPrivateKey(authority.privateKey);
  const issuer = new X509Certificate(authority.certificate);
  const subjectKey = createPrivateKey(newPrivateKey());
  const lifetimeMs = Math.min(issuing.lifetimeMs, Date.parse(issuer.validTo) - issuing.now);
  return write({
    ...issuing,
    // No client accepts a certificate of an expired authority, so no certificate is valid for longer.
    lifetimeMs,
    subject,
    subjectKey,
    issuer: nameOf({ user: commonNameOf(issuer), groups: [] }),
    issuerKey,
    extensions: [
      extension('2.5.29.19', sequence(), 'critical'),
      extension('2.5.29.15', DIGITAL_SIGNATURE, 'critical'),
      ...extensions,
      extension('2.5.29.14', octets(keyIdOf(createPublicKey(subjectKey)))),
      extension('2.5.29.35', sequence(implicit(0, keyIdOf(createPublicKey(issuerKey))))),
    ],
  });
}

interface Parts extends Issuing {
  readonly subject: Uint8Array;
  readonly subjectKey: KeyObject;
  readonly issuer: Uint8Array;
  readonly issuerKey: KeyObject;
  readonly extensions: readonly Uint8Array[];
}

function write({ now, random, lifetimeMs, subject, subjectKey, issuer, issuerKey, extensions }: Parts): Credential {
  const body = sequence(
    explicit(0, integer(2n)), // X.509 version 3
    integer(BigInt(`0x${random.uuid().replaceAll('-', '')}`)),
    ECDSA_WITH_SHA256,
    issuer,
    sequence(time(now - BACKDATED_MS), time(now + lifetimeMs)),
    subject,
    createPublicKey(subjectKey).export({ type: 'spki', format: 'der' }),
    explicit(3, sequence(...extensions)),
  );
  const signature = sign('sha256', body, issuerKey);
  return Object.freeze({
    certificate: pem('CERTIFICATE', sequence(body, ECDSA_WITH_SHA256, bits(signature))),
    privateKey: subjectKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  });
}

/** A distinguished name: one O for each group, then the CN. */
const nameOf = ({ user, groups }: { readonly user: string; readonly groups: readonly string[] }): Uint8Array =>
  sequence(
    ...groups.map((group) => setOfOne(sequence(oid('2.5.4.10'), utf8(group)))),
    setOfOne(sequence(oid('2.5.4.3'), utf8(user))),
  );

const extension = (id: string, value: Uint8Array, critical?: 'critical'): Uint8Array =>
  critical ? sequence(oid(id), yes, octets(value)) : sequence(oid(id), octets(value));

function alternativeName(host: string): Uint8Array {
  const address = addressBytes(host);
  return address === undefined ? tagged(0x82, new TextEncoder().encode(host)) : implicit(7, address);
}

const keyIdOf = (key: KeyObject): Uint8Array =>
  createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest()
    .subarray(0, 20);

/** The CN of an authority. The text form of `subject` escapes characters; the legacy object does not. */
const commonNameOf = (certificate: X509Certificate): string => String(certificate.toLegacyObject().subject.CN);
