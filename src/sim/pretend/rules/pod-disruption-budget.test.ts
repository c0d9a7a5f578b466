// Evictions that only the budget's status records: their Pods no longer count as healthy, until a timeout.
import { expect, test } from 'vitest';
import type { Budget, Pod } from '../../../api/builtin/shapes.ts';
import type { Profile } from '../profile.ts';
import { podDisruptionBudget } from './pod-disruption-budget.ts';

const NOW = Date.UTC(2026, 0, 1);
const EVICTED = '2026-01-01T00:00:00Z';

const pod = (name: string, more: object = {}): Pod =>
  ({
    metadata: { name, namespace: 'n', ...more },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
  }) as unknown as Pod;

const budget = (disruptedPods: object): Budget =>
  ({
    metadata: { name: 'web', namespace: 'n', generation: 1 },
    spec: { minAvailable: 1, selector: {} },
    status: { observedGeneration: 1, disruptionsAllowed: 0, disruptedPods },
  }) as unknown as Budget;

const look = (disruptedPods: object, pods: readonly Pod[], now = NOW) => {
  const { writes, wakeAt } = podDisruptionBudget(
    budget(disruptedPods),
    { pods, workloads: new Map() },
    now,
    {} as Profile,
  );
  const [write] = writes;
  return { status: write?.do === 'patch' ? (write.merge as { status: object }).status : undefined, wakeAt };
};

test('a Pod that was evicted and is not seen deleting is not healthy', () => {
  const { status, wakeAt } = look({ a: EVICTED }, [pod('a'), pod('b')]);
  expect(status).toMatchObject({ currentHealthy: 1, desiredHealthy: 1 });
  expect(status).not.toHaveProperty('disruptionsAllowed'); // remains 0
  expect(status).not.toHaveProperty('disruptedPods'); // remains
  expect(wakeAt).toBe(NOW + 120_000);
});

test.each([
  { it: 'is deleting', pods: [pod('a', { deletionTimestamp: EVICTED }), pod('b')], healthy: 1 },
  { it: 'is deleted', pods: [pod('b')], healthy: 1 },
  { it: 'was not deleted in time', pods: [pod('a'), pod('b')], now: NOW + 120_000, healthy: 2 },
])('an evicted Pod that $it is no longer listed', ({ pods, now, healthy }) => {
  const { status, wakeAt } = look({ a: EVICTED }, pods, now);
  expect(status).toMatchObject({ currentHealthy: healthy, disruptedPods: null });
  expect(wakeAt).toBeUndefined();
});
