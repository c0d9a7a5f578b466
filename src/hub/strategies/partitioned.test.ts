// Acceptance cases of spec 08 §15 that speak of one cluster: from what is known of a binding to the limits and to the words of the status.
import { describe, expect, test } from 'vitest';
import type { PartitionedStrategy } from '../../api/partitioned-strategy.ts';
import type { Row } from '../planners/planner.ts';
import { partitioned } from './partitioned.ts';

const NEW = { snapshot: 'web-2-snapshot', overrides: 'o-2', strategy: '' };
const OLD = { snapshot: 'web-1-snapshot', overrides: 'o-2', strategy: '' };
const placement = { group: 'placement.kubernetes-fleet.io', kind: 'ClusterResourcePlacement', name: 'web' };

const MODES = ['FleetDocumented', 'FleetExact'] as const;
type Mode = (typeof MODES)[number];
type Facts = Partial<Row>;

/** Of a cluster that has the newest revision and is well. */
const row = (cluster: string, facts: Facts = {}): Row => ({
  key: cluster,
  cluster,
  state: 'bound',
  deleting: false,
  has: NEW,
  wants: NEW,
  health: 'available',
  since: 0,
  reachable: true,
  labels: {},
  ...facts,
});

/** As the scheduler leaves it: nothing was deployed. */
const none: Facts = { state: 'scheduled', has: { snapshot: '', overrides: '', strategy: '' }, health: 'unknown' };

function plan(rows: readonly Row[], settings: PartitionedStrategy, mode: Mode) {
  const spec = { resourceSelectors: [], strategy: { type: 'Partitioned', partitioned: { ...settings, mode } } };
  const family = { binding: { group: placement.group, kind: 'ClusterResourceBinding' } };
  return partitioned.plan({
    rows,
    now: 0,
    family,
    spec,
    policySnapshot: undefined,
    placement,
    groups: [],
  } as unknown as Parameters<typeof partitioned.plan>[0]);
}

describe.each(MODES)('acceptance cases of spec 08 §15, mode %s', (mode) => {
  const rolloutOf = (...facts: readonly Facts[]) =>
    plan(
      facts.map((each, index) => row(`c${index}`, each)),
      { maxNew: 0, maxUnavailable: 0 },
      mode,
    ).rollout;

  const isNotYetApplied: Facts = { health: 'progressing', at: 'Applied' };
  const isStarting: Facts = { health: 'starting', at: 'Available' };

  test.each<[it: string, facts: Facts, isUnavailable: boolean]>([
    ['nothing deployed', none, false],
    ['not applied yet', isNotYetApplied, true],
    ['told anew, nothing said yet', { health: 'unknown' }, true],
    ['applied and ready', {}, false],
    ['applied and not ready', isStarting, true],
    ['applied and failed', { health: 'failed', at: 'Available' }, true],
  ])('A11: unavailable: %s', (_, facts, isUnavailable) => {
    const rollout = rolloutOf(facts, {});
    expect(rollout).toMatchObject({ unavailable: Number(isUnavailable) });
    expect(rollout?.partitions).toMatchObject([{ unavailable: Number(isUnavailable) }]);
  });

  test.each<[it: string, facts: Facts, isUpToDate: boolean]>([
    ['nothing deployed', none, false],
    ['an older revision', { has: OLD }, false],
    ['the newest revision with older overrides', { has: { ...NEW, overrides: 'o-1' } }, false],
    ['a revision that nobody knows', { has: undefined } as unknown as Facts, false],
    ['the newest revision, not ready', isStarting, true],
    ['the newest revision, not applied yet', isNotYetApplied, true],
  ])('A12: up to date: %s', (_, facts, isUpToDate) => {
    const { upToDate } = plan([row('c0', facts)], { maxNew: 0 }, mode);
    expect(upToDate).toEqual(isUpToDate ? ['c0'] : []);
  });

  test('A21: a cluster whose objects were changed by others is Modified, not unavailable, and others are updated', () => {
    const rows = [row('c0', { drifted: true }), row('c1', { has: OLD })];
    const { move, rollout } = plan(rows, { maxUnavailable: 1 }, mode);
    expect(move).toEqual(['c1']);
    expect(rollout).toMatchObject({ modified: 1, ready: 0, waitApplied: 1, unavailable: 0 });
    expect(rolloutOf({ drifted: true }, {})).toMatchObject({
      state: 'Modified',
      modified: 1,
      ready: 1,
      unavailable: 0,
    });
  });

  test('A23: the headline is the worst state that any cluster is in, however many there are', () => {
    const failed: Facts = { health: 'failed', at: 'Applied' };
    const outOfSync: Facts = { has: OLD };
    const words: readonly (readonly [word: string, counter: string, facts: Facts])[] = [
      ['Ready', 'ready', {}],
      ['NotReady', 'notReady', isStarting],
      ['Pending', 'pending', none],
      ['OutOfSync', 'outOfSync', outOfSync],
      ['Modified', 'modified', { drifted: true }],
      ['WaitApplied', 'waitApplied', isNotYetApplied],
      ['ErrApplied', 'errApplied', failed],
    ];
    for (const [index, [word, counter]] of words.entries()) {
      const upTo = words.slice(0, index + 1).map(([, , facts]) => facts);
      expect(rolloutOf(...upTo, ...Array.from({ length: 20 }, () => ({})))).toMatchObject({
        state: word,
        [counter]: counter === 'ready' ? 21 : 1,
      });
    }
    expect(rolloutOf(none, isNotYetApplied)).toMatchObject({ state: 'WaitApplied', pending: 1, waitApplied: 1 });
    expect(rolloutOf()).toMatchObject({ state: 'Ready', desiredReady: 0 });
  });

  test('A25: a cluster that is no longer picked loses its copy, and the others keep theirs', () => {
    const rows = [row('c0'), row('c1', { state: 'unscheduled' }), row('c2'), row('c3', { has: OLD, ...isStarting })];
    const { remove, move, rollout } = plan(rows, { maxUnavailable: 2 }, mode);
    expect(remove).toEqual(['c1']);
    expect(move).toEqual(['c3']);
    expect(rollout).toMatchObject({ desiredReady: 3, ready: 2 });
  });
});
