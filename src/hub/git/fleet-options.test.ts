// How a customization changes the options of a bundle.
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../base/json.ts';
import { deeply, merged, type RenderOptions } from './fleet-options.ts';

describe('values of a customization', () => {
  test.each<[string, JsonObject, JsonObject, JsonObject]>([
    ['add fields', { a: 1 }, { b: 2 }, { a: 1, b: 2 }],
    ['replace fields', { a: 1 }, { a: 2 }, { a: 2 }],
    [
      'are merged at any depth',
      { a: { b: { c: 1, d: 1 }, e: 1 } },
      { a: { b: { c: 2 } } },
      { a: { b: { c: 2, d: 1 }, e: 1 } },
    ],
    ['replace lists', { a: [1, 2], b: [{ x: 1, y: 1 }] }, { a: [3], b: [{ x: 2 }] }, { a: [3], b: [{ x: 2 }] }],
    ['replace a map by something else', { a: { b: 1 } }, { a: 'x' }, { a: 'x' }],
    [
      'replace something else by a map',
      { a: 'x', b: [1], c: null },
      { a: { z: 1 }, b: { z: 1 }, c: { z: 1 } },
      { a: { z: 1 }, b: { z: 1 }, c: { z: 1 } },
    ],
    // Helm removes a value that is null.
    ['set null', { a: { b: 1, c: 1 } }, { a: { b: null } }, { a: { b: null, c: 1 } }],
    ['are nothing', { a: { b: 1 } }, {}, { a: { b: 1 } }],
    ['merge with an empty map', { a: { b: 1 } }, { a: {} }, { a: { b: 1 } }],
    ['do not meet what every object inherits', {}, { constructor: { a: 1 } }, { constructor: { a: 1 } }],
  ])('%s', (_it, base, custom, expected) => {
    const before = JSON.stringify([base, custom]);
    expect(deeply(base, custom)).toEqual(expected);
    expect(JSON.stringify([base, custom])).toBe(before);
  });

  test('keep a field that is called like the prototype', () => {
    const [base, custom] = ['{"__proto__":{"a":1}}', '{"__proto__":{"b":2}}'].map((text) => JSON.parse(text));
    expect(JSON.stringify(deeply(base, custom))).toBe('{"__proto__":{"a":1,"b":2}}');
    expect(JSON.stringify(deeply({}, custom))).toBe('{"__proto__":{"b":2}}');
    expect(Object.hasOwn({}, 'b')).toBe(false);
    expect(({} as { b?: unknown }).b).toBeUndefined();
  });
});

test.each<[string, RenderOptions, RenderOptions, RenderOptions]>([
  [
    'replaces namespaces and kustomize',
    { namespace: 'a', defaultNamespace: 'd', kustomize: { dir: 'x' } },
    { namespace: 'b', kustomize: { dir: 'y' } },
    { namespace: 'b', defaultNamespace: 'd', kustomize: { dir: 'y' } },
  ],
  ['adds overlays', { yaml: { overlays: ['a'] } }, { yaml: { overlays: ['b'] } }, { yaml: { overlays: ['a', 'b'] } }],
  ['of nothing changes nothing', { yaml: { overlays: ['a'] } }, {}, { yaml: { overlays: ['a'] } }],
  [
    'merges values, adds their files behind and replaces the chart',
    { helm: { chart: 'a', values: { x: 1, y: 1 }, valuesFiles: ['1'] } },
    { helm: { chart: 'b', values: { x: 2 }, valuesFiles: ['2'], disablePreProcess: true } },
    { helm: { chart: 'b', values: { x: 2, y: 1 }, valuesFiles: ['1', '2'], disablePreProcess: true } },
  ],
])('a customization %s', (_it, base, custom, expected) => {
  expect(merged(base, custom)).toEqual(expected);
});
