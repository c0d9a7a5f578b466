// Merges an applied configuration into a live value, removes fields from a value, and validates a configuration.
import { isObject } from '../../base/json.ts';
import type { FieldSet } from './field-set.ts';
import { stepText } from './field-set.ts';
import {
  asList,
  asMap,
  BadItem,
  elementOf,
  type FieldType,
  formOf,
  type ListType,
  type MapType,
  stepOf,
} from './field-type.ts';
import { itemsOf } from './typed-fields.ts';

// ---- merge

/** The live value with the configuration merged in. Shares unchanged parts with both. */
export function merge(type: FieldType, live: unknown, config: unknown): unknown {
  if (config === undefined) return live;
  if (live === undefined) return config;
  const form = formOf(type, config);
  if (form === 'map' && type.map && !type.map.atomic) return mergedMap(type.map, live, config);
  if (form === 'list' && type.list && type.list.how !== 'atomic') return mergedList(type.list, live, config);
  return config;
}

function mergedMap(type: MapType, live: unknown, config: unknown): unknown {
  const [left, right] = [asMap(live) ?? {}, asMap(config) ?? {}];
  if (Object.keys(left).length === 0 && Object.keys(right).length === 0) return config;
  const result: Record<string, unknown> = {};
  for (const key of Object.keys(left)) {
    result[key] = merge(elementOf(type, key), left[key], Object.hasOwn(right, key) ? right[key] : undefined);
  }
  for (const key of Object.keys(right)) if (!Object.hasOwn(left, key)) result[key] = right[key];
  return result;
}

/**
 * Live items keep their order unless the configuration has another one: items that only the live list has come first,
 * then those of the configuration.
 */
function mergedList(type: ListType, live: unknown, config: unknown): unknown {
  const [left, right] = [asList(live) ?? [], asList(config) ?? []];
  if (left.length === 0 && right.length === 0) return config;
  const element = type.element();
  const wanted = itemsOf(type, right);
  const existing = itemsOf(type, left);
  const order = [...wanted.keys()];
  // A duplicate item of the live list is not merged.
  const liveOf = (step: string) => ((existing.get(step)?.length ?? 0) === 1 ? existing.get(step)?.[0] : undefined);
  const lefts = left.flatMap((item) => {
    try {
      return [{ step: stepOf(type, item), item }];
    } catch (error) {
      if (error instanceof BadItem) return [];
      throw error;
    }
  });
  const shared = order.filter((step) => existing.has(step));
  const result: unknown[] = [];
  const done = new Set<string>();
  const take = (step: string) => {
    result.push(merge(element, liveOf(step), wanted.get(step)?.[0]));
    done.add(step);
    if (shared[0] === step) shared.shift();
  };
  let l = 0;
  let r = 0;
  while (l < lefts.length || r < order.length) {
    const at = lefts[l];
    if (at !== undefined && !wanted.has(at.step)) {
      result.push(at.item);
      l++;
    } else if (
      at !== undefined &&
      (done.has(at.step) || (r < order.length && at.step !== order[r] && shared[0] !== at.step))
    ) {
      l++;
    } else if (r < order.length) {
      const step = order[r] as string;
      take(step);
      r++;
      if (at?.step === step) l++;
    } else l++;
  }
  return result;
}

// ---- removal

/** The value without the paths of a set. A value with nothing left becomes null. */
export function removed(type: FieldType, value: unknown, paths: FieldSet): unknown {
  if (paths.size === 0) return value;
  const form = formOf(type, value);
  if (form === 'map' && type.map) return removedFromMap(type.map, value, paths);
  if (form === 'list' && type.list) return removedFromList(type.list, value, paths);
  return value;
}

function removedFromMap(type: MapType, value: unknown, paths: FieldSet): unknown {
  const map = asMap(value);
  if (map === undefined || type.atomic) return null;
  const result: Record<string, unknown> = {};
  for (const key of Object.keys(map)) {
    const node = paths.get(`f:${key}`);
    if (node?.member) continue;
    result[key] = node === undefined ? map[key] : removed(elementOf(type, key), map[key], node.children);
  }
  return Object.keys(result).length > 0 ? result : null;
}

function removedFromList(type: ListType, value: unknown, paths: FieldSet): unknown {
  const list = asList(value);
  if (list === undefined || type.how === 'atomic') return null;
  const result: unknown[] = [];
  for (const item of list) {
    let step = '';
    try {
      step = stepOf(type, item);
    } catch (error) {
      if (!(error instanceof BadItem)) throw error;
    }
    const node = paths.get(step);
    if (node?.member) continue;
    result.push(node === undefined ? item : removed(type.element(), item, node.children));
  }
  return result.length > 0 ? result : null;
}

// ---- validation of a configuration

/** One line per error, `.spec.ports: …`; empty = valid. */
export function faultsOf(type: FieldType, value: unknown): readonly string[] {
  const faults: string[] = [];
  check(type, value, '', faults);
  return faults;
}

/** The errors as one message. */
export const faultText = (faults: readonly string[]): string =>
  faults.length === 1 ? (faults[0] as string) : ['errors:', ...faults.map((fault) => `  ${fault}`)].join('\n');

const fault = (path: string, why: string): string => (path === '' ? why : `${path}: ${why}`);

function check(type: FieldType, value: unknown, path: string, faults: string[]): void {
  if (value === null || value === undefined) return;
  const form = formOf(type, value);
  if (form === 'map') {
    if (!isObject(value)) faults.push(fault(path, `expected map, got &{${goPrinted(value)}}`));
    else checkMap(type.map as MapType, value, path, faults);
  } else if (form === 'list') {
    if (!Array.isArray(value)) faults.push(fault(path, `expected list, got &{${goPrinted(value)}}`));
    else checkList(type.list as ListType, value, path, faults);
  } else checkScalar(type.scalar as NonNullable<FieldType['scalar']>, value, path, faults);
}

function checkMap(type: MapType, map: Readonly<Record<string, unknown>>, path: string, faults: string[]): void {
  for (const key of Object.keys(map)) {
    const at = `${path}.${key}`;
    const below = type.field(key) ?? type.element?.();
    // A real server also stops at the first unknown field of an object.
    if (below === undefined) {
      faults.push(fault(at, 'field not declared in schema'));
      return;
    }
    check(below, map[key], at, faults);
  }
}

function checkList(type: ListType, list: readonly unknown[], path: string, faults: string[]): void {
  const seen = new Set<string>();
  for (const [index, item] of list.entries()) {
    let at = `${path}[${index}]`;
    if (type.how !== 'atomic') {
      try {
        const step = stepOf(type, item);
        if (seen.has(step)) faults.push(fault(path, `duplicate entries for key ${stepText(step)}`));
        seen.add(step);
        at = `${path}${stepText(step)}`;
      } catch (error) {
        if (!(error instanceof BadItem)) throw error;
        faults.push(fault(path, `element ${index}: ${error.message}`));
        return;
      }
    }
    check(type.element(), item, at, faults);
  }
}

function checkScalar(scalar: NonNullable<FieldType['scalar']>, value: unknown, path: string, faults: string[]): void {
  const type = typeof value;
  if (scalar === 'numeric' && type !== 'number')
    faults.push(fault(path, `expected numeric (int or float), got ${goType(value)}`));
  if (scalar === 'string' && type !== 'string')
    faults.push(fault(path, `expected string, got &value.valueUnstructured{Value:${goLiteral(value)}}`));
  if (scalar === 'boolean' && type !== 'boolean')
    faults.push(fault(path, `expected boolean, got &{${goPrinted(value)}}`));
  if (scalar === 'untyped' && type === 'object')
    faults.push(fault(path, `expected any scalar, got &{${goPrinted(value)}}`));
}

const goType = (value: unknown): string =>
  typeof value === 'string'
    ? 'string'
    : typeof value === 'boolean'
      ? 'bool'
      : Array.isArray(value)
        ? '[]interface {}'
        : 'map[string]interface {}';

/** As Go's %v prints plain data. */
function goPrinted(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(goPrinted).join(' ')}]`;
  if (!isObject(value)) return value === null ? '<nil>' : String(value);
  const keys = Object.keys(value).sort();
  return `map[${keys.map((key) => `${key}:${goPrinted(value[key])}`).join(' ')}]`;
}

/** As Go's %#v prints it. */
function goLiteral(value: unknown): string {
  if (Array.isArray(value)) return `[]interface {}{${value.map(goLiteral).join(', ')}}`;
  if (!isObject(value)) return value === null ? 'interface {}(nil)' : JSON.stringify(value);
  const keys = Object.keys(value).sort();
  return `map[string]interface {}{${keys.map((key) => `${JSON.stringify(key)}:${goLiteral(value[key])}`).join(', ')}}`;
}
