// Renders the progress of a placement: a headline, a bar on a terminal, a line per cluster. Pure.
import { BLOCKING } from '../../api/hold.ts';
import { refText } from '../../api/object.ts';
import { shortDuration } from '../../base/age.ts';
import { byName } from '../../base/natural-order.ts';
import { plainText, wrapped } from '../../insight/plain-text.ts';
import type { ClusterProgress, Progress, Stage } from '../../insight/progress/placement-progress.ts';
import type { Label } from '../../insight/progress/stuck.ts';
import { bar, percent } from '../terminal/bar.ts';
import { align } from '../terminal/format-table.ts';

export interface StatusView {
  readonly now: number;
  /** The command that explains more, such as `flotilla why placement/web`. */
  readonly more: string;
  /** The message of the first hold. */
  readonly waiting?: string;
  /** The label of that line; `Waits` by default. */
  readonly label?: Label;
  /** The command that shows differing fields, such as `flotilla diff placement/web`. */
  readonly diff?: string;
  /** The command that shows the run that moves it, such as `flotilla run r`. */
  readonly run?: string;
  /** The width of the bar. */
  readonly bar?: number;
  /** Longer lines are wrapped, except those of the table. */
  readonly columns?: number;
  /** The maximum number of lines, if possible; clusters that are not done come first. */
  readonly rows?: number;
}

export function renderStatus(progress: Progress, view: StatusView): string {
  const { unlisted, unlistedOpen } = progress;
  const byCluster = (a: ClusterProgress, b: ClusterProgress) => byName(a.cluster, b.cluster);
  const clusters = [...progress.clusters.toSorted(byCluster), ...progress.leaving.toSorted(byCluster)];
  const open = clusters.filter(({ isDone }) => !isDone);
  const above = [
    headline(progress),
    ...(view.bar === undefined || progress.total === 0
      ? []
      : [`${bar(progress.done, progress.total, view.bar)} ${percent(progress.done, progress.total)}`]),
    ...remarks(progress, view),
    ...progress.notes.map((note) => `Note: ${note}`),
  ].flatMap((line) => wrapped(plainText(line), (view.columns ?? Number.POSITIVE_INFINITY) - 1));
  const pointers = [
    ...(progress.isComplete ? [] : [`Why: ${view.more}`]),
    ...(view.diff !== undefined && clusters.some(({ differing }) => differing > 0)
      ? [`Differences: ${view.diff}`]
      : []),
    ...(view.run === undefined ? [] : [`Run: ${view.run}`]),
  ];
  const below = pointers.length === 0 ? [] : ['', ...pointers];
  const most =
    view.rows === undefined ? clusters.length : Math.max(FEWEST, view.rows - above.length - below.length - AROUND);
  const shown =
    clusters.length > most ? [...open, ...clusters.filter(({ isDone }) => isDone)].slice(0, most) : clusters;
  const left = clusters.length - shown.length + unlisted + unlistedOpen;
  return [
    ...above,
    ...(shown.length === 0 ? [] : ['', ...table(shown, progress.revision, view.now)]),
    ...(left === 0 ? [] : [`… and ${left} more ${left === 1 ? 'cluster' : 'clusters'}`]),
    ...below,
  ]
    .map(plainText)
    .join('\n');
}

/** The minimum number of clusters, however low the terminal is. */
const FEWEST = 3;
/** Lines around the table: a blank one, the header, "more", the one with the cursor. */
const AROUND = 4;

export function headline(progress: Progress): string {
  const { revision, isComplete } = progress;
  const title = refText(progress);
  return `${title}${revision === '' ? '' : `, revision ${revision}`}: ${stateOf(progress)}${isComplete ? ', complete' : ''}`;
}

function stateOf({ done, total, earlier, isReport, isStaged, nothing, holds }: Progress): string {
  if (nothing !== undefined) return `selects nothing: ${nothing}`;
  // In this case it is unknown which clusters have it.
  if (total === 0 && holds.some(({ code }) => BLOCKING.includes(code))) return 'blocked; no cluster changes';
  if (total === 0) return 'no cluster is picked';
  const there = `${isReport ? 'compared' : 'available'} on ${done} of ${total} ${total === 1 ? 'cluster' : 'clusters'}`;
  // Clusters with an earlier revision still serve: a new revision is no outage.
  return earlier === 0
    ? there
    : `${there}, ${earlier} still ${earlier === 1 ? 'has' : 'have'} ${isStaged ? 'another' : 'an earlier'} revision`;
}

export const outdatedWords = ({ generation, observed }: NonNullable<Progress['outdated']>): string =>
  observed === 0
    ? 'The hub has not processed it yet.'
    : `Generation ${generation} has not been processed yet; showing generation ${observed}.`;

function remarks(
  { isDeleting, outdated, open, isComplete, nobody }: Progress,
  { waiting, label = 'Waits' }: StatusView,
): readonly string[] {
  if (isDeleting) return ['It is being deleted.'];
  if (outdated !== undefined) {
    return [outdatedWords(outdated)];
  }
  if (isComplete) return [];
  if (waiting !== undefined) return [`${label}: ${waiting}`];
  if (nobody !== undefined) return nobody === '' ? [] : [`Scheduler: ${nobody}`];
  return open === undefined ? [] : [`${open.step} is ${open.status} (${open.reason}): ${open.message}`];
}

/** `newest`: the revision that the status is about; empty = none. */
function table(clusters: readonly ClusterProgress[], newest: string, now: number): readonly string[] {
  // Usually all clusters have the newest revision, so the column would only repeat it.
  const picked = clusters.filter(({ stage }) => stage !== 'NotPicked' && stage !== 'Leaving');
  const isEarlier = ({ revision }: ClusterProgress) => newest !== '' && revision !== '' && revision !== newest;
  const differ = new Set(picked.map(({ revision }) => revision)).size > 1 || picked.some(isEarlier);
  const row = ({ cluster, stage, since, revision, message }: ClusterProgress) => [
    cluster === '' ? '<none>' : cluster,
    stage,
    ...(differ ? [revision === '' ? '-' : revision] : []),
    since === undefined ? '-' : shortDuration(Math.max(0, now - since)),
    plainText(message),
  ];
  const header = ['CLUSTER', 'STAGE', ...(differ ? ['REVISION'] : []), 'FOR', 'MESSAGE'];
  return align([header, ...clusters.map(row)].map((cells) => cells.map(plainText))).split('\n');
}

/** The changes line by line, for logs: the headline if it changed, then every cluster with a new stage. */
export function renderChanges(before: Progress | undefined, after: Progress, view: StatusView): readonly string[] {
  const known = stagesIn(before);
  const present = stagesIn(after);
  const lines: string[] = [];
  for (const { cluster, stage, message } of [...after.clusters, ...after.leaving]) {
    const was = known.get(cluster);
    if (was === stage || cluster === '') continue;
    const why = message === '' ? '' : ` (${message})`;
    lines.push(`${cluster}: ${was === undefined ? stage : `${was} -> ${stage}`}${why}`);
  }
  for (const [cluster, was] of known) {
    if (cluster === '' || present.has(cluster) || !isWhole(after)) continue;
    if (was !== 'Leaving') lines.push(`${cluster}: no longer picked`);
    else if (after.holds.every(namesAll)) lines.push(`${cluster}: Leaving -> gone`);
  }
  const isNew = before === undefined || headline(before) !== headline(after) || markOf(before) !== markOf(after);
  return [...lines, ...(isNew ? [headline(after), ...remarks(after, view)] : [])].map(plainText);
}

const stagesIn = (progress: Progress | undefined): ReadonlyMap<string, Stage> =>
  new Map([...(progress?.clusters ?? []), ...(progress?.leaving ?? [])].map(({ cluster, stage }) => [cluster, stage]));

/** Clusters that a status does not list are unknown; before the scheduling is done it lists none. */
const isWhole = ({ unlisted, unlistedOpen, open }: Progress): boolean =>
  unlisted + unlistedOpen === 0 && !(open?.step === 'Scheduled' && open.status === 'Unknown');

/** A hold names only the first waiting clusters: a cluster that is not named may still wait. */
const namesAll = ({ count = 0, clusters = [] }: Progress['holds'][number]): boolean => count <= clusters.length;

/** Identifies the remark without its numbers: a line for each changed number would flood a log. */
const markOf = ({ isDeleting, outdated, open, nobody, holds: [first] }: Progress): string =>
  JSON.stringify([
    isDeleting,
    outdated,
    first?.code,
    first?.on?.name,
    first === undefined && [open?.step, open?.status, open?.reason, nobody],
  ]);
