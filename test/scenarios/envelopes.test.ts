// Envelopes: their objects reach members and never take effect on the hub; an object that moves into or out of an
// envelope is handed over.
import { describe, expect } from 'vitest';
import { annotations, labels } from '../../src/api/names.ts';
import { clusterFamily, families } from '../../src/hub/families.ts';
import { CONFIG_MAPS, configMap, type Delivery, DONE, SHOP, scenario, selects, theNamespace } from '../delivery.ts';

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
const MEMBER = labels.memberName;
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

  scenario.for(families)(
    'takes an object in while the agent is down, without deleting it',
    { members: 1 },
    async (it) => {
      const inner = configMap('kept', 'inner');
      await it.give(configMap('1'), inner, wrapped(configMap('first', 'first')));
      await it.place(withEnvelopes(it));
      await it.runs();
      const before = await uidOn(it, 'configmaps', 'inner');
      expect(before).toBeDefined();
      // A list returns Works without their manifests, so the agent must read what the other Work names.
      await it.fleet.stopAgent('c1');
      await it.give(wrapped(inner));
      await it.take('configmaps', 'inner');
      await it.runs();
      it.fleet.startAgent('c1');
      await it.runs();
      expect(await it.said()).toEqual(DONE);
      expect(await uidOn(it, 'configmaps', 'inner')).toBe(before);
    },
  );

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

const secret = (name: string, more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: SHOP },
  ...more,
});
const widely = (data: object) => ({
  apiVersion: `${FLEET}/v1beta1`,
  kind: 'ClusterResourceEnvelope',
  metadata: { name: 'wide' },
  data,
});
const WIDE = { resourceSelectors: [theNamespace(), selects(FLEET, 'v1beta1', 'ClusterResourceEnvelope')] };

describe('of the entries of an envelope', () => {
  scenario.for(families)('those that cannot be applied fail alone and are named', { members: 1 }, async (it) => {
    const unknown = { apiVersion: 'example.com/v1', kind: 'Gadget', metadata: { name: 'g', namespace: SHOP } };
    const generated = { ...secret(''), metadata: { generateName: 'many-', namespace: SHOP } };
    await it.give(
      configMap('1'),
      envelope({
        'a.yaml': secret('twice', { stringData: { from: 'a' } }),
        'b.yaml': secret('twice', { stringData: { from: 'b' } }),
        'c.yaml': unknown,
        'd.yaml': generated,
        'e.yaml': quota(),
      }),
    );
    await it.place(withEnvelopes(it));
    await it.runs();
    expect(await it.find('c1', 'resourcequotas', 'limits')).toBeDefined();
    expect(await it.values()).toEqual({ c1: '1' });
    const reasons = (await it.failedOn('c1')).map((each) => each.split(': ').slice(0, 2).join(': ')).toSorted();
    expect(reasons).toEqual(['Gadget g: DecodingErred', 'Secret : FoundGenerateName', 'Secret twice: Duplicated']);
    // Sorted in descending order: the entry of b comes before that of a.
    const kept = (await it.find('c1', 'secrets', 'twice')) as unknown as { readonly data: object };
    expect(kept.data).toEqual({ from: Buffer.from('b').toString('base64') });
    const [failed] = (await it.status()).placementStatuses?.[0]?.failedPlacements ?? [];
    expect(failed?.envelope).toEqual({ name: 'wrap', namespace: SHOP, type: 'ResourceEnvelope' });
    const [binding] = await it.bindings();
    const applied = binding?.status?.conditions?.find(({ type }) => type === 'Applied');
    expect(applied?.message).toContain('(in ResourceEnvelope "shop/wrap")');
  });

  scenario.for(families)('one that is also placed plainly is named with both places', { members: 1 }, async (it) => {
    const inner = configMap('kept', 'inner');
    await it.give(configMap('1'), inner);
    await it.place(withEnvelopes(it));
    await it.runs();
    await it.give(envelope({ 'a.yaml': inner, 'b.yaml': quota() }));
    await it.runs();
    expect(await it.failedOn('c1')).toEqual([
      'ConfigMap inner: FailedToTakeOver: ConfigMap "shop/inner" is in the placement twice: in ResourceEnvelope "shop/wrap" and outside any envelope; remove one of them',
    ]);
    expect(await it.find('c1', 'resourcequotas', 'limits')).toBeDefined();
    await it.take('configmaps', 'inner');
    await it.runs();
    expect(await it.said()).toEqual(DONE);
    expect(await it.find('c1', 'configmaps', 'inner')).toBeDefined();
  });

  scenario.for(families)('a thousand arrive', { members: 1 }, async (it) => {
    const many = Array.from({ length: 1000 }, (_, at) => secret(`s${at}`));
    await it.give(configMap('1'), {
      ...configMap('', 'wrap'),
      metadata: { name: 'wrap', namespace: SHOP, annotations: { [annotations.envelopeConfigMap]: 'true' } },
      data: Object.fromEntries(many.map((each, at) => [`${at}.json`, JSON.stringify(each)])),
    });
    await it.place();
    await it.runs(20_000);
    expect(await it.said()).toEqual(DONE);
    expect(await it.find('c1', 'secrets', 's0')).toBeDefined();
    expect(await it.find('c1', 'secrets', 's999')).toBeDefined();
  });
});

describe('an envelope', () => {
  scenario.for(families)(
    'that is deleted in the middle of a rollout goes from every cluster',
    { members: 2 },
    async (it) => {
      const slow = { strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } } };
      await it.give(configMap('1'), envelope({ 'a.yaml': quota() }));
      await it.place({ ...withEnvelopes(it), ...slow });
      await it.runs();
      await it.fleet.stopAgent('c1');
      await it.give(configMap('2'), envelope({ 'a.yaml': quota(SHOP, '5') }));
      await it.runs(1000);
      await it.take('resourceenvelopes', 'wrap');
      await it.runs();
      it.fleet.startAgent('c1');
      await it.runs(120_000);
      expect(await it.said()).toEqual(DONE);
      expect(await it.values()).toEqual({ c1: '2', c2: '2' });
      for (const cluster of ['c1', 'c2']) expect(await it.find(cluster, 'resourcequotas', 'limits')).toBeUndefined();
    },
  );

  scenario.for([clusterFamily])(
    'of cluster-scoped objects brings a webhook configuration, which never acts on the hub',
    { members: 1 },
    async (it) => {
      const guard = {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingWebhookConfiguration',
        metadata: { name: 'guard' },
        webhooks: [],
      };
      await it.give(configMap('1'), widely({ 'guard.yaml': guard }));
      await it.place(WIDE);
      await it.runs();
      expect(await it.said()).toEqual(DONE);
      expect(await it.find('c1', 'validatingwebhookconfigurations', 'guard')).toBeDefined();
      const { list } = await it.fleet.hub.call({
        verb: 'list',
        at: it.fleet.hub.at('validatingwebhookconfigurations'),
      });
      expect(list?.items).toEqual([]);
    },
  );

  scenario.for([clusterFamily])(
    'with a kind of a wrong scope leaves clusters as they are, and names the entry',
    { members: 1 },
    async (it) => {
      await it.give(configMap('1'));
      await it.place(WIDE);
      await it.runs();
      await it.give(configMap('2'), widely({ 'a.yaml': { ...configMap('x', 'inner'), metadata: { name: 'inner' } } }));
      await it.runs();
      expect(await it.values()).toEqual({ c1: '1' });
      const [binding] = await it.bindings();
      const synchronized = binding?.status?.conditions?.find(({ type }) => type === 'WorkSynchronized');
      expect(synchronized).toMatchObject({ status: 'False', reason: 'SyncWorkFailed' });
      expect(synchronized?.message).toContain(
        'ClusterResourceEnvelope "wide", entry "a.yaml": ConfigMap is a namespaced kind',
      );
    },
  );

  scenario.for(families)(
    'is no ConfigMap with other data: that is placed, with a warning',
    { members: 1 },
    async (it) => {
      await it.give({
        ...configMap('plain', 'wrap'),
        metadata: { name: 'wrap', namespace: SHOP, annotations: { [annotations.envelopeConfigMap]: 'true' } },
      });
      await it.place();
      await it.runs();
      expect(await it.said()).toEqual(DONE);
      expect(await it.find('c1', 'configmaps', 'wrap')).toMatchObject({ data: { value: 'plain' } });
      const { list } = await it.fleet.hub.call({ verb: 'list', at: it.fleet.hub.at('events') });
      const events = (list?.items ?? []) as readonly { readonly reason?: string; readonly type?: string }[];
      expect(events.filter(({ reason }) => reason === 'PlacementEnvelopeIgnored')).toMatchObject([{ type: 'Warning' }]);
    },
  );

  scenario.for(families)('is overridden entry by entry', { members: 2 }, async (it) => {
    const rules = {
      overrideRules: [
        {
          clusterSelector: { clusterSelectorTerms: [{ labelSelector: { matchLabels: { [MEMBER]: 'c2' } } }] },
          overrideType: 'JSONPatch',
          jsonPatchOverrides: [{ op: 'replace', path: '/spec/hard/pods', value: '9' }],
        },
      ],
    };
    await it.give(configMap('1'), envelope({ 'a.yaml': quota() }), {
      apiVersion: `${FLEET}/v1beta1`,
      kind: 'ResourceOverride',
      metadata: { name: 'more', namespace: SHOP },
      spec: { resourceSelectors: [selects('', 'v1', 'ResourceQuota', { name: 'limits' })], policy: rules },
    });
    await it.place(withEnvelopes(it));
    await it.runs();
    expect(await it.said()).toMatchObject({ Available: expect.stringMatching(/^True/) });
    expect(await it.find('c1', 'resourcequotas', 'limits')).toMatchObject({ spec: { hard: { pods: '4' } } });
    expect(await it.find('c2', 'resourcequotas', 'limits')).toMatchObject({ spec: { hard: { pods: '9' } } });
  });
});
