// Three ways to one and the same API server: in process, over https as it is served, and over HTTP/2 as a real one serves it.
import { createSecureServer, type Http2SecureServer, type ServerHttp2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { patience } from '../../scripts/gate/patience.ts';
import type { Kind } from '../../src/api/kind.ts';
import type { User } from '../../src/api/object.ts';
import type { Target, Transport } from '../../src/api/transport.ts';
import {
  type Credential,
  createAuthority,
  DAY_MS,
  issueClientCertificate,
  issueServerCertificate,
  SERVER_HOSTS,
} from '../../src/apiserver/auth/certificates.ts';
import { createHandler } from '../../src/apiserver/http/handler.ts';
import { defaultLimits } from '../../src/apiserver/http/limits.ts';
import { serve } from '../../src/apiserver/http/server.ts';
import type { Store } from '../../src/apiserver/store/store.ts';
import { wallClock } from '../../src/base/clock.ts';
import { lazy } from '../../src/base/lazy.ts';
import { seededRandom } from '../../src/base/random.ts';
import type { Connection } from '../../src/client/connection.ts';
import { type HttpTransport, httpTransport } from '../../src/client/http.ts';
import { aCluster, type TestCluster } from '../cluster.ts';

/** Ways to an API server, as anybody. */
export interface Served extends AsyncDisposable {
  /** What is behind its answers, if it is one of ours: its store, its time, its own word. */
  readonly cluster?: TestCluster;
  as(user: User): Transport;
  at(plural: string, namespace?: string, name?: string): Target;
  pluralOf(kind: string): string;
}

export interface Subject extends Served {
  readonly cluster: TestCluster;
}

export interface SubjectOptions {
  readonly kinds?: readonly Kind[];
  readonly store?: Store;
}

export type StartServed = (options?: SubjectOptions) => Promise<Served>;
export type Start = (options?: SubjectOptions) => Promise<Subject>;

const named = (cluster: TestCluster): Pick<Subject, 'cluster' | 'at' | 'pluralOf'> => ({
  cluster,
  at: (plural, namespace, name) => cluster.at(plural, namespace, name),
  pluralOf: (kind) => cluster.running.cluster.registry.all().find((each) => each.kind === kind)?.plural ?? '',
});

export const direct: Start = async (options = {}) => {
  const cluster = await aCluster(options);
  return {
    ...named(cluster),
    as: (user) => cluster.as(user),
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  };
};

export const http1: Start = async (options = {}) => {
  const cluster = await aCluster(options);
  const { server, authority } = pki();
  const listening = await serve({
    clusters: (name) => (name === '' ? cluster.running.http : undefined),
    host: '127.0.0.1',
    port: 0,
    clock: cluster.clock,
    random: seededRandom(2),
    tls: { key: server.privateKey, certificate: server.certificate, clientCa: authority.certificate },
  });
  return overHttp(cluster, listening.port, async () => {
    // The clock stands still, so nobody would ever be cut off for taking long.
    const closed = listening.close();
    cluster.clock.advance(60_000);
    await closed;
  });
};

/** The handler of the embedded server behind node:http2, which it is not served by today. */
export const http2: Start = async (options = {}) => {
  const cluster = await aCluster(options);
  const handler = createHandler({
    clusters: (name) => (name === '' ? cluster.running.http : undefined),
    clock: cluster.clock,
    random: seededRandom(2),
    limits: defaultLimits,
  });
  const server = await http2Server();
  server.on('request', (request, response) => handler.handle(request as never, response as never));
  return overHttp(cluster, portOf(server), async () => server.closeHard());
};

function overHttp(cluster: TestCluster, port: number, stop: () => Promise<void>): Subject {
  const transports: HttpTransport[] = [];
  return {
    ...named(cluster),
    as(user) {
      const transport = httpTransport(connectionTo(port, user), {
        clock: wallClock,
        // Sixty handshakes at once take their time on a busy machine.
        timeoutMs: patience(60_000),
        connectTimeoutMs: patience(15_000),
      });
      transports.push(transport);
      return transport;
    },
    async [Symbol.asyncDispose]() {
      for (const transport of transports) transport.close();
      await stop();
      await cluster[Symbol.asyncDispose]();
    },
  };
}

// ---- pieces for tests of http alone

/** Valid for the machine's own time and for the tests' clock. */
const issuing = { now: Date.parse('2025-01-01T00:00:00Z'), random: seededRandom(7), lifetimeMs: 30 * 365 * DAY_MS };

export const pki = lazy(() => {
  const authority = createAuthority({ ...issuing, name: 'tests' });
  return { authority, server: issueServerCertificate(authority, { ...issuing, hosts: SERVER_HOSTS }) };
});

const known = new Map<string, Credential>();

export function credentialOf(user: User): Credential {
  const name = JSON.stringify(user);
  const credential =
    known.get(name) ?? issueClientCertificate(pki().authority, { ...issuing, user: user.name, groups: user.groups });
  known.set(name, credential);
  return credential;
}

export function connectionTo(port: number, user?: User): Connection {
  const credential = user && credentialOf(user);
  return {
    server: `https://127.0.0.1:${port}`,
    ca: pki().authority.certificate,
    insecure: false,
    namespace: 'default',
    ...(credential ? { certificate: credential.certificate, key: credential.privateKey } : {}),
  };
}

export const portOf = (server: { address(): unknown }): number => (server.address() as AddressInfo).port;

export type ClosableHttp2Server = Http2SecureServer & {
  readonly sessions: ReadonlySet<ServerHttp2Session>;
  closeHard(): void;
};

export async function http2Server(
  settings: { readonly maxConcurrentStreams?: number } = {},
): Promise<ClosableHttp2Server> {
  const { server: own, authority } = pki();
  const sessions = new Set<ServerHttp2Session>();
  const server = createSecureServer({
    key: own.privateKey,
    cert: own.certificate,
    ca: authority.certificate,
    requestCert: true,
    rejectUnauthorized: false,
    settings,
  });
  server.on('session', (session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(server, {
    sessions,
    closeHard() {
      server.close();
      for (const session of sessions) session.destroy();
    },
  });
}
