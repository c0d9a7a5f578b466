// npm run sim -- [--seed N] [--runs K] [--scenario NAME]: plays scenarios with seeds N … N+K-1. Prints what went wrong and how to see it
// again, how often each fault hit each kind of write and watch, and how fast it was. Ends with 1 if a run failed, or if `--cells` was
// given and a fault never hit something that it could have hit.
import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { messageOf, UserError } from '../base/errors.ts';
import type { Failure } from '../sim/check.ts';
import { faultsOf } from '../sim/faults.ts';
import { Matrix } from '../sim/matrix.ts';
import { play, type Scenario } from '../sim/scenario.ts';
import { scenarios } from './simulation/scenarios.ts';

const USAGE = `usage: npm run sim -- [options]
  --seed N         the first seed (1)
  --runs K         how many seeds (100)
  --scenario NAME  which scenario, may be given again (all): ${scenarios.map(({ name }) => name).join(', ')}
  --calm           no faults: only the order of events is chosen by the seed
  --cells          fail if a fault never hit a kind of write or watch that it could have hit
  --first          stop at the first failure
  --trace          print everything that happens
  --hashes         print the hash of each run`;

interface Options {
  readonly seed: number;
  readonly runs: number;
  readonly chosen: readonly Scenario[];
  readonly flags: Readonly<Record<'calm' | 'cells' | 'first' | 'trace' | 'hashes', boolean>>;
}

function optionsFrom(args: readonly string[]): Options {
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: 'string', default: '1' },
      runs: { type: 'string', default: '100' },
      scenario: { type: 'string', multiple: true, default: [] },
      calm: flag,
      cells: flag,
      first: flag,
      trace: flag,
      hashes: flag,
    },
  });
  const names = values.scenario;
  const unknown = names.find((name) => !scenarios.some((scenario) => scenario.name === name));
  if (unknown !== undefined) throw new UserError('Usage', `there is no scenario "${unknown}"`);
  return {
    seed: wholeNumber('--seed', values.seed),
    runs: wholeNumber('--runs', values.runs),
    chosen: names.length === 0 ? scenarios : scenarios.filter(({ name }) => names.includes(name)),
    flags: values,
  };
}

function wholeNumber(option: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new UserError('Usage', `${option} takes a whole number, not "${text}"`);
  return Number(text);
}

/** Which code was run; says so when files differ from it. */
function commitHash(): string {
  const git = (...args: string[]) =>
    execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  try {
    const isClean = git('status', '--porcelain', '--untracked-files=no', '--', 'src').trim() === '';
    return `${git('rev-parse', '--short', 'HEAD').trim()}${isClean ? '' : ' with local changes'}`;
  } catch {
    return 'unknown';
  }
}

/** True when all runs went well. */
async function playAll(scenario: Scenario, { seed: first, runs, flags }: Options, matrix: Matrix): Promise<boolean> {
  const begun = performance.now();
  let steps = 0;
  let failed = 0;
  let played = 0;
  let shownAt = begun;
  for (let seed = first; seed < first + runs; seed++) {
    const onLine = flags.trace ? { onLine: (line: string) => console.log(line) } : {};
    const result = await play(scenario, { seed, isCalm: flags.calm, ...onLine });
    played++;
    steps += result.steps;
    matrix.add(result.matrix);
    if (flags.hashes) console.log(`${scenario.name} ${seed} ${result.hash}`);
    if (result.failure) {
      failed++;
      printFailure(scenario, result.failure);
      if (flags.first) break;
    }
    if (performance.now() - shownAt > 5_000) {
      shownAt = performance.now();
      console.log(`${scenario.name}: ${played} of ${runs} runs, ${failed} failed`);
    }
  }
  const seconds = (performance.now() - begun) / 1000;
  const perSecond = (count: number) => (count / seconds).toFixed(count / seconds < 10 ? 1 : 0);
  console.log(
    `${scenario.name}: ${played} runs, ${steps} steps, ${failed} failed (${perSecond(played)} runs/s, ${perSecond(steps)} steps/s)`,
  );
  return failed === 0;
}

function printFailure(scenario: Scenario, failure: Failure): void {
  const { checker, message, seed, step, simulatedMs, lines } = failure;
  console.log(`FAILED ${scenario.name} with seed ${seed} at commit ${commitHash()}, step ${step}, +${simulatedMs} ms`);
  console.log(`  ${checker}: ${message}`);
  for (const line of lines) console.log(`    ${line}`);
  console.log(`  again: npm run sim -- --scenario ${scenario.name} --seed ${seed} --runs 1 --trace`);
}

async function main(): Promise<number> {
  const options = optionsFrom(process.argv.slice(2));
  let isGreen = true;
  const matrix = new Matrix();
  for (const scenario of options.chosen) {
    if (!(await playAll(scenario, options, matrix))) isGreen = false;
  }
  if (!options.flags.calm) {
    console.log('how often each fault hit each kind of write and each watch:');
    for (const line of matrix.toLines(faultsOf)) console.log(`  ${line}`);
    const zeros = matrix.zeros(faultsOf);
    if (zeros.length > 0) console.log(`never hit: ${zeros.join('; ')}`);
    if (options.flags.cells && zeros.length > 0) isGreen = false;
  }
  return isGreen ? 0 : 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  const isUsage = error instanceof UserError || (error instanceof TypeError && 'code' in error);
  console.error(isUsage ? `error: ${messageOf(error)}\n${USAGE}` : error);
  process.exitCode = 2;
}
