// Before a run ends for good, its reasons are read live, because the caches may be stale.
import { describe, expect, test } from 'vitest';
import { memoryOf } from '../../../test/runtime/memory.ts';
import type { LiveCatalogue } from '../../api/catalogue.ts';
import type { Condition } from '../../api/conditions.ts';
import type { KubeObject } from '../../api/object.ts';
import type { StagedUpdateRunStatus, StageStatus } from '../../api/staged-update-run.ts';
import type { FullRef, Projected, Source, View } from '../../runtime/controller.ts';
import { isNeed } from '../../runtime/controller.ts';
import { clusterFamily as family } from '../families.ts';
import type { HubBinding } from '../placement-sources.ts';
import { createWatchPlan } from '../revisions/watch-plan.ts';
import { memberClusters } from '../sources.ts';
import { runController } from './controller.ts';
import type { Evaluation } from './evaluate.ts';
import { initialise } from './initialise.ts';
import {
  APPLY,
  aBinding,
  aPlacement,
  aPolicy,
  aRun,
  aSnapshot,
  aStrategy,
  LABELS,
  NOW,
  observe,
  onRevision,
} from './run.testing.ts';

const catalogue: LiveCatalogue = {
  preferred: [],
  byKind: () => undefined,
  subscribe: () => () => {},
  refresh: async () => {},
};
const member = (name: string) => ({ metadata: { name, labels: LABELS[name] ?? {} }, spec: {}, status: {} });

/** Cached items, by source. */
type Known = ReadonlyMap<object, readonly Projected[]>;

/** The cached items; by default all that exist. */
const told = (more: Known = new Map()): Known =>
  new Map<object, readonly Projected[]>([
    [family.placements, [aPlacement()]],
    [family.strategies, [aStrategy()]],
    [family.policySnapshots, [aPolicy()]],
    [family.resourceSnapshots, [aSnapshot('0')]],
    [family.bindings, ['a', 'b', 'c'].map((cluster) => aBinding(cluster))],
    [memberClusters, ['a', 'b', 'c'].map(member)],
    ...more,
  ]);

interface Looked {
  readonly asked: readonly string[];
  readonly evaluation: Evaluation | undefined;
}

/** One reconcile. `live`: the objects that live reads return; all others do not exist. */
function look(
  known: Known,
  {
    run = aRun(),
    status,
    live = {},
  }: {
    readonly run?: ReturnType<typeof aRun>;
    readonly status?: StagedUpdateRunStatus;
    readonly live?: Readonly<Record<string, object>>;
  } = {},
): Looked {
  const asked: string[] = [];
  const fetched = new Map<string, KubeObject | null>();
  const textOf = ({ kind, name }: FullRef) => `${kind} ${name}`;
  const listOf = <T extends Projected>(source: Source<T>) =>
    (source === family.runs ? [run] : (known.get(source) ?? [])) as readonly T[];
  const view: View = {
    now: NOW,
    get: (source, name) => listOf(source).find(({ metadata }) => metadata.name === name),
    all: listOf,
    by: (source, index) => (index === 'run' ? [] : listOf(source)),
    getFull: (ref) => fetched.get(textOf(ref)),
    listOnDemand: () => [],
    listError: () => undefined,
  };
  const controller = runController(family, { catalogue, plan: createWatchPlan() });
  const memory = memoryOf(controller);
  for (let round = 0; round < 8; round++) {
    const found = controller.observe(view, 'r', memory);
    if (found === undefined) throw new Error('not ours');
    if (!isNeed(found)) return { asked, evaluation: found.evaluation };
    for (const ref of found.need) {
      const isRun = ref.kind === family.run.kind && ref.name === 'r';
      if (!isRun) asked.push(`${ref.live ? 'live ' : ''}${textOf(ref)}`);
      const object = isRun ? { ...run, status } : live[textOf(ref)];
      const whole = { apiVersion: '', kind: ref.kind, metadata: {}, ...object };
      fetched.set(textOf(ref), object === undefined ? null : whole);
    }
  }
  throw new Error('it asks for ever');
}

const without = (...sources: readonly object[]) => told(new Map(sources.map((source) => [source, []])));

describe('a run that begins', () => {
  test('asks nobody when all is well', () => {
    expect(look(told())).toMatchObject({ asked: [], evaluation: { state: 'planned' } });
  });

  test.each<[string, Known, string, object, string]>([
    ['placement', without(family.placements), 'ClusterResourcePlacement web', aPlacement(), 'waits'],
    ['strategy', without(family.strategies), 'ClusterStagedUpdateStrategy s', aStrategy(), 'waits'],
    [
      'revision',
      told(new Map([[family.resourceSnapshots, [aSnapshot('7')]]])),
      'ClusterResourceSnapshot web-0-snapshot',
      aSnapshot('0'),
      'wrong',
    ],
  ])(
    'asks for a %s that it does not see: it fails or waits if there is none, and begins if there is',
    (_it, known, place, object, state) => {
      expect(look(known)).toMatchObject({ asked: [`live ${place}`], evaluation: { state } });
      expect(look(known, { live: { [place]: object } }).evaluation?.state).toBe('planned');
    },
  );

  test('asks for a cluster whose labels seem to fit no stage', () => {
    const known = told(
      new Map([[memberClusters, [member('a'), { ...member('b'), metadata: { name: 'b' } }, member('c')]]]),
    );
    const live = { 'MemberCluster b': member('b'), 'ClusterStagedUpdateStrategy s': aStrategy() };
    expect(look(known, { live }).evaluation?.state).toBe('planned');
    expect(
      look(known, { live: { ...live, 'MemberCluster b': { metadata: { name: 'b' }, spec: {} } } }).evaluation?.state,
    ).toBe('wrong');
  });
});

describe('a run under way', () => {
  const begun = initialise(observe());
  if (begun.state !== 'ready') throw new Error('it does not begin');
  const [first, ...rest] = begun.status.stagesStatus as [StageStatus, ...StageStatus[]];
  const said = (type: string): Condition => ({
    type,
    status: 'True',
    reason: 'X',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  });
  const status: StagedUpdateRunStatus = {
    ...begun.status,
    conditions: [...(begun.status.conditions ?? []), said('Progressing')],
    stagesStatus: [
      { ...first, conditions: [said('Progressing')], clusters: [{ clusterName: 'a', conditions: [said('Started')] }] },
      ...rest,
    ],
  };
  const run = aRun({}, { conditions: status.conditions, hasBegun: true });
  const bindings = (a: HubBinding) => told(new Map([[family.bindings, [a, aBinding('b'), aBinding('c')]]]));
  const asWhole = (binding: HubBinding) => ({
    metadata: binding.metadata,
    spec: binding.spec,
    status: { conditions: binding.conditions },
  });

  test('asks for a cluster that somebody else seems to have taken, whose own move it may not see yet', () => {
    const stale = bindings(aBinding('a'));
    const live = { 'ClusterResourceBinding web-a': asWhole(onRevision('a', '0')) };
    expect(look(stale, { run, status, live })).toMatchObject({
      asked: ['live ClusterResourceBinding web-a'],
      evaluation: { state: 'planned', plan: { done: false } },
    });
    const taken = { 'ClusterResourceBinding web-a': asWhole(onRevision('a', '5')) };
    expect(look(stale, { run, status, live: taken })).toMatchObject({
      evaluation: { state: 'planned', plan: { failure: { blame: 'user' } } },
    });
  });

  test('asks for a placement that seems to be gone or to have changed', () => {
    const known = bindings(onRevision('a', '0'));
    const live = { 'ClusterResourcePlacement web': aPlacement() };
    const gone = new Map(known).set(family.placements, []);
    expect(look(gone, { run, status, live }).evaluation?.state).toBe('planned');
    expect(look(gone, { run, status }).evaluation?.state).toBe('aborted');
    const other = aPlacement({ strategy: { type: 'External', applyStrategy: { ...APPLY, whenToTakeOver: 'Never' } } });
    expect(look(new Map(known).set(family.placements, [other]), { run, status, live }).evaluation?.state).toBe(
      'planned',
    );
  });
});
