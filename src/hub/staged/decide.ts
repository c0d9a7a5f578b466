// Turns the evaluation of a run into writes. Guarantees: bindings are written before the status reports it, and only
// after a conditional write confirmed that the run has not changed. After any prefix of the steps, the next reconcile
// continues from what it observes. The status is written only if it has changed, and no more often than status-rule.ts
// allows.
import type { Hold } from '../../api/hold.ts';
import type { HoldEntry } from '../../api/holds.ts';
import { finalizers } from '../../api/names.ts';
import { conditionOf } from '../../api/next-condition.ts';
import type { StagedUpdateRunStatus } from '../../api/staged-update-run.ts';
import { deepEqual, isObject } from '../../base/json.ts';
import { assertUnchanged, patch, patchStatus, recordEvent, refTo, remove, seen } from '../../runtime/actions.ts';
import type { Action, Decision } from '../../runtime/controller.ts';
import { carryOut } from '../orders/carry-out.ts';
import type { Order } from '../orders/order.ts';
import type { HubBinding } from '../placement-sources.ts';
import type { StagedPlan } from '../planners/staged-plan.ts';
import { summariseHolds } from '../status/holds-summary.ts';
import { troubleInAnnotations } from './annotations.ts';
import { answers, approverOf, askFor, nextWordAt } from './approvals.ts';
import { type Evaluation, evaluate } from './evaluate.ts';
import { newsIn } from './events.ts';
import type { Observed } from './observed.ts';
import { recordedOrders } from './recorded-orders.ts';
import { boundRun } from './size.ts';
import { isTurn } from './status-rule.ts';
import type { Targets } from './targets.ts';

type Steps = readonly (readonly Action[])[];

export function decide(observed: Observed & { readonly evaluation?: Evaluation }): Decision {
  const { family, run } = observed;
  if (run.metadata.deletionTimestamp !== undefined) return end(observed);
  const kept = run.metadata.finalizers ?? [];
  if (!kept.includes(finalizers.updateRun)) {
    const merge = { metadata: { finalizers: [...kept, finalizers.updateRun] } };
    return decision(
      [[patch(seen(family.runs, run), merge, 'its approval requests are deleted with it')]],
      [],
      'the run is new',
    );
  }
  const evaluation = observed.evaluation ?? evaluate(observed);
  switch (evaluation.state) {
    case 'over':
      return withStatus(observed, {
        status: evaluation.status,
        holds: [],
        before: [answers(observed, evaluation.status, [])],
        because: 'the run is over',
      });
    case 'looks':
      return decision([], [], 'what the placement selects is not known yet');
    case 'captures':
      return decision(evaluation.steps, refused(observed), 'the current state becomes a revision first');
    case 'wrong':
      return withStatus(observed, {
        status: evaluation.status,
        holds: [],
        because: `the run cannot begin: ${evaluation.message}`,
      });
    case 'waits':
      return withStatus(observed, {
        status: evaluation.status,
        holds: evaluation.holds,
        because: 'the run cannot begin yet',
      });
    case 'held':
      return withStatus(observed, {
        status: evaluation.status,
        holds: [evaluation.hold],
        before: [answers(observed, evaluation.status, [])],
        ...earliest(nextWordAt(observed)),
        because: `the run is held: ${evaluation.hold.code}`,
      });
    case 'aborted':
      return withStatus(observed, {
        status: evaluation.status,
        holds: [],
        because: 'what the run was begun with has changed',
      });
    case 'planned':
      return proceed(observed, evaluation.plan, evaluation.targets);
  }
}

const decision = (steps: Steps, holds: readonly Hold[], because: string): Decision => ({
  steps: steps.filter((step) => step.length > 0),
  holds,
  because,
});

/** The error of the last reconcile, as long as there is something to do. */
const refused = ({ family, run, failure }: Observed): readonly Hold[] =>
  failure === undefined
    ? []
    : [
        {
          code: 'StepRefused',
          subject: refTo(family.run, run),
          facts: { message: failure.message, reason: failure.reason },
          next: 'it is retried; fix what blocks it',
        },
      ];

/** An annotation became invalid during the run: the run ignores it and reports that. */
function misread({ family, run }: Observed): readonly Hold[] {
  const trouble = troubleInAnnotations(run);
  if (trouble === undefined) return [];
  const subject = refTo(family.run, run);
  return [{ code: 'SpecInvalid', subject, on: subject, facts: { message: trouble }, next: 'fix the annotation' }];
}

// ---- deletion

/** Clusters keep what the run has rolled out so far. */
function end({ family, run, requests }: Observed): Decision {
  const kept = run.metadata.finalizers ?? [];
  if (!kept.includes(finalizers.updateRun))
    return decision([], [], 'the run is being deleted; another client has a finalizer on it');
  const left = kept.filter((each) => each !== finalizers.updateRun);
  const standing = requests.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  return decision(
    [
      standing.map((each) => remove(seen(family.approvalRequests, each), 'its run is deleted')),
      [
        patch(
          seen(family.runs, run),
          { metadata: { finalizers: left.length === 0 ? null : left } },
          'nothing is left of it',
        ),
      ],
    ],
    [],
    'the run is deleted',
  );
}

// ---- a plan

function proceed(observed: Observed, plan: StagedPlan, targets: Targets): Decision {
  const { family, run, request } = observed;
  const acts = actsOf(observed, plan, targets);
  const asked = [
    ...plan.discard.flatMap((name) => {
      const found = request(name);
      return found === undefined
        ? []
        : [remove(seen(family.approvalRequests, found), `"${name}" was not asked for by this run`)];
    }),
    ...plan.ask.map((gate) => askFor(family, run, gate)),
    ...answers(observed, plan.state, plan.accept),
  ];
  const accepted = plan.accept.flatMap((name) => {
    const found = request(name);
    if (found === undefined) return [];
    const message = `the approval of ${approverOf(found)} for "${name}" is accepted`;
    return [recordEvent(family.runs, run, { type: 'Normal', reason: 'ApprovalRequestApprovalAccepted', message })];
  });
  return withStatus(observed, {
    status: plan.state,
    holds: [
      ...(acts.length + asked.length === 0 ? [] : refused(observed)),
      ...(plan.done ? [] : misread(observed)),
      ...plan.gates,
      ...Object.values(plan.holds),
    ],
    before: [...acts, asked, accepted],
    // The moved bindings must be released to their members first.
    hasMoved: plan.move.length > 0 && observed.failure === undefined,
    ...earliest(plan.wakeAt, nextWordAt(observed)),
    because: `${plan.move.length} updated, ${plan.release.length} released, ${plan.remove.length} removed, ${plan.ask.length} approvals requested`,
  });
}

function earliest(...moments: readonly (number | undefined)[]): { readonly wakeAt?: number } {
  const known = moments.filter((moment) => moment !== undefined);
  return known.length === 0 ? {} : { wakeAt: Math.min(...known) };
}

/**
 * Bindings are written before the run reports them, and only while the run may continue: a hub with a stale cache would
 * continue a stopped run.
 */
function actsOf(observed: Observed, plan: StagedPlan, { placement, updates, removals }: Targets): Steps {
  const { family, run, now } = observed;
  const byName = new Map([...updates, ...removals].map((binding) => [binding.metadata.name ?? '', binding]));
  const orders = recordedOrders(plan.state, placement);
  const { kind } = family.run;
  const started =
    `the cluster is being updated to the revision (resourceSnapshotIndex: ${plan.state.resourceSnapshotIndexUsed}, ` +
    `${kind.slice(0, 1).toLowerCase()}${kind.slice(1)}: ${run.metadata.name})`;
  return carryOut({
    family,
    binding: (key) => byName.get(key) as HubBinding,
    plan: { move: plan.move, remove: plan.remove, started: plan.release },
    order: ({ spec }) => orders(spec.targetCluster) as Order,
    messages: { RolloutStarted: started, RolloutNotStartedYet: '' },
    guard: assertUnchanged(seen(family.runs, run), 'makes sure that the run may continue'),
    guards: 'everything',
    releases: 'after it',
    now,
  }).steps;
}

// ---- the status

interface Said {
  readonly status: StagedUpdateRunStatus;
  readonly holds: readonly Hold[];
  /** Written before the status. */
  readonly before?: Steps;
  /** There is more to do at once, so only turns are written now. */
  readonly hasMoved?: boolean;
  readonly wakeAt?: number;
  readonly because: string;
}

function withStatus(observed: Observed, { status, holds, before = [], hasMoved, wakeAt, because }: Said): Decision {
  const { family, run, now, statusDue, turnDue = statusDue } = observed;
  const waking = { ...(wakeAt === undefined ? {} : { wakeAt }), ...(hasMoved ? { again: 'at once' as const } : {}) };
  const entries = summariseHolds(holds);
  const { holds: _holds, ...rest } = status;
  const full: StagedUpdateRunStatus = entries.length === 0 ? rest : { ...rest, holds: [...entries] };
  const next = boundRun(full);
  if (saysTheSame(observed.status, next)) return { ...decision(before, holds, because), ...waking };
  const isTold = isTurn(observed.status, next);
  if (hasMoved && !isTold) return { ...decision(before, holds, because), ...waking };
  const due = isTold ? turnDue : statusDue;
  if (now < due) return { ...decision(before, holds, because), ...waking, coalesceUntil: due };
  // Events have the messages that a large status omits.
  const news = newsIn(observed.status, full).map((each) => recordEvent(family.runs, run, each));
  const write = patchStatus(seen(family.runs, run), changeOf(observed.status ?? {}, next), sayingOf(next) ?? because);
  return { ...decision([...before, [write], news], holds, because), ...waking };
}

const sayingOf = ({ conditions }: StagedUpdateRunStatus): string | undefined =>
  (conditionOf(conditions, 'Progressing') ?? conditionOf(conditions, 'Initialized'))?.reason;

/** Changed numbers of a hold alone are not written. */
const gist = ({ code, on, count }: HoldEntry) => ({ code, on, count });

function saysTheSame(a: StagedUpdateRunStatus | undefined, b: StagedUpdateRunStatus): boolean {
  if (a === undefined) return false;
  const { holds: heldThen = [], ...then } = a;
  const { holds: heldNow = [], ...now } = b;
  return deepEqual(then, now) && deepEqual(heldThen.map(gist), heldNow.map(gist));
}

/** A merge patch with only the differences; lists are replaced as a whole. */
function changeOf(from: object, to: object): object {
  const before = from as Readonly<Record<string, unknown>>;
  const after = to as Readonly<Record<string, unknown>>;
  const change: Record<string, unknown> = {};
  for (const field of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [was, is] = [before[field], after[field]];
    if (deepEqual(was, is)) continue;
    change[field] = is === undefined ? null : isObject(was) && isObject(is) ? changeOf(was, is) : is;
  }
  return change;
}
