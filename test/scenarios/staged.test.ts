// Staged update runs from the strategy to the members, in both families: the acceptance scenarios, by their numbers.
import { describe, expect, test } from 'vitest';
import type { Binding } from '../../src/api/binding.ts';
import { ApiError } from '../../src/base/errors.ts';
import { seededRandom } from '../../src/base/random.ts';
import { families } from '../../src/hub/families.ts';
import { startHub } from '../../src/main/parts.ts';
import { silentLog } from '../../src/runtime/deps.ts';
import { theHub } from '../cluster.ts';
import { aDelivery, configMap, type Delivery, DONE, deployment, SHOP, scenario } from '../delivery.ts';
import {
  ABORTED,
  AT_ONCE,
  CANARY_FIRST,
  DONE_CLUSTER,
  DONE_RUN,
  DONE_STAGE,
  EVERYBODY,
  EXTERNAL,
  FAILED_TO_BEGIN,
  FLEET,
  labelled,
  staging,
  UNDER_WAY,
} from '../staged.ts';

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

/** Reasons of Events about run r, in the order they came, each once. */
async function eventsOf(it: Delivery): Promise<readonly string[]> {
  const { hub } = it.fleet;
  const { list } = await hub.call({ verb: 'list', at: hub.at('events', it.namespace ?? 'default') });
  const own = (list?.items ?? []).filter((event) => {
    const about = event['involvedObject'] as { readonly kind: string; readonly name: string };
    return about.kind === it.family.run.kind && about.name === 'r';
  });
  const numbered = own.toSorted((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion));
  return [...new Set(numbered.map((event) => String(event['reason'])))];
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

describe('an approval', () => {
  scenario.for(families)('4: of another generation does not count, and is told so', OPTIONS, async (it) => {
    const run = await prepared(it);
    await run.run();
    await it.runs(7000);
    for (const generation of [0, 2]) {
      await run.approve('r-after-canary', generation);
      await it.runs(15_000);
      expect(await run.said()).toMatchObject({ Progressing: 'False/UpdateRunWaiting' });
      expect((await run.request('r-after-canary'))?.status?.conditions).toMatchObject([
        { type: 'Approved', observedGeneration: generation },
        {
          type: 'ApprovalAccepted',
          status: 'False',
          reason: 'ApprovalRequestGenerationMismatch',
          message: expect.stringContaining('approve again with observedGeneration 1'),
        },
      ]);
    }
    expect(await it.values()).toEqual({ c1: '-', c2: '1', c3: '-' });
    expect(await run.message('Progressing')).toContain('observedGeneration 2');
    await run.approve('r-after-canary', 1);
    await it.runs(1000);
    expect(await run.stage('canary')).toEqual(DONE_STAGE);
  });

  scenario.for(families)('5: that is taken back after it was accepted stays accepted', OPTIONS, async (it) => {
    const run = await prepared(it);
    await run.run();
    await it.runs(7000);
    await run.approve('r-after-canary');
    await run.approve('r-after-canary', 1, 'False');
    await it.runs(1000);
    await run.approve('r-before-prod');
    // And one that replaces all that is said there, as kubectl patch does.
    const at = {
      ...it.fleet.hub.at(it.family.approvalRequest.plural, it.namespace, 'r-before-prod'),
      subresource: 'status' as const,
    };
    const condition = {
      type: 'Approved',
      status: 'False',
      reason: 'no',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    };
    const body = { status: { conditions: [condition] } };
    await it.fleet.hub.call({ verb: 'patch', at, patch: { type: 'merge', body }, manager: 'somebody' });
    await it.runs();
    expect(await run.said()).toEqual(DONE_RUN);
    expect(
      (await run.request('r-before-prod'))?.status?.conditions?.map(({ type, status }) => `${type} ${status}`),
    ).toEqual(['Approved False', 'ApprovalAccepted True']);
  });

  scenario.for(families)('6: whose request is deleted is asked for anew', OPTIONS, async (it) => {
    const run = await prepared(it);
    await run.run();
    await it.runs(7000);
    const first = await run.request('r-after-canary');
    const { hub } = it.fleet;
    await hub.call({ verb: 'delete', at: hub.at(it.family.approvalRequest.plural, it.namespace, 'r-after-canary') });
    await it.runs(100);
    const second = await run.request('r-after-canary');
    expect(second?.metadata.uid).not.toBe(first?.metadata.uid);
    expect(second?.status?.conditions ?? []).toEqual([]);
    expect(await run.stage('canary')).toEqual({ Progressing: 'False/StageUpdatingWaiting' });
    await run.approve('r-after-canary');
    await it.runs(1000);
    expect(await run.stage('canary')).toEqual(DONE_STAGE);
    // After that nobody needs it.
    await hub.call({ verb: 'delete', at: hub.at(it.family.approvalRequest.plural, it.namespace, 'r-after-canary') });
    await it.runs(1000);
    expect(await run.request('r-after-canary')).toBeUndefined();
  });

  scenario.for(families)('of something else that has the name ends the run', OPTIONS, async (it) => {
    const run = await prepared(it);
    await it.fleet.hub.create(it.family.approvalRequest.plural, it.namespace, {
      metadata: { name: 'r-after-canary' },
      spec: { parentStageRollout: 'r', targetStage: 'prod' },
    });
    await run.run();
    await it.runs();
    expect(await run.said()).toEqual(ABORTED);
    expect(await run.message('Succeeded')).toContain('"r-after-canary" exists and is about something else');
  });
});

describe('revisions', () => {
  scenario.for(families)('7, 8: a change waits for a run, and an older index brings it back', OPTIONS, async (it) => {
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
    // What is there now is still revision 1.
    await run.run({}, 'r4');
    await it.runs();
    expect(await it.values()).toEqual({ c1: '2', c2: '2', c3: '2' });
    expect(await run.snapshots()).toEqual(['web-0-snapshot', 'web-1-snapshot']);
  });

  scenario.for(families)(
    '7: a run right after an edit takes the edit along, whatever placements wait for',
    { ...OPTIONS, placements: { throttle: { collectionMs: 15_000, minimumIntervalMs: 30_000 } } },
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

  scenario.for(families)('K13: index 0 of what was never rolled out is the present state', OPTIONS, async (it) => {
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
      expect(await run.message('Initialized', 'many')).toContain('there are 0;');
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

describe('a run that cannot begin', () => {
  scenario.for(families)(
    '10: says that its strategy or its placement is missing, or not External',
    { members: { c1: {} } },
    async (it) => {
      const run = await prepared(it, AT_ONCE);
      await it.place({}, 'rolling');
      for (const [name, spec, word] of [
        ['strategy', { stagedRolloutStrategyName: 'nix' }, `${it.family.strategy.kind} "nix" does not exist`],
        ['placement', { placementName: 'nix' }, `${it.family.placement.kind} "nix" does not exist`],
        ['rolling', { placementName: 'rolling' }, 'RollingUpdate: runs work on placements with type External'],
      ] as const) {
        await run.run(spec, name);
        await it.runs(1000);
        expect(await run.said(name)).toEqual(FAILED_TO_BEGIN);
        expect(await run.message('Initialized', name)).toContain(word);
      }
      expect(await run.bound()).toEqual({ c1: '' });
    },
  );

  scenario.for(families)(
    '11: says which cluster is in two stages, in none, or has no order',
    { members: { c1: { env: 'a', order: '1' }, c2: { env: 'b' }, c3: { env: 'b', order: 'a' } } },
    async (it) => {
      const run = await prepared(it, AT_ONCE);
      for (const [name, stages, words] of [
        [
          'two',
          [
            { name: 'x', ...EVERYBODY },
            { name: 'y', ...labelled({ env: 'a' }) },
          ],
          'cluster "c1" belongs to two stages, "x" and "y"',
        ],
        ['none', [{ name: 'x', ...labelled({ env: 'a' }) }], '2 picked clusters belong to no stage: "c2", "c3"'],
        ['missing', [{ name: 'x', ...EVERYBODY, sortingLabelKey: 'order' }], 'cluster "c2" has no label "order"'],
        [
          'odd',
          [
            {
              name: 'x',
              labelSelector: { matchExpressions: [{ key: 'order', operator: 'Exists' }] },
              sortingLabelKey: 'order',
            },
            { name: 'y' },
          ],
          'cluster "c3" has "a" as label "order", which is no integer',
        ],
      ] as const) {
        await run.strategy(stages, name);
        await run.run({ stagedRolloutStrategyName: name }, name);
        await it.runs(1000);
        expect(await run.said(name)).toEqual(FAILED_TO_BEGIN);
        expect(await run.message('Initialized', name)).toContain(words);
      }
    },
  );

  scenario.for(families)(
    'before scheduling has ended waits for it, and says so',
    { members: { c1: {} } },
    async (it) => {
      const run = staging(it);
      await it.give(configMap('1'));
      await run.strategy(AT_ONCE);
      await it.place({ ...EXTERNAL, policy: { placementType: 'PickN', numberOfClusters: 2 } });
      await run.run();
      await it.runs(600_000);
      expect(await run.said()).toEqual({ Initialized: 'Unknown/UpdateRunInitializationPending' });
      expect((await run.status()).holds).toMatchObject([
        { code: 'SchedulingPending', on: { kind: it.family.placement.kind, name: 'web' } },
      ]);
      expect(await run.message('Initialized')).toContain('found 1 of the 2 clusters');
      await it.join('c2');
      await it.runs();
      expect(await run.said()).toEqual(DONE_RUN);
      expect(await it.values()).toEqual({ c1: '1', c2: '1' });
    },
  );

  scenario.for(families)(
    'K15: beside one with other stages fails; with equal ones it goes along',
    { members: { c1: {}, c2: {} } },
    async (it) => {
      const run = await prepared(it, [{ name: 'all', ...EVERYBODY, beforeStageTasks: [{ type: 'Approval' }] }]);
      await run.strategy(AT_ONCE, 'other');
      await run.strategy([{ name: 'all', ...EVERYBODY, beforeStageTasks: [{ type: 'Approval' }] }], 'equal');
      await run.run({ stagedRolloutStrategyName: 'other', state: 'Initialize' }, 'early');
      await it.runs(1000);
      await run.run();
      await it.runs(1000);
      await run.run({ stagedRolloutStrategyName: 'other' }, 'late');
      await run.run({ stagedRolloutStrategyName: 'equal' }, 'twin');
      await run.state('Run', 'early');
      await it.runs(1000);
      expect(await run.said('late')).toEqual(FAILED_TO_BEGIN);
      expect(await run.message('Initialized', 'late')).toContain(
        `${it.family.run.kind} "r" is under way on the same placement with another strategy`,
      );
      expect(await run.said('twin')).toEqual({
        Initialized: DONE_RUN.Initialized,
        Progressing: 'False/UpdateRunWaiting',
      });
      expect(await run.said('early')).toEqual({
        Initialized: DONE_RUN.Initialized,
        Progressing: 'False/UpdateRunWaiting',
      });
      expect((await run.status('early')).holds).toMatchObject([{ code: 'OtherRun', on: { name: 'r' } }]);
      await run.approve('r-before-all');
      await run.approve('twin-before-all');
      await it.runs();
      expect(await run.said()).toEqual(DONE_RUN);
      expect(await run.said('twin')).toEqual(DONE_RUN);
      expect(await run.said('early')).toEqual(DONE_RUN);
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

describe('the state of a run', () => {
  scenario.for(families)('15: Initialize prepares, Run starts, and there is no way back', OPTIONS, async (it) => {
    const run = await prepared(it, AT_ONCE);
    await run.run({ state: 'Initialize' });
    await it.runs(15_000);
    expect(await run.said()).toEqual({ Initialized: DONE_RUN.Initialized });
    expect(await run.clusters('all')).toEqual({ c1: {}, c2: {}, c3: {} });
    expect(await run.message('Initialized')).toContain(`kubectl patch ${it.family.run.plural} r`);
    expect((await run.status()).holds).toMatchObject([{ code: 'RunNotStarted' }]);
    expect(await it.values()).toEqual({ c1: '-', c2: '-', c3: '-' });
    await expect(run.state('Stop')).rejects.toThrow('state cannot go from Initialize to Stop');
    await run.state('Run');
    await expect(run.state('Initialize')).rejects.toThrow('state cannot go from Run to Initialize');
    await it.runs();
    expect(await run.said()).toEqual(DONE_RUN);
    expect((await run.status()).conditions?.map(({ observedGeneration }) => observedGeneration)).toEqual([2, 2, 2]);
    await it.fleet.restartHub();
    await run.state('Stop');
    await expect(run.state('Initialize')).rejects.toThrow('state cannot go from Stop to Initialize');
    await it.runs();
    expect(await run.said()).toEqual(DONE_RUN);
    expect((await run.status()).conditions?.map(({ observedGeneration }) => observedGeneration)).toEqual([3, 3, 3]);
  });

  scenario.for(families)('16: Stop at a gate holds, approvals wait, and Run goes on', OPTIONS, async (it) => {
    const run = await prepared(it);
    await run.run();
    await it.runs(1000);
    await run.approve('r-after-canary');
    await it.runs(7000);
    expect(await run.stage('prod')).toEqual({ Progressing: 'False/StageUpdatingWaiting' });
    await run.state('Stop');
    await it.runs(1000);
    const stopped = { Initialized: DONE_RUN.Initialized, Progressing: 'False/UpdateRunStopped' };
    expect(await run.said()).toEqual(stopped);
    expect(await run.stage('prod')).toEqual({ Progressing: 'False/StageUpdatingStopped' });
    const { resourceVersion } = (await run.runOf()).metadata;
    await run.approve('r-before-prod');
    await it.runs(15_000);
    expect((await run.runOf()).metadata.resourceVersion).toBe(resourceVersion);
    expect((await run.request('r-before-prod'))?.status?.conditions?.map(({ type }) => type)).toEqual(['Approved']);
    expect(await it.values()).toEqual({ c1: '-', c2: '1', c3: '-' });
    await run.state('Run');
    await it.runs();
    expect(await run.said()).toEqual(DONE_RUN);
  });

  scenario.for(families)(
    '17: Stop waits for what is under way, and Run does only the rest',
    { members: 2, delivers: { readyMs: 10_000 } },
    async (it) => {
      const run = await prepared(it, [{ name: 'all', ...EVERYBODY }]);
      await it.give(deployment('web:1'));
      await run.run();
      await it.runs(3000);
      await run.state('Stop');
      await it.runs(1000);
      expect(await run.said()).toMatchObject({ Progressing: 'Unknown/UpdateRunStopping' });
      expect(await run.stage('all')).toEqual({ Progressing: 'Unknown/StageUpdatingStopping' });
      expect(await run.message('Progressing')).toContain('c1');
      await it.runs(20_000);
      expect(await run.said()).toMatchObject({ Progressing: 'False/UpdateRunStopped' });
      expect(await run.clusters('all')).toEqual({ c1: DONE_CLUSTER, c2: {} });
      expect(await run.bound()).toEqual({ c1: 'web-0-snapshot', c2: '' });
      it.forget();
      await run.state('Run');
      await it.runs(20_000);
      expect(await run.said()).toEqual(DONE_RUN);
      expect(it.writes()[`hub patch ${it.family.binding.plural}`]).toBe(2);
    },
  );

  scenario.for(families)('K14: Stop ends with clusters that are stuck, and names them', { members: 2 }, async (it) => {
    const run = await prepared(it, [{ name: 'all', ...EVERYBODY }]);
    await it.give(deployment('web:bad'));
    await run.run();
    await it.runs(60_000);
    await run.state('Stop');
    await it.runs(60_000);
    expect(await run.said()).toMatchObject({ Progressing: 'Unknown/UpdateRunStopping' });
    await it.runs(200_000);
    expect(await run.said()).toMatchObject({ Progressing: 'False/UpdateRunStopped' });
    expect(await run.message('Progressing')).toMatch(/"c1" not done after 5m0s: .*Deployment "shop\/web"/);
    const { resourceVersion } = (await run.runOf()).metadata;
    await it.runs(600_000);
    expect((await run.runOf()).metadata.resourceVersion).toBe(resourceVersion);
    expect(await run.bound()).toMatchObject({ c2: '' });
  });

  scenario.for(families)(
    '18: one that is created in Stop is prepared, and Run starts it',
    { members: { c1: {} } },
    async (it) => {
      const run = await prepared(it, AT_ONCE);
      await run.run({ state: 'Stop' });
      await it.runs();
      expect(await run.said()).toEqual({ Initialized: DONE_RUN.Initialized, Progressing: 'False/UpdateRunStopped' });
      expect(await it.values()).toEqual({ c1: '-' });
      await run.state('Run');
      await it.runs();
      expect(await run.said()).toEqual(DONE_RUN);
    },
  );
});

describe('a fleet that changes', () => {
  const pickN = (numberOfClusters: number) => ({ policy: { placementType: 'PickN', numberOfClusters } });

  scenario.for(families)(
    '19: gets new clusters, and loses those that were given up, with the next run',
    { members: 3 },
    async (it) => {
      const run = staging(it);
      await it.give(configMap('1'));
      await it.place({ ...EXTERNAL, ...pickN(2) });
      await run.strategy(AT_ONCE);
      await run.run();
      await it.runs();
      expect(Object.values(await it.values()).filter((value) => value === '1')).toHaveLength(2);
      await it.change(pickN(3));
      await run.run({}, 'out');
      await it.runs();
      expect(await run.said('out')).toEqual(DONE_RUN);
      expect(await it.values()).toEqual({ c1: '1', c2: '1', c3: '1' });
      await it.change(pickN(1));
      await run.run({}, 'in');
      await it.runs();
      expect(await run.said('in')).toEqual(DONE_RUN);
      const [kept] = await it.clusters();
      const lost = ['c1', 'c2', 'c3'].filter((cluster) => cluster !== kept);
      expect(await run.clusters('deletion', 'in')).toEqual(
        Object.fromEntries(lost.map((cluster) => [cluster, DONE_CLUSTER])),
      );
      expect(await it.values()).toEqual({ c1: '-', c2: '-', c3: '-', [kept as string]: '1' });
      expect(await it.bindings()).toHaveLength(1);
    },
  );

  const CHANGES: readonly (readonly [string, (it: Delivery) => Promise<void>, RegExp])[] = [
    ['a member joins', (it) => it.join('c4', { env: 'prod' }), /joined: c4/],
    ['a member leaves', (it) => it.fleet.deleteMember('c3'), /(no longer picked|left the fleet): c3/],
    [
      'a member changes its stage',
      (it) => it.fleet.patch('memberclusters', undefined, 'c3', { metadata: { labels: { env: 'canary' } } }),
      /in another place: c3/,
    ],
    [
      'a member falls out of all stages',
      (it) => it.fleet.patch('memberclusters', undefined, 'c3', { metadata: { labels: { env: 'x' } } }),
      /belongs to no stage: "c3"/,
    ],
    [
      'the way of applying changes',
      (it) => it.change({ strategy: { type: 'External', applyStrategy: { allowCoOwnership: true } } }),
      /apply strategy/,
    ],
    [
      'the policy changes',
      (it) => it.change({ policy: { placementType: 'PickAll', tolerations: [{ key: 'a', operator: 'Exists' }] } }),
      /policy has changed/,
    ],
    ['the placement goes', (it) => it.unplace(), /is being deleted|does not exist/],
  ];
  for (const [what, change, words] of CHANGES) {
    scenario.for(families)(`20: ends the run when ${what}`, OPTIONS, async (it) => {
      const run = await prepared(it);
      await run.run();
      await it.runs(2000);
      await change(it);
      await it.runs(1000);
      expect(await run.said()).toEqual(ABORTED);
      expect(await run.message('Succeeded')).toMatch(words);
      expect(await run.stage('canary')).toEqual({ Progressing: 'False/StageUpdatingWaiting' });
      if (what !== 'the placement goes') expect(await it.values()).toMatchObject({ c1: '-', c2: '1', c3: '-' });
      await it.runs(20_000);
      expect(await run.said()).toEqual(ABORTED);
    });
  }

  const CONTINUE = { 'flotilla.dev/membership-change': 'Continue' };
  scenario.for(families)('does not end a run that is told to continue', OPTIONS, async (it) => {
    const run = await prepared(it, [
      { name: 'canary', ...labelled({ env: 'canary' }), afterStageTasks: [{ type: 'Approval' }] },
      { name: 'prod', ...labelled({ env: 'prod' }) },
    ]);
    await run.run({}, 'r', CONTINUE);
    await it.runs(2000);
    await it.join('c4', { env: 'prod' });
    await it.fleet.deleteMember('c3');
    await it.fleet.patch('memberclusters', undefined, 'c1', { metadata: { labels: { env: 'x' } } });
    await it.runs(2000);
    expect(await run.said()).toMatchObject({ Progressing: 'False/UpdateRunWaiting' });
    await run.approve('r-after-canary');
    await it.runs();
    expect(await run.said()).toEqual(DONE_RUN);
    expect(await run.clusters('prod')).toEqual({ c1: DONE_CLUSTER, c3: { Succeeded: 'True/ClusterUpdatingSkipped' } });
    expect(await run.message('Succeeded')).toContain('skipped: 1 (c3)');
    expect(await it.values()).toMatchObject({ c1: '1', c2: '1', c4: '-' });
  });

  scenario.for(families)(
    'with a silent cluster goes on after the time that the run says',
    { members: 2, heartbeatPeriodSeconds: 10 },
    async (it) => {
      const run = await prepared(it, [{ name: 'all', ...EVERYBODY }]);
      it.fleet.cut('c1', true);
      await it.runs(60_000);
      await run.run({}, 'r', { 'flotilla.dev/unreachable-after': '10m' });
      await it.runs(60_000);
      expect((await run.status()).holds).toMatchObject([
        { code: 'Unreachable', on: { name: 'c1' } },
        { code: 'ConcurrencyUsed', on: { name: 'c1' } },
      ]);
      await it.runs(400_000);
      expect(await run.said()).toMatchObject({ Progressing: 'False/UpdateRunStuck' });
      expect(await run.message('Progressing')).toContain('"c1" not done after 5m0s: it is unreachable since');
      await it.runs(200_000);
      expect(await run.said()).toEqual(DONE_RUN);
      expect(await run.clusters('all')).toEqual({
        c1: { Started: UNDER_WAY.Started, Succeeded: 'True/ClusterUpdatingSkipped' },
        c2: DONE_CLUSTER,
      });
      expect(await run.message('Succeeded')).toContain('skipped: 1 (c1)');
    },
  );

  scenario.for(families)('21: a strategy that changes or goes changes nothing', OPTIONS, async (it) => {
    const run = await prepared(it);
    await run.run();
    await it.runs(2000);
    await it.fleet.patch(it.family.strategy.plural, it.namespace, 's', { spec: { stages: AT_ONCE } });
    await it.runs(1000);
    await it.fleet.hub.call({ verb: 'delete', at: it.fleet.hub.at(it.family.strategy.plural, it.namespace, 's') });
    await it.runs(6000);
    expect(await run.said()).toMatchObject({ Progressing: 'False/UpdateRunWaiting' });
    await run.approve('r-after-canary');
    await it.runs(1000);
    await run.approve('r-before-prod');
    await it.runs();
    expect(await run.said()).toEqual(DONE_RUN);
  });
});

describe('trouble', () => {
  scenario.for(families)(
    '22: another run that takes a cluster over ends the first',
    { members: 2, delivers: { readyMs: 10_000 } },
    async (it) => {
      const run = await prepared(it, [{ name: 'all', ...EVERYBODY }]);
      await it.give(deployment('web:1'));
      await run.run();
      await it.runs(3000);
      await it.give(deployment('web:2'));
      await run.run({}, 'r2');
      await it.runs(1000);
      expect(await run.said()).toEqual(ABORTED);
      expect(await run.clusters('all')).toMatchObject({
        c1: { ...UNDER_WAY, Succeeded: 'False/ClusterUpdatingFailed' },
      });
      expect(await run.stage('all')).toEqual({
        Progressing: 'False/StageUpdatingFailed',
        Succeeded: 'False/StageUpdatingFailed',
      });
      expect(await run.message('Succeeded')).toContain('failed to process the request due to a client error');
      await it.runs(40_000);
      expect(await run.said('r2')).toEqual(DONE_RUN);
      expect(await it.images()).toEqual({ c1: 'web:2', c2: 'web:2' });
    },
  );

  scenario.for(families)(
    '23: a cluster that does not come up is named, and a fix on the member lets the run go on',
    {
      ...OPTIONS,
      async prepare(member, name) {
        if (name !== 'c2') return;
        await member.create('namespaces', undefined, { metadata: { name: SHOP } }).catch(() => {});
        await member.create('configmaps', SHOP, { metadata: { name: 'app' }, data: { value: 'own' }, immutable: true });
      },
    },
    async (it) => {
      const run = await prepared(it, [
        { name: 'canary', ...labelled({ env: 'canary' }) },
        { name: 'prod', ...labelled({ env: 'prod' }) },
      ]);
      await run.run();
      await it.runs(290_000);
      expect(await run.said()).toMatchObject({ Progressing: 'True/UpdateRunProgressing' });
      expect(await run.clusters('canary')).toEqual({ c2: UNDER_WAY });
      await it.runs(20_000);
      expect(await run.said()).toMatchObject({ Progressing: 'False/UpdateRunStuck' });
      expect(await run.message('Progressing')).toMatch(/"c2" not done after 5m0s: .*ConfigMap "shop\/app"/);
      expect(await run.message('Progressing')).toContain(`see ${it.family.placement.kind} "web"`);
      await it.removeOn('c2', 'configmaps', 'app');
      await it.runs(600_000);
      expect(await run.said()).toEqual(DONE_RUN);
      expect(await it.values()).toEqual({ c1: '1', c2: '1', c3: '1' });
    },
  );

  scenario.for(families)('26: a hub that dies between two writes goes on where it was', OPTIONS, async (it) => {
    const run = await prepared(it);
    // The cluster gets its revision, and the run never hears of it.
    it.fleet.meddle = (who, { verb, at }) =>
      who === 'hub' &&
      verb === 'patch' &&
      at.resource.kind === it.family.run.kind &&
      at.subresource === 'status' &&
      wasMoved
        ? new ApiError(500, 'InternalError', 'down')
        : undefined;
    let wasMoved = false;
    const { meddle } = it.fleet;
    it.fleet.meddle = (who, request) => {
      if (who === 'hub' && request.verb === 'patch' && request.at.resource.kind === it.family.binding.kind)
        wasMoved = true;
      return meddle(who, request);
    };
    await run.run();
    await it.runs(500);
    expect(await run.bound()).toEqual({ c1: '', c2: 'web-0-snapshot', c3: '' });
    expect(await run.clusters('canary')).toEqual({ c2: {} });
    const { generation } = ((await it.bindings())[1] as Binding).metadata;
    await it.fleet.stopHub();
    it.fleet.meddle = undefined;
    await it.fleet.restartHub();
    await it.runs(7000);
    expect(await run.clusters('canary')).toEqual({ c2: DONE_CLUSTER });
    expect(((await it.bindings())[1] as Binding).metadata.generation).toBe(generation);
    await run.approve('r-after-canary');
    await it.runs(1000);
    await run.approve('r-before-prod');
    await it.runs();
    expect(await run.said()).toEqual(DONE_RUN);
    expect(await it.said()).toEqual(DONE);
  });

  scenario.for(families)(
    '27: a run that is deleted half-way leaves the clusters as they are, and no request',
    OPTIONS,
    async (it) => {
      const run = await prepared(it);
      await run.run();
      await it.runs(7000);
      const before = await it.bindings();
      expect(await run.request('r-after-canary')).toBeDefined();
      await run.remove();
      await it.runs(1000);
      expect(await it.fleet.exists(it.family.run.plural, it.namespace, 'r')).toBe(false);
      expect(await run.request('r-after-canary')).toBeUndefined();
      expect(await it.bindings()).toEqual(before);
    },
  );

  scenario.for(families)(
    '28: a wait takes its time, whatever is approved meanwhile, stopped or restarted',
    OPTIONS,
    async (it) => {
      const [canary, prod] = CANARY_FIRST;
      const tasks = [{ type: 'Approval' }, { type: 'TimedWait', waitTime: '30s' }];
      const run = await prepared(it, [
        { ...canary, afterStageTasks: tasks },
        { ...prod, beforeStageTasks: [] },
      ]);
      await run.run();
      await it.runs(200);
      const since = it.fleet.clock.now();
      expect(await run.clusters('canary')).toEqual({ c2: DONE_CLUSTER });
      await it.runs(5000);
      await run.approve('r-after-canary');
      await it.runs(1000);
      await run.state('Stop');
      await it.runs(5000);
      await run.state('Run');
      await it.fleet.restartHub();
      await it.runs(17_500);
      expect(it.fleet.clock.now() - since).toBeLessThan(29_000);
      expect(await run.stage('canary')).toEqual({ Progressing: 'False/StageUpdatingWaiting' });
      await it.runs(since + 31_000 - it.fleet.clock.now());
      expect(await run.stage('canary')).toEqual(DONE_STAGE);
      await it.runs();
      expect(await run.said()).toEqual(DONE_RUN);
    },
  );
});

describe('a hub that dies', () => {
  const TWO_STAGES = [
    { name: 'first', ...labelled({ env: 'canary' }), afterStageTasks: [{ type: 'Approval' }] },
    { name: 'rest', ...labelled({ env: 'prod' }) },
  ];
  for (const family of families) {
    test(`at any of its writes leaves a run that goes on to the same end (${family.run.kind})`, async () => {
      let isComplete = false;
      for (let most = 0; !isComplete; most += family.run.namespaced ? 5 : 2) {
        await using it = await aDelivery(family, { members: { c1: { env: 'canary' }, c2: { env: 'prod' } } });
        const run = await prepared(it, TWO_STAGES);
        let writes = 0;
        isComplete = true;
        it.fleet.meddle = (who, { verb }) => {
          if (who !== 'hub' || verb === 'get' || verb === 'list' || ++writes <= most) return undefined;
          isComplete = false;
          return new ApiError(500, 'InternalError', 'it is dying');
        };
        await run.run();
        await it.runs(300);
        if ((await run.request('r-after-first')) !== undefined) await run.approve('r-after-first');
        await it.runs(300);
        await it.fleet.stopHub();
        it.fleet.meddle = undefined;
        await it.fleet.restartHub();
        await it.runs(1000);
        const [, other] = await it.bindings();
        const request = await run.request('r-after-first');
        const isApproved = request?.status?.conditions?.some(({ type }) => type === 'Approved') ?? false;
        if (!isApproved) {
          expect(other?.spec.resourceSnapshotName).toBe('');
          await run.approve('r-after-first');
        }
        await it.runs();
        expect(await run.said()).toEqual(DONE_RUN);
        expect(await it.values()).toEqual({ c1: '1', c2: '1' });
        expect(await run.snapshots()).toEqual(['web-0-snapshot']);
        expect((await it.bindings()).map(({ metadata }) => metadata.generation)).toEqual([2, 2]);
        expect(await it.said()).toEqual(DONE);
      }
    });
  }
});

describe('two hubs at once', () => {
  scenario.for(families)('both believe that they lead, and the run is carried out once', OPTIONS, async (it) => {
    const run = await prepared(it, [
      { name: 'canary', ...labelled({ env: 'canary' }), afterStageTasks: [{ type: 'Approval' }] },
      { name: 'prod', ...labelled({ env: 'prod' }) },
    ]);
    const { hub, clock } = it.fleet;
    const second = startHub({
      clock,
      random: seededRandom(12),
      servers: { hub: hub.as(theHub) },
      catalogues: { hub: hub.running.catalogue },
      log: silentLog,
    });
    try {
      await second.synced;
      await run.run();
      await it.runs(10_000);
      expect(await run.said()).toMatchObject({ Progressing: 'False/UpdateRunWaiting' });
      expect(await run.bound()).toEqual({ c1: '', c2: 'web-0-snapshot', c3: '' });
      await run.approve('r-after-canary');
      await it.runs(10_000);
      expect(await run.said()).toEqual(DONE_RUN);
      expect(await run.snapshots()).toEqual(['web-0-snapshot']);
      expect((await it.bindings()).map(({ metadata }) => metadata.generation)).toEqual([2, 2, 2]);
    } finally {
      await second.stop();
    }
  });
});
