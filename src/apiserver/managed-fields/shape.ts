// Field sets that are shared by shape. Most objects of a kind have the same fields, so their owners share one set, and
// the set its FieldsV1: a create costs a few lookups, and parsed objects do not hold a tree of owners each.
import { EMPTY, type FieldNode, type FieldSet, LEAF, sizeOf } from './field-set.ts';

/**
 * Clients choose the keys of data and labels, so the cache is cleared after this many steps; sets in use stay valid.
 */
const MAX_STEPS = 50_000;

/** The steps of a set so far, in insertion order. */
export class Shape {
  readonly #before: Shape | undefined;
  readonly #step: string;
  readonly #node: FieldNode;
  readonly #leaves = new Map<string, Shape>();
  #branches: Map<FieldNode, Map<string, Shape>> | undefined;
  #set: FieldSet | undefined;
  #member: FieldNode | undefined;
  #passage: FieldNode | undefined;

  constructor(before?: Shape, step = '', node: FieldNode = LEAF) {
    this.#before = before;
    this.#step = step;
    this.#node = node;
  }

  get isEmpty(): boolean {
    return this.#before === undefined;
  }

  /** The same steps and one more, which must be new. */
  with(step: string, node: FieldNode = LEAF): Shape {
    const known = node === LEAF ? this.#leaves : this.#below(node);
    let shape = known.get(step);
    if (shape === undefined) {
      shape = new Shape(this, step, node);
      known.set(step, shape);
      remembered++;
    }
    return shape;
  }

  #below(node: FieldNode): Map<string, Shape> {
    this.#branches ??= new Map();
    let below = this.#branches.get(node);
    if (below === undefined) {
      below = new Map();
      this.#branches.set(node, below);
    }
    return below;
  }

  get set(): FieldSet {
    this.#set ??= this.#steps();
    return this.#set;
  }

  #steps(): FieldSet {
    const steps: [string, FieldNode][] = [];
    for (let shape: Shape = this; shape.#before !== undefined; shape = shape.#before) {
      steps.push([shape.#step, shape.#node]);
    }
    remembered += steps.length;
    return steps.length === 0 ? EMPTY : new Map(steps.reverse());
  }

  /** A path with these steps below it; `member`: the path itself is in the set. */
  node(member: boolean): FieldNode {
    if (member) {
      this.#member ??= this.isEmpty ? LEAF : { member, children: this.set };
      return this.#member;
    }
    this.#passage ??= { member, children: this.set };
    return this.#passage;
  }
}

let remembered = 0;
let root = new Shape();

export function noSteps(): Shape {
  if (remembered > MAX_STEPS) {
    remembered = 0;
    root = new Shape();
  }
  return root;
}

/** Caches the result of an operation on two sets, as long as both sets are in use. */
export function oncePerPair(operate: (a: FieldSet, b: FieldSet) => FieldSet): (a: FieldSet, b: FieldSet) => FieldSet {
  const known = new WeakMap<FieldSet, WeakMap<FieldSet, FieldSet>>();
  return (a, b) => {
    let results = known.get(a);
    if (results === undefined) {
      results = new WeakMap();
      known.set(a, results);
    }
    let result = results.get(b);
    if (result === undefined) {
      result = operate(a, b);
      results.set(b, result);
      remembered += sizeOf(result);
    }
    return result;
  };
}
