// Seed 000 with kubectl, V0-2 to V0-9 of spec 10 on the fleets that ship for it: what every step shows, and that no state in between breaks a limit.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { patience } from '../../scripts/gate/patience.ts';
import { type Fleet, startFleet } from './delivery.ts';
import { flotilla } from './fleet.ts';
import { beyond, type Followed, open, peakOf } from './partitions-000.ts';
import { skipsKubectl } from './server.ts';

const LONG = { timeout: patience(600_000) };
const numbered = (from: number, to: number): readonly string[] =>
  Array.from({ length: to - from + 1 }, (_, index) => `cluster-${from + index}`);

function onFleet(name: string, tests: (fleet: () => Fleet) => void): void {
  describe.skipIf(skipsKubectl)(`on ${name}`, () => {
    let fleet: Fleet | undefined;
    beforeAll(async () => {
      fleet = await startFleet(name);
    });
    afterAll(async () => fleet?.[Symbol.asyncDispose]());
    tests(() => fleet as Fleet);
  });
}

onFleet('seed-000-25', (fleet) => {
  test('T1: a limit of 5 installs all 25 at once and updates 5 at a time', LONG, async () => {
    await using shop = await open(fleet(), 'shop', 'web:bad', { maxUnavailable: 5 });
    const { followed } = shop;
    await followed.until({ notReady: 25, pending: 0, state: 'NotReady' });
    await shop.image('web:1');
    await followed.until({ ready: 25, state: 'Ready' });
    await shop.image('web:2-bad');
    await followed.until({ notReady: 5, outOfSync: 20, state: 'OutOfSync' });
    expect(await shop.holds()).toMatchObject({ PartitionWindow: { count: 20 } });
    await shop.image('web:3');
    await followed.until({ ready: 25, readyClusters: '25/25' });
    expect(peakOf(followed.seen)).toBe(5);
  });

  test('V0-9: a cluster that is off is NotReady, is named, and the others go on', LONG, async () => {
    const { hub, kubeconfig, home } = fleet();
    await using shop = await open(fleet(), 'shop', 'web:1', { maxUnavailable: 5 });
    const { followed } = shop;
    await followed.until({ ready: 25 });
    const identity = JSON.parse(await hub(['get', 'membercluster', 'cluster-3', '-o', 'jsonpath={.spec.identity}']));
    const patch = (spec: object) =>
      hub(['patch', 'membercluster', 'cluster-3', '--type=merge', '-p', JSON.stringify({ spec })]);
    // Its credentials are no longer those of the member, so nothing that it says is heard.
    await patch({ heartbeatPeriodSeconds: 1, identity: { ...identity, name: 'nobody' } });
    await followed.until({ ready: 24, notReady: 1, unavailable: 1, state: 'NotReady' });
    const why = await flotilla(home, ['why', 'placement/shop', '--kubeconfig', kubeconfig]);
    expect(why.stdout).toContain('MemberCluster "cluster-3" is unreachable');

    await shop.image('web:2');
    await followed.until({ ready: 24, notReady: 1, outOfSync: 0 });
    expect(peakOf(followed.seen)).toBeLessThanOrEqual(5);
    expect(await shop.holds()).toMatchObject({ Unreachable: { count: 1, on: 'cluster-3' } });

    await patch({ identity });
    await followed.until({ ready: 25, notReady: 0, state: 'Ready' });
  });
});

onFleet('seed-000-50', (fleet) => {
  test('V0-2: 10 % of 50 clusters: all at once, judged afterwards, and updated 5 at a time', LONG, async () => {
    await using shop = await open(fleet(), 'shop', 'web:bad', { maxUnavailable: '10%' });
    const { followed } = shop;
    const { partitions } = await followed.until({ notReady: 50, pending: 0, state: 'NotReady' });
    expect(partitions).toMatchObject([{ name: 'All', count: 50, maxUnavailable: 5, notReady: 50, state: 'NotReady' }]);
    await shop.image('web:1');
    await followed.until({ ready: 50, state: 'Ready' });
    await shop.image('web:2-bad');
    await followed.until({ notReady: 5, outOfSync: 45, state: 'OutOfSync' });
    await shop.image('web:3');
    await followed.until({ ready: 50 });
    expect(peakOf(followed.seen)).toBe(5);
  });
});

onFleet('seed-000-100', (fleet) => {
  test('V0-3, V0-8: 10 % of 100 clusters: 50, held at 10 not ready, and on at 9', LONG, async () => {
    await using shop = await open(fleet(), 'shop', 'web:bad', { maxUnavailable: '10%' });
    const { followed } = shop;
    await followed.until({ notReady: 50, pending: 50, state: 'Pending' });
    expect(await shop.holds()).toMatchObject({ BatchGate: { count: 50 } });
    expect(followed.seen.every(({ pending }) => pending >= 50)).toBe(true);

    // By name, these are in the first half.
    const broken = numbered(20, 29);
    await shop.mark(broken, true);
    await shop.image('web:1');
    await followed.until({ ready: 40, notReady: 10, pending: 50, state: 'Pending' });
    expect(await shop.holds()).toMatchObject({ BatchGate: { count: 50 } });
    expect(followed.seen.every(({ pending }) => pending === 50)).toBe(true);
    await shop.mark(broken.slice(0, 1), false);
    await followed.until({ ready: 91, notReady: 9, pending: 0, state: 'NotReady' });
    await shop.mark(broken.slice(1), false);
    await followed.until({ ready: 100, readyClusters: '100/100', state: 'Ready' });

    await shop.image('web:2-bad');
    await followed.until({ ready: 0, notReady: 10, outOfSync: 90, state: 'OutOfSync' });
    expect(peakOf(followed.seen)).toBe(10);
    await shop.image('web:3');
    await followed.until({ ready: 100 });
    expect(peakOf(followed.seen)).toBe(10);
  });
});

/** The states, oldest first, in which more than so many partitions were beyond their limit. */
const crowded = (seen: Followed['seen'], allowed: number): readonly (readonly string[])[] =>
  seen.map(beyond).filter(({ length }) => length > allowed);

onFleet('seed-000-200', (fleet) => {
  test(
    'V0-4: one of ten partitions may be bad, so two are in flight, and a warning says when that protects nothing',
    LONG,
    async () => {
      const settings = { maxUnavailablePartitions: 1, autoPartitionSize: '10%' };
      {
        await using shop = await open(fleet(), 'shop', 'web:1', settings);
        expect(shop.warnings).toContain('maxUnavailable is 100% (the default)');
        const { partitions } = await shop.followed.until({ ready: 200, state: 'Ready' });
        expect(partitions.map(({ count, maxUnavailable }) => [count, maxUnavailable])).toEqual(
          Array(10).fill([20, 20]),
        );
      }
      await using shop = await open(fleet(), 'shop', 'web:bad', { ...settings, maxUnavailable: '10%' });
      const { followed } = shop;
      await followed.until({ notReady: 40, pending: 160, unavailablePartitions: 2, state: 'Pending' });
      expect(await shop.holds()).toMatchObject({ EarlierPartition: { count: 160 } });
      expect(followed.seen.every(({ pending }) => pending >= 160)).toBe(true);
      await shop.image('web:1');
      await followed.until({ ready: 200, state: 'Ready' });
      expect(crowded(followed.seen, 2)).toEqual([]);

      await shop.image('web:2-bad');
      await followed.until({ notReady: 4, outOfSync: 196, unavailablePartitions: 2, state: 'OutOfSync' });
      expect(await shop.holds()).toMatchObject({ PartitionWindow: { count: 36 }, EarlierPartition: { count: 160 } });
      await shop.image('web:3');
      await followed.until({ ready: 200, readyClusters: '200/200' });
      expect(peakOf(followed.seen)).toBeLessThanOrEqual(8);
      expect(crowded(followed.seen, 2)).toEqual([]);
    },
  );

  test(
    'V0-5: strict, two partitions: the first one is ready before the second one begins, and one cluster is updated at a time',
    LONG,
    async () => {
      await using shop = await open(fleet(), 'shop', 'web:bad', {
        maxUnavailable: 0,
        maxUnavailablePartitions: 0,
        partitions: ['demoRollout', 'stable'].map((stage) => ({
          name: stage,
          clusterSelector: { matchLabels: { stage } },
        })),
      });
      const { followed } = shop;
      await followed.until({ notReady: 20, pending: 180, state: 'Pending' });
      expect(await shop.holds()).toMatchObject({ EarlierPartition: { count: 180 } });
      await shop.image('web:1');
      await followed.untilTrue('demoRollout is ready', ({ pending }) => pending < 180);
      await followed.until({ ready: 200, state: 'Ready' });
      expect(peakOf(followed.seen)).toBeLessThanOrEqual(50);

      await shop.value('1');
      await followed.until({ ready: 200, readyClusters: '200/200', state: 'Ready' });
      expect(peakOf(followed.seen)).toBe(1);
    },
  );

  test('V0-6: five partitions of 40, 10 %, none may be bad', LONG, async () => {
    await using shop = await open(fleet(), 'shop', 'web:bad', {
      maxUnavailable: '10%',
      maxUnavailablePartitions: 0,
      partitions: [1, 2, 3, 4, 5].map((wave) => ({
        name: `wave ${wave}`,
        clusterSelector: { matchLabels: { wave: String(wave) } },
      })),
    });
    const { followed } = shop;
    const { partitions } = await followed.until({ notReady: 40, pending: 160, state: 'Pending' });
    expect(partitions.map(({ count, maxUnavailable, state }) => [count, maxUnavailable, state])).toEqual([
      [40, 4, 'NotReady'],
      ...Array(4).fill([40, 4, 'Pending']),
    ]);
    expect(await shop.holds()).toMatchObject({ EarlierPartition: { count: 160 } });

    const broken = numbered(20, 24);
    await shop.mark(broken, true);
    await shop.image('web:1');
    await followed.until({ ready: 35, notReady: 5, pending: 160 });
    await shop.mark(broken.slice(0, 1), false);
    await followed.until({ ready: 196, notReady: 4, pending: 0 });
    await shop.mark(broken.slice(1), false);
    await followed.until({ ready: 200, state: 'Ready' });

    await shop.image('web:2-bad');
    await followed.until({ notReady: 4, outOfSync: 196, state: 'OutOfSync' });
    await shop.image('web:3');
    await followed.until({ ready: 200 });
    expect(peakOf(followed.seen)).toBeLessThanOrEqual(8);
  });
});

onFleet('seed-000-230', (fleet) => {
  test('V0-7: 230 clusters with defaults are 57, 57, 57, 57 and 2', LONG, async () => {
    await using shop = await open(fleet(), 'shop', 'web:1', {});
    const { partitions } = await shop.followed.until({ ready: 230, state: 'Ready' });
    expect(partitions.map(({ count }) => count)).toEqual([57, 57, 57, 57, 2]);
  });
});
