// Which fields a value has, and which differ between two values, by the type.
import { deepEqual } from '../../base/json.ts';
import { EMPTY, type FieldNode, type FieldSet, FieldSetBuilder, union } from './field-set.ts';
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

// ---- the fields of a value

/** The leaves of a value, with the items of lists and the keys of maps on the way to them. */
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
    // An item that is there twice belongs to one manager as a whole.
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

/** The items of a list by their steps, in order. An item that cannot be told from others is left out: live objects may have some. */
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

/** The set with every declared field that leads to one of its paths. */
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
  const comparing = new Comparing();
  comparing.values(type, old, next);
  return { added: comparing.added.done(), modified: comparing.modified.done(), removed: comparing.removed.done() };
}

/** undefined = absent. */
class Comparing {
  readonly added = new FieldSetBuilder();
  readonly modified = new FieldSetBuilder();
  readonly removed = new FieldSetBuilder();
  readonly #path: string[] = [];

  values(type: FieldType, old: unknown, next: unknown): void {
    // Most of an object is shared between its revisions.
    if (old === next) return;
    const before = formOf(type, old);
    const after = formOf(type, next);
    if (next === undefined) this.#as(before, type, old, next);
    else {
      if (old !== undefined && before !== after) this.#as(before, type, old, next);
      this.#as(after, type, old, next);
    }
  }

  #as(form: Form, type: FieldType, old: unknown, next: unknown): void {
    const isLeaf =
      form === 'scalar' ||
      (form === 'list' && this.#list(type.list as ListType, old, next)) ||
      (form === 'map' && this.#map(type.map as MapType, old, next));
    if (old === undefined) this.added.insert(this.#path);
    else if (next === undefined) this.removed.insert(this.#path);
    else if (isLeaf && !deepEqual(old, next)) this.modified.insert(this.#path);
  }

  /** True if the two were to be compared as a whole. */
  #list(type: ListType, old: unknown, next: unknown): boolean {
    const [before, after] = [asList(old) ?? [], asList(next) ?? []];
    if (type.how === 'atomic' || (before.length === 0 && after.length === 0)) return true;
    const olds = itemsOf(type, before);
    const news = itemsOf(type, after);
    for (const step of new Set([...olds.keys(), ...news.keys()])) {
      this.#path.push(step);
      this.#items(type.element(), olds.get(step) ?? [], news.get(step) ?? []);
      this.#path.pop();
    }
    return false;
  }

  #items(type: FieldType, olds: readonly unknown[], news: readonly unknown[]): void {
    if (olds.length <= 1 && news.length <= 1) this.values(type, olds[0], news[0]);
    else if (olds.length > 1 && news.length > 1) {
      if (!deepEqual(olds, news)) this.modified.insert(this.#path);
    } else if (olds.length > 1) {
      if (news.length > 0) this.values(type, undefined, news[0]);
      this.removed.insert(this.#path);
    } else {
      if (olds.length > 0) this.values(type, olds[0], undefined);
      this.added.insert(this.#path);
    }
  }

  #map(type: MapType, old: unknown, next: unknown): boolean {
    const [before, after] = [asMap(old) ?? {}, asMap(next) ?? {}];
    const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
    if (type.atomic || keys.size === 0) return true;
    for (const key of keys) {
      this.#path.push(`f:${key}`);
      this.values(elementOf(type, key), own(before, key), own(after, key));
      this.#path.pop();
    }
    return false;
  }
}

const own = (map: Readonly<Record<string, unknown>>, key: string): unknown =>
  Object.hasOwn(map, key) ? map[key] : undefined;
