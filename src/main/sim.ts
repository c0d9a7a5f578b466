// npm run sim -- [--seed N] [--runs K] [--scenario NAME]: plays scenarios with seeds N … N+K-1. Prints what went wrong and how to see it
// again, how often each fault hit each kind of write and watch, and how fast it was.
//
// Ends with 0 if all went well, with 1 if a run failed or, with `--ci`, if a fault never hit something that it could have hit, and with 2
// if it was called wrongly.
import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { messageOf, UserError } from '../base/errors.ts';
import type { Failure } from '../sim/check.ts';
import { faultsOf } from '../sim/faults.ts';
import { type Entry, Matrix } from '../sim/matrix.ts';
import { play, type Scenario } from '../sim/scenario.ts';
import { scenarios } from './simulation/scenarios.ts';

const USAGE = `usage: npm run sim -- [options]
  --seed N         the first seed (1)
  --runs K         how many seeds of each scenario (100; with --ci what the scenario says)
  --scenario NAME  which scenario, may be given again (all): ${scenarios.map(({ name }) => name).join(', ')}
  --jobs N         processes side by side (1)
  --ci             fail if a fault never hit a kind of write or watch that it could have hit
  --calm           no faults: only the order of events is chosen by the seed
  --first          stop a scenario at its first failure
  --trace          print everything that happens
  --hashes         print the hash of each run
  --counts FILE    write how many scenarios passed and failed`;

interface Options {
  readonly seed: number;
  readonly runs: number | undefined;
  readonly jobs: number;
  /** Of several processes this one plays every `of`-th seed, beginning with the `part`-th. */
  readonly share: { readonly part: number; readonly of: number };
  readonly chosen: readonly Scenario[];
  readonly counts: string | undefined;
  readonly flags: Readonly<Record<'ci' | 'calm' | 'first' | 'trace' | 'hashes' | 'help', boolean>>;
}

function optionsFrom(args: readonly string[]): Options {
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: 'string', default: '1' },
      runs: { type: 'string' },
      jobs: { type: 'string', default: '1' },
      share: { type: 'string', default: '0/1' },
      scenario: { type: 'string', multiple: true, default: [] },
      counts: { type: 'string' },
      ci: flag,
      calm: flag,
      first: flag,
      trace: flag,
      hashes: flag,
      help: flag,
    },
  });
  const names = values.scenario;
  const unknown = names.find((name) => !scenarios.some((scenario) => scenario.name === name));
  if (unknown !== undefined) {
    const known = scenarios.map(({ name }) => name).join(', ');
    throw new UserError('Usage', `there is no scenario "${unknown}", only ${known}`);
  }
  const [part = '', of = ''] = values.share.split('/');
  return {
    seed: wholeNumber('--seed', values.seed, 0),
    runs: values.runs === undefined ? undefined : wholeNumber('--runs', values.runs, 1),
    jobs: wholeNumber('--jobs', values.jobs, 1),
    share: { part: wholeNumber('--share', part, 0), of: wholeNumber('--share', of, 1) },
    chosen:
      names.length === 0
        ? scenarios.filter(({ ciRuns }) => !values.ci || ciRuns > 0)
        : scenarios.filter(({ name }) => names.includes(name)),
    counts: values.counts,
    flags: values,
  };
}

function wholeNumber(option: string, text: string, least: number): number {
  if (/^\d{1,9}$/.test(text) && Number(text) >= least) return Number(text);
  throw new UserError('Usage', `${option} takes a whole number from ${least} on, not "${text}"`);
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

// ---- playing

/** What came of a scenario, in a form that goes from one process to another. */
interface Tally {
  readonly name: string;
  readonly played: number;
  readonly steps: number;
  readonly failed: number;
  readonly seconds: number;
  readonly matrix: readonly Entry[];
}

async function playAll(scenario: Scenario, { seed: first, runs, share, flags }: Options): Promise<Tally> {
  const { name } = scenario;
  const begun = performance.now();
  const matrix = new Matrix();
  const last = first + (runs ?? (flags.ci ? scenario.ciRuns : 100)) - 1;
  let steps = 0;
  let failed = 0;
  let played = 0;
  let shownAt = begun;
  for (let seed = first + share.part; seed <= last; seed += share.of) {
    const onLine = flags.trace ? { onLine: (line: string) => console.log(line) } : {};
    const result = await play(scenario, { seed, isCalm: flags.calm, ...onLine });
    played++;
    steps += result.steps;
    matrix.add(result.matrix);
    if (flags.hashes) console.log(`${name} ${seed} ${result.hash}`);
    if (result.failure) {
      failed++;
      printFailure(scenario, result.failure, flags.calm);
      if (flags.first) break;
    }
    if (performance.now() - shownAt > 5_000) {
      shownAt = performance.now();
      console.log(`${name}: at seed ${seed} of ${last}, ${failed} failed`);
    }
  }
  return { name, played, steps, failed, seconds: (performance.now() - begun) / 1000, matrix: matrix.toEntries() };
}

function printFailure({ name }: Scenario, failure: Failure, isCalm: boolean): void {
  const { checker, message, seed, step, simulatedMs, lines } = failure;
  console.log(`FAILED ${name} with seed ${seed} at commit ${commitHash()}, step ${step}, +${simulatedMs} ms`);
  console.log(`  ${checker}: ${message}`);
  for (const line of lines) console.log(`    ${line}`);
  console.log(`  again: npm run sim -- --scenario ${name} --seed ${seed} --runs 1 --trace${isCalm ? ' --calm' : ''}`);
}

/** The same scenarios in several processes, each with its share of the seeds. */
async function playSideBySide(jobs: number): Promise<readonly Tally[]> {
  const shares = Array.from({ length: jobs }, async (_, part): Promise<readonly Tally[]> => {
    const child = fork(import.meta.filename, [...process.argv.slice(2), '--share', `${part}/${jobs}`]);
    const tallies: Tally[] = [];
    child.on('message', (tally) => tallies.push(tally as Tally));
    const [code] = await once(child, 'exit');
    if (code !== 0) throw new Error(`a process ended with ${code}`);
    return tallies;
  });
  return (await Promise.all(shares)).flat();
}

// ---- telling

function summed(name: string, tallies: readonly Tally[]): Tally {
  const own = tallies.filter((tally) => tally.name === name);
  const sum = (field: 'played' | 'steps' | 'failed') => own.reduce((total, each) => total + each[field], 0);
  const seconds = Math.max(...own.map((each) => each.seconds));
  const matrix = own.flatMap((each) => each.matrix);
  return { name, played: sum('played'), steps: sum('steps'), failed: sum('failed'), seconds, matrix };
}

function printResult({ name, played, steps, failed, seconds }: Tally): void {
  const perSecond = (count: number) => (count / seconds).toFixed(count / seconds < 10 ? 1 : 0);
  console.log(
    `${name}: ${played} runs, ${steps} steps, ${failed} failed (${perSecond(played)} runs/s, ${perSecond(steps)} steps/s)`,
  );
}

/** True if every fault hit everything that it could have hit. */
function printMatrix(tallies: readonly Tally[]): boolean {
  const all = Matrix.from(tallies.flatMap(({ matrix }) => matrix));
  console.log('how often each fault hit each kind of write and each watch:');
  for (const line of all.toLines(faultsOf)) console.log(`  ${line}`);
  const zeros = all.zeros(faultsOf);
  if (zeros.length > 0) console.log(`never hit: ${zeros.join('; ')}`);
  return zeros.length === 0;
}

async function main(): Promise<number> {
  const options = optionsFrom(process.argv.slice(2));
  const { flags, chosen, share, jobs } = options;
  if (flags.help) {
    console.log(USAGE);
    return 0;
  }
  if (share.of > 1) {
    for (const scenario of chosen) process.send?.(await playAll(scenario, options));
    return 0;
  }
  let tallies: readonly Tally[] = [];
  if (jobs === 1) {
    for (const scenario of chosen) {
      const tally = await playAll(scenario, options);
      printResult(tally);
      tallies = [...tallies, tally];
    }
  } else {
    tallies = await playSideBySide(jobs);
    for (const { name } of chosen) printResult(summed(name, tallies));
  }
  const isCovered = flags.calm || printMatrix(tallies) || !flags.ci;
  const bad = chosen.filter(({ name }) => summed(name, tallies).failed > 0).length;
  const failed = bad + (isCovered ? 0 : 1);
  if (options.counts) {
    writeFileSync(options.counts, JSON.stringify({ numPassedTests: chosen.length - bad, numFailedTests: failed }));
  }
  return failed === 0 ? 0 : 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  const isUsage = error instanceof UserError || (error instanceof TypeError && 'code' in error);
  // Node's own explanations go on for long.
  console.error(isUsage ? `error: ${messageOf(error).split('. ')[0]} (--help tells more)` : error);
  process.exitCode = 2;
}
