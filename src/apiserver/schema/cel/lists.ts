// Functions on lists: those of Kubernetes (sorting, sums, indexes), and those that treat lists as sets.
import { type Declaration, fn, method } from './overload.ts';
import { CelError, Duration, equals, isLess, Uint } from './value.ts';

const COMPARABLE = ['int', 'uint', 'double', 'bool', 'duration', 'timestamp', 'string', 'bytes'];

function isSorted(list: readonly unknown[]): boolean {
  for (let at = 1; at < list.length; at++) if (isLess(list[at], list[at - 1])) return false;
  return true;
}

function extreme(list: readonly unknown[], name: 'min' | 'max'): unknown {
  if (list.length === 0) throw new CelError(`${name} called on empty list`);
  return list.reduce((best, item) => ((name === 'min' ? isLess(item, best) : isLess(best, item)) ? item : best));
}

const MAX_INT = 2n ** 63n - 1n;
function sumOfInts(list: readonly bigint[]): bigint {
  const total = list.reduce((sum, item) => sum + item, 0n);
  if (total > MAX_INT || total < -MAX_INT - 1n) throw new CelError('integer overflow');
  return total;
}

const contains = (list: readonly unknown[], item: unknown): boolean => list.some((each) => equals(each, item));
const product = (a: readonly unknown[], b: readonly unknown[]): number => a.length * b.length;
const each = (list: readonly unknown[]): number => list.length;
const isSubset = (whole: readonly unknown[], part: readonly unknown[]): boolean =>
  part.every((item) => contains(whole, item));

export const listFunctions: readonly Declaration[] = [
  ...COMPARABLE.flatMap((type) => [
    method(`list(${type})`, 'isSorted', [], 'bool', isSorted, each),
    method(`list(${type})`, 'min', [], type, (list: readonly unknown[]) => extreme(list, 'min'), each),
    method(`list(${type})`, 'max', [], type, (list: readonly unknown[]) => extreme(list, 'max'), each),
  ]),
  method('list(int)', 'sum', [], 'int', sumOfInts, each),
  method(
    'list(uint)',
    'sum',
    [],
    'uint',
    (list: readonly Uint[]) => list.reduce((sum, item) => new Uint(sum.value + item.value), new Uint(0n)),
    each,
  ),
  method(
    'list(double)',
    'sum',
    [],
    'double',
    (list: readonly number[]) => list.reduce((sum, item) => sum + item, 0),
    each,
  ),
  method(
    'list(duration)',
    'sum',
    [],
    'duration',
    (list: readonly Duration[]) => new Duration(list.reduce((sum, item) => sum + item.nanos, 0n)),
    each,
  ),
  method(
    'list(A)',
    'indexOf',
    ['A'],
    'int',
    (list: readonly unknown[], item: unknown) => BigInt(list.findIndex((one) => equals(one, item))),
    each,
  ),
  method(
    'list(A)',
    'lastIndexOf',
    ['A'],
    'int',
    (list: readonly unknown[], item: unknown) => BigInt(list.findLastIndex((one) => equals(one, item))),
    each,
  ),
  fn('sets.contains', ['list(A)', 'list(A)'], 'bool', isSubset, product),
  fn(
    'sets.equivalent',
    ['list(A)', 'list(A)'],
    'bool',
    (a: readonly unknown[], b: readonly unknown[]) => isSubset(a, b) && isSubset(b, a),
    product,
  ),
  fn(
    'sets.intersects',
    ['list(A)', 'list(A)'],
    'bool',
    (a: readonly unknown[], b: readonly unknown[]) => a.some((item) => contains(b, item)),
    product,
  ),
];
