// What an author with the role `edit` in a namespace of the hub causes on members through a ResourcePlacement.
import { expect, test } from 'vitest';
import type { User } from '../../src/api/object.ts';
import { RBAC_GROUP } from '../../src/api/resources.ts';
import { namespacedFamily } from '../../src/hub/families.ts';
import { installRoles } from '../../src/main/install-roles.ts';
import { admin } from '../cluster.ts';
import { aDelivery, deployment, SHOP, selects } from '../delivery.ts';

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
