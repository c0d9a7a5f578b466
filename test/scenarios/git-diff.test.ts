// Fields that may differ on the clusters, and what is applied again, as fleet.yaml says. The Git server is a real one.
import { describe, expect } from 'vitest';
import { configYaml, type GitFleet, gitScenario, namespaceYaml } from '../git-fleet.ts';

const change = (it: GitFleet, cluster: string, data: object) =>
  it.fleet.member(cluster).call({
    verb: 'patch',
    at: it.fleet.member(cluster).at('configmaps', 'default', 'a'),
    patch: { type: 'merge', body: { data } as never },
    manager: 'person',
  });

const valueOn = async (it: GitFleet, cluster: string, name = 'a') => {
  const object = await it.on(cluster, 'configmaps', name, 'default');
  return (object as { data?: { value?: string } } | undefined)?.data?.value;
};

interface Told {
  readonly metadata: { readonly generation?: number };
  readonly spec: { readonly resourceSnapshotName?: string };
  readonly driftedPlacements?: readonly { readonly observedDrifts?: readonly { readonly path: string }[] }[];
}

const driftsOf = async (it: GitFleet, cluster: string) => {
  const { status } = (await it.fleet.hub.get('clusterresourceplacements', undefined, 'shop')) as {
    status?: { placementStatuses?: readonly (Told & { readonly clusterName?: string })[] };
  };
  const entry = status?.placementStatuses?.find(({ clusterName }) => clusterName === cluster);
  return (entry?.driftedPlacements ?? []).flatMap(({ observedDrifts = [] }) => observedDrifts.map(({ path }) => path));
};

const snapshotsOf = async (it: GitFleet) => {
  const { list } = await it.fleet.hub.call({ verb: 'list', at: it.fleet.hub.at('clusterresourcebindings') });
  return (list?.items ?? []).map((each) => (each as unknown as Told).spec.resourceSnapshotName);
};

const ONLY_REPORTED = 'name: shop\ncorrectDrift: { enabled: false }\n';
const diff = (...lines: readonly string[]) =>
  `diff:\n  comparePatches:\n${lines.map((each) => `  - ${each}\n`).join('')}`;
const VALUE = diff('{ apiVersion: v1, kind: ConfigMap, namespace: default, name: a, jsonPointers: [/data/value] }');

describe('diff', () => {
  gitScenario('G16: only diff rules change: the drift list clears, and nothing is rolled out', {}, async (it) => {
    it.git.commit({ 'fleet.yaml': ONLY_REPORTED, 'a.yaml': configYaml('a', '1') });
    await it.follow();
    await change(it, 'c2', { value: 'mine' });
    await it.runs(8);
    expect(await driftsOf(it, 'c2')).toEqual(['/data/value']);
    expect((await it.status()).summary).toMatchObject({ modified: 1, ready: 2 });
    const before = await snapshotsOf(it);
    expect(await it.revisions('shop')).toBe(1);

    it.git.commit({ 'fleet.yaml': `${ONLY_REPORTED}${VALUE}` });
    await it.runs(8);
    expect(await driftsOf(it, 'c2')).toEqual([]);
    expect((await it.status()).display).toMatchObject({ readyBundleDeployments: '3/3', state: 'Ready' });
    expect(await valueOn(it, 'c2')).toBe('mine');
    expect(await it.revisions('shop')).toBe(1);
    expect(await snapshotsOf(it)).toEqual(before);
    expect((await it.status()).warnings ?? []).toEqual([]);

    // Without the rule it is drift again, and with correctDrift it is put back.
    it.git.commit({ 'fleet.yaml': ONLY_REPORTED });
    await it.runs(8);
    expect(await driftsOf(it, 'c2')).toEqual(['/data/value']);
    it.git.commit({ 'fleet.yaml': 'name: shop\n' });
    await it.runs(8);
    expect(await valueOn(it, 'c2')).toBe('1');
  });

  gitScenario('a field that may differ is not put back, the others are; a new manifest is applied', {}, async (it) => {
    const both = (value: string) => `${configYaml('a', value)}  other: "1"\n`;
    it.git.commit({ 'fleet.yaml': `name: shop\n${VALUE}`, 'a.yaml': both('1') });
    await it.follow();
    expect(await valueOn(it, 'c1')).toBe('1');
    await change(it, 'c1', { value: 'mine', other: 'mine' });
    await it.runs(8);
    expect((await it.on('c1', 'configmaps', 'a', 'default')) as object).toMatchObject({
      data: { value: 'mine', other: '1' },
    });
    expect((await it.status()).display?.state).toBe('Ready');
    it.git.commit({ 'a.yaml': both('2') });
    await it.runs(8);
    expect(await valueOn(it, 'c1')).toBe('2');
  });

  gitScenario('an object that may be missing stays deleted until its manifest changes', {}, async (it) => {
    const missing = diff('{ kind: ConfigMap, name: "^[ab]$", operations: [{ op: ignore }] }');
    it.git.commit({
      'fleet.yaml': `name: shop\n${missing}`,
      'a.yaml': configYaml('a', '1'),
      'c.yaml': configYaml('c', '1'),
    });
    await it.follow();
    expect(await valueOn(it, 'c1')).toBe('1');
    for (const name of ['a', 'c'])
      await it.fleet.member('c1').call({ verb: 'delete', at: it.fleet.member('c1').at('configmaps', 'default', name) });
    await it.runs(8);
    expect([await valueOn(it, 'c1', 'a'), await valueOn(it, 'c1', 'c')]).toEqual([undefined, '1']);
    expect((await it.status()).display).toMatchObject({ readyBundleDeployments: '3/3', state: 'Ready' });
    it.git.commit({ 'c.yaml': configYaml('c', '2') });
    await it.runs(8);
    expect([await valueOn(it, 'c1', 'a'), await valueOn(it, 'c1', 'c')]).toEqual([undefined, '2']);
    it.git.commit({ 'a.yaml': configYaml('a', '2') });
    await it.runs(8);
    expect(await valueOn(it, 'c1')).toBe('2');
  });

  gitScenario(
    'a rule that is none keeps the last good one, with file and line',
    { members: { c1: {} } },
    async (it) => {
      it.git.commit({ 'web/fleet.yaml': 'name: shop\n', 'web/ns.yaml': namespaceYaml('shop') });
      await it.follow();
      it.git.commit({ 'web/fleet.yaml': 'name: shop\ndiff:\n  comparePatches:\n  - jsonPointers: [spec.replicas]\n' });
      await it.runs(6);
      expect(await it.said('Accepted')).toBe('False/FieldInvalid');
      expect((await it.status()).problems).toEqual([
        {
          bundle: 'shop',
          file: 'web/fleet.yaml',
          line: 4,
          reason: 'FieldInvalid',
          message: 'diff.comparePatches[0].jsonPointers[0]: a JSON pointer such as /spec/replicas is expected',
        },
      ]);
    },
  );
});

describe('ignore', () => {
  const EXPORT = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: serviceexports.networking.fleet.azure.com }
spec:
  group: networking.fleet.azure.com
  scope: Namespaced
  names: { kind: ServiceExport, plural: serviceexports, singular: serviceexport }
  versions:
  - name: v1alpha1
    served: true
    storage: true
    subresources: { status: {} }
    schema: { openAPIV3Schema: { type: object, x-kubernetes-preserve-unknown-fields: true } }
---
apiVersion: networking.fleet.azure.com/v1alpha1
kind: ServiceExport
metadata: { name: web, annotations: { networking.fleet.azure.com/weight: "0" } }
`;
  gitScenario('a condition that is ignored does not keep a bundle from Ready', { members: { c1: {} } }, async (it) => {
    it.git.commit({ 'fleet.yaml': 'name: shop\n', 'web.yaml': EXPORT });
    await it.follow();
    await it.runs(6);
    // It exports a Service that does not exist.
    expect((await it.status()).display?.state).toBe('NotReady');
    const before = await snapshotsOf(it);
    it.git.commit({
      'fleet.yaml': 'name: shop\nignore: { conditions: [{ type: Valid, status: "False" }] }\n',
    });
    await it.runs(8);
    expect((await it.status()).display).toMatchObject({ readyBundleDeployments: '1/1', state: 'Ready' });
    expect(await snapshotsOf(it)).toEqual(before);
    it.git.commit({ 'fleet.yaml': 'name: shop\n' });
    await it.runs(8);
    expect((await it.status()).display?.state).toBe('NotReady');
  });
});

describe('forceSyncGeneration', () => {
  gitScenario(
    'another number applies everything again, partition by partition and without a new revision',
    { members: { c1: { stage: 'a' }, c2: { stage: 'b' } } },
    async (it) => {
      const stages = `rolloutStrategy:
  partitions:
  - { name: a, clusterSelector: { matchLabels: { stage: a } } }
  - { name: b, clusterSelector: { matchLabels: { stage: b } } }
`;
      const fleetYaml = (force: string) => ({ 'fleet.yaml': `${ONLY_REPORTED}${stages}${VALUE}${force}` });
      it.git.commit({ ...fleetYaml(''), 'a.yaml': `${configYaml('a', '1')}  other: "1"\n` });
      await it.follow();
      await it.runs(6);
      const [was] = [await snapshotsOf(it)];
      for (const cluster of ['c1', 'c2']) await change(it, cluster, { value: 'mine', other: 'mine' });
      await it.runs(6);
      expect((await it.status()).summary).toMatchObject({ modified: 2 });
      expect(await valueOn(it, 'c1')).toBe('mine');

      it.git.commit(fleetYaml('forceSyncGeneration: 1\n'));
      await it.runs(10);
      expect([await valueOn(it, 'c1'), await valueOn(it, 'c2')]).toEqual(['1', '1']);
      expect((await it.status()).display).toMatchObject({ readyBundleDeployments: '2/2', state: 'Ready' });
      expect(await it.revisions('shop')).toBe(1);
      expect(await snapshotsOf(it)).toEqual(was);

      // The same number again does nothing.
      await change(it, 'c1', { other: 'mine' });
      it.git.commit({ 'README.md': 'nothing to apply' });
      await it.runs(10);
      expect((await it.status()).summary).toMatchObject({ modified: 1, ready: 1 });

      // A paused rollout keeps it back, as it does a revision.
      it.git.commit(fleetYaml('paused: true\nforceSyncGeneration: 2\n'));
      await it.runs(10);
      expect((await it.status()).summary).toMatchObject({ outOfSync: 2 });
      expect((await it.on('c1', 'configmaps', 'a', 'default')) as object).toMatchObject({ data: { other: 'mine' } });
      it.git.commit(fleetYaml('forceSyncGeneration: 2\n'));
      await it.runs(10);
      expect((await it.on('c1', 'configmaps', 'a', 'default')) as object).toMatchObject({ data: { other: '1' } });
      expect((await it.status()).display?.state).toBe('Ready');

      // A GitRepo has such a number for all of its bundles; reading it once more is another one.
      await change(it, 'c1', { other: 'mine' });
      await it.change({ syncGeneration: 1 });
      await it.runs(8);
      expect((await it.status()).summary).toMatchObject({ modified: 1 });
      await it.change({ forceSyncGeneration: 9 });
      await it.runs(8);
      expect((await it.status()).display).toMatchObject({ readyBundleDeployments: '2/2', state: 'Ready' });
      expect(await it.revisions('shop')).toBe(1);
    },
  );
});
