// The cached projections of staged update runs, their strategies and their approval requests. The stages of a run are
// left out: they list up to a thousand clusters, and only the reconcile of the run itself reads them (Need).
import type { ApprovalRequest, ApprovalRequestSpec, ApprovalRequestStatus } from '../api/approval-request.ts';
import type { Condition } from '../api/conditions.ts';
import type { Resource } from '../api/kind.ts';
import { labels } from '../api/names.ts';
import { conditionOf } from '../api/next-condition.ts';
import type { ObjectMeta } from '../api/object.ts';
import {
  type StagedUpdateRun,
  type StagedUpdateRunSpec,
  type StagedUpdateRunStatus,
  type StageStatus,
  stagesIn,
} from '../api/staged-update-run.ts';
import type { StagedUpdateStrategy, StagedUpdateStrategySpec } from '../api/staged-update-strategy.ts';
import { keyOf } from '../runtime/cache.ts';
import type { Source } from '../runtime/controller.ts';
import { only } from './only.ts';

export interface HubRun {
  readonly metadata: ObjectMeta;
  readonly spec: StagedUpdateRunSpec;
  /** The conditions of the run itself. */
  readonly conditions: readonly Condition[];
  /** The strategy as the run recorded it. */
  readonly strategy?: StagedUpdateStrategySpec;
  readonly resourceIndex?: string;
  /** It has reached a stage, or the gate before one. */
  readonly hasBegun: boolean;
  /** For a failed run: who can fix it. */
  readonly failureCause?: StagedUpdateRunStatus['failureCause'];
}

/** The key of the placement that a run rolls out. */
export const placementOfRun = ({ metadata, spec }: HubRun): string => keyOf(metadata.namespace, spec.placementName);
export const strategyOfRun = ({ metadata, spec }: HubRun): string =>
  keyOf(metadata.namespace, spec.stagedRolloutStrategyName);

/** Indexes: `placement`, `strategy` (their keys). */
export const runSource = (resource: Resource): Source<HubRun> => ({
  on: 'hub',
  resource,
  project(object) {
    const { metadata, spec, status } = object as StagedUpdateRun;
    return {
      metadata: only(metadata, 'generation', 'creationTimestamp', 'deletionTimestamp', 'finalizers', 'annotations'),
      spec,
      conditions: status?.conditions ?? [],
      ...(status?.stagedUpdateStrategySnapshot === undefined ? {} : { strategy: status.stagedUpdateStrategySnapshot }),
      ...(status?.resourceSnapshotIndexUsed === undefined ? {} : { resourceIndex: status.resourceSnapshotIndexUsed }),
      hasBegun: stagesIn(status ?? {}).some(isBegun),
      ...(status?.failureCause === undefined ? {} : { failureCause: status.failureCause }),
    };
  },
  indexes: { placement: (run) => [placementOfRun(run)], strategy: (run) => [strategyOfRun(run)] },
});

/** Started, or waiting at its gate. A run that was stopped at the gate of its first stage has not begun. */
export const isBegun = ({ startTime, conditions }: Pick<StageStatus, 'startTime' | 'conditions'>): boolean =>
  startTime !== undefined || conditionOf(conditions, 'Progressing')?.reason === 'StageUpdatingWaiting';

export const isInitialized = ({ conditions }: Pick<HubRun, 'conditions'>): boolean =>
  conditionOf(conditions, 'Initialized')?.status === 'True';

/** The run is finished: it has succeeded, failed, or could not be initialized. */
export const isOver = ({ conditions }: Pick<HubRun, 'conditions'>): boolean =>
  conditionOf(conditions, 'Initialized')?.status === 'False' ||
  ['True', 'False'].includes(conditionOf(conditions, 'Succeeded')?.status ?? '');

export interface HubStrategy {
  readonly metadata: ObjectMeta;
  readonly spec: StagedUpdateStrategySpec;
}

export const strategySource = (resource: Resource): Source<HubStrategy> => ({
  on: 'hub',
  resource,
  project: (object) => ({
    metadata: only(object.metadata, 'generation', 'deletionTimestamp'),
    spec: (object as StagedUpdateStrategy).spec,
  }),
});

export interface HubApprovalRequest {
  readonly metadata: ObjectMeta;
  readonly spec: ApprovalRequestSpec;
  readonly conditions: readonly Condition[];
  /** The uids of its owners: a run may be created again under the same name, but not its requests. */
  readonly owners: readonly string[];
  /** The approver, if the server records it. */
  readonly approval?: NonNullable<ApprovalRequestStatus['approval']>;
}

/** The key of the run that a request references. */
export const runOfRequest = ({ metadata, spec }: HubApprovalRequest): string =>
  keyOf(metadata.namespace, spec.parentStageRollout);

/** Index: `run`, by label: these requests are deleted with the run. */
export const approvalRequestSource = (resource: Resource): Source<HubApprovalRequest> => ({
  on: 'hub',
  resource,
  project(object) {
    const { metadata, spec, status } = object as ApprovalRequest;
    return {
      metadata: only(metadata, 'generation', 'creationTimestamp', 'deletionTimestamp', 'labels'),
      spec,
      conditions: status?.conditions ?? [],
      owners: (metadata.ownerReferences ?? []).map(({ uid }) => uid),
      ...(status?.approval === undefined ? {} : { approval: status.approval }),
    };
  },
  indexes: {
    run: ({ metadata }) => {
      const run = metadata.labels?.[labels.targetUpdateRun];
      return run === undefined ? [] : [keyOf(metadata.namespace, run)];
    },
  },
});
