import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { StagedUpdateRunStatus } from '../../api/staged-update-run.ts';
import { dueAt, newThrottle, sawDone, type Throttle } from '../../runtime/due.ts';
import { NOW } from './run.testing.ts';
import { isTurn, PROGRESS_WRITES, TURN_WRITES } from './status-rule.ts';

const said = (type: string, status: 'True' | 'False', reason = 'r', message = '') => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: '2026-01-01T00:00:00Z',
});

function dueOf(writes: Throttle, status: StagedUpdateRunStatus | undefined, now: number) {
  sawDone(writes, PROGRESS_WRITES, status, now);
  return { progress: dueAt(writes, PROGRESS_WRITES, now), turn: dueAt(writes, TURN_WRITES, now) };
}

describe('how often the status of a run is written', () => {
  const started = [said('Started', 'True')];
  const base: StagedUpdateRunStatus = {
    conditions: [said('Progressing', 'True', 'UpdateRunProgressing', 'a is under way')],
    stagesStatus: [{ stageName: 'first', clusters: [{ clusterName: 'a' }], conditions: [said('Progressing', 'True')] }],
  };
  const [stage] = base.stagesStatus as [NonNullable<StagedUpdateRunStatus['stagesStatus']>[number]];

  test.each<[string, StagedUpdateRunStatus | undefined, StagedUpdateRunStatus, boolean]>([
    ['its first word', undefined, base, true],
    [
      'a cluster that moves',
      base,
      { ...base, stagesStatus: [{ ...stage, clusters: [{ clusterName: 'a', conditions: started }] }] },
      false,
    ],
    [
      'another message',
      base,
      { ...base, conditions: [said('Progressing', 'True', 'UpdateRunProgressing', 'b')] },
      false,
    ],
    ['another reason', base, { ...base, conditions: [said('Progressing', 'True', 'UpdateRunStuck')] }, true],
    [
      'a stage that is done',
      base,
      { ...base, stagesStatus: [{ ...stage, conditions: [said('Succeeded', 'True')] }] },
      true,
    ],
    [
      'a gate that is open',
      base,
      { ...base, stagesStatus: [{ ...stage, afterStageTaskStatus: [{ type: 'Approval', conditions: started }] }] },
      true,
    ],
    [
      'a removal that begins',
      base,
      { ...base, deletionStageStatus: { stageName: 'deletion', clusters: [], conditions: started } },
      true,
    ],
  ])('knows whether it is a turn: %s', (_name, before, after, is) => {
    expect(isTurn(before, after)).toBe(is);
  });

  test('coalesces progress for 100 ms, and lets turns through', () => {
    const writes = newThrottle();
    expect(dueOf(writes, undefined, NOW)).toEqual({ progress: NOW, turn: NOW });
    expect(dueOf(writes, base, NOW + 10)).toEqual({ progress: NOW + 110, turn: NOW + 10 });
    expect(dueOf(writes, base, NOW + 60)).toEqual({ progress: NOW + 110, turn: NOW + 60 });
    // The clock was set back.
    expect(dueOf(writes, base, NOW - 5000)).toEqual({ progress: NOW - 4900, turn: NOW - 5000 });
  });

  test('is never more than ten writes within a second, and nothing waits longer than one', () => {
    const anyWish = fc.record({ afterMs: fc.integer({ min: 0, max: 150 }), isTurn: fc.boolean() });
    fc.assert(
      fc.property(fc.array(anyWish, { maxLength: 80 }), (wishes) => {
        const written = newThrottle();
        const writes: number[] = [];
        let now = NOW;
        for (const [at, wish] of wishes.entries()) {
          now += wish.afterMs;
          const status: StagedUpdateRunStatus = { resourceSnapshotIndexUsed: String(writes.length) };
          const due = dueOf(written, status, now)[wish.isTurn ? 'turn' : 'progress'];
          expect(due - now).toBeLessThanOrEqual(1000);
          if (!wish.isTurn) expect(due - (writes.at(-1) ?? 0)).toBeGreaterThanOrEqual(Math.min(100, now));
          now = Math.max(now, due);
          dueOf(written, status, now);
          dueOf(written, { resourceSnapshotIndexUsed: String(writes.push(now)) }, now);
          expect(at).toBeLessThan(wishes.length);
        }
        for (const [at, time] of writes.entries())
          expect((writes[at + 10] ?? time + 1000) - time).toBeGreaterThanOrEqual(1000);
      }),
    );
  });
});
