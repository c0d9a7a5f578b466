// Git repositories as the source of placements: from a commit to the clusters, and invalid input. The server is a real
// one.
import { describe, expect } from 'vitest';
import { configYaml, deploymentYaml, gitScenario, namespaceYaml } from '../git-fleet.ts';

const SHOP = { 'app/ns.yaml': namespaceYaml('shop'), 'app/web.yaml': deploymentYaml('web:1') };
const valueIn = (object: unknown): unknown => (object as { data?: { value?: unknown } } | undefined)?.data?.value;
const imageOf = (object: unknown): unknown =>
  (object as { spec?: { template?: { spec?: { containers?: { image?: string }[] } } } } | undefined)?.spec?.template
    ?.spec?.containers?.[0]?.image;

describe('a GitRepo', () => {
  gitScenario('brings a commit to all clusters, and the next one too', {}, async (it) => {
    const first = it.git.commit(SHOP);
    await it.follow();
    expect(await it.placements()).toEqual(['shop']);
    for (const cluster of ['c1', 'c2', 'c3'])
      expect(imageOf(await it.on(cluster, 'deployments', 'web', 'shop'))).toBe('web:1');
    expect(await it.status()).toMatchObject({
      commit: first,
      display: { readyBundleDeployments: '3/3', state: 'Ready' },
      summary: { desiredReady: 3, ready: 3, pending: 0 },
      bundles: [{ name: 'shop', path: '', state: 'Ready', readyClusters: '3/3' }],
    });
    expect(await it.said('Ready')).toBe('True/Ready');

    const second = it.git.commit({ 'app/web.yaml': deploymentYaml('web:2') });
    const seen: string[] = [];
    for (let step = 0; step < 40; step++) {
      await it.runs(0.1, 100);
      const { commit, display } = await it.status();
      const images = await Promise.all(
        ['c1', 'c2', 'c3'].map(async (each) => imageOf(await it.on(each, 'deployments', 'web', 'shop'))),
      );
      if (commit !== second) continue;
      seen.push(display?.state ?? '');
      // Ready never refers to the previous commit.
      if (display?.state === 'Ready') expect(images).toEqual(['web:2', 'web:2', 'web:2']);
    }
    expect(seen).toContain('OutOfSync');
    expect(seen.at(-1)).toBe('Ready');
    expect(imageOf(await it.on('c2', 'deployments', 'web', 'shop'))).toBe('web:2');
    expect((await it.status()).commit).toBe(second);
    expect(await it.revisions('shop')).toBe(2);
  });

  gitScenario(
    'G1, G3: a directory with fleet.yaml is a bundle of its own, and an unrelated commit makes no revision',
    {},
    async (it) => {
      it.git.commit({
        'a.yaml': configYaml('a', '1'),
        'sub/fleet.yaml': 'defaultNamespace: default\n',
        'sub/b.yaml': configYaml('b', '1'),
      });
      await it.follow();
      expect(await it.placements()).toEqual(['shop', 'shop-sub']);
      expect(valueIn(await it.on('c1', 'configmaps', 'b', 'default'))).toBe('1');
      expect((await it.status()).display).toMatchObject({ readyBundleDeployments: '6/6', state: 'Ready' });

      const second = it.git.commit({ 'README.md': 'nothing of it is placed' });
      await it.runs();
      expect((await it.status()).commit).toBe(second);
      expect([await it.revisions('shop-0'), await it.revisions('shop-sub')]).toEqual([1, 1]);
    },
  );

  gitScenario('G4: removes what a removed directory had, and G5: nothing when nothing is left', {}, async (it) => {
    it.git.commit({ 'a.yaml': configYaml('a', '1'), 'sub/fleet.yaml': '', 'sub/b.yaml': configYaml('b', '1') });
    await it.follow();
    expect(await it.on('c1', 'configmaps', 'b', 'default')).toBeDefined();
    it.git.commit({ sub: null });
    await it.runs();
    expect(await it.placements()).toEqual(['shop']);
    expect(await it.on('c1', 'configmaps', 'b', 'default')).toBeUndefined();

    it.git.commit({ 'a.yaml': null });
    await it.runs();
    expect(await it.said('Accepted')).toBe('False/NoBundles');
    expect(await it.placements()).toEqual(['shop']);
    expect(await it.on('c1', 'configmaps', 'a', 'default')).toBeDefined();
  });

  gitScenario('G4: keeps what a removed directory had with keepResources', {}, async (it) => {
    it.git.commit({
      'a.yaml': configYaml('a', '1'),
      'sub/fleet.yaml': 'keepResources: true\n',
      'sub/b.yaml': configYaml('b', '1'),
    });
    await it.follow();
    it.git.commit({ sub: null });
    await it.runs();
    expect(await it.placements()).toEqual(['shop']);
    expect(await it.on('c1', 'configmaps', 'b', 'default')).toBeDefined();
  });

  gitScenario(
    'G11, G12: without targets uses ClusterGroup "default"; overrideTargets replace them for one bundle',
    {
      members: { c1: { env: 'a' }, c2: { env: 'a' }, c3: { env: 'b' } },
    },
    async (it) => {
      it.git.commit({
        'a.yaml': configYaml('a', '1'),
        'sub/fleet.yaml': 'overrideTargets:\n- clusterName: c3\n',
        'sub/b.yaml': configYaml('b', '1'),
      });
      await it.follow({ targets: [] });
      expect(await it.said('Accepted')).toBe('False/NoTargets');
      expect(await it.placements()).toEqual(['shop-sub']);
      await it.fleet.hub.create('clustergroups', undefined, {
        metadata: { name: 'default' },
        spec: { selector: { matchLabels: { env: 'a' } } },
      });
      await it.runs();
      expect(await it.said('Accepted')).toBe('True/Accepted');
      const has = async (name: string) =>
        (await Promise.all(['c1', 'c2', 'c3'].map((each) => it.on(each, 'configmaps', name, 'default')))).map(Boolean);
      expect(await has('a')).toEqual([true, true, false]);
      expect(await has('b')).toEqual([false, false, true]);
    },
  );

  gitScenario(
    'rolls out by rolloutStrategy: a bad image stops in the first partition, in the words of seed 000',
    {
      members: { c1: { stage: 'canary' }, c2: { stage: 'prod' }, c3: { stage: 'prod' } },
    },
    async (it) => {
      const strategy = `rolloutStrategy:
  maxUnavailable: 0
  partitions:
  - name: canary
    clusterSelector: { matchLabels: { stage: canary } }
  - name: demoRollout
    clusterSelector: { matchLabels: { stage: prod } }
`;
      it.git.commit({ ...SHOP, 'app/fleet.yaml': strategy });
      await it.follow();
      await it.runs();
      expect((await it.status()).display).toMatchObject({ readyBundleDeployments: '3/3', state: 'Ready' });
      it.git.commit({ 'app/web.yaml': deploymentYaml('web:bad') });
      await it.runs();
      expect((await it.status()).summary).toMatchObject({ notReady: 1, outOfSync: 2, ready: 0 });
      expect(imageOf(await it.on('c2', 'deployments', 'web', 'shop'))).toBe('web:1');
      it.git.commit({ 'app/web.yaml': deploymentYaml('web:3') });
      await it.runs(10);
      expect((await it.status()).display).toMatchObject({ readyBundleDeployments: '3/3', state: 'Ready' });
    },
  );

  gitScenario('is deleted with its placements and what they placed', {}, async (it) => {
    it.git.commit(SHOP);
    await it.follow();
    await it.fleet.hub.call({ verb: 'delete', at: it.fleet.hub.at('gitrepos', 'fleet-system', 'shop') });
    await it.runs();
    expect(await it.placements()).toEqual([]);
    expect(await it.on('c1', 'namespaces', 'shop')).toBeUndefined();
    expect(await it.fleet.exists('gitrepos', 'fleet-system', 'shop')).toBe(false);
  });

  gitScenario('is read again after a restart without the network, and two of them share one poll', {}, async (it) => {
    it.git.commit(SHOP);
    await it.follow();
    await it.follow({ paths: ['other'] }, { name: 'other' });
    const before = it.git.requests.length;
    await it.runs(10);
    const polls = it.git.requests.slice(before).filter((each) => each.includes('info/refs')).length;
    expect(polls).toBeGreaterThanOrEqual(8);
    expect(polls).toBeLessThanOrEqual(12);

    it.git.trouble = 503;
    await it.restart();
    expect(await it.said('GitPolling')).toBe('False/FetchFailed');
    // A change of the GitRepo is applied to the commit that was fetched before.
    await it.change({ paused: true });
    const { spec } = (await it.fleet.hub.get('clusterresourceplacements', undefined, 'shop')) as {
      spec?: { strategy?: { paused?: boolean } };
    };
    expect(spec?.strategy?.paused).toBe(true);
    expect(await it.on('c1', 'deployments', 'web', 'shop')).toBeDefined();
  });
});

describe('without the git program', () => {
  const program = { path: '/nowhere' };

  gitScenario('a commit reaches the clusters, and a restart needs no network', { program }, async (it) => {
    it.git.commit(SHOP);
    await it.follow();
    expect(await it.said('Ready')).toBe('True/Ready');
    const second = it.git.commit({ 'app/web.yaml': deploymentYaml('web:2') });
    await it.runs(8);
    expect(await it.status()).toMatchObject({
      commit: second,
      display: { readyBundleDeployments: '3/3', state: 'Ready' },
    });
    expect(imageOf(await it.on('c2', 'deployments', 'web', 'shop'))).toBe('web:2');

    it.git.trouble = 503;
    await it.restart();
    expect(await it.said('GitPolling')).toBe('False/FetchFailed');
    await it.change({ paused: true });
    expect(await it.fleet.hub.get('clusterresourceplacements', undefined, 'shop')).toMatchObject({
      spec: { strategy: { paused: true } },
    });
    await it.change({ repo: 'ssh://git@127.0.0.1/repo.git' });
    expect(await it.said('GitPolling')).toBe('False/ProgramMissing');
    expect(await it.on('c1', 'deployments', 'web', 'shop')).toBeDefined();
  });
});

describe('bad input', () => {
  const bad: readonly (readonly [string, Readonly<Record<string, string>>, string, string])[] = [
    [
      'a tab in line 7 of a fleet.yaml',
      { 'app/fleet.yaml': 'name: x\n\n\n\n\nlabels:\n\ta: b\n' },
      'FileInvalid',
      'app/fleet.yaml:7: ',
    ],
    ['a manifest that is no object', { 'app/x.yaml': 'a: 1\n---\n- b\n' }, 'ManifestInvalid', 'app/x.yaml:1: '],
    ['a binary file', { 'app/x.yaml': 'a\0b' }, 'FileUnreadable', 'app/x.yaml: '],
    ['a YAML bomb', { 'app/x.yaml': bomb() }, 'ManifestInvalid', 'app/x.yaml: '],
    ['one object twice', { 'app/x.yaml': deploymentYaml('web:9') }, 'DuplicateObject', 'app/x.yaml:1: '],
    [
      'G13: a ClusterRole in a forced namespace',
      {
        'app/fleet.yaml': 'namespace: shop\n',
        'app/ns.yaml': 'apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: all}\n',
      },
      'ClusterScoped',
      'app/ns.yaml:1: ',
    ],
    [
      'an object for the system',
      { 'app/x.yaml': configYaml('x', '1', 'kube-system') },
      'NamespaceRefused',
      'app/x.yaml:1: ',
    ],
    [
      'a placement',
      {
        'app/x.yaml':
          'apiVersion: placement.kubernetes-fleet.io/v1\nkind: ClusterResourcePlacement\nmetadata: {name: x}\n',
      },
      'KindRefused',
      'app/x.yaml:1: ',
    ],
    ['a chart', { 'app/Chart.yaml': 'name: x\n' }, 'NotPlain', 'app/Chart.yaml: '],
    [
      'a limit that is none',
      { 'app/fleet.yaml': 'rolloutStrategy:\n  maxUnavailable: many\n' },
      'FieldInvalid',
      'app/fleet.yaml:2: ',
    ],
  ];
  gitScenario('keeps the last good revision, and names file and line', { members: { c1: {} } }, async (it) => {
    it.git.commit(SHOP);
    await it.follow();
    let good = 1;
    for (const [what, files, reason, where] of bad) {
      it.git.commit({ ...files, 'app/web.yaml': deploymentYaml('web:0') });
      await it.runs(2);
      expect(await it.said('Accepted'), what).toBe(`False/${reason}`);
      const accepted = (await it.status()).conditions?.find(({ type }) => type === 'Accepted');
      expect(accepted?.message.slice(0, where.length), what).toBe(where);
      expect(imageOf(await it.on('c1', 'deployments', 'web', 'shop')), what).toBe(`web:${good}`);
      expect(await it.placements()).toEqual(['shop']);
      // The next commit fixes it.
      it.git.git('revert', '--no-edit', 'HEAD');
      it.git.commit({ 'app/web.yaml': deploymentYaml(`web:${++good}`) });
      await it.runs(3);
      expect(await it.said('Accepted'), what).toBe('True/Accepted');
      expect(imageOf(await it.on('c1', 'deployments', 'web', 'shop')), what).toBe(`web:${good}`);
    }
  });

  gitScenario(
    'a branch that does not exist, a server that fails, a force-push',
    { members: { c1: {} } },
    async (it) => {
      it.git.commit(SHOP);
      await it.follow();
      await it.change({ branch: 'nope' });
      expect(await it.said('GitPolling')).toBe('False/RefNotFound');
      expect(await it.said('Ready')).toBe('False/NotPolled');
      expect(await it.on('c1', 'deployments', 'web', 'shop')).toBeDefined();
      await it.change({ branch: 'main' });
      expect(await it.said('Ready')).toBe('True/Ready');

      it.git.trouble = 500;
      await it.runs();
      expect(await it.said('GitPolling')).toBe('False/FetchFailed');
      const tries = it.git.requests.length;
      await it.runs(60, 2000);
      // With back-off: without it there would be 60 polls.
      expect(it.git.requests.length - tries).toBeLessThan(8);
      it.git.trouble = undefined;
      await it.runs(300, 20_000);
      expect(await it.said('GitPolling')).toBe('True/Polled');

      it.git.git('reset', '--quiet', '--hard', 'HEAD');
      it.git.git('commit', '--quiet', '--amend', '--allow-empty', '-m', 'history is rewritten');
      const pushed = it.git.commit({ 'app/web.yaml': deploymentYaml('web:7') }, { force: true });
      await it.runs();
      expect((await it.status()).commit).toBe(pushed);
      expect(imageOf(await it.on('c1', 'deployments', 'web', 'shop'))).toBe('web:7');
    },
  );

  gitScenario('symbolic links and paths do not lead out of the repository', { members: { c1: {} } }, async (it) => {
    it.git.commit(SHOP);
    await it.follow();
    it.git.git('config', 'core.symlinks', 'true');
    const id = it.git.git('rev-parse', 'HEAD:app/ns.yaml');
    it.git.git('update-index', '--add', '--cacheinfo', `120000,${id},app/link.yaml`);
    it.git.git('commit', '--quiet', '-m', 'a link');
    it.git.git('push', '--quiet', it.git.git('rev-parse', '--show-toplevel').replace(/work$/, 'repo.git'), 'HEAD:main');
    await it.runs();
    expect(await it.said('Accepted')).toBe('False/SymbolicLink');
    await it.change({ paths: ['../..'] });
    expect(await it.said('Accepted')).toBe('False/PathInvalid');
    expect(await it.on('c1', 'deployments', 'web', 'shop')).toBeDefined();
  });

  gitScenario(
    'a repository that is too large is given up',
    { members: { c1: {} }, program: { limits: { textBytes: 100 } } },
    async (it) => {
      it.git.commit(SHOP);
      await it.follow();
      expect(await it.said('GitPolling')).toBe('False/RepositoryTooLarge');
      expect(await it.placements()).toEqual([]);
    },
  );

  gitScenario(
    'a server that never answers is given up, with a reason',
    { members: { c1: {} }, program: { limits: { timeoutMs: 700 } } },
    async (it) => {
      it.git.commit(SHOP);
      it.git.trouble = 'silence';
      await it.follow();
      expect(await it.said('GitPolling')).toBe('False/TimedOut');
    },
  );

  gitScenario('a file:// URL is refused unless the hub allows it', { members: { c1: {} } }, async (it) => {
    await it.follow({ repo: 'file:///etc' });
    expect(await it.said('GitPolling')).toBe('False/ProtocolRefused');
  });
});

describe('a GitRepo of a namespace', () => {
  gitScenario('places into its own namespace and nothing else', { members: { c1: {} } }, async (it) => {
    await it.fleet.hub.create('namespaces', undefined, { metadata: { name: 'team' } });
    await it.fleet.member('c1').create('namespaces', undefined, { metadata: { name: 'team' } });
    it.git.commit({ 'a.yaml': configYaml('a', '1') });
    await it.follow({}, { namespace: 'team' });
    expect(valueIn(await it.on('c1', 'configmaps', 'a', 'team'))).toBe('1');

    for (const [yaml, reason] of [
      [configYaml('b', '1', 'shop'), 'NamespaceRefused'],
      ['apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: all}\n', 'ClusterScoped'],
      ['apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: x, namespace: team}\n', 'KindUnknown'],
    ] as const) {
      it.git.commit({ 'b.yaml': yaml, 'a.yaml': configYaml('a', '2') });
      await it.runs();
      expect(await it.said('Accepted', 'shop', 'team')).toBe(`False/${reason}`);
      expect(valueIn(await it.on('c1', 'configmaps', 'a', 'team'))).toBe('1');
    }
    await it.change({ targetNamespace: 'kube-system' }, 'shop', 'team');
    expect(await it.said('Accepted', 'shop', 'team')).toBe('False/NamespaceRefused');
  });
});

describe('an envelope in a GitRepo of a namespace', () => {
  const envelope = (inner: object) =>
    JSON.stringify({
      apiVersion: 'placement.kubernetes-fleet.io/v1beta1',
      kind: 'ResourceEnvelope',
      metadata: { name: 'e' },
      data: { 'x.yaml': inner },
    });
  gitScenario('has no more rights than its namespace', { members: { c1: {} } }, async (it) => {
    for (const name of ['team', 'other']) {
      await it.fleet.hub.create('namespaces', undefined, { metadata: { name } });
      await it.fleet.member('c1').create('namespaces', undefined, { metadata: { name } });
    }
    const config = (namespace: string) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'x', namespace },
      data: { value: '1' },
    });
    it.git.commit({ 'e.json': envelope(config('team')) });
    await it.follow({}, { namespace: 'team' });
    expect(await it.on('c1', 'configmaps', 'x', 'team')).toMatchObject({ data: { value: '1' } });
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'x' } };
    for (const [inner, plural, namespace] of [
      [role, 'clusterroles', undefined],
      [config('other'), 'configmaps', 'other'],
      [config('kube-system'), 'configmaps', 'kube-system'],
    ] as const) {
      it.git.commit({ 'e.json': envelope(inner) });
      await it.runs(6);
      expect((await it.status('shop', 'team')).display?.state, plural).toBe('ErrApplied');
      expect(await it.on('c1', plural, 'x', namespace), plural).toBeUndefined();
    }
  });
});

describe('credentials', () => {
  gitScenario('are sent, are noticed when they change, and are seen nowhere', { members: { c1: {} } }, async (it) => {
    const lines: string[] = [];
    it.git.commit(SHOP);
    it.git.login = 'me:s3cr3t-Wort';
    const secret = (password: string) => ({
      metadata: { name: 'login' },
      type: 'kubernetes.io/basic-auth',
      data: { username: Buffer.from('me').toString('base64'), password: Buffer.from(password).toString('base64') },
    });
    await it.follow({ clientSecretName: 'login' });
    expect(await it.said('GitPolling')).toBe('False/SecretNotFound');
    await it.fleet.hub.create('secrets', 'fleet-system', secret('s3cr3t-falsch'));
    await it.runs();
    expect(await it.said('GitPolling')).toBe('False/FetchFailed');
    await it.fleet.patch('secrets', 'fleet-system', 'login', { data: secret('s3cr3t-Wort').data });
    await it.runs(20, 2000);
    expect(await it.said('GitPolling')).toBe('True/Polled');
    expect(await it.on('c1', 'deployments', 'web', 'shop')).toBeDefined();
    lines.push(JSON.stringify(await it.repo()));
    for (const plural of ['events', 'clusterresourceplacements', 'clusterresourcesnapshots', 'works']) {
      const { list } = await it.fleet.hub.call({ verb: 'list', at: it.fleet.hub.at(plural) });
      lines.push(JSON.stringify(list));
    }
    const told = lines.join('\n');
    for (const word of ['s3cr3t', Buffer.from('me:s3cr3t-Wort').toString('base64')]) expect(told).not.toContain(word);
  });
});

function bomb(): string {
  const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]'];
  for (let at = 1; at < 9; at++)
    lines.push(
      `a${at}: &a${at} [${Array(10)
        .fill(`*a${at - 1}`)
        .join(', ')}]`,
    );
  return `${lines.join('\n')}\n`;
}
