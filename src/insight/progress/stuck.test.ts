import { expect, test } from 'vitest';
import type { HoldEntry } from '../../api/holds.ts';
import type { Stage } from './placement-progress.ts';
import { isFailing, type Label, labelOf } from './stuck.ts';

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
  { hold: entry('SpecInvalid'), is: 'Blocked' },
  { hold: entry('Paused', undefined, ago(3600)), is: 'Waits' },
  { hold: entry('ApprovalMissing', undefined, ago(3600)), is: 'Waits' },
])('$hold.code for $hold.facts.cause since $hold.since is $is', ({ hold, is }) => {
  expect(labelOf(hold, NOW, [])).toBe(is);
});

test('a rollout is blocked at once by a cluster whose Pods cannot start', () => {
  const hold = { ...entry('BudgetUsed', 'starting', ago(1)), on: { kind: 'MemberCluster', name: 'a' } };
  expect(labelOf(hold, NOW, [{ cluster: 'b', cannotStart: true }, { cluster: 'a' }])).toBe('Updating');
  expect(labelOf(hold, NOW, [{ cluster: 'a', cannotStart: true }])).toBe('Blocked');
});

test.each<{ stage: Stage; age?: number; cannotStart?: true; is: boolean }>([
  { stage: 'ApplyFailed', is: true },
  { stage: 'NotAvailable', age: 5, is: false },
  { stage: 'NotAvailable', age: 60, is: true },
  { stage: 'NotAvailable', age: 5, cannotStart: true, is: true },
  { stage: 'Waiting', age: 3600, is: false },
])('$stage for $age s is failing: $is', ({ stage, age, cannotStart, is }) => {
  const since = age === undefined ? {} : { since: NOW - age * 1000 };
  expect(isFailing({ stage, ...since, ...(cannotStart && { cannotStart }) }, NOW)).toBe(is);
});
