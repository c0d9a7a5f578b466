// The checker of staged runs reads what a run says of its end. A sentence that nobody writes any more would be a check that cannot fail.
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const written = ['src/hub/staged', 'src/hub/planners']
  .flatMap((folder) => readdirSync(join(root, folder)).map((file) => join(root, folder, file)))
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n');
const checker = readFileSync(join(root, 'test/simulation/scenarios/staged-causes.ts'), 'utf8');

/** The longest run of plain words in each expression that is matched against a sentence. */
const read = [...checker.matchAll(/\/((?:[^/\\\n]|\\.)+)\/\.exec\(end\)/g)].map(([, pattern = '']) =>
  (pattern.match(/[a-zA-Z ]{8,}/g) ?? []).map((words) => words.trim()).toSorted((a, b) => b.length - a.length),
);

test('each sentence that it reads is one that the hub writes', () => {
  expect(read.length).toBeGreaterThanOrEqual(5);
  for (const [words] of read) expect(written, `"${words}"`).toContain(words);
});
