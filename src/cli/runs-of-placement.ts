// The runs of a placement, in the order in which they matter to whoever asks why it does not move. Pure.
import type { StagedUpdateRun } from '../api/staged-update-run.ts';
import { byNumber, byText } from '../base/compare.ts';
import { type HubResourceSnapshot, isMaster, resourceIndexOf } from '../hub/placement-sources.ts';
import { phaseOf, type RunPhase } from './run-progress.ts';

const UNDER_WAY: readonly RunPhase[] = ['New', 'Initializing', 'Starting', 'Running', 'Waiting', 'Stuck', 'Stopping'];
const OVER: readonly RunPhase[] = ['Succeeded', 'Failed'];

/** It moves clusters now, or will without another word. */
export const isUnderWay = (run: StagedUpdateRun): boolean =>
  run.spec.state === 'Run' && UNDER_WAY.includes(phaseOf(run));

const isNewer = ({ metadata: a }: StagedUpdateRun, { metadata: b }: StagedUpdateRun): number =>
  byText(b.creationTimestamp ?? '', a.creationTimestamp ?? '') || byText(b.name ?? '', a.name ?? '');

/** Who is not over, those under way first and of them the newest; a run that is only prepared moves nothing, so it comes last. */
export function openRuns(runs: readonly StagedUpdateRun[]): readonly StagedUpdateRun[] {
  const rank = (run: StagedUpdateRun): number => (isUnderWay(run) ? 0 : run.spec.state === 'Initialize' ? 2 : 1);
  return runs
    .filter((run) => !OVER.includes(phaseOf(run)) && phaseOf(run) !== 'Deleting')
    .toSorted((a, b) => rank(a) - rank(b) || isNewer(a, b));
}

export const newestFirst = (runs: readonly StagedUpdateRun[]): readonly StagedUpdateRun[] => runs.toSorted(isNewer);

/** The newest of those that are over. */
export const lastRun = (runs: readonly StagedUpdateRun[]): StagedUpdateRun | undefined =>
  runs.filter((run) => OVER.includes(phaseOf(run))).toSorted(isNewer)[0];

/** Runs that are under way beside this one; one that waits for it is not in its way. */
export const othersUnderWay = (runs: readonly StagedUpdateRun[], { metadata }: StagedUpdateRun) =>
  openRuns(runs).filter(
    (other) =>
      other.metadata.name !== metadata.name &&
      isUnderWay(other) &&
      !other.status?.holds?.some(({ code, on }) => code === 'OtherRun' && on?.name === metadata.name),
  );

/** The indexes that a run may name, in their order. */
export const revisionsIn = (snapshots: readonly HubResourceSnapshot[]): readonly number[] =>
  [...new Set(snapshots.filter(isMaster).flatMap((each) => resourceIndexOf(each) ?? []))].sort(byNumber);
