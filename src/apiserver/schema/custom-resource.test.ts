import { describe, expect, test } from 'vitest';
import { crdOf } from '../../api/crd.ts';
import { hubKinds } from '../../api/kinds.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Schema } from '../../api/schema.ts';
import type { Draft, WriteContext } from '../registry.ts';
import type { Crd, CrdVersion } from './crd.ts';
import { servedResourceOf } from './custom-resource.ts';
import { byPreference } from './version-order.ts';

const text: Schema = { type: 'string' };
const object = (properties: Record<string, Schema>): Schema => ({ type: 'object', properties });
const version = (name: string, spec: Schema, more: Partial<CrdVersion> = {}): CrdVersion => ({
  name,
  served: true,
  storage: false,
  schema: { openAPIV3Schema: object({ spec, status: object({ n: { type: 'integer' } }) }) },
  ...more,
});
const crd = (versions: readonly CrdVersion[], more: Partial<Crd> = {}): Crd => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'things.a.example', uid: 'u1' },
  spec: {
    group: 'a.example',
    scope: 'Namespaced',
    names: {
      plural: 'things',
      singular: 'thing',
      kind: 'Thing',
      listKind: 'ThingList',
      shortNames: ['th'],
      categories: ['all'],
    },
    versions,
  },
  ...more,
});
const plain = version('v1', object({ a: text }), { storage: true });
const thing = (spec: unknown, apiVersion = 'a.example/v1'): KubeObject => ({
  apiVersion,
  kind: 'Thing',
  metadata: { name: 'x' },
  spec,
});

describe('a custom resource', () => {
  test('is named as its definition says', () => {
    const served = servedResourceOf(crd([plain]));
    expect(served).toMatchObject({
      group: 'a.example',
      plural: 'things',
      singular: 'thing',
      kind: 'Thing',
      listKind: 'ThingList',
      namespaced: true,
      shortNames: ['th'],
      categories: ['all'],
      hasStatus: false,
      custom: { crdName: 'things.a.example', crdUid: 'u1' },
    });
    expect(served.behaviour).toMatchObject({
      countsGeneration: true,
      createOnUpdate: false,
      unconditionalUpdate: false,
      returnsDeleted: false,
    });
    expect(served.behaviour.nameError('a.b', false)).toBeUndefined();
    expect(served.behaviour.nameError('A', false)).toContain('RFC 1123 subdomain');
  });
  test('goes by the names that were accepted', () => {
    const status = { acceptedNames: { plural: 'things', kind: 'Thing', singular: 'thing' } };
    expect(servedResourceOf(crd([plain], { status })).shortNames).toEqual([]);
  });
  test('serves its versions with the preferred one first, and stores one', () => {
    const served = servedResourceOf(
      crd([
        version('v1alpha1', object({})),
        version('v1', object({})),
        version('v1beta1', object({}), { storage: true }),
        version('v2', object({}), { served: false }),
      ]),
    );
    expect(served.versions.map((each) => each.version)).toEqual(['v1', 'v1beta1', 'v1alpha1']);
    expect(served.stored.version).toBe('v1beta1');
  });
  test('versions with equal schemas are the same structure and need no conversion, in every cluster', () => {
    const [one, two] = [crd([plain, version('v2', object({ a: text }))]), structuredClone(crd([plain]))].map((each) =>
      servedResourceOf(each),
    );
    expect(one?.versions.every((each) => each.convert === undefined)).toBe(true);
    expect(one?.versions[0]?.structure).toBe(one?.versions[1]?.structure);
    expect(two?.stored.structure).toBe(one?.stored.structure);
  });
  test('versions that differ are pruned and defaulted on the way', () => {
    const served = servedResourceOf(
      crd([plain, version('v2', object({ a: text, b: { type: 'string', default: 'B' } }), { deprecated: true })]),
    );
    const v2 = served.versions.find((each) => each.version === 'v2');
    expect(v2?.convert?.fromStored(thing({ a: 'x' }))).toEqual(thing({ a: 'x', b: 'B' }, 'a.example/v2'));
    expect(v2?.convert?.toStored(thing({ a: 'x', b: 'y' }, 'a.example/v2'))).toEqual(thing({ a: 'x' }));
    expect(v2?.deprecationWarning).toBe('a.example/v2 Thing is deprecated');
    expect(served.stored.deprecationWarning).toBeUndefined();
  });
  test('has status, scale, columns and selectable fields', () => {
    const served = servedResourceOf(
      crd([
        {
          ...plain,
          subresources: {
            status: {},
            scale: { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n', labelSelectorPath: '.status.s' },
          },
          additionalPrinterColumns: [{ name: 'A', type: 'string', jsonPath: '.spec.a' }],
          selectableFields: [{ jsonPath: '.spec.a' }],
        },
      ]),
    );
    expect(served.hasStatus).toBe(true);
    expect(served.scale).toEqual({
      specReplicasPath: '.spec.n',
      statusReplicasPath: '.status.n',
      labelSelectorPath: '.status.s',
    });
    expect(served.stored.table.columns.map(({ name }) => name)).toEqual(['Name', 'A']);
    expect(served.stored.table.cells(thing({ a: 'v' }), 0)).toEqual(['x', 'v']);
    expect(served.behaviour.selectableFields?.['spec.a']?.(thing({ a: 'v' }))).toBe('v');
    expect(served.behaviour.selectableFields?.['spec.a']?.(thing({}))).toBe('');
    const context = { warn: () => {} } as unknown as WriteContext;
    expect(served.behaviour.validate?.(thing({ n: -1 }), undefined, context)).toEqual([
      { reason: 'FieldValueInvalid', field: '.spec.n', message: 'Invalid value: -1: should be a non-negative integer' },
    ]);
  });
  test('warns of finalizers that others could use too', () => {
    const warnings: string[] = [];
    const context = { warn: (said: string) => warnings.push(said) } as unknown as WriteContext;
    const withFinalizers = (finalizers: string[]): KubeObject => ({
      ...thing({}),
      metadata: { name: 'x', finalizers },
    });
    servedResourceOf(crd([plain])).behaviour.validate?.(
      withFinalizers(['a.io/b', 'plain', 'old', 'orphan']),
      withFinalizers(['old']),
      context,
    );
    expect(warnings).toEqual([
      'metadata.finalizers: "plain": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers',
    ]);
  });
  test('takes no new objects while its definition goes', () => {
    const status = { conditions: [{ type: 'Terminating', status: 'True' as const }] };
    const served = servedResourceOf(crd([plain], { status }));
    expect(served.verbs).toEqual(['delete', 'deletecollection', 'get', 'list', 'watch']);
    const prepare = (old: KubeObject | undefined) => () =>
      served.behaviour.prepare?.(thing({}) as Draft, old, {} as WriteContext);
    expect(prepare(undefined)).toThrow(
      'things.a.example "x" is forbidden: create not allowed while custom resource definition is terminating',
    );
    expect(prepare(thing({}))).not.toThrow();
  });
  test('every kind of ours can be served', () => {
    for (const kind of hubKinds) expect(servedResourceOf(crdOf(kind) as unknown as Crd).kind).toBe(kind.kind);
  });
});

test('versions are preferred by maturity, then by number', () => {
  const versions = [
    'foo10',
    'v1alpha1',
    'v10',
    'v2beta2',
    'v1',
    'v2beta10',
    'v11beta1',
    'v3alpha1',
    'v12alpha1',
    'foo1',
  ];
  expect(versions.sort(byPreference)).toEqual([
    'v10',
    'v1',
    'v11beta1',
    'v2beta10',
    'v2beta2',
    'v12alpha1',
    'v3alpha1',
    'v1alpha1',
    'foo1',
    'foo10',
  ]);
});
