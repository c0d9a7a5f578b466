// Mutants that are said to be seen by the simulation alone: with all of them at once in a copy of the program, every table, property and
// scenario must stay green. If they do not, each mutant is tried by itself to find the one that is seen.
import { cpSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { type Mutant, mutatedTogether } from './mutant.ts';
import { root, runNode } from './trial.ts';

const COPIED = [
  ...['src', 'test', 'config', 'bench', 'docs', 'examples', 'scripts'],
  ...['README.md', 'package.json', 'tsconfig.json', 'biome.json', 'vitest.config.ts'],
];
/** Tests of folders that cannot import runtime, hub or member, where the mutants are; and those that play worlds. */
const OUT_OF_REACH = [
  'src/api',
  'src/apiserver',
  'src/base',
  'src/client',
  'test/conformance',
  'test/store',
  'test/simulation',
];

/** Flags of vitest exclude nothing from its projects, so these tests are not copied. */
const isReached = (path: string): boolean =>
  !path.endsWith('.test.ts') || !OUT_OF_REACH.some((folder) => path.startsWith(join(root, folder, '/')));

/** The program in a place where it may be broken. */
function copyOfTheProgram(folder: string): string {
  const copy = mkdtempSync(join(folder, 'copy-'));
  for (const part of COPIED) cpSync(join(root, part), join(copy, part), { recursive: true, filter: isReached });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** The names of tables, properties and scenarios that are red; the first is enough. */
async function redTests(copy: string): Promise<readonly string[]> {
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--project', 'unit', '--project', 'scenarios'];
  const quietly = ['--bail', '1', '--reporter', 'dot'];
  const { code, output } = await runNode(copy, [...vitest, ...quietly]);
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

/** The mutants that ordinary tests see although they are said not to be seen. */
export async function caughtElsewhere(folder: string, alone: readonly Mutant[]): Promise<readonly Mutant[]> {
  if (alone.length === 0) return [];
  const copy = copyOfTheProgram(folder);
  const isSeenBy = async (mutants: readonly Mutant[], whose: string) => {
    const red = await broken(copy, mutants, () => redTests(copy));
    for (const name of red) console.log(`with ${whose} this is red: ${name}`);
    return red.length > 0;
  };
  if (!(await isSeenBy(alone, `all ${alone.length} at once`))) return [];
  const seen: Mutant[] = [];
  for (const mutant of alone) if (await isSeenBy([mutant], `"${mutant.name}"`)) seen.push(mutant);
  return seen;
}
