// Initializes a run: all checks in order, once. Guarantee: a run that cannot start has changed nothing and reports what
// blocks it; it waits forever for its placement, its strategy and scheduling.
//
// Differs from KubeFleet: there a run that is created before its placement or strategy, or before scheduling has
// finished, fails for good; the latest snapshot may be outdated for a while; index "0" on a placement that was never
// rolled out fails; stage names may repeat.
import { type Hold, sentenceOf } from '../../api/hold.ts';
import { CLIENT_ERROR_MARKER, DELETION_STAGE, labels, masterSnapshotName } from '../../api/names.ts';
import { specProblemHold } from '../../api/spec-problem.ts';
import type { StageClusterStatus, StagedUpdateRunStatus, StageStatus } from '../../api/staged-update-run.ts';
import { type StagedUpdateStrategySpec, tasksIn } from '../../api/staged-update-strategy.ts';
import { byNumber } from '../../base/compare.ts';
import { canonicalJson, type Mutable, mutableCopy } from '../../base/json.ts';
import { refTo } from '../../runtime/actions.ts';
import type { Action } from '../../runtime/controller.ts';
import { isDecided, type Orders } from '../orders/order.ts';
import {
  groupSizeOf,
  type HubResourceSnapshot,
  isLatest,
  isMaster,
  missingParts,
  resourceIndexOf,
} from '../placement-sources.ts';
import { rivalWords, waysPast } from '../planners/staged-holds.ts';
import type { Rival } from '../planners/staged-plan.ts';
import { conditionIn, failureCauseOf, teller } from '../planners/staged-tree.ts';
import { latestMaster, planResources } from '../revisions/resource-snapshot.ts';
import { tooLarge } from '../revisions/too-large.ts';
import { type HubRun, isInitialized, isOver } from '../staged-sources.ts';
import { troubleInAnnotations } from './annotations.ts';
import type { Facts, Observed, Premise, Wrong } from './observed.ts';
import { overridesIn, undecidedIn } from './recorded-orders.ts';
import { troubleInSize } from './size.ts';
import { stagesOf, troubleIn } from './stages.ts';
import { missing, type Targets, targetsOf } from './targets.ts';

export type Initialised =
  | { readonly state: 'ready'; readonly status: StagedUpdateRunStatus }
  | ({ readonly state: 'wrong'; readonly status: StagedUpdateRunStatus } & Wrong)
  | {
      readonly state: 'waits';
      readonly status: StagedUpdateRunStatus;
      readonly holds: readonly Hold[];
      /** Objects that seem to be missing: a stale cache must not report that one does not exist. */
      readonly rests: readonly Premise[];
    }
  /**
   * The selection of the placement has to be read; or, with `orders`, the desired state of the clusters with this
   * snapshot.
   */
  | { readonly state: 'looks'; readonly orders?: string }
  /** The present state has to become a revision first. */
  | { readonly state: 'captures'; readonly steps: readonly (readonly Action[])[] };

type Draft = Mutable<StagedUpdateRunStatus>;

/** Never throws; the status so far is kept even if the initialization fails. */
export function initialise(observed: Observed): Initialised {
  const { run, now } = observed;
  const draft: Draft = {};
  const tell = teller(run.metadata.generation, now);
  const fail = ({ blame, message, rests }: Wrong): Initialised => {
    const words = blame === 'user' ? `${CLIENT_ERROR_MARKER}: ${message}` : message;
    tell.run(draft, 'Initialized', 'False', 'UpdateRunInitializedFailed', `${words}; fix this and create a new run`);
    draft.failureCause = failureCauseOf(blame);
    return { state: 'wrong', status: kept(observed, draft), blame, message, rests };
  };
  const wait = (holds: readonly Hold[], rests: readonly Premise[] = []): Initialised => {
    const message = holds.map(sentenceOf).join('; ');
    tell.run(draft, 'Initialized', 'Unknown', 'UpdateRunInitializationPending', `the run waits: ${message}`);
    return { state: 'waits', status: kept(observed, draft), holds, rests };
  };
  const user = (message: string, ...rests: readonly Premise[]) => fail({ blame: 'user', message, rests });

  const annotated = troubleInAnnotations(run);
  if (annotated !== undefined) return user(annotated);
  const { stagedRolloutStrategyName: name } = run.spec;
  const { strategy } = observed;
  const onStrategy: Premise = { of: 'strategy', name };
  const lacking =
    strategy === undefined
      ? { holds: [missing(observed, observed.family.strategy, name)], rests: [onStrategy] }
      : { holds: [], rests: [] };
  const targets = targetsOf(observed, { isFresh: true, allowsFewer: false });
  const invalid = specHold(observed);
  if (targets.state === 'pending') {
    const holds = [...(invalid === undefined ? [] : [invalid]), targets.hold, ...lacking.holds];
    return wait(holds, [...(targets.rests ?? []), ...lacking.rests]);
  }
  if (targets.applyStrategy !== undefined) draft.appliedStrategy = mutableCopy(targets.applyStrategy);
  if (targets.policyIndex !== undefined) draft.policySnapshotIndexUsed = targets.policyIndex;
  if (targets.state === 'wrong') return fail(targets);
  draft.policyObservedClusterCount = targets.count ?? targets.updates.length;

  if (strategy === undefined) return wait(lacking.holds, lacking.rests);
  draft.stagedUpdateStrategySnapshot = withoutStrayTimes(strategy.spec);
  const trouble = troubleIn(strategy.spec.stages);
  if (trouble !== undefined) return user(`${observed.family.strategy.kind} "${name}": ${trouble}`, onStrategy);
  const [rival] = rivalsOf(observed, draft.stagedUpdateStrategySnapshot);
  if (rival !== undefined) {
    const told = asRival(observed, rival);
    return user(`${rivalWords(told)}: ${waysPast(told).join(', ')}, or use an equal strategy`, {
      of: 'run',
      name: told.ref.name,
    });
  }

  const staged = stagesOf({
    run: run.metadata.name ?? '',
    stages: strategy.spec.stages,
    clusters: targets.updates.map(({ spec }) => spec.targetCluster),
    labelsOf: (cluster) => observed.member(cluster)?.labels,
  });
  if (!staged.ok) return user(staged.message, onStrategy, ...staged.clusters.map(onMember));
  draft.stagesStatus = mutableCopy(staged.stages);
  draft.deletionStageStatus = deletionStage(targets);
  // They could not be stored, so the status of a refused run has no clusters.
  const refuseIfTooLarge = () => {
    const large = troubleInSize(draft as StagedUpdateRunStatus);
    if (large === undefined) return undefined;
    delete draft.stagesStatus;
    delete draft.deletionStageStatus;
    return user(large);
  };
  const tooManyClusters = refuseIfTooLarge();
  if (tooManyClusters !== undefined) return tooManyClusters;

  if (invalid !== undefined) return wait([invalid]);
  const revision = revisionOf(observed, targets);
  switch (revision.state) {
    case 'looks':
    case 'captures':
      return revision;
    case 'wrong':
      return fail(revision);
    case 'waits':
      return wait(revision.holds);
    case 'chosen':
      draft.resourceSnapshotIndexUsed = revision.index;
  }
  // Which overrides match depends on the content of the revision.
  const snapshot = masterSnapshotName(run.spec.placementName, Number(revision.index));
  const orders = observed.ordersOf(snapshot);
  if (orders === undefined) return { state: 'looks', orders: snapshot };
  const undecided = undecidedIn(
    orders,
    targets.updates.map(({ spec }) => spec.targetCluster),
  );
  if (undecided.length > 0) return wait(undecided);
  draft.stagesStatus = mutableCopy(staged.stages.map((stage) => overridden(orders, stage)));
  const tooManyOverrides = refuseIfTooLarge();
  if (tooManyOverrides !== undefined) return tooManyOverrides;
  return { state: 'ready', status: sayReady(observed, draft as StagedUpdateRunStatus) };
}

const onMember = (name: string): Premise => ({ of: 'member', name });

/** Keeps conditions from earlier reconciles, so that they keep their times. */
function kept({ status }: Observed, draft: Draft): StagedUpdateRunStatus {
  const [next, ...others] = draft.conditions ?? [];
  const before = status?.conditions?.find(({ type }) => type === next?.type);
  const isSame = before !== undefined && before.status === next?.status;
  const conditions =
    next === undefined ? [] : [isSame ? { ...next, lastTransitionTime: before.lastTransitionTime } : next, ...others];
  return { ...draft, conditions } as StagedUpdateRunStatus;
}

/** Reports that the run is initialized, and how to start it if it is not started. */
export function sayReady({ family, run, now }: Observed, status: StagedUpdateRunStatus): StagedUpdateRunStatus {
  const { generation, name } = run.metadata;
  const tree = { ...status, conditions: [...(status.conditions ?? [])] } as Draft;
  const what = `${family.run.kind} "${name}" is initialized with revision ${status.resourceSnapshotIndexUsed}`;
  const isToStart = run.spec.state === 'Initialize' && conditionIn(status, 'Succeeded') === undefined;
  const words = isToStart ? `${what}; it starts when spec.state becomes Run: ${howToStart({ family, run })}` : what;
  teller(generation, now).run(tree, 'Initialized', 'True', 'UpdateRunInitializedSuccessfully', words);
  return tree as StagedUpdateRunStatus;
}

/** The command that starts or resumes a run. */
export function howToStart({ family, run }: Pick<Facts, 'family' | 'run'>): string {
  const { name, namespace } = run.metadata;
  const where = namespace === undefined ? '' : ` -n ${namespace}`;
  return `kubectl patch ${family.run.plural} ${name}${where} --type merge -p '{"spec":{"state":"Run"}}'`;
}

/** The spec of the placement is invalid: none of its clusters is updated. */
export function specHold({ family, run, specProblem }: Observed): Hold | undefined {
  if (specProblem === undefined) return undefined;
  const { group, kind } = family.placement;
  const { namespace } = run.metadata;
  const on = { group, kind, name: run.spec.placementName, ...(namespace === undefined ? {} : { namespace }) };
  return { ...specProblemHold(refTo(family.run, run), specProblem), on };
}

/** Approval tasks of an old strategy may have a meaningless waitTime. */
function withoutStrayTimes(spec: StagedUpdateStrategySpec): Mutable<StagedUpdateStrategySpec> {
  const copy = mutableCopy(spec) as Mutable<StagedUpdateStrategySpec>;
  for (const task of copy.stages.flatMap(tasksIn)) if (task.type === 'Approval') delete task.waitTime;
  return copy;
}

const overridden = (orders: Orders, stage: StageStatus): StageStatus => ({
  ...stage,
  clusters: stage.clusters.map((cluster) => {
    const order = orders(cluster.clusterName);
    return { ...cluster, ...(isDecided(order) ? (overridesIn(order) as Partial<StageClusterStatus>) : {}) };
  }),
});

/** A cluster with two unscheduled bindings appears once. */
const deletionStage = ({ removals }: Targets): Mutable<StageStatus> => ({
  stageName: DELETION_STAGE,
  clusters: [...new Set(removals.map(({ spec }) => spec.targetCluster))].map((clusterName) => ({ clusterName })),
});

// ---- other runs

/**
 * Other runs of the placement that are in progress with different stages. Their revisions may differ: a newer revision
 * may follow an older one through the same stages.
 */
export function rivalsOf(
  { others, run }: Pick<Facts, 'others' | 'run'>,
  own: StagedUpdateStrategySpec,
): readonly HubRun[] {
  const content = canonicalJson(own);
  return others.filter(
    (other) =>
      other.metadata.uid !== run.metadata.uid &&
      isUnderWay(other) &&
      other.strategy !== undefined &&
      canonicalJson(other.strategy) !== content,
  );
}

export const asRival = ({ family }: Pick<Facts, 'family'>, run: HubRun): Rival => ({
  ref: refTo(family.run, run),
  isStopped: run.spec.state === 'Stop',
  howToStart: howToStart({ family, run }),
});

/** Started, and neither done nor being deleted. */
const isUnderWay = (run: HubRun): boolean =>
  run.metadata.deletionTimestamp === undefined && isInitialized(run) && !isOver(run) && run.hasBegun;

// ---- the revision

type Chosen =
  | Extract<Initialised, { readonly state: 'looks' | 'captures' }>
  | { readonly state: 'waits'; readonly holds: readonly Hold[] }
  | ({ readonly state: 'wrong' } & Wrong)
  | { readonly state: 'chosen'; readonly index: string };

function revisionOf(observed: Observed, targets: Targets): Chosen {
  const { run, resourceSnapshots } = observed;
  const { resourceSnapshotIndex: asked = '' } = run.spec;
  // Examples use index "0" before there is a revision: treat it as the present state.
  const isFirst = asked === '0' && resourceSnapshots.length === 0;
  return asked === '' || isFirst ? presentState(observed, targets) : given(observed, asked);
}

function given({ family, run, resourceSnapshots }: Observed, asked: string): Chosen {
  const wrong = (blame: Wrong['blame'], message: string, rests: Wrong['rests'] = []): Chosen => ({
    state: 'wrong',
    blame,
    message,
    rests,
  });
  if (!/^\d+$/.test(asked))
    return wrong('user', `resourceSnapshotIndex is "${asked}": a whole number from 0 on is expected`);
  const { placementName } = run.spec;
  const group = resourceSnapshots.filter(({ metadata }) => metadata.labels?.[labels.resourceIndex] === asked);
  const rests: readonly Premise[] = [{ of: 'resourceSnapshot', name: `${placementName}-${asked}-snapshot` }];
  if (group.length === 0) {
    return wrong(
      'user',
      `there is no resource snapshot with index "${asked}" of "${placementName}": ${existing(resourceSnapshots)}`,
      rests,
    );
  }
  const master = group.find(isMaster);
  if (master === undefined) {
    return wrong('internal', `the first of the resource snapshots with index "${asked}" is missing`, rests);
  }
  const lacking = missingParts(group, master);
  if (lacking.length > 0) {
    const message = `revision ${asked} is not complete: ${lacking.length} of its ${groupSizeOf(master)} resource snapshots are missing`;
    // The newest revision is being created or repaired.
    return isLatest(master)
      ? { state: 'waits', holds: [{ code: 'RevisionPending', subject: refTo(family.run, run), facts: { message } }] }
      : wrong('internal', message, rests);
  }
  return { state: 'chosen', index: asked };
}

function existing(snapshots: readonly HubResourceSnapshot[]): string {
  const indexes = [...new Set(snapshots.filter(isMaster).flatMap((each) => resourceIndexOf(each) ?? []))].sort(
    byNumber,
  );
  return indexes.length === 0
    ? 'there are none yet; without resourceSnapshotIndex a run takes the present state'
    : `those that exist: ${indexes.join(', ')}; without resourceSnapshotIndex a run takes the present state`;
}

/** Without any delay: a run rolls out what is selected when it starts, however recent the last change is. */
function presentState(observed: Observed, { placement }: Targets): Chosen {
  const { family, run, selected, resourceSnapshots, bindings, now } = observed;
  const subject = refTo(family.run, run);
  const on = refTo(family.placement, placement);
  if (selected === undefined) return { state: 'looks' };
  if (selected.state === 'invalid') {
    const rests: readonly Premise[] = [{ of: 'placement', name: run.spec.placementName }];
    return {
      state: 'wrong',
      blame: 'user',
      message: `${family.placement.kind} "${run.spec.placementName}": ${selected.message}`,
      rests,
    };
  }
  if (selected.state === 'pending') {
    const { kind, message, next } = selected;
    return { state: 'waits', holds: [{ code: 'SelectionPending', subject, on, facts: { kind, message }, next }] };
  }
  const { content } = selected;
  const plan = planResources({
    family,
    placement,
    snapshots: resourceSnapshots,
    bindings,
    content,
    pending: undefined,
    throttle: { debounceMs: 0, longestMs: 0, collectionMs: 0, minimumIntervalMs: 0 },
    ...(observed.places === undefined ? {} : { places: observed.places }),
    ...(observed.snapshotLimit === undefined ? {} : { limit: observed.snapshotLimit }),
    inUse: inUseBy([run, ...observed.others]),
    now,
  });
  if (plan.state === 'too-large')
    return { state: 'waits', holds: [{ code: 'SnapshotTooLarge', subject, on, ...tooLarge(content) }] };
  const steps = plan.steps.filter((step) => step.length > 0);
  if (steps.length > 0) return { state: 'captures', steps };
  return { state: 'chosen', index: latestMaster(resourceSnapshots)?.metadata.labels?.[labels.resourceIndex] ?? '' };
}

/** Indexes that unfinished runs need, whatever the limit of the history. */
export function inUseBy(runs: readonly HubRun[]): ReadonlySet<number> {
  const indexes = runs
    .filter((run) => !isOver(run) && run.metadata.deletionTimestamp === undefined)
    .flatMap(({ spec, resourceIndex }) => [resourceIndex, spec.resourceSnapshotIndex])
    .filter((text): text is string => text !== undefined && /^\d{1,9}$/.test(text));
  return new Set(indexes.map(Number));
}
