// Renders what a staged update run would do: one sentence, the order of waves and gates, the changes of each cluster.
// Pure.
import { refText } from '../../api/object.ts';
import { formatDuration } from '../../base/duration.ts';
import type { PlannedCluster, PlannedStep, RunPlan } from '../../insight/forecast/run-plan.ts';
import { plainText } from '../../insight/plain-text.ts';
import { align } from '../terminal/format-table.ts';
import { assumed, changes } from './render-rollout-plan.ts';

export interface PlanView {
  /** The command that opens a gate. */
  approve(stage: string, when: 'before' | 'after'): string;
  /** The command that starts it; absent = it does not exist yet, or is started. */
  readonly start?: string;
  /** Include each changed field. */
  readonly full: boolean;
}

const MAX_NAMES = 8;
/** The maximum number of waves to list per stage; the others are counted. */
const MAX_WAVES = 20;

const wholeSeconds = (ms: number): string => formatDuration(Math.floor(ms / 1000) * 1000);
const count = (number: number, thing: string): string => `${number} ${thing}${number === 1 ? '' : 's'}`;

export function renderPlan(plan: RunPlan, view: PlanView): string {
  return [
    summary(plan),
    ...(plan.isNewRevision ? [`Revision ${plan.revision} is made when it begins, from what is selected now.`] : []),
    '',
    ...align([
      ['STAGE', 'CLUSTERS', 'AT ONCE', 'WAVES'],
      ...plan.stages.map(({ stage, clusters, atOnce, waves }) => [stage, clusters, atOnce, waves].map(String)),
    ]).split('\n'),
    '',
    'Order:',
    ...(plan.steps.length === 0 ? ['  nothing to do: every cluster is up to date'] : order(plan, view)),
    '',
    ...clusterTable(plan.clusters),
    ...(view.full ? changes(plan, true) : []),
    ...(plan.approvers.length === 0 ? [] : ['', `Approvers: ${plan.approvers.join('; ')}`]),
    ...(plan.notes.length === 0 ? [] : ['', 'Note:', ...plan.notes.map((each) => `  - ${each}`)]),
    '',
    `Assumed: ${assumed(plan)}, approvals are given at once, and the fleet does not change. Nothing was written.`,
    ...(view.start === undefined ? [] : [view.start]),
  ]
    .map(plainText)
    .join('\n');
}

function summary(plan: RunPlan): string {
  const { revision, placement, objects, stages, steps, end, tookMs } = plan;
  const title = refText(plan);
  const gets = stages.filter(({ stage }) => stage !== '(removal)');
  const clusters = gets.reduce((sum, stage) => sum + stage.clusters, 0);
  const leaving = stages.filter(({ stage }) => stage === '(removal)').reduce((sum, stage) => sum + stage.clusters, 0);
  const approvals = steps.filter((step) => step.do === 'gate' && step.type === 'Approval').length;
  const waves = steps.filter((step) => step.do === 'wave').length;
  const what = objects === undefined ? '' : ` (${count(objects, 'object')})`;
  const parts = [
    count(gets.length, 'stage'),
    count(waves, 'wave'),
    ...(approvals === 0 ? [] : [count(approvals, 'approval')]),
  ];
  const out = leaving === 0 ? '' : `, and take it from ${count(leaving, 'cluster')}`;
  const time = steps.length === 0 ? '' : `; ${ENDS[end]} after ${wholeSeconds(tookMs)}`;
  return `${title} would bring revision ${revision} of placement "${placement}"${what} to ${count(clusters, 'cluster')}${out}: ${parts.join(', ')}${time}`;
}

const ENDS: Readonly<Record<RunPlan['end'], string>> = {
  succeeds: 'complete',
  fails: 'it would fail',
  waits: 'it would wait',
  looks: 'it would wait',
  'cannot begin': 'it would fail',
};

function order({ steps, stages }: RunPlan, view: PlanView): readonly string[] {
  const wavesOf = new Map(stages.map(({ stage, waves }) => [stage, waves]));
  const lines: (readonly [number, string])[] = [];
  for (const step of steps) {
    const total = step.do === 'wave' ? (wavesOf.get(step.stage) ?? 0) : 0;
    if (step.do === 'wave' && total > MAX_WAVES && step.number > 2 && step.number < total) {
      if (step.number === 3) lines.push([step.afterMs, `… ${total - 3} more waves of ${step.stage}`]);
      continue;
    }
    lines.push([step.afterMs, stepWords(step, total, view)]);
  }
  const rows = lines.map(([afterMs, words], at) => [`${at + 1}.`.padStart(4), `+${wholeSeconds(afterMs)}`, words]);
  return align(rows.map((cells) => cells.map(plainText))).split('\n');
}

function stepWords(step: PlannedStep, waves: number, { approve }: PlanView): string {
  if (step.do === 'wave') {
    const names = step.clusters.slice(0, MAX_NAMES).join(', ');
    const more = step.clusters.length > MAX_NAMES ? ` and ${step.clusters.length - MAX_NAMES} more` : '';
    return step.removes
      ? `removal: ${names}${more}`
      : `${step.stage}, wave ${step.number} of ${waves}: ${names}${more}`;
  }
  const where = `${step.when} ${step.stage}`;
  return step.type === 'TimedWait'
    ? `${where}: ${step.waitTime} after its last cluster`
    : `${where}: approval of ${step.request}: ${approve(step.stage, step.when)}`;
}

function clusterTable(clusters: readonly PlannedCluster[]): readonly string[] {
  const row = ({ cluster, stage, wave, why, has, counts }: PlannedCluster) => [
    cluster,
    stage,
    wave === undefined ? '-' : String(wave),
    has ?? '-',
    ...(counts === undefined
      ? ['?', '?', '?', '?']
      : [counts.added, counts.changed, counts.removed, counts.unchanged].map(String)),
    why ?? '',
  ];
  const header = ['CLUSTER', 'STAGE', 'WAVE', 'HAS', 'ADDED', 'CHANGED', 'REMOVED', 'UNCHANGED', ''];
  return align([header, ...clusters.map(row)].map((cells) => cells.map(plainText))).split('\n');
}
