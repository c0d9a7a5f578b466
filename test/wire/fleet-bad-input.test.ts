// What cannot work is refused in one clear sentence, with an exit code, and nothing is changed by having tried.
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server as TcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { patience, slowness } from '../../scripts/gate/patience.ts';
import { DAY_MS, issueClientCertificate } from '../../src/apiserver/auth/certificates.ts';
import { systemRandom } from '../../src/base/random.ts';
import { flotilla, type Kubectl, kubectlFor, start } from './fleet.ts';
import { type Server, skipsKubectl, startServer } from './server.ts';

const folder = mkdtempSync(join(tmpdir(), 'flotilla-bad-'));
const path = (name: string): string => join(folder, name);
const write = (name: string, text: string): string => {
  writeFileSync(path(name), text);
  return path(name);
};
const TOO_LONG = 'a'.repeat(51);
const fleetFile = (text: string) => [
  'up',
  '--port',
  '0',
  '--data-dir',
  path('untouched'),
  '--fleet',
  write(`${text.length}.yaml`, text),
];

interface Row {
  readonly it: string;
  args(): readonly string[];
  readonly says: RegExp;
}

describe.skipIf(skipsKubectl)('one sentence and an exit code', () => {
  let fleet: Server;
  let kubectl: Kubectl;
  let taken: TcpServer;
  const good = () => readFileSync(fleet.kubeconfig, 'utf8');
  /** A kubeconfig like the good one, changed. */
  const config = (name: string, change: (text: string) => string) => write(`${name}.kubeconfig`, change(good()));
  const withUser = (user: object) => (text: string) =>
    text.replace(/users:[\s\S]*?(?=\n\w)/, `users:\n  - name: admin\n    user: ${JSON.stringify(user)}`);
  const down = () => config('down', (text) => text.replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:1'));
  const wrong = () => config('wrong', withUser({ token: 'wrong' }));
  const expired = () => {
    const pki = (name: string) => readFileSync(join(fleet.folder, 'data', 'pki', name), 'utf8');
    const authority = { certificate: pki('ca.crt'), privateKey: pki('ca.key') };
    const long = { now: Date.now() - 2 * DAY_MS, random: systemRandom, lifetimeMs: DAY_MS };
    const { certificate, privateKey } = issueClientCertificate(authority, {
      ...long,
      user: 'admin',
      groups: ['system:masters'],
    });
    const base64 = (text: string) => Buffer.from(text).toString('base64');
    return config(
      'expired',
      withUser({ 'client-certificate-data': base64(certificate), 'client-key-data': base64(privateKey) }),
    );
  };
  /** As the agent had it, until it was let go. */
  let revoked = '';

  const state = async () => {
    const all = ['memberclusters,internalmemberclusters,namespaces,serviceaccounts,secrets', '-A'];
    const shape =
      'jsonpath={range .items[*]}{.kind} {.metadata.namespace}/{.metadata.name} {.metadata.uid}{"\\n"}{end}';
    return (await kubectl.ok(['--context', 'hub', 'get', ...all, '-o', shape])).trim().split('\n').toSorted();
  };

  beforeAll(async () => {
    mkdirSync(path('home'));
    const listening = new Promise<TcpServer>((resolve) => {
      const server = createServer().listen(0, '127.0.0.1', () => resolve(server));
    });
    [fleet, taken] = await Promise.all([startServer({ command: 'up', args: ['--members', '1'] }), listening]);
    kubectl = kubectlFor(fleet, path('home'));
    const revokedFile = path('revoked.kubeconfig');
    const joined = await flotilla(path('home'), [
      'join',
      'revoked',
      '--long-lived-token',
      '--kubeconfig',
      fleet.kubeconfig,
      '-o',
      revokedFile,
    ]);
    expect(joined).toMatchObject({ code: 0, stderr: '' });
    revoked = revokedFile;
    await kubectl.ok(['delete', 'secret', 'revoked-hub-cluster-access-token', '-n', 'fleet-system']);
    write('notes.txt', 'not a kubeconfig\n');
  });
  afterAll(async () => {
    taken?.close();
    await fleet?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  const atHub = () => ['--kubeconfig', fleet.kubeconfig];
  const healthAtTaken = () => ['--health-port', String((taken.address() as { port: number }).port)];
  const joins = (...args: readonly string[]) => ['join', ...args, ...atHub()];
  const agentOf = (name: string, hub: string, own = fleet.kubeconfig) => [
    'member',
    '--name',
    name,
    '--hub-kubeconfig',
    hub,
    '--kubeconfig',
    own,
    '--context',
    'member-1',
  ];

  const rows: readonly Row[] = [
    // Names
    { it: 'a name that is too long to join', args: () => joins(TOO_LONG), says: /at most 50 characters/ },
    { it: 'a name with a dot to join', args: () => joins('a.b'), says: /no dots/ },
    { it: 'a name in capitals to join', args: () => joins('Upper'), says: /lower case letters, digits/ },
    {
      it: 'an agent with a name that is too long',
      args: () => agentOf(TOO_LONG, fleet.kubeconfig),
      says: /at most 50/,
    },
    { it: 'an agent with a name with a dot', args: () => agentOf('a.b', fleet.kubeconfig), says: /no dots/ },
    // Kubeconfigs
    {
      it: 'a missing kubeconfig to join',
      args: () => ['join', 'x', '--kubeconfig', path('none')],
      says: /cannot read the kubeconfig .*none/,
    },
    { it: 'no kubeconfig at all', args: () => ['join', 'x'], says: /cannot read the kubeconfig .*\.kube\/config/ },
    {
      it: 'a missing kubeconfig for the hub',
      args: () => ['hub', '--kubeconfig', path('none')],
      says: /cannot read the kubeconfig .*none/,
    },
    {
      it: "an agent whose hub's kubeconfig is missing",
      args: () => agentOf('x', path('none')),
      says: /cannot read the kubeconfig .*none/,
    },
    {
      it: "an agent whose member's kubeconfig is missing",
      args: () => agentOf('x', fleet.kubeconfig, path('none')),
      says: /cannot read the kubeconfig .*none/,
    },
    { it: 'a context that is not there', args: () => [...joins('x'), '--context', 'nope'], says: /no context "nope"/ },
    // Credentials
    {
      it: 'a wrong token to join',
      args: () => ['join', 'x', '--kubeconfig', wrong()],
      says: /does not accept the credentials in .*wrong\.kubeconfig.*wrong, or have expired/,
    },
    {
      it: 'a wrong token for the hub',
      args: () => ['hub', '--kubeconfig', wrong()],
      says: /does not accept the credentials/,
    },
    {
      it: 'an agent with a wrong token',
      args: () => agentOf('member-1', wrong()),
      says: /does not accept the credentials/,
    },
    { it: 'a certificate that has expired', args: () => ['join', 'x', '--kubeconfig', expired()], says: /expired/ },
    { it: 'an agent with a certificate that has expired', args: () => agentOf('member-1', expired()), says: /expired/ },
    {
      it: 'an agent whose token was taken back',
      args: () => agentOf('revoked', revoked),
      says: /does not accept the credentials/,
    },
    // Servers
    {
      it: 'a hub that is down, to join',
      args: () => ['join', 'x', '--kubeconfig', down()],
      says: /https:\/\/127\.0\.0\.1:1 does not answer: .*ECONNREFUSED/,
    },
    {
      it: 'a hub that is down, for its controllers',
      args: () => ['hub', '--kubeconfig', down()],
      says: /does not answer/,
    },
    { it: 'an agent whose hub is down', args: () => agentOf('member-1', down()), says: /hub.*does not answer/ },
    {
      it: 'an agent whose member is down',
      args: () => agentOf('member-1', fleet.kubeconfig, down()),
      says: /member.*does not answer/,
    },
    {
      it: 'a server that is no hub',
      args: () => [...joins('x'), '--context', 'member-1'],
      says: /MemberCluster.*is this the hub\?.*flotilla crds/,
    },
    // What join is given besides
    { it: 'labels that are none', args: () => joins('x', '-l', 'bad'), says: /labels are key=value/ },
    { it: 'a label that no server takes', args: () => joins('x', '-l', 'a=b c'), says: /metadata\.labels/ },
    {
      it: 'a heartbeat that is too slow',
      args: () => joins('x', '--heartbeat-period-seconds', '601'),
      says: /from 1 to 600/,
    },
    {
      it: 'a file that cannot be made',
      args: () => joins('x', '-o', path('no/such/folder')),
      says: /cannot write .*no\/such\/folder/,
    },
    {
      it: 'a file that is something else',
      args: () => joins('x', '-o', path('notes.txt')),
      says: /notes\.txt is there already/,
    },
    {
      it: "a kubeconfig that is not an agent's",
      args: () => joins('x', '-o', fleet.kubeconfig),
      says: /is there already/,
    },
    // up
    {
      it: 'a port in use',
      args: () => [
        'up',
        '--in-memory',
        '--data-dir',
        path('untouched'),
        '--port',
        String((taken.address() as { port: number }).port),
      ],
      says: /port \d+ on 127\.0\.0\.1 is in use.*--port/,
    },
    {
      it: 'a health port in use, for a fleet',
      args: () => ['up', '--in-memory', '--data-dir', path('untouched'), '--port', '0', ...healthAtTaken()],
      says: /cannot serve health on port \d+.*--health-port/,
    },
    {
      it: 'a health port in use, for an agent',
      args: () => [...agentOf('member-1', fleet.kubeconfig), ...healthAtTaken()],
      says: /cannot serve health on port \d+.*--health-port/,
    },
    {
      it: 'a health port in use, for the controllers of a hub',
      args: () => ['hub', ...atHub(), ...healthAtTaken()],
      says: /cannot serve health on port \d+.*--health-port/,
    },
    {
      it: 'a data directory in use',
      args: () => ['up', '--port', '0', '--data-dir', join(fleet.folder, 'data')],
      says: /data directory .* is in use by process \d+.*--data-dir/,
    },
    {
      it: 'a fleet that nobody knows',
      args: () => ['up', '--port', '0', '--data-dir', path('untouched'), '--fleet', 'nope'],
      says: /"nope" is neither a file .*seed-003/,
    },
    { it: 'no members', args: () => ['up', '--members', '0'], says: /a whole number from 1/ },
    {
      it: 'a fleet and a number of members',
      args: () => ['up', '--members', '3', '--fleet', 'seed-003'],
      says: /not both/,
    },
    // Fleet files
    {
      it: 'a fleet file with a wrong field',
      args: () => fleetFile('members:\n- name: a\n  nodez: 3\n'),
      says: /:3: unknown field "nodez"/,
    },
    {
      it: 'a fleet file with a wrong name',
      args: () => fleetFile('members:\n- name: ok\n- name: a.b\n'),
      says: /:3: name/,
    },
    {
      it: 'a fleet file with a wrong number',
      args: () => fleetFile('members:\n- name: ok\n  nodes: many\n'),
      says: /:3: nodes is a whole number/,
    },
    {
      it: 'a fleet file with two of one name',
      args: () => fleetFile('members:\n- name: one\n- name: one\n'),
      says: /:3: two members are named "one"/,
    },
    { it: 'a fleet file that is no YAML', args: () => fleetFile('members:\n- name: [\n'), says: /\.yaml:\d: / },
    {
      it: 'a fleet file with a member that is called like the hub',
      args: () => fleetFile('members:\n- name: hub\n'),
      says: /:2: .*hub/,
    },
  ];

  // Dozens of processes: on a machine that is shared they take their time.
  test('each row of them', { timeout: patience(300_000) }, async () => {
    const before = await state();
    const failures: string[] = [];
    const next = rows.values();
    const work = async () => {
      for (const { it, args, says } of next) {
        const run = start(path('home'), args());
        const code = await run.ends(30_000).catch(() => 'runs on' as const);
        await run[Symbol.asyncDispose]();
        const [first = '', ...more] = run.output().trimEnd().split('\n');
        // Commander adds where help is.
        const isAlone = more.every((line) => line === '(see --help)');
        if (code === 1 && first.startsWith('error: ') && says.test(first) && isAlone) continue;
        failures.push(`${it}: exit code ${code}, ${run.output()}`);
      }
    };
    await Promise.all([work(), work(), work()]);
    expect(failures).toEqual([]);
    expect(await state()).toEqual(before);
    expect(existsSync(path('untouched/fleet.json'))).toBe(false);
    expect(existsSync(path('untouched/in-memory.kubeconfig'))).toBe(false);
    expect(readFileSync(path('notes.txt'), 'utf8')).toBe('not a kubeconfig\n');
    expect(await kubectl.ok(['get', 'memberclusters', 'member-1', '--no-headers'])).toMatch(/^member-1 +True /);
  });

  test('a name that another identity has', async () => {
    const other = { kind: 'User', name: 'somebody', apiGroup: 'rbac.authorization.k8s.io' };
    const object = {
      apiVersion: 'cluster.kubernetes-fleet.io/v1',
      kind: 'MemberCluster',
      metadata: { name: 'held' },
      spec: { identity: other },
    };
    await kubectl.ok(['create', '-f', '-'], JSON.stringify(object));
    const before = await state();
    const refused = await flotilla(path('home'), [...joins('held'), '-o', path('held.kubeconfig')]);
    expect(refused).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^error: .*"held" with another identity.*"somebody".*\n$/),
    });
    expect(existsSync(path('held.kubeconfig'))).toBe(false);
    expect((await state()).filter((line) => !line.includes('held'))).toEqual(
      before.filter((line) => !line.includes('held')),
    );
  });

  test('MemberClusters with names that cannot be are refused by the hub itself', async () => {
    for (const name of [TOO_LONG, 'a.b']) {
      const object = {
        apiVersion: 'cluster.kubernetes-fleet.io/v1',
        kind: 'MemberCluster',
        metadata: { name },
        spec: { identity: { kind: 'ServiceAccount', name: 'x', namespace: 'fleet-system' } },
      };
      const refused = await kubectl.try(['create', '-f', '-'], JSON.stringify(object));
      expect(refused).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('metadata.name may have at most 50 characters and no dots'),
      });
    }
  });

  test('a kubeconfig of an agent that others could read is closed to them when it is written again', async () => {
    const file = path('open.kubeconfig');
    const args = ['join', 'open', ...atHub(), '-o', file];
    expect((await flotilla(path('home'), args)).code).toBe(0);
    chmodSync(file, 0o644);
    expect((await flotilla(path('home'), args)).code).toBe(0);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test('two agents with one name: both go on, and the member says so', async () => {
    const file = path('twin.kubeconfig');
    const joined = await flotilla(path('home'), [...joins('twin'), '--heartbeat-period-seconds', '3', '-o', file]);
    expect(joined).toMatchObject({ code: 0, stderr: '' });
    await using first = start(path('home'), agentOf('twin', file));
    await kubectl.ok(['wait', '--for=condition=Joined', 'membercluster/twin', '--timeout=30s']);
    const internal = ['internalmembercluster/twin', '-n', 'fleet-member-twin'];
    const isNoticed = async () => {
      await using second = start(path('home'), agentOf('twin', file));
      const noticed = await kubectl.try(['wait', '--for=condition=SoleAgent=False', ...internal, '--timeout=10s']);
      expect([await second.stop(), first.process.exitCode]).toEqual([0, null]);
      return noticed.code === 0;
    };
    // Heartbeats are stamped with seconds: two agents that beat in the same ones are not seen until they drift apart. A new one beats at another time.
    for (let tries = 0; !(await isNoticed()); tries++) expect(tries).toBeLessThan(5 * slowness());
    const told = await kubectl.ok(['get', 'events', '-n', 'fleet-member-twin', '--field-selector', 'type=Warning']);
    expect(told).toMatch(/AnotherAgentReports .*two agents run under this name; stop one of them/);
  });
});
