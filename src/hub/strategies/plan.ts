// The plan of a placement's own rollout: the rollout carries it out, the status and `flotilla why` explain with it.
import type { Hold } from '../../api/hold.ts';
import { refTo } from '../../runtime/actions.ts';
import type { PlacementFamily } from '../families.ts';
import { type FreezeFacts, type Frozen, frozenIn } from '../freezes/frozen.ts';
import type { Orders } from '../orders/order.ts';
import type { HubBinding, HubPlacement, HubPolicySnapshot } from '../placement-sources.ts';
import type { ClusterGroupFacts } from '../planners/partitioned.ts';
import { isOutdated, type Row } from '../planners/planner.ts';
import { type MemberFacts, rowsOf } from '../planners/rows.ts';
import type { BindingPlan } from './strategy.ts';
import { strategyOf } from './table.ts';

export interface PlanInput {
  readonly family: PlacementFamily;
  readonly placement: Pick<HubPlacement, 'spec' | 'metadata'>;
  readonly bindings: readonly HubBinding[];
  readonly orders: Orders;
  /** The latest one, if there is one. */
  readonly policySnapshot: HubPolicySnapshot | undefined;
  member(cluster: string): MemberFacts | undefined;
  /** undefined = the groups cannot be read. */
  readonly groups: readonly ClusterGroupFacts[] | undefined;
  /** Absent = there are no freezes. */
  readonly freezes?: readonly FreezeFacts[] | undefined;
  /** Why a cluster waits for something outside this rollout; absent = nothing. */
  readonly heldOn?: ((cluster: string) => Hold | undefined) | undefined;
  readonly now: number;
}

export interface Planned {
  readonly rows: readonly Row[];
  readonly plan: BindingPlan;
}

/** undefined = staged update runs move the bindings. */
export function planOf(input: PlanInput): Planned | undefined {
  const { family, placement, bindings, orders, policySnapshot, member, groups, now } = input;
  const strategy = strategyOf(placement);
  if (strategy === undefined) return undefined;
  const rows = withHolds(rowsOf({ bindings, source: family.bindings, orders, member }), input.heldOn);
  const about = refTo(family.placement, placement);
  const planFor = (of: readonly Row[]): BindingPlan =>
    strategy.plan({ family, spec: placement.spec, policySnapshot, placement: about, groups, rows: of, now });
  if (placement.spec.strategy?.paused === true) return { rows, plan: paused(rows, planFor(rows), about) };
  const freeze = frozenIn(input.freezes ?? [], about, now);
  return { rows, plan: freeze === undefined ? planFor(rows) : frozen(rows, planFor, freeze) };
}

/** Only rows that would get something wait: a cluster keeps what it has. */
function withHolds(rows: readonly Row[], heldOn: PlanInput['heldOn']): readonly Row[] {
  if (heldOn === undefined) return rows;
  return rows.map((row) => {
    const isMeant = row.state === 'scheduled' || (row.state === 'bound' && isOutdated(row));
    const held = isMeant && !row.deleting ? heldOn(row.cluster) : undefined;
    return held === undefined ? row : { ...row, held };
  });
}

/**
 * Frozen clusters keep what they have, and updates in progress are finished. The strategy plans without them, so that
 * they take no slot from other clusters.
 */
function frozen(
  rows: readonly Row[],
  plan: (rows: readonly Row[]) => BindingPlan,
  { by, wakeAt }: Frozen,
): BindingPlan {
  const holds = new Map<string, Hold>();
  const pinned = rows.map((row): Row => {
    const isLeaving = row.state === 'unscheduled';
    const hold = row.deleting || !(isLeaving || isOutdated(row)) ? undefined : by(row.cluster, row.labels);
    if (hold === undefined) return row;
    holds.set(row.key, hold);
    return isLeaving ? row : { ...row, wants: row.has ?? row.wants, undecided: hold };
  });
  const planned = plan(pinned);
  if (holds.size === 0) return planned;
  const isFree = (key: string) => !holds.has(key);
  const known = new Set([...planned.stale, ...planned.remove]);
  const waiting = rows.filter(({ key, state }) => holds.has(key) && state !== 'unscheduled' && !known.has(key));
  const wakes = [planned.wakeAt, wakeAt].filter((each) => each !== undefined);
  return {
    ...planned,
    move: planned.move.filter(isFree),
    remove: planned.remove.filter(isFree),
    stale: [...planned.stale, ...waiting.map(({ key }) => key)],
    upToDate: planned.upToDate.filter(isFree),
    holds: { ...planned.holds, ...Object.fromEntries(holds) },
    done: false,
    ...(wakes.length === 0 ? {} : { wakeAt: Math.min(...wakes) }),
    summary: `${holds.size} frozen; ${planned.summary}`,
  };
}

/**
 * Nothing moves and nothing is removed; updates in progress are finished, so a cluster that is not available yet keeps
 * its own hold.
 */
function paused(rows: readonly Row[], plan: BindingPlan, placement: Hold['subject']): BindingPlan {
  const waiting = [...plan.move, ...plan.stale, ...plan.remove];
  const leaving = rows.filter(({ state, deleting }) => state === 'unscheduled' && !deleting).map(({ key }) => key);
  const hold: Hold = {
    code: 'Paused',
    subject: placement,
    on: placement,
    facts: {},
    next: 'set spec.strategy.paused to false (flotilla resume)',
  };
  const { batch: _batch, ...rest } = plan;
  return {
    ...rest,
    move: [],
    remove: [],
    stale: [...plan.stale, ...plan.move],
    holds: { ...plan.holds, ...Object.fromEntries([...waiting, ...leaving].map((key) => [key, hold])) },
    ...(plan.rollout === undefined ? {} : { rollout: { ...plan.rollout, paused: true } }),
    summary: `paused; ${plan.summary}`,
  };
}
