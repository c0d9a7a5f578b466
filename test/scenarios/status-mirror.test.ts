// statusReportingScope NamespaceAccessible: a copy of the status in the namespace that a placement selects.
import { describe, expect, test } from 'vitest';
import type { PlacementStatus } from '../../src/api/placement.ts';
import type { ClusterResourcePlacementStatus } from '../../src/api/placement-status.ts';
import { viewRules } from '../../src/api/rights.ts';
import { ApiError } from '../../src/base/errors.ts';
import { clusterFamily } from '../../src/hub/families.ts';
import {
  aDelivery,
  configMap,
  type Delivery,
  DONE,
  deployment,
  gotten,
  SHOP,
  scenario,
  theNamespace,
} from '../delivery.ts';

const forCluster = scenario.for([clusterFamily]);
const COPIES = 'clusterresourceplacementstatuses';
const SYNCED = 'ClusterResourcePlacementStatusSynced';
const ACCESSIBLE = { statusReportingScope: 'NamespaceAccessible' };

const copyIn = async (it: Delivery, namespace = SHOP) =>
  (await gotten(it.fleet.hub, COPIES, namespace, 'web')) as ClusterResourcePlacementStatus | undefined;

/** The expected copy of the placement's status. */
async function expected(it: Delivery): Promise<PlacementStatus> {
  const status = await it.status();
  return { ...status, conditions: (status.conditions ?? []).filter(({ type }) => type !== SYNCED) };
}

async function installed(it: Delivery, spec: object = ACCESSIBLE): Promise<void> {
  await it.give(configMap('1'), deployment('web:1'));
  await it.place(spec);
  await it.runs(10_000);
}

const namespaced = (name: string) => ({ resourceSelectors: [theNamespace({ name })] });

describe('a status that a namespace can read', () => {
  forCluster('is the placement’s own, without the word on the copy', { members: 2 }, async (it) => {
    await installed(it);
    expect(await it.said()).toEqual({ ...DONE, StatusSynced: 'True/StatusSyncSucceeded' });
    expect(await it.message('StatusSynced')).toContain(`"${SHOP}"`);
    const copy = await copyIn(it);
    expect(copy?.sourceStatus).toEqual(await expected(it));
    const { uid } = (await it.placement()).metadata;
    expect(copy?.metadata.ownerReferences).toMatchObject([{ kind: 'ClusterResourcePlacement', uid, controller: true }]);
  });

  forCluster('follows every change, and is written before it', { members: 3 }, async (it) => {
    const order: string[] = [];
    await installed(it);
    it.fleet.meddle = (who, { verb, at }) => {
      if (who === 'hub' && verb === 'patch' && at.resource.plural === COPIES) order.push('copy');
      if (who === 'hub' && verb === 'patch' && at.subresource === 'status' && at.resource === clusterFamily.placement)
        order.push('status');
      return undefined;
    };
    await it.give(deployment('web:2'));
    await it.runs(60_000);
    expect(await it.images()).toEqual({ c1: 'web:2', c2: 'web:2', c3: 'web:2' });
    expect((await copyIn(it))?.sourceStatus).toEqual(await expected(it));
    expect(order.length).toBeGreaterThan(3);
    expect(order.length % 2).toBe(0);
    expect(order.every((each, at) => each === (at % 2 === 0 ? 'copy' : 'status'))).toBe(true);
  });

  forCluster('is not written when nothing changes', { members: 2 }, async (it) => {
    await installed(it);
    const before = await copyIn(it);
    it.forget();
    await it.runs(600_000);
    expect(it.writes()).toEqual({});
    expect((await copyIn(it))?.metadata.resourceVersion).toBe(before?.metadata.resourceVersion);
  });

  forCluster('is not there with the default scope', { members: 1 }, async (it) => {
    await installed(it, {});
    expect(await it.said()).toEqual(DONE);
    expect(await copyIn(it)).toBeUndefined();
  });

  forCluster('goes with the placement', { members: 1 }, async (it) => {
    await installed(it);
    await it.unplace();
    await it.runs();
    expect(await copyIn(it)).toBeUndefined();
  });

  forCluster('comes back when it is deleted, and right when it is edited', { members: 1 }, async (it) => {
    await installed(it);
    await it.take(COPIES, 'web');
    await it.runs(2000);
    expect((await copyIn(it))?.sourceStatus).toEqual(await expected(it));
    await it.fleet.patch(COPIES, SHOP, 'web', { sourceStatus: { observedResourceIndex: '7' } });
    await it.runs(2000);
    expect((await copyIn(it))?.sourceStatus).toEqual(await expected(it));
    expect((await it.said())['StatusSynced']).toBe('True/StatusSyncSucceeded');
  });

  forCluster('of a placement before is taken over by its successor', { members: 1 }, async (it) => {
    const stale = { sourceStatus: { observedResourceIndex: '9' }, lastUpdatedTime: '2020-01-01T00:00:00Z' };
    await it.fleet.hub.create(COPIES, SHOP, { metadata: { name: 'web' }, ...stale });
    await installed(it);
    const copy = await copyIn(it);
    expect(copy?.sourceStatus).toEqual(await expected(it));
    expect(copy?.metadata.ownerReferences).toHaveLength(1);
  });
});

describe('a namespace that is not there', () => {
  forCluster('is reported, and gets the copy when it comes', { members: 1 }, async (it) => {
    await it.place({ ...ACCESSIBLE, ...namespaced('late') });
    await it.runs();
    expect((await it.said())['StatusSynced']).toBe('False/StatusSyncFailed');
    expect(await it.message('StatusSynced')).toContain('namespace "late" does not exist on the hub');
    expect((await it.said())['Scheduled']).toBe('True/SchedulingPolicyFulfilled');
    it.forget();
    await it.runs(60_000);
    expect(it.writes()).toEqual({});
    await it.fleet.hub.create('namespaces', undefined, { metadata: { name: 'late' } });
    await it.runs();
    expect((await it.said())['StatusSynced']).toBe('True/StatusSyncSucceeded');
    expect((await copyIn(it, 'late'))?.sourceStatus).toEqual(await expected(it));
  });

  forCluster('because it was deleted is reported too', { members: 1 }, async (it) => {
    await installed(it);
    await it.fleet.hub.call({ verb: 'delete', at: it.fleet.hub.at('namespaces', undefined, SHOP) });
    await it.runs(10_000);
    expect((await it.said())['StatusSynced']).toBe('False/StatusSyncFailed');
    await it.fleet.hub.create('namespaces', undefined, { metadata: { name: SHOP } });
    await it.runs(10_000);
    expect((await it.said())['StatusSynced']).toBe('True/StatusSyncSucceeded');
    expect((await copyIn(it))?.sourceStatus).toEqual(await expected(it));
  });

  forCluster('also where other selectors need it', { members: 1 }, async (it) => {
    const resourceSelectors = [
      theNamespace({ name: 'late', selectionScope: 'NamespaceWithResourceSelectors' }),
      { group: '', version: 'v1', kind: 'ConfigMap' },
    ];
    await it.place({ ...ACCESSIBLE, resourceSelectors });
    await it.runs();
    expect((await it.said())['Scheduled']).toBe('False/InvalidResourceSelectors');
    expect((await it.said())['StatusSynced']).toBe('False/StatusSyncFailed');
    it.fleet.passes.clear();
    await it.runs(60_000);
    expect([...it.fleet.passes.keys()].filter((each) => each.includes('placement/Cluster'))).toEqual([]);
  });
});

describe('another namespace in the selector', () => {
  forCluster('stops the placement until the first is named again', { members: 2 }, async (it) => {
    await installed(it);
    await it.fleet.hub.create('namespaces', undefined, { metadata: { name: 'other' } });
    await it.change(namespaced('other'));
    await it.runs(10_000);
    expect((await it.said())['Scheduled']).toBe('False/InvalidResourceSelectors');
    expect(await it.message('Scheduled')).toContain('"other" in place of "shop"');
    expect(await copyIn(it, 'other')).toBeUndefined();
    expect(await it.values()).toEqual({ c1: '1', c2: '1' });
    await it.change(namespaced(SHOP));
    await it.runs(10_000);
    expect(await it.said()).toEqual({ ...DONE, StatusSynced: 'True/StatusSyncSucceeded' });
    expect((await copyIn(it))?.sourceStatus).toEqual(await expected(it));
  });

  forCluster('counts also when a run has placed nothing yet', { members: 1 }, async (it) => {
    await installed(it, { ...ACCESSIBLE, strategy: { type: 'External' } });
    expect((await it.status()).selectedResources).toEqual([]);
    await it.fleet.hub.create('namespaces', undefined, { metadata: { name: 'other' } });
    await it.change(namespaced('other'));
    await it.runs();
    expect((await it.said())['Scheduled']).toBe('False/InvalidResourceSelectors');
    expect(await copyIn(it, 'other')).toBeUndefined();
  });
});

describe('a copy that the server refuses', () => {
  forCluster('does not keep the status from being written, and is tried again', { members: 1 }, async (it) => {
    it.fleet.meddle = (who, { verb, at }) =>
      who === 'hub' && verb === 'create' && at.resource.plural === COPIES
        ? new ApiError(403, 'Forbidden', 'exceeded quota: copies')
        : undefined;
    await installed(it);
    expect(await it.said()).toEqual({ ...DONE, StatusSynced: 'False/StatusSyncFailed' });
    expect(await it.message('StatusSynced')).toContain('exceeded quota: copies');
    it.fleet.meddle = undefined;
    await it.runs(600_000);
    expect((await it.said())['StatusSynced']).toBe('True/StatusSyncSucceeded');
    expect((await copyIn(it))?.sourceStatus).toEqual(await expected(it));
  });

  test('is not blamed for another write that is refused', async () => {
    await using it = await aDelivery(clusterFamily, { members: 1 });
    it.fleet.meddle = (who, { verb, at }) =>
      who === 'hub' && verb === 'create' && at.resource.plural === 'clusterresourcesnapshots'
        ? new ApiError(403, 'Forbidden', 'exceeded quota: snapshots')
        : undefined;
    await installed(it);
    expect((await it.said())['StatusSynced']).toBe('True/StatusSyncSucceeded');
    expect((await copyIn(it))?.sourceStatus).toEqual(await expected(it));
  });
});

test('who may look at a namespace reads its copy, and changes nothing', async () => {
  await using it = await aDelivery(clusterFamily, { members: 1 });
  await installed(it);
  const viewer = { name: 'viewer', groups: ['system:authenticated'] };
  await it.fleet.hub.create('roles', SHOP, { metadata: { name: 'look' }, rules: viewRules });
  await it.fleet.hub.create('rolebindings', SHOP, {
    metadata: { name: 'look' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'look' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'viewer' }],
  });
  const at = it.fleet.hub.at(COPIES, SHOP, 'web');
  const { object } = await it.fleet.hub.as(viewer).call({ verb: 'get', at });
  expect((object as ClusterResourcePlacementStatus | undefined)?.sourceStatus).toEqual(await expected(it));
  await expect(it.fleet.hub.as(viewer).call({ verb: 'delete', at })).rejects.toMatchObject({ code: 403 });
});
