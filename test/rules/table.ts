// One accepted and one refused object for every CEL rule of every kind. rules.test.ts judges them and fails when a rule has no row.
import { approvalRequest } from '../../src/api/approval-request.ts';
import { binding } from '../../src/api/binding.ts';
import { clusterGroup } from '../../src/api/cluster-group.ts';
import { clusterProfile } from '../../src/api/cluster-profile.ts';
import { disruptionBudget } from '../../src/api/disruption-budget.ts';
import { eviction } from '../../src/api/eviction.ts';
import { freeze } from '../../src/api/freeze.ts';
import { gitRepo } from '../../src/api/git-repo.ts';
import type { Kind } from '../../src/api/kind.ts';
import { memberCluster } from '../../src/api/member-cluster.ts';
import { override } from '../../src/api/override.ts';
import { overrideSnapshot } from '../../src/api/override-snapshot.ts';
import { placement } from '../../src/api/placement.ts';
import { policySnapshot } from '../../src/api/policy-snapshot.ts';
import { resourceSnapshot } from '../../src/api/resource-snapshot.ts';
import { stagedUpdateRun } from '../../src/api/staged-update-run.ts';
import { stagedUpdateStrategy } from '../../src/api/staged-update-strategy.ts';

type Spec = Readonly<Record<string, unknown>>;

/** A write: the object's spec, and the spec it replaces if it is an update. */
export interface Write {
  readonly spec: Spec;
  readonly from?: Spec;
  readonly name?: string;
}

export interface Row {
  readonly kinds: readonly Kind[];
  /** The message of the rule. */
  readonly message: string;
  /** Messages of rules that the refused objects break as well. */
  readonly also?: readonly string[];
  readonly accepted: readonly Write[];
  readonly refused: readonly Write[];
}

const both = <T extends Kind>(pair: { readonly cluster: T; readonly namespaced: T }) => [pair.cluster, pair.namespaced];
const create = (spec: Spec): Write => ({ spec });
const update = (from: Spec, spec: Spec): Write => ({ spec, from });
const named = (name: string, spec: Spec): Write => ({ spec, name });

// ---- placements

const deployment = { group: 'apps', version: 'v1', kind: 'Deployment', name: 'web' };
const namespace = { group: '', version: 'v1', kind: 'Namespace', name: 'shop' };
const selecting = (...resourceSelectors: readonly unknown[]): Spec => ({ resourceSelectors });
const policy = (value: Spec): Spec => ({ resourceSelectors: [deployment], policy: value });
const strategy = (value: Spec): Spec => ({ resourceSelectors: [deployment], strategy: value });
const depending = (dependency: Spec, value: Spec = {}): Spec => ({ ...strategy(value), dependsOn: [dependency] });
const tolerating = (...tolerations: readonly unknown[]): Spec => policy({ placementType: 'PickAll', tolerations });
const affinity = (placementType: string, clusterAffinity: Spec): Spec =>
  policy({
    placementType,
    ...(placementType === 'PickN' ? { numberOfClusters: 1 } : {}),
    affinity: { clusterAffinity },
  });
const required = (...clusterSelectorTerms: readonly unknown[]): Spec => ({
  requiredDuringSchedulingIgnoredDuringExecution: { clusterSelectorTerms },
});
const preferred = (preference: unknown): Spec => ({
  preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 10, preference }],
});
const prod = { labelSelector: { matchLabels: { env: 'prod' } } };
const moreThanTwoNodes = {
  propertySelector: {
    matchExpressions: [{ name: 'kubernetes-fleet.io/node-count', operator: 'Gt', values: ['2'] }],
  },
};
const fewestNodes = { propertySorter: { name: 'kubernetes-fleet.io/node-count', sortOrder: 'Ascending' } };
const inside = { ...namespace, selectionScope: 'NamespaceWithResourceSelectors' };
const gpu = { key: 'gpu', operator: 'Exists' };
const spot = { key: 'spot', operator: 'Equal', value: 'yes', effect: 'NoSchedule' };

const placements: readonly Row[] = [
  {
    kinds: both(placement),
    message: 'metadata.name may have at most 63 characters',
    accepted: [named('a'.repeat(63), selecting(deployment))],
    refused: [named('a'.repeat(64), selecting(deployment))],
  },
  {
    kinds: both(placement),
    message: 'metadata.name must not contain dots: bindings are named after the placement and allow none',
    accepted: [named('web-1', selecting(deployment))],
    refused: [named('web.1', selecting(deployment))],
  },
  {
    kinds: both(placement),
    message: 'resourceSelectors are required, unless source is set in their place',
    accepted: [selecting(deployment), { source: { gitRepo: 'shop', bundle: 'web' } }].map(create),
    refused: [{}, { ...selecting(deployment), source: { gitRepo: 'shop', bundle: 'web' } }].map(create),
  },
  {
    kinds: both(placement),
    message: 'policy cannot be removed once it is set',
    accepted: [
      update(selecting(deployment), policy({ placementType: 'PickAll' })),
      update(policy({ placementType: 'PickAll' }), policy({ placementType: 'PickAll' })),
    ],
    refused: [update(policy({ placementType: 'PickAll' }), selecting(deployment))],
  },
  {
    kinds: both(placement),
    message: 'placementType is immutable: create a new placement to pick clusters in another way',
    accepted: [
      update(
        policy({ placementType: 'PickN', numberOfClusters: 3 }),
        policy({ placementType: 'PickN', numberOfClusters: 4 }),
      ),
      update(selecting(deployment), policy({ placementType: 'PickAll' })),
    ],
    refused: [
      update(policy({ placementType: 'PickN', numberOfClusters: 3 }), policy({ placementType: 'PickAll' })),
      update(selecting(deployment), policy({ placementType: 'PickFixed', clusterNames: ['eu-1'] })),
    ],
  },
  {
    kinds: both(placement),
    message: 'strategy type External cannot be left: create a new placement',
    accepted: [
      update(strategy({ type: 'RollingUpdate' }), strategy({ type: 'External' })),
      update(selecting(deployment), strategy({ type: 'External' })),
      update(strategy({ type: 'RollingUpdate' }), selecting(deployment)),
    ],
    refused: [
      update(strategy({ type: 'External' }), strategy({ type: 'RollingUpdate' })),
      update(strategy({ type: 'External' }), selecting(deployment)),
    ],
  },
  {
    kinds: both(placement),
    message: 'only one Namespace selector may have selectionScope NamespaceWithResourceSelectors',
    accepted: [create(selecting(inside, deployment))],
    // Two of them are also each other's other Namespace selector.
    also: ['selectionScope NamespaceWithResourceSelectors allows no other Namespace selector'],
    refused: [create(selecting(inside, { ...inside, name: 'bar' }))],
  },
  {
    kinds: both(placement),
    message:
      'a Namespace selector with selectionScope NamespaceWithResourceSelectors needs a name and takes no labelSelector',
    accepted: [create(selecting(inside)), create(selecting({ ...namespace, name: undefined, ...prod }))],
    refused: [
      create(selecting({ ...inside, name: undefined })),
      create(selecting(deployment, { ...inside, name: undefined })),
      create(selecting({ ...inside, name: '' })),
      create(selecting({ ...inside, name: undefined, ...prod })),
    ],
  },
  {
    kinds: both(placement),
    message: 'selectionScope NamespaceWithResourceSelectors allows no other Namespace selector',
    accepted: [
      create(selecting(namespace, { ...namespace, name: 'bar' })),
      create(
        selecting(inside, deployment, { ...namespace, kind: 'ConfigMap' }, { ...namespace, group: 'example.com' }),
      ),
    ],
    refused: [create(selecting(inside, { ...namespace, name: 'bar' }))],
  },
  {
    kinds: [placement.cluster],
    message: 'statusReportingScope NamespaceAccessible needs exactly one Namespace selector',
    accepted: [
      create({
        ...selecting(namespace, { ...namespace, kind: 'PersistentVolume' }, { ...namespace, group: 'example.com' }),
        statusReportingScope: 'NamespaceAccessible',
      }),
      create({ ...selecting(namespace, { ...namespace, name: 'bar' }), statusReportingScope: 'ClusterScopeOnly' }),
    ],
    refused: [
      create({ ...selecting(namespace, { ...namespace, name: 'bar' }), statusReportingScope: 'NamespaceAccessible' }),
      create({ ...selecting(deployment), statusReportingScope: 'NamespaceAccessible' }),
    ],
  },
  {
    kinds: [placement.cluster],
    message: 'statusReportingScope is immutable: create a new placement',
    accepted: [update(selecting(namespace), { ...selecting(namespace), statusReportingScope: 'ClusterScopeOnly' })],
    refused: [
      update(selecting(namespace), { ...selecting(namespace), statusReportingScope: 'NamespaceAccessible' }),
      update({ ...selecting(namespace), statusReportingScope: 'NamespaceAccessible' }, selecting(namespace)),
    ],
  },
  {
    kinds: both(placement),
    message: 'a selector takes a name or a labelSelector, not both',
    accepted: [create(selecting(deployment)), create(selecting({ ...deployment, name: '', ...prod }))],
    refused: [create(selecting({ ...deployment, ...prod }))],
  },
  {
    kinds: both(placement),
    message: 'PickN needs numberOfClusters',
    accepted: [create(policy({ placementType: 'PickN', numberOfClusters: 0 }))],
    refused: [create(policy({ placementType: 'PickN' }))],
  },
  {
    kinds: both(placement),
    message: 'numberOfClusters is for placementType PickN only',
    accepted: [create(policy({ placementType: 'PickAll' }))],
    refused: [
      create(policy({ placementType: 'PickAll', numberOfClusters: 2 })),
      create(policy({ placementType: 'PickFixed', clusterNames: ['eu-1'], numberOfClusters: 1 })),
      create(policy({ numberOfClusters: 2 })),
    ],
  },
  {
    kinds: both(placement),
    message: 'clusterNames is for placementType PickFixed only',
    accepted: [
      create(policy({ placementType: 'PickFixed', clusterNames: ['eu-1'] })),
      create(policy({ placementType: 'PickAll', clusterNames: [] })),
    ],
    refused: [
      create(policy({ placementType: 'PickAll', clusterNames: ['eu-1'] })),
      create(policy({ placementType: 'PickN', numberOfClusters: 1, clusterNames: ['eu-1'] })),
    ],
  },
  {
    kinds: both(placement),
    message: 'clusterNames names a cluster twice',
    accepted: [create(policy({ placementType: 'PickFixed', clusterNames: ['eu-1', 'eu-2'] }))],
    refused: [create(policy({ placementType: 'PickFixed', clusterNames: ['eu-1', 'eu-2', 'eu-1'] }))],
  },
  {
    kinds: both(placement),
    message: 'PickFixed takes its clusters from clusterNames: it has no affinity',
    accepted: [create(affinity('PickAll', required(prod)))],
    refused: [create(affinity('PickFixed', required(prod)))],
  },
  {
    kinds: both(placement),
    message: 'preferred affinity ranks clusters, which only PickN does',
    accepted: [
      create(affinity('PickN', preferred(fewestNodes))),
      create(affinity('PickAll', { preferredDuringSchedulingIgnoredDuringExecution: [] })),
    ],
    refused: [create(affinity('PickAll', preferred(fewestNodes)))],
  },
  {
    kinds: both(placement),
    message: 'required terms do not rank: propertySorter is for preferred terms',
    accepted: [create(affinity('PickAll', required({ ...prod, ...moreThanTwoNodes })))],
    refused: [create(affinity('PickAll', required({ ...prod, ...fewestNodes })))],
  },
  {
    kinds: both(placement),
    message: 'preferred terms take a propertySorter; propertySelector is for required terms',
    accepted: [create(affinity('PickN', preferred({ ...prod, ...fewestNodes })))],
    refused: [create(affinity('PickN', preferred(moreThanTwoNodes)))],
  },
  {
    kinds: both(placement),
    message: 'topologySpreadConstraints is for placementType PickN only',
    accepted: [
      create(
        policy({ placementType: 'PickN', numberOfClusters: 2, topologySpreadConstraints: [{ topologyKey: 'env' }] }),
      ),
      create(policy({ placementType: 'PickAll', topologySpreadConstraints: [] })),
    ],
    refused: [create(policy({ placementType: 'PickAll', topologySpreadConstraints: [{ topologyKey: 'env' }] }))],
  },
  {
    kinds: both(placement),
    message: 'PickFixed ignores taints: it has no tolerations',
    accepted: [
      create(tolerating(gpu)),
      create(policy({ placementType: 'PickFixed', clusterNames: ['eu-1'], tolerations: [] })),
    ],
    refused: [create(policy({ placementType: 'PickFixed', clusterNames: ['eu-1'], tolerations: [gpu] }))],
  },
  {
    kinds: both(placement),
    message: 'tolerations has an entry twice',
    accepted: [create(tolerating(gpu, spot))],
    refused: [create(tolerating(gpu, spot, gpu))],
  },
  {
    kinds: both(placement),
    message: 'tolerations can only be added: to change or remove one, create a new placement',
    accepted: [
      update(tolerating(gpu), tolerating(gpu, spot)),
      update(tolerating(gpu, spot), tolerating(spot, gpu)),
      update(policy({ placementType: 'PickAll' }), tolerating(gpu)),
    ],
    refused: [
      update(tolerating(gpu, spot), tolerating(gpu)),
      update(tolerating(spot), tolerating({ ...spot, value: 'no' })),
      update(tolerating(gpu), policy({ placementType: 'PickAll' })),
      update(tolerating(gpu), tolerating()),
    ],
  },
  {
    kinds: both(placement),
    message: 'a toleration with operator Exists takes no value',
    accepted: [create(tolerating(gpu)), create(tolerating({ ...gpu, value: '' }))],
    refused: [create(tolerating({ ...gpu, value: 'yes' }))],
  },
  {
    kinds: both(placement),
    message: 'a toleration without a key needs operator Exists',
    accepted: [create(tolerating({ operator: 'Exists' }))],
    refused: [create(tolerating({ value: 'yes' })), create(tolerating({ key: '', value: 'yes' }))],
  },
  {
    kinds: both(placement),
    message: 'type External takes no rollingUpdate: staged update runs roll out the changes',
    accepted: [create(strategy({ type: 'External' })), create(strategy({ rollingUpdate: { maxUnavailable: 0 } }))],
    refused: [create(strategy({ type: 'External', rollingUpdate: { maxUnavailable: 1 } }))],
  },
  {
    kinds: both(placement),
    message: 'partitioned needs type Partitioned',
    accepted: [create(strategy({ type: 'Partitioned', partitioned: { maxUnavailable: '10%' } }))],
    refused: [
      create(strategy({ partitioned: { maxUnavailable: 1 } })),
      create(strategy({ type: 'External', partitioned: { maxUnavailable: 1 } })),
    ],
  },
  {
    kinds: both(placement),
    message: 'type Partitioned takes no rollingUpdate: its limits are in partitioned',
    accepted: [create(strategy({ type: 'Partitioned' }))],
    refused: [create(strategy({ type: 'Partitioned', rollingUpdate: { maxUnavailable: 1 } }))],
  },
  {
    kinds: both(placement),
    message: 'type External takes no dependsOn: the stages of a run set the order',
    accepted: [create(depending({ name: 'db' }, { type: 'Partitioned' }))],
    refused: [create(depending({ name: 'db' }, { type: 'External' }))],
  },
  {
    kinds: both(placement),
    message: 'give name or selector',
    accepted: [
      create(depending({ name: 'db' })),
      create(depending({ selector: {}, acceptedStates: ['Ready', 'Modified'] })),
    ],
    refused: [create(depending({ acceptedStates: ['Ready'] })), create(depending({ name: '' }))],
  },
  {
    kinds: both(placement),
    message: 'type External cannot be paused: stop the staged update run instead',
    accepted: [create(strategy({ type: 'External', paused: false })), create(strategy({ paused: true }))],
    refused: [create(strategy({ type: 'External', paused: true }))],
  },
  {
    kinds: both(placement),
    message: 'mode FleetExact does not look at unreachable clusters: remove unreachablePolicy',
    accepted: [
      create(strategy({ type: 'Partitioned', partitioned: { mode: 'FleetExact' } })),
      create(strategy({ type: 'Partitioned', partitioned: { unreachablePolicy: 'Exclude' } })),
    ],
    refused: [
      create(strategy({ type: 'Partitioned', partitioned: { mode: 'FleetExact', unreachablePolicy: 'Exclude' } })),
    ],
  },
  {
    kinds: both(placement),
    message: 'serverSideApplyConfig needs type ServerSideApply',
    accepted: [
      create(strategy({ applyStrategy: { type: 'ServerSideApply', serverSideApplyConfig: { force: true } } })),
      create(strategy({ applyStrategy: {} })),
    ],
    refused: [create(strategy({ applyStrategy: { serverSideApplyConfig: { force: true } } }))],
  },
  {
    kinds: both(placement),
    message: 'operation remove needs a path',
    accepted: [
      create(strategy({ applyStrategy: { comparePatches: [{ operations: [{ op: 'ignore' }] }] } })),
      create(strategy({ applyStrategy: { comparePatches: [{ operations: [{ op: 'remove', path: '/data/a' }] }] } })),
    ],
    refused: [create(strategy({ applyStrategy: { comparePatches: [{ operations: [{ op: 'remove' }] }] } }))],
  },
  {
    kinds: both(placement),
    message: 'type Mirror needs a destination',
    accepted: [
      create(strategy({ reportBackStrategy: { type: 'Mirror', destination: 'WorkAPI' } })),
      create(strategy({ reportBackStrategy: {} })),
    ],
    refused: [create(strategy({ reportBackStrategy: { type: 'Mirror' } }))],
  },
  {
    kinds: both(placement),
    message: 'In and NotIn need values; Exists and DoesNotExist take none',
    accepted: [
      create(selecting({ ...deployment, name: undefined, ...expression('In', ['web']) })),
      create(selecting({ ...deployment, name: undefined, ...expression('Exists') })),
      create(selecting({ ...deployment, name: undefined, ...expression('DoesNotExist', []) })),
    ],
    refused: [
      create(selecting({ ...deployment, name: undefined, ...expression('In') })),
      create(selecting({ ...deployment, name: undefined, ...expression('NotIn', []) })),
      create(affinity('PickAll', required(expression('Exists', ['web'])))),
    ],
  },
];

function expression(operator: string, values?: readonly string[]) {
  return { labelSelector: { matchExpressions: [{ key: 'app', operator, ...(values && { values }) }] } };
}

// ---- members

const agent = { kind: 'User', name: 'agent' };
const tainted = (...taints: readonly unknown[]): Spec => ({ identity: agent, taints });
const noSchedule = { key: 'spot', effect: 'NoSchedule' };

const following = (more: Spec): Spec => ({ repo: 'https://example.com/shop.git', ...more });

const members: readonly Row[] = [
  {
    kinds: [gitRepo],
    message: 'In and NotIn need values; Exists and DoesNotExist take none',
    accepted: [create(following({ targets: [{ clusterSelector: expression('In', ['web']).labelSelector }] }))],
    refused: [create(following({ targets: [{ clusterSelector: expression('In').labelSelector }] }))],
  },
  {
    kinds: [gitRepo],
    message: 'repo must not contain credentials: put them into a Secret and name it in clientSecretName',
    accepted: [following({}), following({ repo: 'git@example.com:shop.git' })].map(create),
    refused: [
      following({ repo: 'https://me:word@example.com/shop' }),
      following({ repo: 'http://token@example.com/shop' }),
    ].map(create),
  },
  {
    kinds: [gitRepo],
    message: 'give branch or revision, not both',
    accepted: [following({ branch: 'main' }), following({ revision: 'v1' })].map(create),
    refused: [create(following({ branch: 'main', revision: 'v1' }))],
  },
  {
    kinds: [gitRepo],
    message: 'serviceAccount is not supported: agents cannot impersonate',
    accepted: [create(following({ serviceAccount: '' }))],
    refused: [create(following({ serviceAccount: 'deployer' }))],
  },
  {
    kinds: [clusterGroup],
    message: 'In and NotIn need values; Exists and DoesNotExist take none',
    accepted: [create({ selector: expression('In', ['web']).labelSelector })],
    refused: [create({ selector: expression('In').labelSelector })],
  },
  {
    kinds: [freeze],
    message: 'In and NotIn need values; Exists and DoesNotExist take none',
    accepted: [create({ reason: 'x', clusterSelector: expression('In', ['web']).labelSelector })],
    refused: [create({ reason: 'x', clusterSelector: expression('In').labelSelector })],
  },
  {
    kinds: [memberCluster],
    message:
      'metadata.name may have at most 50 characters and no dots: the namespace fleet-member-<name> is made from it',
    accepted: [named('a'.repeat(50), { identity: agent })],
    refused: [named('a'.repeat(51), { identity: agent }), named('eu.1', { identity: agent })],
  },
  {
    kinds: [memberCluster],
    message: 'taints has an entry twice',
    accepted: [create(tainted(noSchedule, { ...noSchedule, value: 'yes' }, { ...noSchedule, key: 'gpu' }))],
    refused: [create(tainted(noSchedule, { ...noSchedule, value: 'yes' }, noSchedule))],
  },
  {
    kinds: [clusterProfile],
    message: 'clusterManager is immutable: create a new profile',
    accepted: [
      update({ clusterManager: { name: 'KubeFleet' } }, { displayName: 'eu', clusterManager: { name: 'KubeFleet' } }),
    ],
    refused: [update({ clusterManager: { name: 'KubeFleet' } }, { clusterManager: { name: 'other' } })],
  },
];

// ---- snapshots

const configMap = (data: Spec) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' }, data });
const hash = 'YWJj';
const overriding = (value: unknown): Spec => ({
  overrideRules: [{ clusterSelector: {}, jsonPatchOverrides: [{ op: 'add', path: '/metadata/labels', value }] }],
});
const clusterOverrideSnapshot = (value: unknown): Spec => ({
  overrideSpec: { clusterResourceSelectors: [{ ...namespace }], policy: overriding(value) },
  overrideHash: hash,
});
const namespacedOverrideSnapshot = (value: unknown): Spec => ({
  overrideSpec: { resourceSelectors: [deployment], policy: overriding(value) },
  overrideHash: hash,
});
const SNAPSHOT = 'the spec of a snapshot is immutable';

const snapshots: readonly Row[] = [
  {
    kinds: both(resourceSnapshot),
    message: SNAPSHOT,
    accepted: [
      update({ selectedResources: [configMap({ a: '1' })] }, { selectedResources: [configMap({ a: '1' })] }),
      create({ selectedResources: [] }),
    ],
    refused: [
      update({ selectedResources: [configMap({ a: '1' })] }, { selectedResources: [configMap({ a: '2' })] }),
      update({ selectedResources: [configMap({ a: '1' })] }, { selectedResources: [] }),
    ],
  },
  {
    kinds: both(policySnapshot),
    message: SNAPSHOT,
    accepted: [
      update(
        { policy: { placementType: 'PickN' }, policyHash: hash },
        { policy: { placementType: 'PickN' }, policyHash: hash },
      ),
    ],
    refused: [
      update({ policyHash: hash }, { policy: { placementType: 'PickAll' }, policyHash: hash }),
      update({ policyHash: hash }, { policyHash: 'eHl6' }),
    ],
  },
  {
    kinds: both(policySnapshot),
    message: 'a toleration with operator Exists takes no value',
    accepted: [create({ policy: { tolerations: [gpu] }, policyHash: hash })],
    refused: [create({ policy: { tolerations: [{ ...gpu, value: 'yes' }] }, policyHash: hash })],
  },
  {
    kinds: both(policySnapshot),
    message: 'a toleration without a key needs operator Exists',
    accepted: [create({ policy: { tolerations: [{ operator: 'Exists' }] }, policyHash: hash })],
    refused: [create({ policy: { tolerations: [{ value: 'yes' }] }, policyHash: hash })],
  },
  {
    kinds: both(policySnapshot),
    message: 'required terms do not rank: propertySorter is for preferred terms',
    accepted: [create({ policyHash: hash, policy: { affinity: { clusterAffinity: required(prod) } } })],
    refused: [create({ policyHash: hash, policy: { affinity: { clusterAffinity: required(fewestNodes) } } })],
  },
  {
    kinds: both(policySnapshot),
    message: 'preferred terms take a propertySorter; propertySelector is for required terms',
    accepted: [create({ policyHash: hash, policy: { affinity: { clusterAffinity: preferred(fewestNodes) } } })],
    refused: [create({ policyHash: hash, policy: { affinity: { clusterAffinity: preferred(moreThanTwoNodes) } } })],
  },
  {
    kinds: both(policySnapshot),
    message: 'In and NotIn need values; Exists and DoesNotExist take none',
    accepted: [
      create({ policyHash: hash, policy: { affinity: { clusterAffinity: required(expression('In', ['web'])) } } }),
    ],
    refused: [create({ policyHash: hash, policy: { affinity: { clusterAffinity: required(expression('In')) } } })],
  },
  {
    kinds: [overrideSnapshot.cluster],
    message: SNAPSHOT,
    accepted: [update(clusterOverrideSnapshot({ a: '1' }), clusterOverrideSnapshot({ a: '1' }))],
    refused: [update(clusterOverrideSnapshot({ a: '1' }), clusterOverrideSnapshot({ a: '2' }))],
  },
  {
    kinds: [overrideSnapshot.namespaced],
    message: SNAPSHOT,
    accepted: [update(namespacedOverrideSnapshot({ a: '1' }), namespacedOverrideSnapshot({ a: '1' }))],
    refused: [update(namespacedOverrideSnapshot({ a: '1' }), namespacedOverrideSnapshot({ a: '2' }))],
  },
];

// ---- overrides: each row is written for both kinds, which name their selectors differently

const selectorList = (kind: Kind) => (kind === override.cluster ? 'clusterResourceSelectors' : 'resourceSelectors');
const overrides = (kind: Kind): readonly Row[] => {
  const of = (rule: unknown, more: Spec = {}): Spec => ({
    [selectorList(kind)]: [deployment],
    policy: { overrideRules: [rule] },
    ...more,
  });
  const add = { op: 'add', path: '/metadata/labels', value: { a: 'b' } };
  const patching = (...jsonPatchOverrides: readonly unknown[]) => of({ clusterSelector: {}, jsonPatchOverrides });
  const where = (term: unknown) => of({ clusterSelector: { clusterSelectorTerms: [term] }, jsonPatchOverrides: [add] });
  const valid = patching(add);
  const of2 = (...selectors: readonly unknown[]): Spec => ({ ...valid, [selectorList(kind)]: selectors });
  const web = { name: 'web' };
  return [
    {
      kinds: [kind],
      message: 'placement is immutable: create a new override',
      accepted: [
        update({ ...valid, placement: web }, { ...valid, placement: { ...web, scope: 'Cluster' } }),
        update(valid, valid),
      ],
      refused: [
        update({ ...valid, placement: web }, { ...valid, placement: { name: 'other' } }),
        update({ ...valid, placement: web }, valid),
        update(valid, { ...valid, placement: web }),
      ],
    },
    {
      kinds: [kind],
      message: `${selectorList(kind)} selects an object twice`,
      accepted: [create(of2(deployment, { ...deployment, name: 'api' }))],
      refused: [create(of2(deployment, { ...deployment, name: 'api' }, deployment))],
    },
    {
      kinds: [kind],
      message: 'a term of an override needs a labelSelector, and only labelSelector is supported',
      accepted: [
        create(where(prod)),
        create(of({ clusterSelector: { clusterSelectorTerms: [] }, overrideType: 'Delete' })),
      ],
      refused: [
        create(where({})),
        create(where({ ...prod, ...fewestNodes })),
        create(where({ ...prod, ...moreThanTwoNodes })),
      ],
    },
    {
      kinds: [kind],
      message: 'In and NotIn need values; Exists and DoesNotExist take none',
      accepted: [create(where(expression('NotIn', ['web'])))],
      refused: [create(where(expression('NotIn')))],
    },
    {
      kinds: [kind],
      message: 'overrideType JSONPatch needs jsonPatchOverrides',
      accepted: [create(of({ overrideType: 'JSONPatch', jsonPatchOverrides: [add] }))],
      refused: [create(of({ clusterSelector: {} })), create(of({ overrideType: 'JSONPatch' }))],
    },
    {
      kinds: [kind],
      message: 'overrideType Delete takes no jsonPatchOverrides',
      accepted: [create(of({ overrideType: 'Delete' }))],
      refused: [create(of({ overrideType: 'Delete', jsonPatchOverrides: [add] }))],
    },
    {
      kinds: [kind],
      message: 'path must start with /',
      accepted: [create(patching({ ...add, path: '/spec/replicas' }))],
      refused: [create(patching({ ...add, path: 'spec/replicas' })), create(patching({ ...add, path: '' }))],
    },
    {
      kinds: [kind],
      message: 'path must not have an empty segment',
      accepted: [create(patching({ ...add, path: '/data/a~1b' }))],
      refused: [
        create(patching({ ...add, path: '/data//a' })),
        create(patching({ ...add, path: '/data/' })),
        create(patching({ ...add, path: '/data/ /a' })),
        create(patching({ ...add, path: '/data/ ' })),
      ],
    },
    {
      kinds: [kind],
      message: 'cannot override typeMeta fields: path must not lead to kind or apiVersion',
      accepted: [create(patching({ ...add, path: '/kinds' })), create(patching({ ...add, path: '/spec/kind' }))],
      refused: [create(patching({ ...add, path: '/kind' })), create(patching({ ...add, path: '/apiVersion' }))],
    },
    {
      kinds: [kind],
      message: 'cannot override status fields',
      accepted: [create(patching({ ...add, path: '/statuses' })), create(patching({ ...add, path: '/spec/status' }))],
      refused: [create(patching({ ...add, path: '/status' })), create(patching({ ...add, path: '/status/replicas' }))],
    },
    {
      kinds: [kind],
      message: 'of metadata, only annotations and labels can be overridden',
      accepted: [
        create(patching({ ...add, path: '/metadata/annotations/a' })),
        create(patching({ ...add, path: '/metadatas' })),
      ],
      refused: [
        create(patching({ ...add, path: '/metadata' })),
        create(patching({ ...add, path: '/metadata/name' })),
        create(patching({ ...add, path: '/metadata/labelsx' })),
      ],
    },
    {
      kinds: [kind],
      message: 'op remove takes no value',
      accepted: [create(patching({ op: 'remove', path: '/data/a' })), create(patching({ ...add, value: 3 }))],
      refused: [
        create(patching({ op: 'remove', path: '/data/a', value: 'b' })),
        create(patching({ op: 'remove', path: '/data/a', value: { b: 'c' } })),
        create(patching({ op: 'remove', path: '/data/a', value: [1] })),
      ],
    },
  ];
};

const role = { group: 'rbac.authorization.k8s.io', version: 'v1', kind: 'ClusterRole' };
const clusterOverride = (selector: Spec, more: Spec = {}): Spec => ({
  clusterResourceSelectors: [selector],
  policy: overriding({ a: 'b' }),
  ...more,
});

const clusterOverrides: readonly Row[] = [
  {
    kinds: [override.cluster],
    message: 'a ClusterResourceOverride cannot name a ResourcePlacement: use a ResourceOverride',
    accepted: [create(clusterOverride({ ...role, name: 'reader' }, { placement: { name: 'web', scope: 'Cluster' } }))],
    refused: [
      create(clusterOverride({ ...role, name: 'reader' }, { placement: { name: 'web', scope: 'Namespaced' } })),
    ],
  },
  {
    kinds: [override.cluster],
    message: 'overrides select by name: labelSelector is not supported',
    accepted: [create(clusterOverride({ ...role, name: 'reader' }))],
    refused: [create(clusterOverride({ ...role, name: 'reader', ...prod }))],
  },
  {
    kinds: [override.cluster],
    message: 'overrides select by name: name is required',
    accepted: [create(clusterOverride({ ...role, name: 'reader' }))],
    refused: [create(clusterOverride(role)), create(clusterOverride({ ...role, name: '' }))],
  },
];

// ---- staged updates

const stages = (...list: readonly unknown[]): Spec => ({ stages: list });
const canary = { name: 'canary', ...prod };
const wait = { type: 'TimedWait', waitTime: '1h' };
const approve = { type: 'Approval' };
const run = { placementName: 'web', stagedRolloutStrategyName: 'safe' };

const staged: readonly Row[] = [
  {
    kinds: both(stagedUpdateStrategy),
    message: 'stage names must be unique',
    accepted: [create(stages(canary, { ...canary, name: 'production' }))],
    refused: [create(stages(canary, { ...canary, name: 'production' }, canary))],
  },
  {
    kinds: both(stagedUpdateStrategy),
    message: 'before a stage only an Approval task is possible',
    accepted: [
      create(stages({ ...canary, beforeStageTasks: [approve] })),
      create(stages({ ...canary, beforeStageTasks: [] })),
    ],
    refused: [create(stages({ ...canary, beforeStageTasks: [wait] }))],
  },
  {
    kinds: both(stagedUpdateStrategy),
    message: 'a stage takes one task of each type',
    accepted: [
      create(stages({ ...canary, afterStageTasks: [wait, approve] })),
      create(stages({ ...canary, afterStageTasks: [] })),
    ],
    refused: [
      create(stages({ ...canary, afterStageTasks: [approve, approve] })),
      create(stages({ ...canary, afterStageTasks: [wait, { ...wait, waitTime: '2h' }] })),
    ],
  },
  {
    kinds: both(stagedUpdateStrategy),
    message: 'a TimedWait task needs waitTime',
    accepted: [create(stages({ ...canary, afterStageTasks: [wait] }))],
    refused: [create(stages({ ...canary, afterStageTasks: [{ type: 'TimedWait' }] }))],
  },
  {
    kinds: both(stagedUpdateStrategy),
    message: 'an Approval task takes no waitTime',
    accepted: [create(stages({ ...canary, afterStageTasks: [approve] }))],
    refused: [
      create(stages({ ...canary, afterStageTasks: [{ ...approve, waitTime: '1h' }] })),
      create(stages({ ...canary, beforeStageTasks: [{ ...approve, waitTime: '1h' }] })),
    ],
  },
  {
    kinds: both(stagedUpdateStrategy),
    message: 'In and NotIn need values; Exists and DoesNotExist take none',
    accepted: [create(stages({ name: 'canary', ...expression('Exists') }))],
    refused: [create(stages({ name: 'canary', ...expression('Exists', ['web']) }))],
  },
  {
    kinds: both(stagedUpdateRun),
    message: 'metadata.name may have at most 63 characters',
    accepted: [named('a'.repeat(63), run)],
    refused: [named('a'.repeat(64), run)],
  },
  {
    kinds: both(stagedUpdateRun),
    message: 'placementName, resourceSnapshotIndex and stagedRolloutStrategyName are immutable: create a new run',
    accepted: [
      update(run, { ...run, state: 'Run' }),
      update(run, { ...run, resourceSnapshotIndex: '' }),
      update({ ...run, resourceSnapshotIndex: '1' }, { ...run, resourceSnapshotIndex: '1', state: 'Run' }),
    ],
    refused: [
      update(run, { ...run, placementName: 'other' }),
      update(run, { ...run, stagedRolloutStrategyName: 'other' }),
      update(run, { ...run, resourceSnapshotIndex: '1' }),
      update({ ...run, resourceSnapshotIndex: '1' }, { ...run, resourceSnapshotIndex: '2' }),
      update({ ...run, resourceSnapshotIndex: '1' }, run),
    ],
  },
  {
    kinds: both(stagedUpdateRun),
    message: 'state cannot go from Initialize to Stop: the run has not started',
    accepted: [update({ ...run, state: 'Initialize' }, { ...run, state: 'Run' }), create({ ...run, state: 'Stop' })],
    refused: [update({ ...run, state: 'Initialize' }, { ...run, state: 'Stop' })],
  },
  {
    kinds: both(stagedUpdateRun),
    message: 'state cannot go from Run to Initialize: use Stop to pause the run',
    accepted: [update({ ...run, state: 'Run' }, { ...run, state: 'Stop' })],
    refused: [update({ ...run, state: 'Run' }, { ...run, state: 'Initialize' }), update({ ...run, state: 'Run' }, run)],
  },
  {
    kinds: both(stagedUpdateRun),
    message: 'state cannot go from Stop to Initialize: use Run to resume the run',
    accepted: [update({ ...run, state: 'Stop' }, { ...run, state: 'Run' })],
    refused: [update({ ...run, state: 'Stop' }, { ...run, state: 'Initialize' })],
  },
  {
    kinds: both(approvalRequest),
    message: 'the spec of an approval request is immutable: the run creates a request for each gate',
    accepted: [
      update(
        { parentStageRollout: 'run', targetStage: 'canary' },
        { parentStageRollout: 'run', targetStage: 'canary' },
      ),
    ],
    refused: [
      update(
        { parentStageRollout: 'run', targetStage: 'canary' },
        { parentStageRollout: 'run', targetStage: 'production' },
      ),
    ],
  },
];

// ---- bindings

const boundTo = (targetCluster: string, resourceSnapshotName = ''): Spec => ({
  state: 'Bound',
  targetCluster,
  resourceSnapshotName,
  schedulingPolicySnapshotName: 'web-0',
  clusterDecision: { clusterName: 'eu-1', selected: true, reason: 'picked' },
});

const bindings: readonly Row[] = [
  {
    kinds: both(binding),
    message: 'targetCluster is immutable: delete the binding, and the scheduler makes the one that is missing',
    accepted: [update(boundTo('eu-1'), boundTo('eu-1', 'web-0-snapshot'))],
    refused: [update(boundTo('eu-1'), boundTo('eu-2'))],
  },
];

// ---- evictions and budgets

const evictions: readonly Row[] = [
  {
    kinds: [eviction],
    message: 'placementName is immutable: create a new eviction',
    accepted: [update({ placementName: 'web', clusterName: 'eu-1' }, { placementName: 'web', clusterName: 'eu-1' })],
    refused: [update({ placementName: 'web', clusterName: 'eu-1' }, { placementName: 'api', clusterName: 'eu-1' })],
  },
  {
    kinds: [eviction],
    message: 'clusterName is immutable: create a new eviction',
    accepted: [update({ placementName: 'web', clusterName: 'eu-1' }, { placementName: 'web', clusterName: 'eu-1' })],
    refused: [update({ placementName: 'web', clusterName: 'eu-1' }, { placementName: 'web', clusterName: 'eu-2' })],
  },
  {
    kinds: [disruptionBudget],
    message: 'set maxUnavailable or minAvailable, not both',
    accepted: [create({ maxUnavailable: 0 }), create({ minAvailable: '50%' }), create({})],
    refused: [create({ maxUnavailable: 1, minAvailable: 1 })],
  },
];

export const table: readonly Row[] = [
  ...placements,
  ...members,
  ...snapshots,
  ...overrides(override.cluster),
  ...overrides(override.namespaced),
  ...clusterOverrides,
  ...staged,
  ...bindings,
  ...evictions,
];
