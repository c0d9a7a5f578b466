// pods/eviction: what deletes a Pod, what a PodDisruptionBudget forbids, and what an eviction leaves in the budget's status. The judge
// (script `evicting`) compares the answers with those of a real server.
import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../src/api/object.ts';
import type { ApiError } from '../src/base/errors.ts';
import { aCluster, type TestCluster } from './cluster.ts';

const RUNNING = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
const UNREADY = { phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }] };

const patch = (cluster: TestCluster, at: ReturnType<TestCluster['at']>, body: object) =>
  cluster.call({
    verb: 'patch',
    at: { ...at, subresource: 'status' },
    patch: { type: 'merge', body: body as never },
    manager: 'test',
  });

async function aPod(cluster: TestCluster, name: string, status: object = RUNNING): Promise<KubeObject> {
  const spec = { nodeName: 'node', containers: [{ name: 'c', image: 'i' }] };
  await cluster.create('pods', 'default', { metadata: { name, labels: { app: 'web' } }, spec });
  return (await patch(cluster, cluster.at('pods', 'default', name), { status })).object as KubeObject;
}

async function aBudget(cluster: TestCluster, status: object, spec: object = {}, name = 'web'): Promise<void> {
  const selector = { matchLabels: { app: 'web' } };
  await cluster.create('poddisruptionbudgets', 'default', { metadata: { name }, spec: { selector, ...spec } });
  await patch(cluster, cluster.at('poddisruptionbudgets', 'default', name), { status });
}

const budgetStatus = async (cluster: TestCluster) =>
  (await cluster.get('poddisruptionbudgets', 'default', 'web')).status as Record<string, unknown>;

const evict = (cluster: TestCluster, name: string, deleteOptions: object = {}, more: object = {}) =>
  cluster.call({
    verb: 'create',
    at: { ...cluster.at('pods', 'default', name), subresource: 'eviction' },
    object: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name }, deleteOptions, ...more } as KubeObject,
    manager: 'test',
  });

const refusal = async (attempt: Promise<unknown>): Promise<ApiError> => {
  const error = await attempt.then(
    () => undefined,
    (thrown: unknown) => thrown as ApiError,
  );
  if (error === undefined) throw new Error('nothing was refused');
  return error;
};

describe('an eviction', () => {
  test('deletes a Pod gracefully and records why on it', async () => {
    await using cluster = await aCluster();
    await aPod(cluster, 'a');
    const { object } = await evict(cluster, 'a', { gracePeriodSeconds: 7 });
    expect(object).toMatchObject({ kind: 'Status', status: 'Success', code: 201 });
    const pod = await cluster.get('pods', 'default', 'a');
    expect(pod.metadata).toMatchObject({ deletionGracePeriodSeconds: 7, deletionTimestamp: '2026-01-01T00:00:07Z' });
    expect((pod.status as { conditions: object[] }).conditions).toContainEqual(
      expect.objectContaining({ type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI' }),
    );
  });

  test.each([
    { it: 'in the body', deleteOptions: { dryRun: ['All'] } },
    { it: 'with a budget in its way', deleteOptions: { dryRun: ['All'] }, allowed: 1 },
  ])('as a dry run ($it) changes nothing', async ({ deleteOptions, allowed }) => {
    await using cluster = await aCluster();
    const pod = await aPod(cluster, 'a');
    if (allowed !== undefined) await aBudget(cluster, { observedGeneration: 1, disruptionsAllowed: allowed });
    await evict(cluster, 'a', deleteOptions);
    expect(await cluster.get('pods', 'default', 'a')).toEqual(pod);
    if (allowed !== undefined) expect(await budgetStatus(cluster)).toMatchObject({ disruptionsAllowed: allowed });
  });

  test('takes one from the budget, and is refused when none is left', async () => {
    await using cluster = await aCluster();
    for (const name of ['a', 'b']) await aPod(cluster, name);
    await aBudget(cluster, { observedGeneration: 1, disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1 });
    await evict(cluster, 'a');
    expect(await budgetStatus(cluster)).toMatchObject({
      disruptionsAllowed: 0,
      disruptedPods: { a: '2026-01-01T00:00:00Z' },
      conditions: [{ type: 'DisruptionAllowed', status: 'False', reason: 'InsufficientPods' }],
    });
    const refused = await refusal(evict(cluster, 'b'));
    expect(refused).toMatchObject({ code: 429, reason: 'TooManyRequests' });
    expect(refused.details?.causes).toEqual([
      { reason: 'DisruptionBudget', message: 'The disruption budget web needs 1 healthy pods and has 2 currently' },
    ]);
    expect((await cluster.get('pods', 'default', 'b')).metadata.deletionTimestamp).toBeUndefined();
    // The Pod that goes already can be evicted again: that takes nothing.
    await evict(cluster, 'a');
  });

  test('of many at once takes no more than the budget has', async () => {
    await using cluster = await aCluster();
    const names = ['a', 'b', 'c', 'd', 'e'];
    for (const name of names) await aPod(cluster, name);
    await aBudget(cluster, { observedGeneration: 1, disruptionsAllowed: 2, currentHealthy: 5, desiredHealthy: 3 });
    const answers = await Promise.allSettled(names.map((name) => evict(cluster, name)));
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    expect(await budgetStatus(cluster)).toMatchObject({ disruptionsAllowed: 0 });
  });

  test('waits for a budget that its controller has not seen', async () => {
    await using cluster = await aCluster();
    await aPod(cluster, 'a');
    await aBudget(cluster, {});
    expect(await refusal(evict(cluster, 'a'))).toMatchObject({ code: 429, details: { retryAfterSeconds: 10 } });
  });

  test.each([
    { it: 'where enough others are healthy', status: { currentHealthy: 1, desiredHealthy: 1 }, goes: true },
    { it: 'where too few are healthy', status: { currentHealthy: 0, desiredHealthy: 1 }, goes: false },
    {
      it: 'where unhealthy Pods may always go',
      status: { currentHealthy: 0, desiredHealthy: 1 },
      spec: { unhealthyPodEvictionPolicy: 'AlwaysAllow' },
      goes: true,
    },
  ])('of a Pod that is not ready, $it', async ({ status, spec, goes }) => {
    await using cluster = await aCluster();
    await aPod(cluster, 'a', UNREADY);
    await aBudget(cluster, { observedGeneration: 1, disruptionsAllowed: 0, ...status }, spec);
    const [answer] = await Promise.allSettled([evict(cluster, 'a')]);
    expect(answer.status).toBe(goes ? 'fulfilled' : 'rejected');
  });

  test.each(['Pending', 'Succeeded', 'Failed'])('of a Pod that is %s asks no budget', async (phase) => {
    await using cluster = await aCluster();
    await aPod(cluster, 'a', { phase });
    await aBudget(cluster, { observedGeneration: 1, disruptionsAllowed: 0 });
    await evict(cluster, 'a', { gracePeriodSeconds: 0 });
    expect((await refusal(cluster.get('pods', 'default', 'a'))).code).toBe(404);
  });

  test('is refused where two budgets match', async () => {
    await using cluster = await aCluster();
    await aPod(cluster, 'a');
    for (const name of ['web', 'second']) await aBudget(cluster, { disruptionsAllowed: 1 }, {}, name);
    await expect(evict(cluster, 'a')).rejects.toThrow('more than one PodDisruptionBudget');
    expect((await cluster.get('pods', 'default', 'a')).metadata.deletionTimestamp).toBeUndefined();
  });

  test('that names another Pod, or one that is no longer the same, takes nothing from the budget', async () => {
    await using cluster = await aCluster();
    await aPod(cluster, 'a');
    await aBudget(cluster, { observedGeneration: 1, disruptionsAllowed: 1 });
    expect((await refusal(evict(cluster, 'a', {}, { metadata: { name: 'b' } }))).code).toBe(400);
    expect((await refusal(evict(cluster, 'a', { preconditions: { uid: 'other' } }))).code).toBe(409);
    expect(await budgetStatus(cluster)).toMatchObject({ disruptionsAllowed: 1 });
  });
});
