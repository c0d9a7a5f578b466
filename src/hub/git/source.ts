// Where a GitRepo says that its repository is, and the credentials in its Secret. Pure.
import type { GitRepoSpec } from '../../api/git-repo.ts';
import type { KubeObject } from '../../api/object.ts';
import { isObject } from '../../base/json.ts';
import { type GitCredentials, GitError, type GitSource } from './repository.ts';

export function sourceOf(spec: GitRepoSpec, credentials: GitCredentials | undefined): GitSource {
  const { repo: url, branch = '', revision = '', caBundle, insecureSkipTLSVerify } = spec;
  return {
    url,
    ...(branch === '' ? {} : { branch }),
    ...(revision === '' ? {} : { revision }),
    ...(caBundle === undefined ? {} : { caBundle: Buffer.from(caBundle, 'base64').toString('utf8') }),
    ...(insecureSkipTLSVerify === true ? { insecureSkipTLSVerify } : {}),
    ...(credentials === undefined ? {} : { credentials }),
  };
}

/** `what`: the Secret, in words. */
export function credentialsIn(secret: KubeObject, what: string): GitCredentials | GitError {
  const data = isObject(secret['data']) ? secret['data'] : {};
  const textIn = (key: string): string => {
    const value = data[key];
    return typeof value === 'string' ? Buffer.from(value, 'base64').toString('utf8') : '';
  };
  const privateKey = textIn('ssh-privatekey');
  if (privateKey !== '') {
    const knownHosts = textIn('known_hosts');
    if (knownHosts !== '') return { type: 'ssh', privateKey, knownHosts };
    return new GitError('SecretInvalid', `${what} has no known_hosts: the server cannot be verified`);
  }
  const username = textIn('username');
  const password = textIn('password');
  if (password !== '') return { type: 'basic', username, password };
  return new GitError('SecretInvalid', `${what} has neither username and password nor ssh-privatekey`);
}
