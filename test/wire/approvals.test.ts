// Approvals with real kubectl on `flotilla up`: who may, who did, and that nobody speaks for the hub.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { flotilla } from './fleet.ts';
import { kubectlPath, program, run, type Server, skipsKubectl, startServer } from './server.ts';

const API = 'placement.kubernetes-fleet.io/v1beta1';
const manifests = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } },
  {
    apiVersion: API,
    kind: 'ClusterResourcePlacement',
    metadata: { name: 'web' },
    spec: {
      resourceSelectors: [{ group: '', version: 'v1', kind: 'Namespace', name: 'shop' }],
      policy: { placementType: 'PickAll' },
      strategy: { type: 'External' },
    },
  },
  {
    apiVersion: API,
    kind: 'ClusterStagedUpdateStrategy',
    metadata: { name: 's' },
    spec: {
      stages: [
        {
          name: 'all',
          labelSelector: {},
          beforeStageTasks: [{ type: 'Approval' }],
          afterStageTasks: [{ type: 'Approval' }],
        },
      ],
    },
  },
  {
    apiVersion: API,
    kind: 'ClusterStagedUpdateRun',
    metadata: { name: 'r' },
    spec: { placementName: 'web', stagedRolloutStrategyName: 's', state: 'Run' },
  },
];

/** As seed 002 writes it: the list is replaced as a whole. */
const approval = (...more: readonly object[]) =>
  JSON.stringify({
    status: {
      conditions: [
        {
          type: 'Approved',
          status: 'True',
          reason: 'lgtm',
          message: 'lgtm',
          lastTransitionTime: '2026-01-01T00:00:00Z',
          observedGeneration: 1,
        },
        ...more,
      ],
    },
  });

describe.skipIf(skipsKubectl)('approvals on flotilla up', () => {
  const home = mkdtempSync(join(tmpdir(), 'flotilla-approvals-'));
  let server: Server;
  beforeAll(async () => {
    server = await startServer({ command: 'up', args: ['--members', '2', '--in-memory'] });
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    rmSync(home, { recursive: true, force: true });
  });

  const patch = (name: string, body: string, as: readonly string[] = []) =>
    server.kubectl([
      'patch',
      'clusterapprovalrequests',
      name,
      '--subresource=status',
      '--type=merge',
      '-p',
      body,
      ...as,
    ]);
  const wait = (what: string, condition: string) => server.ok(['wait', what, `--for=${condition}`, '--timeout=60s']);
  const read = async (what: string) => JSON.parse(await server.ok(['get', what, '-o', 'json']));

  test('are given by whom the approver role is given to, signed, and taken by the hub alone', async () => {
    const list = { apiVersion: 'v1', kind: 'List', items: manifests };
    await server.ok(['apply', '-f', '-'], JSON.stringify(list));
    await wait('careq/r-before-all', 'create');
    const ann = ['--as=ann', '--as-group=system:authenticated'];

    expect((await patch('r-before-all', approval(), ann)).stderr).toContain('Forbidden');
    await server.ok([
      'create',
      'clusterrolebinding',
      'approvers',
      '--clusterrole=flotilla-cluster-approver',
      '--user=ann',
    ]);
    const forged = approval({
      type: 'ApprovalAccepted',
      status: 'True',
      reason: 'ApprovalRequestApprovalAccepted',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    });
    expect((await patch('r-before-all', forged)).stderr).toContain('ApprovalAccepted is written by the hub alone');
    expect(await patch('r-before-all', approval(), ann)).toMatchObject({ code: 0 });
    await wait('careq/r-before-all', 'condition=ApprovalAccepted');
    const { status, metadata } = await read('careq/r-before-all');
    expect(status.approval).toMatchObject({ user: 'ann', groups: ['system:authenticated'], generation: 1 });

    // S2-11: once more, by an administrator, without what the hub has said.
    expect((await patch('r-before-all', approval())).stdout).toContain('patched (no change)');
    expect((await read('careq/r-before-all')).metadata.resourceVersion).toBe(metadata.resourceVersion);
    expect(await server.ok(['describe', 'careq', 'r-before-all'])).toMatch(
      /Approval:\n.*\n.*\n.*\n.*\n\s+User:\s+ann\n/,
    );
  });

  test('are given by the program and by the plugin', async () => {
    const KUBECONFIG = server.kubeconfig;
    const again = await flotilla(home, ['approve', 'r', '--stage', 'all', '--before'], { KUBECONFIG });
    expect(again).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^error: the approval before stage "all" of ClusterStagedUpdateRun "r" is given already by "ann" at .*Z\n$/,
      ),
    });
    await wait('careq/r-after-all', 'create');
    // As the README has it, word for word.
    const root = dirname(dirname(dirname(program)));
    const page = readFileSync(join(root, 'README.md'), 'utf8');
    const [, install = '', approve = ''] =
      /```sh\n(mkdir -p .*kubectl-fleet\n)export PATH=\$HOME\/\.local\/bin:\$PATH\n(kubectl fleet approve .*)\n```/.exec(
        page,
      ) ?? [];
    const env = { ...process.env, HOME: home, KUBECONFIG, PATH: `${home}/.local/bin:${process.env['PATH']}` };
    expect(await run('sh', ['-c', install], { env, cwd: root })).toMatchObject({ code: 0 });
    const fleet = (args: readonly string[]) => run(kubectlPath as string, ['fleet', 'approve', ...args], { env });
    expect((await fleet(['careq', '--name', 'r-after-all'])).stderr).toContain("'--hub-cluster-context <name>'");
    const named = ['--hub-cluster-context', 'hub', '--name', 'r-after-all'];
    expect((await fleet(['careq', ...named, '-n', 'shop'])).stderr).toContain('is in no namespace');
    const printed = approve.replace('REQUEST', 'r-after-all').split(' ').slice(3);
    expect(printed).toEqual(['clusterapprovalrequest', ...named]);
    expect(await fleet(printed)).toMatchObject({
      code: 0,
      stdout: 'clusterapprovalrequest.placement.kubernetes-fleet.io/r-after-all approved\n',
    });
    await wait('csur/r', 'condition=Succeeded');
    expect(await server.ok(['get', 'events', '--field-selector', 'involvedObject.name=r'])).toContain(
      'the approval of "ann" for "r-before-all" is accepted',
    );
  });
});
