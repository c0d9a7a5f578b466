// The scheduler: the pure cycle over 100, 1,000 and 10,000 clusters against a bare pass that filters and sorts the same rows, and 1,000 clusters with
// 100 placements through the hub's controllers: what one change of a member costs.
//
// FLOTILLA_BENCH_SMALL=1 measures a tenth of all, to try the benchmark itself.

import { hubKinds } from '../src/api/kinds.ts';
import type { MemberCluster } from '../src/api/member-cluster.ts';
import { annotations, finalizers, labels } from '../src/api/names.ts';
import type { PlacementPolicy } from '../src/api/placement-policy.ts';
import { kubeTime } from '../src/base/clock.ts';
import { deepFreeze } from '../src/base/json.ts';
import { seededRandom } from '../src/base/random.ts';
import { clusterFamily } from '../src/hub/families.ts';
import { schedulerController } from '../src/hub/scheduler/controller.ts';
import { silentLog } from '../src/runtime/deps.ts';
import { startManager } from '../src/runtime/manager.ts';
import { aCluster, admin } from '../test/cluster.ts';
import { barePass } from './baseline/filter-and-sort.ts';
import { median, type Row } from './report.ts';

/** As it is built: what tsx adds to every function is not measured. */
const { cycle } = (await import(
  new URL('../dist/hub/scheduler/cycle.js', import.meta.url).href
)) as typeof import('../src/hub/scheduler/cycle.ts');

const IS_SMALL = process.env['FLOTILLA_BENCH_SMALL'] === '1';
const SIZES = IS_SMALL ? [10, 100, 1000] : [100, 1000, 10_000];
const ROUNDS = 20;
const NOW = Date.parse('2026-01-01T00:00:00Z');
const REGIONS = 12;
const PICKS = 50;
const NODES = 'kubernetes-fleet.io/node-count';

function member(index: number): MemberCluster {
  const condition = (type: string) => ({
    type,
    status: 'True' as const,
    reason: 'R',
    message: '',
    lastTransitionTime: kubeTime(NOW),
  });
  const name = `cluster-${String(index).padStart(5, '0')}`;
  return {
    apiVersion: 'cluster.kubernetes-fleet.io/v1beta1',
    kind: 'MemberCluster',
    metadata: {
      name,
      uid: name,
      resourceVersion: '1',
      labels: {
        env: index % 3 === 0 ? 'canary' : 'prod',
        region: `region-${index % REGIONS}`,
        tier: index % 7 === 0 ? 'gold' : 'tin',
      },
    },
    spec: {
      identity: { kind: 'User', name },
      heartbeatPeriodSeconds: 60,
      ...(index % 50 === 0 ? { taints: [{ key: 'a', value: 'b', effect: 'NoSchedule' as const }] } : {}),
    },
    status: {
      conditions: [],
      properties: { [NODES]: { value: String(1 + ((index * 31) % 97)), observationTime: kubeTime(NOW) } },
      agentStatus: [
        {
          type: 'MemberAgent',
          lastReceivedHeartbeat: kubeTime(index % 40 === 0 ? NOW - 3_600_000 : NOW - (index % 60) * 1000),
          conditions: [condition('Joined'), condition('Healthy')],
        },
      ],
    },
  };
}

const PICK_ALL: PlacementPolicy = deepFreeze({ placementType: 'PickAll' });
const PICK_N: PlacementPolicy = deepFreeze({
  placementType: 'PickN',
  affinity: {
    clusterAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        clusterSelectorTerms: [
          {
            labelSelector: { matchLabels: { env: 'prod' } },
            propertySelector: { matchExpressions: [{ name: NODES, operator: 'Ge', values: ['4'] }] },
          },
        ],
      },
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 30, preference: { labelSelector: { matchLabels: { tier: 'gold' } } } },
        { weight: 100, preference: { propertySorter: { name: NODES, sortOrder: 'Descending' } } },
      ],
    },
  },
  topologySpreadConstraints: [
    { topologyKey: 'region', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' },
    { topologyKey: 'tier', maxSkew: 2, whenUnsatisfiable: 'ScheduleAnyway' },
  ],
});

const input = (policy: PlacementPolicy, members: readonly MemberCluster[]) => ({
  policy,
  numberOfClusters: PICKS,
  snapshot: 'web-0',
  members,
  bindings: [],
  now: NOW,
});

/**
 * Median of rounds, in ms of processor time: that is the figure that others on the machine do not change. Ours and the bare pass take turns, and
 * small fleets are passed over as often as it takes to see them.
 */
function compared(
  size: number,
  ours: () => unknown,
  bare: () => unknown,
): { readonly ours: number; readonly bare: number } {
  const [left, right]: [number[], number[]] = [[], []];
  const times = Math.max(1, 10_000 / size);
  const timed = (run: () => unknown, into: number[]) => {
    const from = process.cpuUsage();
    for (let time = 0; time < times; time++) run();
    const { user, system } = process.cpuUsage(from);
    into.push((user + system) / 1000 / times);
  };
  for (let round = 0; round < ROUNDS; round++) {
    timed(ours, left);
    timed(bare, right);
  }
  // The first rounds compile.
  return { ours: median(left.slice(5)), bare: median(right.slice(5)) };
}

export async function rows(tell: (row: Row) => void): Promise<void> {
  cycleRows(tell);
  await hubRows(tell);
}

function cycleRows(tell: (row: Row) => void): void {
  for (const [name, policy] of [
    ['PickAll', PICK_ALL],
    ['PickN', PICK_N],
  ] as const) {
    const found = SIZES.map((size) => {
      const members = deepFreeze(Array.from({ length: size }, (_, index) => member(index)));
      return {
        size,
        ...compared(
          size,
          () => cycle(input(policy, members)),
          () => barePass(members, name === 'PickN', NOW),
        ),
      };
    });
    for (const { size, ours, bare } of found) {
      tell({
        name: `${name} over ${size} clusters / bare pass`,
        ratio: ours / bare,
        ...(size === SIZES.at(-1) ? { bound: { atMost: 3 } } : {}),
        figures: `${ours.toFixed(2)} ms / ${bare.toFixed(2)} ms`,
      });
    }
    const [middle, large] = found.slice(1);
    if (middle === undefined || large === undefined) continue;
    const most = (large.size * Math.log(large.size)) / (middle.size * Math.log(middle.size));
    tell({
      name: `${name}, ${large.size} against ${middle.size} clusters`,
      ratio: large.ours / middle.ours,
      // n log n, with half as much again for what the caches of the machine do.
      bound: { atMost: most * 1.5 },
      figures: `${large.ours.toFixed(2)} ms / ${middle.ours.toFixed(2)} ms; n log n is ${most.toFixed(1)}`,
    });
  }
}

const CLUSTERS = IS_SMALL ? 100 : 1000;
const PLACEMENTS = IS_SMALL ? 10 : 100;
/** One in so many placements has a term on the label that changes, and another one on the property. */
const EVERY = 10;

async function hubRows(tell: (row: Row) => void): Promise<void> {
  await using hub = await aCluster({ kinds: hubKinds });
  const family = clusterFamily;
  const at = kubeTime(hub.clock.now());
  for (let index = 0; index < CLUSTERS; index++) {
    const { metadata, spec, status } = member(index);
    const [agent] = status?.agentStatus ?? [];
    await hub.create('memberclusters', undefined, { metadata: { name: metadata.name, labels: metadata.labels }, spec });
    await patch('memberclusters', metadata.name ?? '', {
      status: { ...status, agentStatus: [{ ...agent, lastReceivedHeartbeat: at }] },
    });
  }
  for (let index = 0; index < PLACEMENTS; index++) await place(index);

  const manager = startManager(
    { clock: hub.clock, random: seededRandom(3), servers: { hub: hub.as(admin) }, log: silentLog },
    { controllers: [schedulerController(family)] },
  );
  const passes = () => manager.state().controllers.reduce((sum, each) => sum + each.passes, 0);
  const settles = async () => {
    for (let quiet = 0; quiet < 5; ) {
      await hub.settled();
      await new Promise((resolve) => setImmediate(resolve));
      quiet = manager.idle() ? quiet + 1 : 0;
    }
  };
  const from = process.hrtime.bigint();
  await settles();
  const ms = Number(process.hrtime.bigint() - from) / 1e6;
  tell({
    name: `${PLACEMENTS} placements over ${CLUSTERS} clusters, ms`,
    ratio: ms,
    figures: `${passes()} reconciles, ${(ms / PLACEMENTS).toFixed(1)} ms each placement`,
  });

  const affected = PLACEMENTS / EVERY;
  const after = async (change: () => Promise<unknown>) => {
    const before = passes();
    const began = process.hrtime.bigint();
    await change();
    await settles();
    hub.clock.advance(5_000);
    await settles();
    return { count: passes() - before, ms: Number(process.hrtime.bigint() - began) / 1e6 };
  };
  const name = member(1).metadata.name ?? '';
  const { status } = member(1);
  const heartbeat = await after(() =>
    patch('memberclusters', name, { status: { ...beating(status), ...numbers('50') } }),
  );
  tell({
    name: 'reconciles after a heartbeat with other numbers',
    ratio: heartbeat.count,
    bound: { atMost: 0 },
    figures: `of ${PLACEMENTS} placements, ${heartbeat.ms.toFixed(1)} ms`,
  });
  const label = await after(() => patch('memberclusters', name, { metadata: { labels: { pool: 'gpu' } } }, false));
  tell({
    name: 'reconciles after a label / placements that name it',
    ratio: label.count / affected,
    // One that picks, one that finds nothing left to do.
    bound: { atMost: 2 },
    figures: `${label.count} / ${affected} of ${PLACEMENTS}, ${label.ms.toFixed(1)} ms`,
  });
  const number = await after(() =>
    patch('memberclusters', name, { status: { ...beating(status), ...numbers('1000') } }),
  );
  tell({
    name: 'reconciles after a number / placements that it makes fit',
    ratio: number.count / affected,
    bound: { atMost: 2 },
    figures: `${number.count} / ${affected} of ${PLACEMENTS}, ${number.ms.toFixed(1)} ms`,
  });
  await manager.stop();

  function beating(old: MemberCluster['status']) {
    const [agent] = old?.agentStatus ?? [];
    return { agentStatus: [{ ...agent, lastReceivedHeartbeat: kubeTime(hub.clock.now()) }] };
  }

  function numbers(value: string) {
    return { properties: { [NODES]: { value, observationTime: kubeTime(hub.clock.now()) } } };
  }

  function patch(plural: string, name: string, body: object, isStatus = true) {
    return hub.call({
      verb: 'patch',
      at: { ...hub.at(plural, undefined, name), ...(isStatus ? { subresource: 'status' as const } : {}) },
      patch: { type: 'merge', body: body as never },
      manager: 'bench',
    });
  }

  async function place(index: number) {
    const required = (term: object) => ({
      placementType: 'PickAll',
      affinity: {
        clusterAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { clusterSelectorTerms: [term] } },
      },
    });
    const policy =
      index % EVERY === 0
        ? required({ labelSelector: { matchLabels: { pool: 'gpu' } } })
        : index % EVERY === 1
          ? required({ propertySelector: { matchExpressions: [{ name: NODES, operator: 'Ge', values: ['1000'] }] } })
          : PICK_N;
    const name = `web-${index}`;
    const n = policy === PICK_N ? PICKS : undefined;
    await hub.create(family.placement.plural, undefined, {
      metadata: { name, finalizers: [finalizers.placementCleanup] },
      spec: {
        resourceSelectors: [{ group: '', version: 'v1', kind: 'Namespace', name: 'shop' }],
        policy: { ...policy, ...(n === undefined ? {} : { numberOfClusters: n }) },
      },
    });
    await hub.create(family.policySnapshot.plural, undefined, {
      metadata: {
        name: `${name}-0`,
        labels: { [labels.parentPlacement]: name, [labels.isLatestSnapshot]: 'true', [labels.policyIndex]: '0' },
        annotations: {
          [annotations.placementGeneration]: '1',
          ...(n === undefined ? {} : { [annotations.numberOfClusters]: String(n) }),
        },
      },
      spec: { policy, policyHash: 'aGFzaA==' },
    });
  }
}
