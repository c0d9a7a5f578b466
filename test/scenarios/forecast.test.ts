// The forecast of `flotilla plan run` matches the hub: the same waves with the same clusters, and the same approvals in
// the same order.
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import type { StagedUpdateRun } from '../../src/api/staged-update-run.ts';
import { readForecastInput } from '../../src/cli/plan/forecast-input.ts';
import type { Connected } from '../../src/cli/server/connect.ts';
import { families } from '../../src/hub/families.ts';
import { forecast, gatesIn, wavesIn } from '../../src/insight/forecast/forecast.ts';
import { admin } from '../cluster.ts';
import { type Delivery, deployment, scenario } from '../delivery.ts';
import { EXTERNAL, labelled, type Staging, staging } from '../staged.ts';

const MEMBERS = Object.fromEntries(
  ['a', 'b', 'b', 'b', 'c', 'c'].map((ring, at) => [`c${at + 1}`, { ring, order: String((at * 5) % 7) }]),
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

/** Clusters that were started at the same time, in order. */
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
  return waves;
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

describe('the forecast of a run', () => {
  scenario.for(families)('is what the hub does', { members: MEMBERS, delivers: SLOW }, async (it) => {
    const { family, namespace, fleet } = it;
    const run = staging(it);
    await it.give(deployment('web:0', 1));
    await it.place(EXTERNAL);
    for (const [at, stages] of fc.sample(anyStrategy, { numRuns: 3, seed: 7 }).entries()) {
      const name = `r${at}`;
      await it.give(deployment(`web:${at}`, 1));
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
      const told = JSON.stringify(stages);
      expect(wavesOf(done), told).toEqual(wavesIn(foreseen).map(({ clusters }) => clusters));
      expect(asked, told).toEqual(gatesIn(foreseen).flatMap(({ request = [] }) => request));
      expect(done.status?.resourceSnapshotIndexUsed).toBe(foreseen.status.resourceSnapshotIndexUsed);
    }
  });
});
