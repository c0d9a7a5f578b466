// Partitioned rollouts, pauses and cluster groups, in both families, on real API servers in memory.
import { describe, expect } from 'vitest';
import { annotations } from '../../src/api/names.ts';
import { ApiError, LostError } from '../../src/base/errors.ts';
import { families } from '../../src/hub/families.ts';
import { configMap, type Delivery, DONE, deployment, scenario } from '../delivery.ts';

const partitions = (partitioned: object, more: object = {}) => ({
  strategy: { type: 'Partitioned', partitioned, ...more },
});
const MEMBERS = {
  c1: { stage: 'canary' },
  c2: { stage: 'canary' },
  c3: { stage: 'prod' },
  c4: { stage: 'prod' },
  c5: {},
};
const BY_STAGE = ['canary', 'prod'].map((stage) => ({ name: stage, clusterSelector: { matchLabels: { stage } } }));

/** Heartbeats are missed for five minutes before a member counts as unreachable. */
const UNTIL_UNREACHABLE_MS = 420_000;

async function installed(it: Delivery, spec: object): Promise<void> {
  await it.give(configMap('1'), deployment('web:1'));
  await it.place(spec);
  await it.runs();
}

const rolloutOf = async (it: Delivery) => (await it.status()).rollout;
const codesOf = async (it: Delivery) => (await it.holds()).map(({ code }) => code);

async function eventsOf(it: Delivery, reason: string): Promise<readonly string[]> {
  const { hub } = it.fleet;
  const { list } = await hub.call({ verb: 'list', at: hub.at('events', it.namespace ?? 'default') });
  return ((list?.items ?? []) as unknown as { reason: string; message: string }[])
    .filter((event) => event.reason === reason)
    .map(({ message }) => message);
}

describe('a partitioned rollout', () => {
  scenario.for(families)(
    'reaches one partition after the other, and stops at one that is not ready',
    { members: MEMBERS },
    async (it) => {
      await installed(it, partitions({ maxUnavailable: 1, partitions: BY_STAGE }));
      expect(await it.images()).toMatchObject({ c1: 'web:1', c4: 'web:1', c5: '-' });
      expect(await rolloutOf(it)).toMatchObject({
        desiredReady: 5,
        ready: 4,
        pending: 1,
        partitions: [
          { name: 'canary', count: 2, maxUnavailable: 1, notReady: 0, state: 'Ready' },
          { name: 'prod', count: 2, maxUnavailable: 1, notReady: 0, state: 'Ready' },
        ],
      });
      expect(await codesOf(it)).toEqual(['NoPartition']);

      await it.give(deployment('web:bad'));
      await it.runs();
      // One canary may be unavailable, so the other one and the next partition keep the working content.
      expect(await it.images()).toMatchObject({ c1: 'web:bad', c2: 'web:1', c3: 'web:1', c4: 'web:1' });
      expect(await rolloutOf(it)).toMatchObject({
        state: 'OutOfSync',
        notReady: 1,
        outOfSync: 3,
        pending: 1,
        unavailable: 1,
        unavailablePartitions: 1,
        partitions: [
          { name: 'canary', unavailable: 1, notReady: 2, state: 'NotReady' },
          { name: 'prod', state: 'Pending' },
        ],
      });
      const codes = await codesOf(it);
      expect(codes).toContain('PartitionWindow');
      expect(codes).toContain('EarlierPartition');
      const window = (await it.holds()).find(({ code }) => code === 'PartitionWindow');
      expect(window?.on?.name).toBe('c1');

      const told = (reason: string) => eventsOf(it, reason);
      expect(await told('PlacementPartitionStarted')).toContainEqual(
        expect.stringContaining('The rollout has reached partition "canary"'),
      );

      await it.give(deployment('web:2'));
      await it.runs(300_000);
      expect(await told('PlacementPartitionReady')).toContainEqual(
        expect.stringContaining('Partition "canary" is ready'),
      );
      expect(await it.images()).toMatchObject({ c1: 'web:2', c2: 'web:2', c3: 'web:2', c4: 'web:2', c5: '-' });
      expect(await rolloutOf(it)).toMatchObject({ state: 'Pending', ready: 4, outOfSync: 0 });
    },
  );

  scenario.for(families)(
    'with a limit of 0 updates one cluster at a time and finishes',
    { members: { c1: { stage: 'canary' }, c2: { stage: 'prod' }, c3: { stage: 'prod' } } },
    async (it) => {
      await installed(it, partitions({ maxUnavailable: 0, maxUnavailablePartitions: 0, partitions: BY_STAGE }));
      expect(await it.said()).toEqual(DONE);
      await it.give(deployment('web:2'));
      await it.runs(300_000);
      expect(await it.images()).toEqual({ c1: 'web:2', c2: 'web:2', c3: 'web:2' });
      expect(await rolloutOf(it)).toMatchObject({ state: 'Ready', ready: 3, desiredReady: 3 });
      expect(await it.said()).toEqual(DONE);
    },
  );

  scenario.for(families)('follows the labels of members and of groups', { members: MEMBERS }, async (it) => {
    await it.fleet.hub.create('clustergroups', undefined, {
      metadata: { name: 'first' },
      spec: { selector: { matchLabels: { stage: 'canary' } } },
    });
    await installed(it, partitions({ partitions: [{ name: 'first', clusterGroup: 'first' }] }));
    expect(await it.images()).toEqual({ c1: 'web:1', c2: 'web:1', c3: '-', c4: '-', c5: '-' });
    await it.fleet.patch('memberclusters', undefined, 'c5', { metadata: { labels: { stage: 'canary' } } });
    await it.runs();
    expect(await it.images()).toMatchObject({ c3: '-', c5: 'web:1' });
    await it.fleet.patch('clustergroups', undefined, 'first', { spec: { selector: { matchLabels: null } } });
    await it.runs();
    expect(await it.images()).toMatchObject({ c3: 'web:1', c4: 'web:1' });
    const group = await it.fleet.hub.get('clustergroups', undefined, 'first');
    expect(group.status).toMatchObject({ clusterCount: 5, readyClusterCount: 5, nonReadyClusterCount: 0 });
    expect(group.status).not.toHaveProperty('nonReadyClusters');
    for (const cluster of ['c4', 'c2']) it.fleet.cut(cluster, true);
    await it.runs(UNTIL_UNREACHABLE_MS);
    const status = async () => (await it.fleet.hub.get('clustergroups', undefined, 'first')).status;
    expect(await status()).toMatchObject({
      clusterCount: 5,
      readyClusterCount: 3,
      nonReadyClusterCount: 2,
      nonReadyClusters: ['c2', 'c4'],
    });
    for (const cluster of ['c4', 'c2']) it.fleet.cut(cluster, false);
    await it.runs(120_000);
    expect(await status()).not.toHaveProperty('nonReadyClusters');
  });

  scenario.for(families)('leaves a paused cluster alone', { members: 2 }, async (it) => {
    await installed(it, partitions({}));
    await it.fleet.patch('memberclusters', undefined, 'c1', {
      metadata: { annotations: { [annotations.memberPaused]: 'true' } },
    });
    await it.give(configMap('2'));
    await it.runs();
    expect(await it.values()).toEqual({ c1: '1', c2: '2' });
    expect(await it.holds()).toMatchObject([{ code: 'Paused', clusters: ['c1'] }]);
    await it.fleet.patch('memberclusters', undefined, 'c1', {
      metadata: { annotations: { [annotations.memberPaused]: null } },
    });
    await it.runs();
    expect(await it.values()).toEqual({ c1: '2', c2: '2' });
  });
});

describe('a batch of a partitioned rollout', () => {
  const TWO_BATCHES = partitions({ maxUnavailable: 1, maxNew: 4 });
  const FIRST_BATCH = { c1: 'web:bad', c2: 'web:bad', c3: 'web:bad', c4: 'web:bad', c5: '-', c6: '-' };

  /** The first writes of the hub to the binding of each of these clusters fail. */
  function failMoves(it: Delivery, failing: Readonly<Record<string, () => Error>>, times = 1): ReadonlySet<string> {
    const failed = new Set<string>();
    const counts = new Map<string, number>();
    it.fleet.meddle = (who, request) => {
      const { verb, at } = request;
      if (who !== 'hub' || verb !== 'patch' || at.resource.kind !== it.family.binding.kind) return undefined;
      const cluster = Object.keys(failing).find((each) => at.name?.includes(`-${each}-`));
      const { spec } = request.patch.body as { readonly spec?: { readonly state?: string } };
      if (cluster === undefined || spec?.state !== 'Bound') return undefined;
      const count = (counts.get(cluster) ?? 0) + 1;
      counts.set(cluster, count);
      if (count > times) return undefined;
      failed.add(cluster);
      return failing[cluster]?.();
    };
    return failed;
  }
  const conflict = () => new ApiError(409, 'Conflict', 'the object has been modified');
  const lost = () => new LostError('no response');
  const FAILURES: readonly (readonly [it: string, failing: Readonly<Record<string, () => Error>>])[] = [
    ['conflict', { c2: conflict, c3: conflict }],
    ['are lost', { c2: lost }],
    ['conflict, the first one included', { c1: conflict, c4: conflict }],
  ];

  for (const [what, failing] of FAILURES) {
    scenario.for(families)(`is completed when some of its moves ${what}`, { members: 6 }, async (it) => {
      const failed = failMoves(it, failing);
      await it.give(configMap('1'), deployment('web:bad'));
      await it.place(TWO_BATCHES);
      await it.runs();
      expect([...failed].sort()).toEqual(Object.keys(failing));
      expect(await it.images()).toEqual(FIRST_BATCH);
      expect((await it.holds()).find(({ code }) => code === 'BatchGate')).toMatchObject({ clusters: ['c5', 'c6'] });

      await it.give(deployment('web:1'));
      await it.runs(300_000);
      expect(new Set(Object.values(await it.images()))).toEqual(new Set(['web:1']));
    });
  }

  scenario.for(families)('is completed after a restart of the hub', { members: 6 }, async (it) => {
    failMoves(it, { c2: lost, c3: lost, c4: lost }, Infinity);
    await it.give(configMap('1'), deployment('web:bad'));
    await it.place(TWO_BATCHES);
    await it.runs(5_000);
    expect(await it.images()).toMatchObject({ c1: 'web:bad', c2: '-', c3: '-', c4: '-' });
    it.fleet.meddle = undefined;
    await it.fleet.restartHub({ delivers: {} });
    await it.runs();
    expect(await it.images()).toEqual(FIRST_BATCH);
  });

  scenario.for(families)('includes clusters that a deleted placement has not left yet', { members: 6 }, async (it) => {
    await installed(it, TWO_BATCHES);
    await it.give(deployment('web:bad'));
    const behind = ['c3', 'c4', 'c5', 'c6'];
    for (const cluster of behind) it.fleet.cut(cluster, true);
    await it.unplace();
    await it.place(TWO_BATCHES);
    await it.runs(5_000);
    expect(await it.images()).toMatchObject({ c1: 'web:bad', c2: 'web:bad', c3: 'web:1' });
    const waiting = (await it.holds()).filter(({ code }) => code === 'PredecessorLeaving');
    expect(waiting.flatMap(({ clusters }) => clusters)).toEqual(behind);
    for (const cluster of behind) it.fleet.cut(cluster, false);
    await it.runs();
    expect(await it.images()).toEqual(FIRST_BATCH);
  });
});

describe('a paused placement', () => {
  const STRATEGIES = {
    RollingUpdate: { rollingUpdate: { maxUnavailable: 1 } },
    Partitioned: { partitioned: { maxUnavailable: 1 } },
  };

  for (const [type, limits] of Object.entries(STRATEGIES)) {
    const strategy = { type, ...limits };

    scenario.for(families)(`with ${type} moves and removes nothing until it is resumed`, { members: 3 }, async (it) => {
      await installed(it, { strategy, policy: { placementType: 'PickFixed', clusterNames: ['c1', 'c2'] } });
      await it.change({ strategy: { paused: true } });
      await it.give(configMap('2'));
      await it.change({ policy: { placementType: 'PickFixed', clusterNames: ['c2', 'c3'] } });
      await it.runs();
      expect(await it.values()).toEqual({ c1: '1', c2: '1', c3: '-' });
      expect(await codesOf(it)).toEqual(['Paused']);
      await it.change({ strategy: { paused: false } });
      await it.runs(300_000);
      expect(await it.values()).toEqual({ c1: '-', c2: '2', c3: '2' });
    });

    scenario.for(families)(
      `with ${type} finishes what its members apply already`,
      { members: 3, delivers: { pullMs: 15_000, readyMs: 15_000 } },
      async (it) => {
        await installed(it, { strategy });
        await it.runs(120_000);
        expect(await it.said()).toEqual(DONE);
        await it.give(deployment('web:2'));
        await it.runs();
        const moved = async () =>
          Object.entries(await it.images()).flatMap(([cluster, image]) => (image === 'web:2' ? [cluster] : []));
        expect(await moved()).toEqual(['c1']);
        expect((await it.saidOf('c1'))['Available']).not.toMatch(/^True/);
        await it.change({ strategy: { paused: true } });
        await it.runs(300_000);
        expect(await moved()).toEqual(['c1']);
        expect((await it.saidOf('c1'))['Available']).toMatch(/^True/);
        expect(await codesOf(it)).toEqual(['Paused']);
        await it.change({ strategy: { paused: false } });
        await it.runs(300_000);
        expect(await moved()).toEqual(['c1', 'c2', 'c3']);
      },
    );
  }
});

describe('a change of the strategy in mid-rollout', () => {
  scenario.for(families)('changes from one strategy to the other in mid-rollout', { members: 3 }, async (it) => {
    await installed(it, partitions({ maxUnavailable: 1 }));
    await it.give(deployment('web:bad'));
    await it.runs();
    expect(Object.values(await it.images()).filter((image) => image === 'web:bad')).toHaveLength(1);
    await it.change({ strategy: { type: 'RollingUpdate', partitioned: null, rollingUpdate: { maxUnavailable: 1 } } });
    await it.runs();
    expect(Object.values(await it.images()).filter((image) => image === 'web:bad')).toHaveLength(1);
    expect(await rolloutOf(it)).toBeUndefined();
    await it.give(deployment('web:2'));
    await it.runs(300_000);
    expect(new Set(Object.values(await it.images()))).toEqual(new Set(['web:2']));
  });

  scenario.for(families)('goes from a rolling update to partitions', { members: MEMBERS }, async (it) => {
    const rolling = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } };
    await installed(it, { strategy: rolling });
    await it.give(deployment('web:bad'));
    await it.runs();
    const bad = async () =>
      Object.entries(await it.images()).flatMap(([cluster, image]) => (image === 'web:bad' ? [cluster] : []));
    const [down = '', ...others] = await bad();
    expect(others).toEqual([]);
    // The cluster that is down uses the window of its partition, wherever the rolling update has begun.
    const isDown = { name: 'down', clusterName: down };
    const rest = { name: 'rest', clusterSelector: {} };
    await it.change({
      strategy: {
        type: 'Partitioned',
        rollingUpdate: null,
        partitioned: { maxUnavailable: 1, maxUnavailablePartitions: 0, partitions: [isDown, rest] },
      },
    });
    await it.runs();
    expect(await bad()).toHaveLength(1);
    expect(await rolloutOf(it)).toMatchObject({ unavailable: 1, partitions: [{ unavailable: 1 }, { unavailable: 1 }] });
    await it.give(deployment('web:2'));
    await it.runs(300_000);
    expect(new Set(Object.values(await it.images()))).toEqual(new Set(['web:2']));
    expect(await rolloutOf(it)).toMatchObject({ state: 'Ready', ready: 5 });
  });
});

describe('a partitioned rollout with a progress deadline', () => {
  const stalledOf = async (it: Delivery) => {
    const condition = (await it.status()).conditions?.find(({ type }) => type === 'Stalled');
    return condition && `${condition.status} ${condition.reason}`;
  };
  const DEADLINE = { maxUnavailable: 1, progressDeadlineSeconds: 120, partitions: BY_STAGE };

  scenario.for(families)(
    'is stalled after it, and no longer once a cluster moves',
    { members: MEMBERS },
    async (it) => {
      await installed(it, partitions(DEADLINE));
      // c5 is in no partition, which does not prevent completion.
      expect(await stalledOf(it)).toBe('False RolloutComplete');
      await it.runs(600_000);
      expect(await stalledOf(it)).toBe('False RolloutComplete');

      await it.give(deployment('web:bad'));
      await it.runs(60_000);
      expect(await stalledOf(it)).toBe('False RolloutProgressing');
      await it.runs(120_000);
      expect(await stalledOf(it)).toBe('True ProgressDeadlineExceeded');
      const events = await eventsOf(it, 'PlacementRolloutStalled');
      expect(events).toEqual([expect.stringContaining('no cluster was updated or became ready for 120 s')]);

      await it.change({ strategy: { paused: true } });
      await it.runs();
      expect(await stalledOf(it)).toBe('False RolloutPaused');
      await it.runs(600_000);
      expect(await stalledOf(it)).toBe('False RolloutPaused');
      await it.change({ strategy: { paused: false } });
      await it.runs();
      expect(await stalledOf(it)).toBe('False RolloutProgressing');
      await it.runs(180_000);
      expect(await stalledOf(it)).toBe('True ProgressDeadlineExceeded');

      await it.give(deployment('web:2'));
      await it.runs(300_000);
      expect(await stalledOf(it)).toBe('False RolloutComplete');
      expect(await rolloutOf(it)).not.toHaveProperty('paused');

      // Without a deadline the condition is removed.
      await it.change({ strategy: { partitioned: { progressDeadlineSeconds: null } } });
      await it.runs();
      expect(await stalledOf(it)).toBeUndefined();
      expect((await rolloutOf(it))?.lastProgressTime).toBeUndefined();
    },
  );
});

describe('a placement whose affinity names a cluster group', () => {
  const inGroup = (clusterGroup: string) => ({
    policy: {
      placementType: 'PickAll',
      affinity: {
        clusterAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: { clusterSelectorTerms: [{ clusterGroup }] },
        },
      },
    },
  });

  scenario.for(families)('follows the group', { members: MEMBERS }, async (it) => {
    await it.give(configMap('1'), deployment('web:1'));
    await it.place(inGroup('first'));
    await it.runs();
    expect(await it.clusters()).toEqual([]);
    expect(await it.message('Scheduled')).toContain('ClusterGroup "first" does not exist or has no selector');

    await it.fleet.hub.create('clustergroups', undefined, {
      metadata: { name: 'first' },
      spec: { selector: { matchLabels: { stage: 'canary' } } },
    });
    await it.runs();
    expect(await it.clusters()).toEqual(['c1', 'c2']);
    expect(await it.message('Scheduled')).not.toContain('does not exist');

    // A member joins the group because of its labels.
    await it.fleet.patch('memberclusters', undefined, 'c5', { metadata: { labels: { stage: 'canary' } } });
    await it.runs();
    expect(await it.clusters()).toEqual(['c1', 'c2', 'c5']);

    // The group changes; clusters that leave it keep their content, as with labels.
    await it.fleet.patch('clustergroups', undefined, 'first', {
      spec: { selector: { matchLabels: { stage: 'prod' } } },
    });
    await it.runs();
    expect(await it.clusters()).toEqual(['c1', 'c2', 'c3', 'c4', 'c5']);
    expect(await it.images()).toMatchObject({ c1: 'web:1', c3: 'web:1', c5: 'web:1' });
  });
});
