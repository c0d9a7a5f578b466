// reportBackStrategy Mirror with destination OriginalResource: the status of placed objects is copied to the objects on
// the hub.
import { expect } from 'vitest';
import { ApiError } from '../../src/base/errors.ts';
import { families } from '../../src/hub/families.ts';
import { configMap, type Delivery, DONE, deployment, gotten, picks, SHOP, scenario } from '../delivery.ts';

const MINUTE = 60_000;
const original = (type: 'Mirror' | 'Disabled' = 'Mirror') => ({
  strategy: { reportBackStrategy: { type, destination: 'OriginalResource' } },
});

const onHub = async (it: Delivery) => (await gotten(it.fleet.hub, 'deployments', SHOP, 'web'))?.status;

/** Writes of the hub's controllers to objects of users. */
const written = (it: Delivery) =>
  Object.fromEntries(Object.entries(it.writes()).filter(([what]) => /^hub \w+ (deployments|configmaps)/.test(what)));

scenario.for(families)(
  'the status of a placed object is on the hub, follows the member, makes no revision, and stays when it is no longer asked for',
  { members: 2 },
  async (it) => {
    await it.give(deployment('web:1', 2), configMap('one'));
    await it.place({ ...picks(1), ...original() });
    await it.runs(MINUTE);
    expect(await it.said()).toEqual(DONE);
    expect(await onHub(it)).toMatchObject({ availableReplicas: 2, updatedReplicas: 2 });
    const { observedResourceIndex } = await it.status();

    it.forget();
    await it.runs(20 * MINUTE);
    expect(it.writes()).toEqual({});

    await it.give(deployment('web:1', 3));
    await it.runs(MINUTE);
    expect(await onHub(it)).toMatchObject({ availableReplicas: 3 });
    // The change of the replicas created a revision; their status did not.
    expect((await it.status()).observedResourceIndex).toBe(String(Number(observedResourceIndex) + 1));

    await it.change(original('Disabled'));
    await it.runs();
    it.forget();
    const [cluster = ''] = await it.clusters();
    await it.patchOn(cluster, 'deployments', 'web', { metadata: { labels: { a: 'b' } } });
    await it.runs(MINUTE);
    expect(written(it)).toEqual({});
    expect(await onHub(it)).toMatchObject({ availableReplicas: 3 });
    expect(await it.said()).toEqual(DONE);
  },
);

scenario.for(families)('a hub that restarts copies what it missed, once', { members: 1 }, async (it) => {
  await it.give(deployment('web:1', 2));
  await it.place({ ...picks(1), ...original() });
  await it.runs(MINUTE);
  it.forget();
  await it.fleet.restartHub();
  await it.runs(MINUTE);
  expect(written(it)).toEqual({});

  await it.fleet.stopHub();
  await it.patchOn('c1', 'deployments', 'web', { spec: { replicas: 5 } });
  await it.runs(MINUTE);
  await it.fleet.hub.call({
    verb: 'patch',
    at: { ...it.fleet.hub.at('deployments', SHOP, 'web'), subresource: 'status' },
    patch: { type: 'merge', body: { status: { availableReplicas: 0 } } },
    manager: 'somebody',
  });
  await it.fleet.restartHub();
  await it.runs(MINUTE);
  expect(await onHub(it)).toMatchObject({ availableReplicas: 2 });
});

scenario.for(families)(
  'a member cannot write the status of anything that is not placed',
  { members: 1 },
  async (it) => {
    await it.give(deployment('web:1', 2));
    await it.give({ ...deployment('db:1'), metadata: { name: 'db', namespace: 'default' } });
    await it.place({ ...picks(1), ...original() });
    await it.runs(MINUTE);
    const work = await it.work('c1');
    const { hub } = it.fleet;
    const at = hub.at('works', work?.metadata.namespace, work?.metadata.name);
    const [entry] = (work?.status?.manifestConditions ?? []).filter(({ identifier }) => identifier.name === 'web');
    const forged = { ...entry, identifier: { ...entry?.identifier, ordinal: 9, name: 'db', namespace: 'default' } };
    const body = { status: { manifestConditions: [...(work?.status?.manifestConditions ?? []), forged] } };
    await hub.call({
      verb: 'patch',
      at: { ...at, subresource: 'status' },
      patch: { type: 'merge', body: body as never },
      manager: 'somebody',
    });
    await it.runs(MINUTE);
    expect((await hub.get('deployments', 'default', 'db')).status ?? {}).not.toHaveProperty('availableReplicas');
  },
);

scenario.for(families)(
  'without the right to write it the placement says so, and is not held up',
  { members: 1 },
  async (it) => {
    await it.give(deployment('web:1', 2));
    it.fleet.meddle = (who, request) => {
      if (who !== 'hub' || request.verb !== 'patch' || request.at.resource.plural !== 'deployments') return undefined;
      return new ApiError(403, 'Forbidden', 'deployments.apps "web" is forbidden');
    };
    await it.place({ ...picks(1), ...original() });
    await it.runs(5 * MINUTE);
    expect(await it.said()).toEqual(DONE);
    const { list } = await it.fleet.hub.call({ verb: 'list', at: it.fleet.hub.at('events') });
    const notes = (list?.items ?? []).filter((each) => each['reason'] === 'StatusNotCopied');
    expect(notes.map((each) => each['note'] ?? each['message'])).toEqual([
      expect.stringContaining('flotilla roles hub-status'),
    ]);
    it.fleet.meddle = undefined;
    await it.runs(2 * MINUTE);
    expect(await onHub(it)).toMatchObject({ availableReplicas: 2 });
  },
);
