import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalJson } from '../../base/json.ts';
import { groupVersionOf } from '../object.ts';
import { shapeTyped } from './typed-shape.ts';
import { typeNameOf } from './types.ts';

const shaped = (apiVersion: string, object: { kind: string; [field: string]: unknown }): unknown => {
  const { group, version } = groupVersionOf(apiVersion);
  const copy = { apiVersion, ...structuredClone(object) };
  shapeTyped(typeNameOf(group, version, object.kind) ?? '', copy);
  const { apiVersion: _version, kind: _kind, ...rest } = copy;
  return rest;
};

describe('the typed shape', () => {
  test.each([
    {
      it: 'has the parts that a type always has',
      kind: 'Pod',
      from: {},
      to: { metadata: {}, spec: { containers: null }, status: {} },
    },
    { it: 'has a null list where none may be left out', kind: 'Role', from: {}, to: { metadata: {}, rules: null } },
    { it: 'keeps an empty list there', kind: 'Role', from: { rules: [] }, to: { metadata: {}, rules: [] } },
    {
      it: 'drops empty optional values',
      kind: 'ConfigMap',
      from: { metadata: { name: 'a', labels: {}, namespace: '', generation: 0 }, data: null },
      to: { metadata: { name: 'a' } },
    },
    {
      it: 'keeps false behind a pointer',
      kind: 'ConfigMap',
      from: { immutable: false },
      to: { metadata: {}, immutable: false },
    },
    {
      it: 'drops an empty creation time and keeps an empty event time',
      kind: 'Event',
      from: { metadata: { creationTimestamp: null } },
      to: {
        eventTime: null,
        firstTimestamp: null,
        involvedObject: {},
        lastTimestamp: null,
        metadata: {},
        reportingComponent: '',
        reportingInstance: '',
        source: {},
      },
    },
    {
      it: 'has the numbers that a status always has',
      kind: 'PodDisruptionBudget',
      from: {},
      to: {
        metadata: {},
        spec: {},
        status: { currentHealthy: 0, desiredHealthy: 0, disruptionsAllowed: 0, expectedPods: 0 },
      },
    },
    {
      it: 'reaches into lists',
      kind: 'Pod',
      from: { spec: { hostNetwork: false, containers: [{ name: 'a', args: [] }, null] } },
      to: {
        metadata: {},
        spec: {
          containers: [
            { name: 'a', resources: {} },
            { name: '', resources: {} },
          ],
        },
        status: {},
      },
    },
    {
      it: 'leaves wrong types and unknown fields alone',
      kind: 'ConfigMap',
      from: { metadata: 5, data: [1], more: null },
      to: { metadata: 5, data: [1], more: null },
    },
  ])('$it', ({ kind, from, to }) => {
    const apiVersion =
      kind === 'Role' ? 'rbac.authorization.k8s.io/v1' : kind === 'PodDisruptionBudget' ? 'policy/v1' : 'v1';
    expect(shaped(apiVersion, { kind, ...from })).toEqual(to);
  });

  test('changes nothing in what Go has written', () => {
    const lines = ['picked', 'every-kind'].flatMap((name) =>
      readFileSync(new URL(`./fixtures/protobuf-${name}.jsonl`, import.meta.url), 'utf8')
        .trimEnd()
        .split('\n'),
    );
    for (const line of lines) {
      const { json } = JSON.parse(line) as { json: { apiVersion: string; kind: string } };
      const before = canonicalJson(json);
      const { group, version } = groupVersionOf(json.apiVersion);
      shapeTyped(typeNameOf(group, version, json.kind) ?? '', json);
      expect(canonicalJson(json)).toBe(before);
    }
  });

  test('is reached in one step, whatever the JSON', () => {
    const kinds = [
      ['apps/v1', 'Deployment'],
      ['apiextensions.k8s.io/v1', 'CustomResourceDefinition'],
      ['v1', 'Service'],
    ] as const;
    const words = fc.constantFrom(
      'spec',
      'metadata',
      'template',
      'containers',
      'versions',
      'schema',
      'items',
      'ports',
      'x',
    );
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 6 }, fc.constantFrom(null, 0, '', false, 1, 'a'), tie('list'), tie('object')),
      list: fc.array(tie('value'), { maxLength: 3 }),
      object: fc.dictionary(words, tie('value'), { maxKeys: 5 }),
    }));
    fc.assert(
      fc.property(fc.constantFrom(...kinds), fc.dictionary(words, value), ([apiVersion, kind], fields) => {
        const once = shaped(apiVersion, { ...structuredClone(fields), kind }) as object;
        expect(shaped(apiVersion, { ...structuredClone(once), kind })).toEqual(once);
      }),
    );
  });

  test('survives a schema that is nested without end', () => {
    let schema: Record<string, unknown> = { title: '' };
    for (let level = 0; level < 5000; level++) schema = { not: schema };
    const crd = { spec: { versions: [{ schema: { openAPIV3Schema: schema } }] } };
    expect(() =>
      shapeTyped('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition', crd),
    ).not.toThrow();
  });

  test('takes __proto__ for a key', () => {
    const policy = JSON.parse('{"data":{"__proto__":null}}') as Record<string, unknown>;
    shapeTyped('io.k8s.api.core.v1.ConfigMap', policy);
    expect(JSON.stringify(policy['data'])).toBe('{"__proto__":""}');
    expect(Object.getPrototypeOf(policy['data'])).toBe(Object.prototype);
  });
});
