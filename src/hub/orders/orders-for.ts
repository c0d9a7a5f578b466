// The desired state of the clusters of a placement with one revision. Pure: the caller provides what it has read. This
// is the only place where overrides are added.
import type { Hold } from '../../api/hold.ts';
import { memberCluster } from '../../api/member-cluster.ts';
import type { Labels } from '../../api/object.ts';
import type { HubOverrideSnapshot } from '../overrides/matching.ts';
import { overridesOn } from '../overrides/overriding.ts';
import type { HubPlacement } from '../placement-sources.ts';
import { VARIANT_VALUE, type VariantBook, variantFor } from '../revisions/variants.ts';
import { applyStrategyOf } from './apply-strategy.ts';
import { type Order, type Orders, revisionOf, type Undecided } from './order.ts';

export interface OrdersInput {
  readonly placement: Pick<HubPlacement, 'metadata' | 'spec'>;
  /** The name of the master snapshot of the revision. */
  readonly snapshot: string;
  /** The overrides in force that match objects of the revision; absent = none. */
  readonly overriding?: Overriding;
  /** For a revision whose content differs by cluster. */
  readonly variants?: Variants;
}

export interface Variants {
  readonly book: VariantBook;
  /** The labels of a member; undefined = it does not exist. */
  labelsOf(cluster: string): Labels | undefined;
}

export interface Overriding {
  readonly snapshots: readonly HubOverrideSnapshot[];
  /** A matching override without a snapshot: until it has one no cluster moves, or each would move twice. */
  readonly pending?: Hold;
  /** The labels of a member; undefined = it does not exist. */
  labelsOf(cluster: string): Labels | undefined;
}

export function ordersFor(input: OrdersInput): Orders {
  const orders = forcedOrders(input, overriddenOrders(input));
  return input.variants === undefined ? orders : withVariants(input, orders, input.variants);
}

/** Where an order and a binding record the number by which all objects are applied again, beside the override values. */
export const FORCE_VALUE = 'forceSyncGeneration';

function forcedOrders({ placement }: OrdersInput, orders: Orders): Orders {
  const { forceSyncGeneration = 0 } = placement.spec.source ?? {};
  if (forceSyncGeneration === 0) return orders;
  const shared = new Map<Order, Order>();
  return (cluster) => {
    const order = orders(cluster);
    if ('undecided' in order) return order;
    const forced = shared.get(order) ?? {
      ...order,
      overrideValues: { ...order.overrideValues, [FORCE_VALUE]: String(forceSyncGeneration) },
    };
    shared.set(order, forced);
    return forced;
  };
}

function overriddenOrders({ placement, snapshot, overriding }: OrdersInput): Orders {
  const plain: Order = { snapshot, applyStrategy: applyStrategyOf(placement) };
  if (overriding === undefined) return () => plain;
  const { snapshots, pending, labelsOf } = overriding;
  if (pending !== undefined) return () => ({ undecided: pending });
  if (snapshots.length === 0) return () => plain;
  const known = knownOrders(placement, plain, snapshots);
  return (cluster) => {
    const labels = labelsOf(cluster);
    return labels === undefined ? unknown(cluster) : known(cluster, labels);
  };
}

const memberRef = (name: string) => ({ group: memberCluster.group, kind: memberCluster.kind, name });

/** A cluster without a variant keeps what it has: its content could not be rendered, or is not rendered yet. */
function withVariants({ placement }: OrdersInput, orders: Orders, { book, labelsOf }: Variants): Orders {
  const shared = new Map<Order, Map<string, Order>>();
  return (cluster) => {
    const order = orders(cluster);
    if ('undecided' in order) return order;
    const labels = labelsOf(cluster);
    if (labels === undefined) return unknown(cluster);
    const variant = variantFor(book, labels);
    if (variant === undefined || 'error' in variant) {
      const on = memberRef(cluster);
      const { gitRepo = '' } = placement.spec.source ?? {};
      const hold: Hold =
        variant === undefined
          ? { code: 'VariantPending', subject: on, on, facts: {}, next: 'wait until the hub has rendered it' }
          : {
              code: 'RenderFailed',
              subject: on,
              on,
              facts: { message: variant.error },
              next: `correct the files, or the labels of the cluster (flotilla why gitrepo/${gitRepo})`,
            };
      return { undecided: hold };
    }
    const known = shared.get(order) ?? new Map<string, Order>();
    shared.set(order, known);
    const made = known.get(variant.id) ?? {
      ...order,
      overrideValues: { ...order.overrideValues, [VARIANT_VALUE]: variant.id },
    };
    known.set(variant.id, made);
    return made;
  };
}

const unknown = (cluster: string): Undecided => {
  const on = memberRef(cluster);
  return { undecided: { code: 'NotFound', subject: on, on, facts: {}, next: 'wait until the scheduler replaces it' } };
};

type Known = (cluster: string, labels: Labels) => Order;

interface Book {
  readonly plain: Order;
  readonly snapshots: readonly HubOverrideSnapshot[];
  readonly known: Known;
}

/**
 * A rollout over many clusters evaluates all of them whenever one changes, so orders are cached per cluster and labels.
 */
const books = new WeakMap<object, Book>();

function knownOrders(placement: object, plain: Order, snapshots: readonly HubOverrideSnapshot[]): Known {
  const book = books.get(placement);
  const isSame =
    book?.plain.snapshot === plain.snapshot &&
    revisionOf(book.plain).strategy === revisionOf(plain).strategy &&
    book.snapshots.length === snapshots.length &&
    book.snapshots.every((each, at) => each === snapshots[at]);
  if (book !== undefined && isSame) return book.known;
  const byCluster = new Map<string, { readonly labels: Labels; readonly order: Order }>();
  const shared = new Map<string, Order>();
  const known: Known = (cluster, labels) => {
    const before = byCluster.get(cluster);
    if (before?.labels === labels) return before.order;
    const overrides = overridesOn(snapshots, cluster, labels);
    const made: Order = overrides === undefined ? plain : { ...plain, ...overrides };
    const text = revisionOf(made).overrides;
    const order = shared.get(text) ?? made;
    shared.set(text, order);
    byCluster.set(cluster, { labels, order });
    return order;
  };
  books.set(placement, { plain, snapshots, known });
  return known;
}
