import { Command } from 'commander';
import { expect, test } from 'vitest';
import { runsOf, staging } from './run-flags.ts';

const given = (...words: readonly string[]) => {
  const command = staging(new Command())
    .exitOverride()
    .configureOutput({ writeErr() {} });
  command.parse(words, { from: 'user' });
  return runsOf(command.opts());
};

test('the time after which a cluster counts as stuck is taken over, and one that makes no sense refused', () => {
  expect(given()).toEqual({});
  expect(given('--staged-update-stuck-after', '90s')).toEqual({ stuckAfterMs: 90_000 });
  for (const text of ['0s', '-1m', 'soon', '25h']) {
    expect(() => given('--staged-update-stuck-after', text)).toThrow(/A duration from 1s to 24h0m0s is expected/);
  }
});
