import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { crds } from '../cli/setup/crds.ts';
import { crdFile, crdOf, crdYaml } from './crd.ts';
import type { Kind } from './kind.ts';
import { hubKinds, memberKinds } from './kinds.ts';
import type { Schema } from './schema.ts';

const folder = fileURLToPath(new URL('../../config/crd/', import.meta.url));
const yamlFiles = () => readdirSync(folder).filter((name) => name.endsWith('.yaml'));
const installed = [...hubKinds, ...memberKinds];
const nameOf = (kind: Kind) => `${kind.group}/${kind.kind}`;

describe('the committed definitions', () => {
  test.each(installed.map((kind) => ({ kind, it: crdFile(kind) })))('$it is what the kind says', ({ kind }) => {
    expect(readFileSync(`${folder}${crdFile(kind)}`, 'utf8'), 'run: npx tsx scripts/write-crds.ts').toBe(crdYaml(kind));
  });

  test('are all there, and nothing else is', () => {
    expect(yamlFiles().sort()).toEqual(installed.map(crdFile).sort());
  });

  // One test per kind: parsing YAML is slow.
  test.each(installed.map((kind) => ({ kind, it: crdFile(kind) })))('$it is read back as the same data', ({ kind }) => {
    expect(parse(crdYaml(kind))).toEqual(JSON.parse(JSON.stringify(crdOf(kind))));
  });

  // kubectl apply stores the object in an annotation, and all annotations of an object together are limited to 256 KiB.
  test('fit into the annotation of kubectl apply', () => {
    for (const kind of installed) expect(JSON.stringify(crdOf(kind)).length, nameOf(kind)).toBeLessThan(200 * 1024);
  });
});

describe('flotilla crds', () => {
  const names = (text: string) => parseAllDocuments(text).map((document) => document.getIn(['metadata', 'name']));

  test('prints every definition that is installed by default', () => {
    expect(names(crds())).toEqual(installed.map((kind) => `${kind.plural}.${kind.group}`));
  });
});

interface Place {
  readonly path: string;
  readonly schema: Schema;
}

function* placesOf(schema: Schema, path: string): Generator<Place> {
  yield { path, schema };
  for (const [name, property] of Object.entries(schema.properties ?? {})) yield* placesOf(property, `${path}.${name}`);
  if (schema.items !== undefined) yield* placesOf(schema.items, `${path}[]`);
  if (typeof schema.additionalProperties === 'object') yield* placesOf(schema.additionalProperties, `${path}{}`);
}

describe.each(installed.map((kind) => ({ kind, it: nameOf(kind) })))('the schema of $it', ({ kind }) => {
  const places = [...placesOf(kind.schema, '')];

  test('describes every field', () => {
    expect(
      places.filter(({ path, schema }) => path !== '.metadata' && !schema.description).map(({ path }) => path),
    ).toEqual([]);
  });

  test('has a sentence for every rule', () => {
    const silent = places.flatMap(({ path, schema }) =>
      (schema['x-kubernetes-validations'] ?? []).filter((rule) => !rule.message).map((rule) => `${path}: ${rule.rule}`),
    );
    expect(silent).toEqual([]);
  });

  test('points rules at fields that exist', () => {
    for (const { path, schema } of places) {
      for (const rule of schema['x-kubernetes-validations'] ?? []) {
        if (rule.fieldPath === undefined) continue;
        const target = rule.fieldPath
          .slice(1)
          .split('.')
          .reduce<Schema | undefined>((at, name) => at?.properties?.[name], schema);
        expect(target, `${path} -> ${rule.fieldPath}`).toBeDefined();
      }
    }
  });

  test('gives defaults that its own enums allow', () => {
    for (const { path, schema } of places) {
      if (schema.default !== undefined && schema.enum !== undefined)
        expect(schema.enum, path).toContain(schema.default);
    }
  });

  // A transition rule inside a list whose entries have no keys never runs.
  test('compares with the old value only where the old value can be found', () => {
    for (const { path, schema } of places) {
      const compares = (schema['x-kubernetes-validations'] ?? []).some((rule) => rule.rule.includes('oldSelf'));
      if (compares) expect(path).not.toContain('[]');
    }
  });

  test('is one value for all served versions', () => {
    for (const version of kind.versions) expect(version.schema).toBe(kind.schema);
    expect(kind.versions.filter((version) => version.version === kind.version)).toHaveLength(1);
  });
});
