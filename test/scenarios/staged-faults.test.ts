// A run on a hub whose writes fail from time to time, in all possible ways, and which is restarted: the invariants hold
// at every moment, and the end is the same.
import { expect, test } from 'vitest';
import type { StagedUpdateRunStatus } from '../../src/api/staged-update-run.ts';
import { ApiError, LostError } from '../../src/base/errors.ts';
import { seededRandom } from '../../src/base/random.ts';
import { families } from '../../src/hub/families.ts';
import { isTrue } from '../../src/hub/planners/staged-tree.ts';
import { aDelivery, configMap, type Delivery, DONE, deployment } from '../delivery.ts';
import { DONE_RUN, EXTERNAL, labelled, type Staging, staging } from '../staged.ts';

const MEMBERS = {
  a1: { ring: 'a' },
  a2: { ring: 'a' },
  b1: { ring: 'b' },
  b2: { ring: 'b' },
  b3: { ring: 'b' },
  b4: { ring: 'b' },
};
const STAGES = [
  { name: 'a', ...labelled({ ring: 'a' }), maxConcurrency: 1, afterStageTasks: [{ type: 'Approval' }] },
  { name: 'b', ...labelled({ ring: 'b' }), maxConcurrency: '50%' },
];
const MOST: Readonly<Record<string, number>> = { a: 1, b: 2 };

const FAULTS: readonly (() => Error)[] = [
  () => new ApiError(500, 'InternalError', 'a fault'),
  () => new ApiError(409, 'Conflict', 'a fault'),
  () => new ApiError(503, 'ServiceUnavailable', 'a fault'),
  () => new LostError('a fault'),
];

const stageOf = (cluster: string): string => cluster.slice(0, 1);

/** The invariants. */
async function check(it: Delivery, run: Staging, revision: string, wasApproved: boolean): Promise<void> {
  const status: StagedUpdateRunStatus = await run.status();
  const bindings = await it.bindings();
  const hasIt = bindings.filter(({ spec }) => spec.resourceSnapshotName === revision);
  const isNew = hasIt.filter(({ metadata, status: told }) => {
    const available = told?.conditions?.find(({ type }) => type === 'Available');
    return !(available?.status === 'True' && available.observedGeneration === metadata.generation);
  });
  for (const [stage, max] of Object.entries(MOST)) {
    const underWay = isNew.filter(({ spec }) => stageOf(spec.targetCluster) === stage);
    expect(underWay.length).toBeLessThanOrEqual(max);
    const recorded = status.stagesStatus?.find(({ stageName }) => stageName === stage)?.clusters ?? [];
    const started = recorded.filter((cluster) => isTrue(cluster, 'Started') && !isTrue(cluster, 'Succeeded'));
    expect(started.length).toBeLessThanOrEqual(max);
  }
  const hasBegunB = hasIt.some(({ spec }) => stageOf(spec.targetCluster) === 'b');
  if (hasBegunB) {
    expect(wasApproved).toBe(true);
    expect(isTrue(status.stagesStatus?.[0], 'Succeeded')).toBe(true);
  }
}

for (const family of families) {
  for (const seed of [1, 2, 3, 4, 5, 6]) {
    test(`whatever fails, it ends as it should (${family.run.kind}, seed ${seed})`, async () => {
      await using it = await aDelivery(family, { members: MEMBERS });
      const run = staging(it);
      const random = seededRandom(seed);
      await it.give(configMap('1'), deployment('web:1'));
      await it.place(EXTERNAL);
      await run.strategy(STAGES);
      await it.runs(2000);
      it.fleet.meddle = (who, { verb }) => {
        if (who !== 'hub' || verb === 'get' || verb === 'list' || random.next() > 0.25) return undefined;
        return FAULTS[Math.floor(random.next() * FAULTS.length)]?.();
      };
      await run.run();
      let wasApproved = false;
      let wasStopped = false;
      for (let round = 0; round < 100 && !isTrue(await run.status(), 'Succeeded'); round++) {
        await it.runs(500);
        await check(it, run, 'web-0-snapshot', wasApproved);
        const dice = random.next();
        if (dice < 0.1) await it.fleet.restartHub();
        else if (dice < 0.2 && !wasStopped) {
          const before = await run.bound();
          await run.state('Stop');
          await it.runs(1000);
          const started = await run.bound();
          await it.runs(2000);
          expect(await run.bound()).toEqual(started);
          expect(Object.keys(started)).toEqual(Object.keys(before));
          await run.state('Run');
          wasStopped = true;
        }
        if (!wasApproved && (await run.request('r-after-a')) !== undefined) {
          wasApproved = true;
          await run.approve('r-after-a');
        }
      }
      it.fleet.meddle = undefined;
      await it.runs(10_000);
      expect(await run.said()).toEqual(DONE_RUN);
      expect(await run.snapshots()).toEqual(['web-0-snapshot']);
      expect((await it.bindings()).every(({ metadata }) => metadata.generation === 2)).toBe(true);
      expect(await it.said()).toEqual(DONE);
    });
  }
}
