import { describe, expect, test } from 'vitest';
import type { HubPolicySnapshot } from './placement-sources.ts';
import { isExhausted } from './rolling-limits.ts';

const said = (status: 'True' | 'False', observedGeneration: number): HubPolicySnapshot => ({
  metadata: { name: 'web-0', generation: 2 },
  spec: { policyHash: '' },
  status: {
    observedCRPGeneration: 1,
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
    { it: 'holds when the scheduler says so of this snapshot', of: said('False', 2), is: true },
    { it: 'does not hold when it said so of an older state', of: said('False', 1), is: false },
    { it: 'does not hold when it found all', of: said('True', 2), is: false },
  ])('$it', ({ of, is }) => {
    expect(isExhausted(of)).toBe(is);
  });
});
