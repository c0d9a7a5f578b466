import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Resource } from '../api/kind.ts';
import type { KubeObject } from '../api/object.ts';
import { type Cache, createCache } from './cache.ts';
import type { Source } from './controller.ts';
import { byRevision } from './revision.ts';

const resource: Resource = { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: false };
const source: Source<KubeObject> = { on: 'hub', resource };
const selecting: Source<KubeObject> = { on: 'hub', resource, labels: 'in=yes' };

interface Like {
  readonly uid?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly text?: string;
}

const object = (name: string, revision: number, { uid = `${name}-uid`, labels, text = '' }: Like = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, uid, resourceVersion: String(revision), ...(labels ? { labels } : {}) },
  data: { text },
});

const filled = (
  revision: number,
  objects: readonly KubeObject[],
  of: Source<KubeObject> = source,
): Cache<KubeObject> => {
  const cache = createCache(of);
  const listing = cache.list();
  listing.page(objects, String(revision));
  listing.end();
  return cache;
};

const shown = (cache: Cache<KubeObject>): readonly string[] =>
  cache.all().map(({ metadata }) => `${metadata.name} ${metadata.uid} ${metadata.resourceVersion}`);

type Step =
  | readonly ['watch', 'ADDED' | 'MODIFIED' | 'DELETED', KubeObject]
  | readonly ['answer' | 'end', KubeObject]
  | readonly ['gone', string, string]
  | readonly ['bookmark', number]
  | readonly ['list', number, readonly KubeObject[]];

function take(cache: Cache<KubeObject>, step: Step): void {
  if (step[0] === 'watch') cache.watched(step[1], step[2]);
  else if (step[0] === 'answer') cache.answered(step[1]);
  else if (step[0] === 'end') cache.ended(step[1]);
  else if (step[0] === 'gone') cache.gone(step[1], step[2]);
  else if (step[0] === 'bookmark') cache.bookmark(String(step[1]));
  else if (step[0] === 'list') {
    const [, revision, objects] = step;
    const listing = cache.list();
    listing.page(objects, String(revision));
    listing.end();
  }
}

const A10 = ['a a-uid 10'];
const cases: readonly {
  readonly it: string;
  readonly steps: readonly Step[];
  readonly shows: readonly string[];
  readonly tombstones?: number;
}[] = [
  { it: 'keeps what was listed', steps: [], shows: A10 },
  { it: 'takes in a newer event', steps: [['watch', 'MODIFIED', object('a', 21)]], shows: ['a a-uid 21'] },
  { it: 'takes in the answer to its own write', steps: [['answer', object('a', 21)]], shows: ['a a-uid 21'] },
  {
    it: 'ignores events older than the answer to its own write',
    steps: [
      ['answer', object('a', 30)],
      ['watch', 'MODIFIED', object('a', 25)],
      ['watch', 'MODIFIED', object('a', 30)],
    ],
    shows: ['a a-uid 30'],
  },
  {
    it: 'ignores an answer that another answer has overtaken',
    steps: [
      ['answer', object('a', 30)],
      ['answer', object('a', 25)],
    ],
    shows: ['a a-uid 30'],
  },
  { it: 'lets go of what is deleted', steps: [['watch', 'DELETED', object('a', 21)]], shows: [] },
  {
    it: 'lets go at a deletion even if the server does not number it',
    steps: [['watch', 'DELETED', object('a', 10)]],
    shows: [],
  },
  {
    it: 'leaves a tombstone for what it deleted itself',
    steps: [['gone', 'a', 'a-uid']],
    shows: [],
    tombstones: 1,
  },
  {
    it: 'does not bring the dead back by an event that was under way',
    steps: [
      ['gone', 'a', 'a-uid'],
      ['watch', 'MODIFIED', object('a', 25)],
    ],
    shows: [],
    tombstones: 1,
  },
  {
    it: 'does not bring the dead back by an answer that was under way',
    steps: [
      ['gone', 'a', 'a-uid'],
      ['answer', object('a', 25)],
    ],
    shows: [],
    tombstones: 1,
  },
  {
    it: 'clears the tombstone when the watch confirms',
    steps: [
      ['gone', 'a', 'a-uid'],
      ['watch', 'DELETED', object('a', 26)],
    ],
    shows: [],
  },
  {
    it: 'welcomes a successor with another uid',
    steps: [
      ['gone', 'a', 'a-uid'],
      ['watch', 'ADDED', object('a', 27, { uid: 'next' })],
    ],
    shows: ['a next 27'],
  },
  {
    it: 'does not take the deletion of a predecessor for that of the successor it created',
    steps: [
      ['gone', 'a', 'a-uid'],
      ['answer', object('a', 27, { uid: 'next' })],
      ['watch', 'DELETED', object('a', 26)],
    ],
    shows: ['a next 27'],
  },
  {
    it: 'does not take "gone" for the successor, either',
    steps: [
      ['watch', 'ADDED', object('a', 27, { uid: 'next' })],
      ['gone', 'a', 'a-uid'],
    ],
    shows: ['a next 27'],
  },
  {
    it: 'does not bring back by a late answer what the watch has already shown to be deleted',
    steps: [
      ['watch', 'MODIFIED', object('a', 21)],
      ['watch', 'DELETED', object('a', 22)],
      ['answer', object('a', 21)],
    ],
    shows: [],
  },
  {
    it: 'does not bring it back by a late answer behind a bookmark, either',
    steps: [
      ['watch', 'DELETED', object('a', 22)],
      ['bookmark', 40],
      ['answer', object('b', 39)],
    ],
    shows: [],
  },
  {
    it: 'has a last change that frees an object count as its end',
    steps: [
      ['end', object('a', 21)],
      ['watch', 'MODIFIED', object('a', 21)],
    ],
    shows: [],
    tombstones: 1,
  },
  {
    it: 'and lets the watch have the last word about that',
    steps: [
      ['end', object('a', 21)],
      ['watch', 'MODIFIED', object('a', 22)],
    ],
    shows: ['a a-uid 22'],
  },
  { it: 'drops what a newer list lacks', steps: [['list', 30, []]], shows: [] },
  {
    it: 'keeps its own newer write that a list cannot have',
    steps: [
      ['answer', object('b', 35)],
      ['list', 36, []],
      ['answer', object('c', 40)],
    ],
    shows: ['c c-uid 40'],
  },
  {
    it: 'ignores the dead in a list that was taken before the deletion, and waits for the watch',
    steps: [
      ['gone', 'a', 'a-uid'],
      ['list', 24, [object('a', 10)]],
    ],
    shows: [],
    tombstones: 1,
  },
  {
    it: 'clears tombstones that a list confirms',
    steps: [
      ['gone', 'a', 'a-uid'],
      ['list', 24, []],
    ],
    shows: [],
  },
  {
    it: 'believes a list of a server that went back, whatever it knew',
    steps: [
      ['answer', object('a', 30)],
      ['answer', object('b', 31)],
      ['gone', 'b', 'b-uid'],
      ['list', 12, [object('a', 11)]],
    ],
    shows: ['a a-uid 11'],
  },
  {
    it: 'and follows that server from there',
    steps: [
      ['list', 12, [object('a', 11)]],
      ['watch', 'MODIFIED', object('a', 13)],
    ],
    shows: ['a a-uid 13'],
  },
  { it: 'knows that 100 is newer than 21', steps: [['watch', 'MODIFIED', object('a', 100)]], shows: ['a a-uid 100'] },
];

describe('a cache', () => {
  test.each(cases)('$it', ({ steps, shows, tombstones = 0 }) => {
    const cache = filled(20, [object('a', 10)]);
    for (const step of steps) take(cache, step);
    expect({ shows: shown(cache), tombstones: cache.tombstones }).toEqual({ shows, tombstones });
  });

  test('keeps a write that is newer than the list which is under way', () => {
    const cache = filled(20, []);
    const listing = cache.list();
    listing.page([], '30');
    cache.answered(object('a', 31));
    expect(listing.end()).toEqual([]);
    expect(shown(cache)).toEqual(['a a-uid 31']);
  });

  describe('of a selection', () => {
    const inside = { labels: { in: 'yes' } };
    test.each<{ it: string; steps: readonly Step[]; shows: readonly string[]; tombstones?: number }>([
      { it: 'forgets what its own write moved out', steps: [['answer', object('a', 25)]], shows: [], tombstones: 1 },
      {
        it: 'does not take it back by older events',
        steps: [
          ['answer', object('a', 25)],
          ['watch', 'MODIFIED', object('a', 24, inside)],
        ],
        shows: [],
        tombstones: 1,
      },
      {
        it: 'takes it back when it returns',
        steps: [
          ['answer', object('a', 25)],
          ['watch', 'ADDED', object('a', 26, inside)],
        ],
        shows: ['a a-uid 26'],
      },
      {
        it: 'keeps what its own write brought back before the watch told that it had left',
        steps: [
          ['answer', object('a', 26, inside)],
          ['watch', 'DELETED', object('a', 25)],
        ],
        shows: ['a a-uid 26'],
      },
      {
        it: 'is confirmed by the watch',
        steps: [
          ['answer', object('a', 25)],
          ['watch', 'DELETED', object('a', 25)],
        ],
        shows: [],
      },
      { it: 'has no tombstone for what was never in it', steps: [['answer', object('z', 25)]], shows: A10 },
    ])('$it', ({ steps, shows, tombstones = 0 }) => {
      const cache = filled(20, [object('a', 10, inside)], selecting);
      for (const step of steps) take(cache, step);
      expect({ shows: shown(cache), tombstones: cache.tombstones }).toEqual({ shows, tombstones });
    });
  });

  test('tells a change that concerns nobody from one that does', () => {
    const cache = filled(20, [object('a', 10, { text: 'x' })]);
    expect(cache.watched('MODIFIED', object('a', 21, { text: 'x' }))?.isSame).toBe(true);
    expect(cache.watched('MODIFIED', object('a', 22, { text: 'y' }))?.isSame).toBe(false);
    expect(cache.watched('MODIFIED', object('a', 23, { text: 'y', labels: { l: '1' } }))?.isSame).toBe(false);
    expect(cache.watched('DELETED', object('a', 24))?.isSame).toBe(false);
  });

  test('shows a projection what it made before, but not if that was of a server that went back', () => {
    const shownTo: (string | undefined)[] = [];
    const cache = filled(5, [object('a', 5)], {
      on: 'hub',
      resource,
      project(each, old) {
        shownTo.push(old?.metadata.resourceVersion);
        return each;
      },
    });
    take(cache, ['watch', 'MODIFIED', object('a', 7)]);
    take(cache, ['answer', object('a', 8)]);
    take(cache, ['list', 3, [object('a', 3)]]);
    expect(shownTo).toEqual([undefined, '5', '7', undefined]);
    expect(shown(cache)).toEqual(['a a-uid 3']);
  });

  test('refuses a projection that forgets which state it is of', () => {
    const cache = createCache({
      ...source,
      project: ({ metadata }) => ({ metadata: { name: metadata.name ?? '' } }) as KubeObject,
    });
    expect(() => cache.answered(object('a', 1))).toThrow('lost metadata.uid or resourceVersion');
  });

  test('keeps indexes and orders by key', () => {
    const cache = createCache<KubeObject>({
      ...source,
      resource: { ...resource, namespaced: true },
      indexes: { label: ({ metadata }) => Object.values(metadata.labels ?? {}) },
    });
    const at = (namespace: string, name: string, revision: number, label: string) => ({
      ...object(name, revision, { labels: { l: label } }),
      metadata: { ...object(name, revision, { labels: { l: label } }).metadata, namespace },
    });
    cache.answered(at('b', 'x', 3, 'one'));
    cache.answered(at('a', 'z', 2, 'one'));
    cache.answered(at('a', 'y', 1, 'two'));
    const names = (items: readonly KubeObject[]) =>
      items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
    expect(names(cache.all())).toEqual(['a/y', 'a/z', 'b/x']);
    expect(names(cache.all('a'))).toEqual(['a/y', 'a/z']);
    expect(names(cache.by('label', 'one'))).toEqual(['a/z', 'b/x']);
    cache.answered(at('a', 'z', 4, 'two'));
    expect(names(cache.by('label', 'one'))).toEqual(['b/x']);
    expect(names(cache.by('label', 'two'))).toEqual(['a/y', 'a/z']);
    expect(cache.by('label', 'two').map(({ metadata }) => metadata.resourceVersion)).toEqual(['1', '4']);
    cache.watched('DELETED', at('a', 'z', 5, 'two'));
    expect(names(cache.by('label', 'two'))).toEqual(['a/y']);
    expect(() => cache.by('nothing', 'x')).toThrow('not indexed');
  });
});

// ---- a server whose events, lists and responses arrive late and out of order

interface Written {
  readonly revision: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: KubeObject;
}

class Model {
  readonly history: Written[] = [];
  readonly now = new Map<string, KubeObject>();
  #uids = 0;

  write(name: string, what: 'put' | 'delete', labels: Readonly<Record<string, string>>): Written | undefined {
    const old = this.now.get(name);
    const revision = this.history.length + 1;
    if (what === 'delete') {
      if (old === undefined) return undefined;
      this.now.delete(name);
      return this.#log({
        revision,
        type: 'DELETED',
        object: { ...old, metadata: { ...old.metadata, resourceVersion: String(revision) } },
      });
    }
    const uid = old?.metadata.uid ?? `uid-${++this.#uids}`;
    const next = object(name, revision, { uid, labels, text: String(revision) });
    this.now.set(name, next);
    return this.#log({ revision, type: old === undefined ? 'ADDED' : 'MODIFIED', object: next });
  }

  #log(written: Written): Written {
    this.history.push(written);
    return written;
  }
}

/** The watch event that a selection gets for one write. */
function eventFor(history: readonly Written[], at: number, isIn: (object: KubeObject) => boolean) {
  const { type, object: current } = history[at] as Written;
  const name = current.metadata.name;
  const before = history.slice(0, at).findLast((each) => each.object.metadata.name === name);
  const was = before !== undefined && before.type !== 'DELETED' && isIn(before.object);
  const is = type !== 'DELETED' && isIn(current);
  if (is) return { type: was ? ('MODIFIED' as const) : ('ADDED' as const), object: current };
  return was ? { type: 'DELETED' as const, object: current } : undefined;
}

describe.each([
  { of: 'all objects', cacheOf: source, isIn: () => true },
  { of: 'a selection', cacheOf: selecting, isIn: (each: KubeObject) => each.metadata.labels?.['in'] === 'yes' },
])('whatever arrives in whatever order, a cache of $of', ({ cacheOf, isIn }) => {
  const step = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant('write' as const),
        name: fc.constantFrom('a', 'b'),
        what: fc.constantFrom('put' as const, 'put' as const, 'delete' as const),
        label: fc.constantFrom('yes', 'no'),
        answered: fc.boolean(),
      }),
    },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('event' as const) }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('answer' as const), which: fc.nat(5) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('list' as const), during: fc.nat(2) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('bookmark' as const) }) },
  );

  test('never goes back, never revives the dead, and ends with what is there', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const model = new Model();
        const cache = filled(0, [], cacheOf);
        let told = 0;
        let answers: Written[] = [];
        const dead = new Set<string>();
        const newest = new Map<string, string>();
        const had = new Set<string>();
        const check = () => {
          for (const { metadata } of cache.all()) {
            const { name = '', uid = '', resourceVersion = '' } = metadata;
            had.add(uid);
            expect(dead.has(uid)).toBe(false);
            expect(byRevision(resourceVersion, newest.get(name) ?? '')).toBeGreaterThanOrEqual(0);
            newest.set(name, resourceVersion);
          }
        };
        const tellNext = () => {
          if (told === model.history.length) return;
          const event = eventFor(model.history, told++, isIn);
          if (event === undefined) return;
          cache.watched(event.type, event.object);
          if ((model.history[told - 1] as Written).type === 'DELETED') dead.add(event.object.metadata.uid ?? '');
        };
        const giveAnswer = (which: number) => {
          const answer = answers[which % Math.max(1, answers.length)];
          if (answer === undefined) return;
          answers = answers.filter((each) => each !== answer);
          const { uid = '', name = '' } = answer.object.metadata;
          if (answer.type === 'DELETED') {
            cache.gone(name, uid);
            // A client deletes only objects that it has cached: the request carries the uid.
            if (cache.get(name)?.metadata.uid !== uid && cacheOf === source && had.has(uid)) dead.add(uid);
          } else {
            cache.answered(answer.object);
            // Read your writes: the cache has this state now, unless the watch or a later response has already brought
            // a newer one.
            const known = cache.get(name);
            if (known !== undefined)
              expect(
                byRevision(known.metadata.resourceVersion ?? '', answer.object.metadata.resourceVersion ?? ''),
              ).toBeGreaterThanOrEqual(0);
            else if (isIn(answer.object)) {
              const isOver = model.history.some(
                (each) =>
                  each.revision > answer.revision &&
                  each.object.metadata.name === name &&
                  (each.type === 'DELETED' || !isIn(each.object)),
              );
              expect(isOver).toBe(true);
            }
          }
        };
        for (const each of steps) {
          if (each.do === 'write') {
            const written = model.write(each.name, each.what, { in: each.label });
            if (written !== undefined && each.answered) answers.push(written);
          } else if (each.do === 'event') tellNext();
          else if (each.do === 'answer') giveAnswer(each.which);
          else if (each.do === 'bookmark') {
            if (told === model.history.length) cache.bookmark(String(told));
          } else {
            // A list is taken now, but arrives after a few responses; the watch continues from it.
            const revision = model.history.length;
            const items = [...model.now.values()].filter(isIn);
            const listing = cache.list();
            for (let i = 0; i < each.during; i++) giveAnswer(i);
            listing.page(items, String(revision));
            for (let i = 0; i < each.during; i++) giveAnswer(i);
            listing.end();
            told = Math.max(told, revision);
          }
          check();
        }
        while (answers.length > 0) giveAnswer(0);
        while (told < model.history.length) tellNext();
        check();
        const there = [...model.now.values()]
          .filter(isIn)
          .map(({ metadata }) => `${metadata.name} ${metadata.uid} ${metadata.resourceVersion}`)
          .sort();
        expect(shown(cache)).toEqual(there);
        expect(cache.tombstones).toBe(0);
      }),
    );
  });
});

test('since when an item has its stamp is counted by our own clock', () => {
  let now = 1000;
  const stamp = (item: KubeObject) => (item['data'] as { readonly text: string }).text;
  const cache = createCache({ ...source, stamp }, { now: () => now });
  let revision = 1;
  const seen = (at: number, more: Like) => {
    now = at;
    cache.watched('MODIFIED', object('a', ++revision, more));
    return cache.since('a');
  };
  expect(cache.since('a')).toBeUndefined();
  expect(seen(1000, { text: '12:00' })).toBe(1000);
  expect(seen(2000, { text: '12:00', labels: { other: 'change' } })).toBe(1000);
  expect(seen(3000, { text: '12:01' })).toBe(3000);
  // An earlier stamp counts too: the clock of its writer was set back.
  expect(seen(4000, { text: '11:00' })).toBe(4000);
  // A new object with the same name.
  expect(seen(5000, { text: '11:00', uid: 'other' })).toBe(5000);
  // The clock of this process was set back.
  now = 100;
  expect(cache.since('a')).toBe(100);
  now = 6000;
  expect(cache.since('a')).toBe(100);
  cache.watched('DELETED', object('a', ++revision, { uid: 'other' }));
  expect(cache.since('a')).toBeUndefined();
});
