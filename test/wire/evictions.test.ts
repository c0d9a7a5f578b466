// V3-20 and V3-21 with kubectl on the built program: evictions under a budget, a drain, and a status that a namespace user reads.

import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { patience } from '../../scripts/gate/patience.ts';
import { flotilla } from './fleet.ts';
import { program, run, type Server, skipsKubectl, startServer } from './server.ts';

const GROUP = 'placement.kubernetes-fleet.io/v1beta1';
const placement = (name: string, spec: object) => ({
  apiVersion: GROUP,
  kind: 'ClusterResourcePlacement',
  metadata: { name },
  spec,
});
const selecting = (name: string) => ({ resourceSelectors: [{ group: '', version: 'v1', kind: 'Namespace', name }] });
const budget = (spec: object, name = 'shop') => ({
  apiVersion: GROUP,
  kind: 'ClusterResourcePlacementDisruptionBudget',
  metadata: { name },
  spec,
});
const eviction = (name: string, cluster: string, placementName = 'shop') => ({
  apiVersion: GROUP,
  kind: 'ClusterResourcePlacementEviction',
  metadata: { name },
  spec: { placementName, clusterName: cluster },
});
const CORDON = [{ key: 'cordon-key', value: 'cordon-value', effect: 'NoSchedule' }];

describe.skipIf(skipsKubectl)('evictions, and status for a namespace', () => {
  let hub: Server;
  const apply = (...objects: readonly object[]) =>
    hub.kubectl(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
  const given = async (...objects: readonly object[]) => {
    const { code, stdout, stderr } = await apply(...objects);
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
    return `${stdout}${stderr}`;
  };
  /** Status and message of a condition, once the eviction has an outcome. */
  const outcome = async (name: string, type: 'Valid' | 'Executed') => {
    await hub.ok(['wait', `crpe/${name}`, `--for=jsonpath={.status.conditions[?(@.type=="${type}")].status}`]);
    const path = `{.status.conditions[?(@.type=="${type}")].status} {.status.conditions[?(@.type=="${type}")].message}`;
    return hub.ok(['get', 'crpe', name, '-o', `jsonpath=${path}`]);
  };

  beforeAll(async () => {
    hub = await startServer({ command: 'up', args: ['--in-memory', '--members', '3'] });
    const namespaces = ['shop', 'other'].map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }));
    await given(
      ...namespaces,
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'app', namespace: 'shop' }, data: { a: '1' } },
      placement('shop', { ...selecting('shop'), statusReportingScope: 'NamespaceAccessible' }),
      placement('fixed', {
        ...selecting('other'),
        policy: { placementType: 'PickFixed', clusterNames: ['member-1'] },
      }),
      placement('few', { ...selecting('none'), policy: { placementType: 'PickN', numberOfClusters: 3 } }),
    );
    await hub.ok([
      'wait',
      '--for=condition=ClusterResourcePlacementAvailable',
      'crp/shop',
      'crp/fixed',
      '--timeout=60s',
    ]);
  }, patience(120_000));
  afterAll(async () => hub?.[Symbol.asyncDispose]());

  test('V3-20: a budget that does not fit the placement is refused, or warned of', async () => {
    expect((await apply(budget({ maxUnavailable: 1 }))).stderr).toContain('set minAvailable to a number');
    expect((await apply(budget({ minAvailable: '50%' }))).stderr).toContain('a percentage has no meaning');
    expect((await apply(budget({ minAvailable: 1, maxUnavailable: 1 }, 'few'))).code).toBe(1);
    expect(await given(budget({ maxUnavailable: '10%' }, 'few'))).not.toContain('Warning');
    expect(await given(budget({ minAvailable: 1 }, 'fixed'))).toContain('the budget has no effect');
  });

  test('V3-20: evictions end as the table says', async () => {
    expect(await given(eviction('of-fixed', 'member-1', 'fixed'))).toContain('PickFixed');
    await given(
      budget({ minAvailable: 3 }),
      eviction('of-none', 'member-1', 'absent'),
      eviction('nowhere', 'member-9'),
      eviction('too-many', 'member-1'),
    );
    expect(await outcome('of-fixed', 'Valid')).toBe(
      'False Found ClusterResourcePlacement with PickFixed placement type targeted by eviction',
    );
    expect(await outcome('of-none', 'Valid')).toBe(
      'False Failed to find ClusterResourcePlacement targeted by eviction',
    );
    expect(await outcome('nowhere', 'Valid')).toBe(
      'False Failed to find scheduler decision for placement in cluster targeted by eviction',
    );
    expect(await outcome('too-many', 'Executed')).toBe(
      'False Eviction is blocked by specified ClusterResourcePlacementDisruptionBudget, availablePlacements: 3, totalPlacements: 3',
    );
    await hub.ok([
      'patch',
      'membercluster',
      'member-1',
      '--type=merge',
      '-p',
      JSON.stringify({ spec: { taints: CORDON } }),
    ]);
    await given(budget({ minAvailable: 2 }), eviction('allowed', 'member-1'));
    expect(await outcome('allowed', 'Executed')).toBe(
      'True Eviction is allowed by specified ClusterResourcePlacementDisruptionBudget, availablePlacements: 3, totalPlacements: 3',
    );
    await hub.ok(['--context', 'member-1', 'wait', '--for=delete', 'namespace/shop', '--timeout=60s']);
  });

  test('draincluster and uncordoncluster take the flags of KubeFleet, and a budget that blocks is no failure', async () => {
    const plugin = (command: string, ...args: readonly string[]) =>
      run(
        process.execPath,
        [
          join(dirname(program), 'kubectl-fleet.js'),
          ...[command, '--hub-cluster-context', 'hub', '--cluster-name', 'member-2', ...args],
        ],
        { env: { PATH: '/nonexistent', HOME: hub.folder, KUBECONFIG: hub.kubeconfig } },
      );
    const taints = () => hub.ok(['get', 'membercluster', 'member-2', '-o', 'jsonpath={.spec.taints[*].key}']);
    await given(budget({ minAvailable: 2 }));
    const { code, stdout } = await plugin('draincluster', '--timeout', '1m');
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringContaining('ClusterResourcePlacement "shop": not evicted (Eviction is blocked by specified'),
    });
    expect(stdout).toContain('left on cluster "member-2":');
    expect(await taints()).toBe('cordon-key');
    expect((await plugin('uncordoncluster')).stdout).toContain('membercluster/member-2 uncordoned');
    expect(await taints()).toBe('');
    expect((await plugin('uncordoncluster')).code).toBe(0);
  });

  test('drain evicts what the budgets allow, names what it takes off, and uncordon lets it come back', async () => {
    const ours = (...args: readonly string[]) => flotilla(hub.folder, args, { KUBECONFIG: hub.kubeconfig });
    await given(budget({ minAvailable: 1 }));
    const { code, stdout, stderr } = await ours('drain', 'member-2', '--timeout', '1m');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('ClusterResourcePlacement "shop": evicted (Eviction is allowed by specified');
    expect(stdout).toContain('removes from the cluster: Namespace "shop"');
    expect(stdout).toContain('membercluster/member-2 drained');
    await hub.ok(['--context', 'member-2', 'wait', '--for=delete', 'namespace/shop', '--timeout=60s']);
    expect((await ours('uncordon', 'member-2')).code).toBe(0);
    await hub.ok([...['--context', 'member-2', 'wait', '--for=create', 'namespace/shop', '--timeout=60s']]);
    expect((await ours('drain', 'member-9')).code).toBe(1);
  });

  test('V3-21: a namespace user reads the copy with the shipped view role, and no placement', async () => {
    const roles = await flotilla(hub.folder, ['roles', 'people']);
    expect(roles.code).toBe(0);
    expect((await hub.kubectl(['apply', '-f', '-'], roles.stdout)).code).toBe(0);
    await hub.ok(['-n', 'shop', 'create', 'rolebinding', 'team', '--clusterrole=view', '--user=ann']);
    const as = (...args: readonly string[]) => hub.kubectl(['--as=ann', '-n', 'shop', ...args]);
    const synced = '{.status.conditions[?(@.type=="ClusterResourcePlacementStatusSynced")].status}';
    expect(await hub.ok(['get', 'crp', 'shop', '-o', `jsonpath=${synced}`])).toBe('True');
    const { stdout, stderr, code } = await as(
      'get',
      'crps',
      'shop',
      '-o',
      'jsonpath={.sourceStatus.selectedResources[*].kind}',
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('Namespace');
    expect((await as('get', 'crp', 'shop')).stderr).toContain('forbidden');
    expect((await as('delete', 'crps', 'shop')).stderr).toContain('forbidden');
  });

  test('V3-21: one selector, one scope, one namespace', async () => {
    const two = [...selecting('shop').resourceSelectors, ...selecting('other').resourceSelectors];
    const accessible = { statusReportingScope: 'NamespaceAccessible' };
    const twice = await apply(placement('twice', { resourceSelectors: two, ...accessible }));
    expect(twice.stderr).toContain('needs exactly one Namespace selector');
    const patch = (spec: object) =>
      hub.kubectl(['patch', 'crp', 'shop', '--type=merge', '-p', JSON.stringify({ spec })]);
    expect((await patch({ statusReportingScope: 'ClusterScopeOnly' })).stderr).toContain('is immutable');
    const moved = await patch(selecting('other'));
    expect(moved.code).toBe(0);
    expect(moved.stderr).toContain('Warning');
    const scheduled = '{.status.conditions[?(@.type=="ClusterResourcePlacementScheduled")].reason}';
    await hub.ok(['wait', 'crp/shop', `--for=jsonpath=${scheduled}=InvalidResourceSelectors`, '--timeout=30s']);
    expect((await hub.kubectl(['-n', 'other', 'get', 'crps', 'shop'])).stderr).toContain('NotFound');
    await patch(selecting('shop'));
    await hub.ok(['wait', 'crp/shop', `--for=jsonpath=${scheduled}=SchedulingPolicyFulfilled`, '--timeout=30s']);
  });
});
