// An eviction during a rollout: a cluster that lost its copy counts as unavailable for the rollout.
import { describe, expect } from 'vitest';
import type { Eviction } from '../../src/api/eviction.ts';
import { clusterFamily } from '../../src/hub/families.ts';
import { configMap, type Delivery, deployment, picks, rolls, scenario } from '../delivery.ts';

const forCluster = scenario.for([clusterFamily]);
const EVICTIONS = 'clusterresourceplacementevictions';

async function evicted(it: Delivery, cluster: string): Promise<void> {
  await it.fleet.hub.create(EVICTIONS, undefined, {
    metadata: { name: cluster },
    spec: { placementName: 'web', clusterName: cluster },
  });
  await it.runs(2000);
  const { status } = (await it.fleet.hub.get(EVICTIONS, undefined, cluster)) as Eviction;
  expect(status?.conditions?.at(-1)).toMatchObject({ type: 'Executed', status: 'True' });
}

const moved = (images: Readonly<Record<string, string>>) =>
  Object.keys(images).filter((cluster) => images[cluster] === 'web:2');

describe('a rollout beside an eviction', () => {
  for (const isEvicted of [false, true]) {
    const outcome = isEvicted
      ? 'moves no other cluster while the evicted one lacks a copy'
      : 'moves one cluster without it';
    forCluster(outcome, { members: 3 }, async (it) => {
      await it.give(configMap('1'), deployment('web:1'));
      await it.place({ ...picks(3), ...rolls({ maxUnavailable: 1, maxSurge: 0 }) });
      await it.runs(10_000);
      // The members are disconnected, so the evicted binding stays, and an updated copy never reports.
      for (const cluster of ['c1', 'c2', 'c3']) it.fleet.cut(cluster, true);
      if (isEvicted) await evicted(it, 'c1');
      await it.give(deployment('web:2'));
      await it.runs(10_000);
      const bindings = (await it.bindings()).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
      const ordered = bindings.filter(({ spec }) => spec.resourceSnapshotName === 'web-1-snapshot');
      expect(ordered.length).toBe(isEvicted ? 0 : 1);
      for (const cluster of ['c1', 'c2', 'c3']) it.fleet.cut(cluster, false);
      await it.runs(120_000);
      expect(moved(await it.images())).toEqual(['c1', 'c2', 'c3']);
    });
  }
});
