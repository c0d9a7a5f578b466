// Explains why a row of a rolling plan waits, as a Hold: the cluster that uses up the budget or the surge, or the
// problem of the row itself.
import type { Hold } from '../../api/hold.ts';
import { memberCluster } from '../../api/member-cluster.ts';
import type { ObjectRef } from '../../api/object.ts';
import type { Health, Row } from './planner.ts';
import type { Figures, RollingLimits } from './rolling.ts';

/** When a cluster whose availability cannot be tracked counts as available. */
export const readyAt = ({ since }: Row, { unavailablePeriodMs }: RollingLimits): number => since + unavailablePeriodMs;

interface GatesInput {
  readonly figures: Figures;
  readonly limits: RollingLimits;
  readonly present: readonly Row[];
  readonly moving: readonly Row[];
  readonly isMoving: ReadonlySet<Row>;
  readonly remove: readonly Row[];
  isReady(row: Row): boolean;
}

const WORST: readonly Health[] = ['failed', 'starting'];
const isThere = (row: Row | undefined): row is Row => row !== undefined;

/**
 * Which rows use the budget: staying rows before removed ones. An unscheduled row does not count, and removing it frees
 * nothing.
 */
const RANKS: readonly ((row: Row) => boolean)[] = [
  ({ state, deleting }) => state === 'bound' && !deleting,
  ({ state }) => state === 'bound',
  () => true,
];
const firstFilled = (lists: readonly (readonly Row[])[]): readonly Row[] =>
  lists.find(({ length }) => length > 0) ?? [];

/**
 * Why each row waits. All rows that wait for the budget name the same culprit: the first cluster that blocks the
 * rollout.
 */
export function gatesOf({ figures, limits, present, moving, isMoving, remove, isReady }: GatesInput) {
  const down = firstFilled(RANKS.map((is) => present.filter((row) => is(row) && !isReady(row))));
  const culprit =
    WORST.map((worst) => down.find(({ health }) => health === worst)).find(isThere) ??
    down[0] ??
    moving[0] ??
    remove[0];
  const surger = present.find(({ state }) => state === 'unscheduled') ?? culprit ?? present[0];
  const { target, minAvailable, maxUnavailable, maxSurge, ready } = figures;
  const numbers = { ready, minAvailable, maxUnavailable, maxSurge, target };
  const cause = (row: Row | undefined) =>
    row === undefined
      ? { cause: 'the limits leave no room' }
      : {
          cause: isMoving.has(row) ? 'moving' : causeOf(row),
          ...(row.why === undefined ? {} : { message: row.why }),
        };
  const bindingRef = ({ key, binding }: Row): ObjectRef => ({
    ...limits.binding,
    ...(binding?.namespace === undefined ? {} : { namespace: binding.namespace }),
    name: key,
  });
  const on = (row: Row | undefined) => (row === undefined ? {} : { on: clusterRef(row) });

  return {
    budget: (row: Row): Hold => ({
      code: 'BudgetUsed',
      subject: clusterRef(row),
      ...on(culprit),
      facts: { ...numbers, ...cause(culprit) },
      ...since(culprit),
      // Its availability cannot be tracked: it counts as available after unavailablePeriodSeconds.
      ...(culprit?.health === 'untracked' ? { until: readyAt(culprit, limits) } : {}),
      next: nextFor(culprit, 'raise maxUnavailable'),
    }),
    surge: (row: Row): Hold => ({
      code: 'SurgeUsed',
      subject: clusterRef(row),
      ...on(surger),
      facts: { ...numbers, ...cause(surger) },
      ...since(surger),
      next: nextFor(surger, 'raise maxSurge'),
    }),
    predecessor: (row: Row, before: Row): Hold => ({
      code: 'PredecessorLeaving',
      subject: clusterRef(row),
      on: bindingRef(before),
      facts: { cluster: row.cluster, ...(before.reachable ? {} : { cause: 'unreachable' }) },
      next: before.reachable ? 'wait: the old copy is being removed' : `reconnect cluster "${row.cluster}"`,
    }),
    /** A cluster that has not finished removing resources that are no longer placed there. */
    removal: (row: Row): Hold => ({
      code: 'RemovalPending',
      subject: clusterRef(row),
      on: clusterRef(row),
      facts: row.reachable ? {} : { cause: 'unreachable' },
      next: row.reachable
        ? `wait for cluster "${row.cluster}"; if it does not finish, look for objects blocked by finalizers there`
        : mending(row),
    }),
    /** A cluster that has the desired revision but is not available yet. */
    own(row: Row): Hold | undefined {
      if (isReady(row)) return undefined;
      if (row.health === 'untracked') {
        return {
          code: 'UntrackedPeriod',
          subject: clusterRef(row),
          on: clusterRef(row),
          facts: { seconds: limits.unavailablePeriodMs / 1000 },
          since: row.since,
          until: readyAt(row, limits),
          next: 'wait, or lower unavailablePeriodSeconds',
        };
      }
      const code = !row.reachable ? 'Unreachable' : 'NotAvailable';
      return {
        code,
        subject: clusterRef(row),
        on: clusterRef(row),
        facts: { ...cause(row) },
        ...since(row),
        next: nextFor(row),
      };
    },
  };
}

/** If the member is unreachable: since then, whatever it reported before. */
function since(row: Row | undefined): Pick<Hold, 'since'> {
  const moment = row === undefined || row.reachable ? row?.since : (row.silentSince ?? row.since);
  return moment === undefined || moment === 0 ? {} : { since: moment };
}

const clusterRef = ({ cluster }: Row): ObjectRef => ({
  group: memberCluster.group,
  kind: memberCluster.kind,
  name: cluster,
});

const causeOf = (row: Row): string => (row.reachable ? row.health : 'unreachable');

/** `otherwise`: the next step for the rows that wait for this one. */
function nextFor(row: Row | undefined, otherwise = ''): string {
  if (row === undefined) return otherwise;
  // A revision that fails on one cluster should not be rolled out to more: suggest a rollback.
  const instead = row.reachable && WORST.includes(row.health) && !isOverrideFailed(row) ? BACK : otherwise;
  return `${mending(row)}${instead === '' ? '' : `, or ${instead}`}`;
}

/** The current overrides apply to every revision, so a rollback does not help. */
const isOverrideFailed = ({ health, at }: Row): boolean => health === 'failed' && at === 'Overridden';

const BACK = 'roll back on the hub (flotilla rollback)';

function mending(row: Row): string {
  if (!row.reachable) {
    return `reconnect cluster "${row.cluster}", or remove it from the fleet (kubectl delete membercluster ${row.cluster})`;
  }
  if (isOverrideFailed(row))
    return `correct the override that fails on cluster "${row.cluster}" (flotilla overrides shows it)`;
  if (row.health === 'failed') return `fix the failure on cluster "${row.cluster}" (a new revision goes there first)`;
  if (row.health === 'starting')
    return `wait for cluster "${row.cluster}", or fix the objects that do not become available there (a new revision goes there first)`;
  return `wait for cluster "${row.cluster}"`;
}
