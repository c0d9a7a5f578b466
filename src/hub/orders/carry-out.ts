// Carries out a plan on bindings: the only place that moves, releases and removes them, for every strategy and for
// staged runs. Guarantees: the spec of a binding changes only after the guard of the plan was written, which fails if
// the plan is based on a stale cache; new copies are written before old ones are deleted; an unchanged condition is not
// written again.
//
// The work generator acts on a binding once its present generation is released (release.ts). A rolling update releases
// with the move, in one write; the work generator then writes RolloutStarted with its own conditions. A run releases
// after the move, because its message names the run.
import type { BindingReason } from '../../api/binding.ts';
import { annotations } from '../../api/names.ts';
import { conditionOf, type Finding, nextCondition } from '../../api/next-condition.ts';
import { patch, patchStatus, remove, seen } from '../../runtime/actions.ts';
import type { Action } from '../../runtime/controller.ts';
import type { PlacementFamily } from '../families.ts';
import type { HubBinding } from '../placement-sources.ts';
import { type Order, orderPatch } from './order.ts';
import { hasStarted, releasing, startedOf } from './release.ts';

export interface Carrying {
  readonly family: PlacementFamily;
  /** By the keys of the plan. */
  binding(key: string): HubBinding;
  readonly plan: {
    readonly move: readonly string[];
    /** The first of these moves before all others, and its binding records the rest. */
    readonly batch?: readonly string[];
    readonly remove: readonly string[];
    /** Rows with their desired state: reporting that releases them to their members. */
    readonly started: readonly string[];
    /** Rows whose turn has not come. */
    readonly waiting?: readonly string[];
  };
  order(binding: HubBinding): Order;
  readonly messages: Readonly<Record<'RolloutStarted' | 'RolloutNotStartedYet', string>>;
  /** Fails if the objects that the plan is based on have changed since they were read. */
  readonly guard: Action;
  readonly releases: 'with the move' | 'after it';
  /**
   * What must not be written without the guard: a stopped run must not even release; a report of a rolling update is
   * harmless.
   */
  readonly guards: 'everything' | 'moves';
  readonly now: number;
}

export interface CarriedOut {
  readonly steps: readonly (readonly Action[])[];
  readonly reports: readonly Action[];
  readonly moves: readonly Action[];
  readonly removals: readonly Action[];
}

export function carryOut(carrying: Carrying): CarriedOut {
  const { family, plan, binding, guard, guards } = carrying;
  const reports = [
    ...(plan.waiting ?? []).flatMap((key) => reported(carrying, binding(key), 'RolloutNotStartedYet')),
    ...plan.started.flatMap((key) => reported(carrying, binding(key), 'RolloutStarted')),
  ];
  const [first, ...others] = plan.batch ?? [];
  const isFirst = (key: string): boolean => key === first;
  const moves = plan.move.map((key) => move(carrying, binding(key), isFirst(key) ? batchOf(others.map(binding)) : {}));
  // The record of a batch is written before the rest of it moves, so that the next reconcile completes it after a
  // conflict or a crash.
  const waves = [
    moves.filter((_, at) => isFirst(plan.move[at] ?? '')),
    moves.filter((_, at) => !isFirst(plan.move[at] ?? '')),
  ];
  const removals = plan.remove.map((key) =>
    remove(seen(family.bindings, binding(key)), `removes ${binding(key).spec.targetCluster}`),
  );
  const guarded = guards === 'everything' ? reports.length + moves.length + removals.length : moves.length;
  const certain = guarded === 0 ? [] : [guard];
  const steps =
    guards === 'everything'
      ? [certain, [...moves, ...reports], removals]
      : [reports, ...(moves.length === 0 ? [] : [certain, ...waves]), removals];
  return { steps: steps.filter((step) => step.length > 0), reports, moves, removals };
}

/**
 * All annotations of an object may have 256 KiB. If there are more, the gate of the partition may hold the rest until
 * the others are ready.
 */
const MAX_RECORDED = 5000;

const batchOf = (others: readonly HubBinding[]): Record<string, string> => ({
  [annotations.batch]: others
    .slice(0, MAX_RECORDED)
    .map(({ metadata }) => metadata.uid ?? '')
    .join(','),
});

function move({ family, order, releases }: Carrying, binding: HubBinding, more: Record<string, string>): Action {
  const next = order(binding);
  const noted = { ...more, ...(releases === 'with the move' ? releasing(binding.metadata) : {}) };
  const change = {
    ...(Object.keys(noted).length === 0 ? {} : { metadata: { annotations: noted } }),
    spec: orderPatch(binding.spec, next),
  };
  return patch(seen(family.bindings, binding), change, `moves ${binding.spec.targetCluster} to ${next.snapshot}`);
}

type Reason = keyof Carrying['messages'] & BindingReason;

/** Without numbers: they change with every cluster that moves, and would cost a write on each waiting binding. */
function reported(carrying: Carrying, binding: HubBinding, reason: Reason): readonly Action[] {
  const status = reason === 'RolloutStarted' ? 'True' : 'False';
  if (startedOf(binding)?.status === status) return [];
  // The work generator reports it together with its first condition.
  if (reason === 'RolloutStarted' && hasStarted(binding)) return [];
  const { targetCluster } = binding.spec;
  const because = `reports that ${targetCluster} ${reason === 'RolloutStarted' ? 'has started' : 'waits'}`;
  return [reportStarted(carrying, binding, { status, reason, message: carrying.messages[reason] }, because)];
}

const STARTED = 'RolloutStarted';

/** Writes RolloutStarted for the present generation. */
export function reportStarted(
  { family, now }: Pick<Carrying, 'family' | 'now'>,
  binding: HubBinding,
  said: Pick<Finding, 'status' | 'reason' | 'message'>,
  because: string,
): Action {
  const { generation } = binding.metadata;
  const finding: Finding = {
    type: STARTED,
    ...said,
    ...(generation === undefined ? {} : { observedGeneration: generation }),
  };
  const condition = nextCondition(conditionOf(binding.conditions, STARTED), finding, now);
  const conditions = [condition, ...binding.conditions.filter(({ type }) => type !== STARTED)];
  return patchStatus(seen(family.bindings, binding), { conditions }, because);
}
