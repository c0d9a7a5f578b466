// Namespaces that objects need and no Work contains.
import { describe, expect, test } from 'vitest';
import { annotations, labels } from '../../api/names.ts';
import { aConfigMap, aRig, PLACE } from './applier.testing.ts';

const needing = (name: string) => {
  const object = aConfigMap(name, { a: '1' });
  return { ...object, metadata: { ...object.metadata, annotations: { [annotations.createNamespace]: 'true' } } };
};

describe('a namespace that is missing', () => {
  test('is created once for objects that ask for it, and belongs to no order', async () => {
    await using rig = await aRig();
    await rig.start();
    await rig.order('web-work', [needing('a'), needing('b')]);
    await rig.settles();
    expect(await rig.verdict('web-work')).toBe('Applied=True/AllManifestsApplied Available=True/AllManifestsAvailable');
    const namespace = await rig.find('namespaces', undefined, 'shop');
    expect(namespace?.metadata.ownerReferences).toBeUndefined();
    expect(await rig.find('configmaps', 'shop', 'b')).toBeDefined();
  });

  test('is not created for others, nor for the placement of a namespace', async () => {
    await using rig = await aRig();
    await rig.start();
    await rig.order('web-work', [aConfigMap('a', { a: '1' })]);
    await rig.hub.create('works', PLACE, {
      metadata: { name: 'team-work', labels: { [labels.parentPlacementNamespace]: 'shop' } },
      spec: { workload: { manifests: [needing('b')] } },
    });
    await rig.settles();
    for (const name of ['web-work', 'team-work']) expect(await rig.verdict(name)).toMatch(/^Applied=False/);
    expect(await rig.find('namespaces', undefined, 'shop')).toBeUndefined();
  });
});
