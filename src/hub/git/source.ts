// The repository of a GitRepo, and the credentials in its Secret. Pure.
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

/**
 * `what`: the Secret, for messages. Its type must be meant for this: otherwise a user who may create GitRepos but not
 * read Secrets could send any Secret of the namespace with a password to a server of their own.
 */
export function credentialsIn(secret: KubeObject, what: string): GitCredentials | GitError {
  const data = isObject(secret['data']) ? secret['data'] : {};
  const textIn = (key: string): string => {
    const value = data[key];
    return typeof value === 'string' ? Buffer.from(value, 'base64').toString('utf8') : '';
  };
  const invalid = (message: string) => new GitError('SecretInvalid', `${what} ${message}`);
  const { type } = secret;
  if (type === SSH_AUTH) {
    const [privateKey, knownHosts] = [textIn('ssh-privatekey'), textIn('known_hosts')];
    if (privateKey === '') return invalid('has no ssh-privatekey');
    return knownHosts === ''
      ? invalid('has no known_hosts: the server cannot be verified')
      : { type: 'ssh', privateKey, knownHosts };
  }
  if (type !== BASIC_AUTH)
    return invalid(
      `is of type "${typeof type === 'string' ? type : 'Opaque'}": ${BASIC_AUTH} or ${SSH_AUTH} is required`,
    );
  const [username, password] = [textIn('username'), textIn('password')];
  return password === '' ? invalid('has no password') : { type: 'basic', username, password };
}

const BASIC_AUTH = 'kubernetes.io/basic-auth';
const SSH_AUTH = 'kubernetes.io/ssh-auth';
