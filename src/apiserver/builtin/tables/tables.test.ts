import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { builtinKinds } from '../../../api/builtin/kinds.ts';
import type { KubeObject } from '../../../api/object.ts';
import { deepFreeze } from '../../../base/json.ts';
import { customTable } from './custom.ts';
import { tableFor } from './for-kind.ts';

// Columns and rows as printed by Kubernetes 1.34.4.
const golden = <T>(file: string): readonly T[] =>
  readFileSync(new URL(file, import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

interface Columns {
  readonly group: string;
  readonly kind: string;
  readonly columns: readonly string[];
}

interface Row {
  readonly group: string;
  readonly kind: string;
  readonly now: number;
  readonly cells: readonly unknown[];
  readonly object: KubeObject;
}

describe('the columns of', () => {
  test.each(golden<Columns>('columns.golden.jsonl').map((each) => [each.kind, each.group, each.columns] as const))(
    '%s (%s)',
    (kind, group, columns) => {
      const ours = tableFor(group, kind).columns.map(({ name, type, format, priority }) =>
        [name, type, format, ...(priority === 0 ? [] : [priority])].join('|'),
      );
      expect(ours).toEqual(columns);
    },
  );

  test('every kind say in a sentence what they show', () => {
    for (const { group, kind } of builtinKinds) {
      for (const { description } of tableFor(group, kind).columns) expect(description).toMatch(/^[A-Z].*\.$/);
    }
  });
});

describe('the row of', () => {
  test.each(golden<Row>('rows.golden.jsonl').map((each) => [each.kind, each.object.metadata.name, each] as const))(
    '%s %s',
    (kind, _, { group, now, cells, object }) => {
      expect(tableFor(group, kind).cells(deepFreeze(object), now)).toEqual(cells);
    },
  );
});

const named = (fields: object): KubeObject => ({ apiVersion: 'v1', kind: 'X', metadata: { name: 'x' }, ...fields });
const cell = (group: string, kind: string, column: string, fields: object, now = 0) => {
  const shape = tableFor(group, kind);
  return shape.cells(named(fields), now)[shape.columns.findIndex((each) => each.name === column)];
};

describe('the Status of a Pod', () => {
  const init = [{ name: 'i' }, { name: 'j' }];
  test.each<[string, object, object?]>([
    ['Running', { status: { phase: 'Running' } }],
    ['Evicted', { status: { phase: 'Failed', reason: 'Evicted' } }],
    [
      'Init:0/2',
      { spec: { initContainers: init }, status: { initContainerStatuses: [{ name: 'i', state: { running: {} } }] } },
    ],
    [
      'Init:1/2',
      {
        spec: { initContainers: init },
        status: {
          initContainerStatuses: [
            { name: 'i', state: { terminated: { exitCode: 0 } } },
            { name: 'j', state: { waiting: { reason: 'PodInitializing' } } },
          ],
        },
      },
    ],
    [
      'Init:Error',
      { status: { initContainerStatuses: [{ name: 'i', state: { terminated: { exitCode: 1, reason: 'Error' } } }] } },
    ],
    [
      'Init:Signal:9',
      { status: { initContainerStatuses: [{ name: 'i', state: { terminated: { exitCode: 137, signal: 9 } } }] } },
    ],
    [
      'Init:CrashLoopBackOff',
      { status: { initContainerStatuses: [{ name: 'i', state: { waiting: { reason: 'CrashLoopBackOff' } } }] } },
    ],
    [
      'CrashLoopBackOff',
      { status: { phase: 'Running', containerStatuses: [{ state: { waiting: { reason: 'CrashLoopBackOff' } } }] } },
    ],
    [
      'Completed',
      {
        status: {
          phase: 'Succeeded',
          containerStatuses: [{ state: { terminated: { exitCode: 0, reason: 'Completed' } } }],
        },
      },
    ],
    ['ExitCode:2', { status: { phase: 'Failed', containerStatuses: [{ state: { terminated: { exitCode: 2 } } }] } }],
    [
      'NotReady',
      {
        status: {
          phase: 'Running',
          containerStatuses: [
            { state: { terminated: { reason: 'Completed', exitCode: 0 } } },
            { ready: true, state: { running: {} } },
          ],
        },
      },
    ],
    [
      'SchedulingGated',
      { status: { phase: 'Pending', conditions: [{ type: 'PodScheduled', reason: 'SchedulingGated' }] } },
    ],
    ['Terminating', { metadata: { deletionTimestamp: '2024-01-01T00:00:00Z' }, status: { phase: 'Running' } }],
    ['Succeeded', { metadata: { deletionTimestamp: '2024-01-01T00:00:00Z' }, status: { phase: 'Succeeded' } }],
    [
      'Unknown',
      { metadata: { deletionTimestamp: '2024-01-01T00:00:00Z' }, status: { phase: 'Running', reason: 'NodeLost' } },
    ],
  ])('%s', (word, fields) => {
    expect(cell('', 'Pod', 'Status', fields)).toBe(word);
  });

  test('restarts say when the last one was', () => {
    const fields = {
      status: {
        phase: 'Running',
        containerStatuses: [
          { restartCount: 2, lastState: { terminated: { finishedAt: '1970-01-01T00:01:00Z' } } },
          { restartCount: 1, lastState: { terminated: { finishedAt: '1970-01-01T00:00:30Z' } } },
        ],
      },
    };
    expect(cell('', 'Pod', 'Restarts', fields, 6 * 60_000)).toBe('3 (5m ago)');
    expect(cell('', 'Pod', 'Restarts', { status: { containerStatuses: [{ restartCount: 2 }] } })).toBe('2');
  });

  test('restarts of init containers count until the Pod is initialised, those of sidecars for ever', () => {
    const initContainerStatuses = [
      { name: 'side', restartCount: 1, started: true, state: { running: {} } },
      { name: 'init', restartCount: 4, state: { running: {} } },
    ];
    const spec = { initContainers: [{ name: 'side', restartPolicy: 'Always' }, { name: 'init' }] };
    const restarts = (conditions: readonly object[]) =>
      cell('', 'Pod', 'Restarts', { spec, status: { initContainerStatuses, conditions } });
    expect(restarts([])).toBe('5');
    expect(restarts([{ type: 'Initialized', status: 'True' }])).toBe('1');
  });
});

test.each([
  [{}, ''],
  [{ startTime: '1970-01-01T00:00:10Z' }, '50s'],
  [{ startTime: '1970-01-01T00:00:10Z', completionTime: '1970-01-01T00:00:15Z' }, '5s'],
])('the Duration of a Job with %j', (status, text) => {
  expect(cell('batch', 'Job', 'Duration', { status }, 60_000)).toBe(text);
});

test('kinds without a table of their own show name and age', () => {
  const shape = tableFor('example.com', 'Nothing');
  expect(shape.columns.map((column) => column.name)).toEqual(['Name', 'Age']);
  const object = named({ metadata: { name: 'x', creationTimestamp: '1970-01-01T00:00:00Z' } });
  expect(shape.cells(object, 9000)).toEqual(['x', '9s']);
});

test('a broken selector does not break the row', () => {
  const selector = { matchExpressions: [{ key: 'a', operator: 'Nope' }] };
  expect(cell('apps', 'Deployment', 'Selector', { spec: { selector } })).toBe('<invalid>');
  expect(cell('apps', 'ReplicaSet', 'Selector', { spec: { selector } })).toBe('<error>');
});

test('every table copes with an object of which almost everything is missing', () => {
  for (const { group, kind } of builtinKinds) {
    const { columns, cells } = tableFor(group, kind);
    for (const fields of [{}, { spec: {} }, { status: {} }, { spec: {}, status: {} }]) {
      const row = cells({ apiVersion: 'v1', kind, metadata: {}, ...fields }, 0);
      expect(row).toHaveLength(columns.length);
      for (const each of row) expect(String(each)).not.toMatch(/undefined|NaN|\[object/);
    }
  }
});

describe('a custom table', () => {
  const shape = customTable([
    { name: 'S', type: 'string', jsonPath: '.s' },
    { name: 'I', type: 'integer', jsonPath: '.i' },
    { name: 'N', type: 'number', jsonPath: '.n' },
    { name: 'B', type: 'boolean', jsonPath: '.b' },
    { name: 'D', type: 'date', jsonPath: '.d' },
    { name: 'L', type: 'string', jsonPath: '.l[*].x', priority: 1, description: 'hello', format: 'byte' },
  ]);
  const now = Date.parse('2020-01-02T00:00:00Z');

  // As printed by Kubernetes 1.34.4.
  test.each<[object, readonly unknown[]]>([
    [{ s: 'text', i: 5, n: 1.5, b: true, d: '2020-01-01T00:00:00Z' }, ['text', 5, 1.5, true, '24h', null]],
    [{ s: 5, i: '5', n: '1.5', b: 'true', d: 'x' }, ['5', null, null, null, '<invalid>', null]],
    [{ s: 1.5, i: 1.5, n: 2, b: 1, d: 5 }, ['1.5', 1, 2, null, null, null]],
    [{ s: true, i: null, n: null, b: null, d: null }, ['true', null, null, null, null, null]],
    [{ s: { b: 1, a: 'x' }, i: {}, n: [], b: {}, d: '' }, ['{"a":"x","b":1}', null, null, null, '<unknown>', null]],
    [{ s: null }, ['<no value>', null, null, null, null, null]],
    [{}, [null, null, null, null, null, null]],
    [{ s: '', l: [{ x: 'a' }, { x: 'b' }] }, ['', null, null, null, null, 'a']],
    [{ d: '2100-01-01T00:00:00Z', i: -7.9, l: [] }, [null, -7, null, null, '<invalid>', null]],
  ])('%j', (fields, cells) => {
    expect(shape.cells(named(fields), now)).toEqual(['x', ...cells]);
  });

  test('names its columns as the CRD does', () => {
    expect(shape.columns[6]).toEqual({ name: 'L', type: 'string', format: 'byte', description: 'hello', priority: 1 });
    expect(shape.columns[1]?.description).toBe('Custom resource definition column (in JSONPath format): .s');
  });

  test('shows the age when the CRD names no columns', () => {
    const plain = customTable([]);
    expect(plain.columns.map(({ name, type }) => [name, type])).toEqual([
      ['Name', 'string'],
      ['Age', 'date'],
    ]);
    expect(plain.cells(named({ metadata: { name: 'x', creationTimestamp: '2020-01-01T23:59:00Z' } }), now)).toEqual([
      'x',
      '60s',
    ]);
  });

  test('has an empty cell where the path makes no sense, and never throws', () => {
    expect(customTable([{ name: 'X', type: 'string', jsonPath: '.a[' }]).cells(named({ a: 1 }), now)).toEqual([
      'x',
      null,
    ]);
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom('s', 'i', 'n', 'b', 'd', 'l'), fc.jsonValue()), (fields) => {
        expect(shape.cells(named(fields), now)).toHaveLength(7);
      }),
    );
  });
});
