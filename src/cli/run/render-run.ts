// Renders the progress of a staged update run: a headline, what it waits for, a line per stage, its gates, a line per
// cluster. Pure.
import { refText } from '../../api/object.ts';
import { shortDuration } from '../../base/age.ts';
import { kubeTime } from '../../base/clock.ts';
import { plainText } from '../../insight/plain-text.ts';
import type { RunCluster, RunGate, RunPhase, RunProgress, StageProgress } from '../../insight/progress/run-progress.ts';
import { outdatedWords } from '../status/render-status.ts';
import { bar } from '../terminal/bar.ts';
import { align } from '../terminal/format-table.ts';

export interface RunView {
  readonly now: number;
  /** The command that explains more, such as `flotilla why run/r`. */
  readonly more: string;
  /** The command that opens a gate. */
  approve(stage: string, when: RunGate['when']): string;
  /** The width of the bars. */
  readonly bar?: number;
  /** The maximum number of lines. */
  readonly rows?: number;
}

const PHASES: Readonly<Record<RunPhase, string>> = {
  New: 'the hub has not processed it yet',
  Initializing: 'waits to begin',
  Prepared: 'prepared, not started',
  Starting: 'starting',
  Running: 'under way',
  Waiting: 'waits',
  Stuck: 'stuck',
  Stopping: 'stopping',
  Stopped: 'stopped',
  Succeeded: 'succeeded',
  Failed: 'failed',
  Deleting: 'being deleted',
};

export function runHeadline(progress: RunProgress): string {
  const { revision, placement, phase, done, skipped, total, stages } = progress;
  const title = refText(progress);
  const what = `${revision === '' ? '' : `revision ${revision} of `}placement "${placement}"`;
  const far = stages.length === 0 ? '' : `, ${count(total, 'cluster', `${done} of `)} done${skippedWords(skipped)}`;
  return `${title}, ${what}: ${PHASES[phase]}${far}`;
}

const count = (number: number, thing: string, before = ''): string =>
  `${before}${number} ${thing}${number === 1 ? '' : 's'}`;
const skippedWords = (skipped: number): string => (skipped === 0 ? '' : `, ${skipped} skipped`);

/** The label of the hub's message in each phase. */
const LEADS: Partial<Readonly<Record<RunPhase, string>>> = {
  Initializing: 'Waits',
  Running: 'Now',
  Waiting: 'Waits',
  Stuck: 'Stuck',
  Stopping: 'Stopping',
  Stopped: 'Stopped',
  Failed: 'Failed',
};

function remarks({ phase, says, outdated, isOver }: RunProgress): readonly string[] {
  if (outdated !== undefined && !isOver) return [outdatedWords(outdated)];
  const lead = LEADS[phase];
  return lead === undefined || says === '' ? [] : [`${lead}: ${says}`];
}

export function renderRun(progress: RunProgress, view: RunView): string {
  const { stages, phase } = progress;
  const gates = stages.flatMap((stage) => stage.gates.map((gate) => gateLine(stage, gate, view)));
  const above = [
    runHeadline(progress),
    ...remarks(progress),
    ...(stages.length === 0 ? [] : ['', ...stageTable(stages, view)]),
    ...(gates.length === 0 ? [] : ['', ...align([['GATE', 'STATE', 'MESSAGE'], ...gates]).split('\n')]),
  ];
  const below = phase === 'Succeeded' || phase === 'Deleting' ? [] : ['', `Why: ${view.more}`];
  // A picture that is taller than the terminal cannot be redrawn in place.
  const room = view.rows === undefined ? undefined : view.rows - below.length;
  const lines = [...above, ...clusterTable(stages, view, room === undefined ? undefined : room - above.length)];
  const shown =
    room === undefined || lines.length <= room ? lines : [...lines.slice(0, room - 1), '… more than fits here'];
  return [...shown, ...below].map(plainText).join('\n');
}

// ---- stages

const labelOf = ({ removes, stage }: Pick<StageProgress, 'removes' | 'stage'>): string =>
  removes ? '(removal)' : stage;

function stageTable(stages: readonly StageProgress[], { now, bar: width }: RunView): readonly string[] {
  const rows = stages.map((stage) => [
    labelOf(stage),
    stage.state,
    `${stage.done} of ${stage.total}${skippedWords(stage.skipped)}`,
    ...(width === undefined ? [] : [bar(stage.done + stage.skipped, stage.total, width)]),
    took(stage, now),
  ]);
  const header = ['STAGE', 'STATE', 'DONE', ...(width === undefined ? [] : ['']), 'TOOK'];
  return align([header, ...rows].map((cells) => cells.map(plainText))).split('\n');
}

const took = ({ started, ended }: StageProgress, now: number): string =>
  started === undefined ? '-' : shortDuration(Math.max(0, (ended ?? now) - started));

// ---- gates

/** `approved by "ann" at …`. */
const approvedWords = ({ by, at, message }: Pick<RunGate, 'by' | 'at' | 'message'>): string =>
  `approved by ${by === undefined ? 'unknown' : `"${by}"`}${at === undefined ? '' : ` at ${kubeTime(at)}`}${message === undefined ? '' : `: ${message}`}`;

function gateWords(stage: StageProgress, gate: RunGate, { now, approve }: Pick<RunView, 'now' | 'approve'>) {
  const { type, state, when, request, hint, waitTime = 'a while', until, at } = gate;
  if (state === 'Closed')
    return `no longer needed: the ${stage.state === 'Empty' ? 'stage has no clusters' : 'run is over'}`;
  if (type === 'TimedWait') {
    if (state === 'Open') return `${waitTime} have passed${at === undefined ? '' : `, at ${kubeTime(at)}`}`;
    if (until === undefined) return `${waitTime} after the last cluster`;
    const left = until > now ? `in ${shortDuration(until - now)}` : 'now';
    return `${waitTime} after the last cluster: ends ${left}, at ${kubeTime(until)}`;
  }
  if (state === 'Open') return approvedWords(gate);
  if (state === 'Approved') return `${approvedWords(gate)}; the hub has not processed it yet`;
  if (state === 'Pending') return `will request ${request}`;
  if (state === 'Rejected') return `${hint}; to approve it after all: ${approve(stage.stage, when)}`;
  return `waits for ${request}: ${approve(stage.stage, when)}${hint === undefined ? '' : ` (${hint})`}`;
}

const gateLine = (stage: StageProgress, gate: RunGate, view: RunView): readonly string[] =>
  [`${gate.when} ${stage.stage}`, gate.state, gateWords(stage, gate, view)].map(plainText);

// ---- clusters

const REST: readonly RunCluster['state'][] = ['Pending', 'Done', 'Removed'];

function clusterTable(stages: readonly StageProgress[], { now }: RunView, room: number | undefined): readonly string[] {
  const all = stages.flatMap((stage) => stage.clusters.map((each) => ({ stage: labelOf(stage), ...each })));
  if (all.length === 0) return [];
  // A blank line and a header above them, a line about omitted clusters below.
  const most = room === undefined ? all.length : Math.max(0, room - 3);
  const isNews = ({ state }: RunCluster) => !REST.includes(state);
  const rank = (each: RunCluster): number => (isNews(each) ? 0 : each.state === 'Pending' ? 1 : 2);
  const chosen = all.length <= most ? all : all.toSorted((a, b) => rank(a) - rank(b)).slice(0, most);
  const left = all.length - chosen.length;
  const rows = chosen.map(({ cluster, stage, state, since, message }) =>
    [cluster, stage, state, since === undefined ? '-' : shortDuration(Math.max(0, now - since)), message].map(
      plainText,
    ),
  );
  return [
    ...(rows.length === 0
      ? []
      : ['', ...align([['CLUSTER', 'STAGE', 'STATE', 'FOR', 'MESSAGE'], ...rows]).split('\n')]),
    ...(left === 0 ? [] : [`… and ${count(left, 'more cluster')}`]),
  ];
}

// ---- line by line

/** The changes, for logs: clusters and gates in a new state, stages, then the headline if it changed. */
export function renderRunChanges(before: RunProgress | undefined, after: RunProgress, view: RunView) {
  const lines: string[] = [];
  const told = (was: string | undefined, is: string, why: string) =>
    `${was === undefined ? is : `${was} -> ${is}`}${why === '' ? '' : ` (${why})`}`;
  for (const stage of after.stages) {
    const known = before?.stages.find((each) => each.stage === stage.stage);
    for (const each of stage.clusters) {
      const was = known?.clusters.find(({ cluster }) => cluster === each.cluster)?.state;
      if (was === each.state || (was === undefined && each.state === 'Pending')) continue;
      lines.push(`${labelOf(stage)}/${each.cluster}: ${told(was, each.state, each.message)}`);
    }
    if (known?.state !== stage.state && !(known === undefined && stage.state === 'Pending')) {
      lines.push(`stage ${labelOf(stage)}: ${told(known?.state, stage.state, `${stage.done} of ${stage.total} done`)}`);
    }
    for (const gate of stage.gates) {
      const was = known?.gates.find(({ when, type }) => when === gate.when && type === gate.type);
      const isSame = was?.state === gate.state && was.hint === gate.hint;
      if (isSame || (was === undefined && gate.state === 'Pending')) continue;
      lines.push(`gate ${gate.when} ${stage.stage}: ${gate.state} (${gateWords(stage, gate, view)})`);
    }
  }
  const isNew = before === undefined || runHeadline(before) !== runHeadline(after) || markOf(before) !== markOf(after);
  return [...lines, ...(isNew ? [runHeadline(after), ...remarks(after)] : [])].map(plainText);
}

/** Identifies the remark without its numbers: a line for each changed number would flood a log. */
const markOf = ({ phase, outdated, says }: RunProgress): string =>
  JSON.stringify([phase, outdated, phase === 'Running' ? '' : says]);
