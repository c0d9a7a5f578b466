// Failures on the hub itself during a release: rejected writes of Works, manually changed labels and annotations, a
// policy with fewer clusters, and members that become unreachable.
import { describe, expect } from 'vitest';
import { labels, memberNamespace } from '../../src/api/names.ts';
import { ApiError } from '../../src/base/errors.ts';
import { clusterFamily, families } from '../../src/hub/families.ts';
import { configMap, type Delivery, DONE, deployment, picks, rolls, scenario } from '../delivery.ts';

const MINUTE = 60_000;
const QUOTA = 'exceeded quota: compute';
const ONE_BY_ONE = rolls({ maxUnavailable: 1, maxSurge: 0 });
const fixed = (...clusterNames: readonly string[]) => ({ policy: { placementType: 'PickFixed', clusterNames } });

/** From now on the hub's server rejects every create and patch of the kind, except of its status. */
function refuse(it: Delivery, plural: string): void {
  it.fleet.meddle = (who, { verb, at }) =>
    who === 'hub' && at.resource.plural === plural && at.subresource === undefined && /create|patch/.test(verb)
      ? new ApiError(403, 'Forbidden', QUOTA)
      : undefined;
}

describe('a bad release', () => {
  const six = ['c1', 'c2', 'c3', 'c4', 'c5', 'c6'];
  for (const { how, before, after, mayMove } of [
    { how: 'named', before: fixed(...six), after: fixed('c1', 'c2'), mayMove: 0 },
    // If c1 is given up, the budget is free again.
    { how: 'picked', before: picks(6), after: picks(2), mayMove: 1 },
  ]) {
    scenario.for(families)(`reaches nobody else because fewer clusters are ${how}`, { members: 6 }, async (it) => {
      await it.give(deployment('web:1'));
      await it.place({ ...before, ...ONE_BY_ONE });
      await it.runs(MINUTE);
      await it.give(deployment('web:bad'));
      await it.runs(MINUTE);
      expect(await it.images()).toMatchObject({ c1: 'web:bad', c2: 'web:1', c6: 'web:1' });
      const moved: string[] = [];
      it.fleet.meddle = (_who, { at, ...request }) => {
        const body = 'patch' in request ? JSON.stringify(request.patch.body) : '';
        if (at.resource.plural === it.family.binding.plural && body.includes('resourceSnapshotName')) moved.push(body);
        return undefined;
      };
      await it.change(after);
      await it.runs(MINUTE);
      expect(moved.length).toBeLessThanOrEqual(mayMove);
      expect(Object.values(await it.images()).filter((image) => image !== '-')).toHaveLength(2);
      if (mayMove === 0) expect(await it.images()).toMatchObject({ c1: 'web:bad', c2: 'web:1' });
    });
  }
});

describe('an order that the hub does not take', () => {
  scenario.for(families)('is told with the words of its server, and follows when it may', {}, async (it) => {
    await it.give(configMap('1'));
    await it.place(ONE_BY_ONE);
    await it.runs();
    refuse(it, 'works');
    await it.give(configMap('2'));
    await it.runs(5 * MINUTE);
    expect(await it.saidOf('c1')).toMatchObject({ WorkSynchronized: 'False/SyncWorkFailed' });
    expect(JSON.stringify((await it.status()).placementStatuses)).toContain(QUOTA);
    const holds = await it.holds();
    expect(holds).toMatchObject([
      { code: 'BudgetUsed', on: { name: 'c1' }, facts: { cause: 'failed' }, clusters: ['c2', 'c3'] },
      { code: 'NotAvailable', on: { name: 'c1' } },
    ]);
    expect(JSON.stringify(holds)).not.toContain('raise maxUnavailable');

    // It is reported once.
    it.forget();
    await it.runs(30 * MINUTE);
    const { plural } = it.family.binding;
    expect(it.writes()[`hub patch ${plural}/status`] ?? 0).toBe(0);
    it.fleet.meddle = undefined;
    await it.runs(20 * MINUTE);
    expect(await it.said()).toEqual(DONE);
    expect(await it.values()).toEqual({ c1: '2', c2: '2', c3: '2' });
  });

  scenario.for(families)('is told also where the binding itself cannot be moved', {}, async (it) => {
    await it.give(configMap('1'));
    await it.place(ONE_BY_ONE);
    await it.runs();
    const { plural } = it.family.binding;
    refuse(it, plural);
    await it.give(configMap('2'));
    await it.runs(5 * MINUTE);
    const [first] = await it.bindings();
    expect(first?.status?.conditions?.[0]).toMatchObject({
      type: 'RolloutStarted',
      status: 'False',
      message: expect.stringContaining(QUOTA),
    });
    it.forget();
    await it.runs(30 * MINUTE);
    expect(it.writes()[`hub patch ${plural}/status`] ?? 0).toBe(0);
    it.fleet.meddle = undefined;
    await it.runs(20 * MINUTE);
    expect(await it.said()).toEqual(DONE);
    expect(await it.values()).toEqual({ c1: '2', c2: '2', c3: '2' });
  });
});

describe('a Work', () => {
  scenario.for(families)(
    'whose marks somebody changed to those of the other scope gets its own back',
    {},
    async (it) => {
      await it.give(configMap('1'));
      await it.place({});
      await it.runs();
      const was = (await it.work('c1'))?.metadata.labels;
      const other = it.namespace === undefined ? 'shop' : null;
      await it.fleet.patch('works', memberNamespace('c1'), it.workName(), {
        metadata: { labels: { [labels.parentPlacementNamespace]: other } },
      });
      await it.runs();
      expect((await it.work('c1'))?.metadata.labels).toEqual(was);
      await it.runs(80 * MINUTE);
      expect(await it.values()).toEqual({ c1: '1', c2: '1', c3: '1' });
      expect(await it.said()).toEqual(DONE);
    },
  );
});

describe('a binding', () => {
  scenario.for(families)('that lost the mark of its placement gets it back, and goes with it', {}, async (it) => {
    await it.give(configMap('1'));
    await it.place({});
    await it.runs();
    const [first] = await it.bindings();
    const { namespace, name = '' } = first?.metadata ?? {};
    await it.fleet.patch(it.family.binding.plural, namespace, name, {
      metadata: { labels: { [labels.parentPlacement]: null } },
    });
    await it.runs();
    expect(await it.bindings()).toHaveLength(3);
    await it.give(configMap('2'));
    await it.runs(MINUTE);
    expect(await it.values()).toEqual({ c1: '2', c2: '2', c3: '2' });
    expect(await it.said()).toEqual(DONE);
    await it.unplace();
    await it.runs(MINUTE);
    expect(await it.values()).toEqual({ c1: '-', c2: '-', c3: '-' });
  });
});

describe('a member that falls silent', () => {
  const SILENT = 5 * MINUTE;
  const options = { members: 3, heartbeatPeriodSeconds: 10 };

  scenario.for([clusterFamily])('while it is to clean up is named as silent, not waited for', options, async (it) => {
    await it.give(configMap('1'));
    await it.place(fixed('c1', 'c2', 'c3'));
    await it.runs(30_000);
    await it.fleet.stopAgent('c1');
    await it.change(fixed('c2', 'c3'));
    await it.runs(5_000);
    expect(await it.holds()).toMatchObject([{ code: 'RemovalPending', on: { name: 'c1' } }]);
    await it.runs(SILENT);
    const [hold] = await it.holds();
    expect(hold).toMatchObject({ code: 'RemovalPending', facts: { cause: 'unreachable' } });
    expect(hold?.next).toContain('reconnect cluster "c1"');
  });

  scenario.for([clusterFamily])('while others wait for it is named as silent', options, async (it) => {
    await it.give(configMap('1'));
    await it.place(ONE_BY_ONE);
    await it.runs(30_000);
    await it.fleet.stopAgent('c1');
    for (const value of ['2', '3']) {
      await it.give(configMap(value));
      await it.runs(5_000);
    }
    expect((await it.holds())[0]).toMatchObject({ code: 'BudgetUsed', facts: { cause: 'progressing' } });
    await it.runs(SILENT);
    const [hold] = await it.holds();
    expect(hold).toMatchObject({ code: 'BudgetUsed', on: { name: 'c1' }, facts: { cause: 'unreachable' } });
    expect(hold?.next).not.toContain('wait');
  });
});
