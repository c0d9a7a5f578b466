// The acceptance rows of scheduling: exact picks, scores and conditions, each for a placement on the same nine members.
import { describe, expect, test } from 'vitest';
import { annotations } from '../../api/names.ts';
import type { PlacementPolicy } from '../../api/placement-policy.ts';
import { families, namespacedFamily } from '../families.ts';
import {
  aMember,
  type BindingSetup,
  Hub,
  type HubSetup,
  key,
  long,
  type MemberSetup,
  MINUTE,
  NOW,
  requires,
  shorts,
  spreads,
  term,
  theFleet,
} from './scheduler.testing.ts';

const pickAll = (more: Partial<PlacementPolicy> = {}): PlacementPolicy => ({ placementType: 'PickAll', ...more });
const pickN = (more: Partial<PlacementPolicy> = {}): PlacementPolicy => ({ placementType: 'PickN', ...more });
const pickFixed = (...clusters: readonly string[]): PlacementPolicy => ({
  placementType: 'PickFixed',
  clusterNames: clusters.map(long),
});
const ONE_TO_SEVEN = ['c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7'];
const scheduled = (...clusters: readonly string[]): Record<string, BindingSetup> =>
  Object.fromEntries(clusters.map((each) => [each, {}]));
const noScore = (clusters: readonly string[]) => clusters.map((each) => `${each} (0,0)`);
const isEast = key('region', 'In', 'east');
const isProd = key('env', 'In', 'prod');
const FULFILLED = 'True/SchedulingPolicyFulfilled';
const UNFULFILLED = 'False/SchedulingPolicyUnfulfilled';

const settled = (hub: Hub): Hub => {
  hub.settle();
  return hub;
};

const scopes = families.map((family) => ({
  scope: family.placement.kind,
  family,
  aHub: (setup: HubSetup = {}) => new Hub({ family, ...setup }),
}));

describe.each(scopes)('PickAll of a $scope', ({ family, aHub }) => {
  test.each([
    { it: 'S1 without a policy', policy: undefined },
    { it: 'S1 as a policy', policy: pickAll() },
  ])('$it picks all that are well', ({ policy }) => {
    const hub = settled(aHub(policy === undefined ? {} : { policy }));
    expect(hub.words).toEqual(ONE_TO_SEVEN.map((each) => `${each} Scheduled web-0`));
    expect(hub.condition).toBe(`${FULFILLED} 7`);
    expect(hub.selected).toEqual(noScore(ONE_TO_SEVEN));
    expect(hub.unselected).toEqual(['c9', 'c8']);
  });

  test('S2 picks a member that gets well', () => {
    const hub = settled(aHub({ policy: pickAll() }));
    hub.members = theFleet({ c8: { heartbeat: NOW } });
    expect(hub.pass()).toEqual([
      `patch ${family.policySnapshot.kind}`,
      'create c8',
      `patch ${family.policySnapshot.kind} status`,
    ]);
    expect(hub.live).toEqual([...ONE_TO_SEVEN, 'c8']);
  });

  test('S3 takes nothing away from a member that falls ill', () => {
    const hub = settled(aHub({ policy: pickAll() }));
    hub.members = theFleet({ c3: { heartbeat: NOW - 6 * MINUTE } });
    expect(hub.pass()).toEqual([]);
    expect(hub.live).toEqual(ONE_TO_SEVEN);
  });

  test('S4, S5 required affinity, and a wider one later', () => {
    const hub = settled(
      aHub({ policy: pickAll(requires(term(key('env', 'In', 'canary'), key('region', 'In', 'east', 'west')))) }),
    );
    expect(hub.live).toEqual(['c3', 'c7']);
    hub.bind('c3');
    hub.newPolicy(
      1,
      pickAll(requires(term(key('env', 'In', 'canary')), term(key('region', 'NotIn', 'east', 'central')))),
    );
    hub.settle();
    expect(hub.words).toEqual(['c3 Bound web-1', 'c6 Scheduled web-1', 'c7 Scheduled web-1']);
    expect(hub.condition).toBe(`${FULFILLED} 3`);
  });

  test('S6 is fulfilled also when nothing matches', () => {
    const hub = settled(aHub({ policy: pickAll(requires(term(key('env', 'In', 'moon')))) }));
    expect(hub.words).toEqual([]);
    expect(hub.condition).toBe(`${FULFILLED} 0`);
    expect(hub.unselected.toSorted()).toEqual([...shorts]);
    expect(hub.reasonOf('c1')).toMatch(/^ClusterUnschedulable, .*affinity/);
  });

  test('S41 keeps off tainted members until the taints are gone', () => {
    const tainted = { taints: ['key=value'] };
    const hub = settled(aHub({ policy: pickAll(), members: theFleet({ c1: tainted, c4: tainted, c7: tainted }) }));
    expect(hub.live).toEqual(['c2', 'c3', 'c5', 'c6']);
    expect(hub.reasonOf('c1')).toBe(
      'ClusterUnschedulable, cluster has taint key=value:NoSchedule, which is not tolerated',
    );
    hub.members = theFleet();
    hub.settle();
    expect(hub.live).toEqual(ONE_TO_SEVEN);
  });

  test('S42 a taint drives nothing out', () => {
    const hub = settled(aHub({ policy: pickAll() }));
    hub.members = theFleet({ c1: { taints: ['a=b'] }, c2: { taints: ['a=b'] } });
    expect(hub.pass()).toEqual([]);
    expect(hub.live).toEqual(ONE_TO_SEVEN);
  });
});

describe.each(scopes)('PickFixed of a $scope', ({ aHub }) => {
  test('S7 takes those that are there and well, and names the others', () => {
    const hub = settled(aHub({ policy: pickFixed('c1', 'c2', 'c4', 'c5', 'c6', 'c8', 'c9', 'missing') }));
    expect(hub.words).toEqual(['c1', 'c2', 'c4', 'c5', 'c6'].map((each) => `${each} Scheduled web-0`));
    expect(hub.condition).toBe(`${UNFULFILLED} 5`);
    expect(hub.selected).toEqual(['c1', 'c2', 'c4', 'c5', 'c6']);
    expect(hub.unselected).toEqual(['c8', 'c9', 'missing']);
    expect(hub.reasonOf('c8')).toContain(long('c8'));
    expect(hub.reasonOf('missing')).toContain('no member');
  });

  const earlier: Record<string, BindingSetup> = { c1: { state: 'Bound' }, c2: { state: 'Bound' }, c4: {} };

  test('S8 a longer list leaves what is there', () => {
    const hub = settled(aHub({ snapshot: 1, policy: pickFixed('c1', 'c2', 'c4', 'c5', 'c6'), bindings: earlier }));
    expect(hub.words).toEqual([
      'c1 Bound web-1',
      'c2 Bound web-1',
      'c4 Scheduled web-1',
      'c5 Scheduled web-1',
      'c6 Scheduled web-1',
    ]);
    expect(hub.condition).toBe(`${FULFILLED} 5`);
  });

  test('S9 another list gives up what was there, under the old snapshot', () => {
    const hub = settled(aHub({ snapshot: 1, policy: pickFixed('c5', 'c6'), bindings: earlier }));
    expect(hub.words).toEqual([
      'c1 Unscheduled (Bound) web-0',
      'c2 Unscheduled (Bound) web-0',
      'c4 Unscheduled (Scheduled) web-0',
      'c5 Scheduled web-1',
      'c6 Scheduled web-1',
    ]);
  });

  test('S44 does not look at taints', () => {
    const tainted = { taints: ['key=value'] };
    const members = theFleet({ c1: tainted, c4: tainted, c6: tainted });
    expect(settled(aHub({ policy: pickFixed('c1', 'c4', 'c6'), members })).live).toEqual(['c1', 'c4', 'c6']);
  });

  test('an empty list is like PickN 0: all is given up and the policy is fulfilled', () => {
    const hub = settled(aHub({ snapshot: 1, policy: pickFixed(), bindings: earlier }));
    expect(hub.live).toEqual([]);
    expect(hub.condition).toBe(`${FULFILLED} 0`);
    expect(hub.status.targetClusters).toEqual([]);
  });

  test('S52 changed: a member that is unwell keeps what it has through a change of the list, and counts', () => {
    const members = theFleet({ c8: { heartbeat: NOW - 6 * MINUTE } });
    const bindings: Record<string, BindingSetup> = { c1: { state: 'Bound' }, c8: { state: 'Bound' } };
    const hub = settled(aHub({ snapshot: 1, policy: pickFixed('c1', 'c2', 'c8'), members, bindings }));
    expect(hub.words).toEqual(['c1 Bound web-1', 'c2 Scheduled web-1', 'c8 Bound web-1']);
    expect(hub.condition).toBe(`${FULFILLED} 3`);
    expect(hub.reasonOf('c8')).toContain('none since 2025-12-31T23:54:00Z');
  });

  test('does not look for the namespace of a ResourcePlacement', () => {
    const members = theFleet({ c1: { namespaces: ['other'] } });
    expect(settled(aHub({ family: namespacedFamily, policy: pickFixed('c1'), members })).live).toEqual(['c1']);
  });
});

interface Row {
  readonly it: string;
  readonly n: number;
  readonly policy?: Partial<PlacementPolicy>;
  /** Sorted by name. */
  readonly picks: readonly string[];
  readonly others: readonly string[];
  readonly found?: number;
  readonly members?: Record<string, MemberSetup>;
}

describe.each(scopes)('PickN of a $scope', ({ aHub }) => {
  test.each<Row>([
    {
      it: 'S10 three',
      n: 3,
      picks: noScore(['c5', 'c6', 'c7']),
      others: [...noScore(['c4', 'c3', 'c2', 'c1']), 'c9', 'c8'],
    },
    { it: 'S11 more than there are', n: 10, found: 7, picks: noScore(ONE_TO_SEVEN), others: ['c9', 'c8'] },
    { it: 'S12 none', n: 0, picks: [], others: [] },
    {
      it: 'S13 required affinity',
      n: 2,
      policy: requires(term(isEast, isProd)),
      picks: noScore(['c1', 'c2']),
      others: ['c3', 'c4', 'c5', 'c6', 'c7', 'c9', 'c8'],
    },
    {
      it: 'S14 one of two terms',
      n: 4,
      policy: requires(term(isEast, isProd), term(key('region', 'In', 'west'), key('env', 'NotIn', 'prod'))),
      found: 3,
      picks: noScore(['c1', 'c2', 'c7']),
      others: ['c3', 'c4', 'c5', 'c6', 'c9', 'c8'],
    },
    {
      it: 'S17 spread over regions, strictly',
      n: 2,
      policy: spreads(['region', 'DoNotSchedule', 1]),
      picks: ['c5 (0,0)', 'c7 (-1,0)'],
      others: ['c4 (0,0)', 'c3 (0,0)', 'c2 (0,0)', 'c1 (0,0)', 'c6', 'c9', 'c8'],
    },
    {
      it: 'S18 spread over regions and environments, strictly',
      n: 2,
      policy: spreads(['region', 'DoNotSchedule', 1], ['env', 'DoNotSchedule', 1]),
      picks: ['c5 (1,0)', 'c7 (-2,0)'],
      others: ['c4 (1,0)', 'c2 (1,0)', 'c1 (1,0)', 'c3', 'c6', 'c9', 'c8'],
    },
    {
      it: 'S19 spread over regions, if possible',
      n: 2,
      policy: spreads(['region', 'ScheduleAnyway', 1]),
      picks: ['c5 (0,0)', 'c7 (-1,0)'],
      others: ['c4 (0,0)', 'c3 (0,0)', 'c2 (0,0)', 'c1 (0,0)', 'c6 (-1000,0)', 'c9', 'c8'],
    },
    {
      it: 'S20 spread over both, if possible',
      n: 2,
      policy: spreads(['region', 'ScheduleAnyway', 1], ['env', 'ScheduleAnyway', 1]),
      picks: ['c5 (1,0)', 'c7 (-2,0)'],
      others: ['c4 (1,0)', 'c2 (1,0)', 'c1 (1,0)', 'c6 (-999,0)', 'c3 (-1000,0)', 'c9', 'c8'],
    },
    {
      it: 'S21 affinity and spread',
      n: 2,
      policy: { ...requires(term(key('region', 'NotIn', 'west'))), ...spreads(['region', 'DoNotSchedule', 1]) },
      picks: ['c3 (0,0)', 'c5 (-1,0)'],
      others: ['c2 (0,0)', 'c1 (0,0)', 'c4', 'c6', 'c7', 'c9', 'c8'],
    },
    {
      it: 'S23 an empty domain that cannot be reached stops the others',
      n: 4,
      policy: { ...requires(term(isProd)), ...spreads(['env', 'DoNotSchedule', 1]) },
      found: 1,
      picks: ['c6 (-1,0)'],
      others: ['c1', 'c2', 'c3', 'c4', 'c5', 'c7', 'c9', 'c8'],
    },
    {
      it: 'S25 a second round over the regions',
      n: 4,
      policy: spreads(['region', 'DoNotSchedule', 1]),
      picks: ['c3 (1,0)', 'c5 (0,0)', 'c6 (-1,0)', 'c7 (-1,0)'],
      others: ['c4 (-1,0)', 'c2 (-1,0)', 'c1 (-1,0)', 'c9', 'c8'],
    },
    {
      it: 'S26 two environments',
      n: 5,
      policy: spreads(['env', 'DoNotSchedule', 1]),
      picks: ['c3 (1,0)', 'c4 (-1,0)', 'c5 (-1,0)', 'c6 (1,0)', 'c7 (-1,0)'],
      others: ['c2 (-1,0)', 'c1 (-1,0)', 'c9', 'c8'],
    },
    {
      it: 'S43 tainted',
      n: 2,
      policy: requires(term(isEast, isProd)),
      members: { c1: { taints: ['a=b'] }, c2: { taints: ['a=b'] } },
      found: 0,
      picks: [],
      others: ['c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7', 'c9', 'c8'],
    },
  ])('$it', ({ n, policy, picks, others, members, found = n }) => {
    const hub = settled(
      aHub({ policy: pickN(policy), numberOfClusters: n, ...(members && { members: theFleet(members) }) }),
    );
    expect(hub.live).toEqual(picks.map((each) => each.split(' ')[0]));
    expect(hub.selected).toEqual(picks);
    expect(hub.unselected).toEqual(others);
    expect(hub.condition).toBe(`${found >= n ? FULFILLED : UNFULFILLED} ${found}`);
  });

  test('a decision tells the name and both scores', () => {
    const hub = settled(aHub({ policy: pickN(spreads(['region', 'DoNotSchedule', 1])), numberOfClusters: 1 }));
    expect(hub.reasonOf('c7')).toContain(long('c7'));
    expect(hub.reasonOf('c7')).toContain('affinity score: 0, topology spread score: -1');
    expect(hub.reasonOf('c6')).toContain('affinity score: 0, topology spread score: -1');
  });

  test('S27 more: what is there stays, under the same snapshot', () => {
    const hub = settled(aHub({ policy: pickN(), numberOfClusters: 1 }));
    expect(hub.live).toEqual(['c7']);
    hub.annotate(annotations.numberOfClusters, '3');
    hub.settle();
    expect(hub.words).toEqual(['c5 Scheduled web-0', 'c6 Scheduled web-0', 'c7 Scheduled web-0']);
  });

  test('S28 fewer: the smaller names go, and why others were not picked stays known', () => {
    const hub = settled(aHub({ policy: pickN(), numberOfClusters: 3 }));
    const explained = hub.unselected;
    hub.annotate(annotations.numberOfClusters, '1');
    hub.settle();
    expect(hub.words).toEqual([
      'c5 Unscheduled (Scheduled) web-0',
      'c6 Unscheduled (Scheduled) web-0',
      'c7 Scheduled web-0',
    ]);
    expect(hub.selected).toEqual(['c7 (0,0)']);
    expect(hub.unselected).toEqual(explained);
    expect(hub.condition).toBe(`${FULFILLED} 1`);
  });

  test('S29 fewer: those that wait go first, then the lower score', () => {
    const bindings: Record<string, BindingSetup> = {
      c7: { state: 'Bound' },
      c6: { state: 'Bound', score: { affinityScore: 5, priorityScore: 0 } },
      c5: {},
    };
    expect(settled(aHub({ policy: pickN(), numberOfClusters: 1, bindings })).live).toEqual(['c6']);
  });

  test('fewer: of equals, one without a score goes first', () => {
    const bindings: Record<string, BindingSetup> = { c1: {}, c2: { score: undefined }, c3: {} };
    expect(settled(aHub({ policy: pickN(), numberOfClusters: 2, bindings })).live).toEqual(['c1', 'c3']);
  });

  test('fewer and then more takes back what was given up', () => {
    const hub = settled(aHub({ policy: pickN(), numberOfClusters: 3 }));
    hub.bind('c5', 'c7');
    hub.annotate(annotations.numberOfClusters, '1');
    hub.settle();
    expect(hub.words).toEqual(['c5 Unscheduled (Bound) web-0', 'c6 Unscheduled (Scheduled) web-0', 'c7 Bound web-0']);
    hub.annotate(annotations.numberOfClusters, '3');
    hub.settle();
    // The annotation is removed too.
    expect(hub.words).toEqual(['c5 Bound web-0', 'c6 Scheduled web-0', 'c7 Bound web-0']);
  });

  test('S31 who has it from the earlier policy comes before a larger name', () => {
    const hub = settled(
      aHub({ snapshot: 1, policy: pickN(), numberOfClusters: 3, bindings: { c1: { state: 'Bound' }, c2: {} } }),
    );
    expect(hub.words).toEqual(['c1 Bound web-1', 'c2 Scheduled web-1', 'c7 Scheduled web-1']);
  });

  test('a change of a spread keeps in every round who has it already', () => {
    const policy = pickN(spreads(['region', 'DoNotSchedule', 1]));
    const hub = aHub({ snapshot: 1, policy, numberOfClusters: 3, bindings: { c1: { state: 'Bound' }, c4: {} } });
    expect(hub.pass()).not.toContain('create c3');
    expect(hub.words).toEqual(['c1 Bound web-1', 'c4 Scheduled web-1', 'c7 Scheduled web-1']);
  });

  test('a change of the policy keeps a member that is unwell but still matches', () => {
    const members = theFleet({ c2: { heartbeat: NOW - 6 * MINUTE } });
    const bindings: Record<string, BindingSetup> = { c1: { state: 'Bound' }, c2: { state: 'Bound' } };
    const of = (only: ReturnType<typeof term>) =>
      settled(aHub({ snapshot: 1, policy: pickN(requires(only)), numberOfClusters: 2, members, bindings })).live;
    expect(of(term(isEast))).toEqual(['c1', 'c2']);
    expect(of(term(key('env', 'In', 'canary')))).toEqual(['c3', 'c7']);
  });

  test('S43 tolerations make a new snapshot and let them in', () => {
    const members = theFleet({ c1: { taints: ['a=b'] }, c2: { taints: ['a=b'] } });
    const hub = settled(aHub({ policy: pickN(requires(term(isEast, isProd))), numberOfClusters: 2, members }));
    expect(hub.live).toEqual([]);
    const tolerations = [{ key: 'a', operator: 'Equal' as const, value: 'b' }];
    hub.newPolicy(1, pickN({ ...requires(term(isEast, isProd)), tolerations }), 2);
    hub.settle();
    expect(hub.live).toEqual(['c1', 'c2']);
    expect(hub.condition).toBe(`${FULFILLED} 2`);
  });

  test.each([
    { it: 'S45 a domain behind a taint counts, and stays empty', tolerations: [], picks: 'c3 (0,0)' },
    {
      it: 'S45 with a toleration the new domain is picked',
      tolerations: [{ key: 'a', operator: 'Exists' as const }],
      picks: 'cluster-north (0,0)',
    },
  ])('$it', ({ tolerations, picks }) => {
    const policy = pickN({ ...spreads(['region', 'DoNotSchedule', 1]), tolerations });
    const hub = settled(aHub({ policy, numberOfClusters: 2 }));
    expect(hub.live).toEqual(['c5', 'c7']);
    hub.members = theFleet({ 'cluster-north': { labels: { region: 'north', env: 'prod' }, taints: ['a=b'] } });
    hub.annotate(annotations.numberOfClusters, '3');
    hub.settle();
    expect(hub.selected.filter((each) => !/^c[57] /.test(each))).toEqual([picks]);
  });

  test('S49 an evicted cluster may be picked again, beside the binding that goes', () => {
    const bindings: Record<string, BindingSetup> = { c7: { state: 'Bound' }, c6: { state: 'Bound' } };
    const hub = aHub({ policy: pickN(), numberOfClusters: 2, bindings });
    hub.settle();
    hub.bindings = hub.bindings.map((each) => ({
      ...each,
      metadata: { ...each.metadata, finalizers: [...(each.metadata.finalizers ?? []), 'works'] },
    }));
    hub.delete('c7');
    hub.settle();
    expect(hub.words).toEqual(['c6 Bound web-0', 'c7 Scheduled web-0', 'c7 deleting']);
  });

  test('S50 a member that has gone is replaced in the same run', () => {
    const hub = aHub({ policy: pickN(), numberOfClusters: 2, bindings: scheduled('c6', 'c7') });
    hub.members = theFleet().filter(({ metadata }) => metadata.name !== long('c7'));
    hub.pass();
    expect(hub.words).toEqual(['c5 Scheduled web-0', 'c6 Scheduled web-0', 'c7 Unscheduled (Scheduled) web-0']);
  });
});

describe('a ResourcePlacement', () => {
  const fleet = (c3: MemberSetup = {}) =>
    theFleet({
      c1: { namespaces: ['ns', 'other'] },
      c2: { namespaces: ['ns'] },
      c4: { namespaces: ['other'] },
      c5: { namespaces: [] },
      c3,
    });

  test('S46 goes to members that have its namespace, or do not tell', () => {
    const hub = settled(new Hub({ family: namespacedFamily, policy: pickAll(), members: fleet() }));
    expect(hub.live).toEqual(['c1', 'c2', 'c3', 'c6', 'c7']);
    expect(hub.reasonOf('c4')).toContain('"ns"');
  });

  test('S47 and to one that gets it later', () => {
    const hub = settled(
      new Hub({ family: namespacedFamily, policy: pickAll(), members: fleet({ namespaces: ['other'] }) }),
    );
    expect(hub.live).not.toContain('c3');
    hub.members = fleet({ namespaces: ['ns'] });
    hub.settle();
    expect(hub.live).toContain('c3');
  });

  test('S48 a ClusterResourcePlacement does not look at namespaces', () => {
    expect(settled(new Hub({ policy: pickAll(), members: fleet() })).live).toEqual(ONE_TO_SEVEN);
  });

  test('goes to a member that cannot tell all its namespaces, and says so', () => {
    const members = fleet({ namespaces: ['other'], isDegraded: true });
    const hub = settled(new Hub({ family: namespacedFamily, policy: pickAll(), members }));
    expect(hub.live).toContain('c3');
    expect(hub.reasonOf('c3')).toContain('may be missing');
  });
});

describe('what is reported', () => {
  const many = Array.from({ length: 1010 }, (_, index) =>
    aMember(`m-${String(index).padStart(4, '0')}`, index < 1005 ? {} : { heartbeat: undefined }),
  );

  test('is at most twenty explanations', () => {
    const hub = settled(new Hub({ policy: pickN(), numberOfClusters: 2, members: many }));
    expect(hub.selected).toHaveLength(2);
    expect(hub.unselected).toHaveLength(20);
    expect(hub.unselected[0]).toBe('m-1002 (0,0)');
  });

  test('is of every cluster that is named and not picked', () => {
    const names = Array.from({ length: 30 }, (_, index) => `far-${String(index).padStart(2, '0')}`);
    const hub = settled(new Hub({ policy: pickFixed('m-0001', ...names), members: many }));
    expect(hub.selected).toHaveLength(1);
    expect(hub.unselected).toHaveLength(30);
  });

  test('is at most a thousand decisions, of named ones too', () => {
    const names = many.map(({ metadata }) => metadata.name ?? '');
    const hub = settled(new Hub({ policy: pickFixed(...names.slice(7), 'far-1', 'far-2'), members: many }));
    expect(hub.selected).toHaveLength(998);
    expect(hub.unselected).toEqual(['m-1005', 'm-1006']);
    expect(hub.pass()).toEqual([]);
  });

  test('is at most a thousand decisions, but the number is the true one', () => {
    const hub = settled(new Hub({ policy: pickAll(), members: many }));
    expect(hub.bindings).toHaveLength(1005);
    expect(hub.status.targetClusters).toHaveLength(1000);
    expect(hub.condition).toBe(`${FULFILLED} 1005`);
    expect(hub.pass()).toEqual([]);
  });

  test('does not change with the time that passes', () => {
    const members = theFleet({
      c1: { heartbeat: NOW - 6 * MINUTE },
      c2: { healthy: { status: 'False', since: NOW - 6 * MINUTE } },
    });
    const hub = settled(new Hub({ policy: pickAll(), members }));
    hub.now += 2 * MINUTE;
    expect(hub.pass()).toEqual([]);
    expect(hub.reasonOf('c1')).toContain('2025-12-31T23:54:00Z');
  });

  test('follows the generation of the placement in one write, and no decision does', () => {
    for (const policy of [pickAll(), pickN(), pickFixed('c1', 'c8')]) {
      const hub = settled(new Hub({ policy, numberOfClusters: 2 }));
      const decided = hub.status.targetClusters;
      hub.annotate(annotations.placementGeneration, '5');
      expect(hub.pass()).toEqual(['patch ClusterSchedulingPolicySnapshot status']);
      expect(hub.status.observedCRPGeneration).toBe(5);
      expect(hub.status.targetClusters).toEqual(decided);
      expect(hub.pass()).toEqual([]);
    }
  });
});
