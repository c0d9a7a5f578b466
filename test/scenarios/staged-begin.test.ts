// Runs that cannot start, or not yet. Numbers are those of the acceptance scenarios.
import { describe, expect } from 'vitest';
import { families } from '../../src/hub/families.ts';
import { configMap, scenario } from '../delivery.ts';
import {
  AT_ONCE,
  DONE_RUN,
  EVERYBODY,
  EXTERNAL,
  FAILED_TO_BEGIN,
  labelled,
  prepared,
  staging,
  WAITS_TO_BEGIN,
} from '../staged.ts';

describe('a run that cannot begin', () => {
  scenario.for(families)('10: says that its placement is not External', { members: { c1: {} } }, async (it) => {
    const run = await prepared(it, AT_ONCE);
    await it.place({}, 'rolling');
    await run.run({ placementName: 'rolling' });
    await it.runs(1000);
    expect(await run.said()).toEqual(FAILED_TO_BEGIN);
    expect(await run.message('Initialized')).toContain('RollingUpdate: runs work on placements with type External');
    expect(await run.bound()).toEqual({ c1: '' });
  });

  // Manifests may be applied in any order. Amends 10 for a missing placement and a missing strategy.
  scenario.for(families)(
    'before its placement and its strategy exist waits for them without limit, and names them',
    { members: { c1: {} } },
    async (it) => {
      const run = staging(it);
      const { placement, strategy } = it.family;
      const where = it.namespace === undefined ? '' : `${it.namespace}/`;
      await it.give(configMap('1'));
      await run.run();
      await it.runs(600_000);
      expect(await run.said()).toEqual(WAITS_TO_BEGIN);
      expect(await run.message('Initialized')).toBe(
        `the run waits: ${placement.kind} "${where}web" does not exist; ${strategy.kind} "${where}s" does not exist`,
      );
      expect((await run.status()).holds).toMatchObject([
        { code: 'NotFound', on: { kind: placement.kind, name: 'web' } },
        { code: 'NotFound', on: { kind: strategy.kind, name: 's' } },
      ]);
      await it.place(EXTERNAL);
      await it.runs(600_000);
      expect(await run.said()).toEqual(WAITS_TO_BEGIN);
      expect((await run.status()).holds).toMatchObject([{ code: 'NotFound', on: { kind: strategy.kind, name: 's' } }]);
      expect(await run.bound()).toEqual({ c1: '' });
      await run.strategy(AT_ONCE);
      await it.runs();
      expect(await run.said()).toEqual(DONE_RUN);
      expect((await run.status()).holds).toBeUndefined();
      expect(await it.values()).toEqual({ c1: '1' });
    },
  );

  scenario.for(families)(
    'before its placement exists fails as soon as that turns out not to be External',
    { members: { c1: {} } },
    async (it) => {
      const run = staging(it);
      await it.give(configMap('1'));
      await run.run();
      await it.runs(1000);
      expect(await run.said()).toEqual(WAITS_TO_BEGIN);
      await it.place({});
      await it.runs(1000);
      expect(await run.said()).toEqual(FAILED_TO_BEGIN);
      expect(await run.message('Initialized')).toContain('RollingUpdate: runs work on placements with type External');
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
      expect(await run.said()).toEqual(WAITS_TO_BEGIN);
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

  scenario.for(families)(
    'K15: beside many with other stages fails as well, and names the first',
    { members: { c1: {} } },
    async (it) => {
      const run = await prepared(it, [{ name: 'all', ...EVERYBODY, beforeStageTasks: [{ type: 'Approval' }] }]);
      await run.strategy(AT_ONCE, 'other');
      const many = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
      for (const name of many) await run.run({}, name);
      await it.runs(1000);
      await run.run({ stagedRolloutStrategyName: 'other' }, 'late');
      await it.runs(1000);
      expect(await run.said('late')).toEqual(FAILED_TO_BEGIN);
      expect(await run.message('Initialized', 'late')).toContain(`${it.family.run.kind} "a" is under way`);
    },
  );

  scenario.for(families)(
    'K15: behind one that is stopped names it and says what a person can do, and again when it goes on',
    { members: { c1: {}, c2: {} } },
    async (it) => {
      const run = await prepared(it, [{ name: 'all', ...EVERYBODY, beforeStageTasks: [{ type: 'Approval' }] }]);
      await run.strategy(AT_ONCE, 'other');
      await run.run({ stagedRolloutStrategyName: 'other', state: 'Initialize' }, 'early');
      await run.run();
      await it.runs(1000);
      await run.state('Run', 'early');
      await it.runs(1000);
      const name = `${it.family.run.kind} "r"`;
      const goes = `${name} is under way on the same placement with another strategy: wait until it has ended, or delete it`;
      expect(await run.message('Progressing', 'early')).toBe(goes);
      it.fleet.cut('c1', true);
      await run.approve('r-before-all');
      await it.runs(1000);
      await run.state('Stop');
      await it.runs(1000);
      const where = it.namespace === undefined ? '' : ` -n ${it.namespace}`;
      const how = `kubectl patch ${it.family.run.plural} r${where} --type merge -p '{"spec":{"state":"Run"}}'`;
      const stopped = `${name} is stopped half-way on the same placement with another strategy`;
      expect(await run.message('Progressing', 'early')).toBe(`${stopped}: let it continue (${how}), or delete it`);
      expect((await run.status('early')).holds).toMatchObject([
        {
          code: 'OtherRun',
          on: { name: 'r' },
          facts: { state: 'Stop' },
          next: `let it continue (${how}), or delete it`,
        },
      ]);
      await run.run({ stagedRolloutStrategyName: 'other' }, 'late');
      await it.runs(1000);
      expect(await run.said('late')).toEqual(FAILED_TO_BEGIN);
      expect(await run.message('Initialized', 'late')).toContain(
        `${stopped}: let it continue (${how}), delete it, or use an equal strategy`,
      );
      await run.state('Run');
      await it.runs(1000);
      expect(await run.message('Progressing', 'early')).toBe(goes);
      it.fleet.cut('c1', false);
      await it.runs(120_000);
      expect(await run.said()).toEqual(DONE_RUN);
      expect(await run.said('early')).toEqual(DONE_RUN);
    },
  );
});
