// npm run mutants -- [options]: applies one mutant at a time and reports which seed of the simulation catches it.
// Without --changed it then applies all mutants with `alone: true` together and runs every table, property and
// scenario, which must pass.
//
// Exits with 1 if a mutant survives, if its text does not exist any more, if ordinary tests catch one with `alone:
// true`, or if fewer than half of the mutants are alone: others say little about the simulation.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { changedSince, provenCommit, testSeed } from '../../../scripts/gate/depth.ts';
import { messageOf } from '../../../src/base/errors.ts';
import { mapLimit } from '../../../src/base/map-limit.ts';
import { allMutants, mutantsFor } from './all.ts';
import { caughtElsewhere } from './alone.ts';
import type { Mutant } from './mutant.ts';
import { tried, type Verdict } from './trial.ts';

const USAGE = `usage: npm run mutants -- [options]
  --only TEXT    only those whose name or file contains this text (all)
  --changed      only those whose file changed since the commit of docs/proof.md, and a few others in turn; no run of all tests
  --seeds N      how many seeds of its scenario a mutant may live through (300)
  --for SECONDS  a time box: no mutant is begun after that, and one that is tried then stays undecided
  --jobs N       how many are tried side by side (2)
  --record       write down which seed caught each, to be tried first the next time
  --counts FILE  write how many were caught and how many live`;

const KILLERS = join(import.meta.dirname, 'killers.json');

function optionsFrom() {
  try {
    return parseArgs({
      options: {
        only: { type: 'string', default: '' },
        changed: { type: 'boolean', default: false },
        seeds: { type: 'string', default: '300' },
        for: { type: 'string' },
        jobs: { type: 'string', default: '2' },
        record: { type: 'boolean', default: false },
        counts: { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    }).values;
  } catch (error) {
    console.error(`error: ${messageOf(error)}`);
    console.error(USAGE);
    process.exit(1);
  }
}

type Options = ReturnType<typeof optionsFrom>;

function chosenBy({ only, changed }: Options): readonly Mutant[] {
  const named = allMutants.filter(({ name, file }) => `${name} ${file}`.includes(only));
  if (!changed) return named;
  const proven = provenCommit();
  const files = proven === undefined ? undefined : changedSince(proven);
  console.log(
    files === undefined
      ? 'docs/proof.md names no commit that is known here: all mutants'
      : `mutants of files that changed since ${proven?.slice(0, 7)}, the last full proof`,
  );
  return mutantsFor(named, files, testSeed);
}

function printVerdict({ mutant, caught, problem, isUndecided }: Verdict, seeds: number): void {
  const open = isUndecided ? 'undecided: the time was up' : undefined;
  const fate =
    problem ?? open ?? (caught ? `caught by ${caught.text}` : `LIVES after ${seeds} seeds of ${mutant.caughtBy}`);
  console.log(`${mutant.name} (${mutant.file})\n  ${fate}`);
}

/** The mutants that were started within the time box, with their verdicts. */
async function tryAll(chosen: readonly Mutant[], options: Options, folder: string): Promise<readonly Verdict[]> {
  const killers = JSON.parse(readFileSync(KILLERS, 'utf8')) as Readonly<Record<string, number>>;
  const signal = options.for === undefined ? undefined : AbortSignal.timeout(Number(options.for) * 1000);
  const verdicts: Verdict[] = [];
  await mapLimit(chosen, Number(options.jobs), async (mutant) => {
    if (signal?.aborted) return;
    const seeds = Number(options.seeds);
    const verdict = await tried(mutant, folder, { seeds, killer: killers[mutant.name], signal });
    verdicts.push(verdict);
    printVerdict(verdict, seeds);
  });
  if (options.record) {
    const found = verdicts.flatMap(({ mutant, caught }) => (caught ? [[mutant.name, caught.seed] as const] : []));
    const known = Object.entries(killers).filter(([name]) => allMutants.some((mutant) => mutant.name === name));
    const all = Object.fromEntries([...new Map([...known, ...found])].toSorted(([a], [b]) => (a < b ? -1 : 1)));
    writeFileSync(KILLERS, `${JSON.stringify(all, undefined, 2)}\n`);
  }
  return verdicts;
}

/** The number of mutants that are wrongly marked. */
async function judgeAlone(chosen: readonly Mutant[], { only }: Options, folder: string): Promise<number> {
  const alone = chosen.filter((mutant) => mutant.alone);
  const seen = await caughtElsewhere(folder, alone);
  for (const { name } of seen)
    console.log(`${name}\n  is seen by tables, properties or scenarios too, though it is said not to be`);
  const secret = alone.filter((mutant) => !seen.includes(mutant));
  for (const { name } of secret) console.log(`all tests green, only the simulation sees it: ${name}`);
  const isTelling = secret.length * 2 >= chosen.length || only !== '';
  if (!isTelling) console.log('fewer than half need the simulation: find better mutants');
  return seen.length + (isTelling ? 0 : 1);
}

const options = optionsFrom();
if (options.help) {
  console.log(USAGE);
  process.exit(0);
}
const chosen = chosenBy(options);
const folder = mkdtempSync(join(tmpdir(), 'flotilla-mutants-'));
try {
  const verdicts = await tryAll(chosen, options, folder);
  const caught = verdicts.filter((verdict) => verdict.caught !== undefined).length;
  const decided = verdicts.filter(({ isUndecided }) => !isUndecided);
  const left = chosen.length - decided.length;
  const objections = options.changed ? 0 : await judgeAlone(chosen, options, folder);
  const failed = decided.length - caught + objections;
  const note = `${chosen.length} of ${allMutants.length} mutants, ${caught} caught by the simulation, ${left} not decided in time`;
  console.log(note);
  if (options.counts)
    writeFileSync(
      options.counts,
      JSON.stringify({ numPassedTests: caught, numFailedTests: failed, numPendingTests: left, notes: [note] }),
    );
  process.exitCode = decided.length > 0 && failed === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
