// `flotilla why` against the real API server over https. No hub runs: every answer comes from the API alone.
import { describe, expect, test } from 'vitest';
import { admin } from '../../../test/cluster.ts';
import type { Start } from '../../../test/conformance/subjects.ts';
import type { HoldEntry } from '../../api/holds.ts';
import type { Kind } from '../../api/kind.ts';
import { hubKinds } from '../../api/kinds.ts';
import { annotations, labels } from '../../api/names.ts';
import type { KubeObject, User } from '../../api/object.ts';
import type { Placement, PlacementSpec } from '../../api/placement.ts';
import { by } from '../../base/compare.ts';
import { LostError } from '../../base/errors.ts';
import {
  aBinding,
  aPlacement,
  BEFORE,
  budgetUsed,
  cluster,
  conditions,
  failed,
  still,
} from '../../insight/placement.testing.ts';
import { whichPlacement } from '../../insight/which-placement.ts';
import { hasHoldsField } from '../reading/readable.ts';
import { printing, serving as serveObjects } from '../served.testing.ts';
import { type WhyOptions, why } from './why.ts';

const dev: User = { name: 'dev', groups: ['system:authenticated'] };
/** A server with these objects and their status. */
async function serving(objects: readonly KubeObject[], options?: Parameters<Start>[0]) {
  const served = await serveObjects(objects, options);
  return {
    ...served,
    async ask(
      argument: string,
      { as = admin, ...more }: { as?: User; namespace?: string } & Partial<Omit<WhyOptions, 'clock'>> = {},
    ) {
      const { print, text } = printing();
      const { namespace, ...options } = more;
      const server = await served.server(as);
      const code = await why(server, whichPlacement(argument, namespace), { ...options, clock: still }, print);
      return { code, text: text() };
    },
  };
}

const core = (kind: string, name: string, more: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name },
  ...more,
});
const member = (name: string, healthy = true): KubeObject => ({
  apiVersion: 'cluster.kubernetes-fleet.io/v1beta1',
  kind: 'MemberCluster',
  metadata: { name },
  spec: { identity: { kind: 'User', name: 'agent', apiGroup: 'rbac.authorization.k8s.io' } },
  status: {
    conditions: [
      ...conditions('Joined:T', '', 1),
      {
        ...conditions('Healthy:T', '', 1)[0],
        ...(healthy ? {} : { status: 'Unknown', reason: 'MemberUnreachable', message: 'no heartbeat' }),
      },
    ],
    agentStatus: [{ type: 'MemberAgent', lastReceivedHeartbeat: '2026-01-01T11:59:50Z' }],
  },
});
const work = (target: string, message: string): KubeObject => ({
  apiVersion: 'placement.kubernetes-fleet.io/v1beta1',
  kind: 'Work',
  metadata: {
    name: 'web-work',
    namespace: `fleet-member-${target}`,
    labels: { [labels.parentBinding]: `web-${target}-1`, [labels.parentPlacement]: 'web' },
  },
  spec: { workload: { manifests: [core('ConfigMap', 'a'), core('ConfigMap', 'b')] } },
  status: {
    conditions: conditions('Applied:T Available:F', '', 1),
    manifestConditions: [
      {
        identifier: { ordinal: 0, version: 'v1', kind: 'Namespace', name: 'shop' },
        conditions: conditions('Applied:T', '', 1),
      },
      {
        identifier: { ordinal: 1, group: 'apps', version: 'v1', kind: 'Deployment', namespace: 'shop', name: 'web' },
        conditions: [{ ...conditions('Available:F', '', 1)[0], message }],
      },
    ],
  },
});
const snapshot = (index: number): KubeObject => ({
  apiVersion: 'placement.kubernetes-fleet.io/v1beta1',
  kind: 'ClusterResourceSnapshot',
  metadata: {
    name: `web-${index}-snapshot`,
    labels: {
      [labels.parentPlacement]: 'web',
      [labels.resourceIndex]: String(index),
      [labels.isLatestSnapshot]: 'true',
    },
    annotations: { [annotations.resourceHash]: 'x', [annotations.numberOfResourceSnapshots]: '1' },
  },
  spec: { selectedResources: [] },
});
const policy = (decisions: readonly object[], namespace?: string): KubeObject => ({
  apiVersion: 'placement.kubernetes-fleet.io/v1beta1',
  kind: namespace === undefined ? 'ClusterSchedulingPolicySnapshot' : 'SchedulingPolicySnapshot',
  metadata: {
    name: 'web-0',
    ...(namespace === undefined ? {} : { namespace }),
    labels: { [labels.parentPlacement]: 'web', [labels.isLatestSnapshot]: 'true' },
  },
  spec: { policyHash: 'aGFzaA==' },
  status: { observedCRPGeneration: 1, targetClusters: decisions, conditions: conditions('Scheduled:T', '', 1) },
});
/** Lets `dev` read these resources everywhere. */
const rights = (...resources: readonly string[]): readonly KubeObject[] => {
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const apiGroups = ['placement.kubernetes-fleet.io', 'cluster.kubernetes-fleet.io', ''];
  return [
    {
      apiVersion,
      kind: 'ClusterRole',
      metadata: { name: 'dev' },
      rules: [{ apiGroups, resources, verbs: ['get', 'list'] }],
    },
    {
      apiVersion,
      kind: 'ClusterRoleBinding',
      metadata: { name: 'dev' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'dev' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'dev' }],
    },
  ];
};

const stopped = aPlacement({
  said: 'TF',
  clusters: [
    cluster('eu-1', 'TTTTTF', { failedPlacements: [failed('no Pod is ready')] }),
    cluster('eu-2', 'TTTTTT'),
    cluster('us-1', 'TF'),
  ],
  holds: [budgetUsed('eu-1', ['us-1'])],
});
const world: readonly KubeObject[] = [
  stopped,
  ...['eu-1', 'eu-2', 'us-1', 'us-2'].map((name) => member(name, name !== 'us-2')),
  core('Namespace', 'fleet-member-eu-1'),
  aBinding('eu-1', 'TTTTF', { more: { failedPlacements: [failed('no Pod is ready')] } }),
  aBinding('eu-2', 'TTTTT'),
  aBinding('us-1', 'F', { index: 0 }),
  work('eu-1', 'no Pod is ready'),
  snapshot(1),
  policy([
    { clusterName: 'eu-1', selected: true, reason: 'fits' },
    { clusterName: 'us-2', selected: false, reason: 'it has the taint gpu=only' },
  ]),
];

describe('why', () => {
  test('is what blocks in two lines, then the chain of evidence, then what a person can do', async () => {
    const { ask } = await serving(world);
    expect(await ask('placement/web')).toEqual({
      code: 2,
      text: `
Blocked: MemberCluster "eu-1": no Pod is ready
ClusterResourcePlacement "web" waits: MemberCluster "eu-1" blocks the rollout (failed): 2 clusters are available, at least 2 are required (for 5m)

Evidence:
  1. BudgetUsed, for 5m
     1 cluster waits: us-1
     MemberCluster "eu-1"
       joined and healthy
       last heartbeat 10s ago
     ClusterResourceBinding "web-eu-1-1"
       is bound to web-1-snapshot
       Available False (NotFine), for 5m: Available is not reached
       Deployment "shop/web": Available False (ManifestNotAvailableYet), for 5m: no Pod is ready
     Work "fleet-member-eu-1/web-work"
       contains 2 manifests
       Available False (NotFine), for 5m: Available is not reached
       manifest 1, Deployment "shop/web": Available False (NotFine), for 5m

What you can do:
  - look at Deployment "shop/web" on cluster "eu-1": \`kubectl --context eu-1 -n shop describe deployment/web\` and \`kubectl --context eu-1 -n shop get pods\`
  - fix the failure on cluster "eu-1", or raise maxUnavailable`.slice(1),
    });
  });

  test('tells the story of one object once, however many holds there are on it', async () => {
    const own = { ...budgetUsed('eu-1', ['eu-1']), code: 'NotAvailable', next: 'look at failedPlacements' };
    const holds = [budgetUsed('eu-1', ['us-1']), own];
    const placement = { ...stopped, status: { ...stopped.status, holds } };
    const elsewhere = work('eu-1', 'of somebody else');
    const foreign = {
      ...elsewhere,
      metadata: { ...elsewhere.metadata, name: 'api-work', labels: { [labels.parentBinding]: 'api-eu-1-1' } },
    };
    const { ask } = await serving([...world.filter((each) => each !== stopped), placement, foreign]);
    const { text } = await ask('placement/web');
    expect(text.match(/ClusterResourceBinding "web-eu-1-1"/g)).toHaveLength(1);
    expect(text).toContain(
      '\n  2. MemberCluster "eu-1" is not available yet (failed: no Pod is ready)\n     NotAvailable, for 5m\n\nWhat you can do:\n  - look at',
    );
    expect(text).not.toContain('look at failedPlacements');
    expect(text).not.toContain('api-work');
  });

  describe('with a former copy that is still being removed', () => {
    const leaving: HoldEntry = {
      code: 'PredecessorLeaving',
      on: { group: 'placement.kubernetes-fleet.io', kind: 'ClusterResourceBinding', name: 'web-eu-1-0' },
      facts: { cluster: 'eu-1' },
      count: 1,
      clusters: ['eu-1'],
      next: 'wait: the old copy is being removed',
    };
    const former = (): KubeObject => {
      const { metadata, ...binding } = aBinding('eu-1', 'TTTTT', { index: 0 });
      return { ...binding, metadata: { ...metadata, name: 'web-eu-1-0', finalizers: ['example.com/held'] } };
    };
    const order = (): KubeObject => {
      const { metadata, ...rest } = work('eu-1', 'fine');
      const ofFormer = { ...metadata.labels, [labels.parentBinding]: 'web-eu-1-0' };
      return { ...rest, metadata: { ...metadata, name: 'old-work', labels: ofFormer } };
    };
    const lines = (text: string, object: string) => text.split('\n').filter((line) => line.trim() === object).length;

    test.each<{ it: string; holds: readonly HoldEntry[]; about?: string }>([
      { it: 'tells of it before its cluster', holds: [leaving], about: 'eu-1' },
      { it: 'tells of it with its cluster', holds: [budgetUsed('eu-1', ['us-1']), leaving] },
      { it: 'tells of it before others hold on to its cluster', holds: [leaving, budgetUsed('eu-1', ['us-1'])] },
    ])('$it, and once', async ({ holds, about }) => {
      const placement = { ...stopped, status: { ...stopped.status, holds } };
      const { ask, subject } = await serving([
        ...world.filter((each) => each !== stopped),
        placement,
        former(),
        order(),
      ]);
      const at = subject.cluster.at('clusterresourcebindings', undefined, 'web-eu-1-0');
      await subject.cluster.call({ verb: 'delete', at });
      const { text } = await ask('placement/web', about === undefined ? {} : { cluster: about });
      for (const object of [
        'ClusterResourceBinding "web-eu-1-0"',
        'Work "fleet-member-eu-1/old-work"',
        'ClusterResourceBinding "web-eu-1-1"',
        'Work "fleet-member-eu-1/web-work"',
      ]) {
        expect({ object, told: lines(text, object) }).toEqual({ object, told: 1 });
      }
    });
  });

  test('tells once what is so on several clusters, with their names', async () => {
    const failure = failed('Deployment "shop/web" is owned by ConfigMap "own", and allowCoOwnership is not set');
    const refused = {
      ...failure,
      condition: { ...failure.condition, type: 'Applied', reason: 'FailedToTakeOver' },
      cause: { code: 'OwnedByOthers', by: 'ConfigMap "own"' },
    };
    const own = (name: string): HoldEntry => ({
      ...budgetUsed(name, [name]),
      code: 'NotAvailable',
      facts: { cause: 'failed', message: refused.condition.message },
      next: `fix the failure on cluster "${name}" (a new revision goes there first)`,
    });
    const names = ['eu-1', 'eu-2', 'us-1'];
    const placement = aPlacement({
      said: 'TTTTF',
      clusters: names.map((name) => cluster(name, 'TTTTF', { failedPlacements: [refused] })),
      holds: names.map(own),
    });
    const more = { failedPlacements: [refused] };
    const bindings = names.map((name) => aBinding(name, 'TTTF', { more }));
    const { ask } = await serving([placement, ...names.map((name) => member(name)), ...bindings]);
    expect((await ask('placement/web')).text).toBe(
      `
Blocked: MemberClusters "eu-1", "eu-2", "us-1": Deployment "shop/web" is owned by ConfigMap "own", and allowCoOwnership is not set
ClusterResourcePlacement "web" waits: MemberClusters "eu-1", "eu-2", "us-1" are not available yet (failed) (for 5m)

Evidence:
  1. NotAvailable, for 5m
     MemberCluster "eu-1"
       joined and healthy
       last heartbeat 10s ago
     ClusterResourceBinding "web-eu-1-1"
       is bound to web-1-snapshot
       Applied False (NotFine), for 5m: Applied is not reached
       Applied False (FailedToTakeOver), for 5m: Deployment "shop/web" is owned by ConfigMap "own", and allowCoOwnership is not set
     the same for eu-2, us-1

What you can do:
  - share Deployment "shop/web" with ConfigMap "own": set spec.strategy.applyStrategy.allowCoOwnership of the placement to true; or take that owner out of metadata.ownerReferences on clusters eu-1, eu-2, us-1
  - fix the failure on clusters "eu-1", "eu-2", "us-1" (a new revision goes there first)`.slice(1),
    );
  });

  test('says first that a member is leaving, and until when it is waited for at most', async () => {
    const leavingWords =
      'is leaving: 1 work remains; its agent is unreachable, so the member will be removed at 2026-01-01T12:15:00Z regardless';
    const dead = member('eu-1', false);
    const leaving = {
      ...dead,
      metadata: { name: 'eu-1', finalizers: ['flotilla.dev/test'] },
      status: {
        ...(dead.status as object),
        conditions: [{ ...conditions('ReadyToJoin:F', '', 1)[0], message: `MemberCluster "eu-1" ${leavingWords}` }],
      },
    };
    const others = world.filter(({ kind, metadata }) => kind !== 'MemberCluster' || metadata.name !== 'eu-1');
    const { ask, subject } = await serving([...others, leaving]);
    await subject.cluster.call({ verb: 'delete', at: subject.cluster.at('memberclusters', undefined, 'eu-1') });
    for (const [who, more] of [
      ['ClusterResourcePlacement "web"', {}],
      ['cluster "us-1"', { cluster: 'us-1' }],
    ] as const) {
      const { text } = await ask('placement/web', more);
      expect(text.split('\n')[0]).toBe(`${who} waits: MemberCluster "eu-1" ${leavingWords}`);
      expect(text).toContain('  1. MemberCluster "eu-1" blocks the rollout (failed: no Pod is ready)');
      expect(text).toContain(
        '- wait until cluster "eu-1" has left the fleet, or raise maxUnavailable; if its agent comes back, it leaves sooner',
      );
      expect(text).not.toContain('fix the failure');
    }
  });

  test.each([
    { until: '2026-01-01T12:00:30Z', says: 'UntrackedPeriod, ends by itself in 30s' },
    { until: '2026-01-01T11:59:59Z', says: undefined },
  ])('minds that time alone ends a hold: at $until', async ({ until, says }) => {
    const holds = [{ code: 'UntrackedPeriod', until, facts: { seconds: 60 }, count: 1, clusters: ['eu-1'] }];
    const { ask } = await serving([aPlacement({ clusters: [cluster('eu-1', 'TTTTTT')], holds })]);
    const { code, text } = await ask('placement/web');
    expect(code).toBe(0);
    expect(text.includes('UntrackedPeriod')).toBe(says !== undefined);
    expect(text).toContain(says ?? 'is complete');
    const { causes } = JSON.parse((await ask('placement/web', { output: 'json' })).text);
    expect(causes.map((each: { until?: string }) => each.until)).toEqual(says === undefined ? [] : [until]);
  });

  test("has no advice about what is in nobody's way", async () => {
    const next = 'wait, or lower unavailablePeriodSeconds';
    const holds = [{ code: 'UntrackedPeriod', facts: { seconds: 60 }, count: 1, clusters: ['eu-1'], next }];
    const { ask } = await serving([aPlacement({ clusters: [cluster('eu-1', 'TTTTTT')], holds })]);
    const { code, text } = await ask('placement/web');
    expect(code).toBe(0);
    expect(text).toContain('cannot be tracked');
    expect(text).not.toContain(next);
  });

  test('says for how long it does not move as a whole, also where the hold does not tell', async () => {
    const holds = [{ code: 'SpecInvalid', facts: { message: 'spec.x needs y' }, next: 'set y' }];
    const { ask } = await serving([aPlacement({ said: 'U', holds })]);
    const { text } = await ask('placement/web');
    expect(text.split('\n')[0]).toMatch(
      /^Blocked: ClusterResourcePlacement "web" cannot work: spec\.x needs y \(for 5m\)$/,
    );
  });

  test('goes on without what the caller may not read, and says so', async () => {
    const { ask } = await serving([...world, ...rights('clusterresourceplacements')]);
    const { code, text } = await ask('placement/web', { as: dev });
    expect(code).toBe(2);
    expect(text.split('\n\n')).toEqual([
      expect.stringMatching(/\nClusterResourcePlacement "web" waits: MemberCluster "eu-1" blocks the rollout/),
      `
Evidence:
  1. BudgetUsed, for 5m
     1 cluster waits: us-1
     ClusterResourcePlacement "web" on cluster "eu-1"
       Available False (NotFine), for 5m: Available is not reached
       Deployment "shop/web": Available False (ManifestNotAvailableYet), for 5m: no Pod is ready`.slice(1),
      expect.stringContaining('fix the failure'),
      expect.stringMatching(
        /^Note:\n {2}- MemberCluster "eu-1" could not be read: .*forbidden.*\n {2}- the ClusterResourceBindings could not be read: .*forbidden.*$/,
      ),
    ]);
  });

  describe('where the caller has a way to the member', () => {
    const deployment = (owner: string): KubeObject => ({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: {
        name: 'web',
        namespace: 'shop',
        ownerReferences: [
          { apiVersion: 'placement.kubernetes-fleet.io/v1beta1', kind: 'AppliedWork', name: owner, uid: 'x' },
        ],
      },
      spec: {
        selector: { matchLabels: { app: 'web' } },
        template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'web:bad' }] } },
      },
    });
    const pod = (name: string, app: string): KubeObject => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'shop', labels: { app } },
      spec: { containers: [{ name: 'web', image: 'web:bad' }] },
      status: {
        phase: 'Pending',
        containerStatuses: [
          {
            name: 'web',
            image: 'web:bad',
            imageID: '',
            ready: false,
            restartCount: 0,
            state: { waiting: { reason: 'ErrImagePull', message: `no such image for ${name}` } },
          },
        ],
      },
    });
    const account = { ...core('ServiceAccount', 'default'), metadata: { name: 'default', namespace: 'shop' } };
    const onMember = (owner: string) =>
      [core('Namespace', 'shop'), account, deployment(owner), pod('web-1', 'web'), pod('other-1', 'other')] as const;

    test.each([
      { it: 'says why Pods do not come up', owner: 'web-work', told: ['web-1'] },
      { it: 'does not speak of what is not from here', owner: 'other-work', told: [] },
    ])('$it', async ({ owner, told }) => {
      const { ask } = await serving(world);
      const { transport } = await (await serveObjects(onMember(owner), {})).server();
      const members = { at: (name: string) => (name === 'eu-1' ? transport : 'no way') };
      const { text } = await ask('placement/web', { members });
      expect(text.match(/Pod "shop\/.*" on cluster "eu-1"\n.*/g) ?? []).toEqual(
        told.map(
          (name) =>
            `Pod "shop/${name}" on cluster "eu-1"\n       container "web" (web:bad): ErrImagePull: no such image for ${name}`,
        ),
      );
    });

    describe('begins with what was found there', () => {
      const held =
        'MemberCluster "eu-1" blocks the rollout (failed): 2 clusters are available, at least 2 are required';
      const root =
        'Pod "shop/web-1" on cluster "eu-1": container "web" (web:bad): ErrImagePull: no such image for web-1';
      const asked = async (objects: readonly KubeObject[], options: Partial<WhyOptions> = {}, onHub = world) => {
        const { ask } = await serving(onHub);
        const { transport } = await (await serveObjects(objects, {})).server();
        return (await ask('placement/web', { members: { at: () => transport }, ...options })).text;
      };

      test.each([
        { of: {}, who: 'ClusterResourcePlacement "web"' },
        { of: { cluster: 'us-1' }, who: 'cluster "us-1"' },
      ])('of $who', async ({ of, who }) => {
        const text = await asked(onMember('web-work'), of);
        expect(text.split('\n\n')[0]).toBe(`Blocked: ${root}\n${who} waits: ${held} (for 5m)`);
        // The first line is not repeated.
        expect(text.split(held)).toHaveLength(2);
        expect(JSON.parse(await asked(onMember('web-work'), { ...of, output: 'json' }))).toMatchObject({
          label: 'Blocked',
          sentence: `${who} waits: ${held}; ${root}`,
        });
      });

      test.each([
        { it: 'it waits for a removal', code: 'RemovalPending', facts: {} },
        { it: 'it is not heard', code: 'Unreachable', facts: {} },
        { it: 'it blocks the rollout because it is not heard', code: 'BudgetUsed', facts: { cause: 'unreachable' } },
      ] as const)('but not where $it', async ({ code, facts }) => {
        const hold = { ...budgetUsed('eu-1', ['us-1']), code, facts };
        const placement = { ...stopped, status: { ...stopped.status, holds: [hold] } };
        const text = await asked(onMember('web-work'), {}, [...world.filter((each) => each !== stopped), placement]);
        expect(text.split('\n')[0]).not.toContain('ErrImagePull');
        expect(text).toContain('ErrImagePull');
      });

      test('but not of a cluster that waits for another one', async () => {
        const hold = budgetUsed('eu-2', ['eu-1']);
        const placement = { ...stopped, status: { ...stopped.status, holds: [hold] } };
        const objects = [...world.filter((each) => each !== stopped), placement];
        const text = await asked(onMember('web-work'), { cluster: 'eu-1' }, objects);
        expect(text).toMatch(
          /^Blocked: MemberCluster "eu-2": .*\ncluster "eu-1" waits: MemberCluster "eu-2" .* required \(for 5m\)\n/,
        );
        expect(text).toContain('ErrImagePull');
      });

      test('but not where the member is leaving, which is said instead', async () => {
        const { metadata, ...rest } = member('eu-1');
        const staying = world.filter(({ kind, metadata: { name } }) => kind !== 'MemberCluster' || name !== 'eu-1');
        const held = { ...rest, metadata: { ...metadata, finalizers: ['example.com/held'] } };
        const { ask, subject } = await serving([...staying, held]);
        const { cluster: hub } = subject;
        await hub.call({ verb: 'delete', at: hub.at('memberclusters', undefined, 'eu-1') });
        const { transport } = await (await serveObjects(onMember('web-work'), {})).server();
        const { text } = await ask('placement/web', { members: { at: () => transport } });
        expect(text.split('\n')[0]).toMatch(/ waits: MemberCluster "eu-1" is leaving the fleet$/);
        expect(text).toContain('ErrImagePull');
      });

      test('but not where all of it is being deleted', async () => {
        const { metadata, ...rest } = stopped;
        const held = { ...rest, metadata: { ...metadata, finalizers: ['example.com/held'] } };
        const { ask, subject } = await serving([...world.filter((each) => each !== stopped), held]);
        const { cluster: hub } = subject;
        await hub.call({ verb: 'delete', at: hub.at('clusterresourceplacements', undefined, 'web') });
        const { transport } = await (await serveObjects(onMember('web-work'), {})).server();
        const { text } = await ask('placement/web', { members: { at: () => transport } });
        expect(text.split('\n')[0]).toMatch(/ has been terminating for .* to remove it first$/);
        expect(text).toContain('ErrImagePull');
      });

      test('in one line, and shortened', async () => {
        const { status, ...rest } = pod('web-1', 'web');
        const wordy = JSON.parse(JSON.stringify(status).replace('no such image', `no\\nsuch ${'x'.repeat(250)}`));
        const [namespace, sa, owner] = onMember('web-work');
        const text = await asked([namespace, sa, owner, { ...rest, status: wordy }]);
        expect(text.split('\n')[0]).toMatch(/^Blocked: Pod "shop\/web-1" .*: ErrImagePull: no such x+…$/);
        expect(text.split('\n')[0]?.length).toBeLessThan(400);
      });
    });

    describe('to a StatefulSet that does not replace a broken Pod', () => {
      const { metadata: owned, spec: given } = deployment('web-work');
      const set: KubeObject = {
        apiVersion: 'apps/v1',
        kind: 'StatefulSet',
        metadata: owned,
        spec: { ...(given as object), serviceName: 'web', replicas: 1 },
        status: { replicas: 1, currentRevision: 'web-old', updateRevision: 'web-new' },
      };
      const asStatefulSet = (object: KubeObject): KubeObject =>
        JSON.parse(JSON.stringify(object).replaceAll('"Deployment"', '"StatefulSet"'));
      const revision = { 'controller-revision-hash': 'web-bad' };
      const deletion =
        'delete Pod "shop/web-1" on cluster "eu-1" if it does not become ready; its StatefulSet creates it again: `kubectl --context eu-1 -n shop delete pod web-1`';

      /** The objects on the member. */
      async function standing() {
        const there = await serveObjects([core('Namespace', 'shop'), account, set], {});
        const { uid = '' } = (await there.subject.cluster.get('statefulsets', 'shop', 'web')).metadata;
        const { metadata, ...broken } = pod('web-1', 'web');
        const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid, controller: true };
        const labelled = { ...metadata, labels: { ...metadata.labels, ...revision }, ownerReferences: [owner] };
        await there.write({ ...broken, metadata: labelled });
        const { transport } = await there.server();
        return { at: () => transport };
      }

      test('says so, and first of all to delete it', async () => {
        const { ask } = await serving(world.map(asStatefulSet));
        const { text } = await ask('placement/web', { members: await standing() });
        expect(text).toContain(`
     Pod "shop/web-1" on cluster "eu-1"
       container "web" (web:bad): ErrImagePull: no such image for web-1
       is still of an earlier revision (web-bad): its StatefulSet does not replace a Pod that is not ready
`);
        expect(text).toContain(`
What you can do:
  - ${deletion}
  - look at StatefulSet "shop/web"`);
        expect(text).toMatch(/\n {2}- fix the failure on cluster "eu-1", or raise maxUnavailable$/);
      });

      test('says on which clusters it may be so, too', async () => {
        const names = ['eu-1', 'eu-2', 'us-1'];
        const own = (name: string): HoldEntry => ({
          ...budgetUsed(name, [name]),
          code: 'NotAvailable',
          facts: { cause: 'starting' },
        });
        const placement = { ...stopped, status: { ...stopped.status, holds: names.map(own) } };
        const others = world.filter((each) => each !== stopped);
        const { ask } = await serving([...others, placement].map(asStatefulSet));
        const { text } = await ask('placement/web', { members: await standing() });
        expect(text).toContain(`What you can do:\n  - ${deletion} (also on eu-2, us-1)\n`);
      });
    });

    test('says what does not let itself be deleted there', async () => {
      const { metadata, ...order } = work('eu-1', 'fine');
      const going = { ...order, metadata: { ...metadata, finalizers: ['example.com/held'] } };
      const identified = JSON.parse(
        JSON.stringify(going).replace('"kind":"Deployment"', '"kind":"Deployment","resource":"deployments"'),
      );
      const { ask, subject } = await serving([...world.filter(({ kind }) => kind !== 'Work'), identified]);
      const { cluster: hub } = subject;
      await hub.call({ verb: 'delete', at: hub.at('works', 'fleet-member-eu-1', 'web-work') });
      const left = deployment('web-work');
      const held = { ...left, metadata: { ...left.metadata, finalizers: ['example.com/mine'] } };
      const onSide = await serveObjects([core('Namespace', 'shop'), held], {});
      const { cluster: there } = onSide.subject;
      await there.call({ verb: 'delete', at: there.at('deployments', 'shop', 'web') });
      const { transport } = await onSide.server();
      const { text } = await ask('placement/web', { members: { at: () => transport } });
      expect(text).toMatch(
        /Deployment "shop\/web" on cluster "eu-1"\n +has been terminating for .*, held by example.com\/mine\n/,
      );
    });

    test('says what keeps a namespace from going there', async () => {
      const { metadata, ...order } = work('eu-1', 'fine');
      const going = { ...order, metadata: { ...metadata, finalizers: ['example.com/held'] } };
      const identified = JSON.parse(
        JSON.stringify(going).replace('"kind":"Namespace"', '"kind":"Namespace","resource":"namespaces"'),
      );
      const { ask, subject } = await serving([...world.filter(({ kind }) => kind !== 'Work'), identified]);
      const { cluster: hub } = subject;
      await hub.call({ verb: 'delete', at: hub.at('works', 'fleet-member-eu-1', 'web-work') });
      const { ownerReferences = [] } = deployment('web-work').metadata;
      const finalizers = ['example.com/hold'];
      const held = { ...core('ConfigMap', 'a'), metadata: { name: 'a', namespace: 'shop', finalizers } };
      const shop = {
        ...core('Namespace', 'shop', { spec: { finalizers: ['kubernetes', 'example.com/own'] } }),
        metadata: { name: 'shop', ownerReferences },
      };
      const onSide = await serveObjects([shop, held], {});
      const { cluster: there } = onSide.subject;
      await there.call({ verb: 'delete', at: there.at('namespaces', undefined, 'shop') });
      await there.settled();
      const { transport } = await onSide.server();
      const { text } = await ask('placement/web', { members: { at: () => transport } });
      expect(text).toMatch(
        /Namespace "shop" on cluster "eu-1"\n +has been terminating for .*, held by example.com\/own\n +Some resources are remaining: .*\n +Some content in the namespace has finalizers remaining: example.com\/hold in 1 resource instances\n/,
      );
    });

    test('is asked for nothing but what can be a name', async () => {
      const { metadata, ...order } = work('eu-1', 'fine');
      const odd = { version: 'v1/namespaces/x/services/y/proxy?', resource: 'deployments' };
      const going = { ...order, metadata: { ...metadata, finalizers: ['example.com/held'] } };
      const forged = JSON.parse(JSON.stringify(going), (key, value) =>
        key === 'identifier' ? { ...value, ...odd } : value,
      );
      const { ask, subject } = await serving([...world.filter(({ kind }) => kind !== 'Work'), forged]);
      const at = subject.cluster.at('works', 'fleet-member-eu-1', 'web-work');
      await subject.cluster.call({ verb: 'delete', at });
      const nobody = { call: () => expect.unreachable(), watch: () => expect.unreachable() };
      const { text } = await ask('placement/web', { members: { at: () => nobody } });
      expect(text).not.toContain('could not be read there');
    });

    test('says what was not looked at where there is none, once for a cluster', async () => {
      const { ask } = await serving([
        ...world,
        { ...work('eu-1', 'no'), metadata: { ...work('eu-1', 'no').metadata, name: 'web-2' } },
      ]);
      const members = { at: () => 'the kubeconfig has no context of that name' };
      const { text } = await ask('placement/web', { members });
      expect(text.split('\n\n').at(-1)).toBe(`Note:
  - cluster "eu-1": the kubeconfig has no context of that name, so its workloads were not examined`);
      expect((await ask('placement/web', { members, cluster: 'eu-2' })).text).not.toContain('not examined');
    });

    test('goes on without it where it leads nowhere, and says so', async () => {
      const { ask } = await serving(world);
      const away = {
        call: () => Promise.reject(new LostError('no answer', { sent: false })),
        watch: () => expect.unreachable(),
      };
      const { code, text } = await ask('placement/web', { members: { at: () => away } });
      expect(code).toBe(2);
      expect(text).toContain('manifest 1, Deployment "shop/web"');
      expect(text).toMatch(/- the failing objects on cluster "eu-1" could not be read there: no answer$/);
    });
  });

  test('is for programs, too', async () => {
    const { ask } = await serving(world);
    const { text } = await ask('placement/web', { output: 'json' });
    expect(JSON.parse(text)).toMatchObject({
      about: 'ClusterResourcePlacement "web"',
      isWaiting: true,
      since: BEFORE,
      causes: [
        { code: 'BudgetUsed', since: BEFORE, waiting: { count: 1, clusters: ['us-1'] }, evidence: expect.any(Array) },
      ],
      next: [expect.stringContaining('kubectl --context eu-1'), expect.stringContaining('fix the failure')],
      notes: [],
    });
  });

  test('says of what counts as available that nobody can tell', async () => {
    const order = work('eu-1', '');
    const [told, silent] = [conditions('Available:T', '', 1)[0], conditions('Applied:T', '', 1)];
    const job = { ordinal: 1, group: 'batch', version: 'v1', kind: 'Job', namespace: 'shop', name: 'mig' };
    const manifestConditions = [{ identifier: job, conditions: [...silent, { ...told, reason: 'NotTrackable' }] }];
    const reported = cluster('eu-1', 'TTTTTT');
    const state = {
      ...reported,
      conditions: reported.conditions?.map((each) =>
        each.type === 'Available' ? { ...each, reason: 'NotAllWorkAreAvailabilityTrackable' } : each,
      ),
    };
    const { ask } = await serving([
      aPlacement({
        clusters: [state as typeof reported],
      }),
      member('eu-1'),
      core('Namespace', 'fleet-member-eu-1'),
      aBinding('eu-1', 'TTTTT'),
      { ...order, status: { conditions: conditions('Applied:T Available:T', '', 1), manifestConditions } },
    ]);
    expect(await ask('placement/web')).toEqual({
      code: 0,
      text: `
ClusterResourcePlacement "web" is complete: available on its cluster (revision 1)

Note:
  - the availability of Job "shop/mig" on cluster "eu-1" cannot be tracked; it counts as available after some time; a Job is looked at if it, or the placement, has the annotation flotilla.dev/track-availability: "true"`.trim(),
    });
  });

  describe('of what somebody changes on a member again and again', () => {
    const message =
      'Deployment "shop/web" is changed on the member repeatedly; it is corrected at 2026-01-01T12:10:00Z';
    const note = `on cluster "eu-1": ${message}`;
    const feud = (is: 'True' | 'False', name = 'web-work'): KubeObject => {
      const order = work('eu-1', '');
      const identifier = {
        ordinal: 1,
        group: 'apps',
        version: 'v1',
        kind: 'Deployment',
        namespace: 'shop',
        name: 'web',
      };
      const applied = { ...conditions('Applied:T', '', 1)[0], status: is, message };
      const manifestConditions = [{ identifier, conditions: [applied], cause: { code: 'ChangedRepeatedly' } }];
      const status = { conditions: conditions('Applied:T Available:T', '', 1), manifestConditions };
      return { ...order, metadata: { ...order.metadata, name }, status };
    };
    const complete = [
      aPlacement({ clusters: [cluster('eu-1', 'TTTTTT')] }),
      member('eu-1'),
      core('Namespace', 'fleet-member-eu-1'),
      aBinding('eu-1', 'TTTTT'),
      snapshot(1),
    ];

    test('is told of a cluster that has all of it', async () => {
      const { ask } = await serving([...complete, feud('True')]);
      const { code, text } = await ask('placement/web', { cluster: 'eu-1' });
      expect({ code, told: text.split('\n\n').slice(1) }).toEqual({ code: 0, told: [`Note:\n  - ${note}`] });
    });

    test('is told where the Works are read anyway', async () => {
      const { ask } = await serving([...world, feud('True', 'web-2')]);
      expect((await ask('placement/web')).text).toContain(`Note:\n  - ${note}`);
      expect((await ask('placement/web', { cluster: 'eu-2' })).text).not.toContain(note);
    });

    test('is no note where it is a failure, which is told as such', async () => {
      const { ask } = await serving([...complete, feud('False')]);
      expect((await ask('placement/web', { cluster: 'eu-1' })).text).not.toContain(note);
    });
  });

  test('says of a member that is not heard that it told so before', async () => {
    const { ask } = await serving([
      aPlacement({ clusters: [cluster('eu-1', 'TTTTTT'), cluster('us-2', 'TTTTTT')] }),
      member('eu-1'),
      member('us-2', false),
      member('us-3', false),
    ]);
    const note = 'Note:\n  - cluster "us-2" (for 5m) is unreachable: this is the last report';
    expect(await ask('placement/web')).toEqual({ code: 0, text: expect.stringContaining(note) });
    expect(await ask('placement/web', { cluster: 'us-2' })).toEqual({ code: 0, text: expect.stringContaining(note) });
    expect((await ask('placement/web', { cluster: 'eu-1' })).text).not.toContain('unreachable: this is');
  });

  test('finds nothing when all is there', async () => {
    const { ask } = await serving([aPlacement({ clusters: [cluster('eu-1', 'TTTTTT')] })]);
    expect(await ask('placement/web')).toEqual({
      code: 0,
      text: 'ClusterResourcePlacement "web" is complete: available on its cluster (revision 1)',
    });
  });

  describe('of one that selects nothing', () => {
    const note = 'selector v1 Namespace "shoop" matches nothing';
    const empty = aPlacement({ clusters: [cluster('eu-1', 'TTTTTT')], isEmpty: true, note });
    const says = `ClusterResourcePlacement "web" selects nothing: ${note}`;
    const next =
      'What you can do:\n  - correct the resourceSelectors of the placement, or create on the hub what they ask for';
    const atOnce =
      'Note:\n  - a revision without objects is available at once, so maxUnavailable does not slow its rollout down';

    test('says so first, what to do, and that no budget slows it down', async () => {
      const { ask } = await serving([empty]);
      expect(await ask('placement/web')).toEqual({ code: 2, text: `${says}\n\n${next}\n\n${atOnce}` });
    });

    test('says so first of a cluster that has nothing of it, too', async () => {
      const { ask } = await serving([empty, member('eu-1')]);
      expect(await ask('placement/web', { cluster: 'eu-1' })).toEqual({
        code: 2,
        text: `${says}\n\n${next}\n\n${atOnce}`,
      });
    });

    test('then says what holds it besides', async () => {
      const { ask } = await serving([empty, member('us-1')]);
      const { code, text } = await ask('placement/web', { cluster: 'us-1' });
      expect(code).toBe(2);
      expect(text.split('\n')[0]).toBe(says);
      expect(text).toContain(
        'Evidence:\n  1. cluster "us-1" is not picked by ClusterResourcePlacement "web": the scheduler gives no reason\n',
      );
      expect(text).toContain(`${next}\n  - change the policy`);
    });
  });

  test('says of one that is complete what it does not send', async () => {
    const note = 'selector v1 Namespace "shop" matches nothing';
    const { ask } = await serving([aPlacement({ clusters: [cluster('eu-1', 'TTTTTT')], note })]);
    expect(await ask('placement/web')).toEqual({
      code: 0,
      text: 'ClusterResourcePlacement "web" is complete: available on its cluster (revision 1)\n\nNote:\n  - selector v1 Namespace "shop" matches nothing',
    });
  });

  test('says of one that fits nobody what keeps each cluster out', async () => {
    const { ask } = await serving([
      aPlacement({ said: 'T' }),
      policy([{ clusterName: 'us-1', selected: false, reason: 'cluster does not have label "env"' }]),
      member('us-1'),
      member('us-2'),
    ]);
    expect(await ask('placement/web')).toEqual({
      code: 2,
      text: `
no cluster fits ClusterResourcePlacement "web": none of 2 matches its policy

Evidence:
  1. Clusters that were evaluated
       us-1: cluster does not have label "env"
       and 1 more

What you can do:
  - change the policy of the placement, or the labels and taints of clusters`.trim(),
    });
  });

  describe('of a policy that asks for labels', () => {
    const terms = [
      { labelSelector: { matchLabels: { env: 'prod', region: 'eu' } } },
      { labelSelector: { matchExpressions: [{ key: 'env', operator: 'In', values: ['canary', 'test'] }] } },
    ];
    const clusterAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { clusterSelectorTerms: terms } };
    const spec = { policy: { placementType: 'PickAll', affinity: { clusterAffinity } } } as Partial<PlacementSpec>;
    const staging = member('us-1');
    const asking = () =>
      serving([
        aPlacement({ said: 'T', spec }),
        policy([{ clusterName: 'us-1', selected: false, reason: 'ClusterUnschedulable, no term fits' }]),
        { ...staging, metadata: { ...staging.metadata, labels: { env: 'staging', order: '1' } } },
      ]);
    const asks = 'Labels that the policy asks for\n       env=prod,region=eu, or env in (canary,test)';

    test('says which, and what each cluster has of them', async () => {
      const { ask } = await asking();
      expect((await ask('placement/web')).text).toContain(`
  1. ${asks}
     Clusters that were evaluated
       us-1: no term fits (it has env=staging, no region)
`);
    });

    test('says so of one cluster, too', async () => {
      const { ask } = await asking();
      const { text } = await ask('placement/web', { cluster: 'us-1' });
      expect(text).toContain(`     ${asks}\n       it has env=staging, no region\n`);
    });
  });

  test.each([
    { it: 'no cluster has', said: 'T', says: /^no cluster fits ResourcePlacement "team\/web": none of 1 / },
    { it: 'too few clusters have', said: 'F', says: /^ResourcePlacement "team\/web" waits: not enough clusters fit/ },
  ])('says where the namespace comes from that $it', async ({ said, says }) => {
    const { ask } = await serving([
      core('Namespace', 'team'),
      aPlacement({ said, metadata: { name: 'web', namespace: 'team' } }),
      policy([{ clusterName: 'us-1', selected: false, reason: 'cluster does not have namespace "team"' }], 'team'),
      member('us-1'),
    ]);
    const { code, text } = await ask('placement/web', { namespace: 'team' });
    expect(code).toBe(2);
    expect(text).toMatch(says);
    expect(text).toContain('us-1: cluster does not have namespace "team"');
    expect(text).toContain('- bring namespace "team" to the clusters: a ClusterResourcePlacement that selects it');
  });

  test('says of an empty fleet that it is empty', async () => {
    const { ask } = await serving([aPlacement({ said: 'T' }), policy([])]);
    const { code, text } = await ask('placement/web');
    expect(code).toBe(2);
    expect(text).toMatch(/^no cluster fits ClusterResourcePlacement "web": the fleet has no members\n/);
  });

  test('blames no cluster when the policy asks for none', async () => {
    const { ask } = await serving([
      aPlacement({ said: 'T', spec: { policy: { placementType: 'PickN', numberOfClusters: 0 } } }),
      policy([{ clusterName: 'us-1', selected: false, reason: 'not needed' }]),
    ]);
    expect(await ask('placement/web')).toEqual({
      code: 0,
      text: 'ClusterResourcePlacement "web" is complete: its policy asks for no cluster',
    });
  });

  test('speaks of ResourcePlacements with a namespace', async () => {
    const metadata = { name: 'web', namespace: 'team' };
    const own = aPlacement({
      metadata,
      said: 'TF',
      clusters: [cluster('eu-1', 'TF')],
      holds: [budgetUsed('eu-1', ['eu-2'])],
    });
    const { ask } = await serving([
      core('Namespace', 'team'),
      own,
      member('eu-1'),
      aBinding('eu-1', 'F', { namespace: 'team' }),
    ]);
    const { text } = await ask('placement/web', { namespace: 'team' });
    expect(text).toMatch(/\nResourcePlacement "team\/web" waits: MemberCluster "eu-1"/);
    expect(text).toContain('     ResourceBinding "team/web-eu-1-1"\n');
  });

  test('of a cluster that a hold names', async () => {
    const { ask } = await serving(world);
    const { code, text } = await ask('placement/web', { cluster: 'us-1' });
    expect(code).toBe(2);
    expect(text).toMatch(/\ncluster "us-1" waits: MemberCluster "eu-1" blocks the rollout/);
    expect(text).toContain('     ClusterResourceBinding "web-us-1-1"\n       is bound to web-0-snapshot\n');
  });

  test.each([
    {
      name: 'eu-2',
      code: 0,
      says: 'cluster "eu-2" is done: ClusterResourcePlacement "web" is available (revision 1)',
    },
    {
      name: 'us-2',
      code: 2,
      says: 'cluster "us-2" is not picked by ClusterResourcePlacement "web": it has the taint gpu=only',
      also: 'Healthy Unknown (MemberUnreachable), for 5m: no heartbeat',
    },
    {
      name: 'eu-1',
      code: 2,
      says: [
        'Blocked: MemberCluster "eu-1": Available is not reached',
        'cluster "eu-1" waits: MemberCluster "eu-1" is not available yet (starting) (for 5m)',
      ].join('\n'),
    },
  ])('of $name, which no hold names', async ({ name, code, says, also = '' }) => {
    const { ask } = await serving(world);
    const answer = await ask('placement/web', { cluster: name });
    expect(answer.text.split('\n\n')[0]).toBe(says);
    expect(answer.text).toContain(also);
    expect(answer.code).toBe(code);
  });

  test('of the thirtieth waiting cluster is planned here, and agrees with what the hub wrote about the first', async () => {
    const names = Array.from({ length: 30 }, (_, at) => `c${String(at).padStart(2, '0')}`);
    const bindings = names.map((name, at) =>
      at < 8 ? aBinding(name, 'TTTTF') : aBinding(name, 'TTTTT', { index: 0 }),
    );
    const placement = aPlacement({
      said: 'TF',
      clusters: names.map((name, at) => cluster(name, at < 8 ? 'TTTTTF' : 'TF')),
      holds: [budgetUsed('c00', names.slice(8, 28), 22)],
    });
    const { ask } = await serving([placement, ...names.map((name) => member(name)), ...bindings, snapshot(1)]);
    const [first, last] = [
      await ask('placement/web', { cluster: 'c08' }),
      await ask('placement/web', { cluster: 'c29' }),
    ];
    expect(first.text.split('\n')[1]).toBe(
      'cluster "c08" waits: MemberCluster "c00" blocks the rollout (failed): 2 clusters are available, at least 2 are required (for 5m)',
    );
    expect(last.text.split('\n')[1]).toBe(
      'cluster "c29" waits: MemberCluster "c00" blocks the rollout (starting): 22 clusters are available, at least 22 are required (maxUnavailable: 8) (for 5m)',
    );
    expect((await ask('placement/web')).text).toContain(
      `22 clusters wait: ${names.slice(8, 28).join(', ')}, and 2 more`,
    );
  });

  describe('of a cluster that is not picked', () => {
    const fixed = { policy: { placementType: 'PickFixed', clusterNames: ['eu-1', 'eu-9'] } } as Partial<PlacementSpec>;
    const silent = (name: string): KubeObject => ({ ...member(name), status: { conditions: [] } });
    const refusal = (clusterName: string, reason: string) => ({ clusterName, selected: false, reason });

    test.each<{
      it: string;
      spec?: Partial<PlacementSpec>;
      namespace?: string;
      decisions: readonly object[];
      about: string;
      why: string;
      next: string;
    }>([
      {
        it: 'because others are named',
        spec: fixed,
        decisions: [],
        about: 'us-1',
        why: 'its policy names other clusters',
        next: 'name cluster "us-1" in the policy of the placement',
      },
      {
        it: 'because it is no member',
        spec: fixed,
        decisions: [refusal('eu-9', 'cluster "eu-9" is no member of the fleet')],
        about: 'eu-9',
        why: 'cluster "eu-9" is no member of the fleet',
        next: 'let cluster "eu-9" join (`flotilla join`), or name another one',
      },
      {
        it: 'because enough others are there',
        spec: { policy: { placementType: 'PickN', numberOfClusters: 1 } } as Partial<PlacementSpec>,
        decisions: [],
        about: 'us-1',
        why: 'its policy asks for 1, and others were found',
        next: 'change the policy of the placement, or the labels and taints of cluster "us-1"',
      },
      {
        it: 'because it lacks what would be in it',
        namespace: 'team',
        decisions: [refusal('us-1', 'cluster does not have namespace "team"')],
        about: 'us-1',
        why: 'cluster does not have namespace "team"',
        next: 'bring namespace "team" to the clusters: a ClusterResourcePlacement that selects it',
      },
      {
        it: 'because its agent never came',
        decisions: [refusal('us-2', 'ClusterUnschedulable, member agent not online yet')],
        about: 'us-2',
        why: 'member agent not online yet',
        next: 'start the agent of cluster "us-2" (`flotilla member`)',
      },
      {
        it: 'because nobody hears it',
        decisions: [refusal('us-3', 'ClusterUnschedulable, no recent heartbeat')],
        about: 'us-3',
        why: 'no recent heartbeat',
        next: 'reconnect cluster "us-3": its agent does not respond',
      },
    ])('$it', async ({ spec = {}, namespace, decisions, about, why, next }) => {
      const within = namespace === undefined ? {} : { namespace };
      const metadata = { name: 'web', ...within };
      const own = aPlacement({ clusters: [cluster('eu-1', 'TTTTTT')], spec, metadata });
      const members = [member('us-1'), silent('us-2'), member('us-3', false)];
      const { ask } = await serving([core('Namespace', 'team'), own, policy(decisions, namespace), ...members]);
      const { code, text } = await ask('placement/web', { cluster: about, ...within });
      expect(code).toBe(2);
      expect(text).toMatch(new RegExp(`cluster "${about}" is not picked by \\w+ "(?:team/)?web": ${why}\n`));
      expect(text).toContain(`What you can do:\n  - ${next}`);
    });
  });

  test('blames no member that may not be read', async () => {
    const own = aPlacement({ said: 'TF', clusters: [], holds: [] });
    const bindings = [aBinding('eu-1', 'TTTT'), aBinding('us-1', 'TTTTT', { index: 0 })];
    const all = ['clusterresourceplacements', 'clusterresourcebindings', 'clusterresourcesnapshots'];
    const { ask } = await serving([own, member('eu-1'), member('us-1'), ...bindings, snapshot(1), ...rights(...all)]);
    const { text } = await ask('placement/web', { cluster: 'us-1', as: dev });
    expect(text).toMatch(/^Blocked: cluster "us-1" waits: MemberCluster "eu-1" blocks the rollout \(in progress\)/);
    expect(text).not.toContain('unreachable');
    expect(text).toContain('- MemberClusters could not be read');
  });

  describe('on a CRD without status.holds', () => {
    const bare: readonly Kind[] = hubKinds.map((kind) =>
      kind.kind === 'ClusterResourcePlacement' ? withoutHolds(kind) : kind,
    );

    test('says so, and answers from conditions and Events', async () => {
      const { holds: _holds, ...status } = stopped.status ?? {};
      const objects = world.map((object) => (object === stopped ? { ...stopped, status } : object));
      const { ask, subject } = await serving(objects, { kinds: bare });
      const { uid } = (await subject.cluster.get('clusterresourceplacements', undefined, 'web')).metadata;
      await subject.cluster.create('events', 'default', {
        metadata: { name: 'e', namespace: 'default' },
        involvedObject: { kind: 'ClusterResourcePlacement', name: 'web', uid },
        type: 'Normal',
        reason: 'PlacementRolloutStarted',
        message: 'it began',
        lastTimestamp: BEFORE,
      });
      const { code, text } = await ask('placement/web');
      expect(code).toBe(2);
      expect(text).toMatch(
        /^ClusterResourcePlacement "web" is not complete: RolloutStarted is False \(NotFine\): RolloutStarted is not reached\n/,
      );
      expect(text).toContain('  1. cluster "eu-1" is NotAvailable: Deployment "shop/web": no Pod is ready\n');
      expect(text).toContain(
        '  3. recent Events\n     Events\n       5m ago Normal PlacementRolloutStarted: it began\n',
      );
      expect(text).toContain('  - the CRD of this server has no field status.holds');
      const { text: planned } = await ask('placement/web', { cluster: 'us-1' });
      expect(planned).toMatch(/\ncluster "us-1" waits: MemberCluster "eu-1" blocks the rollout/);
    });
  });

  test.each([
    {
      it: 'selectors that cannot work',
      said: 'F',
      change: { reason: 'InvalidResourceSelectors', message: 'no kind "Foo"' },
      says: 'waits: no kind "Foo"',
      next: 'correct the resourceSelectors',
    },
    {
      it: 'too few clusters',
      said: 'FTTTTT',
      change: { reason: 'SchedulingPolicyUnfulfilled', message: '1 of 2' },
      says: 'waits: not enough clusters fit the policy: 1 of 2',
      next: 'let more clusters join',
    },
  ])('names $it', async ({ said, change, says, next }) => {
    const placement = aPlacement({ said, clusters: [cluster('eu-1', 'TTTTTT'), cluster('', 'F')] });
    const [first, ...others] = placement.status?.conditions ?? [];
    const changed = { ...placement, status: { ...placement.status, conditions: [{ ...first, ...change }, ...others] } };
    const { ask } = await serving([
      changed as Placement,
      policy([{ clusterName: 'us-1', selected: false, reason: 'tainted' }]),
    ]);
    const { code, text } = await ask('placement/web');
    expect({ code, first: text.split('\n')[0] }).toEqual({
      code: 2,
      first: `ClusterResourcePlacement "web" ${says} (for 5m)`,
    });
    expect(text).toContain(next);
    if (said.length > 1) expect(text).toContain('us-1: tainted');
    else expect(text).not.toContain('Evidence');
  });

  test('names who has to let go before a deletion can end', async () => {
    const held = { ...stopped, metadata: { ...stopped.metadata, finalizers: ['kubernetes-fleet.io/crp-cleanup'] } };
    const { ask, subject } = await serving([held, member('eu-1', false), aBinding('eu-1', 'TTTTT')]);
    await subject.cluster.call({
      verb: 'delete',
      at: subject.cluster.at('clusterresourceplacements', undefined, 'web'),
    });
    const { code, text } = await ask('placement/web');
    expect(code).toBe(2);
    expect(text).toMatch(
      /^ClusterResourcePlacement "web" has been terminating for .*: 1 cluster has to remove it first\n/,
    );
    expect(text).toContain(
      '  1. cluster "eu-1" has not finished removing it\n     MemberCluster "eu-1"\n       Healthy Unknown',
    );
  });

  test('before the hub has looked points at the hub', async () => {
    const { status: _status, ...fresh } = aPlacement();
    const { ask } = await serving([fresh as Placement]);
    expect(await ask('placement/web')).toMatchObject({
      code: 2,
      text: expect.stringMatching(
        /the hub has not processed generation 1 yet\n\nWhat you can do:\n {2}- check that the hub controllers are running/,
      ),
    });
  });

  test('survives holds that it does not know', async () => {
    const codes = ['toString', '__proto__', 'FromTheFuture'];
    const holds: HoldEntry[] = codes.map((code) => ({ code, count: 1, clusters: ['eu-1'] }));
    holds.push(budgetUsed('../../api', []));
    const { ask } = await serving([aPlacement({ said: 'TF', clusters: [cluster('eu-1', 'TF')], holds })]);
    const { text } = await ask('placement/web');
    expect(text).toContain('waits: blocked by ClusterResourcePlacement "web": toString');
    expect(text).toContain('  3. blocked by ClusterResourcePlacement "web": FromTheFuture\n');
  });

  test.each<{ it: string; argument: string; cluster?: string; as?: User; namespace?: string; says: RegExp }>([
    {
      it: 'there is no such placement',
      argument: 'placement/wub',
      says: /^ClusterResourcePlacement "wub" not found \(known: web\); a ResourcePlacement needs its namespace: -n$/,
    },
    {
      it: 'there is none in the namespace',
      argument: 'placement/web',
      namespace: 'team',
      says: /^ResourcePlacement "team\/web" not found \(there are none\); there is a ClusterResourcePlacement "web": omit -n$/,
    },
    {
      it: 'there is none in the namespace, nor elsewhere',
      argument: 'placement/wub',
      namespace: 'team',
      says: /^ResourcePlacement "team\/wub" not found \(there are none\)$/,
    },
    {
      it: 'there is no such cluster',
      argument: 'placement/web',
      cluster: 'eu-9',
      says: /^MemberCluster "eu-9" not found \(known: eu-1, eu-2, us-1, us-2\)$/,
    },
    {
      it: 'no cluster has such a name',
      argument: 'placement/web',
      cluster: '',
      says: /^"" cannot be the name of a cluster$/,
    },
    { it: 'it may not be read', argument: 'placement/web', as: dev, says: /forbidden/ },
  ])('says in one sentence that $it', async ({ it: _it, argument, says, ...more }) => {
    const { ask } = await serving(world);
    await expect(ask(argument, more)).rejects.toThrow(says);
  });

  test('says in one sentence that a server is no hub', async () => {
    const { ask } = await serving([], {});
    await expect(ask('placement/web')).rejects.toThrow(
      /^this server has no clusterresourceplacements.*: is it the hub\?/,
    );
  });
});

function withoutHolds(kind: Kind): Kind {
  const cut = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(cut);
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value).filter(([key]) => key !== 'holds');
    return Object.fromEntries(entries.sort(by(([key]) => key)).map(([key, each]) => [key, cut(each)]));
  };
  const schema = cut(kind.schema) as Kind['schema'];
  return { ...kind, schema, versions: kind.versions.map((version) => ({ ...version, schema })) };
}

describe('a schema', () => {
  const of = (status: object) => ({
    components: { schemas: { 'io.x.v1.Thing': { properties: { status: { properties: status } } } } },
  });
  test.each([
    { it: 'with the field', document: of({ holds: {} }), is: true },
    { it: 'without it', document: of({ conditions: {} }), is: false },
    { it: 'of other kinds', document: { components: { schemas: {} } }, is: undefined },
    { it: 'that is none', document: null, is: undefined },
  ])('$it: $is', ({ document, is }) => {
    expect(hasHoldsField(document, 'Thing')).toBe(is);
  });
});
