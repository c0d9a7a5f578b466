// The forecast of `flotilla plan placement/NAME` matches the hub: the same waves with the same clusters, for random
// fleets, strategies, and picked, unreachable and paused clusters. A rollout that would wait stops where predicted.
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { isFull, testSeed } from '../../scripts/gate/depth.ts';
import type { ClusterGroup } from '../../src/api/cluster-group.ts';
import type { MemberCluster } from '../../src/api/member-cluster.ts';
import { annotations, labels } from '../../src/api/names.ts';
import type { KubeObject } from '../../src/api/object.ts';
import type { Placement } from '../../src/api/placement.ts';
import { families } from '../../src/hub/families.ts';
import { isLatest } from '../../src/hub/placement-sources.ts';
import { forecastRollout, type RolloutWave } from '../../src/insight/forecast/rollout-forecast.ts';
import { type Delivery, deployment, scenario } from '../delivery.ts';

/** Clusters take so long that waves are clearly separated. */
const SLOW = { pullMs: 15_000, readyMs: 15_000 };
const DURATION_MS = 30_000;
const STEP_MS = 5000;
const CLUSTERS = Array.from({ length: 9 }, (_, at) => `c${at + 1}`);
const RINGS = ['a', 'b', 'c', ''];

/** Which cluster has which label. */
const anyFleet = fc
  .array(fc.constantFrom(...RINGS), { minLength: CLUSTERS.length, maxLength: CLUSTERS.length })
  .map((rings) => Object.fromEntries(CLUSTERS.map((name, at) => [name, { ring: rings[at] ?? '' }])));

const anyLimit = fc.constantFrom<number | string>(0, 1, 2, 5, '20%', '50%', '100%');
const anyPartition = fc.record(
  {
    maxUnavailable: anyLimit,
    clusterSelector: fc.constantFrom({ matchLabels: { ring: 'a' } }, { matchLabels: { ring: 'b' } }, {}),
    clusterGroup: fc.constantFrom('group-a', 'group-c', 'missing'),
    name: fc.constantFrom('first', 'Second one'),
  },
  { requiredKeys: [] },
);
const anyPartitioned = fc.record(
  {
    maxUnavailable: anyLimit,
    maxUnavailablePartitions: fc.constantFrom<number | string>(0, 1, '50%'),
    autoPartitionThreshold: fc.constantFrom(1, 200),
    autoPartitionSize: fc.constantFrom<number | string>(2, '25%', '40%'),
    maxNew: fc.constantFrom(1, 3, 50),
    mode: fc.constantFrom('FleetDocumented', 'FleetExact'),
    soakSeconds: fc.constantFrom(0, 60),
    unreachablePolicy: fc.constantFrom('Count', 'Exclude'),
    pausedPolicy: fc.constantFrom('Count', 'Exclude'),
    partitions: fc.array(anyPartition, { minLength: 1, maxLength: 3 }),
  },
  { requiredKeys: [] },
);
/** The API server refuses an unreachablePolicy with mode FleetExact. */
function valid({ unreachablePolicy, ...settings }: Record<string, unknown> & { readonly mode?: string }) {
  const isExact = settings.mode === 'FleetExact';
  return { ...settings, ...(isExact || unreachablePolicy === undefined ? {} : { unreachablePolicy }) };
}

const anyStrategy = fc.oneof(
  { weight: 4, arbitrary: anyPartitioned.map(valid).map((partitioned) => ({ type: 'Partitioned', partitioned })) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(1, 3, '50%').map((maxUnavailable) => ({
      type: 'RollingUpdate',
      rollingUpdate: { maxUnavailable },
    })),
  },
);

/** What changes before a rollout; the first one is an install. */
const anyStep = fc.record({
  strategy: anyStrategy,
  picked: fc.subarray(CLUSTERS, { minLength: 3 }),
  isNewContent: fc.boolean(),
  unreachable: fc.oneof(fc.constant<string[]>([]), fc.subarray(CLUSTERS, { maxLength: 2 })),
  paused: fc.subarray(CLUSTERS, { maxLength: 1 }),
});
type Step = typeof anyStep extends fc.Arbitrary<infer T> ? T : never;

/** Heartbeats are missed for five minutes before a member counts as unreachable. */
const UNTIL_UNREACHABLE_MS = 420_000;
const UNTIL_SETTLED_MS = 120_000;

/** The revision of each cluster, without clusters that are being removed. */
const hasIn = async (it: Delivery) =>
  new Map(
    (await it.bindings())
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ spec }) => [spec.targetCluster, spec.state === 'Scheduled' ? '' : (spec.resourceSnapshotName ?? '')]),
  );

/** Clusters that were updated or removed together, in order, until nothing has moved for long enough. */
async function wavesOf(it: Delivery, quietMs: number): Promise<readonly (readonly string[])[]> {
  const waves: string[][] = [];
  let before = await hasIn(it);
  let quiet = 0;
  let isOpen = false;
  await it.change({ strategy: { paused: false } });
  while (quiet < quietMs) {
    await it.runs(STEP_MS);
    const after = await hasIn(it);
    const moved = [
      ...[...after].filter(([cluster, has]) => has !== (before.get(cluster) ?? '')).map(([cluster]) => `+${cluster}`),
      ...[...before.keys()].filter((cluster) => !after.has(cluster)).map((cluster) => `-${cluster}`),
    ];
    before = after;
    quiet = moved.length > 0 ? 0 : quiet + STEP_MS;
    if (moved.length > 0 && isOpen) waves.at(-1)?.push(...moved);
    else if (moved.length > 0) waves.push(moved);
    // A step may split a wave.
    isOpen = moved.length > 0;
  }
  return waves.map((wave) => wave.toSorted());
}

/** The forecast of a paused placement as if it were resumed now. */
async function planned(it: Delivery) {
  const { family, namespace, fleet } = it;
  const { hub } = fleet;
  const listed = async (plural: string, within?: string) =>
    (await hub.call({ verb: 'list', at: hub.at(plural, within) })).list?.items ?? [];
  const placement = (await it.placement()) as Placement;
  const { paused: _paused, ...strategy } = placement.spec.strategy ?? {};
  const newest = (await listed(family.resourceSnapshot.plural, namespace)).find(
    ({ metadata }) => metadata.labels?.[labels.isLatestSnapshot] === 'true',
  );
  const policies = await listed(family.policySnapshot.plural, namespace);
  const groups = (await listed('clustergroups')) as unknown as readonly ClusterGroup[];
  const before = hub.store.head;
  const foreseen = forecastRollout({
    family,
    placement: { ...placement, spec: { ...placement.spec, strategy } } as Placement,
    bindings: await it.bindings(),
    newest: newest as KubeObject,
    policySnapshot: policies.flatMap((each) => family.policySnapshots.project?.(each) ?? []).find(isLatest),
    members: (await listed('memberclusters')) as unknown as readonly MemberCluster[],
    groups: groups.map(({ metadata, spec }) => ({
      name: metadata.name ?? '',
      labels: metadata.labels ?? {},
      selector: spec.selector,
    })),
    durationMs: DURATION_MS,
    now: fleet.clock.now(),
  });
  expect(hub.store.head).toBe(before);
  return foreseen;
}

/** Waves that follow immediately look like one from outside. */
function together(waves: readonly RolloutWave[]): readonly (readonly string[])[] {
  const byMoment = new Map<number, string[]>();
  for (const { clusters, removes, afterMs } of waves) {
    const told = clusters.map((cluster) => `${removes ? '-' : '+'}${cluster}`);
    byMoment.set(afterMs, [...(byMoment.get(afterMs) ?? []), ...told]);
  }
  return [...byMoment.values()].map((clusters) => clusters.toSorted());
}

async function prepare(it: Delivery, step: Step, at: number): Promise<void> {
  const { fleet } = it;
  for (const cluster of CLUSTERS) fleet.cut(cluster, step.unreachable.includes(cluster));
  for (const cluster of CLUSTERS) {
    const isPaused = step.paused.includes(cluster) ? 'true' : null;
    await fleet.patch('memberclusters', undefined, cluster, {
      metadata: { annotations: { [annotations.memberPaused]: isPaused } },
    });
  }
  if (step.isNewContent) await it.give(deployment(`web:${at + 1}`, 1));
  const policy = { placementType: 'PickFixed', clusterNames: step.picked };
  // A merge patch keeps the fields of the last strategy unless they are removed first.
  await it.change({ policy, strategy: { partitioned: null, rollingUpdate: null, paused: true } });
  await it.change({ strategy: step.strategy });
  await it.runs(step.unreachable.length === 0 ? UNTIL_SETTLED_MS : UNTIL_UNREACHABLE_MS);
}

describe(`the forecast of a rollout (seed ${testSeed})`, () => {
  for (const family of families) {
    const [members = {}] = fc.sample(anyFleet, { numRuns: 1, seed: testSeed });
    const steps = fc.sample(anyStep, { numRuns: isFull ? 15 : 5, seed: testSeed + families.indexOf(family) });
    scenario.for([family])('is what the hub does', { members, delivers: SLOW }, async (it) => {
      for (const [name, ring] of [
        ['group-a', 'a'],
        ['group-c', 'c'],
      ] as const)
        await it.fleet.hub.create('clustergroups', undefined, {
          metadata: { name },
          spec: { selector: { matchLabels: { ring } } },
        });
      await it.give(deployment('web:0', 1));
      const policy = { placementType: 'PickFixed', clusterNames: CLUSTERS };
      await it.place({ policy, strategy: { type: 'Partitioned', paused: true } });
      for (const [at, step] of steps.entries()) {
        const told = `${JSON.stringify(members)} step ${at}: ${JSON.stringify(step)}`;
        await prepare(it, step, at);
        const foreseen = await planned(it);
        expect(await wavesOf(it, 180_000), told).toEqual(together(foreseen.waves));
        expect((await it.holds()).length > 0 ? 'waits' : 'completes', told).toBe(foreseen.end);
      }
    });
  }
});
