// What the heartbeats of a fleet cost the hub, and what it costs an agent to sum up a large cluster.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { hubKinds } from '../src/api/kinds.ts';
import type { MemberStatus } from '../src/api/member-status.ts';
import { memberNamespace } from '../src/api/names.ts';
import type { KubeObject } from '../src/api/object.ts';
import type { Transport } from '../src/api/transport.ts';
import { kubeTime } from '../src/base/clock.ts';
import { deepFreeze } from '../src/base/json.ts';
import { seededRandom } from '../src/base/random.ts';
import { silentLog } from '../src/runtime/deps.ts';
import { startManager } from '../src/runtime/manager.ts';
import { aCluster, admin } from '../test/cluster.ts';
import { median, type Row } from './report.ts';

/** As it is built: what tsx adds to every function is not measured. */
const built = <T>(file: string): Promise<T> => import(new URL(`../dist/${file}`, import.meta.url).href) as Promise<T>;
const { membership } =
  await built<typeof import('../src/hub/membership/controller.ts')>('hub/membership/controller.js');
const { profileController } =
  await built<typeof import('../src/hub/profiles/controller.ts')>('hub/profiles/controller.js');
const { usageOf } = await built<typeof import('../src/member/heartbeat/facts.ts')>('member/heartbeat/facts.js');
const { busyPods, nodes } = await built<typeof import('../src/member/sources.ts')>('member/sources.js');

const IS_SMALL = process.env['FLOTILLA_BENCH_SMALL'] === '1';
const MEMBERS = IS_SMALL ? 50 : 1000;
const MINUTES = 3;
const NODES = IS_SMALL ? 100 : 1000;
const PODS = IS_SMALL ? 3000 : 30_000;
const ROUNDS = 15;

const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

const nameOf = (index: number): string => `m${String(index).padStart(4, '0')}`;

export async function heartbeatRows(tell: (row: Row) => void): Promise<void> {
  await using hub = await aCluster({ kinds: hubKinds });
  await hub.create('namespaces', undefined, { metadata: { name: 'fleet-system' } });
  const spec = { identity: { kind: 'User', name: 'agent' }, heartbeatPeriodSeconds: 60 };
  for (let index = 0; index < MEMBERS; index++)
    await hub.create('memberclusters', undefined, { metadata: { name: nameOf(index) }, spec });
  let writes = 0;
  const inner = hub.as(admin);
  const counted: Transport = {
    ...inner,
    call(request, signal) {
      if (request.verb !== 'get' && request.verb !== 'list') writes++;
      return inner.call(request, signal);
    },
  };
  const manager = startManager(
    { clock: hub.clock, random: seededRandom(3), servers: { hub: counted }, log: silentLog },
    { controllers: [membership(), profileController()] },
  );
  const settles = async () => {
    for (let quiet = 0; quiet < 5; ) {
      await hub.settled();
      await new Promise((resolve) => setImmediate(resolve));
      quiet = manager.idle() ? quiet + 1 : 0;
    }
  };
  await settles();
  const beat = async (index: number) => {
    const name = nameOf(index);
    const lastReceivedHeartbeat = kubeTime(hub.clock.now());
    const conditions = ['Joined', 'Healthy'].map((type) => ({
      type,
      status: 'True',
      reason: 'InternalMemberClusterJoined',
      message: '',
      observedGeneration: 1,
      lastTransitionTime: '2026-01-01T00:00:00Z',
    }));
    const status = {
      agentStatus: [{ type: 'MemberAgent', conditions, lastReceivedHeartbeat }],
      resourceUsage: { available: { cpu: String(hub.clock.now() % 97) }, observationTime: lastReceivedHeartbeat },
    };
    const at = { ...hub.at('internalmemberclusters', memberNamespace(name), name), subresource: 'status' as const };
    await inner.call({ verb: 'patch', at, patch: { type: 'merge', body: { status } as never }, manager: 'bench' });
  };
  const minute = async () => {
    for (let index = 0; index < MEMBERS; index++) await beat(index);
    await settles();
    hub.clock.advance(60_000);
  };
  // The first ones join.
  await minute();
  await minute();
  writes = 0;
  const withHub = cpuMs();
  for (let each = 0; each < MINUTES; each++) await minute();
  const ours = (cpuMs() - withHub) / MINUTES;
  const perBeat = writes / MINUTES / MEMBERS;
  await manager.stop();
  const without = cpuMs();
  for (let each = 0; each < MINUTES; each++) {
    for (let index = 0; index < MEMBERS; index++) await beat(index);
    hub.clock.advance(60_000);
  }
  const bare = (cpuMs() - without) / MINUTES;
  tell({
    name: `writes of the hub per heartbeat of ${MEMBERS} members`,
    ratio: perBeat,
    bound: { atMost: 1 },
    figures: `${perBeat.toFixed(2)} beside the one of the agent`,
  });
  tell({
    name: `a minute of ${MEMBERS} heartbeats on the hub / the agents' writes alone`,
    ratio: ours / bare,
    figures: `${ours.toFixed(0)} ms / ${bare.toFixed(0)} ms of processor time: ${(ours / 600).toFixed(1)} % of a processor`,
  });
}

const aNode = (index: number): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: `n${index}`, uid: `n${index}`, resourceVersion: '1' },
  status: { capacity: { cpu: '8', memory: '32Gi' }, allocatable: { cpu: '7800m', memory: '30Gi' } },
});

const aPod = (index: number): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: `p${index}`, namespace: 'shop', uid: `p${index}`, resourceVersion: '1' },
  spec: {
    nodeName: `n${index % NODES}`,
    containers: [{ name: 'web', image: 'web:1', resources: { requests: { cpu: '100m', memory: '64Mi' } } }],
  },
  status: { phase: 'Running' },
});

/** Of one heartbeat of an agent: what watches keep of Nodes and Pods, and the sum over them. */
export function collectionRows(tell: (row: Row) => void): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const heap = (): number => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const projected = <T>(
    source: { project?(object: KubeObject): T },
    count: number,
    make: (index: number) => KubeObject,
  ) => Array.from({ length: count }, (_, index) => source.project?.(make(index)) as T);
  const before = heap();
  const facts = { nodes: projected(nodes, NODES, aNode), pods: projected(busyPods, PODS, aPod), namespaces: null };
  const kept = heap() - before;
  const whole = Array.from({ length: PODS }, (_, index) => deepFreeze(aPod(index)));
  const rows = whole.map(({ spec }) => spec as { readonly containers: readonly { readonly resources: object }[] });
  const previous: MemberStatus | undefined = undefined;
  const [ours, bare]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    const from = cpuMs();
    usageOf(facts, previous, 0);
    ours.push(cpuMs() - from);
    const since = cpuMs();
    let [cpu, memory] = [0, 0];
    for (const { containers } of rows) {
      for (const { resources } of containers) {
        const { requests } = resources as { readonly requests: { readonly cpu: string; readonly memory: string } };
        cpu += Number.parseFloat(requests.cpu);
        memory += Number.parseFloat(requests.memory);
      }
    }
    if (cpu + memory < 0) throw new Error('never');
    bare.push(cpuMs() - since);
  }
  tell({
    name: `a sum over ${NODES} nodes and ${PODS} Pods / one bare pass`,
    ratio: median(ours) / Math.max(0.1, median(bare)),
    figures: `${median(ours).toFixed(1)} ms / ${median(bare).toFixed(1)} ms, once per heartbeat; ${(kept / (NODES + PODS)).toFixed(0)} bytes are kept of each`,
  });
}
