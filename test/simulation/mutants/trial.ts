// Plays the simulation with one mutant in it. The broken module is loaded by a hook in place of the sound one.
import { spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { messageOf } from '../../../src/base/errors.ts';
import { type Mutant, mutated, readSource } from './mutant.ts';

export const root: string = resolve(import.meta.dirname, '../../..');

export interface Verdict {
  readonly mutant: Mutant;
  /** The seed that noticed, and its objection; undefined = the mutant lives. */
  readonly caught?: { readonly seed: number; readonly text: string };
  /** The mutant could not be tried. */
  readonly problem?: string;
}

export interface Ended {
  readonly code: number | null;
  readonly output: string;
}

export function runNode(cwd: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  return new Promise((settle, reject) => {
    const child = spawn(process.execPath, args, {
      cwd,
      env: { ...process.env, ...env },
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

/** The first seed that fails; undefined = none does. Without a mutant the sound program is played. */
async function objection(
  scenario: string,
  { first, runs }: Seeds,
  swap?: { readonly file: string; readonly by: string },
): Promise<Verdict['caught']> {
  const hook = swap === undefined ? [] : ['--import', pathToFileURL(join(import.meta.dirname, 'swap.mjs')).href];
  const swaps = swap && [[pathToFileURL(join(root, swap.file)).href, pathToFileURL(swap.by).href]];
  const { code, output } = await runNode(
    root,
    [
      ...['--import', 'tsx', ...hook, 'test/simulation/run.ts', '--scenario', scenario],
      ...['--seed', String(first), '--runs', String(runs), '--first'],
    ],
    swaps ? { FLOTILLA_SWAPS: JSON.stringify(swaps) } : {},
  );
  const found = /^FAILED (\S+) with seed (\d+) .*\n {2}(.*)/m.exec(output);
  if (found)
    return { seed: Number(found[2]), text: `seed ${found[2]} of ${found[1]}: ${found[3]?.slice(0, 110) ?? ''}` };
  // A mutant that breaks the program before it runs proves nothing about the simulation.
  if (code !== 0 || !new RegExp(`^${scenario}: \\d+ runs`, 'm').test(output))
    throw new Error(`the simulation did not run (${code}): ${output.slice(-500)}`);
  return undefined;
}

/** Tries the seed that killed it last, if there is one, then the usual ones. */
export async function tried(
  mutant: Mutant,
  folder: string,
  { seeds, killer }: { readonly seeds: number; readonly killer?: number | undefined },
): Promise<Verdict> {
  try {
    const swap = { file: mutant.file, by: join(mkdtempSync(join(folder, 'mutant-')), 'mutant.mts') };
    writeFileSync(swap.by, mutated(readSource(root, mutant.file), mutant));
    const again = killer === undefined ? undefined : await objection(mutant.caughtBy, { first: killer, runs: 1 }, swap);
    const caught = again ?? (await objection(mutant.caughtBy, { first: 1, runs: seeds }, swap));
    if (caught === undefined) return { mutant };
    // An objection to the sound program says nothing about the mutant.
    const sound = await objection(mutant.caughtBy, { first: caught.seed, runs: 1 });
    return sound === undefined
      ? { mutant, caught }
      : { mutant, problem: `the sound program fails there, too: ${sound.text}` };
  } catch (error) {
    return { mutant, problem: messageOf(error) };
  }
}
