// A pass over a placement of which nothing changed costs next to nothing, however much it selects.
import { expect, test } from 'vitest';
import type { Resource } from '../../api/kind.ts';
import { annotations } from '../../api/names.ts';
import type { KubeObject, Labels } from '../../api/object.ts';
import { namespaceResource } from '../../api/resources.ts';
import { deepFreeze } from '../../base/json.ts';
import type { Part, Projected, See, Source } from '../../runtime/controller.ts';
import type { HubPlacement } from '../placement-sources.ts';
import { contentOf } from './content.ts';
import { createContents, lookAt } from './looking.ts';
import { type Candidate, createPropagation } from './propagation.ts';
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
  const see: See = {
    now: 0,
    get: () => undefined,
    all: () => [],
    by: () => [],
    amiss: () => undefined,
    among: <T extends Projected>(source: Source<T>, part: Part = {}) =>
      (source.resource.kind === 'Namespace' ? [shop] : part.namespace === 'shop' ? [...items] : []) as unknown as T[],
    whole(ref) {
      asked++;
      if (ref.kind === 'Namespace') return { apiVersion: 'v1', kind: 'Namespace', metadata: shop.metadata };
      return wholes[Number(ref.name.slice(1))];
    },
  };
  return {
    see,
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

const lookingWith = (contents = createContents()) => ({
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
  const { see, asked, change } = world();
  const looking = lookingWith();
  const look = (of = placement()) => lookAt(see, 'web', of, looking);
  const first = look();
  expect(first).toMatchObject({ state: 'selected', content: { resources: { length: COUNT + 1 } } });
  expect(look()).toBe(first);
  // Another reading of the same spec, as after a write of the status.
  expect(look(placement())).toBe(first);
  // Whoever does not look at the objects is not woken when only their content changes.
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
  const { see, change } = world();
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
  const look = () => lookAt(see, 'web', placement(), counting) as { content: { objects: readonly KubeObject[] } };
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
  const { see } = world();
  const measured = lookingWith();
  const { content } = lookAt(see, 'any', placement(), measured) as { content: { bytes: number } };
  const contents = createContents(2 * content.bytes);
  const looking = lookingWith(contents);
  const first = lookAt(see, 'a', placement(), looking);
  lookAt(see, 'b', placement(), looking);
  expect(lookAt(see, 'a', placement(), looking)).toBe(first);
  lookAt(see, 'c', placement(), looking);
  expect(contents.size).toBe(2);
  expect(lookAt(see, 'a', placement(), looking)).toBe(first);
  expect(contents.last('b')).toBeUndefined();
  for (const reader of ['a', 'b', 'c']) contents.forget(reader);
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
  const { see } = world();
  const looking = lookingWith();
  const asked: HubPlacement = {
    ...placement(),
    metadata: { name: 'web', annotations: { [annotations.trackAvailability]: 'true' } },
  };
  const first = lookAt(see, 'web', placement(), looking);
  const second = lookAt(see, 'web', asked, looking);
  expect(second).not.toBe(first);
  expect(lookAt(see, 'web', asked, looking)).toBe(second);
});
