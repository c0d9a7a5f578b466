// The cost of a delivery: every write of the hub and of the agents, counted by verb and resource. The counts are exact;
// one more is a defect. Events are not counted; heartbeats are, where they matter.
import { describe, expect } from 'vitest';
import { families } from '../../src/hub/families.ts';
import { configMap, type Delivery, DONE, deployment, picks, rolls, SHOP, scenario } from '../delivery.ts';

/** Readable names for counts of writes; the family's plurals and the cluster's name are filled in. */
const TERMS = (it: Delivery): Readonly<Record<string, string>> => ({
  placement: `hub patch ${it.family.placement.plural}`,
  placementStatus: `hub patch ${it.family.placement.plural}/status`,
  policySnapshot: `hub create ${it.family.policySnapshot.plural}`,
  policySnapshotStatus: `hub patch ${it.family.policySnapshot.plural}/status`,
  resourceSnapshot: `hub create ${it.family.resourceSnapshot.plural}`,
  formerSnapshot: `hub patch ${it.family.resourceSnapshot.plural}`,
  ascertained: `hub ascertains ${it.family.resourceSnapshot.plural}`,
  bindingAscertained: `hub ascertains ${it.family.binding.plural}`,
  binding: `hub create ${it.family.binding.plural}`,
  bindingSpec: `hub patch ${it.family.binding.plural}`,
  bindingStatus: `hub patch ${it.family.binding.plural}/status`,
  workMade: 'hub create works',
  work: 'hub patch works',
  workGuarded: 'c1 patch works',
  workStatus: 'c1 patch works/status',
  record: 'c1 at home create appliedworks',
  recordStatus: 'c1 at home patch appliedworks/status',
  namespaceMade: 'c1 at home create namespaces',
  configMapMade: 'c1 at home create configmaps',
  configMap: 'c1 at home patch configmaps',
  deploymentMade: 'c1 at home create deployments',
  deployment: 'c1 at home patch deployments',
});

type Counts = Partial<Record<string, number>>;

function counted(it: Delivery): Counts {
  const names = new Map(Object.entries(TERMS(it)).map(([name, write]) => [write, name]));
  return Object.fromEntries(Object.entries(it.writes()).map(([write, count]) => [names.get(write) ?? write, count]));
}

/**
 * The cost of a new revision on the hub, regardless of the number of clusters. Verifying that it is the newest is a
 * request that stores nothing.
 */
const REVISION = { resourceSnapshot: 1, formerSnapshot: 1, ascertained: 1 };

const atOnce = rolls({ maxUnavailable: '100%' });

interface Row {
  readonly it: string;
  run(it: Delivery): Promise<void>;
  /** Exactly these writes. */
  readonly writes: (it: Delivery) => Counts;
}

const ROWS: readonly Row[] = [
  {
    it: 'a first placement writes finalizers besides',
    run: (it) => it.place(atOnce),
    writes: (it) => ({
      // Two finalizers: crp-cleanup by the placement controller, scheduler-cleanup by the scheduler.
      placement: 2,
      placementStatus: 3,
      policySnapshot: 1,
      policySnapshotStatus: 1,
      resourceSnapshot: 1,
      ascertained: 1,
      bindingAscertained: 1,
      // Created with the finalizers of the scheduler and of the work generator.
      binding: 1,
      // Bound, and released for its member.
      bindingSpec: 1,
      // Applied; available. RolloutStarted comes with the first of them.
      bindingStatus: 2,
      workMade: 1,
      // The member adds the finalizer work-cleanup.
      workGuarded: 1,
      workStatus: 3,
      record: 1,
      recordStatus: 1,
      ...(it.namespace === undefined ? { namespaceMade: 1 } : {}),
      configMapMade: 1,
      deploymentMade: 1,
    }),
  },
  {
    it: 'a change of a ConfigMap',
    run: (it) => it.give(configMap('2')),
    writes: () => ({
      ...REVISION,
      bindingSpec: 1,
      // Started, applied and available.
      bindingStatus: 1,
      work: 1,
      // Planned objects; applied objects.
      workStatus: 2,
      configMap: 1,
      placementStatus: 1,
    }),
  },
  {
    it: 'a change of a Deployment that takes its time',
    run: (it) => it.give(deployment('web:2')),
    writes: () => ({
      ...REVISION,
      bindingSpec: 1,
      bindingStatus: 2,
      work: 1,
      workStatus: 3,
      deployment: 1,
      placementStatus: 2,
    }),
  },
  {
    it: 'content sent again as it is',
    run: (it) => it.give(configMap('2'), deployment('web:2')),
    writes: () => ({}),
  },
  {
    it: 'content written to no other effect: what kubectl notes is not content',
    run: (it) =>
      it.fleet.patch('deployments', SHOP, 'web', {
        metadata: { annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{}' } },
      }),
    writes: () => ({}),
  },
  {
    it: 'a hub and an agent that start anew',
    async run(it) {
      await it.fleet.restartHub();
      await it.fleet.stopAgent('c1');
      it.fleet.startAgent('c1');
    },
    writes: () => ({}),
  },
];

describe('in one cluster', () => {
  scenario.for(families)('everything costs what it must and no more', { members: 1 }, async (it) => {
    await it.give(configMap('1'), deployment('web:1'));
    await it.runs(0);
    for (const row of ROWS) {
      it.forget();
      await row.run(it);
      await it.runs();
      expect({ [row.it]: counted(it) }).toEqual({ [row.it]: row.writes(it) });
      expect(await it.said()).toEqual(DONE);
    }

    // Ten minutes without changes: heartbeats of two writes, and no reconcile of a placement.
    const passes = () =>
      it.fleet.manager
        .state()
        .controllers.filter(({ name }) => name !== 'membership')
        .map((each) => `${each.name} ${each.passes}`);
    const before = passes();
    it.forget();
    await it.runs(600_000);
    const beats = it.fleet.writes.get('c1 patch internalmemberclusters/status') ?? 0;
    expect([9, 10, 11]).toContain(beats);
    expect(Object.fromEntries(it.fleet.writes)).toEqual({
      'c1 patch internalmemberclusters/status': beats,
      'hub patch memberclusters/status': beats,
    });
    expect(passes()).toEqual(before);
  });
});

describe('in several clusters', () => {
  scenario.for(families)('one that has to wait costs one binding status more', { members: 3 }, async (it) => {
    await it.give(deployment('web:1'));
    await it.place(rolls({ maxUnavailable: 1 }));
    await it.runs();
    it.forget();
    await it.give(deployment('web:2'));
    await it.runs(30_000);
    const { bindingSpec, bindingStatus, work } = counted(it);
    expect({ bindingSpec, bindingStatus, work }).toEqual({ bindingSpec: 3, bindingStatus: 2 * 3 + 2, work: 3 });
    for (const cluster of ['c1', 'c2', 'c3']) {
      expect(it.writes()[`${cluster} patch works/status`]).toBe(3);
      expect(it.writes()[`${cluster} at home patch deployments`]).toBe(1);
    }
  });

  scenario.for(families)('a ConfigMap grows with the clusters and with nothing else', { members: 4 }, async (it) => {
    await it.give(configMap('1'));
    await it.place(atOnce);
    await it.runs();
    it.forget();
    const passes = () =>
      it.fleet.manager.state().controllers.find(({ name }) => name === `placement/${it.family.placement.kind}`)?.passes;
    const before = passes() ?? 0;
    await it.give(configMap('2'));
    await it.runs();
    // For its content, its snapshots and its status; not for each of the sixteen binding writes.
    expect((passes() ?? 0) - before).toBe(5);
    const { bindingSpec, bindingStatus, work, placementStatus = 0, ...rest } = counted(it);
    expect({ bindingSpec, bindingStatus, work }).toEqual({ bindingSpec: 4, bindingStatus: 4, work: 4 });
    expect(rest).toMatchObject({ ...REVISION, workStatus: 2, configMap: 1 });
    expect(placementStatus).toBeLessThanOrEqual(2);
  });

  scenario.for(families)('raising N writes nothing on the clusters that are there', { members: 3 }, async (it) => {
    await it.give(configMap('1'));
    await it.place({ ...picks(2), ...atOnce });
    await it.runs();
    it.forget();
    await it.change(picks(3));
    await it.runs();
    const touched = Object.keys(it.writes()).filter((write) => /^c[23] /.test(write));
    expect(touched).toEqual([]);
    expect(counted(it)).toMatchObject({ binding: 1, bindingSpec: 1, workMade: 1 });
    expect(counted(it)['work']).toBeUndefined();
  });
});

describe('Events', () => {
  scenario.for(families)('tell of every revision, however quick it is', { members: 2 }, async (it) => {
    const events = async () => {
      const at = it.fleet.hub.at('events', it.namespace ?? 'default');
      const { list } = await it.fleet.hub.call({ verb: 'list', at });
      const told = (list?.items ?? []).filter(({ reason }) => String(reason).startsWith('Placement'));
      const times = (event: (typeof told)[number]) => Number(event['count'] ?? 1);
      return Object.fromEntries(told.map((event) => [String(event['reason']), times(event)]));
    };
    await it.give(configMap('1'));
    await it.place(atOnce);
    await it.runs(60_000);
    const first = await events();
    expect(Object.keys(first)).toEqual(
      expect.arrayContaining(['PlacementRolloutStarted', 'PlacementAvailable', 'PlacementRolloutCompleted']),
    );
    await it.give(configMap('2'));
    await it.runs(60_000);
    const second = await events();
    for (const reason of ['PlacementRolloutStarted', 'PlacementAvailable', 'PlacementRolloutCompleted'])
      expect([reason, second[reason]]).toEqual([reason, (first[reason] ?? 0) + 1]);
  });
});
