// Plays scripts: one command after the other, each with what it printed as one text that can be compared.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Result, run } from '../server.ts';
import { normalise } from './normalise.ts';
import { type Script, type Step, words } from './script.ts';

export interface Player {
  readonly kubectl: string;
  readonly kubeconfig: string;
}

/** One text per step. */
export async function play(player: Player, script: Script): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-step-'));
  try {
    const printed: string[] = [];
    for (const [index, step] of script.steps.entries()) printed.push(await perform(player, step, folder, index));
    return printed;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function perform(player: Player, step: Step, folder: string, index: number): Promise<string> {
  for (const [name, text] of Object.entries(step.files ?? {})) writeFileSync(join(folder, name), text, { mode: 0o755 });
  const home = join(folder, `home-${index}`);
  const args = words(step.run).map((word) => word.replaceAll('FILES', folder));
  const result = await run(player.kubectl, ['--cache-dir', join(home, 'cache'), ...args], {
    env: {
      PATH: process.env['PATH'],
      LANG: 'C',
      TZ: 'UTC',
      HOME: home,
      KUBECONFIG: player.kubeconfig,
      ...Object.fromEntries(
        Object.entries(step.env ?? {}).map(([key, value]) => [key, value.replaceAll('FILES', folder)]),
      ),
    },
    ...(step.input === undefined ? {} : { input: step.input }),
  });
  return textOf(step, result, folder);
}

function textOf(step: Step, { code, stdout, stderr }: Result, folder: string): string {
  const linesOf = (stream: string): readonly string[] => {
    const text = normalise(stream.replaceAll(folder, 'FILES')).trimEnd();
    const lines = (text === '' ? [] : text.split('\n')).filter(
      (line) => !(step.without ?? []).some((left) => left.line.test(line)),
    );
    return step.unordered ? lines.sort() : lines;
  };
  const errors = linesOf(stderr);
  return [`exit ${code}`, ...linesOf(stdout), ...(errors.length > 0 ? [`stderr: ${errors.join('\n')}`] : [])].join(
    '\n',
  );
}
