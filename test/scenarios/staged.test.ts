// Staged update runs from the strategy to the members, in both families: the acceptance scenarios, by their numbers.
// This file: the course of a run.
import { describe, expect } from 'vitest';
import { families } from '../../src/hub/families.ts';
import { configMap, DONE, deployment, scenario } from '../delivery.ts';
import {
  AT_ONCE,
  DONE_CLUSTER,
  DONE_RUN,
  DONE_STAGE,
  EVERYBODY,
  EXTERNAL,
  eventsOf,
  FAILED_TO_BEGIN,
  OF_FLEET,
  prepared,
  staging,
  UNDER_WAY,
} from '../staged.ts';

describe('a run', () => {
  scenario.for(families)('1: without it nothing moves', OF_FLEET, async (it) => {
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

  scenario.for(families)('2, 3: goes from stage to stage through its gates', OF_FLEET, async (it) => {
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
    const { placementStatuses: clusters = [] } = await it.status();
    const words = clusters[0]?.conditions?.find(({ type }) => type === 'RolloutStarted')?.message;
    const kind = it.namespace === undefined ? 'clusterStagedUpdateRun' : 'stagedUpdateRun';
    expect(words).toContain(`resourceSnapshotIndex: 0, ${kind}: r`);
    expect(await eventsOf(it)).toEqual([
      'UpdateRunInitializedSuccessfully',
      'UpdateRunStarted',
      'UpdateRunWaiting',
      'ApprovalRequestApprovalAccepted',
      'StageUpdatingSucceeded',
      'UpdateRunSucceeded',
    ]);
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

describe('revisions', () => {
  scenario.for(families)('7, 8: a change waits for a run, and an older index brings it back', OF_FLEET, async (it) => {
    const run = await prepared(it, AT_ONCE);
    await run.run();
    await it.runs();
    expect(await run.said()).toEqual(DONE_RUN);
    const before = await it.status();
    await it.give(configMap('2'));
    await it.runs(15_000);
    expect(await it.values()).toEqual({ c1: '1', c2: '1', c3: '1' });
    expect(await it.status()).toEqual(before);
    await run.run({}, 'r2');
    await it.runs();
    expect(await run.said('r2')).toEqual(DONE_RUN);
    expect((await run.status('r2')).resourceSnapshotIndexUsed).toBe('1');
    expect(await it.values()).toEqual({ c1: '2', c2: '2', c3: '2' });
    expect((await it.status()).observedResourceIndex).toBe('1');

    await run.run({ resourceSnapshotIndex: '0' }, 'r3');
    await it.runs();
    expect(await run.said('r3')).toEqual(DONE_RUN);
    expect(await it.values()).toEqual({ c1: '1', c2: '1', c3: '1' });
    expect(await it.said()).toEqual(DONE);
    expect((await it.status()).observedResourceIndex).toBe('0');
    const latest = await it.fleet.hub.get(it.family.resourceSnapshot.plural, it.namespace, 'web-1-snapshot');
    expect(latest.metadata.labels?.['kubernetes-fleet.io/is-latest-snapshot']).toBe('true');
    // The current state is still revision 1.
    await run.run({}, 'r4');
    await it.runs();
    expect(await it.values()).toEqual({ c1: '2', c2: '2', c3: '2' });
    expect(await run.snapshots()).toEqual(['web-0-snapshot', 'web-1-snapshot']);
  });

  scenario.for(families)(
    '7: a run right after an edit takes the edit along, whatever placements wait for',
    { ...OF_FLEET, placements: { throttle: { collectionMs: 15_000, minimumIntervalMs: 30_000 } } },
    async (it) => {
      const run = await prepared(it, AT_ONCE);
      await run.run();
      await it.runs(1000);
      await it.give(configMap('2'));
      await run.run({}, 'r2');
      await it.runs(2000);
      expect((await run.status('r2')).resourceSnapshotIndexUsed).toBe('1');
      expect(await it.values()).toEqual({ c1: '2', c2: '2', c3: '2' });
    },
  );

  scenario.for(families)('K13: index 0 of what was never rolled out is the present state', OF_FLEET, async (it) => {
    const run = await prepared(it, AT_ONCE);
    await run.run({ resourceSnapshotIndex: '0' });
    await it.runs();
    expect(await run.said()).toEqual(DONE_RUN);
    expect(await it.values()).toEqual({ c1: '1', c2: '1', c3: '1' });
  });

  scenario.for(families)(
    '9: an index that makes no sense ends the run before it touches anything',
    { members: { c1: {} } },
    async (it) => {
      const run = await prepared(it, AT_ONCE);
      await run.run();
      await it.runs();
      const before = await it.bindings();
      for (const [name, index] of [
        ['x', 'x'],
        ['minus', '-1'],
        ['many', '99'],
        ['odd', '00'],
      ] as const) {
        await run.run({ resourceSnapshotIndex: index, state: 'Initialize' }, name);
        await it.runs(1000);
        expect(await run.said(name)).toEqual(FAILED_TO_BEGIN);
        expect(await run.message('Initialized', name)).toContain('failed to process the request due to a client error');
      }
      expect(await run.message('Initialized', 'many')).toContain('those that exist: 0;');
      await run.state('Run', 'many');
      await it.runs();
      expect(await run.said('many')).toEqual(FAILED_TO_BEGIN);
      expect((await run.status('many')).conditions?.[0]?.observedGeneration).toBe(2);
      expect(await it.bindings()).toEqual(before);
    },
  );

  scenario.for(families)(
    'that unfinished runs need outlive the limit of the history',
    { members: { c1: {} } },
    async (it) => {
      const run = staging(it);
      await it.give(configMap('0'));
      await it.place({ ...EXTERNAL, revisionHistoryLimit: 2 });
      await run.strategy(AT_ONCE);
      await it.runs(1000);
      for (const value of ['0', '1', '2']) {
        await it.give(configMap(value));
        await run.run({ state: value === '0' ? 'Initialize' : 'Run' }, `r${value}`);
        await it.runs();
      }
      await it.give(configMap('3'));
      await run.run({}, 'r3');
      await it.runs();
      expect(await run.snapshots()).toEqual(['web-0-snapshot', 'web-2-snapshot', 'web-3-snapshot']);
      await run.state('Run', 'r0');
      await it.runs();
      expect(await run.said('r0')).toEqual(DONE_RUN);
      expect(await it.values()).toEqual({ c1: '0' });
    },
  );
});

describe('stages', () => {
  scenario.for(families)(
    '12: are in the order of their label, ties by name',
    { members: { c1: { order: '2' }, c2: { order: '1' }, c3: { order: '1' } } },
    async (it) => {
      const run = await prepared(it, [{ name: 'all', ...EVERYBODY, sortingLabelKey: 'order' }]);
      await run.run();
      await it.runs();
      expect(Object.keys(await run.clusters('all'))).toEqual(['c2', 'c3', 'c1']);
      expect(await run.said()).toEqual(DONE_RUN);
    },
  );

  scenario.for(families)(
    '13: never have more clusters under way than they may',
    { members: 3, delivers: { readyMs: 5000 } },
    async (it) => {
      const run = await prepared(it, [{ name: 'all', ...EVERYBODY, maxConcurrency: '70%' }]);
      await it.give(deployment('web:1'));
      await run.run();
      await it.runs(3000);
      expect(await run.clusters('all')).toEqual({ c1: UNDER_WAY, c2: UNDER_WAY, c3: {} });
      expect((await run.status()).holds).toMatchObject([
        { code: 'NotAvailable', on: { name: 'c1' } },
        { code: 'NotAvailable', on: { name: 'c2' } },
        { code: 'ConcurrencyUsed', on: { name: 'c1' }, count: 1, clusters: ['c3'] },
      ]);
      expect(await run.bound()).toEqual({ c1: 'web-0-snapshot', c2: 'web-0-snapshot', c3: '' });
      await it.runs(4000);
      expect(await run.clusters('all')).toEqual({ c1: DONE_CLUSTER, c2: DONE_CLUSTER, c3: UNDER_WAY });
      await it.runs(10_000);
      expect(await run.said()).toEqual(DONE_RUN);
    },
  );

  scenario.for(families)('14: without clusters are skipped with their gates', { members: { c1: {} } }, async (it) => {
    const run = await prepared(it, [
      { name: 'all', ...EVERYBODY },
      {
        name: 'nobody',
        beforeStageTasks: [{ type: 'Approval' }],
        afterStageTasks: [{ type: 'Approval' }, { type: 'TimedWait', waitTime: '1h' }],
      },
    ]);
    await run.run();
    await it.runs();
    expect(await run.stage('nobody')).toEqual({
      Progressing: 'False/StageUpdatingSkippedNoClusters',
      Succeeded: 'True/StageUpdatingSkippedNoClusters',
    });
    expect(await run.request('r-before-nobody')).toBeUndefined();
    expect(await run.request('r-after-nobody')).toBeUndefined();
    expect(await run.said()).toEqual(DONE_RUN);
  });
});
