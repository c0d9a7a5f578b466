import { expect, test } from 'vitest';
import { partitioned } from '../planners/partitioned.ts';
import type { Row } from '../planners/planner.ts';
import { untilDecided } from './decided.ts';

const placement = { group: 'placement.kubernetes-fleet.io', kind: 'ClusterResourcePlacement', name: 'shop' };
const newest = { snapshot: 'shop-1', overrides: '' } as unknown as Row['wants'];

const row = (cluster: string, more: Partial<Row> = {}): Row => ({
  key: cluster,
  cluster,
  state: 'scheduled',
  deleting: false,
  wants: newest,
  health: 'unknown',
  since: 0,
  reachable: true,
  labels: {},
  ...more,
});

test.each([
  { it: 'no policy snapshot is known', decided: undefined, waits: [] },
  { it: 'all are decided', decided: ['a', 'b'], waits: [] },
  { it: 'none is decided', decided: [], waits: ['a', 'b'] },
  { it: 'the decisions name one of them', decided: ['a'], waits: ['b'] },
  { it: 'a binding of a decision is missing', decided: ['a', 'b', 'c'], waits: ['a', 'b'] },
  { it: 'the list of decisions is full', decided: Array.from({ length: 1000 }, (_, at) => `${at}`), waits: ['a', 'b'] },
])('clusters without a copy wait when $it', ({ decided, waits }) => {
  const rows = untilDecided([row('a'), row('b')], decided, placement);
  const held = rows.filter(({ undecided }) => undecided?.code === 'SchedulingPending').map(({ cluster }) => cluster);
  expect(held).toEqual(waits);
});

test('a cluster that is not on a full list of decisions may have its copy', () => {
  const decided = Array.from({ length: 1000 }, (_, at) => `c${at}`);
  const rows = untilDecided([...decided.map((each) => row(each, { state: 'bound' })), row('z')], decided, placement);
  expect(rows.at(-1)?.undecided).toBeUndefined();
});

test('clusters that have a copy do not wait', () => {
  const rows = untilDecided([row('a', { state: 'bound' })], [], placement);
  expect(rows[0]?.undecided).toBeUndefined();
});

test('availability that another clock wrote in the future counts at once without a soak time', () => {
  const limits = {
    maxUnavailable: 0,
    maxUnavailablePartitions: 0,
    maxNew: 50,
    mode: 'FleetDocumented',
    excludesUnreachable: false,
    excludesPaused: false,
    soakMs: 0,
    groups: [],
    placement,
    binding: { group: '', kind: 'ClusterResourceBinding' },
    partitions: ['a', 'b'].map((name) => ({ name, clusterName: name })),
  } as const;
  const rows = [
    row('a', { state: 'bound', has: newest, health: 'available', since: 60_000, at: 'Available' }),
    row('b', {
      state: 'bound',
      has: { snapshot: 'shop-0', overrides: '' } as unknown as Row['wants'],
      health: 'available',
    }),
  ];
  expect(partitioned({ rows, limits, state: undefined, now: 1_000 }).move).toEqual(['b']);
});
