import { describe, expect, test } from 'vitest';
import type { BindingSpec } from '../../api/binding.ts';
import { mergePatch } from '../../base/merge-patch.ts';
import { applyStrategyOf } from './apply-strategy.ts';
import { type Order, orderPatch, revisionOf, revisionOn } from './order.ts';

const applyStrategy = applyStrategyOf({
  spec: { resourceSelectors: [], revisionHistoryLimit: 10, statusReportingScope: 'ClusterScopeOnly' },
});
const plain: Order = { snapshot: 'web-1-snapshot', applyStrategy };
const full: Order = {
  snapshot: 'web-2-snapshot',
  clusterResourceOverrideSnapshots: ['big-0'],
  resourceOverrideSnapshots: [{ namespace: 'shop', name: 'small-1' }],
  overrideValues: { REGION: 'eu', TIER: 'gold' },
  applyStrategy: { ...applyStrategy, type: 'ServerSideApply', serverSideApplyConfig: { force: true } },
};
const spec: BindingSpec = {
  state: 'Scheduled',
  targetCluster: 'eu-1',
  resourceSnapshotName: '',
  schedulingPolicySnapshotName: 'web-0',
  clusterDecision: { clusterName: 'eu-1', selected: true, reason: '' },
};
const moved = (from: BindingSpec, to: Order): BindingSpec =>
  mergePatch(from as never, orderPatch(from, to) as never) as unknown as BindingSpec;

describe('an order', () => {
  test('is what a binding carries once it is moved, whatever it carried before', () => {
    expect(revisionOn(spec)).toBeUndefined();
    for (const before of [spec, moved(spec, plain), moved(spec, full)]) {
      for (const order of [plain, full]) {
        const after = moved(before, order);
        expect(revisionOn(after)).toEqual(revisionOf(order));
        expect(after.state).toBe('Bound');
      }
    }
    const { overrideValues: _values, ...others } = full;
    expect(moved(moved(spec, full), { ...others, overrideValues: { TIER: 'none' } }).overrideValues).toEqual({
      TIER: 'none',
    });
  });

  test('is another one with other values of its variables', () => {
    expect(revisionOf({ ...full, overrideValues: { REGION: 'us', TIER: 'gold' } })).not.toEqual(revisionOf(full));
  });

  test('with empty lists is one without any', () => {
    const empty = { clusterResourceOverrideSnapshots: [], resourceOverrideSnapshots: [], overrideValues: {} };
    expect(revisionOf({ ...plain, ...empty })).toEqual(revisionOf(plain));
  });
});
