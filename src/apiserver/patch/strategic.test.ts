import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { kindSchema, resolveBuiltin } from '../../api/builtin/types.ts';
import { ApiError } from '../../base/errors.ts';
import { deepFreeze, type Json, type JsonObject } from '../../base/json.ts';
import { applyStrategicPatch } from './strategic.ts';

const deployment = kindSchema('apps', 'v1', 'Deployment');
const service = kindSchema('', 'v1', 'Service');
const configMap = kindSchema('', 'v1', 'ConfigMap');

const apply = (original: Json, patch: Json, schema = deployment): Json =>
  applyStrategicPatch(deepFreeze(original), deepFreeze(patch), schema, resolveBuiltin);

const pod = (spec: Json): JsonObject => ({ spec: { template: { spec } } });

describe('a strategic merge patch', () => {
  test.each<{ it: string; original: Json; patch: Json; result: Json }>([
    {
      it: 'merges containers by name and env by name',
      original: pod({ containers: [{ name: 'a', image: 'a:1', env: [{ name: 'X', value: '1' }] }, { name: 'b' }] }),
      patch: pod({ containers: [{ name: 'a', env: [{ name: 'Y', value: '2' }] }] }),
      result: pod({
        containers: [
          {
            name: 'a',
            image: 'a:1',
            env: [
              { name: 'Y', value: '2' },
              { name: 'X', value: '1' },
            ],
          },
          { name: 'b' },
        ],
      }),
    },
    {
      it: 'deletes an entry by its key',
      original: pod({ containers: [{ name: 'a' }, { name: 'b' }] }),
      patch: pod({ containers: [{ name: 'a', $patch: 'delete' }] }),
      result: pod({ containers: [{ name: 'b' }] }),
    },
    {
      it: 'replaces a whole list',
      original: pod({ containers: [{ name: 'a', image: 'x' }, { name: 'b' }] }),
      patch: pod({ containers: [{ name: 'a' }, { $patch: 'replace' }] }),
      result: pod({ containers: [{ name: 'a' }] }),
    },
    {
      it: 'puts entries in the order that is asked for, others where they stood',
      original: pod({ containers: [{ name: 'sidecar' }, { name: 'a' }, { name: 'b' }] }),
      patch: pod({ '$setElementOrder/containers': [{ name: 'b' }, { name: 'a' }] }),
      result: pod({ containers: [{ name: 'sidecar' }, { name: 'b' }, { name: 'a' }] }),
    },
    {
      it: 'renames a container as kubectl apply does: delete, add, order',
      original: pod({ containers: [{ name: 'injected' }, { name: 'old' }] }),
      patch: pod({
        '$setElementOrder/containers': [{ name: 'new' }],
        containers: [{ name: 'new' }, { name: 'old', $patch: 'delete' }],
      }),
      result: pod({ containers: [{ name: 'injected' }, { name: 'new' }] }),
    },
    {
      it: 'replaces a list without a key',
      original: pod({ containers: [{ name: 'a', args: ['1', '2'] }] }),
      patch: pod({ containers: [{ name: 'a', args: ['3'] }] }),
      result: pod({ containers: [{ name: 'a', args: ['3'] }] }),
    },
    {
      it: 'keeps only the retained keys',
      original: { spec: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } } } },
      patch: { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } },
      result: { spec: { strategy: { type: 'Recreate' } } },
    },
    {
      it: 'swaps a volume source',
      original: pod({ volumes: [{ name: 'v', emptyDir: {} }] }),
      patch: pod({ volumes: [{ $retainKeys: ['name', 'configMap'], name: 'v', configMap: { name: 'c' } }] }),
      result: pod({ volumes: [{ name: 'v', configMap: { name: 'c' } }] }),
    },
    {
      it: 'merges finalizers as a set and takes some away',
      original: { metadata: { finalizers: ['a', 'b'] } },
      patch: { metadata: { finalizers: ['c'], '$deleteFromPrimitiveList/finalizers': ['a'] } },
      result: { metadata: { finalizers: ['c', 'b'] } },
    },
    {
      it: 'takes fields away with null and writes none',
      original: { metadata: { labels: { a: '1', b: '2' } } },
      patch: { metadata: { labels: { a: null, c: '3' }, annotations: { x: null, y: '1' } } },
      result: { metadata: { labels: { b: '2', c: '3' }, annotations: { y: '1' } } },
    },
    {
      it: 'replaces or empties a map',
      original: { metadata: { labels: { a: '1' }, annotations: { a: '1' } } },
      patch: { metadata: { labels: { b: '2', $patch: 'replace' }, annotations: { $patch: 'delete' } } },
      result: { metadata: { labels: { b: '2' }, annotations: {} } },
    },
  ])('$it', ({ original, patch, result }) => {
    expect(apply(original, patch)).toEqual(result);
  });

  test('merges Service ports by port, which is not the key of server-side apply', () => {
    const original = { spec: { ports: [{ port: 80, name: 'http', protocol: 'TCP' }] } };
    const patch = { spec: { ports: [{ port: 80, protocol: 'UDP' }] } };
    expect(apply(original, patch, service)).toEqual({ spec: { ports: [{ port: 80, name: 'http', protocol: 'UDP' }] } });
  });

  test.each<[string, Json, number, string]>([
    ['no object', ['x'], 400, 'json: cannot unmarshal array into Go value of type map[string]interface {}'],
    [
      'a missing merge key',
      pod({ containers: [{ image: 'y' }] }),
      500,
      'map: map[image:y] does not contain declared merge key: name',
    ],
    ['an unknown directive', { spec: { $patch: 'foo' } }, 500, 'unknown patch type: foo in map: map[$patch:foo]'],
    [
      'a delete without key',
      pod({ containers: [{ $patch: 'delete' }] }),
      500,
      'map: map[$patch:delete] does not contain declared merge key: name',
    ],
    [
      'a merge directive',
      pod({ containers: [{ name: 'c', $patch: 'merge' }] }),
      500,
      'merging lists cannot yet be specified in the patch',
    ],
    [
      'an order that does not fit',
      pod({ '$setElementOrder/containers': [{ name: 'z' }], containers: [{ name: 'c', image: 'q' }] }),
      500,
      "The order in patch list:\n[map[image:q name:c]]\n doesn't match $setElementOrder list:\n[map[name:z]]\n",
    ],
    [
      'an order that is no list',
      pod({ '$setElementOrder/containers': 'x' }),
      500,
      'expected a []interface {}, but received a string',
    ],
    ['an order of nothing', pod({ $setElementOrder: [] }), 400, 'invalid patch format of setElementOrder list'],
    [
      'an order beside a removal',
      pod({ '$setElementOrder/containers': [{ name: 'c' }], containers: null }),
      500,
      'expected a []interface {}, but received a %!s(<nil>)',
    ],
    [
      'keys beyond the retained ones',
      { spec: { strategy: { $retainKeys: ['type'], rollingUpdate: { maxSurge: 1 } } } },
      400,
      'invalid patch format of retainKeys',
    ],
    [
      'a deletion from nothing',
      { metadata: { $deleteFromPrimitiveList: ['a'] } },
      400,
      'invalid patch format of primitive list',
    ],
    ['mixed entries', pod({ containers: ['a'] }), 500, 'list element types are not identical: [[map[name:c]] [a]]'],
  ])('refuses %s', (_, patch, code, message) => {
    const original = {
      metadata: {},
      spec: { strategy: {}, ...(pod({ containers: [{ name: 'c' }] })['spec'] as JsonObject) },
    };
    try {
      apply(original, patch);
    } catch (error) {
      expect(error).toBeInstanceOf(ApiError);
      expect([(error as ApiError).code, (error as ApiError).message]).toEqual([code, message]);
      return;
    }
    expect.unreachable('it was accepted');
  });

  test('shares what it does not touch and leaves its input alone', () => {
    const original = { metadata: { labels: { a: '1' } }, data: { big: 'x' } };
    const result = apply(original, { metadata: { labels: { a: '2' } } }, configMap) as typeof original;
    expect(result.data).toBe(original.data);
    expect(original.metadata.labels.a).toBe('1');
  });

  test('does not pollute prototypes', () => {
    const patch = JSON.parse(
      '{"data":{"__proto__":{"polluted":"yes"},"constructor":"x"},"__proto__":{"polluted":"yes"}}',
    );
    const result = apply({ data: { a: '1' } }, patch, configMap) as JsonObject;
    expect(result['polluted']).toBeUndefined();
    expect(JSON.stringify(result['data'])).toBe('{"a":"1","__proto__":{"polluted":"yes"},"constructor":"x"}');
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});

interface Golden {
  readonly group: string;
  readonly kind: string;
  readonly original: Json;
  readonly patch: Json;
  readonly result?: Json;
  readonly refusal?: string;
}

// Random patches and their results on Kubernetes 1.34.4.
const golden: readonly Golden[] = readFileSync(new URL('strategic.golden.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));

describe('random patches end as on a real server', () => {
  test.each(golden.map((each, index) => [index, each.kind, each] as const))('%d: %s', (_, kind, each) => {
    const run = () => apply(each.original, each.patch, kindSchema(each.group, 'v1', kind));
    if (each.refusal === undefined) expect(run()).toEqual(each.result);
    else expect(run).toThrow(each.refusal);
  });
});

test('the order of a merged list keeps the order of the patch and loses no entry', () => {
  const anyNames = fc.uniqueArray(fc.constantFrom<string>('a', 'b', 'c', 'd', 'e', 'f'));
  fc.assert(
    fc.property(anyNames, anyNames, (live, wanted) => {
      const list = (names: readonly string[]) => pod({ containers: names.map((name) => ({ name })) });
      const result = apply(list(live), list(wanted)) as {
        spec: { template: { spec: { containers: { name: string }[] } } };
      };
      const names = result.spec.template.spec.containers.map((each) => each.name);
      expect(names.toSorted()).toEqual([...new Set([...live, ...wanted])].sort());
      expect(names.filter((name) => wanted.includes(name))).toEqual(wanted);
      const others = live.filter((name) => !wanted.includes(name));
      expect(names.filter((name) => others.includes(name))).toEqual(others);
    }),
  );
});
