// npm run mutants -- [--only TEXT] [--seeds N] [--jobs N] [--counts FILE]: breaks the program in one place at a time, in a copy of it, and
// shows which seed of the simulation noticed. Then breaks it in all places at once that are said to be seen by the simulation alone, and runs
// every table, property and scenario: they must stay green. If they do not, each of these is tried by itself to tell whose fault it is.
//
// Ends with 1 if a mutant lives, if one has nothing to replace any more, if one is seen by ordinary tests though it is said not to be, or if
// fewer than half are seen by the simulation alone: what ordinary tests see anyway says little about the simulation.
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs, stripVTControlCharacters } from 'node:util';
import { messageOf } from '../../../src/base/errors.ts';
import { mapLimit } from '../../../src/base/map-limit.ts';
import { deliveryMutants } from './delivery.ts';
import { type Mutant, mutatedTogether } from './mutant.ts';
import { mutants } from './mutants.ts';
import { stagedMutants } from './staged.ts';

const root = resolve(import.meta.dirname, '../../..');
const COPIED = [
  ...['src', 'test', 'config', 'bench', 'docs', 'examples', 'scripts'],
  ...['README.md', 'package.json', 'tsconfig.json', 'biome.json', 'vitest.config.ts'],
];
/** Tests of what cannot import runtime, hub or member, where the mutants are; and those that play worlds. */
const OUT_OF_REACH = [
  'src/api',
  'src/apiserver',
  'src/base',
  'src/client',
  'test/conformance',
  'test/store',
  'test/simulation',
];

interface Verdict {
  readonly mutant: Mutant;
  /** Which seed, and what it said; undefined = it lives. */
  readonly caught?: string;
  /** It could not be tried. */
  readonly problem?: string;
}

/** The program in a place where it may be broken. */
function copyOfTheProgram(folder: string): string {
  const copy = mkdtempSync(join(folder, 'copy-'));
  for (const part of COPIED) cpSync(join(root, part), join(copy, part), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

function run(cwd: string, args: readonly string[]): Promise<{ readonly code: number | null; readonly output: string }> {
  return new Promise((settle, reject) => {
    const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const keep = (chunk: Buffer) => {
      output += chunk.toString();
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.once('error', reject);
    child.once('close', (code) => settle({ code, output }));
  });
}

interface Objection {
  readonly seed: string;
  readonly text: string;
}

/** The first seed that fails; undefined = none does. */
async function objectionIn(
  copy: string,
  { caughtBy }: Mutant,
  seeds: readonly string[],
): Promise<Objection | undefined> {
  const args = ['--scenario', caughtBy, ...seeds, '--first'];
  const { code, output } = await run(copy, ['--import', 'tsx', 'src/main/sim.ts', ...args]);
  const found = /^FAILED (\S+) with seed (\d+) .*\n {2}(.*)/m.exec(output);
  if (found) return { seed: found[2] as string, text: `seed ${found[2]} of ${found[1]}: ${found[3]?.slice(0, 110)}` };
  // A mutant that breaks the program before it runs proves nothing about the simulation.
  if (code !== 0 || !new RegExp(`^${caughtBy}: \\d+ runs`, 'm').test(output)) {
    throw new Error(`the simulation did not run (${code}): ${output.slice(-500)}`);
  }
  return undefined;
}

/** Which tables, properties and scenarios are red, of all that could notice; the first is enough. */
async function redTests(copy: string): Promise<readonly string[]> {
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--project', 'unit', '--project', 'scenarios'];
  const unreached = OUT_OF_REACH.flatMap((folder) => ['--exclude', `${folder}/**`]);
  const quietly = ['--bail', '1', '--reporter', 'dot', ...unreached];
  const { code, output } = await run(copy, [...vitest, ...quietly]);
  const plain = stripVTControlCharacters(output);
  if (!/Tests .*\d+ (passed|failed)/.test(plain)) throw new Error(`the tests did not run: ${plain.slice(-500)}`);
  if (code === 0) return [];
  const named = new Set([...plain.matchAll(/^ *FAIL +(.*\S)/gm)].map(([, name]) => name as string));
  return named.size > 0 ? [...named] : [`no test by name: ${plain.slice(-500)}`];
}

/** Runs `use` while the copy is broken by these. */
async function broken<T>(copy: string, by: readonly Mutant[], use: () => Promise<T>): Promise<T> {
  const files = [...new Set(by.map(({ file }) => file))].map((file) => {
    const path = join(copy, file);
    const text = readFileSync(path, 'utf8');
    return { path, text, changed: mutatedTogether(text, file, by) };
  });
  try {
    for (const { path, changed } of files) writeFileSync(path, changed);
    return await use();
  } finally {
    for (const { path, text } of files) writeFileSync(path, text);
  }
}

async function tried(mutant: Mutant, copy: string, seeds: string): Promise<Verdict> {
  try {
    const caught = await broken(copy, [mutant], () => objectionIn(copy, mutant, ['--runs', seeds]));
    if (caught === undefined) return { mutant };
    // What the sound program runs into as well says nothing about the mutant.
    const also = await objectionIn(copy, mutant, ['--seed', caught.seed, '--runs', '1']);
    return also === undefined
      ? { mutant, caught: caught.text }
      : { mutant, problem: `the sound program fails there, too: ${also.text}` };
  } catch (error) {
    return { mutant, problem: messageOf(error) };
  }
}

/** Those that ordinary tests see although they are said not to be seen. */
async function betrayed(copy: string, alone: readonly Mutant[]): Promise<readonly Mutant[]> {
  // What a mutant breaks, it breaks each time: a test that is red once on a busy machine is not its doing.
  const isSeenBy = async (mutants: readonly Mutant[], whose: string) => {
    for (const time of ['first', 'second']) {
      const red = await broken(copy, mutants, () => redTests(copy));
      if (red.length === 0) return false;
      for (const name of red) console.log(`with ${whose}, the ${time} time, this is red: ${name}`);
    }
    return true;
  };
  if (alone.length === 0 || !(await isSeenBy(alone, `all ${alone.length} at once`))) return [];
  const seen: Mutant[] = [];
  for (const mutant of alone) if (await isSeenBy([mutant], `"${mutant.name}"`)) seen.push(mutant);
  return seen;
}

function tell({ mutant, caught, problem }: Verdict, seeds: string): void {
  const fate = problem ?? (caught ? `caught by ${caught}` : `LIVES after ${seeds} seeds of ${mutant.caughtBy}`);
  console.log(`${mutant.name} (${mutant.file})\n  ${fate}`);
}

const USAGE = `usage: npm run mutants -- [options]
  --only TEXT    only those whose name or file has this text in it (all)
  --seeds N      how many seeds of its scenario a mutant may live through (300)
  --jobs N       how many are tried side by side (2)
  --counts FILE  write how many were caught and how many live`;

function asked() {
  try {
    return parseArgs({
      options: {
        only: { type: 'string', default: '' },
        seeds: { type: 'string', default: '300' },
        jobs: { type: 'string', default: '2' },
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

const values = asked();
if (values.help) {
  console.log(USAGE);
  process.exit(0);
}
const chosen = [...mutants, ...deliveryMutants, ...stagedMutants].filter(({ name, file }) =>
  `${name} ${file}`.includes(values.only),
);
const folder = mkdtempSync(join(tmpdir(), 'flotilla-mutants-'));
try {
  const jobs = Number(values.jobs);
  const copies = Array.from({ length: jobs }, () => copyOfTheProgram(folder));
  const verdicts: Verdict[] = [];
  await mapLimit(chosen, jobs, async (mutant) => {
    const copy = copies.pop() as string;
    const verdict = await tried(mutant, copy, values.seeds);
    copies.push(copy);
    verdicts.push(verdict);
    tell(verdict, values.seeds);
  });
  const caught = verdicts.filter((each) => each.caught !== undefined).length;
  const alone = chosen.filter((mutant) => mutant.alone);
  const seen = await betrayed(copies[0] as string, alone);
  for (const { name } of seen)
    console.log(`${name}\n  is seen by tables, properties or scenarios too, though it is said not to be`);
  const secret = alone.length - seen.length;
  console.log(`${chosen.length} mutants, ${caught} caught by the simulation, ${secret} by the simulation alone:`);
  for (const mutant of alone)
    if (!seen.includes(mutant)) console.log(`  all tests green, only the simulation sees it: ${mutant.name}`);
  const isTelling = secret * 2 >= chosen.length || values.only !== '';
  if (!isTelling) console.log('fewer than half need the simulation: find better mutants');
  const failed = chosen.length - caught + seen.length + (isTelling ? 0 : 1);
  if (values.counts) writeFileSync(values.counts, JSON.stringify({ numPassedTests: caught, numFailedTests: failed }));
  process.exitCode = chosen.length > 0 && failed === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
