// A release that people drive by runs goes wrong: the commands of the built program create, start, reject, stop, resume, freeze and roll back, in both
// scopes, and refuse in one sentence what cannot be.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { patience } from '../../scripts/gate/patience.ts';
import { flotilla } from './fleet.ts';
import { type Result, type Server, startServer } from './server.ts';

const API = 'placement.kubernetes-fleet.io/v1beta1';
const PATIENCE_MS = patience(60_000);
const OWN = 'kubernetes-fleet.io/member-name';
const only = (operator: 'In' | 'NotIn') => ({
  labelSelector: { matchExpressions: [{ key: OWN, operator, values: ['member-1'] }] },
});
const configMap = (value: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'app', namespace: 'shop' },
  data: { value },
});

const scopes = [
  { it: 'ClusterResourcePlacement', prefix: 'Cluster', flags: [] },
  { it: 'ResourcePlacement', prefix: '', flags: ['-n', 'shop'] },
] as const;

describe.each(scopes)('runs of a $it', ({ prefix, flags }) => {
  const home = mkdtempSync(join(tmpdir(), 'flotilla-runs-'));
  let server: Server | undefined;
  beforeAll(async () => {
    server = await startServer({ command: 'up', args: ['--in-memory'] });
  });
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
    rmSync(home, { recursive: true, force: true });
  });

  const does = (...args: readonly string[]): Promise<Result> =>
    flotilla(home, args, { KUBECONFIG: server?.kubeconfig });
  const succeeds = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await does(...args);
    expect({ code, stderr }, args.join(' ')).toEqual({ code: 0, stderr: '' });
    return stdout;
  };
  const refused = async (...args: readonly string[]): Promise<string> => {
    const { code, stderr } = await does(...args);
    expect(code, `${args.join(' ')}: ${stderr}`).toBe(1);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    return stderr;
  };
  const apply = async (...items: readonly object[]) => {
    const path = join(home, 'applied.json');
    writeFileSync(path, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
    await succeeds('apply', '--context', 'hub', '-f', path);
  };
  /** Each try takes a process; it gives up sooner than the test, to say what it saw. */
  const until = async (isSo: (found: Result) => boolean, ...args: readonly string[]): Promise<Result> => {
    const deadline = Date.now() + PATIENCE_MS;
    let found = await does(...args);
    while (!isSo(found) && Date.now() < deadline) found = await does(...args);
    expect(isSo(found), `${args.join(' ')}: ${found.stdout}${found.stderr}`).toBe(true);
    return found;
  };
  const shows = (name: string, text: string | RegExp) =>
    until(({ stdout }) => stdout.match(text) !== null, 'run', 'show', name, ...flags);
  const metadata = (name: string) => ({ name, ...(prefix === '' ? { namespace: 'shop' } : {}) });
  const values = async (): Promise<readonly string[]> => {
    const found = await Promise.all(
      ['member-1', 'member-2', 'member-3'].map((context) =>
        does('get', 'configmap', 'app', '-n', 'shop', '--context', context, '-o', 'json'),
      ),
    );
    return found.map(({ stdout }) => /"value": ?"([^"]*)"/.exec(stdout)?.[1] ?? '-');
  };

  test('are created, started and approved with a word that is shown', async () => {
    await apply(
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } },
      configMap('1'),
      ...(prefix === ''
        ? [
            {
              apiVersion: API,
              kind: 'ClusterResourcePlacement',
              metadata: { name: 'namespace' },
              spec: {
                resourceSelectors: [
                  { group: '', version: 'v1', kind: 'Namespace', name: 'shop', selectionScope: 'NamespaceOnly' },
                ],
                policy: { placementType: 'PickAll' },
              },
            },
          ]
        : []),
      {
        apiVersion: API,
        kind: `${prefix}ResourcePlacement`,
        metadata: metadata('web'),
        spec: {
          resourceSelectors: [
            prefix === ''
              ? { group: '', version: 'v1', kind: 'ConfigMap', name: 'app' }
              : { group: '', version: 'v1', kind: 'Namespace', name: 'shop' },
          ],
          policy: { placementType: 'PickAll' },
          strategy: { type: 'External' },
        },
      },
      {
        apiVersion: API,
        kind: `${prefix}StagedUpdateStrategy`,
        metadata: metadata('s'),
        spec: {
          stages: [
            { name: 'one', ...only('In'), afterStageTasks: [{ type: 'Approval' }] },
            { name: 'rest', ...only('NotIn'), maxConcurrency: 2 },
          ],
        },
      },
    );
    expect(await refused('run', 'create', 'web', '--strategy', 'nope', ...flags)).toContain('(known: s)');
    expect(await refused('run', 'create', 'nope', '--strategy', 's', ...flags)).toContain('not found');
    const created = await succeeds('run', 'create', 'web', '--strategy', 's', '--name', 'first', ...flags);
    expect(created).toContain('Start: flotilla run start first');
    expect(await refused('run', 'stop', 'first', ...flags)).toContain('has not been started');
    expect(await succeeds('run', 'start', 'first', ...flags)).toContain('started');
    expect(await refused('run', 'start', 'first', ...flags)).toContain('is started already');
    await shows('first', /after one +AwaitingApproval/);
    await succeeds('approve', 'first', ...flags, '-m', 'the numbers look good');
    const shown = await shows('first', /succeeded, 3 of 3/);
    expect(shown.stdout).toMatch(/after one +Open +approved by ".*" at .*: the numbers look good/);
    expect(await values()).toEqual(['1', '1', '1']);
    expect(await refused('run', 'stop', 'first', ...flags)).toContain('cannot stop: it has ended');
    expect(await refused('reject', 'first', '-m', 'too late', ...flags)).toContain('it has ended');
  });

  test('are rejected, stopped, resumed and stopped for good', async () => {
    await apply(configMap('2'));
    // The revision is made when the run begins.
    await succeeds('run', 'create', 'web', '--strategy', 's', '--name', 'second', '--start', ...flags);
    await shows('second', /after one +AwaitingApproval/);
    expect(await refused('reject', 'second', '-m', ' ', ...flags)).toContain('set the reason with -m');
    expect(await succeeds('reject', 'second', '-m', 'the error rate doubled', ...flags)).toContain(
      'the run waits until it is approved or stopped',
    );
    const shown = await shows('second', /after one +Rejected/);
    expect(shown.stdout).toMatch(/rejected by ".*": the error rate doubled; to approve it after all: flotilla approve/);
    await until(({ stdout }) => stdout.includes('the error rate doubled'), 'status', '-o', 'wide');
    for (const [verb, says] of [
      ['stop', 'stopping'],
      ['resume', 'resumed'],
      ['stop', 'stopping'],
    ] as const)
      expect(await succeeds('run', verb, 'second', ...flags)).toContain(says);
    expect(await refused('run', 'start', 'second', ...flags)).toContain('is stopped: flotilla run resume second');
    expect(await values()).toEqual(['2', '1', '1']);
  });

  test('take a release back when the freeze that holds them ends', async () => {
    const name = /Freeze "([^"]+)" holds/.exec(await succeeds('freeze', '-m', 'incident 42'))?.[1] ?? '';
    expect(await refused('rollback', 'placement/web', '--to', '7', '--yes', ...flags)).toContain('(known: 0, 1)');
    expect(await refused('rollback', 'placement/web', ...flags)).toContain('confirm with --yes');
    const back = await succeeds('rollback', 'placement/web', '--yes', ...flags);
    expect(back).toContain(`Freeze "${name}" holds it until flotilla unfreeze ${name}`);
    const run = /staged\w+\.\S+\/(\S+) created and started/.exec(back)?.[1] ?? '';
    const overview = await until(({ stdout }) => new RegExp(`${run} +Frozen`).test(stdout), 'status');
    expect(overview.stdout).toContain('BY (NOT VERIFIED)');
    expect(await values()).toEqual(['2', '1', '1']);
    await succeeds('unfreeze', name);
    await shows(run, /after one +AwaitingApproval/);
    await succeeds('approve', run, ...flags);
    await succeeds('run', 'show', run, ...flags, '--watch', '--timeout', '5m');
    expect(await values()).toEqual(['1', '1', '1']);
  });

  // Each of them takes a process, and the scope makes no difference.
  if (prefix === '')
    test('are shown to programs and people in the forms that kubectl has', async () => {
      const facts = JSON.parse((await does('status', '-o', 'json')).stdout) as { placements: readonly object[] };
      expect(facts.placements).toContainEqual(expect.objectContaining({ name: 'web', strategy: 'External' }));
      expect((await does('status', '-o', 'yaml')).stdout).toMatch(/^- kind: /m);
      expect((await does('status', '-o', 'wide')).stdout).toMatch(/member-1 +Ready/);
      expect((await does('status', 'web', ...flags)).stdout).toContain('available on 3 of 3 clusters');
      expect(await succeeds('explain', 'Frozen')).toContain('Frozen: a Freeze covers');
      expect(await refused('explain', 'Nope')).toContain('hold code "Nope" not found (known: ');
      for (const shell of ['bash', 'zsh', 'fish']) expect(await succeeds('completion', shell)).toContain('__complete');
      const offered = await succeeds('__complete', '--', 'run', 'show', ...flags, '');
      expect(offered.split('\n')).toEqual(expect.arrayContaining(['first', 'second']));
      expect((await succeeds('__complete', '--', 'status', ...flags, 'placement/w')).trim()).toBe('placement/web');
      expect((await does('history', 'rp/web', ...flags)).stdout).toMatch(/^1 /m);
    });
});
