// Renders the overview of a fleet: a headline, then tables of members with problems, placements and runs. Pure.
import { shortDuration } from '../../base/age.ts';
import { kubeTime } from '../../base/clock.ts';
import { plainText, shortened } from '../../insight/plain-text.ts';
import type { FreezeRow, MemberRow, Overview, PlacementRow, RunRow } from '../../insight/progress/overview.ts';
import { align } from '../terminal/format-table.ts';

export interface OverviewView {
  readonly now: number;
  /** All members, and full messages. */
  readonly wide: boolean;
}

const MAX_MESSAGE = 100;

export function renderOverview(overview: Overview, view: OverviewView): string {
  const { members, placements, runs, freezes, unread } = overview;
  const listed = view.wide ? members : members.filter(({ state }) => state !== 'Ready');
  return [
    overviewHeadline(overview),
    ...section(memberTable(listed, view)),
    ...section(freezeTable(freezes, view)),
    ...section(placementTable(placements, view)),
    ...section(runTable(runs, view)),
    ...(unread.length === 0 ? [] : ['', ...unread.map((each) => `Note: ${each}`)]),
    ...pointers(overview),
  ]
    .map(plainText)
    .join('\n');
}

export function overviewHeadline({ members, placements, runs, freezes }: Overview): string {
  const count = (n: number, one: string) => `${n} ${n === 1 ? one : `${one}s`}`;
  const of = <Row extends { readonly state: string }>(rows: readonly Row[], ...states: readonly string[]) =>
    rows.filter(({ state }) => states.includes(state)).length;
  const troubled = of(placements, 'Failing', 'Blocked');
  return [
    `${count(members.length, 'member')}, ${of(members, 'Ready')} ready`,
    `${count(placements.length, 'placement')}, ${of(placements, 'Complete')} complete${troubled === 0 ? '' : `, ${troubled} failing or blocked`}`,
    `${count(runs.length, 'open or failed run')}`,
    ...(freezes.length === 0 ? [] : [count(freezes.length, 'freeze')]),
  ].join('; ');
}

const section = (rows: readonly (readonly string[])[]): readonly string[] =>
  rows.length < 2 ? [] : ['', ...align(rows.map((row) => row.map(plainText))).split('\n')];

const since = (row: { readonly since?: number }, { now }: OverviewView): string =>
  row.since === undefined ? '-' : shortDuration(Math.max(0, now - row.since));

const message = (text: string, { wide }: OverviewView): string => (wide ? text : shortened(text, MAX_MESSAGE));

const named = ({ name, namespace }: { readonly name: string; readonly namespace?: string }): string =>
  namespace === undefined ? name : `${namespace}/${name}`;

const memberTable = (rows: readonly MemberRow[], view: OverviewView) => [
  ['MEMBER', 'STATE', 'FOR', 'MESSAGE'],
  ...rows.map((row) => [row.name, row.state, since(row, view), message(row.message, view)]),
];

const freezeTable = (rows: readonly FreezeRow[], view: OverviewView) => [
  ['FREEZE', 'COVERS', 'UNTIL', 'BY (NOT VERIFIED)', 'FOR', 'REASON'],
  ...rows.map((row) => [
    row.name,
    row.scope,
    row.until === undefined ? 'unfreeze' : kubeTime(row.until),
    row.by === '' ? '-' : row.by,
    since(row, view),
    message(row.reason, view),
  ]),
];

const placementTable = (rows: readonly PlacementRow[], view: OverviewView) => [
  ['PLACEMENT', 'STATE', 'STRATEGY', 'REVISION', 'DONE', 'BLOCKED', 'FOR', 'MESSAGE'],
  ...rows.map((row) => [
    named(row),
    row.state,
    row.strategy,
    row.revision === '' ? '-' : row.revision,
    `${row.done}/${row.total}`,
    String(row.blocked),
    since(row, view),
    message(row.message, view),
  ]),
];

const runTable = (rows: readonly RunRow[], view: OverviewView) => [
  ['RUN', 'STATE', 'PLACEMENT', 'REVISION', 'DONE', 'STAGE', 'GATE', 'FOR', 'MESSAGE'],
  ...rows.map((row) => [
    named(row),
    row.state,
    row.placement,
    row.revision === '' ? '-' : row.revision,
    `${row.done}/${row.total}`,
    row.stage === '' ? '-' : row.stage,
    row.gate === '' ? '-' : row.gate,
    since(row, view),
    message(row.message, view),
  ]),
];

/** The commands that explain the most urgent rows. */
function pointers({ placements, runs }: Overview): readonly string[] {
  const [placement] = placements;
  const [run] = runs;
  const flag = (namespace: string | undefined) => (namespace === undefined ? '' : ` -n ${namespace}`);
  const lines = [
    ...(placement === undefined || placement.state === 'Complete'
      ? []
      : [`Why: flotilla why placement/${placement.name}${flag(placement.namespace)}`]),
    ...(run === undefined ? [] : [`Run: flotilla run show ${run.name}${flag(run.namespace)}`]),
  ];
  return lines.length === 0 ? [] : ['', ...lines];
}

/** The changes line by line, for logs. */
export function renderOverviewChanges(before: Overview | undefined, after: Overview): readonly string[] {
  const lines = (overview: Overview | undefined) => [
    ...(overview?.members ?? []).map((row) => `member ${row.name}: ${row.state}`),
    ...(overview?.freezes ?? []).map((row) => `freeze ${row.name}: ${row.scope}: ${row.reason}`),
    ...(overview?.placements ?? []).map(
      (row) =>
        `placement ${named(row)}: ${row.state}, revision ${row.revision || '-'}, ${row.done} of ${row.total} done`,
    ),
    ...(overview?.runs ?? []).map(
      (row) =>
        `run ${named(row)}: ${row.state}, ${row.done} of ${row.total} done${row.stage === '' ? '' : `, stage ${row.stage}`}`,
    ),
  ];
  const known = new Set(lines(before));
  const news = lines(after).filter((line) => !known.has(line));
  return [...news, ...(before === undefined ? [overviewHeadline(after)] : [])].map(plainText);
}
