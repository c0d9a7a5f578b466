// A cluster in memory with simulated workloads, for tests: time advances only with `pass`.
import { aCluster, admin, type TestCluster } from '../../../test/cluster.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Request, Transport } from '../../api/transport.ts';
import { seededRandom } from '../../base/random.ts';
import { silentLog } from '../../runtime/deps.ts';
import { type Profile, profileOf } from './profile.ts';
import { someNodes } from './rules/node.ts';
import { type Pretend, type PretendOptions, startPretend } from './start.ts';

export interface PretendCluster extends AsyncDisposable {
  readonly cluster: TestCluster;
  /** Writes of the simulated controllers since the last `count.clear()`: `verb plural[/subresource]` → number. */
  readonly count: Map<string, number>;
  /** Lists and gets, likewise. */
  readonly reads: ReadonlyMap<string, number>;
  readonly pretend: Pretend;
  /** Resolves when everything due has happened. */
  settles(): Promise<void>;
  /** Advances time in steps, and waits for everything due. */
  pass(ms: number, stepMs?: number): Promise<void>;
  list(plural: string, namespace?: string): Promise<readonly KubeObject[]>;
  patch(plural: string, name: string, body: object, subresource?: 'status'): Promise<KubeObject>;
  remove(plural: string, name: string, graceSeconds?: number): Promise<void>;
  restart(options?: Partial<PretendOptions>): Promise<void>;
}

export const NAMESPACE = 'default';

/** Counts the requests that pass through it. */
export function countingTransport(inner: Transport, count: Map<string, number>, reads: Map<string, number>): Transport {
  const label = ({ verb, at }: Request) =>
    `${verb} ${at.resource.plural}${at.subresource === undefined ? '' : `/${at.subresource}`}`;
  return {
    async call(request, signal) {
      const into = request.verb === 'get' || request.verb === 'list' ? reads : count;
      if (into === reads) reads.set(label(request), (reads.get(label(request)) ?? 0) + 1);
      const answer = await inner.call(request, signal);
      if (into === count) count.set(label(request), (count.get(label(request)) ?? 0) + 1);
      return answer;
    },
    watch: (request, signal) => inner.watch(request, signal),
  };
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

export async function aPretendCluster(
  given: Partial<Omit<PretendOptions, 'profile'>> & {
    readonly profile?: Partial<Profile>;
    readonly seed?: number;
  } = {},
): Promise<PretendCluster> {
  const cluster = await aCluster();
  const count = new Map<string, number>();
  const reads = new Map<string, number>();
  const start = (more: Partial<PretendOptions> = {}) =>
    startPretend(
      {
        transport: countingTransport(cluster.as(admin), count, reads),
        clock: cluster.clock,
        random: seededRandom(given.seed ?? 1),
        log: silentLog,
      },
      {
        sets: given.sets ?? ['controllers', 'node'],
        profile: profileOf({ leaseMs: 0, ...given.profile }),
        nodes: given.nodes ?? someNodes('test', 2),
        ...(given.statusOnly === undefined ? {} : { statusOnly: given.statusOnly }),
        ...more,
      },
    );
  let pretend = start();
  const settles = async () => {
    // A change takes a few turns from the server over the watch to the queue before a controller is busy.
    for (let quiet = 0, turns = 0; quiet < 4; turns++) {
      if (turns > 20_000) throw new Error('it does not settle');
      await turn();
      await cluster.settled();
      quiet = pretend.idle() ? quiet + 1 : 0;
    }
  };
  await pretend.synced;
  await settles();
  return {
    cluster,
    count,
    reads,
    get pretend() {
      return pretend;
    },
    settles,
    async pass(ms, stepMs = 250) {
      for (let left = ms; left > 0; left -= stepMs) {
        cluster.clock.advance(Math.min(stepMs, left));
        await settles();
      }
    },
    async list(plural, namespace = plural === 'nodes' ? undefined : NAMESPACE) {
      return (await cluster.call({ verb: 'list', at: cluster.at(plural, namespace) })).list?.items ?? [];
    },
    async patch(plural, name, body, subresource) {
      const target = cluster.at(plural, plural === 'nodes' ? undefined : NAMESPACE, name);
      const at = subresource === undefined ? target : { ...target, subresource };
      return (await cluster.call({ verb: 'patch', at, patch: { type: 'merge', body: body as never }, manager: 'test' }))
        .object as KubeObject;
    },
    async remove(plural, name, graceSeconds) {
      const at = cluster.at(plural, plural === 'nodes' ? undefined : NAMESPACE, name);
      await cluster.call({ verb: 'delete', at, ...(graceSeconds === undefined ? {} : { graceSeconds }) });
    },
    async restart(more) {
      await pretend.stop();
      pretend = start(more);
      await pretend.synced;
      await settles();
    },
    async [Symbol.asyncDispose]() {
      await pretend.stop();
      await cluster[Symbol.asyncDispose]();
    },
  };
}

/** A Deployment named web, with the fields that a test needs. */
export const aDeployment = (replicas: number, spec: object = {}, image = 'web:1'): object => ({
  metadata: { name: 'web' },
  spec: {
    replicas,
    selector: { matchLabels: { app: 'web' } },
    template: aTemplate('web', image),
    ...spec,
  },
});

export const aTemplate = (app: string, image: string, spec: object = {}): object => ({
  metadata: { labels: { app } },
  spec: { terminationGracePeriodSeconds: 5, containers: [{ name: 'main', image }], ...spec },
});

export const withImage = (image: string): object => ({
  spec: { template: { spec: { containers: [{ name: 'main', image }] } } },
});
