// Forecasts a staged update run: the hub's own decisions on copied objects with a simulated clock. Pure; nothing is
// written. Assumptions: a cluster is available after `durationMs`, approvals are given at once, and the fleet does not
// change.
import type { ApprovalRequest } from '../../api/approval-request.ts';
import type { Binding } from '../../api/binding.ts';
import type { Hold } from '../../api/hold.ts';
import type { MemberCluster } from '../../api/member-cluster.ts';
import { DELETION_STAGE } from '../../api/names.ts';
import { conditionOf, nextCondition } from '../../api/next-condition.ts';
import type { KubeObject } from '../../api/object.ts';
import { specProblemIn } from '../../api/spec-problem.ts';
import type { StagedUpdateRun, StagedUpdateRunStatus } from '../../api/staged-update-run.ts';
import { InvariantError } from '../../base/errors.ts';
import type { PlacementFamily } from '../../hub/families.ts';
import { isReachable } from '../../hub/members/reachable.ts';
import { ordersFor } from '../../hub/orders/orders-for.ts';
import type { OverrideInForce } from '../../hub/overrides/in-force.ts';
import { isLatest, resourceIndexOf } from '../../hub/placement-sources.ts';
import { memberFactsOf } from '../../hub/planners/rows.ts';
import { unreachableAfterMs } from '../../hub/staged/annotations.ts';
import { decide } from '../../hub/staged/decide.ts';
import { type Evaluation, evaluate } from '../../hub/staged/evaluate.ts';
import { DEFAULT_STUCK_AFTER_MS, type Observed } from '../../hub/staged/observed.ts';
import { isOver } from '../../hub/staged-sources.ts';
import { withoutMarker } from '../plain-text.ts';
import { labelsAmong, overridingNow } from './overrides-now.ts';
import { createScratchStore, type ScratchStore } from './scratch-store.ts';
import { objectsIn } from './snapshot-objects.ts';

/** The present state of the hub. */
export interface ForecastInput {
  readonly family: PlacementFamily;
  /** It need not exist yet. */
  readonly run: StagedUpdateRun;
  readonly placement?: KubeObject;
  readonly strategy?: KubeObject;
  /** This and the next four: the objects of the placement. */
  readonly policySnapshots: readonly KubeObject[];
  /** Their metadata is enough, unless there are overrides. */
  readonly resourceSnapshots: readonly KubeObject[];
  readonly bindings: readonly KubeObject[];
  /** May include this run. */
  readonly runs: readonly KubeObject[];
  readonly requests: readonly KubeObject[];
  readonly members: readonly MemberCluster[];
  readonly overrides: readonly OverrideInForce[];
  /** The selection of the placement; absent until it is needed. */
  readonly selected?: NonNullable<Observed['selected']>;
  /** How long a cluster takes from the change until it is available; absent = no time. */
  readonly durationMs?: number;
  readonly now: number;
}

export interface Wave {
  readonly stage: string;
  /** The placement is removed from its clusters. */
  readonly removes: boolean;
  readonly clusters: readonly string[];
  /** Since the start. */
  readonly afterMs: number;
}

export interface ExpectedGate {
  readonly stage: string;
  readonly type: 'Approval' | 'TimedWait';
  readonly when: 'before' | 'after';
  readonly request?: string;
  readonly waitTime?: string;
  /** Since the start: when it is requested, or the wait begins. */
  readonly afterMs: number;
}

export interface Forecast {
  /**
   * `looks`: the selection of the placement must be read first. `waits`: it would wait for something that only others
   * can provide.
   */
  readonly end: 'succeeds' | 'fails' | 'cannot begin' | 'waits' | 'looks';
  /** The message that the hub would write. */
  readonly message: string;
  readonly holds: readonly Hold[];
  /** Waves and gates in order. */
  readonly steps: readonly ({ readonly wave: Wave } | { readonly gate: ExpectedGate })[];
  /** The final status of the run. */
  readonly status: StagedUpdateRunStatus;
  /** Resource snapshots that it would create. */
  readonly snapshots: readonly KubeObject[];
  readonly tookMs: number;
}

export const wavesIn = ({ steps }: Forecast): readonly Wave[] =>
  steps.flatMap((step) => ('wave' in step ? [step.wave] : []));
export const gatesIn = ({ steps }: Forecast): readonly ExpectedGate[] =>
  steps.flatMap((step) => ('gate' in step ? [step.gate] : []));

export function forecast(ground: ForecastInput): Forecast {
  const { family } = ground;
  const started = startedRun(ground.run);
  const world = createScratchStore([
    started,
    ...ground.bindings,
    ...ground.requests,
    ...ground.resourceSnapshots.map((each) => ({ ...each, kind: family.resourceSnapshot.kind })),
  ]);
  // The API stores times in whole seconds: from the middle of one, every wait would seem a little longer.
  const begin = Math.floor(ground.now / 1000) * 1000;
  const record = createRecord(family, begin);
  const answers = createAnswers(ground, world);
  // Each cluster is moved, released and seen to be done; each stage and gate takes a few more reconciles.
  const max = 20 * (ground.bindings.length + 100);
  let now = begin;
  for (let pass = 0; pass < max; pass++) {
    const observed = observe(ground, world, now);
    const evaluation = evaluate(observed);
    const ended = (end: Forecast['end'], status: StagedUpdateRunStatus, holds: readonly Hold[] = []): Forecast => ({
      end,
      message: sayingOf(status),
      holds,
      steps: record.steps,
      status,
      snapshots: world.created.filter(({ kind }) => kind === family.resourceSnapshot.kind),
      tookMs: now - begin,
    });
    if (evaluation.state === 'looks') return ended('looks', observed.status ?? {});
    // The condition would also say that a new run is needed, but this one does not exist yet.
    if (evaluation.state === 'wrong')
      return { ...ended('cannot begin', evaluation.status), message: evaluation.message };
    if (evaluation.state === 'waits') return ended('waits', evaluation.status, evaluation.holds);
    if (evaluation.state === 'held') return ended('waits', evaluation.status, [evaluation.hold]);
    const decision = decide({ ...observed, evaluation });
    record.note(evaluation, world, now);
    const isWritten = world.perform(decision.steps, now);
    const { status = {} } = runIn(world, ground);
    if (isOver({ conditions: status.conditions ?? [] })) {
      return ended(conditionOf(status.conditions, 'Succeeded')?.status === 'True' ? 'succeeds' : 'fails', status);
    }
    const isAnswered = answers.give(now);
    if (isWritten || isAnswered) continue;
    const wakeAt = decision.wakeAt === undefined || decision.wakeAt <= now ? Infinity : decision.wakeAt;
    const next = Math.min(answers.next(), wakeAt);
    if (next === Infinity) return ended('waits', status, decision.holds);
    now = next;
    answers.give(now);
  }
  throw new InvariantError(`the forecast of run "${ground.run.metadata.name}" does not come to an end`);
}

/** The run after it is started. */
function startedRun(run: StagedUpdateRun): StagedUpdateRun {
  const { metadata, spec } = run;
  const generation = metadata.generation ?? 1;
  return {
    ...run,
    metadata: {
      ...metadata,
      uid: metadata.uid ?? 'forecast',
      resourceVersion: metadata.resourceVersion ?? 'forecast',
      generation: spec.state === 'Run' ? generation : generation + 1,
    },
    spec: { ...spec, state: 'Run' },
  };
}

const runIn = (world: ScratchStore, { family, run }: ForecastInput): StagedUpdateRun =>
  world.find(family.run.kind, run.metadata.name ?? '') as StagedUpdateRun;

const STEPS = ['Succeeded', 'Progressing', 'Initialized'] as const;
const sayingOf = ({ conditions }: StagedUpdateRunStatus): string =>
  withoutMarker(STEPS.map((type) => conditionOf(conditions, type)).find((each) => each !== undefined)?.message ?? '');

// ---- the observed state

interface Projecting<T> {
  project?(object: KubeObject): T;
}
const projections = new WeakMap<object, WeakMap<KubeObject, unknown>>();

/** Objects are replaced, never mutated, so projections are cached by identity. */
function projected<T>(source: Projecting<T>, object: KubeObject): T {
  const known = projections.get(source) ?? new WeakMap<KubeObject, unknown>();
  projections.set(source, known);
  if (!known.has(object)) known.set(object, source.project?.(object) ?? object);
  return known.get(object) as T;
}

function observe(ground: ForecastInput, world: ScratchStore, now: number): Observed {
  const { family, members, overrides, selected } = ground;
  const all = <T>(source: Projecting<T>, objects: readonly KubeObject[]) =>
    objects.map((each) => projected(source, each));
  const whole = runIn(world, ground);
  const run = projected(family.runs, whole);
  const placement = ground.placement && projected(family.placements, ground.placement);
  const byName = new Map(members.map((each) => [each.metadata.name ?? '', each]));
  const requests = all(family.approvalRequests, world.all(family.approvalRequest.kind));
  return {
    family,
    run,
    status: whole.status,
    placement,
    strategy: ground.strategy && projected(family.strategies, ground.strategy),
    policySnapshots: all(family.policySnapshots, ground.policySnapshots).filter(isLatest),
    resourceSnapshots: all(family.resourceSnapshots, world.all(family.resourceSnapshot.kind)),
    bindings: all(family.bindings, world.all(family.binding.kind)),
    others: all(family.runs, ground.runs).filter(({ metadata }) => metadata.name !== run.metadata.name),
    member(cluster) {
      const member = byName.get(cluster);
      return member && memberFactsOf(member);
    },
    ordersOf(snapshot) {
      const snapshots = world.all(family.resourceSnapshot.kind);
      const master = snapshots.find(({ metadata }) => metadata.name === snapshot);
      const group = snapshots.filter(
        (each) => master !== undefined && resourceIndexOf(each) === resourceIndexOf(master),
      );
      const overriding =
        placement && overridingNow(family, placement, overrides, objectsIn(group), labelsAmong(members));
      return placement && ordersFor({ placement, snapshot, overriding });
    },
    requests,
    request: (name) => requests.find(({ metadata }) => metadata.name === name),
    selected,
    specProblem: placement && specProblemIn(placement.spec),
    // How a revision is split into snapshots does not change what clusters get.
    places: new Map(),
    statusDue: 0,
    stuckAfterMs: DEFAULT_STUCK_AFTER_MS,
    now,
  };
}

// ---- members and users

/** Members become available, and users approve. */
function createAnswers(ground: ForecastInput, world: ScratchStore) {
  const { family, members, durationMs = 0 } = ground;
  // Unreachable members are skipped if the run does not wait for them; otherwise they are assumed to come back.
  const waitsForSilent = unreachableAfterMs(ground.run) === undefined;
  const silent = new Set(
    members.filter((each) => !waitsForSilent && !isReachable(each)).map(({ metadata }) => metadata.name),
  );
  /** By binding name: the released generation, and when it is available. */
  let due = new Map<string, { readonly generation: number | undefined; readonly at: number }>();
  const say = (object: KubeObject, now: number, ...types: readonly string[]) => {
    const { generation } = object.metadata;
    const { conditions = [], ...status } = (object as Binding).status ?? {};
    const told = types.map((type) => ({
      ...nextCondition(undefined, { type, status: 'True', reason: 'Forecast', message: '' }, now),
      ...(generation === undefined ? {} : { observedGeneration: generation }),
    }));
    const others = conditions.filter(({ type }) => !types.includes(type));
    world.put({ ...object, status: { ...status, conditions: [...others, ...told] } });
  };
  const isSaid = ({ metadata, status }: Binding | ApprovalRequest, type: string): boolean => {
    const condition = conditionOf(status?.conditions, type);
    return condition?.status === 'True' && condition.observedGeneration === metadata.generation;
  };
  return {
    /** When the next cluster becomes available. */
    next: (): number => Math.min(Infinity, ...[...due.values()].map(({ at }) => at)),
    /** Reports everything that is due; true = something has changed. */
    give(now: number): boolean {
      const before = due;
      due = new Map();
      let isChanged = false;
      for (const object of world.all(family.binding.kind)) {
        const binding = object as Binding;
        const { name = '', generation } = binding.metadata;
        const { state, targetCluster, applyStrategy } = binding.spec ?? {};
        const done = applyStrategy?.type === 'ReportDiff' ? ['DiffReported'] : ['Applied', 'Available'];
        if (state !== 'Bound' || !isSaid(binding, 'RolloutStarted') || silent.has(targetCluster)) continue;
        if (done.every((type) => isSaid(binding, type))) continue;
        const known = before.get(name);
        const at = known?.generation === generation && known !== undefined ? known.at : now + durationMs;
        if (at > now) due.set(name, { generation, at });
        else {
          say(binding, now, ...done);
          isChanged = true;
        }
      }
      for (const object of world.all(family.approvalRequest.kind)) {
        const request = object as ApprovalRequest;
        if (isSaid(request, 'Approved')) continue;
        say(request, now, 'Approved');
        isChanged = true;
      }
      return isChanged;
    },
  };
}

// ---- the recorded steps

function createRecord(family: PlacementFamily, begin: number) {
  const steps: Forecast['steps'][number][] = [];
  const known = new Set<string>();
  const isNew = (what: string): boolean => !known.has(what) && known.add(what) !== undefined;

  return {
    steps: steps as Forecast['steps'],
    note(evaluation: Evaluation, world: ScratchStore, now: number): void {
      if (evaluation.state !== 'planned') return;
      const { move, release, remove, gates, state } = evaluation.plan;
      const afterMs = now - begin;
      const clustersOf = (keys: readonly string[], removes: boolean) =>
        keys
          .map((key) => (world.find(family.binding.kind, key) as Binding).spec?.targetCluster ?? '')
          .filter((cluster) => isNew(`${removes} ${cluster}`));
      // A released cluster was moved before, unless it had the content already and was only not released.
      const clusters = clustersOf([...move, ...release], false);
      if (clusters.length > 0) {
        const stage = (state.stagesStatus ?? []).find((each) =>
          each.clusters.some(({ clusterName }) => clusterName === clusters[0]),
        );
        steps.push({ wave: { stage: stage?.stageName ?? '', removes: false, clusters, afterMs } });
      }
      const removed = clustersOf(remove, true);
      if (removed.length > 0)
        steps.push({ wave: { stage: DELETION_STAGE, removes: true, clusters: removed, afterMs } });
      for (const { code, on, facts } of gates) {
        const stage = String(facts['stage'] ?? '');
        if (code === 'ApprovalMissing' && isNew(`${code} ${on?.name}`)) {
          const when = facts['when'] === 'before' ? 'before' : 'after';
          steps.push({ gate: { stage, type: 'Approval', when, request: on?.name ?? '', afterMs } });
        }
        if (code === 'TimedWait' && isNew(`${code} ${stage}`)) {
          const waitTime = String(facts['waitTime'] ?? '');
          steps.push({ gate: { stage, type: 'TimedWait', when: 'after', waitTime, afterMs } });
        }
      }
    },
  };
}
