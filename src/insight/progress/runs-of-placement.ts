// The runs of a placement, sorted by how much they matter to a user who asks why it does not progress. Pure.
import { conditionOf } from '../../api/next-condition.ts';
import { type StagedUpdateRun, stagesIn } from '../../api/staged-update-run.ts';
import { byNumber, byText } from '../../base/compare.ts';
import { type HubResourceSnapshot, isMaster, resourceIndexOf } from '../../hub/placement-sources.ts';
import type { Staging } from './placement-progress.ts';
import { phaseOf, type RunPhase } from './run-progress.ts';

const UNDER_WAY: readonly RunPhase[] = ['New', 'Initializing', 'Starting', 'Running', 'Waiting', 'Stuck', 'Stopping'];
const OVER: readonly RunPhase[] = ['Succeeded', 'Failed'];

/** It moves clusters now, or will without further action. */
export const isUnderWay = (run: StagedUpdateRun): boolean =>
  run.spec.state === 'Run' && UNDER_WAY.includes(phaseOf(run));

const isNewer = ({ metadata: a }: StagedUpdateRun, { metadata: b }: StagedUpdateRun): number =>
  byText(b.creationTimestamp ?? '', a.creationTimestamp ?? '') || byText(b.name ?? '', a.name ?? '');

/**
 * Unfinished runs: those in progress first, newest first; runs that are only initialized last, because they move
 * nothing.
 */
export function openRuns(runs: readonly StagedUpdateRun[]): readonly StagedUpdateRun[] {
  const rank = (run: StagedUpdateRun): number => (isUnderWay(run) ? 0 : run.spec.state === 'Initialize' ? 2 : 1);
  return runs
    .filter((run) => !OVER.includes(phaseOf(run)) && phaseOf(run) !== 'Deleting')
    .toSorted((a, b) => rank(a) - rank(b) || isNewer(a, b));
}

export const newestFirst = (runs: readonly StagedUpdateRun[]): readonly StagedUpdateRun[] => runs.toSorted(isNewer);

/** The newest finished run. */
export const lastRun = (runs: readonly StagedUpdateRun[]): StagedUpdateRun | undefined =>
  runs.filter((run) => OVER.includes(phaseOf(run))).toSorted(isNewer)[0];

/** Other runs in progress, without those that wait for this one. */
export const othersUnderWay = (runs: readonly StagedUpdateRun[], { metadata }: StagedUpdateRun) =>
  openRuns(runs).filter(
    (other) =>
      other.metadata.name !== metadata.name &&
      isUnderWay(other) &&
      !other.status?.holds?.some(({ code, on }) => code === 'OtherRun' && on?.name === metadata.name),
  );

/** The revision indexes that a run may name, in order. */
export const revisionsIn = (snapshots: readonly HubResourceSnapshot[]): readonly number[] =>
  [...new Set(snapshots.filter(isMaster).flatMap((each) => resourceIndexOf(each) ?? []))].sort(byNumber);

const indexUsed = ({ status }: StagedUpdateRun): string => status?.resourceSnapshotIndexUsed ?? '';
const hasBegun = (run: StagedUpdateRun): boolean =>
  indexUsed(run) !== '' && conditionOf(run.status?.conditions, 'Progressing') !== undefined;
const hasBegunStage = ({ status }: StagedUpdateRun): boolean =>
  stagesIn(status ?? {}).some(({ conditions = [] }) => conditions.length > 0);

/** The run that moves clusters: a stopped run moves none, and a run that waits for another one has started no stage. */
export function movedBy(runs: readonly StagedUpdateRun[]): Staging['run'] {
  const begun = openRuns(runs).filter((run) => isUnderWay(run) && hasBegun(run));
  const run = begun.find(hasBegunStage) ?? begun[0];
  return run && { revision: indexUsed(run), isOpen: true };
}

export function lastMovedBy(runs: readonly StagedUpdateRun[]): Staging['run'] {
  const [run] = newestFirst(runs.filter(hasBegun));
  return run && { revision: indexUsed(run), isOpen: false };
}
