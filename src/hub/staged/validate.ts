// Whether a run may take its next step: compares the recorded placement, revision and clusters with the present ones.
// If they have changed, the run ends and reports what changed; or, with the annotation, it continues with the remaining
// clusters.
import type { Hold } from '../../api/hold.ts';
import { labels, masterSnapshotName } from '../../api/names.ts';
import type { StagedUpdateRunStatus, StageStatus } from '../../api/staged-update-run.ts';
import type { StagedUpdateStrategySpec } from '../../api/staged-update-strategy.ts';
import { countAtLeastOne } from '../../base/int-or-percent.ts';
import { deepEqual } from '../../base/json.ts';
import { type HubBinding, isMaster } from '../placement-sources.ts';
import { conditionIn, isFalse, isTrue } from '../planners/staged-tree.ts';
import { continuesOnChange } from './annotations.ts';
import type { Facts, Premise, Wrong } from './observed.ts';
import { isInPlace, stagesOf } from './stages.ts';
import { type Targets, targetsOf } from './targets.ts';

export type Validated =
  | {
      readonly state: 'valid';
      readonly targets: Targets;
      /** Why a recorded cluster is no target any more; only for a run that continues without such clusters. */
      left(cluster: string): string | undefined;
    }
  | ({ readonly state: 'wrong' } & Wrong)
  | { readonly state: 'pending'; readonly hold: Hold };

type Verdict = Omit<Wrong, 'rests'> & Partial<Pick<Wrong, 'rests'>>;
const internal = (message: string, ...rests: readonly Premise[]): Verdict => ({ blame: 'internal', message, rests });

export function validate(facts: Facts, status: StagedUpdateRunStatus): Validated {
  const goesOn = continuesOnChange(facts.run);
  const targets = targetsOf(facts, { isFresh: false, allowsFewer: goesOn });
  if (targets.state !== 'known') return targets;
  const verdict =
    ofGround(facts, targets, status) ??
    ofTree(status) ??
    ofRevision(facts, status) ??
    (goesOn ? undefined : (ofStages(facts, targets, status) ?? ofRemovals(targets, status)));
  if (verdict !== undefined) return { state: 'wrong', rests: [], ...verdict };
  const picked = new Set(targets.updates.map(({ spec }) => spec.targetCluster));
  return {
    state: 'valid',
    targets,
    left: (cluster) => (!goesOn || picked.has(cluster) ? undefined : causeOf(facts, cluster)),
  };
}

function causeOf({ member, bindings }: Facts, cluster: string): string {
  if (member(cluster) === undefined) return 'it has left the fleet';
  const isGivenUp = bindings.some(({ spec }) => spec.targetCluster === cluster && spec.state === 'Unscheduled');
  return isGivenUp ? 'the placement does not pick it any more' : 'it has no binding any more';
}

// ---- the placement and its policy

function ofGround(
  { run }: Facts,
  targets: Targets,
  { appliedStrategy, policySnapshotIndexUsed: index, policyObservedClusterCount: count }: StagedUpdateRunStatus,
): Verdict | undefined {
  const onPlacement: Premise = { of: 'placement', name: run.spec.placementName };
  if (!deepEqual(appliedStrategy, targets.applyStrategy)) {
    return {
      blame: 'user',
      message: 'the apply strategy of the placement has changed since the run began',
      rests: [onPlacement],
    };
  }
  const onPolicy: Premise = { of: 'policySnapshot', name: `${run.spec.placementName}-${targets.policyIndex}` };
  if (index !== targets.policyIndex) {
    return internal(
      `the placement's policy has changed since the run began: policy snapshot ${targets.policyIndex} has replaced ${index}`,
      onPolicy,
    );
  }
  if (targets.count !== undefined && targets.count !== count) {
    return internal(
      `the policy asks for ${targets.count} clusters now, and asked for ${count} when the run began`,
      onPolicy,
    );
  }
  return undefined;
}

// ---- the revision

/**
 * The history keeps revisions that runs need, but a user may delete one, or it was deleted just before the run recorded
 * that it needs it. Differs from KubeFleet: there such a run waits forever.
 */
function ofRevision({ run, resourceSnapshots, bindings }: Facts, status: StagedUpdateRunStatus): Verdict | undefined {
  const { resourceSnapshotIndexUsed: index = '', stagesStatus: stages = [] } = status;
  const isThere = resourceSnapshots.some(
    (each) => isMaster(each) && each.metadata.labels?.[labels.resourceIndex] === index,
  );
  if (isThere) return undefined;
  const name = masterSnapshotName(run.spec.placementName, Number(index));
  const ordered = new Set(bindings.filter((each) => isOrdered(each, name)).map(({ spec }) => spec.targetCluster));
  const lacking = stages
    .flatMap(({ clusters }) => clusters)
    .filter((cluster) => !isTrue(cluster, 'Succeeded') && !ordered.has(cluster.clusterName))
    .map(({ clusterName }) => clusterName);
  if (lacking.length === 0) return undefined;
  return internal(
    `its revision was deleted: resource snapshot "${name}" does not exist any more, and clusters ${named(lacking)} have not got it; create a new run`,
    { of: 'resourceSnapshot', name },
  );
}

/** Its Works contain the revision, so the snapshot is not needed any more. */
const isOrdered = ({ metadata, spec, conditions }: HubBinding, snapshot: string): boolean =>
  spec.resourceSnapshotName === snapshot &&
  conditions.some(
    ({ type, status, observedGeneration }) =>
      type === 'WorkSynchronized' && status === 'True' && observedGeneration === metadata.generation,
  );

// ---- the clusters

function ofStages(facts: Facts, { updates, policyIndex }: Targets, status: StagedUpdateRunStatus): Verdict | undefined {
  const { stages } = status.stagedUpdateStrategySnapshot as StagedUpdateStrategySpec;
  const clusters = updates.map(({ spec }) => spec.targetCluster);
  // Checked before the scheduler unschedules the cluster: the message should not suggest that a user changed labels.
  const lost = clusters.filter((cluster) => facts.member(cluster) === undefined);
  if (lost.length > 0) {
    const rests = lost.map((name): Premise => ({ of: 'member', name }));
    return internal(`the clusters have changed since the run began (left the fleet: ${named(lost)})`, ...rests);
  }
  const before = status.stagesStatus ?? [];
  const input = {
    run: facts.run.metadata.name ?? '',
    stages,
    clusters,
    labelsOf: (cluster: string) => facts.member(cluster)?.labels,
  };
  if (isInPlace(input, before)) return undefined;
  const now = stagesOf(input);
  if (!now.ok) {
    return {
      blame: 'user',
      message: `the clusters have changed since the run began: ${now.message}`,
      rests: now.clusters.map((name) => ({ of: 'member', name })),
    };
  }
  const placesBefore = placesOf(before);
  const placesNow = placesOf(now.stages);
  const joined = [...placesNow.keys()].filter((cluster) => !placesBefore.has(cluster));
  const gone = [...placesBefore.keys()].filter((cluster) => !placesNow.has(cluster));
  const isSameSet = joined.length === 0 && gone.length === 0;
  const movedBy = (isElsewhere: (was: Place, is: Place) => boolean) =>
    [...placesNow].flatMap(([cluster, is]) => {
      const was = placesBefore.get(cluster);
      return was !== undefined && isElsewhere(was, is) ? [cluster] : [];
    });
  const inAnotherStage = movedBy((was, is) => was.stage !== is.stage);
  // A cluster whose position shifted because of an added or removed one did not move itself.
  const moved = isSameSet && inAnotherStage.length === 0 ? movedBy((was, is) => was.at !== is.at) : inAnotherStage;
  const told = [
    joined.length === 0 ? [] : [`joined: ${named(joined)}`],
    gone.length === 0 ? [] : [`no longer picked: ${named(gone)}`],
    moved.length === 0 ? [] : [`now in another position: ${named(moved)}`],
  ].flat();
  if (told.length === 0) return undefined;
  return internal(
    `the clusters have changed since the run began (${told.join('; ')})`,
    // Names the picked clusters: a binding that is only missing in the cache must not count as removed.
    { of: 'policySnapshot', name: `${facts.run.spec.placementName}-${policyIndex}` },
    ...moved.map((name): Premise => ({ of: 'member', name })),
    ...facts.bindings
      .filter(({ spec }) => joined.includes(spec.targetCluster) || gone.includes(spec.targetCluster))
      .map(({ metadata }): Premise => ({ of: 'binding', name: metadata.name ?? '' })),
  );
}

interface Place {
  readonly stage: string;
  readonly at: number;
}

function placesOf(stages: readonly StageStatus[]): ReadonlyMap<string, Place> {
  const places = new Map<string, Place>();
  for (const { stageName: stage, clusters } of stages) {
    for (const [at, { clusterName }] of clusters.entries()) places.set(clusterName, { stage, at });
  }
  return places;
}

const MAX_NAMED = 3;
const named = (clusters: readonly string[]): string =>
  `${clusters.slice(0, MAX_NAMED).join(', ')}${clusters.length > MAX_NAMED ? ` and ${clusters.length - MAX_NAMED} more` : ''}`;

function ofRemovals({ removals }: Targets, { deletionStageStatus }: StagedUpdateRunStatus): Verdict | undefined {
  const known = new Set(deletionStageStatus?.clusters.map(({ clusterName }) => clusterName));
  const other = removals.find(({ spec }) => !known.has(spec.targetCluster));
  if (other === undefined) return undefined;
  return internal(`cluster "${other.spec.targetCluster}" was unscheduled after the run began`, {
    of: 'binding',
    name: other.metadata.name ?? '',
  });
}

// ---- the status of the run

const hasResult = (stage: StageStatus): boolean => isTrue(stage, 'Succeeded') || isFalse(stage, 'Succeeded');

/** Only the hub writes the status; if it contradicts itself, it is unknown what was done. */
function ofTree(status: StagedUpdateRunStatus): Verdict | undefined {
  const { stagesStatus: stages, deletionStageStatus: removal, stagedUpdateStrategySnapshot: strategy } = status;
  const { resourceSnapshotIndexUsed: index = '' } = status;
  if (strategy === undefined || stages === undefined || removal === undefined || !/^\d+$/.test(index)) {
    return internal('the status of the run lacks the facts that it began with');
  }
  if (
    strategy.stages.length !== stages.length ||
    stages.some(({ stageName }, at) => stageName !== strategy.stages[at]?.name)
  ) {
    return internal('the stages in the status of the run are not those of its strategy');
  }
  const failed = [...stages, removal].find((stage) => isFalse(stage, 'Succeeded'));
  if (failed !== undefined) return internal(`stage "${failed.stageName}" has failed before`);
  const open = stages.findIndex((stage) => !hasResult(stage));
  const rest = open < 0 ? [] : stages.slice(open);
  const early = rest.slice(1).find((stage) => hasResult(stage) || conditionIn(stage, 'Progressing') !== undefined);
  if (early !== undefined) return internal(`stage "${early.stageName}" is ahead of stage "${rest[0]?.stageName}"`);
  if (open >= 0 && conditionIn(removal, 'Progressing') !== undefined) {
    return internal(`clusters are being removed while stage "${rest[0]?.stageName}" is not done`);
  }
  for (const stage of stages.slice(0, open < 0 ? stages.length : open)) {
    const undone = stage.clusters.find((cluster) => !isTrue(cluster, 'Succeeded'));
    if (undone !== undefined) {
      return internal(`stage "${stage.stageName}" is done, and its cluster "${undone.clusterName}" is not`);
    }
  }
  const current = rest[0];
  if (current === undefined) return undefined;
  const max = countAtLeastOne(strategy.stages[open]?.maxConcurrency ?? 1, current.clusters.length);
  const underWay = current.clusters.filter((each) => isTrue(each, 'Started') && !isTrue(each, 'Succeeded'));
  return underWay.length > max
    ? internal(`${underWay.length} clusters of stage "${current.stageName}" are under way, ${max} may be`)
    : undefined;
}
