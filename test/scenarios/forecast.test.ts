// The forecast of `flotilla plan run` matches the hub: the same waves with the same clusters, and the same approvals in
// the same order.
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { isFull, testSeed } from '../../scripts/gate/depth.ts';
import type { StagedUpdateRun } from '../../src/api/staged-update-run.ts';
import { readForecastInput } from '../../src/cli/plan/forecast-input.ts';
import type { Connected } from '../../src/cli/server/connect.ts';
import { families } from '../../src/hub/families.ts';
import { forecast, gatesIn, wavesIn } from '../../src/insight/forecast/forecast.ts';
import { admin } from '../cluster.ts';
import { type Delivery, deployment, scenario } from '../delivery.ts';
import { EXTERNAL, labelled, type Staging, staging } from '../staged.ts';

const CLUSTERS = Array.from({ length: 6 }, (_, at) => `c${at + 1}`);
const anyFleet = fc
  .tuple(
    fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: CLUSTERS.length, maxLength: CLUSTERS.length }),
    fc.shuffledSubarray(CLUSTERS, { minLength: CLUSTERS.length }),
  )
  .map(([rings, order]) =>
    Object.fromEntries(
      CLUSTERS.map((name, at) => [name, { ring: rings[at] ?? 'a', order: String(order.indexOf(name)) }]),
    ),
  );
/** Clusters take so long that waves are clearly separated. */
const SLOW = { pullMs: 15_000, readyMs: 15_000 };
const BETWEEN_WAVES_MS = 10_000;

const anyStage = fc.record({
  maxConcurrency: fc.constantFrom(1, 2, 5, '34%', '70%', '100%'),
  isSorted: fc.boolean(),
  before: fc.boolean(),
  after: fc.constantFrom([], [{ type: 'Approval' }], [{ type: 'Approval' }, { type: 'TimedWait', waitTime: '45s' }]),
});
const anyStrategy = fc
  .tuple(fc.shuffledSubarray(['a', 'b', 'c'], { minLength: 3 }), fc.tuple(anyStage, anyStage, anyStage))
  .map(([rings, stages]) =>
    rings.map((ring, at) => {
      const { maxConcurrency, isSorted, before, after } = stages[at] as (typeof stages)[0];
      return {
        name: ring,
        ...labelled({ ring }),
        maxConcurrency,
        ...(isSorted ? { sortingLabelKey: 'order' } : {}),
        ...(before ? { beforeStageTasks: [{ type: 'Approval' }] } : {}),
        ...(after.length === 0 ? {} : { afterStageTasks: after }),
      };
    }),
  );

/** What one run changes; the first one is an install. */
const anyStep = fc.record({ stages: anyStrategy, picked: fc.subarray(CLUSTERS, { minLength: 2 }) });

/** Clusters that were started at the same time, in order, and then those that were removed. */
function wavesOf({ status }: StagedUpdateRun): readonly (readonly string[])[] {
  const waves: string[][] = [];
  for (const { clusters } of status?.stagesStatus ?? []) {
    let last = Number.NaN;
    for (const { clusterName, conditions = [] } of clusters) {
      const at = Date.parse(conditions.find(({ type }) => type === 'Started')?.lastTransitionTime ?? '');
      if (at - last < BETWEEN_WAVES_MS) waves.at(-1)?.push(clusterName);
      else waves.push([clusterName]);
      last = at;
    }
  }
  const removed = (status?.deletionStageStatus?.clusters ?? []).map(({ clusterName }) => clusterName);
  return [...waves, ...(removed.length === 0 ? [] : [removed])];
}

/** Plays the run to its end and approves every request. Returns the requests in order. */
async function toTheEnd(it: Delivery, run: Staging, name: string): Promise<readonly string[]> {
  const asked: string[] = [];
  for (let round = 0; round < 100; round++) {
    if ((await run.said(name))['Succeeded'] !== undefined) return asked;
    const { stagesStatus = [] } = await run.status(name);
    const requests = stagesStatus
      .flatMap(({ beforeStageTaskStatus = [], afterStageTaskStatus = [] }) => [
        ...beforeStageTaskStatus,
        ...afterStageTaskStatus,
      ])
      .flatMap(({ approvalRequestName = [] }) => approvalRequestName);
    for (const request of requests) {
      if (asked.includes(request) || (await run.request(request)) === undefined) continue;
      asked.push(request);
      await run.approve(request);
    }
    await it.runs(10_000);
  }
  throw new Error(`run ${name} does not end`);
}

describe(`the forecast of a run (seed ${testSeed})`, () => {
  for (const family of families) {
    const seed = testSeed + families.indexOf(family);
    const [members = {}] = fc.sample(anyFleet, { numRuns: 1, seed });
    const steps = fc.sample(anyStep, { numRuns: isFull ? 15 : 3, seed });
    scenario.for([family])('is what the hub does', { members, delivers: SLOW }, async (it) => {
      const { namespace, fleet } = it;
      const run = staging(it);
      await it.give(deployment('web:0', 1));
      await it.place({ ...EXTERNAL, policy: { placementType: 'PickFixed', clusterNames: CLUSTERS } });
      for (const [at, { stages, picked }] of steps.entries()) {
        const name = `r${at}`;
        await it.give(deployment(`web:${at}`, 1));
        await it.change({ policy: { placementType: 'PickFixed', clusterNames: picked } });
        await run.strategy(stages, `s${at}`);
        await run.run({ stagedRolloutStrategyName: `s${at}`, state: 'Initialize' }, name);
        await it.runs(2000);
        const server = { transport: fleet.hub.as(admin) } as unknown as Pick<Connected, 'transport'>;
        const which = { family, name, ...(namespace === undefined ? {} : { namespace }) };
        const before = fleet.hub.store.head;
        const ground = await readForecastInput(server, which, await run.runOf(name), { now: fleet.clock.now() });
        const foreseen = forecast(ground);
        expect(fleet.hub.store.head).toBe(before);
        expect(foreseen.end).toBe('succeeds');

        await run.state('Run', name);
        const asked = await toTheEnd(it, run, name);
        const done = await run.runOf(name);
        const told = `${JSON.stringify(members)} run ${at}: ${JSON.stringify({ stages, picked })}`;
        expect(wavesOf(done), told).toEqual(wavesIn(foreseen).map(({ clusters }) => clusters));
        expect(asked, told).toEqual(gatesIn(foreseen).flatMap(({ request = [] }) => request));
        expect(done.status?.resourceSnapshotIndexUsed).toBe(foreseen.status.resourceSnapshotIndexUsed);
      }
    });
  }
});
