import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { acceptable, bodyFormat, negotiator, patchType } from './negotiate.ts';

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';

describe('what a client takes', () => {
  test.each([
    { accept: undefined, forms: ['json'] },
    { accept: '*/*', forms: ['json'] },
    { accept: 'application/json', forms: ['json'] },
    { accept: 'application/*;q=0.1', forms: ['json'] },
    { accept: 'text/html', forms: [] },
    { accept: 'application/vnd.kubernetes.protobuf', forms: [] },
    { accept: 'application/vnd.kubernetes.protobuf,application/json', forms: ['json'] },
    { accept: 'application/xml, application/json;q=0.5, application/yaml;q=0.9', forms: ['yaml', 'json'] },
    {
      accept: `${TABLE},application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json`,
      forms: ['table', 'table', 'json'],
    },
    { accept: 'application/json;as=Table;v=v3;g=meta.k8s.io', forms: [] },
    { accept: 'application/json;as=Table;v=v1;g=other', forms: [] },
    { accept: 'application/json;as=Foo;v=v1;g=meta.k8s.io', forms: [] },
    { accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io', forms: ['metadata'] },
    { accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io', forms: ['metadata-list'] },
    { accept: 'application/json;q=0', forms: [] },
    { accept: 'application/json;stream=watch', forms: ['json'] },
  ])('$accept gives $forms', ({ accept, forms }) => {
    expect(acceptable(accept).map((each) => each.form)).toEqual(forms);
  });

  test('of discovery is called by its full name in the answer', () => {
    const type = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
    expect(acceptable(type)).toEqual([{ form: 'discovery', version: 'v2', contentType: type }]);
  });

  test('and is not to be had is a 406', () => {
    const choose = negotiator();
    expect(() => choose('text/html', new Set(['json', 'yaml']))).toThrow(
      'only the following media types are accepted: application/json, application/yaml',
    );
    expect(choose(`${TABLE},application/json`, new Set(['json'])).form).toBe('json');
  });

  test('can be any text without harm', () => {
    fc.assert(
      fc.property(fc.string(), (accept) => {
        expect(Array.isArray(acceptable(accept))).toBe(true);
      }),
    );
  });
});

describe('what a body is', () => {
  test.each([
    [undefined, 'json'],
    ['application/json', 'json'],
    ['Application/JSON; charset=utf-8', 'json'],
    ['application/yaml', 'yaml'],
    ['application/vnd.kubernetes.protobuf', 'protobuf'],
  ] as const)('%s is %s', (type, format) => {
    expect(bodyFormat(type)).toBe(format);
  });

  test.each(['text/plain', ';;;', 'application/x-www-form-urlencoded', ''])('%j is a 415', (type) => {
    expect(() => bodyFormat(type)).toThrow(
      'the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf',
    );
  });

  test('of a patch is said by its type; a custom resource knows no strategic one', () => {
    expect(patchType('application/strategic-merge-patch+json', false)).toBe('strategic');
    expect(patchType('application/apply-patch+yaml; x=y', true)).toBe('apply');
    expect(() => patchType('application/strategic-merge-patch+json', true)).toThrow(
      'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
    );
    expect(() => patchType('application/json', false)).toThrow('application/strategic-merge-patch+json');
  });
});
