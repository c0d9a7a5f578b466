// A transcript is a list of kubectl commands that is played on a real Kubernetes and on ours; what is printed must be the same.

/** Why the two may differ: the id of a row in docs/known-differences.md. */
export type Difference = string;

export interface Step {
  /** What follows `kubectl`, quoted as for a shell (single quotes only). */
  readonly run: string;
  /** Standard input. */
  readonly input?: string;
  /** Files beside the command: `FILES/name` in `run` stands for them. */
  readonly files?: Readonly<Record<string, string>>;
  /** Environment; `EDITOR` scripts and the like. */
  readonly env?: Readonly<Record<string, string>>;
  /** Lines that are left out on both sides, each with the difference that explains it. */
  readonly without?: readonly { readonly line: RegExp; readonly known: Difference }[];
  /** What ours prints instead, normalised. The test fails when the two no longer differ. */
  readonly differs?: { readonly known: Difference; readonly text: string };
  /** Why the lines come in no order on a real server: they are compared as a set. */
  readonly unordered?: string;
}

export interface Script {
  readonly name: string;
  readonly steps: readonly Step[];
}

export type StepLike = string | Step;

export function script(name: string, steps: readonly StepLike[]): Script {
  return { name, steps: steps.map((step) => (typeof step === 'string' ? { run: step } : step)) };
}

/** Splits a command line at spaces; single quotes keep together what is between them. */
export function words(line: string): readonly string[] {
  const found = line.match(/(?:[^\s']|'[^']*')+/g) ?? [];
  return found.map((word) => word.replace(/'([^']*)'/g, '$1'));
}
