// What one cluster should have, as a value: the revision, the overrides with the values of their variables, and how objects are written.
// The rollout, staged runs, the status, `flotilla why` and forecasts all compare a binding with this, and a move writes just this.
import type { ApplyStrategy } from '../../api/apply-strategy.ts';
import type { BindingSpec } from '../../api/binding.ts';
import type { Hold } from '../../api/hold.ts';
import { canonicalJson, deepEqual } from '../../base/json.ts';
import type { Overrides } from '../overrides/overriding.ts';

/** What a cluster has or should have. Equal revisions are equal texts in all three. */
export interface Revision {
  readonly snapshot: string;
  readonly overrides: string;
  readonly strategy: string;
}

export interface Order extends Overrides {
  /** Name of the first snapshot of the revision's group. */
  readonly snapshot: string;
  readonly applyStrategy: ApplyStrategy;
}

/** It is unknown what the cluster should have, such as when an override cannot be read. It keeps what it has. */
export interface Undecided {
  readonly undecided: Hold;
}

/** What each cluster of a placement should have. Equal clusters may share one Order. */
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

/** A thousand clusters may share one order. */
const revisions = new WeakMap<Order, Revision>();

/** What a binding carries; undefined = nothing yet. */
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

/** A merge patch of a binding's spec that makes it carry the order, and nothing of the order before. */
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

/** A merge patch from one object to another that leaves nothing of the first. */
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
