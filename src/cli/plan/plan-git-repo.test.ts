// `flotilla plan gitrepo/NAME` against the real API server over https. No hub runs, and nothing is written.
import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../api/object.ts';
import type { Clock } from '../../base/clock.ts';
import { type GitClient, GitError, type GitSource } from '../../hub/git/repository.ts';
import { whichGitRepo } from '../git-repo/git-repo.ts';
import { overheard, printing, serving } from '../served.testing.ts';
import { planGitRepo } from './plan-git-repo.ts';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const clock: Clock = { now: () => NOW, at: () => () => {} };
const fine = ['Joined', 'Healthy'].map((type) => ({
  type,
  status: 'True',
  reason: 'Fine',
  message: '',
  lastTransitionTime: '2026-01-01T11:59:50Z',
}));
const member = (name: string): KubeObject => ({
  apiVersion: 'cluster.kubernetes-fleet.io/v1beta1',
  kind: 'MemberCluster',
  metadata: { name, labels: { env: 'prod' } },
  spec: { identity: { kind: 'User', name } },
  status: {
    conditions: fine.map((each) => ({ ...each, observedGeneration: 1 })),
    agentStatus: [{ type: 'MemberAgent', lastReceivedHeartbeat: '2026-01-01T11:59:55Z', conditions: fine }],
  },
});
const config = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\n';
const removed: KubeObject = {
  apiVersion: 'placement.kubernetes-fleet.io/v1',
  kind: 'ClusterResourcePlacement',
  metadata: { name: 'shop-old' },
  spec: { source: { gitRepo: 'shop', bundle: 'shop-old' }, policy: { placementType: 'PickAll' } },
};

async function planned(files: Readonly<Record<string, string>>, more: { readonly fails?: GitError } = {}) {
  const repo: KubeObject = {
    apiVersion: 'flotilla.dev/v1alpha1',
    kind: 'GitRepo',
    metadata: { name: 'shop', namespace: 'fleet-system' },
    spec: { repo: 'https://example.com/shop.git', branch: 'main', targets: [{ clusterSelector: {} }] },
  };
  const namespace: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'fleet-system' } };
  const { server } = await serving([namespace, repo, removed, member('m1'), member('m2')]);
  const wrote: string[] = [];
  const connected = overheard(await server(), ({ verb }) => {
    if (!['get', 'list'].includes(verb)) wrote.push(verb);
  });
  const sources: GitSource[] = [];
  const client: GitClient = {
    async fetch(source) {
      sources.push(source);
      if (more.fails !== undefined) throw more.fails;
      return 'c'.repeat(40);
    },
    kept: async () => undefined,
    files: async () =>
      Object.entries(files).map(([path, text]) => ({ path, id: path, kind: 'file', size: text.length, text })),
  };
  const { print, text } = printing();
  const options = { clock, full: false, durationMs: 30_000, branch: 'next', git: { client } };
  const signal = new AbortController().signal;
  const code = await planGitRepo(connected, whichGitRepo('gitrepo/shop'), { ...options, signal }, print);
  expect(wrote).toEqual([]);
  return { code, text: text(), sources };
}

describe('the plan of a repository', () => {
  test('has a rollout for each bundle, and what would be removed', async () => {
    const { code, text, sources } = await planned({
      'a.yaml': config,
      'web/fleet.yaml': '',
      'web/b.yaml': config.replace('a }', 'b }'),
    });
    expect(sources).toMatchObject([{ url: 'https://example.com/shop.git', branch: 'next' }]);
    expect(text).toContain('Commit cccccccccccc for GitRepo "fleet-system/shop"');
    expect(text).toContain('Bundle "shop" would be placed.');
    expect(text).toContain('Partitioned: revision 0 (new) reaches 2 clusters in 1 wave; complete after 30s');
    expect(text).toContain('Bundle "shop-web" would be placed.');
    expect(text).toContain('Bundle "shop-old" would be removed from its clusters.');
    expect(code).toBe(0);
  });

  test('names what is wrong with file and line, and removes nothing', async () => {
    const { code, text } = await planned({
      'a.yaml': config,
      'web/fleet.yaml': 'name: web\nrolloutStrategy: 5\n',
      'web/b.yaml': config,
    });
    expect(code).toBe(2);
    expect(text).toContain('Problem: web/fleet.yaml:2: ');
    expect(text).toContain('Bundle "web" keeps its last revision.');
    expect(text).not.toContain('shop-old');
  });

  test('says why the repository cannot be read', async () => {
    const fails = new GitError('RefNotFound', 'the repository has no branch "next"');
    await expect(planned({}, { fails })).rejects.toThrow('the repository has no branch "next"');
  });
});
