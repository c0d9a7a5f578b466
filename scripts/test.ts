// Runs the named suites one after the other and ends with one line that sums them: `N passed, N failed, N skipped`.
//   node --import tsx scripts/test.ts check unit wire judge sim mutants
// `check` counts types and lint, `sim` scenarios of the simulation, `mutants` what it must notice; every other suite is a project of vitest.
// Before that line it says why the first of those that failed did, for whoever sees no more than the end of it.
// A suite that ran nothing has failed, unless all of it was skipped outside of CI: a green run must mean that something was seen to work.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FAILURES_FILE, type Failure, toldOf } from './failures.ts';

interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Those that failed, as far as the suite names any. */
  readonly red?: readonly Failure[];
}

const folder = mkdtempSync(join(tmpdir(), 'flotilla-test-'));

const run = (program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): boolean =>
  spawnSync(program, args, { stdio: 'inherit', env: { ...process.env, ...env } }).status === 0;

const one = (isGreen: boolean): Counts => ({ passed: isGreen ? 1 : 0, failed: isGreen ? 0 : 1, skipped: 0 });

const sum = (all: readonly Counts[]): Counts => ({
  passed: all.reduce((total, each) => total + each.passed, 0),
  failed: all.reduce((total, each) => total + each.failed, 0),
  skipped: all.reduce((total, each) => total + each.skipped, 0),
});

function check(): Counts {
  return sum([
    one(run('npx', ['tsc', '--noEmit', '-p', '.'])),
    one(run('npx', ['biome', 'check', '--error-on-warnings', '.'])),
  ]);
}

const simulation = (file: string): boolean =>
  run('node', ['--import', 'tsx', 'src/main/sim.ts', '--ci', '--jobs', '2', '--counts', file]);

const mutants = (file: string): boolean =>
  run('node', ['--import', 'tsx', 'test/simulation/mutants/run.ts', '--counts', file]);

const vitest = (project: string, file: string): boolean =>
  run(
    'npx',
    [
      'vitest',
      'run',
      '--project',
      project,
      '--reporter=default',
      '--reporter=json',
      '--reporter=./scripts/failures.ts',
      `--outputFile.json=${file}`,
    ],
    { [FAILURES_FILE]: failuresOf(file) },
  );

const failuresOf = (file: string): string => `${file}.failures`;

function counted(suite: string): Counts {
  if (suite === 'check') return check();
  const file = join(folder, `${suite}.json`);
  const isGreen = suite === 'sim' ? simulation(file) : suite === 'mutants' ? mutants(file) : vitest(suite, file);
  const counts = countsIn(file);
  // A suite can fail without a failed test: an error outside of tests, a file that does not load.
  if (!isGreen && counts.failed === 0) return { ...counts, failed: 1 };
  // Outside of CI a suite whose tools are missing is skipped, visibly.
  if (counts.passed === 0 && (counts.skipped === 0 || process.env['CI'] !== undefined)) {
    console.error(`suite ${suite}: no test ran`);
    return { ...counts, failed: Math.max(1, counts.failed) };
  }
  return counts;
}

function countsIn(file: string): Counts {
  try {
    const result = JSON.parse(readFileSync(file, 'utf8')) as Record<string, number>;
    return {
      passed: result['numPassedTests'] ?? 0,
      failed: result['numFailedTests'] ?? 0,
      skipped: (result['numPendingTests'] ?? 0) + (result['numTodoTests'] ?? 0),
      red: existsSync(failuresOf(file)) ? JSON.parse(readFileSync(failuresOf(file), 'utf8')) : [],
    };
  } catch {
    return { passed: 0, failed: 0, skipped: 0 };
  }
}

try {
  const suites = process.argv.slice(2);
  const results = suites.map((suite) => ({ suite, counts: counted(suite) }));
  for (const { suite, counts } of results) {
    console.log(`suite ${suite}: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
    for (const { name } of counts.red ?? []) console.log(`  failed: ${name}`);
  }
  for (const line of toldOf(results.flatMap(({ counts }) => counts.red ?? []))) console.log(line);
  const total = sum(results.map(({ counts }) => counts));
  console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
  process.exitCode = total.failed > 0 || suites.length === 0 ? 1 : 0;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
