import { describe, expect, test } from 'vitest';
import type { Hold } from '../../api/hold.ts';
import type { PlacementStatus } from '../../api/placement.ts';
import type { RolloutState } from '../../api/rollout-state.ts';
import { kubeTime } from '../../base/clock.ts';
import type { BindingPlan } from '../strategies/strategy.ts';
import { nextStall, progressOf } from './stalled.ts';

const START = Date.parse('2026-01-01T00:00:00Z');
const DEADLINE = 60;
const rollout = (of: Partial<RolloutState> = {}): RolloutState => ({
  state: 'OutOfSync',
  desiredReady: 4,
  ready: 1,
  notReady: 1,
  pending: 0,
  outOfSync: 2,
  modified: 0,
  waitApplied: 0,
  errApplied: 0,
  unavailable: 1,
  maxUnavailable: 1,
  unavailablePartitions: 1,
  maxUnavailablePartitions: 0,
  ...of,
});
const holdOf = (code: Hold['code']): Hold => ({ code, subject: { group: '', kind: 'X', name: 'x' }, facts: {} });
const planOf = (of: Partial<BindingPlan> = {}): BindingPlan => ({
  move: [],
  remove: [],
  stale: ['c3', 'c4'],
  upToDate: ['c1', 'c2'],
  holds: { c2: holdOf('NotAvailable'), c3: holdOf('PartitionWindow'), c4: holdOf('PartitionWindow') },
  state: undefined,
  done: false,
  summary: '',
  rollout: rollout(),
  ...of,
});
const DONE = planOf({ stale: [], holds: {}, done: true, rollout: rollout({ state: 'Ready', ready: 4, outOfSync: 0 }) });

function at(seconds: number, plan: BindingPlan, previous?: PlacementStatus, revision = '1'): PlacementStatus {
  const now = START + seconds * 1000;
  const progress = progressOf({ previous, revision, plan, deadlineSeconds: DEADLINE, generation: 1, now });
  if (progress === undefined) throw new Error('there is a deadline');
  const { lastProgressTime, condition } = progress;
  const state = { ...(plan.rollout as RolloutState), lastProgressTime };
  return { observedResourceIndex: revision, conditions: [condition], rollout: state };
}
const reasonOf = ({ conditions }: PlacementStatus) => conditions?.[0]?.reason;

describe('a rollout with a progress deadline', () => {
  const before = at(0, planOf());

  test.each([
    { it: 'counts from the first look', plan: planOf(), after: 60, reason: 'RolloutProgressing' },
    { it: 'is stalled after the deadline', plan: planOf(), after: 61, reason: 'ProgressDeadlineExceeded' },
    {
      it: 'has progressed when a cluster was updated',
      plan: planOf({ rollout: rollout({ outOfSync: 1, waitApplied: 1 }) }),
      after: 61,
      reason: 'RolloutProgressing',
    },
    {
      it: 'has progressed when a cluster became ready',
      plan: planOf({ rollout: rollout({ ready: 2, notReady: 0 }) }),
      after: 61,
      reason: 'RolloutProgressing',
    },
    {
      it: 'has not progressed when a cluster failed',
      plan: planOf({ rollout: rollout({ notReady: 0, errApplied: 1 }) }),
      after: 61,
      reason: 'ProgressDeadlineExceeded',
    },
    {
      it: 'begins again with another revision',
      plan: planOf(),
      after: 61,
      revision: '2',
      reason: 'RolloutProgressing',
    },
    {
      it: 'is not stalled while it is paused',
      plan: planOf({ rollout: rollout({ paused: true }), holds: { c3: holdOf('Paused'), c4: holdOf('Paused') } }),
      after: 600,
      reason: 'RolloutPaused',
    },
    { it: 'is not stalled when it is complete', plan: DONE, after: 600, reason: 'RolloutComplete' },
    {
      it: 'does not wait for clusters that are left out',
      plan: planOf({ stale: ['c4'], holds: { c4: holdOf('NoPartition') } }),
      after: 600,
      reason: 'RolloutComplete',
    },
  ])('$it', ({ plan, after, revision, reason }) => {
    expect(reasonOf(at(after, plan, before, revision))).toBe(reason);
  });

  test('a complete one is not stalled by a cluster that fails later, and is by an update that does not come', () => {
    const complete = at(10, DONE, before);
    const failedLater = planOf({ stale: [], holds: { c2: holdOf('NotAvailable') }, rollout: rollout({ ready: 3 }) });
    const later = at(1000, failedLater, complete);
    expect(reasonOf(later)).toBe('RolloutComplete');
    const waits = at(2000, planOf(), later);
    expect(reasonOf(waits)).toBe('RolloutProgressing');
    expect(reasonOf(at(2061, planOf(), waits))).toBe('ProgressDeadlineExceeded');
  });

  test('a resumed one has its whole deadline again', () => {
    const paused = at(30, planOf({ rollout: rollout({ paused: true }) }), before);
    const resumed = at(500, planOf(), paused);
    expect(reasonOf(resumed)).toBe('RolloutProgressing');
    expect(resumed.rollout?.lastProgressTime).toBe(kubeTime(START + 500_000));
  });

  test('is looked at again when the deadline ends, and only while it counts', () => {
    expect(nextStall(before, DEADLINE)).toBe(START + 61_000);
    expect(nextStall(at(61, planOf(), before), DEADLINE)).toBe(Number.POSITIVE_INFINITY);
    expect(nextStall(at(61, DONE, before), DEADLINE)).toBe(Number.POSITIVE_INFINITY);
  });

  test('without one there is no condition', () => {
    const input = { previous: before, revision: '1', plan: planOf(), generation: 1, now: START };
    expect(progressOf({ ...input, deadlineSeconds: undefined })).toBeUndefined();
    expect(progressOf({ ...input, deadlineSeconds: 0 })).toBeUndefined();
  });
});
