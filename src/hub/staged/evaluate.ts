// Evaluates a run: it starts, or is aborted, or gets its next plan. Pure. A final result names the objects that it
// depends on, so that they can be read live first.
import type { Hold } from '../../api/hold.ts';
import { CLIENT_ERROR_MARKER, masterSnapshotName } from '../../api/names.ts';
import { conditionOf } from '../../api/next-condition.ts';
import type { StagedUpdateRunStatus, StageStatus } from '../../api/staged-update-run.ts';
import { byText } from '../../base/compare.ts';
import { refTo } from '../../runtime/actions.ts';
import { frozenIn } from '../freezes/frozen.ts';
import { rowsOf } from '../planners/rows.ts';
import { staged } from '../planners/staged.ts';
import type { StagedLimits, StagedPlan } from '../planners/staged-plan.ts';
import { failureCauseOf, isTrue, teller, treeOf } from '../planners/staged-tree.ts';
import { type HubRun, isBegun, isInitialized, isOver } from '../staged-sources.ts';
import { unreachableAfterMs } from './annotations.ts';
import { approvalOf } from './approvals.ts';
import { asRival, howToStart, type Initialised, initialise, rivalsOf, sayReady, specHold } from './initialise.ts';
import type { Observed, Premise } from './observed.ts';
import { recordedOrders } from './recorded-orders.ts';
import type { Targets } from './targets.ts';
import { validate } from './validate.ts';

export type Evaluation =
  | { readonly state: 'over'; readonly status: StagedUpdateRunStatus }
  | Exclude<Initialised, { readonly state: 'ready' }>
  /** Something is not known yet; nothing is done until then. */
  | { readonly state: 'held'; readonly status: StagedUpdateRunStatus; readonly hold: Hold }
  /** Its placement, revision or clusters have changed. */
  | { readonly state: 'aborted'; readonly status: StagedUpdateRunStatus; readonly rests: readonly Premise[] }
  | {
      readonly state: 'planned';
      readonly plan: StagedPlan;
      readonly targets: Targets;
      readonly rests: readonly Premise[];
    };

export function evaluate(observed: Observed): Evaluation {
  const { run, status } = observed;
  const { generation } = run.metadata;
  if (status !== undefined && isOver(run))
    return { state: 'over', status: treeOf(status, generation) as StagedUpdateRunStatus };
  if (status === undefined || !isInitialized(run)) {
    const begun = initialise(observed);
    // The first status write also reports that the run is in progress.
    return begun.state === 'ready' ? goOn(observed, begun.status) : begun;
  }
  return goOn(observed, status);
}

function goOn(observed: Observed, status: StagedUpdateRunStatus): Evaluation {
  const { now } = observed;
  const { generation } = observed.run.metadata;
  const valid = validate(observed, status);
  if (valid.state === 'pending')
    return { state: 'held', status: heldBy(observed, status, valid.hold), hold: valid.hold };
  if (valid.state === 'wrong') {
    const tree = treeOf(status, generation);
    const tell = teller(generation, now);
    const words = valid.blame === 'user' ? `${CLIENT_ERROR_MARKER}: ${valid.message}` : valid.message;
    tell.run(tree, 'Progressing', 'False', 'UpdateRunFailed', words);
    tell.run(tree, 'Succeeded', 'False', 'UpdateRunFailed', words);
    tree.failureCause = failureCauseOf(valid.blame);
    return { state: 'aborted', status: sayReady(observed, tree as StagedUpdateRunStatus), rests: valid.rests };
  }
  // A stopping run moves nothing anyway.
  const invalid = observed.run.spec.state === 'Stop' ? undefined : specHold(observed);
  if (invalid !== undefined) {
    return {
      state: 'held',
      status: sayReady(observed, treeOf(status, generation) as StagedUpdateRunStatus),
      hold: invalid,
    };
  }
  const { targets } = valid;
  const plan = staged({
    rows: rowsFor(observed, targets, status),
    limits: limitsFor(observed, status, (cluster) => valid.left(cluster)),
    state: status,
    now,
  });
  const rests = [
    ...(plan.failure?.rows ?? []).map((name): Premise => ({ of: 'binding', name })),
    ...(plan.failure?.requests ?? []).map((name): Premise => ({ of: 'approvalRequest', name })),
  ];
  return { state: 'planned', plan: { ...plan, state: sayReady(observed, plan.state) }, targets, rests };
}

/** A requested stop is reported even while the updates in progress are unknown. */
function heldBy(observed: Observed, status: StagedUpdateRunStatus, { facts }: Hold): StagedUpdateRunStatus {
  const { run, now } = observed;
  const { generation } = run.metadata;
  const tree = treeOf(status, generation);
  const hasStopped = conditionOf(status.conditions, 'Progressing')?.reason === 'UpdateRunStopped';
  if (run.spec.state === 'Stop' && !hasStopped) {
    const words = `waits until the updates in progress are known: ${facts['message']}`;
    teller(generation, now).run(tree, 'Progressing', 'Unknown', 'UpdateRunStopping', words);
  }
  return sayReady(observed, tree as StagedUpdateRunStatus);
}

const clustersOf = ({ stagesStatus = [] }: StagedUpdateRunStatus): readonly StageStatus['clusters'][number][] =>
  stagesStatus.flatMap(({ clusters }) => clusters);

const rowsFor = ({ family, bindings, member }: Observed, { placement }: Targets, status: StagedUpdateRunStatus) =>
  rowsOf({ bindings, source: family.bindings, orders: recordedOrders(status, placement), member });

function limitsFor(observed: Observed, status: StagedUpdateRunStatus, left: StagedLimits['left']): StagedLimits {
  const { family, run, stuckAfterMs } = observed;
  const { namespace } = run.metadata;
  const { approvalRequest, binding } = family;
  const strategy = status.stagedUpdateStrategySnapshot ?? { stages: [] };
  const rival = rivalsOf(observed, strategy).find(keepsBack(run, status));
  const after = unreachableAfterMs(run);
  const frozen = frozenIn(
    observed.freezes ?? [],
    { name: run.spec.placementName, ...(namespace === undefined ? {} : { namespace }) },
    observed.now,
  );
  return {
    strategy,
    state: run.spec.state,
    generation: run.metadata.generation,
    stuckAfterMs,
    ...(after === undefined ? {} : { unreachableAfterMs: after }),
    left,
    ...(frozen === undefined ? {} : { frozen }),
    ...(observed.wasGiven === undefined ? {} : { wasGiven: observed.wasGiven }),
    bringerOf: (snapshot) => bringerOf(observed, snapshot),
    approval: (name, stage) => approvalOf(observed.request(name), run, stage),
    ...(rival === undefined ? {} : { rival: asRival(observed, rival) }),
    run: refTo(family.run, run),
    placement: {
      group: family.placement.group,
      kind: family.placement.kind,
      ...(namespace === undefined ? {} : { namespace }),
      name: run.spec.placementName,
    },
    approvalRequest: { group: approvalRequest.group, kind: approvalRequest.kind },
    binding: { group: binding.group, kind: binding.kind },
    howToStart: howToStart(observed),
  };
}

/**
 * A run that has begun goes first; of two that began at the same time, the older one, unless the other has already
 * moved a cluster.
 */
function keepsBack(run: HubRun, status: StagedUpdateRunStatus): (other: HubRun) => boolean {
  const { stagesStatus = [], deletionStageStatus } = status;
  if (clustersOf(status).some((cluster) => isTrue(cluster, 'Started'))) return () => false;
  if (deletionStageStatus !== undefined && isBegun(deletionStageStatus)) return () => false;
  return stagesStatus.some(isBegun) ? (other) => isOlder(other, run) : () => true;
}

/**
 * Prefers a run that is not over, else the newest one created after this run. A binding records its revision but not
 * who set it; a run that was over before this one was created has not set it since.
 */
function bringerOf({ family, run, others }: Observed, snapshot: string): string | undefined {
  const about = others.filter(
    (other) =>
      other.hasBegun &&
      other.resourceIndex !== undefined &&
      (!isOver(other) || isOlder(run, other)) &&
      masterSnapshotName(run.spec.placementName, Number(other.resourceIndex)) === snapshot,
  );
  const [found] = about.toSorted((a, b) => Number(isOver(a)) - Number(isOver(b)) || (isOlder(a, b) ? 1 : -1));
  return found && `${family.run.kind} "${found.metadata.name}", with revision ${found.resourceIndex}`;
}

const isOlder = ({ metadata: a }: HubRun, { metadata: b }: HubRun): boolean =>
  (byText(a.creationTimestamp ?? '', b.creationTimestamp ?? '') || byText(a.name ?? '', b.name ?? '')) < 0;

/** The objects that a final evaluation depends on. */
export const restsOf = (evaluation: Evaluation): readonly Premise[] => ('rests' in evaluation ? evaluation.rests : []);
