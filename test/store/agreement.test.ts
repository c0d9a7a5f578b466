// Whatever is written, the memory store, the log store and the log store after a restart give the same answers.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FakeDisk } from '../../src/apiserver/store/fake-disk.ts';
import { openLog } from '../../src/apiserver/store/log.ts';
import { createMemoryStore } from '../../src/apiserver/store/memory.ts';
import type { Store } from '../../src/apiserver/store/store.ts';
import { seededRandom } from '../../src/base/random.ts';
import { runs } from '../properties.ts';
import { configMap } from './conformance.ts';

const anyKey = fc
  .tuple(fc.constantFrom('/configmaps', '/secrets', 'apps/deployments'), fc.constantFrom('', 'a', 'b'), fc.nat(4))
  .map(([resource, namespace, name]) => `${resource}/${namespace}/n${name}`);
const anyWrites = fc.array(fc.record({ key: anyKey, deletes: fc.boolean(), data: fc.string() }), { maxLength: 80 });
const anyQuery = fc.record({
  prefix: fc.constantFrom('', '/configmaps/', '/secrets/a/', 'apps/deployments/b/', 'apps/deployments/'),
  after: fc.option(anyKey, { nil: undefined }),
  limit: fc.option(fc.nat(6), { nil: undefined }),
  back: fc.nat(90),
});

const answersOf = (
  store: Store,
  { prefix, after, limit, back }: typeof anyQuery extends fc.Arbitrary<infer Q> ? Q : never,
) => {
  const page = { ...(after === undefined ? {} : { after }), ...(limit === undefined ? {} : { limit }) };
  const { items, ...rest } = store.range(prefix, page);
  const changes = store.since(Math.max(0, store.visible - back), prefix);
  return {
    visible: store.visible,
    ...rest,
    items: items.map((stored) => [
      stored.key,
      stored.revision,
      Buffer.from(stored.bytes()).toString(),
      stored.object(),
    ]),
    changes:
      changes === 'compacted'
        ? changes
        : changes.map(({ key, revision, stored, deleted, previous }) => [
            key,
            revision,
            deleted,
            Buffer.from(stored.bytes()).toString(),
            previous?.object(),
          ]),
  };
};

test('all stores agree', async () => {
  await fc.assert(
    fc.asyncProperty(anyWrites, fc.array(anyQuery, { minLength: 1, maxLength: 5 }), async (writes, queries) => {
      const options = { windowChanges: 30 };
      const disk = new FakeDisk();
      const log = await openLog({ disk, defer: queueMicrotask, ...options });
      const stores = [createMemoryStore(options), log.store('a')];
      for (const { key, deletes, data } of writes) {
        const outcomes = stores.map((store) => {
          const expected = store.get(key, 'head')?.revision ?? 'absent';
          if (deletes && expected === 'absent') return 'nothing to do';
          const value = deletes ? undefined : configMap('x', { data });
          const { revision, stored } = store.commit({ key, expect: expected, value });
          return { revision, json: Buffer.from(stored.bytes()).toString() };
        });
        expect(outcomes[1]).toEqual(outcomes[0]);
      }
      await log.close();
      const again = await openLog({ disk: disk.crash(seededRandom(1)), ...options });
      for (const query of queries) {
        const expected = answersOf(stores[0]!, query);
        expect(answersOf(stores[1]!, query)).toEqual(expected);
        expect(answersOf(again.store('a'), query)).toEqual(expected);
      }
    }),
    { numRuns: runs(150) },
  );
});
