// How commands find their server: a kubeconfig, a context, a namespace.
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { messageOf, UserError } from '../base/errors.ts';
import { type Catalogue, discover } from '../client/discovery.ts';
import { type HttpTransport, httpTransport } from '../client/http.ts';
import { connectionFrom } from '../client/kubeconfig.ts';

export interface ConnectOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace?: string;
}

export interface Connected extends Disposable {
  readonly transport: HttpTransport;
  readonly catalogue: Catalogue;
  readonly namespace: string;
}

export async function connect(options: ConnectOptions): Promise<Connected> {
  const path =
    options.kubeconfig ?? process.env['KUBECONFIG']?.split(delimiter)[0] ?? join(homedir(), '.kube', 'config');
  const connection = connectionFrom(
    readText(path, 'kubeconfig'),
    (file) => readText(resolve(dirname(path), file), 'file'),
    options.context,
  );
  const transport = httpTransport(connection);
  const catalogue = await discover(transport);
  return {
    transport,
    catalogue,
    namespace: options.namespace ?? connection.namespace,
    [Symbol.dispose]: () => transport.close(),
  };
}

export function readText(path: string, what: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new UserError('Unreadable', `cannot read the ${what} ${path}: ${messageOf(cause)}`, { cause });
  }
}
