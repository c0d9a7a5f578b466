// Evictions under a budget on real API servers in memory: every type of placement, crashes between two writes, and hubs
// that start late.
import { describe, expect, test } from 'vitest';
import type { Eviction } from '../../src/api/eviction.ts';
import type { Request } from '../../src/api/transport.ts';
import { LostError } from '../../src/base/errors.ts';
import { clusterFamily } from '../../src/hub/families.ts';
import { aDelivery, configMap, type Delivery, deployment, picks, scenario } from '../delivery.ts';

const forCluster = scenario.for([clusterFamily]);
const EVICTIONS = 'clusterresourceplacementevictions';
const BUDGETS = 'clusterresourceplacementdisruptionbudgets';

async function evict(it: Delivery, cluster: string, name = `evict-${cluster}`, placementName = 'web'): Promise<void> {
  await it.fleet.hub.create(EVICTIONS, undefined, {
    metadata: { name },
    spec: { placementName, clusterName: cluster },
  });
}

const budget = (it: Delivery, spec: object) =>
  it.fleet.hub.create(BUDGETS, undefined, { metadata: { name: 'web' }, spec });

/** `Valid True, Executed False: MESSAGE` */
async function outcome(it: Delivery, name: string): Promise<string> {
  const { status } = (await it.fleet.hub.get(EVICTIONS, undefined, name)) as Eviction;
  const conditions = status?.conditions ?? [];
  const words = conditions.map((each) => `${each.type} ${each.status}`).join(', ');
  return `${words}: ${conditions.at(-1)?.message ?? ''}`;
}

const taint = (it: Delivery, name: string) =>
  it.fleet.patch('memberclusters', undefined, name, {
    spec: { taints: [{ key: 'cordon-key', value: 'cordon-value', effect: 'NoSchedule' }] },
  });

async function installed(it: Delivery, spec: object = {}): Promise<void> {
  await it.give(configMap('1'), deployment('web:1'));
  await it.place(spec);
  await it.runs();
}

const NO_BUDGET =
  'Valid True, Executed True: Eviction is allowed, no ClusterResourcePlacementDisruptionBudget specified';
const allowed = (available: number, total: number) =>
  `Valid True, Executed True: Eviction is allowed by specified ClusterResourcePlacementDisruptionBudget, availablePlacements: ${available}, totalPlacements: ${total}`;
const blocked = (available: number, total: number) =>
  `Valid True, Executed False: Eviction is blocked by specified ClusterResourcePlacementDisruptionBudget, availablePlacements: ${available}, totalPlacements: ${total}`;

describe('an eviction', () => {
  forCluster('takes the resources off a tainted cluster for good', { members: 3 }, async (it) => {
    await installed(it);
    await taint(it, 'c1');
    await evict(it, 'c1');
    await it.runs();
    expect(await outcome(it, 'evict-c1')).toBe(NO_BUDGET);
    expect(await it.values()).toEqual({ c1: '-', c2: '1', c3: '1' });
    await it.runs(60_000);
    expect(await it.clusters()).toEqual(['c2', 'c3']);
  });

  forCluster('of a cluster without a taint is followed by a new placement', { members: 2 }, async (it) => {
    await installed(it);
    const [before] = await it.bindings();
    await evict(it, 'c1');
    await it.runs(60_000);
    expect(await outcome(it, 'evict-c1')).toBe(NO_BUDGET);
    expect(await it.values()).toEqual({ c1: '1', c2: '1' });
    const [after] = await it.bindings();
    expect(after?.metadata.uid).not.toBe(before?.metadata.uid);
  });

  forCluster('is reported within 300 ms on an idle hub', { members: 2 }, async (it) => {
    await installed(it);
    await it.runs(60_000);
    await evict(it, 'c1');
    await it.runs(300);
    expect(await outcome(it, 'evict-c1')).toBe(NO_BUDGET);
  });

  forCluster('beside another one keeps the budget: exactly one is executed', { members: 3 }, async (it) => {
    await installed(it);
    await budget(it, { minAvailable: 2 });
    for (const cluster of ['c1', 'c2', 'c3']) await taint(it, cluster);
    await Promise.all([evict(it, 'c1'), evict(it, 'c2')]);
    await it.runs();
    const outcomes = [await outcome(it, 'evict-c1'), await outcome(it, 'evict-c2')];
    expect(outcomes.filter((each) => each === allowed(3, 3))).toHaveLength(1);
    expect(outcomes.filter((each) => each.includes('Executed False'))).toHaveLength(1);
    expect(Object.values(await it.values()).filter((value) => value === '1')).toHaveLength(2);
  });

  forCluster('that a budget blocks stays blocked when the budget goes', { members: 3 }, async (it) => {
    await installed(it, picks(3));
    await budget(it, { maxUnavailable: 0 });
    await evict(it, 'c1');
    await it.runs();
    expect(await outcome(it, 'evict-c1')).toBe(blocked(3, 3));
    await it.take(BUDGETS, 'web');
    await it.runs(60_000);
    expect(await outcome(it, 'evict-c1')).toBe(blocked(3, 3));
    expect(await it.values()).toEqual({ c1: '1', c2: '1', c3: '1' });
  });

  forCluster('counts clusters that are down for other reasons', { members: 3 }, async (it) => {
    await installed(it, picks(3));
    await budget(it, { maxUnavailable: 1 });
    await it.give(deployment('web:bad'));
    await it.runs();
    const images = await it.images();
    const well = Object.keys(images).filter((cluster) => images[cluster] === 'web:1');
    expect(well).toHaveLength(2);
    await evict(it, well[0] as string, 'one-too-many');
    await it.runs();
    expect(await outcome(it, 'one-too-many')).toBe(blocked(2, 3));
  });

  forCluster('of a PickFixed placement, and of none, is invalid', { members: 2 }, async (it) => {
    await installed(it, { policy: { placementType: 'PickFixed', clusterNames: ['c1'] } });
    await evict(it, 'c1');
    await evict(it, 'c1', 'lost', 'absent');
    await it.runs();
    expect(await outcome(it, 'evict-c1')).toBe(
      'Valid False: Found ClusterResourcePlacement with PickFixed placement type targeted by eviction',
    );
    const lost = 'Valid False: Failed to find ClusterResourcePlacement targeted by eviction';
    expect(await outcome(it, 'lost')).toBe(lost);
    await it.place({}, 'absent');
    await it.runs();
    expect(await outcome(it, 'lost')).toBe(lost);
  });

  forCluster('works for an External placement', { members: 2 }, async (it) => {
    await installed(it);
    await taint(it, 'c1');
    await it.change({ strategy: { type: 'External', rollingUpdate: null } });
    await it.runs();
    await evict(it, 'c1');
    await it.runs();
    expect(await outcome(it, 'evict-c1')).toBe(NO_BUDGET);
    expect(await it.values()).toEqual({ c1: '-', c2: '1' });
  });

  forCluster(
    'that was created before the hub could evict is invalid; a later one counts',
    { members: 2 },
    async (it) => {
      await installed(it);
      await it.fleet.stopHub();
      await evict(it, 'c1', 'early');
      await it.fleet.pass(10_000);
      const evictionsSince = it.fleet.clock.now();
      await it.fleet.pass(10_000);
      await taint(it, 'c2');
      await evict(it, 'c2', 'late');
      await it.fleet.restartHub({ delivers: {}, evictionsSince });
      await it.runs();
      expect(await outcome(it, 'early')).toContain('Valid False: Eviction was created before');
      expect(await outcome(it, 'late')).toBe(NO_BUDGET);
      expect(await it.values()).toEqual({ c1: '1', c2: '-' });
    },
  );
});

/** The writes of the eviction controller: two records, the deletion, the outcome. */
const isOfEviction = ({ verb, at }: Request): boolean =>
  (verb === 'patch' && at.resource.plural === EVICTIONS) ||
  ((verb === 'patch' || verb === 'delete') && at.resource.plural === 'clusterresourcebindings');

describe('a hub that dies at a write of an eviction', () => {
  for (const dies of [1, 2, 3, 4, 5, 6]) {
    test(`ends in the same outcome (write ${dies})`, async () => {
      await using it = await aDelivery(clusterFamily, { members: 3 });
      await installed(it);
      await budget(it, { minAvailable: 2 });
      await taint(it, 'c1');
      await it.runs();
      let count = 0;
      it.fleet.meddle = (who, request) => {
        if (who !== 'hub' || !isOfEviction(request)) return undefined;
        count++;
        return count >= dies ? new LostError('the hub died', { sent: false }) : undefined;
      };
      await evict(it, 'c1');
      await it.fleet.settles();
      await it.fleet.stopHub();
      it.fleet.meddle = undefined;
      await it.fleet.restartHub();
      await it.runs();
      expect(await outcome(it, 'evict-c1')).toBe(allowed(3, 3));
      expect(await it.values()).toEqual({ c1: '-', c2: '1', c3: '1' });
    });
  }
});
