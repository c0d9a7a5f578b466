// The policies of seed 003 and its scheduling by properties with real kubectl on `flotilla up`: what is picked, with which scores, what the program
// says about the others, and what is refused.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { type Fleet, messageOf, startFleet } from './delivery.ts';
import { namespace } from './delivery-kinds.ts';
import { flotilla } from './fleet.ts';
import { skipsKubectl } from './server.ts';

const seed = (file: string) => join(fileURLToPath(new URL('../seeds/003/', import.meta.url)), file);

/** The four clusters of the seed's examples, with different numbers: 4, 16, 8 and 16 CPUs in all. */
const MEMBERS = `members:
  - { name: cluster-1, labels: { env: prod, loc: west }, nodes: 1, cpu: "4", heartbeatPeriodSeconds: 1 }
  - { name: cluster-2, labels: { env: prod, loc: west }, nodes: 2, cpu: "8", heartbeatPeriodSeconds: 1 }
  - { name: cluster-3, labels: { env: prod, loc: east }, nodes: 4, cpu: "2", heartbeatPeriodSeconds: 1 }
  - { name: cluster-4, labels: { env: prod, loc: east }, nodes: 8, cpu: "2", heartbeatPeriodSeconds: 1 }
`;
const NODES = 'kubernetes-fleet.io/node-count';
const CPUS = 'resources.kubernetes-fleet.io/total-cpu';

const having = (name: string, operator: string, ...values: readonly string[]) => ({ name, operator, values });
const requires = (...matchExpressions: readonly object[]) => ({
  requiredDuringSchedulingIgnoredDuringExecution: {
    clusterSelectorTerms: [{ propertySelector: { matchExpressions } }],
  },
});
const sorted = (weight: number, name: string, sortOrder: string) => ({
  weight,
  preference: { propertySorter: { name, sortOrder } },
});
const prefers = (...terms: readonly object[]) => ({ preferredDuringSchedulingIgnoredDuringExecution: terms });
const policy = (placementType: string, clusterAffinity: object, rest: object = {}) => ({
  placementType,
  affinity: { clusterAffinity },
  ...rest,
});
const inWest = { weight: 20, preference: { labelSelector: { matchLabels: { loc: 'west' } } } };
/** At least two nodes; few CPUs count more than the west. */
const BY_SIZE = policy(
  'PickN',
  { ...requires(having(NODES, 'Ge', '2')), ...prefers(sorted(100, CPUS, 'Ascending'), inWest) },
  { numberOfClusters: 2 },
);
/** Where the cluster is, and what the decision says. */
const PICKED = [
  ['cluster-2', 20, 0],
  ['cluster-3', 67, 0],
] as const;

interface Decision {
  readonly clusterName: string;
  readonly selected: boolean;
  readonly reason: string;
  readonly clusterScore?: { readonly affinityScore: number; readonly priorityScore: number };
}

const scopes = [
  { scope: 'ClusterResourcePlacement', short: 'crp', snapshots: 'csps', bindings: 'crb', flags: [] },
  {
    scope: 'ResourcePlacement',
    short: 'rp',
    snapshots: 'schedulingpolicysnapshots',
    bindings: 'rb',
    flags: ['-n', 'team'],
  },
] as const;

describe.skipIf(skipsKubectl)('the policies of seed 003', () => {
  const home = mkdtempSync(join(tmpdir(), 'flotilla-scheduling-'));
  let fleet: Fleet;
  beforeAll(async () => {
    const file = join(home, 'fleet.yaml');
    writeFileSync(file, MEMBERS);
    fleet = await startFleet(file);
    await fleet.apply(...['test-ns', 'by-size', 'large', 'largest', 'unknown', 'team'].map(namespace));
  });
  afterAll(async () => {
    await fleet?.[Symbol.asyncDispose]();
    rmSync(home, { recursive: true, force: true });
  });

  const says = async (exit: number, ...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await flotilla(home, args, { KUBECONFIG: fleet.kubeconfig });
    expect({ code, stderr }, args.join(' ')).toEqual({ code: exit, stderr: '' });
    return stdout;
  };
  const plan = (file: string) => says(0, 'plan', '-f', file);
  /** Of a cluster that does not have it. */
  const why = (name: string, cluster: string, flags: readonly string[] = []) =>
    says(2, 'why', `placement/${name}`, ...flags, '--cluster', cluster);
  const clustersOf = async (...placement: readonly string[]) =>
    (await fleet.status(...placement)).placementStatuses?.map(({ clusterName }) => clusterName);
  const until = (name: string, clusters: readonly string[]) =>
    fleet.waitForStatus(
      ['crp', name],
      ({ placementStatuses = [], conditions }) =>
        placementStatuses.map(({ clusterName }) => clusterName).join() === clusters.join() &&
        conditions.at(-1)?.type === 'ClusterResourcePlacementAvailable' &&
        conditions.at(-1)?.status === 'True',
      `${name} on ${clusters.join()}`,
    );
  const placing = (scope: string, name: string, chosen: object): KubeObject => ({
    apiVersion: 'placement.kubernetes-fleet.io/v1',
    kind: scope,
    metadata: { name, ...(scope === 'ResourcePlacement' ? { namespace: 'team' } : {}) },
    spec: {
      resourceSelectors:
        scope === 'ResourcePlacement'
          ? [{ group: '', version: 'v1', kind: 'ConfigMap', name }]
          : [{ group: '', version: 'v1', kind: 'Namespace', name }],
      policy: chosen,
    },
  });

  test('V3-6, first example: three of the four that are env=prod, the fourth if four are asked for', async () => {
    await fleet.hub(['apply', '-f', seed('v3-6-1.yaml')]);
    await fleet.waitForAvailable('crp/example-1');
    expect(await clustersOf('crp', 'example-1')).toEqual(['cluster-2', 'cluster-3', 'cluster-4']);

    const [said] = (await why('example-1', 'cluster-1')).split('\n');
    expect(said).toBe(
      'cluster "cluster-1" is not picked by ClusterResourcePlacement "example-1": cluster "cluster-1" is not picked: others come before it (affinity score: 0, topology spread score: 0)',
    );
    await fleet.hub(['patch', 'crp', 'example-1', '--type=merge', '-p', '{"spec":{"policy":{"numberOfClusters":4}}}']);
    await until('example-1', ['cluster-1', 'cluster-2', 'cluster-3', 'cluster-4']);
    await fleet.hub(['delete', 'crp', 'example-1']);
  });

  test('V3-6, second example: from the west to the east', async () => {
    await fleet.hub(['apply', '-f', seed('v3-6-2-west.yaml')]);
    await fleet.waitForAvailable('crp/example-2');
    expect(await clustersOf('crp', 'example-2')).toEqual(['cluster-1', 'cluster-2']);
    await fleet.hub(['apply', '-f', seed('v3-6-2-east.yaml')]);
    await until('example-2', ['cluster-3', 'cluster-4']);
    await fleet.hub(['delete', 'crp', 'example-2']);
  });

  test('a ResourcePlacement may go where its namespace is', async () => {
    await fleet.apply({
      apiVersion: 'placement.kubernetes-fleet.io/v1',
      kind: 'ClusterResourcePlacement',
      metadata: { name: 'team' },
      spec: {
        resourceSelectors: [
          { group: '', version: 'v1', kind: 'Namespace', name: 'team', selectionScope: 'NamespaceOnly' },
        ],
        policy: { placementType: 'PickAll' },
      },
    });
    await fleet.waitForAvailable('crp/team');
    await fleet.hub(['wait', '--for=jsonpath={.status.namespaces.team}', 'memberclusters', '--all', '--timeout=60s']);
    await fleet.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'by-size', namespace: 'team' } });
  });

  test.each(scopes)('a $scope by numbers: planned, picked, scored and explained alike', async (how) => {
    const { scope, short, snapshots, bindings, flags } = how;
    const file = join(home, `${short}.json`);
    writeFileSync(file, JSON.stringify(placing(scope, 'by-size', BY_SIZE)));

    const planned = await plan(file);
    expect(planned).toContain(
      'would be placed on 2 clusters of the 2 that its policy asks for (PickN): 2 new, 0 kept, 0 removed',
    );
    expect(planned.match(/^cluster-.*$/gm)?.map((line) => line.split(/ {2,}/))).toEqual([
      ['cluster-3', 'picked', '67', '0'],
      ['cluster-2', 'picked', '20', '0'],
      ['cluster-4', 'outscored', '0', '0'],
      [
        'cluster-1',
        'refused',
        '-',
        '-',
        `ClusterAffinity: cluster does not match with any of the required cluster affinity terms: property "${NODES}" is not Ge 2`,
      ],
    ]);
    expect(planned).toContain('Nothing was written.');
    expect((await fleet.try(['get', short, 'by-size', ...flags])).stderr).toContain('not found');

    await fleet.hub(['apply', '-f', file]);
    await fleet.waitForAvailable(`${short}/by-size`, ...flags);
    const status = await fleet.status(short, 'by-size', ...flags);
    expect(messageOf(status.conditions, 'Scheduled')).toBe(
      'all clusters required by the scheduling policy were found: 2',
    );
    expect(
      status.placementStatuses?.map(({ clusterName, conditions }) => [clusterName, messageOf(conditions, 'Scheduled')]),
    ).toEqual(
      PICKED.map(([name, affinity, topology]) => [
        name,
        `cluster "${name}" is picked by the scheduling policy (affinity score: ${affinity}, topology spread score: ${topology})`,
      ]),
    );

    const bound = await fleet.get<{ items: readonly KubeObject[] }>('hub', [
      bindings,
      ...flags,
      '-l',
      'kubernetes-fleet.io/parent-CRP=by-size',
    ]);
    const scores = (decisions: readonly Decision[]) =>
      decisions
        .map(({ clusterName, clusterScore }) => [clusterName, clusterScore?.affinityScore, clusterScore?.priorityScore])
        .toSorted();
    expect(
      scores(bound.items.map(({ spec }) => (spec as { readonly clusterDecision: Decision }).clusterDecision)),
    ).toEqual(PICKED);
    const snapshot = await fleet.get<KubeObject>('hub', [snapshots, 'by-size-0', ...flags]);
    const { targetClusters } = snapshot.status as { readonly targetClusters: readonly Decision[] };
    expect(scores(targetClusters.filter(({ selected }) => selected))).toEqual(PICKED);
    expect(targetClusters.filter(({ selected }) => !selected).map(({ clusterName }) => clusterName)).toEqual([
      'cluster-4',
      'cluster-1',
    ]);

    const lost = await why('by-size', 'cluster-4', flags);
    expect(lost).toContain('no plugin refuses it (affinity score: 0, topology spread score: 0)');
    expect(lost).toContain(
      'the lowest score that is picked is that of cluster "cluster-2" (affinity score: 20, topology spread score: 0)',
    );
    expect(await why('by-size', 'cluster-1', flags)).toContain('plugin ClusterAffinity refuses it:');
    await fleet.hub(['delete', short, 'by-size', ...flags]);
  });

  test('numbers that change: a member that comes to match gets it, none loses it, and a fulfilled PickN stays', async () => {
    await fleet.apply(
      placing('ClusterResourcePlacement', 'large', policy('PickAll', requires(having(NODES, 'Ge', '4')))),
    );
    const largest = policy('PickN', prefers(sorted(100, NODES, 'Descending')), { numberOfClusters: 1 });
    await fleet.apply(placing('ClusterResourcePlacement', 'largest', largest));
    await fleet.waitForAvailable('crp/large', 'crp/largest');
    expect(await clustersOf('crp', 'large')).toEqual(['cluster-3', 'cluster-4']);
    expect(await clustersOf('crp', 'largest')).toEqual(['cluster-4']);

    const items = Array.from({ length: 10 }, (_, index) => ({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: `more-${index}` },
    }));
    const list = join(home, 'nodes.json');
    writeFileSync(list, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
    const hasNodes = (count: number) =>
      fleet.hub([
        'wait',
        `--for=jsonpath={.status.properties.kubernetes-fleet\\.io/node-count.value}=${count}`,
        'membercluster/cluster-2',
        '--timeout=60s',
      ]);
    await fleet.on('cluster-2', ['apply', '-f', list]);
    await hasNodes(12);
    await until('large', ['cluster-2', 'cluster-3', 'cluster-4']);
    expect(await clustersOf('crp', 'largest')).toEqual(['cluster-4']);

    await fleet.on('cluster-2', ['delete', '-f', list]);
    await hasNodes(2);
    expect(await clustersOf('crp', 'large')).toEqual(['cluster-2', 'cluster-3', 'cluster-4']);
    const kept = await says(0, 'why', 'placement/large', '--cluster', 'cluster-2');
    expect(kept).not.toContain('is not picked');
  });

  test.each([
    [
      'an operator that does not exist',
      policy('PickAll', requires(having(NODES, 'In', '2'))),
      'Unsupported value: "In"',
    ],
    ['two values', policy('PickAll', requires(having(NODES, 'Ge', '1', '2'))), 'Too many: 2: must have at most 1 item'],
    ['no value', policy('PickAll', requires(having(NODES, 'Ge'))), 'should have at least 1 items'],
    ['a value that is not a quantity', policy('PickAll', requires(having(NODES, 'Ge', 'many'))), '"many"'],
    [
      'comparisons that contradict each other',
      policy('PickAll', requires(having(NODES, 'Gt', '5'), having(NODES, 'Lt', '3'))),
      'no cluster can match: Gt 5 and Lt 3 contradict each other',
    ],
    [
      'an amount that does not exist',
      policy('PickAll', requires(having('resources.kubernetes-fleet.io/free-cpu', 'Ge', '1'))),
      'a resource property is named resources.kubernetes-fleet.io/',
    ],
    [
      'a weight of 101',
      policy('PickN', prefers(sorted(101, NODES, 'Ascending')), { numberOfClusters: 1 }),
      'should be less than or equal to 100',
    ],
    [
      'a preference of PickAll',
      policy('PickAll', prefers(inWest)),
      'preferred affinity ranks clusters, which only PickN does',
    ],
    [
      'a thousand terms',
      policy('PickAll', {
        requiredDuringSchedulingIgnoredDuringExecution: {
          clusterSelectorTerms: Array.from({ length: 1000 }, (_, index) => ({
            labelSelector: { matchLabels: { at: String(index) } },
          })),
        },
      }),
      'Too many: 1000: must have at most 10 items',
    ],
  ])('refused: %s', async (_what, chosen, why) => {
    const { code, stderr } = await fleet.try(
      ['apply', '-f', '-'],
      JSON.stringify(placing('ClusterResourcePlacement', 'refused', chosen)),
    );
    expect(code).toBe(1);
    expect(stderr).toContain(why);
  });

  test.each([
    [
      'a sorter',
      policy('PickN', prefers(sorted(50, 'example.com/unknown', 'Ascending')), { numberOfClusters: 2 }),
      'all clusters required by the scheduling policy were found: 2; no cluster reports property "example.com/unknown" as a quantity, so preferences on it have no effect',
    ],
    [
      'a comparison',
      policy('PickN', requires(having('example.com/unknown', 'Ne', '1')), { numberOfClusters: 2 }),
      'found 0 of the 2 clusters that the scheduling policy asks for; no cluster reports property "example.com/unknown" as a quantity, so no cluster matches a required term on it',
    ],
  ])('%s on a property that no cluster reports is told in the Scheduled condition', async (_what, chosen, told) => {
    await fleet.apply(placing('ClusterResourcePlacement', 'unknown', chosen));
    const { conditions } = await fleet.waitForStatus(
      ['crp', 'unknown'],
      ({ conditions: [scheduled] }) => scheduled !== undefined && scheduled.status !== 'Unknown',
      'a decision',
    );
    expect(messageOf(conditions, 'Scheduled')).toBe(told);
    await fleet.hub(['delete', 'crp', 'unknown']);
  });
});
