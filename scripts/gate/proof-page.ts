// docs/proof.md: which commit the last full proof was about, and what it counted.
import { testSeed } from './depth.ts';
import { inMinutes, type SuiteResult } from './summary.ts';

export interface Proof {
  readonly commit: string;
  /** The day it was finished. */
  readonly date: string;
  readonly machine: string;
  readonly results: readonly SuiteResult[];
}

/** What full depth means, suite by suite. */
export const depthOf = (suite: string, seed: number = testSeed): string =>
  ({
    check: 'types and lint',
    unit: `properties with ten times the runs of the gate, at most 3,000 each, from seed ${seed}`,
    scenarios: 'whole fleets on a simulated clock',
    sim: 'every seed of every scenario; every fault hits every kind of write and watch',
    mutants: 'all mutants; those caught by the simulation alone turn no other test red',
    wire: 'the built program with kubectl; 200 rounds of `kill -9`',
    kube: 'a hub and four members; outages, two hub processes, docs/install.md word for word',
    judge: 'recorded answers, ours and live; 1,000 generated objects and 1,000 patch sequences from seed 1',
  })[suite] ?? '';

export function proofPage({ commit, date, machine, results }: Proof): string {
  const rows = results.map((result) => {
    const { suite, passed, failed, skipped, wallMs, cpuMs } = result;
    const cpu = cpuMs === undefined ? '' : inMinutes(cpuMs);
    return `| ${[suite, passed, failed, skipped, inMinutes(wallMs), cpu, depthOf(suite)].join(' | ')} |`;
  });
  const notes = results.flatMap(({ suite, notes = [] }) => notes.map((note) => `- ${suite}: ${note}`));
  return [
    '# The last full proof',
    '',
    '`npm run proof` runs every suite at full depth and writes this page. `npm test` runs the same kinds of tests in a quarter of an hour, and',
    'tries the mutants of files that changed since this commit.',
    '',
    `Commit: \`${commit}\``,
    '',
    `Finished on ${date}, on ${machine}.`,
    '',
    '| suite | passed | failed | skipped | time | CPU | depth |',
    '| --- | --- | --- | --- | --- | --- | --- |',
    ...rows,
    ...(notes.length === 0 ? [] : ['', ...notes]),
    '',
  ].join('\n');
}
