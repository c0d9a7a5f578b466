// Draining a cluster with placements of all types, with and without budgets.
import { describe, expect } from 'vitest';
import type { MemberCluster } from '../../src/api/member-cluster.ts';
import { cordon, uncordon } from '../../src/cli/members/cordon.ts';
import { drain, tellLeft } from '../../src/cli/members/drain.ts';
import { clusterFamily } from '../../src/hub/families.ts';
import { admin } from '../cluster.ts';
import { CONFIG_MAPS, configMap, type Delivery, deployment, picks, scenario, theNamespace } from '../delivery.ts';

const forCluster = scenario.for([clusterFamily]);

const serverOf = (it: Delivery) =>
  ({
    transport: it.fleet.hub.as(admin),
    catalogue: {
      resources: it.fleet.hub.running.cluster.registry
        .all()
        .map((each) => ({ ...each, version: each.versions[0]?.version ?? '' })),
    },
  }) as unknown as Parameters<typeof drain>[0];

let count = 0;

async function drained(it: Delivery, cluster: string, maxRounds?: number) {
  const lines: string[] = [];
  const print = { line: (text: string) => lines.push(text), warning: (text: string) => lines.push(text), error() {} };
  let isOver = false;
  const done = drain(
    serverOf(it),
    {
      cluster,
      timeoutMs: 60_000,
      clock: it.fleet.clock,
      suffix: () => String(++count).padStart(8, '0'),
      ...(maxRounds === undefined ? {} : { maxRounds }),
    },
    print,
  ).finally(() => {
    isOver = true;
  });
  for (let turn = 0; turn < 100 && !isOver; turn++) await it.runs(1000);
  const left = await done;
  return { code: tellLeft(cluster, left, print), left, text: lines.join('\n') };
}

const taintsOf = async (it: Delivery, name: string) =>
  ((await it.fleet.hub.get('memberclusters', undefined, name)) as MemberCluster).spec?.taints ?? [];

describe('a drain', () => {
  forCluster('evicts all placements that can be, and names the others', { members: 3 }, async (it) => {
    await it.give(configMap('1'), deployment('web:1'));
    await it.place({});
    await it.place(
      {
        ...picks(3),
        resourceSelectors: [{ group: 'rbac.authorization.k8s.io', version: 'v1', kind: 'ClusterRole', name: 'none' }],
      },
      'few',
    );
    await it.place(
      {
        policy: { placementType: 'PickFixed', clusterNames: ['c1'] },
        resourceSelectors: [theNamespace({ selectionScope: 'NamespaceOnly' })],
      },
      'fixed',
    );
    await it.fleet.hub.create('resourceplacements', 'shop', {
      metadata: { name: 'team' },
      spec: { resourceSelectors: [CONFIG_MAPS] },
    });
    await it.runs();
    const { code, left, text } = await drained(it, 'c1');
    expect(text).toContain('ClusterResourcePlacement "web": evicted');
    expect(text).toContain('ClusterResourcePlacement "few": evicted');
    expect(left.map(({ what }) => what)).toEqual(['ClusterResourcePlacement "fixed"', 'ResourcePlacement "shop/team"']);
    expect(code).not.toBe(0);
    expect(await it.clusters()).toEqual(['c2', 'c3']);
    expect(await taintsOf(it, 'c1')).toEqual([{ key: 'cordon-key', value: 'cordon-value', effect: 'NoSchedule' }]);
  });

  forCluster('leaves what a budget protects, and returns when the budget allows', { members: 3 }, async (it) => {
    await it.give(configMap('1'));
    await it.place({});
    await it.runs();
    const budgets = 'clusterresourceplacementdisruptionbudgets';
    await it.fleet.hub.create(budgets, undefined, { metadata: { name: 'web' }, spec: { minAvailable: 3 } });
    const blocked = await drained(it, 'c1', 2);
    expect(blocked.text).toContain('not evicted (Eviction is blocked by specified');
    expect(blocked.left.map(({ what }) => what)).toEqual(['ClusterResourcePlacement "web"']);
    expect(await it.values()).toEqual({ c1: '1', c2: '1', c3: '1' });
    await it.fleet.patch(budgets, undefined, 'web', { spec: { minAvailable: 2 } });
    const { code } = await drained(it, 'c1');
    expect(code).toBe(0);
    expect(await it.values()).toEqual({ c1: '-', c2: '1', c3: '1' });
    await uncordon(serverOf(it), 'c1');
    await it.runs();
    expect(await it.values()).toEqual({ c1: '1', c2: '1', c3: '1' });
  });

  forCluster('of a cluster with ten placements of all types leaves what cannot go', { members: 3 }, async (it) => {
    await it.give(configMap('1'));
    const external = { strategy: { type: 'External' } };
    const budgets = 'clusterresourceplacementdisruptionbudgets';
    const protect = (name: string, spec: object) =>
      it.fleet.hub.create(budgets, undefined, { metadata: { name }, spec });
    // Each has its own namespace: if two place the same one, the second fails.
    const placed = async (name: string, spec: object = {}) => {
      await it.fleet.hub.create('namespaces', undefined, { metadata: { name } });
      await it.place({ resourceSelectors: [theNamespace({ name })], ...spec }, name);
    };
    const fixed = (...clusterNames: readonly string[]) => ({ policy: { placementType: 'PickFixed', clusterNames } });
    await it.place({ resourceSelectors: [theNamespace({ selectionScope: 'NamespaceOnly' })] }, 'all');
    for (const name of ['all-room', 'all-full', 'runs']) await placed(name);
    for (const name of ['n', 'n-room', 'n-full']) await placed(name, picks(3));
    await placed('fixed', fixed('c1', 'c2'));
    await placed('elsewhere', fixed('c2'));
    await it.runs(10_000);
    const team = { metadata: { name: 'team' }, spec: { resourceSelectors: [CONFIG_MAPS] } };
    await it.fleet.hub.create('resourceplacements', 'shop', team);
    await protect('all-room', { minAvailable: 2 });
    await protect('all-full', { minAvailable: 3 });
    await protect('n-room', { maxUnavailable: '30%' });
    await protect('n-full', { minAvailable: '100%' });
    await it.runs(10_000);
    await it.change(external, 'runs');
    await it.runs();
    const { code, left } = await drained(it, 'c1', 2);
    expect(code).not.toBe(0);
    expect(left.map(({ what }) => what).toSorted()).toEqual([
      'ClusterResourcePlacement "all-full"',
      'ClusterResourcePlacement "fixed"',
      'ClusterResourcePlacement "n-full"',
      'ResourcePlacement "shop/team"',
    ]);
    const on = async (name: string) => (await it.clusters(name)).join();
    const found = Object.fromEntries(
      await Promise.all(
        ['all', 'all-room', 'n', 'n-room', 'runs', 'all-full', 'n-full', 'fixed', 'elsewhere'].map(
          async (name) => [name, await on(name)] as const,
        ),
      ),
    );
    expect(found).toEqual({
      all: 'c2,c3',
      'all-room': 'c2,c3',
      n: 'c2,c3',
      'n-room': 'c2,c3',
      runs: 'c2,c3',
      'all-full': 'c1,c2,c3',
      'n-full': 'c1,c2,c3',
      fixed: 'c1,c2',
      elsewhere: 'c2',
    });
  });

  forCluster('adds and removes its own taint and no other', { members: 1 }, async (it) => {
    const other = { key: 'maintenance', effect: 'NoSchedule' };
    await it.fleet.patch('memberclusters', undefined, 'c1', { spec: { taints: [other] } });
    expect(await cordon(serverOf(it), 'c1')).toBe(true);
    expect(await cordon(serverOf(it), 'c1')).toBe(false);
    expect(await taintsOf(it, 'c1')).toHaveLength(2);
    expect(await uncordon(serverOf(it), 'c1')).toBe(true);
    expect(await uncordon(serverOf(it), 'c1')).toBe(false);
    expect(await taintsOf(it, 'c1')).toMatchObject([other]);
  });
});
