// The deletion of a member with exported Services, on a server with the kinds of networking agents and on one without.
import { describe, expect, test } from 'vitest';
import { aCluster, type TestCluster } from '../../test/cluster.ts';
import { messageOf } from '../base/errors.ts';
import { membershipKinds } from '../main/membership-flags.ts';
import type { MemberCluster } from './member-cluster.ts';

const NETWORKING = { networkingAgentsEnabled: true } as const;
const GROUP = 'networking.fleet.azure.com';
const EXPORTS = 'internalserviceexports';

const crd = {
  metadata: { name: `${EXPORTS}.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: { kind: 'InternalServiceExport', plural: EXPORTS, singular: 'internalserviceexport' },
    versions: [
      {
        name: 'v1alpha1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};

async function aHub({ flags = NETWORKING, served = true, skip = false } = {}): Promise<TestCluster> {
  const hub = await aCluster({ kinds: membershipKinds(flags) });
  if (served) await hub.create('customresourcedefinitions', undefined, crd);
  await hub.settled();
  for (const name of ['east', 'west']) {
    await hub.create('namespaces', undefined, { metadata: { name: `fleet-member-${name}` } });
    await hub.create('memberclusters', undefined, {
      metadata: { name, finalizers: ['test/keep'] },
      spec: {
        identity: { kind: 'User', name: 'agent' },
        ...(skip ? { deleteOptions: { validationMode: 'Skip' } } : {}),
      },
    });
  }
  return hub;
}

const exporting = (hub: TestCluster, place: string, more: object = {}) =>
  hub.create(EXPORTS, `fleet-member-${place}`, {
    metadata: { name: 'shop-web', ...more },
    spec: { serviceReference: { namespacedName: 'shop/web' } },
  });

async function deleted(hub: TestCluster, name = 'east'): Promise<string> {
  try {
    await hub.call({ verb: 'delete', at: hub.at('memberclusters', undefined, name) });
    return 'accepted';
  } catch (error) {
    return messageOf(error);
  }
}

describe('the deletion of a member', () => {
  test('is refused while it exports a Service, which the answer names', async () => {
    await using hub = await aHub();
    await exporting(hub, 'east');
    expect(await deleted(hub)).toBe(
      'MemberCluster.cluster.kubernetes-fleet.io "east" is invalid: spec.deleteOptions.validationMode: Forbidden: ServiceExport "shop/web" of this member is still there: delete it on the member first, or set Skip',
    );
    const member = (await hub.get('memberclusters', undefined, 'east')) as MemberCluster;
    expect(member.metadata.deletionTimestamp).toBeUndefined();
    expect(await deleted(hub, 'west')).toBe('accepted');
    await hub.call({ verb: 'delete', at: hub.at(EXPORTS, 'fleet-member-east', 'shop-web') });
    expect(await deleted(hub)).toBe('accepted');
  });

  test('is not once the export is being deleted', async () => {
    await using hub = await aHub();
    await exporting(hub, 'east', { finalizers: ['test/keep'] });
    await hub.call({ verb: 'delete', at: hub.at(EXPORTS, 'fleet-member-east', 'shop-web') });
    expect(await deleted(hub)).toBe('accepted');
  });

  test('is not with validationMode Skip', async () => {
    await using hub = await aHub({ skip: true });
    await exporting(hub, 'east');
    expect(await deleted(hub)).toBe('accepted');
  });

  test('is not when it has begun before', async () => {
    await using hub = await aHub();
    expect(await deleted(hub)).toBe('accepted');
    await exporting(hub, 'east');
    expect(await deleted(hub)).toBe('accepted');
  });

  test('is not on a hub that expects no networking agents', async () => {
    await using hub = await aHub({ flags: {} as typeof NETWORKING });
    await exporting(hub, 'east');
    expect(await deleted(hub)).toBe('accepted');
  });

  test('is not on a hub that does not know such exports', async () => {
    await using hub = await aHub({ served: false });
    expect(await deleted(hub)).toBe('accepted');
  });

  test('an identity that nobody could use is refused as on every hub', async () => {
    await using hub = await aHub();
    const spec = { identity: { kind: 'Robot', name: 'r' } };
    const created = hub.create('memberclusters', undefined, { metadata: { name: 'north' }, spec });
    await expect(created).rejects.toThrow(/identity/);
  });
});
