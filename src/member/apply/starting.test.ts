// A workload that cannot start: the Work's status contains the cause as a code.
import { describe, expect, test } from 'vitest';
import { ApiError } from '../../base/errors.ts';
import { aDeployment, aNamespace, aRig, type Rig } from './applier.testing.ts';

const REVISION = 'deployment.kubernetes.io/revision';

/** A Deployment of this revision that is not available, and a Pod in this state whose ReplicaSet has that revision. */
async function waitingFor(rig: Rig, status: object, { revision = '2', podRevision = '2', node = 'n' } = {}) {
  await rig.start();
  await rig.order('web-work', [aNamespace('shop'), aDeployment('web', 'web:bad')]);
  await rig.settles();
  await rig.patch('deployments', 'shop', 'web', { metadata: { annotations: { [REVISION]: revision } } });
  await rig.patch(
    'deployments',
    'shop',
    'web',
    { status: { observedGeneration: 2, unavailableReplicas: 2 } },
    'status',
  );
  const { spec } = aDeployment('web', 'web:bad');
  const labels = { app: 'web' };
  const set = await rig.member.create('replicasets', 'shop', {
    metadata: { name: 'web-1', annotations: { [REVISION]: podRevision } },
    spec: { ...spec, template: { ...spec.template } },
  });
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-1', uid: set.metadata.uid, controller: true };
  await rig.member.create('pods', 'shop', {
    metadata: { name: 'web-1-a', labels, ownerReferences: [owner] },
    spec: { ...spec.template.spec, ...(node === '' ? {} : { nodeName: node }) },
  });
  await rig.patch('pods', 'shop', 'web-1-a', { status }, 'status');
  await rig.settles();
}

const waiting = (reason: string) => ({
  phase: 'Pending',
  containerStatuses: [
    {
      name: 'web',
      image: 'web:bad',
      imageID: '',
      ready: false,
      restartCount: 0,
      state: { waiting: { reason, message: `says ${reason}` } },
    },
  ],
});

const causeIn = async (rig: Rig) => (await rig.work('web-work')).status?.manifestConditions?.[1]?.cause;

describe('a workload that cannot start', () => {
  test('is reported with its cause', async () => {
    await using rig = await aRig();
    await waitingFor(rig, waiting('ImagePullBackOff'));
    expect(await causeIn(rig)).toEqual({ code: 'ImagePullBackOff', message: 'says ImagePullBackOff' });
    expect(await rig.messageOf('web-work', 1, 'Available')).toContain('(ImagePullBackOff)');
    // A retrying kubelet alternates between reasons; that must not cause a write.
    const before = rig.writes.length;
    await rig.patch('pods', 'shop', 'web-1-a', { status: waiting('ErrImagePull') }, 'status');
    await rig.settles();
    expect(rig.writes.slice(before).filter((each) => each.startsWith('hub'))).toEqual([]);
  });

  test('has no cause any more once it runs', async () => {
    await using rig = await aRig();
    await waitingFor(rig, waiting('CrashLoopBackOff'));
    expect((await causeIn(rig))?.code).toBe('CrashLoopBackOff');
    const status = {
      observedGeneration: 2,
      replicas: 2,
      updatedReplicas: 2,
      readyReplicas: 2,
      availableReplicas: 2,
      unavailableReplicas: null,
    };
    await rig.patch('deployments', 'shop', 'web', { status }, 'status');
    await rig.settles();
    expect(await causeIn(rig)).toBeUndefined();
  });

  test('is also one whose Pod fits on no node', async () => {
    await using rig = await aRig();
    const scheduled = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/1 nodes' };
    await waitingFor(rig, { phase: 'Pending', conditions: [scheduled] }, { node: '' });
    expect(await causeIn(rig)).toMatchObject({ code: 'Unschedulable', message: '0/1 nodes' });
  });

  test('is not one whose earlier Pods could not start', async () => {
    await using rig = await aRig();
    await waitingFor(rig, waiting('ImagePullBackOff'), { revision: '3', podRevision: '2' });
    expect(await causeIn(rig)).toBeUndefined();
  });

  test('is one whose Pods cannot be created', async () => {
    await using rig = await aRig();
    await rig.start();
    await rig.order('web-work', [aNamespace('shop'), aDeployment('web', 'web:1')]);
    await rig.settles();
    const failure = {
      type: 'ReplicaFailure',
      status: 'True',
      reason: 'FailedCreate',
      message: 'exceeded quota: small',
    };
    const status = { observedGeneration: 1, conditions: [failure] };
    await rig.patch('deployments', 'shop', 'web', { status }, 'status');
    await rig.settles();
    expect(await causeIn(rig)).toMatchObject({ code: 'FailedCreate', message: 'exceeded quota: small' });
  });

  test('is reported without a cause where Pods may not be read', async () => {
    await using rig = await aRig();
    rig.refuseLists = (plural) => (plural === 'pods' ? new ApiError(403, 'Forbidden', 'no list') : undefined);
    await waitingFor(rig, waiting('ImagePullBackOff'));
    expect(await causeIn(rig)).toBeUndefined();
    expect(await rig.verdict('web-work')).toContain('Available=False');
  });
});
