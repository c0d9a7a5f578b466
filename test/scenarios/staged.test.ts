// Staged update runs from the strategy to the members, in both families: the acceptance scenarios, by their numbers.
import { describe, expect } from 'vitest';
import { families } from '../../src/hub/families.ts';
import { configMap, type Delivery, DONE, scenario } from '../delivery.ts';
import { CANARY_FIRST, DONE_CLUSTER, DONE_RUN, DONE_STAGE, EXTERNAL, FLEET, staging } from '../staged.ts';

const OPTIONS = { members: FLEET };

/** The placement of the scenarios, its content and its strategy. */
async function prepared(it: Delivery, stages: readonly object[] = CANARY_FIRST) {
  const run = staging(it);
  await it.give(configMap('1'));
  await it.place(EXTERNAL);
  await run.strategy(stages);
  await it.runs(2000);
  return run;
}

describe('a run', () => {
  scenario.for(families)('1: without it nothing moves', OPTIONS, async (it) => {
    const run = await prepared(it);
    await it.runs(15_000);
    expect(await it.values()).toEqual({ c1: '-', c2: '-', c3: '-' });
    expect(await run.snapshots()).toEqual([]);
    expect(await it.said()).toEqual({
      Scheduled: DONE.Scheduled,
      RolloutStarted: 'Unknown/RolloutControlledByExternalController',
    });
    expect((await it.status()).observedResourceIndex).toBeUndefined();
  });

  scenario.for(families)('2, 3: goes from stage to stage through its gates', OPTIONS, async (it) => {
    const run = await prepared(it);
    await run.run();
    await it.runs(15_000);
    expect(await run.snapshots()).toEqual(['web-0-snapshot']);
    expect(await it.values()).toEqual({ c1: '-', c2: '1', c3: '-' });
    expect(await run.said()).toEqual({
      Initialized: DONE_RUN.Initialized,
      Progressing: 'False/UpdateRunWaiting',
    });
    expect(await run.stage('canary')).toEqual({ Progressing: 'False/StageUpdatingWaiting' });
    expect((await run.request('r-after-canary'))?.metadata.labels).toEqual({
      'kubernetes-fleet.io/targetUpdateRun': 'r',
      'kubernetes-fleet.io/targetUpdatingStage': 'canary',
      'kubernetes-fleet.io/taskType': 'afterStage',
      'kubernetes-fleet.io/isLatestUpdateRunApproval': 'true',
    });
    expect(await it.said()).toMatchObject({ RolloutStarted: 'Unknown/RolloutControlledByExternalController' });
    const { placementStatuses = [] } = await it.status();
    expect(placementStatuses.map(({ observedResourceIndex = '' }) => observedResourceIndex)).toEqual(['', '0', '']);

    await run.approve('r-after-canary');
    await it.runs(1000);
    expect(await run.stage('canary')).toEqual(DONE_STAGE);
    expect(await run.stage('prod')).toEqual({ Progressing: 'False/StageUpdatingWaiting' });
    await it.runs(15_000);
    expect(await it.values()).toEqual({ c1: '-', c2: '1', c3: '-' });
    await run.approve('r-before-prod');
    await it.runs();
    for (const name of ['r-after-canary', 'r-before-prod']) {
      expect((await run.request(name))?.status?.conditions).toMatchObject([
        { type: 'Approved', status: 'True' },
        { type: 'ApprovalAccepted', status: 'True', reason: 'ApprovalRequestApprovalAccepted' },
      ]);
    }
    expect(await it.values()).toEqual({ c1: '1', c2: '1', c3: '1' });
    expect(await run.said()).toEqual(DONE_RUN);
    expect(await run.stage('prod')).toEqual(DONE_STAGE);
    expect(await run.clusters('prod')).toEqual({ c1: DONE_CLUSTER, c3: DONE_CLUSTER });
    expect(await run.stage('deletion')).toEqual(DONE_STAGE);
    expect(await run.clusters('deletion')).toEqual({});
    expect(await it.said()).toEqual(DONE);
    expect((await it.status()).observedResourceIndex).toBe('0');
    const { conditions = [], stagesStatus = [] } = await run.status();
    const all = [
      ...conditions,
      ...stagesStatus.flatMap((stage) => [
        ...(stage.conditions ?? []),
        ...stage.clusters.flatMap((each) => each.conditions ?? []),
      ]),
    ];
    expect(all.every(({ observedGeneration }) => observedGeneration === 1)).toBe(true);
  });
});
