// What the clusters of a placement should have with one revision. Pure: the caller brings what it has read. Overrides enter here, and only here.
import { applyStrategyOf } from '../apply-strategy.ts';
import type { HubPlacement } from '../placement-sources.ts';
import type { Order, Orders } from './order.ts';

export interface OrdersInput {
  readonly placement: Pick<HubPlacement, 'metadata' | 'spec'>;
  /** Name of the first snapshot of the revision's group. */
  readonly snapshot: string;
}

/** No override is in force yet: all clusters have the same. */
export function ordersFor({ placement, snapshot }: OrdersInput): Orders {
  const order: Order = { snapshot, applyStrategy: applyStrategyOf(placement) };
  return () => order;
}
