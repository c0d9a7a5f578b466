// A mutant: a few words of the program, broken on purpose. A simulation that cannot fail proves nothing; each mutant shows that it can.

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
}

/** The broken file. Throws when what is to be replaced is not there once: then the mutant has to follow the program. */
export function mutated(text: string, { name, file, find, replace }: Mutant): string {
  const parts = text.split(find);
  if (parts.length !== 2) {
    throw new Error(`mutant "${name}": ${file} has ${parts.length - 1} times ${JSON.stringify(find)}, not once`);
  }
  return parts.join(replace);
}

/** Where the tests are that should notice it: beside it, and those of the runtime and of scenarios in general. */
export function testsNear({ file }: Pick<Mutant, 'file'>): readonly string[] {
  const beside = file.slice(0, file.lastIndexOf('/') + 1);
  const wide = beside === 'src/runtime/' ? ['test/runtime/', 'src/hub/membership/', 'src/member/heartbeat/'] : [];
  return [beside, ...wide, 'test/scenarios/'];
}
