// Which writes are made, and in which order.
import { describe, expect, test } from 'vitest';
import type { StagedUpdateRunStatus } from '../../api/staged-update-run.ts';
import type { Action } from '../../runtime/controller.ts';
import type { HubApprovalRequest } from '../staged-sources.ts';
import { decide } from './decide.ts';
import type { Observed } from './observed.ts';
import { APPLY, aBinding, aRun, NOW, observe, onRevision, statusIn } from './run.testing.ts';

/** A short description of an action. */
function told(action: Action): string {
  switch (action.do) {
    case 'create':
      return `create ${action.resource.kind} ${action.object.metadata.name}`;
    case 'json-patch':
      return `patch ${action.of.resource.kind} ${action.of.name}`;
    case 'patch': {
      const isSure = Object.keys(action.merge as object).length === 0;
      return `${isSure ? 'assertUnchanged' : 'patch'} ${action.of.resource.kind} ${action.of.name}${action.subresource === undefined ? '' : ' status'}`;
    }
    case 'delete':
      return `delete ${action.of.resource.kind} ${action.of.name}`;
    case 'event':
      return `tell ${action.reason}`;
  }
}
const shown = (observed: Observed) => decide(observed).steps.map((step) => step.map(told));

/** The run after its first status write. */
function recorded(more: Partial<Observed> = {}): Observed {
  const status = statusIn(decide(observe(more))) as StagedUpdateRunStatus;
  return observe({
    ...more,
    run: aRun({ ...more.run?.spec }, { conditions: status.conditions, hasBegun: true }),
    status,
  });
}

describe('a run', () => {
  test('is held before anything else', () => {
    const run = aRun({}, { metadata: { name: 'r', uid: 'u', resourceVersion: '1', finalizers: ['x'] } });
    const [[action]] = decide(observe({ run })).steps as readonly [readonly [Action]];
    expect(action).toMatchObject({
      do: 'patch',
      merge: { metadata: { finalizers: ['x', 'kubernetes-fleet.io/stagedupdaterun-finalizer'] } },
    });
  });

  test('that begins says so, and that it is under way, in one write', () => {
    expect(shown(observe())).toEqual([
      ['patch ClusterStagedUpdateRun r status'],
      ['tell UpdateRunInitializedSuccessfully', 'tell UpdateRunStarted'],
    ]);
  });

  test('is assertUnchangeded before a cluster moves', () => {
    const observed = recorded();
    expect(shown(observed)).toEqual([
      ['assertUnchanged ClusterStagedUpdateRun r'],
      ['patch ClusterResourceBinding web-a'],
    ]);
    expect(decide(observed).steps[1]).toMatchObject([
      {
        merge: {
          spec: {
            state: 'Bound',
            resourceSnapshotName: 'web-0-snapshot',
            clusterResourceOverrideSnapshots: null,
            resourceOverrideSnapshots: null,
            applyStrategy: APPLY,
          },
        },
      },
    ]);
  });

  test('tells the member next, of the generation that it sees', () => {
    const told_ = onRevision('a', '0');
    const untold = { ...told_, conditions: [{ ...told_.conditions[0], observedGeneration: 1 }] } as typeof told_;
    const observed = recorded({ bindings: [untold, aBinding('b'), aBinding('c')] });
    expect(shown(observed)).toEqual([
      ['assertUnchanged ClusterStagedUpdateRun r'],
      ['patch ClusterResourceBinding web-a status'],
    ]);
    expect(decide(observed).steps[1]).toMatchObject([
      {
        merge: {
          status: {
            conditions: [
              {
                type: 'RolloutStarted',
                status: 'True',
                reason: 'RolloutStarted',
                observedGeneration: 2,
                message: expect.stringContaining('resourceSnapshotIndex: 0, clusterStagedUpdateRun: r'),
              },
            ],
          },
        },
      },
    ]);
  });

  test('tells that a stage is done before it moves a cluster of the next', () => {
    const observed = recorded();
    const moved = { ...observed, bindings: [onRevision('a', '0', 'available'), aBinding('b'), aBinding('c')] };
    expect(shown(moved)).toEqual([['patch ClusterStagedUpdateRun r status'], ['tell StageUpdatingSucceeded']]);
  });

  const oneIsDone = (
    bindings = [onRevision('a', '0', 'available'), onRevision('b', '0', 'available'), aBinding('c')],
  ) => ({
    ...recorded({ bindings: [onRevision('a', '0', 'available'), aBinding('b'), aBinding('c')] }),
    bindings,
  });

  test('moves a cluster and tells its member at once, and says so after that', () => {
    expect(shown(oneIsDone())).toEqual([
      ['assertUnchanged ClusterStagedUpdateRun r'],
      ['patch ClusterResourceBinding web-c'],
    ]);
    expect(decide(oneIsDone()).again).toBe('at once');
    const told = oneIsDone([
      onRevision('a', '0', 'available'),
      onRevision('b', '0', 'available'),
      { ...onRevision('c', '0'), conditions: [] },
    ]);
    const next = [
      ['assertUnchanged ClusterStagedUpdateRun r'],
      ['patch ClusterResourceBinding web-c status'],
      ['patch ClusterStagedUpdateRun r status'],
    ];
    expect(shown(told)).toEqual(next);
    expect(shown({ ...told, statusDue: NOW + 60 })).toEqual(next.slice(0, 2));
    expect(decide({ ...told, statusDue: NOW + 60 }).coalesceUntil).toBe(NOW + 60);
  });

  test('which may not move a cluster says so', () => {
    const refused = { ...oneIsDone(), failure: { message: 'no', reason: 'Forbidden' } };
    expect(shown(refused)).toEqual([
      ['assertUnchanged ClusterStagedUpdateRun r'],
      ['patch ClusterResourceBinding web-c'],
      ['patch ClusterStagedUpdateRun r status'],
    ]);
  });

  test('of which nothing new is to be said writes nothing, and is looked at when a cluster would be stuck', () => {
    const bindings = [onRevision('a', '0', 'failed'), aBinding('b'), aBinding('c')];
    const decision = decide(recorded({ bindings }));
    expect(decision).toMatchObject({ steps: [], wakeAt: NOW + 300_000 });
    expect(decision.coalesceUntil).toBeUndefined();
  });

  test('that is stopped writes no binding', () => {
    const observed = recorded();
    expect(
      shown({ ...observed, run: aRun({ state: 'Stop' }, { conditions: observed.run.conditions, hasBegun: true }) }),
    ).toEqual([['patch ClusterStagedUpdateRun r status'], ['tell UpdateRunStopped']]);
  });

  test('that is deleted takes its requests along, and leaves bindings alone', () => {
    const request = { metadata: { name: 'r-after-first', uid: 'q', resourceVersion: '1' } } as HubApprovalRequest;
    const gone = { metadata: { name: 'r-after-rest', deletionTimestamp: 'now' } } as HubApprovalRequest;
    const run = aRun({}, { metadata: { ...aRun().metadata, deletionTimestamp: 'now' } });
    expect(shown(observe({ run, requests: [request, gone] }))).toEqual([
      ['delete ClusterApprovalRequest r-after-first'],
      ['patch ClusterStagedUpdateRun r'],
    ]);
  });

  test('that is over only follows its generation', () => {
    const bindings = ['a', 'b', 'c'].map((cluster) => onRevision(cluster, '0', 'available'));
    const observed = recorded({ bindings });
    expect(shown(observed)).toEqual([]);
    const edited = { ...observed, run: { ...observed.run, metadata: { ...observed.run.metadata, generation: 5 } } };
    expect(shown(edited)).toEqual([['patch ClusterStagedUpdateRun r status']]);
  });
});

test('what was refused is a hold as long as there is something to do', () => {
  const failure = { message: 'no rights', reason: 'Forbidden' };
  expect(decide({ ...recorded(), failure }).holds[0]).toMatchObject({
    code: 'StepRefused',
    facts: { message: 'no rights' },
  });
  const bindings = ['a', 'b', 'c'].map((cluster) => onRevision(cluster, '0', 'available'));
  expect(decide({ ...recorded({ bindings }), failure }).holds).toEqual([]);
});

test('a run that is to stop says so while nobody can tell what is under way, and one that has stopped stays so', () => {
  const status = (observed: Observed) => statusIn(decide(observed));
  const begun = recorded();
  const held = {
    policySnapshots: [],
    run: aRun({ state: 'Stop' }, { conditions: begun.run.conditions, hasBegun: true }),
  };
  const stopping = { type: 'Progressing', status: 'Unknown', reason: 'UpdateRunStopping' };
  expect(status({ ...begun, ...held })?.conditions).toContainEqual(expect.objectContaining(stopping));
  expect(decide({ ...begun, ...held }).holds).toMatchObject([{ code: 'SchedulingPending' }]);
  const conditions = (begun.status?.conditions ?? []).map((each) =>
    each.type === 'Progressing' ? { ...each, status: 'False' as const, reason: 'UpdateRunStopped' } : each,
  );
  const stopped = { ...begun, ...held, status: { ...begun.status, conditions } };
  expect(status(stopped)?.conditions ?? []).not.toContainEqual(expect.objectContaining(stopping));
});

describe('that it is initialized a run says together with how it is started', () => {
  const prepared = recorded({ run: aRun({ state: 'Initialize' }) });
  const initialized = (observed: Observed) =>
    statusIn(decide(observed))?.conditions?.find(({ type }) => type === 'Initialized');
  const HOW = `it starts when spec.state becomes Run: kubectl patch clusterstagedupdateruns r --type merge -p '{"spec":{"state":"Run"}}'`;
  const to = (state: 'Run' | 'Stop', more: Partial<Observed> = {}): Observed => {
    const run = aRun({ state }, { conditions: prepared.run.conditions });
    return { ...prepared, now: NOW + 60_000, ...more, run: { ...run, metadata: { ...run.metadata, generation: 2 } } };
  };

  test('as long as it is not', () => {
    expect(prepared.status?.conditions).toMatchObject([
      { type: 'Initialized', message: `ClusterStagedUpdateRun "r" is initialized with revision 0; ${HOW}` },
    ]);
  });

  test.each([
    { it: 'not once it is started', observed: to('Run') },
    { it: 'not once it is to stop', observed: to('Stop') },
    {
      it: 'not once it is held after its start',
      observed: to('Run', { policySnapshots: [] }),
    },
    {
      it: 'not once it has ended before its start',
      observed: { ...prepared, placement: undefined },
    },
  ])('$it', ({ observed }) => {
    expect(initialized(observed)).toMatchObject({
      status: 'True',
      reason: 'UpdateRunInitializedSuccessfully',
      message: 'ClusterStagedUpdateRun "r" is initialized with revision 0',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    });
  });
});

describe('a run whose cluster has been given something else', () => {
  const over = [{ type: 'Succeeded', status: 'True' as const, reason: 'r', message: '', lastTransitionTime: '' }];
  const other = (name: string, resourceIndex: string, more: object = {}, at = '2026-01-01T00:00:00Z') => {
    const run = aRun({}, { hasBegun: true, resourceIndex, ...more }, name);
    return { ...run, metadata: { ...run.metadata, creationTimestamp: at } };
  };

  test.each([
    {
      it: 'names the run that brings it',
      others: [other('o', '1')],
      says: 'ClusterStagedUpdateRun "o", with revision 1',
    },
    {
      it: 'names the one that is not over of several',
      others: [other('new', '1', { conditions: over }, '2026-01-02T00:00:00Z'), other('o', '1')],
      says: 'ClusterStagedUpdateRun "o", with revision 1',
    },
    {
      it: 'names the newest of those that are over',
      others: [other('o', '1', { conditions: over }), other('new', '1', { conditions: over }, '2026-01-02T00:00:00Z')],
      says: 'ClusterStagedUpdateRun "new", with revision 1',
    },
    {
      it: 'names none that was over before it was made',
      others: [other('o', '1', { conditions: over }, '2025-12-31T00:00:00Z')],
      says: 'another run, or an edit of its binding',
    },
    {
      it: 'names none that is about something else, or has moved nothing',
      others: [other('o', '2'), other('p', '1', { hasBegun: false })],
      says: 'another run, or an edit of its binding',
    },
  ])('$it', ({ others, says }) => {
    const begun = recorded();
    const given = decide({ ...begun, bindings: [onRevision('a', '0'), aBinding('b'), aBinding('c')] });
    const status = { ...begun.status, ...statusIn(given) } as StagedUpdateRunStatus;
    const taken = [onRevision('a', '1'), aBinding('b'), aBinding('c')];
    const { metadata } = begun.run;
    const run = { ...begun.run, metadata: { ...metadata, creationTimestamp: '2025-12-31T12:00:00Z' } };
    const failed = statusIn(decide({ ...begun, run, status, bindings: taken, others }));
    expect(failed?.conditions?.find(({ type }) => type === 'Succeeded')?.message).toBe(
      `failed to process the request due to a client error: another client has changed the desired state of cluster "a": ${says}`,
    );
  });
});
