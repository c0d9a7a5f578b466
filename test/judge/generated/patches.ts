// Patches of an object as it stands, of all three kinds, most of which apply and some of which do not. Deterministic by dice and object.
import type { KubeObject } from '../../../src/api/object.ts';
import { isObject } from '../../../src/base/json.ts';
import { JSON_PATCH, MERGE, STRATEGIC } from '../scripts/requests.ts';
import type { Dice } from './dice.ts';

export interface GeneratedPatch {
  readonly type: string;
  readonly body: unknown;
}

type Path = readonly string[];

/** What servers fill in themselves, or differ in. */
const LEFT_ALONE: ReadonlySet<string> = new Set([
  'apiVersion',
  'kind',
  'status',
  'managedFields',
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'deletionTimestamp',
  'generation',
  'namespace',
  'clusterIP',
  'clusterIPs',
  'nodePort',
]);

function* pathsIn(value: unknown, at: Path = []): Generator<Path> {
  if (at.length > 8) return;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      yield [...at, String(index)];
      yield* pathsIn(item, [...at, String(index)]);
    }
  } else if (isObject(value)) {
    for (const [key, item] of Object.entries(value)) {
      if (LEFT_ALONE.has(key) || (at.length === 1 && at[0] === 'metadata' && key === 'name')) continue;
      // As a whole it would carry what servers fill in.
      if (at.length > 0 || (key !== 'metadata' && key !== 'spec')) yield [...at, key];
      yield* pathsIn(item, [...at, key]);
    }
  }
}

/** Of an object with nothing left to point at, something that it does not have. */
function somePaths(object: KubeObject): readonly Path[] {
  const paths = [...pathsIn(object)];
  return paths.length > 0 ? paths : [['data']];
}

const valueAt = (object: unknown, path: Path): unknown =>
  path.reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], object);

/** As it is there, another of its type, or of another type. */
function anotherValue(value: unknown, dice: Dice): unknown {
  if (dice.chance(6)) return dice.pick<unknown>([7, 'odd', true, [], {}, null, ['x']]);
  if (typeof value === 'number') return dice.pick([value + 1, 0, 1, 80, 600, -1]);
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'string') return dice.pick([`${value}-x`, value, 'web', '', 'Odd Text', 'example.com/x', '50%']);
  return value;
}

const FRESH: readonly (readonly [Path, readonly unknown[]])[] = [
  [
    ['metadata', 'labels'],
    [{ app: 'web' }, { a: 'b', c: 'd' }, { a: null }, null, { 'bad key': 'x' }, { a: 7 }],
  ],
  [
    ['metadata', 'annotations'],
    [{ note: 'x' }, { note: null }, {}, null],
  ],
  [
    ['metadata', 'finalizers'],
    [['example.com/a'], ['example.com/a', 'example.com/b'], [], null],
  ],
  [['data'], [{ a: '1' }, { a: null, b: '2' }, { 'bad key': 'x' }, null, {}]],
  [
    ['spec', 'replicas'],
    [0, 3, -1, null, '2'],
  ],
  [
    ['spec', 'minReadySeconds'],
    [5, null],
  ],
  [
    ['spec', 'strategy'],
    [{ type: 'Recreate', rollingUpdate: null }, { rollingUpdate: { maxSurge: 1 } }, null],
  ],
  [
    ['spec', 'paused'],
    [true, null],
  ],
  [
    ['spec', 'selector'],
    [{ app: 'web' }, null, { matchLabels: { app: 'other' } }],
  ],
  [
    ['spec', 'sessionAffinity'],
    ['ClientIP', 'None', null, 'Odd'],
  ],
  [
    ['spec', 'type'],
    ['NodePort', 'ClusterIP', 'LoadBalancer'],
  ],
  [
    ['spec', 'externalIPs'],
    [['10.1.2.3'], ['x'], null],
  ],
  [
    ['spec', 'ports'],
    [
      [{ port: 80 }],
      [
        { name: 'a', port: 80 },
        { name: 'b', port: 90 },
      ],
      [{ port: 0 }],
      null,
    ],
  ],
  [
    ['spec', 'tolerations'],
    [[{ key: 'a', operator: 'Exists' }], [{ key: 'a', operator: 'Odd' }], [], null],
  ],
  [
    ['spec', 'activeDeadlineSeconds'],
    [30, 10, null, 0],
  ],
  [
    ['spec', 'policy'],
    [
      { placementType: 'PickN', numberOfClusters: 2 },
      { placementType: 'PickAll' },
      { placementType: 'PickFixed', clusterNames: ['a'] },
      null,
    ],
  ],
  [
    ['spec', 'revisionHistoryLimit'],
    [1, 0, 1001, null],
  ],
  [
    ['spec', 'resourceSelectors'],
    [[{ group: '', version: 'v1', kind: 'Namespace', name: 'x' }], [], null],
  ],
];

const KINDS: Readonly<Record<string, readonly string[]>> = {
  ConfigMap: ['data'],
  Deployment: ['replicas', 'minReadySeconds', 'strategy', 'paused', 'selector', 'revisionHistoryLimit'],
  Service: ['selector', 'sessionAffinity', 'type', 'externalIPs', 'ports'],
  Pod: ['tolerations', 'activeDeadlineSeconds'],
  ClusterResourcePlacement: ['policy', 'strategy', 'revisionHistoryLimit', 'resourceSelectors'],
};

const freshFor = ({ kind }: KubeObject, dice: Dice): { readonly path: Path; readonly value: unknown } => {
  const fit = FRESH.filter(([path]) => path[0] === 'metadata' || KINDS[kind]?.includes(path.at(-1) as string));
  const [path, values] = dice.pick(fit);
  return { path, value: dice.pick(values) };
};

/** The objects on the way to a value. */
const nested = (path: Path, value: unknown): unknown =>
  path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);

function mergePatch(object: KubeObject, dice: Dice): unknown {
  if (dice.chance(40)) {
    const { path, value } = freshFor(object, dice);
    return nested(path, value);
  }
  // A list can only be given as a whole: the way ends at the first one.
  const path = dice.pick(somePaths(object));
  const list = path.findIndex((key) => /^\d+$/.test(key));
  const target = list < 0 ? path : path.slice(0, list);
  const value = valueAt(object, target);
  const given = Array.isArray(value)
    ? dice.pick<unknown>([value.slice(1), [...value, ...value.slice(0, 1)], value.toReversed(), null])
    : dice.chance(30)
      ? null
      : anotherValue(value, dice);
  return nested(target, given);
}

const escaped = (path: Path): string =>
  path.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

function jsonPatch(object: KubeObject, dice: Dice): unknown {
  const paths = somePaths(object);
  const operation = (): Operation => {
    const path = dice.pick(paths);
    const value = valueAt(object, path);
    const at = escaped(path);
    const op = dice.pick(['add', 'remove', 'replace', 'replace', 'test', 'copy', 'move', 'append', 'fresh', 'absent']);
    switch (op) {
      case 'append':
        return {
          op: 'add',
          path: Array.isArray(value) ? `${at}/-` : at,
          value: Array.isArray(value) ? value[0] : value,
        };
      case 'fresh': {
        const fresh = freshFor(object, dice);
        return { op: 'add', path: escaped(fresh.path), value: fresh.value };
      }
      case 'absent':
        return {
          op: dice.pick(['add', 'remove', 'replace', 'test']),
          path: `${at}/${dice.pick(['x', '0', '9', '-', '-1'])}`,
          value: dice.pick<unknown>(['x', null]),
        };
      case 'copy':
      case 'move':
        return { op, from: at, path: dice.chance(70) ? escaped(dice.pick(paths)) : `${at}-x` };
      case 'remove':
        return { op, path: at };
      case 'test':
        return { op, path: at, value: dice.chance(85) ? value : 'else' };
      default:
        return { op, path: at, value: anotherValue(value, dice) };
    }
  };
  return withoutWaysThroughNull(Array.from({ length: dice.pick([1, 1, 2, 3]) }, operation));
}

interface Operation {
  readonly op: string;
  readonly path: string;
  readonly from?: string;
  readonly value?: unknown;
}

/** `path-through-null`: over a path that leads through a null of the same patch a real server stumbles and cuts the connection: there is no answer to compare. */
function withoutWaysThroughNull(operations: readonly Operation[]): readonly Operation[] {
  const nulls = operations.flatMap(({ value, path }, index) => (value === null ? [{ index, below: `${path}/` }] : []));
  const leadsThrough = (way: string | undefined, index: number) =>
    nulls.some((each) => each.index < index && way?.startsWith(each.below));
  return operations.filter(({ path, from }, index) => !leadsThrough(path, index) && !leadsThrough(from, index));
}

/** By what entries of lists are known, where it is not their name. */
const keyOf = (list: string, entry: unknown): string =>
  list === 'ports' ? (isObject(entry) && 'containerPort' in entry ? 'containerPort' : 'port') : 'name';

function strategicPatch(object: KubeObject, dice: Dice): unknown {
  const lists = [...pathsIn(object)].filter((path) => {
    const value = valueAt(object, path);
    return Array.isArray(value) && isObject(value[0]) && !path.some((key) => /^\d+$/.test(key));
  });
  if (lists.length === 0 || dice.chance(35)) return mergePatch(object, dice);
  const path = dice.pick(lists);
  const field = path.at(-1) as string;
  const entries = valueAt(object, path) as readonly Readonly<Record<string, unknown>>[];
  if (entries.length === 0) return {};
  const entry = dice.pick(entries);
  const key = keyOf(field, entry);
  const named = { [key]: entry[key] };
  const fields = Object.keys(entry).filter((each) => each !== key && !LEFT_ALONE.has(each) && each !== 'volumeMounts');
  const changed = fields.length === 0 ? {} : changedField(entry, dice.pick(fields), dice);
  const inner = dice.pick<readonly unknown[]>([
    [{ ...named, ...changed }],
    [{ ...named, ...changed }],
    [{ ...named, $patch: 'delete' }],
    [{ ...entry, ...changed, [key]: typeof entry[key] === 'number' ? 8443 : 'added' }],
    [{ $patch: 'replace' }, { ...entry, ...changed }],
    [{ ...named, ...changed, $retainKeys: [key, ...Object.keys(changed)] }],
    [{ ...named, ...changed, $patch: dice.pick(['merge', 'replace', 'odd']) }],
    [{ ...changed }],
  ]);
  const order = entries.map((each) => ({ [key]: each[key] }));
  // Of lists that are replaced as a whole a real server loses its way over an order.
  const siblings =
    field !== 'tolerations' && dice.chance(25)
      ? { [`$setElementOrder/${field}`]: dice.chance(50) ? order.toReversed() : order }
      : {};
  return nested(path.slice(0, -1), { ...siblings, [field]: inner });
}

/** One field of an entry of a list; of a list inside of it, an entry. */
function changedField(
  entry: Readonly<Record<string, unknown>>,
  field: string,
  dice: Dice,
): Readonly<Record<string, unknown>> {
  const value = entry[field];
  if (!Array.isArray(value)) return { [field]: dice.chance(25) ? null : anotherValue(value, dice) };
  const first: unknown = value[0];
  if (!isObject(first)) return { [field]: dice.pick<unknown>([[...value, 'more'], null, []]) };
  const key = keyOf(field, first);
  return {
    [field]: dice.pick<unknown>([
      [{ [key]: first[key], $patch: 'delete' }],
      [{ ...first, [key]: typeof first[key] === 'number' ? 9090 : 'inner' }],
      null,
    ]),
  };
}

export function generatePatch(object: KubeObject, dice: Dice): GeneratedPatch {
  const isCustom = object.kind === 'ClusterResourcePlacement';
  switch (dice.below(isCustom ? 2 : 3)) {
    case 0:
      return { type: MERGE, body: mergePatch(object, dice) };
    case 1:
      return { type: JSON_PATCH, body: jsonPatch(object, dice) };
    default:
      return { type: STRATEGIC, body: strategicPatch(object, dice) };
  }
}
