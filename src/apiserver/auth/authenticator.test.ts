import { createServer, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { beforeEach, describe, expect, test } from 'vitest';
import type { User } from '../../api/object.ts';
import { ApiError } from '../../base/errors.ts';
import { seededRandom } from '../../base/random.ts';
import type { Attributes, Authorizer } from '../cluster.ts';
import { createMemoryStore } from '../store/memory.ts';
import { keyOf } from '../store/store.ts';
import { type Authenticator, type ClientCertificate, createAuthenticator } from './authenticator.ts';
import {
  createAuthority,
  DAY_MS,
  issueClientCertificate,
  issueServerCertificate,
  newPrivateKey,
} from './certificates.ts';
import { clientCertificateOf } from './client-certificate.ts';
import { type Headers, impersonate } from './impersonation.ts';
import { signingKey } from './jwt.ts';
import { forbiddenError } from './rbac.ts';
import { createStaticTokens, parseTokenFile } from './static-tokens.ts';
import { createTokens, issuerOf, lookupIn } from './tokens.ts';

const START = Date.parse('2026-01-01T00:00:00Z');
const key = signingKey(newPrivateKey());
let now = START;
const clock = { now: () => now, at: () => () => {} };
const store = createMemoryStore();
store.commit({
  key: keyOf('', 'serviceaccounts', 'shop', 'robot'),
  expect: 'absent',
  value: { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot', namespace: 'shop', uid: 'r-uid' } },
});
const tokens = createTokens({ key, issuer: issuerOf('hub'), lookup: lookupIn(store), clock, random: seededRandom(1) });
const accountToken = tokens.issue({
  namespace: 'shop',
  name: 'robot',
  uid: 'r-uid',
  audiences: [],
  expirationSeconds: 600,
  now,
}).token;
const staticTokens = createStaticTokens(parseTokenFile('s3cret,jane,42,"a,b"\n'));

let authenticator: Authenticator;
beforeEach(() => {
  now = START;
  authenticator = createAuthenticator({ clock, tokens, staticTokens });
});

const jane: ClientCertificate = {
  commonName: 'jane',
  organizations: ['team'],
  fingerprint: 'AB:CD',
  validUntil: START + DAY_MS,
};
const ANONYMOUS = { name: 'system:anonymous', groups: ['system:unauthenticated'] };
const JANE = {
  name: 'jane',
  groups: ['team', 'system:authenticated'],
  extra: { 'authentication.kubernetes.io/credential-id': ['X509SHA256=abcd'] },
};

describe('a request', () => {
  test.each([
    { with: 'nothing', credentials: {}, is: ANONYMOUS },
    { with: 'a certificate', credentials: { certificate: jane }, is: JANE },
    { with: 'a certificate and a bad token', credentials: { certificate: jane, authorization: 'Bearer x' }, is: JANE },
    { with: 'a certificate without a name', credentials: { certificate: { ...jane, commonName: '' } }, is: ANONYMOUS },
    {
      with: 'a static token',
      credentials: { authorization: 'Bearer s3cret' },
      is: { name: 'jane', uid: '42', groups: ['a', 'b', 'system:authenticated'] },
    },
    {
      with: 'a static token, oddly written',
      credentials: { authorization: ' bEARER s3cret more' },
      is: { name: 'jane', uid: '42', groups: ['a', 'b', 'system:authenticated'] },
    },
    {
      with: 'a ServiceAccount token',
      credentials: { authorization: `Bearer ${accountToken}` },
      is: expect.objectContaining({ name: 'system:serviceaccount:shop:robot', uid: 'r-uid' }),
    },
    { with: 'an unknown token', credentials: { authorization: 'Bearer x' }, is: 401 },
    { with: 'two spaces, which hide the token', credentials: { authorization: 'Bearer  s3cret' }, is: ANONYMOUS },
    { with: 'another scheme', credentials: { authorization: 'Basic x' }, is: ANONYMOUS },
    { with: 'an empty token', credentials: { authorization: 'Bearer' }, is: ANONYMOUS },
  ])('with $with', ({ credentials, is }) => {
    const answer = authenticator.authenticate(credentials);
    if (typeof is === 'number')
      expect(answer).toMatchObject({ code: is, reason: 'Unauthorized', message: 'Unauthorized' });
    else expect(answer).toEqual(is);
  });

  test('on a connection whose certificate has ended meanwhile is refused', () => {
    expect(authenticator.authenticate({ certificate: jane })).toEqual(JANE);
    now = START + DAY_MS + 1;
    expect(authenticator.authenticate({ certificate: jane })).toMatchObject({ code: 401 });
    const both = { certificate: jane, authorization: 'Bearer s3cret' };
    expect(authenticator.authenticate(both)).toMatchObject({ uid: '42' });
  });

  test('gets the same user object each time', () => {
    for (const each of [{ certificate: jane }, { authorization: 'Bearer s3cret' }, {}]) {
      expect(authenticator.authenticate(each)).toBe(authenticator.authenticate(each));
    }
  });
});

describe('the review of a token', () => {
  const own = [issuerOf('hub')];
  test.each([
    {
      token: 's3cret',
      audiences: [],
      is: { ok: true, user: expect.objectContaining({ name: 'jane' }), audiences: own },
    },
    { token: 's3cret', audiences: ['zz', ...own], is: { ok: true, user: expect.anything(), audiences: own } },
    {
      token: 's3cret',
      audiences: ['zz'],
      is: {
        ok: false,
        error: `[invalid bearer token, token audiences ["${own[0]}"] is invalid for the target audiences ["zz"]]`,
      },
    },
    {
      token: accountToken,
      audiences: [],
      is: { ok: true, user: expect.objectContaining({ uid: 'r-uid' }), audiences: own },
    },
    { token: 'x', audiences: [], is: { ok: false, error: 'invalid bearer token' } },
  ])('$audiences', ({ token, audiences, is }) => expect(authenticator.checkToken(token, audiences)).toEqual(is));

  test('says why an account token is no good', () => {
    now += 3_600_000;
    expect(authenticator.checkToken(accountToken, [])).toEqual({
      ok: false,
      error: '[invalid bearer token, service account token has expired]',
    });
  });
});

describe('a token file', () => {
  test('has quotes, comments, empty lines and columns that may be absent', () => {
    const text = '# people\n\nt1,jane,1\r\nt2,"doe, john",2,"a, b,,c"\n"t""3",x,,\n"t\n4",y,\n';
    expect(parseTokenFile(text)).toEqual([
      { token: 't1', user: 'jane', uid: '1', groups: [] },
      { token: 't2', user: 'doe, john', uid: '2', groups: ['a', 'b', 'c'] },
      { token: 't"3', user: 'x', uid: '', groups: [] },
      { token: 't\n4', user: 'y', uid: '', groups: [] },
    ]);
    expect(parseTokenFile('')).toEqual([]);
    expect(parseTokenFile('a,b,c')).toHaveLength(1);
  });

  test.each([
    { text: 'a,b,c\nsecret,b', says: 'line 2 of the token file has 2 columns' },
    { text: '"a\nb",b,c\n,b,c', says: 'line 3 of the token file has an empty token' },
    { text: 'secret,,c', says: 'line 1 of the token file has an empty user name' },
    { text: 'a,b,c\n"secret,b,c', says: 'line 2 of the token file has a quote that is never closed' },
  ])('is refused: $says', ({ text, says }) => {
    expect(() => parseTokenFile(text)).toThrow(says);
    expect(() => parseTokenFile(text)).not.toThrow(/secret/);
  });
});

describe('a client certificate', () => {
  test('is read from a real connection, once', async () => {
    const issuing = { now: Date.now(), random: seededRandom(5), lifetimeMs: DAY_MS };
    const authority = createAuthority({ ...issuing, lifetimeMs: 10 * DAY_MS, name: 'ca' });
    const server = issueServerCertificate(authority, { ...issuing, hosts: ['127.0.0.1'] });
    const client = issueClientCertificate(authority, { ...issuing, user: 'jane', groups: ['a', 'b'] });
    const seen: (ClientCertificate | undefined)[] = [];
    const listener = createServer(
      {
        cert: server.certificate,
        key: server.privateKey,
        ca: authority.certificate,
        requestCert: true,
        rejectUnauthorized: false,
      },
      (incoming, outgoing) => {
        const socket = incoming.socket as TLSSocket;
        seen.push(clientCertificateOf(socket), clientCertificateOf(socket));
        outgoing.end();
      },
    );
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    const { port } = listener.address() as AddressInfo;
    try {
      for (const with_ of [{ cert: client.certificate, key: client.privateKey }, {}]) {
        await new Promise<void>((resolve, reject) => {
          request({ host: '127.0.0.1', port, ca: authority.certificate, agent: false, ...with_ }, (incoming) => {
            incoming.resume().on('end', resolve);
          })
            .on('error', reject)
            .end();
        });
      }
    } finally {
      listener.close();
    }
    expect(seen[0]).toMatchObject({ commonName: 'jane', organizations: ['a', 'b'] });
    expect(seen[0]?.validUntil).toBeGreaterThan(Date.now());
    expect(seen[1]).toBe(seen[0]);
    expect(seen.slice(2)).toEqual([undefined, undefined]);
    expect(createAuthenticator({ clock, tokens }).authenticate({ certificate: seen[0]! })).toMatchObject({
      name: 'jane',
      extra: { 'authentication.kubernetes.io/credential-id': [expect.stringMatching(/^X509SHA256=[0-9a-f]{64}$/)] },
    });
  });
});

describe('impersonation', () => {
  const asked: Attributes[] = [];
  const all: Authorizer = {
    allows(_, what) {
      asked.push(what);
      return { allowed: true, reason: '' };
    },
    rulesFor: () => [],
  };
  const only = (...resources: string[]): Authorizer => ({
    allows: (_, what) => ({ allowed: resources.includes(what.resource ?? ''), reason: '' }),
    rulesFor: () => [],
  });
  const root: User = { name: 'root', groups: [] };
  beforeEach(() => {
    asked.length = 0;
  });

  test.each<{ it: string; headers: Headers; is: User }>([
    { it: 'nobody', headers: { accept: '*/*' }, is: root },
    { it: 'an empty user', headers: { 'impersonate-user': '' }, is: root },
    { it: 'a user', headers: { 'impersonate-user': 'bob' }, is: { name: 'bob', groups: ['system:authenticated'] } },
    {
      it: 'the first of two users',
      headers: { 'impersonate-user': ['a', 'b'] },
      is: { name: 'a', groups: ['system:authenticated'] },
    },
    {
      it: 'a user with everything',
      headers: {
        'impersonate-user': 'u1',
        'impersonate-group': ['g1,g2', 'g3'],
        'impersonate-uid': '77',
        'impersonate-extra-some%2fkey': ['v1', 'v2'],
      },
      is: {
        name: 'u1',
        uid: '77',
        groups: ['g1,g2', 'g3', 'system:authenticated'],
        extra: { 'some/key': ['v1', 'v2'] },
      },
    },
    {
      it: 'a ServiceAccount',
      headers: { 'impersonate-user': 'system:serviceaccount:n:s' },
      is: {
        name: 'system:serviceaccount:n:s',
        groups: ['system:serviceaccounts', 'system:serviceaccounts:n', 'system:authenticated'],
      },
    },
    {
      it: 'a ServiceAccount with a group of choice',
      headers: { 'impersonate-user': 'system:serviceaccount:n:s', 'impersonate-group': ['q'] },
      is: { name: 'system:serviceaccount:n:s', groups: ['q', 'system:authenticated'] },
    },
    {
      it: 'somebody who looks like one',
      headers: { 'impersonate-user': 'system:serviceaccount:n' },
      is: { name: 'system:serviceaccount:n', groups: ['system:authenticated'] },
    },
    {
      it: 'nobody in particular',
      headers: { 'impersonate-user': 'system:anonymous' },
      is: { name: 'system:anonymous', groups: ['system:unauthenticated'] },
    },
    {
      it: 'a user who is not authenticated',
      headers: { 'impersonate-user': 'bob', 'impersonate-group': ['system:unauthenticated'] },
      is: { name: 'bob', groups: ['system:unauthenticated'] },
    },
    {
      it: 'a hostile key',
      headers: { 'impersonate-user': 'bob', 'impersonate-extra-__proto__': 'x', 'impersonate-extra-%zz': 'y' },
      is: {
        name: 'bob',
        groups: ['system:authenticated'],
        extra: Object.fromEntries([
          ['__proto__', ['x']],
          ['%zz', ['y']],
        ]),
      },
    },
  ])('as $it', ({ headers, is }) => expect(impersonate(root, headers, all)).toEqual(is));

  test('asks for each part', () => {
    impersonate(
      root,
      { 'impersonate-user': 'u', 'impersonate-group': ['g'], 'impersonate-uid': '1', 'impersonate-extra-k%2fl': 'v' },
      all,
    );
    impersonate(root, { 'impersonate-user': 'system:serviceaccount:n:s' }, all);
    const verb = 'impersonate';
    expect(asked).toEqual([
      { verb, group: '', resource: 'users', name: 'u' },
      { verb, group: '', resource: 'groups', name: 'g' },
      { verb, group: 'authentication.k8s.io', resource: 'userextras', subresource: 'k/l', name: 'v' },
      { verb, group: 'authentication.k8s.io', resource: 'uids', name: '1' },
      { verb, group: '', resource: 'serviceaccounts', namespace: 'n', name: 's' },
    ]);
  });

  test.each<{ may: string[]; headers: Headers; says: string }>([
    {
      may: [],
      headers: { 'impersonate-user': 'bob' },
      says: 'users "bob" is forbidden: User "root" cannot impersonate resource "users" in API group "" at the cluster scope',
    },
    {
      may: ['users'],
      headers: { 'impersonate-user': 'system:serviceaccount:kube-system:x' },
      says: 'serviceaccounts "x" is forbidden: User "root" cannot impersonate resource "serviceaccounts" in API group "" in the namespace "kube-system"',
    },
    {
      may: ['users'],
      headers: { 'impersonate-user': 'bob', 'impersonate-group': ['system:masters'] },
      says: 'groups "system:masters" is forbidden: User "root" cannot impersonate resource "groups" in API group "" at the cluster scope',
    },
    {
      may: ['users', 'groups'],
      headers: { 'impersonate-user': 'bob', 'impersonate-uid': '1' },
      says: 'uids.authentication.k8s.io "1" is forbidden: User "root" cannot impersonate resource "uids" in API group "authentication.k8s.io" at the cluster scope',
    },
    {
      may: ['users', 'groups'],
      headers: { 'impersonate-user': 'bob', 'impersonate-extra-some%2fkey': 'q' },
      says: 'userextras.authentication.k8s.io "q" is forbidden: User "root" cannot impersonate resource "userextras/some/key" in API group "authentication.k8s.io" at the cluster scope',
    },
  ])('without permission: $says', ({ may, headers, says }) => {
    const error = impersonate(root, headers, only(...may)) as ApiError;
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ code: 403, message: says });
  });

  test('of groups without a user is an error of the caller’s making', () => {
    const headers = { 'impersonate-group': ['zz'], 'impersonate-uid': '1', 'impersonate-extra-a': 'q' };
    expect(impersonate(root, headers, all)).toMatchObject({
      code: 500,
      message:
        'Internal error occurred: requested [{Group  zz    } {UserExtra  q  authentication.k8s.io/v1  a} {UID  1  authentication.k8s.io/v1  }] without impersonating a user',
    });
  });

  test('refuses as any other request would be refused', () => {
    const what = { verb: 'impersonate', group: '', resource: 'users', name: 'bob' };
    const error = impersonate(root, { 'impersonate-user': 'bob' }, only()) as ApiError;
    expect(error.details).toEqual(forbiddenError(root, what).details);
  });
});
