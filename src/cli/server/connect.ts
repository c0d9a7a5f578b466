// How commands find their server: a kubeconfig, a context and a namespace; inside a Pod without a kubeconfig, the Pod's
// own service account.
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { wallClock } from '../../base/clock.ts';
import { ApiError, LostError, messageOf, UserError } from '../../base/errors.ts';
import type { Connection } from '../../client/connection.ts';
import { type Catalogue, discover } from '../../client/discovery.ts';
import { type HttpOptions, type HttpTransport, httpTransport } from '../../client/http.ts';
import { inClusterConnection } from '../../client/in-cluster.ts';
import { connectionFrom, contextsIn } from '../../client/kubeconfig.ts';
import { whyUnreadable } from './unreadable.ts';

export interface ConnectOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace?: string;
  /** The context to use if none is given and the kubeconfig has it; else its current one. */
  readonly usualContext?: string;
}

export interface Connected extends Disposable {
  readonly transport: HttpTransport;
  readonly catalogue: Catalogue;
  readonly namespace: string;
}

interface Refinement {
  /** Replaces credentials that are older; called each time the kubeconfig is read. */
  refine?(found: Connection): Connection;
}

/** `told`: callbacks that report throttling to the user. */
export async function connect(
  options: ConnectOptions,
  { refine = (found) => found, ...told }: Pick<HttpOptions, 'onThrottled'> & Refinement = {},
): Promise<Connected> {
  const reload = () => refine(findConnection(options));
  const connection = reload();
  const transport = httpTransport(connection, { clock: wallClock, reload, ...told });
  try {
    const catalogue = await discover(transport);
    return {
      transport,
      catalogue,
      namespace: options.namespace ?? connection.namespace,
      [Symbol.dispose]: () => transport.close(),
    };
  } catch (error) {
    transport.close();
    throw explained(error, connection, options);
  }
}

/** Explains the error of the first call: the server is unreachable, not trusted, or does not accept the credentials. */
function explained(error: unknown, connection: Connection, { kubeconfig }: ConnectOptions): unknown {
  const { server } = connection;
  if (error instanceof ApiError && (error.code === 401 || isTakenForNobody(error, connection))) {
    const from = kubeconfig ?? 'the kubeconfig';
    const message = `${server} does not accept the credentials in ${from} (${error.message}): they are wrong, or have expired`;
    return new UserError('Unauthorized', message, { cause: error });
  }
  if (error instanceof LostError) {
    return new LostError(`${server} does not answer: ${messageOf(error.cause ?? error)}`, {
      cause: error,
      sent: error.sent,
    });
  }
  return error;
}

/**
 * Some servers ignore a client certificate that they do not trust and treat the caller as anonymous. Any authenticated
 * user may read the served kinds, so a 403 there means that.
 */
const isTakenForNobody = ({ code }: ApiError, { certificate, token, plugin }: Connection): boolean =>
  code === 403 && (certificate ?? token ?? plugin) !== undefined;

/** Reads the files each time, because credentials may be renewed in them. */
export function findConnection(options: Pick<ConnectOptions, 'kubeconfig' | 'context' | 'usualContext'>): Connection {
  const paths = kubeconfigPaths(options.kubeconfig);
  if (paths.length === 0) {
    const own = inClusterConnection(process.env, (file) => readText(file, 'file'));
    if (own) return own;
  }
  const files = filesAt(paths, options);
  const { context, usualContext } = options;
  const usual = context === undefined && usualContext !== undefined && contextsIn(files).includes(usualContext);
  return connectionFrom(files, usual ? usualContext : context);
}

/** The connection of a context, if it exists. */
export function connectionIfThere(options: { readonly kubeconfig?: string; readonly context: string }) {
  const paths = kubeconfigPaths(options.kubeconfig);
  const files = paths.length === 0 ? [] : filesAt(paths, options);
  return contextsIn(files).includes(options.context) ? connectionFrom(files, options.context) : undefined;
}

const filesAt = (paths: readonly string[], { kubeconfig }: Pick<ConnectOptions, 'kubeconfig'>) =>
  (paths.length === 0 ? [usualPath()] : paths).map((path) => ({
    path,
    text: kubeconfig === undefined ? readUnasked(path) : readText(path, 'kubeconfig'),
    folder: dirname(resolve(path)),
    readFile: (file: string) => readText(resolve(dirname(path), file), 'file'),
  }));

const usualPath = (): string => join(homedir(), '.kube', 'config');

/** A file that is given must exist; missing files in $KUBECONFIG are skipped, as in kubectl. */
function kubeconfigPaths(asked: string | undefined): readonly string[] {
  if (asked !== undefined) return [asked];
  const listed = (process.env['KUBECONFIG'] ?? '').split(delimiter).filter((path) => path !== '');
  if (listed.length === 1) return listed;
  const present = listed.filter((path) => existsSync(path));
  if (present.length > 0) return present;
  if (listed.length > 0) return listed.slice(0, 1);
  return existsSync(usualPath()) ? [usualPath()] : [];
}

/** The kubeconfig of `flotilla up`, relative to the directory where it was started. */
const OF_UP = join('.flotilla', 'kubeconfig');

/** The user did not name this file, so the error says how to name another one. */
function readUnasked(path: string): string {
  try {
    return readText(path, 'kubeconfig');
  } catch (error) {
    const isNear = existsSync(resolve(OF_UP)) && resolve(OF_UP) !== resolve(path);
    const near = isNear ? `, or with \`export KUBECONFIG=$PWD/${OF_UP}\`` : '';
    const message = `${messageOf(error)}; name the right one with --kubeconfig${near}`;
    throw new UserError('Unreadable', message, { cause: error });
  }
}

export function readText(path: string, what: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new UserError('Unreadable', `cannot read the ${what} ${path}: ${whyUnreadable(cause)}`, { cause });
  }
}
