import { createHmac, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import type { KubeObject } from '../../api/object.ts';
import { seededRandom } from '../../base/random.ts';
import { createMemoryStore } from '../store/memory.ts';
import { keyOf, type Store } from '../store/store.ts';
import { newPrivateKey } from './certificates.ts';
import { signingKey } from './jwt.ts';
import {
  createTokens,
  issuerOf,
  jsonWebKeys,
  lookupIn,
  openIdConfiguration,
  type ServiceAccountTokens,
} from './tokens.ts';

const pem = newPrivateKey();
const rsaPem = generateKeyPairSync('rsa', { modulusLength: 2048 })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString();
const key = signingKey(pem);
const START = Date.parse('2026-01-01T00:00:00Z');

let now = START;
let store: Store;
let tokens: ServiceAccountTokens;

const clock = { now: () => now, at: () => () => {} };
const tokensOf = (name: string, at: Store, signing = key) =>
  createTokens({ key: signing, issuer: issuerOf(name), lookup: lookupIn(at), clock, random: seededRandom(7) });

function put(
  plural: string,
  namespace: string,
  name: string,
  more: Partial<KubeObject> = {},
  uid = `${plural}-${name}`,
) {
  const where = keyOf('', plural, namespace, name);
  const value = { apiVersion: 'v1', kind: 'X', ...more, metadata: { name, namespace, uid, ...more.metadata } };
  store.commit({ key: where, expect: store.get(where, 'head')?.revision ?? 'absent', value });
}

function drop(plural: string, namespace: string, name: string) {
  const where = keyOf('', plural, namespace, name);
  store.commit({ key: where, expect: store.get(where)!.revision, value: undefined });
}

const account = { namespace: 'shop', name: 'robot', uid: 'serviceaccounts-robot' };
const issue = (more: Partial<Parameters<ServiceAccountTokens['issue']>[0]> = {}) =>
  tokens.issue({ ...account, audiences: [], expirationSeconds: 3600, now, ...more }).token;
const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString());

beforeEach(() => {
  now = START;
  store = createMemoryStore();
  tokens = tokensOf('hub', store);
  put('serviceaccounts', 'shop', 'robot');
});

describe('a ServiceAccount token', () => {
  test('names its account, its audience and its end', () => {
    const issued = tokens.issue({ ...account, audiences: ['a', 'b'], expirationSeconds: 600, now });
    expect(issued.expirationTimestamp).toBe('2026-01-01T00:10:00Z');
    expect(claimsOf(issued.token)).toEqual({
      aud: ['a', 'b'],
      exp: START / 1000 + 600,
      iat: START / 1000,
      nbf: START / 1000,
      iss: issuerOf('hub'),
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
      sub: 'system:serviceaccount:shop:robot',
      'kubernetes.io': { namespace: 'shop', serviceaccount: { name: 'robot', uid: 'serviceaccounts-robot' } },
    });
  });

  test('stands for its account', () => {
    const token = issue();
    expect(tokens.check(token)).toEqual({
      ok: true,
      audiences: [issuerOf('hub')],
      user: {
        name: 'system:serviceaccount:shop:robot',
        uid: 'serviceaccounts-robot',
        groups: ['system:serviceaccounts', 'system:serviceaccounts:shop', 'system:authenticated'],
        extra: { 'authentication.kubernetes.io/credential-id': [`JTI=${claimsOf(token).jti}`] },
      },
    });
  });

  test('gives the same user object each time, so that others may cache by it', () => {
    const token = issue();
    const userOf = () => (tokens.check(token) as { user: object }).user;
    expect(userOf()).toBe(userOf());
    expect(Object.isFrozen(userOf())).toBe(true);
  });

  test.each([
    { it: 'is good a second before its end', after: 3599, is: true },
    { it: 'is still good within the leeway', after: 3659, is: true },
    { it: 'is bad after that', after: 3660, is: false },
    { it: 'is good for a clock that is a little behind', after: -60, is: true },
    { it: 'is bad for one that is far behind', after: -61, is: false },
  ])('$it', ({ after, is }) => {
    const token = issue();
    expect(tokens.check(token)?.ok).toBe(true); // cached from here on
    now += after * 1000;
    expect(tokens.check(token)?.ok).toBe(is);
  });

  test('is bad at once when its account is gone, and when another came in its place', () => {
    const token = issue();
    expect(tokens.check(token)?.ok).toBe(true);
    drop('serviceaccounts', 'shop', 'robot');
    expect(tokens.check(token)).toEqual({ ok: false, error: 'service account token has been invalidated' });
    put('serviceaccounts', 'shop', 'robot', {}, 'another-uid');
    expect(tokens.check(token)?.ok).toBe(false);
    expect(tokens.check(issue({ uid: 'another-uid' }))?.ok).toBe(true);
  });

  test('outlasts the beginning of its account’s deletion by a minute', () => {
    const token = issue();
    put('serviceaccounts', 'shop', 'robot', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } });
    now += 60_000;
    expect(tokens.check(token)?.ok).toBe(true);
    now += 1000;
    expect(tokens.check(token)?.ok).toBe(false);
  });

  test.each([
    { kind: 'Secret', plural: 'secrets', namespace: 'shop' },
    { kind: 'Pod', plural: 'pods', namespace: 'shop' },
    { kind: 'Node', plural: 'nodes', namespace: '' },
  ])('that is bound to a $kind lives and dies with it', ({ kind, plural, namespace }) => {
    put(plural, namespace, 'b', {}, 'b-uid');
    const token = issue({ boundObject: { kind, name: 'b', uid: 'b-uid' } });
    expect(claimsOf(token)['kubernetes.io'][kind.toLowerCase()]).toEqual({ name: 'b', uid: 'b-uid' });
    expect(tokens.check(token)?.ok).toBe(true);
    drop(plural, namespace, 'b');
    expect(tokens.check(token)?.ok).toBe(false);
    put(plural, namespace, 'b', {}, 'other-uid');
    expect(tokens.check(token)?.ok).toBe(false);
  });

  test('of a Pod says which Pod and which node, and does not care what becomes of the node', () => {
    put('nodes', '', 'n1', {}, 'n1-uid');
    put('pods', 'shop', 'p', { spec: { nodeName: 'n1' } }, 'p-uid');
    const token = issue({ boundObject: { kind: 'Pod', name: 'p', uid: 'p-uid' } });
    drop('nodes', '', 'n1');
    expect(tokens.check(token)).toMatchObject({
      ok: true,
      user: {
        extra: {
          'authentication.kubernetes.io/pod-name': ['p'],
          'authentication.kubernetes.io/pod-uid': ['p-uid'],
          'authentication.kubernetes.io/node-name': ['n1'],
          'authentication.kubernetes.io/node-uid': ['n1-uid'],
        },
      },
    });
  });

  test('for somebody else is no good here, and the other way round', () => {
    const token = issue({ audiences: ['vault', 'x'] });
    expect(tokens.check(token)).toEqual({
      ok: false,
      error: `token audiences ["vault" "x"] is invalid for the target audiences ["${issuerOf('hub')}"]`,
    });
    expect(tokens.check(token, ['vault', 'y'])).toMatchObject({ ok: true, audiences: ['vault'] });
    expect(tokens.check(issue(), ['vault'])?.ok).toBe(false);
  });

  test('of one cluster is refused by another that has the same key and an account with the same uid', () => {
    const other = tokensOf('member-1', store);
    expect(other.check(issue())).toBeUndefined();
  });
});

describe('a token of a Secret', () => {
  const legacy = () => tokens.issueForSecret({ ...account, secretName: 'robot-token' });
  const fill = (token: string) =>
    put('secrets', 'shop', 'robot-token', { data: { token: Buffer.from(token).toString('base64') } });

  test('has no end and carries the claims of old', () => {
    expect(claimsOf(legacy())).toEqual({
      iss: 'kubernetes/serviceaccount',
      'kubernetes.io/serviceaccount/namespace': 'shop',
      'kubernetes.io/serviceaccount/secret.name': 'robot-token',
      'kubernetes.io/serviceaccount/service-account.name': 'robot',
      'kubernetes.io/serviceaccount/service-account.uid': 'serviceaccounts-robot',
      sub: 'system:serviceaccount:shop:robot',
    });
  });

  test('is good while that Secret holds it', () => {
    const token = legacy();
    expect(tokens.check(token)?.ok).toBe(false);
    fill(token);
    now += 10 * 365 * 86_400_000;
    expect(tokens.check(token)).toMatchObject({ ok: true, user: { name: 'system:serviceaccount:shop:robot' } });
    fill(legacy()); // ES256: another signature, another token
    expect(tokens.check(token)?.ok).toBe(false);
    drop('secrets', 'shop', 'robot-token');
    expect(tokens.check(token)?.ok).toBe(false);
  });

  test('is no good in a cluster whose Secret does not hold it', () => {
    const token = legacy();
    fill(token);
    expect(tokensOf('member-1', createMemoryStore()).check(token)?.ok).toBe(false);
  });
});

describe('a forged token', () => {
  const b64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const parts = () => issue().split('.') as [string, string, string];

  test.each([
    { it: 'with no signature', make: () => `${parts()[0]}.${parts()[1]}.` },
    {
      it: 'that we signed ourselves under another algorithm’s name',
      make: () => {
        const content = `${b64({ alg: 'HS256', kid: key.keyId })}.${parts()[1]}`;
        const signature = sign('sha256', Buffer.from(content), { key: pem, dsaEncoding: 'ieee-p1363' });
        return `${content}.${signature.toString('base64url')}`;
      },
    },
    { it: 'that wants no algorithm', make: () => `${b64({ alg: 'none', kid: key.keyId })}.${parts()[1]}.AA` },
    {
      it: 'that takes the public key for a shared secret',
      make: () => {
        const content = `${b64({ alg: 'HS256', kid: key.keyId })}.${parts()[1]}`;
        const publicPem = createPublicKey(pem).export({ type: 'spki', format: 'pem' });
        return `${content}.${createHmac('sha256', publicPem).update(content).digest('base64url')}`;
      },
    },
    {
      it: 'with other claims under an old signature',
      make: () => {
        const [head, body, signature] = parts();
        const claims = JSON.parse(Buffer.from(body, 'base64url').toString());
        return `${head}.${b64({ ...claims, exp: claims.exp + 1 })}.${signature}`;
      },
    },
    {
      it: 'by another key',
      make: () =>
        tokensOf('hub', store, signingKey(newPrivateKey())).issue({
          ...account,
          audiences: [],
          expirationSeconds: 600,
          now,
        }).token,
    },
    {
      it: 'by a key of another type',
      make: () =>
        tokensOf('hub', store, signingKey(rsaPem)).issue({ ...account, audiences: [], expirationSeconds: 600, now })
          .token,
    },
    { it: 'with a respelled signature', make: () => `${issue()}=` },
    { it: 'with a fourth part', make: () => `${issue()}.x` },
    { it: 'that is no JSON', make: () => 'a.b.c' },
    { it: 'that is empty', make: () => '' },
    { it: 'that is huge', make: () => `${'a'.repeat(20_000)}.b.c` },
    {
      it: 'with a hostile header',
      make: () => `${Buffer.from('{"__proto__":{"alg":"ES256"}}').toString('base64url')}.b.c`,
    },
    { it: 'whose claims are a list', make: () => key.sign([] as never) },
    {
      it: 'whose claims have the wrong types',
      make: () => key.sign({ iss: issuerOf('hub'), 'kubernetes.io': { namespace: {}, serviceaccount: [] } }),
    },
    {
      it: 'whose subject is another account',
      make: () => key.sign({ ...claimsOf(issue()), sub: 'system:serviceaccount:kube-system:root' }),
    },
    { it: 'without an end', make: () => key.sign({ ...claimsOf(issue()), exp: undefined }) },
  ])('$it is not ours', ({ make }) => expect(tokens.check(make())).toBeUndefined());
});

describe('the keys', () => {
  test.each([
    { of: 'P-256', text: pem, algorithm: 'ES256', dsaEncoding: 'ieee-p1363' as const },
    { of: 'RSA', text: rsaPem, algorithm: 'RS256', dsaEncoding: 'der' as const },
  ])('of $of are published so that others can check tokens', ({ text, algorithm, dsaEncoding }) => {
    const signing = signingKey(text);
    const [jwk] = jsonWebKeys(signing).keys as unknown as [Record<string, string>];
    expect(jwk).toMatchObject({ use: 'sig', alg: algorithm, kid: signing.keyId });
    expect(JSON.stringify(jwk)).not.toContain('"d"');
    const token = signing.sign({ sub: 'x' });
    const [head, body, signature] = token.split('.') as [string, string, string];
    const publicKey = createPublicKey({ key: jwk as never, format: 'jwk' });
    const proven = verify(
      'sha256',
      Buffer.from(`${head}.${body}`),
      { key: publicKey, dsaEncoding },
      Buffer.from(signature, 'base64url'),
    );
    expect(proven).toBe(true);
    expect(signing.open(token)).toEqual({ sub: 'x' });
    expect(openIdConfiguration('https://i', signing, 'https://h/openid/v1/jwks')).toEqual({
      issuer: 'https://i',
      jwks_uri: 'https://h/openid/v1/jwks',
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: [algorithm],
    });
  });

  test('of other types are refused with a reason', () => {
    const ed = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    expect(() => signingKey(ed)).toThrow('cannot sign ServiceAccount tokens with a key of type ed25519');
  });

  test('of RSA sign the same claims with the same text every time', () => {
    expect(signingKey(rsaPem).sign({ a: 1 })).toBe(signingKey(rsaPem).sign({ a: 1 }));
  });
});
