// `flotilla plan run`, `run` and `why run/…` by the built program on `flotilla up`, in both scopes: what is foretold happens, is shown as it
// happens, and is explained.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { patience } from '../../scripts/gate/patience.ts';
import { flotilla, start } from './fleet.ts';
import { type Result, type Server, startServer } from './server.ts';

const API = 'placement.kubernetes-fleet.io/v1beta1';
const PATIENCE_MS = patience(40_000);
const OWN = 'kubernetes-fleet.io/member-name';
const configMap = (value: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'app', namespace: 'shop' },
  data: { value },
});
const only = (operator: 'In' | 'NotIn') => ({
  labelSelector: { matchExpressions: [{ key: OWN, operator, values: ['member-1'] }] },
});
const STAGES = [
  {
    name: 'one',
    ...only('In'),
    afterStageTasks: [{ type: 'Approval' }, { type: 'TimedWait', waitTime: '1s' }],
  },
  { name: 'rest', ...only('NotIn'), beforeStageTasks: [{ type: 'Approval' }], maxConcurrency: 1 },
];

interface Scope {
  readonly it: string;
  readonly prefix: '' | 'Cluster';
  readonly flags: readonly string[];
  readonly title: string;
  /** How many objects the placement selects. */
  readonly objects: number;
  readonly placement: object;
}

const scopes: readonly Scope[] = [
  {
    it: 'a ClusterStagedUpdateRun',
    prefix: 'Cluster',
    flags: [],
    title: 'ClusterStagedUpdateRun "r"',
    objects: 2,
    placement: { resourceSelectors: [{ group: '', version: 'v1', kind: 'Namespace', name: 'shop' }] },
  },
  {
    it: 'a StagedUpdateRun',
    prefix: '',
    flags: ['-n', 'shop'],
    title: 'StagedUpdateRun "shop/r"',
    objects: 1,
    placement: { resourceSelectors: [{ group: '', version: 'v1', kind: 'ConfigMap', name: 'app' }] },
  },
];

describe.each(scopes)('the commands about $it', ({ prefix, flags, title, objects, placement }) => {
  const home = mkdtempSync(join(tmpdir(), 'flotilla-run-commands-'));
  let server: Server | undefined;
  beforeAll(async () => {
    server = await startServer({ command: 'up', args: ['--in-memory'] });
  });
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
    rmSync(home, { recursive: true, force: true });
  });

  const env = () => ({ KUBECONFIG: server?.kubeconfig });
  const does = (...args: readonly string[]): Promise<Result> => flotilla(home, args, env());
  const file = (name: string, ...objectsOf: readonly object[]): string => {
    const path = join(home, `${name}.json`);
    writeFileSync(path, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objectsOf }));
    return path;
  };
  const apply = async (...objectsOf: readonly object[]) => {
    const { code, stderr } = await does('apply', '--context', 'hub', '-f', file('applied', ...objectsOf));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  };
  /** Until what it prints, or what it ends with, is as it should be; each try takes a process. Sooner than the test ends, to say what it saw. */
  const until = async (isSo: (found: Result) => boolean, ...args: readonly string[]): Promise<Result> => {
    const deadline = Date.now() + PATIENCE_MS;
    let found = await does(...args);
    while (!isSo(found) && Date.now() < deadline) found = await does(...args);
    expect(isSo(found), `${args.join(' ')}: ${found.stdout}${found.stderr}`).toBe(true);
    return found;
  };
  const metadata = (name: string) => ({ name, ...(prefix === '' ? { namespace: 'shop' } : {}) });
  const kind = `${prefix}StagedUpdateRun`;
  const run = (name: string, spec: object = {}) => ({
    apiVersion: API,
    kind,
    metadata: metadata(name),
    spec: { placementName: 'web', stagedRolloutStrategyName: 's', ...spec },
  });
  const conditionOf = async (name: string, type: string): Promise<string> => {
    const { stdout } = await does('get', kind.toLowerCase(), name, ...flags, '--context', 'hub', '-o', 'json');
    const { status } = JSON.parse(stdout) as { status?: { conditions?: { type: string; message: string }[] } };
    return status?.conditions?.find((each) => each.type === type)?.message ?? '';
  };

  test('plan it before it is there, and write nothing', async () => {
    await apply(
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } },
      configMap('1'),
      ...(prefix === ''
        ? [
            {
              apiVersion: API,
              kind: 'ClusterResourcePlacement',
              metadata: { name: 'shop' },
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
        spec: { ...placement, policy: { placementType: 'PickAll' }, strategy: { type: 'External' } },
      },
    );
    const strategy = {
      apiVersion: API,
      kind: `${prefix}StagedUpdateStrategy`,
      metadata: metadata('s'),
      spec: { stages: STAGES },
    };
    const path = file('plan', run('r'), strategy);
    // The scheduler and, for what is in a namespace, the namespace on the members come first.
    const plan = await until(
      ({ code, stdout }) => code === 0 && stdout.includes('rest, wave 2 of 2'),
      'plan',
      'run',
      '-f',
      path,
      ...flags,
    );
    expect(plan.stderr).toBe('');
    expect(plan.stdout).toContain(
      `${title} would bring revision 0 of placement "web" (${objects} object${objects === 1 ? '' : 's'}) to 3 clusters: 2 stages, 3 waves, 2 approvals; complete after 1s`,
    );
    expect(plan.stdout).toMatch(
      /1\. +\+0s +one, wave 1 of 1: member-1\n.*after one: approval of r-after-one.*\n.*after one: 1s after its last cluster\n.*before rest: approval of r-before-rest.*\n.*rest, wave 1 of 2: member-2\n.*rest, wave 2 of 2: member-3\n/,
    );
    const list = await does('get', `${kind.toLowerCase()}s`, ...flags, '--context', 'hub', '-o', 'name');
    expect(list.stdout).not.toContain('/r');
    await apply(strategy);
  });

  test('have the words of the hub for what cannot be', async () => {
    const bad = run('bad', { resourceSnapshotIndex: '7' });
    const plan = await does('plan', 'run', '-f', file('bad', bad), ...flags);
    expect(plan).toMatchObject({ code: 3, stdout: '' });
    await apply(bad);
    const why = await until(({ stdout }) => stdout.includes('could not begin'), 'why', 'run/bad', ...flags);
    expect(why.code).toBe(2);
    const [, words] =
      /^failed to process the request due to a client error: (.*); fix this and create a new run$/.exec(
        await conditionOf('bad', 'Initialized'),
      ) ?? [];
    expect(plan.stderr).toBe(`error: the run could not begin: ${words}\n`);
    expect(await does('run', 'bad', ...flags)).toMatchObject({ code: 3 });
    expect(await does('run', 'nope', ...flags)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^error: \w+ ".*nope" not found \(known: bad\); .*-n/),
    });
  });

  test('have the words of the hub for what does not exist yet', async () => {
    const early = run('early', { stagedRolloutStrategyName: 'nope' });
    const plan = await does('plan', 'run', '-f', file('early', early), ...flags);
    expect(plan).toMatchObject({ code: 2, stdout: '' });
    await apply(early);
    const why = await until(({ stdout }) => stdout.includes('cannot begin yet'), 'why', 'run/early', ...flags);
    expect(why.code).toBe(2);
    expect(why.stdout).toMatch(/ cannot begin yet: \w+ ".*nope" does not exist\n/);
    expect(plan.stderr).toBe(`error: ${await conditionOf('early', 'Initialized')}\n`);
    expect(await does('run', 'early', ...flags)).toMatchObject({ code: 2 });
    await does('delete', '-f', file('early', early), '--context', 'hub');
  });

  test('say what it waits for, and show it move to its end', async () => {
    await apply(run('r'));
    const prepared = await until(({ stdout }) => stdout.includes('has not been started'), 'why', 'run/r', ...flags);
    expect(prepared.code).toBe(2);
    expect(prepared.stdout).toContain(
      `show what it would do: flotilla plan run r${flags.length === 0 ? '' : ' -n shop'}`,
    );
    expect((await does('plan', 'run', 'r', ...flags)).stdout).toContain('Start it: kubectl patch');

    await using watching = start(home, ['run', 'r', ...flags, '--watch', '--timeout', '60s'], env());
    await watching.says(/prepared, not started/);
    await apply(run('r', { state: 'Run' }));
    await watching.says(
      /gate after one: AwaitingApproval \(waits for r-after-one: flotilla approve r( -n shop)? --stage one --after\)/,
    );
    const why = await until(({ stdout }) => stdout.includes('is not approved yet'), 'why', 'run/r', ...flags);
    expect(why.stdout).toContain('approve it: flotilla approve r');
    expect(await does('approve', 'r', ...flags, '--stage', 'one')).toMatchObject({ code: 0 });
    await watching.says(/gate after one: Open \(approved by "[^"]+" at .*Z\)/);
    await watching.says(/gate before rest: AwaitingApproval/);
    expect(await does('approve', 'r', ...flags, '--stage', 'rest')).toMatchObject({ code: 0 });
    expect(await watching.ends()).toBe(0);
    expect(watching.output()).toContain('rest/member-3: ');
    expect(watching.output().trimEnd().split('\n').at(-1)).toBe(
      `${title}, revision 0 of placement "web": succeeded, 3 of 3 clusters done`,
    );

    const shown = await does('run', 'r', ...flags, '-o', 'json');
    expect(shown.code).toBe(0);
    expect(JSON.parse(shown.stdout)).toMatchObject({
      phase: 'Succeeded',
      done: 3,
      stages: [
        {
          stage: 'one',
          gates: [
            { state: 'Open', by: expect.stringMatching(/./) },
            { state: 'Open', waitTime: '1s' },
          ],
        },
        { stage: 'rest', clusters: [{ cluster: 'member-2' }, { cluster: 'member-3' }] },
      ],
    });
    expect(await does('why', 'run/r', ...flags)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`${title} is complete: all 3 clusters have revision 0`),
    });
  });

  test('stop at Ctrl-C without a word', async () => {
    await apply(run('later'));
    await using watching = start(home, ['run', 'later', ...flags, '--watch'], env());
    await watching.says(/prepared, not started/);
    expect(await watching.stop('SIGINT')).toBe(130);
    expect(watching.output()).not.toContain('rror');
  });

  test('help with examples', async () => {
    for (const args of [['run'], ['why'], ['plan', 'run']]) {
      expect((await does(...args, '--help')).stdout).toContain(`Examples:\n  flotilla ${args.join(' ')} `);
    }
    expect((await does('plan', 'run')).stderr).toContain('name one run: by its NAME, or by a file with -f');
  });
});
