// What the parts of the compiler share: the shape of a compiled expression and of a running one.
import type { ASTNode } from '@marcbachmann/cel-js';
import type { Budget } from './budget.ts';
import type { Converter } from './declare.ts';
import { type CelType, typeText } from './type.ts';
import { CelError } from './value.ts';

/** What an evaluation has in hand: variables by number, and what it may still spend. */
export interface Frame {
  readonly slots: unknown[];
  readonly budget: Budget;
  readonly converter: Converter;
}

export interface Compiled {
  readonly type: CelType;
  readonly run: (frame: Frame) => unknown;
  /** How many steps it takes, loops not counted. */
  readonly size: number;
  /** A literal. */
  readonly isConstant?: boolean;
}

export interface Variable {
  readonly slot: number;
  readonly type: CelType;
}

export type Scope = ReadonlyMap<string, Variable>;

/** The compiler, as macros see it. */
export interface Compiling {
  compile(node: ASTNode, scope: Scope): Compiled;
  newSlot(): number;
  /** Notes what is wrong and goes on with a value that fits everywhere, so that one mistake is told once. */
  fail(node: ASTNode, text: string, at?: number): Compiled;
  noOverload(node: ASTNode, name: string, signature: string): Compiled;
}

/** The types of a call's arguments, as messages print them. */
export function signatureText(types: readonly CelType[], isMethod: boolean): string {
  const texts = types.map(typeText);
  return isMethod ? `${texts[0]}.(${texts.slice(1).join(', ')})` : `(${texts.join(', ')})`;
}

export function asBool(value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  throw new CelError('no such overload');
}
