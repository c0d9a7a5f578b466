import { describe, expect, test } from 'vitest';
import { aConfigMap, aNamespace, aRig } from './applier.testing.ts';
import { ordersOf } from './manifest.ts';

const withMeta = (more: object) => ({ ...aConfigMap('a', {}), metadata: { name: 'a', namespace: 'shop', ...more } });

describe('a manifest with labels or annotations', () => {
  test.each([
    { meta: { annotations: { port: null } }, says: 'metadata.annotations["port"] is no text but null' },
    { meta: { annotations: { a: 'b', port: 80 } }, says: 'metadata.annotations["port"] is no text but a number' },
    { meta: { labels: { on: true } }, says: 'metadata.labels["on"] is no text but a boolean' },
    { meta: { labels: { on: {} } }, says: 'metadata.labels["on"] is no text but an object' },
    { meta: { labels: ['a'] }, says: 'metadata.labels is no map of texts but a list' },
    { meta: { labels: 'a=b' }, says: 'metadata.labels is no map of texts but a string' },
  ])('that are none is refused: $says', ({ meta, says }) => {
    const [, order] = ordersOf([aNamespace('shop'), withMeta(meta)]);
    expect(order?.manifest).toBeUndefined();
    expect(order?.identifier).toMatchObject({ kind: 'ConfigMap', namespace: 'shop', name: 'a' });
    expect(order?.refusal).toEqual({
      reason: 'DecodingErred',
      message: `manifest 1, ConfigMap "shop/a": ${says}`,
    });
  });

  test.each([{}, { labels: {}, annotations: { a: '' } }, { labels: null, annotations: null }])(
    'as they should be is read: %j',
    (meta) => {
      expect(ordersOf([withMeta(meta)])[0]?.refusal).toBeUndefined();
    },
  );

  test('that are none stops no other, and is removed no more than any that cannot be applied', async () => {
    await using rig = await aRig();
    await rig.start();
    await rig.order('web-work', [aNamespace('shop'), withMeta({}), aConfigMap('b', { b: '1' })]);
    await rig.settles();
    // A merge patch would remove the null, so the whole Work is written.
    const { metadata, ...rest } = await rig.work('web-work');
    const manifests = [aNamespace('shop'), withMeta({ annotations: { port: null } }), aConfigMap('b', { b: '2' })];
    await rig.hub.call({
      verb: 'update',
      at: rig.hub.at('works', metadata.namespace, metadata.name),
      object: { ...rest, metadata, spec: { workload: { manifests } } } as never,
      manager: 'hand',
    });
    await rig.settles();
    expect(await rig.verdicts('web-work')).toMatchObject({ 'ConfigMap shop/a': 'Applied=False/DecodingErred' });
    expect((await rig.find('configmaps', 'shop', 'b'))?.['data']).toEqual({ b: '2' });
    expect(await rig.find('configmaps', 'shop', 'a')).toBeDefined();
  });
});
