// kubectl kustomize and helm template run on what a repository has: each within its limits, and a failure is a sentence.
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { patience } from '../../../scripts/gate/patience.ts';
import { findKubectl } from '../../../scripts/kubectl.ts';
import type { RenderFile } from '../../hub/git/renderer.ts';
import { type RenderLimits, renderPrograms } from './render-programs.ts';

const kubectl = findKubectl({ mayBuild: false });
const FILES: readonly RenderFile[] = [
  { path: 'kustomization.yaml', text: 'resources: [a.yaml]\nnamePrefix: my-\n' },
  { path: 'a.yaml', text: 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\n' },
];

describe('kustomize', () => {
  let root: string;
  let bin: string;
  let directory: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'render-programs-'));
    bin = mkdtempSync(join(root, 'bin-'));
    directory = join(root, 'data');
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  const kubectlIs = (script: string) => writeFileSync(join(bin, 'kubectl'), `#!/bin/sh\n${script}\n`, { mode: 0o700 });
  const rendererWith = (limits: Partial<RenderLimits>) =>
    renderPrograms({ directory, limits, path: `${bin}:/usr/bin:/bin` });
  const rendered = (limits: Partial<RenderLimits> = {}, renderer = rendererWith(limits)) =>
    renderer
      .kustomize(FILES, '')
      .catch(({ reason, message }: { reason: string; message: string }) => `${reason}: ${message}`);
  const isRunning = (pid: number): boolean => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };

  test('that does not end is ended with all that it started, and the next one runs', async () => {
    // The program and a child of it, neither of which listens to anything but SIGKILL.
    kubectlIs(`trap '' TERM INT HUP\nsleep 1000 &\necho $! $$ >> '${root}/pids'\nwait`);
    const limits = { timeoutMs: patience(500) };
    const renderer = rendererWith(limits);
    // More than run at a time.
    const all = await Promise.all([1, 2, 3].map(() => rendered(limits, renderer)));
    expect(all).toEqual(Array(3).fill(`TimedOut: kubectl did not finish within ${limits.timeoutMs / 1000} s`));
    const pids = readFileSync(join(root, 'pids'), 'utf8').trim().split(/\s+/).map(Number);
    expect(pids.length).toBe(2 * 3);
    await expect.poll(() => pids.filter(isRunning), { timeout: patience(5_000) }).toEqual([]);
    kubectlIs('echo done');
    expect(await rendered(limits, renderer)).toBe('done\n');
    expect(readdirSync(directory)).toEqual([]);
  });

  test('that prints without end is ended', async () => {
    kubectlIs('while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done');
    expect(await rendered({ outputBytes: 100_000 })).toBe('RenderFailed: kubectl printed more than 100000 bytes');
  });

  test('that takes more memory than it may fails, and needs less for a bundle', async () => {
    // It doubles a text until there is no room for it.
    kubectlIs(`awk 'BEGIN { x = "x"; while (length(x) < ${2 ** 26}) x = x x; print length(x) }'`);
    const failed = await rendered({ memoryKiB: 60_000 });
    expect(failed).toMatch(/^RenderFailed: kubectl: .*memory/);
    expect(await rendered({ memoryKiB: 4_000_000 })).toBe(`${2 ** 26}\n`);
  });

  test('is told nothing of the machine', async () => {
    kubectlIs('env');
    const env = (await rendered()).split('\n').map((line) => line.split('=')[0]);
    expect(env.filter((name) => /TOKEN|SSH|^KUBERNETES|^USER$/.test(name ?? ''))).toEqual([]);
    kubectlIs('echo "$KUBECONFIG $HTTPS_PROXY"; ls -A "$HOME" 2>&1 | wc -l; ls -d bundle/*');
    expect(await rendered()).toBe('/dev/null http://127.0.0.1:9\n1\nbundle/a.yaml\nbundle/kustomization.yaml\n');
  });

  test.skipIf(kubectl === undefined)(
    'of a real kubectl renders within the limits, and names memory below them',
    async () => {
      symlinkSync(kubectl as string, join(bin, 'kubectl'));
      expect(await rendered()).toContain('name: my-a');
      const failed = await rendered({ memoryKiB: 100_000 });
      expect(failed).toMatch(/^RenderFailed: kubectl: .*memory/);
      // One line, not the stacks of a crash.
      expect(failed).not.toContain('goroutine');
    },
  );
});
