// Forecasts of runs from objects alone: no server, no clock.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../test/properties.ts';
import { annotations } from '../../api/names.ts';
import type { KubeObject } from '../../api/object.ts';
import type { StagedUpdateRun, StagedUpdateRunSpec } from '../../api/staged-update-run.ts';
import { clusterFamily } from '../../hub/families.ts';
import { NOW } from '../placement.testing.ts';
import { aBinding, aMember, anExternal, aPolicy, aRequest, aSnapshot, aStrategy, said } from '../staged-run.testing.ts';
import { type Forecast, type ForecastInput, forecast, wavesIn } from './forecast.ts';

const by = (stage: string) => ({ labelSelector: { matchLabels: { stage } } });
const STAGES = [
  { name: 'first', ...by('first'), maxConcurrency: 1 },
  { name: 'rest', ...by('rest'), maxConcurrency: 2 },
];
const LABELS: Readonly<Record<string, string>> = { a: 'first', b: 'rest', c: 'rest', d: 'rest' };

const aNewRun = (spec: Partial<StagedUpdateRunSpec> = {}, metadata: object = {}): StagedUpdateRun => ({
  apiVersion: 'placement.kubernetes-fleet.io/v1beta1',
  kind: 'ClusterStagedUpdateRun',
  metadata: { name: 'r', ...metadata },
  spec: {
    placementName: 'web',
    stagedRolloutStrategyName: 's',
    state: 'Initialize',
    resourceSnapshotIndex: '1',
    ...spec,
  },
});

/** Four clusters on revision 0, before revision 1. */
const ground = (more: Partial<ForecastInput> = {}, stages: readonly object[] = STAGES): ForecastInput => ({
  family: clusterFamily,
  run: aNewRun(),
  placement: anExternal(),
  strategy: aStrategy(stages),
  policySnapshots: [aPolicy(Object.keys(LABELS))],
  resourceSnapshots: [aSnapshot(0, [], false), aSnapshot(1)],
  bindings: Object.keys(LABELS).map((cluster) => aBinding(cluster, 0)),
  runs: [],
  requests: [],
  members: Object.entries(LABELS).map(([name, stage]) => aMember(name, { stage })),
  overrides: [],
  now: NOW,
  ...more,
});

/** `first: a`, `ask r-after-first`, `wait 5s`, each with its seconds since the start unless 0. */
const told = ({ steps }: Forecast): readonly string[] =>
  steps.map((step) => {
    const at = Math.floor(('wave' in step ? step.wave : step.gate).afterMs / 1000);
    const what =
      'wave' in step
        ? `${step.wave.removes ? 'remove' : step.wave.stage}: ${step.wave.clusters.join(' ')}`
        : step.gate.type === 'Approval'
          ? `ask ${step.gate.request}`
          : `wait ${step.gate.waitTime}`;
    return at === 0 ? what : `${what} +${at}`;
  });

const gated = [
  { ...STAGES[0], afterStageTasks: [{ type: 'Approval' }, { type: 'TimedWait', waitTime: '1h' }] },
  { ...STAGES[1], beforeStageTasks: [{ type: 'Approval' }] },
];

describe('a forecast', () => {
  test.each<{ it: string; ground: ForecastInput; steps: readonly string[]; end?: string }>([
    {
      it: 'goes through the stages in order, as many clusters at once as a stage allows',
      ground: ground(),
      steps: ['first: a', 'rest: b c', 'rest: d'],
    },
    {
      it: 'asks at gates, and time passes only where a stage waits for it',
      ground: ground({}, gated),
      steps: [
        'first: a',
        'ask r-after-first',
        'wait 1h',
        'ask r-before-rest +3600',
        'rest: b c +3600',
        'rest: d +3600',
      ],
    },
    {
      it: 'takes the time of its clusters besides, wave by wave',
      ground: ground({ durationMs: 60_000 }, gated),
      steps: [
        'first: a',
        'ask r-after-first +60',
        'wait 1h +60',
        'ask r-before-rest +3660',
        'rest: b c +3660',
        'rest: d +3720',
      ],
    },
    {
      it: 'gives up a silent cluster while others are under way',
      ground: ground({
        durationMs: 60_000,
        run: aNewRun({}, { annotations: { [annotations.unreachableAfter]: '10m' } }),
        members: [...ground().members.slice(0, 3), aMember('d', { stage: 'rest' }, false)],
      }),
      steps: ['first: a', 'rest: b c +60', 'rest: d +120'],
    },
    {
      it: 'passes over clusters that have it already, and these take no place',
      ground: ground({ bindings: [aBinding('a', 1), aBinding('b', 0), aBinding('c', 1), aBinding('d', 0)] }),
      steps: ['rest: b d'],
    },
    {
      it: 'has nothing to do where all have it',
      ground: ground({ bindings: Object.keys(LABELS).map((cluster) => aBinding(cluster, 1)) }),
      steps: [],
    },
    {
      it: 'goes by the label that sorts',
      ground: ground(
        { members: Object.entries(LABELS).map(([name, stage], at) => aMember(name, { stage, at: String(9 - at) })) },
        [STAGES[0], { ...STAGES[1], sortingLabelKey: 'at' }] as readonly object[],
      ),
      steps: ['first: a', 'rest: d c', 'rest: b'],
    },
    {
      it: 'counts shares rounded down, at least one',
      ground: ground({}, [STAGES[0], { ...STAGES[1], maxConcurrency: '50%' }] as readonly object[]),
      steps: ['first: a', 'rest: b', 'rest: c', 'rest: d'],
    },
    {
      it: 'reaches clusters that have nothing yet',
      ground: ground({ bindings: Object.keys(LABELS).map((cluster) => aBinding(cluster)) }),
      steps: ['first: a', 'rest: b c', 'rest: d'],
    },
    {
      it: 'takes clusters that were given up out at the end, all at once',
      ground: ground({
        bindings: [
          ...Object.keys(LABELS).map((cluster) => aBinding(cluster, 0)),
          aBinding('y', 0, { state: 'Unscheduled' }),
          aBinding('z', 0, { state: 'Unscheduled' }),
        ],
      }),
      steps: ['first: a', 'rest: b c', 'rest: d', 'remove: y z'],
    },
    {
      it: 'assumes that a silent cluster comes back',
      ground: ground({ members: [...ground().members.slice(1), aMember('a', { stage: 'first' }, false)] }),
      steps: ['first: a', 'rest: b c', 'rest: d'],
    },
    {
      it: 'goes on without a silent cluster where the run says so',
      ground: ground({
        run: aNewRun({}, { annotations: { [annotations.unreachableAfter]: '10m' } }),
        members: [...ground().members.slice(1), aMember('a', { stage: 'first' }, false)],
      }),
      // It has been unreachable for five minutes.
      steps: ['first: a', 'rest: b c +300', 'rest: d +300'],
    },
    {
      it: 'does not ask for what somebody was asked for and gave',
      ground: ground(
        {
          requests: [
            aRequest('r-after-first', 'first', {
              status: { conditions: said('Approved ApprovalAccepted') },
              owner: 'r-uid',
            }),
          ],
          run: aNewRun({}, { uid: 'r-uid' }),
        },
        [{ ...STAGES[0], afterStageTasks: [{ type: 'Approval' }] }, STAGES[1]] as readonly object[],
      ),
      steps: ['first: a', 'rest: b c', 'rest: d'],
    },
    {
      it: 'asks anew for what an earlier run of the name was given',
      ground: ground(
        {
          requests: [
            aRequest('r-after-first', 'first', {
              status: { conditions: said('Approved ApprovalAccepted') },
              owner: 'r-uid',
            }),
          ],
          run: aNewRun({}, { uid: 'another' }),
        },
        [{ ...STAGES[0], afterStageTasks: [{ type: 'Approval' }] }, STAGES[1]] as readonly object[],
      ),
      steps: ['first: a', 'ask r-after-first', 'rest: b c', 'rest: d'],
    },
    {
      it: 'fails where a request has the name and is about something else',
      ground: ground({ requests: [{ ...aRequest('r-before-rest', 'other') }] }, [
        STAGES[0],
        { ...STAGES[1], beforeStageTasks: [{ type: 'Approval' }] },
      ] as readonly object[]),
      steps: ['first: a'],
      end: 'fails',
    },
  ])('$it', ({ ground, steps, end = 'succeeds' }) => {
    const found = forecast(ground);
    expect(told(found)).toEqual(steps);
    expect(found.end).toBe(end);
  });

  test.each<{ it: string; ground: ForecastInput; end: Forecast['end']; says: string }>([
    {
      it: 'no strategy',
      ground: (({ strategy: _strategy, ...rest }) => rest)(ground()),
      end: 'waits',
      says: 'the run waits: ClusterStagedUpdateStrategy "s" does not exist',
    },
    {
      it: 'no placement',
      ground: (({ placement: _placement, ...rest }) => rest)(ground()),
      end: 'waits',
      says: 'the run waits: ClusterResourcePlacement "web" does not exist',
    },
    {
      it: 'a placement that is not External',
      ground: ground({ placement: anExternal({ strategy: { type: 'RollingUpdate' } }) }),
      end: 'cannot begin',
      says: 'has strategy type RollingUpdate: runs work on placements with type External',
    },
    {
      it: 'a cluster in no stage',
      ground: ground({}, [STAGES[0]] as readonly object[]),
      end: 'cannot begin',
      says: '3 picked clusters belong to no stage: "b", "c", "d"',
    },
    {
      it: 'a cluster in two stages',
      ground: ground({}, [...STAGES, { name: 'all', labelSelector: {} }]),
      end: 'cannot begin',
      says: 'cluster "a" belongs to two stages, "first" and "all"',
    },
    {
      it: 'an index that is not there',
      ground: ground({ run: aNewRun({ resourceSnapshotIndex: '7' }) }),
      end: 'cannot begin',
      says: 'there is no resource snapshot with index "7" of "web": those that exist: 0, 1',
    },
    {
      it: 'another run that is under way with another strategy',
      ground: ground({ runs: [underWay()] }),
      end: 'cannot begin',
      says: 'ClusterStagedUpdateRun "other" is under way on the same placement with another strategy',
    },
    {
      it: 'a placement that is not scheduled',
      ground: ground({ policySnapshots: [] }),
      end: 'waits',
      says: 'the run waits: ClusterResourcePlacement "web" is not scheduled: it has no policy snapshot yet',
    },
    {
      it: 'what is selected, when no index is given',
      ground: ground({ run: aNewRun({ resourceSnapshotIndex: '' }) }),
      end: 'looks',
      says: '',
    },
  ])('says of $it what the hub would say', ({ ground, end, says }) => {
    const found = forecast(ground);
    expect(found).toMatchObject({ end, message: expect.stringContaining(says), steps: [] });
  });

  test('makes the revision that the run would make', () => {
    const objects = [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }];
    const content = { resources: [], objects, hash: 'other', bytes: 10, sizes: [], envelopes: [] };
    const found = forecast(
      ground({
        run: aNewRun({ resourceSnapshotIndex: '' }),
        selected: { state: 'selected', content, notes: [] },
      }),
    );
    expect(found.snapshots.map(({ metadata }) => metadata.name)).toEqual(['web-2-snapshot']);
    expect(found.status.resourceSnapshotIndexUsed).toBe('2');
    expect(told(found)).toEqual(['first: a', 'rest: b c', 'rest: d']);
  });

  test('of a run that is under way is what is left', () => {
    const before = forecast(ground());
    const [first, ...rest] = before.status.stagesStatus ?? [];
    const halfway = {
      ...before.status,
      stagesStatus: [
        first,
        ...rest.map(({ conditions: _c, startTime: _s, endTime: _e, ...stage }) => ({
          ...stage,
          clusters: stage.clusters.map(({ clusterName }) => ({ clusterName })),
        })),
      ],
      deletionStageStatus: { stageName: 'kubernetes-fleet.io/deleteStage', clusters: [] },
      conditions: before.status.conditions?.filter(({ type }) => type === 'Initialized'),
    };
    const run = { ...aNewRun({ state: 'Stop' }, { uid: 'r', generation: 3 }), status: halfway } as StagedUpdateRun;
    const bindings = [aBinding('a', 1), ...['b', 'c', 'd'].map((cluster) => aBinding(cluster, 0))];
    expect(told(forecast(ground({ run, bindings })))).toEqual(['rest: b c', 'rest: d']);
  });

  test('changes nothing of what it is given', () => {
    const given = ground({}, gated);
    const before = JSON.stringify(given);
    forecast(given);
    expect(JSON.stringify(given)).toBe(before);
  });

  test('moves every cluster once, no more at a time than allowed, whatever the strategy', () => {
    const anyStages = fc.array(
      fc.record({
        size: fc.integer({ min: 0, max: 5 }),
        maxConcurrency: fc.oneof(fc.integer({ min: 1, max: 9 }), fc.constantFrom('1%', '34%', '50%', '100%')),
        before: fc.boolean(),
        after: fc.constantFrom('', 'Approval', 'TimedWait', 'both'),
      }),
      { minLength: 1, maxLength: 4 },
    );
    fc.assert(
      fc.property(anyStages, (stages) => {
        const clusters = stages.flatMap(({ size }, stage) =>
          Array.from({ length: size }, (_, at) => ({ name: `c${stage}-${at}`, stage: `s${stage}` })),
        );
        if (clusters.length === 0) return;
        const specs = stages.map(({ maxConcurrency, before, after }, at) => ({
          name: `s${at}`,
          ...by(`s${at}`),
          maxConcurrency,
          ...(before ? { beforeStageTasks: [{ type: 'Approval' }] } : {}),
          afterStageTasks: [
            ...(after === 'Approval' || after === 'both' ? [{ type: 'Approval' }] : []),
            ...(after === 'TimedWait' || after === 'both' ? [{ type: 'TimedWait', waitTime: '10s' }] : []),
          ],
        }));
        const found = forecast(
          ground(
            {
              policySnapshots: [aPolicy(clusters.map(({ name }) => name))],
              bindings: clusters.map(({ name }) => aBinding(name, 0)),
              members: clusters.map(({ name, stage }) => aMember(name, { stage })),
            },
            specs,
          ),
        );
        expect(found.end).toBe('succeeds');
        const waves = wavesIn(found);
        expect(waves.flatMap((wave) => wave.clusters)).toEqual(clusters.map(({ name }) => name));
        for (const [at, { size, maxConcurrency }] of stages.entries()) {
          const most =
            typeof maxConcurrency === 'number'
              ? maxConcurrency
              : Math.max(1, Math.floor((size * Number.parseInt(maxConcurrency, 10)) / 100));
          const own = waves.filter(({ stage }) => stage === `s${at}`).map((wave) => wave.clusters.length);
          const full = Math.floor(size / most);
          expect(own).toEqual([
            ...Array.from({ length: full }, () => most),
            ...(size % most === 0 ? [] : [size % most]),
          ]);
        }
        const waits = stages.filter(
          ({ size, after }) => size > 0 && (after === 'TimedWait' || after === 'both'),
        ).length;
        expect(Math.round(found.tookMs / 11_000)).toBe(waits);
      }),
      { numRuns: runs(25) },
    );
  });
});

function underWay(): KubeObject {
  return {
    ...aNewRun(
      { state: 'Run', stagedRolloutStrategyName: 'else' },
      { name: 'other', uid: 'other', resourceVersion: '1' },
    ),
    status: {
      conditions: said('Initialized Progressing:False:UpdateRunWaiting'),
      stagedUpdateStrategySnapshot: { stages: [{ name: 'all', labelSelector: {}, maxConcurrency: 1 }] },
      stagesStatus: [{ stageName: 'all', clusters: [], conditions: said('Progressing:False:StageUpdatingWaiting') }],
    },
  };
}
