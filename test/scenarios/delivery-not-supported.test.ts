// What is not built yet comes to be selected by a placement that has been delivered, or is being delivered: from then on nothing of it moves,
// neither to clusters that wait for their turn nor to new ones, until it is gone.
import { describe, expect } from 'vitest';
import { families } from '../../src/hub/families.ts';
import {
  CONFIG_MAPS,
  configMap,
  type Delivery,
  type DeliveryOptions,
  DONE,
  deployment,
  rolls,
  SHOP,
  scenario,
  selects,
} from '../delivery.ts';

const FLEET = 'placement.kubernetes-fleet.io';

/** Both families select what is in the namespace, envelopes too. */
const withEnvelopes = (it: Delivery) =>
  it.namespace === undefined ? {} : { resourceSelectors: [CONFIG_MAPS, selects(FLEET, 'v1beta1', 'ResourceEnvelope')] };

interface Unbuilt {
  readonly what: string;
  /** What is there from the beginning and does not matter yet. */
  prepare(it: Delivery): Promise<void>;
  begins(it: Delivery): Promise<void>;
  ends(it: Delivery): Promise<void>;
}

const envelope: Unbuilt = {
  what: 'an envelope that comes to be selected',
  prepare: async () => {},
  begins: (it) =>
    it.give({
      apiVersion: `${FLEET}/v1beta1`,
      kind: 'ResourceEnvelope',
      metadata: { name: 'wrapped', namespace: SHOP },
      data: { 'quota.yaml': { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q', namespace: SHOP } } },
    }),
  ends: (it) => it.take('resourceenvelopes', 'wrapped'),
};

const TAINT = { key: 'busy', effect: 'NoSchedule' };
const taints = (it: Delivery, cluster: string, list: readonly object[]) =>
  it.fleet.patch('memberclusters', undefined, cluster, { spec: { taints: list } });

for (const { what, prepare, begins, ends } of [envelope]) {
  describe(what, () => {
    const play = (name: string, options: DeliveryOptions, run: (it: Delivery) => Promise<void>) =>
      scenario.for(families)(name, options, async (it) => {
        await prepare(it);
        await run(it);
      });

    play('keeps a rollout that is under way where it is, until it is gone', {}, async (it) => {
      await it.give(configMap('1'));
      await it.place({ ...withEnvelopes(it), ...rolls({ maxUnavailable: 1 }) });
      await it.runs();
      expect(await it.said()).toEqual(DONE);
      it.fleet.cut('c1', true);
      await it.give(configMap('2'));
      await it.runs();
      expect(await it.values()).toEqual({ c1: '1', c2: '1', c3: '1' });
      await begins(it);
      await it.runs();
      expect(await it.holds()).toMatchObject([{ code: 'NotSupportedYet' }]);
      it.fleet.cut('c1', false);
      await it.runs(60_000);
      // What was ordered already is carried out.
      expect(await it.values()).toEqual({ c1: '2', c2: '1', c3: '1' });
      expect(await it.said()).toMatchObject({ Scheduled: 'Unknown/SchedulePending' });
      it.forget();
      await it.runs(60_000);
      expect(it.writes()).toEqual({});
      await ends(it);
      await it.runs(10_000);
      expect(await it.values()).toEqual({ c1: '2', c2: '2', c3: '2' });
      expect(await it.said()).toEqual(DONE);
    });

    play('keeps it away from a cluster that could be picked now, until it is gone', { members: 2 }, async (it) => {
      await taints(it, 'c2', [TAINT]);
      await it.give(configMap('1'));
      await it.place(withEnvelopes(it));
      await it.runs();
      expect(await it.values()).toEqual({ c1: '1', c2: '-' });
      await begins(it);
      await it.runs();
      await taints(it, 'c2', []);
      await it.runs(60_000);
      expect(await it.said()).toMatchObject({ Scheduled: 'Unknown/SchedulePending' });
      expect(await it.clusters()).toEqual(['c1']);
      expect(await it.work('c2')).toBeUndefined();
      await ends(it);
      await it.runs(10_000);
      expect(await it.values()).toEqual({ c1: '1', c2: '1' });
      expect(await it.said()).toEqual(DONE);
    });

    play('is known to a hub that is started anew', { members: 2 }, async (it) => {
      await taints(it, 'c2', [TAINT]);
      await it.give(configMap('1'));
      await it.place(withEnvelopes(it));
      await it.runs();
      await begins(it);
      await it.runs();
      await it.fleet.restartHub();
      await taints(it, 'c2', []);
      await it.runs(60_000);
      expect(await it.clusters()).toEqual(['c1']);
      await ends(it);
      await it.runs(10_000);
      expect(await it.values()).toEqual({ c1: '1', c2: '1' });
    });

    play('lets what is given up go, and the placement be deleted', { members: 2 }, async (it) => {
      await it.give(configMap('1'));
      await it.place(withEnvelopes(it));
      await it.runs();
      await begins(it);
      await it.runs();
      const [first] = await it.bindings();
      const { name = '' } = first?.metadata ?? {};
      const { hub } = it.fleet;
      await hub.call({ verb: 'delete', at: hub.at(it.family.binding.plural, it.namespace, name) });
      await it.runs(60_000);
      expect(await it.clusters()).toEqual(['c2']);
      expect(await it.values()).toEqual({ c1: '-', c2: '1' });
      await it.unplace();
      await it.runs(60_000);
      expect(await it.bindings()).toEqual([]);
      expect(await it.values()).toEqual({ c1: '-', c2: '-' });
    });
  });
}

describe('green means done', () => {
  scenario.for(families)('not while the selection is too large, and again once it fits', { members: 2 }, async (it) => {
    await it.give(configMap('one'), deployment('web:1'));
    await it.place();
    await it.runs();
    expect(await it.said()).toMatchObject({ Available: expect.stringMatching(/^True/) });
    await it.give({ ...configMap('x'.repeat(900_000), 'big') }, configMap('two'));
    await it.runs();
    const said = await it.said();
    expect(said).toMatchObject({ RolloutStarted: 'Unknown/RolloutStartedUnknown' });
    expect(said).not.toHaveProperty('Available');
    expect(await it.values()).toEqual({ c1: 'one', c2: 'one' });
    await it.take('configmaps', 'big');
    await it.runs(30_000);
    expect(await it.said()).toMatchObject({ Available: expect.stringMatching(/^True/) });
    expect(await it.values()).toEqual({ c1: 'two', c2: 'two' });
  });
});
