import { describe, expect, test } from 'vitest';
import { ApiError } from '../../base/errors.ts';
import {
  deletionOf,
  includeObject,
  isWatchAsked,
  listOptions,
  managerOf,
  patchForce,
  queryOf,
  watchOptions,
  writeOptions,
} from './options.ts';

const messageOf = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    if (error instanceof ApiError) return `${error.code} ${error.message}`;
    throw error;
  }
  return 'fine';
};

describe('a query', () => {
  test('of a list is read into options; what is absent stays absent', () => {
    expect(listOptions(queryOf(''))).toEqual({});
    const text =
      'labelSelector=a%3Db&fieldSelector=metadata.name%3Dx&limit=5&continue=t&resourceVersion=7&resourceVersionMatch=Exact&pretty=true';
    expect(listOptions(queryOf(text))).toEqual({
      labels: 'a=b',
      fields: 'metadata.name=x',
      limit: 5,
      continue: 't',
      revision: '7',
      revisionMatch: 'Exact',
    });
    expect(listOptions(queryOf('limit=-1&labelSelector='))).toEqual({});
  });

  test('of a watch too', () => {
    expect(watchOptions(queryOf('watch=1&allowWatchBookmarks=true&timeoutSeconds=9&sendInitialEvents=false'))).toEqual({
      bookmarks: true,
      timeoutSeconds: 9,
      sendInitialEvents: false,
    });
    expect(['watch', 'watch=', 'watch=1', 'watch=maybe'].map((text) => isWatchAsked(queryOf(text)))).toEqual([
      true,
      true,
      true,
      true,
    ]);
    expect(['', 'watch=0', 'watch=False', 'x=1'].map((text) => isWatchAsked(queryOf(text)))).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });

  // Messages of a real server.
  test.each([
    ['limit=abc', '400 strconv.ParseInt: parsing "abc": invalid syntax'],
    ['limit=99999999999999999999', '400 strconv.ParseInt: parsing "99999999999999999999": value out of range'],
    ['timeoutSeconds=x', '400 strconv.ParseInt: parsing "x": invalid syntax'],
    [
      'sendInitialEvents=true',
      '422 ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list',
    ],
  ])('of a list with %s is refused', (text, expected) => {
    expect(messageOf(() => listOptions(queryOf(text)))).toBe(expected);
  });

  test.each([
    [
      'dryRun=foo',
      '422 CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["foo"]: supported values: "All"',
    ],
    [
      'fieldValidation=foo',
      '422 CreateOptions.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "foo": supported values: "", "Ignore", "Strict", "Warn"',
    ],
    [
      `fieldManager=${'a'.repeat(130)}`,
      '422 CreateOptions.meta.k8s.io "" is invalid: fieldManager: Too long: may not be more than 128 bytes',
    ],
    [
      'fieldManager=a%01',
      '422 CreateOptions.meta.k8s.io "" is invalid: fieldManager: Invalid value: "a\\u0001": invalid character U+0001 (at position 1)',
    ],
  ])('of a create with %s is refused', (text, expected) => {
    expect(messageOf(() => writeOptions(queryOf(text), 'CreateOptions', undefined))).toBe(expected);
  });

  test('of a write names the manager, or the User-Agent does', () => {
    expect(writeOptions(queryOf('fieldManager=me&dryRun=All&fieldValidation=Strict'), 'UpdateOptions', 'x/1')).toEqual({
      manager: 'me',
      dryRun: true,
      fieldValidation: 'Strict',
    });
    expect(writeOptions(queryOf(''), 'UpdateOptions', 'kubectl/v1.34 (x)')).toEqual({
      manager: 'kubectl',
      dryRun: false,
      fieldValidation: 'Warn',
    });
    expect(managerOf('a\u0000b'.repeat(100))).toHaveLength(128);
    expect(managerOf(undefined)).toBe('unknown');
  });

  test('of a patch may force an apply and nothing else', () => {
    expect(patchForce(queryOf('force=true&fieldManager=a'), 'apply')).toBe(true);
    expect(messageOf(() => patchForce(queryOf('force=true'), 'merge'))).toBe(
      '422 PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch',
    );
    expect(messageOf(() => patchForce(queryOf(''), 'apply'))).toBe(
      '422 PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
    );
  });

  test('of a table says what rows carry', () => {
    expect(includeObject(queryOf(''))).toBe('Metadata');
    expect(includeObject(queryOf('includeObject=Object'))).toBe('Object');
    expect(messageOf(() => includeObject(queryOf('includeObject=foo')))).toBe(
      `400 Unable to convert to Table as requested: includeObject: Invalid value: "foo": must be 'Metadata', 'Object', 'None', or empty`,
    );
  });
});

describe('a deletion', () => {
  test('is described by its body, or else by the query', () => {
    const query = queryOf('propagationPolicy=Foreground&gracePeriodSeconds=3');
    expect(deletionOf(query, undefined).options).toEqual({ propagation: 'Foreground', graceSeconds: 3 });
    const body = { propagationPolicy: 'Orphan', preconditions: { uid: 'u', resourceVersion: '1' }, dryRun: ['All'] };
    expect(deletionOf(query, body)).toEqual({
      options: { propagation: 'Orphan', preconditions: { uid: 'u', resourceVersion: '1' } },
      dryRun: true,
      orphansExplicitlyNot: false,
    });
    expect(deletionOf(queryOf('orphanDependents=true'), undefined).options).toEqual({ propagation: 'Orphan' });
    expect(deletionOf(queryOf(''), { orphanDependents: false })).toMatchObject({
      options: { propagation: 'Background' },
      orphansExplicitlyNot: true,
    });
  });

  test.each([
    [
      { dryRun: ['foo'] },
      '422 DeleteOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["foo"]: supported values: "All"',
    ],
    [
      { propagationPolicy: 'Foo' },
      '422 DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Foo": supported values: "Foreground", "Background", "Orphan", "nil"',
    ],
    [
      { orphanDependents: true, propagationPolicy: 'Orphan' },
      '422 DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set',
    ],
    [
      { gracePeriodSeconds: 'x' },
      '400 json: cannot unmarshal string into Go struct field DeleteOptions.gracePeriodSeconds of type int64',
    ],
    [
      { preconditions: 5 },
      '400 json: cannot unmarshal number into Go struct field DeleteOptions.preconditions of type v1.Preconditions',
    ],
    [{ dryRun: 'All' }, '400 json: cannot unmarshal string into Go struct field DeleteOptions.dryRun of type []string'],
  ])('with %j is refused', (body, expected) => {
    expect(messageOf(() => deletionOf(queryOf(''), body))).toBe(expected);
  });
});
