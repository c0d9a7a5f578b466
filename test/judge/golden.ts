// What a real Kubernetes 1.34.4 and its kubectl answered: per script one file, per step one text. The cache of the real side.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Script, titleOf } from './script.ts';

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
  const steps = script.steps.map((step, index): Recorded => ({ run: titleOf(step), printed: seen[index] as string }));
  writeFileSync(fileOf(script), `${JSON.stringify(steps, undefined, 1)}\n`);
}
