import { describe, expect, expectTypeOf, test } from 'vitest';
import { defineKind, definePair, type Infer, rule, s } from './build.ts';
import { placementGroup } from './groups.ts';
import type { Placement } from './placement.ts';

const sample = s.object(
  {
    name: s.string({ doc: 'A name.', maxLength: 63 }),
    mode: s.defaulted(s.oneOf(['Fast', 'Slow']), 'Fast'),
    note: s.optional(s.string()),
    share: s.optional(s.intOrString({ minimum: 0, pattern: '^[0-9]+%$' })),
    parts: s.array(s.object({ id: s.integer() }, { rules: [rule('self.id > 0', 'id must be positive')] }), {
      keys: ['id'],
    }),
  },
  { doc: 'A sample.', rules: [rule('has(self.name)', 'name it', '.name')] },
);

describe('the builder', () => {
  test('makes plain OpenAPI', () => {
    expect(sample).toEqual({
      description: 'A sample.',
      type: 'object',
      required: ['name', 'parts'],
      properties: {
        name: { description: 'A name.', type: 'string', maxLength: 63 },
        mode: { type: 'string', enum: ['Fast', 'Slow'], default: 'Fast' },
        note: { type: 'string' },
        share: {
          anyOf: [{ type: 'integer' }, { type: 'string' }],
          'x-kubernetes-int-or-string': true,
          minimum: 0,
          pattern: '^[0-9]+%$',
        },
        parts: {
          type: 'array',
          items: {
            type: 'object',
            required: ['id'],
            properties: { id: { type: 'integer' } },
            'x-kubernetes-validations': [{ rule: 'self.id > 0', message: 'id must be positive' }],
          },
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['id'],
        },
      },
      'x-kubernetes-validations': [{ rule: 'has(self.name)', message: 'name it', fieldPath: '.name' }],
    });
  });

  test('carries the type of what it describes', () => {
    expectTypeOf<Infer<typeof sample>>().toEqualTypeOf<{
      readonly name: string;
      readonly mode: 'Fast' | 'Slow';
      readonly note?: string;
      readonly share?: string | number;
      readonly parts: readonly { readonly id: number }[];
    }>();
    expectTypeOf<NonNullable<Placement['spec']['policy']>['placementType']>().toEqualTypeOf<
      'PickAll' | 'PickN' | 'PickFixed'
    >();
  });

  test('takes all rules out of a copy, and leaves the original alone', () => {
    const text = JSON.stringify(sample);
    expect(JSON.stringify(s.unruled(sample))).not.toContain('x-kubernetes-validations');
    expect(JSON.stringify(sample)).toBe(text);
  });

  test('adds rules to a copy', () => {
    const ruled = s.ruled(sample, [rule('true', 'more')]);
    expect(ruled['x-kubernetes-validations']).toHaveLength(2);
    expect(sample['x-kubernetes-validations']).toHaveLength(1);
  });
});

describe('a pair', () => {
  const pair = definePair({
    in: placementGroup,
    versions: ['v1', 'v1beta1'],
    spec: sample,
    cluster: { kind: 'ClusterSample', plural: 'clustersamples', short: 'cs', doc: 'One.' },
    namespaced: { kind: 'Sample', plural: 'samples', versions: ['v1beta1'], doc: 'Other.' },
  });

  test('shares its spec and differs in its names', () => {
    expect(pair.cluster.schema.properties?.['spec']).toEqual(pair.namespaced.schema.properties?.['spec']);
    expect([pair.cluster.namespaced, pair.namespaced.namespaced]).toEqual([false, true]);
    expect([pair.cluster.shortNames, pair.namespaced.shortNames]).toEqual([['cs'], []]);
    expect(pair.namespaced.versions.map((version) => version.version)).toEqual(['v1beta1']);
  });

  test('cannot be changed by anyone who gets hold of it', () => {
    expect(() => Object.assign(pair.cluster.schema, { type: 'array' })).toThrow(TypeError);
  });
});

test('a kind with data at its root has neither spec nor status', () => {
  const kind = defineKind({
    in: placementGroup,
    versions: ['v1beta1'],
    namespaced: true,
    kind: 'Box',
    plural: 'boxes',
    doc: 'Holds things.',
    root: { data: s.map(s.string()) },
  });
  expect(Object.keys(kind.schema.properties ?? {})).toEqual(['apiVersion', 'kind', 'metadata', 'data']);
  expect(kind.schema.required).toEqual(['data']);
  expect(kind.hasStatus).toBe(false);
});
