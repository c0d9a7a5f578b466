// Embedded API servers of one process: one data directory, one log, one set of keys, one listener, any number of clusters.
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Kind } from '../api/kind.ts';
import { type Kubeconfig, serverUrl, writeKubeconfig } from '../apiserver/auth/kubeconfig.ts';
import { ADMIN_USER, filesIn, filesInMemory, loadOrCreatePki, type Pki } from '../apiserver/auth/pki.ts';
import { createStaticTokens, parseTokenFile, type StaticTokens } from '../apiserver/auth/static-tokens.ts';
import { type Listening, serve } from '../apiserver/http/server.ts';
import { freshMemoryStore, type RunningCluster, startCluster } from '../apiserver/start-cluster.ts';
import { type Log, openLog } from '../apiserver/store/log.ts';
import { openNodeDisk } from '../apiserver/store/node-disk.ts';
import { wallClock } from '../base/clock.ts';
import { messageOf, UserError } from '../base/errors.ts';
import { systemRandom } from '../base/random.ts';

export const HOST = '127.0.0.1';
/** The cluster at the root of the listener. */
export const HUB = 'hub';

export interface EmbeddedOptions {
  readonly dataDir: string;
  readonly inMemory?: boolean;
  readonly port: number;
  readonly insecureHttp?: boolean;
  /** Lines of `token,user,uid,"group1,group2"`. */
  readonly tokenAuthFile?: string;
}

export interface Embedded extends AsyncDisposable {
  readonly pki: Pki;
  /** Starts a cluster, or finds it again in the data directory. */
  start(name: string, kinds: readonly Kind[]): Promise<RunningCluster>;
  listen(): Promise<Listening>;
  /** Writes a kubeconfig with a context for each cluster started so far, as the administrator of all. */
  writeKubeconfig(file: string, port: number): Promise<void>;
  url(port: number): string;
}

export async function openEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const log = options.inMemory ? undefined : await openData(join(options.dataDir, 'store'));
  const running = new Map<string, RunningCluster>();
  try {
    const files = options.inMemory ? filesInMemory() : filesIn(join(options.dataDir, 'pki'));
    const pki = await loadOrCreatePki({ files, now: wallClock.now(), random: systemRandom });
    const staticTokens = options.tokenAuthFile === undefined ? undefined : await tokensIn(options.tokenAuthFile);
    return {
      pki,
      async start(name, kinds) {
        const shared = { clock: wallClock, signingKey: pki.signingKey, kinds };
        const cluster = await startCluster({
          ...shared,
          name,
          store: log?.store(name) ?? (await freshMemoryStore(shared)),
          random: systemRandom,
          caCertificate: pki.authority.certificate,
          ...(staticTokens ? { staticTokens } : {}),
          onError: (error, what) => console.error(`${name}: ${what}: ${messageOf(error)}`),
        });
        running.set(name, cluster);
        return cluster;
      },
      listen: () => listen(options, pki, (name) => running.get(name === '' ? HUB : name)?.http),
      url: (port) => urlOf(options, port),
      writeKubeconfig: (file, port) => tellClients(file, kubeconfigFor(options, pki, [...running.keys()], port)),
      async [Symbol.asyncDispose]() {
        for (const cluster of running.values()) await cluster[Symbol.asyncDispose]();
        await log?.close();
      },
    };
  } catch (error) {
    await log?.close();
    throw error;
  }
}

/** In use, unreadable, damaged: whatever stands in the way is for whoever started us to see and mend. */
async function openData(directory: string): Promise<Log> {
  try {
    return await openLog({ disk: await openNodeDisk(directory) });
  } catch (cause) {
    throw new UserError('DataUnusable', messageOf(cause), { cause });
  }
}

async function tokensIn(file: string): Promise<StaticTokens> {
  try {
    return createStaticTokens(parseTokenFile(await readFile(file, 'utf8')));
  } catch (cause) {
    throw new UserError('TokensUnreadable', `cannot use the token file ${file}: ${messageOf(cause)}`, { cause });
  }
}

const urlOf = ({ insecureHttp }: EmbeddedOptions, port: number, cluster?: string): string =>
  serverUrl({
    scheme: insecureHttp ? 'http' : 'https',
    host: HOST,
    port,
    ...(cluster === undefined ? {} : { cluster }),
  });

function kubeconfigFor(options: EmbeddedOptions, pki: Pki, names: readonly string[], port: number): Kubeconfig {
  const caCertificate = pki.authority.certificate;
  const entry = (name: string) => ({
    server: urlOf(options, port, name === HUB ? undefined : name),
    ...(options.insecureHttp ? {} : { caCertificate }),
  });
  return {
    clusters: Object.fromEntries(names.map((name) => [name, entry(name)])),
    users: { admin: options.insecureHttp ? {} : pki.admin },
    contexts: Object.fromEntries(names.map((name) => [name, { cluster: name, user: 'admin' }])),
    current: HUB,
  };
}

async function tellClients(file: string, config: Kubeconfig): Promise<void> {
  if (file === join(homedir(), '.kube', 'config')) {
    throw new UserError(
      'KubeconfigRefused',
      `${file} is your own kubeconfig and is not overwritten: name another file with --kubeconfig`,
    );
  }
  try {
    await writeKubeconfig(file, config);
  } catch (cause) {
    throw new UserError('KubeconfigUnwritable', `cannot write the kubeconfig ${file}: ${messageOf(cause)}`, { cause });
  }
}

async function listen(
  options: EmbeddedOptions,
  pki: Pki,
  clusters: Parameters<typeof serve>[0]['clusters'],
): Promise<Listening> {
  try {
    return await serve({
      clusters,
      host: HOST,
      port: options.port,
      clock: wallClock,
      ...(options.insecureHttp
        ? { plainHttp: { user: { name: ADMIN_USER, groups: ['system:masters', 'system:authenticated'] } } }
        : {
            tls: {
              key: pki.server.privateKey,
              certificate: pki.server.certificate,
              clientCa: pki.authority.certificate,
            },
          }),
      onFailure: (error, { method, path }) => console.error(`${method} ${path}:`, error),
    });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw cause;
    const message = `port ${options.port} on ${HOST} is in use: stop what uses it, or give another with --port (0 = any free one)`;
    throw new UserError('PortInUse', message, { cause });
  }
}
