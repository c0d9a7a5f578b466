// What a real Kubernetes 1.34.4 answered: per script one file, per step one text for every kubectl that printed something else.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Script } from './script.ts';

export interface Recorded {
  readonly run: string;
  readonly printed: readonly string[];
}

const fileOf = (script: Script) => join(import.meta.dirname, 'golden', `${script.name}.json`);

export function recorded(script: Script): readonly Recorded[] {
  const file = fileOf(script);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as readonly Recorded[]) : [];
}

/** Adds what was seen now to what was seen with other versions of kubectl; steps that have changed start anew. */
export function record(script: Script, seen: readonly string[]): void {
  const before = recorded(script);
  const after = script.steps.map((step, index): Recorded => {
    const text = seen[index] as string;
    const known = before[index]?.run === step.run ? before[index].printed : [];
    return { run: step.run, printed: known.includes(text) ? known : [...known, text] };
  });
  writeFileSync(fileOf(script), `${JSON.stringify(after, undefined, 1)}\n`);
}
