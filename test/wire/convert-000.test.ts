// V0-1 of spec 10: a fleet.yaml that holds only its rolloutStrategy becomes a placement by `flotilla convert FILE | kubectl apply -f -`, which then
// rolls out as T11 does.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { patience } from '../../scripts/gate/patience.ts';
import { startFleet } from './delivery.ts';
import { flotilla } from './fleet.ts';
import { beyond, openWith, peakOf } from './partitions-000.ts';
import { skipsKubectl } from './server.ts';

const FLEET_YAML = `
rolloutStrategy:
  partitions:
    - name: demoRollout
      maxUnavailable: 10%
      clusterSelector:
        matchLabels:
          env: staging
    - name: stable
      maxUnavailable: 5%
      clusterSelector:
        matchLabels:
          env: prod
`;
const STAGING = 4;
const PROD = 6;
const members = [...Array(STAGING).fill('staging'), ...Array(PROD).fill('prod')].map((env: string, at) => ({
  name: `cluster-${at + 1}`,
  labels: { env },
  nodes: 1,
}));

describe.skipIf(skipsKubectl)('a fleet.yaml of Rancher Fleet', () => {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-convert-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };

  test('is converted, applied and rolled out partition by partition', { timeout: patience(240_000) }, async () => {
    await using fleet = await startFleet(file('members.json', JSON.stringify({ members })));
    const fleetYaml = file('fleet.yaml', FLEET_YAML);
    const converted = await flotilla(fleet.home, ['convert', fleetYaml, '--placement', 'shop']);
    expect(converted).toMatchObject({ code: 0, stderr: expect.stringContaining('no targets are named') });
    await using shop = await openWith(fleet, 'shop', 'web:bad', converted.stdout);
    const { followed } = shop;
    const { partitions } = await followed.until({ notReady: STAGING, pending: PROD, state: 'Pending' });
    expect(partitions.map(({ name, count, maxUnavailable, state }) => [name, count, maxUnavailable, state])).toEqual([
      ['demoRollout', STAGING, 1, 'NotReady'],
      ['stable', PROD, 1, 'Pending'],
    ]);
    expect(await shop.holds()).toMatchObject({ EarlierPartition: { count: PROD } });

    await shop.image('web:1');
    await followed.until({ ready: STAGING + PROD, state: 'Ready' });
    expect(followed.seen.every((state) => beyond(state).length <= 1)).toBe(true);

    await shop.image('web:2-bad');
    await followed.until({ notReady: 1, outOfSync: STAGING + PROD - 1, state: 'OutOfSync' });
    expect(await shop.holds()).toMatchObject({
      PartitionWindow: { count: STAGING - 1 },
      EarlierPartition: { count: PROD },
    });
    await shop.image('web:3');
    await followed.until({ ready: STAGING + PROD, state: 'Ready' });
    // The next partition begins when one cluster of the first is not ready yet.
    expect(peakOf(followed.seen)).toBeLessThanOrEqual(2);
  });
});
