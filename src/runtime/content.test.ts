import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../api/object.ts';
import { createObjectCache, roughBytes } from './content.ts';
import type { Place } from './place.ts';

const place = (name: string): Place => ({
  on: 'hub',
  resource: { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: false },
  name,
});
const object = (name: string, size = 0): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, uid: name, resourceVersion: '1' },
  data: { text: 'x'.repeat(size) },
});

const at =
  (revision: string) =>
  ({ metadata }: KubeObject): boolean =>
    metadata.resourceVersion === revision;

describe('contents', () => {
  test('are fetched once, however many ask at a time', async () => {
    let gets = 0;
    const contents = createObjectCache(1000, async ({ name }) => {
      gets++;
      await undefined;
      return object(name);
    });
    const all = await Promise.all([contents.fetch(place('a')), contents.fetch(place('a')), contents.fetch(place('b'))]);
    expect({ gets, names: all.map((each) => each?.metadata.name), inFlight: contents.inFlight }).toEqual({
      gets: 2,
      names: ['a', 'a', 'b'],
      inFlight: 0,
    });
    expect(contents.get(place('a'), 'a', at('1'))).toBe(all[0]);
    expect(contents.get(place('a'), 'a', at('2'))).toBeUndefined();
    expect(contents.get(place('a'), 'other', at('1'))).toBeUndefined();
  });

  test('are those that came last of each object, and given only to who asks for just these', () => {
    const contents = createObjectCache(10_000, async () => null);
    const made = (resourceVersion: string): KubeObject => ({
      ...object('a'),
      metadata: { name: 'a', uid: 'a', resourceVersion },
    });
    for (const revision of ['1', '2', '3']) contents.put(place('a'), made(revision));
    expect(['1', '2', '3'].map((revision) => contents.get(place('a'), 'a', at(revision)) !== undefined)).toEqual([
      false,
      false,
      true,
    ]);
    expect(contents.entries).toBe(1);
  });

  test('stay below their bound, the least recently used go first', async () => {
    const one = roughBytes(object('a', 1000));
    const contents = createObjectCache(one * 3, async ({ name }) => object(name, 1000));
    for (const name of ['a', 'b', 'c']) await contents.fetch(place(name));
    contents.get(place('a'), 'a', at('1'));
    await contents.fetch(place('d'));
    expect(['a', 'b', 'c', 'd'].map((name) => contents.get(place(name), name, at('1')) !== undefined)).toEqual([
      true,
      false,
      true,
      true,
    ]);
    for (let i = 0; i < 100; i++) await contents.fetch(place(`n${i}`));
    expect(contents.entries).toBeLessThanOrEqual(3);
    expect(contents.bytes).toBeLessThanOrEqual(one * 3);
  });

  test('do not push everything out for one that is too large anyway', async () => {
    const contents = createObjectCache(2000, async ({ name }) => object(name, name === 'big' ? 5000 : 10));
    await contents.fetch(place('a'));
    expect((await contents.fetch(place('big')))?.metadata.name).toBe('big');
    expect(contents.entries).toBe(1);
  });

  test('forget a failed get', async () => {
    let isUp = false;
    const contents = createObjectCache(2000, async ({ name }) => {
      if (!isUp) throw new Error('down');
      return object(name);
    });
    await expect(contents.fetch(place('a'))).rejects.toThrow('down');
    isUp = true;
    expect((await contents.fetch(place('a')))?.metadata.name).toBe('a');
  });

  test('are measured without regard to hostile keys', () => {
    expect(roughBytes(JSON.parse('{"__proto__":{"a":"x"},"b":[1,null,true]}'))).toBeGreaterThan(50);
  });
});
