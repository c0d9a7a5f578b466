// Failures during a delivery, reported with the object, the cause and the next step. When the cause is removed, the
// delivery recovers by itself.
import { describe, expect } from 'vitest';
import { memberNamespace } from '../../src/api/names.ts';
import { ApiError } from '../../src/base/errors.ts';
import { clusterFamily, families, namespacedFamily } from '../../src/hub/families.ts';
import type { TestCluster } from '../cluster.ts';
import {
  CONFIG_MAPS,
  configMap,
  type Delivery,
  DONE,
  deployment,
  rolls,
  SHOP,
  scenario,
  selects,
  theNamespace,
} from '../delivery.ts';
import { isAscertaining } from '../fleet.ts';
import { widgetKind } from '../widgets.ts';

const MINUTE = 60_000;

// Members behave the same in both families, so such scenarios run in one of them.

const widgets = (size: object = { type: 'integer' }) =>
  widgetKind({ properties: { spec: { type: 'object', properties: { size } } } });
const widget = (size: number) => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name: 'one', namespace: SHOP },
  spec: { size },
});
const { apiVersion: _apiVersion, kind: _kind, ...widgetsBody } = widgets();
const onMember = (cluster: TestCluster, body: object) => cluster.create('customresourcedefinitions', undefined, body);

/** Both families place the widgets and ConfigMaps of the namespace. */
const withWidgets = (it: Delivery) =>
  it.namespace === undefined ? {} : { resourceSelectors: [CONFIG_MAPS, selects('example.com', 'v1', 'Widget')] };

describe('a member', () => {
  scenario.for([clusterFamily])(
    'that refuses a manifest is quoted, gets the rest, and is content when either side changes its mind',
    {
      members: 1,
      async prepare(member) {
        const { apiVersion: _a, kind: _k, ...strict } = widgets({ type: 'integer', maximum: 5 });
        await onMember(member, strict);
      },
    },
    async (it) => {
      await it.give(widgets(), configMap('1'));
      await it.give(widget(9));
      await it.place({ ...withWidgets(it), ...rolls({ unavailablePeriodSeconds: 1 }) });
      await it.runs(MINUTE);
      expect((await it.said())['Applied']).toBe('False/ApplyFailed');
      const [failed = '', ...others] = await it.failedOn('c1');
      expect(others).toEqual([]);
      expect(failed).toMatch(/^Widget one: ManifestApplyFailed: .*Widget "shop\/one".*spec\.size/);
      expect(await it.values()).toEqual({ c1: '1' });
      await it.give(widget(5));
      await it.runs();
      expect(await it.said()).toEqual(DONE);
      await it.give(widget(9));
      await it.runs();
      expect((await it.said())['Applied']).toBe('False/ApplyFailed');
      await it.patchOn('c1', 'customresourcedefinitions', 'widgets.example.com', { spec: widgets().spec });
      await it.runs(MINUTE);
      expect(await it.said()).toEqual(DONE);
      expect(await it.find('c1', 'widgets', 'one')).toMatchObject({ spec: { size: 9 } });
    },
  );

  // A merge patch of the Work cannot carry nulls, so the Work would differ from the desired state forever.
  scenario.for(families)('gets objects with nulls in them, and every change of them', { members: 1 }, async (it) => {
    const nullable = widgets({ type: 'integer', nullable: true });
    const { apiVersion: _a, kind: _k, ...body } = nullable;
    await onMember(it.fleet.member('c1'), body);
    await it.give(nullable, configMap('1'));
    await it.give({ ...widget(0), spec: { size: null } });
    await it.place({ ...withWidgets(it), ...rolls({ unavailablePeriodSeconds: 1 }) });
    await it.runs(MINUTE);
    expect(await it.said()).toEqual(DONE);
    expect(await it.find('c1', 'widgets', 'one')).toMatchObject({ spec: { size: null } });
    for (const value of ['2', '3']) {
      await it.give(configMap(value));
      await it.runs(MINUTE);
      expect(await it.said()).toEqual(DONE);
      expect(await it.values()).toEqual({ c1: value });
    }
    await it.give(widget(4));
    await it.runs(MINUTE);
    expect(await it.find('c1', 'widgets', 'one')).toMatchObject({ spec: { size: 4 } });
    expect(await it.said()).toEqual(DONE);
  });

  scenario.for([clusterFamily])(
    'that lacks a kind is told so, and heals when its definition comes',
    { members: 1 },
    async (it) => {
      await it.give(widgets(), configMap('1'));
      await it.give(widget(1));
      await it.place(withWidgets(it));
      await it.runs();
      expect((await it.failedOn('c1')).join()).toMatch(
        /^Widget one: .*serves no kind Widget in example.com\/v1.*CustomResourceDefinition/,
      );
      expect(await it.values()).toEqual({ c1: '1' });
      await onMember(it.fleet.member('c1'), widgetsBody);
      await it.runs();
      expect(await it.find('c1', 'widgets', 'one')).toMatchObject({ spec: { size: 1 } });
      expect(await it.said()).toMatchObject({ Applied: DONE.Applied, Available: DONE.Available });
    },
  );

  scenario.for([namespacedFamily])(
    'whose namespace goes is told so, and heals when it comes back',
    { members: 1 },
    async (it) => {
      await it.give(configMap('1'));
      await it.place();
      await it.runs();
      await it.removeOn('c1', 'namespaces', SHOP);
      await it.runs(MINUTE);
      expect((await it.failedOn('c1')).join()).toMatch(/^ConfigMap app: .*namespaces? "shop"/);
      await it.fleet.member('c1').create('namespaces', undefined, { metadata: { name: SHOP } });
      await it.runs();
      expect(await it.values()).toEqual({ c1: '1' });
      expect(await it.said()).toEqual(DONE);
    },
  );

  scenario.for([namespacedFamily])(
    'whose API server is down is as it should be again soon after',
    { members: 2 },
    async (it) => {
      await it.give(configMap('1'));
      await it.place(rolls({ maxUnavailable: '100%' }));
      await it.runs();
      it.fleet.down('c1', true);
      await it.give(configMap('2'));
      await it.runs(3 * MINUTE);
      expect(await it.values()).toEqual({ c1: '1', c2: '2' });
      expect((await it.said())['Applied']).not.toBe(DONE.Applied);
      it.fleet.down('c1', false);
      await it.runs(4 * MINUTE);
      expect(await it.values()).toEqual({ c1: '2', c2: '2' });
      expect(await it.said()).toEqual(DONE);
    },
  );
});

describe('a field that cannot change', () => {
  scenario.for([namespacedFamily])('is named with the remedy, and the remedy works', { members: 1 }, async (it) => {
    await it.give(deployment('web:1'));
    await it.place();
    await it.runs();
    await it.take('deployments', 'web');
    const other = structuredClone(deployment('web:2')) as ReturnType<typeof deployment>;
    Object.assign(other.spec, {
      selector: { matchLabels: { app: 'other' } },
      template: { ...other.spec.template, metadata: { labels: { app: 'other' } } },
    });
    await it.give(other);
    await it.runs();
    const [failed = ''] = await it.failedOn('c1');
    expect(failed).toMatch(/^Deployment web: ManifestApplyFailed: .*Deployment "shop\/web".*spec\.selector.*immutable/);
    expect(failed).toMatch(/delete/);
    expect(await it.images()).toEqual({ c1: 'web:1' });
    await it.removeOn('c1', 'deployments', 'web');
    await it.runs();
    expect(await it.images()).toEqual({ c1: 'web:2' });
    expect(await it.said()).toEqual(DONE);
  });
});

describe("somebody else's object", () => {
  const owned = {
    members: 1,
    async prepare(member: TestCluster) {
      await member.create('namespaces', undefined, { metadata: { name: SHOP } }).catch(() => {});
      const owner = await member.create('configmaps', SHOP, { metadata: { name: 'operator' } });
      await member.create('configmaps', SHOP, {
        metadata: {
          name: 'app',
          ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'operator', uid: owner.metadata.uid }],
        },
        data: { value: 'theirs' },
      });
    },
  };

  scenario.for([clusterFamily])('stays theirs, its owner is named, and is ours when they let go', owned, async (it) => {
    await it.give(configMap('1'), deployment('web:1'));
    await it.place();
    await it.runs();
    expect(await it.failedOn('c1')).toEqual([
      'ConfigMap app: FailedToTakeOver: ConfigMap "shop/app" is owned by ConfigMap "operator", and allowCoOwnership is not set',
    ]);
    expect(await it.values()).toEqual({ c1: 'theirs' });
    expect(await it.images()).toEqual({ c1: 'web:1' });
    await it.patchOn('c1', 'configmaps', 'app', { metadata: { ownerReferences: null } });
    await it.runs();
    expect(await it.values()).toEqual({ c1: '1' });
    expect(await it.said()).toEqual(DONE);
  });

  scenario.for(families)(
    'may be another placement’s: the second is told, and follows when the first goes',
    { members: 1 },
    async (it) => {
      await it.give(configMap('1'));
      await it.place({}, 'first');
      await it.runs();
      await it.place({}, 'second');
      await it.runs();
      expect((await it.failedOn('c1', 'second')).join('\n')).toMatch(
        /ConfigMap app: .*already placed by another placement, (ClusterResourcePlacement "first"|ResourcePlacement "shop\/first") \(AppliedWork "(shop\.)?first-work"/,
      );
      expect(await it.said('first')).toEqual(DONE);
      await it.unplace('first');
      await it.runs(MINUTE);
      expect(await it.values()).toEqual({ c1: '1' });
      expect(await it.said('second')).toEqual(DONE);
    },
  );
});

describe('a member that is offline', () => {
  scenario.for([clusterFamily])(
    'blocks the rollout; the others go on within it; it catches up after a day',
    { members: 3, heartbeatPeriodSeconds: 10 },
    async (it) => {
      await it.give(configMap('1'), deployment('web:1'));
      await it.place(rolls({ maxUnavailable: 2 }));
      await it.runs();
      it.fleet.cut('c2', true);
      await it.runs(MINUTE);
      await it.give(configMap('2'), deployment('web:2'));
      await it.runs(MINUTE);
      // c2 uses one slot of the budget; the others take turns with the other one.
      expect(await it.values()).toEqual({ c1: '2', c2: '1', c3: '2' });
      expect(await it.saidOf('c2')).toMatchObject({ Applied: expect.stringMatching(/^(Unknown|False)/) });
      expect(await it.holds()).toMatchObject([{ code: 'Unreachable', on: { name: 'c2' }, clusters: ['c2'] }]);

      // The clocks of the whole fleet jump by a day; all members but one continue.
      it.fleet.clock.sleep(24 * 3600_000);
      await it.runs(MINUTE);
      await it.give(configMap('3'));
      await it.runs(MINUTE);
      expect(await it.values()).toEqual({ c1: '3', c2: '1', c3: '3' });

      it.fleet.cut('c2', false);
      await it.runs(MINUTE);
      expect(await it.values()).toEqual({ c1: '3', c2: '3', c3: '3' });
      expect(await it.images()).toEqual({ c1: 'web:2', c2: 'web:2', c3: 'web:2' });
      expect(await it.said()).toEqual(DONE);
      expect(await it.holds()).toEqual([]);
    },
  );

  scenario.for([namespacedFamily])(
    'stops the others if the budget is no more than that, and is named',
    { members: 3, heartbeatPeriodSeconds: 10 },
    async (it) => {
      await it.give(configMap('1'));
      await it.place();
      await it.runs();
      it.fleet.cut('c1', true);
      await it.runs(MINUTE);
      await it.give(configMap('2'));
      await it.runs(MINUTE);
      expect(await it.values()).toEqual({ c1: '1', c2: '1', c3: '1' });
      expect(await it.message('RolloutStarted')).toMatch(/"c1" blocks the rollout \(unreachable/);
      expect((await it.holds())[0]).toMatchObject({ code: 'BudgetUsed', on: { name: 'c1' }, clusters: ['c2', 'c3'] });
      it.fleet.cut('c1', false);
      await it.runs(MINUTE);
      expect(await it.values()).toEqual({ c1: '2', c2: '2', c3: '2' });
      expect(await it.said()).toEqual(DONE);
    },
  );
});

describe('an agent that is killed', () => {
  /** The agent makes up to `max` writes; all later calls fail. False = it had no more to write. */
  async function lives(it: Delivery, max: number): Promise<boolean> {
    let writes = 0;
    it.fleet.meddle = (who, { verb, at }) => {
      if (!who.startsWith('c1') || verb === 'get' || verb === 'list') return undefined;
      if (at.resource.plural === 'events' || at.resource.plural === 'internalmemberclusters') return undefined;
      return ++writes > max ? new ApiError(503, 'ServiceUnavailable', 'killed') : undefined;
    };
    it.fleet.startAgent('c1');
    await it.fleet.settles();
    await it.fleet.stopAgent('c1');
    it.fleet.meddle = undefined;
    return writes > max;
  }

  scenario.for([namespacedFamily])('after each of its writes ends as one that lives', { members: 1 }, async (it) => {
    for (let after = 1; ; after++) {
      await it.give(configMap(`old ${after}`), deployment('web:1'));
      if (after === 1) await it.place();
      await it.runs();
      await it.fleet.stopAgent('c1');
      await it.give(configMap(`new ${after}`), configMap('x', `more-${after}`));
      await it.take('deployments', 'web');
      await it.runs();
      const wasKilled = await lives(it, after);
      it.fleet.startAgent('c1');
      await it.runs();
      expect(await it.values()).toEqual({ c1: `new ${after}` });
      expect(await it.images()).toEqual({ c1: '-' });
      expect(await it.find('c1', 'configmaps', `more-${after}`)).toBeDefined();
      expect(await it.said()).toEqual(DONE);
      const member = it.fleet.member('c1');
      const { list } = await member.call({ verb: 'list', at: member.at('appliedworks') });
      expect(list?.items).toHaveLength(1);
      if (!wasKilled) {
        // Removal; planned objects; two ConfigMaps; applied objects; the record.
        expect(after).toBe(6);
        break;
      }
    }
  });

  scenario.for([clusterFamily])('while it first places leaves nothing that nobody owns', { members: 1 }, async (it) => {
    for (let after = 1; ; after++) {
      await it.fleet.stopAgent('c1');
      await it.give(configMap('1'), configMap('x', 'more'));
      await it.place({}, `web-${after}`);
      await it.runs();
      const wasKilled = await lives(it, after);
      await it.unplace(`web-${after}`);
      await it.runs();
      it.fleet.startAgent('c1');
      await it.runs();
      expect(await it.values()).toEqual({ c1: '-' });
      expect(await it.find('c1', 'configmaps', 'more')).toBeUndefined();
      expect(await it.find('c1', 'appliedworks', it.workName(`web-${after}`))).toBeUndefined();
      expect(await it.work('c1', `web-${after}`)).toBeUndefined();
      expect(await it.bindings(`web-${after}`)).toEqual([]);
      if (!wasKilled) break;
    }
  });

  scenario.for(families)(
    'between taking an object over and recording it ends as one that lives',
    {
      members: 1,
      async prepare(member) {
        await member.create('namespaces', undefined, { metadata: { name: SHOP } }).catch(() => {});
        await member.create('configmaps', SHOP, { metadata: { name: 'app' }, data: { value: 'before' } });
      },
    },
    async (it) => {
      const theirs = () =>
        it.patchOn('c1', 'configmaps', 'app', { metadata: { ownerReferences: null }, data: { value: 'before' } });
      await it.give(configMap('hub'));
      for (let turn = 2; ; turn++) {
        // Each death twice: with another agent after it, and without one before the placement is deleted.
        const [after, recovers] = [turn >> 1, turn % 2 === 1];
        await it.fleet.stopAgent('c1');
        await it.place({}, `web-${turn}`);
        await it.runs();
        const wasKilled = await lives(it, after);
        if (recovers) {
          // The next agent records the object that was taken over.
          it.fleet.startAgent('c1');
          await it.runs();
          expect(await it.said(`web-${turn}`)).toEqual(DONE);
          expect(await it.values()).toEqual({ c1: 'hub' });
          const record = await it.find('c1', 'appliedworks', it.workName(`web-${turn}`));
          const applied = (record?.status as { appliedResources?: readonly { name: string }[] } | undefined)
            ?.appliedResources;
          expect(applied?.map(({ name }) => name)).toContain('app');
        }
        await it.unplace(`web-${turn}`);
        await it.runs();
        it.fleet.startAgent('c1');
        await it.runs();
        expect(await it.find('c1', 'appliedworks', it.workName(`web-${turn}`))).toBeUndefined();
        expect(await it.bindings(`web-${turn}`)).toEqual([]);
        const left = await it.find('c1', 'configmaps', 'app');
        expect(left?.metadata.ownerReferences ?? []).toEqual([]);
        if (!wasKilled && recovers) break;
        if (left === undefined) {
          const member = it.fleet.member('c1');
          await member.create('namespaces', undefined, { metadata: { name: SHOP } }).catch(() => {});
          await member.create('configmaps', SHOP, { metadata: { name: 'app' }, data: { value: 'before' } });
        } else await theirs();
      }
    },
  );
});

describe('a Work', () => {
  const patchWork = async (it: Delivery, body: object) =>
    it.fleet.patch('works', memberNamespace('c1'), it.workName(), body);

  scenario.for(families)(
    'that is edited, emptied or deleted by hand comes back as it was, and so does what is on the member',
    { members: 1 },
    async (it) => {
      await it.give(configMap('1'));
      await it.place();
      await it.runs();
      await patchWork(it, { spec: { workload: { manifests: [configMap('forged'), configMap('forged', 'planted')] } } });
      await it.runs();
      expect(await it.values()).toEqual({ c1: '1' });
      expect(await it.find('c1', 'configmaps', 'planted')).toBeUndefined();
      expect(await it.said()).toEqual(DONE);
      await patchWork(it, { spec: { reportBackStrategy: { type: 'Mirror', destination: 'WorkAPI' } } });
      await it.runs();
      expect((await it.work('c1'))?.spec).not.toHaveProperty('reportBackStrategy');
      expect(await it.said()).toEqual(DONE);
      await patchWork(it, { metadata: { labels: null, annotations: null } });
      await it.runs();
      expect((await it.work('c1'))?.metadata.labels).toMatchObject({ 'kubernetes-fleet.io/parent-CRP': 'web' });
      expect(await it.said()).toEqual(DONE);

      // Its status is removed.
      const { hub } = it.fleet;
      const target = hub.at('works', memberNamespace('c1'), it.workName());
      const at = { ...target, subresource: 'status' as const };
      await hub.call({ verb: 'patch', at, patch: { type: 'merge', body: { status: null } }, manager: 'test' });
      await it.runs();
      expect(await it.said()).toEqual(DONE);

      await hub.call({ verb: 'delete', at: target });
      await it.runs(MINUTE);
      expect(await it.values()).toEqual({ c1: '1' });
      expect(await it.said()).toEqual(DONE);
    },
  );
});

describe('a placement', () => {
  scenario.for(families)(
    'that comes to select too much still says what its clusters have',
    { members: 2 },
    async (it) => {
      await it.give(configMap('1'));
      const envelopes = selects('placement.kubernetes-fleet.io', 'v1beta1', 'ResourceEnvelope');
      await it.place(it.namespace === undefined ? {} : { resourceSelectors: [CONFIG_MAPS, envelopes] });
      await it.runs();
      const inner = configMap('x'.repeat(1_520_000), 'large');
      const what = `ResourceEnvelope "${SHOP}/wrap" (largest entry: large.yaml)`;
      await it.give({
        apiVersion: 'placement.kubernetes-fleet.io/v1beta1',
        kind: 'ResourceEnvelope',
        metadata: { name: 'wrap', namespace: SHOP },
        data: { 'large.yaml': inner, 'small.yaml': configMap('1', 'small') },
      });
      await it.runs();
      const { holds, placementStatuses = [] } = await it.status();
      const next = `make ${what} smaller, or do not select it: an object may have at most 1507328 bytes`;
      expect(holds).toMatchObject([{ code: 'SnapshotTooLarge', next }]);
      expect(await it.message('Scheduled')).toContain(`an object that is too large: ${what} has 1520`);
      expect(placementStatuses.map(({ clusterName }) => clusterName)).toEqual(['c1', 'c2']);
      expect(await it.values()).toEqual({ c1: '1', c2: '1' });
      await it.take('resourceenvelopes', 'wrap');
      await it.runs();
      expect(await it.said()).toEqual(DONE);
    },
  );

  scenario.for(families)(
    'that selects nothing says so, and follows when something comes',
    { members: 2 },
    async (it) => {
      const nothing =
        it.namespace === undefined ? [theNamespace({ name: 'later' })] : [{ ...CONFIG_MAPS, name: 'later' }];
      await it.place({ resourceSelectors: nothing });
      await it.runs();
      const { conditions = [], selectedResources = [] } = await it.status();
      expect(selectedResources).toEqual([]);
      expect(conditions.map(({ message }) => message).join('\n')).toContain('"later" matches nothing');
      if (it.namespace === undefined) {
        await it.fleet.hub.create('namespaces', undefined, { metadata: { name: 'later' } });
      } else await it.give(configMap('1', 'later'));
      await it.runs();
      expect(await it.said()).toEqual(DONE);
      expect(await it.find('c1', it.namespace === undefined ? 'namespaces' : 'configmaps', 'later')).toBeDefined();
    },
  );

  scenario.for(families)('survives a hub that is killed after every single write', { members: 2 }, async (it) => {
    await it.give(configMap('1'));
    let writes = 1;
    it.fleet.meddle = (who, request) => {
      const { verb, at } = request;
      if (who !== 'hub' || verb === 'get' || verb === 'list' || isAscertaining(request)) return undefined;
      if (at.resource.plural === 'events' || at.resource.plural.endsWith('memberclusters')) return undefined;
      return ++writes > 1 ? new ApiError(503, 'ServiceUnavailable', 'killed') : undefined;
    };
    await it.place();
    for (let life = 0; writes > 0; life++) {
      expect(life).toBeLessThan(40);
      writes = 0;
      await it.fleet.restartHub();
      await it.runs(1000);
    }
    expect(await it.values()).toEqual({ c1: '1', c2: '1' });
    expect(await it.said()).toEqual(DONE);
    expect(await it.bindings()).toHaveLength(2);
  });
});
