// Every row of the rules for evictions, and every line of the table of budgets.
import { describe, expect, test } from 'vitest';
import type { Condition } from '../../api/conditions.ts';
import type { DisruptionBudgetSpec } from '../../api/disruption-budget.ts';
import { annotations } from '../../api/names.ts';
import type { PlacementSpec } from '../../api/placement.ts';
import type { HubBinding, HubPlacement } from '../placement-sources.ts';
import { askBudget, disruptionsAllowed } from './budget.ts';
import { type Case, judgeEviction, messageOf } from './verdict.ts';

const condition = (type: string, status: 'True' | 'False', reason = type, observedGeneration = 1): Condition => ({
  type,
  status,
  reason,
  message: '',
  observedGeneration,
  lastTransitionTime: '2026-01-01T00:00:00Z',
});
const AVAILABLE = [condition('Applied', 'True'), condition('Available', 'True')];

interface Shape {
  readonly state?: HubBinding['spec']['state'];
  readonly was?: string;
  readonly conditions?: readonly Condition[];
  readonly isDeleting?: boolean;
  readonly failed?: HubBinding['failedPlacements'];
}

const binding = (cluster: string, shape: Shape = {}, name = `web-${cluster}`): HubBinding => ({
  metadata: {
    name,
    uid: name,
    generation: 1,
    ...(shape.was === undefined ? {} : { annotations: { [annotations.previousBindingState]: shape.was } }),
    ...(shape.isDeleting ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
  },
  spec: { state: shape.state ?? 'Bound', targetCluster: cluster } as HubBinding['spec'],
  conditions: shape.conditions ?? AVAILABLE,
  ...(shape.failed === undefined ? {} : { failedPlacements: shape.failed }),
});

const placement = (policy?: PlacementSpec['policy'], more: object = {}): HubPlacement => ({
  metadata: { name: 'web', ...more },
  spec: { ...(policy === undefined ? {} : { policy }) } as PlacementSpec,
  conditions: [],
  observedResourceIndex: '',
});

const three = (first: Shape = {}) => [binding('c1', first), binding('c2'), binding('c3')];
const PICK_3 = { placementType: 'PickN', numberOfClusters: 3 } as const;

const verdictOf = (given: Partial<Case>): string => {
  const verdict = judgeEviction({
    placement: placement(),
    bindings: three(),
    budget: undefined,
    cluster: 'c1',
    ...given,
  });
  return verdict.end === 'evict'
    ? `evict ${verdict.binding.metadata.name}: ${messageOf(verdict.allowance)}`
    : `${verdict.end}: ${verdict.message}`;
};

const HAS_FAILED = 'evict web-c1: Eviction is allowed, placement has failed';
const NOT_YET = 'blocked: Eviction is blocked, placement has not propagated resources to target cluster yet';
const NO_BUDGET = 'evict web-c1: Eviction is allowed, no ClusterResourcePlacementDisruptionBudget specified';
const MISCONFIGURED =
  'blocked: Eviction is blocked by misconfigured ClusterResourcePlacementDisruptionBudget, either MaxUnavailable is specified or MinAvailable is specified as a percentage for PickAll ClusterResourcePlacement';
const BLOCKED = 'blocked: Eviction is blocked by specified ClusterResourcePlacementDisruptionBudget';
const NONE = { maxUnavailable: 0 };

describe('an eviction', () => {
  test.each<[string, Partial<Case>, string]>([
    [
      '1: of no placement is invalid',
      { placement: undefined },
      'invalid: Failed to find ClusterResourcePlacement targeted by eviction',
    ],
    [
      '2: of a placement that is being deleted is invalid',
      { placement: placement(undefined, { deletionTimestamp: '2026-01-01T00:00:00Z' }) },
      'invalid: Found deleting ClusterResourcePlacement targeted by eviction',
    ],
    [
      '3: of a PickFixed placement is invalid',
      { placement: placement({ placementType: 'PickFixed', clusterNames: ['c1'] }) },
      'invalid: Found ClusterResourcePlacement with PickFixed placement type targeted by eviction',
    ],
    [
      '4: with two bindings for the cluster is invalid',
      { bindings: [...three(), binding('c1', {}, 'web-c1-again')] },
      'invalid: Found more than one scheduler decision for placement in cluster targeted by eviction',
    ],
    [
      '5: without a binding for the cluster is invalid',
      { cluster: 'c9' },
      'invalid: Failed to find scheduler decision for placement in cluster targeted by eviction',
    ],
    [
      '6: of a binding that is being deleted is executed',
      { bindings: three({ isDeleting: true }) },
      'executed: Eviction is allowed, resources propagated by placement is currently being removed from cluster targeted by eviction',
    ],
    [
      '6: takes the successor of a binding that is being deleted',
      { bindings: [...three(), binding('c1', { isDeleting: true }, 'old')] },
      NO_BUDGET,
    ],
    ['7: before anything was placed is blocked', { bindings: three({ state: 'Scheduled', conditions: [] }) }, NOT_YET],
    [
      '7: unscheduled before anything was placed is blocked',
      { bindings: three({ state: 'Unscheduled', was: 'Scheduled' }) },
      NOT_YET,
    ],
    ['7: unscheduled without a record is blocked', { bindings: three({ state: 'Unscheduled' }) }, NOT_YET],
    [
      '9: unscheduled after it was placed is allowed',
      { bindings: three({ state: 'Unscheduled', was: 'Bound' }) },
      NO_BUDGET,
    ],
    [
      '8: of a placement that could not be applied does not ask the budget',
      {
        budget: NONE,
        placement: placement(PICK_3),
        bindings: three({ conditions: [condition('Applied', 'False', 'NotAllWorkHaveBeenApplied')] }),
      },
      HAS_FAILED,
    ],
    [
      '8: of a placement that only reports differences does not ask the budget',
      {
        budget: NONE,
        placement: placement(PICK_3),
        bindings: three({ conditions: [condition('DiffReported', 'True')] }),
      },
      HAS_FAILED,
    ],
    [
      '8: of a placement that still compares does not ask the budget',
      {
        budget: NONE,
        placement: placement(PICK_3),
        bindings: three({ conditions: [condition('DiffReported', 'False', 'DiffReportInProgress')] }),
      },
      HAS_FAILED,
    ],
    [
      '12: of a comparison of an earlier generation asks the budget',
      {
        budget: NONE,
        placement: placement(PICK_3),
        bindings: three({ conditions: [condition('DiffReported', 'True', 'DiffReported', 0)] }),
      },
      `${BLOCKED}, availablePlacements: 2, totalPlacements: 3`,
    ],
    [
      '12: while it is being applied asks the budget',
      {
        budget: NONE,
        placement: placement(PICK_3),
        bindings: three({ conditions: [condition('Applied', 'False', 'ApplyInProgress')] }),
      },
      `${BLOCKED}, availablePlacements: 2, totalPlacements: 3`,
    ],
    [
      '12: while it starts asks the budget',
      {
        budget: NONE,
        placement: placement(PICK_3),
        bindings: three({
          conditions: [condition('Applied', 'True'), condition('Available', 'False', 'NotAllWorkAreAvailable')],
        }),
      },
      `${BLOCKED}, availablePlacements: 2, totalPlacements: 3`,
    ],
    [
      '12: of a copy whose overrides failed asks the budget',
      {
        budget: NONE,
        placement: placement(PICK_3),
        bindings: three({ conditions: [condition('Overridden', 'False', 'OverriddenFailed')] }),
      },
      `${BLOCKED}, availablePlacements: 2, totalPlacements: 3`,
    ],
    [
      '12: health of an earlier generation does not count',
      {
        budget: { minAvailable: 2 },
        placement: placement(PICK_3),
        bindings: three({ conditions: [condition('Available', 'True', 'Available', 0)] }),
      },
      `${BLOCKED}, availablePlacements: 2, totalPlacements: 3`,
    ],
    ['9: without a budget is allowed', {}, NO_BUDGET],
    ['10: with maxUnavailable for PickAll is blocked', { budget: { maxUnavailable: 1 } }, MISCONFIGURED],
    ['10: with a share for PickAll is blocked', { budget: { minAvailable: '10%' } }, MISCONFIGURED],
    [
      '11: that the budget allows',
      { budget: { minAvailable: 2 } },
      'evict web-c1: Eviction is allowed by specified ClusterResourcePlacementDisruptionBudget, availablePlacements: 3, totalPlacements: 3',
    ],
    [
      '12: that the budget blocks',
      { budget: { minAvailable: 3 } },
      `${BLOCKED}, availablePlacements: 3, totalPlacements: 3`,
    ],
    ['12: with an empty budget is blocked', { budget: {} }, `${BLOCKED}, availablePlacements: 3, totalPlacements: 3`],
  ])('row %s', (_name, given, outcome) => {
    expect(verdictOf(given)).toBe(outcome);
  });

  test('counts another cluster that is being evicted as unavailable', () => {
    const bindings = [binding('c1'), binding('c2', { isDeleting: true }), binding('c3')];
    expect(verdictOf({ bindings, budget: { minAvailable: 2 } })).toBe(
      `${BLOCKED}, availablePlacements: 2, totalPlacements: 3`,
    );
  });
});

describe('a disruption budget', () => {
  const n = (numberOfClusters: number) => ({ placementType: 'PickN', numberOfClusters }) as const;
  test.each<[PlacementSpec['policy'], number, number, DisruptionBudgetSpec, number]>([
    [n(3), 3, 3, { maxUnavailable: 1 }, 1],
    [n(3), 3, 2, { maxUnavailable: 1 }, 0],
    [n(3), 3, 3, { maxUnavailable: 0 }, 0],
    [n(3), 3, 3, { maxUnavailable: '10%' }, 1],
    [n(10), 10, 8, { maxUnavailable: '25%' }, 1],
    [n(10), 10, 7, { maxUnavailable: '25%' }, 0],
    [n(5), 3, 3, { maxUnavailable: 1 }, 1],
    [n(3), 3, 3, { minAvailable: 3 }, 0],
    [n(3), 3, 3, { minAvailable: 2 }, 1],
    [n(3), 3, 3, { minAvailable: '50%' }, 1],
    [n(3), 3, 3, { minAvailable: '90%' }, 0],
    [n(5), 3, 3, { minAvailable: '50%' }, 0],
    [{ placementType: 'PickAll' }, 4, 4, { minAvailable: 3 }, 1],
    [{ placementType: 'PickAll' }, 4, 2, { minAvailable: 3 }, -1],
    [undefined, 4, 4, { minAvailable: 0 }, 4],
    [undefined, 4, 0, { minAvailable: 0 }, 0],
    [n(3), 3, 3, {}, 0],
  ])('%j with %i bindings, %i available, %j: %i left', (policy, total, available, budget, left) => {
    expect(disruptionsAllowed(budget, policy, { total, available })).toBe(left);
    expect(askBudget(budget, policy, { total, available })).toBe(left > 0 ? 'allowed' : 'blocked');
  });
});
