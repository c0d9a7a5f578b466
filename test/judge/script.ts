// The judge's list: scripts of kubectl commands and of raw requests, played on a real Kubernetes and on ours; what comes back must be the same.
import type { Request } from './server.ts';

/** Why the two may differ: the id of a row in docs/known-differences.md. */
export type KnownDifference = string;

interface Judged {
  /** Lines that are left out on both sides, each with the difference that explains it. */
  readonly without?: readonly { readonly line: RegExp; readonly known: KnownDifference }[];
  /** What ours says instead, normalised; without a text, another test says what. The judge fails when the two no longer differ. */
  readonly differs?: { readonly known: KnownDifference; readonly text?: string };
  /** Why the lines come in no order on a real server: they are compared as a set. */
  readonly unordered?: string;
}

export interface Command extends Judged {
  /** What follows `kubectl`, quoted as for a shell (single quotes only). */
  readonly run: string;
  /** Standard input. */
  readonly input?: string;
  /** Files beside the command: `FILES/name` in `run` stands for them. */
  readonly files?: Readonly<Record<string, string>>;
  /** Environment; `EDITOR` scripts and the like. */
  readonly env?: Readonly<Record<string, string>>;
}

/** In path and body `{{name}}` stands for what an earlier answer was kept as. */
export interface Question extends Judged, Request {
  /** What is asked, in words, where the path does not say it. */
  readonly it?: string;
  /** Values of the answer that later steps need: name → place, `metadata.resourceVersion`. */
  readonly keep?: Readonly<Record<string, string>>;
  /** Asks again until the answer has this code: what somebody does in the background is waited for. */
  readonly until?: number;
}

export type Step = Command | Question;

export interface Script {
  readonly name: string;
  readonly steps: readonly Step[];
}

export type StepLike = string | Step;

export function script(name: string, steps: readonly StepLike[]): Script {
  return { name, steps: steps.map((step) => (typeof step === 'string' ? { run: step } : step)) };
}

export const isCommand = (step: Step): step is Command => 'run' in step;

/** How a step is called in reports and recordings. */
export function titleOf(step: Step): string {
  if (isCommand(step)) return step.run;
  const method = step.method ?? (step.body === undefined ? 'GET' : 'POST');
  return `${step.it === undefined ? '' : `${step.it}: `}${method} ${step.path.slice(0, 200)}`;
}

/** Splits a command line at spaces; single quotes keep together what is between them. */
export function words(line: string): readonly string[] {
  const found = line.match(/(?:[^\s']|'[^']*')+/g) ?? [];
  return found.map((word) => word.replace(/'([^']*)'/g, '$1'));
}
