// What an author with the role `edit` in a namespace of the hub causes on members through a ResourcePlacement.
import { describe, expect, test } from 'vitest';
import type { User } from '../../src/api/object.ts';
import { RBAC_GROUP } from '../../src/api/resources.ts';
import { namespacedFamily } from '../../src/hub/families.ts';
import { installRoles } from '../../src/main/install-roles.ts';
import { admin } from '../cluster.ts';
import { aDelivery, CONFIG_MAPS, configMap, type Delivery, deployment, SHOP, selects } from '../delivery.ts';

const tenant: User = { name: 'ann', groups: ['system:authenticated'] };

test('a placement delivers RoleBindings and privileged workloads that its author may not read or run on the member', async () => {
  await using it = await aDelivery(namespacedFamily, { members: 1 });
  const { hub } = it.fleet;
  await installRoles(hub.as(admin));
  const binding = (name: string, role: string, user: string) => ({
    metadata: { name },
    roleRef: { apiGroup: RBAC_GROUP, kind: 'ClusterRole', name: role },
    subjects: [{ kind: 'User', apiGroup: RBAC_GROUP, name: user }],
  });
  await hub.create('rolebindings', SHOP, binding('editors', 'edit', tenant.name));
  await hub.create('rolebindings', SHOP, binding('owners', 'admin', 'bob'));
  await it.runs();

  const asTenant = hub.as(tenant);
  const create = (plural: string, object: object) => {
    const at = hub.at(plural, SHOP);
    const { group, version, kind } = at.resource;
    const apiVersion = group === '' ? version : `${group}/${version}`;
    return asTenant.call({ verb: 'create', at, object: { apiVersion, kind, metadata: {}, ...object }, manager: 't' });
  };
  await expect(asTenant.call({ verb: 'get', at: hub.at('rolebindings', SHOP, 'owners') })).rejects.toMatchObject({
    code: 403,
  });
  await expect(create('rolebindings', binding('mine', 'edit', tenant.name))).rejects.toMatchObject({ code: 403 });

  const { metadata, spec } = deployment('web:1');
  const containers = [{ name: 'web', image: 'web:1', securityContext: { privileged: true } }];
  const template = { ...spec.template, spec: { hostPID: true, containers } };
  await create('deployments', { metadata, spec: { ...spec, template } });
  const resourceSelectors = [
    selects(RBAC_GROUP, 'v1', 'RoleBinding', { name: 'owners' }),
    selects('apps', 'v1', 'Deployment'),
  ];
  await create('resourceplacements', { metadata: { name: 'web', namespace: SHOP }, spec: { resourceSelectors } });
  await it.runs(30_000);

  expect(await it.find('c1', 'rolebindings', 'owners')).toMatchObject(binding('owners', 'admin', 'bob'));
  expect(await it.find('c1', 'deployments', 'web')).toMatchObject({ spec: { template: { spec: { hostPID: true } } } });
  // Only what is selected: the author's own right to place is not part of it.
  expect(await it.find('c1', 'rolebindings', 'editors')).toBeUndefined();
});

describe('a tenant with 2,000 placements', () => {
  const FLOOD = 'flood';
  const PLACEMENTS = 2000;

  async function flooded(it: Delivery): Promise<void> {
    const { hub } = it.fleet;
    for (let at = 0; at < PLACEMENTS; at++) {
      await hub.create('resourceplacements', FLOOD, {
        metadata: { name: `p-${at}` },
        spec: {
          resourceSelectors: [{ ...CONFIG_MAPS, name: 'app' }],
          policy: { placementType: 'PickFixed', clusterNames: ['nowhere'] },
        },
      });
    }
  }
  const start = async () => {
    const it = await aDelivery(namespacedFamily, { members: 1 });
    await it.fleet.hub.create('namespaces', undefined, { metadata: { name: FLOOD } });
    await it.give(configMap('one'));
    await it.place({ resourceSelectors: [CONFIG_MAPS] });
    await it.runs();
    expect(await it.values()).toEqual({ c1: 'one' });
    return it;
  };
  const changed = async (it: Delivery, value: string) => {
    await it.give(configMap(value));
    await it.runs();
    expect(await it.values()).toEqual({ c1: value });
  };

  test('does not make a change of another namespace cost more reconciles', async () => {
    await using it = await start();
    const { passes } = it.fleet;
    const cost = async (value: string) => {
      passes.clear();
      await changed(it, value);
      return Object.fromEntries([...passes].filter(([pass]) => pass.startsWith('hub ')).sort());
    };
    await changed(it, 'two');
    const alone = await cost('three');
    await flooded(it);
    await it.runs(60_000);
    expect(await cost('four')).toEqual(alone);
    expect(Object.keys(alone).length).toBeGreaterThan(2);
  });
});
