// Renders an explanation: at most two lines about what blocks, then the chain of evidence, then the next steps. Pure.
import { shortDuration } from '../../base/age.ts';
import { type Cause, type Explanation, lasting } from '../../insight/explain/explanation.ts';
import { plainText, wrapped } from '../../insight/plain-text.ts';

/** `columns`: the width of the terminal, if there is one. */
export function renderWhy(explanation: Explanation, now: number, columns = Number.POSITIVE_INFINITY): string {
  const { sentence, root, label, since, causes, next, notes } = explanation;
  const [first = '', ...second] = [
    ...(root === undefined ? [] : [root]),
    `${sentence}${lasting(since, now) === '' ? '' : ` (${lasting(since, now)})`}`,
  ];
  return [
    label === undefined || label === 'Waits' ? first : `${label}: ${first}`,
    ...second,
    ...section(
      'Evidence',
      causes.flatMap((cause, at) => causeLines(cause, at + 1, sentence, now)),
    ),
    ...section(
      'What you can do',
      next.map((each) => `  - ${each}`),
    ),
    ...section(
      'Note',
      notes.map((each) => `  - ${each}`),
    ),
  ]
    .flatMap((line) => wrapped(plainText(line), columns - 1))
    .join('\n');
}

const section = (title: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : ['', `${title}:`, ...lines];

function causeLines(cause: Cause, number: number, top: string, now: number): readonly string[] {
  const { code, since, until, waiting, evidence } = cause;
  const isOnTop = [cause.sentence, cause.brief].some((each) => each !== undefined && top.endsWith(each));
  const facts = [
    ...(code === undefined ? [] : [code]),
    ...[lasting(since, now)].filter((each) => each !== ''),
    ...(until === undefined ? [] : [`ends by itself in ${shortDuration(Math.max(0, until - now))}`]),
  ].join(', ');
  // The first line already contains all of it.
  if (isOnTop && code === undefined && evidence.length === 0 && waiting === undefined) return [];
  const head = [
    ...(isOnTop ? [] : [cause.sentence]),
    ...(facts === '' ? [] : [facts]),
    ...(waiting === undefined ? [] : [whoWaits(waiting)]),
  ];
  const lines = [...head, ...evidence.flatMap(({ about, says }) => [about, ...says.map((line) => `  ${line}`)])];
  return lines.map((line, at) => `${at === 0 ? `${number}.`.padStart(4) : '    '} ${line}`);
}

function whoWaits({ count, clusters }: NonNullable<Cause['waiting']>): string {
  const more = count > clusters.length ? `, and ${count - clusters.length} more` : '';
  return `${count} ${count === 1 ? 'cluster waits' : 'clusters wait'}: ${clusters.join(', ')}${more}`;
}
