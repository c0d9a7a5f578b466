// The acceptance rows for preferences and properties: exact picks, scores and conditions, in both scopes.
import { describe, expect, test } from 'vitest';
import type { PlacementPolicy } from '../../api/placement-policy.ts';
import { families } from '../families.ts';
import {
  both,
  Hub,
  type HubSetup,
  having,
  key,
  type MemberSetup,
  NODES,
  prefers,
  RATING,
  requires,
  sortedBy,
  spreads,
  term,
  theFleet,
  usageOf,
} from './scheduler.testing.ts';

const FULFILLED = 'True/SchedulingPolicyFulfilled';
const UNFULFILLED = 'False/SchedulingPolicyUnfulfilled';
const resource = (name: string) => `resources.kubernetes-fleet.io/${name}`;
const isEast = key('region', 'In', 'east');
const isProd = key('env', 'In', 'prod');
const isCanary = key('env', 'In', 'canary');
const isCentral = key('region', 'In', 'central');
const noScore = (clusters: readonly string[]) => clusters.map((each) => `${each} (0,0)`);

interface Row {
  readonly it: string;
  readonly n: number;
  readonly policy: Partial<PlacementPolicy>;
  /** Sorted by name: (topology, affinity). */
  readonly picks: readonly string[];
  /** In the order of the status; absent = not checked. */
  readonly others?: readonly string[];
  readonly found?: number;
  readonly members?: Record<string, MemberSetup>;
}

const preferred: readonly Row[] = [
  {
    it: 'S15 one preference',
    n: 4,
    policy: prefers([10, term(isCentral, isProd)]),
    picks: ['c4 (0,10)', 'c5 (0,10)', 'c6 (0,0)', 'c7 (0,0)'],
    others: [...noScore(['c3', 'c2', 'c1']), 'c9', 'c8'],
  },
  {
    it: 'S16 two preferences',
    n: 4,
    policy: prefers([10, term(isCentral, isProd)], [20, term(isEast, isCanary)]),
    picks: ['c3 (0,20)', 'c4 (0,10)', 'c5 (0,10)', 'c7 (0,0)'],
  },
  {
    it: 'S22 requirements, a preference and two spreads',
    n: 3,
    policy: {
      ...both(requires(term(isProd)), prefers([40, term(isEast)])),
      ...spreads(['env', 'ScheduleAnyway', 2], ['region', 'DoNotSchedule', 1]),
    },
    picks: ['c2 (-2,40)', 'c5 (-999,0)', 'c6 (-1,0)'],
    others: ['c4 (-999,0)', 'c1', 'c3', 'c7', 'c9', 'c8'],
  },
  {
    it: 'S24 a preference and a spread, if possible',
    n: 6,
    policy: { ...prefers([30, term(isEast)]), ...spreads(['env', 'ScheduleAnyway', 1]) },
    picks: ['c1 (-1,30)', 'c2 (1,30)', 'c3 (-1,30)', 'c5 (-1000,0)', 'c6 (-1,0)', 'c7 (1,0)'],
    others: ['c4 (-1000,0)', 'c9', 'c8'],
  },
  {
    it: 'S51 a preference against',
    n: 2,
    policy: prefers([-50, term(key('region', 'In', 'west'))]),
    picks: noScore(['c4', 'c5']),
    others: [...noScore(['c3', 'c2', 'c1']), 'c7 (0,-50)', 'c6 (0,-50)', 'c9', 'c8'],
  },
  { it: 'a preference for all', n: 1, policy: prefers([7, {}]), picks: ['c7 (0,7)'] },
  { it: 'a weight of nothing', n: 1, policy: prefers([0, term(isEast)]), picks: ['c7 (0,0)'] },
];

const sorted: readonly Row[] = [
  {
    it: 'S32 fewest nodes',
    n: 3,
    policy: prefers([100, sortedBy(NODES, 'Ascending')]),
    picks: ['c1 (0,86)', 'c4 (0,86)', 'c6 (0,86)'],
    others: ['c2 (0,57)', 'c3 (0,29)', 'c7 (0,0)', 'c5 (0,0)', 'c9', 'c8'],
  },
  {
    it: 'S33 most nodes',
    n: 3,
    policy: prefers([100, sortedBy(NODES, 'Descending')]),
    picks: ['c3 (0,71)', 'c5 (0,100)', 'c7 (0,100)'],
    others: ['c2 (0,43)', 'c6 (0,14)', 'c4 (0,14)', 'c1 (0,14)', 'c9', 'c8'],
  },
  {
    it: 'most nodes, against',
    n: 7,
    policy: prefers([-100, sortedBy(NODES, 'Descending')]),
    picks: ['c1 (0,-14)', 'c2 (0,-43)', 'c3 (0,-71)', 'c4 (0,-14)', 'c5 (0,-100)', 'c6 (0,-14)', 'c7 (0,-100)'],
  },
  {
    it: 'S34 a property that no cluster reports',
    n: 3,
    policy: prefers([100, sortedBy('test.only/nothing', 'Ascending')]),
    picks: noScore(['c5', 'c6', 'c7']),
  },
  {
    it: 'S34 a property that is equal everywhere',
    n: 3,
    policy: prefers([100, sortedBy('test.only/same', 'Descending')]),
    members: Object.fromEntries(
      ['c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7', 'c8'].map((each) => [each, { properties: { 'test.only/same': '5' } }]),
    ),
    picks: noScore(['c5', 'c6', 'c7']),
  },
  {
    it: 'S35 three sorters',
    n: 3,
    policy: prefers(
      [100, sortedBy(NODES, 'Ascending')],
      [80, sortedBy(RATING, 'Descending')],
      [60, sortedBy(resource('allocatable-memory'), 'Descending')],
    ),
    picks: ['c1 (0,168)', 'c4 (0,146)', 'c6 (0,135)'],
    others: ['c2 (0,108)', 'c3 (0,68)', 'c7 (0,60)', 'c5 (0,46)', 'c9', 'c8'],
  },
  {
    it: 'S36 labels and a sorter',
    n: 4,
    policy: prefers([100, { ...term(isCanary), ...sortedBy(resource('available-cpu'), 'Descending') }]),
    picks: ['c3 (0,75)', 'c5 (0,0)', 'c6 (0,0)', 'c7 (0,50)'],
  },
  {
    it: 'S37 two of them',
    n: 4,
    policy: prefers(
      [100, { ...term(isCanary), ...sortedBy(resource('available-cpu'), 'Descending') }],
      [100, { ...term(isEast), ...sortedBy(RATING, 'Descending') }],
    ),
    picks: ['c1 (0,100)', 'c2 (0,50)', 'c3 (0,100)', 'c7 (0,50)'],
  },
];

const all = [...preferred, ...sorted];

describe.each(
  families.map((family) => ({
    scope: family.placement.kind,
    aHub: (setup: HubSetup) => {
      const hub = new Hub({ family, ...setup });
      hub.settle();
      return hub;
    },
  })),
)('a $scope', ({ aHub }) => {
  const pickAll = (policy: Partial<PlacementPolicy>, members: Record<string, MemberSetup> = {}) =>
    aHub({ policy: { placementType: 'PickAll', ...policy }, members: theFleet(members) });
  const pickN = (n: number, policy: Partial<PlacementPolicy>, members: Record<string, MemberSetup> = {}) =>
    aHub({ policy: { placementType: 'PickN', ...policy }, numberOfClusters: n, members: theFleet(members) });

  test.each(all)('$it', ({ n, policy, picks, others, members, found = n }) => {
    const hub = pickN(n, policy, members);
    expect(hub.selected).toEqual(picks);
    if (others !== undefined) expect(hub.unselected).toEqual(others);
    expect(hub.condition).toBe(`${found >= n ? FULFILLED : UNFULFILLED} ${found}`);
    // The binding has the same score.
    expect(hub.bindings.map(({ spec }) => (spec as { clusterDecision: object }).clusterDecision)).toEqual(
      expect.arrayContaining((hub.status.targetClusters ?? []).filter(({ selected }) => selected)),
    );
  });

  test('S30 another preference moves what it makes worse', () => {
    const hub = pickN(3, {
      ...both(requires(term(isProd)), prefers([40, term(isEast)])),
      ...spreads(['env', 'ScheduleAnyway', 2], ['region', 'DoNotSchedule', 1]),
    });
    hub.newPolicy(
      1,
      { placementType: 'PickN', ...prefers([50, term(isCentral)]), ...spreads(['env', 'ScheduleAnyway', 2]) },
      3,
    );
    hub.settle();
    expect(hub.selected).toEqual(['c4 (-1,50)', 'c5 (-1,50)', 'c7 (1,0)']);
    expect(hub.words).toEqual([
      'c2 Unscheduled (Scheduled) web-0',
      'c4 Scheduled web-1',
      'c5 Scheduled web-1',
      'c6 Unscheduled (Scheduled) web-0',
      'c7 Scheduled web-1',
    ]);
  });

  test('S38 one term with four comparisons', () => {
    const comparisons = having(
      `${NODES} Ge 4`,
      `${RATING} Lt 45`,
      `${resource('allocatable-cpu')} Ne 14`,
      `${resource('available-memory')} Gt 4Gi`,
    );
    const hub = pickAll(requires(comparisons));
    expect(hub.live).toEqual(['c3']);
    expect(hub.reasonOf('c7')).toBe(
      `ClusterUnschedulable, cluster does not match with any of the required cluster affinity terms: property "${resource('allocatable-cpu')}" is not Ne 14`,
    );
    expect(hub.reasonOf('c9')).toContain(`property "${NODES}" is not reported`);
  });

  test('S39 one of four terms', () => {
    const hub = pickAll(
      requires(
        having(`${NODES} Ge 8`),
        having(`${RATING} Gt 99`),
        having(`${resource('total-cpu')} Eq 12`),
        having(`${resource('total-memory')} Le 4Gi`),
      ),
    );
    expect(hub.live).toEqual(['c1', 'c3', 'c4', 'c5', 'c7']);
  });

  test('S40 a number that falls takes nothing away, one that rises adds', () => {
    const hub = pickAll(requires(having(`${resource('available-cpu')} Ge 6`)));
    expect(hub.live).toEqual(['c3', 'c5']);
    hub.members = theFleet({
      c3: { usage: usageOf([12, 11, 4], [12, 11, 6]) },
      c5: { usage: usageOf([32, 30, 4], [16, 14, 4]) },
      c7: { usage: usageOf([16, 14, 8], [32, 30, 16]) },
    });
    hub.settle();
    expect(hub.live).toEqual(['c3', 'c5', 'c7']);
  });

  test('a fulfilled PickN does not move because a number changed', () => {
    const hub = pickN(3, prefers([100, sortedBy(NODES, 'Ascending')]));
    hub.members = theFleet({ c1: { properties: { [NODES]: '100' } }, c7: { properties: { [NODES]: '1' } } });
    expect(hub.pass()).toEqual([]);
    expect(hub.live).toEqual(['c1', 'c4', 'c6']);
  });

  test('quantities are compared exactly, whatever they are written with', () => {
    const members = {
      c1: { properties: { size: '1' } },
      c2: { properties: { size: '1000m' } },
      c3: { properties: { size: '1.000000001' } },
    };
    expect(pickAll(requires(having('size Eq 1')), members).live).toEqual(['c1', 'c2']);
    expect(pickAll(requires(having('size Gt 1')), members).live).toEqual(['c3']);
    const large = {
      c1: { properties: { size: '9007199254740993' } },
      c2: { properties: { size: '9007199254740992' } },
    };
    expect(pickAll(requires(having('size Gt 9007199254740992')), large).live).toEqual(['c1']);
  });

  test('a resource may have dashes and a prefix in its name, and a number for a value', () => {
    const usage = { available: { 'ephemeral-storage': '10Gi', 'nvidia.com/gpu': 4 } };
    const members = { c2: { usage } };
    expect(pickAll(requires(having(`${resource('available-ephemeral-storage')} Ge 10Gi`)), members).live).toEqual([
      'c2',
    ]);
    expect(pickAll(requires(having(`${resource('available-nvidia.com/gpu')} Gt 3`)), members).live).toEqual(['c2']);
  });

  test('without a value no comparison holds, Ne included, and other terms count', () => {
    const members = { c1: { properties: { version: 'v1.31.2' } }, c2: { properties: { version: '2' } } };
    const hub = pickAll(requires(having('version Ne 1'), term(isCentral)), members);
    expect(hub.live).toEqual(['c2', 'c4', 'c5']);
    expect(hub.reasonOf('c1')).toContain('property "version" is not a quantity');
    expect(hub.reasonOf('c3')).toContain('property "version" is not reported');
    expect(hub.condition).toBe(`${FULFILLED} 3`);
  });

  test('names that every object has are no properties', () => {
    expect(pickAll(requires(having('constructor Ne 1'))).live).toEqual([]);
    expect(pickAll(requires(having(`${resource('available-constructor')} Ne 1`))).live).toEqual([]);
  });

  test('a cluster without the property of a preference gets nothing from it, and its decision carries the reason', () => {
    const members = { c7: { properties: {} }, c6: { properties: { [NODES]: 'many' } } };
    const hub = pickN(7, prefers([100, sortedBy(NODES, 'Descending')]), members);
    expect(hub.selected).toContain('c7 (0,0)');
    expect(hub.reasonOf('c7')).toContain(`property "${NODES}" is not reported, so the preference on it adds 0`);
    expect(hub.reasonOf('c6')).toContain(`property "${NODES}" is not a quantity`);
    expect(hub.reasonOf('c5')).not.toContain('property');
  });

  const messageOf = (hub: Hub) => hub.status.conditions?.[0]?.message;

  test.each([
    [
      'a preference',
      'preferences on it have no effect',
      (name: string) => pickN(2, prefers([100, sortedBy(name, 'Ascending')])),
    ],
    [
      'a requirement',
      'no cluster matches a required term on it',
      (name: string) => pickAll(requires(having(`${name} Ge 1`), term(isEast))),
    ],
  ])('%s on a property that no cluster reports is in the Scheduled condition', (_what, so, schedule) => {
    expect(messageOf(schedule('test.only/nothing'))).toContain(
      `; no cluster reports property "test.only/nothing" as a quantity, so ${so}`,
    );
    expect(messageOf(schedule(NODES))).not.toContain('no cluster reports');
  });

  test('a contradiction that came past admission is in the Scheduled condition', () => {
    const hub = pickAll(requires(having(`${NODES} Gt 5`, `${NODES} Lt 3`)));
    expect(hub.live).toEqual([]);
    expect(messageOf(hub)).toContain(
      `required affinity term 1 matches no cluster: Gt 5 and Lt 3 of property "${NODES}"`,
    );
  });

  test('a value that came past admission and is no quantity matches nothing, and the reason names it', () => {
    const hub = pickAll(requires(having(`${NODES} Gt 1e1000`)));
    expect(hub.live).toEqual([]);
    expect(hub.reasonOf('c1')).toContain(`"1e1000", with which property "${NODES}" is compared, is not a quantity`);
  });
});
