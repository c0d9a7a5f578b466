// From content and a placement on the hub to objects on the members, in both families, on real API servers in memory.
import { describe, expect, test } from 'vitest';
import { clusterFamily, families, namespacedFamily } from '../../src/hub/families.ts';
import { placementsOf } from '../../src/main/placement-flags.ts';
import {
  aDelivery,
  CONFIG_MAPS,
  configMap,
  type Delivery,
  DONE,
  deployment,
  picks,
  rolls,
  SHOP,
  scenario,
  selects,
  theNamespace,
} from '../delivery.ts';
import { AT_ONCE, prepared } from '../staged.ts';

const all = (value: string) => ({ c1: value, c2: value, c3: value });

/** Content is placed and available. */
async function placed(it: Delivery, spec: object = {}): Promise<void> {
  await it.give(configMap('1'), deployment('web:1'));
  await it.place(spec);
  await it.runs();
}

describe('content', () => {
  scenario.for(families)('comes, changes and goes on the members as on the hub', {}, async (it) => {
    await placed(it, rolls({ maxUnavailable: '100%' }));
    expect(await it.said()).toEqual(DONE);
    for (const cluster of ['c1', 'c2', 'c3']) {
      expect(await it.saidOf(cluster)).toEqual({
        Scheduled: 'True/Scheduled',
        RolloutStarted: 'True/RolloutStarted',
        Overridden: 'True/NoOverrideSpecified',
        WorkSynchronized: 'True/AllWorkSynced',
        Applied: 'True/AllWorkHaveBeenApplied',
        Available: 'True/AllWorkAreAvailable',
      });
    }
    expect(await it.values()).toEqual(all('1'));
    expect(await it.images()).toEqual(all('web:1'));
    const { observedResourceIndex, selectedResources = [], holds } = await it.status();
    expect(observedResourceIndex).toBe('0');
    expect(selectedResources.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      ...(it.namespace === undefined ? ['Namespace shop'] : []),
      'ConfigMap app',
      'Deployment web',
    ]);
    expect(holds).toBeUndefined();

    await it.give(configMap('2'), configMap('x', 'more'));
    await it.take('deployments', 'web');
    await it.runs();
    expect(await it.values()).toEqual(all('2'));
    expect(await it.images()).toEqual(all('-'));
    expect(await it.find('c2', 'configmaps', 'more')).toBeDefined();
    await it.take('configmaps', 'more');
    await it.runs();
    expect(await it.find('c2', 'configmaps', 'more')).toBeUndefined();
    expect(await it.said()).toEqual(DONE);
    expect((await it.status()).observedResourceIndex).toBe('2');
  });

  scenario.for(families)(
    'that changes many times in a moment is sent once, and stays as it was sent',
    { members: 1 },
    async (it) => {
      await placed(it);
      it.forget();
      for (const value of ['a', 'b', 'c', 'd']) {
        await it.give(configMap(value));
        await it.runs(50);
      }
      await it.runs();
      expect(await it.values()).toEqual({ c1: 'd' });
      expect(it.writes()).toMatchObject({
        [`hub create ${it.family.resourceSnapshot.plural}`]: 1,
        'hub patch works': 1,
      });

      // A manual change on the member is corrected.
      await it.patchOn('c1', 'configmaps', 'app', { data: { value: 'mine' } });
      await it.runs();
      expect(await it.values()).toEqual({ c1: 'd' });
      await it.removeOn('c1', 'configmaps', 'app');
      await it.runs(60_000);
      expect(await it.values()).toEqual({ c1: 'd' });
    },
  );
});

/** How often an Event with this reason was written for the placement. */
async function timesTold(it: Delivery, reason: string): Promise<number> {
  const { hub } = it.fleet;
  const { list } = await hub.call({ verb: 'list', at: hub.at('events', it.namespace ?? 'default') });
  return (list?.items ?? [])
    .filter((event) => event['reason'] === reason && (event['involvedObject'] as { name: string }).name === 'web')
    .reduce((sum, event) => sum + Number(event['count'] ?? 1), 0);
}

describe('a limit of 0', () => {
  scenario.for(families)('takes one cluster after the other, and one Event tells so', {}, async (it) => {
    await placed(it, rolls({ maxUnavailable: 0, maxSurge: 1 }));
    expect(await timesTold(it, 'PlacementUpdatesOneByOne')).toBe(0);
    await it.give(deployment('web:2'));
    await it.runs(30_000);
    expect(await it.images()).toEqual(all('web:2'));
    expect(await it.said()).toEqual(DONE);
    expect(await timesTold(it, 'PlacementUpdatesOneByOne')).toBe(1);
  });
});

describe('a bad image', () => {
  scenario.for(families)('stops at one cluster, the culprit is named, and a fix rolls on', {}, async (it) => {
    await placed(it);
    await it.give(deployment('web:bad'));
    await it.runs(30_000);
    expect(await it.images()).toEqual({ c1: 'web:bad', c2: 'web:1', c3: 'web:1' });
    expect(await it.said()).toEqual({ Scheduled: DONE.Scheduled, RolloutStarted: 'False/RolloutNotStartedYet' });
    expect(await it.message('RolloutStarted')).toMatch(
      /2 clusters.*MemberCluster "c1" blocks the rollout.*: 2 clusters are available, at least 2 are required/,
    );
    const holds = await it.holds();
    expect(holds).toMatchObject([
      {
        code: 'BudgetUsed',
        on: { kind: 'MemberCluster', name: 'c1' },
        count: 2,
        clusters: ['c2', 'c3'],
        facts: { ready: 2, minAvailable: 2, maxUnavailable: 1 },
      },
      { code: 'NotAvailable', on: { name: 'c1' }, count: 1, clusters: ['c1'] },
    ]);
    expect((await it.failedOn('c1')).join()).toMatch(/^Deployment web: ManifestNotAvailableYet: /);
    expect(await it.saidOf('c2')).toEqual({
      Scheduled: 'True/Scheduled',
      RolloutStarted: 'False/RolloutNotStartedYet',
    });

    expect(holds[0]?.facts).toMatchObject({ cause: 'starting' });
    expect(await timesTold(it, 'PlacementRolloutHeld')).toBe(0);

    // Longer than the Deployment's deadline: waiting does not help.
    await it.runs(90_000);
    expect(await it.images()).toEqual({ c1: 'web:bad', c2: 'web:1', c3: 'web:1' });
    expect((await it.failedOn('c1')).join()).toMatch(/^Deployment web: Failed: .*no progress within its deadline/);
    expect((await it.holds())[0]?.facts).toMatchObject({ cause: 'failed' });
    expect(await timesTold(it, 'PlacementRolloutHeld')).toBe(1);

    await it.give(deployment('web:2'));
    await it.runs(30_000);
    expect(await it.images()).toEqual(all('web:2'));
    expect(await it.said()).toEqual(DONE);
    expect(await it.holds()).toEqual([]);
  });

  scenario.for(families)('stops at the budget, whatever that is', { members: 4 }, async (it) => {
    await placed(it, rolls({ maxUnavailable: 2 }));
    await it.give(deployment('web:bad'));
    await it.runs(30_000);
    expect(Object.values(await it.images()).filter((image) => image === 'web:bad')).toHaveLength(2);
    expect(await it.message('RolloutStarted')).toContain('"c1"');
  });
});

describe('a policy', () => {
  scenario.for(families)('is scaled up and down', {}, async (it) => {
    await placed(it, picks(1));
    expect(await it.clusters()).toEqual(['c3']);
    await it.change(picks(3));
    await it.runs();
    expect(await it.values()).toEqual(all('1'));
    expect(await it.said()).toEqual(DONE);
    await it.change(picks(2));
    await it.runs(30_000);
    const left = await it.clusters();
    expect(left).toHaveLength(2);
    expect(Object.values(await it.values()).filter((value) => value === '1')).toHaveLength(2);
    expect(await it.said()).toEqual(DONE);
    await it.change(picks(0));
    await it.runs(30_000);
    expect(await it.values()).toEqual(all('-'));
  });

  scenario.for(families)(
    'that asks for more than there is says so, and is satisfied by a cluster that joins',
    {},
    async (it) => {
      await placed(it, picks(4));
      expect((await it.said())['Scheduled']).toBe('False/SchedulingPolicyUnfulfilled');
      expect(await it.values()).toEqual(all('1'));
      await it.join('c4');
      await it.runs();
      expect(await it.said()).toEqual(DONE);
      expect(await it.values()).toEqual({ ...all('1'), c4: '1' });
    },
  );

  const loc = (value: string) => ({
    policy: {
      placementType: 'PickN',
      numberOfClusters: 2,
      affinity: {
        clusterAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            clusterSelectorTerms: [{ labelSelector: { matchLabels: { loc: value } } }],
          },
        },
      },
    },
  });
  const places = { c1: { loc: 'west' }, c2: { loc: 'west' }, c3: { loc: 'east' }, c4: { loc: 'east' } };

  scenario.for(families)('that changes moves to other clusters, new before old', { members: places }, async (it) => {
    await placed(it, { ...loc('west'), ...rolls({ maxSurge: 1, maxUnavailable: 1 }) });
    expect(await it.clusters()).toEqual(['c1', 'c2']);
    await it.change(loc('east'));
    const working = async () => {
      const found = await Promise.all(
        ['c1', 'c2', 'c3', 'c4'].map(async (cluster) => {
          const status = (await it.find(cluster, 'deployments', 'web'))?.status as { availableReplicas?: number };
          return status?.availableReplicas === 2;
        }),
      );
      return found.filter(Boolean).length;
    };
    for (let step = 0; step < 40; step++) {
      expect(await working()).toBeGreaterThanOrEqual(1);
      const present = Object.values(await it.images()).filter((image) => image !== '-');
      expect(present.length).toBeLessThanOrEqual(3);
      await it.runs(250);
    }
    expect(await it.images()).toEqual({ c1: '-', c2: '-', c3: 'web:1', c4: 'web:1' });
    expect(await it.said()).toEqual(DONE);
  });

  scenario.for(families)('PickFixed goes where it says, also to a cluster that joins later', {}, async (it) => {
    await placed(it, { policy: { placementType: 'PickFixed', clusterNames: ['c2', 'later'] } });
    expect(await it.values()).toEqual({ c1: '-', c2: '1', c3: '-' });
    expect((await it.said())['Scheduled']).toBe('False/SchedulingPolicyUnfulfilled');
    await it.join('later');
    await it.runs();
    expect(await it.values()).toEqual({ c1: '-', c2: '1', c3: '-', later: '1' });
    expect(await it.said()).toEqual(DONE);
  });
});

describe('a fleet', () => {
  scenario.for(families)('that grows is followed by PickAll', { members: 1 }, async (it) => {
    await placed(it);
    await it.join('c2');
    await it.runs();
    expect(await it.images()).toEqual({ c1: 'web:1', c2: 'web:1' });
    expect(await it.said()).toEqual(DONE);
  });

  scenario.for(families)(
    'that loses a cluster gives its place to another; what is there stays there',
    {},
    async (it) => {
      await placed(it, picks(2));
      expect(await it.clusters()).toEqual(['c2', 'c3']);
      await it.fleet.deleteMember('c2');
      await it.runs(30_000);
      expect(await it.fleet.exists('memberclusters', undefined, 'c2')).toBe(false);
      expect(await it.clusters()).toEqual(['c1', 'c3']);
      expect((await it.bindings()).map(({ spec }) => spec.targetCluster)).toEqual(['c1', 'c3']);
      expect(await it.values()).toEqual(all('1'));
      expect(await it.said()).toEqual(DONE);
    },
  );
});

describe('an edit that touches no policy', () => {
  const fewer = (it: Delivery) => ({
    resourceSelectors: it.namespace === undefined ? [theNamespace({ selectionScope: 'NamespaceOnly' })] : [CONFIG_MAPS],
  });

  scenario.for(families)('keeps a cluster that is leaving until it is gone', {}, async (it) => {
    await placed(it, picks(2));
    expect(await it.clusters()).toEqual(['c2', 'c3']);
    await it.fleet.patch('memberclusters', undefined, 'c3', { metadata: { finalizers: ['example.com/mine'] } });
    await it.fleet.deleteMember('c3');
    await it.runs();
    expect(await it.clusters()).toEqual(['c2', 'c3']);
    await it.change(fewer(it));
    await it.runs();
    expect(await it.clusters()).toEqual(['c2', 'c3']);
    expect(await it.said()).toMatchObject({ Scheduled: DONE.Scheduled });
    await it.fleet.patch('memberclusters', undefined, 'c3', { metadata: { finalizers: null } });
    await it.runs(60_000);
    expect(await it.clusters()).toEqual(['c1', 'c2']);
    expect(await it.said()).toEqual(DONE);
  });

  scenario.for(families)(
    'in the moment in which a cluster joins does not keep that away',
    { members: 2 },
    async (it) => {
      await placed(it);
      const joins = it.join('c3');
      await it.change(fewer(it));
      await joins;
      await it.runs();
      expect(await it.clusters()).toEqual(['c1', 'c2', 'c3']);
      expect(await it.said()).toEqual(DONE);
    },
  );
});

describe('a placement that is deleted', () => {
  scenario.for(families)(
    'takes all it placed with it and nothing else',
    {
      async prepare(member) {
        await member.create('namespaces', undefined, { metadata: { name: 'other' } });
        await member.create('configmaps', 'other', { metadata: { name: 'app' }, data: { value: 'theirs' } });
      },
    },
    async (it) => {
      await placed(it);
      await it.unplace();
      await it.runs(30_000);
      expect(await it.values()).toEqual(all('-'));
      expect(await it.images()).toEqual(all('-'));
      for (const cluster of ['c1', 'c2', 'c3']) {
        const member = it.fleet.member(cluster);
        expect(await member.get('configmaps', 'other', 'app')).toMatchObject({ data: { value: 'theirs' } });
        const { list } = await member.call({ verb: 'list', at: member.at('appliedworks') });
        expect(list?.items).toEqual([]);
        expect((await it.find(cluster, 'namespaces', SHOP)) !== undefined).toBe(it.namespace !== undefined);
        expect(await it.work(cluster)).toBeUndefined();
      }
      expect(await it.bindings()).toEqual([]);
      const { hub } = it.fleet;
      for (const { plural } of [it.family.placement, it.family.policySnapshot, it.family.resourceSnapshot]) {
        expect((await hub.call({ verb: 'list', at: hub.at(plural) })).list?.items).toEqual([]);
      }
      // The originals belong to the user.
      expect(await hub.get('configmaps', SHOP, 'app')).toMatchObject({ data: { value: '1' } });
    },
  );
});

describe('a cluster that is given up', () => {
  scenario.for(families)('is named as long as it still has something, and no longer', {}, async (it) => {
    await placed(it, picks(3));
    for (const cluster of ['c1', 'c2', 'c3'])
      await it.patchOn(cluster, 'configmaps', 'app', { metadata: { finalizers: ['example.com/mine'] } });
    await it.change(picks(2));
    await it.runs();
    const left = (await it.bindings()).find(({ metadata }) => metadata.deletionTimestamp !== undefined);
    const cluster = left?.spec.targetCluster ?? '';
    expect(await it.holds()).toMatchObject([
      {
        code: 'RemovalPending',
        on: { kind: 'MemberCluster', name: cluster },
        clusters: [cluster],
        next: expect.stringContaining(`"${cluster}"`),
      },
    ]);
    await it.patchOn(cluster, 'configmaps', 'app', { metadata: { finalizers: null } });
    await it.runs();
    expect(await it.holds()).toEqual([]);
    expect(await it.bindings()).toHaveLength(2);
  });
});

describe('a placement that is to leave behind what it placed', () => {
  const keeping = (propagationPolicy: string) => ({ strategy: { deleteStrategy: { propagationPolicy } } });

  scenario.for(families)('is deleted, and what it has placed stays without our marks', { members: 1 }, async (it) => {
    await placed(it);
    await it.change(keeping('Abandon'));
    await it.unplace();
    await it.runs(30_000);
    await expect(it.placement()).rejects.toThrow('not found');
    expect(await it.work('c1')).toBeUndefined();
    expect(await it.values()).toEqual({ c1: '1' });
    const live = await it.find('c1', 'configmaps', 'app');
    expect(live?.metadata.ownerReferences ?? []).toEqual([]);
    expect(live?.metadata.annotations ?? {}).toEqual({});
    await it.runs(20 * 60_000);
    expect(await it.values()).toEqual({ c1: '1' });
  });

  scenario.for(families)('still cleans up a cluster that is no longer picked', { members: 2 }, async (it) => {
    await placed(it, { policy: { placementType: 'PickFixed', clusterNames: ['c1', 'c2'] }, ...keeping('Abandon') });
    await it.change({ policy: { placementType: 'PickFixed', clusterNames: ['c1'] } });
    await it.runs(30_000);
    expect(await it.values()).toEqual({ c1: '1', c2: '-' });
  });
});

describe('limits that are written as numbers in quotes', () => {
  scenario.for(families)('are those numbers', {}, async (it) => {
    await placed(it, rolls({ maxUnavailable: '3', maxSurge: '1' }));
    await it.give(configMap('2'));
    await it.runs();
    expect(await it.values()).toEqual(all('2'));
    expect(await it.said()).toEqual(DONE);
  });
});

describe('what a member has already', () => {
  const theirs = {
    members: 1,
    async prepare(member: Delivery['fleet']['hub']) {
      await member.create('namespaces', undefined, { metadata: { name: SHOP } }).catch(() => {});
      await member.create('configmaps', SHOP, { metadata: { name: 'app' }, data: { value: 'theirs', kept: 'yes' } });
      await member.create('configmaps', SHOP, { metadata: { name: 'own' }, data: {} });
    },
  };
  const takesOver = (whenToTakeOver: string) => ({
    strategy: { type: 'RollingUpdate', applyStrategy: { whenToTakeOver } },
  });

  scenario.for(families)(
    'is left alone with Never, and said so by name; the rest is placed and later removed',
    theirs,
    async (it) => {
      await placed(it, takesOver('Never'));
      expect(await it.values()).toEqual({ c1: 'theirs' });
      expect(await it.images()).toEqual({ c1: 'web:1' });
      expect((await it.said())['Applied']).toBe('False/ApplyFailed');
      const failed = await it.failedOn('c1');
      expect(failed).toEqual([
        'ConfigMap app: NotTakenOver: ConfigMap "shop/app" was on the member before, and whenToTakeOver is Never',
        ...(it.namespace === undefined
          ? ['Namespace shop: NotTakenOver: Namespace "shop" was on the member before, and whenToTakeOver is Never']
          : []),
      ]);
      await it.unplace();
      await it.runs(30_000);
      expect(await it.images()).toEqual({ c1: '-' });
      expect(await it.find('c1', 'configmaps', 'app')).toMatchObject({ data: { value: 'theirs', kept: 'yes' } });
      expect(await it.find('c1', 'configmaps', 'own')).toBeDefined();
    },
  );

  scenario.for(families)('heals when they take their object away', theirs, async (it) => {
    await placed(it, takesOver('Never'));
    await it.removeOn('c1', 'configmaps', 'app');
    await it.runs();
    expect(await it.values()).toEqual({ c1: '1' });
    if (it.namespace !== undefined) expect(await it.said()).toEqual(DONE);
  });

  scenario.for(families)('changes hands with Always, and keeps what the hub does not speak of', theirs, async (it) => {
    await placed(it, takesOver('Never'));
    expect(await timesTold(it, 'PlacementApplyStrategyChanged')).toBe(0);
    await it.change(takesOver('Always'));
    await it.runs();
    expect(await it.said()).toEqual(DONE);
    // It does not use the budget.
    expect(await timesTold(it, 'PlacementApplyStrategyChanged')).toBe(1);
    expect(await it.find('c1', 'configmaps', 'app')).toMatchObject({ data: { value: '1', kept: 'yes' } });
    expect(await it.find('c1', 'configmaps', 'own')).toBeDefined();
  });
});

describe('a namespace by one placement and what is in it by another', () => {
  test('the namespace goes alone, and only labelled ConfigMaps follow, where they should', async () => {
    await using it = await aDelivery(clusterFamily);
    const { hub } = it.fleet;
    const labelled = { ...configMap('1'), metadata: { name: 'app', namespace: SHOP, labels: { app: 'web' } } };
    await it.give(labelled, configMap('x', 'unlabelled'));
    const selector = { ...CONFIG_MAPS, labelSelector: { matchLabels: { app: 'web' } } };
    // Both at once, as from one file: the namespace does not exist on the clusters yet.
    await hub.create('resourceplacements', SHOP, {
      metadata: { name: 'configs' },
      spec: { resourceSelectors: [selector], policy: { placementType: 'PickFixed', clusterNames: ['c1', 'c2'] } },
    });
    await it.place({ resourceSelectors: [theNamespace({ selectionScope: 'NamespaceOnly' })] });
    await it.runs();
    expect((await it.status()).selectedResources?.map(({ kind }) => kind)).toEqual(['Namespace']);
    expect(await it.said()).toEqual(DONE);
    for (const cluster of ['c1', 'c2', 'c3']) expect(await it.find(cluster, 'namespaces', SHOP)).toBeDefined();
    // Objects that failed because the namespace was missing are applied when it is created.
    await it.runs(120_000);
    expect(await it.values()).toEqual({ c1: '1', c2: '1', c3: '-' });
    expect(await it.find('c1', 'configmaps', 'unlabelled')).toBeUndefined();
    expect(namespacedFamily.placement.plural).toBe('resourceplacements');
    const status = (await hub.get('resourceplacements', SHOP, 'configs')).status as {
      conditions: { status: string }[];
    };
    expect(status.conditions.map((each) => each.status)).toEqual(Array(6).fill('True'));
  });

  test('what is in it follows at once, wherever it goes: no heartbeat is waited for', async () => {
    await using it = await aDelivery(clusterFamily, { heartbeatPeriodSeconds: 600 });
    const { hub } = it.fleet;
    await it.give(configMap('1'));
    await it.place({
      resourceSelectors: [theNamespace({ selectionScope: 'NamespaceOnly' })],
      policy: { placementType: 'PickFixed', clusterNames: ['c1', 'c2'] },
    });
    await hub.create('resourceplacements', SHOP, {
      metadata: { name: 'configs' },
      spec: { resourceSelectors: [CONFIG_MAPS], policy: { placementType: 'PickAll' } },
    });
    await it.runs(10_000);
    expect(await it.values()).toEqual({ c1: '1', c2: '1', c3: '-' });
  });
});

describe('claims on volumes', () => {
  const CLAIM = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'disk', namespace: SHOP },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  };
  const claimsOf = (it: Delivery) =>
    it.namespace === undefined ? {} : { resourceSelectors: [CONFIG_MAPS, selects('', 'v1', 'PersistentVolumeClaim')] };
  const hasClaim = async (it: Delivery) =>
    (await it.find('c1', 'persistentvolumeclaims', CLAIM.metadata.name)) !== undefined;

  for (const [says, flags, isPlaced] of [
    ['are placed', {}, true],
    ['stay where workloads run on the hub itself (--enable-workload)', { enableWorkload: true }, false],
  ] as const) {
    const options = { members: 1, placements: placementsOf(flags) };
    scenario.for(families)(says, options, async (it) => {
      await it.give(CLAIM, configMap('1'));
      await it.place(claimsOf(it));
      await it.runs();
      expect(await it.values()).toEqual({ c1: '1' });
      expect(await hasClaim(it)).toBe(isPlaced);
    });

    scenario.for(families)(`with a run they ${says}`, options, async (it) => {
      await it.give(CLAIM);
      const run = await prepared(it, AT_ONCE, claimsOf(it));
      await run.run();
      await it.runs();
      expect(await it.values()).toEqual({ c1: '1' });
      expect(await hasClaim(it)).toBe(isPlaced);
    });
  }
});
