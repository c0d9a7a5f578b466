// A placement that is created again under its name reuses the names of its snapshots. A stale cache must not make the
// hub deliver the content of the former one.
import { expect, test } from 'vitest';
import { annotations, labels } from '../../api/names.ts';
import type { KubeObject } from '../../api/object.ts';
import type { FullRef, Projected, Source, View } from '../../runtime/controller.ts';
import { isNeed } from '../../runtime/controller.ts';
import { clusterFamily as family } from '../families.ts';
import { workGenerator } from './controller.ts';
import type { Observed } from './observed.ts';

const NAME = 'shop-0-snapshot';
const marks = {
  labels: { [labels.parentPlacement]: 'shop', [labels.resourceIndex]: '0' },
  annotations: { [annotations.resourceHash]: 'h', [annotations.numberOfResourceSnapshots]: '1' },
};

const snapshotOf = (placementUid: string): KubeObject => ({
  apiVersion: 'placement.kubernetes-fleet.io/v1',
  kind: 'ClusterResourceSnapshot',
  metadata: {
    name: NAME,
    uid: `snapshot-of-${placementUid}`,
    ...marks,
    ownerReferences: [
      { apiVersion: 'v1', kind: 'ClusterResourcePlacement', name: 'shop', uid: placementUid, controller: true },
    ],
  },
  spec: { selectedResources: [] },
});

const bindingFor = (uid: string | undefined): Projected => ({
  metadata: {
    name: 'shop-c1',
    uid: 'b',
    generation: 2,
    labels: { [labels.parentPlacement]: 'shop' },
    annotations: {
      [annotations.releasedGeneration]: '2',
      ...(uid === undefined ? {} : { [annotations.placementUid]: uid }),
    },
  },
  ...{ conditions: [], spec: { state: 'Bound', targetCluster: 'c1', resourceSnapshotName: NAME } },
});

/** One reconcile, from the snapshot that the binding names, the cached one and the one on the server. */
function groupFor(binding: Projected, cached: KubeObject, live: KubeObject | null): Observed['group'] {
  const fetched = new Set<string>();
  const textOf = ({ name, live }: FullRef) => `${name} ${live === true}`;
  const view = {
    now: 0,
    get: (source: Source) => (source === (family.bindings as Source) ? binding : undefined),
    all: () => [],
    by: (source: Source) => (source === (family.resourceSnapshots as Source) ? [{ metadata: cached.metadata }] : []),
    getFull: (ref: FullRef) => (fetched.has(textOf(ref)) ? (ref.live ? live : cached) : undefined),
    listOnDemand: () => undefined,
    listError: () => undefined,
    isRefreshed: () => true,
  } as unknown as View;
  for (let round = 0; round < 4; round++) {
    const observed = workGenerator(family).observe(view, 'shop-c1', { orphanedSince: undefined });
    if (!isNeed(observed)) return (observed as Observed).group;
    for (const ref of observed.need ?? []) fetched.add(textOf(ref));
  }
  throw new Error('asks without end');
}

const former = snapshotOf('former');
const present = snapshotOf('present');

test.each([
  { why: 'of the same placement', binding: bindingFor('present'), cached: present, live: null, group: [present] },
  {
    why: 'of a former placement, which the cache still has',
    binding: bindingFor('present'),
    cached: former,
    live: present,
    group: 'incomplete',
  },
  {
    why: 'of a former placement, and deleted',
    binding: bindingFor('present'),
    cached: former,
    live: null,
    group: 'incomplete',
  },
  {
    why: 'of the present placement, for a binding that an orphaned placement left',
    binding: bindingFor('former'),
    cached: present,
    live: present,
    group: [present],
  },
  {
    why: 'of any placement, for a binding that does not name one',
    binding: bindingFor(undefined),
    cached: former,
    live: null,
    group: [former],
  },
])('a snapshot $why', ({ binding, cached, live, group }) => {
  expect(groupFor(binding, cached, live)).toEqual(group);
});
