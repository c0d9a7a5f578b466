// The mutants fit the program: found here in a second, not by `npm run mutants` in minutes.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { scenarios } from '../../src/main/simulation/scenarios.ts';
import { deliveryMutants } from './mutants/delivery.ts';
import { mutated } from './mutants/mutant.ts';
import { mutants } from './mutants/mutants.ts';
import { stagedMutants } from './mutants/staged.ts';

const textOf = (file: string) => readFileSync(resolve(import.meta.dirname, '../..', file), 'utf8');

describe('a mutant', () => {
  test.each([...mutants, ...deliveryMutants, ...stagedMutants])(
    '"$name" has its place in the program, once',
    (mutant) => {
      const text = textOf(mutant.file);
      expect(mutated(text, mutant)).not.toBe(text);
      expect(scenarios.map(({ name }) => name)).toContain(mutant.caughtBy);
      expect(mutant.danger).not.toBe('');
      // The tests of other folders are not asked whether they see it.
      expect(mutant.file).toMatch(/^src\/(runtime|hub|member)\//);
    },
  );

  test.each(['never', 'const'])('whose text is not there exactly once (%s) is refused', (find) => {
    const [mutant] = mutants;
    expect(() => mutated('const a = 1;\nconst b = 2;\n', { ...mutant!, find })).toThrow(/not once/);
  });

  test('has a name of its own', () => {
    const all = [...mutants, ...deliveryMutants, ...stagedMutants];
    expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
  });
});
