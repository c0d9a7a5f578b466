import { describe, expect, test } from 'vitest';
import { NOW } from '../../insight/placement.testing.ts';
import { runProgressOf } from '../../insight/progress/run-progress.ts';
import {
  approval,
  aRun,
  aStage,
  askedByR,
  DONE,
  INITIALIZED,
  inRun,
  onRun,
  type RunParts,
  STARTED,
  said,
} from '../../insight/staged-run.testing.ts';
import { approveCommand, whichRun } from '../../insight/which-run.ts';
import { renderRun, renderRunChanges } from './render-run.ts';

const view = {
  now: NOW,
  more: 'flotilla why run/r',
  approve: (stage: string, when: 'before' | 'after') => approveCommand(whichRun('r'), stage, when),
};
const WAITING = 'Progressing:False:StageUpdatingWaiting';
const strategy = [{ name: 'one', afterStageTasks: [{ type: 'TimedWait', waitTime: '1h' }] }, { name: 'two' }];
const waiting: RunParts = {
  says: `${INITIALIZED} Progressing:False:UpdateRunWaiting`,
  message: 'stage "one" waits for approval of ClusterApprovalRequest "r-after-one"',
  strategy,
  stages: [
    aStage('one', WAITING, [inRun('a', DONE)], {
      afterStageTaskStatus: [approval('r-after-one', 'ApprovalRequestCreated'), { type: 'TimedWait' }],
    }),
    aStage('two', '', [inRun('b'), inRun('c')], { beforeStageTaskStatus: [approval('r-before-two')] }),
  ],
  holds: [onRun('TimedWait', { facts: { stage: 'one' }, until: '2026-01-01T12:55:00Z' })],
};
const signed = askedByR('r-after-one', 'one', {
  status: {
    conditions: said('Approved ApprovalAccepted'),
    approval: { user: 'ann', time: '2026-01-01T11:58:00Z', generation: 1 },
  },
});
const going: RunParts = {
  says: `${INITIALIZED} Progressing:True:UpdateRunProgressing`,
  message: 'stage "two": 0 of 2 clusters are done; under way: b',
  strategy,
  stages: [
    aStage('one', `${WAITING} Succeeded:True:StageUpdatingSucceeded`, [inRun('a', DONE)], {
      afterStageTaskStatus: [
        approval('r-after-one', 'ApprovalRequestCreated ApprovalRequestApproved'),
        { type: 'TimedWait', conditions: said('WaitTimeElapsed') },
      ],
      endTime: '2026-01-01T11:59:00Z',
    }),
    aStage('two', 'Progressing:True:StageUpdatingStarted', [inRun('b', STARTED), inRun('c')]),
  ],
};
const progress = (parts: RunParts, ...requests: (typeof signed)[]) =>
  runProgressOf(aRun(parts), new Map(requests.map((each) => [each.metadata.name ?? '', each])));

describe('a run', () => {
  test('is a headline, what it waits for, its stages, its gates and its clusters', () => {
    expect(renderRun(progress(waiting), view)).toBe(
      `
ClusterStagedUpdateRun "r", revision 1 of placement "web": waits, 1 of 3 clusters done
Waits: stage "one" waits for approval of ClusterApprovalRequest "r-after-one"

STAGE   STATE     DONE     TOOK
one     Waiting   1 of 1   5m
two     Pending   0 of 2   -

GATE         STATE              MESSAGE
after one    AwaitingApproval   waits for r-after-one: flotilla approve r --stage one --after
after one    Waiting            1h after the last cluster: ends in 55m, at 2026-01-01T12:55:00Z
before two   Pending            will request r-before-two

CLUSTER   STAGE   STATE     FOR   MESSAGE
a         one     Done      5m
b         two     Pending   -
c         two     Pending   -

Why: flotilla why run/r`.slice(1),
    );
  });

  test('has a bar for each stage on a terminal, and no more lines than fit', () => {
    const whole = renderRun(progress(waiting), { ...view, bar: 4 });
    expect(whole).toContain('one     Waiting   1 of 1   [####]   5m\ntwo     Pending   0 of 2   [----]   -');
    for (const rows of [8, 12, 16, 18]) {
      const lines = renderRun(progress(waiting), { ...view, bar: 4, rows }).split('\n');
      expect(lines.length).toBeLessThanOrEqual(rows);
      expect(lines.at(-1)).toBe('Why: flotilla why run/r');
    }
    expect(renderRun(progress(waiting), { ...view, rows: 16 })).toContain('… and 3 more clusters');
  });

  test('shows first who is under way, where there is no room for all', () => {
    const text = renderRun(progress(going), { ...view, rows: 16 });
    expect(text).toContain('b         two     Updating');
    expect(text).not.toContain('a         one     Done');
    expect(text).toContain('… and 2 more clusters');
  });

  test('says who approved', () => {
    expect(renderRun(progress(going, signed), view)).toContain(
      'after one   Open    approved by "ann" at 2026-01-01T11:58:00Z',
    );
    expect(renderRun(progress(going), view)).toContain(
      'after one   Open    approved by unknown at 2026-01-01T11:55:00Z',
    );
  });

  test('says that the hub has not seen it as it is', () => {
    const text = renderRun(progress({ ...going, metadata: { generation: 4 } }), view);
    expect(text).toContain('Generation 4 has not been processed yet; showing generation 1.');
    expect(renderRun(progress({}), view)).toContain('The hub has not processed it yet.');
  });

  test('lets nobody write on the terminal', () => {
    const evil = 'a\u001b[2J\nforged';
    const text = renderRun(
      progress({ ...going, message: evil, stages: [aStage(evil, 'Progressing:True:X', [inRun(evil, STARTED, evil)])] }),
      view,
    );
    expect(text).not.toContain('\u001b');
    expect(text.split('\n').filter((line) => line.startsWith('forged'))).toEqual([]);
  });
});

describe('line by line a run', () => {
  test('tells once how it stands, and then what is new', () => {
    const first = progress(waiting);
    expect(renderRunChanges(undefined, first, view)).toEqual([
      'one/a: Done',
      'stage one: Waiting (1 of 1 done)',
      'gate after one: AwaitingApproval (waits for r-after-one: flotilla approve r --stage one --after)',
      'gate after one: Waiting (1h after the last cluster: ends in 55m, at 2026-01-01T12:55:00Z)',
      'ClusterStagedUpdateRun "r", revision 1 of placement "web": waits, 1 of 3 clusters done',
      'Waits: stage "one" waits for approval of ClusterApprovalRequest "r-after-one"',
    ]);
    expect(renderRunChanges(first, progress(waiting), view)).toEqual([]);
    expect(renderRunChanges(first, progress(going, signed), view)).toEqual([
      'stage one: Waiting -> Done (1 of 1 done)',
      'gate after one: Open (approved by "ann" at 2026-01-01T11:58:00Z)',
      'gate after one: Open (1h have passed, at 2026-01-01T11:55:00Z)',
      'two/b: Pending -> Updating',
      'stage two: Pending -> Updating (0 of 2 done)',
      'ClusterStagedUpdateRun "r", revision 1 of placement "web": under way, 1 of 3 clusters done',
      'Now: stage "two": 0 of 2 clusters are done; under way: b',
    ]);
  });

  test('does not repeat itself for numbers alone', () => {
    const other = { ...going, message: 'stage "two": 0 of 2 clusters are done; under way: b, c' };
    expect(renderRunChanges(progress(going), progress(other), view)).toEqual([]);
  });
});
