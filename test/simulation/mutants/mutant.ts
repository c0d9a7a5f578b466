// A mutant: one line of the program, broken on purpose. Simulation that cannot fail proves nothing; each mutant shows that it can.

export interface Mutant {
  /** What the broken program does wrong. */
  readonly name: string;
  /** From the root of the repository. */
  readonly file: string;
  /** One whole line without its indentation; stands in the file exactly once. */
  readonly before: string;
  readonly after: string;
  /** Scenarios that may catch it. */
  readonly scenarios: readonly string[];
  /** True: all other tests stay green, only the simulation notices. `npm run mutants -- --tests` checks what is said here. */
  readonly isOnlySeenInSimulation: boolean;
}

/** The text of the file with the one line replaced. Throws when the line is not there: then the mutant has to follow the program. */
export function mutated(text: string, { name, file, before, after }: Mutant): string {
  const lines = text.split('\n');
  const found = lines.flatMap((line, index) => (line.trim() === before ? [index] : []));
  if (found.length !== 1) {
    throw new Error(`mutant "${name}": ${file} has ${found.length} lines that read ${JSON.stringify(before)}`);
  }
  const index = found[0] as number;
  const indentation = /^\s*/.exec(lines[index] as string)?.[0] ?? '';
  return lines.with(index, `${indentation}${after}`).join('\n');
}
