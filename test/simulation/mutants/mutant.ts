// A mutant: a few words of the program, broken on purpose. A simulation that cannot fail proves nothing; each mutant shows that it can.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Mutant {
  /** What the broken program does wrong. */
  readonly name: string;
  /** Why that must not be. */
  readonly danger: string;
  /** From the root of the repository. */
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly find: string;
  readonly replace: string;
  /** The scenario that catches it within 300 seeds. */
  readonly caughtBy: string;
  /** Said to be seen by nothing but the simulation: no table, property or scenario turns red. */
  readonly alone?: true;
}

/** The broken file. Throws when what is to be replaced is not there once: then the mutant has to follow the program. */
export function mutated(text: string, { name, file, find, replace }: Mutant): string {
  const parts = text.split(find);
  if (parts.length !== 2) {
    throw new Error(`mutant "${name}": ${file} has ${parts.length - 1} times ${JSON.stringify(find)}, not once`);
  }
  return parts.join(replace);
}

/** Of several at once. Mutants of one file must leave each other's text alone. */
export const mutatedTogether = (text: string, file: string, mutants: readonly Mutant[]): string =>
  mutants.filter((mutant) => mutant.file === file).reduce(mutated, text);

export const readSource = (root: string, file: string): string => readFileSync(join(root, file), 'utf8');
