// A reporter for vitest that keeps what went wrong, in few words, so that it can be said at the very end of a long run: whoever sees only its last
// lines must learn the cause. It also keeps what vitest's own report leaves out: hooks that failed, errors outside of tests, tests that took too long.
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { Reporter, SerializedError, TestModule } from 'vitest/node';

export interface Failure {
  readonly name: string;
  readonly lines: readonly string[];
}

/** How long a test file took, its imports and hooks included. */
export interface FileDuration {
  readonly file: string;
  readonly ms: number;
}

export interface Report {
  readonly failures: readonly Failure[];
  readonly durations: readonly FileDuration[];
}

/** Names the file that the reporter writes its Report to. */
export const REPORT_FILE = 'FLOTILLA_REPORT_FILE';

const MAX_LINES = 8;
const LONGEST_LINE = 400;
const MAX_LISTED = 10;

const LEGEND: readonly string[] = ['- Expected', '+ Received'];

type Thrown = Pick<SerializedError, 'message'> & {
  readonly name?: string;
  readonly diff?: string;
  readonly cause?: unknown;
  readonly stacks?: readonly { readonly file: string; readonly line: number }[];
};

/** What was thrown, where, and in what the two sides differ, without what they share: `-` was expected, `+` was found. */
export function inFewLines({ name, message, diff, cause, stacks = [] }: Thrown, root: string): readonly string[] {
  const [place] = stacks.filter(({ file }) => !file.includes('/node_modules/'));
  const where = place === undefined ? [] : [`at ${relative(root, place.file)}:${place.line}`];
  const title = name === undefined || name === 'Error' || name === 'AssertionError' ? '' : `${name}: `;
  const reason = (cause as Partial<Thrown> | undefined)?.message;
  const said = [
    ...linesOf(`${title}${message}`),
    ...linesOf(diff ?? '').filter((line) => /^[+-] /.test(line) && !LEGEND.includes(line)),
    ...(reason === undefined ? [] : linesOf(`because: ${reason}`)),
  ];
  const room = MAX_LINES - where.length;
  const kept = said.length <= room ? said : [...said.slice(0, room - 1), `... ${said.length - room + 1} lines more`];
  return [...kept.map((line) => (line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE)}...` : line)), ...where];
}

const linesOf = (text: string): readonly string[] =>
  stripVTControlCharacters(text)
    .split('\n')
    .filter((line) => line.trim() !== '');

/** For the end of a run: the first of them with what they said, the others counted. */
export function toldOf(failures: readonly Failure[]): readonly string[] {
  const told = failures
    .slice(0, MAX_LISTED)
    .flatMap(({ name, lines }) => [`failed: ${name}`, ...lines.map((line) => `    ${line}`)]);
  const left = failures.length - MAX_LISTED;
  return left > 0 ? [...told, `and ${left} more`] : told;
}

function failuresIn(module: TestModule, root: string): readonly Failure[] {
  const file = relative(root, module.moduleId);
  const failure = (name: string, errors: readonly SerializedError[]): readonly Failure[] =>
    errors.slice(0, 1).map((error) => ({ name, lines: inFewLines(error as Thrown, root) }));
  return [
    ...failure(file, module.errors()),
    ...[...module.children.allSuites()].flatMap((suite) =>
      failure(`${file}: ${suite.fullName} (before or after its tests)`, suite.errors()),
    ),
    ...[...module.children.allTests('failed')].flatMap((test) =>
      failure(`${file}: ${test.fullName}`, test.result().errors ?? []),
    ),
  ];
}

function durationOf(module: TestModule, root: string): FileDuration {
  const { collectDuration, setupDuration, duration } = module.diagnostic();
  return { file: relative(root, module.moduleId), ms: collectDuration + setupDuration + duration };
}

// biome-ignore lint/style/noDefaultExport: vitest looks for one.
export default class FailureReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const file = process.env[REPORT_FILE];
    if (file === undefined) return;
    const root = process.cwd();
    const loose = unhandled.map((error) => ({ name: 'outside of any test', lines: inFewLines(error as Thrown, root) }));
    const report: Report = {
      failures: [...modules.flatMap((module) => failuresIn(module, root)), ...loose],
      durations: modules.map((module) => durationOf(module, root)),
    };
    writeFileSync(file, JSON.stringify(report));
  }
}
