// What the binding reports of its Works: WorkSynchronized, Overridden, and what the member reports. Pure.
import type { Condition } from '../../api/conditions.ts';
import { annotations } from '../../api/names.ts';
import { conditionOf, nextCondition } from '../../api/next-condition.ts';
import { deepEqual } from '../../base/json.ts';
import { patchStatus, seen } from '../../runtime/actions.ts';
import type { Action, Decision } from '../../runtime/controller.ts';
import { bindingSentence } from '../bindings/binding-sentences.ts';
import { keptLists } from '../bindings/kept-lists.ts';
import { isReleasedByMove, startedOf } from '../orders/release.ts';
import type { HubBinding } from '../placement-sources.ts';
import type { HubWork } from '../work-source.ts';
import type { Observed } from './observed.ts';
import { type Said, type Summary, summarise } from './summary.ts';
import { isOf, orderedIn } from './whose-work.ts';
import { isOrder } from './write-work.ts';

/** A member that answers sooner costs one write less: its binding does not report ApplyInProgress. */
export const ANSWER_MS = 500;

/** `present`: the Works as they should be; undefined while they are being written, and no report on them can exist. */
export function report(
  observed: Observed,
  present: readonly HubWork[] | undefined,
  steps: readonly (readonly Action[])[],
): Decision {
  const { now } = observed;
  const written = steps.flat();
  if (present === undefined) {
    // What comes next is the member's answer, unless the order is one that it has answered already.
    const again = written.every(isOrder) ? { again: 'later' as const, wakeAt: now + ANSWER_MS } : {};
    const because = written.at(-1)?.because ?? '';
    return { steps: steps.filter((step) => step.length > 0), holds: [], ...again, because };
  }
  const summary = summarise(present, observed.binding.spec.applyStrategy?.type === 'ReportDiff');
  const due = isAnswered(summary) ? now : answerDue(present, now);
  if (now < due) {
    const because = 'the member has not answered yet';
    return { steps: steps.filter((step) => step.length > 0), holds: [], wakeAt: due, because };
  }
  return reportSteps(
    observed,
    { ...summary, said: [synced('AllWorkSynced', 'WorkSynchronized'), ...summary.said] },
    steps,
  );
}

const isAnswered = ({ said }: Summary): boolean => !said.some(({ reason }) => UNANSWERED.includes(reason));

const UNANSWERED: readonly string[] = ['ApplyInProgress', 'DiffReportInProgress'];

/** The last of them was ordered at most ANSWER_MS before that; if the clock was set back, as if just now. */
function answerDue(works: readonly HubWork[], now: number): number {
  const ordered = works.map(({ metadata }) =>
    Number(metadata.annotations?.[annotations.orderedBy]?.split('/')[2] ?? 0),
  );
  return Math.min(now, Math.max(0, ...ordered.filter(Number.isFinite))) + ANSWER_MS;
}

export function notSynchronized(observed: Observed, why: Omit<Said, 'type'>): Decision {
  const said: Said = { type: 'WorkSynchronized', ...why };
  return reportSteps(observed, { said: [said], failedPlacements: [], driftedPlacements: [], diffedPlacements: [] }, []);
}

const OURS: readonly string[] = ['Overridden', 'WorkSynchronized', 'Applied', 'Available', 'DiffReported'];

export function reportSteps(observed: Observed, summary: Summary, steps: readonly (readonly Action[])[]): Decision {
  const { family, binding, now } = observed;
  const { generation } = binding.metadata;
  const isOverridden = summary.said.some(({ type }) => type === 'Overridden');
  const said = [...(isOverridden ? [] : [overriddenOf(binding)]), ...summary.said];
  const conditions = said.map((finding): Condition => {
    const old = binding.conditions.find(({ type }) => type === finding.type);
    return nextCondition(
      old !== undefined && isOfAnotherOrder(observed, old) ? undefined : old,
      { ...finding, ...(generation === undefined ? {} : { observedGeneration: generation }) },
      now,
    );
  });
  const started = startedBy(binding, now);
  const others = binding.conditions.filter(({ type }) => !OURS.includes(type) && type !== started?.type);
  const before = {
    conditions: binding.conditions.filter(({ type }) => OURS.includes(type)).toSorted(inOrder),
    failedPlacements: binding.failedPlacements,
    driftedPlacements: binding.driftedPlacements,
    diffedPlacements: binding.diffedPlacements,
    detailsDigest: binding.detailsDigest,
  };
  const { failedPlacements, driftedPlacements, diffedPlacements } = summary;
  const after = { conditions, ...keptLists(summary) };
  const last = conditions.at(-1);
  const because = `${last?.type} is ${last?.status}: ${last?.reason}`;
  if (deepEqual(before, after) && started === undefined)
    return { steps: steps.filter((step) => step.length > 0), holds: [], because };
  const status = {
    conditions: [...(started === undefined ? [] : [started]), ...others, ...conditions],
    failedPlacements: orNull(failedPlacements),
    driftedPlacements: orNull(driftedPlacements),
    diffedPlacements: orNull(diffedPlacements),
  };
  return {
    steps: [...steps, [patchStatus(seen(family.bindings, binding), status, because)]].filter((step) => step.length > 0),
    holds: [],
    because,
  };
}

function overriddenOf({ spec }: HubBinding): Said {
  const { clusterResourceOverrideSnapshots: wide = [], resourceOverrideSnapshots: narrow = [] } = spec;
  return synced(wide.length + narrow.length === 0 ? 'NoOverrideSpecified' : 'OverriddenSucceeded', 'Overridden');
}

const synced = (reason: 'AllWorkSynced' | 'NoOverrideSpecified' | 'OverriddenSucceeded', type: Said['type']): Said => ({
  type,
  status: 'True',
  reason,
  message: bindingSentence(reason),
});

/** RolloutStarted, if the move has released the binding and it has not been reported yet. */
function startedBy(binding: HubBinding, now: number): Condition | undefined {
  if (startedOf(binding) !== undefined || !isReleasedByMove(binding)) return undefined;
  const finding = {
    type: 'RolloutStarted',
    status: 'True',
    reason: 'RolloutStarted',
    message: bindingSentence('RolloutStarted'),
    observedGeneration: binding.metadata.generation ?? 0,
  } as const;
  return nextCondition(conditionOf(binding.conditions, 'RolloutStarted'), finding, now);
}

/**
 * A condition of an earlier desired state keeps no transition time, else the grace period of objects that cannot be
 * tracked would count from then. A generation that changed no Work, such as one for another policy, is the same state.
 */
const isOfAnotherOrder = ({ binding, works }: Observed, { type, observedGeneration = 0 }: Condition): boolean =>
  (type === 'Available' || type === 'Applied' || type === 'DiffReported') &&
  binding.spec.state === 'Bound' &&
  observedGeneration !== binding.metadata.generation &&
  works.some((each) => isOf(binding, each) && orderedIn(binding, each) > observedGeneration);

const orNull = <T>(list: readonly T[]): readonly T[] | null => (list.length === 0 ? null : list);

const inOrder = (a: Condition, b: Condition): number => OURS.indexOf(a.type) - OURS.indexOf(b.type);
