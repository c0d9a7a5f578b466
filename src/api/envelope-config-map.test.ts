import { describe, expect, test } from 'vitest';
import { isEnvelopeConfigMap } from './envelope-config-map.ts';
import { annotations } from './names.ts';
import type { KubeObject } from './object.ts';

const MARK = { [annotations.envelopeConfigMap]: 'true' };
const aConfigMap = (data: object | undefined, marks: Readonly<Record<string, string>> = MARK, more: object = {}) =>
  ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'wrap', namespace: 'shop', annotations: marks },
    ...(data === undefined ? {} : { data }),
    ...more,
  }) as unknown as KubeObject;

const YAML = 'apiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: limits\n';
const JSON_TEXT = '{"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "limits"}}';
const LONG = 300 * 1024;

describe('a ConfigMap is an envelope', () => {
  test.each<[string, object]>([
    ['one object in YAML', { 'quota.yaml': YAML }],
    ['one in JSON', { quota: JSON_TEXT }],
    ['several, in both', { a: YAML, b: JSON_TEXT }],
    ['a marker before and after', { a: `---\n${YAML}---\n` }],
    ['in one line', { a: '{apiVersion: v1, kind: ResourceQuota, metadata: {name: limits}}' }],
    // Too large to be parsed, but it contains the field names of an object.
    ['more than is read', { a: `${YAML}spec: {}\n# ${'x'.repeat(LONG)}` }],
    ['none', {}],
  ])('with %s', (_what, data) => {
    expect(isEnvelopeConfigMap(aConfigMap(data))).toBe(true);
  });

  test('whatever is there besides its data', () => {
    expect(isEnvelopeConfigMap(aConfigMap({ a: YAML }, MARK, { binaryData: { b: 'AAAA' }, immutable: true }))).toBe(
      true,
    );
    expect(isEnvelopeConfigMap(aConfigMap(undefined))).toBe(true);
  });

  test.each<[string, object]>([
    ['plain data', { value: '1' }],
    ['plain data beside an object', { a: YAML, value: '1' }],
    ['an empty text', { a: '' }],
    ['a list of objects', { a: `[${JSON_TEXT}]` }],
    ['two objects in one text', { a: `${YAML}---\n${YAML}` }],
    ['no apiVersion', { a: YAML.replace('apiVersion: v1\n', '# apiVersion\n') }],
    ['no kind', { a: YAML.replace('kind: ResourceQuota\n', '# kind\n') }],
    ['no name', { a: YAML.replace('name: limits', 'generateName: limits') }],
    ['an empty name', { a: YAML.replace('limits', '""') }],
    ['a number for a kind', { a: YAML.replace('ResourceQuota', '1') }],
    ['text that is no YAML', { a: `${YAML}  x: [` }],
    ['another format with the same words', { a: 'apiVersion=v1 kind=x metadata=y name=z' }],
    ['much plain text', { a: 'x'.repeat(LONG) }],
  ])('not with %s', (_what, data) => {
    expect(isEnvelopeConfigMap(aConfigMap(data))).toBe(false);
  });

  test.each<[string, KubeObject]>([
    ['without the annotation', aConfigMap({ a: YAML }, {})],
    ['if the annotation says something else', aConfigMap({ a: YAML }, { [annotations.envelopeConfigMap]: 'True' })],
    ['if it is no ConfigMap', aConfigMap({ a: YAML }, MARK, { kind: 'Secret' })],
    ['if it is one of another group', aConfigMap({ a: YAML }, MARK, { apiVersion: 'shop.example/v1' })],
  ])('not %s', (_what, object) => {
    expect(isEnvelopeConfigMap(object)).toBe(false);
  });
});
