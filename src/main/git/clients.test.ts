// Both clients behave the same: the git program, and the library if there is none. The server is a real one.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { patience } from '../../../scripts/gate/patience.ts';
import { aGitServer, type GitServer } from '../../../test/git-server.ts';
import { anSshServer } from '../../../test/ssh-server.ts';
import type { GitClient, GitSource } from '../../hub/git/repository.ts';
import { type EitherOptions, gitClient } from './git-client.ts';
import { packBytesOf, removeLeftovers } from './repositories.ts';

/** Text that does not compress. */
const noise = (bytes: number): string => randomBytes((bytes * 3) / 4).toString('base64');
const LOGIN = { type: 'basic', username: 'me', password: 's3cr3t-word' } as const;

describe.each([
  ['the git program', undefined],
  ['the library', '/nowhere'],
] as const)('%s', (_name, path) => {
  let server: GitServer;
  let directory: string;
  beforeEach(async () => {
    server = await aGitServer();
    directory = mkdtempSync(join(tmpdir(), 'git-clients-'));
  });
  afterEach(async () => {
    await server[Symbol.asyncDispose]();
    rmSync(directory, { recursive: true, force: true });
  });
  const client = (options: Partial<EitherOptions> = {}): GitClient =>
    gitClient({ directory, ...(path === undefined ? {} : { path }), ...options });
  const source = (more: Partial<GitSource> = {}): GitSource => ({ url: server.url, ...more });
  const never = new AbortController().signal;
  const fetched = (asked: GitSource, known?: string, options?: Partial<EitherOptions>) =>
    client(options).fetch(asked, known, never);
  const failure = (asked: GitSource, options?: Partial<EitherOptions>) =>
    fetched(asked, undefined, options).then(
      () => 'none',
      ({ reason, message }: { reason: string; message: string }) => `${reason}: ${message}`,
    );
  const contents = async (asked: GitSource, commit: string, options?: Partial<EitherOptions>) =>
    (await client(options).files(asked, commit, (name) => name.endsWith('.yaml'), never)).map(
      ({ path: name, kind, text }) => [name, kind, text] as const,
    );

  test('follows branches, tags and commits', { timeout: patience(30_000) }, async () => {
    const first = server.commit({ 'a.yaml': 'a: 1\n', 'b/c.txt': 'x', 'b/d.yaml': 'ü' }, { tag: 'v1' });
    const second = server.commit({ 'a.yaml': 'a: 2\n' });
    const other = server.commit({ 'a.yaml': 'a: 3\n' }, { branch: 'next/one' });
    expect(await fetched(source())).toBe(second);
    expect(await fetched(source({ branch: 'main' }))).toBe(second);
    expect(await fetched(source({ branch: 'next/one' }))).toBe(other);
    expect(await fetched(source({ revision: 'v1' }))).toBe(first);
    expect(await fetched(source({ revision: first }))).toBe(first);
    expect(await contents(source(), first)).toEqual([
      ['a.yaml', 'file', 'a: 1\n'],
      ['b/c.txt', 'file', undefined],
      ['b/d.yaml', 'file', 'ü'],
    ]);
    expect((await contents(source(), other))[0]).toEqual(['a.yaml', 'file', 'a: 3\n']);
  });

  test('asks for the head alone while nothing is new, and follows a push by force', async () => {
    const first = server.commit({ 'a.yaml': 'a: 1\n' });
    const one = client();
    expect(await one.fetch(source(), undefined, never)).toBe(first);
    const before = server.transfers;
    expect(await one.fetch(source(), first, never)).toBe(first);
    expect(server.transfers).toBe(before);
    server.git('commit', '--quiet', '--amend', '-m', 'rewritten');
    const second = server.commit({ 'a.yaml': 'a: 2\n' }, { force: true });
    expect(await one.fetch(source(), first, never)).toBe(second);
    expect(server.transfers).toBeGreaterThan(before);
    expect(await contents(source(), second)).toEqual([['a.yaml', 'file', 'a: 2\n']]);
    // A commit that was force-pushed away can still be read.
    expect(await contents(source(), first)).toEqual([['a.yaml', 'file', 'a: 1\n']]);
  });

  test('reads after a restart without the server, also what the other one fetched', async () => {
    expect(await client().kept(source())).toBeUndefined();
    const commit = server.commit({ 'a.yaml': 'a: 1\n' });
    await fetched(source());
    server.trouble = 503;
    for (const options of [{}, { path: '/nowhere' }, { path: process.env['PATH'] ?? '' }]) {
      expect(await client(options).kept(source())).toBe(commit);
      expect(await contents(source(), commit, options)).toEqual([['a.yaml', 'file', 'a: 1\n']]);
    }
    expect(await client().kept(source({ branch: 'other' }))).toBeUndefined();
    server.trouble = undefined;
    const next = server.commit({ 'b.yaml': 'b: 1\n' });
    for (const options of [{ path: '/nowhere' }, { path: process.env['PATH'] ?? '' }])
      expect(await fetched(source(), commit, options)).toBe(next);
    expect(await contents(source(), next)).toHaveLength(2);
  });

  test('goes on after a process that was killed, and forgets what is not followed any longer', async () => {
    server.commit({ 'a.yaml': 'a: 1\n' });
    await fetched(source());
    const [repository = ''] = readdirSync(directory).map((name) => join(directory, name));
    writeFileSync(join(repository, 'shallow.lock'), '');
    writeFileSync(join(repository, 'objects', 'pack', 'tmp_pack_x'), 'x'.repeat(500_000));
    const limits = { repositoryBytes: 400_000 };
    const sizes: number[] = [];
    for (let round = 0; round < 6; round++) {
      const commit = server.commit({ 'a.bin': noise(150_000), 'a.yaml': `a: ${round}\n` });
      expect(await fetched(source(), undefined, { limits })).toBe(commit);
      expect((await contents(source(), commit))[1]).toEqual(['a.yaml', 'file', `a: ${round}\n`]);
      sizes.push(await packBytesOf(repository));
    }
    expect(Math.max(...sizes)).toBeLessThan(limits.repositoryBytes);
  });

  test('tells links and sub-modules from files, and what is no text from text', async () => {
    server.commit({ 'a.yaml': 'a: 1\n', 'binary.yaml': 'a\0b', 'large.yaml': 'x'.repeat(1024 * 1024 + 1) });
    const id = server.git('rev-parse', 'HEAD:a.yaml');
    const commit = server.git('rev-parse', 'HEAD');
    server.git('update-index', '--add', '--cacheinfo', `120000,${id},link.yaml`);
    server.git('update-index', '--add', '--cacheinfo', `160000,${commit},module.yaml`);
    server.git('commit', '--quiet', '-m', 'others');
    server.git('push', '--quiet', server.bare, 'HEAD:main');
    const head = await fetched(source());
    expect(await contents(source(), head)).toEqual([
      ['a.yaml', 'file', 'a: 1\n'],
      ['binary.yaml', 'file', undefined],
      ['large.yaml', 'file', undefined],
      ['link.yaml', 'link', undefined],
      ['module.yaml', 'module', undefined],
    ]);
  });

  test.each([
    ['a branch that does not exist', { branch: 'nope' }, {}, 'RefNotFound: the repository has no branch "nope"'],
    ['a tag that does not exist', { revision: 'v9' }, {}, 'RefNotFound: the repository has no tag "v9"'],
    ['a commit that does not exist', { revision: 'a'.repeat(40) }, {}, 'FetchFailed: '],
    ['a file URL that is not allowed', { url: 'file:///etc' }, {}, 'ProtocolRefused: '],
    ['a directory that is no repository', { url: 'file:///etc' }, { allowFiles: true }, 'FetchFailed: '],
    ['a host that does not exist', { url: 'http://127.0.0.1:9/x.git' }, {}, 'FetchFailed: '],
    ['texts beyond the limit', {}, { limits: { textBytes: 10 } }, 'none'],
    ['a repository beyond the limit', {}, { limits: { repositoryBytes: 100 } }, 'RepositoryTooLarge: '],
  ] as const)('gives %s up with a reason', async (_it, asked, options, expected) => {
    server.commit({ 'a.yaml': 'a: 1234567890\n', ...('limits' in options ? { 'b.bin': noise(400_000) } : {}) });
    expect((await failure(source(asked), options)).slice(0, expected.length)).toBe(expected);
    if (expected !== 'none') return;
    const commit = await fetched(source(asked), undefined, options);
    await expect(contents(source(asked), commit, options)).rejects.toMatchObject({ reason: 'RepositoryTooLarge' });
  });

  test('gives up a server that never answers, and stops when the hub stops', async () => {
    server.commit({ 'a.yaml': 'a: 1\n' });
    server.trouble = 'silence';
    expect(await failure(source(), { limits: { timeoutMs: 500 } })).toMatch(/^TimedOut: /);
    const stopped = new AbortController();
    const attempt = client().fetch(source(), undefined, stopped.signal);
    stopped.abort();
    await expect(attempt).rejects.toMatchObject({ name: 'AbortError' });
  });

  test('logs in when it is asked to, and never says the password', async () => {
    const commit = server.commit({ 'a.yaml': 'a: 1\n' });
    server.login = 'me:s3cr3t-word';
    expect(await failure(source())).toMatch(/^FetchFailed: /);
    const wrong = { ...LOGIN, password: 's3cr3t-else' };
    const refused = await failure(source({ credentials: wrong }));
    expect(refused).toMatch(/^FetchFailed: .*[Aa]uthentication failed/);
    expect(refused).not.toMatch(/s3cr3t|czNjcjN0/);
    expect(await fetched(source({ credentials: LOGIN }))).toBe(commit);
    expect(readdirSync(directory).filter((name) => name.startsWith('access-'))).toEqual([]);
  });

  test('sends credentials to no other host', async () => {
    const commit = server.commit({ 'a.yaml': 'a: 1\n' });
    await using other = await aGitServer();
    other.redirectTo = server.url;
    expect(await fetched(source({ url: other.url }))).toBe(commit);
    expect(await contents(source({ url: other.url }), commit)).toEqual([['a.yaml', 'file', 'a: 1\n']]);
    expect(await failure(source({ url: other.url, credentials: LOGIN }))).toMatch(/^FetchFailed: /);
    expect(server.requests.length).toBeGreaterThan(0);
    expect(server.authorizations).toEqual([]);
  });

  test('verifies the certificate of a server', { timeout: patience(30_000) }, async () => {
    await using secure = await aGitServer({ tls: ['127.0.0.1'] });
    await using stranger = await aGitServer({ tls: ['127.0.0.1'] });
    await using elsewhere = await aGitServer({ tls: ['git.example.com'] });
    const commit = secure.commit({ 'a.yaml': 'a: 1\n' });
    const other = elsewhere.commit({ 'a.yaml': 'a: 1\n' });
    const { url, ca: caBundle = '' } = secure;
    const hint = 'spec.caBundle must contain the certificate of the authority that signed it';
    const unknown: readonly GitSource[] = [
      { url },
      { url, caBundle: stranger.ca ?? '' },
      { url, caBundle: 'no certificate' },
      { url: elsewhere.url, caBundle },
      { url, caBundle: stranger.ca ?? '', credentials: LOGIN },
    ];
    for (const asked of unknown) {
      const refused = await failure(asked);
      expect(refused).toMatch(/^FetchFailed: .*certificate/);
      expect(refused).toContain(hint);
      // A message that differs with every attempt would cause a status write and an Event each time.
      expect(await failure(asked)).toBe(refused);
    }
    // The CA is trusted, but the certificate is for another host.
    const misnamed = await failure({ url: elsewhere.url, caBundle: elsewhere.ca ?? '' });
    expect(misnamed).toMatch(/^FetchFailed: .*certificate/);
    expect(misnamed).not.toContain(hint);
    expect([...secure.requests, ...elsewhere.requests]).toEqual([]);

    expect(await fetched({ url, caBundle })).toBe(commit);
    expect(await contents({ url, caBundle }, commit)).toEqual([['a.yaml', 'file', 'a: 1\n']]);
    expect(await fetched({ url: elsewhere.url, insecureSkipTLSVerify: true })).toBe(other);
    secure.login = 'me:s3cr3t-word';
    const next = secure.commit({ 'a.yaml': 'a: 2\n' });
    for (const trust of [{ caBundle }, { insecureSkipTLSVerify: true }])
      expect(await fetched({ url, ...trust, credentials: LOGIN }, commit)).toBe(next);
    expect(readdirSync(directory).filter((name) => name.startsWith('access-'))).toEqual([]);
  });

  test('reads a repository of this machine', async () => {
    const commit = server.commit({ 'a.yaml': 'a: 1\n' }, { tag: 'v1' });
    for (const url of [`file://${server.bare}`, `file://${server.work}`]) {
      const local = source({ url });
      expect(await fetched(local, undefined, { allowFiles: true })).toBe(commit);
      expect(await fetched({ ...local, revision: 'v1' }, undefined, { allowFiles: true })).toBe(commit);
      expect(await contents(local, commit)).toEqual([['a.yaml', 'file', 'a: 1\n']]);
      expect(await failure({ ...local, branch: 'nope' }, { allowFiles: true })).toMatch(/^RefNotFound: /);
    }
    const next = server.commit({ 'a.yaml': 'a: 2\n' });
    const local = source({ url: `file://${server.bare}` });
    expect(await fetched(local, commit, { allowFiles: true })).toBe(next);
    rmSync(server.bare, { recursive: true });
    expect(await contents(local, next)).toEqual([['a.yaml', 'file', 'a: 2\n']]);
  });

  test('writes nothing outside of its directory', async () => {
    server.commit({ 'a.yaml': 'a: 1\n' });
    const evil = join(directory, 'x');
    // A tree with an entry that escapes the directory: git itself would not create one.
    const blob = server.git('rev-parse', 'HEAD:a.yaml');
    writeFileSync(evil, Buffer.concat([Buffer.from('100644 ../../../evil.yaml\0'), Buffer.from(blob, 'hex')]));
    const tree = server.git('hash-object', '-t', 'tree', '-w', '--literally', evil);
    const commit = server.git('commit-tree', '-m', 'evil', tree);
    server.git('push', '--quiet', server.bare, `${commit}:refs/heads/main`, '--force');
    const outcome = await fetched(source())
      .then((head) => contents(source(), head))
      .catch(() => []);
    // Either it is refused, or it is treated as a plain name, which the copy for renderers refuses.
    expect(outcome.length).toBeLessThan(2);
    expect(existsSync(join(directory, '..', 'evil.yaml'))).toBe(false);
  });
});

test('a start removes what a killed process left, and repositories that were not read for a month', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'git-clients-'));
  await using server = await aGitServer();
  const commit = server.commit({ 'a.yaml': 'a: 1\n' });
  const old = join(directory, 'a'.repeat(32));
  for (const name of ['access-x', 'render-x', 'a'.repeat(32), 'other']) mkdirSync(join(directory, name));
  const day = 24 * 60 * 60 * 1000;
  const never = new AbortController().signal;
  for (const path of [process.env['PATH'] ?? '', '/nowhere']) {
    const client = gitClient({ directory, path });
    const source = { url: server.url };
    await client.fetch(source, undefined, never);
    const [repository = ''] = readdirSync(directory).filter(
      (name) => /^[0-9a-f]{32}$/.test(name) && !old.endsWith(name),
    );
    const before = new Date(Date.now() - 40 * day);
    for (const each of [old, join(directory, repository)]) if (existsSync(each)) utimesSync(each, before, before);
    // Fetched again, without any change.
    await client.fetch(source, commit, never);
    await removeLeftovers(directory, Date.now());
    expect(readdirSync(directory).sort()).toEqual([repository, 'other'].sort());
  }
  await removeLeftovers(directory, Date.now() + 31 * day);
  expect(readdirSync(directory)).toEqual(['other']);
  rmSync(directory, { recursive: true, force: true });
});

test('ssh uses the key of the Secret, for the hosts of the Secret', { timeout: patience(30_000) }, async () => {
  // A data directory may have such a name.
  const root = mkdtempSync(join(tmpdir(), "git ssh's 100%d "));
  await using server = await aGitServer();
  const ssh = anSshServer({ root, repository: server.bare });
  vi.stubEnv('PATH', ssh.path);
  try {
    const directory = join(root, 'data');
    const client = gitClient({ directory });
    const { signal } = new AbortController();
    const read = (more: Partial<GitSource> = {}, known?: string) =>
      client
        .fetch({ url: ssh.url, credentials: ssh.credentials, ...more }, known, signal)
        .catch(({ reason, message }: { reason: string; message: string }) => `${reason}: ${message}`);
    const first = server.commit({ 'a.yaml': 'a: 1\n' });
    expect(await read()).toBe(first);
    const files = await client.files({ url: ssh.url }, first, () => true, signal);
    expect(files).toMatchObject([{ path: 'a.yaml', text: 'a: 1\n' }]);
    const second = server.commit({ 'a.yaml': 'a: 2\n' });
    expect(await read({}, first)).toBe(second);
    expect(await read({ url: ssh.shortUrl })).toBe(second);

    const { credentials: strange } = anSshServer({ root: join(root, 'stranger'), repository: server.bare });
    const refused = [
      [{ ...ssh.credentials, privateKey: strange.privateKey }, 'Permission denied (publickey)'],
      [{ ...ssh.credentials, knownHosts: strange.knownHosts }, 'Host key verification failed'],
      [{ ...ssh.credentials, privateKey: 'no-key-4716' }, 'Permission denied (publickey)'],
    ] as const;
    for (const [credentials, why] of refused) {
      const failed = await read({ credentials });
      expect(failed).toMatch(/^FetchFailed: /);
      expect(failed).toContain(why);
      expect(await read({ credentials })).toBe(failed);
    }

    const secrets = [ssh.credentials, strange].flatMap(({ privateKey }) =>
      privateKey.split('\n').filter((line) => line.length > 30 && !line.startsWith('---')),
    );
    expect(secrets.length).toBeGreaterThan(5);
    const runs = ssh.runs();
    // Two for each fetch with changes, one for each refused one.
    expect(runs.length).toBe(2 + 2 + 2 + 6);
    for (const { args, env, parents, settings } of runs) {
      for (const secret of [...secrets, 'no-key-4716'])
        expect([args, env, parents].filter((text) => text.includes(secret))).toEqual([]);
      if (existsSync('/proc/self/cmdline')) expect(parents).toMatch(/(^|\s)git .*(ls-remote|fetch)/);
      expect(settings).toMatchObject({
        batchmode: 'yes',
        identitiesonly: 'yes',
        stricthostkeychecking: 'true',
        globalknownhostsfile: '/dev/null',
      });
    }
    expect(readdirSync(directory).filter((name) => name.startsWith('access-'))).toEqual([]);
  } finally {
    vi.unstubAllEnvs();
    rmSync(root, { recursive: true, force: true });
  }
});

test('ssh never uses the keys of the user that the hub runs as', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'git-clients-'));
  for (const url of ['ssh://git@127.0.0.1:9/x.git', 'git@127.0.0.1:x.git'])
    for (const credentials of [{}, { credentials: LOGIN }])
      await expect(
        gitClient({ directory }).fetch({ url, ...credentials }, undefined, new AbortController().signal),
      ).rejects.toMatchObject({ reason: 'SecretInvalid' });
  rmSync(directory, { recursive: true, force: true });
});

test('ssh without the git program is a reason of its own', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'git-clients-'));
  const client = gitClient({ directory, path: '/nowhere' });
  for (const url of ['ssh://git@example.com/x.git', 'git@example.com:x.git'])
    await expect(client.fetch({ url }, undefined, new AbortController().signal)).rejects.toMatchObject({
      reason: 'ProgramMissing',
      message: 'ssh needs the program git, which is not on PATH of the hub',
    });
  rmSync(directory, { recursive: true, force: true });
});

test('the library is loaded by the first repository that is read without the program', () => {
  const script = `
    import { gitClient } from './src/main/git/git-client.ts';
    import { createRequire } from 'node:module';
    const isLoaded = () => Object.keys(createRequire(import.meta.url).cache).some((name) => name.includes('isomorphic-git'));
    const states = [isLoaded()];
    for (const path of [process.env.PATH, '/nowhere']) {
      await gitClient({ directory: '/nowhere/git', path }).kept({ url: 'http://127.0.0.1:9/x' });
      states.push(isLoaded());
    }
    console.log(JSON.stringify(states));`;
  const root = join(import.meta.dirname, '../../..');
  const args = ['--import', 'tsx', '--input-type=module', '--eval', script];
  expect(JSON.parse(execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8' }))).toEqual([
    false,
    false,
    true,
  ]);
});
