import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import type { Condition } from '../../api/conditions.ts';
import { clusterFamily, namespacedFamily } from '../families.ts';
import type { HubPlacement } from '../placement-sources.ts';
import { placementMetrics } from './metrics.ts';

const STEPS = ['Scheduled', 'RolloutStarted', 'Overridden', 'WorkSynchronized', 'Applied', 'Available'];

/** `said`: one letter per condition, T, F or U. */
function placement(said: string, { generation = 1, observed = 1, namespace = '' } = {}): HubPlacement {
  const kind = namespace === '' ? 'ClusterResourcePlacement' : 'ResourcePlacement';
  return {
    metadata: { name: 'web', generation, ...(namespace === '' ? {} : { namespace }) },
    spec: { resourceSelectors: [] } as unknown as HubPlacement['spec'],
    conditions: [...said].map(
      (letter, at): Condition => ({
        type: `${kind}${STEPS[at]}`,
        status: letter === 'T' ? 'True' : letter === 'F' ? 'False' : 'Unknown',
        reason: `Because${letter}`,
        message: '',
        observedGeneration: observed,
        lastTransitionTime: '2026-01-01T00:00:00Z',
      }),
    ),
    observedResourceIndex: '',
  };
}

async function seriesIn(registry: Registry) {
  const [metric] = await registry.getMetricsAsJSON();
  return (metric?.values ?? []).map(({ labels, value }) => `${Object.values(labels ?? {}).join(' ')} = ${value}`);
}

test('the gauge tells the first condition that is not True, of the newest generation', async () => {
  const registry = new Registry();
  const metrics = placementMetrics(registry);
  metrics.looked(clusterFamily, placement('TTU'), 1000);
  metrics.looked(clusterFamily, placement('TTTTTT'), 2000);
  expect(await seriesIn(registry)).toEqual([
    ' web 1 ClusterResourcePlacementOverridden Unknown BecauseU = 1',
    ' web 1 Completed True Completed = 2',
  ]);
  metrics.looked(clusterFamily, placement('TTTTTT', { generation: 2 }), 3000);
  expect(await seriesIn(registry)).toEqual([' web 2 ClusterResourcePlacementScheduled nil nil = 3']);
  metrics.looked(namespacedFamily, placement('F', { namespace: 'team' }), 4000);
  expect(await seriesIn(registry)).toHaveLength(2);
  metrics.forget({ name: 'web' });
  expect(await seriesIn(registry)).toEqual(['team web 1 ResourcePlacementScheduled False BecauseF = 4']);
});

test('two hubs of one process count into one gauge', async () => {
  const registry = new Registry();
  placementMetrics(registry).looked(clusterFamily, placement('F'), 1000);
  placementMetrics(registry).looked(clusterFamily, placement('F'), 2000);
  expect(await seriesIn(registry)).toHaveLength(1);
});
