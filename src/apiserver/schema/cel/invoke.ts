// Calls of functions: directly if the static types determine the overload, otherwise by the values.
import type { Budget } from './budget.ts';
import type { Compiled, Frame } from './compiled.ts';
import { accepts, type Overload } from './overload.ts';
import { CelError } from './value.ts';

// Types of fixed size: a call costs only its position in the expression.
const FIXED: ReadonlySet<string> = new Set(['bool', 'int', 'uint', 'double', 'timestamp', 'duration', 'type', 'null']);

export function direct(overload: Overload, args: readonly Compiled[]): (frame: Frame) => unknown {
  const { run } = overload;
  const [a, b] = args;
  if (overload.params.every((param) => FIXED.has(param.kind))) {
    if (args.length === 2 && a !== undefined && b !== undefined) return (frame) => run(a.run(frame), b.run(frame));
    if (args.length === 1 && a !== undefined) return (frame) => run(a.run(frame));
  }
  return (frame) => {
    const values = args.map((arg) => arg.run(frame));
    charge(overload, values, frame.budget);
    return run(...values);
  };
}

export function dispatch(overloads: readonly Overload[], args: readonly Compiled[]): (frame: Frame) => unknown {
  return (frame) => {
    const values = args.map((arg) => arg.run(frame));
    for (const overload of overloads) {
      if (!overload.params.every((param, at) => accepts(param, values[at]))) continue;
      charge(overload, values, frame.budget);
      return overload.run(...values);
    }
    throw new CelError('no such overload');
  };
}

/** Charges for the size of the arguments, and for the additional cost of the function. */
function charge(overload: Overload, args: readonly unknown[], budget: Budget): void {
  let steps = 1;
  for (const arg of args) {
    if (typeof arg === 'string' || Array.isArray(arg) || arg instanceof Uint8Array) steps += arg.length * 0.1;
  }
  if (overload.cost !== undefined) steps += overload.cost(...args);
  budget.spend(steps);
}
