import { describe, expect, test } from 'vitest';
import { BEFORE } from '../placement.testing.ts';
import {
  approval,
  aRun,
  aStage,
  askedByR,
  DONE,
  INITIALIZED,
  inRun,
  onCluster,
  onRun,
  type RunParts,
  SKIPPED,
  STARTED,
  said,
} from '../staged-run.testing.ts';
import { runProgressOf } from './run-progress.ts';

const at = Date.parse(BEFORE);
const progressOf = (parts: RunParts, ...requests: ReturnType<typeof askedByR>[]) =>
  runProgressOf(aRun(parts), new Map(requests.map((each) => [each.metadata.name ?? '', each])));

describe('how far a run is', () => {
  test.each<{ phase: string; parts: RunParts; isOver?: boolean }>([
    { phase: 'New', parts: {} },
    { phase: 'Initializing', parts: { says: 'Initialized:Unknown:UpdateRunInitializationPending' } },
    { phase: 'Failed', parts: { says: 'Initialized:False:UpdateRunInitializedFailed' }, isOver: true },
    { phase: 'Prepared', parts: { says: INITIALIZED, state: 'Initialize' } },
    { phase: 'Starting', parts: { says: INITIALIZED } },
    { phase: 'Running', parts: { says: `${INITIALIZED} Progressing:True:UpdateRunProgressing` } },
    { phase: 'Waiting', parts: { says: `${INITIALIZED} Progressing:False:UpdateRunWaiting` } },
    { phase: 'Stuck', parts: { says: `${INITIALIZED} Progressing:False:UpdateRunStuck` } },
    { phase: 'Stopping', parts: { says: `${INITIALIZED} Progressing:Unknown:UpdateRunStopping` } },
    { phase: 'Stopped', parts: { says: `${INITIALIZED} Progressing:False:UpdateRunStopped` } },
    { phase: 'Running', parts: { says: `${INITIALIZED} Progressing:True:constructor` } },
    {
      phase: 'Succeeded',
      parts: { says: `${INITIALIZED} Progressing:False:UpdateRunSucceeded Succeeded:True:UpdateRunSucceeded` },
      isOver: true,
    },
    {
      phase: 'Failed',
      parts: { says: `${INITIALIZED} Progressing:False:UpdateRunFailed Succeeded:False:UpdateRunFailed` },
      isOver: true,
    },
    { phase: 'Deleting', parts: { says: INITIALIZED, metadata: { deletionTimestamp: BEFORE } } },
  ])('is $phase with $parts.says', ({ phase, parts, isOver = false }) => {
    expect(progressOf({ ...parts, message: 'so it is' })).toMatchObject({ phase, isOver });
  });

  test('tells what the furthest condition says, and of which generation', () => {
    const parts = { says: `${INITIALIZED} Progressing:False:UpdateRunStuck`, message: 'cluster "a" hangs' };
    expect(progressOf(parts)).toMatchObject({ says: 'cluster "a" hangs' });
    expect(progressOf(parts)).not.toHaveProperty('outdated');
    expect(progressOf({ ...parts, metadata: { generation: 3 } }).outdated).toEqual({ generation: 3, observed: 1 });
  });

  test('counts clusters that get it, and names the last stage only if there is somebody in it', () => {
    const stages = [
      aStage('one', 'Progressing:False:StageUpdatingSucceeded Succeeded:True:StageUpdatingSucceeded', [
        inRun('a', DONE),
        inRun('b', SKIPPED, 'the run continues without the cluster: it has left the fleet'),
      ]),
      aStage('two', 'Progressing:True:StageUpdatingStarted', [inRun('c', STARTED), inRun('d')]),
      aStage('none', 'Progressing:False:X Succeeded:True:StageUpdatingSkippedNoClusters', []),
      aStage('three', '', [inRun('e')]),
    ];
    const removal = aStage('kubernetes-fleet.io/deleteStage', '', [inRun('z')]);
    const holds = [onCluster('NotAvailable', 'c'), onCluster('ConcurrencyUsed', 'c', { clusters: ['d'] })];
    const found = progressOf({ says: INITIALIZED, stages, removal, holds });
    expect(found).toMatchObject({ done: 1, skipped: 1, total: 5 });
    expect(found.stages.map(({ stage, state, removes }) => [stage, state, removes])).toEqual([
      ['one', 'Done', false],
      ['two', 'Updating', false],
      ['none', 'Empty', false],
      ['three', 'Pending', false],
      ['deletion', 'Pending', true],
    ]);
    expect(found.stages.flatMap(({ clusters }) => clusters.map(({ cluster, state }) => [cluster, state]))).toEqual([
      ['a', 'Done'],
      ['b', 'Skipped'],
      ['c', 'Updating'],
      ['d', 'Pending'],
      ['e', 'Pending'],
      ['z', 'Pending'],
    ]);
    const messages = found.stages.flatMap(({ clusters }) => clusters.map(({ message }) => message));
    expect(messages.filter((each) => each !== '')).toEqual([
      'the run continues without the cluster: it has left the fleet',
      'MemberCluster "c" is not available yet (in progress)',
    ]);
    expect(progressOf({ says: INITIALIZED, stages }).stages).toHaveLength(4);
  });

  test('shows a cluster that nobody hears as such, started or not', () => {
    const stages = [aStage('one', 'Progressing:True:StageUpdatingStarted', [inRun('a'), inRun('b', STARTED)])];
    const holds = [onCluster('Unreachable', 'a'), onCluster('Unreachable', 'b')];
    const [stage] = progressOf({ says: INITIALIZED, stages, holds }).stages;
    expect(stage?.clusters.map(({ state }) => state)).toEqual(['Unreachable', 'Unreachable']);
  });

  test.each([
    { reason: 'Unknown:UpdateRunStopping', is: 'Updating' },
    { reason: 'False:UpdateRunStopped', is: 'Stopped' },
  ])('shows a cluster that did not come up as $is, of a run with Progressing $reason', ({ reason, is }) => {
    const stages = [aStage('one', '', [inRun('a'), inRun('b', STARTED), inRun('c', DONE)])];
    const [stage] = progressOf({ says: `${INITIALIZED} Progressing:${reason}`, state: 'Stop', stages }).stages;
    expect(stage?.clusters.map(({ state }) => state)).toEqual(['Pending', is, 'Done']);
  });

  test('leaves out of what the hub says the words that only programs need', () => {
    const message = 'failed to process the request due to a client error: it was not to be';
    expect(progressOf({ says: `${INITIALIZED} Succeeded:False:UpdateRunFailed`, message }).says).toBe(
      'it was not to be',
    );
  });

  const APPROVED = 'ApprovalRequestCreated ApprovalRequestApproved';
  const signed = { approval: { user: 'ann', time: '2026-01-01T11:50:00Z', generation: 1 } };
  test.each([
    { it: 'that nobody was asked for', task: approval('q'), request: undefined, gate: { state: 'Pending' } },
    {
      it: 'that a person is asked for',
      task: approval('q', 'ApprovalRequestCreated'),
      request: askedByR('q', 'one'),
      gate: { state: 'AwaitingApproval' },
    },
    {
      it: 'whose request may not be read',
      task: approval('q', 'ApprovalRequestCreated'),
      request: undefined,
      gate: { state: 'AwaitingApproval' },
    },
    {
      it: 'with an approval that does not count',
      task: approval('q', 'ApprovalRequestCreated'),
      request: askedByR('q', 'one', {
        status: {
          conditions: [...said('Approved', '', 7), ...said('ApprovalAccepted:False', 'approve again with 1')],
        },
      }),
      gate: { state: 'AwaitingApproval', hint: 'approve again with 1' },
    },
    {
      it: 'that is approved and not taken yet',
      task: approval('q', 'ApprovalRequestCreated'),
      request: askedByR('q', 'one', { status: { ...signed, conditions: said('Approved') } }),
      gate: { state: 'Approved', by: 'ann', at: Date.parse(signed.approval.time) },
    },
    {
      it: 'that was opened',
      task: approval('q', APPROVED),
      request: askedByR('q', 'one', { status: { ...signed, conditions: said('Approved ApprovalAccepted') } }),
      gate: { state: 'Open', by: 'ann', at: Date.parse(signed.approval.time) },
    },
    {
      it: 'that was opened with a word of the person',
      task: approval('q', APPROVED),
      request: askedByR('q', 'one', { status: { ...signed, conditions: said('Approved', 'the numbers look good') } }),
      gate: { state: 'Open', by: 'ann', at: Date.parse(signed.approval.time), message: 'the numbers look good' },
    },
    {
      it: 'that was rejected',
      task: approval('q', 'ApprovalRequestCreated'),
      request: askedByR('q', 'one', {
        status: { conditions: said('Approved:False:ApprovalRequestRejected', 'rejected by "ann": no') },
      }),
      gate: { state: 'Rejected', hint: 'rejected by "ann": no' },
    },
    {
      it: 'that was opened by nobody knows whom',
      task: approval('q', APPROVED),
      request: askedByR('q', 'one', { status: { conditions: said('Approved ApprovalAccepted') } }),
      gate: { state: 'Open', at },
    },
    { it: 'whose request is gone', task: approval('q', APPROVED), request: undefined, gate: { state: 'Open', at } },
    {
      it: 'of whose name there is a request that another run of the name has asked for',
      task: approval('q'),
      request: askedByR('q', 'one', { owner: 'another', status: { ...signed, conditions: said('Approved') } }),
      gate: { state: 'Pending' },
    },
    {
      it: 'of whose name somebody has made a request by hand since',
      task: approval('q', APPROVED),
      request: askedByR('q', 'one', { owner: undefined, status: { ...signed, conditions: said('Approved') } }),
      gate: { state: 'Open', at },
    },
  ])('knows a gate $it', ({ task, request, gate }) => {
    const stages = [aStage('one', '', [inRun('a')], { afterStageTaskStatus: [task] })];
    const [stage] = progressOf({ says: INITIALIZED, stages }, ...(request === undefined ? [] : [request])).stages;
    expect(stage?.gates).toEqual([{ when: 'after', type: 'Approval', request: 'q', ...gate }]);
  });

  test.each([
    { it: 'that has failed', says: `${INITIALIZED} Succeeded:False:UpdateRunFailed` },
    { it: 'that has succeeded', says: `${INITIALIZED} Succeeded:True:UpdateRunSucceeded` },
    { it: 'that could not begin', says: 'Initialized:False:UpdateRunInitializedFailed' },
    {
      it: 'that goes on, of a stage without clusters',
      says: INITIALIZED,
      stage: 'Progressing:False:X Succeeded:True:StageUpdatingSkippedNoClusters',
    },
  ])('closes for good the gates of a run $it', ({ says, stage = '' }) => {
    const tasks = [approval('q', 'ApprovalRequestCreated'), approval('p'), { type: 'TimedWait' as const }];
    const stages = [aStage('one', stage, [], { afterStageTaskStatus: tasks })];
    const holds = [onRun('TimedWait', { facts: { stage: 'one' }, until: BEFORE })];
    const found = progressOf({ says, stages, holds }, askedByR('q', 'one')).stages[0]?.gates;
    expect(found).toEqual([
      { when: 'after', type: 'Approval', request: 'q', state: 'Closed' },
      { when: 'after', type: 'Approval', request: 'p', state: 'Closed' },
      { when: 'after', type: 'TimedWait', state: 'Closed' },
    ]);
  });

  test('shows the open stage of a failed run as failed, from when the run failed on', () => {
    const failed = '2026-01-01T11:58:00Z';
    const run = aRun({
      says: `${INITIALIZED} Progressing:False:UpdateRunFailed Succeeded:False:UpdateRunFailed`,
      stages: [
        aStage('one', 'Succeeded:True:StageUpdatingSucceeded', [inRun('a', DONE)], { endTime: BEFORE }),
        aStage('two', 'Progressing:False:StageUpdatingWaiting', [inRun('b', STARTED), inRun('c')]),
        aStage('three', '', [inRun('d')]),
      ],
    });
    for (const condition of run.status?.conditions ?? []) Object.assign(condition, { lastTransitionTime: failed });
    const { stages } = runProgressOf(run, new Map());
    expect(stages.map(({ stage, state, started, ended }) => [stage, state, started, ended])).toEqual([
      ['one', 'Done', at, at],
      ['two', 'Failed', at, Date.parse(failed)],
      ['three', 'Pending', undefined, undefined],
    ]);
    expect(stages[1]?.clusters.map(({ state }) => state)).toEqual(['Stopped', 'Pending']);
  });

  test('speaks of removal in the deletion stage', () => {
    const removal = aStage('kubernetes-fleet.io/deleteStage', 'Progressing:True:StageUpdatingStarted', [
      inRun('x', DONE),
      inRun('y', STARTED),
      inRun('z'),
    ]);
    const [stage] = progressOf({ says: INITIALIZED, stages: [], removal }).stages;
    expect(stage).toMatchObject({ state: 'Removing', done: 1, total: 3 });
    expect(stage?.clusters.map(({ state }) => state)).toEqual(['Removed', 'Removing', 'Pending']);
  });

  test.each([
    { it: 'has not come', text: '', holds: [], gate: { state: 'Pending' } },
    {
      it: 'goes on',
      text: '',
      holds: [onRun('TimedWait', { facts: { stage: 'one' }, until: BEFORE })],
      gate: { state: 'Waiting', until: at },
    },
    {
      it: 'is that of another stage',
      text: '',
      holds: [onRun('TimedWait', { facts: { stage: 'two' }, until: BEFORE })],
      gate: { state: 'Pending' },
    },
    { it: 'is over', text: 'WaitTimeElapsed', holds: [], gate: { state: 'Open', at } },
  ])('knows a wait that $it', ({ text, holds, gate }) => {
    const task = { type: 'TimedWait' as const, conditions: said(text) };
    const stages = [aStage('one', '', [inRun('a')], { afterStageTaskStatus: [task] })];
    const strategy = [{ name: 'one', afterStageTasks: [{ type: 'TimedWait', waitTime: '5s' }] }];
    const [stage] = progressOf({ says: INITIALIZED, stages, holds, strategy }).stages;
    expect(stage?.gates).toEqual([{ when: 'after', type: 'TimedWait', waitTime: '5s', ...gate }]);
  });
});
