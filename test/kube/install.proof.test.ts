// docs/install.md is true: its commands, in its order, word for word, on control planes that have never heard of Flotilla.
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { patience } from '../../scripts/gate/patience.ts';
import { type Plane, removePlane, startPlane } from '../../scripts/kube/plane.ts';
import { findPrograms, type Programs } from '../../scripts/kube/programs.ts';
import { type Running, start } from '../wire/fleet.ts';
import { program, type Result, run } from '../wire/server.ts';
import { writeContexts } from './install.ts';
import { skipsPlanes } from './planes.ts';

const root = resolve(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/install.md'), 'utf8');
const commands = [...page.matchAll(/```sh\n(.*?)```/gs)].flatMap(([, block]) => (block as string).trim().split('\n'));
/** Done by whoever runs this suite. */
const PREPARED = 'npm ci && npm run build';
/** They run until they are stopped, so what follows is done meanwhile. */
const LASTING = /^flotilla (hub|member|pretend) /;

describe.skipIf(skipsPlanes)('docs/install.md', () => {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-install-'));
  const planes: readonly Plane[] = ['hub', 'member-1', 'member-2'].map((name) => ({
    name,
    folder: join(folder, name),
  }));
  const parts: Running[] = [];
  let env: NodeJS.ProcessEnv;
  beforeAll(async () => {
    const programs = findPrograms() as Programs;
    await Promise.all(planes.map((plane) => startPlane(plane, programs)));
    const kubeconfig = writeContexts(folder, Object.fromEntries(planes.map((plane) => [plane.name, plane])));
    symlinkSync(programs.kubectl, join(folder, 'kubectl'));
    symlinkSync(join(root, 'examples'), join(folder, 'examples'));
    writeFileSync(join(folder, 'flotilla'), `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`, {
      mode: 0o755,
    });
    env = { PATH: `${folder}:${process.env['PATH']}`, HOME: folder, KUBECONFIG: kubeconfig };
  });
  afterAll(async () => {
    for (const part of parts.toReversed()) await part[Symbol.asyncDispose]();
    await Promise.all(planes.map(removePlane));
    rmSync(folder, { recursive: true, force: true });
  });

  const shell = (command: string): Promise<Result> => run('/bin/sh', ['-c', command], { cwd: folder, env });
  const ok = async (command: string): Promise<string> => {
    const { code, stdout, stderr } = await shell(command);
    expect({ command, code, stderr }, stdout).toEqual({
      command,
      code: 0,
      stderr: expect.not.stringMatching(/error/i),
    });
    return stdout;
  };

  /** What is seen after some of the commands, and what a person's moment between two of them brings. */
  const sights: Readonly<
    Record<string, { readonly once?: string; readonly exit?: number; sees?(output: string): unknown }>
  > = {
    'kubectl --context member-2 -n shop get deployments': {
      sees: (output) => expect(output).toMatch(/^web +2\/2 +2 +2 /m),
    },
    'flotilla status placement/shop --context hub': {
      sees: (output) => expect(output).toContain('available on 2 of 2 clusters'),
    },
    'flotilla why placement/shop --context hub': {
      once: `kubectl --context hub wait crp/shop --timeout=60s '--for=jsonpath={.status.holds[?(@.code=="NotAvailable")].on.name}=member-1'`,
      exit: 2,
      sees: (output) =>
        expect(output).toMatch(
          /^Blocked: (Pod|MemberCluster "member-1": Deployment) .*\n.*"member-1" blocks the rollout/,
        ),
    },
    'flotilla status placement/shop --context hub --watch --timeout 60s': {
      sees: (output) => expect(output).toContain('available on 2 of 2 clusters, complete'),
    },
  };

  test('has commands, and all that are looked at closely', () => {
    expect(commands[0]).toBe(PREPARED);
    expect(Object.keys(sights).filter((command) => !commands.includes(command))).toEqual([]);
    expect(commands.filter((command) => LASTING.test(command))).toHaveLength(5);
  });

  test("leads from clusters of one's own to a fleet, and back", { timeout: patience(300_000) }, async () => {
    for (const command of commands.slice(1)) {
      if (LASTING.test(command)) {
        const part = start(
          folder,
          command
            .split(' ')
            .slice(1)
            .map((word) => (word.endsWith('.kubeconfig') ? join(folder, word) : word)),
          env,
        );
        parts.push(part);
        await part.says(/running; Ctrl-C stops/);
        continue;
      }
      const { once, exit, sees } = sights[command] ?? {};
      if (once !== undefined) await ok(once);
      if (exit === undefined) {
        const output = await ok(command);
        sees?.(output);
      } else {
        const { code, stdout } = await shell(command);
        expect(code).toBe(exit);
        sees?.(stdout);
      }
    }
    // With what was placed still there and the policy gone, the hub would begin to run it.
    expect(await ok('kubectl --context hub get deployments,replicasets,pods --all-namespaces -o name')).toBe('');
    for (const { name } of planes) {
      const left = await ok(`kubectl --context ${name} get crd,clusterroles,clusterrolebindings,namespaces -o name`);
      expect(left).not.toMatch(/fleet|flotilla/);
    }
  });
});
