import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { firstSteps } from './first-steps.ts';

const root = resolve(import.meta.dirname, '../..');

describe('the first steps', () => {
  test('are those of the README', () => {
    const readme = readFileSync(resolve(root, 'README.md'), 'utf8').split('\n');
    for (const step of firstSteps([{ name: 'member-3' }])) expect(readme).toContain(step);
  });

  test('name files that are there', () => {
    const files = firstSteps([{ name: 'east' }]).flatMap((step) => step.match(/\S+\.yaml/g) ?? []);
    expect(files).toHaveLength(2);
    for (const file of files) expect(existsSync(resolve(file))).toBe(true);
  });

  test('are few where there is no member', () => {
    expect(firstSteps([])).toEqual(['kubectl get memberclusters']);
  });
});
