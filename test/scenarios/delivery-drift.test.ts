// Changes by users inside atomic lists on a member are corrected, and defaults that the server sets there are not.
import { expect } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { families } from '../../src/hub/families.ts';
import { DEPLOYMENTS, type Delivery, DONE, deployment, SHOP, scenario, selects } from '../delivery.ts';
import { widgetKind } from '../widgets.ts';

const MINUTE = 60_000;

/** The CRD on the hub and on the member may differ. */
const widgets = (size: object = { type: 'integer' }) => {
  const properties = { name: { type: 'string' }, size, color: { type: 'string' } };
  return widgetKind({ properties: { parts: { type: 'array', items: { type: 'object', properties } } } });
};

const widget = {
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name: 'one', namespace: SHOP },
  parts: [{ name: 'a' }],
};

const policy = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name: 'inside', namespace: SHOP },
  spec: { podSelector: {}, ingress: [{ from: [{ podSelector: {} }], ports: [{ port: 80 }] }] },
};

const tolerant = (...tolerations: readonly object[]) => {
  const { apiVersion, kind, metadata, spec } = deployment('web:1');
  const { template } = spec;
  return {
    apiVersion,
    kind,
    metadata,
    spec: { ...spec, template: { ...template, spec: { ...template.spec, tolerations } } },
  };
};

const everything = (it: Delivery) =>
  it.namespace === undefined
    ? {}
    : {
        resourceSelectors: [
          DEPLOYMENTS,
          selects('networking.k8s.io', 'v1', 'NetworkPolicy'),
          selects('example.com', 'v1', 'Widget'),
        ],
      };

const contentOf = (object: KubeObject | undefined) => ({ spec: object?.spec, parts: object?.['parts'] });

/** The agent's writes to its own cluster, except its own records. */
const atHome = (it: Delivery) =>
  Object.fromEntries(Object.entries(it.writes()).filter(([write]) => write.startsWith('c1 at home')));

const DRIFTS = [
  {
    plural: 'networkpolicies',
    name: 'inside',
    body: { spec: { ingress: [{ from: [{ podSelector: {}, namespaceSelector: {} }], ports: [{ port: 80 }] }] } },
  },
  {
    plural: 'networkpolicies',
    name: 'inside',
    body: { spec: { ingress: [{ from: [{ podSelector: {} }], ports: [{ port: 80, endPort: 90 }] }] } },
  },
  {
    plural: 'deployments',
    name: 'web',
    body: { spec: tolerant({ key: 'a', operator: 'Exists', effect: 'NoExecute' }).spec },
  },
  { plural: 'widgets', name: 'one', body: { parts: [{ name: 'a', color: 'red' }] } },
];

scenario.for(families)(
  'a field that somebody adds inside an entry goes, once, and what the server fills in costs next to nothing',
  {
    members: 1,
    async prepare(member) {
      const { apiVersion: _apiVersion, kind: _kind, ...body } = widgets({ type: 'integer', default: 1 });
      await member.create('customresourcedefinitions', undefined, body);
    },
  },
  async (it) => {
    await it.give(widgets(), policy, tolerant({ key: 'a', operator: 'Exists' }));
    await it.give(widget);
    await it.place(everything(it));
    await it.runs(MINUTE);
    expect(await it.said()).toEqual(DONE);
    expect(await it.find('c1', 'widgets', 'one')).toMatchObject({ parts: [{ name: 'a', size: 1 }] });

    for (const { plural, name, body } of DRIFTS) {
      const before = await it.find('c1', plural, name);
      it.forget();
      await it.patchOn('c1', plural, name, body);
      expect(contentOf(await it.find('c1', plural, name))).not.toEqual(contentOf(before));
      await it.runs(30 * MINUTE);
      expect(contentOf(await it.find('c1', plural, name))).toEqual(contentOf(before));
      expect(atHome(it)).toEqual({ [`c1 at home patch ${plural}`]: 1 });
    }

    // Only for a custom kind, whose defaults are unknown, the agent must read the object from the server again.
    const before = await it.find('c1', 'widgets', 'one');
    it.forget();
    await it.fleet.stopAgent('c1');
    it.fleet.startAgent('c1');
    await it.runs(30 * MINUTE);
    expect(atHome(it)).toEqual({ 'c1 at home patch widgets': 1 });
    expect(await it.find('c1', 'widgets', 'one')).toEqual(before);
    expect(await it.said()).toEqual(DONE);
  },
);
