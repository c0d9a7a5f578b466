// Real API servers that throttle, close their watches, refuse a definition or have an aggregated API that is down: the reason is visible,
// nothing is lost, and it goes on by itself. And a part that is started with too few rights, or on a
// cluster without its kinds, says so. Outages are outage.proof.test.ts.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { patience, slowness } from '../../scripts/gate/patience.ts';
import { placement as placementKind } from '../../src/api/placement.ts';
import { wallClock } from '../../src/base/clock.ts';
import { findConnection } from '../../src/cli/server/connect.ts';
import { httpTransport } from '../../src/client/http.ts';
import { definition, deployment, namespace } from '../wire/delivery-kinds.ts';
import { flotilla } from '../wire/fleet.ts';
import { skipsPlanes } from './planes.ts';
import { placementOnAll as placement, type ShopFleet, startShopFleet } from './shop-fleet.ts';

/** Placements that are made at once while the server throttles, and how often until it has refused something. */
const BURST = 4;
const MAX_BURSTS = Math.ceil(6 * slowness());

describe.skipIf(skipsPlanes)('a fleet on real control planes', () => {
  let fleet: ShopFleet;
  beforeAll(async () => {
    fleet = await startShopFleet();
  });
  afterAll(() => fleet?.[Symbol.asyncDispose]());

  /** A watch as the hub has one, open and told what there is. `closed` resolves when the server ends it, which by itself it would not for minutes. */
  const watchPlacements = async () => {
    const transport = httpTransport(findConnection({ kubeconfig: fleet.kubeconfig, context: 'hub' }), {
      clock: wallClock,
    });
    const watch = transport.watch({ at: { resource: placementKind.cluster } }, new AbortController().signal);
    const events = watch[Symbol.asyncIterator]();
    expect((await events.next()).done).toBe(false);
    const rest = async () => {
      while (!(await events.next()).done);
    };
    return { closed: rest().catch(() => {}), stop: () => transport.close() };
  };
  test('does not run on the hub what it places there', async () => {
    const pods = ['-n', 'shop', 'get', 'pods,replicasets.apps', '-o', 'name'];
    expect(await fleet.hub(pods)).toBe('');
    expect((await fleet.on('two', pods)).trim().split('\n')).toHaveLength(2);
    const refused = ['-n', 'shop', 'get', 'events', '-o', 'jsonpath={.items[*].message}'];
    expect(await fleet.hub(refused)).toContain('creating pods and replicas is disallowed in the fleet hub cluster');
    const { stderr } = await fleet.try(['-n', 'shop', 'run', 'one', '--image=web:1']);
    expect(stderr).toContain('creating pods and replicas is disallowed in the fleet hub cluster');
  });

  test('goes on when the server closes its watches, as it does when a definition changes', async () => {
    const column = { name: 'Extra', type: 'string', jsonPath: '.metadata.name' };
    const patch = [{ op: 'add', path: '/spec/versions/0/additionalPrinterColumns/-', value: column }];
    const watch = await watchPlacements();
    try {
      for (const plural of ['works', 'clusterresourcebindings', 'clusterresourceplacements'])
        await fleet.hub([
          ...['patch', `crd/${plural}.placement.kubernetes-fleet.io`, '--type=json', '-p', JSON.stringify(patch)],
        ]);
      await watch.closed;
    } finally {
      watch.stop();
    }
    await fleet.change();
    await fleet.arrives();
    fleet.allRun();
  });

  test('delivers all of it while the server lets in but one request at a time and refuses the others', async () => {
    const names: string[] = [];
    const isRefusing = async () =>
      /flowcontrol_rejected_requests_total\{.*priority_level="one-at-a-time".*\} [1-9]/.test(
        await fleet.hub(['get', '--raw', '/metrics']),
      );
    await fleet.apply(...throttling('system:serviceaccount:fleet-system:flotilla-hub'));
    try {
      // Requests that never meet are not refused: the busier the machine, the more it takes.
      while (!(await isRefusing())) {
        expect(names.length).toBeLessThan(MAX_BURSTS * BURST);
        const burst = Array.from({ length: BURST }, (_, index) => `burst-${names.length + index}`);
        names.push(...burst);
        await fleet.apply(...burst.flatMap((name) => [namespace(name), placement(name, [namespace(name)])]));
        await fleet.waitForAvailable(...burst.map((name) => `crp/${name}`));
      }
      await fleet.hubProcess.says(/"server":"hub".*PriorityLevelConfiguration.*"msg":"the API server is throttling"/);
    } finally {
      await fleet.hub(['delete', 'flowschema,prioritylevelconfiguration', 'one-at-a-time']);
    }
    for (const name of names) await fleet.on('two', ['get', 'namespace', name]);
    await fleet.hub(['delete', 'crp', ...names, '--timeout=50s']);
    fleet.allRun();
  });

  test('places namespaces while an aggregated API is down, on the hub and on members', async () => {
    const downed = {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: 'v1.down.example.com' },
      spec: {
        group: 'down.example.com',
        version: 'v1',
        groupPriorityMinimum: 10,
        versionPriority: 10,
        insecureSkipTLSVerify: true,
        service: { name: 'nobody', namespace: 'default' },
      },
    };
    try {
      for (const context of ['hub', 'one', 'two'])
        await fleet.kubectl.ok(['--context', context, 'apply', '-f', '-'], JSON.stringify(downed));
      const { stderr } = await fleet.try(['get', '--raw', '/apis/down.example.com/v1']);
      expect(stderr).toContain('unable to handle the request');
      await fleet.apply(namespace('calm'), placement('calm', [namespace('calm')]));
      await fleet.waitForAvailable('crp/calm');
      await fleet.on('two', ['get', 'namespace', 'calm']);
      await fleet.change();
      await fleet.arrives();
    } finally {
      // A real cluster cannot empty namespaces while it is there.
      for (const context of ['hub', 'one', 'two'])
        await fleet.kubectl.ok(['--context', context, 'delete', 'apiservice', downed.metadata.name]);
    }
    fleet.allRun();
  });

  test('a definition that a member refuses is told with its reason, and is placed when it does no more', async () => {
    const kind = definition('refused.example.com', 'Refused', 'v1');
    const asked = ['--context', 'two', 'create', '--dry-run=server', '-f', '-'];
    for (const object of refusing('refuseds.refused.example.com'))
      await fleet.kubectl.ok(['--context', 'two', 'apply', '-f', '-'], JSON.stringify(object));
    await expect
      .poll(async () => (await fleet.kubectl.try(asked, JSON.stringify(kind))).stderr, { timeout: patience(60_000) })
      .toContain('not here');
    await fleet.apply(kind, placement('kinds', [kind]));
    const reason = '{.status.placementStatuses[?(@.clusterName=="two")].failedPlacements[0].condition.reason}';
    await fleet.hub(['wait', 'crp/kinds', `--for=jsonpath=${reason}=ManifestApplyFailed`, '--timeout=60s']);
    const { stdout } = await flotilla(fleet.folder, ['why', 'placement/kinds'], { KUBECONFIG: fleet.kubeconfig });
    expect(stdout).toMatch(/"two".*CustomResourceDefinition "refuseds\.refused\.example\.com".*not here/);
    await fleet.on('one', ['get', 'crd', 'refuseds.refused.example.com']);
    await fleet.on('two', ['delete', 'validatingadmissionpolicybinding,validatingadmissionpolicy', 'refuse-kinds']);
    await fleet.waitForAvailable('crp/kinds');
    await fleet.on('two', ['get', 'crd', 'refuseds.refused.example.com']);
  });

  test('a privileged workload gets no Pods on a member that enforces Pod Security, and the placement reports why', async () => {
    const guarded = { ...namespace('guarded'), metadata: { name: 'guarded', labels: ENFORCED } };
    await fleet.kubectl.ok(['--context', 'two', 'create', '-f', '-'], JSON.stringify(guarded));
    const objects = [namespace('guarded'), withHostPid(deployment('web', 'guarded', 1))];
    await fleet.apply(...objects, placement('guarded', objects));
    const reason = '{.status.placementStatuses[?(@.clusterName=="two")].failedPlacements[0].condition.type}';
    await fleet.hub(['wait', 'crp/guarded', `--for=jsonpath=${reason}=Available`, '--timeout=60s']);
    await fleet.on('one', ['-n', 'guarded', 'wait', 'deployment/web', '--for=condition=Available', '--timeout=60s']);
    await expect
      .poll(
        async () =>
          (await flotilla(fleet.folder, ['why', 'placement/guarded'], { KUBECONFIG: fleet.kubeconfig })).stdout,
        { timeout: patience(60_000) },
      )
      .toMatch(/"two".*violates PodSecurity/s);
    expect(await fleet.on('two', ['-n', 'guarded', 'get', 'pods', '-o', 'name'])).toBe('');
    expect(await fleet.on('one', ['-n', 'guarded', 'get', 'pods', '-o', 'name'])).toContain('pod/web');
    await fleet.hub(['delete', 'crp', 'guarded', '--timeout=50s']);
  });

  test.each([
    {
      it: 'a hub whose identity is nobody there',
      args: ['hub', '--context', 'nobody'],
      says: /^error: the hub's controllers may not get, list, watch, patch memberclusters\.cluster\.kubernetes-fleet\.io; .*create, patch, delete namespaces; .*flotilla roles hub \| kubectl apply/,
    },
    {
      it: 'a hub on a cluster that is none',
      args: ['hub', '--context', 'two'],
      says: /^error: the hub does not serve memberclusters\.cluster\.kubernetes-fleet\.io, .* more: .*flotilla crds hub \| kubectl apply/,
    },
    {
      it: "an agent on a cluster without the agents' kind",
      args: ['member', '--name', 'one', '--hub-kubeconfig', 'one.kubeconfig', '--context', 'bare'],
      says: /^error: the member "one" does not serve appliedworks\.placement\.kubernetes-fleet\.io: .*flotilla crds member \| kubectl apply/,
    },
  ])('$it is told what is missing', async ({ args, says }) => {
    const { ok } = fleet.kubectl;
    if (args.includes('nobody')) {
      const token = await ok(['--context', 'hub', '-n', 'default', 'create', 'token', 'default']);
      await ok(['config', 'set-credentials', 'nobody', `--token=${token.trim()}`]);
      await ok(['config', 'set-context', 'nobody', '--cluster=hub', '--user=nobody']);
    }
    if (args.includes('bare')) await ok(['config', 'set-context', 'bare', '--cluster=hub', '--user=hub']);
    const inFolder = args.map((each) => (each.endsWith('.kubeconfig') ? `${fleet.folder}/${each}` : each));
    const { code, stderr } = await flotilla(fleet.folder, [...inFolder, '--kubeconfig', fleet.kubeconfig]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(says) });
  });
});

const ENFORCED = { 'pod-security.kubernetes.io/enforce': 'baseline' };

/** With the processes of its node in sight, as nothing below the level `privileged` may have them. */
function withHostPid(object: ReturnType<typeof deployment>): ReturnType<typeof deployment> {
  const { template, ...spec } = object.spec as {
    readonly template: { readonly metadata: object; readonly spec: object };
  };
  return { ...object, spec: { ...spec, template: { ...template, spec: { ...template.spec, hostPID: true } } } };
}

/** This user's requests are let in while no other of them is under way, and refused otherwise. */
const throttling = (user: string): readonly object[] => [
  {
    apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
    kind: 'PriorityLevelConfiguration',
    metadata: { name: 'one-at-a-time' },
    spec: {
      type: 'Limited',
      limited: {
        nominalConcurrencyShares: 0,
        lendablePercent: 0,
        borrowingLimitPercent: 0,
        limitResponse: { type: 'Reject' },
      },
    },
  },
  {
    apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
    kind: 'FlowSchema',
    metadata: { name: 'one-at-a-time' },
    spec: {
      matchingPrecedence: 2,
      priorityLevelConfiguration: { name: 'one-at-a-time' },
      rules: [
        {
          subjects: [{ kind: 'User', user: { name: user } }],
          resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'], clusterScope: true }],
        },
      ],
    },
  },
];

const refusing = (name: string): readonly object[] => [
  {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'refuse-kinds' },
    spec: {
      matchConstraints: {
        resourceRules: [
          {
            apiGroups: ['apiextensions.k8s.io'],
            apiVersions: ['v1'],
            operations: ['CREATE', 'UPDATE'],
            resources: ['customresourcedefinitions'],
          },
        ],
      },
      validations: [{ expression: `object.metadata.name != '${name}'`, message: 'not here' }],
    },
  },
  {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: 'refuse-kinds' },
    spec: { policyName: 'refuse-kinds', validationActions: ['Deny'] },
  },
];
