// What a real Kubernetes 1.34.4 and its kubectl printed: per script one file, per step one text.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Script } from './script.ts';

export interface Recorded {
  readonly run: string;
  readonly printed: string;
}

const fileOf = (script: Script) => join(import.meta.dirname, 'golden', `${script.name}.json`);

export function recorded(script: Script): readonly Recorded[] {
  const file = fileOf(script);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as readonly Recorded[]) : [];
}

export function record(script: Script, seen: readonly string[]): void {
  const steps = script.steps.map((step, index): Recorded => ({ run: step.run, printed: seen[index] as string }));
  writeFileSync(fileOf(script), `${JSON.stringify(steps, undefined, 1)}\n`);
}
