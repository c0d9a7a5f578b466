// The manifests of the seeds are accepted or refused as the checklist says, as far as schemas and rules decide it. What the whole
// server says of them is tested with kubectl.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { hubKinds } from '../../src/api/kinds.ts';
import { groupVersionOf, type KubeObject } from '../../src/api/object.ts';
import type { Schema } from '../../src/api/schema.ts';
import type { Draft } from '../../src/apiserver/registry.ts';
import { structureOf } from '../../src/apiserver/schema/structure.ts';
import { brokenRules } from '../rules/plain-cel.ts';
import { manifests, type SeedManifest } from './index.ts';

const folder = fileURLToPath(new URL('.', import.meta.url));
const read = (file: string): string => readFileSync(`${folder}${file}`, 'utf8');
const documentsOf = (file: string): readonly KubeObject[] =>
  parseAllDocuments(read(file)).map((document) => document.toJS() as KubeObject);

function schemaOf(object: KubeObject): Schema | undefined {
  const { group, version } = groupVersionOf(object.apiVersion);
  const kind = hubKinds.find((each) => each.group === group && each.kind === object.kind);
  return kind?.versions.find((each) => each.version === version)?.schema;
}

function defaulted(object: KubeObject, schema: Schema): KubeObject {
  const draft = structuredClone(object) as Draft;
  const structure = structureOf(schema);
  structure.default(draft);
  expect(structure.prune(draft), 'fields that the schema does not know').toEqual([]);
  return draft as KubeObject;
}

const judge = (manifest: SeedManifest): readonly string[] =>
  documentsOf(manifest.file).flatMap((object, index) => {
    const schema = schemaOf(object);
    if (schema === undefined) {
      expect(object.kind, 'the only kind of Kubernetes itself').toBe('ConfigMap');
      return [];
    }
    const before = manifest.after === undefined ? undefined : documentsOf(manifest.after)[index];
    const now = defaulted(object, schema);
    const old = before && defaulted(before, schema);
    return [
      ...structureOf(schema)
        .validate(now, old)
        .map((cause) => cause.message),
      ...brokenRules(schema, now, old),
    ];
  });

describe('the manifests of the seeds', () => {
  test.each(manifests.map((manifest) => ({ ...manifest, it: `${manifest.id} ${manifest.file}` })))(
    '$it',
    (manifest) => {
      const causes = judge(manifest);
      if (manifest.expect === 'accepted') expect(causes).toEqual([]);
      else expect(causes.join('\n')).toContain(manifest.expect.refused);
    },
  );

  test('name their origin in the first line', () => {
    for (const { file } of manifests) {
      expect(read(file).split('\n')[0], file).toMatch(new RegExp(`^# seed ${file.slice(0, 3)}, line [0-9]+`));
    }
  });

  test('are all in the index', () => {
    const files = ['001', '002', '003'].flatMap((seed) =>
      readdirSync(`${folder}${seed}`).map((name) => `${seed}/${name}`),
    );
    expect(new Set(manifests.map((manifest) => manifest.file))).toEqual(new Set(files));
  });

  test('read back without loss in every served version', () => {
    for (const { file } of manifests) {
      for (const object of documentsOf(file)) {
        const { group } = groupVersionOf(object.apiVersion);
        const kind = hubKinds.find((each) => each.group === group && each.kind === object.kind);
        for (const version of kind?.versions ?? []) {
          const draft = structuredClone(object) as Draft;
          expect(structureOf(version.schema).prune(draft), `${file} as ${version.version}`).toEqual([]);
        }
      }
    }
  });
});
