// Runs whose fleet, placement or strategy changes while they are active. Numbers are those of the acceptance scenarios.
import { describe, expect } from 'vitest';
import { families } from '../../src/hub/families.ts';
import { configMap, type Delivery, DONE, scenario } from '../delivery.ts';
import {
  ABORTED,
  AT_ONCE,
  CANARY_FIRST,
  DONE_CLUSTER,
  DONE_RUN,
  EVERYBODY,
  EXTERNAL,
  labelled,
  OF_FLEET,
  prepared,
  staging,
  UNDER_WAY,
} from '../staged.ts';

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
      const { deletionStageStatus } = await run.status('in');
      const words = deletionStageStatus?.clusters.map(({ conditions = [] }) =>
        conditions.map(({ message }) => message),
      );
      expect(words).toEqual(
        lost.map(() => [
          'the cluster is being removed from the placement',
          'the cluster was removed from the placement',
        ]),
      );
      expect(deletionStageStatus?.conditions?.map(({ message }) => message)).toEqual(
        Array(2).fill('clusters that the placement no longer picks have been removed'),
      );
      expect(await it.values()).toEqual({ c1: '-', c2: '-', c3: '-', [kept as string]: '1' });
      expect(await it.bindings()).toHaveLength(1);
    },
  );

  scenario.for(families)(
    'loses one that is silent without waiting longer than the run says',
    { members: 2, heartbeatPeriodSeconds: 10 },
    async (it) => {
      const run = staging(it);
      await it.give(configMap('1'));
      await it.place({ ...EXTERNAL, ...pickN(2) });
      await run.strategy(AT_ONCE);
      await run.run({}, 'out');
      await it.runs();
      await it.change(pickN(1));
      await it.runs(5000);
      const bindings = await it.bindings();
      const lost = bindings.find(({ spec }) => spec.state === 'Unscheduled')?.spec.targetCluster ?? '';
      it.fleet.cut(lost, true);
      await it.runs(60_000);
      await run.run({}, 'r', { 'flotilla.dev/unreachable-after': '10m' });
      await it.runs(60_000);
      expect(await run.said()).not.toHaveProperty('Succeeded');
      await it.runs(600_000);
      expect(await run.said()).toEqual(DONE_RUN);
      expect((await run.clusters('deletion'))[lost]).toMatchObject({ Succeeded: 'True/ClusterUpdatingSkipped' });
      expect(await run.message('Succeeded')).toContain(`skipped: 1 (${lost})`);
    },
  );

  const CHANGES: readonly (readonly [string, (it: Delivery) => Promise<void>, RegExp])[] = [
    ['a member joins', (it) => it.join('c4', { env: 'prod' }), /joined: c4/],
    ['a member leaves', (it) => it.fleet.deleteMember('c3'), /(no longer picked|left the fleet): c3/],
    [
      'a member changes its stage',
      (it) => it.fleet.patch('memberclusters', undefined, 'c3', { metadata: { labels: { env: 'canary' } } }),
      /now in another position: c3/,
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
    scenario.for(families)(`20: ends the run when ${what}`, OF_FLEET, async (it) => {
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
  scenario.for(families)('does not end a run that is told to continue', OF_FLEET, async (it) => {
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

  scenario.for(families)('an annotation that is spoilt on the way is told', OF_FLEET, async (it) => {
    const run = await prepared(it);
    await run.run();
    await it.runs(7000);
    const annotate = (after: string | null) =>
      it.fleet.patch(it.family.run.plural, it.namespace, 'r', {
        metadata: { annotations: { 'flotilla.dev/unreachable-after': after } },
      });
    await annotate('ten');
    await it.runs(1000);
    const spoilt = { code: 'SpecInvalid', facts: { message: expect.stringContaining('is "ten"') } };
    expect((await run.status()).holds).toContainEqual(expect.objectContaining(spoilt));
    await annotate(null);
    await it.runs(1000);
    expect((await run.status()).holds).not.toContainEqual(expect.objectContaining({ code: 'SpecInvalid' }));
  });

  scenario.for(families)('21: a strategy that changes or goes changes nothing', OF_FLEET, async (it) => {
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

describe('a run of a placement that only reports differences', () => {
  const reporting = { strategy: { type: 'External', applyStrategy: { type: 'ReportDiff' } } };
  const COMPARED = { ...DONE, DiffReported: 'True/DiffReportingCompleted' } as Record<string, string>;
  delete COMPARED['Applied'];
  delete COMPARED['Available'];

  scenario.for(families)('24: goes on when a cluster has reported, and applies nothing', OF_FLEET, async (it) => {
    const atHome = () => Object.keys(it.writes()).filter((write) => write.includes('at home'));
    const run = await prepared(it, CANARY_FIRST, reporting);
    it.forget();
    await run.run();
    await it.runs(15_000);
    expect(await run.clusters('canary')).toEqual({ c2: DONE_CLUSTER });
    expect((await it.saidOf('c2'))['DiffReported']).toBe('True/AllWorkHaveDiffReported');
    expect((await it.saidOf('c1'))['DiffReported']).toBeUndefined();
    await run.approve('r-after-canary');
    await run.approve('r-before-prod');
    await it.runs();
    expect(await run.said()).toEqual(DONE_RUN);
    expect(await run.clusters('prod')).toEqual({ c1: DONE_CLUSTER, c3: DONE_CLUSTER });
    expect(await it.said()).toEqual(COMPARED);
    expect(await it.values()).toEqual({ c1: '-', c2: '-', c3: '-' });
    expect(atHome()).toEqual([]);
    const { placementStatuses = [] } = await it.status();
    const missing = placementStatuses.map(({ diffedPlacements = [] }) => diffedPlacements.map(({ name }) => name));
    expect(missing.map((names) => names.includes('app'))).toEqual([true, true, true]);

    await it.change({ strategy: { type: 'External', applyStrategy: { type: 'ClientSideApply' } } });
    await it.runs();
    // The apply strategy is part of the desired state, which only a run changes.
    expect(await it.values()).toEqual({ c1: '-', c2: '-', c3: '-' });
    await run.strategy(AT_ONCE, 'at-once');
    await run.run({ stagedRolloutStrategyName: 'at-once' }, 'applies');
    await it.runs();
    expect(await run.said('applies')).toEqual(DONE_RUN);
    expect(await it.values()).toEqual({ c1: '1', c2: '1', c3: '1' });
  });
});
