// Converts kubeconfigs to a connection. Guarantee: every error in them is one sentence that names the entry, before any
// request.
import { X509Certificate } from 'node:crypto';
import { isAbsolute, join } from 'node:path';
import { messageOf, UserError } from '../base/errors.ts';
import { isObject, type JsonObject } from '../base/json.ts';
import { parseYaml } from '../base/yaml.ts';
import type { Connection, Impersonation, LoginPlugin, ReadFile } from './connection.ts';

/** One of the files in $KUBECONFIG. Of entries with the same name the first one counts. */
export interface KubeconfigFile {
  /** For messages: a command may read two. */
  readonly path?: string;
  readonly text: string;
  readonly readFile: ReadFile;
  /** The folder of the file: relative paths of programs start there. */
  readonly folder?: string;
}

interface Entry {
  readonly name: string;
  /** The name in messages. */
  readonly title: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly readFile: ReadFile;
  readonly folder: string;
}

type Section = 'contexts' | 'clusters' | 'users';
const WORD: Readonly<Record<Section, string>> = { contexts: 'context', clusters: 'cluster', users: 'user' };

/** For the named context, by default the current one. */
export function connectionFrom(files: readonly KubeconfigFile[], contextName?: string): Connection {
  const configs = files.map((file) => ({
    config: parseConfig(file),
    readFile: file.readFile,
    folder: file.folder ?? '',
  }));
  const entry = (section: Section, name: string): Entry => {
    const known: string[] = [];
    for (const { config, readFile, folder } of configs) {
      for (const each of entriesOf(config, section)) {
        if (each['name'] === name) {
          const title = `the kubeconfig's ${WORD[section]} "${name}"`;
          return { name, title, fields: fieldsOf(each, WORD[section], title), readFile, folder };
        }
        known.push(`"${String(each['name'])}"`);
      }
    }
    throw invalid(`the kubeconfig has no ${WORD[section]} "${name}" (it has ${known.join(', ') || 'none'})`);
  };
  const current = configs
    .map(({ config }) => config['current-context'])
    .find((each) => each !== undefined && each !== '');
  const wanted = contextName ?? current;
  if (wanted === undefined) throw invalid('the kubeconfig has no current-context: name one with --context');
  if (typeof wanted !== 'string') throw invalid("the kubeconfig's current-context is not text");

  const context = entry('contexts', wanted);
  const clusterName = text(context, 'cluster');
  if (clusterName === undefined) throw invalid(`the kubeconfig's context "${wanted}" names no cluster`);
  const userName = text(context, 'user');
  return {
    ...serverOf(entry('clusters', clusterName)),
    ...(userName === undefined ? {} : loginOf(entry('users', userName))),
    namespace: text(context, 'namespace') ?? 'default',
  };
}

/** The names of all contexts, in file order. */
export const contextsIn = (files: readonly KubeconfigFile[]): readonly string[] => [
  ...new Set(files.flatMap((file) => entriesOf(parseConfig(file), 'contexts').map((each) => String(each['name'])))),
];

// ---- clusters

function serverOf(cluster: Entry): Omit<Connection, 'namespace'> {
  const server = text(cluster, 'server');
  if (server === undefined) throw invalid(`${cluster.title} has no server address`);
  const url = urlOf(cluster, 'server', server);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw invalid(`${cluster.title} has the server address "${server}", which is neither https nor http`);
  }
  const insecure = cluster.fields['insecure-skip-tls-verify'] === true;
  const ca = pem(cluster, 'certificate-authority');
  if (insecure && ca !== undefined) {
    throw invalid(`${cluster.title} has both certificate-authority and insecure-skip-tls-verify: set only one of them`);
  }
  if (ca !== undefined) checkCertificates(cluster, 'certificate-authority', ca);
  const proxy = text(cluster, 'proxy-url');
  if (proxy !== undefined && !/^https?:$/.test(urlOf(cluster, 'proxy-url', proxy).protocol)) {
    throw unsupported(`${cluster.title} has the proxy-url "${proxy}": only http and https proxies are understood`);
  }
  return {
    server: `${url.origin}${url.pathname.replace(/\/+$/, '')}`,
    insecure,
    ...optional('ca', ca),
    ...optional('serverName', text(cluster, 'tls-server-name')),
    ...optional('proxy', proxy),
  };
}

function urlOf(entry: Entry, field: string, value: string): URL {
  if (URL.canParse(value)) return new URL(value);
  throw invalid(`${entry.title} has the ${field} "${value}", which is no address`);
}

// ---- users

type Login = Pick<Connection, 'certificate' | 'key' | 'token' | 'tokenIsRenewed' | 'plugin' | 'impersonate'>;

function loginOf(user: Entry): Login {
  if (user.fields['username'] !== undefined || user.fields['password'] !== undefined) {
    throw unsupported(
      `${user.title} logs in by a password, which Kubernetes no longer knows: give it a certificate or a token`,
    );
  }
  const certificate = pem(user, 'client-certificate');
  const key = pem(user, 'client-key');
  if ((certificate === undefined) !== (key === undefined)) {
    const [has, lacks] = key === undefined ? ['certificate', 'key'] : ['key', 'certificate'];
    throw invalid(`${user.title} has a client ${has} but no client ${lacks}`);
  }
  if (certificate !== undefined) checkCertificates(user, 'client-certificate', certificate);
  const impersonate = impersonationOf(user);
  const plugin = pluginOf(user);
  return {
    ...optional('certificate', certificate),
    ...optional('key', key),
    ...tokenOf(user),
    ...(plugin === undefined ? {} : { plugin }),
    ...(impersonate === undefined ? {} : { impersonate }),
  };
}

/** A token file takes precedence over a token, which may be only the initial one. */
function tokenOf(user: Entry): Pick<Connection, 'token' | 'tokenIsRenewed'> {
  const inline = text(user, 'token');
  const file = text(user, 'tokenFile');
  if (inline !== undefined && !isHeaderValue(inline)) throw invalid(`${user.title} has a token with odd characters`);
  if (file === undefined) return optional('token', inline);
  try {
    const token = user.readFile(file).trim();
    if (token === '') throw invalid(`${user.title} has a tokenFile, ${file}, that is empty`);
    if (!isHeaderValue(token)) throw invalid(`${user.title} has a tokenFile, ${file}, with odd characters`);
    return { token, tokenIsRenewed: true };
  } catch (error) {
    if (inline === undefined) throw error;
    return { token: inline, tokenIsRenewed: true };
  }
}

const isHeaderValue = (value: string): boolean => /^[\x21-\x7e]+$/.test(value);

function pluginOf(user: Entry): LoginPlugin | undefined {
  for (const kind of ['exec', 'auth-provider'] as const) {
    const config = user.fields[kind];
    if (config === undefined || config === null) continue;
    const needed = kind === 'exec' ? 'command' : 'name';
    if (!isObject(config) || typeof config[needed] !== 'string' || config[needed] === '') {
      throw invalid(`${user.title} logs in by "${kind}", but names no ${needed}`);
    }
    const command = config['command'];
    const isRelative = typeof command === 'string' && /^[^/\\]+[/\\]/.test(command) && !isAbsolute(command);
    const located = isRelative ? { ...config, command: join(user.folder, command) } : config;
    return { kind, user: user.name, config: located as JsonObject };
  }
  return undefined;
}

function impersonationOf(user: Entry): Impersonation | undefined {
  const name = text(user, 'as');
  const uid = text(user, 'as-uid');
  const groups = texts(user, 'as-groups', user.fields['as-groups']);
  const given = user.fields['as-user-extra'] ?? {};
  if (!isObject(given)) throw invalid(`${user.title} has an as-user-extra that is no map`);
  const extra = Object.entries(given).map(
    ([key, values]) => [key, texts(user, `as-user-extra.${key}`, values)] as const,
  );
  if (name !== undefined) return { user: name, groups, extra: Object.fromEntries(extra), ...optional('uid', uid) };
  if (uid === undefined && groups.length === 0 && extra.length === 0) return undefined;
  throw invalid(`${user.title} impersonates groups, but no user: "as" is missing`);
}

function texts(entry: Entry, field: string, value: unknown): readonly string[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value;
  throw invalid(`${entry.title} has ${field} that are no list of texts`);
}

// ---- fields

/** Absent, null and '' are equal, as in kubectl. */
function text(entry: Entry, field: string): string | undefined {
  const value = entry.fields[field];
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value !== 'string') throw invalid(`${entry.title} has a ${field} that is not text: put it in quotes`);
  return value;
}

/** Inline data takes precedence over a file name. */
function pem(entry: Entry, field: string): string | undefined {
  const data = text(entry, `${field}-data`);
  const file = text(entry, field);
  if (data === undefined && file === undefined) return undefined;
  const value = data === undefined ? entry.readFile(file as string) : Buffer.from(data, 'base64').toString();
  if (value.includes('-----BEGIN ')) return value;
  const where = data === undefined ? `${field}, ${file},` : `${field}-data`;
  throw invalid(`${entry.title} has a ${where} that is no PEM${data === undefined ? '' : ' in base64'}`);
}

function checkCertificates(entry: Entry, field: string, pemText: string): void {
  try {
    new X509Certificate(pemText);
  } catch (cause) {
    throw invalid(`${entry.title} has a ${field} that is damaged: ${messageOf(cause)}`, cause);
  }
}

const invalid = (message: string, cause?: unknown): UserError =>
  new UserError('KubeconfigInvalid', message, cause === undefined ? {} : { cause });

const unsupported = (message: string): UserError => new UserError('KubeconfigUnsupported', message);

const optional = <Key extends string>(key: Key, value: string | undefined): { readonly [K in Key]?: string } =>
  (value === undefined ? {} : { [key]: value }) as { readonly [K in Key]?: string };

// ---- the file

function parseConfig({ text: source, path }: KubeconfigFile): Readonly<Record<string, unknown>> {
  const title = path === undefined ? 'the kubeconfig' : `the kubeconfig ${path}`;
  let value: unknown;
  try {
    value = parseYaml(source);
  } catch (cause) {
    throw invalid(`${title} is not valid YAML: ${messageOf(cause)}`, cause);
  }
  if (value === null) throw invalid(`${title} is empty`);
  if (!isObject(value)) throw invalid(`${title} is no map of clusters, users and contexts`);
  return value;
}

function entriesOf(
  config: Readonly<Record<string, unknown>>,
  section: Section,
): readonly Readonly<Record<string, unknown>>[] {
  const entries = config[section];
  if (entries === undefined || entries === null) return [];
  if (!Array.isArray(entries) || !entries.every(isObject)) {
    throw invalid(`the kubeconfig's ${section} are no list of entries with names`);
  }
  return entries;
}

function fieldsOf(
  entry: Readonly<Record<string, unknown>>,
  word: string,
  title: string,
): Readonly<Record<string, unknown>> {
  const fields = entry[word] ?? {};
  if (isObject(fields)) return fields;
  throw invalid(`${title} is no map`);
}
