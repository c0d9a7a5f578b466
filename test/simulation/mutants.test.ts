// The mutants match the program: checked here in a second, not by `npm run mutants` in minutes.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { allMutants, MIN_TRIED, mutantsFor } from './mutants/all.ts';
import { mutated } from './mutants/mutant.ts';
import { scenarios } from './scenarios/scenarios.ts';

const textOf = (file: string) => readFileSync(resolve(import.meta.dirname, '../..', file), 'utf8');

describe('a mutant', () => {
  test.each(allMutants)('"$name" has its place in the program, once', (mutant) => {
    const text = textOf(mutant.file);
    expect(mutated(text, mutant)).not.toBe(text);
    expect(scenarios.map(({ name }) => name)).toContain(mutant.caughtBy);
    expect(mutant.danger).not.toBe('');
    // alone.ts does not run the tests of other folders.
    expect(mutant.file).toMatch(/^src\/(runtime|hub|member)\//);
  });

  test.each(['never', 'const'])('whose text is not there exactly once (%s) is refused', (find) => {
    const [mutant] = allMutants;
    expect(() => mutated('const a = 1;\nconst b = 2;\n', { ...mutant!, find })).toThrow(/not once/);
  });

  test('has a name of its own', () => {
    expect(new Set(allMutants.map(({ name }) => name)).size).toBe(allMutants.length);
  });
});

describe('the mutants that a gate tries', () => {
  const files = [...new Set(allMutants.map(({ file }) => file))];

  test('are all, from another one on for each seed, while it is not known what has changed', () => {
    expect(mutantsFor(allMutants, undefined, 0)).toEqual(allMutants);
    expect(mutantsFor(allMutants, undefined, 1)).toEqual([...allMutants.slice(1), allMutants[0]]);
  });

  test('are those whose file has changed', () => {
    const touched = allMutants.filter(({ file }) => file !== files[0]);
    expect(mutantsFor(allMutants, files.slice(1), 1)).toEqual(touched);
  });

  test('are a few others, which change with the seed, where nothing has changed', () => {
    const few = mutantsFor(allMutants, ['README.md'], 5);
    expect(few).toHaveLength(MIN_TRIED);
    expect(few).not.toEqual(mutantsFor(allMutants, [], 6));
    expect(mutantsFor(allMutants, [], allMutants.length - 1)).toHaveLength(MIN_TRIED);
  });

  test('have last been caught by a seed that is written down by their names', () => {
    const killers = JSON.parse(textOf('test/simulation/mutants/killers.json')) as Record<string, number>;
    const names = allMutants.map(({ name }) => name);
    expect(Object.keys(killers).filter((name) => !names.includes(name))).toEqual([]);
  });
});
