// Proves that checkers can fail: each gets a world that violates its rule.
import { describe, expect, test } from 'vitest';
import { play, type Scenario } from '../../src/sim/scenario.ts';
import { ledgerScenario } from './scenarios/ledger.ts';

/** The checkers that failed within some seeds. */
async function objections(scenario: Scenario, seeds: number): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (let seed = 1; seed <= seeds; seed++) {
    const { failure } = await play(scenario, { seed, keep: 0 });
    if (failure) found.add(failure.checker);
  }
  return found;
}

describe('a disk that only says that it has synced', () => {
  test('is found out', async () => {
    const found = await objections(ledgerScenario({ isDurable: true, isLying: true }), 25);
    expect([...found]).toContain('no write is lost');
  });

  test('as an honest one is not', async () => {
    expect([...(await objections(ledgerScenario({ isDurable: true }), 25))]).toEqual([]);
  });
});
