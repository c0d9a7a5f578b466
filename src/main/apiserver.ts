// `flotilla apiserver`: one embedded API server on this machine, durable unless told otherwise.
import { join, resolve } from 'node:path';
import { hubKinds, memberKinds } from '../api/kinds.ts';
import { serverUrl, writeKubeconfig } from '../apiserver/auth/kubeconfig.ts';
import { filesIn, filesInMemory, loadOrCreatePki, type Pki } from '../apiserver/auth/pki.ts';
import { serve } from '../apiserver/http/server.ts';
import { startCluster } from '../apiserver/start-cluster.ts';
import { type Log, openLog } from '../apiserver/store/log.ts';
import { createMemoryStore } from '../apiserver/store/memory.ts';
import { openNodeDisk } from '../apiserver/store/node-disk.ts';
import { wallClock } from '../base/clock.ts';
import { messageOf, UserError } from '../base/errors.ts';
import { systemRandom } from '../base/random.ts';

export interface ApiserverOptions {
  readonly dataDir: string;
  readonly inMemory?: boolean;
  readonly port: number;
  readonly kubeconfig?: string;
  readonly insecureHttp?: boolean;
}

const HOST = '127.0.0.1';

export async function apiserver(options: ApiserverOptions): Promise<void> {
  const stopped = firstSignal();
  const log = options.inMemory ? undefined : await openData(join(options.dataDir, 'store'));
  try {
    const files = options.inMemory ? filesInMemory() : filesIn(join(options.dataDir, 'pki'));
    const pki = await loadOrCreatePki({ files, now: wallClock.now(), random: systemRandom });
    await using running = await startCluster({
      name: 'hub',
      store: log?.store('hub') ?? createMemoryStore(),
      clock: wallClock,
      random: systemRandom,
      signingKey: pki.signingKey,
      caCertificate: pki.authority.certificate,
      kinds: [...hubKinds, ...memberKinds],
      onError: (error, what) => console.error(`${what}: ${messageOf(error)}`),
    });
    await using listening = await listen(options, pki, (name) =>
      name === '' || name === 'hub' ? running.http : undefined,
    );
    const kubeconfig = resolve(options.kubeconfig ?? join(options.dataDir, 'kubeconfig'));
    const scheme = options.insecureHttp ? 'http' : 'https';
    const server = serverUrl({ scheme, host: HOST, port: listening.port });
    await tellClients(kubeconfig, {
      clusters: { hub: { server, ...(options.insecureHttp ? {} : { caCertificate: pki.authority.certificate }) } },
      users: { admin: options.insecureHttp ? {} : pki.admin },
      contexts: { hub: { cluster: 'hub', user: 'admin' } },
      current: 'hub',
    });
    console.log(
      `flotilla: API server ready at ${server} (${options.inMemory ? 'in memory: nothing is kept' : `data in ${options.dataDir}`})`,
    );
    console.log(`export KUBECONFIG=${kubeconfig}`);
    await stopped;
    console.log('flotilla: stopping');
  } finally {
    await log?.close();
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

async function tellClients(file: string, config: Parameters<typeof writeKubeconfig>[1]): Promise<void> {
  try {
    await writeKubeconfig(file, config);
  } catch (cause) {
    throw new UserError('KubeconfigUnwritable', `cannot write the kubeconfig ${file}: ${messageOf(cause)}`, { cause });
  }
}

async function listen(options: ApiserverOptions, pki: Pki, clusters: Parameters<typeof serve>[0]['clusters']) {
  try {
    return await serve({
      clusters,
      host: HOST,
      port: options.port,
      clock: wallClock,
      ...(options.insecureHttp
        ? { plainHttp: { user: { name: 'flotilla-admin', groups: ['system:masters', 'system:authenticated'] } } }
        : {
            tls: {
              key: pki.server.privateKey,
              certificate: pki.server.certificate,
              clientCa: pki.authority.certificate,
            },
          }),
      onFailure: (error) => console.error(error),
    });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw cause;
    const message = `port ${options.port} on ${HOST} is in use: stop what uses it, or give another with --port (0 = any free one)`;
    throw new UserError('PortInUse', message, { cause });
  }
}

/** Ctrl-C and SIGTERM stop cleanly; a second one does not wait. */
function firstSignal(): Promise<void> {
  return new Promise((stop) => {
    const onSignal = () => {
      process.once('SIGINT', () => process.exit(130));
      process.once('SIGTERM', () => process.exit(143));
      stop();
    };
    process.once('SIGINT', onSignal);
    process.once('SIGTERM', onSignal);
  });
}
