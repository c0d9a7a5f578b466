import { expect, test } from 'vitest';
import type { HoldEntry } from '../../api/holds.ts';
import { type Label, labelOf } from './stuck.ts';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const ago = (seconds: number) => new Date(NOW - seconds * 1000).toISOString();
const entry = (code: string, cause?: string, since?: string) =>
  ({ code, facts: cause === undefined ? {} : { cause }, ...(since === undefined ? {} : { since }) }) as HoldEntry;

test.each<{ hold: HoldEntry; is: Label }>([
  { hold: entry('BudgetUsed', 'starting', ago(5)), is: 'Updating' },
  { hold: entry('BudgetUsed', 'starting', ago(61)), is: 'Blocked' },
  { hold: entry('BudgetUsed', 'failed', ago(1)), is: 'Blocked' },
  { hold: entry('BudgetUsed', 'unreachable', ago(1)), is: 'Blocked' },
  { hold: entry('NotAvailable', 'moving'), is: 'Updating' },
  { hold: entry('Unreachable'), is: 'Blocked' },
  { hold: entry('NotSupportedYet'), is: 'Blocked' },
  { hold: entry('Paused', undefined, ago(3600)), is: 'Waits' },
  { hold: entry('ApprovalMissing', undefined, ago(3600)), is: 'Waits' },
])('$hold.code for $hold.facts.cause since $hold.since is $is', ({ hold, is }) => {
  expect(labelOf(hold, NOW)).toBe(is);
});
