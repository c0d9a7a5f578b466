// The program's own commands on a machine without kubectl: they find a server by its kubeconfig, do what is asked, and say what is wrong in one
// sentence.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hubKinds, memberKinds } from '../../src/api/kinds.ts';
import { parseYamlDocuments } from '../../src/base/yaml.ts';
import { call } from './https.ts';
import { program, type Result, run, type Server, startServer } from './server.ts';

const placement = (name: string, clusters: number) => `
apiVersion: placement.kubernetes-fleet.io/v1
kind: ClusterResourcePlacement
metadata: {name: ${name}, labels: {suite: cli}}
spec:
  resourceSelectors: [{group: "", version: v1, kind: Namespace, name: shop}]
  policy: {placementType: PickN, numberOfClusters: ${clusters}}
`;
const configMap = (name: string, namespace = 'default') => `
apiVersion: v1
kind: ConfigMap
metadata: {name: ${name}, namespace: ${namespace}, labels: {suite: cli}}
data: {a: "1", "on": "yes"}
`;

describe('flotilla', () => {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-cli-'));
  const home = join(folder, 'home');
  let server: Server;

  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  /** Without PATH: nothing but the program itself can help. */
  const start = (
    which: string,
    args: readonly string[],
    more: { readonly env?: NodeJS.ProcessEnv; readonly input?: string } = {},
  ): Promise<Result> =>
    run(process.execPath, [which, ...args], {
      env: { PATH: '/nonexistent', HOME: home, KUBECONFIG: server.kubeconfig, ...more.env },
      ...(more.input === undefined ? {} : { input: more.input }),
    });
  const flotilla = (
    args: readonly string[],
    more: { readonly env?: NodeJS.ProcessEnv; readonly input?: string } = {},
  ) => start(program, args, more);
  const ok = async (args: readonly string[], input?: string): Promise<string> => {
    const { code, stdout, stderr } = await flotilla(args, input === undefined ? {} : { input });
    expect({ code, stderr }, args.join(' ')).toEqual({ code: 0, stderr: '' });
    return stdout;
  };

  beforeAll(async () => {
    mkdirSync(home);
    server = await startServer();
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  test('has --help and --version', async () => {
    const help = await start(program, ['--help']);
    expect(help).toMatchObject({ code: 0, stderr: '' });
    for (const command of ['apiserver', 'apply', 'crds', 'delete', 'describe', 'get', 'status', 'rollback'])
      expect(help.stdout).toMatch(new RegExp(`^  ${command} `, 'm'));
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
      version: string;
    };
    expect(await start(program, ['--version'])).toMatchObject({ code: 0, stdout: `${version}\n` });
    expect((await start(program, ['get', '--help'])).stdout).toContain('--all-namespaces');
    expect(await start(program, ['get', 'crds'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('CREATED AT'),
    });
  });

  test('as a kubectl plugin offers what kubectl does not have', async () => {
    const plugin = join(dirname(program), 'kubectl-fleet.js');
    const help = await start(plugin, ['--help']);
    expect(help).toMatchObject({ code: 0, stderr: '' });
    for (const command of ['status', 'why', 'history', 'rollback', 'run', 'approve', 'reject'])
      expect(help.stdout).toMatch(new RegExp(`^  ${command} `, 'm'));
    for (const command of ['up', 'apply', 'get', 'delete'])
      expect(help.stdout).not.toMatch(new RegExp(`^  ${command} `, 'm'));
  });

  test('prints the CRDs of all kinds, and a server takes them', async () => {
    const text = await ok(['crds']);
    const names = parseYamlDocuments(text).map((crd) => (crd as { metadata: { name: string } }).metadata.name);
    expect(names).toEqual([...hubKinds, ...memberKinds].map((kind) => `${kind.plural}.${kind.group}`));
    expect((await ok(['apply', '-f', '-', '--dry-run'], text)).trim().split('\n')).toHaveLength(names.length);
  });

  test('applies, re-applies, changes, shows, describes and deletes', async () => {
    // A selector that matches nothing is answered with a warning.
    await ok(['apply', '-f', '-'], 'apiVersion: v1\nkind: Namespace\nmetadata:\n  name: shop\n');
    const one = file('one.yaml', `${placement('one', 2)}---\n${configMap('one')}`);
    expect(await ok(['apply', '-f', one, '--dry-run'])).toBe(
      'clusterresourceplacement.placement.kubernetes-fleet.io/one created (dry run)\nconfigmap/one created (dry run)\n',
    );
    expect(await ok(['apply', '-f', one])).toMatch(
      /^clusterresourceplacement.*\/one created\nconfigmap\/one created\n$/,
    );
    expect(await ok(['apply', '-f', one])).toMatch(/^(.* unchanged\n){2}$/);
    file('one.yaml', `${placement('one', 3)}---\n${configMap('one')}`);
    expect(await ok(['apply', '-f', one])).toMatch(/\/one configured\nconfigmap\/one unchanged\n$/);

    const table = await ok(['get', 'crp']);
    expect(table).toMatch(/^NAME +GEN +SCHEDULED +/);
    expect(table).toMatch(/^one +2 +\d+s$/m);
    expect(await ok(['get', 'clusterresourceplacements.placement.kubernetes-fleet.io', 'one', '-o', 'wide'])).toContain(
      'one',
    );
    expect(await ok(['get', 'crp', '-o', 'name'])).toBe('clusterresourceplacement.placement.kubernetes-fleet.io/one\n');
    expect(JSON.parse(await ok(['get', 'cm', 'one', '-o', 'json']))).toMatchObject({
      kind: 'ConfigMap',
      data: { a: '1', on: 'yes' },
    });
    expect(await ok(['get', 'cm', 'one', '-o', 'yaml'])).toMatch(/^ {2}"on": "yes"$/m);
    expect(await ok(['get', 'cm', '-A', '-l', 'suite=cli'])).toMatch(
      /^NAMESPACE +NAME +DATA +AGE\ndefault +one +2 +\d+s\n$/,
    );
    expect(await ok(['get', 'cm', '-n', 'default', '--field-selector', 'metadata.name=one', '-o', 'name'])).toBe(
      'configmap/one\n',
    );

    const described = await ok(['describe', 'crp', 'one']);
    expect(described).toMatch(/^Name: +one$/m);
    expect(described).toMatch(/numberOfClusters: 3/);
    expect(described).toMatch(/^Events: +<none>$/m);

    expect(await ok(['delete', '-f', one])).toBe(
      'configmap/one deleted\nclusterresourceplacement.placement.kubernetes-fleet.io/one deleted\n',
    );
    expect(await flotilla(['get', 'crp', 'one'])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'error: clusterresourceplacements.placement.kubernetes-fleet.io "one" not found\n',
    });
    expect(await flotilla(['get', 'crp'])).toMatchObject({ code: 0, stdout: '' });
  });

  test('shows events of what it describes', async () => {
    await ok(['apply', '-f', '-'], configMap('eventful'));
    const { uid } = (JSON.parse(await ok(['get', 'cm', 'eventful', '-o', 'json'])) as { metadata: { uid: string } })
      .metadata;
    const event = {
      metadata: { name: 'e' },
      involvedObject: { kind: 'ConfigMap', name: 'eventful', namespace: 'default', uid },
      reason: 'Seen',
      message: 'somebody looked',
      type: 'Normal',
    };
    expect(
      (await call(server.kubeconfig, 'POST', '/api/v1/namespaces/default/events', { body: JSON.stringify(event) }))
        .code,
    ).toBe(201);
    expect(await ok(['describe', 'cm', 'eventful'])).toMatch(/Events:\n.*\n.*Normal +Seen +somebody looked/);
  });

  test('applies folders, and goes on after what is refused', async () => {
    mkdirSync(join(folder, 'many'));
    file('many/a.yaml', configMap('many-a'));
    file('many/b.json', JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'Bad_Name' } }));
    file('many/c.yaml', configMap('many-c'));
    const outcome = await flotilla(['apply', '-f', join(folder, 'many')]);
    expect(outcome).toMatchObject({ code: 1, stdout: 'configmap/many-a created\nconfigmap/many-c created\n' });
    expect(outcome.stderr).toMatch(/^error: .*b\.json.*ConfigMap "Bad_Name" is invalid: metadata\.name.*\n$/);
    expect(await flotilla(['delete', 'cm', 'many-a', 'absent', 'many-c'])).toMatchObject({
      code: 1,
      stdout: 'configmap/many-a deleted\nconfigmap/many-c deleted\n',
      stderr: 'error: configmaps "absent" not found\n',
    });
  });

  test('says what still holds an object that it deletes', async () => {
    await ok(['apply', '-f', '-'], configMap('held').replace('labels:', 'finalizers: [example.com/hold], labels:'));
    expect(await ok(['delete', 'cm', 'held'])).toBe('configmap/held is being deleted (held by example.com/hold)\n');
  });

  test('shares objects with kubectl apply', async () => {
    await ok(['apply', '-f', '-'], configMap('shared'));
    const { json } = await call(server.kubeconfig, 'GET', '/api/v1/namespaces/default/configmaps/shared');
    const { annotations } = json!['metadata'] as { annotations: Record<string, string> };
    expect(JSON.parse(annotations['kubectl.kubernetes.io/last-applied-configuration'] ?? '')).toMatchObject({
      data: { a: '1' },
    });
  });

  describe('says in one sentence', () => {
    const config = (name: string, text: string) => ['--kubeconfig', file(name, text)];
    const good = () => readFileSync(server.kubeconfig, 'utf8');

    test.each<{ it: string; args: () => readonly string[]; says: RegExp; env?: NodeJS.ProcessEnv }>([
      {
        it: 'that there is no kubeconfig',
        args: () => ['get', 'cm'],
        env: { KUBECONFIG: undefined },
        says: /kubeconfig/,
      },
      {
        it: 'that the kubeconfig is absent',
        args: () => ['get', 'cm', '--kubeconfig', '/absent'],
        says: /\/absent.*ENOENT|no such file.*\/absent|\/absent/,
      },
      {
        it: 'that the kubeconfig is no YAML',
        args: () => ['get', 'cm', ...config('bad-1', 'a: [')],
        says: /kubeconfig.*YAML/,
      },
      { it: 'that the kubeconfig is empty', args: () => ['get', 'cm', ...config('bad-2', '')], says: /kubeconfig/ },
      { it: 'that a context is unknown', args: () => ['get', 'cm', '--context', 'other'], says: /"other"/ },
      {
        it: 'that the server is down',
        args: () => ['get', 'cm', ...config('bad-3', good().replace(/127\.0\.0\.1:\d+/, '127.0.0.1:1'))],
        says: /127\.0\.0\.1:1\b.*ECONNREFUSED|ECONNREFUSED/,
      },
      {
        it: 'that the server is another',
        args: () => ['get', 'cm', ...config('bad-4', good().replace(/certificate-authority-data: \S+/, ''))],
        says: /certificate/,
      },
      { it: 'that the kind is unknown', args: () => ['get', 'nothings'], says: /nothings/ },
      {
        it: 'that the kind of a manifest is unknown',
        args: () => ['apply', '-f', file('k.yaml', 'apiVersion: v1\nkind: Nothing\nmetadata: {name: x}\n')],
        says: /Nothing/,
      },
      { it: 'that a file is absent', args: () => ['apply', '-f', '/absent.yaml'], says: /\/absent\.yaml/ },
      { it: 'that a file is no YAML', args: () => ['apply', '-f', file('n.yaml', 'a: [')], says: /n\.yaml/ },
      {
        it: 'that a file holds no object',
        args: () => ['apply', '-f', file('o.yaml', 'just text\n')],
        says: /o\.yaml/,
      },
      { it: 'that a file is empty', args: () => ['apply', '-f', file('e.yaml', '')], says: /no objects/ },
      {
        it: 'that an object has no name',
        args: () => ['apply', '-f', file('u.yaml', 'apiVersion: v1\nkind: ConfigMap\n')],
        says: /metadata/,
      },
      {
        it: 'that an output form is unknown',
        args: () => ['get', 'cm', '-o', 'xml'],
        says: /"xml".*wide, yaml, json or name/,
      },
      { it: 'that nothing is named to delete', args: () => ['delete', 'cm'], says: /specify what to delete/ },
      { it: 'that a command is unknown', args: () => ['fly'], says: /unknown command 'fly'/ },
      { it: 'that a flag is unknown', args: () => ['get', 'cm', '--fly'], says: /unknown option '--fly'/ },
      {
        it: 'that an object is refused',
        args: () => ['apply', '-f', file('r.yaml', placement('refused', -1))],
        says: /r\.yaml.*numberOfClusters/,
      },
      {
        it: 'that a namespace is absent',
        args: () => ['apply', '-f', file('ns.yaml', configMap('x', 'absent'))],
        says: /namespaces "absent" not found/,
      },
    ])('$it', async ({ args, says, env }) => {
      const { code, stdout, stderr } = await flotilla(args(), env ? { env } : {});
      expect(stderr).toMatch(/^error: [^\n]*\n(\(see --help\)\n)?$/);
      expect(stderr).toMatch(says);
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    });
  });

  test('does not mind a reader that goes away', async () => {
    const outcome = await run('/bin/sh', ['-c', `'${process.execPath}' '${program}' crds | head -1`]);
    expect(outcome).toMatchObject({ code: 0, stdout: '---\n', stderr: '' });
  });
});
