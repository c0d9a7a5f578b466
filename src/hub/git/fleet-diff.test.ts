import { describe, expect, test } from 'vitest';
import { readFleetFile } from './fleet-file.ts';

const read = (text: string) => {
  const { options, problems, warnings } = readFleetFile('fleet.yaml', text);
  const placed = (list: typeof problems) => list.map(({ line, message }) => `${line}: ${message}`);
  return { options, problems: placed(problems), warnings: placed(warnings) };
};

describe('diff.comparePatches of fleet.yaml', () => {
  const text = `diff:
  comparePatches:
  - apiVersion: apps/v1
    kind: Deployment
    namespace: shop
    name: web
    jsonPointers: [/spec/replicas]
    operations:
    - { op: remove, path: /metadata/labels/example.com~1owner }
  - kind: Job
    name: ^migrate-.*
    operations: [{ op: ignore }]
`;
  const comparePatches = [
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      namespace: 'shop',
      name: 'web',
      jsonPointers: ['/spec/replicas'],
      operations: [{ op: 'remove', path: '/metadata/labels/example.com~1owner' }],
    },
    { kind: 'Job', name: '^migrate-.*', operations: [{ op: 'ignore' }] },
  ];

  test('are read as they are', () => {
    expect(read(text)).toEqual({ options: { comparePatches }, problems: [], warnings: [] });
  });

  test.each([
    { it: 'nothing', text: 'diff: {}\n' },
    { it: 'an empty list', text: 'diff: { comparePatches: [] }\n' },
    { it: 'null', text: 'diff: { comparePatches: null }\n' },
  ])('$it is none', ({ text: none }) => expect(read(none)).toEqual({ options: {}, problems: [], warnings: [] }));

  const POINTER = 'a JSON pointer such as /spec/replicas is expected';
  test.each([
    {
      it: 'a pointer that is none',
      text: '    jsonPointers:\n    - /a\n    - spec.b\n',
      at: 6,
      of: 'jsonPointers[1]',
      says: POINTER,
    },
    {
      it: 'a pointer to everything',
      text: '    jsonPointers:\n    - ""\n',
      at: 5,
      of: 'jsonPointers[0]',
      says: POINTER,
    },
    { it: 'a wrong escape', text: '    jsonPointers: [/a~2]\n', at: 4, of: 'jsonPointers[0]', says: POINTER },
    {
      it: 'one pointer in place of a list',
      text: '    jsonPointers: /a\n',
      at: 4,
      of: 'jsonPointers',
      says: 'a list of at most 50 JSON pointers is expected',
    },
    {
      it: 'an operation without a path',
      text: '    operations:\n    - op: remove\n',
      at: 5,
      of: 'operations[0].path',
      says: POINTER,
    },
    {
      it: 'operations that are no list',
      text: '    operations: { op: remove }\n',
      at: 4,
      of: 'operations',
      says: 'a list of at most 50 maps is expected',
    },
    {
      it: 'a number for a kind',
      text: '    name: 7\n',
      at: 4,
      of: 'name',
      says: 'a text of at most 253 characters is expected',
    },
  ])('$it is refused with its line', ({ text: wrong, at, of, says }) => {
    expect(read(`diff:\n  comparePatches:\n  - kind: Job\n${wrong}`).problems).toEqual([
      `${at}: diff.comparePatches[0].${of}: ${says}`,
    ]);
  });

  test('an expression that is none is refused, where a name is one', () => {
    const named = (operation: string) =>
      read(`diff:\n  comparePatches:\n  - kind: Job\n    name: (a\n    operations: [${operation}]\n`).problems;
    expect(named('{ op: ignore }')).toEqual([
      expect.stringMatching(/^4: diff\.comparePatches\[0\]\.name: a name or a regular expression is expected \(.+\)$/),
    ]);
    expect(named('{ op: remove, path: /a }')).toEqual([]);
  });

  test('what is no map, and too many', () => {
    expect(read('diff: yes\n').problems).toEqual(['1: diff: a map is expected']);
    expect(read('diff:\n  comparePatches: /a\n').problems).toEqual([
      '2: diff.comparePatches: a list of at most 50 maps is expected',
    ]);
    expect(read(`diff:\n  comparePatches:\n${'  - kind: Job\n'.repeat(51)}`).problems).toHaveLength(1);
  });

  test.each(['op: replace', 'op: add', 'op: 7', 'op:', 'value: x'])(
    'an operation with %s is left out with a warning',
    (op) => {
      const { options, problems, warnings } = read(
        `diff:\n  comparePatches:\n  - kind: Job\n    operations:\n    - { op: remove, path: /b }\n    - path: /a\n      ${op}\n`,
      );
      expect(problems).toEqual([]);
      expect(warnings).toContainEqual(
        expect.stringMatching(
          /^[67]: diff\.comparePatches\[0\]\.operations\[1\]\.op: it has no effect; remove or ignore is expected$/,
        ),
      );
      expect(options.comparePatches).toEqual([{ kind: 'Job', operations: [{ op: 'remove', path: '/b' }] }]);
    },
  );

  test('unknown keys are a warning', () => {
    const { problems, warnings } = read(
      'diff:\n  also: 1\n  comparePatches:\n  - kinds: Job\n    operations:\n    - { op: remove, path: /a, value: x, by: y }\n',
    );
    expect(problems).toEqual([]);
    expect(warnings).toEqual([
      '2: diff.also: this key is unknown',
      '4: diff.comparePatches[0].kinds: this key is unknown',
      '6: diff.comparePatches[0].operations[0].by: this key is unknown',
      '6: diff.comparePatches[0].operations[0].value: it has no effect',
    ]);
  });
});

describe('ignore.conditions of fleet.yaml', () => {
  test('are read as they are', () => {
    expect(read('ignore:\n  conditions:\n  - { type: Ready, status: "False" }\n  - reason: Waiting\n')).toEqual({
      options: { ignoreConditions: [{ type: 'Ready', status: 'False' }, { reason: 'Waiting' }] },
      problems: [],
      warnings: [],
    });
    expect(read('ignore: { conditions: [] }\n')).toEqual({ options: {}, problems: [], warnings: [] });
  });

  const FIELDS = 'fields of a condition are expected, each a text, such as { type: Ready, status: "False" }';
  test.each([
    {
      it: 'a boolean that should be a text',
      text: '  - type: Ready\n  - status: False\n',
      says: `4: ignore.conditions[1]: ${FIELDS}`,
    },
    { it: 'a condition without fields', text: '  - {}\n', says: `3: ignore.conditions[0]: ${FIELDS}` },
    { it: 'a name', text: '  - Ready\n', says: `3: ignore.conditions[0]: ${FIELDS}` },
    { it: 'a long text', text: `  - type: ${'x'.repeat(257)}\n`, says: `3: ignore.conditions[0]: ${FIELDS}` },
    {
      it: 'a map',
      text: '    type: Ready\n',
      says: '2: ignore.conditions: a list of at most 50 conditions is expected',
    },
    {
      it: 'too many',
      text: '  - type: Ready\n'.repeat(51),
      says: '2: ignore.conditions: a list of at most 50 conditions is expected',
    },
  ])('$it is refused with its line', ({ text, says }) => {
    expect(read(`ignore:\n  conditions:\n${text}`).problems).toEqual([says]);
  });

  test('what is no map is refused, and unknown keys are a warning', () => {
    expect(read('ignore: all\n').problems).toEqual(['1: ignore: a map is expected']);
    expect(read('ignore:\n  states: [NotReady]\n').warnings).toEqual(['2: ignore.states: this key is unknown']);
  });
});

describe('forceSyncGeneration of fleet.yaml', () => {
  test.each([
    { text: '0', options: { forceSyncGeneration: 0 }, problems: [] },
    { text: '7', options: { forceSyncGeneration: 7 }, problems: [] },
    { text: '-1', options: {}, problems: ['1: forceSyncGeneration: a whole number is expected'] },
    { text: '1.5', options: {}, problems: ['1: forceSyncGeneration: a whole number is expected'] },
    { text: '"1"', options: {}, problems: ['1: forceSyncGeneration: a whole number is expected'] },
  ])('$text', ({ text, options, problems }) => {
    expect(read(`forceSyncGeneration: ${text}\n`)).toEqual({ options, problems, warnings: [] });
  });
});
