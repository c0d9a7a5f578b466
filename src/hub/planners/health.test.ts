// How planners interpret the conditions of a binding.
import { describe, expect, test } from 'vitest';
import type { Condition } from '../../api/conditions.ts';
import type { HubBinding } from '../placement-sources.ts';
import { judge } from './health.ts';
import type { Health } from './planner.ts';

const STEPS = ['Overridden', 'WorkSynchronized', 'Applied', 'Available'];

/** `Available False NotAllWorkAreAvailable` sets that condition; all earlier steps are True. */
function conditionsFor(text: string, observedGeneration: number): readonly Condition[] {
  const [type = '', status = '', reason = ''] = text.split(' ');
  const at = STEPS.indexOf(type);
  const before = at < 0 ? [] : STEPS.slice(0, at);
  const lastTransitionTime = '2026-01-01T12:00:00Z';
  return [
    ...before.map(
      (each): Condition => ({
        type: each,
        status: 'True',
        reason: 'Yes',
        message: '',
        observedGeneration,
        lastTransitionTime,
      }),
    ),
    { type, status: status as Condition['status'], reason, message: 'so', observedGeneration, lastTransitionTime },
  ];
}

const failedWith = (reason: string): HubBinding['failedPlacements'] => [
  {
    version: 'v1',
    kind: 'Deployment',
    name: 'web',
    condition: { type: 'Available', status: 'False', reason, message: '', lastTransitionTime: '2026-01-01T12:00:00Z' },
  },
];

interface Case {
  readonly says: string;
  readonly generation?: number;
  readonly failed?: string;
  readonly is: Health;
}

describe('a binding', () => {
  test.each<Case>([
    { says: 'Available True AllWorkAreAvailable', is: 'available' },
    { says: 'Available True NotAllWorkAreAvailabilityTrackable', is: 'untracked' },
    { says: 'Available True AllWorkAreAvailable', generation: 1, is: 'unknown' },
    { says: 'Available False NotAllWorkAreAvailable', is: 'starting' },
    { says: 'Available False NotAllWorkAreAvailable', failed: 'ManifestNotAvailableYet', is: 'starting' },
    { says: 'Available False NotAllWorkAreAvailable', failed: 'Failed', is: 'failed' },
    { says: 'Applied False NotAllWorkHaveBeenApplied', failed: 'ManifestNotAvailableYet', is: 'failed' },
    { says: 'Applied False ApplyInProgress', is: 'progressing' },
    { says: 'WorkSynchronized False SyncWorkFailed', is: 'failed' },
    { says: 'Overridden False OverriddenFailed', is: 'failed' },
    { says: 'DiffReported True AllWorkHaveDiffReported', is: 'diffed' },
    { says: 'DiffReported False NotAllWorkHaveDiffReported', is: 'diff-failed' },
  ])('that says $says ($failed) of generation $generation is $is', ({ says, generation = 2, failed, is }) => {
    const failedPlacements = failed === undefined ? undefined : failedWith(failed);
    const { health } = judge({
      metadata: { generation: 2 },
      conditions: conditionsFor(says, generation),
      ...(failedPlacements === undefined ? {} : { failedPlacements }),
    });
    expect(health).toBe(is);
  });
});
