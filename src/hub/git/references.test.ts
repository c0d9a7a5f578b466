// Which files a bundle may make kustomize and Helm read: only its own.
import { describe, expect, test } from 'vitest';
import { checkKustomizations, checkSchemas } from './references.ts';
import type { GitFile } from './repository.ts';

const filesOf = (texts: Readonly<Record<string, string>>) => {
  const files = Object.entries(texts).map(
    ([path, text]): GitFile => ({ path: `app/${path}`, id: path, kind: 'file', size: text.length, text }),
  );
  return { directory: 'app', manifests: files, files };
};
const outcome = (check: typeof checkSchemas, texts: Readonly<Record<string, string>>): string => {
  try {
    check(filesOf(texts));
    return 'fine';
  } catch (error) {
    return (error as Error).message;
  }
};

describe('kustomize', () => {
  const URL = 'http://127.0.0.1:80/x';
  const config = `apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: t}\npath: ${URL}\n`;
  test.each([
    ['a patch', `patches: [{path: "${URL}"}]\n`],
    ['a strategic patch', `patchesStrategicMerge: ["${URL}"]\n`],
    ['a file of a generator', `configMapGenerator: [{name: g, files: ["a=${URL}"]}]\n`],
    ['a file of environment', `secretGenerator: [{name: g, envs: [" HTTPS://127.0.0.1/x"]}]\n`],
    ['a replacement', `replacements: [{path: "${URL}"}]\n`],
    ['a list that is named elsewhere', `x: {literals: &l ["${URL}"]}\nconfigMapGenerator: [{name: g, files: *l}]\n`],
    [
      'a transformer in place',
      `transformers:\n- |-\n  apiVersion: builtin\n  kind: PatchTransformer\n  path: ${URL}\n`,
    ],
    ['text that is decoded', 'patches: [{path: !!binary aHR0cDovLzEyNy4wLjAuMS94}]\n'],
    ['a resource', `resources: ["${URL}"]\n`],
  ])('does not read %s from a URL', (_it, text) => {
    expect(outcome(checkKustomizations, { 'kustomization.yaml': text })).toMatch(/^app\/kustomization\.yaml: /);
  });
  test.each([
    ['plain', config],
    ['escaped', config.replace('builtin', '"built\\u0069n"')],
    ['in a list', `kind: List\nitems:\n- ${config.replaceAll('\n', '\n  ')}\n`],
    ['with a tag', config.replace('builtin', '!!binary YnVpbHRpbg==')],
    ['that our reader refuses', `${config}kind: PatchTransformer\n`],
  ])('does not read what a configuration names: %s', (_it, text) => {
    const texts = { 'kustomization.yaml': 'transformers: [t.yaml]\n', 't.yaml': text };
    expect(outcome(checkKustomizations, texts)).toMatch(/^app\/t\.yaml(:\d+)?: /);
  });
  test('takes URLs for content where they are content', () => {
    const texts = {
      'kustomization.yaml':
        'resources: [a.yaml]\ncommonAnnotations: {link: "https://example.com"}\nconfigMapGenerator: [{name: g, literals: ["u=https://example.com"], files: [a=b.txt]}]\npatches: [{path: p.yaml}]\n',
      'a.yaml': `apiVersion: v1\nkind: ConfigMap\ndata: {builtin: "${URL}"}\n`,
      'b.txt': 'a',
      'p.yaml': 'a: {{ no yaml }}\n',
      'q.yaml': `apiVersion: v1\nkind: X\nfrom: builtin\nurl: ${URL}\n`,
    };
    expect(outcome(checkKustomizations, texts)).toBe('fine');
  });
});

describe('helm', () => {
  const name = 'chart/values.schema.json';
  test.each([
    ['another file', '{"properties": {"a": {"$ref": "file:///etc/passwd"}}}'],
    ['a server', '{"allOf": [{"\\u0024ref": "http://127.0.0.1/x"}]}'],
    ['a file beside it', '{"$ref": "other.json"}'],
    ['a dynamic reference', '{"$dynamicRef": "x#y"}'],
    ['a schema of schemas', '{"$schema": "http://127.0.0.1/meta"}'],
    ['no JSON', 'a: b'],
    ['without end', `${'['.repeat(200)}${']'.repeat(200)}`],
  ])('does not read what a schema refers to: %s', (_it, text) => {
    expect(outcome(checkSchemas, { [name]: text })).toMatch(/^chart\/values\.schema\.json: /);
  });
  test('reads a schema that refers to itself', () => {
    const schema = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      definitions: { a: { type: 'string' } },
      properties: { a: { $ref: '#/definitions/a' }, $ref: { type: 'string' } },
    };
    expect(outcome(checkSchemas, { [name]: JSON.stringify(schema), 'other.json': 'no' })).toBe('fine');
  });
});
