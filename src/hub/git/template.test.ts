// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is what users write
// `${ }` in Helm values: the result of each expression for a cluster, and the place of an unsupported one.
import { describe, expect, test } from 'vitest';
import { labels } from '../../api/names.ts';
import type { Labels } from '../../api/object.ts';
import type { Json, JsonObject } from '../../base/json.ts';
import { readFleetFile } from './fleet-file.ts';
import { filledValues, labelsUsed, templateProblem } from './template.ts';

const CLUSTER: Labels = {
  [labels.memberName]: 'eu-1',
  env: 'prod',
  region: ' West ',
  empty: '',
  'team.example.com/owner': 'a "b" \\ c',
};
const filled = (text: string, own: Labels = CLUSTER): string => {
  try {
    return filledValues({ value: text }, own)['value'] as string;
  } catch (error) {
    return `${(error as Error).name}: ${(error as Error).message}`;
  }
};

describe('an expression', () => {
  test.each([
    ['plain text', 'plain text'],
    ['', ''],
    ['{{ .Values.x }} and $HOME and }', '{{ .Values.x }} and $HOME and }'],
    ['${ .ClusterName }', 'eu-1'],
    ['${.ClusterName}', 'eu-1'],
    ['${ .ClusterLabels.env }', 'prod'],
    ['a-${ .ClusterName }-${ .ClusterLabels.env }-b', 'a-eu-1-prod-b'],
    ['${ .ClusterLabels.empty }', ''],
    ['${ index .ClusterLabels "team.example.com/owner" }', 'a "b" \\ c'],
    ['${ index .ClusterLabels "env" | upper }', 'PROD'],
    ['${ "a text" }', 'a text'],
    ['${ "}" }${ "a\\"}b" }', '}a"}b'],
    ['${ .ClusterLabels.env | upper }', 'PROD'],
    ['${ upper .ClusterLabels.env }', 'PROD'],
    ['${ .ClusterLabels.region | lower }', ' west '],
    ['${ .ClusterLabels.region | trim | upper | quote }', '"WEST"'],
    ['${ quote .ClusterName }', '"eu-1"'],
    ['${ index .ClusterLabels "team.example.com/owner" | quote }', '"a \\"b\\" \\\\ c"'],
    ['global.fleet.clusterLabels.env', 'prod'],
    ['global.fleet.clusterLabels.team.example.com/owner', 'a "b" \\ c'],
    ['x global.fleet.clusterLabels.env', 'x global.fleet.clusterLabels.env'],
  ])('%s', (text, expected) => {
    expect(filled(text)).toBe(expected);
  });
});

describe('a label that the cluster does not have', () => {
  test.each([
    ['${ .ClusterLabels.zone }', 'TemplateError: ${ .ClusterLabels.zone }: the cluster has no label "zone"'],
    [
      '${ .ClusterLabels.zone | upper }',
      'TemplateError: ${ .ClusterLabels.zone | upper }: the cluster has no label "zone"',
    ],
    [
      '${ quote .ClusterLabels.zone }',
      'TemplateError: ${ quote .ClusterLabels.zone }: the cluster has no label "zone"',
    ],
    // For instance a property that every object inherits.
    [
      '${ .ClusterLabels.constructor }',
      'TemplateError: ${ .ClusterLabels.constructor }: the cluster has no label "constructor"',
    ],
    ['${ default "none" .ClusterLabels.constructor }', 'none'],
    ['global.fleet.clusterLabels.constructor', ''],
    ['${ default "a" .ClusterLabels.zone }', 'a'],
    ['${ .ClusterLabels.zone | default "a" | upper }', 'A'],
    ['${ .ClusterLabels.zone | default .ClusterLabels.env }', 'prod'],
    ['${ .ClusterLabels.zone | default .ClusterLabels.other | default "last" }', 'last'],
    [
      '${ .ClusterLabels.zone | default .ClusterLabels.other }',
      'TemplateError: ${ .ClusterLabels.zone | default .ClusterLabels.other }: the cluster has no label "zone"',
    ],
    // As in Helm, an empty value gets the default too.
    ['${ default "a" .ClusterLabels.empty }', 'a'],
    ['${ default "a" .ClusterLabels.env }', 'prod'],
    // As in Go, index of an absent key is no error.
    ['${ index .ClusterLabels "zone" }', ''],
    ['${ index .ClusterLabels "zone" | default "a" }', 'a'],
    ['global.fleet.clusterLabels.zone', ''],
  ])('%s', (text, expected) => {
    expect(filled(text)).toBe(expected);
  });
});

test('all texts of the values are filled, whatever they are in; keys and other values stay', () => {
  const values = {
    a: { '${ .ClusterName }': ['${ .ClusterName }', { b: 'x-${ .ClusterLabels.env }' }, 1, true, null] },
    ['__proto__']: '${ .ClusterName }',
  } as JsonObject;
  expect(JSON.stringify(filledValues(values, CLUSTER))).toBe(
    '{"a":{"${ .ClusterName }":["eu-1",{"b":"x-prod"},1,true,null]},"__proto__":"eu-1"}',
  );
});

test('the labels that values depend on are known without a cluster', () => {
  const values = {
    a: '${ .ClusterName } ${ .ClusterLabels.env | default .ClusterLabels.zone }',
    b: ['${ index .ClusterLabels "team.example.com/owner" }', 'global.fleet.clusterLabels.tier'],
    c: 'plain',
  };
  expect(labelsUsed(values)).toEqual(['env', labels.memberName, 'team.example.com/owner', 'tier', 'zone']);
});

describe('refused', () => {
  test.each([
    '${ .ClusterAnnotations.x }',
    '${ .ClusterValues.x }',
    '${ .ClusterNamespace }',
    '${ .ClusterLabels }',
    '${ .ClusterLabels.a.b }',
    '${ .ClusterLabels.a-b }',
    '${ index .ClusterLabels .ClusterName }',
    '${ index .ClusterLabels "a" "b" }',
    '${ index .ClusterAnnotations "a" }',
    '${ (default "a" .ClusterLabels.x) }',
    '${ default "a" }',
    '${ default }',
    '${ .ClusterName | default }',
    '${ .ClusterName | upper "a" }',
    '${ .ClusterName | }',
    '${ | upper }',
    '${ }',
    '${ env "HOME" }',
    '${ if .ClusterName }a${ end }',
    '${ "a" "b" }',
    '${ "\\x" }',
    '${ .ClusterName | constructor }',
  ])('%s', (text) => {
    expect(templateProblem({ a: text })).toEqual({
      place: ['a'],
      message: expect.stringMatching(/^\$\{.*\} is not supported: \.ClusterName, \.ClusterLabels\.x, index .* are$/),
    });
    // It is rejected before any cluster is evaluated.
    expect(() => labelsUsed({ a: text })).toThrow('is not supported');
    expect(filled(text)).toMatch(/^TemplateError: .* is not supported/);
  });

  test.each(['${ .ClusterName', '${ "}', 'a ${'])('%s', (text) => {
    expect(templateProblem({ a: text })?.message).toBe(`"\${" without "}" in ${JSON.stringify(text)}`);
  });

  test('the first place is named', () => {
    const values = { a: { ok: '${ .ClusterName }', list: ['x', { bad: '${ x }' }] }, b: '${ y }' };
    expect(templateProblem(values)?.place).toEqual(['a', 'list', 1, 'bad']);
    expect(templateProblem({ a: 'global.fleet.clusterLabels.${ x' })).toBeUndefined();
  });

  test('values that are nested deeper than fifty levels', () => {
    const nested = (levels: number): Json => (levels === 0 ? 'x' : { a: nested(levels - 1) });
    expect(templateProblem(nested(50))).toBeUndefined();
    expect(templateProblem(nested(51))?.message).toBe('values are nested more than 50 levels deep');
    expect(() => filledValues(nested(51) as JsonObject, {})).toThrow('more than 50 levels');
  });

  test('with the file and the line, also in a customization; not where values are left as they are', () => {
    const { problems } = readFleetFile(
      'a/fleet.yaml',
      [
        'helm:',
        '  values:',
        '    image:',
        '      tags:',
        '      - v1',
        '      - ${ .ClusterValues.tag }',
        'targetCustomizations:',
        '- clusterName: eu-1',
        '  helm:',
        '    values: { name: "${ .ClusterName" }',
        '- clusterName: eu-2',
        '  helm:',
        '    values: { name: "${ .ClusterName" }',
        '    disablePreProcess: true',
        '',
      ].join('\n'),
    );
    expect(problems).toEqual([
      {
        file: 'a/fleet.yaml',
        line: 6,
        reason: 'FieldInvalid',
        message: expect.stringMatching(
          /^helm\.values\.image\.tags\[1\]: \$\{ \.ClusterValues\.tag \} is not supported: /,
        ),
      },
      {
        file: 'a/fleet.yaml',
        line: 10,
        reason: 'FieldInvalid',
        message: 'targetCustomizations[0].helm.values.name: "${" without "}" in "${ .ClusterName"',
      },
    ]);
  });
});
