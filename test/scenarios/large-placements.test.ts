// Placements that are larger than one snapshot: several snapshots per revision, several Works per cluster.
import { describe, expect } from 'vitest';
import { annotations, labels, memberNamespace } from '../../src/api/names.ts';
import type { KubeObject } from '../../src/api/object.ts';
import type { Work } from '../../src/api/work.ts';
import { ApiError } from '../../src/base/errors.ts';
import { families } from '../../src/hub/families.ts';
import { configMap, type Delivery, DONE, deployment, SHOP, scenario } from '../delivery.ts';
import { isAscertaining } from '../fleet.ts';

const nameOf = (at: number) => `m${String(at).padStart(2, '0')}`;
const large = (at: number, mark = 'a', bytes = 100_000) => configMap(mark.repeat(bytes), nameOf(at));
const MAPS = Array.from({ length: 20 }, (_, at) => at);

const worksOn = async ({ fleet: { hub } }: Delivery, cluster: string) => {
  const { list } = await hub.call({ verb: 'list', at: hub.at('works', memberNamespace(cluster)) });
  return (list?.items ?? []) as readonly Work[];
};
const snapshotsOf = async ({ fleet: { hub }, family, namespace }: Delivery) => {
  const { list } = await hub.call({ verb: 'list', at: hub.at(family.resourceSnapshot.plural, namespace) });
  return (list?.items ?? []) as readonly KubeObject[];
};
const uidsOn = async (it: Delivery, cluster: string, names: readonly string[]) =>
  Promise.all(names.map(async (name) => (await it.find(cluster, 'configmaps', name))?.metadata.uid ?? '-'));
const deploymentOn = async (it: Delivery, cluster: string) =>
  (await it.find(cluster, 'deployments', 'web'))?.metadata.uid;
const short = ({ metadata }: KubeObject) => (metadata.name ?? '').replace(`${SHOP}.`, '');
const held = ({ spec }: Work) =>
  spec.workload?.manifests?.map((each) => (each as unknown as KubeObject).metadata.name ?? '') ?? [];

describe('a placement of 2 MB', () => {
  scenario.for(families)('has three snapshots and three Works per cluster', { members: 3 }, async (it) => {
    await it.give(...MAPS.map((at) => large(at)), deployment('v1'));
    await it.place();
    await it.runs(20_000);
    expect(await it.said()).toEqual(DONE);
    expect((await it.status()).selectedResources).toHaveLength(MAPS.length + (it.namespace === undefined ? 2 : 1));
    expect((await snapshotsOf(it)).map(short)).toEqual(['web-0-0', 'web-0-1', 'web-0-snapshot']);
    for (const cluster of ['c1', 'c2', 'c3']) {
      expect((await worksOn(it, cluster)).map(short)).toEqual(['web-0', 'web-1', 'web-work']);
      expect(await uidsOn(it, cluster, MAPS.map(nameOf))).not.toContain('-');
    }
    expect(await it.images()).toEqual({ c1: 'v1', c2: 'v1', c3: 'v1' });

    // A small change writes the spec of one Work.
    const before = await worksOn(it, 'c1');
    const applied = await uidsOn(it, 'c1', MAPS.map(nameOf));
    it.forget();
    await it.give(large(10, 'b'));
    await it.runs(20_000);
    expect(await it.said()).toEqual(DONE);
    const after = await worksOn(it, 'c1');
    const moved = after.filter(({ metadata }, at) => metadata.generation !== before[at]?.metadata.generation);
    expect(moved.map(short)).toEqual(['web-0']);
    for (const [at, { metadata, status }] of after.entries()) {
      expect(metadata.labels?.[labels.parentResourceSnapshotIndex]).toBe('1');
      expect(metadata.annotations?.[annotations.parentResourceSnapshotName]).toBe('web-1-snapshot');
      if (metadata.generation === before[at]?.metadata.generation) expect(status).toEqual(before[at]?.status);
    }
    const writes = it.writes();
    expect(writes['hub patch works']).toBe(9);
    expect(writes['c1 at home patch configmaps'] ?? 0).toBe(1);
    expect(await uidsOn(it, 'c1', MAPS.map(nameOf))).toEqual(applied);

    // An object that grows beyond the maximum moves to another part, and nothing is deleted.
    it.forget();
    await it.give(large(1, 'c', 150_000));
    await it.runs(20_000);
    expect(await it.said()).toEqual(DONE);
    const grown = await worksOn(it, 'c2');
    expect(grown.map((each) => held(each).includes(nameOf(1)))).toEqual([false, true, false]);
    expect(await uidsOn(it, 'c1', MAPS.map(nameOf))).toEqual(applied);
    expect(Object.keys(it.writes()).filter((each) => / delete /.test(each))).toEqual([]);

    // With fewer parts objects move between Works, and one Work is deleted.
    it.forget();
    const running = await deploymentOn(it, 'c1');
    expect(running).toBeDefined();
    for (const at of [0, 2, 3, 4, 5, 6, 7]) await it.take('configmaps', nameOf(at));
    await it.runs(20_000);
    expect(await it.said()).toEqual(DONE);
    expect((await worksOn(it, 'c1')).map(short)).toEqual(['web-0', 'web-work']);
    const kept = MAPS.filter((at) => at === 1 || at > 7);
    expect(await uidsOn(it, 'c1', kept.map(nameOf))).toEqual(kept.map((at) => applied[at]));
    expect(await uidsOn(it, 'c1', [nameOf(0), nameOf(7)])).toEqual(['-', '-']);
    expect(await deploymentOn(it, 'c1')).toBe(running);

    await it.unplace();
    await it.runs(20_000);
    for (const cluster of ['c1', 'c2', 'c3']) {
      expect(await worksOn(it, cluster)).toEqual([]);
      expect(new Set(await uidsOn(it, cluster, MAPS.map(nameOf)))).toEqual(new Set(['-']));
    }
    expect(await snapshotsOf(it)).toEqual([]);
  });
});

describe('a placement of several snapshots', () => {
  scenario.for(families)(
    'survives a hub that is killed after every single write',
    { members: 2, placements: { snapshotLimit: 300 } },
    async (it) => {
      const names = MAPS.slice(0, 6).map(nameOf);
      await it.give(...names.map((name) => configMap('x'.repeat(60), name)), configMap('1'));
      let writes = 1;
      it.fleet.meddle = (who, request) => {
        const { verb, at } = request;
        if (who !== 'hub' || verb === 'get' || verb === 'list' || isAscertaining(request)) return undefined;
        if (at.resource.plural === 'events' || at.resource.plural.endsWith('memberclusters')) return undefined;
        return ++writes > 1 ? new ApiError(503, 'ServiceUnavailable', 'killed') : undefined;
      };
      await it.place();
      for (let life = 0; writes > 0; life++) {
        expect(life).toBeLessThan(60);
        writes = 0;
        await it.fleet.restartHub();
        await it.runs(1000);
      }
      expect(await it.values()).toEqual({ c1: '1', c2: '1' });
      expect(await uidsOn(it, 'c2', names)).not.toContain('-');
      expect(await it.said()).toEqual(DONE);
      expect((await worksOn(it, 'c1')).length).toBeGreaterThan(2);
      const objects = (await snapshotsOf(it)).flatMap(
        ({ spec }) => (spec as { readonly selectedResources: readonly KubeObject[] }).selectedResources,
      );
      expect(new Set(objects.map(({ metadata }) => metadata.name)).size).toBe(objects.length);
    },
  );
});
