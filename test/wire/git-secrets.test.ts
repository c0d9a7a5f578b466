// Credentials for repositories leave no trace: not in the arguments of any process, not in logs, Events, objects or what commands print.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { patience } from '../../scripts/gate/patience.ts';
import { aGitServer, type GitServer } from '../git-server.ts';
import { flotilla, kubectlFor, start } from './fleet.ts';
import { skipsKubectl } from './server.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const PASSWORDS = { good: 'taint-good-4711', wrong: 'taint-wrong-4712', slow: 'taint-slow-4713' };
const CONTENT = `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a, namespace: default }\ndata: { value: "1" }\n`;
/** Also as a URL and as a header would have it. */
const formsOf = (password: string) => [
  password,
  encodeURIComponent(password),
  base64(`me:${password}`),
  base64(password),
];

/** Of this process and all that descend from it: their arguments. */
function argumentsBelow(pid: number): readonly string[] {
  const read = (file: string): string => {
    try {
      return readFileSync(file, 'utf8');
    } catch {
      return '';
    }
  };
  const parents = new Map(
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((name) => [Number(name), Number(read(`/proc/${name}/stat`).split(') ')[1]?.split(' ')[1])] as const),
  );
  const isBelow = (each: number): boolean =>
    each === pid || (parents.has(each) && isBelow(parents.get(each) as number));
  return [...parents.keys()].filter(isBelow).map((each) => read(`/proc/${each}/cmdline`).replaceAll('\0', ' '));
}

describe.skipIf(skipsKubectl || !existsSync('/proc/self/cmdline')).each([
  ['by the git program', process.env['PATH'] ?? ''],
  ['by the library', '/nonexistent'],
])('credentials %s', (way, path) => {
  const home = mkdtempSync(join(tmpdir(), 'flotilla-git-secrets-'));
  const servers: GitServer[] = [];
  const silent = createServer(() => {}).listen(0, '127.0.0.1');
  beforeAll(async () => {
    for (const name of ['good', 'slow'] as const) {
      const server = await aGitServer(name === 'good' ? { tls: ['127.0.0.1'] } : {});
      server.commit({ 'a.yaml': CONTENT });
      server.login = `me:${PASSWORDS[name]}`;
      servers.push(server);
    }
  });
  afterAll(async () => {
    for (const server of servers) await server[Symbol.asyncDispose]();
    silent.close();
    rmSync(home, { recursive: true, force: true });
  });

  test('leave no trace', { timeout: patience(180_000) }, async () => {
    const [good, slow] = servers as [GitServer, GitServer];
    const key = join(home, 'id');
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'taint-key-4714', '-f', key]);
    const lines = readFileSync(key, 'utf8')
      .split('\n')
      .filter((line) => line.length > 30 && !line.startsWith('---'));
    const tainted = [...Object.values(PASSWORDS).flatMap(formsOf), ...lines, 'taint-ca-4715'];
    const data = join(home, 'data');
    const args = ['up', '--members', '1', '--port', '0', '--data-dir', data, '--log-level', 'debug'];
    await using up = start(home, args, { PATH: path });
    await up.says(/ready:/, patience(120_000));
    const kubeconfig = join(data, 'kubeconfig');
    const kubectl = kubectlFor({ kubeconfig }, home);
    const secret = (name: string, fields: Readonly<Record<string, string>>) => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, namespace: 'fleet-system' },
      type: name === 'ssh' ? 'kubernetes.io/ssh-auth' : 'kubernetes.io/basic-auth',
      data: Object.fromEntries(Object.entries(fields).map(([field, text]) => [field, base64(text)])),
    });
    const repo = (name: string, spec: object) => ({
      apiVersion: 'flotilla.dev/v1alpha1',
      kind: 'GitRepo',
      metadata: { name, namespace: 'fleet-system' },
      spec: { pollingInterval: '1s', targets: [{ clusterSelector: {} }], clientSecretName: name, ...spec },
    });
    const { port } = silent.address() as { port: number };
    const items = [
      ...Object.entries(PASSWORDS).map(([name, password]) => secret(name, { username: 'me', password })),
      secret('ssh', { 'ssh-privatekey': readFileSync(key, 'utf8'), known_hosts: 'x ssh-ed25519 AAAA' }),
      secret('ca', { username: 'me', password: PASSWORDS.slow }),
      repo('good', { repo: good.url, caBundle: base64(good.ca ?? '') }),
      repo('wrong', { repo: good.url, insecureSkipTLSVerify: true, paths: ['other'] }),
      repo('slow', { repo: slow.url }),
      repo('ssh', { repo: `ssh://git@127.0.0.1:${port}/x.git` }),
      repo('ca', { repo: `https://127.0.0.1:${port}/x.git`, caBundle: base64('taint-ca-4715') }),
    ];
    // It never answers, and neither do the addresses of ssh and https: processes that read them stay until they are looked at.
    slow.trouble = 'silence';
    await kubectl.ok(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));

    const seen = new Set<string>();
    const reasonOf = async (name: string): Promise<string> => {
      const jsonpath = '{.status.conditions[?(@.type=="GitPolling")].reason}';
      return kubectl.ok(['-n', 'fleet-system', 'get', 'gitrepo', name, '-o', `jsonpath=${jsonpath}`]);
    };
    const look = () => {
      for (const each of argumentsBelow(up.process.pid as number)) seen.add(each);
    };
    await expect
      .poll(
        async () => {
          look();
          return [await reasonOf('good'), await reasonOf('wrong')];
        },
        { timeout: patience(60_000), interval: 20 },
      )
      .toEqual(['Polled', 'FetchFailed']);
    // What was looked at has the processes in question.
    const programs = [...seen].filter((each) => /^(git|ssh|\S*git-remote-http) /.test(each));
    if (way === 'by the git program') {
      expect(programs.some((each) => each.startsWith('ssh '))).toBe(true);
      expect(programs.some((each) => each.includes(slow.url))).toBe(true);
    } else {
      expect(programs).toEqual([]);
      expect(await reasonOf('ssh')).toBe('ProgramMissing');
    }

    const told: string[] = [up.output(), ...seen];
    expect(up.output().length).toBeGreaterThan(1000);
    const kinds =
      'gitrepos,events,clusterresourceplacements,clusterresourcesnapshots,clusterresourcebindings,works,configmaps';
    told.push(await kubectl.ok(['get', kinds, '-A', '-o', 'json']));
    told.push(await kubectl.ok(['--context', 'member-1', 'get', 'configmaps,events,secrets', '-A', '-o', 'json']));
    for (const command of ['status', 'why'])
      for (const name of ['good', 'wrong', 'ssh']) {
        const { stdout, stderr } = await flotilla(home, [command, `gitrepo/${name}`], { KUBECONFIG: kubeconfig });
        told.push(stdout, stderr);
      }
    // The objects with the credentials themselves are stored; what is kept of the repositories has none.
    told.push(
      ...filesBelow(join(data, 'git'))
        .filter((file) => !/\/access-/.test(file))
        .map((file) => readFileSync(file, 'latin1')),
    );
    const text = told.join('\n').replaceAll(base64('taint-ca-4715'), '');
    for (const word of tainted) expect(text.includes(word), word).toBe(false);
    expect(await up.stop()).toBe(0);
    // Keys and passwords in files end with the process that had them.
    expect(readdirSync(join(data, 'git')).filter((name) => name.startsWith('access-'))).toEqual([]);
  });
});

const filesBelow = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((file) => statSync(file).isFile());
