import { describe, expect, test } from 'vitest';
import { labels } from '../../api/names.ts';
import type { PlacementPolicy } from '../../api/placement-policy.ts';
import type { HubPolicySnapshot } from '../placement-sources.ts';
import { admitted, concerns, newsOf } from './affected.ts';
import {
  aMember,
  having,
  key,
  type MemberSetup,
  MINUTE,
  NODES,
  NOW,
  prefers,
  requires,
  sortedBy,
  spreads,
  term,
  usageOf,
} from './scheduler.testing.ts';

const aSnapshot = (
  policy: PlacementPolicy | undefined,
  scheduled?: 'True' | 'False',
  namespace?: string,
): HubPolicySnapshot => ({
  metadata: {
    name: 'web-0',
    ...(namespace === undefined ? {} : { namespace }),
    labels: { [labels.parentPlacement]: 'web', [labels.isLatestSnapshot]: 'true' },
  },
  spec: { ...(policy === undefined ? {} : { policy }), policyHash: '' },
  ...(scheduled === undefined
    ? {}
    : {
        status: {
          observedCRPGeneration: 1,
          conditions: [{ type: 'Scheduled', status: scheduled, reason: 'R', message: '', lastTransitionTime: '' }],
        },
      }),
});

const PICK_ALL: PlacementPolicy = { placementType: 'PickAll' };
const PROD_ONLY: PlacementPolicy = { ...PICK_ALL, ...requires(term(key('env', 'In', 'prod'))) };
const PICK_N: PlacementPolicy = { placementType: 'PickN' };
const SPREAD: PlacementPolicy = { ...PICK_N, ...spreads(['region', 'DoNotSchedule', 1]) };
const FIXED: PlacementPolicy = { placementType: 'PickFixed', clusterNames: ['east'] };

interface Row {
  readonly it: string;
  readonly from?: MemberSetup;
  readonly to: MemberSetup;
  readonly policy?: PlacementPolicy;
  readonly scheduled?: 'True' | 'False';
  readonly namespace?: string;
  readonly hasBinding?: boolean;
  readonly wakes: boolean;
}

const stale = NOW - 6 * MINUTE;

describe('a change of a member', () => {
  test.each<Row>([
    { it: 'a heartbeat wakes nobody', from: { heartbeat: NOW - MINUTE }, to: { heartbeat: NOW }, wakes: false },
    { it: 'a heartbeat after a silence does', from: { heartbeat: stale }, to: { heartbeat: NOW }, wakes: true },
    { it: 'health that returns does', from: { healthy: { status: 'False', since: stale } }, to: {}, wakes: true },
    { it: 'health that is lost does not', from: {}, to: { healthy: { status: 'False', since: NOW } }, wakes: false },
    {
      it: 'becoming eligible, of a cluster that has it',
      from: { heartbeat: undefined },
      to: {},
      hasBinding: true,
      wakes: false,
    },
    { it: 'a label that the policy does not mention', from: {}, to: { labels: { a: 'b' } }, wakes: false },
    { it: 'a label that it mentions', from: {}, to: { labels: { env: 'prod' } }, policy: PROD_ONLY, wakes: true },
    {
      it: 'a label that it mentions, taken away',
      from: { labels: { env: 'x' } },
      to: {},
      policy: PROD_ONLY,
      wakes: true,
    },
    { it: 'another label beside it', from: {}, to: { labels: { a: 'b' } }, policy: PROD_ONLY, wakes: false },
    {
      it: 'a label of an unhealthy one',
      from: { heartbeat: stale },
      to: { heartbeat: stale, labels: { env: 'prod' } },
      policy: PROD_ONLY,
      wakes: false,
    },
    { it: 'a taint less', from: { taints: ['a=b'] }, to: {}, wakes: true },
    { it: 'a taint changed', from: { taints: ['a=b'] }, to: { taints: ['a=c'] }, wakes: true },
    { it: 'a taint more', from: { taints: ['a=b'] }, to: { taints: ['a=b', 'c=d'] }, wakes: false },
    { it: 'a deletion that has begun', from: { heartbeat: stale }, to: { leaving: true }, wakes: false },
    { it: 'its namespace comes', from: { namespaces: [] }, to: { namespaces: ['ns'] }, namespace: 'ns', wakes: true },
    { it: 'its namespace goes', from: { namespaces: ['ns'] }, to: { namespaces: [] }, namespace: 'ns', wakes: false },
    {
      it: 'another namespace comes',
      from: { namespaces: [] },
      to: { namespaces: ['other'] },
      namespace: 'ns',
      wakes: false,
    },
    {
      it: 'a namespace comes, but the placement lives in none',
      from: { namespaces: [] },
      to: { namespaces: ['ns'] },
      wakes: false,
    },
    { it: 'PickN that has all', policy: PICK_N, scheduled: 'True', from: { heartbeat: stale }, to: {}, wakes: false },
    {
      it: 'PickN that lacks some',
      policy: PICK_N,
      scheduled: 'False',
      from: { heartbeat: stale },
      to: {},
      wakes: true,
    },
    { it: 'PickN that was not scheduled yet', policy: PICK_N, from: { heartbeat: stale }, to: {}, wakes: true },
    {
      it: 'a spread, by the label it spreads over',
      policy: SPREAD,
      scheduled: 'False',
      from: { heartbeat: stale },
      to: { heartbeat: stale, labels: { region: 'x' } },
      wakes: true,
    },
    {
      it: 'a spread that has all',
      policy: SPREAD,
      scheduled: 'True',
      from: {},
      to: { labels: { region: 'x' } },
      wakes: false,
    },
    {
      it: 'PickFixed that waits for it',
      policy: FIXED,
      scheduled: 'False',
      from: { heartbeat: stale },
      to: {},
      wakes: true,
    },
    {
      it: 'PickFixed that waits, but for a taint',
      policy: FIXED,
      scheduled: 'False',
      from: { taints: ['a=b'] },
      to: {},
      wakes: false,
    },
    {
      it: 'PickFixed that waits for another',
      policy: { ...FIXED, clusterNames: ['west'] },
      scheduled: 'False',
      from: { heartbeat: stale },
      to: {},
      wakes: false,
    },
  ])('$it', ({ from, to, policy, scheduled, namespace, hasBinding = false, wakes }) => {
    const older = from === undefined ? undefined : aMember('east', from);
    const news = newsOf({ older, newer: aMember('east', to) }, NOW);
    const snapshot = aSnapshot(policy, scheduled, namespace);
    expect(news !== undefined && concerns(news, snapshot, hasBinding)).toBe(wakes);
  });

  test('that is seen for the first time wakes those who lack it', () => {
    const news = newsOf({ older: undefined, newer: aMember('east') }, NOW);
    expect(news && concerns(news, aSnapshot(undefined), false)).toBe(true);
    expect(news && concerns(news, aSnapshot(undefined), true)).toBe(false);
  });

  test('free capacity, which is most heartbeats, is no news', () => {
    const reporting = (available: string) => {
      const member = aMember('east');
      return { ...member, status: { ...member.status, resourceUsage: { available: { cpu: available } } } };
    };
    expect(newsOf({ older: reporting('1'), newer: reporting('2') }, NOW)).toBeUndefined();
  });
});

describe('other numbers of a member', () => {
  const CPU = 'resources.kubernetes-fleet.io/available-cpu';
  const nodes = (count: string, more: MemberSetup = {}): MemberSetup => ({ properties: { [NODES]: count }, ...more });
  const LARGE: PlacementPolicy = { ...PICK_ALL, ...requires(having(`${NODES} Ge 4`)) };
  const LARGE_PROD: PlacementPolicy = {
    ...PICK_ALL,
    ...requires({ ...term(key('env', 'In', 'prod')), ...having(`${NODES} Ge 4`) }),
  };

  test.each<Row>([
    { it: 'that make it fit', policy: LARGE, from: nodes('3'), to: nodes('4'), wakes: true },
    { it: 'that are reported for the first time', policy: LARGE, from: {}, to: nodes('4'), wakes: true },
    { it: 'that make it fit no longer', policy: LARGE, from: nodes('4'), to: nodes('3'), wakes: false },
    { it: 'with which it still fits', policy: LARGE, from: nodes('4'), to: nodes('5'), wakes: false },
    { it: 'with which it still does not', policy: LARGE, from: nodes('1'), to: nodes('2'), wakes: false },
    { it: 'that no policy names', policy: PICK_ALL, from: nodes('3'), to: nodes('4'), wakes: false },
    { it: 'of a placement without a policy', from: nodes('3'), to: nodes('4'), wakes: false },
    { it: 'while the labels do not fit', policy: LARGE_PROD, from: nodes('3'), to: nodes('4'), wakes: false },
    {
      it: 'that no term names',
      policy: LARGE,
      from: nodes('3'),
      to: nodes('3', { usage: usageOf([1, 1, 1], [1, 1, 1]) }),
      wakes: false,
    },
    {
      it: 'of a resource',
      policy: { ...PICK_ALL, ...requires(having(`${CPU} Gt 1`)) },
      from: { usage: usageOf([4, 4, 1], [1, 1, 1]) },
      to: { usage: usageOf([4, 4, 2], [1, 1, 1]) },
      wakes: true,
    },
    {
      it: 'of an unhealthy member',
      policy: LARGE,
      from: nodes('3', { heartbeat: stale }),
      to: nodes('4', { heartbeat: stale }),
      wakes: false,
    },
    {
      it: 'PickN that has all',
      policy: { ...LARGE, ...PICK_N },
      scheduled: 'True',
      from: nodes('3'),
      to: nodes('4'),
      wakes: false,
    },
    {
      it: 'PickN that lacks some',
      policy: { ...LARGE, ...PICK_N },
      scheduled: 'False',
      from: nodes('3'),
      to: nodes('4'),
      wakes: true,
    },
    {
      it: 'PickN that lacks some, by a sorter',
      policy: { ...PICK_N, ...prefers([1, sortedBy(NODES, 'Ascending')]) },
      scheduled: 'False',
      from: nodes('3'),
      to: nodes('4'),
      wakes: false,
    },
  ])('$it: $wakes', ({ from = {}, to, policy, scheduled, wakes }) => {
    const change = { older: aMember('east', from), newer: aMember('east', to) };
    expect(admitted(change, aSnapshot(policy, scheduled), NOW)).toBe(wakes);
  });
});
