// Bundles that wait for others on the same cluster, and objects that users may change on a cluster until the next
// commit. The Git server is a real one.
import { describe, expect } from 'vitest';
import { configYaml, deploymentYaml, type GitFleet, gitScenario, namespaceYaml } from '../git-fleet.ts';

const CLUSTERS = ['c1', 'c2', 'c3'] as const;
const APPS = {
  'db/fleet.yaml': 'name: db\nlabels: { tier: data }\n',
  'db/ns.yaml': namespaceYaml('shop'),
  'db/web.yaml': deploymentYaml('web:1'),
  'web/fleet.yaml': 'name: web\ndependsOn:\n- name: db\n',
  'web/a.yaml': configYaml('a', '1'),
};

const valuesOf = (it: GitFleet, name = 'a', clusters: readonly string[] = CLUSTERS) =>
  Promise.all(
    clusters.map(async (cluster) => {
      const object = await it.on(cluster, 'configmaps', name, 'default');
      return (object as { data?: { value?: string } } | undefined)?.data?.value;
    }),
  );

interface Told {
  readonly rollout?: { readonly state: string; readonly pending: number; readonly outOfSync: number };
  readonly holds?: readonly {
    readonly code: string;
    readonly on?: object;
    readonly facts?: object;
    readonly clusters?: readonly string[];
  }[];
}

const placementStatus = async (it: GitFleet, name: string): Promise<Told> =>
  ((await it.fleet.hub.get('clusterresourceplacements', undefined, name)) as { status?: Told }).status ?? {};

const stateOf = async (it: GitFleet, name: string) =>
  (await it.status()).bundles?.find((each) => each.name === name)?.state;

describe('dependsOn', () => {
  gitScenario('G14: a bundle waits on each cluster until the other one is ready there, and says so', {}, async (it) => {
    it.git.commit({ ...APPS, 'db/web.yaml': deploymentYaml('web:bad') });
    await it.follow();
    expect(await valuesOf(it)).toEqual([undefined, undefined, undefined]);
    expect(await stateOf(it, 'web')).toBe('Pending');
    const { holds, rollout } = await placementStatus(it, 'web');
    expect(rollout).toMatchObject({ state: 'Pending', pending: 3 });
    expect(holds).toMatchObject([
      {
        code: 'DependencyNotReady',
        on: { kind: 'ClusterResourcePlacement', name: 'db' },
        facts: { state: 'NotReady', accepted: 'Ready' },
        clusters: ['c1', 'c2', 'c3'],
      },
    ]);

    // It continues as soon as the other bundle is ready, without another commit.
    it.git.commit({ 'db/web.yaml': deploymentYaml('web:2') });
    await it.runs(6);
    expect(await valuesOf(it)).toEqual(['1', '1', '1']);
    expect((await it.status()).display).toMatchObject({ readyBundleDeployments: '6/6', state: 'Ready' });
    expect((await placementStatus(it, 'web')).holds ?? []).toEqual([]);
  });

  gitScenario(
    'an update waits as well: what runs there stays',
    { members: { c1: { stage: 'a' }, c2: { stage: 'b' }, c3: { stage: 'b' } } },
    async (it) => {
      it.git.commit({
        ...APPS,
        'db/fleet.yaml': `${APPS['db/fleet.yaml']}rolloutStrategy:\n  maxUnavailable: 0\n  partitions:\n  - { name: a, clusterSelector: { matchLabels: { stage: a } } }\n  - { name: b, clusterSelector: { matchLabels: { stage: b } } }\n`,
      });
      await it.follow();
      await it.runs(6);
      expect(await valuesOf(it)).toEqual(['1', '1', '1']);

      it.git.commit({ 'db/web.yaml': deploymentYaml('web:bad') });
      await it.runs();
      it.git.commit({ 'web/a.yaml': configYaml('a', '2') });
      await it.runs();
      expect(await valuesOf(it)).toEqual(['1', '1', '1']);
      expect(await stateOf(it, 'web')).toBe('OutOfSync');
      expect((await placementStatus(it, 'web')).rollout).toMatchObject({ outOfSync: 3 });

      it.git.commit({ 'db/web.yaml': deploymentYaml('web:3') });
      await it.runs(10);
      expect(await valuesOf(it)).toEqual(['2', '2', '2']);
      expect(await stateOf(it, 'web')).toBe('Ready');
    },
  );

  gitScenario('by labels; a dependency that is nowhere keeps the bundle back', {}, async (it) => {
    it.git.commit({
      'web/fleet.yaml': 'name: web\ndependsOn:\n- selector: { matchLabels: { tier: data } }\n',
      'web/a.yaml': configYaml('a', '1'),
    });
    await it.follow();
    expect(await valuesOf(it)).toEqual([undefined, undefined, undefined]);
    expect((await placementStatus(it, 'web')).holds?.[0]?.code).toBe('DependencyNotReady');
    it.git.commit({
      'db/fleet.yaml': 'name: db\nlabels: { tier: data }\noverrideTargets: [{ clusterName: c2 }]\n',
      'db/b.yaml': configYaml('b', '1'),
    });
    await it.runs(6);
    expect(await valuesOf(it)).toEqual([undefined, '1', undefined]);

    // Without the dependency it goes to all clusters.
    it.git.commit({ 'web/fleet.yaml': 'name: web\n' });
    await it.runs(6);
    expect(await valuesOf(it)).toEqual(['1', '1', '1']);
  });

  gitScenario('bundles that wait for each other are a mistake of the files', { members: { c1: {} } }, async (it) => {
    it.git.commit({
      ...APPS,
      'db/fleet.yaml': 'name: db\nlabels: { tier: data }\ndependsOn:\n- selector: { matchLabels: { tier: web } }\n',
      'web/fleet.yaml': 'name: web\nlabels: { tier: web }\ndependsOn:\n- name: db\n',
    });
    await it.follow();
    expect(await it.said('Accepted')).toBe('False/DependencyCycle');
    expect((await it.status()).problems).toMatchObject([
      { bundle: 'db', file: 'db/fleet.yaml', message: 'dependsOn: db → web → db' },
      { bundle: 'web', file: 'web/fleet.yaml', message: 'dependsOn: web → db → web' },
    ]);
    expect(await it.placements()).toEqual([]);
  });
});

describe('correctDrift', () => {
  const change = (it: GitFleet, value: string) =>
    it.fleet.member('c1').call({
      verb: 'patch',
      at: it.fleet.member('c1').at('configmaps', 'default', 'a'),
      patch: { type: 'merge', body: { data: { value } } },
      manager: 'person',
    });

  gitScenario(
    'false: a change on a cluster stays and is reported, and the next commit overwrites it',
    { members: { c1: {} } },
    async (it) => {
      it.git.commit({ 'a.yaml': configYaml('a', '1') });
      await it.follow({ correctDrift: { enabled: false } });
      await change(it, 'mine');
      await it.runs(8);
      expect(await valuesOf(it, 'a', ['c1'])).toEqual(['mine']);
      expect((await it.status()).display?.state).toBe('Modified');
      expect((await it.status()).summary).toMatchObject({ modified: 1, ready: 0 });

      it.git.commit({ 'a.yaml': configYaml('a', '2') });
      await it.runs(8);
      expect(await valuesOf(it, 'a', ['c1'])).toEqual(['2']);
      expect((await it.status()).display?.state).toBe('Ready');

      await change(it, 'mine');
      await it.runs(8);
      expect((await it.status()).display?.state).toBe('Modified');
      await it.change({ correctDrift: { enabled: true } });
      await it.runs(8);
      expect(await valuesOf(it, 'a', ['c1'])).toEqual(['2']);
      expect((await it.status()).display?.state).toBe('Ready');
    },
  );

  gitScenario(
    'G15: a bundle that accepts Modified goes on beside one that was changed',
    { members: { c1: {} } },
    async (it) => {
      const states = (accepted: string) => `name: web\ndependsOn:\n- { name: db, acceptedStates: [${accepted}] }\n`;
      const db = { 'db/fleet.yaml': 'name: db\n', 'db/a.yaml': configYaml('a', '1') };
      it.git.commit({ ...db, 'db/fleet.yaml': 'name: db\ncorrectDrift: { enabled: false }\n' });
      await it.follow();
      await change(it, 'mine');
      await it.runs(8);
      expect(await stateOf(it, 'db')).toBe('Modified');
      it.git.commit({ 'web/fleet.yaml': states('Ready'), 'web/b.yaml': configYaml('b', '1') });
      await it.runs(6);
      expect(await valuesOf(it, 'b', ['c1'])).toEqual([undefined]);
      it.git.commit({ 'web/fleet.yaml': states('Ready, Modified') });
      await it.runs(6);
      expect(await valuesOf(it, 'b', ['c1'])).toEqual(['1']);
    },
  );
});
