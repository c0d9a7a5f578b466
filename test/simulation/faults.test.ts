// Faults that a scenario excludes never happen in its worlds, not even to the first calls.
import { expect, test } from 'vitest';
import { seededRandom } from '../../src/base/random.ts';
import { nameOf, randomFaults, usualRates } from '../../src/sim/faults.ts';
import { configMaps } from './scenarios/config-maps.ts';

const at = { resource: configMaps, namespace: 'default', name: 'x' };
const rates = {
  ...usualRates,
  call: { ...usualRates.call, 'crash-after': 0 },
  watch: { ...usualRates.watch, silence: 0 },
};

/** The fates of the first writes and batches of many worlds. */
function fates(usual: typeof usualRates): ReadonlySet<string> {
  const met = new Set<string>();
  for (let seed = 1; seed <= 300; seed++) {
    const faults = randomFaults({ random: seededRandom(seed), endsAt: 1, rates: usual });
    for (let time = 0; time < 4; time++) {
      met.add(`watch ${nameOf(faults.watch('x', { at, revision: '1' }, [], 0))}`);
      met.add(`delete ${nameOf(faults.call('x', { verb: 'delete', at }, 0))}`);
    }
  }
  return met;
}

test('a fault whose rate is 0 is met by nobody', () => {
  expect([...fates(usualRates)]).toEqual(expect.arrayContaining(['watch silence', 'delete crash-after']));
  expect([...fates(rates)]).not.toContain('watch silence');
  expect([...fates(rates)]).not.toContain('delete crash-after');
});
