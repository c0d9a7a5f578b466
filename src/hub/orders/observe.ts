// Gathers what orders follow from. Every controller that needs the orders of a placement takes them from here, so that the rollout, the status
// and staged runs never disagree about what a cluster should have.
import type { Need, See } from '../../runtime/controller.ts';
import type { PlacementFamily } from '../families.ts';
import type { HubPlacement } from '../placement-sources.ts';
import type { Orders } from './order.ts';
import { ordersFor } from './orders-for.ts';

export interface ObserveOrders {
  readonly family: PlacementFamily;
  readonly placement: HubPlacement;
  /** Name of the first snapshot of the revision's group. */
  readonly snapshot: string;
}

/** Need = something must be read first, such as the content of the revision that overrides are matched against. */
export function observeOrders(_see: See, { placement, snapshot }: ObserveOrders): Orders | Need {
  return ordersFor({ placement, snapshot });
}
