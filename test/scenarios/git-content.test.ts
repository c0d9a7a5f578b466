// Bundles with content that differs by cluster, or that programs render: customizations, overlays, kustomize. The Git
// server is a real one.
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect } from 'vitest';
import { findKubectl } from '../../scripts/kubectl.ts';
import { configYaml, type GitFleet, gitScenario } from '../git-fleet.ts';

const MEMBERS = { c1: { env: 'dev' }, c2: { env: 'prod' }, c3: { env: 'prod' } };
const CLUSTERS = Object.keys(MEMBERS);
const OVERLAYS = `targetCustomizations:
- name: prod
  clusterSelector: { matchLabels: { env: prod } }
  yaml: { overlays: [prod] }
`;

/** A folder with only kubectl, used as PATH. */
const kubectl = findKubectl({ mayBuild: false });
const programs = mkdtempSync(join(tmpdir(), 'git-programs-'));
if (kubectl !== undefined) symlinkSync(kubectl, join(programs, 'kubectl'));
afterAll(() => rmSync(programs, { recursive: true, force: true }));
const renders = { path: `${programs}:/bin` };
/** Initially without kubectl. */
const later = mkdtempSync(join(tmpdir(), 'git-programs-'));
afterAll(() => rmSync(later, { recursive: true, force: true }));

const valuesOf = (it: GitFleet, name = 'a') =>
  Promise.all(
    CLUSTERS.map(async (cluster) => {
      const object = await it.on(cluster, 'configmaps', name, 'default');
      return (object as { data?: { value?: string } } | undefined)?.data?.value;
    }),
  );

describe('customizations per target', () => {
  gitScenario('G6: overlays replace and patch files for the clusters that match', { members: MEMBERS }, async (it) => {
    it.git.commit({
      'fleet.yaml': OVERLAYS,
      'a.yaml': configYaml('a', 'all'),
      'b.yaml': configYaml('b', 'all'),
      'overlays/prod/a.yaml': configYaml('a', 'prod'),
      'overlays/prod/b_patch.yaml': 'data: { more: "1" }\n',
    });
    await it.follow();
    expect(await valuesOf(it)).toEqual(['all', 'prod', 'prod']);
    expect(await valuesOf(it, 'b')).toEqual(['all', 'all', 'all']);
    expect(await it.on('c2', 'configmaps', 'b', 'default')).toMatchObject({ data: { value: 'all', more: '1' } });
    expect(await it.on('c1', 'configmaps', 'b', 'default')).not.toHaveProperty('data.more');
    // The annotation for variants exists only on the hub.
    expect(JSON.stringify(await it.on('c2', 'configmaps', 'a', 'default'))).not.toContain('flotilla.dev/variant');
    expect(await it.revisions('shop')).toBe(1);
    expect((await it.status()).display).toMatchObject({ readyBundleDeployments: '3/3', state: 'Ready' });
    const placement = (await it.fleet.hub.get('clusterresourceplacements', undefined, 'shop')) as {
      status?: { selectedResources?: readonly object[] };
    };
    expect(placement.status?.selectedResources).toHaveLength(2);

    it.git.commit({ 'overlays/prod/a.yaml': configYaml('a', 'prod 2') });
    await it.runs();
    expect(await valuesOf(it)).toEqual(['all', 'prod 2', 'prod 2']);
  });

  gitScenario('a cluster whose labels change gets the content of its new ones', { members: MEMBERS }, async (it) => {
    it.git.commit({
      'fleet.yaml': OVERLAYS,
      'a.yaml': configYaml('a', 'all'),
      'overlays/prod/a.yaml': configYaml('a', 'prod'),
    });
    await it.follow();
    await it.fleet.patch('memberclusters', undefined, 'c1', { metadata: { labels: { env: 'prod' } } });
    await it.runs();
    expect(await valuesOf(it)).toEqual(['prod', 'prod', 'prod']);
    await it.fleet.join('c4', { labels: { env: 'prod' } });
    await it.runs();
    expect(await it.on('c4', 'configmaps', 'a', 'default')).toMatchObject({ data: { value: 'prod' } });
    expect(await it.revisions('shop')).toBe(1);
  });

  gitScenario('doNotDeploy keeps a bundle from clusters', { members: MEMBERS }, async (it) => {
    it.git.commit({
      'fleet.yaml': 'targetCustomizations:\n- clusterSelector: { matchLabels: { env: prod } }\n  doNotDeploy: true\n',
      'a.yaml': configYaml('a', 'all'),
    });
    await it.follow();
    expect(await valuesOf(it)).toEqual(['all', undefined, undefined]);
    expect((await it.status()).display).toMatchObject({ readyBundleDeployments: '1/1', state: 'Ready' });
  });

  gitScenario(
    'G8, G9: with AllMatches every customization counts, the later one wins; doNotDeploy of one is enough',
    { members: MEMBERS },
    async (it) => {
      const rules = `- { clusterSelector: { matchLabels: { env: prod } }, yaml: { overlays: [one] } }
- { clusterName: c2, yaml: { overlays: [two] } }
`;
      const files = {
        'fleet.yaml': `targetCustomizationMode: AllMatches\ntargetCustomizations:\n${rules}`,
        'a.yaml': configYaml('a', 'all'),
        'overlays/one/a_patch.yaml': 'data: { value: one, more: one }\n',
        'overlays/two/a_patch.yaml': 'data: { value: two }\n',
      };
      it.git.commit(files);
      await it.follow();
      expect(await valuesOf(it)).toEqual(['all', 'two', 'one']);
      expect(await it.on('c2', 'configmaps', 'a', 'default')).toMatchObject({ data: { value: 'two', more: 'one' } });

      const without = '- { clusterName: c2, doNotDeploy: true }\n';
      it.git.commit({ 'fleet.yaml': `targetCustomizations:\n${rules}${without}` });
      await it.runs(6);
      // The first matching rule applies: the broad rule hides the last one.
      expect(await valuesOf(it)).toEqual(['all', 'one', 'one']);
      it.git.commit({ 'fleet.yaml': `${files['fleet.yaml']}${without}` });
      await it.runs(8);
      expect(await valuesOf(it)).toEqual(['all', undefined, 'one']);
    },
  );

  gitScenario(
    'G10: doNotDeploy that is added later removes the bundle there, and nowhere else',
    { members: MEMBERS },
    async (it) => {
      it.git.commit({ 'a.yaml': configYaml('a', '1') });
      await it.follow();
      expect(await valuesOf(it)).toEqual(['1', '1', '1']);
      it.git.commit({ 'fleet.yaml': 'targetCustomizations:\n- { clusterName: c2, doNotDeploy: true }\n' });
      await it.runs(8);
      expect(await valuesOf(it)).toEqual(['1', undefined, '1']);
      expect(await it.revisions('shop')).toBe(1);
      expect((await it.status()).display).toMatchObject({ readyBundleDeployments: '2/2', state: 'Ready' });
    },
  );

  gitScenario(
    'G17: a failure for one target leaves the others alone, and keeps what is there',
    { members: MEMBERS },
    async (it) => {
      it.git.commit({
        'fleet.yaml': OVERLAYS,
        'a.yaml': configYaml('a', '1'),
        'overlays/prod/a.yaml': configYaml('a', 'prod 1'),
      });
      await it.follow();
      it.git.commit({ 'a.yaml': configYaml('a', '2'), 'overlays/prod/a.yaml': 'apiVersion: v1\nkind: [\n' });
      await it.runs();
      expect(await valuesOf(it)).toEqual(['2', 'prod 1', 'prod 1']);
      expect((await it.status()).warnings).toMatchObject([
        { bundle: 'shop', file: 'overlays/prod/a.yaml', reason: 'RenderFailed' },
      ]);
      expect((await it.status()).display?.state).toBe('ErrApplied');
      expect((await it.status()).summary).toMatchObject({ ready: 1, errApplied: 2 });
      const { status } = (await it.fleet.hub.get('clusterresourceplacements', undefined, 'shop')) as {
        status?: { holds?: readonly { code: string; clusters?: readonly string[]; facts?: { message?: string } }[] };
      };
      const facts = { message: expect.stringMatching(/^overlays\/prod\/a\.yaml:3: Flow/) };
      expect(status?.holds).toMatchObject([
        { code: 'RenderFailed', clusters: ['c2'], facts },
        { code: 'RenderFailed', clusters: ['c3'], facts },
      ]);
      it.git.commit({ 'overlays/prod/a.yaml': configYaml('a', 'prod 2') });
      await it.runs(8);
      expect(await valuesOf(it)).toEqual(['2', 'prod 2', 'prod 2']);
      expect((await it.status()).display?.state).toBe('Ready');
    },
  );
});

describe('programs', () => {
  const KUSTOMIZED = {
    'base/kustomization.yaml': 'resources: [a.yaml]\n',
    'base/a.yaml': configYaml('a', 'base'),
    'prod/kustomization.yaml':
      'resources: [../base]\npatches:\n- patch: |-\n    apiVersion: v1\n    kind: ConfigMap\n    metadata: {name: a}\n    data: {value: prod}\n',
    'fleet.yaml':
      'kustomize: {dir: base}\ntargetCustomizations:\n- clusterSelector: {matchLabels: {env: prod}}\n  kustomize: {dir: prod}\n',
  };
  const withKubectl = kubectl === undefined ? { skip: true } : {};

  gitScenario('kustomize, by kubectl, per target', { members: MEMBERS, renders, ...withKubectl }, async (it) => {
    it.git.commit(KUSTOMIZED);
    await it.follow();
    await it.runs();
    expect((await it.status()).problems ?? []).toEqual([]);
    expect(await valuesOf(it)).toEqual(['base', 'prod', 'prod']);
  });

  gitScenario('what kustomize would fetch, or read elsewhere, is refused', { renders, ...withKubectl }, async (it) => {
    for (const entry of ['https://example.com/a.yaml', 'github.com/x/y', '../../etc', '/etc/hostname']) {
      it.git.commit({ 'kustomization.yaml': `resources: ["${entry}"]\n`, 'a.yaml': configYaml('a', '1') });
      if (entry.startsWith('https')) await it.follow();
      else await it.runs();
      const [problem] = (await it.status()).problems ?? [];
      expect(problem).toMatchObject({ bundle: 'shop', reason: 'RenderFailed' });
      expect(problem?.message).toContain(entry);
    }
    expect(await it.on('c1', 'configmaps', 'a', 'default')).toBeUndefined();
  });

  gitScenario(
    'an error of kustomize is told without the place of the copy',
    { renders, ...withKubectl },
    async (it) => {
      it.git.commit({ 'kustomization.yaml': 'resources: [a.yaml]\nnamePrefix: [1]\n', 'a.yaml': configYaml('a', '1') });
      await it.follow();
      const [problem] = (await it.status()).problems ?? [];
      expect(problem).toMatchObject({ bundle: 'shop', reason: 'RenderFailed' });
      expect(problem?.message).toMatch(/^kubectl: /);
      expect(problem?.message).not.toContain(it.directory);
    },
  );

  gitScenario(
    'a program that is installed later is found without a commit',
    { members: MEMBERS, renders: { path: `${later}:/nowhere` }, ...withKubectl },
    async (it) => {
      it.git.commit(KUSTOMIZED);
      await it.follow({ disablePolling: true });
      expect(await it.said('Accepted')).toBe('False/ProgramMissing');
      if (kubectl !== undefined) symlinkSync(kubectl, join(later, 'kubectl'));
      await it.runs(60, 5_000);
      expect(await it.said('Accepted')).toBe('True/Accepted');
      expect(await valuesOf(it)).toEqual(['base', 'prod', 'prod']);
    },
  );

  gitScenario(
    'a program that is missing is named, and nothing is removed',
    { renders: { path: '/nowhere' } },
    async (it) => {
      it.git.commit({ 'a.yaml': configYaml('a', '1') });
      await it.follow();
      it.git.commit({
        'Chart.yaml': 'apiVersion: v2\nname: shop\nversion: 0.1.0\n',
        'templates/a.yaml': configYaml('a', '2'),
        'a.yaml': null,
      });
      await it.runs();
      expect(await it.said('Accepted')).toBe('False/ProgramMissing');
      expect((await it.status()).problems).toMatchObject([
        { bundle: 'shop', message: expect.stringContaining('helm') },
      ]);
      expect(await valuesOf(it)).toEqual(['1', '1', '1']);
    },
  );
});

describe('namespace', () => {
  gitScenario('is created where it is missing, and stays for others', { members: { c1: {} } }, async (it) => {
    it.git.commit({
      'a/fleet.yaml': 'namespace: shop\n',
      'a/a.yaml': configYaml('a', '1'),
      'b/fleet.yaml': 'defaultNamespace: shop\n',
      'b/b.yaml': configYaml('b', '1'),
    });
    await it.follow();
    expect(await it.on('c1', 'configmaps', 'a', 'shop')).toMatchObject({ data: { value: '1' } });
    expect(await it.on('c1', 'configmaps', 'b', 'shop')).toMatchObject({ data: { value: '1' } });
    it.git.commit({ a: null });
    await it.runs(6);
    expect(await it.on('c1', 'configmaps', 'a', 'shop')).toBeUndefined();
    expect(await it.on('c1', 'configmaps', 'b', 'shop')).toMatchObject({ data: { value: '1' } });
  });

  gitScenario('is not created if nobody may, or wants it', { members: { c1: {} } }, async (it) => {
    it.git.commit({ 'fleet.yaml': 'namespace: shop\ncreateNamespace: false\n', 'a.yaml': configYaml('a', '1') });
    await it.follow();
    expect((await it.status()).display?.state).toBe('ErrApplied');
    expect(await it.on('c1', 'namespaces', 'shop')).toBeUndefined();

    // Not even if the author sets the hub's annotation.
    await it.fleet.hub.create('namespaces', undefined, { metadata: { name: 'team' } });
    it.git.commit({
      'fleet.yaml': null,
      'a.yaml': configYaml('a', '1').replace(
        'metadata:\n',
        'metadata:\n  annotations: { flotilla.dev/create-namespace: "true" }\n',
      ),
    });
    await it.follow({}, { namespace: 'team', name: 'team' });
    await it.runs(6);
    expect(await it.on('c1', 'namespaces', 'team')).toBeUndefined();
  });
});
