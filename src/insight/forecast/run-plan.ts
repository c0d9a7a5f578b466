// A forecast with its effects: the wave and the changes of each cluster, the approvers of each gate. Pure.
import { unwrapped } from '../../api/enveloped.ts';
import { DELETION_STAGE, masterSnapshotName } from '../../api/names.ts';
import { conditionOf } from '../../api/next-condition.ts';
import type { KubeObject } from '../../api/object.ts';
import type { StageStatus } from '../../api/staged-update-run.ts';
import { countAtLeastOne } from '../../base/int-or-percent.ts';
import { type Counts, countsBetween } from './content-diff.ts';
import type { DurationFrom } from './duration.ts';
import { type ExpectedGate, type Forecast, gatesIn, type Wave, wavesIn } from './forecast.ts';
import { changesBetween, type PlannedChange } from './planned-changes.ts';

export interface RunPlan {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  readonly placement: string;
  /** Index of the revision; empty = none was chosen. */
  readonly revision: string;
  /** The revision is created when the run starts. */
  readonly isNewRevision: boolean;
  /** The number of its objects; absent = it could not be read. */
  readonly objects?: number;
  readonly end: Forecast['end'];
  readonly message: string;
  /** Including waits. */
  readonly tookMs: number;
  readonly durationMs: number;
  readonly durationFrom: DurationFrom;
  readonly stages: readonly PlannedStage[];
  readonly steps: readonly PlannedStep[];
  readonly clusters: readonly PlannedCluster[];
  /** For the clusters that get the revision, grouped by what they have now. */
  readonly changes: readonly PlannedChange[];
  /** Who may approve, as far as it is known. */
  readonly approvers: readonly string[];
  readonly notes: readonly string[];
}

export interface PlannedStage {
  readonly stage: string;
  readonly clusters: number;
  /** How many clusters move at once. */
  readonly atOnce: number;
  readonly waves: number;
}

export type PlannedStep =
  | ({ readonly do: 'wave'; readonly number: number } & Wave)
  | ({ readonly do: 'gate' } & ExpectedGate);

export interface PlannedCluster {
  readonly cluster: string;
  readonly stage: string;
  /** Within the stage, counted from 1; absent = it is skipped, and `why` has the reason. */
  readonly wave?: number;
  readonly why?: string;
  /** The snapshot that it has. */
  readonly has?: string;
  /** Absent = it could not be read. */
  readonly counts?: Counts;
}

export interface PlanInput {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  readonly placement: string;
  readonly forecast: Forecast;
  readonly durationMs: number;
  readonly durationFrom: DurationFrom;
  /** Include each changed field. */
  readonly full: boolean;
  /** By cluster: the snapshot of its binding. */
  readonly has: ReadonlyMap<string, string>;
  /** The objects of a snapshot, by its name; undefined = unknown. */
  contentOf(snapshot: string): readonly KubeObject[] | undefined;
  readonly approvers: readonly string[];
  readonly notes: readonly string[];
}

/** Users know the deletion stage by what it does. */
export const stageName = (stage: string): string => (stage === DELETION_STAGE ? '(removal)' : stage);

export function planOf(input: PlanInput): RunPlan {
  const { forecast, placement, contentOf, has, approvers, notes, full, ...rest } = input;
  const { status, end, message, tookMs } = forecast;
  const { stagesStatus = [], deletionStageStatus: removal, resourceSnapshotIndexUsed: revision = '' } = status;
  const all = [...stagesStatus, ...(removal === undefined || removal.clusters.length === 0 ? [] : [removal])];
  const waves = wavesIn(forecast);
  const snapshot = revision === '' ? undefined : masterSnapshotName(placement, Number(revision));
  const shipped = snapshot === undefined ? undefined : contentOf(snapshot);
  const numbers = new Map<string, number>();
  const numbered = (stage: string) => {
    numbers.set(stage, (numbers.get(stage) ?? 0) + 1);
    return numbers.get(stage) as number;
  };
  return {
    ...rest,
    placement,
    revision,
    isNewRevision: forecast.snapshots.length > 0,
    ...(shipped === undefined ? {} : { objects: shipped.length }),
    end,
    message,
    tookMs,
    stages: all.map((stage, at) => ({
      stage: stageName(stage.stageName),
      clusters: stage.clusters.length,
      atOnce:
        stage === removal
          ? stage.clusters.length
          : countAtLeastOne(
              status.stagedUpdateStrategySnapshot?.stages[at]?.maxConcurrency ?? 1,
              stage.clusters.length,
            ),
      waves: waves.filter((each) => each.stage === stage.stageName).length,
    })),
    steps: forecast.steps.map((step) =>
      'wave' in step
        ? { do: 'wave', number: numbered(step.wave.stage), ...step.wave, stage: stageName(step.wave.stage) }
        : { do: 'gate', ...step.gate },
    ),
    clusters: all.flatMap((stage) =>
      stage.clusters.map((each) => plannedCluster(stage, each, { waves, shipped, input })),
    ),
    changes: changesBetween({
      has: waves.flatMap(({ clusters, removes }) => (removes ? [] : clusters.map((each) => has.get(each) ?? ''))),
      after: shipped,
      contentOf,
      full,
    }),
    approvers: gatesIn(forecast).some(({ type }) => type === 'Approval') ? approvers : [],
    notes,
  };
}

interface Around {
  readonly waves: readonly Wave[];
  readonly shipped: readonly KubeObject[] | undefined;
  readonly input: PlanInput;
}

function plannedCluster(
  { stageName: stage }: StageStatus,
  { clusterName: cluster, conditions }: StageStatus['clusters'][number],
  { waves, shipped, input: { has, contentOf } }: Around,
): PlannedCluster {
  const removes = stage === DELETION_STAGE;
  const wave = waves.filter((each) => each.stage === stage).findIndex(({ clusters }) => clusters.includes(cluster));
  const succeeded = conditionOf(conditions, 'Succeeded');
  const isSkipped = succeeded?.reason === 'ClusterUpdatingSkipped';
  const why = isSkipped
    ? succeeded.message
    : wave >= 0
      ? undefined
      : succeeded?.status === 'True'
        ? 'up to date'
        : 'not reached';
  const had = has.get(cluster) ?? '';
  const before = had === '' ? [] : contentOf(had);
  const after = removes ? [] : isSkipped ? before : shipped;
  return {
    cluster,
    stage: stageName(stage),
    ...(wave < 0 ? {} : { wave: wave + 1 }),
    ...(why === undefined ? {} : { why }),
    ...(had === '' ? {} : { has: had }),
    ...(before === undefined || after === undefined
      ? {}
      : { counts: countsBetween(unwrapped(before), unwrapped(after)) }),
  };
}
