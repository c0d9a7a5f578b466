// An explanation as people read it: one sentence, then the chain of evidence, then what can be done. Pure.
import { shortDuration } from '../base/age.ts';
import { type Cause, type Explanation, lasting } from '../insight/explain/explanation.ts';
import { plainText, wrapped } from '../insight/plain-text.ts';

/** `columns`: of the terminal, if there is one. The root cause comes first: it is what a person looks for. */
export function renderWhy(explanation: Explanation, now: number, columns = Number.POSITIVE_INFINITY): string {
  const { sentence, root, since, causes, next, notes } = explanation;
  return [
    ...(root === undefined ? [] : [root]),
    `${sentence}${lasting(since, now) === '' ? '' : ` (${lasting(since, now)})`}`,
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
  const { code, sentence, since, until, waiting, evidence } = cause;
  const facts = [
    ...(code === undefined ? [] : [code]),
    ...[lasting(since, now)].filter((each) => each !== ''),
    ...(until === undefined ? [] : [`ends by itself in ${shortDuration(Math.max(0, until - now))}`]),
  ].join(', ');
  // Without a code, evidence or anybody who waits there is nothing that the sentence has not said.
  if (top.endsWith(sentence) && code === undefined && evidence.length === 0 && waiting === undefined) return [];
  const head = [
    // The first sentence of all is not said again.
    ...(top.endsWith(sentence) ? [] : [sentence]),
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
