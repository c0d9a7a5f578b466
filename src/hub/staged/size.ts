// Keeps the status of a run within the size limit of an API server. Decisions depend on every cluster in it, so none is
// left out: a large status has no messages of clusters, which only users read, and a run whose status would still be
// too large is refused before it starts.
import type { Condition } from '../../api/conditions.ts';
import {
  type StageClusterStatus,
  type StagedUpdateRunStatus,
  type StageStatus,
  stagesIn,
} from '../../api/staged-update-run.ts';
import { jsonBytes } from '../status/json-bytes.ts';

const LEAN_ABOVE = 800_000;
/** An object may have 1.5 MiB; the rest is for annotations (256 KiB), for holds, and for messages. */
export const MAX_RUN_BYTES = 1_200_000;

const atTheEnd = (type: string, reason: string): Condition => ({
  type,
  status: 'True',
  reason,
  message: '',
  observedGeneration: 1,
  lastTransitionTime: '2026-01-01T00:00:00Z',
});
const CONDITIONS_BYTES = jsonBytes({
  conditions: [atTheEnd('Started', 'ClusterUpdatingStarted'), atTheEnd('Succeeded', 'ClusterUpdatingSucceeded')],
});

/** The size of the status at the end of the run, without messages of clusters; the same from the start on. */
function finalBytes(status: StagedUpdateRunStatus): number {
  const { stagedUpdateStrategySnapshot, appliedStrategy } = status;
  let sum = jsonBytes([stagedUpdateStrategySnapshot, appliedStrategy]);
  for (const { clusters } of stagesIn(status)) {
    for (const { conditions: _conditions, ...cluster } of clusters) sum += CONDITIONS_BYTES + jsonBytes(cluster);
  }
  return sum;
}

/** Why a run cannot have these clusters; undefined = it can. */
export function troubleInSize(status: StagedUpdateRunStatus): string | undefined {
  const bytes = finalBytes(status);
  if (bytes <= MAX_RUN_BYTES) return undefined;
  const clusters = stagesIn(status).reduce((sum, stage) => sum + stage.clusters.length, 0);
  return (
    `the status of a run over ${clusters} clusters with their overrides would have ${bytes} bytes, and at most ` +
    `${MAX_RUN_BYTES} fit: select fewer clusters in the placement, or use fewer overrides and shorter values`
  );
}

export function boundRun(status: StagedUpdateRunStatus): StagedUpdateRunStatus {
  if (finalBytes(status) <= LEAN_ABOVE) return status;
  const { stagesStatus, deletionStageStatus } = status;
  return {
    ...status,
    ...(stagesStatus === undefined ? {} : { stagesStatus: stagesStatus.map(withoutMessages) }),
    ...(deletionStageStatus === undefined ? {} : { deletionStageStatus: withoutMessages(deletionStageStatus) }),
  };
}

const withoutMessages = (stage: StageStatus): StageStatus => ({
  ...stage,
  clusters: stage.clusters.map(withoutMessage),
});

/** The message of a failed cluster stays: there are few of these, and it has the cause. */
function withoutMessage(cluster: StageClusterStatus): StageClusterStatus {
  const { conditions } = cluster;
  if (!conditions?.some(isVerbose)) return cluster;
  return { ...cluster, conditions: conditions.map((each) => (isVerbose(each) ? { ...each, message: '' } : each)) };
}

const isVerbose = ({ status, message }: Condition): boolean => status === 'True' && message !== '';
