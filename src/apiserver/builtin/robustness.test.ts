// Whatever a client sends for a built-in kind is stored or rejected with a Status, and never causes an internal error.
// Stored objects are stable: writing them back changes nothing.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../test/properties.ts';
import { jsonFields, type TypeFact } from '../../api/builtin/facts.ts';
import { type BuiltinKind, builtinKinds, typeNameOfKind } from '../../api/builtin/kinds.ts';
import { apiVersionOf, type KubeObject } from '../../api/object.ts';
import { ApiError } from '../../base/errors.ts';
import { mutableCopy } from '../../base/json.ts';
import type { Random } from '../../base/random.ts';
import { seededRandom } from '../../base/random.ts';
import { objectIn } from '../represent.ts';
import { create } from '../verbs/create.ts';
import { update } from '../verbs/update.ts';
import { placeOf, someone, testCluster } from './cluster.testing.ts';

const DEEPEST = 9;
const TEXTS = [
  '',
  'a',
  'web',
  'A b',
  '25%',
  '150%',
  '10.96.0.9',
  '10.0.0.0/8',
  'None',
  'Always',
  '__proto__',
  'x/y',
  'é',
];
const NUMBERS = [-1, 0, 1, 3, 80, 30080, 70000];
const QUANTITIES = ['1', '0.5', '100m', 3, '1Gi', '-1', '1e3', '0'];

const pick = <T>(random: Random, from: readonly T[]): T => from[Math.floor(random.next() * from.length)] as T;

/** A value that a client of the type could send: mostly set, and not always valid. */
function anyValue(type: TypeFact, random: Random, depth: number): unknown {
  if (random.next() < 0.04) return null;
  switch (type.form) {
    case 'scalar':
      switch (type.scalar) {
        case 'string':
          return type.values !== undefined && random.next() < 0.7 ? pick(random, type.values) : pick(random, TEXTS);
        case 'bool':
          return random.next() < 0.5;
        case 'bytes':
          return pick(random, ['', 'YQ==']);
        default:
          return pick(random, NUMBERS);
      }
    case 'list':
      return Array.from({ length: depth > DEEPEST ? 0 : Math.floor(random.next() * 3) }, () =>
        anyValue(type.of, random, depth + 1),
      );
    case 'map': {
      const entries = Array.from({ length: Math.floor(random.next() * 3) }, () => [
        pick(random, ['a', 'b.io/c', 'cpu', 'storage', 'tls.crt', 'x y']),
        anyValue(type.of, random, depth + 1),
      ]);
      return Object.fromEntries(entries) as unknown;
    }
    case 'special':
      return specialValue(type.special, random);
    case 'struct':
      return structValue(type.name, random, depth + 1);
  }
}

function specialValue(special: string, random: Random): unknown {
  switch (special) {
    case 'Quantity':
      return pick(random, QUANTITIES);
    case 'IntOrString':
      return pick<number | string>(random, [0, 1, 80, '25%', 'web', '']);
    case 'Time':
      return pick(random, ['2024-01-01T00:00:00Z', '2024-01-01T02:00:00+02:00']);
    case 'MicroTime':
      return pick(random, ['2024-01-01T00:00:00.000000Z', '2024-01-01T00:00:00.123456Z']);
    case 'Duration':
      return '1m0s';
    default:
      return { a: 1 };
  }
}

function structValue(typeName: string, random: Random, depth: number): Record<string, unknown> {
  const value: Record<string, unknown> = {};
  const chance = depth > DEEPEST ? 0 : depth < 3 ? 0.8 : 0.35;
  for (const field of jsonFields(typeName)) {
    if (random.next() < chance) value[field.name] = anyValue(field.type, random, depth);
  }
  return value;
}

function anyObject(kind: BuiltinKind, version: string, seed: number): KubeObject {
  const random = seededRandom(seed);
  const value = structValue(typeNameOfKind(kind, version), random, 0);
  return {
    ...value,
    apiVersion: apiVersionOf(kind.group, version),
    kind: kind.kind,
    metadata: { name: 'thing', labels: { a: 'b' } },
  };
}

const stored = builtinKinds
  .filter(({ verbs }) => verbs.includes('update'))
  .flatMap((kind) =>
    kind.versions.map((version) => ({ name: `${kind.kind} ${kind.group}/${version}`, kind, version })),
  );

describe('any object of', () => {
  test.each(stored)('$name is stored or refused, and stays as it was stored', async ({ kind, version }) => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), async (seed) => {
        const cluster = testCluster();
        const put = (object: KubeObject) => create(cluster, placeOf(cluster, object, 'team'), object, someone);
        await put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } });
        await put({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } });
        const object = anyObject(kind, version, seed);
        const at = placeOf(cluster, object, 'team');
        let written: Awaited<ReturnType<typeof put>>;
        try {
          written = await create(cluster, at, mutableCopy(object), someone);
        } catch (error) {
          expect(error).toBeInstanceOf(ApiError);
          expect((error as ApiError).code).toBeLessThan(500);
          return;
        }
        const before = cluster.store.head;
        const shown = objectIn(at.resource, at.version, written.stored);
        await update(cluster, { ...at, name: 'thing' }, mutableCopy(shown), someone);
        expect(cluster.store.head, JSON.stringify(shown)).toBe(before);
      }),
      { numRuns: runs(60) },
    );
  });
});
