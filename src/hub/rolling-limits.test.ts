import { describe, expect, test } from 'vitest';
import type { HubPolicySnapshot } from './placement-sources.ts';
import { foundOnly } from './rolling-limits.ts';

const said = (status: 'True' | 'False', observedGeneration: number): HubPolicySnapshot => ({
  metadata: { name: 'web-0', generation: 2 },
  spec: { policyHash: '' },
  status: {
    observedCRPGeneration: 1,
    targetClusters: [
      { clusterName: 'c1', selected: true, reason: 'picked' },
      { clusterName: 'c2', selected: false, reason: 'not picked' },
    ],
    conditions: [
      {
        type: 'Scheduled',
        status,
        reason: 'x',
        message: '',
        observedGeneration,
        lastTransitionTime: '2026-01-01T00:00:00Z',
      },
    ],
  },
});

describe('that no more clusters can be found', () => {
  test.each([
    { it: 'holds when the scheduler says so of this snapshot', of: said('False', 2), is: ['c1'] },
    { it: 'does not hold when it said so of an older state', of: said('False', 1), is: undefined },
    { it: 'does not hold when it found all', of: said('True', 2), is: undefined },
  ])('$it', ({ of, is }) => {
    expect(foundOnly(of)).toEqual(is);
  });
});
