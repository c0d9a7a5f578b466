// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is what users write
// Overrides from the hub to the members, in both scopes: the content of each cluster, and changes of overrides, which
// roll out like any other change.
import { describe, expect } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { clusterFamily, families } from '../../src/hub/families.ts';
import { configMap, type Delivery, DONE, rolls, SHOP, scenario, selects } from '../delivery.ts';
import { AT_ONCE, DONE_RUN, prepared } from '../staged.ts';

const FLEET = 'placement.kubernetes-fleet.io';
const MEMBERS = {
  members: { c1: { env: 'prod', region: 'eu' }, c2: { env: 'prod', region: 'us' }, c3: { env: 'test', region: 'eu' } },
};
const ALL = { clusterSelectorTerms: [] };
const ON = (labels: object) => ({ clusterSelectorTerms: [{ labelSelector: { matchLabels: labels } }] });
const add = (path: string, value: unknown) => ({ op: 'add', path, value });
const sets = (value: unknown, clusterSelector: object = ALL) => ({
  clusterSelector,
  overrideType: 'JSONPatch',
  jsonPatchOverrides: [add('/data/value', value)],
});

const ro = (rules: readonly object[], more: { name?: string; placement?: object; object?: string } = {}) => ({
  apiVersion: `${FLEET}/v1beta1`,
  kind: 'ResourceOverride',
  metadata: { name: more.name ?? 'ro', namespace: SHOP },
  spec: {
    resourceSelectors: [selects('', 'v1', 'ConfigMap', { name: more.object ?? 'app' })],
    ...(more.placement === undefined ? {} : { placement: more.placement }),
    policy: { overrideRules: rules },
  },
});
const cro = (rules: readonly object[], name = 'cro') => ({
  apiVersion: `${FLEET}/v1beta1`,
  kind: 'ClusterResourceOverride',
  metadata: { name },
  spec: {
    clusterResourceSelectors: [selects('', 'v1', 'Namespace', { name: SHOP })],
    policy: { overrideRules: rules },
  },
});
const list = async (it: Delivery, plural: string): Promise<readonly string[]> => {
  const answer = await it.fleet.hub.call({ verb: 'list', at: it.fleet.hub.at(plural, SHOP) } as never);
  return (answer as unknown as { readonly list: { readonly items: readonly KubeObject[] } }).list.items.map(
    ({ metadata }) => metadata.name ?? '',
  );
};

describe('an override', () => {
  scenario.for(families)('reaches the clusters that its rules select, and no others', MEMBERS, async (it) => {
    await it.give(configMap('1'), ro([sets('prod', ON({ env: 'prod' }))]));
    await it.place();
    await it.runs();
    expect(await it.values()).toEqual({ c1: 'prod', c2: 'prod', c3: '1' });
    expect(await it.said()).toEqual({ ...DONE, Overridden: 'True/OverriddenSucceeded' });
    const { placementStatuses = [] } = await it.status();
    expect(
      placementStatuses.map(({ clusterName, applicableResourceOverrides: those }) => [clusterName, those]),
    ).toEqual([
      ['c1', [{ namespace: SHOP, name: 'ro-0' }]],
      ['c2', [{ namespace: SHOP, name: 'ro-0' }]],
      ['c3', undefined],
    ]);
    // The object on the hub does not change.
    expect(await it.fleet.hub.get('configmaps', SHOP, 'app')).toMatchObject({ data: { value: '1' } });
  });

  scenario.for(families)('writes only to the clusters that it changes', MEMBERS, async (it) => {
    await it.give(configMap('1'));
    await it.place();
    await it.runs();
    it.forget();
    await it.give(ro([sets('x', ON({ env: 'test' }))]));
    await it.runs();
    expect(await it.values()).toEqual({ c1: '1', c2: '1', c3: 'x' });
    const works = Object.entries(it.writes()).filter(([what]) => what.includes('works'));
    expect(works.length).toBeGreaterThan(0);
    for (const cluster of ['c1', 'c2']) {
      const work = await it.work(cluster);
      expect(work?.metadata.generation).toBe(1);
    }
  });

  const HUNDRED = Object.fromEntries(
    Array.from({ length: 100 }, (_, at) => [`c${at + 1}`, { env: at < 3 ? 'prod' : 'test' }]),
  );
  scenario.for([clusterFamily])('that matches 3 of 100 clusters writes to 3', { members: HUNDRED }, async (it) => {
    await it.give(configMap('1'));
    await it.place(rolls({ maxUnavailable: '100%' }));
    await it.runs(60_000);
    expect(await it.said()).toEqual(DONE);
    it.forget();
    await it.give(ro([sets('x', ON({ env: 'prod' }))]));
    await it.runs(60_000);
    const values = Object.entries(await it.values());
    expect(values.filter(([, value]) => value === 'x').map(([cluster]) => cluster)).toEqual(['c1', 'c2', 'c3']);
    const writes = it.writes();
    expect(writes).toMatchObject({
      'hub patch clusterresourcebindings': 3,
      'hub patch clusterresourcebindings/status': 3,
      'hub patch works': 3,
    });
    const members = Object.keys(writes).flatMap((what) => /^c\d+/.exec(what)?.[0] ?? []);
    expect(new Set(members)).toEqual(new Set(['c1', 'c2', 'c3']));
  });

  scenario.for(families)('that changes or goes rolls out within the budget', MEMBERS, async (it) => {
    await it.give(configMap('1'), ro([sets('a')]));
    await it.place(rolls({ maxUnavailable: 1 }));
    await it.runs();
    expect(await it.values()).toEqual({ c1: 'a', c2: 'a', c3: 'a' });
    it.fleet.cut('c1', true);
    await it.give(ro([sets('b')]));
    await it.runs(60_000);
    expect(await it.values()).toEqual({ c1: 'a', c2: 'a', c3: 'a' });
    expect(await it.said()).toMatchObject({ RolloutStarted: 'False/RolloutNotStartedYet' });
    expect(await it.holds()).toMatchObject([{ code: 'BudgetUsed' }, { code: 'NotAvailable' }]);
    it.fleet.cut('c1', false);
    await it.runs(60_000);
    expect(await it.values()).toEqual({ c1: 'b', c2: 'b', c3: 'b' });
    expect(await list(it, 'resourceoverridesnapshots')).toEqual(['ro-0', 'ro-1']);
    it.fleet.cut('c1', true);
    await it.take('resourceoverrides', 'ro');
    await it.runs(60_000);
    // The snapshots were deleted with it; clusters keep their content until their turn.
    expect(await list(it, 'resourceoverridesnapshots')).toEqual([]);
    expect(await it.values()).toEqual({ c1: 'b', c2: 'b', c3: 'b' });
    it.fleet.cut('c1', false);
    await it.runs(60_000);
    expect(await it.values()).toEqual({ c1: '1', c2: '1', c3: '1' });
    expect(await it.said()).toEqual(DONE);
  });

  scenario.for(families)(
    'fills in labels, and a label that changes is a move within the budget',
    MEMBERS,
    async (it) => {
      await it.give(configMap('1'), ro([sets('${MEMBER-CLUSTER-NAME} in ${MEMBER-CLUSTER-LABEL-KEY-region}')]));
      await it.place(rolls({ maxUnavailable: 1 }));
      await it.runs();
      expect(await it.values()).toEqual({ c1: 'c1 in eu', c2: 'c2 in us', c3: 'c3 in eu' });
      it.fleet.cut('c1', true);
      for (const each of ['c1', 'c2', 'c3']) {
        await it.fleet.patch('memberclusters', undefined, each, { metadata: { labels: { region: 'asia' } } });
      }
      await it.runs(30_000);
      expect(await it.values()).toEqual({ c1: 'c1 in eu', c2: 'c2 in us', c3: 'c3 in eu' });
      it.fleet.cut('c1', false);
      await it.runs(60_000);
      expect(await it.values()).toEqual({ c1: 'c1 in asia', c2: 'c2 in asia', c3: 'c3 in asia' });
    },
  );

  scenario.for(families)(
    'that does not apply fails its cluster alone, and heals when it is fixed',
    MEMBERS,
    async (it) => {
      await it.give(configMap('1'));
      await it.place(rolls({ maxUnavailable: '25%' }));
      await it.runs();
      await it.give(ro([{ ...sets('x'), jsonPatchOverrides: [add('/data/none/deeper', 'x')] }]));
      await it.runs(60_000);
      expect(await it.values()).toEqual({ c1: '1', c2: '1', c3: '1' });
      const { placementStatuses = [] } = await it.status();
      const said = (at: number, type: string) => placementStatuses[at]?.conditions?.find((each) => each.type === type);
      expect(said(0, 'Overridden')).toMatchObject({ status: 'False', reason: 'OverriddenFailed' });
      for (const word of ['ro-0', 'rule 1', `ConfigMap "${SHOP}/app"`, '/data/none/deeper']) {
        expect(said(0, 'Overridden')?.message).toContain(word);
      }
      expect(said(0, 'WorkSynchronized')).toBeUndefined();
      for (const at of [1, 2]) expect(said(at, 'RolloutStarted')).toMatchObject({ status: 'False' });
      await it.give(ro([sets('fixed')]));
      await it.runs(60_000);
      expect(await it.values()).toEqual({ c1: 'fixed', c2: 'fixed', c3: 'fixed' });
      expect(await it.said()).toEqual({ ...DONE, Overridden: 'True/OverriddenSucceeded' });
    },
  );

  scenario.for(families)('may leave an object out, and bring it back', MEMBERS, async (it) => {
    await it.give(configMap('1'), configMap('2', 'other'));
    await it.place();
    await it.runs();
    await it.give(ro([{ clusterSelector: ON({ env: 'test' }), overrideType: 'Delete' }]));
    await it.runs();
    expect(await it.values()).toEqual({ c1: '1', c2: '1', c3: '-' });
    expect(await it.find('c3', 'configmaps', 'other')).toBeDefined();
    await it.take('resourceoverrides', 'ro');
    await it.runs();
    expect(await it.values()).toEqual({ c1: '1', c2: '1', c3: '1' });
  });

  scenario.for(families)('that makes metadata malformed writes nothing', { members: 1 }, async (it) => {
    await it.give(configMap('1'), ro([{ ...sets('x'), jsonPatchOverrides: [add('/metadata/annotations', 'text')] }]));
    await it.place();
    await it.runs();
    expect(await it.values()).toEqual({ c1: '-' });
    const conditions = (await it.status()).placementStatuses?.[0]?.conditions ?? [];
    expect(conditions.find(({ type }) => type === 'Overridden')).toMatchObject({ status: 'True' });
    expect(conditions.find(({ type }) => type === 'WorkSynchronized')).toMatchObject({ reason: 'SyncWorkFailed' });
  });

  scenario.for(families)('of an object that is not selected does nothing', { members: 1 }, async (it) => {
    await it.give(
      configMap('1'),
      ro([sets('x')], { object: 'unknown' }),
      ro([sets('y')], { name: 'far', object: 'b', placement: { name: 'far' } }),
    );
    await it.place();
    await it.runs();
    expect(await it.values()).toEqual({ c1: '1' });
    expect(await it.said()).toEqual(DONE);
  });

  scenario.for(families)('survives a hub that starts again in the middle of it', MEMBERS, async (it) => {
    await it.give(configMap('1'), ro([sets('a')]));
    await it.place(rolls({ maxUnavailable: 1 }));
    await it.runs();
    await it.give(ro([sets('b')]));
    for (let turn = 0; turn < 6; turn++) {
      await it.runs(300);
      await it.fleet.restartHub();
    }
    await it.runs(60_000);
    expect(await it.values()).toEqual({ c1: 'b', c2: 'b', c3: 'b' });
    expect(await list(it, 'resourceoverridesnapshots')).toEqual(['ro-0', 'ro-1']);
  });

  scenario.for(families)(
    'is recorded by a run when it begins, and its later changes are for the next',
    MEMBERS,
    async (it) => {
      const scope = it.namespace === undefined ? 'Cluster' : 'Namespaced';
      await it.give(ro([sets('first', ON({ region: 'us' }))], { placement: { name: 'web', scope } }));
      const run = await prepared(it, AT_ONCE);
      it.fleet.cut('c2', true);
      await run.run();
      await it.runs();
      const { stagesStatus = [] } = await run.status();
      const named = stagesStatus
        .flatMap(({ clusters }) => clusters)
        .map((each) => [each.clusterName, each.resourceOverrideSnapshots]);
      expect(named.toSorted()).toEqual([
        ['c1', undefined],
        ['c2', [{ namespace: SHOP, name: 'ro-0' }]],
        ['c3', undefined],
      ]);
      await it.give(ro([sets('second')], { placement: { name: 'web', scope } }));
      await it.runs();
      it.fleet.cut('c2', false);
      await it.runs(60_000);
      expect(await run.said()).toEqual(DONE_RUN);
      expect(await it.values()).toEqual({ c1: '1', c2: 'first', c3: '1' });
      await run.run({}, 'next');
      await it.runs(60_000);
      expect(await it.values()).toEqual({ c1: 'second', c2: 'second', c3: 'second' });
    },
  );
});

describe('a cluster-scoped override', () => {
  scenario.for([clusterFamily])('of a Namespace changes all in it; a namespaced one wins', MEMBERS, async (it) => {
    const notes = (value: string) => ({
      ...sets(''),
      jsonPatchOverrides: [add('/metadata/annotations', { by: value })],
    });
    await it.give(configMap('1'), configMap('1', 'other'), cro([notes('cro')]), ro([notes('ro')]));
    await it.place();
    await it.runs();
    const noted = async (plural: string, name: string) =>
      (await it.find('c1', plural, name))?.metadata.annotations?.['by'];
    expect(await noted('configmaps', 'app')).toBe('ro');
    expect(await noted('configmaps', 'other')).toBe('cro');
    const namespace = await it.fleet.member('c1').get('namespaces', undefined, SHOP);
    expect(namespace.metadata.annotations?.['by']).toBe('cro');
    const [first] = (await it.status()).placementStatuses ?? [];
    expect(first).toMatchObject({
      applicableClusterResourceOverrides: ['cro-0'],
      applicableResourceOverrides: [{ namespace: SHOP, name: 'ro-0' }],
    });
  });

  scenario.for([clusterFamily])(
    'that deletes the Namespace leaves an empty Work, which is available',
    { members: 1 },
    async (it) => {
      await it.give(configMap('1'), cro([{ clusterSelector: ALL, overrideType: 'Delete' }]));
      await it.place();
      await it.runs();
      expect(await it.values()).toEqual({ c1: '-' });
      expect(await it.said()).toEqual({ ...DONE, Overridden: 'True/OverriddenSucceeded' });
    },
  );
});
