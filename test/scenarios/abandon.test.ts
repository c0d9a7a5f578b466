// A deleted placement that leaves its objects on the members: with deleteStrategy, or by a deletion with
// --cascade=orphan.
import { describe, expect } from 'vitest';
import { annotations } from '../../src/api/names.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { families } from '../../src/hub/families.ts';
import { configMap, type Delivery, deployment, picks, scenario } from '../delivery.ts';

const ABANDON = { strategy: { deleteStrategy: { propagationPolicy: 'Abandon' } } };
const MARKS = [annotations.specHash, annotations.lastApplied, annotations.takenOver];

const marksOf = (object: KubeObject | undefined) =>
  MARKS.filter((key) => object?.metadata.annotations?.[key] !== undefined);

async function expectReleased(it: Delivery, cluster = 'c1') {
  for (const [plural, name] of [
    ['configmaps', 'app'],
    ['deployments', 'web'],
  ] as const) {
    const object = await it.find(cluster, plural, name);
    expect(object).toBeDefined();
    expect(object?.metadata.ownerReferences ?? []).toEqual([]);
    expect(marksOf(object)).toEqual([]);
  }
  const member = it.fleet.member(cluster);
  const { list } = await member.call({ verb: 'list', at: member.at('appliedworks') });
  expect(list?.items).toEqual([]);
  expect(await it.work(cluster)).toBeUndefined();
  expect(await it.bindings()).toEqual([]);
}

const orphan = async ({ fleet: { hub }, family, namespace }: Delivery) => {
  await hub.call({ verb: 'delete', at: hub.at(family.placement.plural, namespace, 'web'), propagation: 'Orphan' });
};

describe('a placement that is deleted', () => {
  scenario.for(families)(
    'with propagationPolicy Abandon leaves its objects, without our marks',
    { members: 2 },
    async (it) => {
      await it.give(configMap('one'), deployment('web:1'));
      await it.place(ABANDON);
      await it.runs();
      expect(marksOf(await it.find('c1', 'configmaps', 'app'))).not.toEqual([]);
      await it.unplace();
      await it.runs();
      await expectReleased(it, 'c1');
      await expectReleased(it, 'c2');
    },
  );

  scenario.for(families)('with --cascade=orphan leaves its objects on every cluster', { members: 2 }, async (it) => {
    await it.give(configMap('one'), deployment('web:1'));
    await it.place();
    await it.runs();
    await orphan(it);
    await it.runs();
    await expectReleased(it, 'c1');
    await expectReleased(it, 'c2');
    // Abandoned objects can be placed again.
    await it.place();
    await it.give(configMap('two'));
    await it.runs();
    expect(await it.values()).toEqual({ c1: 'two', c2: 'two' });
  });

  scenario.for(families)('without either takes its objects along', { members: 1 }, async (it) => {
    await it.give(configMap('one'));
    await it.place();
    await it.runs();
    await it.unplace();
    await it.runs();
    expect(await it.find('c1', 'configmaps', 'app')).toBeUndefined();
  });
});

describe('propagationPolicy Abandon', () => {
  scenario.for(families)('does not keep what a cluster has that is no longer picked', { members: 2 }, async (it) => {
    await it.give(configMap('one'));
    await it.place({ ...picks(2), ...ABANDON });
    await it.runs();
    await it.change(picks(1));
    await it.runs();
    expect(Object.values(await it.values()).toSorted()).toEqual(['-', 'one']);
  });
});
