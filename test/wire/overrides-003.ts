// V3-7 … V3-12 with kubectl and the manifests of the seed, whatever the servers are: what each cluster gets, how an override changes and goes,
// and what is said of one that does not apply.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { type Fleet, inShort, messageOf, type PlacementStatus } from './delivery.ts';
import { namespace } from './delivery-kinds.ts';
import { flotilla } from './fleet.ts';

const seed = (file: string) => join(fileURLToPath(new URL('../seeds/003/', import.meta.url)), file);
const PLACEMENT = ['crp', 'crp-example'] as const;
const CRO_NOTE = { 'cro-test-annotation': 'cro-test-annotation-val' };
const RO_NOTE = { 'ro-test-annotation': 'ro-test-annotation-val' };
const REASONS = [
  'Scheduled True Scheduled',
  'RolloutStarted True RolloutStarted',
  'Overridden True OverriddenSucceeded',
  'WorkSynchronized True AllWorkSynced',
  'Applied True AllWorkHaveBeenApplied',
  'Available True AllWorkAreAvailable',
];

interface Overridden {
  readonly clusterName?: string;
  readonly applicableClusterResourceOverrides?: readonly string[];
  readonly applicableResourceOverrides?: readonly object[];
}
const overridesIn = ({ placementStatuses = [] }: PlacementStatus): readonly Overridden[] => placementStatuses;

/** Annotations that we do not write. */
const notesOf = ({ metadata }: KubeObject) =>
  Object.fromEntries(Object.entries(metadata.annotations ?? {}).filter(([name]) => name.includes('test-annotation')));

/** Some of the members have the label env=prod. */
export function describeOverrides(start: () => Promise<Fleet>): void {
  describe('seed 003, overrides', () => {
    let fleet: Fleet;
    let members: readonly { readonly name: string; readonly isProd: boolean }[];
    beforeAll(async () => {
      fleet = await start();
      const { items } = await fleet.get<{ items: readonly KubeObject[] }>('hub', ['memberclusters']);
      members = items.map(({ metadata: { name = '', labels } }) => ({ name, isProd: labels?.['env'] === 'prod' }));
      const rules = [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }];
      await fleet.apply(namespace('application-1'), {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        metadata: { name: 'secret-reader', labels: { team: 'security' } },
        rules,
      });
    });
    afterAll(async () => {
      // Others may use the same servers.
      await fleet?.hub(['delete', 'crp', '--all', '--timeout=60s']);
      await fleet?.hub(['delete', 'clusterresourceoverrides', '--all', '--timeout=60s']);
      await fleet?.hub(['delete', 'clusterrole', 'secret-reader', '--ignore-not-found']);
      await fleet?.[Symbol.asyncDispose]();
    });

    const all = <T>(read: (member: string) => Promise<T>): Promise<readonly T[]> =>
      Promise.all(members.map(({ name }) => read(name)));
    const configMaps = () =>
      all((member) => fleet.get<KubeObject>(member, ['configmap', 'app-config-1', '-n', 'application-1']));
    const namespaces = () => all((member) => fleet.get<KubeObject>(member, ['namespace', 'application-1']));
    const everywhere = <T>(value: T): readonly T[] => members.map(() => value);
    /** Until all clusters have this override, and work with it. */
    const settled = (what: string, has: (one: Overridden) => boolean) =>
      fleet.waitForStatus(
        PLACEMENT,
        (status) =>
          overridesIn(status).length === members.length &&
          overridesIn(status).every(has) &&
          inShort(status.conditions).includes('Available True ResourceAvailable'),
        what,
      );

    // What the samples carry of another server is refused if it is sent as it is (test/wire/seeds.test.ts); kubectl takes the version out.
    test('V3-8: ConfigMap and override as they are printed are created as new objects', async () => {
      await fleet.hub(['create', '-f', seed('v3-8-configmap.yaml')]);
      await fleet.hub(['create', '-f', seed('v3-8-override.yaml')]);
      const { metadata } = await fleet.get<KubeObject>('hub', ['clusterresourceoverride', 'cro-1']);
      expect(metadata).toMatchObject({ generation: 1, finalizers: ['kubernetes-fleet.io/override-cleanup'] });
      expect(metadata.uid).not.toBe('32237804-7eb2-4d5f-9996-ff4d8ce778e7');
      expect(metadata.creationTimestamp).not.toBe('2024-05-07T08:06:27Z');
    });

    test('V3-7: the ClusterRole is labeled with the name of its cluster where env is prod, and is as it was elsewhere', async () => {
      await fleet.hub(['apply', '-f', seed('v3-7.yaml')]);
      const resource = 'clusterresourceoverrides.v1beta1.placement.kubernetes-fleet.io';
      expect(await fleet.hub(['get', resource, 'example-cro', '-o', 'jsonpath={.spec.placement.scope}'])).toBe(
        'Cluster',
      );
      await fleet.apply({
        apiVersion: 'placement.kubernetes-fleet.io/v1',
        kind: 'ClusterResourcePlacement',
        metadata: { name: 'crp-example' },
        spec: {
          resourceSelectors: [
            { group: 'rbac.authorization.k8s.io', version: 'v1', kind: 'ClusterRole', name: 'secret-reader' },
            { group: '', version: 'v1', kind: 'Namespace', name: 'application-1' },
          ],
        },
      });
      await fleet.waitForAvailable('crp/crp-example');
      const roles = await all((member) => fleet.get<KubeObject>(member, ['clusterrole', 'secret-reader']));
      expect(roles.map(({ metadata }) => metadata.labels)).toEqual(
        members.map(({ name, isProd }) => (isProd ? { 'cluster-name': name } : { team: 'security' })),
      );
    });

    test('V3-9, V3-10: an empty list of terms means all clusters: Namespace and ConfigMap have the annotation', async () => {
      const found = await configMaps();
      expect(found.map(notesOf)).toEqual(everywhere(CRO_NOTE));
      expect((await namespaces()).map(notesOf)).toEqual(everywhere(CRO_NOTE));
      for (const { metadata } of found) {
        expect(Object.keys(metadata.annotations ?? {}).toSorted()).toEqual([
          'cro-test-annotation',
          'kubernetes-fleet.io/last-applied-configuration',
          'kubernetes-fleet.io/spec-hash',
        ]);
        expect(metadata.ownerReferences).toMatchObject([
          { kind: 'AppliedWork', name: 'crp-example-work', blockOwnerDeletion: true },
        ]);
      }
      const own = await fleet.get<KubeObject>('hub', ['configmap', 'app-config-1', '-n', 'application-1']);
      expect(notesOf(own)).toEqual({});
    });

    test('V3-12: the status names the snapshots of each cluster, with the reasons of the sample', async () => {
      const status = await fleet.status(...PLACEMENT);
      expect(inShort(status.conditions)).toContain('Overridden True OverriddenSucceeded');
      const byName = new Map(members.map((each) => [each.name, each]));
      for (const { clusterName = '', conditions } of status.placementStatuses ?? []) {
        expect(inShort(conditions)).toEqual(REASONS);
        const one = overridesIn(status).find((each) => each.clusterName === clusterName);
        expect(one?.applicableClusterResourceOverrides).toEqual(
          byName.get(clusterName)?.isProd ? ['cro-1-0', 'example-cro-0'] : ['cro-1-0'],
        );
        expect(one?.applicableResourceOverrides).toBeUndefined();
      }
    });

    test('V3-11: a ResourceOverride wins on its ConfigMap; the Namespace keeps what the other one says', async () => {
      await fleet.hub(['create', '-f', seed('v3-11.yaml')]);
      await settled('the ResourceOverride on all clusters', ({ applicableResourceOverrides: those = [] }) =>
        those.some((each) => 'name' in each && each.name === 'ro-1-0'),
      );
      expect((await configMaps()).map(notesOf)).toEqual(everywhere(RO_NOTE));
      expect((await namespaces()).map(notesOf)).toEqual(everywhere(CRO_NOTE));
      const { name } = members.find(({ isProd }) => isProd) ?? { name: '' };
      const asked = ['overrides', 'placement/crp-example', '--cluster', name, '--context', 'hub'];
      const { code, stdout } = await flotilla(fleet.home, asked, { KUBECONFIG: fleet.kubeconfig });
      expect({ code, lines: stdout.split('\n').slice(0, 4) }).toEqual({
        code: 0,
        lines: [
          `cluster ${name}:`,
          '  1. ClusterResourceOverrideSnapshot "cro-1-0"',
          '  2. ClusterResourceOverrideSnapshot "example-cro-0"',
          '  3. ResourceOverrideSnapshot "application-1/ro-1-0"',
        ],
      });
    });

    test('an override that is deleted rolls out of all clusters, and its snapshots go with it', async () => {
      await fleet.hub(['delete', 'clusterresourceoverride', 'cro-1', '--timeout=60s']);
      await settled(
        'no cluster with the deleted override',
        ({ applicableClusterResourceOverrides: those = [] }) => !those.includes('cro-1-0'),
      );
      expect((await namespaces()).map(notesOf)).toEqual(everywhere({}));
      expect((await configMaps()).map(notesOf)).toEqual(everywhere(RO_NOTE));
      const left = await fleet.hub(['get', 'clusterresourceoverridesnapshots', '-o', 'name']);
      expect(left.trim().split('\n')).toEqual([expect.stringContaining('/example-cro-0')]);
    });

    test('one that does not apply is named with rule, object and path, and heals when it is corrected', async () => {
      const rules = (path: string) => ({
        spec: {
          policy: {
            overrideRules: [
              {
                clusterSelector: { clusterSelectorTerms: [] },
                jsonPatchOverrides: [{ op: 'add', path, value: 'x' }],
              },
            ],
          },
        },
      });
      const changed = (path: string) =>
        fleet.hub([
          ...['-n', 'application-1', 'patch', 'resourceoverride', 'ro-1', '--type=merge', '-p'],
          JSON.stringify(rules(path)),
        ]);
      await changed('/data/absent/deeper');
      const status = await fleet.waitForStatus(
        PLACEMENT,
        ({ placementStatuses = [] }) =>
          placementStatuses.some(({ conditions }) => inShort(conditions).includes('Overridden False OverriddenFailed')),
        'a cluster whose overrides failed',
      );
      const failed = (status.placementStatuses ?? []).find(({ conditions }) =>
        inShort(conditions).includes('Overridden False OverriddenFailed'),
      );
      const said = messageOf(failed?.conditions, 'Overridden');
      for (const word of ['rule 1', 'ro-1-1', 'ConfigMap "application-1/app-config-1"', '/data/absent/deeper'])
        expect(said).toContain(word);
      const { stdout } = await flotilla(fleet.home, ['why', 'placement/crp-example', '--context', 'hub'], {
        KUBECONFIG: fleet.kubeconfig,
      });
      const why = stdout.replaceAll(/\s+/g, ' ');
      expect(why).toContain('rule 1 of ResourceOverrideSnapshot "ro-1-1" does not apply');
      expect(why).toContain('correct the override that fails on');
      // The copy before it serves on.
      expect((await configMaps()).map(notesOf)).toEqual(everywhere(RO_NOTE));

      await changed('/data/absent');
      await settled('the corrected override on all clusters', ({ applicableResourceOverrides: those = [] }) =>
        those.some((each) => 'name' in each && each.name === 'ro-1-2'),
      );
      const data = (await configMaps()).map((each) => (each as unknown as { readonly data: object }).data);
      expect(data).toEqual(everywhere({ data: 'test', absent: 'x' }));
    });
  });
}
