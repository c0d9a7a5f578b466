// Embedded API servers of one process: one data directory, one set of keys, one listener, any number of clusters. The
// hub has a log of its own and all members share one, so that a fleet that grows into two processes (see
// members-process.ts) keeps its data.
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Admission, Kind } from '../api/kind.ts';
import { type Kubeconfig, serverUrl, writeKubeconfig } from '../apiserver/auth/kubeconfig.ts';
import { ADMIN_USER, filesIn, loadOrCreatePki, type Pki, type PkiFiles } from '../apiserver/auth/pki.ts';
import { createStaticTokens, parseTokenFile, type StaticTokens } from '../apiserver/auth/static-tokens.ts';
import { type Listening, serve } from '../apiserver/http/server.ts';
import { freshMemoryStore, type RunningCluster, startCluster } from '../apiserver/start-cluster.ts';
import { DiskInUse } from '../apiserver/store/disk.ts';
import { type Log, type LogOptions, openLog } from '../apiserver/store/log.ts';
import { openNodeDisk } from '../apiserver/store/node-disk.ts';
import { oneByOne } from '../apiserver/store/one-by-one.ts';
import { wallClock } from '../base/clock.ts';
import { messageOf, UserError } from '../base/errors.ts';
import { systemRandom } from '../base/random.ts';
import { checkModes } from './file-modes.ts';
import { type ListenFlags, listenAt } from './listen-at.ts';

export const HOST = '127.0.0.1';
/** The cluster at the root path of the listener. */
export const HUB = 'hub';

export interface EmbeddedOptions extends ListenFlags {
  readonly dataDir: string;
  readonly inMemory?: boolean;
  readonly port: number;
  readonly insecureHttp?: boolean;
  /** Lines of `token,user,uid,"group1,group2"`. */
  readonly tokenAuthFile?: string;
  /** How long Events are kept, in ms; 0 = until deleted. */
  readonly eventTtl?: number;
}

/**
 * In-memory servers have a separate file: the kubeconfig of the data directory may be in use by a server that runs on
 * it.
 */
export const kubeconfigFile = (options: EmbeddedOptions & { readonly kubeconfig?: string }): string =>
  resolve(options.kubeconfig ?? join(options.dataDir, options.inMemory ? 'in-memory.kubeconfig' : 'kubeconfig'));

/** Keys and certificates as PEM by file name, so that a process without files can hand them to another. */
export type Keys = Record<string, string>;

export interface Share {
  /** Opens only the members' log, because another process has the hub. */
  readonly membersOnly?: boolean;
  /** The keys of the hub's process, if they are not on disk. */
  readonly keys?: Keys;
}

export interface Embedded extends AsyncDisposable {
  readonly pki: Pki;
  /** Set if the keys exist in memory only. */
  readonly keys: Keys | undefined;
  /** Starts a cluster, new or from the data directory. */
  start(name: string, kinds: readonly Kind[], admissions?: readonly Admission[]): Promise<RunningCluster>;
  listen(): Promise<Listening>;
  /**
   * Writes a kubeconfig with an administrator context for each cluster, started here or in another process with the
   * same keys.
   */
  writeKubeconfig(file: string, port: number, elsewhere?: Elsewhere): Promise<void>;
  /** With the advertised name. */
  url(port: number): string;
  /** For other processes of this machine. */
  nearUrl(port: number): string;
  /** Other machines can connect. */
  readonly isOpen: boolean;
  /** The endpoint of a cluster other than the hub. */
  endpoint(port: number, cluster: string): { readonly entrypoint: string; readonly certificates: string };
}

export interface Elsewhere {
  readonly names: readonly string[];
  readonly port: number;
}

export async function openEmbedded(options: EmbeddedOptions, share: Share = {}): Promise<Embedded> {
  const at = listenAt(options);
  if (options.insecureHttp && at.isOpen) {
    const message = `--insecure-http gives every client all rights: it cannot be used with --bind ${at.address}`;
    throw new UserError('BadFlag', message);
  }
  if (!options.inMemory) await checkModes(options.dataDir);
  const logs = dataIn(options);
  const running = new Map<string, RunningCluster>();
  try {
    // The log comes first: the process that opens it owns the directory.
    await logs.of(share.membersOnly ? 'members' : 'store');
    const keys = options.inMemory ? { ...share.keys } : undefined;
    const files = keys === undefined ? filesIn(join(options.dataDir, 'pki')) : filesOf(keys);
    const pki = await loadOrCreatePki({ files, now: wallClock.now(), random: systemRandom, hosts: at.hosts });
    const staticTokens = options.tokenAuthFile === undefined ? undefined : await tokensIn(options.tokenAuthFile);
    return {
      pki,
      keys,
      async start(name, kinds, admissions = []) {
        const shared = { clock: wallClock, signingKey: pki.signingKey, kinds };
        const log = await logs.of(name === HUB ? 'store' : 'members');
        const cluster = await startCluster({
          ...shared,
          admissions,
          name,
          store: log?.store(name) ?? (await freshMemoryStore(shared)),
          random: systemRandom,
          caCertificate: pki.authority.certificate,
          ...(staticTokens ? { staticTokens } : {}),
          ...(options.eventTtl === undefined ? {} : { eventLimits: { ttlMs: options.eventTtl } }),
          onError: (error, what) => console.error(`${name}: ${what}: ${messageOf(error)}`),
        });
        running.set(name, cluster);
        return cluster;
      },
      listen: () => listen({ ...options, ...share }, pki, (name) => running.get(name === '' ? HUB : name)?.http),
      isOpen: at.isOpen,
      url: (port) => urlOf(options, port),
      nearUrl: (port) => serverUrl({ scheme: schemeOf(options), host: at.near, port }),
      endpoint: (port, cluster) => ({
        entrypoint: urlOf(options, port, cluster),
        certificates: pki.authority.certificate,
      }),
      writeKubeconfig: (file, port, elsewhere) => {
        const here = [...running.keys()].map((name) => ({ name, port }));
        const there = (elsewhere?.names ?? []).map((name) => ({ name, port: elsewhere?.port ?? port }));
        return tellClients(file, kubeconfigFor(options, pki, [...here, ...there]));
      },
      async [Symbol.asyncDispose]() {
        for (const cluster of running.values()) await cluster[Symbol.asyncDispose]();
        await logs.close();
      },
    };
  } catch (error) {
    await logs.close();
    throw error;
  }
}

/** A note for users about a server that other machines can reach. */
export const openness = (url: string): string =>
  `flotilla: other machines reach it at ${url}; every client must authenticate, and the kubeconfig has the rights of an administrator: keep it secret`;

/** The logs of a data directory, each opened on first use. */
function dataIn({ dataDir, inMemory }: EmbeddedOptions) {
  const open = new Map<string, Promise<Log>>();
  const inTurn = oneByOne();
  return {
    async of(name: 'store' | 'members'): Promise<Log | undefined> {
      if (inMemory) return undefined;
      const log = open.get(name) ?? openData(join(dataDir, name), inTurn);
      open.set(name, log);
      return log;
    },
    async close() {
      // If a log could not be opened, that was reported already.
      for (const log of open.values()) await (await log.catch(() => undefined))?.close();
    },
  };
}

const filesOf = (keys: Keys): PkiFiles => ({
  read: async (name) => (Object.hasOwn(keys, name) ? keys[name] : undefined),
  write: async (name, text) => {
    keys[name] = text;
  },
});

/** If the directory is in use, unreadable or damaged, the user gets an error to fix. */
async function openData(directory: string, inTurn: NonNullable<LogOptions['inTurn']>): Promise<Log> {
  try {
    return await openLog({ disk: await openNodeDisk(directory), inTurn });
  } catch (cause) {
    const elsewhere = cause instanceof DiskInUse ? ': stop that process, or set another directory with --data-dir' : '';
    throw new UserError('DataUnusable', `${messageOf(cause)}${elsewhere}`, { cause });
  }
}

async function tokensIn(file: string): Promise<StaticTokens> {
  try {
    return createStaticTokens(parseTokenFile(await readFile(file, 'utf8')));
  } catch (cause) {
    throw new UserError('TokensUnreadable', `cannot use the token file ${file}: ${messageOf(cause)}`, { cause });
  }
}

const schemeOf = ({ insecureHttp }: EmbeddedOptions) => (insecureHttp ? 'http' : 'https');

const urlOf = (options: EmbeddedOptions, port: number, cluster?: string): string =>
  serverUrl({
    scheme: schemeOf(options),
    host: listenAt(options).advertised,
    port,
    ...(cluster === undefined ? {} : { cluster }),
  });

interface Place {
  readonly name: string;
  readonly port: number;
}

function kubeconfigFor(options: EmbeddedOptions, pki: Pki, places: readonly Place[]): Kubeconfig {
  const caCertificate = pki.authority.certificate;
  const entry = ({ name, port }: Place) => ({
    server: urlOf(options, port, name === HUB ? undefined : name),
    ...(options.insecureHttp ? {} : { caCertificate }),
  });
  return {
    clusters: Object.fromEntries(places.map((place) => [place.name, entry(place)])),
    users: { admin: options.insecureHttp ? {} : pki.admin },
    contexts: Object.fromEntries(places.map(({ name }) => [name, { cluster: name, user: 'admin' }])),
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
  { membersOnly, ...options }: EmbeddedOptions & Share,
  pki: Pki,
  clusters: Parameters<typeof serve>[0]['clusters'],
): Promise<Listening> {
  const { address } = listenAt(options);
  try {
    return await serve({
      clusters,
      host: address,
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
      onLimit: ({ user, limit, max }) =>
        console.error(`user "${user}" has reached a limit: ${limit} (at most ${max}); further ones are refused`),
    });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'EADDRNOTAVAIL') {
      const message = `${address} is not an address of this machine: set another with --bind, or 0.0.0.0 for all of them`;
      throw new UserError('BadFlag', message, { cause });
    }
    if (code !== 'EADDRINUSE') throw cause;
    const whose = membersOnly ? ", which the members of a large fleet get (the one after the hub's)," : '';
    const message = `port ${options.port} on ${address}${whose} is in use: stop the process that uses it, or set another with --port (0 = any free one)`;
    throw new UserError('PortInUse', message, { cause });
  }
}
