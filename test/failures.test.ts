// What the end of a test run says of those that failed.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { type Failure, inFewLines, REPORT_FILE, type Report, toldOf } from '../scripts/failures.ts';
import { patience } from '../scripts/gate/patience.ts';

const root = resolve(import.meta.dirname, '..');

test.each([
  ['an error and where', { message: 'no plane', stacks: [{ file: '/r/a.ts', line: 3 }] }, ['no plane', 'at a.ts:3']],
  [
    'our own place, not that of a library',
    {
      message: 'x',
      stacks: [
        { file: '/r/node_modules/v/e.js', line: 1 },
        { file: '/r/b.ts', line: 2 },
      ],
    },
    ['x', 'at b.ts:2'],
  ],
  ['its kind, if it has one', { name: 'TypeError', message: 'x' }, ['TypeError: x']],
  ['the cause', { message: 'x', cause: { message: 'y' } }, ['x', 'because: y']],
  [
    'only what differs',
    { message: 'not equal', diff: '\u001b[32m- Expected\u001b[39m\n+ Received\n\n  {\n-   a: 1\n+   a: 2\n  }' },
    ['not equal', '-   a: 1', '+   a: 2'],
  ],
  [
    'eight lines at most, the place among them',
    { message: Array.from({ length: 20 }, (_, n) => `${n}`).join('\n'), stacks: [{ file: '/r/a.ts', line: 3 }] },
    ['0', '1', '2', '3', '4', '5', '... 14 lines more', 'at a.ts:3'],
  ],
  ['no line without end', { message: 'x'.repeat(5000) }, [`${'x'.repeat(400)}...`]],
])('a failure is told with %s', (_name, thrown, lines) => {
  expect(inFewLines(thrown, '/r')).toEqual(lines);
});

test('the end of a run is short, however much failed', () => {
  const failures = Array.from({ length: 12 }, (_, n): Failure => ({ name: `${n}`, lines: ['a', 'b'] }));
  const told = toldOf(failures);
  expect(told.slice(0, 3)).toEqual(['failed: 0', '    a', '    b']);
  expect(told.at(-1)).toBe('and 2 more');
  expect(told).toHaveLength(31);
  expect(toldOf([])).toEqual([]);
});

test('vitest tells us of tests, hooks, files that do not load, and what nobody caught', () => {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-failures-'));
  try {
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    const file = join(folder, 'failures.json');
    const head = "import { beforeAll, describe, expect, test } from 'vitest';\n";
    writeFileSync(
      join(folder, 'a.test.ts'),
      `${head}test('fine', () => {});
test('slow', () => new Promise(() => {}), 50);
test('wrong', () => expect({ a: 1 }).toEqual({ a: 2 }));
test('loose', () => { void Promise.reject(new Error('nobody caught it')); });
describe('hook', () => { beforeAll(() => { throw new Error('no plane'); }); test('never', () => {}); });`,
    );
    writeFileSync(join(folder, 'b.test.ts'), `${head}import './nothing.ts';\ntest('never', () => {});`);
    const { status } = spawnSync(
      process.execPath,
      [
        join(root, 'node_modules/vitest/vitest.mjs'),
        ...['run', '--root', folder, `--reporter=${join(root, 'scripts/failures.ts')}`],
      ],
      { cwd: folder, env: { PATH: process.env['PATH'], [REPORT_FILE]: file }, timeout: patience(50_000) },
    );
    expect(status).toBe(1);
    const { failures, durations } = JSON.parse(readFileSync(file, 'utf8')) as Report;
    expect(durations.map((each) => each.file).toSorted()).toEqual(['a.test.ts', 'b.test.ts']);
    expect(durations.find((each) => each.file === 'a.test.ts')?.ms).toBeGreaterThan(40);
    expect(new Map(failures.map(({ name, lines }) => [name, lines[0]]))).toEqual(
      new Map([
        ['a.test.ts: hook (before or after its tests)', 'no plane'],
        ['a.test.ts: slow', 'Test timed out in 50ms.'],
        ['a.test.ts: wrong', 'expected { a: 1 } to deeply equal { a: 2 }'],
        ['b.test.ts', expect.stringContaining('nothing.ts')],
        ['outside of any test', 'nobody caught it'],
      ]),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
