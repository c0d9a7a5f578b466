// What a user can do about a run that does not finish: its content is fixed, so a fix or a rollback needs a new run.
// Pure.
import type { StagedUpdateRun } from '../../api/staged-update-run.ts';
import { titleOfRun, typed, type WhichRun } from '../which-run.ts';

interface Asked {
  readonly which: WhichRun;
  readonly run: StagedUpdateRun;
  /** Existing revisions of the placement; undefined = unknown. */
  readonly revisions: readonly number[] | undefined;
}

/** For a run whose clusters do not become available. */
export const waysOut = ({ which, run, revisions }: Asked): readonly string[] => [
  'to roll out a fix, create a new run, because the content of a run is fixed; without resourceSnapshotIndex it takes the newest state',
  ...wayBack({ run, revisions }),
  ...(run.spec.state === 'Run' ? [`before that, stop this one: ${patchCommand(which, 'Stop')}`] : []),
];

const MAX_NAMED = 5;

export function wayBack({ run, revisions }: Omit<Asked, 'which'>): readonly string[] {
  const own = Number(run.status?.resourceSnapshotIndexUsed ?? Number.NaN);
  if (revisions === undefined || Number.isNaN(own)) {
    return ['to roll back, create a new run with an earlier resourceSnapshotIndex'];
  }
  const earlier = revisions.filter((each) => each < own);
  const last = earlier.at(-1);
  if (last === undefined) return [];
  const rest = earlier.slice(-1 - MAX_NAMED, -1);
  const also = rest.length === 0 ? '' : ` (also kept: ${rest.join(', ')})`;
  return [`to roll back, create a new run with resourceSnapshotIndex: "${last}"${also}`];
}

/** What other clients have done to the clusters of a stopped run. */
export interface Overtaken {
  /** A cluster that this run had updated, and its present revision. */
  readonly taken?: { readonly cluster: string; readonly carries: string; readonly isDone: boolean };
  /** Runs in progress on the same placement. */
  readonly others: readonly WhichRun[];
}

/** Resuming such a run would not help. */
export const insteadOfResuming = (which: WhichRun, overtaken: Overtaken): readonly string[] => [
  `leave it stopped, or delete it (${deleteCommand(which)}): ${whyNotResume(overtaken)}`,
  ...(overtaken.others.length === 0 ? ['create a new run for what is left'] : overtaken.others.map(seeOther)),
];

function whyNotResume({ taken, others: [other] }: Overtaken): string {
  if (taken === undefined) return `it and ${other && titleOfRun(other)} would take clusters from each other`;
  const { cluster, carries, isDone } = taken;
  const now = `cluster "${cluster}" carries ${carries || 'nothing'} by now`;
  return isDone
    ? `${now}, and set to Run it would roll out its own revision to other clusters`
    : `set to Run it would end at once, because ${now}`;
}

export const seeOther = (other: WhichRun): string =>
  `see what ${titleOfRun(other)} does on the same placement: flotilla why run/${typed(other)}`;

const named = ({ family, name, namespace }: WhichRun): string =>
  `${family.run.plural} ${name}${namespace === undefined ? '' : ` -n ${namespace}`}`;

export const deleteCommand = (which: WhichRun): string => `kubectl delete ${named(which)}`;

const patchCommand = (which: WhichRun, state: 'Run' | 'Stop'): string =>
  `kubectl patch ${named(which)} --type merge -p '{"spec":{"state":"${state}"}}'`;

/** How to roll out a placement with strategy External. `strategy`: one that it was rolled out with before. */
export const howToMakeOne = (
  { family, name, namespace }: WhichRun,
  strategy = `NAME of a ${family.strategy.kind}`,
): readonly string[] => [
  `create a ${family.run.kind}${namespace === undefined ? '' : ` in namespace "${namespace}"`} with placementName: ${name}, stagedRolloutStrategyName: ${strategy}, state: Run; without resourceSnapshotIndex it takes the newest state`,
  'first show what it would do: flotilla plan run -f FILE',
];
