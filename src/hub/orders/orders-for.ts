// What the clusters of a placement should have with one revision. Pure: the caller brings what it has read. Overrides enter here, and only here.
import type { Hold } from '../../api/hold.ts';
import { memberCluster } from '../../api/member-cluster.ts';
import type { Labels } from '../../api/object.ts';
import { applyStrategyOf } from '../apply-strategy.ts';
import type { HubOverrideSnapshot } from '../overrides/matching.ts';
import { overridesOn } from '../overrides/overriding.ts';
import type { HubPlacement } from '../placement-sources.ts';
import { type Order, type Orders, revisionOf, type Undecided } from './order.ts';

export interface OrdersInput {
  readonly placement: Pick<HubPlacement, 'metadata' | 'spec'>;
  /** Name of the first snapshot of the revision's group. */
  readonly snapshot: string;
  /** The overrides in force that match what the revision holds; absent = none. */
  readonly overriding?: Overriding;
}

export interface Overriding {
  readonly snapshots: readonly HubOverrideSnapshot[];
  /** An override that matches and has no snapshot yet: until then no cluster moves, or it would move twice. */
  readonly pending?: Hold;
  /** Labels of a member; undefined = there is none of the name. */
  labelsOf(cluster: string): Labels | undefined;
}

export function ordersFor({ placement, snapshot, overriding }: OrdersInput): Orders {
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

const unknown = (cluster: string): Undecided => {
  const on = { group: memberCluster.group, kind: memberCluster.kind, name: cluster };
  return { undecided: { code: 'NotFound', subject: on, on, facts: {}, next: 'wait until the scheduler replaces it' } };
};

type Known = (cluster: string, labels: Labels) => Order;

interface Book {
  readonly plain: Order;
  readonly snapshots: readonly HubOverrideSnapshot[];
  readonly known: Known;
}

/** A rollout over many clusters looks at all of them again whenever one changes: orders are worked out once per cluster and labels. */
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
