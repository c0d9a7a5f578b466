// Sets of field paths, as a tree. The steps of a path are those of FieldsV1: `f:name` is a field, `k:{"name":"web"}` an
// item of a list by its keys, `v:"x"` an item of a set by its value, `i:0` an item by its index. Sets are immutable:
// every operation creates a new one.
import { byNumber, byText } from '../../base/compare.ts';
import { isObject } from '../../base/json.ts';

export interface FieldNode {
  /** The path itself is in the set, not only paths below it. */
  readonly member: boolean;
  readonly children: FieldSet;
}
export type FieldSet = ReadonlyMap<string, FieldNode>;

export const EMPTY: FieldSet = new Map();
export const LEAF: FieldNode = { member: true, children: EMPTY };

/** Collects paths. */
export class FieldSetBuilder {
  readonly #root: MutableNode = { member: false, children: new Map() };

  insert(path: readonly string[]): void {
    let node = this.#root;
    for (const step of path) {
      let next = node.children.get(step);
      if (next === undefined) {
        next = { member: false, children: new Map() };
        node.children.set(step, next);
      }
      node = next;
    }
    node.member = true;
  }

  /** The paths so far; do not use the builder afterwards. */
  done(): FieldSet {
    return this.#root.children;
  }
}

interface MutableNode {
  member: boolean;
  readonly children: Map<string, MutableNode>;
}

export function setOf(...paths: readonly (readonly string[])[]): FieldSet {
  const builder = new FieldSetBuilder();
  for (const path of paths) builder.insert(path);
  return builder.done();
}

export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (a.size === 0 || a === b) return b;
  if (b.size === 0) return a;
  const result = new Map(a);
  for (const [step, node] of b) {
    const other = a.get(step);
    result.set(
      step,
      other ? { member: other.member || node.member, children: union(other.children, node.children) } : node,
    );
  }
  return result;
}

export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  const result = new Map<string, FieldNode>();
  for (const [step, node] of a) {
    const other = b.get(step);
    if (other === undefined) continue;
    keep(result, step, node.member && other.member, intersection(node.children, other.children));
  }
  return result;
}

/** The paths of `a` that are not in `b`; a path in `b` does not remove the paths below it. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  if (isDisjoint(a, b)) return a;
  const result = new Map<string, FieldNode>();
  for (const [step, node] of a) {
    const other = b.get(step);
    if (other === undefined) result.set(step, node);
    else keep(result, step, node.member && !other.member, difference(node.children, other.children));
  }
  return result;
}

/** The same, but a path in `b` also removes all paths below it. */
export function without(a: FieldSet, b: FieldSet): FieldSet {
  if (isDisjoint(a, b)) return a;
  const result = new Map<string, FieldNode>();
  for (const [step, node] of a) {
    const other = b.get(step);
    if (other === undefined) result.set(step, node);
    else if (!other.member) keep(result, step, node.member, without(node.children, other.children));
  }
  return result;
}

/** Compares only the first steps. */
function isDisjoint(a: FieldSet, b: FieldSet): boolean {
  const [few, many] = a.size < b.size ? [a, b] : [b, a];
  for (const step of few.keys()) if (many.has(step)) return false;
  return true;
}

/** Every path of `b` is in `a`. */
export function includes(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true;
  if (a.size < b.size) return false;
  for (const [step, { member, children }] of b) {
    const other = a.get(step);
    if (other === undefined || (member && !other.member) || !includes(other.children, children)) return false;
  }
  return true;
}

/** Only the paths that begin with this step. */
export function only(a: FieldSet, step: string): FieldSet {
  const node = a.get(step);
  return node === undefined ? EMPTY : new Map([[step, node]]);
}

function keep(result: Map<string, FieldNode>, step: string, member: boolean, children: FieldSet): void {
  if (member || children.size > 0) result.set(step, { member, children });
}

/** The number of all steps. */
export function sizeOf(set: FieldSet): number {
  let size = set.size;
  for (const { children } of set.values()) if (children.size > 0) size += sizeOf(children);
  return size;
}

export const isEmpty = (set: FieldSet): boolean => set.size === 0;

export function has(set: FieldSet, path: readonly string[]): boolean {
  let node: FieldNode | undefined;
  let children = set;
  for (const step of path) {
    node = children.get(step);
    if (node === undefined) return false;
    children = node.children;
  }
  return node?.member ?? false;
}

export function isEqualSet(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true;
  if (a.size !== b.size) return false;
  for (const [step, node] of a) {
    const other = b.get(step);
    if (other === undefined || other.member !== node.member || !isEqualSet(node.children, other.children)) return false;
  }
  return true;
}

/** All paths: at each node its own path before those below it. */
export function* pathsOf(set: FieldSet, prefix: readonly string[] = []): Generator<readonly string[]> {
  const steps = sortedSteps(set);
  for (const step of steps) if (set.get(step)?.member) yield [...prefix, step];
  for (const step of steps) yield* pathsOf((set.get(step) as FieldNode).children, [...prefix, step]);
}

export const sortedSteps = (set: FieldSet): readonly string[] => {
  const steps = [...set.keys()];
  if (steps.length < 2) return steps;
  // Most sets contain only fields, which are sorted as text.
  return steps.every((step) => step.startsWith('f:')) ? steps.sort() : steps.sort(bySteps);
};

const KINDS = 'fkvi';

/** Fields, then items by key, by value and by index. */
function bySteps(a: string, b: string): number {
  const kind = byNumber(KINDS.indexOf(a.charAt(0)), KINDS.indexOf(b.charAt(0)));
  if (kind !== 0) return kind;
  const [left, right] = [a.slice(2), b.slice(2)];
  if (a.startsWith('f:')) return byText(left, right);
  const [one, other] = [parsed(left), parsed(right)];
  if (!isObject(one) || !isObject(other)) return byScalar(one, other);
  const [names, others] = [Object.keys(one), Object.keys(other)];
  for (let index = 0; index < Math.min(names.length, others.length); index++) {
    const [name, its] = [names[index] as string, others[index] as string];
    const order = byText(name, its) || byScalar(one[name], other[its]);
    if (order !== 0) return order;
  }
  return byNumber(names.length, others.length);
}

function byScalar(a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') return byNumber(a, b);
  if (typeof a === typeof b) return byText(String(a), String(b));
  return typeof a === 'number' ? -1 : typeof b === 'number' ? 1 : byText(typeof b, typeof a);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** A path as in error messages: `.spec.containers[name="web"].image`. */
export const pathText = (path: readonly string[]): string => path.map(stepText).join('');

export function stepText(step: string): string {
  const rest = step.slice(2);
  if (step.startsWith('f:')) return `.${rest}`;
  if (step.startsWith('v:')) return `[=${rest}]`;
  if (step.startsWith('i:')) return `[${rest}]`;
  const keys = parsed(rest);
  if (!isObject(keys)) return `[${rest}]`;
  return `[${Object.entries(keys)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(',')}]`;
}
