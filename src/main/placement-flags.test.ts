import { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { type PlacementFlags, placementsOf, placing } from './placement-flags.ts';
import { program } from './program.ts';

/** The parsed flags, or the error message. */
function parsed(...given: readonly string[]) {
  let told = '';
  const command = placing(new Command('hub')).exitOverride();
  command.configureOutput({
    writeErr: (text) => {
      told += text;
    },
  });
  try {
    command.parse([...given], { from: 'user' });
    return placementsOf(command.opts<PlacementFlags>());
  } catch (error) {
    return told === '' ? (error as Error).message : told.trim();
  }
}

const usual = { debounceMs: 100, collectionMs: 0, minimumIntervalMs: 0 };

describe('flags about placements', () => {
  test('without flags a change becomes a revision a tenth of a second after the last', () => {
    expect(parsed()).toEqual({ throttle: usual, propagation: {} });
  });

  test.each([
    ['--resource-snapshot-creation-minimum-interval', '5m', { minimumIntervalMs: 300_000 }],
    ['--resource-snapshot-creation-minimum-interval', '0', {}],
    ['--resource-changes-collection-duration', '1m', { collectionMs: 60_000 }],
    ['--resource-changes-collection-duration', '15s', { collectionMs: 15_000 }],
    ['--placement-debounce', '0', { debounceMs: 0 }],
    ['--placement-debounce', '250ms', { debounceMs: 250 }],
  ])('%s %s', (flag, value, throttle) => {
    expect(parsed(flag, value)).toEqual({ throttle: { ...usual, ...throttle }, propagation: {} });
  });

  test.each([
    ['--resource-snapshot-creation-minimum-interval', '5m1s', '5m0s'],
    ['--resource-snapshot-creation-minimum-interval', '-1s', '5m0s'],
    ['--resource-snapshot-creation-minimum-interval', '30', '5m0s'],
    ['--resource-changes-collection-duration', '61s', '1m0s'],
    ['--resource-changes-collection-duration', 'soon', '1m0s'],
    ['--placement-debounce', '2s', '1s'],
    ['--placement-debounce', '', '1s'],
  ])('%s %s is refused with what is expected', (flag, value, max) => {
    expect(parsed(flag, value)).toBe(
      `error: option '${flag} <duration>' argument '${value}' is invalid. A duration from 0 to ${max} is expected, such as 500ms or 1s.`,
    );
  });

  test('what may be placed is handed on', () => {
    const namespaces = ['--skipped-propagating-namespaces', 'a,b'];
    expect(parsed('--skipped-propagating-apis', 'apps/v1/Deployment; batch', ...namespaces)).toEqual({
      throttle: usual,
      propagation: { skippedApis: 'apps/v1/Deployment; batch', skippedNamespaces: 'a,b' },
    });
    expect(parsed('--allowed-propagating-apis', 'v1')).toEqual({
      throttle: usual,
      propagation: { allowedApis: 'v1' },
    });
    expect(parsed('--enable-workload')).toEqual({ throttle: usual, propagation: { enableWorkload: true } });
  });

  test('lists that name nothing, or exclude each other, are refused', () => {
    expect(parsed('--skipped-propagating-apis', 'a/b/c/d')).toMatch(/"a\/b\/c\/d" names no API/);
    expect(parsed('--allowed-propagating-apis', ';')).toMatch(/names no API/);
    expect(parsed('--allowed-propagating-apis', 'apps', '--skipped-propagating-apis', 'batch')).toBe(
      'set either --allowed-propagating-apis or --skipped-propagating-apis, not both',
    );
  });

  test.each(['up', 'hub'])('flotilla %s takes them', (name) => {
    const command = program('flotilla').commands.find((each) => each.name() === name);
    expect(command?.options.map(({ long }) => long)).toEqual(
      expect.arrayContaining(placing(new Command()).options.map(({ long }) => long)),
    );
  });
});
