import { describe, expect, test } from 'vitest';
import type { Schema } from '../schema.ts';
import { typeNames } from './facts.ts';
import { builtinSchema, kindSchema, resolveBuiltin, typeNameOf } from './types.ts';

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';

function refsIn(schema: Schema): string[] {
  return [
    ...(schema.$ref === undefined ? [] : [schema.$ref]),
    ...Object.values(schema.properties ?? {}).flatMap(refsIn),
    ...(schema.items === undefined ? [] : refsIn(schema.items)),
    ...(typeof schema.additionalProperties === 'object' ? refsIn(schema.additionalProperties) : []),
  ];
}

describe('a built-in schema', () => {
  test('exists for every type, and all its references lead somewhere', () => {
    for (const name of typeNames()) {
      for (const ref of refsIn(builtinSchema(name)))
        expect(() => resolveBuiltin(ref), `${name} -> ${ref}`).not.toThrow();
    }
  });

  test('is made once and cannot be changed', () => {
    const schema = kindSchema('apps', 'v1', 'Deployment');
    expect(kindSchema('apps', 'v1', 'Deployment')).toBe(schema);
    expect(Object.isFrozen(schema.properties?.['spec'])).toBe(true);
  });

  test('reads like the one in the OpenAPI document', () => {
    expect(builtinSchema('io.k8s.api.core.v1.ContainerPort')).toEqual({
      type: 'object',
      properties: {
        name: { type: 'string' },
        hostPort: { type: 'integer', format: 'int32' },
        containerPort: { type: 'integer', format: 'int32' },
        protocol: { type: 'string', enum: ['SCTP', 'TCP', 'UDP'], default: 'TCP' },
        hostIP: { type: 'string' },
      },
      required: ['containerPort'],
    });
    expect(builtinSchema('io.k8s.api.core.v1.Secret').properties?.['data']).toEqual({
      type: 'object',
      additionalProperties: { type: 'string', format: 'byte' },
    });
    expect(builtinSchema('io.k8s.api.core.v1.PodSpec').properties?.['topologySpreadConstraints']).toEqual({
      type: 'array',
      items: { $ref: 'io.k8s.api.core.v1.TopologySpreadConstraint' },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['topologyKey', 'whenUnsatisfiable'],
      'x-kubernetes-patch-strategy': 'merge',
      'x-kubernetes-patch-merge-key': 'topologyKey',
    });
    expect(builtinSchema('io.k8s.api.authentication.v1.UserInfo').properties?.['extra']).toEqual({
      type: 'object',
      additionalProperties: { type: 'array', items: { type: 'string' } },
    });
  });

  test('merges inline fields, with what they require', () => {
    const ephemeral = builtinSchema('io.k8s.api.core.v1.EphemeralContainer');
    expect(ephemeral.required).toEqual(['name']);
    expect(ephemeral.properties).toHaveProperty('targetContainerName');
    expect(builtinSchema('io.k8s.api.core.v1.Pod').properties).toMatchObject({
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { $ref: `${META}.ObjectMeta` },
    });
  });

  test.each([
    [`${META}.LabelSelector`, { 'x-kubernetes-map-type': 'atomic' }],
    [`${META}.Time`, { type: 'string', format: 'date-time' }],
    [`${META}.FieldsV1`, { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }],
    ['io.k8s.apimachinery.pkg.runtime.RawExtension', { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }],
    ['io.k8s.apimachinery.pkg.util.intstr.IntOrString', { 'x-kubernetes-int-or-string': true }],
    ['io.k8s.apimachinery.pkg.api.resource.Quantity', { oneOf: [{ type: 'string' }, { type: 'number' }] }],
  ])('of %s is special', (name, part) => {
    expect(builtinSchema(name)).toMatchObject(part);
  });
});

describe('the type of a kind', () => {
  test.each([
    ['', 'v1', 'Pod', 'io.k8s.api.core.v1.Pod'],
    ['', 'v1', 'PodList', 'io.k8s.api.core.v1.PodList'],
    ['', 'v1', 'Status', `${META}.Status`],
    ['rbac.authorization.k8s.io', 'v1', 'Role', 'io.k8s.api.rbac.v1.Role'],
    ['autoscaling', 'v1', 'Scale', 'io.k8s.api.autoscaling.v1.Scale'],
    ['authentication.k8s.io', 'v1', 'TokenRequest', 'io.k8s.api.authentication.v1.TokenRequest'],
    ['anything.example', 'v1', 'DeleteOptions', `${META}.DeleteOptions`],
    ['', 'v1', 'PodSpec', undefined],
    ['', 'v1', 'Protocol', undefined],
    ['', 'v2', 'Pod', undefined],
    ['core', 'v1', 'Pod', undefined],
    ['__proto__', 'v1', 'Pod', undefined],
    ['constructor', 'v1', 'Pod', undefined],
  ])('%s/%s %s is %s', (group, version, kind, name) => {
    expect(typeNameOf(group, version, kind)).toBe(name);
  });

  test('must be there to have a schema', () => {
    expect(() => kindSchema('', 'v1', 'Gadget')).toThrow('no built-in kind Gadget');
  });
});
