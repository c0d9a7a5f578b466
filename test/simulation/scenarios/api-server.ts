// API servers for a simulated world: the real one, in process, with a store in memory or with a log whose disk can be
// torn.
import { createHash } from 'node:crypto';
import type { Kind } from '../../../src/api/kind.ts';
import type { User } from '../../../src/api/object.ts';
import type { Claims, SigningKey } from '../../../src/apiserver/auth/jwt.ts';
import type { Cluster } from '../../../src/apiserver/cluster.ts';
import { directTransport } from '../../../src/apiserver/direct.ts';
import { freshMemoryStore, type RunningCluster, startCluster } from '../../../src/apiserver/start-cluster.ts';
import { FakeDisk } from '../../../src/apiserver/store/fake-disk.ts';
import { openLog } from '../../../src/apiserver/store/log.ts';
import type { Store, Stored } from '../../../src/apiserver/store/store.ts';
import type { Clock } from '../../../src/base/clock.ts';
import { by } from '../../../src/base/compare.ts';
import type { Host, ServerProgram, SimServer } from '../../../src/sim/server.ts';
import { WORLD_START_MS } from '../../../src/sim/world.ts';

export const administrator: User = { name: 'admin', groups: ['system:masters', 'system:authenticated'] };

export interface ApiServerOptions {
  readonly kinds: readonly Kind[];
  /** With its own log, so that crashes lose unsynced data. */
  readonly isDurable?: boolean;
  /** Its disk reports syncs that did not happen, to prove that checkers detect it. */
  readonly isLying?: boolean;
}

export function apiServer(options: ApiServerOptions): ServerProgram {
  const kept = options.isDurable ? onLog(options.isLying ?? false) : inMemory(options.kinds);
  let running: RunningCluster | undefined;
  return {
    async boot(host) {
      const store = await kept.open(host);
      running = await startCluster({
        name: host.name,
        store,
        clock: host.clock,
        random: host.random,
        signingKey: worldKey,
        caCertificate: 'CA',
        kinds: options.kinds,
        onError: () => {},
      });
      return simServer(running.cluster);
    },
    crash(random, disk) {
      // Stop housekeeping, because the store outlives the server.
      void running?.[Symbol.asyncDispose]();
      kept.crash(random, disk);
    },
  };
}

interface Kept extends Pick<ServerProgram, 'crash'> {
  open(host: Host): Promise<Store>;
}

// Every world begins at the same time, so the content of a fresh cluster is built once for all.
const startClock: Clock = { now: () => WORLD_START_MS, at: () => () => {} };

/** Survives its server, like an external etcd. */
function inMemory(kinds: readonly Kind[]): Kept {
  let store: Promise<Store> | undefined;
  return {
    open() {
      store ??= freshMemoryStore({ kinds, clock: startClock, signingKey: worldKey });
      return store;
    },
    crash() {},
  };
}

function onLog(isLying: boolean): Kept {
  let host: Host;
  let disk = new FakeDisk({ onStep: (operation) => host.pause(`disk ${operation}`), lies: () => isLying });
  return {
    async open(next) {
      host = next;
      return (await openLog({ disk, defer: queueMicrotask })).store(next.name);
    },
    crash(random, fate) {
      disk = fate === 'torn' ? disk.crash(random) : disk.kill(random);
    },
  };
}

const simServer = (cluster: Cluster): SimServer => ({
  store: cluster.store,
  as: (user) => directTransport(cluster, user),
  listAt: (user, request, revision) =>
    directTransport({ ...cluster, store: pastOf(cluster.store, revision) }, user).call(request),
});

/** The store at an older revision: later changes are undone. */
function pastOf(store: Store, revision: number): Store {
  const changes = store.since(revision, '');
  if (changes === 'compacted') return store;
  const before = new Map<string, Stored | undefined>();
  for (const { key, previous } of changes) if (!before.has(key)) before.set(key, previous);
  return {
    head: revision,
    visible: revision,
    get: (key) => (before.has(key) ? before.get(key) : store.get(key)),
    range(prefix, page = {}) {
      const then = [...before].filter(([key]) => key.startsWith(prefix)).flatMap(([, stored]) => stored ?? []);
      const rest = store.range(prefix).items.filter(({ key }) => !before.has(key));
      const { after, limit } = page;
      const all = [...rest, ...then].filter(({ key }) => after === undefined || key > after).sort(by(({ key }) => key));
      const items = limit === undefined || limit <= 0 ? all : all.slice(0, limit);
      const remaining = all.length - items.length;
      return { items, revision, more: remaining > 0, remaining };
    },
    rangeAtHead(prefix) {
      return this.range(prefix).items;
    },
    since(from, prefix) {
      const found = store.since(from, prefix);
      return found === 'compacted' ? found : found.filter((change) => change.revision <= revision);
    },
    subscribe: () => () => {},
    durable: async () => {},
    commit() {
      throw new Error('the past cannot be changed');
    },
  };
}

/** Signs without real cryptography, so that tokens are the same in every process and cost nothing. */
const worldKey: SigningKey = {
  algorithm: 'RS256',
  keyId: 'world',
  jwk: Object.freeze({ use: 'sig', kid: 'world', alg: 'RS256' }),
  sign(claims) {
    const content = `${encode({ alg: 'RS256', kid: 'world' })}.${encode(claims)}`;
    return `${content}.${seal(content)}`;
  },
  open(token) {
    const end = token.lastIndexOf('.');
    if (end < 0 || token.slice(end + 1) !== seal(token.slice(0, end))) return undefined;
    const body = token.slice(0, end).split('.')[1] ?? '';
    return JSON.parse(Buffer.from(body, 'base64url').toString()) as Claims;
  },
};

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const seal = (content: string): string => createHash('sha256').update(`world ${content}`).digest('base64url');
