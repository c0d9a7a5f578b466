import { expect, test } from 'vitest';
import { isFull, testSeed } from '../../scripts/gate/depth.ts';
import { patience } from '../../scripts/gate/patience.ts';
import { torture } from '../../scripts/torture.ts';

const rounds = isFull ? 200 : 20;

test(
  `${rounds} processes killed with -9 under load lose nothing that was visible`,
  async () => {
    const report = await torture({ rounds, seed: testSeed });
    expect(report.rounds).toBe(rounds);
    expect(report.writes).toBeGreaterThan(rounds * 50);
    expect(report.early).toBeLessThan(rounds / 2);
  },
  patience(rounds * 6_000),
);
