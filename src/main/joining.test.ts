import { expect, test } from 'vitest';
import { aCluster, admin } from '../../test/cluster.ts';
import { turns } from '../../test/runtime/turns.ts';
import { hubKinds } from '../api/kinds.ts';
import { accountUserName } from '../apiserver/auth/service-account.ts';
import { usualFleet } from './fleet.ts';
import { allJoined, joinFleet, tokensOf } from './joining.ts';

test('a fleet gets identities on the hub, each with a token of its own; doing it again changes nothing', async () => {
  await using hub = await aCluster({ kinds: hubKinds });
  const fleet = usualFleet(3);
  await joinFleet(hub.as(admin), fleet);
  const tokens = await tokensOf(hub.as(admin), fleet);
  const users = Object.entries(tokens).map(([name, token]) => {
    const known = hub.running.http.authenticate({ authorization: `Bearer ${token}` });
    return [name, known instanceof Error ? known.message : known.name];
  });
  expect(Object.fromEntries(users)).toEqual({
    'member-1': accountUserName('fleet-system', 'member-1-hub-cluster-access'),
    'member-2': accountUserName('fleet-system', 'member-2-hub-cluster-access'),
    'member-3': accountUserName('fleet-system', 'member-3-hub-cluster-access'),
  });
  const head = hub.store.head;
  await joinFleet(hub.as(admin), fleet);
  expect(hub.store.head).toBe(head);
  expect(await tokensOf(hub.as(admin), fleet)).toEqual(tokens);
});

test('whoever stops while members join is not told that all is ready', async () => {
  await using hub = await aCluster({ kinds: hubKinds });
  const fleet = usualFleet(1);
  await joinFleet(hub.as(admin), fleet);
  expect(await allJoined(hub.as(admin), fleet, Promise.resolve())).toBe(false);
});

test('a member that is still leaving joins anew when it has left', async () => {
  await using hub = await aCluster({ kinds: hubKinds });
  const fleet = usualFleet(1);
  await joinFleet(hub.as(admin), fleet);
  const at = hub.at('memberclusters', undefined, 'member-1');
  const patch = (body: object, to = at) =>
    hub.call({ verb: 'patch', at: to, patch: { type: 'merge', body: body as never }, manager: 'test' });
  const joined = {
    type: 'Joined',
    status: 'True',
    reason: 'Test',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  };
  const join = () => patch({ status: { conditions: [joined] } }, { ...at, subresource: 'status' });
  await patch({ metadata: { finalizers: ['test/leaving'] } });
  await join();
  const { uid } = (await hub.get('memberclusters', undefined, 'member-1')).metadata;
  await hub.call({ verb: 'delete', at });
  const waiting = allJoined(hub.as(admin), fleet, new Promise(() => {}));
  await turns();
  await patch({ metadata: { finalizers: null } });
  await turns(5);
  expect((await hub.get('memberclusters', undefined, 'member-1')).metadata.uid).not.toBe(uid);
  await join();
  expect(await waiting).toBe(true);
});
