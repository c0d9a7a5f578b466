import { expect, test } from 'vitest';
import type { KubeObject } from '../../api/object.ts';
import { leftBehind, refusalOf, troubleOf } from './pod-trouble.ts';

const pod = (status: object, metadata: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web-1', ...metadata },
  status,
});
const container = (more: object) => ({ containerStatuses: [{ name: 'web', image: 'web:2', ready: false, ...more }] });
const crashed = { terminated: { exitCode: 137, reason: 'OOMKilled' } };

test.each([
  { it: 'nothing is told of it yet', status: {}, says: [] },
  { it: 'a status that is none', status: { containerStatuses: ['x', null], conditions: 7 }, says: [] },
  {
    it: 'no node accepts it',
    status: { conditions: [{ type: 'PodScheduled', status: 'False', message: '0/3 nodes are available' }] },
    says: ['no node accepts it: 0/3 nodes are available'],
  },
  {
    it: 'it was evicted',
    status: { reason: 'Evicted', message: 'low on memory' },
    says: ['Evicted: low on memory'],
  },
  {
    it: 'its image cannot be had',
    status: container({ state: { waiting: { reason: 'ImagePullBackOff', message: 'Back-off pulling "web:2"' } } }),
    says: ['container "web" (web:2): ImagePullBackOff: Back-off pulling "web:2"'],
  },
  {
    it: 'it crashes again and again',
    status: container({ state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState: crashed }),
    says: ['container "web" (web:2): CrashLoopBackOff; before that it ended with exit code 137 (OOMKilled)'],
  },
  {
    it: 'it has just ended',
    status: container({ state: { terminated: { exitCode: 1, message: ' no such file\n' } } }),
    says: ['container "web" (web:2) ended with exit code 1: no such file'],
  },
  {
    it: 'it runs and is not ready',
    status: container({ state: { running: {} } }),
    says: ['container "web" (web:2) runs and is not ready'],
  },
  { it: 'it is on its way', status: container({ state: { waiting: { reason: 'ContainerCreating' } } }), says: [] },
  { it: 'it works', status: container({ ready: true, state: { running: {} } }), says: [] },
  { it: 'it has done its work', status: container({ state: { terminated: { exitCode: 0 } } }), says: [] },
  {
    it: 'what prepares it fails',
    status: {
      initContainerStatuses: [{ name: 'init', image: 'i:1', state: crashed }],
      ...container({ state: { waiting: { reason: 'PodInitializing' } } }),
    },
    says: ['container "init" (i:1) ended with exit code 137 (OOMKilled)'],
  },
])('of a Pod: $it', ({ status, says }) => {
  expect(troubleOf(pod(status))).toEqual(says);
  expect(troubleOf(pod(status, { deletionTimestamp: '2026-01-01T00:00:00Z' }))).toEqual([]);
});

test('a container does not get to write a novel', () => {
  const message = 'x'.repeat(5000);
  const [told = ''] = troubleOf(pod(container({ state: { terminated: { exitCode: 1, message } } })));
  expect(told.length).toBeLessThan(400);
});

test.each([
  { conditions: [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'exceeded quota' }] },
  { conditions: [{ type: 'ReplicaFailure', status: 'False', reason: 'x', message: 'y' }], says: [] },
  { conditions: [{ type: 'Available', status: 'True' }], says: [] },
])(
  'of a workload: whether its Pods are made',
  ({ conditions, says = ['Pods are not created: FailedCreate: exceeded quota'] }) => {
    expect(refusalOf(pod({ conditions }))).toEqual(says);
  },
);

test.each([
  { it: 'never became ready', is: 'db-1' },
  { it: 'is of the newest revision', labels: { 'controller-revision-hash': 'db-2' }, is: undefined },
  { it: 'names no revision', labels: {}, is: undefined },
  { it: 'is of a StatefulSet that names none', told: {}, is: undefined },
  { it: 'is ready, and so has its turn', said: { conditions: [{ type: 'Ready', status: 'True' }] }, is: undefined },
  { it: 'was evicted, and so is replaced', said: { phase: 'Failed' }, is: undefined },
  { it: 'is being deleted', metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' }, is: undefined },
  { it: 'is of somebody else', metadata: { ownerReferences: [owner('other')] }, is: undefined },
  { it: 'does not stand in a row', spec: { podManagementPolicy: 'Parallel' }, is: undefined },
  {
    it: 'does not stand in a row, but waits for a hand',
    spec: { podManagementPolicy: 'Parallel', updateStrategy: { type: 'OnDelete' } },
    is: 'db-1',
  },
  {
    it: 'is to stay as it is',
    spec: below(3),
    told: { currentRevision: 'db-1', updateRevision: 'db-2' },
    is: undefined,
  },
  {
    it: 'is to stay as it is, with numbers that begin later',
    spec: { ...below(1), ordinals: { start: 2 } },
    told: { currentRevision: 'db-1', updateRevision: 'db-2' },
    is: undefined,
  },
  {
    it: 'is to be of the former revision',
    spec: below(3),
    told: { currentRevision: 'db-0', updateRevision: 'db-2' },
    is: 'db-1',
  },
  {
    it: 'is not among those that stay',
    spec: below(2),
    told: { currentRevision: 'db-1', updateRevision: 'db-2' },
    is: 'db-1',
  },
])(
  'whether a StatefulSet has left a Pod behind that $it: $is',
  ({
    spec = {},
    told = { updateRevision: 'db-2' },
    labels = { 'controller-revision-hash': 'db-1' },
    said = {},
    metadata = {},
    is,
  }) => {
    const set: KubeObject = {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 'db', uid: 'db' },
      spec,
      status: told,
    };
    const waiting = { phase: 'Pending', conditions: [{ type: 'Ready', status: 'False' }], ...said };
    const named = { name: 'db-2', labels, ownerReferences: [owner('db')] };
    expect(leftBehind(pod(waiting, { ...named, ...metadata }), set)).toBe(is);
  },
);

function owner(uid: string) {
  return { apiVersion: 'apps/v1', kind: 'StatefulSet', name: uid, uid, controller: true };
}

/** Pods with a lower ordinal are not updated. */
function below(partition: number) {
  return { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition } } };
}
