// A mutant: a small, deliberate bug in the program. A simulation that cannot fail proves nothing; each mutant proves
// that it can.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Mutant {
  /** The wrong behavior of the mutated program. */
  readonly name: string;
  /** Why that is dangerous. */
  readonly danger: string;
  /** Relative to the root of the repository. */
  readonly file: string;
  /** Occurs in the file exactly once. */
  readonly find: string;
  readonly replace: string;
  /** The scenario that catches it within 300 seeds. */
  readonly caughtBy: string;
  /** Only the simulation catches it: no table, property or scenario fails. */
  readonly alone?: true;
}

/** The mutated file. Throws unless `find` occurs exactly once: then the mutant must be updated. */
export function mutated(text: string, { name, file, find, replace }: Mutant): string {
  const parts = text.split(find);
  if (parts.length !== 2) {
    throw new Error(`mutant "${name}": ${file} has ${parts.length - 1} times ${JSON.stringify(find)}, not once`);
  }
  return parts.join(replace);
}

/** Applies several mutants. Mutants of one file must not overlap. */
export const mutatedTogether = (text: string, file: string, mutants: readonly Mutant[]): string =>
  mutants.filter((mutant) => mutant.file === file).reduce(mutated, text);

export const readSource = (root: string, file: string): string => readFileSync(join(root, file), 'utf8');
