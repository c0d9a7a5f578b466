// Every hold code has a row in docs/holds.md, and `flotilla explain` finds it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { HOLD_CODES } from '../../api/hold.ts';
import { codesIn, explainCode } from './explain-code.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/holds.md'), 'utf8');

describe('explain', () => {
  test.each(HOLD_CODES)('knows %s', (code) => {
    expect(explainCode(page, code)).toMatch(new RegExp(`^${code}: .{10,}`));
  });

  test('has no code that does not exist', () => {
    expect([...codesIn(page).keys()].filter((code) => !(HOLD_CODES as readonly string[]).includes(code))).toEqual([]);
  });

  test('takes any case, and lists what there is', () => {
    expect(explainCode(page, 'budgetused')).toContain('maxUnavailable allows');
    expect(() => explainCode(page, 'Nope')).toThrow(/known: AgentNotConnected/);
  });
});
