// The ServiceAccount of the Pod we run in: how an agent reaches the API server of its own cluster.
import { isIPv6 } from 'node:net';
import { messageOf, UserError } from '../base/errors.ts';
import type { Connection, ReadFile } from './connection.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

const FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount';

/** undefined: this process does not run in a Pod. */
export function inClusterConnection(environment: Environment, readFile: ReadFile): Connection | undefined {
  const host = environment['KUBERNETES_SERVICE_HOST'];
  const port = environment['KUBERNETES_SERVICE_PORT'];
  if (!host || !port) return undefined;
  const read = (name: string): string => {
    try {
      const text = readFile(`${FOLDER}/${name}`).trim();
      if (text !== '') return text;
    } catch (cause) {
      const message = `this Pod has no service account to use: cannot read its ${name} (${messageOf(cause)})`;
      throw new UserError('InClusterUnusable', message, { cause });
    }
    throw new UserError('InClusterUnusable', `this Pod has no service account to use: its ${name} is empty`);
  };
  return {
    server: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`,
    ca: read('ca.crt'),
    insecure: false,
    token: read('token'),
    tokenIsRenewed: true,
    namespace: read('namespace'),
  };
}
