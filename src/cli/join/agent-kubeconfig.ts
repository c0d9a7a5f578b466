// The kubeconfig of a member's agent: it contains a token for the hub, so only its owner may read it. A file with other
// content is never overwritten.
import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fsyncSync,
  ftruncateSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { stringify } from 'yaml';
import { messageOf, UserError } from '../../base/errors.ts';
import { parseYaml } from '../../base/yaml.ts';
import type { Connection } from '../../client/connection.ts';

export interface AgentToken {
  readonly token: string;
  /** Base64 of PEM, as in a Secret; absent = use the CA of the caller's kubeconfig. */
  readonly ca?: string;
}

const certificates = (hub: Connection, ca: string | undefined) => {
  const data = hub.ca === undefined ? ca : Buffer.from(hub.ca).toString('base64');
  return data === undefined ? {} : { 'certificate-authority-data': data };
};

/** Uses the server and CA of the caller; the CA of the Secret is used if the caller's kubeconfig has none. */
export const agentKubeconfig = (name: string, hub: Connection, { token, ca }: AgentToken): string =>
  stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [
        {
          name: 'hub',
          cluster: {
            server: hub.server,
            ...certificates(hub, ca),
            ...(hub.serverName === undefined ? {} : { 'tls-server-name': hub.serverName }),
            ...(hub.proxy === undefined ? {} : { 'proxy-url': hub.proxy }),
          },
        },
      ],
      users: [{ name, user: { token } }],
      contexts: [{ name: 'hub', context: { cluster: 'hub', user: name } }],
      'current-context': 'hub',
    },
    { lineWidth: 0 },
  );

/** Throws if the file could not be written later, or has content that no earlier join of this member wrote. */
export function checkAgentFile(file: string, name: string): void {
  // A link may point to the file of another user, or to where others can read it.
  if (lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink()) {
    throw new UserError('OutputIsLink', `${file} is a symbolic link: name another file with --output`);
  }
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw unwritable(file, cause);
    if (!mayCreate(file)) throw unwritable(file, cause);
    return;
  }
  if (!isAgentsOf(name, text)) {
    const message = `${file} is there already and is not the kubeconfig of member "${name}": name another file with --output`;
    throw new UserError('OutputTaken', message);
  }
}

function mayCreate(file: string): boolean {
  try {
    accessSync(dirname(resolve(file)), constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function isAgentsOf(name: string, text: string): boolean {
  try {
    const { users } = parseYaml(text) as {
      readonly users?: readonly { readonly name?: string; readonly user?: object }[];
    };
    return users?.length === 1 && users[0]?.name === name && Object.keys(users[0].user ?? {}).join() === 'token';
  } catch {
    return false;
  }
}

export function writeAgentFile(file: string, text: string): void {
  try {
    // Not truncated when it is opened, and made private before the token is written, even if it existed before.
    const opened = openSync(file, constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
    try {
      fchmodSync(opened, 0o600);
      ftruncateSync(opened);
      writeSync(opened, text);
    } finally {
      closeSync(opened);
    }
  } catch (cause) {
    throw unwritable(file, cause);
  }
}

/**
 * Writes a renewed token to the kubeconfig of `join`. The file is replaced atomically: a crash in between must not cost
 * the agent its only credential.
 */
export function renewAgentFile(file: string, name: string, token: string): void {
  const text = readFileSync(file, 'utf8');
  if (!isAgentsOf(name, text)) throw new UserError('NotAgents', `${file} is not the kubeconfig of member "${name}"`);
  const config = parseYaml(text) as { readonly users: readonly [{ readonly name: string }] };
  const next = stringify({ ...config, users: [{ name, user: { token } }] }, { lineWidth: 0 });
  const beside = `${file}.new`;
  rmSync(beside, { force: true });
  const opened = openSync(beside, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
  try {
    writeSync(opened, next);
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
  renameSync(beside, file);
}

const unwritable = (file: string, cause: unknown): UserError =>
  new UserError('Unwritable', `cannot write ${file}: ${messageOf(cause)}`, { cause });
