// What cannot be done is told to whoever asks with kubectl or `flotilla why`, with the object's name; nothing is touched that is not ours; and when
// the cause is gone the placement goes on by itself.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Fleet, hasAnswered, inShort, messageOf, type PlacementStatus, type StartFleet } from './delivery.ts';
import { definition, namespace } from './delivery-kinds.ts';
import { flotilla } from './fleet.ts';

const configMap = (name: string, inNamespace: string, data: object) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: inNamespace },
  data,
});
/** Sends the namespace of the same name to every member. */
const placement = (name: string, spec: object = {}) => ({
  apiVersion: 'placement.kubernetes-fleet.io/v1',
  kind: 'ClusterResourcePlacement',
  metadata: { name },
  spec: { resourceSelectors: [{ group: '', version: 'v1', kind: 'Namespace', name }], ...spec },
});

/** `warns`: whoever applies is warned of what is not supported. Only our own server does so today; a real one would need a webhook. */
export const describeUndelivered = (start: StartFleet, { warns }: { readonly warns: boolean }) =>
  describe('a placement that cannot be delivered', () => {
    let fleet: Fleet;
    beforeAll(async () => {
      fleet = await start();
    });
    afterAll(() => fleet?.[Symbol.asyncDispose]());

    const why = async (name: string, ...args: readonly string[]) => {
      const { code, stdout } = await flotilla(fleet.home, ['why', `placement/${name}`, ...args], {
        KUBECONFIG: fleet.kubeconfig,
      });
      return { code, sentence: stdout.split('\n')[0] as string };
    };
    const hasEverybodyAnswered = ({ placementStatuses = [] }: PlacementStatus) =>
      placementStatuses.length > 0 && placementStatuses.every(hasAnswered);
    const failuresOn = ({ placementStatuses }: PlacementStatus, cluster: string) =>
      placementStatuses
        ?.find(({ clusterName }) => clusterName === cluster)
        ?.failedPlacements?.map(({ kind, name, condition }) => [
          `${kind} ${name}`,
          condition.reason,
          condition.message,
        ]);

    test('because it copies the status of several clusters is stored with a warning, and touches no member', async () => {
      await fleet.apply(namespace('dry'));
      const dry = placement('dry', {
        strategy: { reportBackStrategy: { type: 'Mirror', destination: 'OriginalResource' } },
      });
      const { code, stderr } = await fleet.try(['apply', '-f', '-'], JSON.stringify(dry));
      expect(code).toBe(0);
      if (warns)
        expect(stderr).toMatch(
          /^Warning: spec\.strategy\.reportBackStrategy\.destination OriginalResource needs a policy that picks exactly one cluster/,
        );
      await fleet.waitForReason('crp/dry', 'ClusterResourcePlacementScheduled', 'SchedulePending');

      const { conditions, holds } = await fleet.status('crp', 'dry');
      expect(inShort(conditions)).toEqual(['Scheduled Unknown SchedulePending']);
      expect(messageOf(conditions, 'Scheduled')).toContain(
        'OriginalResource needs a policy that picks exactly one cluster',
      );
      expect(holds?.map((hold) => hold.code)).toEqual(['SpecInvalid']);
      expect(await why('dry')).toEqual({
        code: 2,
        sentence: expect.stringContaining('OriginalResource needs a policy that picks exactly one cluster'),
      });
      expect(await fleet.hub(['get', 'crb,works', '-A', '-o', 'name'])).toBe('');

      await fleet.apply(placement('dry', { strategy: { applyStrategy: { type: 'ClientSideApply' } } }));
      await fleet.waitForAvailable('crp/dry');
      expect(await why('dry')).toEqual({ code: 0, sentence: expect.stringContaining('is complete') });
    });

    test('because an envelope holds an object of another namespace names the entry', async () => {
      const wrapped = 'apiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: inner\n  namespace: enveloped\n';
      const plain = configMap('wrap', 'enveloped', {
        'quota.yaml': wrapped.replace('namespace: enveloped', 'namespace: x'),
      });
      const annotations = { 'kubernetes-fleet.io/envelope-configmap': 'true' };
      const envelope = { ...plain, metadata: { ...plain.metadata, annotations } };
      await fleet.apply(namespace('enveloped'));
      const { code, stderr } = await fleet.try(['apply', '-f', '-'], JSON.stringify(envelope));
      expect(code).toBe(0);
      if (warns)
        expect(stderr).toMatch(/^Warning: ConfigMap "enveloped\/wrap", entry "quota.yaml": it is in namespace "x"/);
      await fleet.apply(placement('enveloped'));
      await fleet.waitForReason('crp/enveloped', 'ClusterResourcePlacementWorkSynchronized', 'WorkNotSynchronizedYet');
      await fleet.apply({ ...envelope, data: { 'quota.yaml': wrapped } });
      await fleet.waitForAvailable('crp/enveloped');
      const quota = ['-n', 'enveloped', 'get', 'quota', '-o', 'name'];
      expect(await fleet.on('member-1', quota)).toBe('resourcequota/inner\n');
      expect(await fleet.hub(quota)).toBe('');
    });

    test("because an object is somebody else's leaves it as it is, and delivers the rest", async () => {
      await fleet.on('member-1', ['create', 'namespace', 'foreign']);
      await fleet.on('member-1', ['-n', 'foreign', 'create', 'configmap', 'theirs', '--from-literal=from=them']);
      const theirs = () => fleet.on('member-1', ['-n', 'foreign', 'get', 'cm', 'theirs', '-o', 'yaml']);
      const before = await theirs();
      await fleet.apply(
        namespace('foreign'),
        configMap('theirs', 'foreign', { from: 'hub' }),
        configMap('ours', 'foreign', { from: 'hub' }),
        placement('foreign', { strategy: { applyStrategy: { whenToTakeOver: 'Never' } } }),
      );
      // The hub may see the placement before it sees all that it selects.
      const status = await fleet.waitForStatus(
        ['crp', 'foreign'],
        (seen) => seen.selectedResources?.length === 3 && hasEverybodyAnswered(seen),
        'every member has told what became of all three objects',
      );
      expect(inShort(status.conditions).at(-1)).toBe('Applied False ApplyFailed');
      expect(failuresOn(status, 'member-1'), JSON.stringify(status.placementStatuses)).toEqual([
        ['ConfigMap theirs', 'NotTakenOver', expect.stringContaining('ConfigMap "foreign/theirs"')],
        ['Namespace foreign', 'NotTakenOver', expect.stringContaining('Namespace "foreign"')],
      ]);
      expect(failuresOn(status, 'member-2')).toBeUndefined();
      expect(await why('foreign')).toEqual({
        code: 2,
        sentence: expect.stringMatching(/"member-1".*ConfigMap "foreign\/theirs" was on the member before/),
      });
      expect(await theirs()).toBe(before);
      expect(await fleet.on('member-1', ['-n', 'foreign', 'get', 'cm', 'ours', '-o', 'name'])).toBe('configmap/ours\n');

      // Also when the placement goes; what is ours goes with it. The placement does not wait for that, nor for the member's garbage collector.
      await fleet.hub(['delete', 'crp', 'foreign', '--timeout=60s']);
      await fleet.on('member-1', ['-n', 'foreign', 'wait', '--for=delete', 'configmap/ours', '--timeout=60s']);
      expect(await theirs()).toBe(before);
      await fleet.on('member-2', ['wait', '--for=delete', 'namespace/foreign', '--timeout=60s']);
    });

    test('because the member lacks the kind names both, and heals when its definition comes', async () => {
      const kind = definition('example.com', 'Gadget', 'v1');
      await fleet.apply(kind);
      await fleet.hub(['wait', '--for=condition=Established', `crd/${kind.metadata.name}`, '--timeout=60s']);
      await fleet.apply(
        namespace('gadgets'),
        { apiVersion: 'example.com/v1', kind: 'Gadget', metadata: { name: 'one', namespace: 'gadgets' } },
        placement('gadgets'),
      );
      const status = await fleet.waitForStatus(
        ['crp', 'gadgets'],
        (seen) => seen.selectedResources?.length === 2 && hasEverybodyAnswered(seen),
        'every member has told what became of both objects',
      );
      expect(failuresOn(status, 'member-3')).toEqual([
        ['Gadget one', 'DecodingErred', expect.stringMatching(/Gadget.*example\.com/)],
      ]);

      const selectors = [
        { group: 'apiextensions.k8s.io', version: 'v1', kind: 'CustomResourceDefinition', name: kind.metadata.name },
      ];
      await fleet.apply(placement('definitions', { resourceSelectors: selectors }));
      await fleet.waitForAvailable('crp/gadgets');
    });

    test('because a field cannot change names the field, and heals when it is as it was', async () => {
      const fixed = (key: string) => configMap('fixed', 'fixed', { key });
      await fleet.apply(namespace('fixed'), fixed('old'), placement('fixed'));
      await fleet.waitForAvailable('crp/fixed');
      await fleet.on('member-1', ['-n', 'fixed', 'patch', 'cm', 'fixed', '-p', '{"immutable":true}']);
      await fleet.apply(fixed('new'));
      await fleet.hub([
        ...['wait', 'crp/fixed', '--timeout=60s'],
        '--for=jsonpath={.status.placementStatuses[*].failedPlacements[*].condition.reason}=ManifestApplyFailed',
      ]);
      await fleet.waitForReason('crp/fixed', 'ClusterResourcePlacementRolloutStarted', 'RolloutNotStartedYet');
      const status = await fleet.status('crp', 'fixed');
      expect(failuresOn(status, 'member-1')).toEqual([
        ['ConfigMap fixed', 'ManifestApplyFailed', expect.stringMatching(/ConfigMap "fixed\/fixed".*immutable/)],
      ]);
      // It has cost one cluster, no more.
      expect(
        status.placementStatuses?.map(({ clusterName, conditions }) => [clusterName, inShort(conditions).at(-1)]),
      ).toEqual([
        ['member-1', 'Applied False NotAllWorkHaveBeenApplied'],
        ['member-2', 'RolloutStarted False RolloutNotStartedYet'],
        ['member-3', 'RolloutStarted False RolloutNotStartedYet'],
      ]);

      await fleet.apply(fixed('old'));
      await fleet.waitForAvailable('crp/fixed');
    });

    test('because its namespace is missing on the member says so, and heals when it comes', async () => {
      await fleet.apply(namespace('team'), configMap('settings', 'team', { key: 'value' }), {
        apiVersion: 'placement.kubernetes-fleet.io/v1',
        kind: 'ResourcePlacement',
        metadata: { name: 'settings', namespace: 'team' },
        spec: {
          resourceSelectors: [{ group: '', version: 'v1', kind: 'ConfigMap', name: 'settings' }],
          policy: { placementType: 'PickFixed', clusterNames: ['member-2'] },
        },
      });
      const status = await fleet.waitForStatus(
        ['rp', 'settings', '-n', 'team'],
        (seen) => seen.selectedResources?.length === 1 && hasEverybodyAnswered(seen),
        'the member has told what became of the ConfigMap',
      );
      expect(failuresOn(status, 'member-2')).toEqual([
        [
          'ConfigMap settings',
          'ManifestApplyFailed',
          expect.stringMatching(/namespace "team".*ClusterResourcePlacement/),
        ],
      ]);
      expect(await why('settings', '-n', 'team')).toEqual({
        code: 2,
        sentence: expect.stringMatching(/"member-2".*ConfigMap "team\/settings": the member has no namespace "team"/),
      });

      await fleet.apply(
        placement('team', {
          resourceSelectors: [
            { group: '', version: 'v1', kind: 'Namespace', name: 'team', selectionScope: 'NamespaceOnly' },
          ],
        }),
      );
      await fleet.waitForAvailable('rp/settings', '-n', 'team');
    });

    test('because it selects too much says how much, and goes on when it is less', async () => {
      const blob = 'x'.repeat(200_000);
      await fleet.apply(namespace('big'), placement('big'));
      await fleet.waitForAvailable('crp/big');
      const add = (name: string) => fleet.hub(['create', '-f', '-'], JSON.stringify(configMap(name, 'big', { blob })));
      for (const name of ['one', 'two', 'three', 'four']) await add(name);
      // What was begun goes on beside what is too much, and clusters that wait for their turn have a hold of their own.
      await fleet.waitForStatus(
        ['crp', 'big'],
        (seen) => seen.selectedResources?.length === 5 && hasEverybodyAnswered(seen),
        'every member has what is not too much',
      );
      const inner = configMap('large', 'big', { blob: 'x'.repeat(1_520_000) });
      const envelope = {
        apiVersion: 'placement.kubernetes-fleet.io/v1beta1',
        kind: 'ResourceEnvelope',
        metadata: { name: 'five', namespace: 'big' },
        data: { 'large.yaml': inner },
      };
      await fleet.hub(['create', '-f', '-'], JSON.stringify(envelope));
      await fleet.waitForReason('crp/big', 'ClusterResourcePlacementScheduled', 'SchedulePending');
      const { holds } = await fleet.status('crp', 'big');
      expect(holds).toMatchObject([{ code: 'SnapshotTooLarge', facts: { objects: 6, limit: 1_507_328 } }]);
      expect(await why('big')).toEqual({
        code: 2,
        sentence: expect.stringMatching(
          /"big" selects an object that is too large: ResourceEnvelope "big\/five" \(largest entry: large.yaml\)/,
        ),
      });

      await fleet.hub(['-n', 'big', 'delete', 'resourceenvelope', 'five']);
      await fleet.waitForAvailable('crp/big');
      expect(await fleet.on('member-1', ['-n', 'big', 'get', 'cm', '-o', 'name'])).toContain('configmap/two\n');
    });

    test('because it selects nothing yet says which selector, and delivers what comes', async () => {
      await fleet.apply(placement('later'));
      await fleet.waitForReason('crp/later', 'ClusterResourcePlacementScheduled', 'SchedulingPolicyFulfilled');
      expect(messageOf((await fleet.status('crp', 'later')).conditions, 'Scheduled')).toContain(
        'selector v1 Namespace "later" matches nothing',
      );
      await fleet.waitForAvailable('crp/later');
      const { stdout } = await flotilla(fleet.home, ['why', 'placement/later'], { KUBECONFIG: fleet.kubeconfig });
      expect(stdout).toMatch(
        /^ClusterResourcePlacement "later" selects nothing: selector v1 Namespace "later" matches nothing\n\nWhat you can do:\n {2}- correct the resourceSelectors/,
      );
      await fleet.apply(namespace('later'));
      await fleet.on('member-3', ['wait', '--for=create', 'namespace/later', '--timeout=60s']);
    });
  });
