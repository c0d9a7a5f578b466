// The traces of spec 04 §9, row by row. If our plan differs from KubeFleet's, the row names the decision behind it.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Hold } from '../../api/hold.ts';
import type { Health, Row } from './planner.ts';
import { isOutdated } from './planner.ts';
import { type RollingLimits, rolling } from './rolling.ts';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const NEW = { snapshot: 'v2', overrides: '', strategy: '' };
const OLD = { ...NEW, snapshot: 'v1' };

/**
 * Bindings in the notation of the spec: `B ro c1 c2; S c3`. State B, S or U; then optional flags: r ready, p in
 * progress, s starting, f failed, o outdated, d deleting, D diff reported; then clusters. `c1-old` is a predecessor on
 * cluster c1.
 */
function bindings(text: string): readonly Row[] {
  return text
    .split(';')
    .flatMap((group) => {
      const [state = '', ...words] = group.trim().split(/\s+/);
      const flags = /^[rpsfodD]+$/.test(words[0] ?? '') ? (words.shift() ?? '') : '';
      return words.map((name) => row(state, flags, name));
    })
    .sort((a, b) => (a.key < b.key ? -1 : 1));
}

function row(state: string, flags: string, key: string): Row {
  const health: Health = flags.includes('D')
    ? 'diffed'
    : flags.includes('r')
      ? 'available'
      : flags.includes('f')
        ? 'failed'
        : flags.includes('s')
          ? 'starting'
          : flags.includes('p')
            ? 'progressing'
            : 'unknown';
  return {
    key,
    cluster: key.replace('-old', ''),
    state: state === 'S' ? 'scheduled' : state === 'B' ? 'bound' : 'unscheduled',
    deleting: flags.includes('d'),
    ...(state === 'S' ? {} : { has: flags.includes('o') ? OLD : NEW }),
    wants: NEW,
    health,
    since: NOW - 1000,
    reachable: true,
    labels: {},
  };
}

interface Limits {
  readonly n?: number;
  readonly mu?: number | string;
  readonly ms?: number | string;
  readonly period?: number;
  /** The clusters that the scheduler found, if it cannot find more; true = all picked ones. */
  readonly found?: true | string;
}

const limitsOf = ({ n, mu = '25%', ms = '25%', period = 60, found }: Limits, rows: readonly Row[]): RollingLimits => ({
  maxUnavailable: mu,
  maxSurge: ms,
  unavailablePeriodMs: period * 1000,
  target: n,
  foundOnly: found === true ? rows.map(({ cluster }) => cluster) : found?.split(' ').filter((name) => name !== ''),
  binding: { group: 'placement.kubernetes-fleet.io', kind: 'ClusterResourceBinding' },
});

const planOf = (of: string | readonly Row[], limits: Limits, now = NOW) => {
  const rows = typeof of === 'string' ? bindings(of) : of;
  return rolling({ rows, limits: limitsOf(limits, rows), state: undefined, now });
};

interface Trace extends Limits {
  readonly it: string;
  readonly of: string;
  /**
   * T/maxUnavailable/maxSurge/minAvailable ready/canBeUnavailable/canBeReady maxRemove/maxAdd, as far as the spec gives
   * them.
   */
  readonly figures?: string;
  readonly move?: string;
  readonly remove?: string;
  readonly stale?: string;
}

const PICK3 = { n: 3, mu: 1, ms: 1 };
const MOVE = { n: 3, mu: 0, ms: 1 };
const TWO = { n: 2, mu: '25%', ms: 2 };
const FIVE = { n: 5, mu: '20%', ms: 3, period: 3 };

const traces: readonly Trace[] = [
  { it: 'T1 0 first schedule', of: 'S c1 c2 c3', ...PICK3, figures: '3/1/1/2 0/0/0 -2/4', move: 'c1 c2 c3' },
  { it: 'T1 1 all available', of: 'B r c1 c2 c3', ...PICK3, figures: '3/1/1/2 3/0/3' },
  { it: 'T1 2 bad image', of: 'B ro c1 c2 c3', ...PICK3, figures: '3/1/1/2 3/0/3 1/1', move: 'c1', stale: 'c2 c3' },
  { it: 'T1 3 c1 rolling', of: 'B p c1; B ro c2 c3', ...PICK3, figures: '3/1/1/2 2/0/3 0/1', stale: 'c2 c3' },
  { it: 'T1 4 c1 failed', of: 'B f c1; B ro c2 c3', ...PICK3, figures: '3/1/1/2 2/0/2 0/2', stale: 'c2 c3' },
  { it: 'T1 5 the fix', of: 'B fo c1; B ro c2 c3', ...PICK3, figures: '3/1/1/2 2/0/2 0/2', move: 'c1', stale: 'c2 c3' },
  { it: 'T1 5 the fix of one that only starts', of: 'B so c1; B ro c2 c3', ...PICK3, move: 'c1', stale: 'c2 c3' },
  {
    it: 'T1 6 c1 available',
    of: 'B r c1; B ro c2 c3',
    ...PICK3,
    figures: '3/1/1/2 3/0/3 1/1',
    move: 'c2',
    stale: 'c3',
  },
  { it: 'T1 7 c2 available', of: 'B r c1 c2; B ro c3', ...PICK3, figures: '3/1/1/2 3/0/3 1/1', move: 'c3' },
  { it: 'T1 alt N=4', of: 'B r c1 c2 c3; S c4', n: 4, mu: 1, ms: 1, figures: '4/1/1/3 3/0/3 0/2', move: 'c4' },

  { it: 'T2 0', of: 'S c1 c2', ...TWO, figures: '2/1/2/1 0/0/0 -1/4', move: 'c1 c2' },
  {
    it: 'T2 1 policy changed',
    of: 'U r c1 c2; S c3 c4',
    ...TWO,
    figures: '2/1/2/1 2/0/2 1/2',
    move: 'c3 c4',
    remove: 'c1',
  },
  { it: 'T2 2', of: 'U d c1; U r c2; B p c3 c4', ...TWO, figures: '2/1/2/1 1/0/4 0/0' },
  { it: 'T2 3 c3 available', of: 'U d c1; U r c2; B r c3; B p c4', ...TWO, figures: '2/1/2/1 2/0/4 1/0', remove: 'c2' },
  { it: 'T2 4', of: 'B r c3 c4', ...TWO, figures: '2/1/2/1 2/0/2' },

  {
    it: 'T3 rounding up',
    of: 'B ro c1 c2 c3 c4 c5',
    n: 5,
    figures: '5/2/2/3 5/0/5 2/2',
    move: 'c1 c2',
    stale: 'c3 c4 c5',
  },
  { it: 'T4 one cluster', of: 'B ro c1', n: 1, figures: '1/1/1/0 1/0/1 1/1', move: 'c1' },
  {
    it: 'T5 one failed',
    of: 'B fo c1; B po c2 c3 c4 c5',
    ...FIVE,
    figures: '5/1/3/4 0/0/4 -4/4',
    move: 'c1',
    stale: 'c2 c3 c4 c5',
  },
  {
    it: 'T6 three failed',
    of: 'B fo c1 c2 c3; B ro c4 c5',
    ...FIVE,
    figures: '5/1/3/4 2/0/2 -2/6',
    move: 'c1 c2 c3',
    stale: 'c4 c5',
  },
  // Differs from KubeFleet (K1): there nothing ever moves.
  {
    it: 'T7 maxUnavailable 0 in place',
    of: 'B ro c1 c2 c3 c4 c5',
    n: 5,
    mu: 0,
    ms: 3,
    figures: '5/0/3/5 5/0/5 0/3',
    move: 'c1',
    stale: 'c2 c3 c4 c5',
  },
  { it: 'T7 then one at a time', of: 'B p c1; B ro c2 c3 c4 c5', n: 5, mu: 0, ms: 3, stale: 'c2 c3 c4 c5' },

  { it: 'T8 1', of: 'U r c1 c2 c3; S c4 c5 c6', ...MOVE, figures: '3/0/1/3 3/0/3 0/1', move: 'c4', stale: 'c5 c6' },
  { it: 'T8 2', of: 'U r c1 c2 c3; B p c4; S c5 c6', ...MOVE, figures: '3/0/1/3 3/0/4 0/0', stale: 'c5 c6' },
  // Differs from KubeFleet (DB-5): there a cluster that is not available yet has failed, and one more surges.
  { it: 'T8 2′ c4 starts', of: 'U r c1 c2 c3; B s c4; S c5 c6', ...MOVE, figures: '3/0/1/3 3/0/4 0/0', stale: 'c5 c6' },
  {
    it: 'T8 2′ c4 failed',
    of: 'U r c1 c2 c3; B f c4; S c5 c6',
    ...MOVE,
    figures: '3/0/1/3 3/0/3 0/1',
    move: 'c5',
    stale: 'c6',
  },
  {
    it: 'T8 3',
    of: 'U r c1 c2 c3; B r c4; S c5 c6',
    ...MOVE,
    figures: '3/0/1/3 4/0/4 1/0',
    remove: 'c1',
    stale: 'c5 c6',
  },
  { it: 'T8 4', of: 'U d c1; U r c2 c3; B r c4; S c5 c6', ...MOVE, figures: '3/0/1/3 3/0/4 0/0', stale: 'c5 c6' },
  {
    it: 'T8 5 c1 gone',
    of: 'U r c2 c3; B r c4; S c5 c6',
    ...MOVE,
    figures: '3/0/1/3 3/0/3 0/1',
    move: 'c5',
    stale: 'c6',
  },

  { it: 'T9 scale down', of: 'B r c1 c2; U r c3 c4', n: 2, figures: '2/1/1/1 4/0/4 3/-1', remove: 'c3 c4' },
  {
    it: 'T10 1 a cluster joins',
    of: 'B ro c1 c2 c3; S c4',
    figures: '4/1/1/3 3/0/3 0/2',
    move: 'c4',
    stale: 'c1 c2 c3',
  },
  { it: 'T10 2', of: 'B ro c1 c2 c3; B p c4', figures: '4/1/1/3 3/0/4 0/1', stale: 'c1 c2 c3' },
  { it: 'T10 3', of: 'B ro c1 c2 c3; B r c4', figures: '4/1/1/3 4/0/4 1/1', move: 'c1', stale: 'c2 c3' },

  { it: 'T13 1', of: 'U r c1', figures: '0/0/0/0 1/0/1 1/-1', remove: 'c1' },
  // Differs from KubeFleet (DB-3): there it is never deleted.
  { it: 'T13 2 failed', of: 'U f c1', figures: '0/0/0/0 0/0/0 0/0', remove: 'c1' },
  { it: 'T13 3', of: 'U f c1', mu: 1, figures: '0/1/0/-1 0/0/0 1/0', remove: 'c1' },

  // Differs from KubeFleet (DB-4): there all three are stuck.
  {
    it: 'T14 1 PickN 5, three exist',
    of: 'B ro c1 c2 c3',
    n: 5,
    found: true,
    figures: '3/1/2/2 3/0/3 1/4',
    move: 'c1',
    stale: 'c2 c3',
  },
  { it: 'T14 2 PickFixed, one missing', of: 'B ro c1 c2', n: 3, found: true, move: 'c1', stale: 'c2' },
  { it: 'T14 3 PickN 4, 50 %', of: 'B ro c1 c2', n: 4, mu: '50%', found: true, move: 'c1', stale: 'c2' },
  {
    it: 'T14 when what the scheduler said names one that it has given up since',
    of: 'B ro c1 c2; U r c3',
    n: 4,
    mu: 1,
    found: 'c1 c2 c3',
    stale: 'c1 c2',
  },
  {
    it: 'T14 when it has picked one since',
    of: 'U r c2; S c4',
    n: 3,
    mu: 1,
    found: 'c2',
    move: 'c4',
  },
  {
    it: 'T14 when it has said so of that one, too',
    of: 'U r c2; S c4',
    n: 3,
    mu: 1,
    found: 'c4',
    move: 'c4',
    remove: 'c2',
  },
  { it: 'T14 with one that goes, which it may name', of: 'B ro c1; B d c2', n: 3, mu: 1, found: 'c1 c2', stale: 'c1' },
  { it: 'T14 with one that goes, or not', of: 'B ro c1; B d c2', n: 3, mu: 1, found: 'c1', stale: 'c1' },
  {
    it: 'T14 while the scheduler still looks',
    of: 'B ro c1 c2 c3',
    n: 5,
    figures: '5/2/2/3 3/0/3 0/4',
    stale: 'c1 c2 c3',
  },

  {
    it: 'T15 1',
    of: 'B ro c1 c2; U rd c3; U r c4',
    n: 2,
    mu: 1,
    ms: 0,
    figures: '2/1/0/1 4/1/4 2/-2',
    move: 'c1',
    remove: 'c4',
    stale: 'c2',
  },
  // Differs from KubeFleet (K1): there c2 waits.
  {
    it: 'T15 2',
    of: 'B rdo c1; B ro c2; U r c3 c4',
    n: 2,
    mu: 0,
    ms: 0,
    figures: '2/0/0/2 4/1/4 1/-2',
    move: 'c2',
    remove: 'c3',
  },
  {
    it: 'T15 3',
    of: 'U rd c1; U r c2; S c3 c4',
    n: 2,
    mu: 2,
    ms: 0,
    figures: '2/2/0/0 2/1/2 1/0',
    remove: 'c2',
    stale: 'c3 c4',
  },
  // Not DB-3: a cluster in progress may still serve (ADR 7), so it stays until others are available.
  {
    it: 'T15 4',
    of: 'U pd c1; U p c2; S c3 c4',
    n: 2,
    mu: 0,
    ms: 1,
    figures: '2/0/1/2 0/0/2 -2/1',
    move: 'c3',
    stale: 'c4',
  },
  {
    it: 'T15 4 others suffice',
    of: 'U p c2; B r c3 c4',
    n: 2,
    mu: 0,
    ms: 1,
    figures: '2/0/1/2 2/0/3 0/0',
    remove: 'c2',
  },
  {
    it: 'T15 4 known to be down (DB-3)',
    of: 'U s c1; U f c2; S c3 c4',
    n: 2,
    mu: 0,
    ms: 1,
    move: 'c3 c4',
    remove: 'c1 c2',
  },
  { it: 'T15 5', of: 'B rd c1; B r c2; S c3 c4', n: 4, mu: 0, ms: 0, figures: '4/0/0/4 2/1/2 -3/2', move: 'c3 c4' },
  {
    it: 'T15 6',
    of: 'U pd c1; U p c2; S c3 c4 c5 c6',
    n: 4,
    mu: 0,
    ms: 1,
    figures: '4/0/1/4 0/0/2 -4/3',
    move: 'c3 c4 c5',
    stale: 'c6',
  },
  {
    it: 'T15 7',
    of: 'U rd c1; U r c2 c3 c4; S c5 c6',
    n: 2,
    mu: 0,
    ms: 0,
    figures: '2/0/0/2 4/1/4 1/-2',
    remove: 'c2',
    stale: 'c5 c6',
  },

  {
    it: 'T16 reports',
    of: 'B D c1; B Do c2 c3',
    n: 3,
    mu: 1,
    ms: 0,
    figures: '3/1/0/2 3/0/0 1/3',
    move: 'c2',
    stale: 'c3',
  },
  // Differs from KubeFleet (DB-7): there c2 also waits for the clean-up of c1.
  { it: 'T19 re-picked', of: 'U d c1-old; S c1; B ro c2', n: 2, mu: 2, move: 'c2', stale: 'c1' },

  // Differs from KubeFleet: there the four surplus clusters count as spare, and c2 to c5 get the revision that fails on
  // c1.
  {
    it: 'fewer are asked for, and the scheduler has not said which',
    of: 'B s c1; B ro c2 c3 c4 c5 c6',
    n: 2,
    mu: 1,
    ms: 0,
    figures: '6/1/0/5 5/0/6 0/-4',
    stale: 'c2 c3 c4 c5 c6',
  },
  {
    it: 'fewer are asked for than were found before',
    of: 'B s c1; B ro c2 c3 c4',
    n: 2,
    mu: 1,
    ms: 0,
    found: true,
    figures: '4/1/0/3 3/0/4 0/-2',
    stale: 'c2 c3 c4',
  },
  {
    it: 'fewer are asked for, and it has',
    of: 'B s c1; B ro c2; U r c3 c4 c5 c6',
    n: 2,
    mu: 1,
    ms: 0,
    figures: '2/1/0/1 5/0/6 4/-4',
    remove: 'c3 c4 c5 c6',
    stale: 'c2',
  },
];

const words = (text = '') => text.split(' ').filter((word) => word !== '');

describe('a rolling update', () => {
  test.each(traces)('$it', ({ it: _it, of, figures = '', move, remove, stale, ...limits }) => {
    const plan = planOf(of, limits);
    expect({ move: plan.move, remove: plan.remove, stale: plan.stale }).toEqual({
      move: words(move),
      remove: words(remove),
      stale: words(stale),
    });
    const f = plan.figures;
    const all = `${f.target}/${f.maxUnavailable}/${f.maxSurge}/${f.minAvailable} ${f.ready}/${f.canBeUnavailable}/${f.canBeReady} ${f.maxRemove}/${f.maxAdd}`;
    expect(all.startsWith(figures), `${all} begins with ${figures}`).toBe(true);
    expect(plan.wakeAt).toBeUndefined();
  });

  describe.each(['Overridden', 'WorkSynchronized'])(
    'of a copy that failed at %s, and still serves its old content',
    (at) => {
      const rows = (others: string) => [...bindings('U f c1').map((row): Row => ({ ...row, at })), ...bindings(others)];

      test('keeps it until others suffice, and says why', () => {
        const plan = planOf(rows('B p c2'), { n: 1, mu: 0, ms: 1 });
        expect(plan.remove).toEqual([]);
        expect(plan.holds['c1']?.code).toBe('BudgetUsed');
        expect(planOf(rows('B r c2'), { n: 1, mu: 0, ms: 1 }).remove).toEqual(['c1']);
      });

      test('updates it without using up the budget', () => {
        const outdated = bindings('B fo c1; B ro c2').map((row): Row => (row.key === 'c1' ? { ...row, at } : row));
        expect(planOf(outdated, { n: 2, mu: 1 })).toMatchObject({ move: ['c1'], stale: ['c2'] });
      });
    },
  );

  test('keeps no copy that failed on its member', () => {
    const rows = bindings('U f c1; B p c2').map((row): Row => (row.key === 'c1' ? { ...row, at: 'Applied' } : row));
    expect(planOf(rows, { n: 1, mu: 0, ms: 1 }).remove).toEqual(['c1']);
  });

  describe('of a cluster whose order is undecided', () => {
    const why: Hold = {
      code: 'RevisionPending',
      subject: { group: 'placement.kubernetes-fleet.io', kind: 'ClusterResourceBinding', name: 'c1' },
      facts: {},
      next: 'wait',
    };
    const with1 = (text: string) =>
      bindings(text).map((row): Row => (row.key === 'c1' ? { ...row, wants: row.has ?? NEW, undecided: why } : row));

    test('binds the others, not this one, and reports why', () => {
      const plan = planOf(with1('S c1 c2'), { n: 2, mu: 1, ms: 0 });
      expect(plan).toMatchObject({ move: ['c2'], stale: ['c1'], holds: { c1: why }, done: false });
      expect(Object.keys(plan.holds)).toEqual(['c1']);
    });

    test('takes no place within the surge', () => {
      const plan = planOf(with1('S c1 c2; B r c3'), { n: 2, mu: 0, ms: 0 });
      expect(plan).toMatchObject({ move: ['c2'], stale: ['c1'] });
    });

    test('leaves the content as it is, and is not done', () => {
      const plan = planOf(with1('B ro c1; B r c2'), { n: 2, mu: 1, ms: 0 });
      expect(plan).toMatchObject({ move: [], stale: [], remove: [], holds: { c1: why }, done: false });
    });

    test('still counts it as available: the budget of the others is as large as before', () => {
      expect(planOf(with1('B ro c1 c2'), { n: 2, mu: 1, ms: 0 }).move).toEqual(['c2']);
    });

    test('waits for its predecessor first', () => {
      const plan = planOf(with1('U d c1-old; S c1'), { n: 1, mu: 1 });
      expect(plan.move).toEqual([]);
      expect(plan.holds['c1']?.code).toBe('PredecessorLeaving');
    });

    test('removes it all the same when the cluster is given up', () => {
      expect(planOf(with1('U r c1; B r c2'), { n: 1, mu: 1 }).remove).toEqual(['c1']);
    });
  });

  test('T11 waits for the end of an untracked cluster’s period, and for nothing else', () => {
    const rows = bindings('B po c1; B r c2; B o c3').map(
      (each): Row => (each.key === 'c3' ? { ...each, health: 'untracked', since: NOW - 35_000 } : each),
    );
    const plan = planOf(rows, { n: 3, mu: '20%', ms: 3 });
    expect(plan.figures).toMatchObject({
      target: 3,
      maxUnavailable: 1,
      minAvailable: 2,
      ready: 1,
      canBeReady: 3,
      maxRemove: -1,
      maxAdd: 3,
    });
    expect(plan).toMatchObject({ move: [], remove: [], stale: ['c1', 'c3'], upToDate: ['c2'], wakeAt: NOW + 25_001 });
  });

  test('T12 counts an untracked cluster as available strictly after its period', () => {
    const rows = bindings('B c1; B ro c2').map(
      (each): Row => (each.key === 'c1' ? { ...each, health: 'untracked', since: NOW } : each),
    );
    const at = (seconds: number) => planOf(rows, { n: 2, mu: 1 }, NOW + seconds * 1000);
    expect(at(25)).toMatchObject({ move: [], wakeAt: NOW + 60_001, figures: { ready: 1, maxRemove: 0 } });
    expect(at(60)).toMatchObject({ move: [], wakeAt: NOW + 60_001 });
    expect(planOf(rows, { n: 2, mu: 1 }, NOW + 60_001)).toMatchObject({ move: ['c2'], figures: { ready: 2 } });
  });

  test('T17 moves only those whose overrides changed', () => {
    const rows = bindings('B r c1 c2 c3').map(
      (each): Row => (each.key === 'c2' ? each : { ...each, wants: { ...NEW, overrides: 'cro-1' } }),
    );
    expect(planOf(rows, PICK3)).toMatchObject({ move: ['c1'], stale: ['c3'], upToDate: ['c2'] });
  });

  test('T18 a new way of applying makes nobody outdated', () => {
    const rows = bindings('B r c1 c2').map((each): Row => ({ ...each, wants: { ...NEW, strategy: 'other' } }));
    expect(planOf(rows, { n: 2 })).toMatchObject({ move: [], stale: [], upToDate: ['c1', 'c2'], done: true });
  });

  test('is done when everybody has the newest and is well', () => {
    expect(planOf('B r c1 c2', { n: 2 }).done).toBe(true);
    expect(planOf('B r c1; B p c2', { n: 2 }).done).toBe(false);
    expect(planOf('B r c1; U d c2', { n: 1 }).done).toBe(true);
  });
});

describe('what holds a cluster', () => {
  const holdsOf = (of: string, limits: Limits) =>
    Object.fromEntries(
      Object.entries(planOf(of, limits).holds).map(([key, { code, on }]) => [key, `${code} ${on?.name}`]),
    );

  test.each([
    {
      it: 'the failed one',
      of: 'B f c2; B ro c1 c3',
      limits: PICK3,
      holds: { c1: 'BudgetUsed c2', c2: 'NotAvailable c2', c3: 'BudgetUsed c2' },
    },
    {
      it: 'the failed one before one that is under way',
      of: 'B p c1; B f c2; B ro c3',
      limits: { n: 3, mu: 2 },
      holds: { c1: 'NotAvailable c1', c2: 'NotAvailable c2', c3: 'BudgetUsed c2' },
    },
    { it: 'the one that moves now', of: 'B ro c1 c2', limits: { n: 2, mu: 1 }, holds: { c2: 'BudgetUsed c1' } },
    {
      it: 'what has to make room',
      of: 'U r c1; S c2',
      limits: { n: 1, mu: 0, ms: 0 },
      holds: { c1: 'BudgetUsed undefined', c2: 'SurgeUsed c1' },
    },
    {
      it: 'one that counts, not one that goes anyway',
      of: 'U d c1; U r c2; B p c3 c4',
      limits: TWO,
      holds: { c1: 'RemovalPending c1', c2: 'BudgetUsed c3', c3: 'NotAvailable c3', c4: 'NotAvailable c4' },
    },
    {
      it: 'its own removal, when all is done',
      of: 'U d c1; B r c2',
      limits: { n: 1 },
      holds: { c1: 'RemovalPending c1' },
    },
    { it: 'a predecessor', of: 'U d c1-old; S c1', limits: { n: 1 }, holds: { c1: 'PredecessorLeaving c1-old' } },
  ])('is $it', ({ of, limits, holds }) => {
    expect(holdsOf(of, limits)).toEqual(holds);
  });

  test('is a cluster of which nobody can tell, until its time is over', () => {
    const rows = bindings('B c1; B ro c2').map(
      (each): Row => (each.key === 'c1' ? { ...each, health: 'untracked', since: NOW } : each),
    );
    expect(planOf(rows, { n: 2, mu: 1 }).holds).toMatchObject({
      c1: { code: 'UntrackedPeriod', until: NOW + 60_000 },
      c2: { code: 'BudgetUsed', on: { name: 'c1' }, until: NOW + 60_000 },
    });
  });

  test.each([
    { flag: 'f', next: 'fix the failure on cluster "c1" (a new revision goes there first)' },
    {
      flag: 's',
      next: 'wait for cluster "c1", or fix the objects that do not become available there (a new revision goes there first)',
    },
  ])('is not to be brought to more clusters, if it does not work on one ($flag)', ({ flag, next }) => {
    expect(planOf(`B ${flag} c1; B ro c2`, { n: 2, mu: 1 }).holds['c2']).toMatchObject({
      code: 'BudgetUsed',
      next: `${next}, or roll back on the hub (flotilla rollback)`,
    });
  });

  test('is an override that fails: no earlier revision would help', () => {
    const rows = bindings('B f c1; B ro c2').map((row): Row => (row.key === 'c1' ? { ...row, at: 'Overridden' } : row));
    expect(planOf(rows, { n: 2, mu: 1 }).holds['c2']).toMatchObject({
      code: 'BudgetUsed',
      next: 'correct the override that fails on cluster "c1" (flotilla overrides shows it), or raise maxUnavailable',
    });
  });

  test('is a member that nobody hears', () => {
    const silent = { reachable: false, silentSince: NOW - 5000 };
    const rows = bindings('B p c1; B ro c2').map((each): Row => (each.key === 'c1' ? { ...each, ...silent } : each));
    const { holds } = planOf(rows, { n: 2, mu: 1 });
    expect(holds['c1']).toMatchObject({ code: 'Unreachable', on: { name: 'c1' }, since: NOW - 5000 });
    expect(holds['c2']).toMatchObject({
      code: 'BudgetUsed',
      on: { name: 'c1' },
      facts: { cause: 'unreachable', ready: 1, minAvailable: 1 },
      next: 'reconnect cluster "c1", or remove it from the fleet (kubectl delete membercluster c1), or raise maxUnavailable',
    });
  });
});

// ---- over time

const anyState = fc.constantFrom(
  'B r',
  'B ro',
  'B p',
  'B po',
  'B s',
  'B so',
  'B f',
  'B fo',
  'S',
  'U r',
  'U p',
  'U s',
  'U f',
  'U rd',
  'U d',
  'B rd',
);
const anyFleet = fc
  .array(anyState, { minLength: 1, maxLength: 8 })
  .map((states) => bindings(states.map((state, i) => `${state} c${i}`).join(';')));
const anyLimits = fc.record({
  n: fc.option(fc.nat(8), { nil: undefined }),
  mu: fc.constantFrom(0, 1, 2, '25%', '50%', '100%'),
  ms: fc.constantFrom(0, 1, '25%', '100%'),
});

describe('any rolling update', () => {
  test('is the same plan for the same bindings in any order', () => {
    fc.assert(
      fc.property(anyFleet, anyLimits, fc.infiniteStream(fc.nat()), (rows, { n, ...limits }, dice) => {
        const shuffled = rows.map((each) => ({ each, at: dice.next().value as number })).sort((a, b) => a.at - b.at);
        const sorted = shuffled.map(({ each }) => each).sort((a, b) => (a.key < b.key ? -1 : 1));
        const given = { ...limits, ...(n === undefined ? {} : { n }) };
        expect(planOf(sorted, given)).toEqual(planOf(rows, given));
      }),
    );
  });

  test('moves nobody because fewer are asked for', () => {
    fc.assert(
      fc.property(anyFleet, anyLimits, fc.nat(8), (rows, { n: _n, ...limits }, fewer) => {
        const picked = rows.filter(({ state, deleting }) => state !== 'unscheduled' && !deleting).length;
        const before = planOf(rows, { ...limits, n: picked });
        const after = planOf(rows, { ...limits, n: Math.min(fewer, picked) });
        expect(before.move).toEqual(expect.arrayContaining([...after.move]));
        expect(before.remove).toEqual(expect.arrayContaining([...after.remove]));
      }),
    );
  });

  test('gives every binding that should move and may not a hold', () => {
    fc.assert(
      fc.property(anyFleet, anyLimits, (rows, { n, ...limits }) => {
        const plan = planOf(rows, { ...limits, ...(n === undefined ? {} : { n }) });
        for (const each of rows) {
          if (each.deleting || plan.move.includes(each.key) || plan.remove.includes(each.key)) continue;
          const isRight = each.state === 'bound' && !isOutdated(each) && each.health === 'available';
          expect(plan.holds[each.key] === undefined, each.key).toBe(isRight);
        }
      }),
    );
  });

  /**
   * Rows and the real state of the clusters: a copy can be available before a condition of the present generation
   * reports it.
   */
  interface Fleet {
    readonly rows: readonly Row[];
    readonly up: ReadonlySet<string>;
  }

  /** What the API server, the scheduler and the members do after a plan: a random part of it. */
  function after({ rows, up }: Fleet, plan: ReturnType<typeof planOf>, roll: (sides: number) => number): Fleet {
    const stillUp = new Set(up);
    const next = rows.flatMap((each): readonly Row[] => {
      const isDead = roll(3) === 0; // the hub crashed before this write
      if (plan.remove.includes(each.key) && !isDead) {
        stillUp.delete(each.key);
        return [{ ...each, deleting: true, health: 'unknown' }];
      }
      if (plan.move.includes(each.key) && !isDead) {
        stillUp.delete(each.key);
        return [{ ...each, state: 'bound', has: NEW, health: 'unknown' }];
      }
      if (each.deleting) return roll(2) === 0 ? [] : [each];
      if (each.state === 'scheduled' || each.health === 'available' || roll(2) === 0) return [each];
      if (each.health === 'unknown' && roll(2) === 0) return [{ ...each, health: 'progressing' }];
      if (each.health === 'progressing' && !up.has(each.key) && roll(2) === 0) return [{ ...each, health: 'starting' }];
      stillUp.add(each.key);
      return [{ ...each, health: 'available' }];
    });
    return { rows: next, up: stillUp };
  }

  /** The scheduler replaces one of the clusters: a new generation without any condition yet. */
  function moved(rows: readonly Row[], at: number, successor: string): readonly Row[] {
    const given = rows[at];
    if (given?.state !== 'bound' || given.deleting) return rows;
    const left = rows.map(
      (each): Row => (each === given ? { ...each, state: 'unscheduled', health: 'unknown' } : each),
    );
    return [...left, row('S', '', successor)].sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  test('keeps to its budgets and finishes, with slow members and a hub that dies midway', () => {
    fc.assert(
      fc.property(anyFleet, anyLimits, fc.infiniteStream(fc.nat()), (fleet, { n: _n, ...limits }, dice) => {
        const roll = (sides: number) => (dice.next().value as number) % sides;
        const isUp = ({ state, deleting, health }: Row) => state !== 'scheduled' && !deleting && health === 'available';
        let now: Fleet = { rows: fleet, up: new Set(fleet.filter(isUp).map(({ key }) => key)) };
        for (let round = 0; round < 400; round++) {
          if (round < 40 && roll(8) === 0) now = { ...now, rows: moved(now.rows, roll(8), `n${round}`) };
          const { rows, up } = now;
          const plan = planOf(rows, limits);
          const { target, maxUnavailable, maxSurge } = plan.figures;
          const taken = [...plan.remove, ...plan.move].filter((key) => up.has(key)).length;
          const floor = Math.min(up.size, target - Math.max(maxUnavailable, 1));
          expect(up.size - taken).toBeGreaterThanOrEqual(floor);
          const holding = rows.filter(({ state, health }) => state !== 'scheduled' && health !== 'failed').length;
          const added = rows.filter(({ key, state }) => state === 'scheduled' && plan.move.includes(key)).length;
          if (added > 0) expect(holding + added).toBeLessThanOrEqual(target + maxSurge);
          now = after(now, plan, roll);
        }
        if (limits.mu === 0 && limits.ms === 0) return; // no room to move: it may wait, with a hold
        const { rows } = now;
        expect(rows.filter(({ state }) => state === 'unscheduled')).toEqual([]);
        expect(rows.every((each) => each.state === 'bound' && !isOutdated(each) && each.health === 'available')).toBe(
          true,
        );
      }),
    );
  });
});

describe('clusters that wait for something else', () => {
  const hold: Hold = {
    code: 'DependencyNotReady',
    subject: { group: 'cluster.kubernetes-fleet.io', kind: 'MemberCluster', name: 'c1' },
    facts: {},
  };
  test('keep what they have, use no slot of others, and are not complete', () => {
    const rows = bindings('B ro c1 c2 c3; B fo c4; S c5 c6').map((each) =>
      ['c1', 'c4', 'c5'].includes(each.key) ? { ...each, held: hold } : each,
    );
    const limits = { maxUnavailable: 2, maxSurge: 1, unavailablePeriodMs: 0, target: 6 };
    const binding = { group: 'placement.kubernetes-fleet.io', kind: 'ClusterResourceBinding' };
    const plan = rolling({ rows, limits: { ...limits, binding }, state: undefined, now: NOW });
    expect(plan.move).not.toContain('c1');
    expect(plan.move).not.toContain('c4');
    expect(plan.move).not.toContain('c5');
    expect(plan.move).toContain('c6');
    expect(plan.stale).toEqual(expect.arrayContaining(['c1', 'c4', 'c5']));
    for (const key of ['c1', 'c4', 'c5']) expect(plan.holds[key]).toBe(hold);
    expect(plan.done).toBe(false);
  });
});
