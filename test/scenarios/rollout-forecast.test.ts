// The forecast of `flotilla plan placement/NAME` matches the hub: the same waves with the same clusters, for random
// fleets and strategies. A rollout that would wait is predicted, and stops where predicted.
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import type { MemberCluster } from '../../src/api/member-cluster.ts';
import type { Placement } from '../../src/api/placement.ts';
import { pretendedSnapshot } from '../../src/cli/plan/plan-rollout.ts';
import { families } from '../../src/hub/families.ts';
import { forecastRollout, type RolloutWave } from '../../src/insight/forecast/rollout-forecast.ts';
import { type Delivery, deployment, scenario } from '../delivery.ts';

/** Clusters take so long that waves are clearly separated. */
const SLOW = { pullMs: 15_000, readyMs: 15_000 };
const DURATION_MS = 30_000;
const STEP_MS = 5000;
const MEMBERS: Record<string, Record<string, string>> = Object.fromEntries(
  ['a', 'b', 'c', 'b', 'a', 'c', 'b', 'c', ''].map((ring, at) => [`c${at + 1}`, { ring }]),
);

const anyLimit = fc.constantFrom<number | string>(0, 1, 2, 5, '20%', '50%', '100%');
const anyPartition = fc.record(
  {
    maxUnavailable: anyLimit,
    clusterSelector: fc.constantFrom({ matchLabels: { ring: 'a' } }, { matchLabels: { ring: 'b' } }, {}),
    name: fc.constantFrom('first', 'Second one'),
  },
  { requiredKeys: ['clusterSelector'] },
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
    partitions: fc.array(anyPartition, { minLength: 1, maxLength: 3 }),
  },
  { requiredKeys: [] },
);
const anyStrategy = fc.oneof(
  { weight: 4, arbitrary: anyPartitioned.map((partitioned) => ({ type: 'Partitioned', partitioned })) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(1, 3, '50%').map((maxUnavailable) => ({
      type: 'RollingUpdate',
      rollingUpdate: { maxUnavailable },
    })),
  },
);

const hasIn = async (it: Delivery) =>
  new Map((await it.bindings()).map(({ spec }) => [spec.targetCluster, spec.resourceSnapshotName ?? '']));

/** Clusters that were updated together, in order, until nothing has moved for long enough. */
async function wavesOf(it: Delivery, quietMs: number): Promise<readonly (readonly string[])[]> {
  const waves: string[][] = [];
  let before = await hasIn(it);
  let quiet = 0;
  let isOpen = false;
  while (quiet < quietMs) {
    await it.runs(STEP_MS);
    const after = await hasIn(it);
    const moved = [...after].filter(([cluster, has]) => has !== before.get(cluster)).map(([cluster]) => cluster);
    before = after;
    quiet = moved.length > 0 ? 0 : quiet + STEP_MS;
    if (moved.length > 0 && isOpen) waves.at(-1)?.push(...moved);
    else if (moved.length > 0) waves.push(moved);
    // A step may split a wave.
    isOpen = moved.length > 0;
  }
  return waves.map((wave) => wave.toSorted());
}

async function planned(it: Delivery, strategy: object, index: number) {
  const { family, namespace, fleet } = it;
  const { hub } = fleet;
  const listed = async (plural: string, within?: string) =>
    (await hub.call({ verb: 'list', at: hub.at(plural, within) })).list?.items ?? [];
  const placement = (await hub.get(family.placement.plural, namespace, 'web')) as unknown as Placement;
  const before = hub.store.head;
  const foreseen = forecastRollout({
    family,
    placement,
    bindings: await it.bindings(),
    newest: pretendedSnapshot({ family, name: 'web', ...(namespace === undefined ? {} : { namespace }) }, index),
    policySnapshot: undefined,
    members: (await listed('memberclusters')) as unknown as readonly MemberCluster[],
    groups: [],
    durationMs: DURATION_MS,
    now: fleet.clock.now(),
  });
  expect(placement.spec.strategy).toMatchObject(strategy);
  expect(hub.store.head).toBe(before);
  return foreseen;
}

/** Waves that follow immediately look like one from outside. */
function together(waves: readonly RolloutWave[]): readonly (readonly string[])[] {
  const byMoment = new Map<number, string[]>();
  for (const { clusters, afterMs } of waves) byMoment.set(afterMs, [...(byMoment.get(afterMs) ?? []), ...clusters]);
  return [...byMoment.values()].map((clusters) => clusters.toSorted());
}

describe('the forecast of a rollout', () => {
  scenario.for(families)('is what the hub does', { members: MEMBERS, delivers: SLOW }, async (it) => {
    await it.give(deployment('web:0', 1));
    await it.place();
    await it.runs(300_000);
    for (const [at, strategy] of fc.sample(anyStrategy, { numRuns: 6, seed: 22 }).entries()) {
      const told = JSON.stringify(strategy);
      await it.change({ strategy: { partitioned: null, rollingUpdate: null, ...strategy } });
      await it.runs(300_000);
      const foreseen = await planned(it, strategy, at + 1);
      await it.give(deployment(`web:${at + 1}`, 1));
      expect(await wavesOf(it, 180_000), told).toEqual(together(foreseen.waves));
      expect((await it.holds()).length > 0 ? 'waits' : 'completes', told).toBe(foreseen.end);
    }
  });
});
