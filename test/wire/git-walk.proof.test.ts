// The walk of docs/git.md is true: seed 000 from a commit to Ready on 200 clusters. Its blocks, in their order, word for word, print what stands below them.
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { patience } from '../../scripts/gate/patience.ts';
import { type Running, start } from './fleet.ts';
import { isAsShown, type Step, stepsOf } from './seeds-walk.ts';
import { kubectlPath, program, run, skipsKubectl } from './server.ts';

const page = readFileSync(resolve(import.meta.dirname, '../../docs/git.md'), 'utf8');
const HEADING = '\n## From a commit to Ready\n';
const walk = page.slice(page.indexOf(HEADING));
/** It has a terminal of its own. */
const LASTING = /^flotilla (up .*)\n$/;
const PATIENCE_MS = patience(300_000);

describe.skipIf(skipsKubectl)('the walk of docs/git.md', () => {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-git-walk-'));
  const env = { PATH: `${folder}:${process.env['PATH']}`, HOME: folder };
  let fleet: Running | undefined;
  let exports = '';
  beforeAll(() => {
    symlinkSync(kubectlPath as string, join(folder, 'kubectl'));
    const script = `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`;
    writeFileSync(join(folder, 'flotilla'), script, { mode: 0o755 });
  });
  afterAll(async () => {
    await fleet?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  async function startFleet(words: string, { prints }: Step): Promise<void> {
    fleet = start(folder, [...words.split(' '), '--port', '0', '--data-dir', join(folder, '.flotilla')], env);
    await fleet.says(/^try:\n( {2}.*\n)+$/m, patience(120_000));
    if (!isAsShown(prints, fleet.output())) expect(fleet.output()).toBe(prints);
  }

  test('leads from a commit to Ready on 200 clusters', { timeout: patience(600_000) }, async () => {
    const steps = stepsOf(walk);
    expect(steps.length).toBeGreaterThan(5);
    for (const step of steps) {
      const [, words] = LASTING.exec(step.commands) ?? [];
      if (words !== undefined) {
        await startFleet(words, step);
        continue;
      }
      const script = `exec 2>&1\n${exports}${step.commands}`;
      const { code, stdout } = await run('/bin/sh', ['-c', script], { cwd: folder, env, timeoutMs: PATIENCE_MS });
      if (!isAsShown(step.prints, stdout)) expect(stdout, step.commands).toBe(step.prints);
      expect(code, step.commands).toBe(step.code);
      exports += (step.commands.match(/^export .*\n/gm) ?? []).join('');
    }
    expect(await fleet?.stop('SIGINT')).toBe(0);
  });
});
