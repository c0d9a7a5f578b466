// The value of a property of a member, as a quantity. Pure.
import type { MemberCluster } from '../../api/member-cluster.ts';
import type { MemberStatus } from '../../api/member-status.ts';
import { type PropertySource, propertySourceOf } from '../../api/property-name.ts';
import { createLru } from '../../base/lru.ts';
import { parseQuantity, type Quantity } from '../../base/quantity.ts';

export type Reading =
  | {
      readonly is: 'quantity';
      readonly quantity: Quantity /* For ranking only: comparisons are exact. */;
      readonly number: number;
    }
  | { readonly is: 'missing' }
  /** Differs from KubeFleet: there such a value fails the scheduling of the whole placement. */
  | { readonly is: 'not a quantity' };

const MISSING: Reading = Object.freeze({ is: 'missing' });
const NOT_A_QUANTITY: Reading = Object.freeze({ is: 'not a quantity' });

/** Policies name few properties. */
const MAX_PROPERTIES = 256;
const known = createLru<string, WeakMap<MemberStatus, Reading>>(MAX_PROPERTIES);

/** Reads one property of any member. Quantities are parsed once per status of a member. */
export function readerOf(name: string): (member: MemberCluster) => Reading {
  const source = propertySourceOf(name);
  if (source === undefined) return () => MISSING;
  const readings = known.get(name) ?? new WeakMap<MemberStatus, Reading>();
  known.set(name, readings);
  return ({ status }) => {
    if (status === undefined) return MISSING;
    const found = readings.get(status);
    if (found !== undefined) return found;
    const reading = readingOf(valueIn(status, source));
    // A mutable status must not be cached by identity.
    if (Object.isFrozen(status)) readings.set(status, reading);
    return reading;
  };
}

function valueIn({ properties, resourceUsage }: MemberStatus, { from, key }: PropertySource) {
  if (from === 'properties') return own(properties, key)?.value;
  return own(resourceUsage?.[from], key);
}

const own = <T>(map: Readonly<Record<string, T>> | undefined, key: string): T | undefined =>
  map !== undefined && Object.hasOwn(map, key) ? map[key] : undefined;

const NANO = 1e9;

export const roundedNumber = ({ nano }: Quantity): number => Number(nano) / NANO;

function readingOf(value: string | number | undefined): Reading {
  if (value === undefined) return MISSING;
  const quantity = parseQuantity(value);
  return quantity === undefined ? NOT_A_QUANTITY : { is: 'quantity', quantity, number: roundedNumber(quantity) };
}

export function isReported(name: string, members: readonly MemberCluster[]): boolean {
  const read = readerOf(name);
  return members.some((member) => read(member).is === 'quantity');
}

/** Why a member has no number for this property. */
export const whyUnread = (name: string, reading: Exclude<Reading, { readonly is: 'quantity' }>): string =>
  `property "${name}" is ${reading.is === 'missing' ? 'not reported' : 'not a quantity'}`;
