// Seed 002 for application teams, with real kubectl on whatever the fleet runs on: a team with rights in its own namespace alone rolls its application out,
// somebody who may do nothing but approve lets it through, and whole clusters are none of their business. Numbers (V2-3 …) are those of the checklist.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import type { StagedUpdateRunStatus } from '../../src/api/staged-update-run.ts';
import { type Condition, type Fleet, inShort, messageOf, type StartFleet } from './delivery.ts';
import { namespace } from './delivery-kinds.ts';
import type { Result } from './server.ts';
import {
  APPROVED,
  ASKED,
  approvalOf,
  CLUSTER_DONE,
  clusters,
  INITIALIZED,
  inNamespace,
  messageIn,
  mostOf,
  NOTHING_TO_REMOVE,
  onlyPrinted,
  orderOf,
  printed,
  RUN_DONE,
  type Run,
  type ServerTraits,
  STAGE_DONE,
  seed,
  shellOf,
  textOf,
  told,
  treeOf,
  underWay,
  WAITED,
  withShortWaits,
} from './staged-002.ts';

const APP = 'my-app-namespace';
const OTHER = 'test-namespace';
const DEVELOPMENT = ['development-1', 'development-2', 'development-3'];
/** By their label `deployment-order`, once the last has become the first. */
const PRODUCTION = ['production-3', 'production-1', 'production-2'];
const TARGETS = [...DEVELOPMENT, ...PRODUCTION.toSorted()];
const STAGED = ['canary', ...PRODUCTION.toSorted(), 'staging-1', 'staging-2'];

/** Their ServiceAccounts, contexts of those names, and the roles that each has in the namespace. */
const PEOPLE = { 'app-team': 'edit', 'app-lead': 'admin', 'app-guest': 'view', qa: 'flotilla-approver' } as const;
type Person = keyof typeof PEOPLE;

const REQUEST = 'approvalrequest.placement.kubernetes-fleet.io';
const NOT_STARTED = [
  'Scheduled True SchedulingPolicyFulfilled',
  'RolloutStarted Unknown RolloutControlledByExternalController',
];

/** Only the namespace itself, to the clusters of these environments. */
const namespaceOn = (name: string, ...environments: readonly string[]): KubeObject => ({
  apiVersion: 'placement.kubernetes-fleet.io/v1beta1',
  kind: 'ClusterResourcePlacement',
  metadata: { name },
  spec: {
    resourceSelectors: [{ group: '', version: 'v1', kind: 'Namespace', name, selectionScope: 'NamespaceOnly' }],
    policy: {
      placementType: 'PickAll',
      affinity: {
        clusterAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            clusterSelectorTerms: environments.map((environment) => ({
              labelSelector: { matchLabels: { environment } },
            })),
          },
        },
      },
    },
  },
});

export const describeNamespaceScope = (start: StartFleet, { signs }: ServerTraits) =>
  describe('seed 002, inside a namespace', () => {
    let fleet: Fleet;
    let shell: (command: string) => Promise<Result>;
    beforeAll(async () => {
      fleet = await start('seed-002-namespace');
      shell = shellOf(fleet);
      await fleet.hub(['label', 'membercluster', 'production-3', 'deployment-order=0', '--overwrite']);
      await fleet.apply(
        namespace(APP),
        namespaceOn(APP, 'development', 'production'),
        namespace(OTHER),
        namespaceOn(OTHER, 'staging', 'canary', 'production'),
      );
      for (const person of Object.keys(PEOPLE) as Person[]) await arrives(person);
      await fleet.waitForAvailable(`crp/${APP}`, `crp/${OTHER}`);
      // Members tell of their namespaces a moment after they have them.
      const haveIt = (name: string, members: readonly string[]) =>
        fleet.hub([
          ...['wait', `--for=jsonpath={.status.namespaces.${name}}`, '--timeout=55s'],
          ...members.map((member) => `membercluster/${member}`),
        ]);
      await haveIt(APP, TARGETS);
      await haveIt(OTHER, STAGED);
    });
    afterAll(() => fleet?.[Symbol.asyncDispose]());

    /** An account, its role, and a context of its own. */
    const arrives = async (person: Person) => {
      await fleet.hub(['-n', APP, 'create', 'serviceaccount', person]);
      const role = [`--clusterrole=${PEOPLE[person]}`, `--serviceaccount=${APP}:${person}`];
      await fleet.hub(['-n', APP, 'create', 'rolebinding', person, ...role]);
      const token = (await fleet.hub(['-n', APP, 'create', 'token', person, '--duration=1h'])).trim();
      await fleet.hub(['config', 'set-credentials', person, `--token=${token}`]);
      await fleet.hub(['config', 'set-context', person, '--cluster=hub', `--user=${person}`]);
    };
    const userName = (person: Person) => `system:serviceaccount:${APP}:${person}`;

    const team = (args: readonly string[], input?: string) =>
      fleet.hub(['--context', 'app-team', '-n', APP, ...args], input);
    /** A command of the seed, by somebody. */
    const by = (person: Person, command: string) => shell(command.replace(/^kubectl /, `kubectl --context ${person} `));
    const refuses = async (person: Person, args: readonly string[], input?: string) => {
      const { code, stderr } = await fleet.try(['--context', person, ...args], input);
      expect({ args, code }).toEqual({ args, code: 1 });
      expect(stderr).toContain(`forbidden: User "${userName(person)}" cannot`);
    };

    const statusOf = async (run: string, where = APP): Promise<StagedUpdateRunStatus> =>
      (await fleet.get<Run>('hub', ['sur', run, '-n', where])).status ?? {};
    const wait = (what: string, condition: string, where = APP) =>
      fleet.hub(['-n', where, 'wait', what, `--for=${condition}`, '--timeout=55s']);
    const says = (run: string, type: string, reason: string, where = APP) =>
      wait(`sur/${run}`, `jsonpath={.status.conditions[?(@.type=="${type}")].reason}=${reason}`, where);
    /** What each cluster was told to run; empty where there is nothing. */
    const images = (names: readonly string[]): Promise<readonly string[]> =>
      Promise.all(
        names.map((name) =>
          fleet.on(name, [
            ...['-n', APP, 'get', 'deployment', 'my-application', '--ignore-not-found'],
            ...['-o', 'jsonpath={.spec.template.spec.containers[0].image}'],
          ]),
        ),
      );
    const each = (names: readonly string[], value: string) => names.map(() => value);
    const setImage = (number: number) => team(['set', 'image', 'deployment/my-application', `web=web:${number}`]);
    const latestRun = (name: string, state: string): string =>
      textOf('v2-15.yaml')
        .replace('app-rollout-v1-2-3', name)
        .replace(/^ {2}resourceSnapshotIndex: .*\n/m, '')
        .replace(/^ {2}state: .*$/m, `  state: ${state}`);
    /** What is there now becomes this revision, and nothing moves. */
    const capture = async (number: number) => {
      await setImage(number);
      await team(['apply', '-f', '-'], latestRun(`revision-${number}`, 'Initialize'));
      await wait(`sur/revision-${number}`, `jsonpath={.status.resourceSnapshotIndexUsed}=${number}`);
    };
    /** The run of the seed, until it has begun or failed to. */
    const applied = async (reason: string) => {
      await team(['apply', '-f', seed('v2-15.yaml')]);
      await says('app-rollout-v1-2-3', 'Initialized', reason);
      return statusOf('app-rollout-v1-2-3');
    };
    const deleted = () => team(['delete', 'sur', 'app-rollout-v1-2-3', '--timeout=55s']);
    const approvedRequest = async (name: string, where = APP) =>
      (
        await fleet.get<{ status: { conditions: readonly Condition[]; approval?: object } }>('hub', [
          ...['areq', name, '-n', where],
        ])
      ).status;

    test('V2-3: the placement of an application is scheduled where its namespace is, and nothing goes anywhere', async () => {
      await team(['create', 'deployment', 'my-application', '--image=web:start']);
      await team(['apply', '-f', seed('v2-3.yaml')]);
      await wait(
        'rp/example-namespace-placement',
        'jsonpath={.status.conditions[?(@.type=="ResourcePlacementRolloutStarted")].reason}=RolloutControlledByExternalController',
      );
      const status = await fleet.status('rp', 'example-namespace-placement', '-n', APP);

      expect(inShort(status.conditions)).toEqual(NOT_STARTED);
      expect(messageOf(status.conditions, 'RolloutStarted')).toContain(' StagedUpdateRun');
      expect(status.placementStatuses?.map((one) => [one.clusterName, inShort(one.conditions)])).toEqual(
        TARGETS.map((name) => [name, ['Scheduled True Scheduled', 'RolloutStarted Unknown RolloutStartedUnknown']]),
      );
      expect(status.observedResourceIndex ?? '').toBe('');
      expect(await team(['get', 'resourcesnapshots', '-o', 'name'])).toBe('');
      expect(await images(TARGETS)).toEqual(each(TARGETS, ''));
    });

    test('V2-5: its strategy is accepted', async () => {
      await team(['apply', '-f', '-'], withShortWaits('v2-5.yaml'));
      const stages = 'jsonpath={range .spec.stages[*]}{.name} {.maxConcurrency} {.sortingLabelKey}{"\\n"}{end}';
      expect(await team(['get', 'sus', 'app-rollout-strategy', '-o', stages])).toBe(
        'dev 3 \nprod 1 deployment-order\n',
      );
    });

    test('V2-15: index "5" is refused, with those that exist', async () => {
      const status = await applied('UpdateRunInitializedFailed');
      expect(told(status)).toEqual(['Initialized False UpdateRunInitializedFailed']);
      expect(messageIn(status, 'Initialized')).toMatch(/index "5".*there are none yet/);
      await deleted();
      for (const number of [0, 1, 2]) await capture(number);
      const message = messageIn(await applied('UpdateRunInitializedFailed'), 'Initialized');
      expect(message).toMatch(/index "5".*those that exist: 0, 1, 2;/);
      await deleted();
    });

    test('V2-15: of six revisions "5" is the last; the stages are listed, and nothing moves', async () => {
      for (const number of [3, 4, 5]) await capture(number);
      // From here on the newest is another one.
      await setImage(6);
      const status = await applied('UpdateRunInitializedSuccessfully');
      expect(treeOf(status)).toEqual({
        told: [INITIALIZED],
        stages: {
          dev: { told: [], clusters: clusters(DEVELOPMENT), after: [[]] },
          prod: { told: [], clusters: clusters(PRODUCTION), after: [[]] },
        },
        deletion: ['kubernetes-fleet.io/deleteStage', { told: [], clusters: [] }],
      });
      expect(status.resourceSnapshotIndexUsed).toBe('5');
      expect(messageIn(status, 'Initialized')).toContain(
        `kubectl patch stagedupdateruns app-rollout-v1-2-3 -n ${APP} --type merge -p '{"spec":{"state":"Run"}}'`,
      );
      expect(await images(TARGETS)).toEqual(each(TARGETS, ''));
    });

    test('V2-16: describe shows it under the long and the short name', async () => {
      const [long, short] = await Promise.all(printed('V2-16').map((command) => by('app-guest', command)));
      const shown = (result: Result | undefined) => result?.stdout.split('\nEvents:')[0] ?? '';

      expect({ code: long?.code, stderr: long?.stderr }).toEqual({ code: 0, stderr: '' });
      expect(shown(short)).toBe(shown(long));
      const lines = shown(long)
        .split('\n')
        .map((line) => line.trim().split(/\s{2,}/));
      const values = (key: string) => lines.filter(([name]) => name === key).map(([, value]) => value);
      expect(shown(long)).toMatch(/^Namespace: +my-app-namespace$/m);
      expect(shown(long)).toMatch(/^Kind: +StagedUpdateRun$/m);
      expect(values('Reason:')).toEqual(['UpdateRunInitializedSuccessfully']);
      expect(values('Stage Name:')).toEqual(expect.arrayContaining(['dev', 'prod', 'kubernetes-fleet.io/deleteStage']));
      expect(values('Cluster Name:')).toEqual([...DEVELOPMENT, ...PRODUCTION]);
      expect(values('Resource Snapshot Index Used:')).toEqual(['5']);
    });

    test('V2-17: the team starts its run: development at once, production one by one', async () => {
      await using bindings = await fleet.record('hub', ['get', 'rb', '-n', APP]);
      const start = messageIn(await statusOf('app-rollout-v1-2-3'), 'Initialized').match(/kubectl .*$/)?.[0] as string;
      expect(await by('app-team', start)).toMatchObject({ code: 0 });
      await wait('areq/app-rollout-v1-2-3-after-prod', 'create');

      expect(await images(TARGETS)).toEqual(each(TARGETS, 'web:5'));
      expect(underWay(bindings.happenings, DEVELOPMENT)).toContainEqual(DEVELOPMENT);
      expect(mostOf(underWay(bindings.happenings, PRODUCTION))).toBe(1);
      expect(orderOf(bindings.happenings, TARGETS).slice(DEVELOPMENT.length)).toEqual(PRODUCTION);
      // "Waits 5s" is from the last cluster on, in whole seconds.
      const [dev] = (await statusOf('app-rollout-v1-2-3')).stagesStatus ?? [];
      const done = dev?.clusters.map(({ conditions = [] }) => conditions.find(({ type }) => type === 'Succeeded'));
      const last = Math.max(...(done ?? []).map((one) => Date.parse(one?.lastTransitionTime ?? '')));
      expect(Date.parse(dev?.endTime ?? '') - last).toBeGreaterThanOrEqual(5000);
    });

    test('V2-17: who changes a run does not approve it; who approves does nothing else', async () => {
      const request = 'app-rollout-v1-2-3-after-prod';
      const command = approvalOf(request, 'V2-10').replace(OTHER, APP);
      for (const person of ['app-team', 'app-guest'] as const) {
        const { code, stderr } = await by(person, command);
        expect(code).toBe(1);
        expect(stderr).toContain(`forbidden: User "${userName(person)}" cannot`);
        expect(stderr).toContain('resource "approvalrequests/status"');
      }
      await wait(
        'sur/app-rollout-v1-2-3',
        'jsonpath={.status.stagesStatus[1].afterStageTaskStatus[0].conditions[0].status}=True',
      );
      expect(treeOf(await statusOf('app-rollout-v1-2-3'))).toMatchObject({
        told: [INITIALIZED, 'Progressing False UpdateRunWaiting'],
        stages: { prod: { told: ['Progressing False StageUpdatingWaiting'], after: [ASKED] } },
      });

      await refuses('qa', [
        '-n',
        APP,
        'patch',
        'sur',
        'app-rollout-v1-2-3',
        '--type=merge',
        '-p',
        '{"spec":{"state":"Stop"}}',
      ]);
      await refuses('qa', ['-n', APP, 'get', 'deployments']);
      expect(await by('qa', command)).toMatchObject({ code: 0, stdout: `${REQUEST}/${request} patched\n` });
      await says('app-rollout-v1-2-3', 'Succeeded', 'UpdateRunSucceeded');

      expect(treeOf(await statusOf('app-rollout-v1-2-3'))).toEqual({
        told: RUN_DONE,
        stages: {
          dev: { told: STAGE_DONE, clusters: clusters(DEVELOPMENT, CLUSTER_DONE), after: [WAITED] },
          prod: { told: STAGE_DONE, clusters: clusters(PRODUCTION, CLUSTER_DONE), after: [APPROVED] },
        },
        deletion: NOTHING_TO_REMOVE,
      });
      const { conditions, approval } = await approvedRequest(request);
      expect(inShort(conditions)).toEqual([
        'Approved True approved',
        'ApprovalAccepted True ApprovalRequestApprovalAccepted',
      ]);
      if (signs === undefined) expect(approval).toBeUndefined();
      else expect(approval).toMatchObject({ user: userName('qa'), generation: 1 });
      await fleet.hub([
        '-n',
        APP,
        'wait',
        'rp/example-namespace-placement',
        '--for=condition=ResourcePlacementAvailable',
        '--timeout=55s',
      ]);
      const placement = await fleet.status('rp', 'example-namespace-placement', '-n', APP);
      expect(placement.observedResourceIndex).toBe('5');
      expect(messageOf(placement.placementStatuses?.[0]?.conditions, 'RolloutStarted')).toContain(
        'resourceSnapshotIndex: 5, stagedUpdateRun: app-rollout-v1-2-3',
      );
    });

    test('V2-17: the administrator of the namespace approves, too', async () => {
      await team(['apply', '-f', '-'], latestRun('app-rollout-latest', 'Run'));
      const request = 'app-rollout-latest-after-prod';
      await wait(`areq/${request}`, 'create');
      expect(await by('app-lead', approvalOf(request, 'V2-10').replace(OTHER, APP))).toMatchObject({ code: 0 });
      await says('app-rollout-latest', 'Succeeded', 'UpdateRunSucceeded');

      expect((await statusOf('app-rollout-latest')).resourceSnapshotIndexUsed).toBe('6');
      expect(await images(TARGETS)).toEqual(each(TARGETS, 'web:6'));
      if (signs !== undefined)
        expect((await approvedRequest(request)).approval).toMatchObject({ user: userName('app-lead') });
    });

    test('V2-17: what belongs to no namespace, and other namespaces, are closed to all of them', async () => {
      const files = ['v2-0.yaml', 'v2-2.yaml', 'v2-6.yaml'];
      const kinds = ['crp', 'csus', 'csur', 'careq', 'crb', 'clusterresourcesnapshots', 'memberclusters'];
      const asked = [...files.map((file) => ['create', '-f', seed(file)]), ...kinds.map((kind) => ['get', kind])];
      for (const args of asked)
        await Promise.all((['app-team', 'app-lead'] as const).map((person) => refuses(person, args)));
      const elsewhere = textOf('v2-15.yaml').replace(`namespace: ${APP}`, `namespace: ${OTHER}`);
      await refuses('app-team', ['create', '-f', '-'], elsewhere);
      await refuses('app-guest', ['create', '-f', seed('v2-15.yaml')]);
      await refuses('qa', ['get', 'careq']);
      await refuses('qa', ['-n', OTHER, 'get', 'areq']);
    });

    test('V2-10: a request in test-namespace is approved by the command of the seed', async () => {
      for (const name of PRODUCTION) await fleet.hub(['label', 'membercluster', name, 'order=1']);
      await fleet.apply(
        {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: 'settings', namespace: OTHER },
          data: { version: '1' },
        },
        {
          apiVersion: 'placement.kubernetes-fleet.io/v1beta1',
          kind: 'ResourcePlacement',
          metadata: { name: 'example-placement', namespace: OTHER },
          spec: {
            resourceSelectors: [{ group: '', version: 'v1', kind: 'ConfigMap', name: 'settings' }],
            policy: { placementType: 'PickAll' },
            strategy: { type: 'External' },
          },
        },
      );
      await fleet.hub(['apply', '-f', '-'], inNamespace(withShortWaits('v2-0.yaml'), OTHER));
      await fleet.hub(['apply', '-f', '-'], inNamespace(textOf('v2-6.yaml'), OTHER));
      const has = async (names: readonly string[]) =>
        Promise.all(
          names.map((name) =>
            fleet.on(name, [
              '-n',
              OTHER,
              'get',
              'cm',
              'settings',
              '--ignore-not-found',
              '-o',
              'jsonpath={.data.version}',
            ]),
          ),
        );
      const order = ['staging-1', 'staging-2', 'canary', ...PRODUCTION.toSorted()];

      await wait('areq/example-run-before-canary', 'create', OTHER);
      expect(await has(order)).toEqual(['1', '1', '', '', '', '']);
      expect(await shell(onlyPrinted('V2-10'))).toMatchObject({
        code: 0,
        stdout: `${REQUEST}/example-run-before-canary patched\n`,
      });
      await wait('areq/example-run-after-canary', 'create', OTHER);
      expect(await has(order)).toEqual(['1', '1', '1', '', '', '']);
      const { approval } = await approvedRequest('example-run-before-canary', OTHER);
      if (signs === undefined) expect(approval).toBeUndefined();
      else expect(approval).toMatchObject({ user: signs, generation: 1 });

      for (const gate of ['after-canary', 'after-production']) {
        await wait(`areq/example-run-${gate}`, 'create', OTHER);
        expect(await shell(approvalOf(`example-run-${gate}`, 'V2-10'))).toMatchObject({ code: 0 });
      }
      await says('example-run', 'Succeeded', 'UpdateRunSucceeded', OTHER);
      expect(await has(order)).toEqual(each(order, '1'));
    });

    test('V2-3: through all of it the hub itself ran nothing of the application', async () => {
      expect(await fleet.hub(['-n', APP, 'get', 'replicasets,pods', '-o', 'name'])).toBe('');
    });
  });
