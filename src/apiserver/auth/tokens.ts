// ServiceAccount tokens of one cluster: issues, verifies and reviews them.
//
// Guarantee: a token is valid only while its ServiceAccount (and the object it is bound to, or the Secret that contains
// it) still exists in this cluster's store with the uid that it was issued for. Every check reads the store; only the
// result of the signature is cached. All clusters of a process may share the key: the issuer distinguishes them.
import { hash } from 'node:crypto';
import type { KubeObject, User } from '../../api/object.ts';
import { type Clock, kubeTime } from '../../base/clock.ts';
import { deepFreeze, isObject, type JsonObject } from '../../base/json.ts';
import { createLru } from '../../base/lru.ts';
import type { Random } from '../../base/random.ts';
import type { TokenCheck, TokenIssuer } from '../cluster.ts';
import { keyOf, type Store } from '../store/store.ts';
import type { Claims, SigningKey } from './jwt.ts';
import { quoteAll } from './quote.ts';
import { ALL_AUTHENTICATED, accountGroups, accountUserName } from './service-account.ts';

export interface ServiceAccountTokens extends TokenIssuer {
  /** The audiences of a token that names none. */
  readonly audiences: readonly string[];
  /** undefined = not a token of this cluster; it may belong to another. No audiences = those of the API server. */
  check(token: string, audiences?: readonly string[]): TokenCheck | undefined;
}

export type Lookup = (
  plural: 'serviceaccounts' | 'secrets' | 'pods' | 'nodes',
  namespace: string,
  name: string,
) => KubeObject | undefined;

export const lookupIn =
  (store: Store): Lookup =>
  (plural, namespace, name) =>
    store.get(keyOf('', plural, namespace, name))?.object();

export interface TokenOptions {
  readonly key: SigningKey;
  /** Must differ between clusters, or a token of one is valid for another. */
  readonly issuer: string;
  readonly lookup: Lookup;
  readonly clock: Clock;
  readonly random: Random;
}

/** The issuer of a cluster in a process with several. */
export const issuerOf = (clusterName: string): string =>
  `https://kubernetes.default.svc.cluster.local/clusters/${clusterName}`;

const LEGACY_ISSUER = 'kubernetes/serviceaccount';
const LEGACY = 'kubernetes.io/serviceaccount/';
/** Tolerates clock skew, and lets clients that are being deleted finish. */
const LEEWAY_MS = 60_000;
const REMEMBERED = 4096;

export function createTokens({ key, issuer, lookup, clock, random }: TokenOptions): ServiceAccountTokens {
  const ownAudiences: readonly string[] = Object.freeze([issuer]);
  const opened = createLru<string, Passport>(REMEMBERED);

  function open(token: string): Passport | undefined {
    const digest = hash('sha256', token, 'base64');
    const known = opened.get(digest);
    if (known) return known;
    const claims = key.open(token);
    const passport = claims && (boundPassport(claims, issuer) ?? legacyPassport(claims, token));
    if (passport) opened.set(digest, passport);
    return passport;
  }

  function refusal(passport: Passport, now: number): string | undefined {
    if (passport.expires !== undefined && now >= passport.expires + LEEWAY_MS)
      return 'service account token has expired';
    if (passport.begins !== undefined && now < passport.begins - LEEWAY_MS) {
      return 'service account token is not valid yet';
    }
    const stands = passport.needs.every((need) => {
      const object = lookup(need.plural, need.namespace, need.name);
      return object !== undefined && need.accepts(object) && !isLongDeleted(object, now);
    });
    return stands ? undefined : 'service account token has been invalidated';
  }

  return {
    issuer,
    audiences: ownAudiences,

    issue({ namespace, name, uid, audiences, expirationSeconds, boundObject, now }) {
      const issuedAt = Math.floor(now / 1000);
      const expires = issuedAt + expirationSeconds;
      const token = key.sign({
        aud: audiences.length === 0 ? ownAudiences : audiences,
        exp: expires,
        iat: issuedAt,
        iss: issuer,
        jti: random.uuid(),
        'kubernetes.io': {
          namespace,
          ...(boundObject && boundClaims(boundObject, namespace, lookup)),
          serviceaccount: { name, uid },
        },
        nbf: issuedAt,
        sub: accountUserName(namespace, name),
      });
      return { token, expirationTimestamp: kubeTime(expires * 1000) };
    },

    issueForSecret: ({ namespace, name, uid, secretName }) =>
      key.sign({
        iss: LEGACY_ISSUER,
        [`${LEGACY}namespace`]: namespace,
        [`${LEGACY}secret.name`]: secretName,
        [`${LEGACY}service-account.name`]: name,
        [`${LEGACY}service-account.uid`]: uid,
        sub: accountUserName(namespace, name),
      }),

    check(token, audiences = ownAudiences) {
      const passport = open(token);
      if (!passport) return undefined;
      const offered = passport.audiences ?? ownAudiences;
      const shared = offered.filter((each) => audiences.includes(each));
      if (shared.length === 0) {
        const error = `token audiences ${quoteAll(offered)} is invalid for the target audiences ${quoteAll(audiences)}`;
        return { ok: false, error };
      }
      const error = refusal(passport, clock.now());
      return error === undefined ? { ok: true, user: passport.user, audiences: shared } : { ok: false, error };
    },
  };
}

/** The claims of a token with a valid signature: these never change, so they may be cached. */
interface Passport {
  /** The same object each time, so that caches keyed by it hit. */
  readonly user: User;
  /** Absent in tokens of Secrets: those are for the API server. */
  readonly audiences?: readonly string[];
  /** Epoch milliseconds. */
  readonly begins?: number;
  readonly expires?: number;
  readonly needs: readonly Need[];
}

interface Need {
  readonly plural: Parameters<Lookup>[0];
  readonly namespace: string;
  readonly name: string;
  accepts(object: KubeObject): boolean;
}

function boundPassport(claims: Claims, issuer: string): Passport | undefined {
  const own = claims['kubernetes.io'];
  if (claims.iss !== issuer || !isObject(own) || !isObject(own.serviceaccount)) return undefined;
  const { namespace } = own;
  const { name, uid } = own.serviceaccount;
  const { aud, exp, nbf, jti, sub } = claims;
  if (typeof namespace !== 'string' || typeof name !== 'string' || typeof uid !== 'string') return undefined;
  if (sub !== accountUserName(namespace, name) || typeof exp !== 'number' || !Array.isArray(aud)) return undefined;

  const bound = (['pod', 'secret', 'node'] as const).flatMap((word) => {
    const reference = own[word];
    return isObject(reference) ? [{ word, name: String(reference.name), uid: String(reference.uid) }] : [];
  });
  const isOfPod = bound.some(({ word }) => word === 'pod');
  return {
    user: userOf(namespace, name, uid, {
      ...(typeof jti === 'string' ? { 'authentication.kubernetes.io/credential-id': [`JTI=${jti}`] } : {}),
      ...Object.fromEntries(
        bound
          .filter(({ word }) => word !== 'secret')
          .flatMap((each) => [
            [`authentication.kubernetes.io/${each.word}-name`, [each.name]],
            [`authentication.kubernetes.io/${each.word}-uid`, [each.uid]],
          ]),
      ),
    }),
    audiences: aud.map(String),
    expires: exp * 1000,
    ...(typeof nbf === 'number' ? { begins: nbf * 1000 } : {}),
    needs: [
      need('serviceaccounts', namespace, name, uid),
      ...bound
        // A Pod's token also names its node, but only the Pod decides whether it is valid.
        .filter(({ word }) => !(word === 'node' && isOfPod))
        .map((each) => need(`${each.word}s`, each.word === 'node' ? '' : namespace, each.name, each.uid)),
    ],
  };
}

function legacyPassport(claims: Claims, token: string): Passport | undefined {
  if (claims.iss !== LEGACY_ISSUER) return undefined;
  const [namespace, secretName, name, uid] = ['namespace', 'secret.name', 'service-account.name', 'service-account.uid']
    .map((word) => claims[LEGACY + word])
    .filter((value) => typeof value === 'string');
  if (namespace === undefined || secretName === undefined || name === undefined || uid === undefined) return undefined;
  const encoded = Buffer.from(token).toString('base64');
  return {
    user: userOf(namespace, name, uid, {}),
    needs: [
      need('serviceaccounts', namespace, name, uid),
      {
        plural: 'secrets',
        namespace,
        name: secretName,
        // Another Secret with the same name does not make an old token valid again.
        accepts: ({ data }) => isObject(data) && data.token === encoded,
      },
    ],
  };
}

const need = (plural: Need['plural'], namespace: string, name: string, uid: string): Need => ({
  plural,
  namespace,
  name,
  accepts: (object) => object.metadata.uid === uid,
});

const userOf = (namespace: string, name: string, uid: string, extra: NonNullable<User['extra']>): User =>
  deepFreeze({
    name: accountUserName(namespace, name),
    uid,
    groups: [...accountGroups(namespace), ALL_AUTHENTICATED],
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  });

function boundClaims(
  { kind, name, uid }: { readonly kind: string; readonly name: string; readonly uid: string },
  namespace: string,
  lookup: Lookup,
): Claims {
  const claims = { [kind.toLowerCase()]: { name, uid } };
  const spec = kind === 'Pod' ? lookup('pods', namespace, name)?.spec : undefined;
  if (!isObject(spec) || typeof spec.nodeName !== 'string' || spec.nodeName === '') return claims;
  const node = lookup('nodes', '', spec.nodeName);
  return node ? { ...claims, node: { name: spec.nodeName, uid: node.metadata.uid } } : claims;
}

function isLongDeleted(object: KubeObject, now: number): boolean {
  const { deletionTimestamp } = object.metadata;
  return deletionTimestamp !== undefined && Date.parse(deletionTimestamp) + LEEWAY_MS < now;
}

/** `/.well-known/openid-configuration`. */
export const openIdConfiguration = (issuer: string, key: SigningKey, jwksUri: string): JsonObject => ({
  issuer,
  jwks_uri: jwksUri,
  response_types_supported: ['id_token'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: [key.algorithm],
});

/** `/openid/v1/jwks`, of type application/jwk-set+json. */
export const jsonWebKeys = (key: SigningKey): JsonObject => ({ keys: [key.jwk] });
