// A CRD that is deleted while objects of its kind have finalizers: people can still remove those, so the deletion ends.
import { describe, expect, test } from 'vitest';
import { skipsKubectl, startServer } from './server.ts';

const CRD = 'clusterresourceplacements.placement.kubernetes-fleet.io';
const placement = (name: string) => ({
  apiVersion: 'placement.kubernetes-fleet.io/v1',
  kind: 'ClusterResourcePlacement',
  metadata: { name, finalizers: ['example.com/hold'] },
  spec: { resourceSelectors: [{ group: '', version: 'v1', kind: 'Namespace', name: 'shop' }] },
});

describe.skipIf(skipsKubectl)('deleting the CRD of a kind whose objects have finalizers', () => {
  test('ends when the finalizers are removed; only create is refused meanwhile', async () => {
    await using server = await startServer({ command: 'up', args: ['--in-memory', '--members', '1'] });
    await server.ok(['create', '-f', '-'], JSON.stringify(placement('shop')));
    const { stderr } = await server.kubectl(['delete', 'crd', CRD, '--timeout=2s']);
    expect(stderr).toContain('timed out');

    const refused = await server.kubectl(['create', '-f', '-'], JSON.stringify(placement('other')));
    expect(refused.stderr).toContain('create not allowed while custom resource definition is terminating');
    expect(await server.ok(['get', 'crp', '-o', 'name'])).toContain('/shop');
    expect(await server.ok(['label', 'crp', 'shop', 'a=b'])).toContain('labeled');
    expect(await server.ok(['label', 'crd', CRD, 'a=b'])).toContain('labeled');

    await server.ok(['patch', 'crp', 'shop', '--type=merge', '-p', '{"metadata":{"finalizers":null}}']);
    await server.ok(['wait', '--for=delete', `crd/${CRD}`, '--timeout=60s']);
  });
});
