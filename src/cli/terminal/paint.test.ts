import { describe, expect, test } from 'vitest';
import { type ColorMode, colored, paintFor } from './paint.ts';

describe('colors', () => {
  test('mark whole cells and labels, and nothing in a message', () => {
    const text = `Blocked: MemberCluster "a" is Unreachable

CLUSTER   STAGE         MESSAGE
a         ApplyFailed   Failed to apply: it is Blocked
b         Available`;
    const red = (word: string) => `\u001b[31m${word}\u001b[0m`;
    expect(colored(text)).toBe(`${red('Blocked')}: MemberCluster "a" is Unreachable

CLUSTER   STAGE         MESSAGE
a         ${red('ApplyFailed')}   Failed to apply: it is Blocked
b         \u001b[32mAvailable\u001b[0m`);
  });

  test.each<{ mode: ColorMode; isTerminal: boolean; noColor: string | undefined; is: boolean }>([
    { mode: 'auto', isTerminal: true, noColor: undefined, is: true },
    { mode: 'auto', isTerminal: true, noColor: '', is: true },
    { mode: 'auto', isTerminal: true, noColor: '1', is: false },
    { mode: 'auto', isTerminal: false, noColor: undefined, is: false },
    { mode: 'always', isTerminal: false, noColor: '1', is: true },
    { mode: 'never', isTerminal: true, noColor: undefined, is: false },
  ])('are used or not: $mode, terminal $isTerminal, NO_COLOR $noColor', ({ mode, isTerminal, noColor, is }) => {
    expect(paintFor(mode, isTerminal, noColor)('Ready') !== 'Ready').toBe(is);
  });
});
