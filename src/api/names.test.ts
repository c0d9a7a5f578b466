import { describe, expect, test } from 'vitest';
import {
  annotations,
  approvalRequestName,
  bindingName,
  clusterOfNamespace,
  DELETION_STAGE,
  envelopeWorkName,
  finalizers,
  furtherSnapshotName,
  furtherWorkName,
  isReservedNamespace,
  labels,
  masterSnapshotName,
  masterWorkName,
  memberNamespace,
  overrideSnapshotName,
  policySnapshotName,
  workBaseName,
} from './names.ts';

describe('generated names', () => {
  test.each([
    [masterSnapshotName('crp-1', 4), 'crp-1-4-snapshot'],
    [furtherSnapshotName('crp-1', 4, 0), 'crp-1-4-0'],
    [policySnapshotName('crp-1', 1), 'crp-1-1'],
    [overrideSnapshotName('cro-1', 0), 'cro-1-0'],
    [bindingName('crp-1', 'aks-member-1', '2f8fe606'), 'crp-1-aks-member-1-2f8fe606'],
    [masterWorkName(workBaseName('crp-1')), 'crp-1-work'],
    [masterWorkName(workBaseName('web', 'team')), 'team.web-work'],
    [furtherWorkName(workBaseName('crp-1'), 2), 'crp-1-2'],
    [envelopeWorkName('crp-1-work', 'abbafb00ca4681fe'), 'crp-1-work-envelope-abbafb00ca4681fe'],
    [approvalRequestName('example-run', 'before', 'canary'), 'example-run-before-canary'],
    [approvalRequestName('example-run', 'after', 'canary'), 'example-run-after-canary'],
    [memberNamespace('eu-1'), 'fleet-member-eu-1'],
    [DELETION_STAGE, 'kubernetes-fleet.io/deleteStage'],
  ])('%s', (made, expected) => expect(made).toBe(expected));

  test('a binding name is a DNS label however long the names it is made from', () => {
    expect(bindingName('p'.repeat(63), 'c'.repeat(50), '01234567')).toHaveLength(26 + 1 + 27 + 1 + 8);
  });
});

test('the namespace of a member names its cluster, and no other namespace does', () => {
  expect(clusterOfNamespace('fleet-member-eu-1')).toBe('eu-1');
  expect(clusterOfNamespace('fleet-member-')).toBeUndefined();
  expect(clusterOfNamespace('fleet-system')).toBeUndefined();
});

test.each([
  ['fleet-system', true],
  ['fleet-member-eu-1', true],
  ['kube-system', true],
  ['default', false],
  ['fleet', false],
  ['my-kube-app', false],
])('%s is reserved: %s', (namespace, reserved) => expect(isReservedNamespace(namespace)).toBe(reserved));

// Other programs compare these strings; a change here breaks a partly upgraded fleet.
test('labels, annotations and finalizers are spelt as other programs spell them', () => {
  expect([labels.parentPlacement, labels.targetUpdateRun, labels.isLatestUpdateRunApproval, labels.taskType]).toEqual([
    'kubernetes-fleet.io/parent-CRP',
    'kubernetes-fleet.io/targetUpdateRun',
    'kubernetes-fleet.io/isLatestUpdateRunApproval',
    'kubernetes-fleet.io/taskType',
  ]);
  expect([annotations.placementGeneration, annotations.numberOfEnvelopedObjects, annotations.lastApplied]).toEqual([
    'kubernetes-fleet.io/CRP-generation',
    'kubernetes-fleet.io/number-of-enveloped-object',
    'kubernetes-fleet.io/last-applied-configuration',
  ]);
  expect(Object.values(finalizers)).toEqual([
    'kubernetes-fleet.io/membercluster-finalizer',
    'kubernetes-fleet.io/cluster-profile-cleanup',
    'kubernetes-fleet.io/crp-cleanup',
    'kubernetes-fleet.io/scheduler-cleanup',
    'kubernetes-fleet.io/scheduler-crb-cleanup',
    'kubernetes-fleet.io/work-cleanup',
    'kubernetes-fleet.io/override-cleanup',
    'flotilla.dev/gitrepo-cleanup',
    'kubernetes-fleet.io/stagedupdaterun-finalizer',
  ]);
});
