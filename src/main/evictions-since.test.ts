import { expect, test } from 'vitest';
import { aCluster, admin, testClock } from '../../test/cluster.ts';
import { annotations, leases, SYSTEM_NAMESPACE } from '../api/names.ts';
import { directTransport } from '../apiserver/direct.ts';
import { evictionsSince } from './evictions-since.ts';

test('the moment of the first start is written once, on the lease', async () => {
  const clock = testClock();
  await using hub = await aCluster({ clock });
  const transport = directTransport(hub.running.cluster, admin);
  const first = await evictionsSince(transport, clock);
  expect(first).toBe(clock.now());
  const later = { ...clock, now: () => clock.now() + 60_000 };
  expect(await evictionsSince(transport, later)).toBe(first);
  const lease = await hub.get('leases', SYSTEM_NAMESPACE, leases.hub);
  expect(lease.metadata.annotations?.[annotations.evictionsSince]).toBe('2026-01-01T00:00:00Z');
});
