// The fields of a value, and the difference between two values, by type.
import { deepEqual } from '../../base/json.ts';
import { EMPTY, type FieldNode, type FieldSet, FieldSetBuilder, LEAF, union } from './field-set.ts';
import {
  asList,
  asMap,
  BadItem,
  elementOf,
  type FieldType,
  type Form,
  formOf,
  type ListType,
  type MapType,
  stepOf,
} from './field-type.ts';
import { noSteps, type Shape } from './shape.ts';

// ---- the fields of a value

/** The leaves of a value, plus the list items and map keys on the path to them. */
export function fieldsOf(type: FieldType, value: unknown): FieldSet {
  const builder = new FieldSetBuilder();
  collect(type, value, [], builder);
  return builder.done();
}

function collect(type: FieldType, value: unknown, path: string[], into: FieldSetBuilder): void {
  const form = formOf(type, value);
  if (form === 'scalar') into.insert(path);
  else if (form === 'list') collectList(type.list as ListType, value, path, into);
  else collectMap(type.map as MapType, value, path, into);
}

function collectList(type: ListType, value: unknown, path: string[], into: FieldSetBuilder): void {
  if (type.how === 'atomic') {
    into.insert(path);
    return;
  }
  for (const [step, items] of itemsOf(type, asList(value) ?? [])) {
    path.push(step);
    // A duplicate item belongs to one manager as a whole.
    if (items.length === 1) collect(type.element(), items[0], path, into);
    into.insert(path);
    path.pop();
  }
}

function collectMap(type: MapType, value: unknown, path: string[], into: FieldSetBuilder): void {
  if (type.atomic) {
    into.insert(path);
    return;
  }
  const map = asMap(value) ?? {};
  for (const key of Object.keys(map)) {
    const item = map[key];
    if (item === undefined) continue;
    path.push(`f:${key}`);
    collect(elementOf(type, key), item, path, into);
    const inner = asMap(item);
    const saysNothing = item === null || (inner !== undefined && Object.keys(inner).length === 0);
    if (saysNothing || type.field(key) === undefined) into.insert(path);
    path.pop();
  }
}

/** The items of a list by their steps, in order. An item without a valid key is omitted: live objects may have some. */
export function itemsOf(type: ListType, list: readonly unknown[]): ReadonlyMap<string, readonly unknown[]> {
  const items = new Map<string, unknown[]>();
  for (const item of list) {
    let step: string;
    try {
      step = stepOf(type, item);
    } catch (error) {
      if (error instanceof BadItem) continue;
      throw error;
    }
    const same = items.get(step);
    if (same) same.push(item);
    else items.set(step, [item]);
  }
  return items;
}

/** The set plus every declared field on the way to one of its paths. */
export function withNamedFields(type: FieldType | undefined, set: FieldSet): FieldSet {
  if (set.size === 0) return EMPTY;
  const result = new Map<string, FieldNode>();
  for (const [step, { member, children }] of set) {
    const name = step.startsWith('f:') ? step.slice(2) : undefined;
    const declared = name === undefined ? undefined : type?.map?.field(name);
    const below = declared ?? (name === undefined ? type?.list?.element() : type?.map?.element?.());
    result.set(step, {
      member: member || (declared !== undefined && children.size > 0),
      children: withNamedFields(below, children),
    });
  }
  return result;
}

// ---- the difference between two values

export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

export const changedIn = ({ added, modified }: Comparison): FieldSet => union(modified, added);

export function compare(type: FieldType, old: unknown, next: unknown): Comparison {
  const sides: Sides = {};
  compareAt('', type, old, next, sides);
  const at = (side: keyof Sides): FieldSet => sides[side]?.set.get('')?.children ?? EMPTY;
  return { added: at('added'), modified: at('modified'), removed: at('removed') };
}

/** The differences below one path. Most comparisons have none on most sides. */
type Sides = { -readonly [side in keyof Comparison]?: Shape };

function put(sides: Sides, side: keyof Sides, step: string, node: FieldNode): void {
  sides[side] = (sides[side] ?? noSteps()).with(step, node);
}

/** undefined = absent. */
function compareAt(step: string, type: FieldType, old: unknown, next: unknown, into: Sides): void {
  // Revisions of an object share most of their parts.
  if (old === next) return;
  if (old === undefined || next === undefined) {
    const isNew = old === undefined;
    put(into, isNew ? 'added' : 'removed', step, wholeOf(type, isNew ? next : old));
    return;
  }
  const below: Sides = {};
  const before = formOf(type, old);
  const after = formOf(type, next);
  const isLeaf = before !== after && isComparedWhole(before, type, old, next, below);
  const isChanged = (isComparedWhole(after, type, old, next, below) || isLeaf) && !deepEqual(old, next);
  if (below.added) put(into, 'added', step, below.added.node(false));
  if (below.removed) put(into, 'removed', step, below.removed.node(false));
  if (below.modified) put(into, 'modified', step, below.modified.node(isChanged));
  else if (isChanged) put(into, 'modified', step, LEAF);
}

/** True if both values have no comparable parts. */
function isComparedWhole(form: Form, type: FieldType, old: unknown, next: unknown, below: Sides): boolean {
  if (form === 'list') return compareLists(type.list as ListType, asList(old) ?? [], asList(next) ?? [], below);
  if (form === 'map') return compareMaps(type.map as MapType, asMap(old) ?? {}, asMap(next) ?? {}, below);
  return true;
}

function compareLists(type: ListType, before: readonly unknown[], after: readonly unknown[], below: Sides): boolean {
  if (type.how === 'atomic' || (before.length === 0 && after.length === 0)) return true;
  const olds = itemsOf(type, before);
  const news = itemsOf(type, after);
  const element = type.element();
  for (const [step, items] of olds) compareItems(step, element, items, news.get(step) ?? [], below);
  for (const [step, items] of news) if (!olds.has(step)) compareItems(step, element, [], items, below);
  return false;
}

function compareItems(
  step: string,
  type: FieldType,
  olds: readonly unknown[],
  news: readonly unknown[],
  below: Sides,
): void {
  if (olds.length <= 1 && news.length <= 1) compareAt(step, type, olds[0], news[0], below);
  else if (olds.length > 1 && news.length > 1) {
    if (!deepEqual(olds, news)) put(below, 'modified', step, LEAF);
  } else if (olds.length > 1) {
    if (news.length > 0) compareAt(step, type, undefined, news[0], below);
    put(below, 'removed', step, LEAF);
  } else {
    if (olds.length > 0) compareAt(step, type, olds[0], undefined, below);
    put(below, 'added', step, LEAF);
  }
}

function compareMaps(type: MapType, before: FieldMap, after: FieldMap, below: Sides): boolean {
  const [olds, news] = [Object.keys(before), Object.keys(after)];
  if (type.atomic || (olds.length === 0 && news.length === 0)) return true;
  for (const key of olds) compareAt(`f:${key}`, elementOf(type, key), before[key], own(after, key), below);
  for (const key of news) {
    if (!Object.hasOwn(before, key)) compareAt(`f:${key}`, elementOf(type, key), undefined, after[key], below);
  }
  return false;
}

/** All paths of a value that exists on one side only, including those of maps and lists. */
function wholeOf(type: FieldType, value: unknown): FieldNode {
  const form = formOf(type, value);
  if (form === 'list') return wholeItems(type.list as ListType, asList(value) ?? []);
  return form === 'map' ? wholeFields(type.map as MapType, asMap(value) ?? {}) : LEAF;
}

function wholeItems(type: ListType, list: readonly unknown[]): FieldNode {
  if (type.how === 'atomic') return LEAF;
  const element = type.element();
  let shape = noSteps();
  for (const [step, items] of itemsOf(type, list)) {
    if (items.length > 1) shape = shape.with(step);
    else if (items[0] !== undefined) shape = shape.with(step, wholeOf(element, items[0]));
  }
  return shape.node(true);
}

function wholeFields(type: MapType, map: FieldMap): FieldNode {
  if (type.atomic) return LEAF;
  let shape = noSteps();
  for (const key of Object.keys(map)) {
    if (map[key] !== undefined) shape = shape.with(`f:${key}`, wholeOf(elementOf(type, key), map[key]));
  }
  return shape.node(true);
}

type FieldMap = Readonly<Record<string, unknown>>;

const own = (map: FieldMap, key: string): unknown => (Object.hasOwn(map, key) ? map[key] : undefined);
