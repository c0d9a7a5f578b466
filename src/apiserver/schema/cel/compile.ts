// Compiles an expression to a function and checks its types: an expression that a real server rejects in a CRD is
// rejected here, with the same message.
//
// The parser is @marcbachmann/cel-js. Checking and evaluation are ours, because a server needs three things that a
// general library does not have: linear-time regular expressions, a budget that no operator can bypass, and types from
// schemas.
import { type ASTNode, Environment, ParseError } from '@marcbachmann/cel-js';
import { concatenated, element, optionalElement, reader } from './access.ts';
import { Budget, RULE_LIMIT } from './budget.ts';
import { asBool, type Compiled, type Compiling, type Scope, signatureText, type Variable } from './compiled.ts';
import { Converter } from './declare.ts';
import { direct, dispatch } from './invoke.ts';
import { CompileError, describeIssues, type Issue } from './issue.ts';
import { kubernetesFunctions } from './kubernetes.ts';
import { listFunctions } from './lists.ts';
import { compileMacro } from './macros.ts';
import { type Library, libraryOf, resolve } from './overload.ts';
import { positionOf } from './position.ts';
import { durationOfText, standardFunctions, timestampOfText } from './standard.ts';
import { createPatterns, textFunctions } from './text.ts';
import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DYN,
  fits,
  INT,
  joined,
  listOf,
  mapOf,
  NULL,
  optionalOf,
  STRING,
  TYPE,
  typeText,
  UINT,
} from './type.ts';
import { CelError, equals, mapKey, Optional, TypeName, Uint } from './value.ts';

export interface Program {
  readonly type: CelType;
  readonly uses: ReadonlySet<string>;
  /** Values of the variables by name. Throws CelError or BudgetExceeded. */
  run(variables: Readonly<Record<string, RawValue>>, budget?: Budget): unknown;
}

/** JSON with the type from its schema. */
export interface RawValue {
  readonly raw: unknown;
  readonly type: CelType;
}

const parser = new Environment({ enableOptionalTypes: true, unlistedVariablesAreDyn: true });
const library: Library = libraryOf(standardFunctions, textFunctions(), listFunctions, kubernetesFunctions);
const patternOf = createPatterns();

/** Throws CompileError with a message for the user. */
export function compileExpression(source: string, variables: Readonly<Record<string, CelType>>): Program {
  const compiler = new Compiler();
  const names = Object.keys(variables);
  const scope = new Map<string, Variable>();
  for (const name of names) scope.set(name, { slot: compiler.newSlot(), type: variables[name] ?? DYN });
  const compiled = compiler.compile(parse(source), scope);
  if (compiler.issues.length > 0) {
    throw new CompileError(`compilation failed: ${describeIssues(source, compiler.issues)}`);
  }
  if (compiler.constantError !== undefined) {
    throw new CompileError(`program instantiation failed: ${compiler.constantError}`);
  }
  const slotCount = compiler.slotCount;
  return {
    type: compiled.type,
    uses: compiler.used,
    run(values, budget = new Budget(RULE_LIMIT)) {
      budget.spend(compiled.size);
      const converter = new Converter();
      const slots = new Array<unknown>(slotCount);
      for (const [at, name] of names.entries()) {
        const value = values[name];
        if (value === undefined || !compiler.used.has(name)) continue;
        const { raw, type } = value;
        slots[at] =
          type.kind === 'optional'
            ? raw === undefined
              ? Optional.none
              : Optional.of(converter.valueOf(raw, type.item))
            : converter.valueOf(raw, type);
      }
      return compiled.run({ slots, budget, converter });
    },
  };
}

function parse(source: string): ASTNode {
  try {
    return parser.parse(source).ast;
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    const at = error.range?.start ?? 0;
    const text =
      error.code === 'invalid_macro_argument' ? 'argument must be a simple name' : `Syntax error: ${error.summary}`;
    throw new CompileError(`compilation failed: ${describeIssues(source, [{ at, text }])}`);
  }
}

const TYPE_NAMES: ReadonlySet<string> = new Set([
  'bool',
  'int',
  'uint',
  'double',
  'string',
  'bytes',
  'list',
  'map',
  'null_type',
  'type',
]);
const QUALIFIED_TYPE_NAMES: ReadonlySet<string> = new Set(['google.protobuf.Timestamp', 'google.protobuf.Duration']);

class Compiler implements Compiling {
  readonly issues: Issue[] = [];
  readonly used = new Set<string>();
  slotCount = 0;
  /** The error of a call with constant arguments. */
  constantError: string | undefined;
  #allowsMixed = false;

  newSlot(): number {
    return this.slotCount++;
  }

  /** Records the error and continues with a value that matches every type, so that one mistake is reported once. */
  fail(node: ASTNode, text: string, at = positionOf(node)): Compiled {
    this.issues.push({ at, text });
    return { type: DYN, run: () => null, size: 1 };
  }

  noOverload(node: ASTNode, name: string, signature: string): Compiled {
    return this.fail(node, `found no matching overload for '${name}' applied to '${signature}'`);
  }

  compile(node: ASTNode, scope: Scope): Compiled {
    switch (node.op) {
      case 'value':
        return literal(node.args);
      case 'id':
        return this.#identifier(node, node.args, scope);
      case '.':
        return this.#select(node, node.args[0], node.args[1], scope);
      case '.?':
        return this.#optionalSelect(node, node.args[0], node.args[1], scope);
      case '[]':
        return this.#index(node, node.args[0], node.args[1], scope);
      case '[?]':
        return this.#optionalIndex(node, node.args[0], node.args[1], scope);
      case 'call':
        return this.#call(node, node.args[0], node.args[1], scope);
      case 'rcall':
        return this.#method(node, node.args[0], node.args[1], node.args[2], scope);
      case 'list':
        return this.#list(node.args, scope);
      case 'map':
        return this.#map(node.args, scope);
      case '?:':
        return this.#conditional(node, node.args, scope);
      case '||':
      case '&&':
        return this.#logical(node.op === '||', node.args, scope);
      case '!_':
      case '-_':
        return this.#apply(node, node.op, [this.compile(node.args, scope)], false);
      case '==':
      case '!=':
        return this.#equality(node, node.op === '==', node.args, scope);
      case 'in':
        return this.#membership(node, node.args, scope);
      case '+':
        return this.#plus(node, node.args, scope);
      default: {
        const [left, right] = node.args;
        return this.#apply(node, `_${node.op}_`, [this.compile(left, scope), this.compile(right, scope)], false);
      }
    }
  }

  #identifier(node: ASTNode, name: string, scope: Scope): Compiled {
    const variable = scope.get(name);
    if (variable !== undefined) {
      this.used.add(name);
      const { slot, type } = variable;
      return { type, run: (frame) => frame.slots[slot], size: 1 };
    }
    if (TYPE_NAMES.has(name)) {
      const value = new TypeName(name);
      return { type: TYPE, run: () => value, size: 1 };
    }
    return this.fail(node, `undeclared reference to '${name}' (in container '')`);
  }

  // ---- fields and elements

  #select(node: ASTNode, operand: ASTNode, name: string, scope: Scope): Compiled {
    const qualified = qualifiedName(node);
    if (qualified !== undefined && QUALIFIED_TYPE_NAMES.has(qualified) && !scope.has('google')) {
      const value = new TypeName(qualified);
      return { type: TYPE, run: () => value, size: 1 };
    }
    const object = this.compile(operand, scope);
    return this.field(node, object, name);
  }

  /** Reads a field that may be absent: `has` and the optional forms test for `undefined`. */
  field(node: ASTNode, object: Compiled, name: string, at = positionOf(node)): Compiled {
    const type = this.fieldType(node, object.type, name, at);
    if (type === undefined) return { type: DYN, run: () => null, size: 1 };
    const read = reader(object.type, name);
    if (object.type.kind === 'optional') {
      return {
        type: optionalOf(type),
        run: (frame) => {
          const value = read(frame, object.run(frame));
          return value === undefined ? Optional.none : Optional.of(value);
        },
        size: object.size + 1,
      };
    }
    return {
      type,
      run: (frame) => {
        const value = read(frame, object.run(frame));
        if (value === undefined) throw new CelError(`no such key: ${name}`);
        return value;
      },
      size: object.size + 1,
    };
  }

  fieldType(node: ASTNode, type: CelType, name: string, at: number): CelType | undefined {
    switch (type.kind) {
      case 'dyn':
        return DYN;
      case 'optional':
        return this.fieldType(node, type.item, name, at);
      case 'map':
        return type.value;
      case 'object': {
        const field = type.fields.get(name);
        if (field === undefined) this.fail(node, `undefined field '${name}'`, at);
        return field?.type;
      }
      default:
        this.fail(node, `type '${typeText(type)}' does not support field selection`, at);
        return undefined;
    }
  }

  #optionalSelect(node: ASTNode, operand: ASTNode, name: string, scope: Scope): Compiled {
    const object = this.compile(operand, scope);
    const type = this.fieldType(node, object.type, name, positionOf(node));
    const read = reader(object.type, name);
    return {
      type: optionalOf(type ?? DYN),
      run: (frame) => {
        const value = read(frame, object.run(frame));
        return value === undefined ? Optional.none : Optional.of(value);
      },
      size: object.size + 1,
    };
  }

  /** Whether the field is present. `node` is the `has(…)` itself. */
  presence(node: ASTNode, operand: ASTNode, scope: Scope): Compiled {
    if (operand.op !== '.' && operand.op !== '.?') return this.fail(node, 'invalid argument to has() macro');
    const [inner, name] = operand.args;
    const object = this.compile(inner, scope);
    this.fieldType(node, object.type, name, positionOf(node));
    const read = reader(object.type, name);
    return { type: BOOL, run: (frame) => read(frame, object.run(frame)) !== undefined, size: object.size + 1 };
  }

  #index(node: ASTNode, operand: ASTNode, key: ASTNode, scope: Scope): Compiled {
    const [container, index] = [this.compile(operand, scope), this.compile(key, scope)];
    const type = this.#elementType(node, container.type, index.type);
    return {
      type: container.type.kind === 'optional' ? optionalOf(type) : type,
      run: (frame) => {
        const from = container.run(frame);
        if (from instanceof Optional) return optionalElement(from, index.run(frame));
        return element(from, index.run(frame));
      },
      size: container.size + index.size + 1,
    };
  }

  #optionalIndex(node: ASTNode, operand: ASTNode, key: ASTNode, scope: Scope): Compiled {
    const [container, index] = [this.compile(operand, scope), this.compile(key, scope)];
    const type = this.#elementType(node, container.type, index.type);
    return {
      type: optionalOf(type),
      run: (frame) => {
        const from = container.run(frame);
        return optionalElement(from instanceof Optional ? from : Optional.of(from), index.run(frame));
      },
      size: container.size + index.size + 1,
    };
  }

  #elementType(node: ASTNode, container: CelType, index: CelType): CelType {
    const inner = container.kind === 'optional' ? container.item : container;
    if (inner.kind === 'dyn') return DYN;
    if (inner.kind === 'list' && fits(INT, index, new Map())) return inner.item;
    if (inner.kind === 'map' && fits(inner.key, index, new Map())) return inner.value;
    this.noOverload(node, '_[_]', `(${typeText(container)}, ${typeText(index)})`);
    return DYN;
  }

  // ---- calls

  #call(node: ASTNode, name: string, args: readonly ASTNode[], scope: Scope): Compiled {
    const [first] = args;
    if (name === 'has' && first !== undefined && args.length === 1) return this.presence(node, first, scope);
    const compiled = args.map((arg) => this.compile(arg, scope));
    this.#checkLiterals(name, args);
    return this.#apply(node, name, compiled, false);
  }

  #method(node: ASTNode, name: string, receiver: ASTNode, args: readonly ASTNode[], scope: Scope): Compiled {
    const namespace = qualifiedName(receiver);
    if (namespace !== undefined && !scope.has(namespace.split('.')[0] ?? '') && library.has(`${namespace}.${name}`)) {
      const compiled = args.map((arg) => this.compile(arg, scope));
      return this.#apply(node, `${namespace}.${name}`, compiled, false);
    }
    const macro = compileMacro(this, node, name, receiver, args, scope);
    if (macro !== undefined) return macro;
    // Arguments of format may have any type.
    const isMixed = this.#allowsMixed;
    this.#allowsMixed ||= name === 'format';
    const compiled = [receiver, ...args].map((arg) => this.compile(arg, scope));
    this.#allowsMixed = isMixed;
    if (name === 'matches') this.#checkLiterals(name, args);
    return this.#apply(node, name, compiled, true);
  }

  /** Reports errors at compile time that would otherwise always occur at run time. */
  #checkLiterals(name: string, args: readonly ASTNode[]): void {
    const check = LITERAL_CHECKS.get(name);
    const last = args.at(-1);
    if (check === undefined || last?.op !== 'value' || typeof last.args !== 'string') return;
    try {
      check(last.args);
    } catch (error) {
      if (!(error instanceof CelError)) throw error;
      this.fail(last, `invalid ${name} argument`);
    }
  }

  #apply(node: ASTNode, name: string, args: readonly Compiled[], isMethod: boolean): Compiled {
    const forms = library.get(name);
    if (forms === undefined) return this.fail(node, `undeclared reference to '${name}' (in container '')`);
    const argTypes = args.map((arg) => arg.type);
    const resolved = resolve(forms, argTypes, isMethod);
    if (resolved === undefined) return this.noOverload(node, name, signatureText(argTypes, isMethod));
    const { overloads, result, isCertain } = resolved;
    const size = args.reduce((sum, arg) => sum + arg.size, 1);
    const [only] = overloads;
    const run = isCertain && only !== undefined ? direct(only, args) : dispatch(overloads, args);
    if (FOLDED.has(name) && args.every((arg) => arg.isConstant)) this.#fold(run);
    return { type: result, run, size };
  }

  /** A conversion of a constant that always fails is reported when the rule is written. */
  #fold(run: Compiled['run']): void {
    const budget = new Budget(RULE_LIMIT);
    try {
      run({ slots: [], budget, converter: new Converter() });
    } catch (error) {
      if (!(error instanceof CelError)) throw error;
      this.constantError ??= error.message;
    }
  }

  // ---- operators with special rules

  #equality(node: ASTNode, wanted: boolean, [left, right]: readonly [ASTNode, ASTNode], scope: Scope): Compiled {
    const [a, b] = [this.compile(left, scope), this.compile(right, scope)];
    if (joined(a.type, b.type) === undefined) {
      return this.noOverload(node, wanted ? '_==_' : '_!=_', `(${typeText(a.type)}, ${typeText(b.type)})`);
    }
    return {
      type: BOOL,
      run: (frame) => equals(a.run(frame), b.run(frame), frame.budget) === wanted,
      size: a.size + b.size + 1,
    };
  }

  #membership(node: ASTNode, [left, right]: readonly [ASTNode, ASTNode], scope: Scope): Compiled {
    const [item, container] = [this.compile(left, scope), this.compile(right, scope)];
    const { type } = container;
    const known =
      type.kind === 'list' ? type.item : type.kind === 'map' ? type.key : type.kind === 'dyn' ? DYN : undefined;
    if (known === undefined || joined(known, item.type) === undefined) {
      return this.noOverload(node, '@in', `(${typeText(item.type)}, ${typeText(type)})`);
    }
    return {
      type: BOOL,
      run: (frame) => {
        const value = item.run(frame);
        const within = container.run(frame);
        if (within instanceof Map) return within.has(mapKey(value));
        if (!Array.isArray(within)) throw new CelError('no such overload');
        frame.budget.spend(within.length);
        return within.some((each) => equals(each, value, frame.budget));
      },
      size: item.size + container.size + 1,
    };
  }

  /** Lists can be added, too; sets and map lists without duplicates. */
  #plus(node: ASTNode, [left, right]: readonly [ASTNode, ASTNode], scope: Scope): Compiled {
    const [a, b] = [this.compile(left, scope), this.compile(right, scope)];
    if (a.type.kind !== 'list' && b.type.kind !== 'list') return this.#apply(node, '_+_', [a, b], false);
    const type = joined(a.type, b.type);
    if (type === undefined) return this.noOverload(node, '_+_', `(${typeText(a.type)}, ${typeText(b.type)})`);
    return {
      type,
      run: (frame) => {
        const [first, second] = [a.run(frame), b.run(frame)];
        if (!Array.isArray(first) || !Array.isArray(second)) throw new CelError('no such overload');
        frame.budget.spend(first.length + second.length);
        return concatenated(first, second);
      },
      size: a.size + b.size + 1,
    };
  }

  #conditional(node: ASTNode, parts: readonly [ASTNode, ASTNode, ASTNode], scope: Scope): Compiled {
    const [condition, yes, no] = parts.map((part) => this.compile(part, scope)) as [Compiled, Compiled, Compiled];
    const type = joined(yes.type, no.type);
    if (type === undefined || !fits(BOOL, condition.type, new Map())) {
      return this.noOverload(node, '_?_:_', signatureText([condition.type, yes.type, no.type], false));
    }
    return {
      type,
      run: (frame) => (asBool(condition.run(frame)) ? yes.run(frame) : no.run(frame)),
      size: condition.size + yes.size + no.size + 1,
    };
  }

  /** The deciding value (`true` for or) takes precedence over an error on the other side. */
  #logical(decisive: boolean, parts: readonly [ASTNode, ASTNode], scope: Scope): Compiled {
    const [left, right] = parts.map((part) => {
      const compiled = this.compile(part, scope);
      if (fits(BOOL, compiled.type, new Map())) return compiled;
      return this.fail(part, `expected type 'bool' but found '${typeText(compiled.type)}'`);
    }) as [Compiled, Compiled];
    return {
      type: BOOL,
      run: (frame) => {
        let first: boolean;
        try {
          first = asBool(left.run(frame));
        } catch (error) {
          if (error instanceof CelError && asBool(right.run(frame)) === decisive) return decisive;
          throw error;
        }
        return first === decisive ? decisive : asBool(right.run(frame));
      },
      size: left.size + right.size + 1,
    };
  }

  // ---- literals of lists and maps

  #list(items: readonly ASTNode[], scope: Scope): Compiled {
    const compiled = items.map((item) => this.compile(item, scope));
    const type = this.#common(items, compiled);
    return {
      type: listOf(type),
      run: (frame) => compiled.map((item) => item.run(frame)),
      size: compiled.reduce((sum, item) => sum + item.size, 1),
    };
  }

  #map(entries: readonly (readonly [ASTNode, ASTNode])[], scope: Scope): Compiled {
    const keys = entries.map(([key]) => this.compile(key, scope));
    const values = entries.map(([, value]) => this.compile(value, scope));
    const keyType = this.#common(
      entries.map(([key]) => key),
      keys,
    );
    const valueType = this.#common(
      entries.map(([, value]) => value),
      values,
    );
    return {
      type: mapOf(keyType, valueType),
      run: (frame) => new Map(keys.map((key, at) => [mapKey(key.run(frame)), values[at]?.run(frame)])),
      size: [...keys, ...values].reduce((sum, part) => sum + part.size, 1),
    };
  }

  /** All elements of a literal have the same type. */
  #common(nodes: readonly ASTNode[], compiled: readonly Compiled[]): CelType {
    let type: CelType | undefined;
    for (const [at, each] of compiled.entries()) {
      const next = type === undefined ? each.type : joined(type, each.type);
      if (next === undefined) {
        if (this.#allowsMixed) return DYN;
        const expected = `expected type '${typeText(type ?? DYN)}' but found '${typeText(each.type)}'`;
        this.fail(nodes[at] as ASTNode, expected);
        return DYN;
      }
      type = next;
    }
    return type ?? DYN;
  }
}

/** Functions that a server evaluates at compile time if the arguments are constants. */
const FOLDED: ReadonlySet<string> = new Set(['int', 'uint', 'double', 'bool', 'string', 'bytes', 'find', 'findAll']);

const LITERAL_CHECKS: ReadonlyMap<string, (text: string) => unknown> = new Map<string, (text: string) => unknown>([
  ['matches', patternOf],
  ['duration', durationOfText],
  ['timestamp', timestampOfText],
]);

function qualifiedName(node: ASTNode): string | undefined {
  if (node.op === 'id') return node.args;
  if (node.op !== '.') return undefined;
  const before = qualifiedName(node.args[0]);
  return before === undefined ? undefined : `${before}.${node.args[1]}`;
}

function literal(value: unknown): Compiled {
  const constant = (type: CelType, made: unknown = value): Compiled => ({
    type,
    run: () => made,
    size: 1,
    isConstant: true,
  });
  if (typeof value === 'string') return constant(STRING);
  if (typeof value === 'bigint') return constant(INT);
  if (typeof value === 'number') return constant(DOUBLE);
  if (typeof value === 'boolean') return constant(BOOL);
  if (value === null) return constant(NULL);
  if (value instanceof Uint8Array) return constant(BYTES);
  return constant(UINT, new Uint(BigInt(String(value))));
}
