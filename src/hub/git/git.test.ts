// Tables of how a repository is interpreted: directories to bundles, options, targets; and polling with a test clock.
import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../base/random.ts';
import { readFleetFile } from './fleet-file.ts';
import { createTestClock } from './following.testing.ts';
import { createFollowing, type Wanted } from './following.ts';
import { findBundles } from './paths.ts';
import { bundleName, type RenderedRepo } from './render.ts';
import { type GitClient, GitError, type GitFile } from './repository.ts';
import { credentialsIn } from './source.ts';
import { policyOf } from './targets.ts';

const file = (path: string, text = ''): GitFile => ({ path, id: path, kind: 'file', size: text.length, text });

describe('directories to bundles', () => {
  const found = (paths: readonly string[], ...files: readonly (string | GitFile)[]) => {
    const { bundles, problems } = findBundles(
      files.map((each) => (typeof each === 'string' ? file(each) : each)),
      paths,
    );
    return [
      ...bundles.map(({ directory, manifests }) => `${directory}: ${manifests.map(({ path }) => path).join(' ')}`),
      ...problems.map(({ reason }) => reason),
    ];
  };
  test.each([
    [
      'G1: a sub-directory with fleet.yaml is its own',
      [],
      ['a.yaml', 'sub/fleet.yaml', 'sub/b.yml', 'sub/c/d.json'],
      [': a.yaml', 'sub: sub/b.yml sub/c/d.json'],
    ],
    [
      'G2: no root bundle without manifests of its own',
      [],
      ['README.md', 'sub/fleet.yaml', 'sub/b.yaml'],
      ['sub: sub/b.yaml'],
    ],
    ['sub-directories without fleet.yaml belong to the one above', [], ['a/b/c.yaml'], [': a/b/c.yaml']],
    ['hidden files are left out', [], ['.github/x.yaml', '.a.yaml', 'b.yaml'], [': b.yaml']],
    ['each path is a bundle', ['a', './b/'], ['a/1.yaml', 'b/2.yaml', 'c/3.yaml'], ['a: a/1.yaml', 'b: b/2.yaml']],
    [
      'a path below another has its own files',
      ['a', 'a/b'],
      ['a/1.yaml', 'a/b/2.yaml'],
      ['a: a/1.yaml', 'a/b: a/b/2.yaml'],
    ],
    [
      'patterns match within a name',
      ['apps/*'],
      ['apps/a/1.yaml', 'apps/b/c/2.yaml', 'x/3.yaml'],
      ['apps/a: apps/a/1.yaml', 'apps/b: apps/b/c/2.yaml'],
    ],
    ['a path that is not there', ['nope'], ['a.yaml'], ['PathNotFound']],
    ['a path that leads out', ['../x'], ['a.yaml'], ['PathInvalid']],
  ] as const)('%s', (_it, paths, files, expected) => {
    expect(found(paths, ...files)).toEqual(expected);
  });

  test('.fleetignore leaves names and paths below it out', () => {
    const ignore = file('a/.fleetignore', '# no\n*-test.yaml\nx/y\n');
    expect(found([], ignore, 'a/1.yaml', 'a/b/2-test.yaml', 'a/x/y/3.yaml', '4-test.yaml')).toEqual([
      ': 4-test.yaml a/1.yaml',
    ]);
  });

  test('a pattern from a repository takes no time', () => {
    const name = `${'a'.repeat(200)}b`;
    expect(found([`${'*a'.repeat(100)}c`], `${name}/x.yaml`)).toEqual(['PathNotFound']);
  });

  test.each([
    ['shop', '', 'shop'],
    ['shop', 'apps/web', 'shop-apps-web'],
    ['shop', 'Apps/Web_2', /^shop-apps-web-2-[0-9a-f]{8}$/],
    ['shop', 'x'.repeat(80), /^shop-x{39}-[0-9a-f]{8}$/],
  ])('the bundle of %s in "%s" is %s', (repo, directory, expected) => {
    expect(bundleName(repo, directory)).toMatch(typeof expected === 'string' ? new RegExp(`^${expected}$`) : expected);
  });
});

describe('fleet.yaml', () => {
  const read = (text: string) => {
    const { options, problems, warnings } = readFleetFile('fleet.yaml', text);
    const placed = (list: typeof problems) => list.map(({ line, message }) => `${line}: ${message.split(':')[0]}`);
    return { options, problems: placed(problems), warnings: placed(warnings) };
  };
  test('S0-25: a fragment of nothing but rolloutStrategy is accepted', () => {
    const text =
      'rolloutStrategy:\n  maxUnavailable: 15%\n  maxUnavailablePartitions: 1\n  partitions:\n  - name: demoRollout\n    maxUnavailable: 2\n    clusterSelector: {matchLabels: {env: dev}}\n';
    expect(read(text)).toEqual({
      options: {
        rolloutStrategy: {
          maxUnavailable: '15%',
          maxUnavailablePartitions: 1,
          partitions: [{ name: 'demoRollout', maxUnavailable: 2, clusterSelector: { matchLabels: { env: 'dev' } } }],
        },
      },
      problems: [],
      warnings: [],
    });
  });
  test.each([
    ['unknown keys are a warning with their line', 'name: web\nfoo: 1\n', [], ['2: foo']],
    ['what would place something else is a problem', 'name: web\n\nserviceAccount: x\n', ['3: serviceAccount'], []],
    ['a dependency without a name', 'name: web\ndependsOn:\n- acceptedStates: []\n', ['3: dependsOn[0]'], []],
    [
      'a dependency in a state that there is not',
      'dependsOn:\n- name: x\n  acceptedStates: [Ready, Happy]\n',
      ['3: dependsOn[0].acceptedStates'],
      [],
    ],
    ['an unknown key of a dependency', 'dependsOn:\n- name: x\n  when: later\n', [], ['3: dependsOn[0].when']],
    ['a chart from elsewhere', 'helm:\n  chart: x\n  repo: https://example.com\n', ['3: helm.repo'], []],
    ['a path out of the bundle', 'kustomize:\n  dir: ../x\n', ['2: kustomize.dir'], []],
    [
      'a customization with a bad overlay',
      'targetCustomizations:\n- clusterName: a\n  yaml:\n    overlays: [../x]\n',
      ['4: targetCustomizations[0].yaml.overlays'],
      [],
    ],
    ['empty values are none', 'helm: {}\ndependsOn: []\nnamespace: ""\n', [], []],
    ['a bad limit', 'rolloutStrategy:\n  autoPartitionSize: half\n', ['2: rolloutStrategy.autoPartitionSize'], []],
    [
      'a bad selector',
      'overrideTargets:\n- clusterSelector:\n    matchExpressions:\n    - {key: a, operator: Like}\n',
      ['2: overrideTargets[0].clusterSelector'],
      [],
    ],
    ['a name that is none', 'name: Web.1\n', ['1: name'], []],
    ['two documents', 'name: a\n---\nname: b\n', ['3: one map with fields such as rolloutStrategy is expected'], []],
    ['drift that is left', 'correctDrift: {enabled: false}\n', [], []],
    ['drift without a word', 'correctDrift:\n  enabled: maybe\n', ['2: correctDrift.enabled'], []],
    ['drift by force', 'correctDrift:\n  enabled: true\n  force: true\n', [], ['3: correctDrift.force']],
  ])('%s', (_it, text, problems, warnings) => {
    expect(read(text)).toMatchObject({ problems, warnings });
  });
});

describe('the Secret with credentials', () => {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const read = (type: string | undefined, data: Readonly<Record<string, string>>) => {
    const encoded = Object.fromEntries(Object.entries(data).map(([key, text]) => [key, base64(text)]));
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x' }, data: encoded, ...(type && { type }) };
    const outcome = credentialsIn(secret, 'Secret "x"');
    return outcome instanceof GitError ? `${outcome.reason}: ${outcome.message}` : outcome.type;
  };
  const login = { username: 'me', password: 'word' };
  const key = { 'ssh-privatekey': 'key', known_hosts: 'host' };
  test.each([
    ['kubernetes.io/basic-auth', login, 'basic'],
    ['kubernetes.io/ssh-auth', key, 'ssh'],
    ['kubernetes.io/basic-auth', { username: 'me' }, 'SecretInvalid: Secret "x" has no password'],
    ['kubernetes.io/ssh-auth', { 'ssh-privatekey': 'key' }, /^SecretInvalid: Secret "x" has no known_hosts/],
    // For instance a database login: it must not be sent to a server that the author of a GitRepo chooses.
    ['Opaque', login, /^SecretInvalid: Secret "x" is of type "Opaque"/],
    [undefined, { ...login, ...key }, /^SecretInvalid: Secret "x" is of type "Opaque"/],
  ])('%s %o', (type, data, expected) => {
    if (expected instanceof RegExp) expect(read(type, data)).toMatch(expected);
    else expect(read(type, data)).toBe(expected);
  });
});

describe('targets to a policy', () => {
  const groups: NonNullable<Parameters<typeof policyOf>[1]> = [
    { name: 'default', labels: {}, selector: { matchLabels: { env: 'a' } } },
    { name: 'b', labels: { tier: 'x' }, selector: { matchLabels: { env: 'b' } } },
    { name: 'empty', labels: { tier: 'x' }, selector: undefined },
  ];
  const terms = (targets: Parameters<typeof policyOf>[0]) => {
    const targeted = policyOf(targets, groups);
    if ('problem' in targeted) return targeted.problem.reason;
    const affinity = targeted.policy.affinity?.clusterAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
    if (affinity === undefined) return 'all';
    return affinity.clusterSelectorTerms.map(({ labelSelector }) =>
      (labelSelector?.matchExpressions ?? [])
        .map(({ key, values = [] }) => `${key.split('/').at(-1)}=${values.join('|')}`)
        .join('&'),
    );
  };
  test.each([
    ['G11: none is ClusterGroup default', undefined, ['env=a']],
    ['an empty selector is all clusters', [{ clusterName: 'c1' }, { clusterSelector: {} }], 'all'],
    [
      'names are one term per label that may hold them',
      [{ clusterName: 'c1' }, { clusterName: 'c2' }, { clusterName: 'c1' }],
      ['member-name=c1|c2', 'cluster-display-name=c1|c2'],
    ],
    [
      'a name and a group are ANDed, whichever label holds the name',
      [{ clusterName: 'c1', clusterGroup: 'b' }],
      ['member-name=c1&env=b', 'cluster-display-name=c1&env=b'],
    ],
    [
      'criteria of one target are ANDed',
      [{ clusterSelector: { matchLabels: { x: '1' } }, clusterGroup: 'b' }],
      ['x=1&env=b'],
    ],
    [
      'targets are ORed',
      [{ clusterSelector: { matchLabels: { x: '1' } } }, { clusterName: 'c1' }],
      ['x=1', 'member-name=c1', 'cluster-display-name=c1'],
    ],
    [
      'a selector of groups is each group; one without a selector is empty',
      [{ clusterGroupSelector: { matchLabels: { tier: 'x' } } }],
      ['env=b'],
    ],
    ['a target without a criterion matches none', [{ name: 'x' }], 'NoTargets'],
    ['a group that does not exist', [{ clusterGroup: 'nope' }], 'NoTargets'],
    [
      'more terms than a policy has',
      Array.from({ length: 11 }, (_, at) => ({ clusterSelector: { matchLabels: { x: `${at}` } } })),
      'TooManyTargets',
    ],
  ])('%s', (_it, targets, expected) => {
    expect(terms(targets)).toEqual(expected);
  });
});

describe('following', () => {
  const repo = { bundles: [], problems: [], warnings: [] };
  function world() {
    const clock = createTestClock();
    const asked: number[] = [];
    const remote: { commit: string; error?: GitError } = { commit: 'one' };
    const client: GitClient = {
      async fetch() {
        asked.push(clock.now());
        if (remote.error !== undefined) throw remote.error;
        return remote.commit;
      },
      kept: async () => 'kept',
      files: async () => [],
    };
    const following = createFollowing({ client, clock, random: seededRandom(1) });
    const woken: string[] = [];
    following.start((key) => woken.push(key), new AbortController().signal);
    const wanted = (more: Partial<Wanted> = {}): Wanted => ({
      source: { url: 'https://example.com/x' },
      intervalMs: 1000,
      force: '0',
      options: '',
      placed: undefined,
      read: async () => repo,
      ...more,
    });
    return { clock, asked, remote, following, woken, wanted };
  }

  test('asks once for all who follow one ref, and stops when none does', async () => {
    const it = world();
    it.following.follow('a', it.wanted());
    it.following.follow('b', it.wanted({ options: 'x' }));
    await it.clock.settles();
    expect(it.asked).toHaveLength(1);
    expect(it.following.follow('a', it.wanted())).toEqual({ commit: 'one', repo });
    await it.clock.passes(10_000);
    expect(it.asked.length).toBeGreaterThanOrEqual(9);
    expect(it.asked.length).toBeLessThanOrEqual(13);
    it.following.forget('a');
    it.following.forget('b');
    const before = it.asked.length;
    await it.clock.passes(10_000);
    expect(it.asked).toHaveLength(before);
  });

  test('keeps what was read through failures, backs off, and asks at once when forced', async () => {
    const it = world();
    it.following.follow('a', it.wanted());
    await it.clock.settles();
    it.remote.error = new GitError('FetchFailed', 'no');
    await it.clock.passes(600_000);
    expect(it.asked.length).toBeLessThan(20);
    expect(it.following.follow('a', it.wanted())).toEqual({
      commit: 'one',
      repo,
      failure: { reason: 'FetchFailed', message: 'no' },
    });
    delete it.remote.error;
    it.remote.commit = 'two';
    expect(it.following.follow('a', it.wanted({ force: '1' }))).toMatchObject({ commit: 'one', isPending: true });
    await it.clock.settles();
    expect(it.following.follow('a', it.wanted({ force: '1' }))).toEqual({ commit: 'two', repo });
  });

  test('reads a commit again, ever less often, while a program is missing or too slow', async () => {
    const it = world();
    const read: number[] = [];
    let result: RenderedRepo = { ...repo, mayPass: true };
    const wanted = () =>
      it.wanted({
        intervalMs: undefined,
        read: async () => {
          read.push(it.clock.now());
          return result;
        },
      });
    it.following.follow('a', wanted());
    await it.clock.passes(600_000);
    expect(read.length).toBeGreaterThan(5);
    expect(read.length).toBeLessThan(15);
    expect((read[2] ?? 0) - (read[1] ?? 0)).toBeLessThan((read[5] ?? 0) - (read[4] ?? 0));
    result = repo;
    await it.clock.passes(600_000);
    const before = read.length;
    expect(it.following.follow('a', wanted())).toEqual({ commit: 'one', repo });
    await it.clock.passes(600_000);
    expect(read).toHaveLength(before);
  });

  test('after a restart reads what was kept, and a commit is asked for once', async () => {
    const it = world();
    it.remote.error = new GitError('FetchFailed', 'no');
    // Another hub has led since, and has read a newer commit.
    it.following.follow('b', it.wanted({ placed: 'newer' }));
    await it.clock.settles();
    expect(it.following.follow('b', it.wanted({ placed: 'newer' }))).toEqual({
      failure: { reason: 'FetchFailed', message: 'no' },
    });
    it.following.forget('b');
    it.following.follow('a', it.wanted({ placed: 'kept' }));
    await it.clock.settles();
    expect(it.following.follow('a', it.wanted({ placed: 'kept' }))).toMatchObject({
      commit: 'kept',
      failure: { reason: 'FetchFailed' },
    });
    delete it.remote.error;
    const fixed = it.wanted({ source: { url: 'https://example.com/y', revision: 'c'.repeat(40) } });
    it.following.follow('b', fixed);
    await it.clock.settles();
    it.following.forget('a');
    const before = it.asked.length;
    await it.clock.passes(60_000);
    expect(it.asked).toHaveLength(before);
  });
});
