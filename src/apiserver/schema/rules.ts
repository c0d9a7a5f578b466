// The rules of a schema (x-kubernetes-validations), compiled once. Parts of the schema without rules are not visited.
//
// A rule with oldSelf runs only where an old value correlates with the new one. A failure of another rule is ignored if
// the value did not change, so that an object older than the rule can still be updated.
import type { FieldCause } from '../../api/kind.ts';
import type { CelRule } from '../../api/schema.ts';
import { duplicate, forbiddenField, invalidValue, required } from '../../api/status.ts';
import { deepEqual } from '../../base/json.ts';
import { Budget, BudgetExceeded, OBJECT_LIMIT, RULE_LIMIT } from './cel/budget.ts';
import { declaredType } from './cel/declare.ts';
import { type CompiledRule, compileRule } from './cel/rule.ts';
import type { CelType } from './cel/type.ts';
import { CelError } from './cel/value.ts';
import { oldField, oldItems } from './correlate.ts';
import type { SchemaNode } from './node.ts';
import { bracketed, field, index, key, type Path } from './path.ts';

export interface Rules {
  validate(value: unknown, old: unknown): readonly FieldCause[];
}

/** The part of a schema with rules, here or below. */
interface RuleTree {
  readonly node: SchemaNode;
  readonly type: CelType;
  readonly rules: readonly CompiledRule[];
  readonly allOf: readonly RuleTree[];
  readonly fields: ReadonlyMap<string, RuleTree>;
  readonly additional: RuleTree | undefined;
  readonly items: RuleTree | undefined;
}

const compiled = new WeakMap<SchemaNode, { readonly rules: Rules | undefined }>();

/** undefined = the schema has no rules. */
export function rulesOf(root: SchemaNode): Rules | undefined {
  const known = compiled.get(root);
  if (known !== undefined) return known.rules;
  const tree = treeOf(root, root, true);
  const rules: Rules | undefined = tree && {
    validate(value, old) {
      const run = new Run();
      run.visit(tree, value, old, undefined, old === undefined ? undefined : new Correlation(value, old, undefined));
      return run.causes;
    },
  };
  compiled.set(root, { rules });
  return rules;
}

/** `source` has the rules, `spine` the types: inside an allOf these are different schemas. */
function treeOf(source: SchemaNode, spine: SchemaNode, isWhole: boolean): RuleTree | undefined {
  const type = declaredType(spine, isWhole);
  if (type === undefined) return undefined;
  const fields = new Map<string, RuleTree>();
  for (const [name, child] of source.properties) {
    const childSpine = spine.properties.get(name);
    const tree = childSpine && treeOf(child, childSpine, childSpine.isEmbedded);
    if (tree !== undefined) fields.set(name, tree);
  }
  const below = (from: SchemaNode | undefined, along: SchemaNode | undefined): RuleTree | undefined =>
    from && along && treeOf(from, along, along.isEmbedded);
  const tree: RuleTree = {
    node: spine,
    type,
    rules: (source.schema['x-kubernetes-validations'] ?? []).map((rule) => compileRule(rule, type)),
    allOf: source.allOf.map((part) => treeOf(part, spine, isWhole)).filter((part) => part !== undefined),
    fields,
    additional: below(source.additional, spine.additional),
    items: below(source.items, spine.items),
  };
  const isEmpty =
    tree.rules.length === 0 &&
    tree.allOf.length === 0 &&
    fields.size === 0 &&
    tree.additional === undefined &&
    tree.items === undefined;
  return isEmpty ? undefined : tree;
}

/** A value with its old one and their parents: decides whether anything here is new. */
class Correlation {
  readonly #value: unknown;
  readonly #old: unknown;
  readonly #parent: Correlation | undefined;
  #isEqual: boolean | undefined;

  /** `old` undefined = nothing correlates with this value; its parent decides. */
  constructor(value: unknown, old: unknown, parent: Correlation | undefined) {
    this.#value = value;
    this.#old = old;
    this.#parent = parent;
  }

  get isUnchanged(): boolean {
    if (this.#old === undefined) return this.#parent?.isUnchanged ?? false;
    this.#isEqual ??= deepEqual(this.#value, this.#old);
    return this.#isEqual;
  }
}

class Run {
  readonly causes: FieldCause[] = [];
  #left = OBJECT_LIMIT;
  #isOver = false;

  visit(
    tree: RuleTree,
    value: unknown,
    old: unknown,
    path: Path | undefined,
    correlation: Correlation | undefined,
  ): void {
    if (value === null || value === undefined) return;
    for (const rule of tree.rules) {
      if (this.#isOver) return;
      this.#check(rule, tree, value, old ?? undefined, path, correlation);
    }
    // As on a real server, failures inside an allOf are not ignored for unchanged values.
    for (const part of tree.allOf) this.visit(part, value, old, path, undefined);
    if (this.#isOver || typeof value !== 'object') return;
    const child = (inner: unknown, oldInner: unknown): Correlation | undefined =>
      correlation && new Correlation(inner, oldInner, correlation);
    if (Array.isArray(value)) {
      if (tree.items === undefined) return;
      const oldFor = old === undefined ? undefined : oldItems(tree.node, old);
      for (let at = 0; at < value.length; at++) {
        const oldItem = oldFor?.(value[at]);
        this.visit(tree.items, value[at], oldItem, index(path, at), child(value[at], oldItem));
      }
      return;
    }
    const object = value as Readonly<Record<string, unknown>>;
    for (const [name, inner] of tree.fields) {
      if (!Object.hasOwn(object, name)) continue;
      const oldInner = oldField(old, name);
      this.visit(inner, object[name], oldInner, field(path, name), child(object[name], oldInner));
    }
    if (tree.additional === undefined) return;
    for (const name of Object.keys(object)) {
      const oldInner = oldField(old, name);
      this.visit(tree.additional, object[name], oldInner, key(path, name), child(object[name], oldInner));
    }
  }

  #check(
    { rule, program, message, error }: CompiledRule,
    { type, node }: RuleTree,
    value: unknown,
    old: unknown,
    path: Path | undefined,
    correlation: Correlation | undefined,
  ): void {
    const what = node.schema.type ?? '';
    const say = (why: string): void => {
      this.causes.push(invalidValue(bracketed(path), what, why));
    };
    if (program === undefined) {
      if (error !== undefined) say(`rule compile error: ${error}`);
      return;
    }
    const usesOld = program.uses.has('oldSelf');
    if (usesOld && old === undefined && rule.optionalOldSelf !== true) return;
    if (this.#left <= 0) {
      this.#isOver = true;
      say(OUT_OF_BUDGET);
      return;
    }
    const budget = new Budget(Math.min(RULE_LIMIT, this.#left));
    const oldType: CelType = rule.optionalOldSelf === true ? { kind: 'optional', item: type } : type;
    const variables = { self: { raw: value, type }, oldSelf: { raw: old, type: oldType } };
    try {
      if (program.run(variables, budget) === true) return;
      if (!usesOld && correlation?.isUnchanged) return;
      const text = message === undefined ? undefined : messageText(() => message.run(variables, budget));
      this.causes.push(causeOf(rule, path, what, text ?? rule.message?.trim() ?? ''));
    } catch (failure) {
      if (failure instanceof CelError) {
        say(
          failure.message.startsWith('no such overload')
            ? `'${failure.message}': call arguments did not match a supported operator, function or macro signature for rule: ${nameOf(rule)}`
            : `${failure.message} evaluating rule: ${nameOf(rule)}`,
        );
      } else if (failure instanceof BudgetExceeded) {
        this.#isOver = true;
        say(
          this.#left < RULE_LIMIT
            ? OUT_OF_BUDGET
            : `'${failure.message}': no further validation rules will be run due to call cost exceeds limit for rule: ${nameOf(rule)}`,
        );
      } else {
        throw failure;
      }
    } finally {
      this.#left -= Math.min(RULE_LIMIT, this.#left) - Math.max(0, budget.left);
    }
  }
}

const OUT_OF_BUDGET = 'validation failed due to running out of cost budget, no further validation rules will be run';

/** The name of a rule in error messages. */
const nameOf = (rule: CelRule): string => (rule.message ? rule.message : rule.rule).trim();

const LONGEST_MESSAGE = 5 * 1024;

/** If the messageExpression fails or is invalid, the rule's fixed message is used. */
function messageText(run: () => unknown): string | undefined {
  try {
    const text = run();
    if (typeof text !== 'string') return undefined;
    const trimmed = text.trim();
    return trimmed === '' || trimmed.includes('\n') || Buffer.byteLength(trimmed) > LONGEST_MESSAGE
      ? undefined
      : trimmed;
  } catch (error) {
    if (error instanceof CelError) return undefined;
    throw error;
  }
}

function causeOf(rule: CelRule, path: Path | undefined, what: string, message: string): FieldCause {
  const base = bracketed(path);
  const inner = rule.fieldPath === undefined ? '' : fieldPathText(rule.fieldPath);
  const at = inner === '' ? base : path === undefined ? inner : `${base}.${inner}`;
  const text = message === '' ? `failed rule: ${nameOf(rule)}` : message;
  switch (rule.reason) {
    case 'FieldValueForbidden':
      return forbiddenField(at, text);
    case 'FieldValueRequired':
      return required(at, text);
    case 'FieldValueDuplicate':
      return duplicate(at, what);
    default:
      return invalidValue(at, what, text);
  }
}

/** Converts `.a['b.c'].d` to the format of error messages. */
const fieldPathText = (text: string): string =>
  text
    .replace(/\['((?:[^'\\]|\\.)*)'\]/g, (_all, name: string) => `[${name.replace(/\\(.)/g, '$1')}]`)
    .replace(/^\./, '');
