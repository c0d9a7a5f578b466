// `flotilla freeze` and `flotilla unfreeze` against the real API server.
import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../api/object.ts';
import { aPlacement } from '../insight/placement.testing.ts';
import { whichPlacement } from '../insight/which-placement.ts';
import { type FreezeOptions, freezeFleet, noteFreezes, unfreeze } from './freeze.ts';
import { printing, serving } from './served.testing.ts';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const aFreeze = (name: string, spec: object = {}): KubeObject => ({
  apiVersion: 'flotilla.dev/v1alpha1',
  kind: 'Freeze',
  metadata: { name },
  spec: { reason: 'incident', ...spec },
});
const ENDED = { until: '2026-01-01T11:00:00Z' };
const SHOP = { placements: [{ name: 'web' }] };
const member: KubeObject = {
  apiVersion: 'cluster.kubernetes-fleet.io/v1beta1',
  kind: 'MemberCluster',
  metadata: { name: 'eu-1', labels: { env: 'prod' } },
  spec: { identity: { kind: 'User', name: 'x' } },
};

async function world(...objects: readonly KubeObject[]) {
  const { server, subject } = await serving([aPlacement() as unknown as KubeObject, member, ...objects]);
  const printed = printing();
  const left = async () => {
    const { list } = await subject.cluster.call({ verb: 'list', at: subject.cluster.at('freezes') });
    return list?.items.map(({ metadata }) => metadata.name);
  };
  const specs = async () => {
    const { list } = await subject.cluster.call({ verb: 'list', at: subject.cluster.at('freezes') });
    return list?.items.map(({ spec }) => spec);
  };
  return {
    ...printed,
    left,
    specs,
    freeze: async (options: Partial<FreezeOptions> = {}) =>
      freezeFleet(await server(), { reason: 'incident', placements: [], now: NOW, ...options }, printed.print),
    unfreeze: async (names: readonly string[] = [], all = false) =>
      unfreeze(await server(), names, { all, now: NOW }, printed.print),
    note: async () => noteFreezes(await server(), whichPlacement('placement/web'), NOW, printed.print),
  };
}

describe('flotilla freeze', () => {
  test('keeps who asked, why, until when and what it covers', async () => {
    const it = await world();
    await it.freeze({ until: '2h', clusters: 'env=prod', placements: [whichPlacement('placement/web')] });
    expect(await it.specs()).toEqual([
      {
        reason: 'incident',
        by: expect.stringMatching(/./),
        until: '2026-01-01T14:00:00Z',
        clusterSelector: { matchLabels: { env: 'prod' } },
        placements: [{ name: 'web' }],
      },
    ]);
    expect(it.errors).toEqual([]);
  });

  test('warns if it covers no cluster', async () => {
    const it = await world();
    await it.freeze({ clusters: 'env=nope' });
    expect(it.errors).toEqual(['no MemberCluster has the labels env=nope: the freeze has no effect now']);
  });

  test.each([
    { it: 'without a reason', options: { reason: ' ' }, says: 'needs a reason' },
    { it: 'that ended already', options: { until: '2020-01-01T00:00:00Z' }, says: 'is in the past' },
    { it: 'until no time', options: { until: 'tomorrow' }, says: 'is not a time' },
    { it: 'of no labels', options: { clusters: ' ' }, says: '--clusters' },
    {
      it: 'of a placement that does not exist',
      options: { placements: [whichPlacement('placement/nope')] },
      says: 'ClusterResourcePlacement "nope" not found',
    },
    { it: 'of what is frozen', options: { clusters: 'env=prod' }, says: 'Freeze "prod" covers the same already' },
  ])('$it is refused', async ({ options, says }) => {
    const it = await world(aFreeze('prod', { clusterSelector: { matchLabels: { env: 'prod' } } }));
    await expect(it.freeze(options)).rejects.toThrow(says);
    expect(await it.left()).toEqual(['prod']);
  });

  test('may cover again what a freeze that has ended covered', async () => {
    const it = await world(aFreeze('old', ENDED));
    await it.freeze();
    expect(await it.left()).toHaveLength(2);
  });
});

describe('flotilla unfreeze', () => {
  test.each([
    { it: 'the only one', freezes: [aFreeze('a')], names: [], all: false, left: [] },
    { it: 'the only one in force', freezes: [aFreeze('a'), aFreeze('b', ENDED)], names: [], all: false, left: ['b'] },
    { it: 'those that are named', freezes: [aFreeze('a'), aFreeze('b', SHOP)], names: ['b'], all: false, left: ['a'] },
    { it: 'all of them', freezes: [aFreeze('a'), aFreeze('b', ENDED)], names: [], all: true, left: [] },
  ])('ends $it', async ({ freezes, names, all, left }) => {
    const it = await world(...freezes);
    await it.unfreeze(names, all);
    expect(await it.left()).toEqual(left);
  });

  test('asks which of several, and names what is still frozen', async () => {
    const it = await world(aFreeze('a'), aFreeze('b', SHOP));
    await expect(it.unfreeze()).rejects.toThrow('there are 2 Freezes: name one');
    await expect(it.unfreeze(['nope'])).rejects.toThrow('Freeze "nope" not found');
    await it.unfreeze(['a']);
    expect(it.errors).toEqual(['still frozen: b: placement/web']);
  });
});

test('a command that changes a placement names only the freezes that hold it', async () => {
  const it = await world(
    aFreeze('old', ENDED),
    aFreeze('other', { placements: [{ name: 'x' }] }),
    aFreeze('web', SHOP),
  );
  await it.note();
  expect(it.out).toEqual(['Freeze "web" holds it until flotilla unfreeze web (incident)']);
});
