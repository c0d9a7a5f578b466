// `flotilla plan -f`, and the scheduler's part of `flotilla why --cluster`, against the real API server over https. No
// hub runs, and nothing is written.
import { describe, expect, test } from 'vitest';
import { admin } from '../../../test/cluster.ts';
import { annotations, labels } from '../../api/names.ts';
import type { KubeObject, User } from '../../api/object.ts';
import type { PlacementPolicy } from '../../api/placement-policy.ts';
import type { Clock } from '../../base/clock.ts';
import { policyHashOf } from '../../hub/placement/policy-hash.ts';
import {
  both,
  having,
  key,
  long,
  NODES,
  NOW,
  prefers,
  requires,
  sortedBy,
  term,
  theFleet,
} from '../../hub/scheduler/scheduler.testing.ts';
import { whichPlacement } from '../../insight/which-placement.ts';
import { overheard, printing, serving } from '../served.testing.ts';
import { why } from '../why/why.ts';
import { planPlacement } from './plan-placement.ts';

const clock: Clock = { now: () => NOW, at: () => () => {} };
const API = 'placement.kubernetes-fleet.io/v1beta1';
const members = theFleet().filter(({ metadata }) => metadata.deletionTimestamp === undefined);
const FEWEST: PlacementPolicy = { placementType: 'PickN', ...prefers([100, sortedBy(NODES, 'Ascending')]) };

const placement = (policy: object | undefined, namespace?: string): KubeObject => ({
  apiVersion: API,
  kind: namespace === undefined ? 'ClusterResourcePlacement' : 'ResourcePlacement',
  metadata: { name: 'web', ...(namespace === undefined ? {} : { namespace }) },
  spec: {
    resourceSelectors: [
      { group: '', version: 'v1', kind: namespace === undefined ? 'Namespace' : 'ConfigMap', name: 'shop' },
    ],
    ...(policy === undefined ? {} : { policy }),
  },
});

const snapshot = (policy: PlacementPolicy, n: number): KubeObject => ({
  apiVersion: API,
  kind: 'ClusterSchedulingPolicySnapshot',
  metadata: {
    name: 'web-0',
    labels: { [labels.parentPlacement]: 'web', [labels.isLatestSnapshot]: 'true' },
    annotations: { [annotations.numberOfClusters]: String(n), [annotations.placementGeneration]: '1' },
  },
  spec: { policy, policyHash: policyHashOf(policy) },
});

const binding = (cluster: string, affinityScore: number): KubeObject => ({
  apiVersion: API,
  kind: 'ClusterResourceBinding',
  metadata: { name: `web-${cluster}`, labels: { [labels.parentPlacement]: 'web' } },
  spec: {
    state: 'Bound',
    targetCluster: long(cluster),
    resourceSnapshotName: 'web-0-snapshot',
    schedulingPolicySnapshotName: 'web-0',
    clusterDecision: {
      clusterName: long(cluster),
      selected: true,
      reason: 'picked',
      clusterScore: { affinityScore, priorityScore: 0 },
    },
  },
});

async function planning(objects: readonly KubeObject[], as: User = admin) {
  const { subject, server } = await serving(objects);
  const { print, errors, text } = printing();
  const writes: string[] = [];
  const watched = overheard(await server(as), (request) => {
    const isWrite = request.verb !== 'get' && request.verb !== 'list';
    if (isWrite && !('dryRun' in request && request.dryRun)) writes.push(request.verb);
  });
  const head = subject.cluster.store.head;
  return {
    text,
    errors,
    nothingIsWritten() {
      expect(writes).toEqual([]);
      expect(subject.cluster.store.head).toBe(head);
    },
    plan: (given: readonly KubeObject[], more: { output?: string; namespace?: string } = {}) =>
      planPlacement(
        watched,
        given.map((object, at) => ({ object, source: `document ${at}` })),
        { clock, ...more },
        print,
      ),
    async why(cluster: string) {
      const answer = printing();
      const code = await why(
        await server(),
        whichPlacement('placement/web'),
        { cluster: long(cluster), clock },
        answer.print,
      );
      return { code, text: answer.text() };
    },
  };
}

const spec = (policy: PlacementPolicy, numberOfClusters?: number) => ({
  ...policy,
  ...(numberOfClusters === undefined ? {} : { numberOfClusters }),
});

describe('the plan of a placement', () => {
  test('that is new shows who would be picked, by which scores, and who not', async () => {
    const it = await planning(members);
    expect(await it.plan([placement(spec(FEWEST, 3))])).toBe(0);
    expect(it.text()).toBe(
      `
ClusterResourcePlacement "web" would be placed on 3 clusters of the 3 that its policy asks for (PickN): 3 new, 0 kept, 0 removed

CLUSTER                       DECISION    AFFINITY   TOPOLOGY   REASON
cluster-6-west-prod           picked      86         0
cluster-4-central-prod        picked      86         0
cluster-1-east-prod           picked      86         0
cluster-2-east-prod           outscored   57         0
cluster-3-east-canary         outscored   29         0
cluster-7-west-canary         outscored   0          0
cluster-5-central-prod        outscored   0          0
unhealthy-cluster-east-prod   refused     -          -          ClusterEligibility: cluster is not eligible for resource placement: cluster is not connected to the fleet: member agent not online yet

Nothing was written.`.slice(1),
    );
    it.nothingIsWritten();
  });

  test('with another policy shows who keeps it and who loses it', async () => {
    const stored = [placement(spec(FEWEST, 2)), snapshot(FEWEST, 2), binding('c5', 0), binding('c7', 0)];
    const it = await planning([...members, ...stored]);
    const max = prefers([100, sortedBy(NODES, 'Descending')]);
    const prod = { placementType: 'PickN', ...both(requires(term(key('env', 'In', 'prod'))), max) } as const;
    expect(await it.plan([placement(spec(prod, 2))], { output: 'json' })).toBe(0);
    const { clusters, ...plan } = JSON.parse(it.text());
    expect(plan).toMatchObject({ wanted: 2, found: 2, isNewPolicy: true, placementType: 'PickN' });
    const by = Object.fromEntries(
      clusters.map((each: { cluster: string; decision: string }) => [each.cluster, each.decision]),
    );
    expect(by).toMatchObject({
      [long('c5')]: 'kept',
      [long('c2')]: 'picked',
      [long('c7')]: 'removed',
      [long('c3')]: 'refused',
    });
    it.nothingIsWritten();
  });

  test('with another number only keeps all that is there', async () => {
    const stored = [placement(spec(FEWEST, 2)), snapshot(FEWEST, 2), binding('c7', 0), binding('c5', 0)];
    const it = await planning([...members, ...stored]);
    expect(await it.plan([placement(spec(FEWEST, 3))])).toBe(0);
    expect(it.text()).toContain('3 clusters of the 3 that its policy asks for (PickN): 1 new, 2 kept, 0 removed');
    expect(it.text()).toMatch(/cluster-6-west-prod +picked +86/);
    it.nothingIsWritten();
  });

  test('of a ResourcePlacement looks for its namespace, and ends with 2 when too few fit', async () => {
    const fleet = theFleet({ c1: { namespaces: ['team'] }, c2: { namespaces: ['other'] } }).slice(0, 2);
    const it = await planning([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } }, ...fleet]);
    expect(await it.plan([placement({ placementType: 'PickN', numberOfClusters: 2 }, 'team')])).toBe(2);
    expect(it.text()).toContain('ResourcePlacement "team/web" would be placed on 1 clusters of the 2');
    expect(it.text()).toMatch(
      /cluster-2-east-prod +refused .* NamespaceAffinity: cluster does not have namespace "team"/,
    );
    it.nothingIsWritten();
  });

  test('carries the remarks of the scheduler', async () => {
    const it = await planning(members);
    expect(
      await it.plan([placement({ placementType: 'PickAll', ...requires(having('test.only/nothing Ge 1')) })]),
    ).toBe(2);
    expect(it.text()).toContain('Note:\n  - no cluster reports property "test.only/nothing" as a quantity');
  });

  test.each([
    ['no placement', [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }], /none is there$/],
    ['two of them', [placement(undefined), placement(undefined)], /2 are there$/],
    [
      'a run',
      [{ apiVersion: API, kind: 'ClusterStagedUpdateRun', metadata: { name: 'r' }, spec: {} }],
      /write `flotilla plan run -f`$/,
    ],
  ] as const)('is not made of a file with %s', async (_it, given, message) => {
    const it = await planning([]);
    await expect(it.plan(given)).rejects.toThrow(message);
  });

  test('is not made of what the server would refuse', async () => {
    const it = await planning([...members, placement({ placementType: 'PickAll' })]);
    await expect(it.plan([placement(spec(FEWEST, 3))])).rejects.toThrow(/placementType is immutable/);
    const contradiction = requires(having(`${NODES} Gt 5`, `${NODES} Lt 3`));
    await expect(it.plan([placement({ placementType: 'PickAll', ...contradiction })])).rejects.toThrow(/contradict/);
    it.nothingIsWritten();
  });

  test('is made without the right to write, and says so', async () => {
    const reads = { apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list'] };
    const rbac = 'rbac.authorization.k8s.io';
    const may = [
      { apiVersion: `${rbac}/v1`, kind: 'ClusterRole', metadata: { name: 'reads' }, rules: [reads] },
      {
        apiVersion: `${rbac}/v1`,
        kind: 'ClusterRoleBinding',
        metadata: { name: 'reads' },
        roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'reads' },
        subjects: [{ apiGroup: rbac, kind: 'User', name: 'dev' }],
      },
    ] as readonly KubeObject[];
    const it = await planning([...members, ...may], { name: 'dev', groups: ['system:authenticated'] });
    expect(await it.plan([placement({ placementType: 'PickAll' })])).toBe(0);
    expect(it.text()).toContain('the server did not check ClusterResourcePlacement "web"');
  });
});

describe('why a cluster is not picked', () => {
  const stored = [placement(spec(FEWEST, 2)), snapshot(FEWEST, 2), binding('c6', 86), binding('c4', 86)];

  test('names the scores by which it lost, also where the status explains others only', async () => {
    const it = await planning([...members, ...stored]);
    const { code, text } = await it.why('c2');
    expect(code).toBe(2);
    expect(text).toContain('no plugin refuses it (affinity score: 57, topology spread score: 0)');
    expect(text).toContain(
      `the lowest score that is picked is that of cluster "${long('c4')}" (affinity score: 86, topology spread score: 0)`,
    );
  });

  test('names the plugin that refuses it', async () => {
    const tainted = theFleet({ c2: { taints: ['gpu=only'] } }).filter(
      ({ metadata }) => metadata.deletionTimestamp === undefined,
    );
    const it = await planning([...tainted, ...stored]);
    expect((await it.why('c2')).text).toContain(
      'plugin TaintToleration refuses it: cluster has taint gpu=only:NoSchedule, which is not tolerated',
    );
    expect((await it.why('c8')).text).toContain('plugin ClusterEligibility refuses it');
  });
});
