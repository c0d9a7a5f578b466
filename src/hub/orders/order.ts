// The desired state of one cluster as a value: the revision, the overrides with the values of their variables, and the
// apply strategy. The rollout, staged runs, the status, `flotilla why` and forecasts all compare bindings with it, and
// a move writes exactly this.
import type { ApplyStrategy } from '../../api/apply-strategy.ts';
import type { BindingSpec } from '../../api/binding.ts';
import type { Hold } from '../../api/hold.ts';
import { canonicalJson, deepEqual } from '../../base/json.ts';
import type { Overrides } from '../overrides/overriding.ts';

/** What a cluster has or should have, as three texts that are equal for equal values. */
export interface Revision {
  readonly snapshot: string;
  readonly overrides: string;
  readonly strategy: string;
}

export interface Order extends Overrides {
  /** The name of the master snapshot of the revision. */
  readonly snapshot: string;
  readonly applyStrategy: ApplyStrategy;
}

/** The desired state is unknown, for instance because an override cannot be read. The cluster keeps what it has. */
export interface Undecided {
  readonly undecided: Hold;
}

/** The desired state of each cluster of a placement. Equal clusters may share one Order. */
export type Orders = (cluster: string) => Order | Undecided;

export const isDecided = (order: Order | Undecided): order is Order => !('undecided' in order);

/** As texts to compare. */
export function revisionOf(order: Order): Revision {
  const known = revisions.get(order);
  if (known !== undefined) return known;
  const revision: Revision = {
    snapshot: order.snapshot,
    overrides: overridesText(order),
    strategy: canonicalJson(order.applyStrategy),
  };
  revisions.set(order, revision);
  return revision;
}

/** Cached by identity, because a thousand clusters may share one order. */
const revisions = new WeakMap<Order, Revision>();

/** The revision of a binding; undefined = none yet. */
export const revisionOn = (spec: BindingSpec): Revision | undefined =>
  spec.resourceSnapshotName === ''
    ? undefined
    : {
        snapshot: spec.resourceSnapshotName,
        overrides: overridesText(spec),
        strategy: spec.applyStrategy === undefined ? '' : canonicalJson(spec.applyStrategy),
      };

/** Both lists in order, and the values; absent and empty are the same. */
function overridesText({
  clusterResourceOverrideSnapshots: cluster = [],
  resourceOverrideSnapshots: namespaced = [],
  overrideValues: values = {},
}: Overrides): string {
  const hasValues = Object.keys(values).length > 0;
  if (cluster.length === 0 && namespaced.length === 0 && !hasValues) return '';
  return canonicalJson({ cluster, namespaced, ...(hasValues ? { values } : {}) });
}

/** A merge patch that sets the spec of a binding to the order and removes what the former order set. */
export const orderPatch = (spec: BindingSpec, order: Order): object => ({
  state: 'Bound',
  resourceSnapshotName: order.snapshot,
  clusterResourceOverrideSnapshots: orNull(order.clusterResourceOverrideSnapshots),
  resourceOverrideSnapshots: orNull(order.resourceOverrideSnapshots),
  ...valuesPatch(spec.overrideValues, order.overrideValues),
  ...strategyPatch(spec, order.applyStrategy),
});

/** Empty = the binding has it. */
export const strategyPatch = (
  { applyStrategy: has }: Pick<BindingSpec, 'applyStrategy'>,
  next: ApplyStrategy,
): object => (deepEqual(has, next) ? {} : { applyStrategy: replacing(has, next) });

/** A merge patch that replaces one object by another completely. */
export function replacing(old: object | undefined, next: object): object {
  const removed = Object.keys(old ?? {}).filter((field) => !(field in next));
  return { ...next, ...Object.fromEntries(removed.map((field) => [field, null])) };
}

const orNull = <T>(list: readonly T[] | undefined): readonly T[] | null =>
  list === undefined || list.length === 0 ? null : list;

function valuesPatch(old: Overrides['overrideValues'], next: Overrides['overrideValues']): object {
  if (deepEqual(old ?? {}, next ?? {})) return {};
  return { overrideValues: next === undefined || Object.keys(next).length === 0 ? null : replacing(old, next) };
}
