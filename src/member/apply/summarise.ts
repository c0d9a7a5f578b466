// Computes the status of the Work from the outcomes of its manifests: pure.
//
// Guarantee: equal outcomes give an equal status, including times, so that it can be compared before it is written.
// Conditions of the Work carry its generation, conditions of a manifest that of the live object.
import type { Condition } from '../../api/conditions.ts';
import { conditionOf, type Finding, isReportedAlready, nextCondition } from '../../api/next-condition.ts';
import type {
  ManifestCondition,
  ManifestConditionType,
  ManifestReason,
  WorkCondition,
  WorkReason,
  WorkStatus,
} from '../../api/work.ts';
import { kubeTime } from '../../base/clock.ts';
import { deepEqual } from '../../base/json.ts';
import { isWaitedFor } from '../availability/verdict.ts';
import { differenceDetails, withoutDetails } from './difference-details.ts';
import { describe, identityOf, type Order } from './manifest.ts';
import { clipped, type Outcome } from './outcome.ts';

type ManifestFinding = Finding & { readonly type: ManifestConditionType; readonly reason: ManifestReason };
type WorkFinding = Finding & { readonly type: WorkCondition; readonly reason: WorkReason };

export interface Summary {
  /** In the order of the manifests, followed by left-overs that still exist. */
  readonly outcomes: readonly Outcome[];
  /** Entries to keep unchanged: records of objects that may exist. */
  readonly kept?: readonly ManifestCondition[];
  /** Why the whole Work cannot be applied, for a Work without manifests that could report it. */
  readonly refusal?: string;
  /** Strategy ReportDiff: nothing was applied. */
  readonly isReport?: boolean;
  readonly previous: WorkStatus | undefined;
  readonly generation: number;
  readonly now: number;
}

export function summarise({
  outcomes,
  kept = [],
  refusal,
  isReport = false,
  previous,
  generation,
  now,
}: Summary): WorkStatus {
  const before = new Map((previous?.manifestConditions ?? []).map((entry) => [identityOf(entry.identifier), entry]));
  const findings = isReport ? reportConditions(outcomes) : worksConditions(outcomes, refusal);
  const conditions = findings.map((finding) =>
    nextCondition(conditionOf(previous?.conditions, finding.type), { ...finding, observedGeneration: generation }, now),
  );
  return {
    conditions: [...conditions, ...foreign(previous?.conditions)],
    manifestConditions: [
      ...outcomes.map((outcome) => entryOf(outcome, before.get(identityOf(outcome.identifier)), now, isReport)),
      ...kept,
    ],
  };
}

function entryOf(
  outcome: Outcome,
  before: ManifestCondition | undefined,
  now: number,
  isReport: boolean,
): ManifestCondition {
  const conditions = (isReport ? [reportFinding(outcome)] : manifestFindings(outcome)).map((finding) => {
    const last = conditionOf(before?.conditions, finding.type);
    return nextCondition(last, { ...withDetail(finding, outcome, last), observedGeneration: outcome.generation }, now);
  });
  const cause = outcome.refusal?.cause ?? outcome.cause ?? startFailure(outcome, before);
  return {
    identifier: outcome.identifier,
    conditions,
    ...(cause === undefined ? {} : { cause }),
    ...differenceDetails(outcome, before, now),
    ...backReported(outcome, before, now),
  };
}

/** Its time changes only with the status, so that an idle object causes no write. */
function backReported(
  { observedStatus, refusal }: Outcome,
  before: ManifestCondition | undefined,
  now: number,
): Pick<ManifestCondition, 'backReportedStatus'> {
  if (observedStatus === undefined || refusal !== undefined) return {};
  const known = before?.backReportedStatus;
  if (known !== undefined && deepEqual(known.observedStatus, observedStatus)) return { backReportedStatus: known };
  const fresh = { observedStatus: observedStatus as never, observationTime: kubeTime(now) };
  return { backReportedStatus: fresh };
}

/** The first message is kept: a scheduler's message counts nodes, so each change would be another write. */
function startFailure({ verdict, generation }: Outcome, before: ManifestCondition | undefined) {
  const trouble = isWaitedFor(verdict) ? verdict.trouble : undefined;
  const isKnown =
    before?.cause?.code === trouble?.code &&
    conditionOf(before?.conditions, 'Available')?.observedGeneration === generation;
  return isKnown ? before?.cause : trouble;
}

/**
 * A changed detail is reported only together with another change; by itself it would cause a write for every replica
 * that is added or removed.
 */
function withDetail(
  finding: ManifestFinding,
  { verdict, generation }: Outcome,
  last: Condition | undefined,
): ManifestFinding {
  if (verdict?.is !== 'failed' || verdict.detail === undefined || finding.status !== 'False') return finding;
  const isReported = isReportedAlready(last, { ...finding, observedGeneration: generation });
  return {
    ...finding,
    message: isReported && last !== undefined ? last.message : clipped(`${finding.message}: ${verdict.detail}`),
  };
}

function manifestFindings({ refusal, verdict, note = '', identifier }: Outcome): readonly ManifestFinding[] {
  if (refusal !== undefined) {
    const { reason, message } = refusal;
    return [{ type: 'Applied', status: 'False', reason, message }];
  }
  const applied: ManifestFinding = { type: 'Applied', status: 'True', reason: 'Applied', message: note };
  switch (verdict?.is) {
    case 'available':
      return [applied, { type: 'Available', status: 'True', reason: 'Available', message: '' }];
    case 'untracked':
      return [applied, { type: 'Available', status: 'True', reason: 'NotTrackable', message: '' }];
    case 'not-yet':
    case 'failed': {
      const { trouble } = verdict;
      const cause = trouble === undefined ? '' : ` (${trouble.code})`;
      const message = clipped(`${describe(identifier)} is not available: ${verdict.why}${cause}`);
      const reason = verdict.is === 'failed' ? 'Failed' : 'ManifestNotAvailableYet';
      return [applied, { type: 'Available', status: 'False', reason, message }];
    }
    case undefined:
      return [applied];
  }
}

function reportFinding({ refusal, diffs = [] }: Outcome): ManifestFinding {
  if (refusal !== undefined)
    return { type: 'DiffReported', status: 'False', reason: 'FailedToReportDiff', message: refusal.message };
  const reason = diffs.length === 0 ? 'NoDiffFound' : 'FoundDiff';
  return { type: 'DiffReported', status: 'True', reason, message: '' };
}

// ---- the Work as a whole

function reportConditions(outcomes: readonly Outcome[]): readonly WorkFinding[] {
  const failed = outcomes.flatMap(({ refusal }) => refusal?.message ?? []);
  if (failed.length === 0)
    return [{ type: 'DiffReported', status: 'True', reason: 'AllManifestsDiffReported', message: '' }];
  const causes = failed.slice(0, MAX_NAMED).join('; ');
  const message = clipped(
    `${failed.length} of ${outcomes.length} manifests are not compared: ${causes}${more(failed.length)}`,
  );
  return [{ type: 'DiffReported', status: 'False', reason: 'SomeManifestsHaveNotReportedDiff', message }];
}

function worksConditions(outcomes: readonly Outcome[], refusal: string | undefined): readonly WorkFinding[] {
  const failed = outcomes.filter((outcome) => outcome.refusal !== undefined);
  if (failed.length > 0 || refusal !== undefined) {
    const causes = failed.slice(0, MAX_NAMED).map((outcome) => outcome.refusal?.message ?? '');
    const counted = `${failed.length} of ${outcomes.length} manifests are not applied`;
    const message = clipped(refusal ?? `${counted}: ${causes.join('; ')}${more(failed.length)}`);
    return [{ type: 'Applied', status: 'False', reason: 'SomeManifestsAreNotApplied', message }];
  }
  const applied: WorkFinding = { type: 'Applied', status: 'True', reason: 'AllManifestsApplied', message: '' };
  const waiting = outcomes.filter(({ verdict }) => isWaitedFor(verdict));
  if (waiting.length > 0) {
    const names = waiting.slice(0, MAX_NAMED).map(({ identifier }) => describe(identifier));
    const message = clipped(`not available yet: ${names.join(', ')}${more(waiting.length)}`);
    return [applied, { type: 'Available', status: 'False', reason: 'SomeManifestsAreNotAvailable', message }];
  }
  const blind = outcomes.filter(({ verdict }) => verdict?.is === 'untracked');
  if (blind.length > 0) {
    const names = blind.slice(0, MAX_NAMED).map(({ identifier }) => describe(identifier));
    const message = clipped(`cannot be tracked: ${names.join(', ')}${more(blind.length)}`);
    return [applied, { type: 'Available', status: 'True', reason: 'WorkNotTrackable', message }];
  }
  return [applied, { type: 'Available', status: 'True', reason: 'AllManifestsAvailable', message: '' }];
}

const MAX_NAMED = 3;
const more = (count: number): string => (count > MAX_NAMED ? ` and ${count - MAX_NAMED} more` : '');

const OURS: readonly string[] = ['Applied', 'Available', 'DiffReported', 'StatusTrimmed'] satisfies WorkCondition[];

const foreign = (conditions: readonly Condition[] | undefined): readonly Condition[] =>
  (conditions ?? []).filter(({ type }) => !OURS.includes(type));

// ---- before any write to the member

/**
 * Records the objects that may exist from now on before they are created: each entry is the previous one, or says that
 * the object is about to be applied.
 */
export function writeAhead(
  orders: readonly Order[],
  previous: WorkStatus | undefined,
  now: number,
): readonly ManifestCondition[] {
  const before = new Map((previous?.manifestConditions ?? []).map((entry) => [identityOf(entry.identifier), entry]));
  return orders
    .filter(({ manifest }) => manifest !== undefined)
    .map(({ identifier }) => {
      const known = before.get(identityOf(identifier));
      if (known !== undefined) {
        const { resource } = known.identifier;
        return { ...known, identifier: { ...identifier, ...(resource === undefined ? {} : { resource }) } };
      }
      const preparing: ManifestFinding = {
        type: 'Applied',
        status: 'False',
        reason: 'PreparingToProcess',
        message: '',
        observedGeneration: 0,
      };
      return { identifier, conditions: [nextCondition(undefined, preparing, now)] };
    });
}

// ---- size

/** Size of the whole Work; the API server's own limit is slightly higher. */
export const MAX_WORK_BYTES = 1_415_578;
const SHORT_MESSAGE = 120;
/** A smaller status never makes a storable Work too large. */
const HARMLESS = 64 * 1024;

/**
 * The same status, with short messages if the Work would exceed the limit. `restBytes` is the size of the Work without
 * its status.
 */
export function withinSize(
  status: WorkStatus,
  restBytes: () => number,
  context: Pick<Summary, 'generation' | 'now' | 'previous'>,
): WorkStatus {
  const bytes = Buffer.byteLength(JSON.stringify(status));
  if (bytes <= HARMLESS || bytes + restBytes() <= MAX_WORK_BYTES) return status;
  const trimmed: WorkFinding = {
    type: 'StatusTrimmed',
    status: 'True',
    reason: 'Oversized',
    message: `the Work would be larger than ${MAX_WORK_BYTES} bytes: messages and lists of differences were cut, and mirrored statuses dropped`,
    observedGeneration: context.generation,
  };
  return {
    ...status,
    conditions: [
      ...(status.conditions ?? []),
      nextCondition(conditionOf(context.previous?.conditions, 'StatusTrimmed'), trimmed, context.now),
    ],
    manifestConditions: (status.manifestConditions ?? []).map((entry) => ({
      ...withoutDetails(entry),
      conditions: (entry.conditions ?? []).map((each) => ({ ...each, message: clipped(each.message, SHORT_MESSAGE) })),
    })),
  };
}
