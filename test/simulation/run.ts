// npm run sim -- [--seed N] [--runs K] [--scenario NAME]: plays scenarios with seeds N … N+K-1, or with `--for` as many
// seeds as the time permits. Prints failures and the command that replays each, how often each fault hit each kind of
// write and watch, and the speed.
//
// Exits with 0 if all runs passed, with 1 if a run failed or, with `--ci`, if a fault never hit a write or watch that
// it could have hit, and with 2 for invalid arguments.
import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { messageOf, UserError } from '../../src/base/errors.ts';
import type { Failure } from '../../src/sim/check.ts';
import { faultsOf } from '../../src/sim/faults.ts';
import { type Entry, Matrix } from '../../src/sim/matrix.ts';
import { play, type Scenario } from '../../src/sim/scenario.ts';
import { type Draw, type Drawn, drawAll, drawMore, drawUntil, type Share } from './scenarios/draw.ts';
import { scenarios } from './scenarios/scenarios.ts';

const USAGE = `usage: npm run sim -- [options]
  --seed N         the first seed (1)
  --runs K         how many seeds of each scenario (100; with --ci what the scenario says)
  --scenario NAME  which scenario, may be given again (all): ${scenarios.map(({ name }) => name).join(', ')}
  --for SECONDS    a time box: all scenarios in turn, each at least once
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
  /** The time box, if set. */
  readonly forSeconds: number | undefined;
  readonly chosen: readonly Scenario[];
  readonly counts: string | undefined;
  readonly flags: Readonly<Record<'ci' | 'calm' | 'first' | 'trace' | 'hashes' | 'worker' | 'help', boolean>>;
}

function optionsFrom(args: readonly string[]): Options {
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: 'string', default: '1' },
      runs: { type: 'string' },
      jobs: { type: 'string', default: '1' },
      for: { type: 'string' },
      scenario: { type: 'string', multiple: true, default: [] },
      counts: { type: 'string' },
      ci: flag,
      calm: flag,
      first: flag,
      trace: flag,
      hashes: flag,
      // Plays the worlds that the parent process assigns.
      worker: flag,
      help: flag,
    },
  });
  const names = values.scenario;
  const unknown = names.find((name) => !scenarios.some((scenario) => scenario.name === name));
  if (unknown !== undefined) {
    const known = scenarios.map(({ name }) => name).join(', ');
    throw new UserError('Usage', `there is no scenario "${unknown}", only ${known}`);
  }
  return {
    seed: wholeNumber('--seed', values.seed, 0),
    runs: values.runs === undefined ? undefined : wholeNumber('--runs', values.runs, 1),
    jobs: wholeNumber('--jobs', values.jobs, 1),
    forSeconds: values.for === undefined ? undefined : wholeNumber('--for', values.for, 1),
    chosen:
      names.length === 0
        ? scenarios.filter(({ ciRuns }) => ciRuns > 0 || (!values.ci && values.for === undefined))
        : scenarios.filter(({ name }) => names.includes(name)),
    counts: values.counts,
    flags: values,
  };
}

function wholeNumber(option: string, text: string, least: number): number {
  if (/^\d{1,9}$/.test(text) && Number(text) >= least) return Number(text);
  throw new UserError('Usage', `${option} takes a whole number from ${least} on, not "${text}"`);
}

/** The commit that was run, with a note if files differ from it. */
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

/** The outcome of one world, in a form that can be sent to another process. */
interface Outcome extends Drawn {
  readonly steps: number;
  readonly ms: number;
  readonly hasFailed: boolean;
  readonly matrix: readonly Entry[];
}

async function playWorld({ scenario: name, seed }: Drawn, { flags }: Options): Promise<Outcome> {
  const scenario = scenarios.find((each) => each.name === name) as Scenario;
  const began = performance.now();
  const onLine = flags.trace ? { onLine: (line: string) => console.log(line) } : {};
  const { steps, hash, matrix, failure } = await play(scenario, { seed, isCalm: flags.calm, ...onLine });
  if (flags.hashes) console.log(`${name} ${seed} ${hash}`);
  if (failure) printFailure(scenario, failure, flags.calm);
  const ms = performance.now() - began;
  return { scenario: name, seed, steps, ms, hasFailed: failure !== undefined, matrix: matrix.toEntries() };
}

function printFailure({ name }: Scenario, failure: Failure, isCalm: boolean): void {
  const { checker, message, seed, step, simulatedMs, lines } = failure;
  console.log(`FAILED ${name} with seed ${seed} at commit ${commitHash()}, step ${step}, +${simulatedMs} ms`);
  console.log(`  ${checker}: ${message}`);
  for (const line of lines) console.log(`    ${line}`);
  console.log(`  again: npm run sim -- --scenario ${name} --seed ${seed} --runs 1 --trace${isCalm ? ' --calm' : ''}`);
}

/**
 * Plays the drawn worlds: in this process, or one by one in several, so that none of them is idle while worlds are
 * left.
 */
async function playDrawn(draw: Draw, options: Options, onOutcome: (outcome: Outcome) => void): Promise<void> {
  const settle = (outcome: Outcome) => {
    if (outcome.hasFailed && options.flags.first) draw.skip(outcome.scenario);
    onOutcome(outcome);
  };
  if (options.jobs > 1) {
    await Promise.all(Array.from({ length: options.jobs }, () => playInWorker(draw, settle)));
    return;
  }
  for (let world = draw.next(); world !== undefined; world = draw.next()) settle(await playWorld(world, options));
}

const sharesOf = ({ runs, forSeconds, chosen, flags }: Options): readonly Share[] =>
  chosen.map(({ name, ciRuns }) => ({
    scenario: name,
    runs: runs ?? (flags.ci || forSeconds !== undefined ? ciRuns : 100),
  }));

function drawFor(options: Options): Draw {
  const { seed, forSeconds } = options;
  const shares = sharesOf(options);
  if (forSeconds === undefined) return drawAll(shares, seed);
  const deadline = performance.now() + forSeconds * 1000;
  return drawUntil(shares, seed, () => performance.now() >= deadline);
}

/** For each cell that is still zero, the scenario with the most such writes or watches per time. */
function scenariosFor(outcomes: readonly Outcome[]): readonly string[] {
  const zeros = Matrix.from(outcomes.flatMap(({ matrix }) => matrix)).zeros(faultsOf);
  const rows = new Set(zeros.map((cell) => cell.slice(0, cell.lastIndexOf(':'))));
  return [...rows].flatMap((row) => {
    const rates = [...new Set(outcomes.map(({ scenario }) => scenario))].map((scenario) => {
      const own = outcomes.filter((each) => each.scenario === scenario);
      const times = own.flatMap(({ matrix }) => matrix.flatMap(([name, , count]) => (name === row ? [count] : [])));
      return { scenario, rate: sumOf(times) / sumOf(own.map(({ ms }) => ms)) };
    });
    return rates
      .filter(({ rate }) => rate > 0)
      .toSorted((a, b) => b.rate - a.rate)
      .slice(0, 2)
      .map(({ scenario }) => scenario);
  });
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, each) => sum + each, 0);

async function playInWorker(draw: Draw, settle: (outcome: Outcome) => void): Promise<void> {
  const child = fork(import.meta.filename, [...process.argv.slice(2), '--worker']);
  let world: Drawn | undefined;
  const handOut = () => {
    world = draw.next();
    if (world === undefined) child.disconnect();
    else child.send(world);
  };
  child.on('message', (outcome) => {
    settle(outcome as Outcome);
    handOut();
  });
  handOut();
  const [code, signal] = await once(child, 'exit');
  if (world !== undefined)
    throw new Error(`a process ended with ${code ?? signal} while it played ${world.scenario} with seed ${world.seed}`);
}

async function work(options: Options): Promise<void> {
  const play = async (world: Drawn) => process.send?.(await playWorld(world, options));
  process.on('message', (world) => {
    play(world as Drawn).catch((error: unknown) => {
      console.error(error);
      process.exit(1);
    });
  });
  await once(process, 'disconnect');
}

// ---- reporting

interface Tally {
  readonly name: string;
  readonly seeds: readonly number[];
  readonly steps: number;
  readonly failed: number;
  readonly seconds: number;
}

function tallyOf(name: string, outcomes: readonly Outcome[], jobs: number): Tally {
  const own = outcomes.filter(({ scenario }) => scenario === name);
  const total = (of: (outcome: Outcome) => number) => own.reduce((sum, each) => sum + of(each), 0);
  return {
    name,
    seeds: own.map(({ seed }) => seed),
    steps: total(({ steps }) => steps),
    failed: own.filter(({ hasFailed }) => hasFailed).length,
    seconds: total(({ ms }) => ms) / 1000 / jobs,
  };
}

const rangeOf = (seeds: readonly number[]): string => `seeds ${Math.min(...seeds)} … ${Math.max(...seeds)}`;

function printTally({ name, seeds, steps, failed, seconds }: Tally): void {
  const perSecond = (count: number) => (count / seconds).toFixed(count / seconds < 10 ? 1 : 0);
  const speed = `${perSecond(seeds.length)} runs/s, ${perSecond(steps)} steps/s`;
  console.log(`${name}: ${seeds.length} runs, ${rangeOf(seeds)}, ${steps} steps, ${failed} failed (${speed})`);
}

const PROGRESS_MS = 10_000;

/** Prints the progress of a run from time to time. */
function progressPrinter(): (outcomes: readonly Outcome[]) => void {
  let shownAt = performance.now();
  return (outcomes) => {
    if (performance.now() - shownAt < PROGRESS_MS) return;
    shownAt = performance.now();
    const { scenario, seed } = outcomes.at(-1) as Outcome;
    const failed = outcomes.filter(({ hasFailed }) => hasFailed).length;
    console.log(`${outcomes.length} runs, ${failed} failed; now ${scenario}, seed ${seed}`);
  };
}

/** True if every fault hit everything that it could have hit. */
function printMatrix(outcomes: readonly Outcome[]): boolean {
  const all = Matrix.from(outcomes.flatMap(({ matrix }) => matrix));
  console.log('how often each fault hit each kind of write and each watch:');
  for (const line of all.toLines(faultsOf)) console.log(`  ${line}`);
  const zeros = all.zeros(faultsOf);
  if (zeros.length > 0) console.log(`never hit: ${zeros.join('; ')}`);
  return zeros.length === 0;
}

async function main(): Promise<number> {
  const options = optionsFrom(process.argv.slice(2));
  const { flags, chosen, jobs } = options;
  if (flags.help) {
    console.log(USAGE);
    return 0;
  }
  if (flags.worker) {
    await work(options);
    return 0;
  }
  const outcomes: Outcome[] = [];
  const progress = progressPrinter();
  const keep = (outcome: Outcome) => {
    outcomes.push(outcome);
    progress(outcomes);
  };
  await playDrawn(drawFor(options), options, keep);
  const planned = outcomes.length;
  if (flags.ci) {
    await playDrawn(
      drawMore(sharesOf(options), options.seed, () => scenariosFor(outcomes)),
      options,
      keep,
    );
    console.log(`${outcomes.length - planned} further worlds for faults that had not hit all that they can hit`);
  }
  const tallies = chosen.map(({ name }) => tallyOf(name, outcomes, jobs)).filter(({ seeds }) => seeds.length > 0);
  for (const tally of tallies) printTally(tally);
  // A time box plays too few worlds for every fault to hit everything.
  const isCovered = flags.calm || options.forSeconds !== undefined || printMatrix(outcomes) || !flags.ci;
  const bad = tallies.filter((tally) => tally.failed > 0).length;
  const failed = bad + (isCovered ? 0 : 1);
  if (options.counts) {
    const notes = tallies.map(
      ({ name, seeds, failed }) => `${name}: ${seeds.length} worlds, ${rangeOf(seeds)}, ${failed} failed`,
    );
    const counts = { numPassedTests: tallies.length - bad, numFailedTests: failed, notes };
    writeFileSync(options.counts, JSON.stringify(counts));
  }
  return failed === 0 ? 0 : 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  const isUsage = error instanceof UserError || (error instanceof TypeError && 'code' in error);
  // Node's own messages are long.
  console.error(isUsage ? `error: ${messageOf(error).split('. ')[0]} (--help tells more)` : error);
  process.exitCode = 2;
}
