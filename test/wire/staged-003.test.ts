// Section 10 of seed 003 with real kubectl on `flotilla up`: the older document's placement, strategy, run, approval and samples, with what the
// newer one has changed since. Numbers (V3-13 …) are those of the checklist.
import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import type { StagedUpdateRunStatus } from '../../src/api/staged-update-run.ts';
import { parseYamlDocuments } from '../../src/base/yaml.ts';
import { commands } from '../seeds/index.ts';
import { type Fleet, inShort, messageOf, startFleet } from './delivery.ts';
import { namespace } from './delivery-kinds.ts';
import { flotilla } from './fleet.ts';
import { kubectlPath, type Result, run, skipsKubectl } from './server.ts';

const seed = (file: string) => join(fileURLToPath(new URL('../seeds/003/', import.meta.url)), file);
const sample = (file: string) => parseYamlDocuments(readFileSync(seed(file), 'utf8'))[0] as KubeObject;

/** As printed, in the order of the document. */
const printed = (id: string): readonly string[] =>
  commands.filter((each) => each.id === id).map(({ command }) => command);
const [approve] = printed('V3-16') as [string];
const OLD_NAME = 'example-run-canary';

interface Run extends KubeObject {
  readonly status?: StagedUpdateRunStatus;
}

/** Names of what is described at this depth, in their order. */
const keys = (indent: number, text: string) =>
  [...text.matchAll(new RegExp(`^ {${indent}}([A-Z][A-Za-z ]*):`, 'gm'))].map(([, key]) => key);
const reasons = (text: string) => [...text.matchAll(/^ +Reason: +(\S+)$/gm)].map(([, reason]) => reason);
const section = (described: string, name: string, indent = 0) => {
  const blanks = ' '.repeat(indent);
  const from = described.indexOf(`\n${blanks}${name}:`) + 1;
  return described.slice(from).split(new RegExp(`\\n(?=${blanks}[A-Z])`))[0] as string;
};

describe.skipIf(skipsKubectl)('section 10 of seed 003', () => {
  let fleet: Fleet;
  beforeAll(async () => {
    fleet = await startFleet('seed-003-staged');
    symlinkSync(kubectlPath as string, join(fleet.home, 'kubectl'));
    await fleet.apply(namespace('test-namespace'), {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'settings', namespace: 'test-namespace' },
      data: { colour: 'blue' },
    });
  });
  afterAll(() => fleet?.[Symbol.asyncDispose]());

  const inShell = (command: string): Promise<Result> =>
    run('/bin/sh', ['-c', command], {
      env: { PATH: `${fleet.home}:${process.env['PATH']}`, HOME: fleet.home, KUBECONFIG: fleet.kubeconfig },
    });
  const readRun = () => fleet.get<Run>('hub', ['csur', 'example-run']);
  const wait = (what: string, condition: string) =>
    fleet.hub(['wait', what, `--for=${condition}`, '--timeout=60s']).then(() => undefined);
  const stage = async (number: number) => (await readRun()).status?.stagesStatus?.[number];
  const placedOn = async (): Promise<readonly string[]> => {
    const found = await Promise.all(
      ['member1', 'member2'].map(async (member) => [
        member,
        await fleet.on(member, ['get', 'configmaps', '--all-namespaces', '-o', 'name']),
      ]),
    );
    return found.filter(([, names]) => names?.includes('configmap/settings')).map(([member]) => member as string);
  };

  test('V3-13: a placement that is rolled out from outside is scheduled, and nothing moves', async () => {
    await fleet.hub(['apply', '-f', seed('v3-13.yaml')]);
    await fleet.waitForReason(
      'crp/example-placement',
      'ClusterResourcePlacementRolloutStarted',
      'RolloutControlledByExternalController',
    );
    const { spec } = await fleet.get<KubeObject>('hub', ['crp', 'example-placement']);
    expect(spec).toMatchObject(sample('v3-13.yaml').spec as object);
    const { conditions, observedResourceIndex, placementStatuses } = await fleet.status('crp', 'example-placement');
    expect(inShort(conditions)).toEqual([
      'Scheduled True SchedulingPolicyFulfilled',
      'RolloutStarted Unknown RolloutControlledByExternalController',
    ]);
    expect(messageOf(conditions, 'RolloutStarted')).toContain('ClusterStagedUpdateRun');
    expect(observedResourceIndex ?? '').toBe('');
    expect(placementStatuses?.map(({ clusterName, conditions: own }) => [clusterName, inShort(own)])).toEqual(
      ['member1', 'member2'].map((member) => [
        member,
        ['Scheduled True Scheduled', 'RolloutStarted Unknown RolloutStartedUnknown'],
      ]),
    );
    expect(await fleet.hub(['get', 'clusterresourcesnapshots', '-o', 'name'])).toBe('');
    expect(await placedOn()).toEqual([]);
  });

  test('V3-14: the strategy is taken as it is printed', async () => {
    expect(await fleet.hub(['apply', '-f', seed('v3-14.yaml')])).toContain('example-strategy created');
    const { spec } = await fleet.get<KubeObject>('hub', ['csus', 'example-strategy']);
    expect(spec).toMatchObject(sample('v3-14.yaml').spec as object);
  });

  test('V3-17: a run without a state is initialized, does not start, and names the patch that starts it', async () => {
    await fleet.hub(['apply', '-f', seed('v3-17.yaml')]);
    await wait('csur/example-run', 'condition=Initialized');
    const { spec, status } = await readRun();
    expect(spec).toMatchObject({ resourceSnapshotIndex: '0', state: 'Initialize' });
    expect(inShort(status?.conditions)).toEqual(['Initialized True UpdateRunInitializedSuccessfully']);
    // The first index of a placement that was never rolled out is its present state.
    expect(status).toMatchObject({
      policySnapshotIndexUsed: '0',
      policyObservedClusterCount: 2,
      resourceSnapshotIndexUsed: '0',
    });
    expect(
      status?.stagesStatus?.map(({ stageName, clusters }) => [stageName, clusters?.map((each) => each.clusterName)]),
    ).toEqual([
      ['staging', ['member1']],
      ['canary', ['member2']],
      ['production', []],
    ]);
    expect(await placedOn()).toEqual([]);

    const why = await flotilla(fleet.home, ['why', 'run/example-run'], { KUBECONFIG: fleet.kubeconfig });
    const named = /kubectl patch .*/.exec(messageOf(status?.conditions, 'Initialized'))?.[0] as string;
    expect(named).toContain('"state":"Run"');
    expect(why).toMatchObject({ code: 2, stdout: expect.stringContaining(`\n  - start it: ${named}\n`) });
    expect(await inShell(named)).toMatchObject({ code: 0, stdout: expect.stringContaining('example-run patched\n') });
    await fleet.waitForReason('csur/example-run', 'Progressing', 'UpdateRunWaiting');
    // An hour, as printed.
    const staging = await stage(0);
    expect(inShort(staging?.conditions)).toEqual(['Progressing False StageUpdatingWaiting']);
    const since = Date.parse(staging?.conditions?.[0]?.lastTransitionTime ?? '');
    const until = new Date(since + 3_600_000).toISOString().replace('.000Z', 'Z');
    expect(messageOf(staging?.conditions, 'Progressing')).toContain(`until ${until}`);
    expect(await placedOn()).toEqual(['member1']);
  });

  test('V3-19: in the middle, the run tells of stages and clusters, and the placement of objects', async () => {
    await fleet.hub(['delete', 'csur', 'example-run', '--timeout=60s']);
    // From here on nothing that an earlier run has delivered is taken for what this one delivers.
    await fleet.hub(['patch', 'configmap', 'settings', '-n', 'test-namespace', '-p', '{"data":{"colour":"green"}}']);
    await fleet.hub(['apply', '-f', seed('v3-19.yaml')]);
    const again = sample('v3-17.yaml');
    const { resourceSnapshotIndex: _, ...latest } = again.spec as Record<string, unknown>;
    await fleet.apply({ ...again, spec: { ...latest, state: 'Run' } });
    await wait('careq/example-run-after-staging', 'create');
    await wait(
      'csur/example-run',
      'jsonpath={.status.stagesStatus[0].afterStageTaskStatus[1].conditions[0].type}=WaitTimeElapsed',
    );

    const [describeRun, describePlacement] = printed('V3-19') as [string, string];
    const ofRun = await inShell(describeRun);
    expect(ofRun).toMatchObject({ code: 0, stderr: '' });
    const conditionsOf = (text: string, indent: number) => reasons(section(text, 'Conditions', indent));
    const status = section(ofRun.stdout, 'Status');
    expect(conditionsOf(status, 2)).toEqual(['UpdateRunInitializedSuccessfully', 'UpdateRunWaiting']);
    expect(keys(2, status).filter((key) => key !== 'Applied Strategy' && key !== 'Holds')).toEqual([
      'Conditions',
      'Deletion Stage Status',
      'Policy Observed Cluster Count',
      'Policy Snapshot Index Used',
      'Resource Snapshot Index Used',
      'Staged Update Strategy Snapshot',
      'Stages Status',
    ]);
    const stages = section(ofRun.stdout, 'Stages Status', 2);
    expect(reasons(stages)).toEqual([
      'StageTaskApprovalRequestCreated',
      'AfterStageTaskWaitTimeElapsed',
      'ClusterUpdatingStarted',
      'ClusterUpdatingSucceeded',
      'StageUpdatingWaiting',
    ]);
    expect(
      [...stages.matchAll(/(Cluster Name|Approval Request Name|Stage Name): +(\S+)/g)].map(([, , name]) => name),
    ).toEqual([
      'example-run-after-staging',
      'member1',
      'staging',
      'example-run-after-canary',
      'member2',
      'canary',
      'example-run-after-production',
      'production',
    ]);

    const ofPlacement = await inShell(describePlacement);
    expect(ofPlacement).toMatchObject({ code: 0, stderr: '' });
    expect(conditionsOf(section(ofPlacement.stdout, 'Status'), 2)).toEqual([
      'SchedulingPolicyFulfilled',
      'RolloutControlledByExternalController',
    ]);
    const [member1, member2] = section(ofPlacement.stdout, 'Placement Statuses', 2).split(/(?=Cluster Name: +member2)/);
    expect(reasons(member1 as string)).toEqual([
      'Scheduled',
      'RolloutStarted',
      'NoOverrideSpecified',
      'AllWorkSynced',
      'AllWorkHaveBeenApplied',
      'AllWorkAreAvailable',
    ]);
    expect(member1).toContain('resourceSnapshotIndex: 1, clusterStagedUpdateRun: example-run');
    expect(member1).toMatch(/Observed Resource Index: +1$/m);
    expect(reasons(member2 as string)).toEqual(['Scheduled', 'RolloutStartedUnknown']);
    expect(await placedOn()).toEqual(['member1']);
  });

  test('V3-18: what the document types shows the run, and reports that there is none named run', async () => {
    const [command] = printed('V3-18') as [string];
    const { code, stdout, stderr } = await inShell(command);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'Error from server (NotFound): clusterstagedupdateruns.placement.kubernetes-fleet.io "run" not found\n',
    });
    // Events have ages.
    const [shown] = stdout.split('\nEvents:');
    expect((await inShell('kubectl describe csur example-run')).stdout).toContain(`${shown}\nEvents:`);
    expect(shown).toMatch(/^Name: +example-run\n/);
  });

  test('V3-16: the request has another name than in the document, and the same patch opens it', async () => {
    const newName = approve.replace(OLD_NAME, 'example-run-after-staging');
    expect(await inShell(approve)).toMatchObject({ code: 1, stderr: expect.stringContaining('(NotFound)') });
    expect(await inShell(newName)).toMatchObject({ code: 0, stderr: '' });
    await wait('careq/example-run-after-staging', 'condition=ApprovalAccepted');
    await wait('careq/example-run-after-canary', 'create');
    expect(await placedOn()).toEqual(['member1', 'member2']);
  });

  test('V3-15: a request that somebody makes by hand, with the older name and labels, opens nothing', async () => {
    expect(await fleet.hub(['apply', '-f', seed('v3-15.yaml')])).toContain(`${OLD_NAME} created`);
    expect(await inShell(approve)).toMatchObject({ code: 0, stdout: expect.stringContaining('patched') });
    // To stop and to resume, the hub must look at the run once more.
    for (const [state, reason] of [
      ['Stop', 'UpdateRunStopped'],
      ['Run', 'UpdateRunWaiting'],
    ] as const) {
      await fleet.hub(['patch', 'csur', 'example-run', '--type=merge', '-p', JSON.stringify({ spec: { state } })]);
      await fleet.waitForReason('csur/example-run', 'Progressing', reason);
    }
    expect(inShort((await stage(1))?.conditions)).toEqual(['Progressing False StageUpdatingWaiting']);
    const { metadata, status } = await fleet.get<KubeObject>('hub', ['careq', OLD_NAME]);
    expect(metadata.labels).toEqual(sample('v3-15.yaml').metadata.labels);
    expect((status as StagedUpdateRunStatus).conditions?.map(({ type }) => type)).toEqual(['Approved']);
  });

  test('V3-16: the last gate opens, and the run ends as the sample does, with the reasons of today', async () => {
    await inShell(approve.replace(OLD_NAME, 'example-run-after-canary'));
    await wait('csur/example-run', 'condition=Succeeded');
    const { metadata, status } = await readRun();
    expect(inShort(status?.conditions)).toEqual([
      'Initialized True UpdateRunInitializedSuccessfully',
      'Progressing False UpdateRunSucceeded',
      'Succeeded True UpdateRunSucceeded',
    ]);
    const approved = (name: string) => ({
      type: 'Approval',
      approvalRequestName: name,
      conditions: [
        { type: 'ApprovalRequestCreated', status: 'True', reason: 'StageTaskApprovalRequestCreated' },
        { type: 'ApprovalRequestApproved', status: 'True', reason: 'StageTaskApprovalRequestApproved' },
      ],
    });
    const updated = (clusterName: string) => ({
      clusterName,
      conditions: [
        { type: 'Started', status: 'True', reason: 'ClusterUpdatingStarted' },
        { type: 'Succeeded', status: 'True', reason: 'ClusterUpdatingSucceeded' },
      ],
    });
    const done = (reason: string) => ({
      startTime: expect.stringMatching(/Z$/),
      endTime: expect.stringMatching(/Z$/),
      conditions: [
        { type: 'Progressing', status: 'False', reason },
        { type: 'Succeeded', status: 'True', reason },
      ],
    });
    expect(status).toMatchObject({
      policyObservedClusterCount: 2,
      policySnapshotIndexUsed: '0',
      resourceSnapshotIndexUsed: '1',
      stagesStatus: [
        {
          stageName: 'staging',
          ...done('StageUpdatingSucceeded'),
          afterStageTaskStatus: [
            approved('example-run-after-staging'),
            {
              type: 'TimedWait',
              conditions: [{ type: 'WaitTimeElapsed', status: 'True', reason: 'AfterStageTaskWaitTimeElapsed' }],
            },
          ],
          clusters: [updated('member1')],
        },
        {
          stageName: 'canary',
          ...done('StageUpdatingSucceeded'),
          afterStageTaskStatus: [approved('example-run-after-canary')],
          clusters: [updated('member2')],
        },
        // A gate for nobody only costs time.
        { stageName: 'production', ...done('StageUpdatingSkippedNoClusters'), clusters: [] },
      ],
      deletionStageStatus: {
        stageName: 'kubernetes-fleet.io/deleteStage',
        startTime: expect.stringMatching(/Z$/),
        endTime: expect.stringMatching(/Z$/),
        clusters: [],
      },
    });
    expect(inShort(status?.deletionStageStatus?.conditions)).toContain('Succeeded True StageUpdatingSucceeded');
    expect(status?.stagedUpdateStrategySnapshot).toMatchObject(sample('v3-19.yaml').spec as object);
    // The wait counts from when all clusters of the stage were done.
    const [staging] = status?.stagesStatus ?? [];
    const elapsed = staging?.afterStageTaskStatus?.[1]?.conditions?.[0]?.lastTransitionTime ?? '';
    expect(Date.parse(elapsed) - Date.parse(staging?.conditions?.[0]?.lastTransitionTime ?? '')).toBeGreaterThanOrEqual(
      5000,
    );
    expect(new Set(JSON.stringify(status).match(/"observedGeneration":\d+/g))).toEqual(
      new Set([`"observedGeneration":${metadata.generation}`]),
    );

    expect(await fleet.hub(['get', 'careq', '-o', 'name'])).toBe(
      ['example-run-after-canary', 'example-run-after-staging', OLD_NAME]
        .map((name) => `clusterapprovalrequest.placement.kubernetes-fleet.io/${name}\n`)
        .join(''),
    );
    await fleet.waitForAvailable('crp/example-placement');
    expect(await fleet.status('crp', 'example-placement')).toMatchObject({ observedResourceIndex: '1' });
  });

  test('its requests go with the run, and the one that was made by hand stays', async () => {
    await fleet.hub(['delete', 'csur', 'example-run', '--timeout=60s']);
    await wait('careq/example-run-after-canary', 'delete');
    expect(await fleet.hub(['get', 'careq', '-o', 'name'])).toBe(
      `clusterapprovalrequest.placement.kubernetes-fleet.io/${OLD_NAME}\n`,
    );
    expect(await placedOn()).toEqual(['member1', 'member2']);
  });

  test.each([
    {
      it: 'a member moves to another stage',
      meanwhile: ['label', 'membercluster', 'member2', 'environment=staging', '--overwrite'],
      says: /clusters have changed .*\bmember2\b/,
    },
    {
      it: 'its placement is deleted',
      meanwhile: ['delete', 'crp', 'example-placement', '--wait=false'],
      says: /ClusterResourcePlacement "example-placement"/,
    },
  ])('a run fails when $it', async ({ meanwhile, says }) => {
    await fleet.hub(['delete', 'csur', 'example-run', '--ignore-not-found', '--timeout=60s']);
    await fleet.hub(['label', 'membercluster', 'member2', 'environment=canary', '--overwrite']);
    await fleet.hub(['apply', '-f', seed('v3-14.yaml')]);
    await fleet.hub(['apply', '-f', seed('v3-17.yaml')]);
    await fleet.hub(['patch', 'csur', 'example-run', '--type=merge', '-p', '{"spec":{"state":"Run"}}']);
    await fleet.waitForReason('csur/example-run', 'Progressing', 'UpdateRunWaiting');
    await fleet.hub(meanwhile);
    await wait('csur/example-run', 'condition=Succeeded=False');
    const { status } = await readRun();
    expect(inShort(status?.conditions).slice(1)).toEqual([
      'Progressing False UpdateRunFailed',
      'Succeeded False UpdateRunFailed',
    ]);
    expect(messageOf(status?.conditions, 'Succeeded')).toMatch(says);
  });
});
