// Whether the comparisons of one term can all be true. A term with a contradiction could never match a cluster.
import { compareQuantities, parseQuantity, type Quantity } from '../base/quantity.ts';
import type { PropertyExpression } from './cluster-selector.ts';

interface Bound {
  readonly value: Quantity;
  readonly isStrict: boolean;
  readonly text: string;
}

interface Bounds {
  lower?: Bound;
  upper?: Bound;
  equal?: Bound;
  readonly unequal: Bound[];
}

/** Two comparisons of one property that cannot both be true, such as `Gt 5 and Lt 3`; undefined = there are none. */
export interface Contradiction {
  readonly property: string;
  readonly between: string;
}

export function contradictionIn(expressions: readonly PropertyExpression[]): Contradiction | undefined {
  const known = new Map<string, Bounds>();
  for (const { name: property, operator, values } of expressions) {
    const value = parseQuantity(values[0] ?? '');
    if (value === undefined) continue;
    const bounds = known.get(property) ?? { unequal: [] };
    known.set(property, bounds);
    narrow(bounds, operator, {
      value,
      isStrict: operator === 'Gt' || operator === 'Lt',
      text: `${operator} ${values[0]}`,
    });
    const between = conflict(bounds);
    if (between !== undefined) return { property, between };
  }
  return undefined;
}

function narrow(bounds: Bounds, operator: PropertyExpression['operator'], bound: Bound): void {
  switch (operator) {
    case 'Gt':
    case 'Ge':
      if (bounds.lower === undefined || isTighter(bound, bounds.lower, 1)) bounds.lower = bound;
      return;
    case 'Lt':
    case 'Le':
      if (bounds.upper === undefined || isTighter(bound, bounds.upper, -1)) bounds.upper = bound;
      return;
    case 'Ne':
      bounds.unequal.push(bound);
      return;
    default:
      // A second, different value becomes a bound, which then conflicts with the first.
      if (bounds.equal === undefined) bounds.equal = bound;
      else if (compareQuantities(bounds.equal.value, bound.value) !== 0) bounds.lower = bounds.upper = bound;
  }
}

function isTighter(bound: Bound, than: Bound, direction: 1 | -1): boolean {
  const difference = compareQuantities(bound.value, than.value) * direction;
  return difference > 0 || (difference === 0 && bound.isStrict);
}

function conflict({ lower, upper, equal, unequal }: Bounds): string | undefined {
  const both = (a: Bound, b: Bound) => `${a.text} and ${b.text}`;
  if (equal !== undefined) {
    if (lower !== undefined && !isWithin(equal, lower, 1)) return both(equal, lower);
    if (upper !== undefined && !isWithin(equal, upper, -1)) return both(equal, upper);
    const other = unequal.find(({ value }) => compareQuantities(value, equal.value) === 0);
    return other && both(equal, other);
  }
  if (lower === undefined || upper === undefined) return undefined;
  const difference = compareQuantities(lower.value, upper.value);
  if (difference > 0 || (difference === 0 && (lower.isStrict || upper.isStrict))) return both(lower, upper);
  const other = difference < 0 ? undefined : unequal.find(({ value }) => compareQuantities(value, lower.value) === 0);
  return other && `${both(lower, upper)} and ${other.text}`;
}

function isWithin({ value }: Bound, bound: Bound, direction: 1 | -1): boolean {
  const difference = compareQuantities(value, bound.value) * direction;
  return difference > 0 || (difference === 0 && !bound.isStrict);
}
