// Evictions and budgets on a server that has the placement: which requests are rejected, and which are accepted with a
// warning.
import { expect, test } from 'vitest';
import { aCluster, type TestCluster } from '../../test/cluster.ts';
import { messageOf } from '../base/errors.ts';
import { hubKinds } from './kinds.ts';

const EVICTIONS = 'clusterresourceplacementevictions';
const BUDGETS = 'clusterresourceplacementdisruptionbudgets';
const selectors = [{ group: '', version: 'v1', kind: 'Namespace', name: 'shop' }];

async function written(hub: TestCluster, plural: string, name: string, spec: object): Promise<string> {
  const { resource } = hub.at(plural);
  const object = { apiVersion: `${resource.group}/${resource.version}`, kind: resource.kind, metadata: { name }, spec };
  try {
    const { warnings = [] } = await hub.call({ verb: 'create', at: hub.at(plural), object, manager: 'test' });
    return warnings.length === 0 ? 'accepted' : `accepted: ${warnings.join('; ')}`;
  } catch (error) {
    return `refused: ${messageOf(error)}`;
  }
}

async function withPlacements(): Promise<TestCluster> {
  const hub = await aCluster({ kinds: hubKinds });
  const place = (name: string, policy: object, more: object = {}) =>
    hub.create('clusterresourceplacements', undefined, {
      metadata: { name, ...more },
      spec: { resourceSelectors: selectors, policy },
    });
  await place('all', { placementType: 'PickAll' });
  await place('some', { placementType: 'PickN', numberOfClusters: 3 });
  await place('fixed', { placementType: 'PickFixed', clusterNames: ['c1'] });
  await place('ending', { placementType: 'PickAll' }, { finalizers: ['test/keep'] });
  await hub.call({ verb: 'delete', at: hub.at('clusterresourceplacements', undefined, 'ending') });
  return hub;
}

test.each([
  ['all', /^accepted$/],
  ['some', /^accepted$/],
  ['absent', /^accepted$/],
  ['fixed', /^accepted: .*PickFixed: the eviction will be invalid/],
  [
    'ending',
    /^refused: .*spec.placementName: Invalid value: "ending": ClusterResourcePlacement "ending" is being deleted/,
  ],
])('an eviction of placement %s: %s', async (placementName, says) => {
  await using hub = await withPlacements();
  expect(await written(hub, EVICTIONS, 'one', { placementName, clusterName: 'c1' })).toMatch(says);
});

test.each([
  ['all', { minAvailable: 1 }, /^accepted$/],
  ['all', { maxUnavailable: 1 }, /^refused: .*spec.maxUnavailable: .*PickAll/],
  ['all', { minAvailable: '50%' }, /^refused: .*spec.minAvailable: .*PickAll/],
  ['some', { maxUnavailable: '50%' }, /^accepted$/],
  ['some', { minAvailable: '50%' }, /^accepted$/],
  ['some', {}, /^accepted: .*blocks every eviction/],
  ['some', { maxUnavailable: 1, minAvailable: 1 }, /^refused: .*not both/],
  ['fixed', { maxUnavailable: 1 }, /^accepted: .*the budget has no effect/],
  ['absent', { maxUnavailable: 1 }, /^accepted$/],
])('a budget of placement %s with %j: %s', async (name, spec, says) => {
  await using hub = await withPlacements();
  expect(await written(hub, BUDGETS, name, spec)).toMatch(says);
});
