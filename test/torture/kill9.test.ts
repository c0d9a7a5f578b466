import { expect, test } from 'vitest';
import { torture } from '../../scripts/torture.ts';

test('20 processes killed with -9 under load lose nothing that was visible', async () => {
  const report = await torture({ rounds: 20, seed: 20 });
  expect(report.rounds).toBe(20);
  expect(report.writes).toBeGreaterThan(1000);
  expect(report.early).toBeLessThan(10);
}, 120_000);
