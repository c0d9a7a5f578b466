import { describe, expect, test } from 'vitest';
import type { StagedUpdateRun, StagedUpdateRunStatus } from '../../api/staged-update-run.ts';
import { type Asked, gateAsked, gateOf, whyNotAsked } from './which-gate.ts';

const condition = (type: string, status: string, message = '') => ({
  type,
  status,
  message,
  reason: 'R',
  lastTransitionTime: '2026-01-01T00:00:00Z',
});
const gate = (approvalRequestName: string, isOpen = false) => ({
  type: 'Approval',
  approvalRequestName,
  conditions: isOpen ? [condition('ApprovalRequestApproved', 'True')] : [],
});
const run = (status: object | undefined, state = 'Run'): StagedUpdateRun =>
  ({
    apiVersion: 'placement.kubernetes-fleet.io/v1beta1',
    kind: 'ClusterStagedUpdateRun',
    metadata: { name: 'r' },
    spec: { placementName: 'web', stagedRolloutStrategyName: 's', state },
    ...(status === undefined ? {} : { status: status as StagedUpdateRunStatus }),
  }) as StagedUpdateRun;

const STAGES = {
  stagesStatus: [
    { stageName: 'none', clusters: [], afterStageTaskStatus: [{ type: 'TimedWait' }] },
    { stageName: 'first', clusters: [], beforeStageTaskStatus: [gate('b')] },
    { stageName: 'last', clusters: [], afterStageTaskStatus: [{ type: 'TimedWait' }, gate('a')] },
    { stageName: 'both', clusters: [], beforeStageTaskStatus: [gate('b')], afterStageTaskStatus: [gate('a')] },
    { stageName: 'half', clusters: [], beforeStageTaskStatus: [gate('b', true)], afterStageTaskStatus: [gate('a')] },
    {
      stageName: 'done',
      clusters: [],
      beforeStageTaskStatus: [gate('b', true)],
      afterStageTaskStatus: [gate('a', true)],
    },
  ],
};

describe('the gate that is meant', () => {
  test.each<{ it: string; asked: Asked; is: string }>([
    { it: 'is the only one', asked: { stage: 'first' }, is: 'before b' },
    { it: 'is the only one, beside a wait', asked: { stage: 'last' }, is: 'after a' },
    { it: 'is the first of two that are closed', asked: { stage: 'both' }, is: 'before b' },
    { it: 'is the closed one', asked: { stage: 'half' }, is: 'after a' },
    { it: 'is the last of two that are open', asked: { stage: 'done' }, is: 'after a, open' },
    { it: 'is the one before that is asked for', asked: { stage: 'half', when: 'before' }, is: 'before b, open' },
    { it: 'is the one after that is asked for', asked: { stage: 'both', when: 'after' }, is: 'after a' },
  ])('$it', ({ asked, is }) => {
    const { when, request, isOpen } = gateOf(run(STAGES), 'run "r"', asked);
    expect(`${when} ${request}${isOpen ? ', open' : ''}`).toBe(is);
  });

  test.each<{ it: string; asked: Asked; status?: object; says: string }>([
    {
      it: 'the stage is none',
      asked: { stage: 'canary' },
      status: STAGES,
      says: 'run "r" has no stage "canary" (its stages: none, first, last, both, half, done)',
    },
    {
      it: 'the stage has no gate',
      asked: { stage: 'none' },
      status: STAGES,
      says: 'stage "none" of run "r" asks for no approval',
    },
    {
      it: 'the gate is on the other side',
      asked: { stage: 'first', when: 'after' },
      status: STAGES,
      says: 'stage "first" of run "r" asks for no approval after it; it asks for one before it: --before',
    },
    {
      it: 'nobody has looked at the run',
      asked: { stage: 'first' },
      says: 'run "r" has no stages yet: the hub has not processed it',
    },
    {
      it: 'the run could not begin',
      asked: { stage: 'first' },
      status: { conditions: [condition('Initialized', 'False', 'no such strategy')] },
      says: 'run "r" has no stages yet: no such strategy',
    },
  ])('is told of when $it', ({ asked, status, says }) => {
    expect(() => gateOf(run(status), 'run "r"', asked)).toThrow(says);
  });
});

test.each<{ it: string; of: StagedUpdateRun; is: string }>([
  { it: 'has not been started', of: run(STAGES, 'Initialize'), is: 'it is not started; set spec.state to Run' },
  { it: 'has not begun', of: run(STAGES), is: 'it has not begun' },
  {
    it: 'is under way',
    of: run({ conditions: [condition('Progressing', 'True', 'stage "canary" is under way')] }),
    is: 'stage "canary" is under way',
  },
  {
    it: 'is over',
    of: run({
      conditions: [condition('Progressing', 'False', 'x'), condition('Succeeded', 'False', 'a cluster left')],
    }),
    is: 'it has ended: a cluster left',
  },
])('a run that $it says so', ({ of, is }) => {
  expect(whyNotAsked(of)).toBe(is);
});

describe('the gate that is meant without a stage', () => {
  const asked = (name: string) => ({ ...gate(name), conditions: [condition('ApprovalRequestCreated', 'True')] });
  const stage = (stageName: string, before: object[], after: object[] = []) => ({
    stageName,
    clusters: [],
    beforeStageTaskStatus: before,
    afterStageTaskStatus: after,
  });
  const opened = {
    ...gate('o'),
    conditions: [condition('ApprovalRequestCreated', 'True'), condition('ApprovalRequestApproved', 'True')],
  };
  const waits = [condition('Progressing', 'False', 'a wait is not over')];

  test('is the only one that waits for a person', () => {
    const stagesStatus = [stage('one', [opened]), stage('two', [opened], [asked('a')]), stage('three', [gate('b')])];
    expect(gateAsked(run({ stagesStatus }), 'run "r"')).toEqual({ stage: 'two', when: 'after' });
  });

  test('is the only one on the side that is asked for', () => {
    const stagesStatus = [stage('one', [asked('b')]), stage('two', [], [asked('a')])];
    expect(gateAsked(run({ stagesStatus }), 'run "r"', 'before')).toEqual({ stage: 'one', when: 'before' });
  });

  test.each<{ it: string; status?: object; says: string }>([
    {
      it: 'several wait',
      status: { stagesStatus: [stage('one', [asked('b')]), stage('two', [], [asked('a')])] },
      says: 'name one with --stage: 2 gates of run "r" wait for an approval: --stage one --before, --stage two --after',
    },
    {
      it: 'none waits yet',
      status: { stagesStatus: [stage('one', [opened], [gate('a')]), stage('two', [gate('b')])], conditions: waits },
      says: 'no gate of run "r" waits for an approval now: a wait is not over; those still to come: --stage one --after, --stage two --before',
    },
    {
      it: 'the run is over',
      status: {
        stagesStatus: [stage('one', [asked('b')])],
        conditions: [condition('Succeeded', 'False', 'it failed')],
      },
      says: 'no gate of run "r" waits for an approval now: it has ended: it failed',
    },
    { it: 'there are no stages yet', says: 'run "r" has no stages yet: the hub has not processed it' },
  ])('is not known where $it', ({ status, says }) => {
    expect(() => gateAsked(run(status), 'run "r"')).toThrow(says);
  });
});
