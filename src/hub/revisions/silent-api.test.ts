// The hub starts while an aggregated API server does not answer: placed objects of its kinds stay placed, and the
// status reports why the placement waits. Placements without such objects continue.
import { expect, test } from 'vitest';
import { aCluster, admin } from '../../../test/cluster.ts';
import { turns } from '../../../test/runtime/turns.ts';
import type { LiveCatalogue } from '../../api/catalogue.ts';
import { hubKinds } from '../../api/kinds.ts';
import type { KubeObject } from '../../api/object.ts';
import { seededRandom } from '../../base/random.ts';
import { silentLog } from '../../runtime/deps.ts';
import { startManager } from '../../runtime/manager.ts';
import { clusterFamily as family } from '../families.ts';
import { placementController } from '../placement/controller.ts';

const SECOND_MS = 1000;

/** A catalogue without the kinds of one group, until `answer` is called. */
function silencing(catalogue: LiveCatalogue, silent: string) {
  const wakes = new Set<() => void>();
  const preferred = catalogue.preferred.filter(({ group }) => group !== silent);
  const unknown = [`${silent}/v1`];
  let isSilent = true;
  return {
    catalogue: {
      ...catalogue,
      byKind: (apiVersion: string, kind: string) =>
        isSilent && unknown.includes(apiVersion) ? undefined : catalogue.byKind(apiVersion, kind),
      get preferred() {
        return isSilent ? preferred : catalogue.preferred;
      },
      get unknown() {
        return isSilent ? unknown : [];
      },
      subscribe(wake: () => void) {
        wakes.add(wake);
        return () => wakes.delete(wake);
      },
    },
    answer() {
      isSilent = false;
      for (const wake of wakes) wake();
    },
  };
}

test('what a silent API server has stays placed over a restart of the hub, and goes on when it answers', async () => {
  await using cluster = await aCluster({ kinds: hubKinds });
  const start = (catalogue: LiveCatalogue) =>
    startManager(
      { clock: cluster.clock, random: seededRandom(1), servers: { hub: cluster.as(admin) }, log: silentLog },
      { controllers: [placementController(family, { catalogue })] },
    );
  const pass = async () => {
    for (let second = 0; second < 3; second++) {
      cluster.clock.advance(SECOND_MS);
      for (let i = 0; i < 20; i++) await turns();
    }
  };
  const configure = async (namespace: string, name: string) => {
    await cluster.create('configmaps', namespace, { metadata: { name }, data: {} });
    await pass();
  };
  const revisionsOf = async (placement: string) => {
    const { list } = await cluster.call({ verb: 'list', at: cluster.at(family.resourceSnapshot.plural) });
    return ((list?.items ?? []) as readonly KubeObject[])
      .filter(({ metadata }) => metadata.name?.startsWith(`${placement}-`))
      .map(({ spec }) =>
        (spec as { readonly selectedResources: readonly KubeObject[] }).selectedResources.map(({ kind }) => kind),
      );
  };

  for (const name of ['shop', 'till']) {
    await cluster.create('namespaces', undefined, { metadata: { name } });
    await cluster.create(family.placement.plural, undefined, {
      metadata: { name },
      spec: { resourceSelectors: [{ group: '', version: 'v1', kind: 'Namespace', name }] },
    });
  }
  const labels = { app: 'web' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web' }] } };
  await cluster.create('deployments', 'shop', {
    metadata: { name: 'web' },
    spec: { selector: { matchLabels: labels }, template },
  });
  const before = start(cluster.running.catalogue);
  await pass();
  await before.stop();
  expect(await revisionsOf('shop')).toEqual([['Namespace', 'Deployment']]);
  expect(await revisionsOf('till')).toEqual([['Namespace']]);

  const { catalogue, answer } = silencing(cluster.running.catalogue, 'apps');
  const after = start(catalogue);
  await pass();
  await configure('shop', 'new');
  await configure('till', 'new');
  expect(await revisionsOf('shop')).toEqual([['Namespace', 'Deployment']]);
  expect(await revisionsOf('till')).toEqual([['Namespace'], ['Namespace', 'ConfigMap']]);
  expect(after.holdsOf('till')).toEqual([]);
  expect(after.holdsOf('shop')).toMatchObject([
    { code: 'SelectionPending', facts: { kind: 'apps/v1', message: 'its API server does not answer' } },
  ]);
  expect((await cluster.get(family.placement.plural, undefined, 'shop')).status).toMatchObject({
    holds: [{ code: 'SelectionPending' }],
    selectedResources: [{ kind: 'Namespace' }, { kind: 'Deployment' }],
  });

  answer();
  await pass();
  expect(after.holdsOf('shop')).toEqual([]);
  expect(await revisionsOf('shop')).toEqual([
    ['Namespace', 'Deployment'],
    ['Namespace', 'ConfigMap', 'Deployment'],
  ]);
  await after.stop();
});
