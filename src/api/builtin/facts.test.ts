import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { factsJson, factsRelease, factsSha256 } from './facts.generated.ts';
import { isNamespaced, jsonFields, structFact, type TypeFact, typeFact, typeNames } from './facts.ts';

const PACKS = [
  'io.k8s.api.',
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.',
  'io.k8s.apimachinery.pkg.',
  'io.k8s.kube-aggregator.pkg.apis.apiregistration.',
];

const field = (type: string, name: string) => structFact(type).fields.find((each) => each.name === name);

function structsIn(type: TypeFact): string[] {
  if (type.form === 'struct') return [type.name];
  return type.form === 'list' || type.form === 'map' ? structsIn(type.of) : [];
}

describe('the table of facts', () => {
  test('is what the generator wrote, from the release that the server claims to be', () => {
    expect(createHash('sha256').update(factsJson).digest('hex')).toBe(factsSha256);
    expect(factsRelease).toBe('v0.34.4');
  });

  test('is small, and carries no sentences', () => {
    expect(factsJson.length).toBeLessThan(250_000);
    expect(factsJson).not.toMatch(/[a-z] (the|is|of|and) [a-z]/);
  });

  test('has every type that another refers to, and every field can be read', () => {
    expect(typeNames().length).toBeGreaterThan(550);
    for (const name of typeNames()) {
      expect(PACKS.some((pack) => name.startsWith(pack))).toBe(true);
      const fact = typeFact(name);
      if (fact?.form !== 'struct') continue;
      for (const each of structFact(name).fields) {
        for (const inner of structsIn(each.type)) expect(typeFact(inner)?.form, `${name}.${each.name}`).toBe('struct');
      }
    }
  });

  test('gives no name and no number twice within a type', () => {
    for (const name of typeNames()) {
      if (typeFact(name)?.form !== 'struct') continue;
      const names = jsonFields(name).map((each) => each.name);
      const numbers = structFact(name)
        .fields.map((each) => each.number)
        .filter((each) => each !== 0);
      expect(new Set(names).size, name).toBe(names.length);
      expect(new Set(numbers).size, name).toBe(numbers.length);
    }
  });

  test('leads from a Deployment to all that a Deployment can hold', () => {
    const seen = new Set<string>();
    const visit = (name: string) => {
      if (seen.has(name)) return;
      seen.add(name);
      for (const each of jsonFields(name)) structsIn(each.type).forEach(visit);
    };
    visit('io.k8s.api.apps.v1.Deployment');
    expect(seen).toContain('io.k8s.api.core.v1.AWSElasticBlockStoreVolumeSource');
    expect(seen).toContain('io.k8s.apimachinery.pkg.apis.meta.v1.ManagedFieldsEntry');
    expect(seen.size).toBeGreaterThan(100);
  });

  test.each([
    ['io.k8s.api.apps.v1.DeploymentSpec', 'replicas', { number: 1, pointer: true, omitEmpty: true, required: false }],
    ['io.k8s.api.apps.v1.DeploymentSpec', 'selector', { number: 2, pointer: true, omitEmpty: false, required: true }],
    ['io.k8s.api.core.v1.ContainerPort', 'protocol', { number: 4, default: 'TCP', omitEmpty: true }],
    ['io.k8s.api.core.v1.AzureDiskVolumeSource', 'cachingMode', { default: 'ReadWrite' }],
    [
      'io.k8s.api.core.v1.Container',
      'ports',
      {
        listType: 'map',
        listMapKeys: ['containerPort', 'protocol'],
        patchStrategy: 'merge',
        patchMergeKey: 'containerPort',
      },
    ],
    ['io.k8s.api.core.v1.PodSpec', 'volumes', { patchStrategy: 'merge,retainKeys', patchMergeKey: 'name' }],
    ['io.k8s.api.core.v1.PodSpec', 'nodeSelector', { mapType: 'atomic' }],
    ['io.k8s.api.core.v1.PersistentVolumeSpec', 'claimRef', { mapType: 'granular' }],
    ['io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta', 'uid', { number: 5, pointer: false }],
    ['io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta', 'creationTimestamp', { omitZero: true }],
    ['io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps', '$ref', { number: 3, pointer: true }],
    [
      'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps',
      'x-kubernetes-list-map-keys',
      { number: 41 },
    ],
  ])('knows %s.%s', (type, name, facts) => {
    expect(field(type, name)).toMatchObject(facts);
  });

  test('keeps inline fields apart on the wire and together in JSON', () => {
    const probe = 'io.k8s.api.core.v1.Probe';
    expect(structFact(probe).fields[0]).toMatchObject({ inline: true, number: 1 });
    expect(jsonFields(probe).map((each) => each.name)).toContain('httpGet');
  });

  test('tells enumerations, lists that are messages, and scopes', () => {
    expect(typeFact('io.k8s.api.core.v1.Protocol')).toMatchObject({ scalar: 'string', values: ['SCTP', 'TCP', 'UDP'] });
    expect(typeFact('io.k8s.api.authentication.v1.ExtraValue')).toMatchObject({ form: 'list', wrapped: true });
    expect(isNamespaced('io.k8s.api.core.v1.Pod')).toBe(true);
    expect(isNamespaced('io.k8s.api.core.v1.Node')).toBe(false);
    expect(isNamespaced('io.k8s.api.core.v1.PodSpec')).toBeUndefined();
  });

  test('knows nothing by the names of JavaScript', () => {
    for (const name of ['__proto__', 'constructor', 'toString', '']) expect(typeFact(name)).toBeUndefined();
  });
});
