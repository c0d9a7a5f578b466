// `kubectl drain` on a member: Pods are evicted, as many at once as their PodDisruptionBudget allows, and come back on another node.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { patience } from '../../scripts/gate/patience.ts';
import { type Server, skipsKubectl, startServer } from './server.ts';

const NODE = 'member-1-node-1';
const web = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'default' },
  spec: {
    replicas: 4,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { terminationGracePeriodSeconds: 1, containers: [{ name: 'main', image: 'web:1' }] },
    },
  },
};
const budget = (minAvailable: number) => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'web', namespace: 'default' },
  spec: { minAvailable, selector: { matchLabels: { app: 'web' } } },
});

describe.skipIf(skipsKubectl)('drain on a member', () => {
  let fleet: Server;
  const on = (...args: readonly string[]) => fleet.ok(['--context', 'member-1', ...args]);
  const apply = (object: object) => fleet.ok(['--context', 'member-1', 'apply', '-f', '-'], JSON.stringify(object));
  const drain = (...args: readonly string[]) =>
    fleet.kubectl(['--context', 'member-1', 'drain', NODE, '--ignore-daemonsets', '--force', ...args]);
  const onNode = async () =>
    (await on('get', 'pods', '-l', 'app=web', '--field-selector', `spec.nodeName=${NODE}`, '-o', 'name')).trim();

  beforeAll(async () => {
    fleet = await startServer({ command: 'up', args: ['--in-memory', '--members', '1'] });
    await apply(web);
    await on('rollout', 'status', 'deployment/web', '--timeout=60s');
  }, patience(120_000));
  afterAll(async () => fleet?.[Symbol.asyncDispose]());

  test('is refused by a budget that allows no disruption', async () => {
    await apply(budget(4));
    await on('wait', 'pdb/web', '--for=jsonpath={.status.observedGeneration}=1', '--timeout=60s');
    const before = await onNode();
    expect(before).not.toBe('');
    const { code, stderr } = await drain('--timeout=3s');
    expect(code).toBe(1);
    expect(stderr).toContain("Cannot evict pod as it would violate the pod's disruption budget.");
    expect(await onNode()).toBe(before);
  });

  test('as a dry run evicts nothing', async () => {
    await apply(budget(3));
    await on('wait', 'pdb/web', '--for=jsonpath={.status.disruptionsAllowed}=1', '--timeout=60s');
    const before = await onNode();
    expect((await drain('--dry-run=server')).stdout).toContain('drained (server dry run)');
    expect(await onNode()).toBe(before);
  });

  test('evicts Pods one after the other, and they come back elsewhere', async () => {
    const { code, stdout, stderr } = await drain('--timeout=120s');
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/pod\/web-\S+ evicted/);
    expect(await onNode()).toBe('');
    await on('rollout', 'status', 'deployment/web', '--timeout=60s');
    await on('wait', 'pdb/web', '--for=jsonpath={.status.currentHealthy}=4', '--timeout=60s');
    expect(await on('get', 'pdb', 'web', '-o', 'jsonpath={.status.disruptedPods}')).toBe('');
  });
});
