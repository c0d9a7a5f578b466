// Functions of CEL: a name has several overloads, distinguished by the types of the arguments.
import { bound, type CelType, DYN, fits, isStatic, opaque } from './type.ts';
import { Duration, Opaque, Optional, Structure, Timestamp, TypeName, Uint } from './value.ts';

export interface Overload {
  readonly isMethod: boolean;
  readonly params: readonly CelType[];
  readonly result: CelType;
  readonly run: (...args: unknown[]) => unknown;
  /** The cost of a call in addition to reading its arguments. */
  readonly cost: ((...args: unknown[]) => number) | undefined;
}

export type Library = ReadonlyMap<string, readonly Overload[]>;

export type Declaration = readonly [name: string, overload: Overload];

type Run = (...args: never[]) => unknown;

/** `fn('size', ['string'], 'int', run)`; names in namespaces are dotted: `sets.contains`. */
export const fn = (name: string, params: readonly string[], result: string, run: Run, cost?: Run): Declaration => [
  name,
  declare(false, params, result, run, cost),
];

/** `method('list(A)', 'indexOf', ['A'], 'int', run)`: the receiver is the first argument. */
export const method = (
  receiver: string,
  name: string,
  params: readonly string[],
  result: string,
  run: Run,
  cost?: Run,
): Declaration => [name, declare(true, [receiver, ...params], result, run, cost)];

const declare = (
  isMethod: boolean,
  params: readonly string[],
  result: string,
  run: Run,
  cost: Run | undefined,
): Overload => ({
  isMethod,
  params: params.map(parseType),
  result: parseType(result),
  run: run as Overload['run'],
  cost: cost as Overload['cost'],
});

export function libraryOf(...parts: readonly (readonly Declaration[])[]): Library {
  const library = new Map<string, Overload[]>();
  for (const [name, overload] of parts.flat()) {
    const forms = library.get(name);
    if (forms === undefined) library.set(name, [overload]);
    else forms.push(overload);
  }
  return library;
}

const SIMPLE: ReadonlySet<string> = new Set([
  'bool',
  'int',
  'uint',
  'double',
  'string',
  'bytes',
  'null',
  'dyn',
  'type',
  'timestamp',
  'duration',
]);

/** `list(A)`, `map(string, int)`, `kubernetes.Quantity`; one capital letter is a type parameter. */
export function parseType(text: string): CelType {
  const open = text.indexOf('(');
  if (open < 0) {
    if (/^[A-Z]$/.test(text)) return { kind: 'param', name: text };
    return SIMPLE.has(text) ? ({ kind: text } as CelType) : opaque(text);
  }
  const head = text.slice(0, open);
  const inner = text.slice(open + 1, -1);
  if (head === 'list') return { kind: 'list', item: parseType(inner) };
  if (head === 'optional') return { kind: 'optional', item: parseType(inner) };
  const comma = inner.indexOf(',');
  return { kind: 'map', key: parseType(inner.slice(0, comma)), value: parseType(inner.slice(comma + 1).trim()) };
}

export interface Resolved {
  readonly overloads: readonly Overload[];
  readonly result: CelType;
  /** The argument types are static, so the only overload can be called without checking values. */
  readonly isCertain: boolean;
}

/** The overloads that match. undefined = none. */
export function resolve(forms: readonly Overload[], args: readonly CelType[], isMethod: boolean): Resolved | undefined {
  const overloads: Overload[] = [];
  let result: CelType | undefined;
  for (const form of forms) {
    if (form.isMethod !== isMethod || form.params.length !== args.length) continue;
    const bindings = new Map<string, CelType>();
    if (!form.params.every((param, at) => fits(param, args[at] ?? DYN, bindings))) continue;
    overloads.push(form);
    const own = bound(form.result, bindings);
    result = result === undefined || sameType(result, own) ? own : DYN;
  }
  if (result === undefined) return undefined;
  return { overloads, result, isCertain: overloads.length === 1 && args.every(isStatic) };
}

const sameType = (left: CelType, right: CelType): boolean => JSON.stringify(left) === JSON.stringify(right);

/** Whether a value has this type. Elements are not checked: `list(int)` accepts any list. */
export function accepts(type: CelType, value: unknown): boolean {
  switch (type.kind) {
    case 'dyn':
    case 'param':
      return true;
    case 'bool':
      return typeof value === 'boolean';
    case 'int':
      return typeof value === 'bigint';
    case 'double':
      return typeof value === 'number';
    case 'string':
      return typeof value === 'string';
    case 'null':
      return value === null;
    case 'uint':
      return value instanceof Uint;
    case 'bytes':
      return value instanceof Uint8Array;
    case 'type':
      return value instanceof TypeName;
    case 'timestamp':
      return value instanceof Timestamp;
    case 'duration':
      return value instanceof Duration;
    case 'optional':
      return value instanceof Optional;
    case 'list':
      return Array.isArray(value) && (value.length === 0 || accepts(type.item, value[0]));
    case 'map':
      return value instanceof Map;
    case 'object':
      return value instanceof Structure;
    case 'opaque':
      return value instanceof Opaque && value.typeName === type.name;
  }
}
