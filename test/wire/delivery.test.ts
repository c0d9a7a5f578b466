// The README's first page is true: its commands, in its order, word for word, do what it says; and a restart loses nothing.
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { kubectlPath, type Result, run, type Server, skipsKubectl, startServer } from './server.ts';

const root = resolve(import.meta.dirname, '../..');

/** The lines of the shell blocks of a section. */
function commandsOf(section: string): readonly string[] {
  const page = readFileSync(join(root, 'README.md'), 'utf8');
  const from = page.indexOf(`\n## ${section}\n`);
  const text = page.slice(from, page.indexOf('\n## ', from + 1));
  return [...text.matchAll(/```sh\n(.*?)```/gs)].flatMap(([, block]) => (block as string).trim().split('\n'));
}

const ALIAS = `alias flotilla="node '$PWD/dist/main/flotilla.js'"`;

describe.skipIf(skipsKubectl)('a newcomer', () => {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-newcomer-'));
  let server: Server | undefined;
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  const shell = (command: string): Promise<Result> =>
    run('/bin/sh', ['-c', `${ALIAS}\n${command}`], {
      cwd: root,
      env: {
        PATH: `${folder}:${dirname(process.execPath)}:${process.env['PATH']}`,
        HOME: folder,
        KUBECONFIG: server?.kubeconfig,
      },
    });
  const ok = async (command: string): Promise<string> => {
    const { code, stdout, stderr } = await shell(command);
    expect({ code, stderr }, `${command}\n${stdout}`).toEqual({ code: 0, stderr: '' });
    return stdout;
  };
  const image = (member: string) =>
    ok(
      `kubectl --context ${member} -n shop get deployment web -o 'jsonpath={.spec.template.spec.containers[0].image}'`,
    );
  const images = () => Promise.all(['member-1', 'member-2', 'member-3'].map(image));

  const onMember = 'kubectl --context member-1 -n shop';
  const culprit = /MemberCluster "member-1" blocks the rollout \(starting: Deployment "shop\/web" is not available/;
  /** Each command of the page and what is seen. A person takes a moment between two; here `once` waits for what that moment brings. */
  const steps: readonly { readonly command: string; readonly once?: string; sees(result: Result): unknown }[] = [
    {
      command: 'kubectl get memberclusters',
      sees: ({ stdout }) => expect(stdout.match(/^member-[123] +True/gm)).toHaveLength(3),
    },
    {
      command: 'kubectl apply -f examples/shop.yaml -f examples/placement.yaml',
      sees: ({ stdout }) => expect(stdout.match(/ created$/gm)).toHaveLength(3),
    },
    {
      command: 'kubectl wait --for=condition=ClusterResourcePlacementAvailable crp/shop --timeout=60s',
      sees: async () => expect(await images()).toEqual(['web:1', 'web:1', 'web:1']),
    },
    {
      command: 'kubectl --context member-3 -n shop get deployments',
      sees: ({ stdout }) => expect(stdout).toMatch(/^web +2\/2 +2 +2 /m),
    },
    {
      command: 'kubectl -n shop set image deployment/web web=web:bad',
      sees: ({ stdout }) => expect(stdout).toBe('deployment.apps/web image updated\n'),
    },
    {
      command: 'flotilla status placement/shop',
      once: `kubectl wait crp/shop --timeout=60s '--for=jsonpath={.status.holds[?(@.code=="NotAvailable")].facts.cause}=starting'`,
      sees({ code, stdout }) {
        expect(code).toBe(2);
        expect(stdout).toMatch(culprit);
        expect(stdout).toMatch(
          /^member-1 +NotAvailable +1 .*Deployment "shop\/web".*\nmember-2 +Waiting +0 .*\nmember-3 +Waiting +0 /m,
        );
      },
    },
    {
      command: 'flotilla why placement/shop',
      once: `${onMember} wait deployment/web '--for=jsonpath={.status.unavailableReplicas}=1' --timeout=60s && ${onMember} wait pods --field-selector=status.phase=Pending '--for=jsonpath={.status.containerStatuses[0].state.waiting.reason}=ImagePullBackOff' --timeout=60s`,
      async sees({ code, stdout }) {
        expect(code).toBe(2);
        const [root, sentence, , evidence] = stdout.split('\n');
        expect(root).toMatch(
          /^Blocked: Pod "shop\/web-.*" on cluster "member-1": container "web" \(web:bad\): ImagePullBackOff/,
        );
        expect(sentence).toMatch(/^ClusterResourcePlacement "shop" waits: MemberCluster "member-1" blocks the rollout/);
        expect(evidence).toBe('Evidence:');
        expect(stdout).toMatch(/2 clusters wait: member-2, member-3/);
        expect(stdout).toMatch(/Work "fleet-member-member-1\/shop-work"/);
        expect(stdout).toMatch(
          /Pod "shop\/web-.*" on cluster "member-1"\n +container "web" \(web:bad\): ImagePullBackOff/,
        );
        expect(stdout).toMatch(
          /\nWhat you can do:\n {2}- look at Deployment .*`kubectl --context member-1 -n shop get pods`\n {2}- wait for cluster "member-1", or fix the objects that do not become available there/,
        );
        expect(await images()).toEqual(['web:bad', 'web:1', 'web:1']);
      },
    },
    {
      command: 'kubectl --context member-3 -n shop get deployments -o wide',
      sees: ({ stdout }) => expect(stdout).toMatch(/^web +2\/2 .* web:1 /m),
    },
    {
      command: 'kubectl -n shop set image deployment/web web=web:2',
      sees: ({ stdout }) => expect(stdout).toBe('deployment.apps/web image updated\n'),
    },
    {
      command: 'flotilla status placement/shop --watch --timeout 60s',
      async sees({ code, stdout }) {
        expect({ code, stdout }).toEqual({
          code: 0,
          stdout: expect.stringContaining('available on 3 of 3 clusters, complete'),
        });
        expect(await images()).toEqual(['web:2', 'web:2', 'web:2']);
      },
    },
  ];
  const others = [
    'npm ci && npm start',
    'export KUBECONFIG="$PWD/.flotilla/kubeconfig"',
    ALIAS,
    // The thin client; test/wire/cli.test.ts has it.
    'flotilla get memberclusters',
    'flotilla apply -f examples/shop.yaml -f examples/placement.yaml',
    'flotilla describe crp shop',
    // The kubectl plugin; test/wire/approvals.test.ts has it.
    'mkdir -p ~/.local/bin && ln -sf "$PWD/dist/main/kubectl-fleet.js" ~/.local/bin/kubectl-fleet && chmod +x ~/.local/bin/kubectl-fleet',
    'export PATH=$HOME/.local/bin:$PATH',
    'kubectl fleet approve clusterapprovalrequest --hub-cluster-context hub --name REQUEST',
  ];

  test('has a step here for every command of the page, in its order', () => {
    expect(commandsOf('Run it').filter((command) => !others.includes(command))).toEqual(
      steps.map(({ command }) => command),
    );
  });

  test('ships, is stopped by the budget, is told why, and mends it', async () => {
    symlinkSync(kubectlPath as string, join(folder, 'kubectl'));
    server = await startServer({ folder, command: 'up' });
    for (const { command, once, sees } of steps) {
      if (once !== undefined) await ok(once);
      const result = await shell(command);
      if (command.startsWith('kubectl')) expect(result, command).toMatchObject({ code: 0, stderr: '' });
      await sees(result);
    }
  });

  test('finds it all again after a restart, and nothing moves', async () => {
    const everything = () =>
      ok("kubectl get memberclusters,crp,crs,csps,crb,works -A -o 'jsonpath={.items[*].metadata.uid}'");
    const running = () => ok("kubectl --context member-2 -n shop get pods -o 'jsonpath={.items[*].metadata.uid}'");
    const before = [await everything(), await running()];
    expect(await server?.stop('SIGINT')).toBe(0);
    await server?.[Symbol.asyncDispose]();
    server = await startServer({ folder, command: 'up' });
    expect([await everything(), await running()]).toEqual(before);
    expect(await ok('flotilla why placement/shop')).toContain('ClusterResourcePlacement "shop" is complete');
  });
});
