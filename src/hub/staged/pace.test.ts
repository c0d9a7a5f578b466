import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { StagedUpdateRunStatus } from '../../api/staged-update-run.ts';
import { createRunPace, isTurn } from './pace.ts';
import { NOW } from './run.testing.ts';

const said = (type: string, status: 'True' | 'False', reason = 'r', message = '') => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: '2026-01-01T00:00:00Z',
});

describe('the pace of a run', () => {
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

  test('gathers progress for 100 ms, and lets turns through', () => {
    const pace = createRunPace();
    expect(pace.seen('r', undefined, NOW)).toEqual({ progress: NOW, turn: NOW });
    expect(pace.seen('r', base, NOW + 10)).toEqual({ progress: NOW + 110, turn: NOW + 10 });
    expect(pace.seen('r', base, NOW + 60)).toEqual({ progress: NOW + 110, turn: NOW + 60 });
    // A clock that was set back.
    expect(pace.seen('r', base, NOW - 5000)).toEqual({ progress: NOW - 4900, turn: NOW - 5000 });
    pace.forget('r');
    expect(pace.size).toBe(0);
  });

  test('is never more than ten writes within a second, and nothing waits longer than one', () => {
    const anyWish = fc.record({ afterMs: fc.integer({ min: 0, max: 150 }), isTurn: fc.boolean() });
    fc.assert(
      fc.property(fc.array(anyWish, { maxLength: 80 }), (wishes) => {
        const pace = createRunPace();
        const writes: number[] = [];
        let now = NOW;
        for (const [at, wish] of wishes.entries()) {
          now += wish.afterMs;
          const status: StagedUpdateRunStatus = { resourceSnapshotIndexUsed: String(writes.length) };
          const due = pace.seen('r', status, now)[wish.isTurn ? 'turn' : 'progress'];
          expect(due - now).toBeLessThanOrEqual(1000);
          if (!wish.isTurn) expect(due - (writes.at(-1) ?? 0)).toBeGreaterThanOrEqual(Math.min(100, now));
          now = Math.max(now, due);
          pace.seen('r', status, now);
          pace.seen('r', { resourceSnapshotIndexUsed: String(writes.push(now)) }, now);
          expect(at).toBeLessThan(wishes.length);
        }
        for (const [at, time] of writes.entries())
          expect((writes[at + 10] ?? time + 1000) - time).toBeGreaterThanOrEqual(1000);
      }),
    );
  });
});
