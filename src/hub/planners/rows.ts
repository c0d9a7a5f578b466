// The rows that planners work on, from bindings.
import type { MemberCluster } from '../../api/member-cluster.ts';
import { annotations } from '../../api/names.ts';
import { conditionOf } from '../../api/next-condition.ts';
import type { Labels } from '../../api/object.ts';
import { by } from '../../base/compare.ts';
import { seen } from '../../runtime/actions.ts';
import type { Source } from '../../runtime/controller.ts';
import { isLeaving } from '../members/leaving-member.ts';
import { isReachable } from '../members/reachable.ts';
import {
  isDecided,
  type Order,
  type Orders,
  type Revision,
  revisionOf,
  revisionOn,
  type Undecided,
} from '../orders/order.ts';
import { hasStarted } from '../orders/release.ts';
import type { HubBinding } from '../placement-sources.ts';
import { type Judgement, judge } from './health.ts';
import type { Row } from './planner.ts';

export interface MemberFacts {
  readonly reachable: boolean;
  /** Since when it is unreachable. */
  readonly silentSince?: number;
  /** Its MemberCluster is being deleted: its workloads keep running, and bindings do not control them any more. */
  readonly leaving?: true;
  readonly labels: Labels;
  readonly paused?: true;
}

/** Returns the same object for the same member, so that callers can cache by identity. */
export function memberFactsOf(member: MemberCluster): MemberFacts {
  let facts = ofMembers.get(member);
  if (facts === undefined) {
    facts = factsIn(member);
    ofMembers.set(member, facts);
  }
  return facts;
}

const ofMembers = new WeakMap<MemberCluster, MemberFacts>();

function factsIn(member: MemberCluster): MemberFacts {
  const paused = member.metadata.annotations?.[annotations.memberPaused] === 'true' ? { paused: true as const } : {};
  const labels = member.metadata.labels ?? {};
  const leaving = isLeaving(member) ? { leaving: true as const } : {};
  if (isReachable(member)) return { reachable: true, ...leaving, labels, ...paused };
  const silentSince = Date.parse(conditionOf(member.status?.conditions, 'Healthy')?.lastTransitionTime ?? '');
  return { reachable: false, ...leaving, ...(Number.isNaN(silentSince) ? {} : { silentSince }), labels, ...paused };
}

export interface RowsInput {
  readonly bindings: readonly HubBinding[];
  readonly source: Source<HubBinding>;
  readonly orders: Orders;
  member(cluster: string): MemberFacts | undefined;
}

const STATES = { Scheduled: 'scheduled', Bound: 'bound', Unscheduled: 'unscheduled' } as const;

/**
 * The MemberCluster is deleted and never reports again, or is being deleted and keeps its workloads: removing an
 * unscheduled binding uses no budget.
 */
const LOST: Judgement = { health: 'failed', since: 0, why: 'its MemberCluster does not exist or is being deleted' };

/** Sorted by name, which is also the order of clusters. */
export function rowsOf({ bindings, source, orders, member }: RowsInput): readonly Row[] {
  return bindings
    .map((binding) => {
      const { targetCluster } = binding.spec;
      return rowOf(binding, { source, order: orders(targetCluster), facts: member(targetCluster) });
    })
    .sort(by(({ key }) => key));
}

interface Around {
  readonly source: Source<HubBinding>;
  readonly order: Order | Undecided;
  readonly facts: MemberFacts | undefined;
}

/**
 * Cached by identity: bindings are immutable, and a rollout over many of them evaluates all of them whenever one
 * changes.
 */
function rowOf(binding: HubBinding, around: Around): Row {
  const { source, order, facts } = around;
  const known = knownRows.get(binding);
  if (known?.source === source && known.facts === facts && isSameOrder(known.order, order)) return known.row;
  const { metadata, spec } = binding;
  const has = revisionOn(spec);
  const batch = metadata.annotations?.[annotations.batch];
  const isLost = (facts === undefined || facts.leaving === true) && spec.state === 'Unscheduled';
  const row: Row = {
    key: metadata.name ?? '',
    cluster: spec.targetCluster,
    binding: seen(source, binding),
    state: STATES[spec.state],
    deleting: metadata.deletionTimestamp !== undefined,
    ...(has === undefined ? {} : { has }),
    ...(hasStarted(binding) ? { released: true } : {}),
    ...(isLost ? LOST : judge(binding)),
    ...(isDecided(order) ? { wants: revisionOf(order) } : { wants: has ?? NOTHING, undecided: order.undecided }),
    reachable: facts?.reachable ?? false,
    ...(facts?.silentSince === undefined ? {} : { silentSince: facts.silentSince }),
    labels: facts?.labels ?? {},
    ...(facts?.paused === true ? { paused: true } : {}),
    ...((binding.driftedPlacements ?? []).length > 0 ? { drifted: true } : {}),
    ...(batch === undefined ? {} : { batch: batch.split(',') }),
  };
  knownRows.set(binding, { ...around, row });
  return row;
}

const knownRows = new WeakMap<HubBinding, Around & { readonly row: Row }>();

const isSameOrder = (a: Order | Undecided, b: Order | Undecided): boolean => {
  if (a === b) return true;
  return isDecided(a) && isDecided(b) && isSameRevision(revisionOf(a), revisionOf(b));
};

const isSameRevision = (a: Revision, b: Revision): boolean =>
  a.snapshot === b.snapshot && a.overrides === b.overrides && a.strategy === b.strategy;

/** The desired state is unknown. */
const NOTHING: Revision = { snapshot: '', overrides: '', strategy: '' };
