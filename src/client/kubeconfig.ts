// From the text of a kubeconfig to what is needed to connect. Certificates, tokens and a CA are understood here; ways to log in that run
// programs or talk to an identity provider are refused with a sentence.
import { parse } from 'yaml';
import { UserError } from '../base/errors.ts';
import { isObject } from '../base/json.ts';

export interface Connection {
  /** Base address, perhaps with a path prefix. */
  readonly server: string;
  readonly ca?: string;
  readonly insecure: boolean;
  readonly serverName?: string;
  readonly certificate?: string;
  readonly key?: string;
  readonly token?: string;
  readonly impersonate?: string;
  readonly impersonateGroups: readonly string[];
  /** The context's namespace, `default` if it names none. */
  readonly namespace: string;
}

/** Reads a file that the kubeconfig names, relative to the kubeconfig's own folder. */
export type ReadFile = (path: string) => string;

interface Named {
  readonly name?: unknown;
}

export function connectionFrom(text: string, readFile: ReadFile, contextName?: string): Connection {
  const config = parseConfig(text);
  const wanted = contextName ?? config['current-context'];
  if (typeof wanted !== 'string' || wanted === '') {
    throw new UserError('KubeconfigInvalid', 'the kubeconfig has no current-context: name one with --context');
  }
  const context = entry(config, 'contexts', wanted, 'context');
  const cluster = entry(config, 'clusters', asText(context['cluster']), 'cluster');
  const user = context['user'] === undefined ? {} : entry(config, 'users', asText(context['user']), 'user');
  for (const way of ['exec', 'auth-provider', 'username']) {
    if (user[way] !== undefined) {
      const message = `the kubeconfig's user "${asText(context['user'])}" logs in by "${way}", which this command does not understand: give it a certificate or a token`;
      throw new UserError('KubeconfigUnsupported', message);
    }
  }
  const inlineOrFile = (of: Readonly<Record<string, unknown>>, field: string): string | undefined => {
    const data = of[`${field}-data`];
    if (typeof data === 'string') return Buffer.from(data, 'base64').toString();
    const path = of[field];
    return typeof path === 'string' ? readFile(path) : undefined;
  };
  const token = typeof user['token'] === 'string' ? user['token'] : fileToken(user, readFile);
  const server = asText(cluster['server']);
  if (!/^https?:\/\//.test(server)) {
    throw new UserError(
      'KubeconfigInvalid',
      `the kubeconfig's cluster "${asText(context['cluster'])}" has no server address`,
    );
  }
  return {
    server: server.replace(/\/+$/, ''),
    insecure: cluster['insecure-skip-tls-verify'] === true,
    impersonateGroups: Array.isArray(user['as-groups']) ? user['as-groups'].map(String) : [],
    namespace:
      typeof context['namespace'] === 'string' && context['namespace'] !== '' ? context['namespace'] : 'default',
    ...optional('ca', inlineOrFile(cluster, 'certificate-authority')),
    ...optional('serverName', cluster['tls-server-name'] as string | undefined),
    ...optional('certificate', inlineOrFile(user, 'client-certificate')),
    ...optional('key', inlineOrFile(user, 'client-key')),
    ...optional('token', token),
    ...optional('impersonate', user['as'] as string | undefined),
  };
}

const asText = (value: unknown): string => (typeof value === 'string' ? value : '');

const optional = <Key extends string>(key: Key, value: string | undefined): { readonly [K in Key]?: string } =>
  (value === undefined ? {} : { [key]: value }) as { readonly [K in Key]?: string };

function fileToken(user: Readonly<Record<string, unknown>>, readFile: ReadFile): string | undefined {
  return typeof user['tokenFile'] === 'string' ? readFile(user['tokenFile']).trim() : undefined;
}

function parseConfig(text: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = parse(text);
  } catch (cause) {
    throw new UserError('KubeconfigInvalid', 'the kubeconfig is not valid YAML', { cause });
  }
  if (!isObject(value)) throw new UserError('KubeconfigInvalid', 'the kubeconfig is empty');
  return value;
}

function entry(
  config: Readonly<Record<string, unknown>>,
  list: 'contexts' | 'clusters' | 'users',
  name: string,
  field: string,
): Readonly<Record<string, unknown>> {
  const entries = Array.isArray(config[list]) ? (config[list] as readonly (Named & Record<string, unknown>)[]) : [];
  const found = entries.find((each) => each.name === name)?.[field];
  if (isObject(found)) return found;
  const known = entries.map((each) => `"${String(each.name)}"`).join(', ') || 'none';
  throw new UserError('KubeconfigInvalid', `the kubeconfig has no ${field} "${name}" (it has ${known})`);
}
