// A member that is being deleted: nothing waits for an unreachable one, and its workloads keep running.
import { describe, expect } from 'vitest';
import { memberNamespace } from '../../src/api/names.ts';
import { families } from '../../src/hub/families.ts';
import { configMap, type Delivery, deployment, picks, rolls, scenario } from '../delivery.ts';

const PERIODS = 6;
const SECONDS = 10;
const GONE_MS = PERIODS * SECONDS * 1000;
const options = { heartbeatPeriodSeconds: SECONDS } as const;

async function placed(it: Delivery, spec: object = {}): Promise<void> {
  await it.give(configMap('one'), deployment('web:1'));
  await it.place(spec);
  await it.runs();
}

/** Its agent dies, then its MemberCluster is deleted. */
async function dies(it: Delivery, cluster: string): Promise<void> {
  await it.fleet.stopAgent(cluster);
  await it.fleet.deleteMember(cluster);
  await it.fleet.settles();
}

describe('a dead member that is being deleted', () => {
  scenario.for(families)('keeps its place for six periods, and is then replaced', options, async (it) => {
    await placed(it, picks(2));
    expect(await it.clusters()).toEqual(['c2', 'c3']);
    await dies(it, 'c3');
    await it.runs(GONE_MS - 2 * SECONDS * 1000);
    expect(await it.clusters()).toEqual(['c2', 'c3']);
    await it.runs(3 * SECONDS * 1000);
    expect(await it.clusters()).toEqual(['c1', 'c2']);
    expect(await it.values()).toEqual({ c1: 'one', c2: 'one', c3: 'one' });
    expect(await it.said()).toMatchObject({
      Scheduled: expect.stringMatching(/^True/),
      Available: expect.stringMatching(/^True/),
    });
    expect(await it.fleet.exists('memberclusters', undefined, 'c3')).toBe(true);
  });

  scenario.for(families)('is replaced also by a hub that was restarted meanwhile', options, async (it) => {
    await placed(it, picks(2));
    await it.fleet.stopAgent('c3');
    // The hub reported it as unreachable after three periods, and it stayed for six more.
    await it.runs(1.5 * GONE_MS);
    await it.fleet.restartHub();
    await it.fleet.deleteMember('c3');
    await it.runs(2 * SECONDS * 1000);
    expect(await it.clusters()).toEqual(['c1', 'c2']);
  });

  scenario.for(families)('holds no rollout and uses no budget', options, async (it) => {
    await placed(it, rolls({ maxUnavailable: 1, unavailablePeriodSeconds: 1 }));
    await it.fleet.stopAgent('c1');
    await it.give(configMap('two'));
    await it.runs(30_000);
    expect(Object.values(await it.values())).toContain('one');
    await it.fleet.deleteMember('c1');
    await it.runs(GONE_MS + 30_000);
    expect(await it.values()).toEqual({ c1: 'one', c2: 'two', c3: 'two' });
    expect(await it.clusters()).toEqual(['c2', 'c3']);
    expect((await it.bindings()).map(({ spec }) => spec.targetCluster)).toEqual(['c2', 'c3']);
  });

  scenario.for(families)('keeps its Works and what runs there, also when the placement goes', options, async (it) => {
    await placed(it);
    await dies(it, 'c3');
    await it.unplace();
    await it.runs(30_000);
    expect(await it.bindings()).toEqual([]);
    const work = await it.work('c3');
    expect(work?.metadata.deletionTimestamp).toBeUndefined();
    expect(work).toBeDefined();
    expect(await it.values()).toEqual({ c1: '-', c2: '-', c3: 'one' });
    // Long enough for a member without bindings to be cleaned up, and for its forced deletion.
    await it.runs(20 * 60_000);
    expect(await it.fleet.exists('namespaces', undefined, memberNamespace('c3'))).toBe(false);
    it.fleet.startAgent('c3');
    await it.runs(60_000);
    expect(await it.values()).toEqual({ c1: '-', c2: '-', c3: 'one' });
  });

  scenario.for(families)('no longer holds the deletion of a placement that began before', options, async (it) => {
    await placed(it);
    await it.fleet.stopAgent('c3');
    await it.unplace();
    await it.runs(30_000);
    expect((await it.bindings()).map(({ spec }) => spec.targetCluster)).toEqual(['c3']);
    await it.fleet.deleteMember('c3');
    await it.runs(5000);
    expect(await it.bindings()).toEqual([]);
  });
});

describe('a member that leaves', () => {
  scenario.for(families)('loses the identity that join made, and no other', options, async (it) => {
    const { hub } = it.fleet;
    await hub.create('serviceaccounts', 'fleet-system', { metadata: { name: 'c3-by-hand' } });
    await it.fleet.deleteMember('c3');
    await it.runs(30_000);
    expect(await it.fleet.exists('memberclusters', undefined, 'c3')).toBe(false);
    expect(await it.fleet.exists('serviceaccounts', 'fleet-system', 'c3-hub-cluster-access')).toBe(false);
    expect(await it.fleet.exists('secrets', 'fleet-system', 'c3-hub-cluster-access-token')).toBe(false);
    expect(await it.fleet.exists('serviceaccounts', 'fleet-system', 'c3-by-hand')).toBe(true);
    expect(await it.fleet.exists('serviceaccounts', 'fleet-system', 'c2-hub-cluster-access')).toBe(true);
  });

  scenario.for(families)('keeps an identity of that name that join did not make', options, async (it) => {
    const name = 'c3-hub-cluster-access';
    await it.fleet.patch('serviceaccounts', 'fleet-system', name, { metadata: { labels: null } });
    await it.fleet.deleteMember('c3');
    await it.runs(30_000);
    expect(await it.fleet.exists('memberclusters', undefined, 'c3')).toBe(false);
    expect(await it.fleet.exists('serviceaccounts', 'fleet-system', name)).toBe(true);
  });
});
