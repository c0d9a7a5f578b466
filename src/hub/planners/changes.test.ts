// A change of a binding that planners may ignore must not change what they plan. Holds may carry more detail than
// before; the status writer reads the binding itself.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { BindingState } from '../../api/binding.ts';
import type { Condition } from '../../api/conditions.ts';
import { clusterFamily } from '../families.ts';
import { ordersFor } from '../orders/orders-for.ts';
import type { HubBinding, HubPlacement } from '../placement-sources.ts';
import { isNoNews } from './changes.ts';
import { rolling } from './rolling.ts';
import { rowsOf } from './rows.ts';

const PLACEMENT: Pick<HubPlacement, 'metadata' | 'spec'> = {
  metadata: { name: 'web' },
  spec: { resourceSelectors: [], revisionHistoryLimit: 10, statusReportingScope: 'ClusterScopeOnly' },
};

const AT = '2026-01-01T12:00:00Z';

interface Told {
  readonly type: string;
  readonly status?: Condition['status'];
  readonly reason?: string;
  readonly of?: number;
}

const condition = ({ type, status = 'True', reason = 'Yes', of = 2 }: Told): Condition => ({
  type,
  status,
  reason,
  message: '',
  observedGeneration: of,
  lastTransitionTime: AT,
});

interface Shape {
  readonly told: readonly Told[];
  readonly state?: BindingState;
  readonly generation?: number;
  readonly snapshot?: string;
  readonly isDeleting?: boolean;
  readonly holder?: string;
  readonly label?: string;
  /** Why a Deployment is not available. */
  readonly because?: string;
}

const binding = (cluster: string, shape: Shape): HubBinding => ({
  metadata: {
    name: `web-${cluster}`,
    uid: `u-${cluster}`,
    resourceVersion: '1',
    generation: shape.generation ?? 2,
    ...(shape.isDeleting ? { deletionTimestamp: AT } : {}),
    ...(shape.holder === undefined ? {} : { finalizers: [shape.holder] }),
    ...(shape.label === undefined ? {} : { labels: { of: shape.label } }),
  },
  spec: {
    state: shape.state ?? 'Bound',
    targetCluster: cluster,
    resourceSnapshotName: shape.snapshot ?? 'web-1-snapshot',
    schedulingPolicySnapshotName: 'web-0',
    clusterDecision: { clusterName: cluster, selected: true, reason: '' },
  },
  conditions: shape.told.map(condition),
  ...(shape.because === undefined ? {} : { failedPlacements: [failed(shape.because)] }),
});

const failed = (reason: string): NonNullable<HubBinding['failedPlacements']>[number] => ({
  version: 'v1',
  kind: 'Deployment',
  name: 'web',
  condition: { type: 'Available', status: 'False', reason, message: '', lastTransitionTime: AT },
});

const STARTED: Told = { type: 'RolloutStarted' };
const SYNCED: Told = { type: 'WorkSynchronized' };
const DOWN: Told = { type: 'Available', status: 'False', reason: 'NotAllWorkAreAvailable' };
const UNDER_WAY: Told = { type: 'Applied', status: 'False', reason: 'ApplyInProgress' };

describe('of a binding', () => {
  test.each<{ it: string; a: Shape; b: Shape; is: boolean }>([
    { it: 'who else holds it', a: { told: [STARTED] }, b: { told: [STARTED], holder: 'somebody' }, is: true },
    {
      it: 'that its member is at it',
      a: { told: [STARTED] },
      b: { told: [STARTED, SYNCED, UNDER_WAY] },
      is: true,
    },
    { it: 'that it was let go', a: { told: [] }, b: { told: [STARTED] }, is: false },
    {
      it: 'that it works',
      a: { told: [STARTED, UNDER_WAY] },
      b: { told: [STARTED, { type: 'Available' }] },
      is: false,
    },
    {
      it: 'that it does not work',
      a: { told: [STARTED, UNDER_WAY] },
      b: { told: [STARTED, { type: 'Applied', status: 'False', reason: 'NotAllWorkHaveBeenApplied' }] },
      is: false,
    },
    {
      it: 'that it has given up starting',
      a: { told: [STARTED, DOWN], because: 'NotAvailableYet' },
      b: { told: [STARTED, DOWN], because: 'Failed' },
      is: false,
    },
    { it: 'whose it is', a: { told: [STARTED], label: 'web' }, b: { told: [STARTED], label: 'api' }, is: false },
    { it: 'that it was moved', a: { told: [STARTED] }, b: { told: [STARTED], generation: 3 }, is: false },
    { it: 'that it goes', a: { told: [STARTED] }, b: { told: [STARTED], isDeleting: true }, is: false },
  ])('$it: no news is $is', ({ a, b, is }) => {
    expect([isNoNews(binding('c1', a), binding('c1', b)), isNoNews(binding('c1', b), binding('c1', a))]).toEqual([
      is,
      is,
    ]);
  });

  test('what is no news changes no plan, whatever the others are', () => {
    const told = fc.record({
      type: fc.constantFrom('RolloutStarted', 'Overridden', 'WorkSynchronized', 'Applied', 'Available', 'DiffReported'),
      status: fc.constantFrom<Condition['status']>('True', 'False'),
      reason: fc.constantFrom('Yes', 'ApplyInProgress', 'NotAllWorkAreAvailable', 'NotAllWorkAreAvailabilityTrackable'),
      of: fc.constantFrom(1, 2),
    });
    const shape: fc.Arbitrary<Shape> = fc.record({
      told: fc.uniqueArray(told, { selector: ({ type }) => type, maxLength: 4 }),
      state: fc.constantFrom<BindingState>('Bound', 'Bound', 'Scheduled', 'Unscheduled'),
      generation: fc.constantFrom(2, 2, 2, 3),
      snapshot: fc.constantFrom('web-0-snapshot', 'web-1-snapshot'),
      because: fc.constantFrom('NotAvailableYet', 'Failed'),
      isDeleting: fc.oneof({ weight: 5, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
    });
    fc.assert(
      fc.property(
        fc.array(shape, { maxLength: 3 }),
        shape,
        shape,
        fc.constantFrom(0, 1, '50%'),
        (others, one, next, maxUnavailable) => {
          // One generation has one spec.
          const after: Shape =
            one.generation === next.generation ? { ...one, told: next.told, because: next.because } : next;
          const [a, b] = [binding('c0', one), binding('c0', after)];
          fc.pre(isNoNews(a, b));
          const plan = (first: HubBinding) =>
            rolling({
              rows: rowsOf({
                bindings: [first, ...others.map((each, at) => binding(`c${at + 1}`, each))],
                source: clusterFamily.bindings,
                orders: ordersFor({ placement: PLACEMENT, snapshot: 'web-1-snapshot' }),
                member: () => ({ reachable: true, labels: {} }),
              }),
              limits: {
                maxUnavailable,
                maxSurge: 1,
                unavailablePeriodMs: 60_000,
                target: undefined,
                binding: clusterFamily.binding,
              },
              state: undefined,
              now: Date.parse(AT) + 30_000,
            });
          const { move, remove, stale, upToDate, wakeAt } = plan(a);
          expect(plan(b)).toMatchObject({ move, remove, stale, upToDate });
          expect(plan(b).wakeAt).toBe(wakeAt);
        },
      ),
    );
  });
});
