import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { kindSchema } from '../../api/builtin/types.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Schema } from '../../api/schema.ts';
import { canonicalJson, deepFreeze } from '../../base/json.ts';
import { conflictStatus } from './conflict-status.ts';
import { difference, intersection, isEqualSet, pathsOf, pathText, setOf, union } from './field-set.ts';
import { objectType } from './field-type.ts';
import { decodeFields, encodeFields } from './fields-v1.ts';
import { capped, decodeOwners, encodeOwners, identityOf, type Owner, type Owners } from './managers.ts';
import { type Applied, apply, ownersAfterUpdate, type Versions } from './ownership.ts';
import { compare, fieldsOf, withNamedFields } from './typed-fields.ts';
import { faultsOf, merge } from './typed-merge.ts';

const SCHEMA: Schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        number: { type: 'integer' },
        set: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
        atomic: { type: 'array', items: { type: 'string' } },
        map: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
          items: {
            type: 'object',
            properties: { name: { type: 'string' }, size: { type: 'integer' }, note: { type: 'string' } },
          },
        },
        whole: { type: 'object', 'x-kubernetes-map-type': 'atomic', additionalProperties: { type: 'string' } },
        free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      },
    },
  },
};
const VERSIONS: Versions = { type: objectType(SCHEMA), view: () => undefined, restrict: (fields) => fields };
const API = 'x.example.com/v1';
const object = (spec?: unknown, labels?: Record<string, string>): KubeObject => ({
  apiVersion: API,
  kind: 'X',
  metadata: { name: 'x', ...(labels ? { labels } : {}) },
  ...(spec === undefined ? {} : { spec }),
});
const by = (manager: string) => ({ manager, operation: 'Apply' as const, apiVersion: API, subresource: '' });

interface World {
  readonly object: KubeObject;
  readonly owners: Owners;
}
const NOTHING: World = { object: object(), owners: new Map() };

function applied({ object: live, owners }: World, manager: string, config: KubeObject, force = true): World {
  const outcome: Applied = apply({ versions: VERSIONS, owners, live, config, by: by(manager), force, time: 'now' });
  if ('conflicts' in outcome) throw conflictStatus(outcome.conflicts);
  return outcome;
}

function updated({ object: old, owners }: World, manager: string, next: KubeObject): World {
  const change = { versions: VERSIONS, owners, old, next, apiVersion: API };
  const owner = { ...by(manager), operation: 'Update' as const };
  return { object: next, owners: ownersAfterUpdate(change, owner, 'now') };
}

const shown = ({ object, owners }: World) => canonicalJson({ object, owners: encodeOwners(owners) });

const word = fc.constantFrom('a', 'b', 'c');
const texts = fc.dictionary(word, word, { maxKeys: 3 });
const anySpec = fc.record(
  {
    number: fc.nat(2),
    set: fc.uniqueArray(word, { minLength: 1 }),
    atomic: fc.array(word, { minLength: 1, maxLength: 3 }),
    map: fc.uniqueArray(fc.record({ name: word, size: fc.nat(1), note: word }, { requiredKeys: ['name'] }), {
      selector: ({ name }) => name,
      minLength: 1,
    }),
    whole: texts.filter((map) => Object.keys(map).length > 0),
    free: fc.record({ x: word, deep: fc.record({ y: fc.nat(1) }) }, { requiredKeys: ['x'] }),
  },
  { requiredKeys: [] },
);
const anyConfig = anySpec.map((spec) => object(spec));
const anyWrites = fc.array(fc.tuple(fc.constantFrom('alpha', 'beta', 'gamma'), fc.boolean(), anyConfig), {
  maxLength: 6,
});
const worldAfter = (writes: readonly (readonly [string, boolean, KubeObject])[]): World =>
  writes.reduce(
    (world, [manager, applies, config]) =>
      applies
        ? applied(world, manager, config)
        : updated(world, manager, merge(VERSIONS.type, world.object, config) as KubeObject),
    NOTHING,
  );
const fieldsIn = (world: World) => withNamedFields(VERSIONS.type, fieldsOf(VERSIONS.type, world.object));

describe('a set of fields', () => {
  const anySet = anyConfig.map((config) => fieldsOf(VERSIONS.type, config));

  test('survives being written as FieldsV1', () => {
    fc.assert(
      fc.property(anySet, (set) => {
        expect(isEqualSet(decodeFields(encodeFields(set)), set)).toBe(true);
      }),
    );
  });

  test('is kept once for all objects that have it, and so is its FieldsV1', () => {
    fc.assert(
      fc.property(anySet, (set) => {
        const stored = () => deepFreeze(JSON.parse(JSON.stringify(encodeFields(set))));
        const [one, other] = [decodeFields(stored()), decodeFields(stored())];
        expect(other).toBe(one);
        expect(encodeFields(other)).toBe(encodeFields(one));
      }),
    );
  });

  test('that can still be changed is read again', () => {
    const fields: Record<string, object> = { 'f:a': {} };
    decodeFields(fields);
    fields['f:b'] = {};
    expect(isEqualSet(decodeFields(fields), setOf(['f:a'], ['f:b']))).toBe(true);
  });

  test('is forgotten when clients send too many, and is the same when it is read again', () => {
    const stored = () => deepFreeze({ 'f:data': { 'f:text': {} } });
    const before = decodeFields(stored());
    for (let index = 0; index < 60_000; index++) decodeFields({ [`f:data-${index}`]: {} });
    const after = decodeFields(stored());
    expect(after).not.toBe(before);
    expect(isEqualSet(after, before)).toBe(true);
  });

  test('is the union of what it shares with another and of what it does not', () => {
    fc.assert(
      fc.property(anySet, anySet, (a, b) => {
        expect(isEqualSet(union(intersection(a, b), difference(a, b)), a)).toBe(true);
        expect(intersection(difference(a, b), b).size).toBe(0);
      }),
    );
  });

  test('is written as a real server writes it', () => {
    const deployment = objectType(kindSchema('apps', 'v1', 'Deployment'));
    const template = { spec: { containers: [{ name: 'web', image: 'i', ports: [{ containerPort: 80 }] }] } };
    const fields = fieldsOf(deployment, {
      metadata: { labels: { app: 'x' } },
      spec: { selector: { matchLabels: {} }, template },
    });
    expect(encodeFields(fields)).toEqual({
      'f:metadata': { 'f:labels': { 'f:app': {} } },
      'f:spec': {
        'f:selector': {},
        'f:template': {
          'f:spec': {
            'f:containers': {
              'k:{"name":"web"}': {
                '.': {},
                'f:image': {},
                'f:name': {},
                'f:ports': { 'k:{"containerPort":80,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {} } },
              },
            },
          },
        },
      },
    });
  });

  test.each([
    [{ 'f:spec': { 'f:list': { 'k:{"a":1,"b":"x"}': { 'f:c': {} } } } }, '.spec.list[a=1,b="x"].c'],
    [{ 'f:set': { 'v:"x"': {} } }, '.set[="x"]'],
    [{ 'f:list': { 'i:3': {} } }, '.list[3]'],
  ])('%j reads %s', (fields, text) => {
    expect([...pathsOf(decodeFields(fields))].map(pathText)).toEqual([text]);
  });
});

describe('apply', () => {
  test('twice is as once', () => {
    fc.assert(
      fc.property(anyWrites, anyConfig, (writes, config) => {
        const once = applied(worldAfter(writes), 'alpha', config);
        expect(shown(applied(once, 'alpha', config, false))).toBe(shown(once));
      }),
    );
  });

  test('of managers with different fields does not depend on their order', () => {
    const [one, other] = [
      object({ number: 1, map: [{ name: 'a', size: 1 }] }),
      object({ map: [{ name: 'a', note: 'b' }] }),
    ];
    fc.assert(
      fc.property(anyWrites, (writes) => {
        const world = worldAfter(writes.map(([, applies, config]) => ['gamma', applies, config] as const));
        const first = applied(applied(world, 'alpha', one), 'beta', other);
        expect(shown(applied(applied(world, 'beta', other), 'alpha', one))).toBe(shown(first));
      }),
    );
  });

  test('contains what was applied, and its manager owns exactly that', () => {
    fc.assert(
      fc.property(anyWrites, anyConfig, (writes, config) => {
        const world = applied(worldAfter(writes), 'alpha', config);
        const wanted = fieldsOf(VERSIONS.type, config);
        expect(difference(wanted, fieldsIn(world)).size).toBe(0);
        const { added, modified } = compare(VERSIONS.type, world.object, merge(VERSIONS.type, world.object, config));
        expect([added.size, modified.size]).toEqual([0, 0]);
        const own = world.owners.get(identityOf(by('alpha')))?.fields ?? new Map();
        expect(difference(own, wanted).size).toBe(0);
      }),
    );
  });

  test('of less removes what the manager owned alone, and nothing that another one owns', () => {
    fc.assert(
      fc.property(anyWrites, anyConfig, anyConfig, (writes, first, second) => {
        const before = applied(worldAfter(writes), 'alpha', first);
        const world = applied(before, 'alpha', second);
        const left = fieldsIn(world);
        for (const [identity, owner] of world.owners) {
          if (identity !== identityOf(by('alpha'))) expect(difference(owner.fields, left).size).toBe(0);
        }
        const others = [...before.owners].filter(([identity]) => identity !== identityOf(by('alpha')));
        const kept = others.reduce((sum, [, owner]) => union(sum, owner.fields), fieldsOf(VERSIONS.type, second));
        const given = difference(before.owners.get(identityOf(by('alpha')))?.fields ?? new Map(), kept);
        for (const path of pathsOf(intersection(given, left))) {
          // Only parents of a field of another manager may stay.
          expect([...pathsOf(kept)].some((each) => pathText(each).startsWith(pathText(path)))).toBe(true);
        }
      }),
    );
  });

  test('of a field of another manager is refused in the words of a real server', () => {
    const world = applied(NOTHING, 'alpha', object({ number: 1, map: [{ name: 'a', size: 1 }] }));
    const mine = () => applied(world, 'beta', object({ number: 2 }), false);
    expect(mine).toThrow('Apply failed with 1 conflict: conflict with "alpha": .spec.number');
    const both = () =>
      applied(
        updated(world, 'gamma', object({ ...(world.object.spec as object), number: 3 })),
        'beta',
        object({ number: 2, map: [{ name: 'a', size: 2 }] }),
        false,
      );
    expect(both).toThrow(
      'Apply failed with 2 conflicts: conflicts with "alpha":\n- .spec.map[name="a"].size\nconflicts with "gamma" using x.example.com/v1:\n- .spec.number',
    );
    expect(applied(world, 'beta', object({ number: 2 })).object.spec).toEqual({
      number: 2,
      map: [{ name: 'a', size: 1 }],
    });
    expect(applied(world, 'beta', object({ number: 1 }), false).owners.size).toBe(2);
  });

  test.each([
    ['keeps items of others first', ['x', 'a'], ['b'], ['x', 'a', 'b']],
    ['follows the order of the configuration', ['a', 'b'], ['b', 'a'], ['b', 'a']],
    ['puts new items where the configuration has them', ['a', 'c'], ['a', 'b', 'c'], ['a', 'b', 'c']],
  ])('%s', (_it, live, config, result) => {
    expect(merge(VERSIONS.type, object({ set: live }), object({ set: config }))).toEqual(object({ set: result }));
  });

  test.each([
    [object({ other: 1 }), '.spec.other: field not declared in schema'],
    [object({ number: 'x' }), '.spec.number: expected numeric (int or float), got string'],
    [object({ set: ['a', 'a'] }), '.spec.set: duplicate entries for key [="a"]'],
  ])('names the fault of %j', (config, fault) => {
    expect(faultsOf(VERSIONS.type, config)).toEqual([fault]);
  });
});

describe('an update', () => {
  test('takes the fields that it changes from all others', () => {
    fc.assert(
      fc.property(anyWrites, anyConfig, (writes, config) => {
        const before = worldAfter(writes);
        const world = updated(before, 'delta', merge(VERSIONS.type, before.object, config) as KubeObject);
        const { added, modified } = compare(VERSIONS.type, before.object, world.object);
        for (const owner of world.owners.values()) {
          if (owner.manager !== 'delta') expect(intersection(owner.fields, union(added, modified)).size).toBe(0);
        }
      }),
    );
  });

  test('that changes nothing leaves owners and times alone', () => {
    fc.assert(
      fc.property(anyWrites, (writes) => {
        const world = worldAfter(writes);
        expect(shown(updated(world, 'delta', world.object))).toBe(shown(world));
      }),
    );
  });

  test('of twelve managers, one after the other, merges the oldest three', () => {
    const names = Array.from({ length: 12 }, (_, index) => `m-${String(index).padStart(2, '0')}`);
    let owners: Owners = new Map();
    let old = object({ free: {} });
    for (const [index, manager] of names.entries()) {
      const free = Object.fromEntries(names.slice(0, index + 1).map((each) => [each, true]));
      const next = object({ free });
      const change = { versions: VERSIONS, owners, old, next, apiVersion: API };
      const time = `2026-01-01T00:00:${10 + index}Z`;
      owners = ownersAfterUpdate(change, { ...by(manager), operation: 'Update' }, time);
      old = next;
    }
    const entries = encodeOwners(owners) as readonly { readonly manager: string; readonly time: string }[];
    expect(entries.map(({ manager, time }) => `${manager} ${time.slice(17, 19)}`)).toEqual([
      'ancient-changes 12',
      ...names.slice(3).map((manager, index) => `${manager} ${13 + index}`),
    ]);
    expect(entries[0]).toMatchObject({
      fieldsV1: { 'f:spec': { 'f:free': { 'f:m-00': {}, 'f:m-01': {}, 'f:m-02': {} } } },
    });
    // The next one of a manager that was merged is an entry of its own again.
    const next = object({ free: { ...(old as unknown as { spec: { free: object } }).spec.free, late: true } });
    const change = { versions: VERSIONS, owners, old, next, apiVersion: API };
    const again = encodeOwners(
      ownersAfterUpdate(change, { ...by('m-00'), operation: 'Update' }, '2026-01-01T00:00:30Z'),
    ) as typeof entries;
    expect(again.map(({ manager }) => manager)).toEqual(['ancient-changes', ...names.slice(4), 'm-00']);
  });

  test('of an eleventh manager merges the oldest two', () => {
    const owner = (index: number): Owner => ({
      manager: `m-${index}`,
      operation: 'Update',
      apiVersion: API,
      subresource: '',
      time: `2026-01-01T00:00:${10 + index}Z`,
      fields: decodeFields({ [`f:x${index}`]: {} }),
    });
    const owners = new Map(Array.from({ length: 11 }, (_, index) => [identityOf(owner(index)), owner(index)]));
    const result = encodeOwners(capped(owners)) as readonly { readonly manager: string; readonly fieldsV1: object }[];
    expect(result.length).toBe(10);
    expect(result.find(({ manager }) => manager === 'ancient-changes')?.fieldsV1).toEqual({ 'f:x0': {}, 'f:x1': {} });
    expect(encodeOwners(decodeOwners(result))).toEqual(result);
  });
});
