// The suites: what each runs, in which lane, and how its result is counted. `check` counts types and lint, `sim` scenarios of the
// simulation, `mutants` broken programs that the simulation must notice; every other suite is a vitest project.
import { existsSync, readFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Report } from '../failures.ts';
import { REPORT_FILE } from '../failures.ts';
import { isFull, testSeed } from './depth.ts';
import { type Command, type Ended, runCommand } from './process.ts';
import { type Counts, type SuiteResult, sum } from './summary.ts';

/** CPU-bound suites run beside those that mostly wait for other processes. */
export type Lane = 'cpu' | 'wait';

const LANES: Readonly<Record<string, Lane>> = {
  check: 'cpu',
  unit: 'cpu',
  scenarios: 'cpu',
  sim: 'cpu',
  mutants: 'cpu',
  wire: 'wait',
  kube: 'wait',
  judge: 'wait',
};

export const SUITES: readonly string[] = Object.keys(LANES);

export const laneOf = (suite: string): Lane => LANES[suite] ?? 'cpu';

/** Steps back for the tests in the other lane, which have real time limits. */
const CPU_NICENESS = 5;

const tsx = (file: string, ...args: readonly string[]): Command => ({
  program: process.execPath,
  args: ['--import', 'tsx', file, ...args],
});

const vitest = (project: string, file: string): Command => ({
  program: 'npx',
  args: [
    ...['vitest', 'run', '--project', project, '--reporter=default', '--reporter=json'],
    ...['--reporter=./scripts/failures.ts', `--outputFile.json=${file}`],
  ],
  env: { ...unusual(), [REPORT_FILE]: reportOf(file) },
});

const NOWHERE = join(tmpdir(), 'flotilla-test-has-no-such-file');

/** No test may depend on these, so they are never what a developer has. */
export const unusual = (env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv => ({
  TZ: 'Asia/Kathmandu',
  LANG: 'C',
  LC_ALL: 'C',
  KUBECONFIG: join(NOWHERE, 'kubeconfig'),
  HOME: join(NOWHERE, 'home'),
  // Programs that tests need are built once: their cache, and those of npm and Go, stay where they are.
  XDG_CACHE_HOME: env['XDG_CACHE_HOME'] || join(homedir(), '.cache'),
  npm_config_cache: env['npm_config_cache'] || join(homedir(), '.npm'),
  GOPATH: env['GOPATH'] || join(homedir(), 'go'),
  GOENV: env['GOENV'] || join(env['XDG_CONFIG_HOME'] || join(homedir(), '.config'), 'go', 'env'),
});

const reportOf = (file: string): string => `${file}.report`;

/** The commands of a suite. Each writes its counts to `file`, but for those of `check`, which count one each. */
function commandsOf(suite: string, file: string): readonly Command[] {
  switch (suite) {
    case 'check':
      return [
        { program: 'npx', args: ['tsc', '--noEmit', '-p', '.'] },
        { program: 'npx', args: ['biome', 'check', '--error-on-warnings', '.'] },
      ];
    case 'sim':
      return [tsx('test/simulation/run.ts', ...(isFull ? ['--ci'] : GATE_SIMULATION), '--jobs', '2', '--counts', file)];
    case 'mutants':
      return [tsx('test/simulation/mutants/run.ts', ...(isFull ? ['--record'] : GATE_MUTANTS), '--counts', file)];
    default:
      return [vitest(suite, file)];
  }
}

const GATE_SIMULATION: readonly string[] = ['--for', '180', '--seed', String(testSeed)];
const GATE_MUTANTS: readonly string[] = ['--changed', '--for', '240'];

export interface Place {
  /** For files of this run. */
  readonly folder: string;
  /** Whether another lane prints at the same time. */
  readonly isShared: boolean;
}

export async function runSuite(suite: string, { folder, isShared }: Place): Promise<SuiteResult> {
  const file = join(folder, `${suite}.json`);
  const ended: Ended[] = [];
  for (const [index, command] of commandsOf(suite, file).entries())
    ended.push(
      await runCommand(command, {
        ...(isShared ? { prefix: `${suite.padEnd(9)} | ` } : {}),
        ...(isShared && laneOf(suite) === 'cpu' ? { niceness: CPU_NICENESS } : {}),
        timesFile: join(folder, `${suite}.${index}.times`),
      }),
    );
  const report = reportIn(reportOf(file));
  const cpuMs = ended.reduce((total, each) => total + (each.cpuMs ?? 0), 0);
  return {
    suite,
    ...judged(suite, suite === 'check' ? sum(ended.map(({ isGreen }) => one(isGreen))) : countsIn(file), ended),
    wallMs: ended.reduce((total, each) => total + each.wallMs, 0),
    ...(cpuMs > 0 ? { cpuMs } : {}),
    failures: report.failures,
    durations: report.durations,
    notes: notesIn(file),
  };
}

const one = (isGreen: boolean): Counts => ({ passed: isGreen ? 1 : 0, failed: isGreen ? 0 : 1, skipped: 0 });

/** A green run must mean that something was seen to work. */
function judged(suite: string, counts: Counts, ended: readonly Ended[]): Counts {
  // A suite can fail without a failed test: an error outside of tests, a file that does not load.
  if (counts.failed === 0 && ended.some(({ isGreen }) => !isGreen)) return { ...counts, failed: 1 };
  // Outside of CI a suite whose tools are missing is skipped, visibly.
  const isEmpty = counts.passed === 0 && counts.failed === 0;
  if (isEmpty && (counts.skipped === 0 || process.env['CI'] !== undefined)) {
    console.error(`suite ${suite}: no test ran`);
    return { ...counts, failed: 1 };
  }
  return counts;
}

function countsIn(file: string): Counts {
  const result = jsonIn(file) as Record<string, number> | undefined;
  return {
    passed: result?.['numPassedTests'] ?? 0,
    failed: result?.['numFailedTests'] ?? 0,
    skipped: (result?.['numPendingTests'] ?? 0) + (result?.['numTodoTests'] ?? 0),
  };
}

const notesIn = (file: string): readonly string[] =>
  (jsonIn(file) as { readonly notes?: readonly string[] } | undefined)?.notes ?? [];

const reportIn = (file: string): Report => (jsonIn(file) as Report | undefined) ?? { failures: [], durations: [] };

function jsonIn(file: string): unknown {
  if (!existsSync(file)) return undefined;
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}
