// Envelopes: their objects reach members and never act on the hub; an object that enters or leaves one is handed over.
import { describe, expect } from 'vitest';
import { annotations } from '../../src/api/names.ts';
import { families } from '../../src/hub/families.ts';
import { CONFIG_MAPS, configMap, type Delivery, DONE, SHOP, scenario, selects } from '../delivery.ts';

const FLEET = 'placement.kubernetes-fleet.io';
const withEnvelopes = (it: Delivery) =>
  it.namespace === undefined ? {} : { resourceSelectors: [CONFIG_MAPS, selects(FLEET, 'v1beta1', 'ResourceEnvelope')] };

const quota = (namespace = SHOP, pods = '4') => ({
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name: 'limits', namespace },
  spec: { hard: { pods } },
});
const envelope = (data: object) => ({
  apiVersion: `${FLEET}/v1beta1`,
  kind: 'ResourceEnvelope',
  metadata: { name: 'wrap', namespace: SHOP },
  data,
});
const marked = (object: object) => ({
  ...configMap(JSON.stringify(object), 'wrap'),
  metadata: { name: 'wrap', namespace: SHOP, annotations: { [annotations.envelopeConfigMap]: 'true' } },
});
const uidOn = async (it: Delivery, kind: string, name: string) => (await it.find('c1', kind, name))?.metadata.uid;

describe.each([
  ['a ResourceEnvelope', (object: object) => envelope({ 'a.yaml': object }), 'ResourceEnvelope'],
  ['an annotated ConfigMap', marked, 'ConfigMap'],
])('%s', (_what, wrapped, type) => {
  scenario.for(families)('brings its objects to members, not itself', { members: 2 }, async (it) => {
    await it.give(configMap('1'), wrapped(quota()));
    await it.place(withEnvelopes(it));
    await it.runs();
    expect(await it.said()).toEqual(DONE);
    expect(await it.find('c1', 'resourcequotas', 'limits')).toMatchObject({ spec: { hard: { pods: '4' } } });
    expect(await it.find('c2', 'resourcequotas', 'limits')).toBeDefined();
    expect(await it.find('c1', 'configmaps', 'wrap')).toBeUndefined();
    const { selectedResources } = (await it.placement()).status as { selectedResources: readonly object[] };
    expect(selectedResources).toContainEqual({
      version: 'v1',
      kind: 'ResourceQuota',
      namespace: SHOP,
      name: 'limits',
      envelope: { name: 'wrap', namespace: SHOP, type },
    });
    await it.give(wrapped(quota(SHOP, '5')));
    await it.runs();
    expect(await it.find('c1', 'resourcequotas', 'limits')).toMatchObject({ spec: { hard: { pods: '5' } } });
    await it.take(type === 'ConfigMap' ? 'configmaps' : 'resourceenvelopes', 'wrap');
    await it.runs();
    expect(await it.said()).toEqual(DONE);
    expect(await it.find('c1', 'resourcequotas', 'limits')).toBeUndefined();
  });

  scenario.for(families)('with an object of another namespace is refused by name', { members: 1 }, async (it) => {
    await it.give(configMap('1'), wrapped(quota('other')));
    await it.place(withEnvelopes(it));
    await it.runs();
    expect(await it.values()).toEqual({ c1: '-' });
    expect(await it.said()).toMatchObject({ WorkSynchronized: expect.stringMatching(/^False/) });
    expect(JSON.stringify(await it.placement())).toContain('is in namespace \\"other\\"');
  });

  scenario.for(families)('takes an object in and gives it back without deleting it', { members: 1 }, async (it) => {
    const inner = configMap('kept', 'inner');
    await it.give(configMap('1'), inner);
    await it.place(withEnvelopes(it));
    await it.runs();
    const before = await uidOn(it, 'configmaps', 'inner');
    expect(before).toBeDefined();
    await it.give(wrapped(inner));
    await it.take('configmaps', 'inner');
    await it.runs();
    expect(await it.said()).toEqual(DONE);
    expect(await uidOn(it, 'configmaps', 'inner')).toBe(before);
    await it.give(inner);
    await it.take(type === 'ConfigMap' ? 'configmaps' : 'resourceenvelopes', 'wrap');
    await it.runs();
    expect(await it.said()).toEqual(DONE);
    expect(await uidOn(it, 'configmaps', 'inner')).toBe(before);
  });
});
