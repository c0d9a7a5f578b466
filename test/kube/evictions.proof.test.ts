// Evictions under a budget on real control planes, where no admission of ours runs: one is refused, one is executed, and a drain goes on from there.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { usualFleet } from '../../src/main/fleet.ts';
import type { Fleet } from '../wire/delivery.ts';
import { namespace } from '../wire/delivery-kinds.ts';
import { flotilla } from '../wire/fleet.ts';
import { startOnPlanes } from './fleet.ts';
import { skipsPlanes } from './planes.ts';

const API = 'placement.kubernetes-fleet.io/v1beta1';
const budget = (minAvailable: number | string) => ({
  apiVersion: API,
  kind: 'ClusterResourcePlacementDisruptionBudget',
  metadata: { name: 'evicted' },
  spec: { minAvailable },
});
const eviction = (name: string) => ({
  apiVersion: API,
  kind: 'ClusterResourcePlacementEviction',
  metadata: { name },
  spec: { placementName: 'evicted', clusterName: 'member-1' },
});

describe.skipIf(skipsPlanes)('on real control planes', () => {
  let fleet: Fleet;
  const commanded = (...args: readonly string[]) =>
    flotilla(fleet.home, [...args, '--context', 'hub'], { KUBECONFIG: fleet.kubeconfig });
  /** Status and message, once the eviction has an outcome. */
  const outcome = async (name: string): Promise<string> => {
    const executed = '.status.conditions[?(@.type=="Executed")]';
    await fleet.hub(['wait', `crpe/${name}`, `--for=jsonpath={${executed}.status}`, '--timeout=60s']);
    return fleet.hub(['get', 'crpe', name, '-o', `jsonpath={${executed}.status} {${executed}.message}`]);
  };

  beforeAll(async () => {
    fleet = await startOnPlanes(usualFleet(2));
    await fleet.apply(namespace('evicted'), {
      apiVersion: API,
      kind: 'ClusterResourcePlacement',
      metadata: { name: 'evicted' },
      spec: { resourceSelectors: [{ group: '', version: 'v1', kind: 'Namespace', name: 'evicted' }] },
    });
    await fleet.waitForAvailable('crp/evicted');
  });
  afterAll(async () => {
    await fleet?.hub(['delete', 'crpe,crpdb', '--all', '--timeout=60s']);
    await fleet?.[Symbol.asyncDispose]();
  });

  test('an eviction that the budget does not allow changes nothing', async () => {
    await fleet.apply(budget(2), eviction('too-many'));
    expect(await outcome('too-many')).toBe(
      'False Eviction is blocked by specified ClusterResourcePlacementDisruptionBudget, availablePlacements: 2, totalPlacements: 2',
    );
    expect(await fleet.on('member-1', ['get', 'namespace', 'evicted', '-o', 'name'])).toContain('evicted');
    const { stdout } = await commanded('why', 'eviction/too-many');
    expect(stdout).toContain('minAvailable: 2');
  });

  test('a budget that means nothing for PickAll blocks, too: nobody has refused it', async () => {
    await fleet.apply(budget('50%'), eviction('meaningless'));
    expect(await outcome('meaningless')).toContain('False Eviction is blocked by misconfigured');
  });

  test('one that it allows takes the resources off the tainted cluster, for as long as it is tainted', async () => {
    await fleet.apply(budget(1));
    const cordon = [{ key: 'cordon-key', value: 'cordon-value', effect: 'NoSchedule' }];
    const body = JSON.stringify({ spec: { taints: cordon } });
    await fleet.hub(['patch', 'membercluster', 'member-1', '--type=merge', '-p', body]);
    await fleet.apply(eviction('allowed'));
    expect(await outcome('allowed')).toBe(
      'True Eviction is allowed by specified ClusterResourcePlacementDisruptionBudget, availablePlacements: 2, totalPlacements: 2',
    );
    await fleet.on('member-1', ['wait', '--for=delete', 'namespace/evicted', '--timeout=60s']);
    const { code, stdout } = await commanded('drain', 'member-1', '--timeout', '1m');
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('membercluster/member-1 drained') });
    expect((await commanded('uncordon', 'member-1')).code).toBe(0);
    await fleet.on('member-1', ['wait', '--for=create', 'namespace/evicted', '--timeout=60s']);
  });
});
