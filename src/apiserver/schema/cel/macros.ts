// Macros: calls that bind variables. They loop, and each iteration is charged with the size of its body.
//
// `all` and `exists` continue after an error, because one false or one true decides. The others stop at the first
// error.
import type { ASTNode } from '@marcbachmann/cel-js';
import {
  asBool,
  type Compiled,
  type Compiling,
  type Frame,
  type Scope,
  signatureText,
  type Variable,
} from './compiled.ts';
import { positionOf } from './position.ts';
import { BOOL, type CelType, DYN, fits, INT, joined, listOf, mapOf, optionalOf, typeText } from './type.ts';
import { CelError, mapKey, Optional } from './value.ts';

type Expander = (call: Call) => Compiled;

interface Call {
  readonly compiler: Compiling;
  readonly node: ASTNode;
  readonly range: Compiled;
  readonly args: readonly ASTNode[];
  readonly scope: Scope;
}

/** By name and number of arguments. */
const MACROS: ReadonlyMap<string, Expander> = new Map<string, Expander>([
  ['all/2', (call) => quantifier(call, 1, false)],
  ['all/3', (call) => quantifier(call, 2, false)],
  ['exists/2', (call) => quantifier(call, 1, true)],
  ['exists/3', (call) => quantifier(call, 2, true)],
  ['exists_one/2', (call) => existsOne(call, 1)],
  ['existsOne/2', (call) => existsOne(call, 1)],
  ['exists_one/3', (call) => existsOne(call, 2)],
  ['existsOne/3', (call) => existsOne(call, 2)],
  ['map/2', (call) => mapped(call, 1, false)],
  ['map/3', (call) => mapped(call, 1, true)],
  ['filter/2', filtered],
  ['transformList/3', (call) => mapped(call, 2, false)],
  ['transformList/4', (call) => mapped(call, 2, true)],
  ['transformMap/3', (call) => mapOfEntries(call, false)],
  ['transformMap/4', (call) => mapOfEntries(call, true)],
  ['transformMapEntry/3', (call) => entriesOf(call, false)],
  ['transformMapEntry/4', (call) => entriesOf(call, true)],
]);

const OPTIONAL_MACROS: ReadonlySet<string> = new Set(['or/1', 'orValue/1', 'optMap/2', 'optFlatMap/2']);

/** undefined = the call is not a macro. */
export function compileMacro(
  compiler: Compiling,
  node: ASTNode,
  name: string,
  receiver: ASTNode,
  args: readonly ASTNode[],
  scope: Scope,
): Compiled | undefined {
  const key = `${name}/${args.length}`;
  if (OPTIONAL_MACROS.has(key)) return optionalMacro(compiler, node, name, receiver, args, scope);
  const macro = MACROS.get(key);
  if (macro === undefined) return undefined;
  const range = compiler.compile(receiver, scope);
  const { kind } = range.type;
  if (kind !== 'list' && kind !== 'map' && kind !== 'dyn') {
    const why = `expression of type '${typeText(range.type)}' cannot be range of a comprehension (must be list, map, or dynamic)`;
    return compiler.fail(node, why, positionOf(receiver));
  }
  return macro({ compiler, node, range, args, scope });
}

// ---- loops

interface Loop {
  readonly scope: Scope;
  /** Calls `visit` for each element until it returns false. */
  each(frame: Frame, cost: number, visit: () => boolean): void;
}

/** With two variables a list yields index and item, a map key and value; with one a map yields its keys. */
function loopOf({ compiler, range, args, scope }: Call, variables: 1 | 2): Loop {
  const { type } = range;
  const item = type.kind === 'list' ? type.item : type.kind === 'map' ? (variables === 1 ? type.key : type.value) : DYN;
  const first = type.kind === 'list' ? INT : type.kind === 'map' ? type.key : DYN;
  const inner = new Map<string, Variable>(scope);
  const slots: number[] = [];
  for (const [at, variableType] of (variables === 1 ? [item] : [first, item]).entries()) {
    const node = args[at] as ASTNode;
    if (node.op !== 'id') {
      compiler.fail(node, 'argument must be a simple name');
      continue;
    }
    const slot = compiler.newSlot();
    slots.push(slot);
    inner.set(node.args, { slot, type: variableType });
  }
  const [one = 0, two = 0] = slots;
  return {
    scope: inner,
    each(frame, cost, visit) {
      const value = range.run(frame);
      const set = (position: unknown, element: unknown): void => {
        frame.budget.spend(cost);
        frame.slots[one] = variables === 1 ? element : position;
        if (variables === 2) frame.slots[two] = element;
      };
      if (Array.isArray(value)) {
        for (let at = 0; at < value.length; at++) {
          set(variables === 1 ? undefined : BigInt(at), value[at]);
          if (!visit()) return;
        }
      } else if (value instanceof Map) {
        for (const [key, element] of value) {
          set(key, variables === 1 ? key : element);
          if (!visit()) return;
        }
      } else {
        throw new CelError('no such overload');
      }
    },
  };
}

/** A condition inside a macro. */
function condition(call: Call, node: ASTNode, scope: Scope): Compiled {
  const compiled = call.compiler.compile(node, scope);
  if (fits(BOOL, compiled.type, new Map())) return compiled;
  return call.compiler.fail(node, `expected type 'bool' but found '${typeText(compiled.type)}'`);
}

function quantifier(call: Call, variables: 1 | 2, decisive: boolean): Compiled {
  const loop = loopOf(call, variables);
  const predicate = condition(call, call.args[variables] as ASTNode, loop.scope);
  const cost = predicate.size + 1;
  return {
    type: BOOL,
    run: (frame) => {
      let failure: CelError | undefined;
      let decided = false;
      loop.each(frame, cost, () => {
        try {
          decided = asBool(predicate.run(frame)) === decisive;
        } catch (error) {
          if (!(error instanceof CelError)) throw error;
          failure ??= error;
        }
        return !decided;
      });
      if (decided) return decisive;
      if (failure !== undefined) throw failure;
      return !decisive;
    },
    size: call.range.size + 1,
  };
}

function existsOne(call: Call, variables: 1 | 2): Compiled {
  const loop = loopOf(call, variables);
  const predicate = call.compiler.compile(call.args[variables] as ASTNode, loop.scope);
  if (!fits(BOOL, predicate.type, new Map())) {
    return call.compiler.noOverload(call.node, '_?_:_', signatureText([predicate.type, INT, INT], false));
  }
  return {
    type: BOOL,
    run: (frame) => {
      let count = 0;
      loop.each(frame, predicate.size + 1, () => {
        if (asBool(predicate.run(frame))) count++;
        return true;
      });
      return count === 1;
    },
    size: call.range.size + 1,
  };
}

function mapped(call: Call, variables: 1 | 2, isFiltered: boolean): Compiled {
  const loop = loopOf(call, variables);
  const filter = isFiltered ? condition(call, call.args[variables] as ASTNode, loop.scope) : undefined;
  const transform = call.compiler.compile(call.args[variables + (isFiltered ? 1 : 0)] as ASTNode, loop.scope);
  const cost = transform.size + (filter?.size ?? 0) + 1;
  return {
    type: listOf(transform.type),
    run: (frame) => {
      const list: unknown[] = [];
      loop.each(frame, cost, () => {
        if (filter === undefined || asBool(filter.run(frame))) list.push(transform.run(frame));
        return true;
      });
      return list;
    },
    size: call.range.size + 1,
  };
}

function filtered(call: Call): Compiled {
  const loop = loopOf(call, 1);
  const predicate = condition(call, call.args[1] as ASTNode, loop.scope);
  const { type } = call.range;
  const item = type.kind === 'list' ? type.item : type.kind === 'map' ? type.key : DYN;
  const [variable] = call.args;
  const slot = variable?.op === 'id' ? (loop.scope.get(variable.args)?.slot ?? 0) : 0;
  return {
    type: listOf(item),
    run: (frame) => {
      const list: unknown[] = [];
      loop.each(frame, predicate.size + 1, () => {
        const element = frame.slots[slot];
        if (asBool(predicate.run(frame))) list.push(element);
        return true;
      });
      return list;
    },
    size: call.range.size + 1,
  };
}

function mapOfEntries(call: Call, isFiltered: boolean): Compiled {
  const loop = loopOf(call, 2);
  const filter = isFiltered ? condition(call, call.args[2] as ASTNode, loop.scope) : undefined;
  const transform = call.compiler.compile(call.args[isFiltered ? 3 : 2] as ASTNode, loop.scope);
  const { type } = call.range;
  const keyType: CelType = type.kind === 'map' ? type.key : type.kind === 'list' ? INT : DYN;
  const [variable] = call.args;
  const slot = variable?.op === 'id' ? (loop.scope.get(variable.args)?.slot ?? 0) : 0;
  return {
    type: mapOf(keyType, transform.type),
    run: (frame) => {
      const map = new Map<unknown, unknown>();
      loop.each(frame, transform.size + (filter?.size ?? 0) + 1, () => {
        const key = frame.slots[slot];
        if (filter === undefined || asBool(filter.run(frame))) map.set(mapKey(key), transform.run(frame));
        return true;
      });
      return map;
    },
    size: call.range.size + 1,
  };
}

function entriesOf(call: Call, isFiltered: boolean): Compiled {
  const loop = loopOf(call, 2);
  const filter = isFiltered ? condition(call, call.args[2] as ASTNode, loop.scope) : undefined;
  const transform = call.compiler.compile(call.args[isFiltered ? 3 : 2] as ASTNode, loop.scope);
  return {
    type: transform.type.kind === 'map' ? transform.type : mapOf(DYN, DYN),
    run: (frame) => {
      const map = new Map<unknown, unknown>();
      loop.each(frame, transform.size + (filter?.size ?? 0) + 1, () => {
        if (filter !== undefined && !asBool(filter.run(frame))) return true;
        const entries = transform.run(frame);
        if (!(entries instanceof Map)) throw new CelError('no such overload');
        for (const [key, value] of entries) {
          if (map.has(key)) throw new CelError(`insert failed: key ${String(key)} already exists`);
          map.set(key, value);
        }
        return true;
      });
      return map;
    },
    size: call.range.size + 1,
  };
}

// ---- optionals

function optionalMacro(
  compiler: Compiling,
  node: ASTNode,
  name: string,
  receiver: ASTNode,
  args: readonly ASTNode[],
  scope: Scope,
): Compiled {
  const target = compiler.compile(receiver, scope);
  const { type } = target;
  const isOptional = type.kind === 'optional';
  if (!isOptional && type.kind !== 'dyn') {
    const others = name.startsWith('opt') ? [] : args.map((arg) => compiler.compile(arg, scope).type);
    return compiler.noOverload(node, name, signatureText([type, ...others], true));
  }
  const item = isOptional ? type.item : DYN;
  const optionalIn = (frame: Frame): Optional => {
    const value = target.run(frame);
    if (value instanceof Optional) return value;
    throw new CelError('no such overload');
  };
  const [first, second] = args as [ASTNode, ASTNode | undefined];

  if (name === 'or' || name === 'orValue') {
    const fallback = compiler.compile(first, scope);
    const wanted = name === 'or' ? optionalOf(item) : item;
    const result = joined(wanted, fallback.type);
    if (result === undefined) return compiler.noOverload(node, name, signatureText([type, fallback.type], true));
    return {
      type: result,
      run: (frame) => {
        const value = optionalIn(frame);
        if (!value.hasValue) return fallback.run(frame);
        return name === 'or' ? value : value.value;
      },
      size: target.size + fallback.size + 1,
    };
  }

  if (first.op !== 'id' || second === undefined) return compiler.fail(first, 'argument must be a simple name');
  const slot = compiler.newSlot();
  const inner = new Map<string, Variable>(scope).set(first.args, { slot, type: item });
  const body = compiler.compile(second, inner);
  const isFlat = name === 'optFlatMap';
  return {
    type: isFlat ? body.type : optionalOf(body.type),
    run: (frame) => {
      const value = optionalIn(frame);
      if (!value.hasValue) return Optional.none;
      frame.slots[slot] = value.value;
      const result = body.run(frame);
      return isFlat ? result : Optional.of(result);
    },
    size: target.size + body.size + 1,
  };
}
