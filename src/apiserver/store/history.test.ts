import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { configMap } from '../../../test/store/conformance.ts';
import { History, prefixesOf } from './history.ts';
import type { Change } from './store.ts';

const change = (revision: number, key: string): Change => ({
  revision,
  key,
  deleted: false,
  previous: undefined,
  stored: { key, revision, object: () => configMap('x'), bytes: () => new Uint8Array() },
});

describe('the window of recent changes', () => {
  test('tells every change after a revision or says that it cannot, under each prefix', () => {
    const keys = ['/configmaps/a/x', '/configmaps/a/y', '/configmaps/b/x', '/secrets/a/x'];
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...keys), { maxLength: 60 }),
        fc.integer({ min: 1, max: 8 }),
        (written, windowChanges) => {
          const history = new History(0, { windowChanges });
          const all = written.map((key, at) => change(at + 1, key));
          for (const each of all) history.push(each, prefixesOf(each.key), 1);
          const kept = Math.max(0, all.length - windowChanges);
          for (const prefix of ['', '/configmaps/', '/configmaps/a/', '/configmaps/b/', '/secrets/a/']) {
            for (let revision = 0; revision <= all.length; revision++) {
              const later = all.filter((each) => each.revision > revision && each.key.startsWith(prefix));
              const isKnown = later.every((each) => each.revision > kept);
              expect(history.since(revision, prefix)).toEqual(isKnown ? later : 'compacted');
            }
          }
        },
      ),
    );
  });

  test('knows of thousands of quiet namespaces since when they are, and of more than that says too little rather than too much', () => {
    const history = new History(0, { windowChanges: 1 });
    for (let at = 1; at <= 30_000; at++) {
      const key = `/configmaps/n${at}/x`;
      history.push(change(at, key), prefixesOf(key), 1);
    }
    expect(history.since(29_000, '/configmaps/n29000/')).toEqual([]);
    expect(history.since(28_999, '/configmaps/n29000/')).toBe('compacted');
    expect(history.since(5, '/configmaps/n6/')).toBe('compacted');
    expect(history.since(5, '/configmaps/n5/')).toBe('compacted');
    expect(history.since(29_999, '/configmaps/n30000/')).toHaveLength(1);
  });
});
