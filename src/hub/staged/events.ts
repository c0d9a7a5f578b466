// The Events for changes in the status of a run: each turn once.
import type { Condition } from '../../api/conditions.ts';
import type { HoldCode } from '../../api/hold.ts';
import { type StagedUpdateRunStatus, type StageStatus, stagesIn } from '../../api/staged-update-run.ts';
import { deepEqual } from '../../base/json.ts';
import type { EventText } from '../../runtime/actions.ts';
import { conditionIn, isTrue } from '../planners/staged-tree.ts';

/** Reasons of Events about runs, besides the reasons of their conditions. */
export type RunEventReason = 'UpdateRunStarted' | 'UpdateRunResumed' | 'UpdateRunClusterSkipped';

type Status = StagedUpdateRunStatus | undefined;

const WARNED: readonly string[] = ['UpdateRunInitializedFailed', 'UpdateRunStuck', 'UpdateRunFailed'];
/** Reasons of Progressing that are reported; the others are covered by Succeeded, or not important. */
const TOLD: readonly string[] = ['UpdateRunWaiting', 'UpdateRunStuck', 'UpdateRunStopped'];

const asTold = ({ reason, message }: Condition): EventText => ({
  type: WARNED.includes(reason) ? 'Warning' : 'Normal',
  reason,
  message,
});

export function newsIn(before: Status, after: StagedUpdateRunStatus): readonly EventText[] {
  const turned = (type: string): Condition | undefined => {
    const [was, is] = [conditionIn(before, type), conditionIn(after, type)];
    return is !== undefined && (was?.status !== is.status || was.reason !== is.reason) ? is : undefined;
  };
  const initialized = turned('Initialized');
  const progressing = turned('Progressing');
  const succeeded = turned('Succeeded');
  return [
    ...(initialized === undefined ? [] : [asTold(initialized)]),
    ...(progressing?.reason === 'UpdateRunProgressing' ? begun(before, progressing) : []),
    ...stagesDone(before, after),
    ...skipped(before, after),
    ...(progressing !== undefined && TOLD.includes(progressing.reason)
      ? [asTold(progressing)]
      : anotherGate(before, after)),
    ...(succeeded === undefined ? [] : [asTold(succeeded)]),
  ];
}

/** A run may go from one gate straight to the next: the next approver must be notified. */
function anotherGate(before: Status, after: StagedUpdateRunStatus): readonly EventText[] {
  const [was, is] = [conditionIn(before, 'Progressing'), conditionIn(after, 'Progressing')];
  const isWaiting = was?.reason === 'UpdateRunWaiting' && is?.reason === 'UpdateRunWaiting';
  return isWaiting && !deepEqual(gatesIn(before), gatesIn(after)) ? [asTold(is)] : [];
}

const GATES: readonly string[] = ['ApprovalMissing', 'TimedWait', 'OtherRun'] satisfies HoldCode[];

/** The gates that the run waits for; a new hint about an approval is reported too. */
const gatesIn = (status: Status) =>
  (status?.holds ?? [])
    .filter(({ code }) => GATES.includes(code))
    .map(({ code, on, until, facts }) => ({ code, on, until, stage: facts?.['stage'], hint: facts?.['hint'] }));

function begun(before: Status, { message }: Condition): readonly EventText[] {
  const was = conditionIn(before, 'Progressing')?.reason;
  if (was !== undefined && !was.startsWith('UpdateRunStop')) return [];
  const reason: RunEventReason = was === undefined ? 'UpdateRunStarted' : 'UpdateRunResumed';
  return [{ type: 'Normal', reason, message }];
}

const stagesOf = (status: Status): readonly StageStatus[] => stagesIn(status ?? {});

/** The deletion stage is reported only if it had clusters. */
const stagesDone = (before: Status, after: StagedUpdateRunStatus): readonly EventText[] =>
  stagesOf(after)
    .filter((stage, at) => isTrue(stage, 'Succeeded') && !isTrue(stagesOf(before)[at], 'Succeeded'))
    .filter((stage) => stage !== after.deletionStageStatus || stage.clusters.length > 0)
    .map((stage) => ({
      type: 'Normal' as const,
      reason: conditionIn(stage, 'Succeeded')?.reason ?? '',
      message: `stage "${stage.stageName}": ${conditionIn(stage, 'Succeeded')?.message} (clusters: ${stage.clusters.length})`,
    }));

function skipped(before: Status, after: StagedUpdateRunStatus): readonly EventText[] {
  const isSkipped = (cluster: StageStatus['clusters'][number] | undefined) =>
    conditionIn(cluster, 'Succeeded')?.reason === 'ClusterUpdatingSkipped';
  return stagesOf(after).flatMap((stage, at) =>
    stage.clusters
      .filter((cluster, place) => isSkipped(cluster) && !isSkipped(stagesOf(before)[at]?.clusters[place]))
      .map((cluster) => ({
        type: 'Warning' as const,
        reason: 'UpdateRunClusterSkipped' satisfies RunEventReason,
        message: `cluster "${cluster.clusterName}": ${conditionIn(cluster, 'Succeeded')?.message}`,
      })),
  );
}
