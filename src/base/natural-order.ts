// Sorts names with numbers naturally: member-2 before member-10.
import { byText } from './compare.ts';

const PARTS = /\d+|\D+/g;
const isNumber = (part: string): boolean => part >= '0' && part < ':';

export function byName(a: string, b: string): number {
  const [left, right] = [a.match(PARTS) ?? [], b.match(PARTS) ?? []];
  for (let at = 0; at < Math.min(left.length, right.length); at++) {
    const [one, other] = [left[at] as string, right[at] as string];
    const difference = isNumber(one) && isNumber(other) ? byDigits(one, other) : byText(one, other);
    if (difference !== 0) return difference;
  }
  return left.length - right.length || byText(a, b);
}

/** Compares digits as text, because a name may have more digits than a number can hold. */
function byDigits(a: string, b: string): number {
  const [one, other] = [a.replace(/^0+/, ''), b.replace(/^0+/, '')];
  return one.length - other.length || byText(one, other);
}
