// The apply strategies, drift, take-over and abandonment of seed 003 §3, tried with kubectl and the commands: on our own servers and on
// Kubernetes' own, word for word. One fleet for all; each test has a namespace of its own and one member.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { builtinObjects } from '../judge/scripts/builtin-kinds.ts';
import type { Fleet, StartFleet } from './delivery.ts';
import { flotilla } from './fleet.ts';
import { kubectlPath, run } from './server.ts';

interface Lists {
  readonly driftedPlacements?: readonly { readonly observedDrifts?: readonly Detail[] }[];
  readonly diffedPlacements?: readonly { readonly kind: string; readonly observedDiffs?: readonly Detail[] }[];
}

interface Detail {
  readonly path: string;
  readonly valueInHub?: string;
  readonly valueInMember?: string;
}

const config = (namespace: string, data: Readonly<Record<string, string>>) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'app', namespace },
  data,
});

const space = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });

const placement = (name: string, member: string, strategy: object) => ({
  apiVersion: 'placement.kubernetes-fleet.io/v1',
  kind: 'ClusterResourcePlacement',
  metadata: { name },
  spec: {
    resourceSelectors: [{ group: '', version: 'v1', kind: 'Namespace', name }],
    policy: { placementType: 'PickFixed', clusterNames: [member] },
    strategy,
  },
});

/** Kinds whose objects nobody but their author changes, status aside. */
const ALIKE = (
  'ConfigMap Secret ServiceAccount Service Deployment StatefulSet DaemonSet CronJob Ingress ' +
  'Role RoleBinding NetworkPolicy PodDisruptionBudget HorizontalPodAutoscaler'
).split(' ');

/** A kind of the user's with a list of each type. Of `plain` nothing is known, so it is replaced as a whole. */
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'alikes.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'alikes', singular: 'alike', kind: 'Alike', listKind: 'AlikeList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  plain: { type: 'array', items: entry() },
                  atomic: { type: 'array', 'x-kubernetes-list-type': 'atomic', items: entry() },
                  set: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
                  map: {
                    type: 'array',
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['name'],
                    items: { ...entry(), required: ['name'] },
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
};

function entry(): object {
  const size = { type: 'integer', default: 1 };
  return { type: 'object', properties: { name: { type: 'string' }, size, color: { type: 'string' } } };
}

const alike = (namespace: string): KubeObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Alike',
  metadata: { name: 'alike', namespace },
});

/** Cluster-scoped, so its name is the namespace's. */
const clusterRole = (name: string): KubeObject => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name },
  rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
});

const objectsIn = (namespace: string): readonly KubeObject[] => [
  ...builtinsIn(namespace),
  alike(namespace),
  clusterRole(namespace),
];

const builtinsIn = (namespace: string): readonly KubeObject[] =>
  (builtinObjects(namespace, 'alike-') as unknown as readonly KubeObject[])
    .filter(({ kind, metadata }) => ALIKE.includes(kind) && metadata.namespace !== undefined)
    .map((each) => (each.kind === 'RoleBinding' ? withApiGroup(each) : each));

/** API servers fill it in, but their schema requires it, and kubectl validates by that. */
const withApiGroup = (binding: KubeObject): KubeObject => ({
  ...binding,
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', ...(binding['roleRef'] as object) },
});

/** What each kind has besides at first, as merge patches, and what it changes to: fields, list entries and whole maps are added, changed and dropped. */
const MARKS = {
  first: { labels: { tier: 'a', old: 'x' }, annotations: { 'example.com/note': '1' } },
  next: { labels: { tier: 'b' } },
};

const container = (image: string, env: readonly object[], cpu: string) => ({
  name: 'c',
  image,
  env,
  ports: [{ containerPort: 80 }],
  resources: { requests: { cpu } },
});

const FIRST: Readonly<Record<string, object>> = {
  Alike: {
    plain: [{ name: 'a' }, { name: 'b', color: 'red' }],
    atomic: [{ name: 'a' }, { name: 'b', color: 'red' }],
    set: ['a', 'b'],
    map: [{ name: 'a', color: 'red' }, { name: 'b' }],
  },
  Deployment: {
    replicas: 2,
    template: {
      metadata: { labels: { a: 'b' } },
      spec: {
        containers: [
          container(
            'nginx:1.27',
            [
              { name: 'A', value: '1' },
              { name: 'B', value: '2' },
            ],
            '100m',
          ),
          { name: 'side', image: 'nginx' },
        ],
        tolerations: [{ key: 'old', operator: 'Exists' }],
      },
    },
  },
};

const NEXT: Readonly<Record<string, object>> = {
  Alike: {
    plain: [{ name: 'b', size: 3 }],
    atomic: [{ name: 'b', size: 3 }, { name: 'c' }],
    set: ['b', 'c'],
    map: [{ name: 'b', size: 2 }, { name: 'c' }],
  },
  Deployment: {
    template: {
      metadata: { labels: { a: 'b' } },
      spec: { containers: [container('nginx:1.28', [{ name: 'B', value: '3' }], '0.2')] },
    },
  },
  Service: {
    ports: [
      { name: 'http', port: 80 },
      { name: 'https', port: 443 },
    ],
    selector: { c: 'd' },
  },
  CronJob: { schedule: '0 * * * *', suspend: true },
  HorizontalPodAutoscaler: { maxReplicas: 5, minReplicas: 2 },
  PodDisruptionBudget: { minAvailable: undefined, maxUnavailable: '50%' },
  NetworkPolicy: { egress: undefined },
};

/** The objects of a namespace as they are applied first, or after that. */
function atRound(round: 'first' | 'next', namespace: string): readonly KubeObject[] {
  const changes = round === 'first' ? FIRST : NEXT;
  return objectsIn(namespace).map((each) => {
    const { kind, metadata } = each;
    const spec = changes[kind] === undefined ? {} : { spec: { ...(each['spec'] as object), ...changes[kind] } };
    const data = round === 'next' && kind === 'ConfigMap' ? { data: { c: 'd' } } : {};
    const rules =
      round === 'next' && /Role$/.test(kind)
        ? { rules: [{ verbs: ['list'], resources: ['pods'], apiGroups: [''] }] }
        : {};
    return { ...each, metadata: { ...metadata, ...MARKS[round] }, ...spec, ...data, ...rules };
  });
}

/** What its author has said of an object, and what the server has filled in: without identity, records of who applied it, and status. */
function contentOf({ metadata, status: _status, ...rest }: KubeObject, namespace: string): unknown {
  const { labels = {}, annotations = {}, name } = metadata;
  const said = Object.entries(annotations).filter(([key]) => !/kubernetes\.io\/|kubernetes-fleet\.io\//.test(key));
  const content = { ...rest, metadata: { name, labels, annotations: Object.fromEntries(said) } };
  const text = JSON.stringify(content, (key, value) => (/^clusterIPs?$/.test(key) ? undefined : (value as unknown)));
  return JSON.parse(text.replaceAll(namespace, 'NAMESPACE'));
}

const MANAGERS = 'jsonpath={range .metadata.managedFields[*]}{.manager}/{.operation} {end}';

export function describeApplying(start: StartFleet, name: string | undefined, member: string): void {
  describe('objects are applied as the placement asks', () => {
    let fleet: Fleet;
    beforeAll(async () => {
      fleet = await start(name);
    }, 300_000);
    afterAll(async () => fleet?.[Symbol.asyncDispose]());

    const place = (each: string, strategy: object) => fleet.apply(placement(each, member, strategy));
    const change = (each: string, applyStrategy: object) =>
      fleet.hub([
        'patch',
        'crp',
        each,
        '--type=merge',
        '-p',
        JSON.stringify({ spec: { strategy: { applyStrategy } } }),
      ]);
    const value = (each: string) => fleet.on(member, ['-n', each, 'get', 'cm', 'app', '-o', 'jsonpath={.data.value}']);
    const edit = (each: string, data: object) =>
      fleet.on(member, ['-n', each, 'patch', 'cm', 'app', '--type=merge', '-p', JSON.stringify({ data })]);
    const listsOf = (status: object | undefined) =>
      ((status as { placementStatuses?: readonly Lists[] } | undefined)?.placementStatuses?.[0] ?? {}) as Lists;
    const until = (each: string, has: (lists: Lists) => boolean, what: string) =>
      fleet.waitForStatus(['crp', each], (status) => has(listsOf(status)), what).then(listsOf);
    const drifts = ({ driftedPlacements = [] }: Lists) =>
      driftedPlacements.flatMap((each) => each.observedDrifts ?? []);
    const diffs = ({ diffedPlacements = [] }: Lists) =>
      diffedPlacements.filter(({ kind }) => kind === 'ConfigMap').flatMap((each) => each.observedDiffs ?? []);
    const waitForValue = (each: string, text: string) =>
      fleet.on(member, ['-n', each, 'wait', 'cm/app', `--for=jsonpath={.data.value}=${text}`, '--timeout=60s']);
    const command = (...args: readonly string[]) => flotilla(fleet.home, [...args, '--kubeconfig', fleet.kubeconfig]);

    test('ClientSideApply puts an edit back, and keeps what others add', async () => {
      await fleet.apply(space('csa'), config('csa', { value: 'hub' }));
      await place('csa', {});
      await fleet.waitForAvailable('crp/csa');
      await edit('csa', { value: 'edited', own: 'x' });
      await waitForValue('csa', 'hub');
      expect(await fleet.on(member, ['-n', 'csa', 'get', 'cm', 'app', '-o', 'jsonpath={.data.own}'])).toBe('x');
      const { code, stdout } = await command('diff', 'placement/csa', '--cluster', member);
      expect({ code, stdout }).toEqual({
        code: 0,
        stdout: expect.stringMatching(
          /^cluster \S+ \(csa-0-snapshot\): no differences; \d+ objects compared on the cluster$/m,
        ),
      });
    });

    test('ServerSideApply owns its fields as a manager, and stops at those of another until force is set', async () => {
      await fleet.apply(space('ssa'), config('ssa', { value: 'hub' }));
      await place('ssa', { applyStrategy: { type: 'ServerSideApply' } });
      await fleet.waitForAvailable('crp/ssa');
      await fleet.on(member, [
        ...['-n', 'ssa', 'patch', 'cm', 'app', '--type=merge', '--field-manager=kubectl-edit'],
        ...['-p', '{"data":{"value":"edited"}}'],
      ]);
      await fleet.waitForReason('crp/ssa', 'ClusterResourcePlacementApplied', 'ApplyFailed');
      const { stdout } = await command('why', 'placement/ssa');
      expect(stdout).toContain('"kubectl-edit"');
      await change('ssa', { type: 'ServerSideApply', serverSideApplyConfig: { force: true } });
      await waitForValue('ssa', 'hub');
      await fleet.waitForAvailable('crp/ssa');
      const managers = ['-n', 'ssa', 'get', 'cm', 'app', '--show-managed-fields', '-o', MANAGERS];
      expect(await fleet.on(member, managers)).toContain('work-api-agent/Apply');
    });

    test('IfNotDrifted leaves an edit alone and reports both values; flotilla diff shows it as kubectl diff would', async () => {
      await fleet.apply(space('drift'), config('drift', { value: 'hub' }));
      await place('drift', { applyStrategy: { whenToApply: 'IfNotDrifted' } });
      await fleet.waitForAvailable('crp/drift');
      await edit('drift', { value: 'edited' });
      const lists = await until('drift', (each) => drifts(each).length > 0, 'a drift is reported');
      expect(drifts(lists)).toEqual([{ path: '/data/value', valueInHub: 'hub', valueInMember: 'edited' }]);
      expect(await value('drift')).toBe('edited');
      const live = await command('diff', 'placement/drift');
      expect(live.code).toBe(2);
      expect(live.stdout).toContain('-  value: edited\n+  value: hub\n');
      await edit('drift', { value: 'hub' });
      await fleet.waitForAvailable('crp/drift');
    });

    test('an edit with kubectl edit is put back, or left alone and reported', async () => {
      await fleet.apply(space('edit'), config('edit', { value: 'hub' }));
      await place('edit', {});
      await fleet.waitForAvailable('crp/edit');
      const byHand = (from: string, to: string) =>
        run(kubectlPath ?? 'kubectl', ['--context', member, '-n', 'edit', 'edit', 'cm', 'app'], {
          env: {
            ...process.env,
            KUBECONFIG: fleet.kubeconfig,
            HOME: fleet.home,
            KUBE_EDITOR: `sed -i.bak 's/value: ${from}/value: ${to}/'`,
          },
        });
      const { stdout, code } = await byHand('hub', 'edited');
      expect({ stdout, code }).toEqual({ stdout: 'configmap/app edited\n', code: 0 });
      await waitForValue('edit', 'hub');
      await change('edit', { whenToApply: 'IfNotDrifted' });
      await fleet.waitForAvailable('crp/edit');
      expect((await byHand('hub', 'again')).code).toBe(0);
      const lists = await until('edit', (each) => drifts(each).length > 0, 'a drift is reported');
      expect(drifts(lists)).toEqual([{ path: '/data/value', valueInHub: 'hub', valueInMember: 'again' }]);
      expect(await value('edit')).toBe('again');
    });

    test('the content of a Secret that drifts or differs is shown nowhere', async () => {
      const secret = (password: string) => ({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'login', namespace: 'secrets' },
        stringData: { password },
      });
      const texts = ['on-the-hub', 'on-the-member'];
      const shown = new RegExp([...texts, ...texts.map((each) => Buffer.from(each).toString('base64'))].join('|'));
      await fleet.apply(space('secrets'), secret('on-the-hub'));
      await place('secrets', { applyStrategy: { whenToApply: 'IfNotDrifted' } });
      await fleet.waitForAvailable('crp/secrets');
      const body = JSON.stringify({ stringData: { password: 'on-the-member' } });
      await fleet.on(member, ['-n', 'secrets', 'patch', 'secret', 'login', '--type=merge', '-p', body]);
      const redacted = '(redacted for security reasons)';
      const drifted = await until('secrets', (each) => drifts(each).length > 0, 'a drift is reported');
      expect(drifts(drifted)).toEqual([{ path: '/data/password', valueInHub: redacted, valueInMember: redacted }]);
      const look = async () => {
        const statuses = await Promise.all([
          fleet.hub(['get', 'crp', 'secrets', '-o', 'jsonpath={.status}']),
          fleet.hub([
            'get',
            'crb',
            '-l',
            'kubernetes-fleet.io/parent-CRP=secrets',
            '-o',
            'jsonpath={.items[*].status}',
          ]),
          fleet.hub(['-n', `fleet-member-${member}`, 'get', 'work', 'secrets-work', '-o', 'jsonpath={.status}']),
          fleet.hub(['get', 'events', '-A', '-o', 'json']),
        ]);
        for (const text of statuses.slice(0, 3)) expect(text).toContain('/data/password');
        const commands = await Promise.all([
          command('why', 'placement/secrets', '--cluster', member),
          command('status', 'placement/secrets', '-o', 'json'),
          command('diff', 'placement/secrets', '--cluster', member),
        ]);
        expect(commands[2]?.stdout).toMatch(/-\s+password: .*\*\*\* \(member\).*\n\+\s+password: .*\*\*\* \(hub\)/);
        for (const text of [...statuses, ...commands.map(({ stdout, stderr }) => stdout + stderr)])
          expect(text).not.toMatch(shown);
      };
      await look();
      await change('secrets', { type: 'ReportDiff' });
      const isSecret = ({ diffedPlacements = [] }: Lists) => diffedPlacements.some(({ kind }) => kind === 'Secret');
      await until('secrets', isSecret, 'a difference is reported');
      await look();
    });

    test('ReportDiff writes nothing on the member and reports; leaving it applies', async () => {
      await fleet.on(member, ['create', 'namespace', 'report']);
      await fleet.on(member, ['-n', 'report', 'create', 'cm', 'app', '--from-literal=value=before']);
      const version = () =>
        fleet.on(member, ['-n', 'report', 'get', 'cm', 'app', '-o', 'jsonpath={.metadata.resourceVersion}']);
      const before = await version();
      await fleet.apply(space('report'), config('report', { value: 'hub' }));
      await place('report', { applyStrategy: { type: 'ReportDiff' } });
      await fleet.waitForReason('crp/report', 'ClusterResourcePlacementDiffReported', 'DiffReportingCompleted');
      const lists = await until('report', (each) => diffs(each).length > 0, 'a difference is reported');
      expect(diffs(lists)).toEqual([{ path: '/data/value', valueInHub: 'hub', valueInMember: 'before' }]);
      expect(await version()).toBe(before);
      expect(await fleet.on(member, ['get', 'appliedworks', '-o', 'name'])).not.toContain('report-work');
      await change('report', { type: 'ClientSideApply' });
      await waitForValue('report', 'hub');
    });

    test('IfNoDiff takes over only what is equal; Never takes nothing', async () => {
      for (const each of ['equal', 'never']) {
        await fleet.on(member, ['create', 'namespace', each]);
        await fleet.on(member, ['-n', each, 'create', 'cm', 'app', '--from-literal=value=before']);
        await fleet.apply(space(each), config(each, { value: 'hub' }));
      }
      await place('equal', { applyStrategy: { whenToTakeOver: 'IfNoDiff' } });
      await place('never', { applyStrategy: { whenToTakeOver: 'Never' } });
      const lists = await until('equal', (each) => diffs(each).length > 0, 'a difference is reported');
      expect(diffs(lists)).toEqual([{ path: '/data/value', valueInHub: 'hub', valueInMember: 'before' }]);
      await fleet.waitForReason('crp/never', 'ClusterResourcePlacementApplied', 'ApplyFailed');
      expect([await value('equal'), await value('never')]).toEqual(['before', 'before']);
      await edit('equal', { value: 'hub' });
      await fleet.waitForAvailable('crp/equal');
      await fleet.hub(['delete', 'crp', 'never', '--timeout=60s']);
      expect(await value('never')).toBe('before');
    });

    test.each([
      {
        how: 'propagationPolicy Abandon',
        each: 'abandon',
        strategy: { deleteStrategy: { propagationPolicy: 'Abandon' } },
        args: [],
      },
      { how: '--cascade=orphan', each: 'orphan', strategy: {}, args: ['--cascade=orphan'] },
    ])('a placement deleted with $how leaves what it placed', async ({ each, strategy, args }) => {
      await fleet.apply(space(each), config(each, { value: 'hub' }));
      await place(each, strategy);
      await fleet.waitForAvailable(`crp/${each}`);
      await fleet.hub(['delete', 'crp', each, '--timeout=60s', ...args]);
      await fleet.on(member, ['wait', `appliedwork/${each}-work`, '--for=delete', '--timeout=60s']);
      expect(await value(each)).toBe('hub');
      const owners = ['-n', each, 'get', 'cm', 'app', '-o', 'jsonpath={.metadata.ownerReferences}'];
      expect(await fleet.on(member, owners)).toBe('');
    });

    test('what the agent applies is what kubectl applies, client-side and server-side, first and after a change', async () => {
      const fileOf = (namespace: string, round: 'first' | 'next') => {
        const path = join(fleet.home, `${namespace}-${round}.json`);
        writeFileSync(path, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: atRound(round, namespace) }));
        return path;
      };
      const byHub = { 'alike-client': {}, 'alike-server': { applyStrategy: { type: 'ServerSideApply' } } };
      const byHand = { 'kubectl-client': [], 'kubectl-server': ['--server-side'] };
      const kind = join(fleet.home, 'alikes.json');
      writeFileSync(kind, JSON.stringify(definition));
      for (const on of [fleet.hub, (args: readonly string[]) => fleet.on(member, args)]) {
        await on(['apply', '-f', kind]);
        await on(['wait', '--for=condition=Established', `crd/${definition.metadata.name}`, '--timeout=60s']);
      }
      for (const [each, strategy] of Object.entries(byHub)) {
        await fleet.apply(space(each));
        const { spec, ...rest } = placement(each, member, strategy);
        const role = { group: 'rbac.authorization.k8s.io', version: 'v1', kind: 'ClusterRole', name: each };
        await fleet.apply({ ...rest, spec: { ...spec, resourceSelectors: [...spec.resourceSelectors, role] } });
      }
      for (const each of Object.keys(byHand)) await fleet.on(member, ['create', 'namespace', each]);
      for (const round of ['first', 'next'] as const) {
        for (const each of Object.keys(byHub)) await fleet.apply(...atRound(round, each));
        for (const [each, flags] of Object.entries(byHand))
          await fleet.on(member, ['apply', ...flags, '-f', fileOf(each, round)]);
        const isThere = `--for=jsonpath={.metadata.labels.tier}=${MARKS[round].labels.tier}`;
        for (const each of Object.keys(byHub)) {
          await fleet.waitForReason(`crp/${each}`, 'ClusterResourcePlacementApplied', 'ApplySucceeded');
          await fleet.on(member, ['-n', each, 'wait', '--for=create', '-f', fileOf(each, round), '--timeout=60s']);
          await fleet.on(member, ['-n', each, 'wait', isThere, '-f', fileOf(each, round), '--timeout=60s']);
        }
        const found = async (each: string) => {
          const list = await fleet.get<{ items: readonly KubeObject[] }>(member, [
            '-n',
            each,
            '-f',
            fileOf(each, round),
          ]);
          return list.items.map((object) => contentOf(object, each));
        };
        const wanted = await found('kubectl-client');
        expect(wanted).toHaveLength(ALIKE.length + 2);
        for (const each of ['kubectl-server', ...Object.keys(byHub)]) expect(await found(each)).toEqual(wanted);
      }
    });

    test('flotilla diff compares two revisions, and names those that exist', async () => {
      await fleet.apply(config('csa', { value: 'newer' }));
      await waitForValue('csa', 'newer');
      const { code, stdout } = await command('diff', 'placement/csa', '--revision', '0', '--revision', '1');
      expect(code).toBe(2);
      expect(stdout).toContain('-  value: hub\n+  value: newer\n');
      const missing = await command('diff', 'placement/csa', '--revision', '0', '--revision', '9');
      expect(missing.code).toBe(1);
      expect(missing.stderr).toContain('has no revision "9" (known: 0, 1)');
    });
  });
}
