// How a run progresses: tables, and properties that hold whatever the fleet, the hub and users do.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../test/properties.ts';
import type { StagedUpdateRunStatus } from '../../api/staged-update-run.ts';
import type { Stage } from '../../api/staged-update-strategy.ts';
import type { Revision } from '../orders/order.ts';
import { stagesOf } from '../staged/stages.ts';
import type { Health, Row } from './planner.ts';
import { staged } from './staged.ts';
import type { Approval, StagedLimits, StagedPlan } from './staged-plan.ts';
import { conditionIn, isTrue } from './staged-tree.ts';

const T0 = Date.parse('2026-01-01T00:00:00Z');
const WANTED: Revision = { snapshot: 'web-1-snapshot', overrides: '', strategy: '{}' };
const OLD: Revision = { ...WANTED, snapshot: 'web-0-snapshot' };
const ref = (kind: string, name: string) => ({ group: 'placement.kubernetes-fleet.io', kind, name });

const stage = (name: string, more: object = {}): Stage =>
  ({ name, labelSelector: { matchLabels: { stage: name } }, maxConcurrency: 1, ...more }) as Stage;

interface Fleet {
  readonly stages: readonly Stage[];
  /** The clusters of each stage. */
  readonly clusters: Readonly<Record<string, readonly string[]>>;
  readonly removals?: readonly string[];
}

function begun({ stages, clusters, removals = [] }: Fleet): StagedUpdateRunStatus {
  const stageOf = new Map(
    Object.entries(clusters).flatMap(([name, own]) => own.map((cluster) => [cluster, name] as const)),
  );
  const found = stagesOf({
    run: 'r',
    stages,
    clusters: [...stageOf.keys()],
    labelsOf: (cluster) => ({ stage: stageOf.get(cluster) ?? '' }),
  });
  if (!found.ok) throw new Error(found.message);
  return {
    resourceSnapshotIndexUsed: '1',
    stagedUpdateStrategySnapshot: { stages: [...stages] },
    stagesStatus: [...found.stages],
    deletionStageStatus: {
      stageName: 'kubernetes-fleet.io/deleteStage',
      clusters: removals.map((clusterName) => ({ clusterName })),
    },
    conditions: [
      {
        type: 'Initialized',
        status: 'True',
        reason: 'UpdateRunInitializedSuccessfully',
        message: '',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      },
    ],
  } as StagedUpdateRunStatus;
}

const row = (cluster: string, more: Partial<Row> = {}): Row => ({
  key: `web-${cluster}`,
  cluster,
  state: 'bound',
  deleting: false,
  has: OLD,
  wants: WANTED,
  health: 'available',
  released: true,
  since: T0,
  reachable: true,
  labels: {},
  ...more,
});
const moved = (cluster: string, health: Health = 'available', more: Partial<Row> = {}) =>
  row(cluster, { has: WANTED, health, ...more });

const limits = (fleet: Fleet, more: Partial<StagedLimits> = {}): StagedLimits => ({
  strategy: { stages: [...fleet.stages] },
  state: 'Run',
  generation: 1,
  stuckAfterMs: 300_000,
  left: () => undefined,
  approval: () => ({ state: 'absent' }),
  run: ref('ClusterStagedUpdateRun', 'r'),
  placement: ref('ClusterResourcePlacement', 'web'),
  approvalRequest: { group: '', kind: 'ClusterApprovalRequest' },
  binding: { group: '', kind: 'ClusterResourceBinding' },
  howToStart: 'start it',
  ...more,
});

/** Plans and records the status until it does not change any more; the actions are not carried out. */
function settled(
  fleet: Fleet,
  rows: readonly Row[],
  more: Partial<StagedLimits> = {},
  from = begun(fleet),
  now = T0,
): StagedPlan {
  let plan = staged({ rows, limits: limits(fleet, more), state: from, now });
  for (let at = 0; at < 5; at++) plan = staged({ rows, limits: limits(fleet, more), state: plan.state, now });
  return plan;
}
const progress = ({ state }: StagedPlan): string => {
  const condition = conditionIn(state, 'Progressing');
  return condition === undefined ? '-' : `${condition.status}/${condition.reason}`;
};

const TWO: Fleet = {
  stages: [stage('x', { maxConcurrency: 2 }), stage('y')],
  clusters: { x: ['a', 'b', 'c'], y: ['d'] },
};

describe('a run', () => {
  const lost = (name: string) => ({
    left: (cluster: string) => (cluster === name ? 'it has left the fleet' : undefined),
  });
  test.each<[string, string, string, Partial<Row>, Partial<StagedLimits>]>([
    ['has left', 'a', 'b', {}, lost('a')],
    ['has left, and stands behind it', 'b', 'a', {}, lost('b')],
    ['is not heard', 'a', 'b', { reachable: false, silentSince: T0 - 60_000 }, { unreachableAfterMs: 60_000 }],
  ])('goes on in the place of one that %s when that is recorded, not before', (_what, gone, next, silent, more) => {
    const one: Fleet = { stages: [stage('x')], clusters: { x: ['a', 'b'] } };
    const { state } = settled(one, [moved(gone, 'unknown'), row(next)]);
    const rows = [moved(gone, 'unknown', silent), row(next)];
    const first = staged({ rows, limits: limits(one, more), state, now: T0 });
    expect(first.move).toEqual([]);
    const second = staged({ rows, limits: limits(one, more), state: first.state, now: T0 });
    expect(second.move).toEqual([`web-${next}`]);
  });

  test('begins when that is recorded, not before', () => {
    const rows = ['a', 'b', 'c', 'd'].map((cluster) => row(cluster));
    const first = staged({ rows, limits: limits(TWO), state: begun(TWO), now: T0 });
    expect(first.move).toEqual([]);
    expect(progress(first)).toBe('True/UpdateRunProgressing');
    const second = staged({ rows, limits: limits(TWO), state: first.state, now: T0 });
    expect(second.move).toEqual(['web-a', 'web-b']);
    expect(second.holds).toMatchObject({
      'web-c': { code: 'ConcurrencyUsed', on: { name: 'a' } },
      'web-d': { code: 'EarlierStage', facts: { stage: 'x' } },
    });
  });

  test.each<[string, readonly Row[], Partial<Record<'move' | 'release' | 'remove', readonly string[]>>, string]>([
    [
      'tells the member of what was written',
      [moved('a', 'unknown', { released: false }), row('b'), row('c'), row('d')],
      { move: ['web-b'], release: ['web-a'] },
      'True/UpdateRunProgressing',
    ],
    [
      'binds what was only picked',
      [row('a', { state: 'scheduled', released: false, health: 'unknown' }), moved('b'), moved('c'), row('d')],
      { move: ['web-a'] },
      'True/UpdateRunProgressing',
    ],
    [
      'counts those that another run has brought the same revision, wherever they stand',
      [row('a'), row('b'), moved('c', 'progressing'), row('d')],
      { move: ['web-a'] },
      'True/UpdateRunProgressing',
    ],
    [
      'lets the next one move the moment one is done',
      [moved('a'), moved('b', 'progressing'), row('c'), row('d')],
      { move: ['web-c'] },
      'True/UpdateRunProgressing',
    ],
    [
      'takes what nobody can track, and what is only compared, for done',
      [moved('a', 'untracked'), moved('b', 'diffed'), row('c'), row('d')],
      { move: ['web-c'] },
      'True/UpdateRunProgressing',
    ],
    [
      'waits for what has failed: it may be mended',
      [moved('a', 'failed'), moved('b', 'starting'), row('c'), row('d')],
      {},
      'True/UpdateRunProgressing',
    ],
    [
      'counts other overrides and another way of applying as not there',
      [
        row('a', { has: { ...WANTED, overrides: 'x' } }),
        row('b', { has: { ...WANTED, strategy: 'x' } }),
        row('c'),
        row('d'),
      ],
      { move: ['web-a', 'web-b'] },
      'True/UpdateRunProgressing',
    ],
    [
      'goes to the next stage',
      [moved('a'), moved('b'), moved('c'), row('d')],
      { move: ['web-d'] },
      'True/UpdateRunProgressing',
    ],
    ['is done when all are', [moved('a'), moved('b'), moved('c'), moved('d')], {}, 'False/UpdateRunSucceeded'],
    ['ends when a binding is missing', [moved('a'), row('c'), row('d')], {}, 'False/UpdateRunFailed'],
    [
      'ends when a binding is being deleted',
      [moved('a'), row('b', { deleting: true }), row('c'), row('d')],
      {},
      'False/UpdateRunFailed',
    ],
  ])('%s', (_it, rows, acts, said_) => {
    const plan = settled(TWO, rows);
    expect({ move: plan.move, release: plan.release, remove: plan.remove }).toEqual({
      move: [],
      release: [],
      remove: [],
      ...acts,
    });
    expect(progress(plan)).toBe(said_);
  });

  test('passes clusters that have it all in one plan, through stages without gates', () => {
    const fleet: Fleet = {
      stages: [stage('x'), stage('y'), stage('z')],
      clusters: { x: ['a', 'b', 'c'], y: [], z: ['d', 'e'] },
    };
    const plan = staged({
      rows: ['a', 'b', 'c', 'd', 'e'].map((cluster) => moved(cluster)),
      limits: limits(fleet),
      state: begun(fleet),
      now: T0,
    });
    expect(progress(plan)).toBe('False/UpdateRunSucceeded');
    expect(plan.state.stagesStatus?.map((each) => conditionIn(each, 'Succeeded')?.reason)).toEqual([
      'StageUpdatingSucceeded',
      'StageUpdatingSkippedNoClusters',
      'StageUpdatingSucceeded',
    ]);
    expect(plan).toMatchObject({ move: [], done: true, holds: {}, gates: [] });
  });

  test('ends when somebody else takes a cluster that it has started', () => {
    const started = settled(TWO, [moved('a', 'progressing'), row('b'), row('c'), row('d')]).state;
    for (const taken of [
      row('a'),
      moved('a', 'progressing', { released: false }),
      moved('a', 'progressing', { state: 'scheduled' }),
    ]) {
      const plan = staged({
        rows: [taken, row('b'), row('c'), row('d')],
        limits: limits(TWO),
        state: started,
        now: T0,
      });
      expect(plan.failure).toMatchObject({ blame: 'user', rows: ['web-a'] });
      const [x] = plan.state.stagesStatus ?? [];
      expect(conditionIn(x?.clusters[0], 'Succeeded')).toMatchObject({
        status: 'False',
        reason: 'ClusterUpdatingFailed',
      });
      expect(conditionIn(x, 'Succeeded')).toMatchObject({ status: 'False', reason: 'StageUpdatingFailed' });
      expect(plan.move).toEqual([]);
    }
    // A cluster that the run has finished may change freely.
    const done = settled(TWO, [moved('a'), row('b'), row('c'), row('d')]).state;
    expect(
      settled(TWO, [row('a', { health: 'failed' }), row('b'), row('c'), row('d')], {}, done).failure,
    ).toBeUndefined();
  });

  test('is stuck with a cluster that takes too long, names it with the cause, and is not any more when it is done', () => {
    const rows = [
      moved('a', 'failed', { why: 'Deployment "shop/web": no image' }),
      moved('b', 'progressing'),
      row('c'),
      row('d'),
    ];
    const before = settled(TWO, rows);
    expect(before.wakeAt).toBe(T0 + 300_000);
    const plan = settled(TWO, rows, {}, before.state, T0 + 300_000);
    expect(progress(plan)).toBe('False/UpdateRunStuck');
    expect(conditionIn(plan.state, 'Progressing')?.message).toBe(
      'stage "x": clusters "a", "b" not done after 5m0s: Deployment "shop/web": no image; see ClusterResourcePlacement "web"',
    );
    const after = settled(TWO, [moved('a'), moved('b'), row('c'), row('d')], {}, plan.state, T0 + 300_000);
    expect(progress(after)).toBe('True/UpdateRunProgressing');
  });

  test('goes on without clusters that left, and without silent ones after their time', () => {
    const gone = settled(TWO, [moved('a', 'progressing'), row('c'), row('d')], {
      left: (cluster) => (cluster === 'b' ? 'it has left' : undefined),
    });
    expect(gone.move).toEqual(['web-c']);
    const silent = [
      moved('a', 'progressing', { reachable: false, silentSince: T0 - 60_000 }),
      moved('b', 'progressing'),
      row('c'),
      row('d'),
    ];
    const waiting = settled(TWO, silent, { unreachableAfterMs: 600_000 });
    expect(waiting).toMatchObject({ move: [], wakeAt: T0 + 300_000, holds: { 'web-a': { code: 'Unreachable' } } });
    const skipped = settled(TWO, silent, { unreachableAfterMs: 600_000 }, waiting.state, T0 + 540_000);
    expect(skipped.move).toEqual(['web-c']);
    const done = settled(
      TWO,
      [silent[0] as Row, moved('b'), moved('c'), moved('d')],
      { unreachableAfterMs: 600_000 },
      skipped.state,
      T0 + 540_000,
    );
    expect(conditionIn(done.state, 'Succeeded')).toMatchObject({
      status: 'True',
      message: 'all stages are done; skipped: 1 (a)',
    });
  });

  test('counts one that was done before it fell silent', () => {
    const rows = [
      moved('a', 'available', { reachable: false, silentSince: T0 - 3_600_000 }),
      ...['b', 'c', 'd'].map((cluster) => moved(cluster)),
    ];
    const done = settled(TWO, rows, { unreachableAfterMs: 600_000 });
    expect(conditionIn(done.state, 'Succeeded')).toMatchObject({ status: 'True', message: 'all stages are done' });
  });

  test('waits for one that keeps it from beginning', () => {
    const plan = settled(
      TWO,
      ['a', 'b', 'c', 'd'].map((cluster) => row(cluster)),
      { rival: { ref: ref('ClusterStagedUpdateRun', 'other'), isStopped: false, howToStart: 'start it' } },
    );
    expect(plan).toMatchObject({ move: [], gates: [{ code: 'OtherRun', on: { name: 'other' } }] });
    expect(progress(plan)).toBe('False/UpdateRunWaiting');
    expect(plan.state.stagesStatus?.every(({ startTime }) => startTime === undefined)).toBe(true);
  });
});

describe('gates', () => {
  const GATED: Fleet = {
    stages: [
      stage('x', {
        beforeStageTasks: [{ type: 'Approval' }],
        afterStageTasks: [{ type: 'TimedWait', waitTime: '30s' }, { type: 'Approval' }],
      }),
      stage('y'),
    ],
    clusters: { x: ['a'], y: ['b'] },
  };
  const approvals = (given: Readonly<Record<string, Approval>>) => ({
    approval: (name: string): Approval => given[name] ?? { state: 'absent' },
  });
  const OPEN = { state: 'open' } as const;
  const ACCEPTED = { state: 'accepted' } as const;

  test.each<
    [
      string,
      Readonly<Record<string, Approval>>,
      Partial<Record<'move' | 'accept' | 'discard', readonly string[]>> & { readonly ask?: readonly string[] },
    ]
  >([
    ['before a stage are asked for', {}, { ask: ['r-before-x'] }],
    ['are waited for', { 'r-before-x': OPEN }, {}],
    [
      'of an earlier run are asked for anew',
      { 'r-before-x': { state: 'stale', hint: '', isDeleting: false } },
      { discard: ['r-before-x'] },
    ],
    ['of an earlier run that go are waited for', { 'r-before-x': { state: 'stale', hint: '', isDeleting: true } }, {}],
    ['are accepted', { 'r-before-x': { state: 'approved' } }, { accept: ['r-before-x'] }],
    ['let pass', { 'r-before-x': ACCEPTED }, { move: ['web-a'] }],
  ])('%s', (_it, given, acts) => {
    const plan = settled(GATED, [row('a'), row('b')], approvals(given));
    const { move, accept, discard, ask } = plan;
    expect({ move, accept, discard, ask: ask.map(({ name }) => name) }).toEqual({
      move: [],
      accept: [],
      discard: [],
      ask: [],
      ...acts,
    });
  });

  test('are passed when that is recorded, not before', () => {
    const waiting = settled(GATED, [row('a'), row('b')], approvals({ 'r-before-x': OPEN }));
    const now = { rows: [row('a'), row('b')], limits: limits(GATED, approvals({ 'r-before-x': ACCEPTED })), now: T0 };
    const first = staged({ ...now, state: waiting.state });
    expect(first.move).toEqual([]);
    expect(staged({ ...now, state: first.state }).move).toEqual(['web-a']);
    // No approval is requested after a stage before the status records that the stage is done.
    const running = settled(GATED, [moved('a', 'progressing'), row('b')], approvals({ 'r-before-x': ACCEPTED }));
    const done = staged({ ...now, rows: [moved('a'), row('b')], state: running.state });
    expect(done.ask).toEqual([]);
    expect(staged({ ...now, rows: [moved('a'), row('b')], state: done.state }).ask).toMatchObject([
      { name: 'r-after-x', stage: 'x', when: 'after' },
    ]);
  });

  test('after a stage are all needed, and a wait counts from its last cluster, whatever was waited for before', () => {
    const given = approvals({ 'r-before-x': ACCEPTED, 'r-after-x': ACCEPTED });
    const asked = settled(GATED, [moved('a'), row('b')], approvals({ 'r-before-x': OPEN }));
    const done = settled(GATED, [moved('a'), row('b')], given, asked.state, T0 + 100_000);
    expect(done).toMatchObject({ move: [], wakeAt: T0 + 130_999, gates: [{ code: 'TimedWait' }] });
    const early = settled(GATED, [moved('a'), row('b')], given, done.state, T0 + 130_000);
    expect(early.move).toEqual([]);
    const stopped = settled(GATED, [moved('a'), row('b')], { ...given, state: 'Stop' }, early.state, T0 + 130_500);
    const late = settled(GATED, [moved('a'), row('b')], given, stopped.state, T0 + 130_999);
    expect(late.move).toEqual(['web-b']);
  });

  test.each<[string, Partial<Row>, number]>([
    ['an edited status says otherwise', {}, T0 + 130_999],
    ['it is unavailable again', { health: 'starting', since: T0 + 110_000 }, T0 + 140_999],
    ['it is available again since', { since: T0 + 120_000 }, T0 + 150_999],
    ['it was only given to another run', { has: OLD, since: T0 + 120_000 }, T0 + 30_999],
  ])('that wait never count from before a cluster became available, also if %s', (_it, more, until) => {
    const given = approvals({ 'r-before-x': ACCEPTED, 'r-after-x': ACCEPTED });
    const at = (more: Partial<Row> = {}) => [moved('a', 'available', { since: T0 + 100_000, ...more }), row('b')];
    const done = settled(GATED, at(), given, begun(GATED), T0 + 100_000);
    expect(done.gates).toMatchObject([{ code: 'TimedWait', since: T0 + 100_000, until: T0 + 130_999 }]);
    const edited = JSON.parse(
      JSON.stringify(done.state).replaceAll('2026-01-01T00:01:40Z', '2026-01-01T00:00:00Z'),
    ) as StagedUpdateRunStatus;
    const early = settled(GATED, at(more), given, edited, until - 1);
    expect(early.move).toEqual([]);
    expect(early.gates).toMatchObject([{ code: 'TimedWait', until }]);
    const late = settled(GATED, at(more), given, edited, until);
    expect(late.gates).not.toMatchObject([{ code: 'TimedWait' }]);
  });

  test('that were passed stay open, and one of something else ends the run', () => {
    const passed = settled(GATED, [row('a'), row('b')], approvals({ 'r-before-x': ACCEPTED })).state;
    expect(settled(GATED, [row('a'), row('b')], approvals({}), passed).move).toEqual(['web-a']);
    expect(
      settled(GATED, [row('a'), row('b')], approvals({ 'r-before-x': { state: 'foreign' } })).failure,
    ).toMatchObject({ blame: 'internal', requests: ['r-before-x'] });
  });
});

describe('to stop', () => {
  const STOP = { state: 'Stop' } as const;
  test.each<[string, readonly Row[], readonly Row[], number, string]>([
    [
      'with nothing under way is to be stopped',
      [row('a'), row('b'), row('c'), row('d')],
      [row('a'), row('b'), row('c'), row('d')],
      0,
      'False/UpdateRunStopped',
    ],
    [
      'waits for what is under way',
      [moved('a', 'progressing'), moved('b', 'progressing'), row('c'), row('d')],
      [moved('a', 'progressing'), moved('b'), row('c'), row('d')],
      0,
      'Unknown/UpdateRunStopping',
    ],
    [
      'ends when it is done',
      [moved('a', 'progressing'), moved('b', 'progressing'), row('c'), row('d')],
      [moved('a'), moved('b'), row('c'), row('d')],
      0,
      'False/UpdateRunStopped',
    ],
    [
      'ends when it is stuck',
      [moved('a', 'progressing'), moved('b', 'progressing'), row('c'), row('d')],
      [moved('a', 'progressing'), moved('b'), row('c'), row('d')],
      300_000,
      'False/UpdateRunStopped',
    ],
    [
      'does not wait for a cluster that somebody else has taken',
      [moved('a', 'progressing'), moved('b'), row('c'), row('d')],
      [row('a'), moved('b'), row('c'), row('d')],
      0,
      'False/UpdateRunStopped',
    ],
    [
      'counts what was moved and not recorded',
      [row('a'), row('b'), row('c'), row('d')],
      [moved('a', 'progressing'), row('b'), row('c'), row('d')],
      0,
      'Unknown/UpdateRunStopping',
    ],
  ])('%s', (_it, before, after, ms, expected) => {
    const running = settled(TWO, before).state;
    const plan = settled(TWO, after, STOP, running, T0 + ms);
    expect(progress(plan)).toBe(expected);
    expect({ move: plan.move, release: plan.release, remove: plan.remove, ask: plan.ask, accept: plan.accept }).toEqual(
      { move: [], release: [], remove: [], ask: [], accept: [] },
    );
    // Another pass changes nothing, not even a time.
    expect(staged({ rows: after, limits: limits(TWO, STOP), state: plan.state, now: T0 + ms + 5000 }).state).toEqual(
      plan.state,
    );
  });

  test('lets the wait after a stage count from its last cluster, also of one that was stuck when it stopped', () => {
    const fleet: Fleet = {
      stages: [stage('x', { afterStageTasks: [{ type: 'TimedWait', waitTime: '60s' }] }), stage('y')],
      clusters: { x: ['a'], y: ['d'] },
    };
    const isStopped = { state: 'Stop' } as const;
    const begins = settled(fleet, [moved('a', 'progressing'), row('d')]).state;
    const stopped = settled(fleet, [moved('a', 'progressing'), row('d')], isStopped, begins, T0 + 400_000);
    expect(progress(stopped)).toBe('False/UpdateRunStopped');
    const late = T0 + 1_000_000;
    const done = settled(fleet, [moved('a'), row('d')], isStopped, stopped.state, late);
    const resumed = settled(fleet, [moved('a'), row('d')], {}, done.state, late + 1000);
    expect(resumed.move).toEqual([]);
    expect(resumed.gates).toMatchObject([{ code: 'TimedWait', until: late + 60_999 }]);
  });

  test('names the cluster that is stuck', () => {
    const rows = [moved('a', 'failed', { why: 'ConfigMap "x": refused' }), row('b'), row('c'), row('d')];
    const plan = settled(TWO, rows, STOP, settled(TWO, rows).state, T0 + 300_000);
    expect(conditionIn(plan.state, 'Progressing')?.message).toContain(
      'stopped with cluster "a" not done after 5m0s: ConfigMap "x": refused',
    );
  });

  test.each([
    {
      it: 'names those that somebody else has taken',
      given: STOP,
      says: 'stage "x": no cluster is being updated; another client has changed the desired state of clusters "a", "b": another run, or an edit of their bindings',
    },
    {
      it: 'names the run that has taken them, where it is known',
      given: { ...STOP, bringerOf: (snapshot: string) => (snapshot === OLD.snapshot ? 'run "o"' : undefined) },
      says: 'stage "x": no cluster is being updated; another client has changed the desired state of clusters "a", "b": run "o"',
    },
  ])('$it', ({ given, says }) => {
    const before = [moved('a', 'progressing'), moved('b', 'progressing'), row('c'), row('d')];
    const plan = settled(TWO, [row('a'), row('b'), row('c'), row('d')], given, settled(TWO, before).state);
    expect(conditionIn(plan.state, 'Progressing')?.message).toBe(says);
  });

  test('before clusters are removed is to be stopped, and one without any is done', () => {
    const fleet: Fleet = { stages: [stage('x')], clusters: { x: ['a'] }, removals: ['b'] };
    const rows = [moved('a'), row('b', { state: 'unscheduled' })];
    const done = staged({ rows, limits: limits(fleet), state: begun(fleet), now: T0 });
    const plan = settled(fleet, rows, STOP, done.state);
    expect(plan.remove).toEqual([]);
    expect(progress(plan)).toBe('False/UpdateRunStopped');
    expect(progress(settled(fleet, [moved('a')], STOP, done.state))).toBe('False/UpdateRunSucceeded');
  });
});

describe('the last stage', () => {
  const fleet: Fleet = { stages: [stage('x')], clusters: { x: ['a'] }, removals: ['b', 'c'] };
  const leaving = (cluster: string, deleting = false) => row(cluster, { state: 'unscheduled', deleting });
  test('removes all at once, when the others are recorded to be done', () => {
    const rows = [moved('a'), leaving('b'), leaving('c')];
    const first = staged({ rows, limits: limits(fleet), state: begun(fleet), now: T0 });
    expect(first.remove).toEqual([]);
    const second = staged({ rows, limits: limits(fleet), state: first.state, now: T0 });
    expect(second.remove).toEqual(['web-b', 'web-c']);
    const third = staged({
      rows: [moved('a'), leaving('b', true)],
      limits: limits(fleet),
      state: second.state,
      now: T0,
    });
    expect(third.state.deletionStageStatus?.clusters.map((each) => isTrue(each, 'Succeeded'))).toEqual([false, true]);
    expect(third.holds).toMatchObject({ 'web-b': { code: 'RemovalPending' } });
    expect(progress(staged({ rows: [moved('a')], limits: limits(fleet), state: third.state, now: T0 }))).toBe(
      'False/UpdateRunSucceeded',
    );
    // A cluster that was being removed and exists again is a contradiction.
    expect(staged({ rows, limits: limits(fleet), state: third.state, now: T0 }).failure).toMatchObject({
      blame: 'internal',
      rows: ['web-b'],
    });
  });
  test('leaves alone who is picked again', () => {
    const plan = settled(fleet, [moved('a'), row('b'), row('c')]);
    expect(plan.remove).toEqual([]);
    expect(progress(plan)).toBe('False/UpdateRunSucceeded');
  });
});

test('one that is only prepared does nothing and says how it starts', () => {
  const plan = settled(
    TWO,
    ['a', 'b', 'c', 'd'].map((cluster) => row(cluster)),
    { state: 'Initialize' },
  );
  expect(plan).toMatchObject({ move: [], gates: [{ code: 'RunNotStarted', next: 'start it' }] });
  expect(progress(plan)).toBe('-');
});

test('another generation is taken over by every condition', () => {
  const done = settled(
    TWO,
    ['a', 'b', 'c', 'd'].map((cluster) => moved(cluster)),
  );
  const plan = staged({ rows: [], limits: limits(TWO, { generation: 7 }), state: done.state, now: T0 });
  const found = JSON.stringify(plan.state).match(/"observedGeneration":\d+/g) ?? [];
  expect(new Set(found)).toEqual(new Set(['"observedGeneration":7']));
});

// ---- whatever happens

const anyFleet = fc
  .record({
    sizes: fc.array(fc.nat(5), { minLength: 1, maxLength: 4 }),
    limits: fc.array(fc.constantFrom<number | string>(1, 2, 3, '30%', '50%', '100%'), { minLength: 4, maxLength: 4 }),
    gates: fc.array(fc.nat(3), { minLength: 4, maxLength: 4 }),
  })
  .map(({ sizes, limits: most, gates }): Fleet => {
    const approval = [{ type: 'Approval' }];
    return {
      stages: sizes.map((_, at) =>
        stage(`s${at}`, {
          maxConcurrency: most[at] ?? 1,
          ...((gates[at] ?? 0) & 1 ? { beforeStageTasks: approval } : {}),
          ...((gates[at] ?? 0) & 2 ? { afterStageTasks: [...approval, { type: 'TimedWait', waitTime: '5s' }] } : {}),
        }),
      ),
      clusters: Object.fromEntries(
        sizes.map((size, at) => [`s${at}`, Array.from({ length: size }, (_, n) => `s${at}c${n}`)]),
      ),
    };
  });

/** An endless stream of 0…99. */
const anyDice = fc.infiniteStream(fc.nat(99));

interface World {
  rows: Map<string, Row>;
  approvals: Map<string, Approval>;
  state: StagedUpdateRunStatus;
  now: number;
  wanted: 'Run' | 'Stop';
  /** Rows that got the revision and were not available with it yet. */
  fresh: Set<string>;
}

/** Carries out only a part of a plan: the hub may crash anywhere. */
function perform(world: World, plan: StagedPlan, roll: () => number): void {
  const dies = () => roll() < 10;
  for (const key of plan.move) {
    if (dies()) return;
    world.rows.set(key, {
      ...(world.rows.get(key) as Row),
      state: 'bound',
      has: WANTED,
      health: 'unknown',
      released: false,
    });
    world.fresh.add(key);
  }
  for (const key of plan.release) {
    if (dies()) return;
    world.rows.set(key, { ...(world.rows.get(key) as Row), released: true });
  }
  for (const { name } of plan.ask) {
    if (dies()) return;
    world.approvals.set(name, { state: 'open' });
  }
  for (const name of plan.accept) {
    if (dies()) return;
    world.approvals.set(name, { state: 'accepted' });
  }
  if (!dies()) world.state = plan.state;
}

function liveOn(world: World, roll: () => number): void {
  for (const [key, each] of world.rows) {
    if (each.has !== WANTED || !each.released) continue;
    const dice = roll();
    // Members answer late, fail for a while, and a copy that worked may stop working.
    const health: Health = dice < 50 ? 'available' : dice < 65 ? 'failed' : dice < 75 ? 'progressing' : each.health;
    if (health === 'available') world.fresh.delete(key);
    world.rows.set(key, { ...each, health });
  }
  for (const [name, { state }] of world.approvals) {
    if (state === 'open' && roll() < 30) world.approvals.set(name, { state: 'approved' });
    // A user withdraws the approval before it is accepted.
    else if (state === 'approved' && roll() < 20) world.approvals.set(name, { state: 'open' });
  }
}

test('never more move than may, no stage begins before its turn, what is stopped starts nothing, and all come to an end', () => {
  fc.assert(
    fc.property(anyFleet, anyDice, (fleet, dice) => {
      const roll = () => dice.next().value as number;
      const stageOf = new Map<string, string>(
        Object.entries(fleet.clusters).flatMap(([name, own]) =>
          own.map((cluster) => [`web-${cluster}`, name] as const),
        ),
      );
      const world: World = {
        rows: new Map([...stageOf.keys()].map((key) => [key, row(key.slice(4))])),
        approvals: new Map(),
        state: begun(fleet),
        now: T0,
        wanted: 'Run',
        fresh: new Set(),
      };
      const most = new Map(
        fleet.stages.map(({ name, maxConcurrency }) => {
          const size = fleet.clusters[name]?.length ?? 0;
          return [
            name,
            Math.max(
              1,
              typeof maxConcurrency === 'number'
                ? maxConcurrency
                : Math.floor((Number.parseInt(maxConcurrency ?? '1', 10) * size) / 100),
            ),
          ] as const;
        }),
      );
      for (let round = 0; round < 400 && !isTrue(world.state, 'Succeeded'); round++) {
        // In the end the run is not stopped any more.
        world.wanted = round < 200 && roll() < 15 ? 'Stop' : 'Run';
        world.now += 700;
        const { state } = world;
        const plan = staged({
          rows: [...world.rows.values()],
          limits: limits(fleet, {
            state: world.wanted,
            approval: (name) => world.approvals.get(name) ?? { state: 'absent' },
          }),
          state,
          now: world.now,
        });
        expect(plan.failure).toBeUndefined();
        if (world.wanted === 'Stop') expect([...plan.move, ...plan.release, ...plan.ask, ...plan.accept]).toEqual([]);
        for (const key of plan.move) {
          const at = fleet.stages.findIndex(({ name }) => name === stageOf.get(key));
          // The order is checked against the recorded status, not against the plan.
          expect(state.stagesStatus?.slice(0, at).every((each) => isTrue(each, 'Succeeded'))).toBe(true);
          const before = state.stagesStatus?.[at]?.beforeStageTaskStatus ?? [];
          expect(before.every((task) => isTrue(task, 'ApprovalRequestApproved'))).toBe(true);
        }
        perform(world, plan, roll);
        for (const [name, limit] of most) {
          const inFlight = [...world.fresh].filter((key) => stageOf.get(key) === name);
          expect(inFlight.length).toBeLessThanOrEqual(limit);
        }
        liveOn(world, roll);
      }
      expect(conditionIn(world.state, 'Succeeded')?.status).toBe('True');
      expect([...world.rows.values()].every(({ has }) => has === WANTED)).toBe(true);
    }),
    { numRuns: runs(150) },
  );
});

describe('a cluster that another run takes before it is recorded that it was given the revision', () => {
  const rows = [row('a'), row('b'), row('c'), row('d')];

  test('is moved if this program has not given it the revision: a hub may have died in between', () => {
    expect(settled(TWO, rows).move).toContain('web-a');
  });

  test('is not moved once more if it has: the two would take it from each other for ever', () => {
    const { state } = settled(TWO, rows);
    const plan = staged({ rows, limits: limits(TWO, { wasGiven: (key) => key === 'web-a' }), state, now: T0 });
    expect(plan.move).toEqual([]);
    expect(plan.failure).toMatchObject({ blame: 'user', rows: ['web-a'] });
    expect(plan.failure?.message).toBe(
      'another client has changed the desired state of cluster "a": another run, or an edit of its binding',
    );
  });

  test('names the other run, where it is known', () => {
    const { state } = settled(TWO, rows);
    const own = limits(TWO, { wasGiven: () => true, bringerOf: () => 'run "o"' });
    expect(staged({ rows, limits: own, state, now: T0 }).failure?.message).toBe(
      'another client has changed the desired state of cluster "a": run "o"',
    );
  });
});
