// Login with a program (exec) or an identity provider (auth-provider), by the official client library. The library is
// large, so it is an optional peer dependency, loaded only if a kubeconfig needs it.
import { messageOf } from '../base/errors.ts';
import { isObject, type JsonObject } from '../base/json.ts';
import type { Connection, LoginPlugin } from './connection.ts';

export interface Granted {
  readonly token?: string;
  readonly certificate?: string;
  readonly key?: string;
}

/** Requests credentials. Another call may return the same ones while they are valid. */
export type Ask = () => Promise<Granted>;

export async function openPlugin(connection: Connection, plugin: LoginPlugin): Promise<Ask> {
  const library = await loadLibrary(plugin);
  const config = new library.KubeConfig();
  config.loadFromClusterAndUser(
    // Nothing is sent to this address; the library only requires a valid one.
    { name: 'cluster', server: 'https://localhost', skipTLSVerify: false },
    {
      name: plugin.user,
      ...(plugin.kind === 'exec'
        ? { exec: withExecInfo(connection, plugin.config) }
        : { authProvider: structuredClone(plugin.config) as { name: string } }),
    },
  );
  return async () => {
    const options: { headers: Record<string, unknown>; cert?: unknown; key?: unknown } = { headers: {} };
    try {
      await config.applyToHTTPSOptions(options as Parameters<typeof config.applyToHTTPSOptions>[0]);
    } catch (cause) {
      throw new Error(refusal(plugin, cause), { cause });
    }
    const token = /^Bearer (.+)$/.exec(String(options.headers['Authorization'] ?? ''))?.[1];
    const isCertified = typeof options.cert === 'string' && typeof options.key === 'string';
    if (token === undefined && !isCertified)
      throw new Error(refusal(plugin, 'it gave neither a token nor a certificate'));
    return {
      ...(token === undefined ? {} : { token }),
      ...(isCertified ? { certificate: options.cert as string, key: options.key as string } : {}),
    };
  };
}

async function loadLibrary(plugin: LoginPlugin): Promise<typeof import('@kubernetes/client-node')> {
  try {
    return await import('@kubernetes/client-node');
  } catch (cause) {
    const remedy = 'install it (npm install @kubernetes/client-node@1.4.0), or give the user a certificate or a token';
    throw new Error(
      `the kubeconfig's user "${plugin.user}" logs in by "${plugin.kind}", which needs the package @kubernetes/client-node: ${remedy}`,
      { cause },
    );
  }
}

function refusal({ kind, user, config }: LoginPlugin, cause: unknown): string {
  const by = kind === 'exec' ? `running "${String(config['command'])}"` : `"${String(config['name'])}"`;
  const hint = typeof config['installHint'] === 'string' ? `. ${config['installHint'].trim()}` : '';
  const why = messageOf(cause).trim().replace(/\s+/g, ' ');
  return `cannot log in as the kubeconfig's user "${user}" by ${by}: ${why}${hint}`;
}

/** Programs get information about the cluster in their environment; the library leaves that to its caller. */
function withExecInfo(
  connection: Connection,
  exec: JsonObject,
): { command: string; env: { name: string; value: string }[] } {
  const { server, ca, insecure, serverName, proxy } = connection;
  const cluster = {
    server,
    'certificate-authority-data': ca === undefined ? undefined : Buffer.from(ca).toString('base64'),
    'insecure-skip-tls-verify': insecure || undefined,
    'tls-server-name': serverName,
    'proxy-url': proxy,
  };
  const info = {
    apiVersion: exec['apiVersion'],
    kind: 'ExecCredential',
    spec: { interactive: false, ...(exec['provideClusterInfo'] === true ? { cluster } : {}) },
  };
  const env = Array.isArray(exec['env']) ? exec['env'].filter(isObject) : [];
  return {
    ...(structuredClone(exec) as { command: string }),
    env: [
      ...env.map((each) => ({ name: String(each['name']), value: String(each['value']) })),
      { name: 'KUBERNETES_EXEC_INFO', value: JSON.stringify(info) },
    ],
  };
}
