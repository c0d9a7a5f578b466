// JSON Web Tokens for ServiceAccounts: one key with one algorithm, in compact form.
//
// The key determines the algorithm, and the header of a token must agree; so neither `none` nor key confusion is
// accepted.
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  type SigningOptions,
  sign,
  verify,
} from 'node:crypto';
import { isObject, type JsonObject } from '../../base/json.ts';

export type Claims = Readonly<Record<string, unknown>>;

export interface SigningKey {
  readonly algorithm: 'ES256' | 'RS256';
  /** base64url of the public key's SHA-256, the key ID of Kubernetes. */
  readonly keyId: string;
  /** The public key as JSON Web Key. */
  readonly jwk: JsonObject;
  sign(claims: Claims): string;
  /** The claims of a token that this key has signed; undefined for all others. Time and audience are not checked. */
  open(token: string): Claims | undefined;
}

/** Real tokens have about 1 KB; longer ones are rejected without verification. */
const LONGEST_TOKEN = 16_384;

/** A key from PEM: P-256 signs with ES256, RSA with RS256 (whose signatures are deterministic). */
export function signingKey(privateKeyPem: string): SigningKey {
  const privateKey = createPrivateKey(privateKeyPem);
  const publicKey = createPublicKey(privateKey);
  const { algorithm, options } = algorithmOf(privateKey);
  const keyId = createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('base64url');
  const header = encode({ alg: algorithm, kid: keyId });
  return {
    algorithm,
    keyId,
    jwk: Object.freeze({
      use: 'sig',
      kid: keyId,
      alg: algorithm,
      ...(publicKey.export({ format: 'jwk' }) as JsonObject),
    }),
    sign(claims) {
      const content = `${header}.${encode(claims)}`;
      const signature = sign('sha256', Buffer.from(content), { key: privateKey, ...options });
      return `${content}.${signature.toString('base64url')}`;
    },
    open(token) {
      if (token.length > LONGEST_TOKEN) return undefined;
      const [head = '', body = '', signature = '', ...rest] = token.split('.');
      if (rest.length > 0 || signature === '') return undefined;
      if (head !== header && !agrees(decode(head), algorithm, keyId)) return undefined;
      const bytes = Buffer.from(signature, 'base64url');
      // Base64 decoding ignores stray characters; a second spelling of the same token would bypass caches and deny
      // lists.
      if (bytes.toString('base64url') !== signature) return undefined;
      const content = Buffer.from(`${head}.${body}`);
      return verify('sha256', content, { key: publicKey, ...options }, bytes) ? decode(body) : undefined;
    },
  };
}

function algorithmOf(key: KeyObject): {
  readonly algorithm: SigningKey['algorithm'];
  readonly options: SigningOptions;
} {
  if (key.asymmetricKeyType === 'rsa') return { algorithm: 'RS256', options: {} };
  if (key.asymmetricKeyType === 'ec' && key.asymmetricKeyDetails?.namedCurve === 'prime256v1') {
    return { algorithm: 'ES256', options: { dsaEncoding: 'ieee-p1363' } };
  }
  throw new Error(`cannot sign ServiceAccount tokens with a key of type ${key.asymmetricKeyType}: use RSA or EC P-256`);
}

const agrees = (header: Claims | undefined, algorithm: string, keyId: string): boolean =>
  header !== undefined && header.alg === algorithm && header.kid === keyId && header.crit === undefined;

const encode = (claims: Claims): string => Buffer.from(JSON.stringify(claims)).toString('base64url');

function decode(part: string): Claims | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
