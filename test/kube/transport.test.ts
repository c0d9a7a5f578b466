// What conformance.test.ts leaves out of what the client promises against a real API server: the end of a watch in real time, kinds of our own, and which
// kinds there are. By a kubeconfig, as people have it.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { kubeconfigOf } from '../../scripts/kube/plane.ts';
import { memberCluster } from '../../src/api/member-cluster.ts';
import type { WatchEvent } from '../../src/api/transport.ts';
import { kubeconfigText } from '../../src/apiserver/auth/kubeconfig.ts';
import { wallClock } from '../../src/base/clock.ts';
import { createClient } from '../../src/client/client.ts';
import { discover } from '../../src/client/discovery.ts';
import { type HttpTransport, httpTransport } from '../../src/client/http.ts';
import { connectionFrom } from '../../src/client/kubeconfig.ts';
import { hubPlane, skipsPlanes } from './planes.ts';

describe.skipIf(skipsPlanes)('the transport to a real hub', () => {
  let transport: HttpTransport;
  beforeAll(() => {
    const text = kubeconfigText(kubeconfigOf([hubPlane]));
    const file = { path: 'kubeconfig', text, folder: '/', readFile: () => expect.unreachable('nothing is in files') };
    transport = httpTransport(connectionFrom([file]), { clock: wallClock });
  });
  afterAll(() => transport?.close());

  test('ends a watch at its time, with a bookmark if asked', async () => {
    const events: WatchEvent[] = [];
    // A real server tells where it is two seconds before the end.
    const asked = { at: { resource: memberCluster }, fields: 'metadata.name=none', bookmarks: true, timeoutSeconds: 5 };
    for await (const batch of transport.watch(asked, new AbortController().signal)) events.push(...batch);
    expect(new Set(events.map(({ type }) => type))).toEqual(new Set(['BOOKMARK']));
    expect(Number(events.at(-1)?.object.metadata.resourceVersion)).toBeGreaterThan(0);
  });

  test('writes the status of a kind of ours apart from its spec, which has its defaults', async () => {
    const client = createClient(transport, 'test');
    const name = 'conformance';
    await client.create(memberCluster, {
      apiVersion: 'cluster.kubernetes-fleet.io/v1beta1',
      kind: 'MemberCluster',
      metadata: { name },
      spec: { identity: { kind: 'User', name: 'x' } },
    } as never);
    const body = { spec: { heartbeatPeriodSeconds: 7 }, status: { properties: {} } };
    await client.patch(memberCluster, { name, subresource: 'status' }, { type: 'merge', body });
    expect(await client.get(memberCluster, { name })).toMatchObject({
      spec: { heartbeatPeriodSeconds: 60 },
      status: { properties: {} },
    });
    await client.delete(memberCluster, { name });
    expect(await client.find(memberCluster, { name })).toBeUndefined();
  });

  test('knows every kind that the server serves, ours among them', async () => {
    const catalogue = await discover(transport);
    expect(catalogue.byWord('crp')).toMatchObject({ plural: 'clusterresourceplacements' });
    expect(catalogue.byWord('deploy')).toMatchObject({ group: 'apps', version: 'v1' });
    expect(catalogue.resources.length).toBeGreaterThan(80);
  });
});
