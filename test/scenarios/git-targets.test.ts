// Which clusters get which bundle, and commits that change options and content at the same time. The Git server is a
// real one.
import { describe, expect } from 'vitest';
import { configYaml, type GitFleet, gitScenario } from '../git-fleet.ts';

const MEMBERS = { c1: { env: 'a' }, c2: { env: 'a' }, c3: { env: 'b' } };
const CLUSTERS = Object.keys(MEMBERS);

const valuesOf = (it: GitFleet, name = 'a', namespace = 'default') =>
  Promise.all(
    CLUSTERS.map(async (cluster) => {
      const object = await it.on(cluster, 'configmaps', name, namespace);
      return (object as { data?: { value?: string } } | undefined)?.data?.value;
    }),
  );

const groupOf = (env: string) => ({ metadata: { name: `env-${env}` }, spec: { selector: { matchLabels: { env } } } });

describe('targets', () => {
  gitScenario('G2: a root with manifests in directories with fleet.yaml alone is no bundle', {}, async (it) => {
    it.git.commit({ 'README.md': 'text', 'sub/fleet.yaml': '', 'sub/a.yaml': configYaml('a', '1') });
    await it.follow();
    expect(await it.placements()).toEqual(['shop-sub']);
    expect(await it.said('Accepted')).toBe('True/Accepted');
    expect((await it.status()).bundles).toMatchObject([{ name: 'shop-sub', path: 'sub', readyClusters: '3/3' }]);
  });

  gitScenario(
    'G6: a customization for all clusters adds none to the targets of the GitRepo',
    { members: MEMBERS },
    async (it) => {
      await it.fleet.hub.create('clustergroups', undefined, groupOf('a'));
      it.git.commit({
        'fleet.yaml': 'targetCustomizations:\n- clusterSelector: {}\n  yaml: { overlays: [all] }\n',
        'a.yaml': configYaml('a', 'plain'),
        'overlays/all/a.yaml': configYaml('a', 'customized'),
      });
      await it.follow({ targets: [{ clusterGroup: 'env-a' }] });
      await it.runs();
      expect(await valuesOf(it)).toEqual(['customized', 'customized', undefined]);
      expect((await it.status()).display).toMatchObject({ readyBundleDeployments: '2/2', state: 'Ready' });
    },
  );

  gitScenario(
    'G7: a customization with the selector of the target of the GitRepo counts',
    { members: MEMBERS },
    async (it) => {
      const target = 'clusterSelector: { matchLabels: { env: a } }';
      it.git.commit({
        'fleet.yaml': `targetCustomizations:\n- ${target}\n  yaml: { overlays: [a] }\n`,
        'a.yaml': configYaml('a', 'plain'),
        'overlays/a/a.yaml': configYaml('a', 'customized'),
      });
      await it.follow({ targets: [{ clusterSelector: { matchLabels: { env: 'a' } } }] });
      await it.runs();
      expect(await valuesOf(it)).toEqual(['customized', 'customized', undefined]);
    },
  );
});

describe('clusterName', () => {
  // Partitions match it, too.
  const DISPLAY_NAME = 'management.cattle.io/cluster-display-name';
  const members = { c1: {}, c2: { [DISPLAY_NAME]: 'edge-7' }, c3: { [DISPLAY_NAME]: 'edge-8' } };

  gitScenario('of a target and of a customization is also the name that Rancher shows', { members }, async (it) => {
    const customized = 'targetCustomizations:\n- { clusterName: edge-7, yaml: { overlays: [edge] } }\n';
    it.git.commit({
      'fleet.yaml': customized,
      'a.yaml': configYaml('a', 'plain'),
      'overlays/edge/a.yaml': configYaml('a', 'edge'),
    });
    await it.follow({ targets: [{ clusterName: 'c1' }, { clusterName: 'edge-7' }] });
    await it.runs();
    expect(await valuesOf(it)).toEqual(['plain', 'edge', undefined]);
    expect((await it.status()).display).toMatchObject({ readyBundleDeployments: '2/2', state: 'Ready' });

    // Excluded by either name; there is no cluster c9.
    await it.change({ targets: [{ clusterSelector: {} }] });
    const excluded = ['c1', 'edge-8', 'c9'].map((name) => `- { clusterName: ${name}, doNotDeploy: true }\n`).join('');
    it.git.commit({ 'fleet.yaml': `${customized}${excluded}` });
    await it.runs(8);
    expect(await valuesOf(it)).toEqual([undefined, 'edge', undefined]);
  });
});

describe('a commit that changes content and options', () => {
  gitScenario('that pauses the bundle reaches no cluster', { members: MEMBERS }, async (it) => {
    it.git.commit({ 'fleet.yaml': '', 'a.yaml': configYaml('a', '1') });
    await it.follow();
    it.git.commit({ 'fleet.yaml': 'paused: true\n', 'a.yaml': configYaml('a', '2') });
    await it.runs(8);
    expect(await valuesOf(it)).toEqual(['1', '1', '1']);
    expect((await it.status()).display?.state).toBe('OutOfSync');
    it.git.commit({ 'fleet.yaml': '', 'a.yaml': configYaml('a', '3') });
    const seen = new Set<string | undefined>();
    for (let step = 0; step < 60; step++) {
      await it.runs(0.1, 100);
      for (const value of await valuesOf(it)) seen.add(value);
    }
    // The content that was never released is skipped.
    expect([...seen].toSorted()).toEqual(['1', '3']);
    expect(await valuesOf(it)).toEqual(['3', '3', '3']);
  });

  gitScenario('that excludes a cluster brings nothing there', { members: MEMBERS }, async (it) => {
    it.git.commit({ 'fleet.yaml': '', 'a.yaml': configYaml('a', '1') });
    await it.follow();
    it.git.commit({
      'fleet.yaml': 'targetCustomizations:\n- { clusterName: c3, doNotDeploy: true }\n',
      'a.yaml': configYaml('a', '2'),
    });
    const seen = new Set<string | undefined>();
    for (let step = 0; step < 60; step++) {
      await it.runs(0.1, 100);
      seen.add((await valuesOf(it))[2]);
    }
    expect([...seen]).toEqual(['1', undefined]);
    expect(await valuesOf(it)).toEqual(['2', '2', undefined]);
  });

  gitScenario('with targets that match nothing keeps the content of before', { members: MEMBERS }, async (it) => {
    it.git.commit({ 'fleet.yaml': '', 'a.yaml': configYaml('a', '1') });
    await it.follow();
    it.git.commit({ 'fleet.yaml': 'overrideTargets:\n- clusterGroup: env-b\n', 'a.yaml': configYaml('a', '2') });
    await it.runs(8);
    expect(await it.said('Accepted')).toBe('False/NoTargets');
    expect(await valuesOf(it)).toEqual(['1', '1', '1']);
    await it.fleet.hub.create('clustergroups', undefined, groupOf('b'));
    await it.runs(8);
    expect(await it.said('Ready')).toBe('True/Ready');
    expect(await valuesOf(it)).toEqual([undefined, undefined, '2']);
  });
});

describe('a directory that is renamed', () => {
  gitScenario('has its objects on all clusters in the end, from the new bundle', {}, async (it) => {
    it.git.commit({ 'old/fleet.yaml': '', 'old/a.yaml': configYaml('a', '1') });
    await it.follow();
    expect(await it.placements()).toEqual(['shop-old']);
    it.git.commit({ old: null, 'new/fleet.yaml': '', 'new/a.yaml': configYaml('a', '2') });
    await it.runs(8);
    expect(await it.placements()).toEqual(['shop-new']);
    expect(await valuesOf(it)).toEqual(['2', '2', '2']);
    expect(await it.said('Ready')).toBe('True/Ready');
  });
});

describe('keepResources', () => {
  const gone = async (it: GitFleet, namespace: string) => {
    await it.fleet.hub.call({ verb: 'delete', at: it.fleet.hub.at('gitrepos', namespace, 'shop') });
    await it.runs(8);
    expect(await it.placements()).toEqual([]);
    expect(await it.fleet.exists('gitrepos', namespace, 'shop')).toBe(false);
  };

  gitScenario('of a GitRepo leaves the objects when the GitRepo is deleted', {}, async (it) => {
    it.git.commit({ 'a.yaml': configYaml('a', '1') });
    await it.follow({ keepResources: true });
    await gone(it, 'fleet-system');
    expect(await valuesOf(it)).toEqual(['1', '1', '1']);
  });

  gitScenario('and removal work alike for a GitRepo of a namespace', {}, async (it) => {
    const team = { metadata: { name: 'team' } };
    await it.fleet.hub.create('namespaces', undefined, team);
    for (const cluster of CLUSTERS) await it.fleet.member(cluster).create('namespaces', undefined, team);
    it.git.commit({
      'a.yaml': configYaml('a', '1'),
      'kept/fleet.yaml': 'keepResources: true\n',
      'kept/b.yaml': configYaml('b', '1'),
      'sub/fleet.yaml': '',
      'sub/c.yaml': configYaml('c', '1'),
    });
    await it.follow({}, { namespace: 'team' });
    await it.runs();
    expect(await it.placements()).toEqual(['shop', 'shop-kept', 'shop-sub']);
    expect((await it.status('shop', 'team')).display).toMatchObject({ readyBundleDeployments: '9/9', state: 'Ready' });
    it.git.commit({ sub: null, 'a.yaml': configYaml('a', '2') });
    await it.runs(8);
    expect(await it.placements()).toEqual(['shop', 'shop-kept']);
    expect(await valuesOf(it, 'c', 'team')).toEqual([undefined, undefined, undefined]);
    expect(await valuesOf(it, 'a', 'team')).toEqual(['2', '2', '2']);
    await gone(it, 'team');
    expect(await valuesOf(it, 'a', 'team')).toEqual([undefined, undefined, undefined]);
    expect(await valuesOf(it, 'b', 'team')).toEqual(['1', '1', '1']);
  });
});
