// A terminal in which the blocks of a page are typed, in their order, word for word, and print what stands below them (seeds-walk.ts).
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect } from 'vitest';
import { patience } from '../../scripts/gate/patience.ts';
import { type Running, start } from './fleet.ts';
import { isAsShown, type Step, stepsOf } from './seeds-walk.ts';
import { kubectlPath, program, run } from './server.ts';

export interface Terminal extends AsyncDisposable {
  /** The working directory; it has kubectl and flotilla. */
  readonly folder: string;
  /** Takes the steps of a page, and stops the fleet that the last of them leaves. */
  walk(page: string, steps: readonly Step[]): Promise<void>;
}

/** It runs in a terminal of its own until the next one, or the end. */
const LASTING = /^flotilla (up .*)\n$/;
/** One block has many commands, and each of those that wait has a limit of its own. */
const PATIENCE_MS = patience(300_000);

/** Of a page of the project, or of what follows a heading of it. */
export function stepsIn(page: string, heading?: string): readonly Step[] {
  const text = readFileSync(resolve(import.meta.dirname, '../..', page), 'utf8');
  if (heading === undefined) return stepsOf(text);
  const at = text.indexOf(`\n${heading}\n`);
  if (at < 0) throw new Error(`${page} has no heading "${heading}"`);
  const before = text.slice(0, at).replace(/[^\n]/g, '');
  return stepsOf(`${before}${text.slice(at)}`);
}

export function aTerminal(): Terminal {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-walk-'));
  symlinkSync(kubectlPath as string, join(folder, 'kubectl'));
  const script = `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`;
  writeFileSync(join(folder, 'flotilla'), script, { mode: 0o755 });
  const env = { PATH: `${folder}:${process.env['PATH']}`, HOME: folder };
  let fleet: Running | undefined;
  /** Typed into one terminal, they are in force from then on. */
  let exports = '';

  async function startFleet(words: string, { prints }: Step, where: string): Promise<void> {
    await stopFleet();
    // Here others may have the usual port, and the working directory is not the one of a newcomer's terminal.
    fleet = start(folder, [...words.split(' '), '--port', '0', '--data-dir', join(folder, '.flotilla')], env);
    await fleet.says(/^try:\n( {2}.*\n)+$/m, patience(120_000));
    if (!isAsShown(prints, fleet.output())) expect(fleet.output(), where).toBe(prints);
  }

  async function stopFleet(): Promise<void> {
    expect(await fleet?.stop('SIGINT')).toBe(fleet && 0);
    fleet = undefined;
  }

  async function type(step: Step, where: string): Promise<void> {
    const text = `exec 2>&1\n${exports}${step.commands}`;
    const { code, stdout } = await run('/bin/sh', ['-c', text], { cwd: folder, env, timeoutMs: PATIENCE_MS });
    if (!isAsShown(step.prints, stdout)) expect(stdout, where).toBe(step.prints);
    expect(code, where).toBe(step.code);
    exports += (step.commands.match(/^export .*\n/gm) ?? []).join('');
  }

  return {
    folder,
    async walk(page, steps) {
      expect(steps.length).toBeGreaterThan(5);
      for (const step of steps) {
        const [, words] = LASTING.exec(step.commands) ?? [];
        const where = `${page}:${step.line}`;
        await (words === undefined ? type(step, where) : startFleet(words, step, where));
      }
      expect(fleet).toBeDefined();
      await stopFleet();
    },
    async [Symbol.asyncDispose]() {
      await fleet?.[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
