// Seed 000 with kubectl on its smallest fleet: five partitions of five clusters. The larger fleets are in partitions-000.proof.test.ts.
import { describe, expect, test } from 'vitest';
import { patience } from '../../scripts/gate/patience.ts';
import { startFleet } from './delivery.ts';
import { beyond, open, peakOf } from './partitions-000.ts';
import { skipsKubectl } from './server.ts';

describe.skipIf(skipsKubectl)('on seed-000-25', () => {
  test('one partition after the other, each at once', { timeout: patience(240_000) }, async () => {
    await using fleet = await startFleet('seed-000-25');
    await using shop = await open(fleet, 'shop', 'web:bad', {
      maxUnavailable: 1,
      partitions: [1, 2, 3, 4, 5].map((wave) => ({
        name: `wave ${wave}`,
        clusterSelector: { matchLabels: { wave: String(wave) } },
      })),
    });
    const { followed } = shop;
    const { partitions } = await followed.until({ notReady: 5, pending: 20, state: 'Pending' });
    expect(partitions.map(({ count, maxUnavailable, state }) => [count, maxUnavailable, state])).toEqual([
      [5, 1, 'NotReady'],
      ...Array(4).fill([5, 1, 'Pending']),
    ]);
    expect(await shop.holds()).toMatchObject({ EarlierPartition: { count: 20 } });
    await shop.image('web:1');
    await followed.until({ ready: 25, state: 'Ready' });
    // The next partition begins when one cluster is not ready yet.
    expect(peakOf(followed.seen)).toBeLessThanOrEqual(6);
    expect(followed.seen.every((state) => beyond(state).length <= 1)).toBe(true);

    await shop.image('web:2-bad');
    await followed.until({ notReady: 1, outOfSync: 24, state: 'OutOfSync' });
    expect(await shop.holds()).toMatchObject({ PartitionWindow: { count: 4 }, EarlierPartition: { count: 20 } });
  });
});
