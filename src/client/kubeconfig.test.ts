import { describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { credentialOf, pki } from '../../test/conformance/subjects.ts';
import { UserError } from '../base/errors.ts';
import { connectionFrom, contextsIn, type KubeconfigFile } from './kubeconfig.ts';

const ca = pki().authority.certificate;
const { certificate, privateKey: key } = credentialOf({ name: 'jane', groups: [] });
const base64 = (text: string) => Buffer.from(text).toString('base64');

const files: Readonly<Record<string, string>> = {
  'ca.crt': ca,
  'me.crt': certificate,
  'me.key': key,
  token: ' from-file\n',
  'empty-token': '\n',
  'odd-token': 'two\nlines',
  'no-pem': 'hello',
};
const readFile = (path: string): string => {
  const text = files[path];
  if (text === undefined) throw new UserError('Unreadable', `cannot read the file ${path}: no such file`);
  return text;
};

const config = (cluster: object, user: object | undefined = {}, context: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Config',
  'current-context': 'c',
  contexts: [{ name: 'c', context: { cluster: 'east', user: 'jane', ...context } }],
  clusters: [{ name: 'east', cluster }],
  users: [{ name: 'jane', user }],
});
const file = (value: unknown): KubeconfigFile => ({
  text: typeof value === 'string' ? value : stringify(value),
  readFile,
  folder: '/home/jane/.kube',
});
const server = 'https://east.example:6443';
const plain = { server, insecure: false, namespace: 'default' };

describe('a kubeconfig', () => {
  test.each<{ it: string; config: unknown; connection: object }>([
    { it: 'with nothing but an address', config: config({ server }), connection: plain },
    { it: 'in JSON', config: JSON.stringify(config({ server })), connection: plain },
    {
      it: 'with a path prefix, whose last slash does not count',
      config: config({ server: 'https://rancher.example/k8s/clusters/c-1/' }),
      connection: { ...plain, server: 'https://rancher.example/k8s/clusters/c-1' },
    },
    {
      it: 'with plain http',
      config: config({ server: 'http://localhost:8080' }),
      connection: { ...plain, server: 'http://localhost:8080' },
    },
    {
      it: 'with an IPv6 address',
      config: config({ server: 'https://[::1]:6443' }),
      connection: { ...plain, server: 'https://[::1]:6443' },
    },
    {
      it: 'with an authority in it',
      config: config({ server, 'certificate-authority-data': base64(ca) }),
      connection: { ...plain, ca },
    },
    {
      it: 'with an authority in a file',
      config: config({ server, 'certificate-authority': 'ca.crt' }),
      connection: { ...plain, ca },
    },
    {
      it: 'with both, of which the data counts',
      config: config({ server, 'certificate-authority-data': base64(ca), 'certificate-authority': 'missing' }),
      connection: { ...plain, ca },
    },
    {
      it: 'without verification, with another name and a proxy',
      config: config({
        server,
        'insecure-skip-tls-verify': true,
        'tls-server-name': 'kubernetes',
        'proxy-url': 'http://proxy.example:3128',
        'disable-compression': true,
      }),
      connection: { ...plain, insecure: true, serverName: 'kubernetes', proxy: 'http://proxy.example:3128' },
    },
    {
      it: 'with a certificate in it',
      config: config({ server }, { 'client-certificate-data': base64(certificate), 'client-key-data': base64(key) }),
      connection: { ...plain, certificate, key },
    },
    {
      it: 'with a certificate in files',
      config: config({ server }, { 'client-certificate': 'me.crt', 'client-key': 'me.key' }),
      connection: { ...plain, certificate, key },
    },
    { it: 'with a token', config: config({ server }, { token: 'abc' }), connection: { ...plain, token: 'abc' } },
    {
      it: 'with a token file',
      config: config({ server }, { tokenFile: 'token' }),
      connection: { ...plain, token: 'from-file', tokenIsRenewed: true },
    },
    {
      it: 'with both, of which the file counts',
      config: config({ server }, { token: 'abc', tokenFile: 'token' }),
      connection: { ...plain, token: 'from-file', tokenIsRenewed: true },
    },
    {
      it: 'with both, while the file is not there yet',
      config: config({ server }, { token: 'abc', tokenFile: 'missing' }),
      connection: { ...plain, token: 'abc', tokenIsRenewed: true },
    },
    {
      it: 'that impersonates',
      config: config(
        { server },
        { token: 'abc', as: 'bob', 'as-uid': 'u', 'as-groups': ['a', 'b'], 'as-user-extra': { scope: ['x'] } },
      ),
      connection: {
        ...plain,
        token: 'abc',
        impersonate: { user: 'bob', uid: 'u', groups: ['a', 'b'], extra: { scope: ['x'] } },
      },
    },
    {
      it: 'that runs a program',
      config: config({ server }, { exec: { apiVersion: 'v1', command: 'aws', args: ['eks', 'get-token'], env: null } }),
      connection: {
        ...plain,
        plugin: {
          kind: 'exec',
          user: 'jane',
          config: { apiVersion: 'v1', command: 'aws', args: ['eks', 'get-token'], env: null },
        },
      },
    },
    {
      it: 'that runs a program beside it',
      config: config({ server }, { exec: { command: './bin/login' } }),
      connection: {
        ...plain,
        plugin: { kind: 'exec', user: 'jane', config: { command: '/home/jane/.kube/bin/login' } },
      },
    },
    {
      it: 'that runs a program anywhere',
      config: config({ server }, { exec: { command: '/opt/login' } }),
      connection: { ...plain, plugin: { kind: 'exec', user: 'jane', config: { command: '/opt/login' } } },
    },
    {
      it: 'with an identity provider',
      config: config({ server }, { 'auth-provider': { name: 'oidc', config: { 'id-token': 'x' } } }),
      connection: {
        ...plain,
        plugin: { kind: 'auth-provider', user: 'jane', config: { name: 'oidc', config: { 'id-token': 'x' } } },
      },
    },
    {
      it: 'with a namespace',
      config: config({ server }, {}, { namespace: 'shop' }),
      connection: { ...plain, namespace: 'shop' },
    },
    { it: 'with a context that names no user', config: config({ server }, {}, { user: '' }), connection: plain },
    { it: 'with a user that is empty', config: config({ server }, undefined), connection: plain },
    {
      it: 'with a user that has nothing at all',
      config: { ...config({ server }), users: [{ name: 'jane' }] },
      connection: plain,
    },
    {
      it: 'with empty fields, as kubectl leaves them behind',
      config: config(
        { server, 'proxy-url': '', 'tls-server-name': '' },
        { token: '', tokenFile: '', as: '' },
        { namespace: '' },
      ),
      connection: plain,
    },
  ])('$it is understood', ({ config: value, connection }) => {
    expect(connectionFrom([file(value)])).toEqual(connection);
  });

  test.each<{ it: string; config: unknown; context?: string; message: string }>([
    { it: 'that is empty', config: '', message: 'the kubeconfig is empty' },
    {
      it: 'that is no map',
      config: '- a',
      message: 'the kubeconfig is no map of clusters, users and contexts',
    },
    { it: 'that is no YAML', config: 'a: [', message: 'the kubeconfig is not valid YAML: line 1: ' },
    {
      it: 'that says a thing twice',
      config: 'a: 1\na: 2',
      message: 'the kubeconfig is not valid YAML: line 2: key "a" already set in map',
    },
    {
      it: 'without a current context',
      config: { contexts: [] },
      message: 'the kubeconfig has no current-context: name one with --context',
    },
    {
      it: 'with a number for it',
      config: { 'current-context': 7 },
      message: "the kubeconfig's current-context is not text",
    },
    {
      it: 'with a context that is not there',
      config: { 'current-context': 'x' },
      message: 'the kubeconfig has no context "x" (it has none)',
    },
    {
      it: 'asked for a context that is not there',
      config: config({ server }),
      context: 'west',
      message: 'the kubeconfig has no context "west" (it has "c")',
    },
    {
      it: 'with contexts that are no list',
      config: { 'current-context': 'x', contexts: { x: 1 } },
      message: "the kubeconfig's contexts are no list of entries with names",
    },
    {
      it: 'with a context that is no map',
      config: { 'current-context': 'x', contexts: [{ name: 'x', context: 'y' }] },
      message: 'the kubeconfig\'s context "x" is no map',
    },
    {
      it: 'with a context without a cluster',
      config: config({ server }, {}, { cluster: '' }),
      message: 'the kubeconfig\'s context "c" names no cluster',
    },
    {
      it: 'with a cluster that is not there',
      config: config({ server }, {}, { cluster: 'west' }),
      message: 'the kubeconfig has no cluster "west" (it has "east")',
    },
    {
      it: 'with a user that is not there',
      config: config({ server }, {}, { user: 'bob' }),
      message: 'the kubeconfig has no user "bob" (it has "jane")',
    },
    { it: 'without an address', config: config({}), message: 'the kubeconfig\'s cluster "east" has no server address' },
    {
      it: 'with an address that is none',
      config: config({ server: 'east:example' }),
      message:
        'the kubeconfig\'s cluster "east" has the server address "east:example", which is neither https nor http',
    },
    {
      it: 'with half an address',
      config: config({ server: 'east' }),
      message: 'the kubeconfig\'s cluster "east" has the server "east", which is no address',
    },
    {
      it: 'with a proxy of another kind',
      config: config({ server, 'proxy-url': 'socks5://p:1' }),
      message:
        'the kubeconfig\'s cluster "east" has the proxy-url "socks5://p:1": only http and https proxies are understood',
    },
    {
      it: 'that trusts an authority and everybody',
      config: config({ server, 'certificate-authority': 'ca.crt', 'insecure-skip-tls-verify': true }),
      message:
        'the kubeconfig\'s cluster "east" has both certificate-authority and insecure-skip-tls-verify: set only one of them',
    },
    {
      it: 'with an authority that is no PEM',
      config: config({ server, 'certificate-authority-data': base64('hello') }),
      message: 'the kubeconfig\'s cluster "east" has a certificate-authority-data that is no PEM in base64',
    },
    {
      it: 'with a file that is no PEM',
      config: config({ server, 'certificate-authority': 'no-pem' }),
      message: 'the kubeconfig\'s cluster "east" has a certificate-authority, no-pem, that is no PEM',
    },
    {
      it: 'with an authority that is damaged',
      config: config({ server, 'certificate-authority-data': base64(ca.replace(/^M/m, '!')) }),
      message: 'the kubeconfig\'s cluster "east" has a certificate-authority that is damaged: ',
    },
    {
      it: 'with a file that is missing',
      config: config({ server, 'certificate-authority': 'missing' }),
      message: 'cannot read the file missing: no such file',
    },
    {
      it: 'with a certificate without its key',
      config: config({ server }, { 'client-certificate': 'me.crt' }),
      message: 'the kubeconfig\'s user "jane" has a client certificate but no client key',
    },
    {
      it: 'with a key without its certificate',
      config: config({ server }, { 'client-key': 'me.key' }),
      message: 'the kubeconfig\'s user "jane" has a client key but no client certificate',
    },
    {
      it: 'with a token that is a number',
      config: config({ server }, { token: 12345 }),
      message: 'the kubeconfig\'s user "jane" has a token that is not text: put it in quotes',
    },
    {
      it: 'with a token with a line break',
      config: config({ server }, { token: 'a\nb' }),
      message: 'the kubeconfig\'s user "jane" has a token with odd characters',
    },
    {
      it: 'with an empty token file',
      config: config({ server }, { tokenFile: 'empty-token' }),
      message: 'the kubeconfig\'s user "jane" has a tokenFile, empty-token, that is empty',
    },
    {
      it: 'with a token file of two lines',
      config: config({ server }, { tokenFile: 'odd-token' }),
      message: 'the kubeconfig\'s user "jane" has a tokenFile, odd-token, with odd characters',
    },
    {
      it: 'with a token file that is missing',
      config: config({ server }, { tokenFile: 'missing' }),
      message: 'cannot read the file missing: no such file',
    },
    {
      it: 'with a password',
      config: config({ server }, { username: 'jane', password: 'x' }),
      message:
        'the kubeconfig\'s user "jane" logs in by a password, which Kubernetes no longer knows: give it a certificate or a token',
    },
    {
      it: 'that runs nothing',
      config: config({ server }, { exec: { args: [] } }),
      message: 'the kubeconfig\'s user "jane" logs in by "exec", but names no command',
    },
    {
      it: 'with a provider without a name',
      config: config({ server }, { 'auth-provider': {} }),
      message: 'the kubeconfig\'s user "jane" logs in by "auth-provider", but names no name',
    },
    {
      it: 'that impersonates groups alone',
      config: config({ server }, { 'as-groups': ['a'] }),
      message: 'the kubeconfig\'s user "jane" impersonates groups, but no user: "as" is missing',
    },
    {
      it: 'with groups that are no list',
      config: config({ server }, { as: 'x', 'as-groups': 'a' }),
      message: 'the kubeconfig\'s user "jane" has as-groups that are no list of texts',
    },
    {
      it: 'with extras that are no map',
      config: config({ server }, { as: 'x', 'as-user-extra': 'a' }),
      message: 'the kubeconfig\'s user "jane" has an as-user-extra that is no map',
    },
  ])('$it is refused in one sentence', ({ config: value, context, message }) => {
    let error: unknown;
    try {
      connectionFrom([file(value)], context);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(UserError);
    expect((error as Error).message.startsWith(message), (error as Error).message).toBe(true);
    expect((error as Error).message).not.toContain('\n');
  });

  test('never says what a secret is', () => {
    const secrets = config({ server }, { token: 's3cr3t\nvalue' });
    expect(() => connectionFrom([file(secrets)])).toThrow(
      expect.not.objectContaining({ message: expect.stringContaining('s3cr3t') }),
    );
  });

  test('names like those of built-in properties are names', () => {
    const text = JSON.stringify(config({ server }))
      .replaceAll('"east"', '"__proto__"')
      .replaceAll('"jane"', '"constructor"');
    expect(connectionFrom([file(text)])).toEqual(plain);
    expect(() => connectionFrom([file(config({ server }))], 'constructor')).toThrow('has no context "constructor"');
  });
});

describe('several kubeconfigs', () => {
  const first = {
    contexts: [{ name: 'one', context: { cluster: 'east', user: 'jane' } }],
    clusters: [{ name: 'east', cluster: { server: 'https://first.example' } }],
  };
  const second = {
    'current-context': 'two',
    contexts: [
      { name: 'one', context: { cluster: 'west', user: 'jane' } },
      { name: 'two', context: { cluster: 'west', user: 'jane' } },
    ],
    clusters: [
      { name: 'east', cluster: { server: 'https://second.example' } },
      { name: 'west', cluster: { server: 'https://west.example' } },
    ],
    users: [{ name: 'jane', user: { tokenFile: 'token' } }],
  };
  const both = [file(first), { ...file(second), readFile: () => 'from-second' }];

  test('are one: the first to name a thing counts, and files are looked for where they are named', () => {
    expect(connectionFrom(both)).toMatchObject({ server: 'https://west.example', token: 'from-second' });
    expect(connectionFrom(both, 'one')).toMatchObject({ server: 'https://first.example', token: 'from-second' });
    expect(contextsIn(both)).toEqual(['one', 'two']);
    expect(() => connectionFrom(both, 'three')).toThrow(
      'the kubeconfig has no context "three" (it has "one", "one", "two")',
    );
  });

  test('have the first current context that there is', () => {
    expect(connectionFrom([file({ ...first, 'current-context': 'one' }), file(second)])).toMatchObject({
      server: 'https://first.example',
    });
  });
});
