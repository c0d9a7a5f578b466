// Plays the simulation with one mutant. A module hook loads the mutated file in place of the original.
import { spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { messageOf } from '../../../src/base/errors.ts';
import { type Mutant, mutated, readSource } from './mutant.ts';

export const root: string = resolve(import.meta.dirname, '../../..');

export interface Verdict {
  readonly mutant: Mutant;
  /** The seed that caught it, with the failure; undefined = the mutant survives. */
  readonly caught?: { readonly seed: number; readonly text: string };
  /** The mutant could not be tried. */
  readonly problem?: string;
  /** The time box ended before a seed caught it: neither caught nor survived. */
  readonly isUndecided?: true;
}

export interface Ended {
  readonly code: number | null;
  readonly output: string;
}

export interface Surroundings {
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** Ends the process. */
  readonly signal?: AbortSignal | undefined;
}

export function runNode(cwd: string, args: readonly string[], { env, signal }: Surroundings = {}): Promise<Ended> {
  return new Promise((settle, reject) => {
    const child = spawn(process.execPath, args, {
      cwd,
      env: { ...process.env, ...env },
      ...(signal === undefined ? {} : { signal }),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    const keep = (chunk: Buffer) => {
      output += chunk.toString();
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.once('error', reject);
    child.once('close', (code) => settle({ code, output }));
  });
}

export interface Seeds {
  readonly first: number;
  readonly runs: number;
}

interface Played {
  /** Absent = the original program. */
  readonly swap?: { readonly file: string; readonly by: string };
  readonly signal?: AbortSignal | undefined;
}

/** The first failing seed; undefined = none fails. */
async function objection(
  scenario: string,
  { first, runs }: Seeds,
  { swap, signal }: Played,
): Promise<Verdict['caught']> {
  const hook = swap === undefined ? [] : ['--import', pathToFileURL(join(import.meta.dirname, 'swap.mjs')).href];
  const swaps = swap && [[pathToFileURL(join(root, swap.file)).href, pathToFileURL(swap.by).href]];
  const { code, output } = await runNode(
    root,
    [
      ...['--import', 'tsx', ...hook, 'test/simulation/run.ts', '--scenario', scenario],
      ...['--seed', String(first), '--runs', String(runs), '--first'],
    ],
    { env: swaps && { FLOTILLA_SWAPS: JSON.stringify(swaps) }, signal },
  );
  const found = /^FAILED (\S+) with seed (\d+) .*\n {2}(.*)/m.exec(output);
  if (found)
    return { seed: Number(found[2]), text: `seed ${found[2]} of ${found[1]}: ${found[3]?.slice(0, 110) ?? ''}` };
  // A mutant that breaks the program before it runs proves nothing about the simulation.
  if (code !== 0 || !new RegExp(`^${scenario}: \\d+ runs`, 'm').test(output))
    throw new Error(`the simulation did not run (${code}): ${output.slice(-500)}`);
  return undefined;
}

export interface Trial {
  readonly seeds: number;
  readonly killer?: number | undefined;
  /** The end of the time box. */
  readonly signal?: AbortSignal | undefined;
}

/** Tries the seed that caught it last, if there is one, then the usual ones. */
export async function tried(mutant: Mutant, folder: string, { seeds, killer, signal }: Trial): Promise<Verdict> {
  try {
    const swap = { file: mutant.file, by: join(mkdtempSync(join(folder, 'mutant-')), 'mutant.mts') };
    writeFileSync(swap.by, mutated(readSource(root, mutant.file), mutant));
    const broken = (range: Seeds) => objection(mutant.caughtBy, range, { swap, signal });
    const again = killer === undefined ? undefined : await broken({ first: killer, runs: 1 });
    const caught = again ?? (await broken({ first: 1, runs: seeds }));
    if (caught === undefined) return { mutant };
    // A failure of the original program proves nothing about the mutant.
    const sound = await objection(mutant.caughtBy, { first: caught.seed, runs: 1 }, { signal });
    return sound === undefined
      ? { mutant, caught }
      : { mutant, problem: `the sound program fails there, too: ${sound.text}` };
  } catch (error) {
    if (signal?.aborted) return { mutant, isUndecided: true };
    return { mutant, problem: messageOf(error) };
  }
}
