// Mistakes that concern several bundles or the whole repository: they are reported, and placed objects stay. The Git
// server is a real one.
import { randomBytes } from 'node:crypto';
import { describe, expect } from 'vitest';
import { createAuthority, DAY_MS } from '../../src/apiserver/auth/certificates.ts';
import { systemRandom } from '../../src/base/random.ts';
import { configYaml, type GitFleet, gitScenario } from '../git-fleet.ts';

/** Events about the GitRepo: type, reason and count. */
const eventsOf = async ({ fleet }: GitFleet): Promise<readonly string[]> => {
  const { list } = await fleet.hub.call({ verb: 'list', at: fleet.hub.at('events', 'fleet-system') });
  return (list?.items ?? [])
    .filter((each) => (each['involvedObject'] as { kind?: string } | undefined)?.kind === 'GitRepo')
    .map((each) => `${each['type']} ${each['reason']} ${(each['count'] as number | undefined) ?? 1}`)
    .toSorted();
};
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const issuedBy = (name: string): string =>
  createAuthority({ name, now: Date.now(), random: systemRandom, lifetimeMs: DAY_MS }).certificate;

const ONE = { members: { c1: {} } };
const valueIn = async (it: GitFleet, name: string) => {
  const object = await it.on('c1', 'configmaps', name, 'default');
  return (object as { data?: { value?: string } } | undefined)?.data?.value;
};
const TWO = {
  'a/fleet.yaml': '',
  'a/a.yaml': configYaml('a', '1'),
  'b/fleet.yaml': '',
  'b/b.yaml': configYaml('b', '1'),
};

describe('bundles', () => {
  gitScenario('with one object in two of them keep what they have, and a third one goes on', ONE, async (it) => {
    it.git.commit({ ...TWO, 'c/fleet.yaml': '', 'c/c.yaml': configYaml('c', '1') });
    await it.follow();
    it.git.commit({
      'a/a.yaml': configYaml('a', '2'),
      'b/more.yaml': `# twice\n${configYaml('a', '3')}`,
      'c/c.yaml': configYaml('c', '2'),
    });
    await it.runs(6);
    expect(await it.said('Accepted')).toBe('False/DuplicateObject');
    expect((await it.status()).problems).toMatchObject([
      { bundle: 'shop-a', file: 'a/a.yaml', line: 1, message: expect.stringContaining('b/more.yaml:2') },
      { bundle: 'shop-b', file: 'b/more.yaml', line: 2, message: expect.stringContaining('a/a.yaml:1') },
    ]);
    expect([await valueIn(it, 'a'), await valueIn(it, 'b'), await valueIn(it, 'c')]).toEqual(['1', '1', '2']);
  });

  gitScenario('with one name are refused, and neither is placed', ONE, async (it) => {
    it.git.commit({ ...TWO, 'a/fleet.yaml': 'name: same\n', 'b/fleet.yaml': 'name: same\n' });
    await it.follow();
    expect(await it.said('Accepted')).toBe('False/DuplicateBundle');
    expect(await it.placements()).toEqual([]);
  });

  gitScenario(
    'whose directory has no object any more stay; so does one that is renamed by a broken file',
    ONE,
    async (it) => {
      it.git.commit({ ...TWO, 'b/fleet.yaml': 'name: other\n' });
      await it.follow();
      expect(await it.placements()).toEqual(['other', 'shop-a']);
      it.git.commit({ 'a/a.yaml': null, 'b/fleet.yaml': 'name: other\n\tx: 1\n' });
      await it.runs(6);
      expect((await it.status()).problems).toMatchObject([
        { bundle: 'shop-a', reason: 'EmptyBundle' },
        { bundle: 'shop-b', file: 'b/fleet.yaml', line: 2, reason: 'FileInvalid' },
      ]);
      expect(await it.placements()).toEqual(['other', 'shop-a']);
      expect([await valueIn(it, 'a'), await valueIn(it, 'b')]).toEqual(['1', '1']);
    },
  );

  gitScenario('take over no placement that a person made', ONE, async (it) => {
    await it.fleet.hub.create('clusterresourceplacements', undefined, {
      metadata: { name: 'shop-a' },
      spec: { resourceSelectors: [{ group: '', version: 'v1', kind: 'Namespace', name: 'mine' }] },
    });
    it.git.commit(TWO);
    await it.follow();
    expect(await it.said('Accepted')).toBe('False/PlacementConflict');
    expect([await valueIn(it, 'a'), await valueIn(it, 'b')]).toEqual([undefined, '1']);
    const placement = await it.fleet.hub.get('clusterresourceplacements', undefined, 'shop-a');
    expect(placement).toMatchObject({ spec: { resourceSelectors: [{ name: 'mine' }] } });
    await it.fleet.hub.call({ verb: 'delete', at: it.fleet.hub.at('gitrepos', 'fleet-system', 'shop') });
    await it.runs(6);
    expect(await it.placements()).toEqual(['shop-a']);
  });
});

describe('repositories', () => {
  gitScenario(
    'of too many bytes are given up, and what was placed stays',
    {
      ...ONE,
      program: { limits: { repositoryBytes: 400_000 } },
    },
    async (it) => {
      it.git.commit(TWO);
      await it.follow();
      expect(await valueIn(it, 'a')).toBe('1');
      it.git.commit({ 'a/a.yaml': configYaml('a', '2'), 'video.txt': randomBytes(2_000_000).toString('hex') });
      await it.runs();
      expect(await it.said('GitPolling')).toBe('False/RepositoryTooLarge');
      expect(await valueIn(it, 'a')).toBe('1');
      expect(await it.placements()).toEqual(['shop-a', 'shop-b']);
    },
  );

  for (const [client, program] of [
    ['the git program', {}],
    ['the library', { path: '/nowhere' }],
  ] as const)
    gitScenario(
      `of a server whose authority is unknown are not read by ${client} until caBundle has it`,
      { ...ONE, program, server: { tls: ['127.0.0.1'] } },
      async (it) => {
        it.git.commit({ 'a.yaml': configYaml('a', '1') });
        // Another authority's certificate.
        await it.follow({ caBundle: base64(issuedBy('another')) });
        await it.runs(10);
        expect(await it.said('GitPolling')).toBe('False/FetchFailed');
        const { message } = (await it.status()).conditions?.find(({ type }) => type === 'GitPolling') ?? {};
        expect(message).toMatch(/certificate/);
        expect(message).toContain('spec.caBundle must contain the certificate of the authority that signed it');
        expect(it.git.requests).toEqual([]);
        // Regardless of the number of retries.
        expect(await eventsOf(it)).toEqual(['Warning FetchFailed 1']);
        await it.change({ caBundle: base64(it.git.ca ?? '') });
        expect(await it.said('Ready')).toBe('True/Ready');
        expect(await valueIn(it, 'a')).toBe('1');
        it.git.commit({ 'a.yaml': configYaml('a', '2') });
        await it.change({ caBundle: null, insecureSkipTLSVerify: true });
        await it.runs();
        expect(await valueIn(it, 'a')).toBe('2');
      },
    );

  gitScenario('with sub-modules: these are not read, and a warning names them', ONE, async (it) => {
    it.git.commit({ 'a.yaml': configYaml('a', '1') });
    it.git.git('update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},vendor`);
    it.git.git('commit', '--quiet', '-m', 'a sub-module');
    it.git.git('push', '--quiet', it.git.git('rev-parse', '--show-toplevel').replace(/work$/, 'repo.git'), 'HEAD:main');
    await it.follow();
    expect((await it.status()).warnings).toMatchObject([{ file: 'vendor', reason: 'SubmoduleIgnored' }]);
    expect(await it.said('Ready')).toBe('True/Ready');
    expect(await valueIn(it, 'a')).toBe('1');
  });

  gitScenario('report commits and failures as Events, each once', ONE, async (it) => {
    it.git.commit(TWO);
    await it.follow();
    it.git.commit({ 'a/a.yaml': 'a: [\n' });
    await it.runs(10);
    it.git.trouble = 500;
    await it.runs(10);
    expect(await eventsOf(it)).toEqual([
      'Normal GotNewCommit 1',
      'Normal GotNewCommit 1',
      'Warning FetchFailed 1',
      'Warning ManifestInvalid 1',
    ]);
  });
});
