// Renders what the rollout of a placement would do. Pure.
import { sentenceOf } from '../../api/hold.ts';
import { refText } from '../../api/object.ts';
import { formatDuration } from '../../base/duration.ts';
import type { Counts } from '../../insight/forecast/content-diff.ts';
import type { ClusterDuration } from '../../insight/forecast/duration.ts';
import type { PlannedChange } from '../../insight/forecast/planned-changes.ts';
import type { RolloutForecast } from '../../insight/forecast/rollout-forecast.ts';
import { plainText } from '../../insight/plain-text.ts';
import { align } from '../terminal/format-table.ts';

export interface RolloutPlan extends RolloutForecast, ClusterDuration {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  readonly strategy: string;
  readonly revision: string;
  /** The present or given selection becomes a new revision. */
  readonly isNewRevision: boolean;
  /** For each present revision of the clusters: the changes in numbers, and on how many clusters. */
  readonly changes: readonly PlannedChange[];
  readonly notes: readonly string[];
}

const MAX_NAMES = 8;
const MAX_WAVES = 20;
const MAX_HOLDS = 3;

const count = (number: number, thing: string): string => `${number} ${thing}${number === 1 ? '' : 's'}`;
const time = (ms: number): string => formatDuration(Math.floor(ms / 1000) * 1000);

export function renderRolloutPlan(plan: RolloutPlan, full: boolean): string {
  return [
    summary(plan),
    ...changes(plan, full),
    ...partitions(plan),
    ...waves(plan),
    ...holds(plan),
    ...(plan.notes.length === 0 ? [] : ['', 'Note:', ...plan.notes.map((each) => `  - ${each}`)]),
    '',
    `Assumed: ${assumed(plan)}, unreachable clusters stay unreachable, and the fleet does not change. Nothing was written.`,
  ]
    .map(plainText)
    .join('\n');
}

export const assumed = ({ durationFrom, durationMs }: ClusterDuration): string =>
  durationFrom === 'unknown'
    ? 'a cluster is available at once (no history; give --duration)'
    : `a cluster is available after ${time(durationMs)} (${durationFrom === 'given' ? 'given' : 'the median of this placement'})`;

function summary(plan: RolloutPlan): string {
  const { waves: all, revision, isNewRevision, strategy, end, tookMs } = plan;
  const moved = new Set(all.filter(({ removes }) => !removes).flatMap(({ clusters }) => clusters)).size;
  const title = `${refText(plan)}, ${strategy}: revision ${revision}${isNewRevision ? ' (new)' : ''}`;
  if (all.length === 0) return `${title}: no cluster changes`;
  const ends = end === 'completes' ? `complete after ${time(tookMs)}` : `it would wait after ${time(tookMs)}`;
  return `${title} reaches ${count(moved, 'cluster')} in ${count(all.length, 'wave')}; ${ends}`;
}

export function changes(plan: { readonly changes: readonly PlannedChange[] }, full: boolean): readonly string[] {
  const lines = plan.changes.flatMap(({ has, clusters, counts, diff = [] }) => [
    `  ${count(clusters, 'cluster')} with ${has === '' ? 'nothing yet' : has}: ${counts === undefined ? 'the content could not be read' : inWords(counts)}`,
    ...(full
      ? diff.flatMap(({ object, change, fields }) => [
          `    ${object} ${change}`,
          ...fields.map((each) => `      ${each}`),
        ])
      : []),
  ]);
  return lines.length === 0 ? [] : ['', 'Change:', ...lines];
}

const inWords = ({ added, changed, removed, unchanged }: Counts): string =>
  `${added} added, ${changed} changed, ${removed} removed, ${unchanged} unchanged`;

function partitions({ partitions: all }: RolloutPlan): readonly string[] {
  if (all.length === 0) return [];
  const rows = all.map(({ name, clusters, maxUnavailable }) => [name, String(clusters.length), String(maxUnavailable)]);
  return ['', ...align([['PARTITION', 'CLUSTERS', 'MAX UNAVAILABLE'], ...rows]).split('\n')];
}

function waves({ waves: all }: RolloutPlan): readonly string[] {
  if (all.length === 0) return [];
  const rows = all.slice(0, MAX_WAVES).map(({ clusters, removes, afterMs, partitions: names = [] }, at) => {
    const rest = clusters.length - MAX_NAMES;
    const list = `${clusters.slice(0, MAX_NAMES).join(', ')}${rest > 0 ? `, and ${rest} more` : ''}`;
    const where = names.length === 0 ? '' : ` (${names.join(', ')})`;
    return [String(at + 1), time(afterMs), String(clusters.length), `${removes ? 'remove from ' : ''}${list}${where}`];
  });
  const rest = all.length - MAX_WAVES;
  return [
    '',
    ...align([['WAVE', 'AFTER', 'CLUSTERS', 'WHICH'], ...rows]).split('\n'),
    ...(rest > 0 ? [`and ${count(rest, 'wave')} more, the last after ${time(all.at(-1)?.afterMs ?? 0)}`] : []),
  ];
}

function holds({ end, holds: last }: RolloutPlan): readonly string[] {
  if (end === 'completes') return [];
  const sentences = [...new Set(last.map(sentenceOf))];
  const rest = sentences.length - MAX_HOLDS;
  return [
    '',
    'It would wait:',
    ...sentences.slice(0, MAX_HOLDS).map((each) => `  - ${each}`),
    ...(rest > 0 ? [`  - and ${rest} more`] : []),
  ];
}
