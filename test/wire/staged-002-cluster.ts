// Seed 002 for fleet administrators, with real kubectl on whatever the fleet runs on: one walk through stages and gates, in the order in which somebody who
// follows the page would take it. Numbers (V2-0 …) are those of the checklist; reasons are compared, of messages only the facts they carry.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import type { StagedUpdateRunStatus } from '../../src/api/staged-update-run.ts';
import { type Condition, type Fleet, inShort, messageOf, type Recording, type StartFleet } from './delivery.ts';
import { deployment, namespace } from './delivery-kinds.ts';
import type { Result } from './server.ts';
import {
  APPROVED,
  approvalOf,
  type Binding,
  CLUSTER_DONE,
  clusters,
  INITIALIZED,
  inGroupsOf,
  messageIn,
  mostOf,
  NOTHING_TO_REMOVE,
  onlyPrinted,
  orderOf,
  partsOf,
  printed,
  RUN_DONE,
  type Run,
  type ServerTraits,
  STAGE_DONE,
  seed,
  shellOf,
  told,
  treeOf,
  UNDER_WAY,
  underWay,
  WAITED,
  withShortWaits,
} from './staged-002.ts';

const STAGING = ['staging-1', 'staging-2', 'staging-3', 'staging-4'];
/** By their label `order`, once the last has become the first. */
const PRODUCTION = ['production-4', 'production-1', 'production-2', 'production-3'];
const ALL = ['canary', ...PRODUCTION.toSorted(), ...STAGING];

const RUN = 'clusterstagedupdaterun.placement.kubernetes-fleet.io';
const REQUEST = 'clusterapprovalrequest.placement.kubernetes-fleet.io';
const WAITS = [INITIALIZED, 'Progressing False UpdateRunWaiting'];
const STAGE_WAITS = ['Progressing False StageUpdatingWaiting'];

const APPLIED = [
  'Overridden True NoOverrideSpecified',
  'WorkSynchronized True AllWorkSynced',
  'Applied True AllWorkHaveBeenApplied',
  'Available True AllWorkAreAvailable',
];
const CLUSTER_WELL = ['Scheduled True Scheduled', 'RolloutStarted True RolloutStarted', ...APPLIED];
const CLUSTER_WAITS = ['Scheduled True Scheduled', 'RolloutStarted Unknown RolloutStartedUnknown'];
const NOT_FOR_ALL = [
  'Scheduled True SchedulingPolicyFulfilled',
  'RolloutStarted Unknown RolloutControlledByExternalController',
];

const settings = (version: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'settings', namespace: 'test-namespace' },
  data: { version },
});

export const describeClusterScope = (start: StartFleet, { signs }: ServerTraits) =>
  describe('seed 002, whole clusters', () => {
    let fleet: Fleet;
    let shell: (command: string) => Promise<Result>;
    let bindings: Recording;
    beforeAll(async () => {
      fleet = await start('seed-002-cluster');
      shell = shellOf(fleet);
      await fleet.apply(namespace('test-namespace'), settings('1'), deployment('web', 'test-namespace', 1));
    });
    afterAll(async () => {
      await bindings?.[Symbol.asyncDispose]();
      await fleet?.[Symbol.asyncDispose]();
    });

    const statusOf = async (run = 'example-run'): Promise<StagedUpdateRunStatus> =>
      (await fleet.get<Run>('hub', ['csur', run])).status ?? {};
    const wait = (what: string, condition: string) => fleet.hub(['wait', what, `--for=${condition}`, '--timeout=55s']);
    /** Until the run says this of itself. */
    const says = (type: string, reason: string, run = 'example-run') =>
      wait(`csur/${run}`, `jsonpath={.status.conditions[?(@.type=="${type}")].reason}=${reason}`);
    /** Until this is said of the cluster at this place of this stage. */
    const clusterIs = (stage: number, cluster: number, type: string, run = 'example-run') =>
      wait(
        `csur/${run}`,
        `jsonpath={.status.stagesStatus[${stage}].clusters[${cluster}].conditions[?(@.type=="${type}")].status}=True`,
      );
    /** Whether the first gate of this stage is known to be asked for. */
    const asked = (stage: number, when: 'before' | 'after') =>
      `{.status.stagesStatus[${stage}].${when}StageTaskStatus[0].conditions[?(@.type=="ApprovalRequestCreated")].status}`;
    /** Approves by the words of the seed, and waits until the run has taken note. */
    const approve = async (command: string, request: string) => {
      expect(await shell(command)).toMatchObject({
        code: 0,
        stdout: expect.stringContaining(`${REQUEST}/${request} patched`),
      });
      await wait(`careq/${request}`, 'condition=ApprovalAccepted');
    };
    /** Which version of the ConfigMap each cluster has; empty where it has none. */
    const versions = async (names: readonly string[]): Promise<readonly string[]> =>
      Promise.all(
        names.map((name) =>
          fleet.on(name, [
            ...['-n', 'test-namespace', 'get', 'configmap', 'settings', '--ignore-not-found'],
            ...['-o', 'jsonpath={.data.version}'],
          ]),
        ),
      );
    const each = (names: readonly string[], value: string) => names.map(() => value);
    const refused = async (args: readonly string[], ...words: readonly string[]) => {
      const { code, stderr } = await fleet.try(args);
      expect(code).toBe(1);
      for (const word of words) expect(stderr).toContain(word);
    };
    const patch = (run: string, spec: object) => ['patch', 'csur', run, '--type=merge', '-p', JSON.stringify({ spec })];
    const newRun = (name: string, spec: object) =>
      fleet.apply({
        apiVersion: 'placement.kubernetes-fleet.io/v1beta1',
        kind: 'ClusterStagedUpdateRun',
        metadata: { name },
        spec: { placementName: 'example-placement', ...spec },
      });

    test('V2-0, V2-1, V2-4: the strategies are accepted, and what they leave out is filled in', async () => {
      await fleet.hub(['apply', '-f', '-'], withShortWaits('v2-0.yaml'));
      await fleet.hub(['apply', '-f', seed('v2-1.yaml')]);
      await fleet.hub(['apply', '-f', seed('v2-4.yaml')]);

      const stages = async (name: string, fields: string) =>
        (await fleet.hub(['get', 'csus', name, '-o', `jsonpath={range .spec.stages[*]}${fields}{"\\n"}{end}`])).trim();
      const tasks = '{.name} {.maxConcurrency} {.beforeStageTasks[*].type} | {.afterStageTasks[*].type}';
      expect((await stages('production-rollout', tasks)).split('\n')).toEqual([
        'staging 75% Approval | TimedWait',
        'canary 1 Approval | Approval',
        'production 2 Approval | TimedWait Approval',
      ]);
      const wanted = ['staging 2  | TimedWait', 'canary 1 Approval | Approval', 'production 50%  | Approval TimedWait'];
      expect((await stages('cluster-config-strategy', tasks)).split('\n')).toEqual(wanted);
      expect((await stages('example-strategy', tasks)).split('\n')).toEqual(wanted);
      expect(await stages('cluster-config-strategy', '{.afterStageTasks[*].waitTime}')).toBe('1h\n\n1h');
      expect(await stages('example-strategy', '{.afterStageTasks[*].waitTime}')).toBe('5s\n\n5s');
    });

    test('V2-2: an External placement is scheduled, and nothing goes anywhere', async () => {
      await fleet.hub(['apply', '-f', seed('v2-2.yaml')]);
      await fleet.waitForReason(
        'crp/example-placement',
        'ClusterResourcePlacementRolloutStarted',
        'RolloutControlledByExternalController',
      );
      const status = await fleet.status('crp', 'example-placement');

      expect(inShort(status.conditions)).toEqual(NOT_FOR_ALL);
      expect(messageOf(status.conditions, 'RolloutStarted')).toContain('ClusterStagedUpdateRun');
      expect(status.placementStatuses?.map((one) => [one.clusterName, inShort(one.conditions)])).toEqual(
        ALL.map((name) => [name, CLUSTER_WAITS]),
      );
      expect(status.observedResourceIndex ?? '').toBe('');
      expect(status.selectedResources ?? []).toEqual([]);
      expect(await fleet.hub(['get', 'clusterresourcesnapshots', '-o', 'name'])).toBe('');
      expect(await versions(ALL)).toEqual(each(ALL, ''));
      bindings = await fleet.record('hub', ['get', 'crb']);
    });

    test('V2-4: the sorting label must be an integer on every cluster of the stage', async () => {
      const label = (value: string) =>
        fleet.hub(['label', 'membercluster', 'production-4', `order=${value}`, '--overwrite']);
      await label('last');
      await newRun('unsorted', { stagedRolloutStrategyName: 'cluster-config-strategy' });
      await says('Initialized', 'UpdateRunInitializedFailed', 'unsorted');

      const status = await statusOf('unsorted');
      expect(told(status)).toEqual(['Initialized False UpdateRunInitializedFailed']);
      expect(messageIn(status, 'Initialized')).toMatch(/stage "production".*cluster "production-4".*"last".*"order"/);
      expect(await fleet.hub(['get', 'clusterresourcesnapshots', '-o', 'name'])).toBe('');
      // Before the first, so that the order of names is not the order of numbers.
      await label('0');
    });

    test('V2-6: index "0" of what was never rolled out is the present state; staging moves two at a time, and then waits', async () => {
      // A wait of 5 s may be over before we look, so what happens is written down.
      await using seen = await fleet.record('hub', ['get', 'csur']);
      const waiting = () =>
        seen.happenings
          .map(({ object }) => object as Run)
          .find(({ metadata, status }) => metadata.name === 'example-run' && told(status ?? {})[1] === WAITS[1]);
      await fleet.hub(['apply', '-f', seed('v2-6.yaml')]);
      await seen.until(() => waiting() !== undefined, 'the run waits');

      const status = waiting()?.status ?? {};
      expect(treeOf(status)).toEqual({
        told: WAITS,
        stages: {
          staging: { told: STAGE_WAITS, clusters: clusters(STAGING, CLUSTER_DONE), after: [[]] },
          canary: { told: [], clusters: clusters(['canary']), before: [[]], after: [[]] },
          production: { told: [], clusters: clusters(PRODUCTION), after: [[], []] },
        },
        deletion: ['kubernetes-fleet.io/deleteStage', { told: [], clusters: [] }],
      });
      expect(messageIn(status, 'Initialized')).toContain('ClusterStagedUpdateRun');
      expect(messageIn(status, 'Progressing')).toMatch(/stage "staging" waits until .*Z/);
      expect(status).toMatchObject({
        policySnapshotIndexUsed: '0',
        policyObservedClusterCount: 9,
        resourceSnapshotIndexUsed: '0',
      });
      expect(await fleet.hub(['get', 'clusterresourcesnapshots', '-o', 'name'])).toBe(
        'clusterresourcesnapshot.placement.kubernetes-fleet.io/example-placement-0-snapshot\n',
      );
      const moments = underWay(bindings.happenings, STAGING);
      expect(mostOf(moments)).toBe(2);
      expect(moments).toContainEqual(['staging-1', 'staging-2']);
      expect(inGroupsOf(2, orderOf(bindings.happenings, ALL))).toEqual(inGroupsOf(2, STAGING));
      expect(await versions(ALL)).toEqual([...each(['canary', ...PRODUCTION], ''), ...each(STAGING, '1')]);
    });

    test('V2-6: when the wait is over, and not before, the next stage asks for its approval', async () => {
      await wait('careq/example-run-before-canary', 'create');

      const { stagesStatus = [] } = await statusOf();
      const [staging] = stagesStatus;
      const seconds = (time: string | undefined) => Date.parse(time ?? '') / 1000;
      const ended = seconds(staging?.endTime);
      const elapsed = staging?.afterStageTaskStatus?.[0]?.conditions?.[0]?.lastTransitionTime;
      const since = staging?.conditions?.find(({ type }) => type === 'Progressing')?.lastTransitionTime;
      expect(seconds(elapsed) - seconds(since)).toBeGreaterThanOrEqual(5);
      expect(ended - seconds(since)).toBeGreaterThanOrEqual(5);
      const { metadata, spec, status } = await fleet.get<KubeObject>('hub', ['careq', 'example-run-before-canary']);
      expect(spec).toEqual({ parentStageRollout: 'example-run', targetStage: 'canary' });
      expect(metadata.labels).toEqual({
        'kubernetes-fleet.io/targetUpdateRun': 'example-run',
        'kubernetes-fleet.io/targetUpdatingStage': 'canary',
        'kubernetes-fleet.io/taskType': 'beforeStage',
        'kubernetes-fleet.io/isLatestUpdateRunApproval': 'true',
      });
      expect(status ?? {}).toEqual({});
    });

    test('V2-13: describe shows the tree under the long and the short name', async () => {
      await wait('csur/example-run', `jsonpath=${asked(1, 'before')}=True`);
      const [long, short] = await Promise.all(printed('V2-13').map(shell));

      expect(long?.code).toBe(0);
      // Events have an age.
      const beforeEvents = (shown: Result | undefined) => shown?.stdout.split('\nEvents:')[0] ?? '';
      expect(beforeEvents(short)).toBe(beforeEvents(long));
      const lines = beforeEvents(long)
        .split('\n')
        .map((line) => line.trim());
      const reasons = lines.filter((line) => line.startsWith('Reason:')).map((line) => line.split(/\s+/)[1]);
      expect(reasons).toEqual([
        // Of the run, then by stages: clusters are told of in the midst of theirs, by the names of their fields.
        'UpdateRunInitializedSuccessfully',
        'UpdateRunWaiting',
        ...['AfterStageTaskWaitTimeElapsed'],
        ...STAGING.flatMap(() => ['ClusterUpdatingStarted', 'ClusterUpdatingSucceeded']),
        ...['StageUpdatingSucceeded', 'StageUpdatingSucceeded'],
        ...['StageTaskApprovalRequestCreated', 'StageUpdatingWaiting'],
      ]);
      expect(lines.filter((line) => line.startsWith('Cluster Name:')).map((line) => line.split(/\s+/)[2])).toEqual([
        ...STAGING,
        'canary',
        ...PRODUCTION,
      ]);
      expect(long?.stdout).toMatch(/Policy Snapshot Index Used: +0\n/);
      expect(long?.stdout).toMatch(/Resource Snapshot Index Used: +0\n/);
      expect(long?.stdout).toMatch(/Approval Request Name: +example-run-before-canary\n/);
      const { conditions } = await statusOf();
      expect(messageIn({ conditions: conditions ?? [] }, 'Progressing')).toMatch(
        /stage "canary".*ClusterApprovalRequest "example-run-before-canary"/,
      );
    });

    test('V2-11: to start what is started already changes nothing', async () => {
      const run = () => fleet.get<Run>('hub', ['csur', 'example-run']);
      const before = await run();
      expect(await shell(onlyPrinted('V2-11'))).toMatchObject({
        code: 0,
        stdout: `${RUN}/example-run patched (no change)\n`,
      });
      expect(await run()).toEqual(before);
    });

    test('V2-8: an approval by merge patch opens the gate before canary; a second one changes nothing', async () => {
      expect(await versions(['canary'])).toEqual(['']);
      await approve(onlyPrinted('V2-8'), 'example-run-before-canary');
      await wait('careq/example-run-after-canary', 'create');
      await wait('csur/example-run', `jsonpath=${asked(1, 'after')}=True`);

      expect(await versions(['canary', ...PRODUCTION])).toEqual(['1', ...each(PRODUCTION, '')]);
      type Request = { readonly conditions: readonly Condition[]; readonly approval?: object };
      const request = async () =>
        (await fleet.get<{ status: Request }>('hub', ['careq', 'example-run-before-canary'])).status;
      const accepted = ['Approved True approved', 'ApprovalAccepted True ApprovalRequestApprovalAccepted'];
      const first = await request();
      expect(inShort(first.conditions)).toEqual(accepted);
      expect(messageOf(first.conditions, 'ApprovalAccepted')).toContain(signs === undefined ? 'unknown user' : signs);
      if (signs === undefined) expect(first).not.toHaveProperty('approval');
      else expect(first.approval).toMatchObject({ user: signs, generation: 1, time: expect.stringMatching(/Z$/) });

      // S2-11: it replaces the whole list, and with it what the hub has said.
      const before = await statusOf();
      await approve(onlyPrinted('V2-8'), 'example-run-before-canary');
      expect(inShort((await request()).conditions).toSorted()).toEqual(accepted.toSorted());
      expect(treeOf(await statusOf())).toEqual(treeOf(before));
    });

    test('V2-18: beside an unfinished run no other strategy may begin', async () => {
      await newRun('other-strategy', { stagedRolloutStrategyName: 'production-rollout', state: 'Run' });
      await says('Initialized', 'UpdateRunInitializedFailed', 'other-strategy');
      const status = await statusOf('other-strategy');
      expect(messageIn(status, 'Initialized')).toMatch(/ClusterStagedUpdateRun "example-run".*another strategy/);
      expect(await fleet.hub(['get', 'careq', '-o', 'jsonpath={.items[*].spec.parentStageRollout}'])).not.toContain(
        'other-strategy',
      );
    });

    test('V2-7, V2-18: without an index a run takes the newest state; with the same strategy it may follow the first', async () => {
      await fleet.apply(settings('2'));
      await fleet.hub(['apply', '-f', seed('v2-7.yaml')]);
      await says('Progressing', 'UpdateRunWaiting', 'example-run-latest');

      const status = await statusOf('example-run-latest');
      expect(status.resourceSnapshotIndexUsed).toBe('1');
      expect((await fleet.hub(['get', 'csur', 'example-run-latest', '--no-headers'])).split(/\s+/).slice(0, 4)).toEqual(
        ['example-run-latest', 'example-placement', '1', '0'],
      );
      expect(await versions([...STAGING, 'canary'])).toEqual([...each(STAGING, '2'), '1']);
      expect(told(await statusOf())).toEqual(WAITS);
      const crp = await fleet.status('crp', 'example-placement');
      expect(inShort(crp.conditions)).toEqual(NOT_FOR_ALL);
      expect(crp.observedResourceIndex ?? '').toBe('');
      expect(crp.placementStatuses?.map((one) => [one.clusterName, one.observedResourceIndex ?? ''])).toEqual([
        ['canary', '0'],
        ...PRODUCTION.toSorted().map((name) => [name, '']),
        ...STAGING.map((name) => [name, '1']),
      ]);
    });

    const nodes = (what: 'cordon' | 'uncordon', cluster: string) => fleet.on(cluster, [what, '-l', '!nothing']);

    test('V2-9: an approval of another generation opens nothing, and is told why', async () => {
      const request = 'example-run-after-canary';
      const wrong = onlyPrinted('V2-9').replace('"observedGeneration":1', '"observedGeneration":2');
      expect(await shell(wrong)).toMatchObject({ code: 0, stdout: `${REQUEST}/${request} patched\n` });
      await wait(`careq/${request}`, 'condition=ApprovalAccepted=false');

      const { conditions } = (await fleet.get<{ status: { conditions: Condition[] } }>('hub', ['careq', request]))
        .status;
      expect(inShort(conditions)).toEqual([
        'Approved True approved',
        'ApprovalAccepted False ApprovalRequestGenerationMismatch',
      ]);
      expect(messageOf(conditions, 'ApprovalAccepted')).toMatch(/observedGeneration 2.*generation 1/);
      expect(told(await statusOf())).toEqual(WAITS);
    });

    test('K32: every served version shows the whole run and the whole request', async () => {
      const read = async (plural: string, name: string) => {
        const shown = await Promise.all(
          ['v1', 'v1beta1', 'v1alpha1'].map((version) =>
            fleet.get<KubeObject>('hub', [`${plural}.${version}.placement.kubernetes-fleet.io`, name]),
          ),
        );
        expect(shown.map(({ apiVersion }) => apiVersion.split('/')[1])).toEqual(['v1', 'v1beta1', 'v1alpha1']);
        return shown.map(({ spec, status }) => ({ spec, status }));
      };
      for (const [first, ...others] of [
        await read('clusterstagedupdateruns', 'example-run'),
        await read('clusterapprovalrequests', 'example-run-before-canary'),
      ]) {
        expect(first?.status).toBeDefined();
        expect(others).toEqual([first, first]);
      }
      const { holds = [] } = await statusOf();
      expect(holds.map(({ code, on }) => [code, on?.name])).toContainEqual([
        'ApprovalMissing',
        'example-run-after-canary',
      ]);
    });

    test('V2-9: the approval after canary lets production begin, by its sorting label, half of it at once', async () => {
      // What has no node is under way for as long as we want.
      for (const cluster of PRODUCTION.slice(0, 2)) await nodes('cordon', cluster);
      await approve(onlyPrinted('V2-9'), 'example-run-after-canary');
      await clusterIs(2, 0, 'Started');
      await clusterIs(2, 1, 'Started');

      const status = await statusOf();
      expect(treeOf(status)).toMatchObject({
        told: [INITIALIZED, 'Progressing True UpdateRunProgressing'],
        stages: {
          canary: {
            told: STAGE_DONE,
            clusters: clusters(['canary'], CLUSTER_DONE),
            before: [APPROVED],
            after: [APPROVED],
          },
          production: {
            told: ['Progressing True StageUpdatingStarted'],
            clusters: [...clusters(PRODUCTION.slice(0, 2), UNDER_WAY), ...clusters(PRODUCTION.slice(2))],
          },
        },
      });
      expect(messageIn(status, 'Progressing')).toMatch(/stage "production".*production-4, production-1/);
      const [before] = status.stagesStatus?.[1]?.beforeStageTaskStatus ?? [];
      const [after] = status.stagesStatus?.[1]?.afterStageTaskStatus ?? [];
      expect(messageIn(before ?? {}, 'ApprovalRequestApproved')).toContain('before the stage');
      expect(messageIn(after ?? {}, 'ApprovalRequestApproved')).toContain('after the stage');
    });

    test('V2-12: Stop lets end what is under way and begins nothing; Run goes on where it was', async () => {
      const [stop, resume] = printed('V2-12') as [string, string];
      expect(await shell(stop)).toMatchObject({ code: 0, stdout: `${RUN}/example-run patched\n` });
      await says('Progressing', 'UpdateRunStopping');
      const stopping = await statusOf();
      expect(told(stopping)).toEqual([INITIALIZED, 'Progressing Unknown UpdateRunStopping']);
      expect(messageIn(stopping, 'Progressing')).toMatch(/production-4, production-1/);

      // A slot is free, and stays so.
      await nodes('uncordon', 'production-4');
      await clusterIs(2, 0, 'Succeeded');
      const left = await statusOf();
      expect(treeOf(left).stages['production']).toMatchObject({
        told: ['Progressing Unknown StageUpdatingStopping'],
        clusters: [
          ...clusters(['production-4'], CLUSTER_DONE),
          ...clusters(['production-1'], UNDER_WAY),
          ...clusters(PRODUCTION.slice(2)),
        ],
      });
      await nodes('uncordon', 'production-1');
      await says('Progressing', 'UpdateRunStopped');
      const stopped = await statusOf();
      expect(told(stopped)).toEqual([INITIALIZED, 'Progressing False UpdateRunStopped']);
      expect(treeOf(stopped).stages['production']).toMatchObject({
        told: ['Progressing False StageUpdatingStopped'],
        clusters: [...clusters(PRODUCTION.slice(0, 2), CLUSTER_DONE), ...clusters(PRODUCTION.slice(2))],
      });
      expect(await versions(PRODUCTION)).toEqual(['1', '1', '', '']);
      await refused(patch('example-run', { state: 'Initialize' }), 'state cannot go from Stop to Initialize');

      expect(await shell(resume)).toMatchObject({ code: 0, stdout: `${RUN}/example-run patched\n` });
      await wait('careq/example-run-after-production', 'create');
      const resumed = await statusOf();
      const ofProduction = ({ stagesStatus = [] }: StagedUpdateRunStatus) =>
        stagesStatus[2]?.clusters.map(({ conditions = [] }) => conditions.map((one) => one.lastTransitionTime)) ?? [];
      // Those that were done are not done again.
      expect(ofProduction(resumed).slice(0, 2)).toEqual(ofProduction(stopped).slice(0, 2));
      expect(await versions(PRODUCTION)).toEqual(each(PRODUCTION, '1'));
      expect(inGroupsOf(2, orderOf(bindings.happenings, PRODUCTION))).toEqual(inGroupsOf(2, PRODUCTION));
      expect(mostOf(underWay(bindings.happenings, PRODUCTION))).toBe(2);
    });

    test('V2-6: the last approval and the last wait end the run', async () => {
      await approve(approvalOf('example-run-after-production'), 'example-run-after-production');
      await says('Succeeded', 'UpdateRunSucceeded');

      const run = await fleet.get<Run>('hub', ['csur', 'example-run']);
      const status = run.status ?? {};
      expect(treeOf(status)).toEqual({
        told: RUN_DONE,
        stages: {
          staging: { told: STAGE_DONE, clusters: clusters(STAGING, CLUSTER_DONE), after: [WAITED] },
          canary: {
            told: STAGE_DONE,
            clusters: clusters(['canary'], CLUSTER_DONE),
            before: [APPROVED],
            after: [APPROVED],
          },
          production: {
            told: STAGE_DONE,
            clusters: clusters(PRODUCTION, CLUSTER_DONE),
            after: [APPROVED, WAITED],
          },
        },
        deletion: NOTHING_TO_REMOVE,
      });
      const generations = partsOf(status).flatMap(({ conditions = [] }) =>
        (conditions as readonly Condition[]).map(({ observedGeneration }) => observedGeneration),
      );
      expect(new Set(generations)).toEqual(new Set([run.metadata.generation]));
      for (const stage of [...(status.stagesStatus ?? []), status.deletionStageStatus])
        expect(Date.parse(stage?.endTime ?? '')).toBeGreaterThanOrEqual(Date.parse(stage?.startTime ?? ''));
    });

    test('V2-7: the run that follows ends with the newest state everywhere, and the placement says so', async () => {
      for (const gate of ['before-canary', 'after-canary', 'after-production']) {
        const request = `example-run-latest-${gate}`;
        await wait(`careq/${request}`, 'create');
        await approve(approvalOf(request), request);
      }
      await says('Succeeded', 'UpdateRunSucceeded', 'example-run-latest');
      await fleet.waitForAvailable('crp/example-placement');

      expect(told(await statusOf('example-run-latest'))).toEqual(RUN_DONE);
      expect(await versions(ALL)).toEqual(each(ALL, '2'));
      const crp = await fleet.status('crp', 'example-placement');
      expect(inShort(crp.conditions)).toEqual([
        'Scheduled True SchedulingPolicyFulfilled',
        'RolloutStarted True RolloutStarted',
        'Overridden True NoOverrideSpecified',
        'WorkSynchronized True WorkSynchronized',
        'Applied True ApplySucceeded',
        'Available True ResourceAvailable',
      ]);
      expect(crp.conditions.map(({ message }) => message)).toEqual(
        crp.conditions.map(() => expect.stringMatching(/\b9\b/)),
      );
      expect(crp.observedResourceIndex).toBe('1');
      expect(crp.placementStatuses?.map((one) => [one.clusterName, inShort(one.conditions)])).toEqual(
        ALL.map((name) => [name, CLUSTER_WELL]),
      );
      expect(messageOf(crp.placementStatuses?.[0]?.conditions, 'RolloutStarted')).toContain(
        'resourceSnapshotIndex: 1, clusterStagedUpdateRun: example-run-latest',
      );
      const bound = (await fleet.get<{ items: Binding[] }>('hub', ['crb'])).items.map(({ spec }) => spec);
      expect(new Set(bound.map((spec) => spec?.resourceSnapshotName))).toEqual(
        new Set(['example-placement-1-snapshot']),
      );
    });

    test('V2-14: illegal moves and changes of what is fixed are refused with a sentence', async () => {
      await newRun('moves', { stagedRolloutStrategyName: 'example-strategy' });
      await says('Initialized', 'UpdateRunInitializedSuccessfully', 'moves');
      expect(treeOf(await statusOf('moves'))).toMatchObject({ told: [INITIALIZED] });
      await refused(patch('moves', { state: 'Stop' }), 'state cannot go from Initialize to Stop');
      const fixed = 'placementName, resourceSnapshotIndex and stagedRolloutStrategyName are immutable';
      await refused(patch('moves', { placementName: 'other' }), fixed);
      await refused(patch('moves', { stagedRolloutStrategyName: 'other' }), fixed);
      await refused(patch('moves', { resourceSnapshotIndex: '0' }), fixed);
      await refused(patch('example-run', { resourceSnapshotIndex: '1' }), fixed);
      await refused(patch('example-run', { resourceSnapshotIndex: null }), fixed);

      await fleet.hub(patch('moves', { state: 'Run' }));
      await says('Progressing', 'UpdateRunWaiting', 'moves');
      await refused(patch('moves', { state: 'Initialize' }), 'state cannot go from Run to Initialize');
      await fleet.hub(patch('moves', { state: 'Stop' }));
      await says('Progressing', 'UpdateRunStopped', 'moves');
      await refused(patch('moves', { state: 'Initialize' }), 'state cannot go from Stop to Initialize');
      await fleet.hub(['delete', 'csur', 'moves', '--timeout=55s']);
    });
  });
