// A cluster in memory for tests: the real API server without sockets, on a clock and a random stream that the test holds.
import type { Admission, Kind, Resource } from '../src/api/kind.ts';
import { HUB_USER_NAME } from '../src/api/names.ts';
import type { KubeObject, User } from '../src/api/object.ts';
import type { Answer, Request, Target, Transport } from '../src/api/transport.ts';
import { newPrivateKey } from '../src/apiserver/auth/certificates.ts';
import { signingKey } from '../src/apiserver/auth/jwt.ts';
import { directTransport } from '../src/apiserver/direct.ts';
import type { EventLimits } from '../src/apiserver/housekeeping/event-expiry.ts';
import { freshMemoryStore, type RunningCluster, startCluster } from '../src/apiserver/start-cluster.ts';
import type { Store } from '../src/apiserver/store/store.ts';
import type { Clock } from '../src/base/clock.ts';
import { seededRandom } from '../src/base/random.ts';

export const admin: User = { name: 'admin', groups: ['system:masters', 'system:authenticated'] };
/** The hub's controllers, as `flotilla up` runs them: some things only they may write. */
export const theHub: User = { name: HUB_USER_NAME, groups: admin.groups };
const key = signingKey(newPrivateKey());
const NO_KINDS: readonly Kind[] = [];

/** Time that stands still until it is moved. */
export interface TestClock extends Clock {
  advance(ms: number): void;
  /** Time goes by and nothing happens meanwhile: a machine that sleeps. */
  sleep(ms: number): void;
  /** When the next timer is due, of those whose name fits. */
  next(fits?: (name: string) => boolean): number | undefined;
  /** Is told the name of every timer that fires from now on. */
  hear(fires: (name: string) => void): void;
}

export function testClock(startMs = Date.parse('2026-01-01T00:00:00Z')): TestClock {
  let now = startMs;
  let timers: { at: number; name: string; run: () => void }[] = [];
  let hearer: (name: string) => void = () => {};
  return {
    now: () => now,
    at(epochMs, name, run) {
      const timer = { at: epochMs, name, run };
      timers.push(timer);
      return () => {
        timers = timers.filter((each) => each !== timer);
      };
    },
    sleep(ms) {
      now += ms;
    },
    next(fits = () => true) {
      const due = timers.filter(({ name }) => fits(name)).map(({ at }) => at);
      return due.length === 0 ? undefined : Math.min(...due);
    },
    hear(fires) {
      hearer = fires;
    },
    advance(ms) {
      const end = now + ms;
      for (;;) {
        let next: (typeof timers)[number] | undefined;
        for (const timer of timers) if (timer.at <= end && (next === undefined || timer.at < next.at)) next = timer;
        if (!next) break;
        timers = timers.filter((each) => each !== next);
        now = Math.max(now, next.at);
        hearer(next.name);
        next.run();
      }
      now = end;
    },
  };
}

export interface TestCluster extends AsyncDisposable {
  readonly running: RunningCluster;
  readonly store: Store;
  readonly clock: TestClock;
  readonly errors: readonly unknown[];
  as(user: User): Transport;
  /** A resource by plural, as the administrator sees it. */
  at(plural: string, namespace?: string, name?: string): Target;
  call(request: Request): Promise<Answer>;
  create(plural: string, namespace: string | undefined, object: object): Promise<KubeObject>;
  get(plural: string, namespace: string | undefined, name: string): Promise<KubeObject>;
  settled(): Promise<void>;
}

export async function aCluster(
  options: {
    readonly kinds?: readonly Kind[];
    readonly admissions?: readonly Admission[];
    readonly store?: Store;
    /** Clusters of one fleet share their time. */
    readonly clock?: TestClock;
    readonly seed?: number;
    readonly eventLimits?: Partial<EventLimits>;
  } = {},
): Promise<TestCluster> {
  const clock = options.clock ?? testClock();
  const kinds = options.kinds ?? NO_KINDS;
  const store = options.store ?? (await freshMemoryStore({ kinds, clock, signingKey: key }));
  const errors: unknown[] = [];
  const running = await startCluster({
    name: 'test',
    store,
    clock,
    random: seededRandom(options.seed ?? 1),
    signingKey: key,
    caCertificate: 'CA',
    kinds,
    ...(options.admissions === undefined ? {} : { admissions: options.admissions }),
    ...(options.eventLimits === undefined ? {} : { eventLimits: options.eventLimits }),
    onError: (error) => errors.push(error),
  });
  await running.settled();
  const transport = directTransport(running.cluster, admin);
  const resourceOf = (plural: string): Resource => {
    const found = running.cluster.registry.all().find((each) => each.plural === plural);
    if (!found) throw new Error(`no resource ${plural}`);
    return {
      group: found.group,
      version: found.versions[0]?.version ?? '',
      kind: found.kind,
      plural,
      namespaced: found.namespaced,
    };
  };
  const at = (plural: string, namespace?: string, name?: string): Target => ({
    resource: resourceOf(plural),
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
  });
  return {
    running,
    store,
    clock,
    errors,
    as: (user) => directTransport(running.cluster, user),
    at,
    call: (request) => transport.call(request),
    async create(plural, namespace, object) {
      const { resource } = at(plural);
      const apiVersion = resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
      const answer = await transport.call({
        verb: 'create',
        at: at(plural, namespace),
        object: { apiVersion, kind: resource.kind, ...object } as KubeObject,
        manager: 'test',
      });
      return answer.object as KubeObject;
    },
    async get(plural, namespace, name) {
      return (await transport.call({ verb: 'get', at: at(plural, namespace, name) })).object as KubeObject;
    },
    settled: () => running.settled(),
    [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
  };
}
