// Verifies mutants with `alone: true`: with all of them in one copy of the program, every table, property and scenario
// must pass. If a test fails, each mutant is tried separately to find the one that is caught.
import { cpSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { type Mutant, mutatedTogether } from './mutant.ts';
import { root, runNode } from './trial.ts';

const COPIED = [
  ...['src', 'test', 'config', 'bench', 'docs', 'examples', 'scripts'],
  ...['README.md', 'package.json', 'tsconfig.json', 'biome.json', 'vitest.config.ts'],
];
/**
 * Tests of folders that cannot import runtime, hub or member, which contain the mutants; and tests that play worlds.
 */
const OUT_OF_REACH = [
  'src/api',
  'src/apiserver',
  'src/base',
  'src/client',
  'test/conformance',
  'test/store',
  'test/simulation',
];

/** The flags of vitest cannot exclude tests of its projects, so these tests are not copied. */
const isReached = (path: string): boolean =>
  !path.endsWith('.test.ts') || !OUT_OF_REACH.some((folder) => path.startsWith(join(root, folder, '/')));

/** A copy of the program, which may be broken. */
function copyOfTheProgram(folder: string): string {
  const copy = mkdtempSync(join(folder, 'copy-'));
  for (const part of COPIED) cpSync(join(root, part), join(copy, part), { recursive: true, filter: isReached });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** The failing tables, properties and scenarios, by file; in these files, or in all. */
async function redTests(copy: string, among: readonly string[] = []): Promise<ReadonlyMap<string, string>> {
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--project', 'unit', '--project', 'scenarios'];
  const { code, output } = await runNode(copy, [...vitest, '--reporter', 'dot', ...among]);
  const plain = stripVTControlCharacters(output);
  if (!/Tests .*\d+ (passed|failed)/.test(plain)) throw new Error(`the tests did not run: ${plain.slice(-500)}`);
  if (code === 0) return new Map();
  const named = [...plain.matchAll(/^ *FAIL +\S+ +(\S+)(.*)$/gm)];
  if (named.length === 0) throw new Error(`no failed test by name: ${plain.slice(-500)}`);
  return new Map(named.map(([, file = '', name = '']) => [file, `${file}${name}`]));
}

/** Runs `use` while the copy contains these mutants. */
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

/**
 * The mutants with `alone: true` that ordinary tests catch. Files that fail with several mutants are run with each one
 * separately; then all tests run again without the caught ones, because one mutant can hide another.
 */
export async function caughtElsewhere(folder: string, alone: readonly Mutant[]): Promise<readonly Mutant[]> {
  const copy = copyOfTheProgram(folder);
  const seen: Mutant[] = [];
  for (;;) {
    const secret = alone.filter((mutant) => !seen.includes(mutant));
    if (secret.length === 0) return seen;
    const red = await broken(copy, secret, () => redTests(copy));
    if (red.size === 0) return seen;
    for (const name of red.values()) console.log(`with ${secret.length} mutants at once this is red: ${name}`);
    const before = seen.length;
    for (const mutant of secret) {
      const [name] = (await broken(copy, [mutant], () => redTests(copy, [...red.keys()]))).values();
      if (name === undefined) continue;
      console.log(`with "${mutant.name}" this is red: ${name}`);
      seen.push(mutant);
    }
    if (seen.length === before) throw new Error(`only together are they seen: ${[...red.values()].join(', ')}`);
  }
}
