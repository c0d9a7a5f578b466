// npm run mutants -- [--only TEXT] [--seeds N] [--tests]: breaks the program in one line at a time, in a copy of it, and shows which
// seed noticed. Ends with 1 if a mutant lives. With --tests the ordinary tests run on each mutant, too, and what mutants.ts says of them
// is checked.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Mutant, mutated } from './mutant.ts';
import { mutants } from './mutants.ts';

const root = resolve(import.meta.dirname, '../../..');
const ORDINARY_TESTS = ['src/runtime', 'src/hub', 'src/member', 'test/runtime', 'test/scenarios'];

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    seeds: { type: 'string', default: '300' },
    tests: { type: 'boolean', default: false },
  },
});

/** The program in a place where it may be broken. */
function copyOfTheProgram(): string {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-mutants-'));
  for (const part of ['src', 'test', 'config', 'package.json', 'tsconfig.json', 'vitest.config.ts']) {
    cpSync(join(root, part), join(folder, part), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

/** The scenario and the seed that noticed, or undefined. */
function caughtBy(folder: string, { scenarios }: Mutant): string | undefined {
  for (const scenario of scenarios) {
    const args = ['--scenario', scenario, '--seed', '1', '--runs', values.seeds, '--first'];
    const { stdout, stderr, signal } = spawnSync(process.execPath, ['--import', 'tsx', 'src/main/sim.ts', ...args], {
      cwd: folder,
      encoding: 'utf8',
      maxBuffer: 2 ** 28,
    });
    const found = /^FAILED (\S+) with seed (\d+) .*\n {2}(.*)/m.exec(stdout);
    if (found) return `seed ${found[2]} of ${found[1]} (${found[3]?.slice(0, 100)})`;
    // A mutant that breaks the program before it runs proves nothing about the simulation.
    if (!stdout.includes(`${scenario}: ${values.seeds} runs`))
      throw new Error(`the simulation did not run (${signal}):\n${stdout}${stderr}`);
  }
  return undefined;
}

const passesOrdinaryTests = (folder: string): boolean =>
  spawnSync('npx', ['vitest', 'run', '--project', 'unit', '--bail', '1', '--reporter', 'dot', ...ORDINARY_TESTS], {
    cwd: folder,
    stdio: 'ignore',
  }).status === 0;

const chosen = mutants.filter(({ name }) => name.includes(values.only));
const folder = copyOfTheProgram();
let isGreen = chosen.length > 0;
try {
  for (const mutant of chosen) {
    const path = join(folder, mutant.file);
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, mutated(text, mutant));
    try {
      const caught = caughtBy(folder, mutant);
      console.log(`${mutant.name}: ${caught ?? `LIVES after ${values.seeds} seeds of ${mutant.scenarios.join(', ')}`}`);
      if (caught === undefined) isGreen = false;
      if (!values.tests) continue;
      const isPassing = passesOrdinaryTests(folder);
      console.log(`  ordinary tests: ${isPassing ? 'green, only the simulation sees it' : 'red'}`);
      if (isPassing !== mutant.isOnlySeenInSimulation) {
        console.log('  mutants.ts says otherwise');
        isGreen = false;
      }
    } finally {
      writeFileSync(path, text);
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = isGreen ? 0 : 1;
