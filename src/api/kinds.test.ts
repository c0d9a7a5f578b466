// The API that clients rely on: names, scopes, versions, columns. The table lists the fleet groups exactly.
import { describe, expect, test } from 'vitest';
import type { Kind } from './kind.ts';
import { hubKinds, memberKinds } from './kinds.ts';

const GEN = ['Gen', 'Age'];
const PLACEMENT = [
  'Gen',
  'Type*',
  'Scheduled',
  'Scheduled-Gen',
  'Work-Synchronized*',
  'Work-Synchronized-Gen*',
  'Available',
  'Available-Gen',
  'Rollout*',
  'Ready-Clusters*',
  'Age',
];
const BINDING = ['WorkSynchronized', 'ResourcesApplied', 'ResourceAvailable*', 'Age'];
const RUN = [
  'Placement',
  'Resource-Snapshot-Index',
  'Policy-Snapshot-Index',
  'Initialized',
  'Progressing',
  'Succeeded',
  'Age',
  'Strategy*',
];
const REQUEST = ['Update-Run', 'Stage', 'Approved', 'Age'];
const OVERRIDE = ['Placement', 'Scope*', 'First-Kind*', 'First-Name*', 'Age'];
const OVERRIDE_SNAPSHOT = ['Override', 'Index', 'Latest', 'Age'];
const MEMBER = [
  'Joined',
  'Healthy',
  'Age',
  'Member-Agent-Last-Seen',
  'Node-Count',
  'Available-CPU',
  'Available-Memory',
  'Allocatable-CPU*',
  'Allocatable-Memory*',
];
const WORK = ['Placement', 'Resource-Index', 'Applied', 'Available', 'Diff-Reported*', 'Age'];

const table: readonly (readonly [string, string, 'C' | 'N', string, string, boolean, readonly string[]])[] = [
  ['MemberCluster', 'memberclusters', 'C', 'cluster', 'v1 v1beta1', true, MEMBER],
  [
    'InternalMemberCluster',
    'internalmemberclusters',
    'N',
    'imc',
    'v1 v1beta1',
    true,
    ['State', 'Joined', 'Healthy', 'Last-Seen', 'Age'],
  ],
  ['ClusterResourcePlacement', 'clusterresourceplacements', 'C', 'crp', 'v1 v1beta1', true, PLACEMENT],
  ['ResourcePlacement', 'resourceplacements', 'N', 'rp', 'v1 v1beta1', true, PLACEMENT],
  [
    'ClusterResourcePlacementStatus',
    'clusterresourceplacementstatuses',
    'N',
    'crps',
    'v1 v1beta1',
    false,
    ['Resource-Index', 'Last-Updated', 'Age'],
  ],
  ['ClusterResourceSnapshot', 'clusterresourcesnapshots', 'C', 'crs', 'v1 v1beta1', true, GEN],
  ['ResourceSnapshot', 'resourcesnapshots', 'N', 'rs', 'v1beta1', true, GEN],
  ['ClusterSchedulingPolicySnapshot', 'clusterschedulingpolicysnapshots', 'C', 'csps', 'v1 v1beta1', true, GEN],
  ['SchedulingPolicySnapshot', 'schedulingpolicysnapshots', 'N', 'sps', 'v1beta1', true, GEN],
  ['ClusterResourceBinding', 'clusterresourcebindings', 'C', 'crb', 'v1 v1beta1', true, BINDING],
  ['ResourceBinding', 'resourcebindings', 'N', 'rb', 'v1beta1', true, BINDING],
  ['Work', 'works', 'N', '', 'v1 v1beta1', true, WORK],
  ['ClusterResourceOverride', 'clusterresourceoverrides', 'C', '', 'v1 v1beta1 v1alpha1', false, OVERRIDE],
  ['ResourceOverride', 'resourceoverrides', 'N', '', 'v1 v1beta1 v1alpha1', false, OVERRIDE],
  [
    'ClusterResourceOverrideSnapshot',
    'clusterresourceoverridesnapshots',
    'C',
    '',
    'v1 v1beta1 v1alpha1',
    false,
    OVERRIDE_SNAPSHOT,
  ],
  ['ResourceOverrideSnapshot', 'resourceoverridesnapshots', 'N', '', 'v1 v1beta1 v1alpha1', false, OVERRIDE_SNAPSHOT],
  ['ClusterResourceEnvelope', 'clusterresourceenvelopes', 'C', '', 'v1beta1', false, GEN],
  ['ResourceEnvelope', 'resourceenvelopes', 'N', '', 'v1beta1', false, GEN],
  ['ClusterStagedUpdateStrategy', 'clusterstagedupdatestrategies', 'C', 'csus', 'v1 v1beta1 v1alpha1', true, []],
  ['StagedUpdateStrategy', 'stagedupdatestrategies', 'N', 'sus', 'v1 v1beta1', false, []],
  ['ClusterStagedUpdateRun', 'clusterstagedupdateruns', 'C', 'csur', 'v1 v1beta1 v1alpha1', true, RUN],
  ['StagedUpdateRun', 'stagedupdateruns', 'N', 'sur', 'v1 v1beta1', true, RUN],
  ['ClusterApprovalRequest', 'clusterapprovalrequests', 'C', 'careq', 'v1 v1beta1 v1alpha1', true, REQUEST],
  ['ApprovalRequest', 'approvalrequests', 'N', 'areq', 'v1 v1beta1', true, REQUEST],
  [
    'ClusterResourcePlacementEviction',
    'clusterresourceplacementevictions',
    'C',
    'crpe',
    'v1beta1 v1alpha1',
    true,
    ['Valid', 'Executed'],
  ],
  [
    'ClusterResourcePlacementDisruptionBudget',
    'clusterresourceplacementdisruptionbudgets',
    'C',
    'crpdb',
    'v1beta1 v1alpha1',
    false,
    ['Max-Unavailable', 'Min-Available', 'Age'],
  ],
];

const rowOf = (kind: Kind) => [
  kind.kind,
  kind.plural,
  kind.namespaced ? 'N' : 'C',
  kind.shortNames.join(' '),
  kind.versions.map((version) => version.version).join(' '),
  kind.hasStatus,
  kind.columns.map((column) => `${column.name}${column.priority === 1 ? '*' : ''}`),
];

describe('the kinds of a hub', () => {
  const fleet = hubKinds.filter((kind) => kind.group.endsWith('.kubernetes-fleet.io'));

  test('are exactly these', () => expect(fleet.map(rowOf)).toEqual(table));

  test('are stored in v1beta1 and found by their categories', () => {
    for (const kind of fleet) {
      expect(kind.version).toBe('v1beta1');
      expect(kind.categories).toEqual([
        'fleet',
        kind.group.startsWith('cluster.') ? 'fleet-cluster' : 'fleet-placement',
      ]);
      expect(kind.listKind).toBe(`${kind.kind}List`);
      expect(kind.singular).toBe(kind.kind.toLowerCase());
    }
  });

  test('include the inventory of SIG Multicluster and kinds of our own', () => {
    expect(hubKinds.filter((kind) => !fleet.includes(kind)).map((kind) => kind.kind)).toEqual([
      'ClusterProfile',
      'ClusterGroup',
      'GitRepo',
      'Freeze',
    ]);
  });

  test('show less in versions that had less', () => {
    const columnsIn = (name: string, version: string) =>
      fleet
        .find((kind) => kind.kind === name)
        ?.versions.find((each) => each.version === version)
        ?.columns.map((column) => column.name);
    expect(columnsIn('ClusterStagedUpdateRun', 'v1')).toContain('Progressing');
    expect(columnsIn('ClusterStagedUpdateRun', 'v1alpha1')).not.toContain('Progressing');
    expect(columnsIn('ClusterResourcePlacementEviction', 'v1alpha1')).toEqual(['Valid']);
  });
});

test('a member has the one kind that owns what was applied', () => {
  expect(memberKinds.map(rowOf)).toEqual([
    ['AppliedWork', 'appliedworks', 'C', '', 'v1 v1beta1', true, ['Work-Namespace', 'Work', 'Age']],
  ]);
});

test('no two kinds claim the same plural in a group', () => {
  const names = [...hubKinds, ...memberKinds].map((kind) => `${kind.plural}.${kind.group}`);
  expect(new Set(names).size).toBe(names.length);
});
