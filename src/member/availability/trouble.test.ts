import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../api/object.ts';
import { amongNewest, troubleOf } from './trouble.ts';

const pod = (status: object, metadata: object = {}): KubeObject =>
  ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', ...metadata }, status }) as KubeObject;
const waiting = (reason: string, message = 'why') => ({
  name: 'c',
  ready: false,
  state: { waiting: { reason, message } },
});
const crashed = (restartCount: number, exitCode: number, ready = false) => ({
  name: 'c',
  ready,
  restartCount,
  state: { running: {} },
  lastState: { terminated: { exitCode } },
});
const unscheduled = (reason: string) => ({
  conditions: [{ type: 'PodScheduled', status: 'False', reason, message: '0/2 nodes are available' }],
});

describe('what keeps a Pod from starting', () => {
  test.each([
    { it: 'runs', status: { containerStatuses: [{ name: 'c', ready: true, state: { running: {} } }] } },
    { it: 'has no status', status: undefined },
    { it: 'is being created', status: { containerStatuses: [waiting('ContainerCreating')] } },
    { it: 'cannot pull', status: { containerStatuses: [waiting('ImagePullBackOff')] }, cause: 'ImagePullBackOff' },
    { it: 'pulls again', status: { containerStatuses: [waiting('ErrImagePull')] }, cause: 'ImagePullBackOff' },
    { it: 'crashes', status: { containerStatuses: [waiting('CrashLoopBackOff')] }, cause: 'CrashLoopBackOff' },
    { it: 'runs between crashes', status: { containerStatuses: [crashed(2, 1)] }, cause: 'CrashLoopBackOff' },
    { it: 'crashed once', status: { containerStatuses: [crashed(1, 1)] } },
    { it: 'crashed and recovered', status: { containerStatuses: [crashed(5, 1, true)] } },
    { it: 'ended well again and again', status: { containerStatuses: [crashed(5, 0)] } },
    {
      it: 'has an init container',
      status: { initContainerStatuses: [waiting('RunContainerError')] },
      cause: 'RunContainerError',
    },
    {
      it: 'has two faults',
      status: { containerStatuses: [waiting('CrashLoopBackOff'), waiting('ErrImagePull')] },
      cause: 'ImagePullBackOff',
    },
    { it: 'fits on no node', status: unscheduled('Unschedulable'), cause: 'Unschedulable' },
    { it: 'waits at a scheduling gate', status: unscheduled('SchedulingGated') },
  ])('of one that $it: $cause', ({ status, cause }) => {
    expect(troubleOf(pod(status as object))?.code).toBe(cause);
  });

  test('is told with what the kubelet says, shortened', () => {
    expect(troubleOf(pod({ containerStatuses: [waiting('ErrImagePull', 'x'.repeat(999))] }))?.message).toHaveLength(
      256,
    );
  });
});

test('only the newest Pods of a workload count', () => {
  const one = (labels: Record<string, string>) => ({
    code: 'Unschedulable' as const,
    message: '',
    labels,
    owner: undefined,
  });
  const [newest, old, other] = [
    one({ app: 'db', hash: '2' }),
    one({ app: 'db', hash: '1' }),
    one({ app: 'x', hash: '2' }),
  ];
  const selector = { matchLabels: { app: 'db' } };
  expect(amongNewest([newest, old, other], { selector, labels: { hash: '2' } })).toEqual([newest]);
  expect(amongNewest([newest, old, other], { selector })).toEqual([newest, old]);
});
