// The end of a test run, as lines: what each suite counted and how long it took, the slowest test files, what failed, and the sum.
import { type Failure, type FileDuration, toldOf } from '../failures.ts';

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export interface SuiteResult extends Counts {
  readonly suite: string;
  readonly wallMs: number;
  /** User and system time of the suite's processes, without servers that outlive them; absent = not measured. */
  readonly cpuMs?: number;
  /** Failures, as far as the suite names any. */
  readonly failures: readonly Failure[];
  readonly durations: readonly FileDuration[];
  /** Remarks for docs/proof.md: seeds, sizes. */
  readonly notes?: readonly string[];
}

const MAX_SLOWEST = 10;

export const sum = (all: readonly Counts[]): Counts => ({
  passed: all.reduce((total, each) => total + each.passed, 0),
  failed: all.reduce((total, each) => total + each.failed, 0),
  skipped: all.reduce((total, each) => total + each.skipped, 0),
});

export const inCounts = ({ passed, failed, skipped }: Counts): string =>
  `${passed} passed, ${failed} failed, ${skipped} skipped`;

export function inMinutes(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)}m${String(seconds % 60).padStart(2, '0')}s`;
}

/** Ends with `N passed, N failed, N skipped` alone on the last line: CI reads it. */
export function summary(results: readonly SuiteResult[], wallMs: number): readonly string[] {
  const slowest = results
    .flatMap(({ suite, durations }) => durations.map((each) => ({ ...each, suite })))
    .toSorted((a, b) => b.ms - a.ms)
    .slice(0, MAX_SLOWEST);
  return [
    ...results.flatMap((result) => [
      `suite ${result.suite}: ${inCounts(result)} in ${timesOf(result)}`,
      ...result.failures.map(({ name }) => `  failed: ${name}`),
    ]),
    ...(slowest.length === 0 ? [] : ['slowest test files:']),
    ...slowest.map(({ suite, file, ms }) => `  ${(ms / 1000).toFixed(1).padStart(6)} s  ${suite}: ${file}`),
    `all suites: ${inMinutes(wallMs)}`,
    ...toldOf(results.flatMap(({ failures }) => failures)),
    inCounts(sum(results)),
  ];
}

const timesOf = ({ wallMs, cpuMs }: SuiteResult): string =>
  cpuMs === undefined ? inMinutes(wallMs) : `${inMinutes(wallMs)} (CPU ${inMinutes(cpuMs)})`;
