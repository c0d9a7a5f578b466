// npm run proof [-- SUITE...]: runs every suite, or the named ones, at full depth. Results are kept per commit in .proof/, so a proof that was
// interrupted goes on with the suites that are not green yet. When all suites of the commit are green it writes docs/proof.md.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join, resolve } from 'node:path';
import { commit, git, isFull, PROOF_PAGE } from './gate/depth.ts';
import { runInLanes } from './gate/lanes.ts';
import { proofPage } from './gate/proof-page.ts';
import { SUITES } from './gate/suites.ts';
import { type SuiteResult, sum, summary } from './gate/summary.ts';

const root = resolve(import.meta.dirname, '..');
/** A proof writes these itself. */
const WRITTEN = [PROOF_PAGE, 'test/simulation/mutants/killers.json'];

const localChanges = (): readonly string[] =>
  (git('status', '--porcelain', '--untracked-files=no') ?? '')
    .split('\n')
    .filter((line) => line !== '' && !WRITTEN.includes(line.slice(3)));

async function main(): Promise<number> {
  const named = process.argv.slice(2);
  const unknown = named.filter((suite) => !SUITES.includes(suite));
  const head = commit('HEAD');
  if (unknown.length > 0) return refused(`there is no suite ${unknown.join(', ')}, only ${SUITES.join(', ')}`);
  if (!isFull) return refused('run it as npm run proof, which sets FLOTILLA_DEPTH=full');
  if (head === undefined) return refused('a proof is about a commit: run it in a git checkout');
  const changes = localChanges();
  if (changes.length > 0)
    return refused(`a proof is about a commit, and there are local changes: ${changes.join(', ')}`);

  const folder = join(root, '.proof', head);
  mkdirSync(folder, { recursive: true });
  const fileOf = (suite: string) => join(folder, `${suite}.json`);
  const known = (suite: string): SuiteResult | undefined =>
    existsSync(fileOf(suite)) ? (JSON.parse(readFileSync(fileOf(suite), 'utf8')) as SuiteResult) : undefined;
  const isGreen = (suite: string) => known(suite)?.failed === 0;
  const wanted = (named.length > 0 ? named : SUITES).filter((suite) => !isGreen(suite));
  for (const suite of SUITES.filter(isGreen)) console.log(`${suite}: green at this commit already`);

  const began = performance.now();
  await runInLanes(wanted, (result) => {
    writeFileSync(`${fileOf(result.suite)}.new`, JSON.stringify(result));
    renameSync(`${fileOf(result.suite)}.new`, fileOf(result.suite));
  });
  const results = SUITES.flatMap((suite) => known(suite) ?? []);
  if (SUITES.every(isGreen)) {
    const machine = `${cpus().length} × ${cpus()[0]?.model.trim() ?? 'CPU'} with Node.js ${process.version}`;
    const date = new Date().toISOString().slice(0, 10);
    writeFileSync(join(root, PROOF_PAGE), proofPage({ commit: head, date, machine, results }));
    console.log(`${head.slice(0, 7)} is proven; ${PROOF_PAGE} is written`);
  } else console.log(`not proven yet: ${SUITES.filter((suite) => !isGreen(suite)).join(', ')}`);
  for (const line of summary(results, performance.now() - began)) console.log(line);
  return sum(results).failed > 0 ? 1 : 0;
}

function refused(why: string): number {
  console.error(`error: ${why}`);
  return 2;
}

process.exitCode = await main();
