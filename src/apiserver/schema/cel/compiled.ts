// Types that the parts of the compiler share: a compiled expression and its evaluation.
import type { ASTNode } from '@marcbachmann/cel-js';
import type { Budget } from './budget.ts';
import type { Converter } from './declare.ts';
import { type CelType, typeText } from './type.ts';
import { CelError } from './value.ts';

/** The state of an evaluation: variables by slot, and the remaining budget. */
export interface Frame {
  readonly slots: unknown[];
  readonly budget: Budget;
  readonly converter: Converter;
}

export interface Compiled {
  readonly type: CelType;
  readonly run: (frame: Frame) => unknown;
  /** The number of steps, without loops. */
  readonly size: number;
  /** A literal. */
  readonly isConstant?: boolean;
}

export interface Variable {
  readonly slot: number;
  readonly type: CelType;
}

export type Scope = ReadonlyMap<string, Variable>;

/** The compiler's interface for macros. */
export interface Compiling {
  compile(node: ASTNode, scope: Scope): Compiled;
  newSlot(): number;
  /** Records the error and continues with a value that matches every type, so that one mistake is reported once. */
  fail(node: ASTNode, text: string, at?: number): Compiled;
  noOverload(node: ASTNode, name: string, signature: string): Compiled;
}

/** The types of a call's arguments, as in error messages. */
export function signatureText(types: readonly CelType[], isMethod: boolean): string {
  const texts = types.map(typeText);
  return isMethod ? `${texts[0]}.(${texts.slice(1).join(', ')})` : `(${texts.join(', ')})`;
}

export function asBool(value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  throw new CelError('no such overload');
}
