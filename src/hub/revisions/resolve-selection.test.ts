// The reconcile of an unchanged placement is cheap, however much it selects.
import { describe, expect, test } from 'vitest';
import type { Resource } from '../../api/kind.ts';
import { annotations, labels } from '../../api/names.ts';
import type { KubeObject, Labels } from '../../api/object.ts';
import { namespaceResource } from '../../api/resources.ts';
import { deepFreeze } from '../../base/json.ts';
import type { Part, Projected, Source, View } from '../../runtime/controller.ts';
import { clusterFamily } from '../families.ts';
import type { HubPlacement } from '../placement-sources.ts';
import { contentOf } from './content.ts';
import { type Candidate, createPropagation, type PropagationSettings } from './propagation.ts';
import { createSelectionCache, isMissing, resolveSelection } from './resolve-selection.ts';
import { createWatchPlan } from './watch-plan.ts';

const configMaps: Resource = { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true };
const COUNT = 500;

function world() {
  const object = (index: number, version = 1, labels: Labels = {}): KubeObject =>
    deepFreeze({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: `m${index}`, namespace: 'shop', uid: `u${index}`, resourceVersion: String(version), labels },
      data: { version: String(version) },
    });
  const wholes = Array.from({ length: COUNT }, (_, index) => object(index));
  const items: Candidate[] = wholes.map(({ metadata }) => ({ metadata }));
  const shop: Candidate = { metadata: { name: 'shop' } };
  let asked = 0;
  const view: View = {
    now: 0,
    get: () => undefined,
    all: () => [],
    by: () => [],
    listError: () => undefined,
    listOnDemand: <T extends Projected>(source: Source<T>, part: Part = {}) =>
      (source.resource.kind === 'Namespace' ? [shop] : part.namespace === 'shop' ? [...items] : []) as unknown as T[],
    getFull(ref) {
      asked++;
      if (ref.kind === 'Namespace') return { apiVersion: 'v1', kind: 'Namespace', metadata: shop.metadata };
      return wholes[Number(ref.name.slice(1))];
    },
  };
  return {
    view,
    asked: () => asked,
    change(index: number, labels?: Labels) {
      wholes[index] = object(index, 2, labels);
      items[index] = { metadata: wholes[index]?.metadata ?? {} };
    },
  };
}

const placement = (name = 'shop'): HubPlacement =>
  ({
    metadata: { name: 'web' },
    spec: { resourceSelectors: [{ group: '', version: 'v1', kind: 'Namespace', name }] },
  }) as unknown as HubPlacement;

const lookingWith = (contents = createSelectionCache()) => ({
  catalogue: {
    byKind: () => namespaceResource,
    preferred: [namespaceResource, configMaps],
    subscribe: () => () => {},
    refresh: () => Promise.resolve(),
  },
  propagation: createPropagation(),
  plan: createWatchPlan(),
  contents,
});

test('what did not change is not selected, stripped or hashed again; what did is', () => {
  const { view, asked, change } = world();
  const looking = lookingWith();
  const look = (of = placement()) => resolveSelection(view, 'web', of, looking);
  const first = look();
  expect(first).toMatchObject({ state: 'selected', content: { resources: { length: COUNT + 1 } } });
  expect(look()).toBe(first);
  // The same spec in a new object, as after a status write.
  expect(look(placement())).toBe(first);
  // A reader that does not read the objects in full is not requeued if only their content changes.
  expect(asked()).toBe(3 * (COUNT + 1));

  change(7);
  const second = look();
  expect(second).not.toBe(first);
  expect((second as { content: { hash: string } }).content.hash).not.toBe(
    (first as { content: { hash: string } }).content.hash,
  );

  looking.catalogue.preferred = [namespaceResource];
  expect(look()).toMatchObject({ content: { resources: { length: 1 } } });
  expect(look(placement('elsewhere'))).toMatchObject({ content: { resources: { length: 1 } } });
});

test('other content of the same objects is not selected again; other labels are', () => {
  const { view, change } = world();
  let selections = 0;
  const { catalogue, ...looking } = lookingWith();
  const counting = {
    ...looking,
    catalogue: {
      ...catalogue,
      byKind() {
        selections++;
        return namespaceResource;
      },
    },
  };
  const look = () =>
    resolveSelection(view, 'web', placement(), counting) as { content: { objects: readonly KubeObject[] } };
  const content = (index: number) => look().content.objects.find(({ metadata }) => metadata.name === `m${index}`)?.data;
  expect(content(7)).toEqual({ version: '1' });
  expect(selections).toBe(1);
  change(7);
  expect(content(7)).toEqual({ version: '2' });
  expect(selections).toBe(1);
  change(8, { team: 'blue' });
  expect(content(8)).toEqual({ version: '2' });
  expect(selections).toBe(2);
});

test('of what was looked at longest ago nothing is kept, if that is too much', () => {
  const { view } = world();
  const measured = lookingWith();
  const { content } = resolveSelection(view, 'any', placement(), measured) as { content: { bytes: number } };
  const contents = createSelectionCache(2 * content.bytes);
  const looking = lookingWith(contents);
  const first = resolveSelection(view, 'a', placement(), looking);
  resolveSelection(view, 'b', placement(), looking);
  expect(resolveSelection(view, 'a', placement(), looking)).toBe(first);
  resolveSelection(view, 'c', placement(), looking);
  expect(contents.size).toBe(2);
  expect(resolveSelection(view, 'a', placement(), looking)).toBe(first);
  expect(contents.get('b')).toBeUndefined();
  for (const reader of ['a', 'b', 'c']) contents.delete(reader);
  expect(contents.size).toBe(0);
});

test('the Jobs of a placement that tracks them carry that, unless they say otherwise themselves', () => {
  const job = (said?: string): KubeObject =>
    deepFreeze({
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: {
        name: 'one',
        namespace: 'shop',
        ...(said === undefined ? {} : { annotations: { [annotations.trackAvailability]: said } }),
      },
    });
  const marks = { tracksJobs: true };
  const saidIn = (each: KubeObject, asked = marks) =>
    contentOf([each], asked).objects[0]?.metadata.annotations?.[annotations.trackAvailability];
  expect(saidIn(job())).toBe('true');
  expect(saidIn(job('false'))).toBe('false');
  expect(saidIn(job(), { tracksJobs: false })).toBeUndefined();
  expect(saidIn({ ...job(), apiVersion: 'v1', kind: 'ConfigMap' })).toBeUndefined();
  const same = job();
  expect(contentOf([same], marks).hash).not.toBe(contentOf([same]).hash);
});

test('a placement that begins to track Jobs is looked at anew', () => {
  const { view } = world();
  const looking = lookingWith();
  const asked: HubPlacement = {
    ...placement(),
    metadata: { name: 'web', annotations: { [annotations.trackAvailability]: 'true' } },
  };
  const first = resolveSelection(view, 'web', placement(), looking);
  const second = resolveSelection(view, 'web', asked, looking);
  expect(second).not.toBe(first);
  expect(resolveSelection(view, 'web', asked, looking)).toBe(second);
});

describe('while an API server behind the hub does not answer, and nobody knows which kinds it has', () => {
  const GADGETS = 'gadgets.example.com/v1';
  const gadget = (namespace: string, apiVersion = GADGETS): KubeObject => ({
    apiVersion,
    kind: 'Gadget',
    metadata: { name: 'g', namespace },
  });
  const snapshotOf = (index: number, part: number, objects: readonly KubeObject[]) => ({
    metadata: {
      name: `web-${index}-${part}`,
      labels: { [labels.parentPlacement]: 'web', [labels.resourceIndex]: String(index) },
      annotations: part === 0 ? { [annotations.resourceHash]: 'h' } : {},
    },
    objects,
  });

  /**
   * Resolves until nothing is missing. `revisions`: the contents of the snapshots, oldest first; a list has the parts
   * of one.
   */
  function look(
    revisions: readonly (readonly (readonly KubeObject[])[])[],
    { unknown = [GADGETS], settings = {} }: { unknown?: readonly string[]; settings?: PropagationSettings } = {},
  ) {
    const { view } = world();
    const snapshots = revisions.flatMap((parts, index) =>
      parts.map((objects, part) => snapshotOf(index, part, objects)),
    );
    const fetched = new Set<string>();
    const seeing: View = {
      ...view,
      by: <T extends Projected>(source: Source<T>, index: string, value: string) =>
        ((source as unknown) === clusterFamily.resourceSnapshots && index === 'placement' && value === 'web'
          ? snapshots.map(({ metadata }) => ({ metadata }))
          : []) as unknown as T[],
      getFull(ref) {
        if (ref.kind !== clusterFamily.resourceSnapshot.kind) return view.getFull(ref);
        if (!fetched.has(ref.name)) return undefined;
        const found = snapshots.find(({ metadata }) => metadata.name === ref.name);
        const spec = { selectedResources: found?.objects ?? [] };
        return { apiVersion: '', kind: ref.kind, metadata: { name: ref.name }, spec };
      },
    };
    const base = lookingWith();
    const looking = { ...base, propagation: createPropagation(settings), catalogue: { ...base.catalogue, unknown } };
    const again = () => resolveSelection(seeing, 'web', placement(), looking);
    for (let round = 0; round < 5; round++) {
      const found = again();
      if (!isMissing(found)) return { found, again, fetched, snapshots };
      for (const { name } of found.need) fetched.add(name);
    }
    throw new Error('it asks for ever');
  }
  const pending = { state: 'pending', kind: GADGETS, message: 'its API server does not answer' };
  const selected = { state: 'selected', content: { resources: { length: COUNT + 1 } } };

  test.each<[string, Parameters<typeof look>, object]>([
    ['what was placed with it is not taken for gone', [[[[gadget('shop')]]]], pending],
    ['also if it was placed in another version', [[[[gadget('shop', 'gadgets.example.com/v1beta1')]]]], pending],
    ['also if it is in a further part of the revision', [[[[], [gadget('shop')]]]], pending],
    ['what is placed for the first time goes on', [[]], selected],
    ['what was placed without any of it goes on', [[[[]]]], selected],
    ['what had it in an older revision only goes on', [[[[gadget('shop')]], [[]]]], selected],
    ['what had it in a namespace that is not selected any more goes on', [[[[gadget('elsewhere')]]]], selected],
    [
      'what must not be placed any more goes',
      [[[[gadget('shop')]]], { settings: { skippedApis: 'gadgets.example.com' } }],
      selected,
    ],
    [
      'what was placed of other groups does not matter',
      [[[[gadget('shop')]]], { unknown: ['metrics.k8s.io/v1beta1'] }],
      selected,
    ],
  ])('%s', (_name, input, outcome) => {
    expect(look(...input).found).toMatchObject(outcome);
  });

  test('the revisions are not looked into while all kinds are known', () => {
    expect(look([[[gadget('shop')]]], { unknown: [] }).fetched.size).toBe(0);
  });

  test('what was found without it counts no more once somebody has placed it', () => {
    const { found, again, snapshots, fetched } = look([[[]]]);
    expect(again()).toBe(found);
    snapshots.push(snapshotOf(1, 0, [gadget('shop')]));
    for (const { metadata } of snapshots) fetched.add(metadata.name);
    expect(again()).toMatchObject(pending);
  });
});
