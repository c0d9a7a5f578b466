// Summarizes the state of a cluster over its Works. Pure. Only conditions of the present generation of a Work count.
import type { BindingCondition, BindingReason, BindingStatus } from '../../api/binding.ts';
import type { Condition } from '../../api/conditions.ts';
import { labels } from '../../api/names.ts';
import { conditionOf } from '../../api/next-condition.ts';
import { type ResourceIdentifier, withPlaced } from '../../api/selected-resource.ts';
import type { ManifestCondition } from '../../api/work.ts';
import { by } from '../../base/compare.ts';
import { bindingSentence } from '../bindings/binding-sentences.ts';
import type { HubWork } from '../work-source.ts';
import { boundedDetails, boundedFailures } from './bounded-lists.ts';

export interface Said {
  readonly type: BindingCondition;
  readonly status: Condition['status'];
  readonly reason: BindingReason;
  readonly message: string;
}

export interface Summary {
  readonly said: readonly Said[];
  readonly failedPlacements: NonNullable<BindingStatus['failedPlacements']>;
  readonly driftedPlacements: NonNullable<BindingStatus['driftedPlacements']>;
  readonly diffedPlacements: NonNullable<BindingStatus['diffedPlacements']>;
}

const UNTRACKED: readonly string[] = ['WorkNotTrackable', 'SomeManifestsAreNotAvailabilityTrackable'];

/** `isReport`: the strategy is ReportDiff, so nothing is applied or has to become available. */
export function summarise(works: readonly HubWork[], isReport = false): Summary {
  if (isReport) return reported(works);
  const applied = works.map((work) => fresh(work, 'Applied'));
  if (applied.some((each) => each === undefined)) {
    // Differs from KubeFleet: until the member answers, the reason is ApplyInProgress, which no reader takes for a
    // failure.
    return { ...nothing, said: [no('Applied', 'ApplyInProgress', bindingSentence('ApplyInProgress'))] };
  }
  if (applied.some((each) => each?.status === 'False')) {
    const failed = failures(works);
    const message = inWords(failed);
    return {
      said: [no('Applied', 'NotAllWorkHaveBeenApplied', message)],
      failedPlacements: boundedFailures(failed),
      driftedPlacements: boundedDetails(drifts(works), 'observedDrifts'),
      diffedPlacements: boundedDetails(diffs(works), 'observedDiffs'),
    };
  }
  const said = [yes('Applied', 'AllWorkHaveBeenApplied')];
  const available = works.map((work) => fresh(work, 'Available'));
  const driftedPlacements = boundedDetails(drifts(works), 'observedDrifts');
  if (available.some((each) => each === undefined)) {
    const message = 'the cluster has not reported yet whether everything is available';
    return { ...nothing, driftedPlacements, said: [...said, no('Available', 'NotAllWorkAreAvailable', message)] };
  }
  if (available.some((each) => each?.status === 'False')) {
    const failed = failures(works);
    const message = inWords(failed);
    return {
      ...nothing,
      said: [...said, no('Available', 'NotAllWorkAreAvailable', message)],
      failedPlacements: boundedFailures(failed),
      driftedPlacements,
    };
  }
  const untracked = works.filter((work) => UNTRACKED.includes(fresh(work, 'Available')?.reason ?? ''));
  const last: Said =
    untracked.length === 0
      ? yes('Available', 'AllWorkAreAvailable')
      : {
          type: 'Available',
          status: 'True',
          reason: 'NotAllWorkAreAvailabilityTrackable',
          message: `the availability of what Work "${untracked[0]?.metadata.name}" holds cannot be tracked`,
        };
  return { ...nothing, driftedPlacements, said: [...said, last] };
}

function reported(works: readonly HubWork[]): Summary {
  const each = works.map((work) => fresh(work, 'DiffReported'));
  if (each.some((one) => one === undefined))
    return { ...nothing, said: [no('DiffReported', 'DiffReportInProgress', bindingSentence('DiffReportInProgress'))] };
  const diffedPlacements = boundedDetails(diffs(works), 'observedDiffs');
  if (each.every((one) => one?.status === 'True'))
    return { ...nothing, diffedPlacements, said: [yes('DiffReported', 'AllWorkHaveDiffReported')] };
  const failed = failures(works);
  return {
    ...nothing,
    said: [no('DiffReported', 'NotAllWorkHaveDiffReported', inWords(failed))],
    failedPlacements: boundedFailures(failed),
    diffedPlacements,
  };
}

const nothing = { failedPlacements: [], driftedPlacements: [], diffedPlacements: [] };

const yes = (type: BindingCondition, reason: BindingReason): Said => ({
  type,
  status: 'True',
  reason,
  message: bindingSentence(reason),
});
const no = (type: BindingCondition, reason: BindingReason, message: string): Said => ({
  type,
  status: 'False',
  reason,
  message,
});

const fresh = ({ metadata, conditions }: HubWork, type: string): Condition | undefined => {
  const condition = conditionOf(conditions, type);
  return condition?.observedGeneration === metadata.generation ? condition : undefined;
};

const isFailing = (work: HubWork): boolean =>
  ['Applied', 'Available', 'DiffReported'].some((type) => fresh(work, type)?.status === 'False');

type Failed = Summary['failedPlacements'][number];

function failures(works: readonly HubWork[]): readonly Failed[] {
  const of = (work: HubWork, { identifier, conditions, cause }: ManifestCondition): readonly Failed[] => {
    const applied = conditionOf(conditions, 'Applied');
    const other = conditionOf(conditions, 'DiffReported') ?? conditionOf(conditions, 'Available');
    const condition = applied?.status === 'False' ? applied : other;
    if (condition?.status !== 'False') return [];
    return [{ ...objectOf(work, identifier), condition, ...(cause === undefined ? {} : { cause }) }];
  };
  return works
    .filter(isFailing)
    .flatMap((work) => work.reports.flatMap((report) => of(work, report)))
    .toSorted(by(orderOf));
}

function drifts(works: readonly HubWork[]): Summary['driftedPlacements'] {
  return works
    .flatMap((work) =>
      work.reports.flatMap(({ identifier, driftDetails }) =>
        driftDetails === undefined
          ? []
          : [
              {
                ...objectOf(work, identifier),
                observationTime: driftDetails.observationTime,
                targetClusterObservedGeneration: driftDetails.observedInMemberClusterGeneration,
                firstDriftedObservedTime: driftDetails.firstDriftedObservedTime,
                ...(driftDetails.observedDrifts === undefined ? {} : { observedDrifts: driftDetails.observedDrifts }),
              },
            ],
      ),
    )
    .toSorted(by(orderOf));
}

function diffs(works: readonly HubWork[]): Summary['diffedPlacements'] {
  return works
    .flatMap((work) =>
      work.reports.flatMap(({ identifier, diffDetails }) =>
        diffDetails === undefined
          ? []
          : [
              {
                ...objectOf(work, identifier),
                observationTime: diffDetails.observationTime,
                ...(diffDetails.observedInMemberClusterGeneration === undefined
                  ? {}
                  : { targetClusterObservedGeneration: diffDetails.observedInMemberClusterGeneration }),
                firstDiffedObservedTime: diffDetails.firstDiffedObservedTime,
                ...(diffDetails.observedDiffs === undefined ? {} : { observedDiffs: diffDetails.observedDiffs }),
              },
            ],
      ),
    )
    .toSorted(by(orderOf));
}

function objectOf(
  { metadata }: HubWork,
  { group, version, kind, namespace, name }: ManifestCondition['identifier'],
): ResourceIdentifier {
  const envelope = metadata.labels?.[labels.envelopeName];
  const within = metadata.labels?.[labels.envelopeNamespace];
  return {
    ...(group === undefined || group === '' ? {} : { group }),
    version: version ?? '',
    kind: kind ?? '',
    ...(namespace === undefined || namespace === '' ? {} : { namespace }),
    name: name ?? '',
    ...(envelope === undefined
      ? {}
      : {
          envelope: {
            name: envelope,
            ...(within === undefined ? {} : { namespace: within }),
            type: (metadata.labels?.[labels.envelopeWork] ?? 'ConfigMap') as 'ConfigMap',
          },
        }),
  };
}

const orderOf = ({ group = '', version, kind, namespace = '', name, envelope }: ResourceIdentifier): string =>
  [group, version, kind, namespace, name, envelope?.type, envelope?.namespace, envelope?.name].join('/');

/** The first object with its cause, and the number of others. */
function inWords(failed: readonly Failed[]): string {
  const [first] = failed;
  if (first === undefined) return 'the cluster reports no cause';
  const { message, reason } = first.condition;
  const more = failed.length === 1 ? '' : `; and ${failed.length - 1} more`;
  return `${withPlaced(first, message || reason)}${more}`;
}
