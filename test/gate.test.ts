// The runner of the suites: what it prints at the end, how it measures, and where its seeds come from.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { seedOf } from '../scripts/gate/depth.ts';
import { patience } from '../scripts/gate/patience.ts';
import { childrenMs, runCommand } from '../scripts/gate/process.ts';
import { depthOf, proofPage } from '../scripts/gate/proof-page.ts';
import { laneOf, SUITES, unusual } from '../scripts/gate/suites.ts';
import { inMinutes, type SuiteResult, summary } from '../scripts/gate/summary.ts';
import { cacheFolder } from '../scripts/kube/programs.ts';

const root = resolve(import.meta.dirname, '..');

const result = (suite: string, more: Partial<SuiteResult> = {}): SuiteResult => ({
  suite,
  ...{ passed: 3, failed: 0, skipped: 1, wallMs: 61_400, failures: [], durations: [] },
  ...more,
});

test('a run ends with durations, the slowest files, the failures, and one line that sums them', () => {
  const failures = [{ name: 'b.test.ts: x', lines: ['no'] }];
  const durations = [
    { file: 'a.test.ts', ms: 1_000 },
    { file: 'b.test.ts', ms: 12_340 },
  ];
  expect(
    summary([result('unit', { cpuMs: 2_000 }), result('wire', { failed: 1, failures, durations })], 90_000),
  ).toEqual([
    'suite unit: 3 passed, 0 failed, 1 skipped in 1m01s (CPU 0m02s)',
    'suite wire: 3 passed, 1 failed, 1 skipped in 1m01s',
    '  failed: b.test.ts: x',
    'slowest test files:',
    '    12.3 s  wire: b.test.ts',
    '     1.0 s  wire: a.test.ts',
    'all suites: 1m30s',
    'failed: b.test.ts: x',
    '    no',
    '6 passed, 1 failed, 2 skipped',
  ]);
});

test('ten files at most are called slow', () => {
  const durations = Array.from({ length: 15 }, (_, ms) => ({ file: `${ms}.test.ts`, ms }));
  const lines = summary([result('unit', { durations })], 0);
  expect(lines.filter((line) => line.includes('.test.ts'))).toHaveLength(10);
  expect(lines.at(-1)).toBe('3 passed, 0 failed, 1 skipped');
});

test.each([
  [0, '0m00s'],
  [59_499, '0m59s'],
  [59_500, '1m00s'],
  [3_600_000, '60m00s'],
])('%d ms are %s', (ms, text) => {
  expect(inMinutes(ms)).toBe(text);
});

test.each([
  ['dash', '0m0.000000s 0m0.010000s\n1m2.500000s 0m3.250000s\n', 65_750],
  ['bash', '0m0.00s 0m0.01s\n0m0.50s 0m0.25s\n', 750],
  ['nothing', '', undefined],
])('the CPU times that %s prints are read', (_shell, text, ms) => {
  expect(childrenMs(text)).toBe(ms);
});

test('a command is measured, and its exit code counts', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-gate-'));
  try {
    const ended = (script: string) =>
      runCommand({ program: process.execPath, args: ['-e', script] }, { prefix: '', timesFile: join(folder, 'times') });
    expect(await ended('')).toMatchObject({ isGreen: true, cpuMs: expect.any(Number) });
    expect(await ended('process.exit(3)')).toMatchObject({ isGreen: false });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('tests have no home, and find the programs that were built for them', () => {
  const env = { ...process.env, ...unusual() };
  expect(existsSync(join(env['HOME'] as string, '.kube', 'config'))).toBe(false);
  expect(existsSync(env['KUBECONFIG'] as string)).toBe(false);
  expect(cacheFolder(env)).toBe(cacheFolder());
  // Also of a run within a run.
  expect(unusual(env)).toEqual(unusual());
});

test('seeds come from the environment, else from the commit', () => {
  expect(seedOf('42', 'ffffff0')).toBe(42);
  expect(seedOf(undefined, '00001fe')).toBe(0x1f);
  expect(seedOf('', undefined)).toBe(1);
  expect(() => seedOf('x', undefined)).toThrow(/not "x"/);
});

test('both lanes have work, and an unknown suite is refused', () => {
  expect(new Set(SUITES.map(laneOf))).toEqual(new Set(['cpu', 'wait']));
  const args = ['--import', 'tsx', join(root, 'scripts/test.ts'), 'unit', 'everything'];
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('not everything') });
});

test('the page of a proof names its commit, one line per suite, and the seeds', () => {
  const commit = '0123456789abcdef0123456789abcdef01234567';
  const notes = ['turns: 80 worlds, seeds 1 … 80, 0 failed'];
  const results = [result('unit', { cpuMs: 120_000 }), result('sim', { notes })];
  const lines = proofPage({ commit, date: '2026-01-02', machine: '2 cores', results }).split('\n');
  expect(lines).toContain(`Commit: \`${commit}\``);
  expect(lines.filter((line) => line.startsWith('| unit |'))).toEqual([
    `| unit | 3 | 0 | 1 | 1m01s | 2m00s | ${depthOf('unit')} |`,
  ]);
  expect(lines).toContain(`- sim: ${notes[0]}`);
  expect(SUITES.filter((suite) => depthOf(suite) === '')).toEqual([]);
});

test('limits are generous, and the more so the slower the machine is', () => {
  expect(patience(1000)).toBeGreaterThanOrEqual(3000);
});

/** Stands in for npx: vitest finds two tests in each project, and `wire` fails one of them, skips all or runs none. */
const FAKE_NPX = `#!${process.execPath}
const { writeFileSync } = require('node:fs');
const args = process.argv.slice(2);
const project = args[args.indexOf('--project') + 1];
const file = args.find((each) => each.startsWith('--outputFile.json='))?.split('=')[1];
console.log('output of ' + (file ? project : args[0]));
if (file === undefined) process.exit(0);
const wire = process.env.FAKE_WIRE;
const counts = { fails: [1, 1, 0], skips: [0, 0, 2], empty: [0, 0, 0] }[project === 'wire' ? wire : ''] ?? [2, 0, 0];
writeFileSync(file, JSON.stringify({ numPassedTests: counts[0], numFailedTests: counts[1], numPendingTests: counts[2] }));
process.exit(counts[1]);
`;

test.each([
  { it: 'all is green', wire: 'green', ci: false, status: 0, last: '6 passed, 0 failed, 0 skipped' },
  { it: 'a test fails', wire: 'fails', ci: false, status: 1, last: '5 passed, 1 failed, 0 skipped' },
  { it: 'a suite is skipped', wire: 'skips', ci: false, status: 0, last: '4 passed, 0 failed, 2 skipped' },
  { it: 'a suite is skipped in CI', wire: 'skips', ci: true, status: 1, last: '4 passed, 1 failed, 2 skipped' },
  { it: 'a suite runs nothing', wire: 'empty', ci: false, status: 1, last: '4 passed, 1 failed, 0 skipped' },
])('suites of both lanes run side by side, and the last line counts them: $it', ({ wire, ci, status, last }) => {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-gate-'));
  try {
    writeFileSync(join(folder, 'npx'), FAKE_NPX, { mode: 0o755 });
    const { CI: _, ...env } = process.env;
    const ended = spawnSync(process.execPath, ['--import', 'tsx', 'scripts/test.ts', 'check', 'unit', 'wire'], {
      cwd: root,
      encoding: 'utf8',
      env: { ...env, PATH: `${folder}:${env['PATH']}`, FAKE_WIRE: wire, ...(ci ? { CI: '1' } : {}) },
    });
    const lines = ended.stdout.trimEnd().split('\n');
    expect(lines).toEqual(expect.arrayContaining(['unit      | output of unit', 'wire      | output of wire']));
    expect({ status: ended.status, last: lines.at(-1) }).toEqual({ status, last });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
