// The input of the staged planner besides rows, and its output: limits, gates and the plan of a run.
import type { Hold } from '../../api/hold.ts';
import type { ObjectRef } from '../../api/object.ts';
import type { RunState, StagedUpdateRunStatus } from '../../api/staged-update-run.ts';
import type { StagedUpdateStrategySpec } from '../../api/staged-update-strategy.ts';
import type { Frozen } from '../freezes/frozen.ts';
import type { Plan } from './planner.ts';

/** The state of an approval gate. */
export type Approval =
  | { readonly state: 'absent' }
  /** The request exists and is not approved; `hint` = why an approval does not count. */
  | { readonly state: 'open'; readonly hint?: string }
  /** Approved, but not accepted yet. */
  | { readonly state: 'approved' }
  | { readonly state: 'accepted' }
  /** From an earlier run of the same name, or created by hand: it must be deleted first. */
  | { readonly state: 'stale'; readonly hint: string; readonly isDeleting: boolean }
  /** The name is taken by a request for something else. */
  | { readonly state: 'foreign' };

export interface StagedLimits {
  readonly strategy: StagedUpdateStrategySpec;
  readonly state: RunState;
  readonly generation: number | undefined;
  readonly stuckAfterMs: number;
  /** How long the run waits for an unreachable cluster; undefined = forever. */
  readonly unreachableAfterMs?: number;
  /** Why a recorded cluster is no target any more; undefined = it still is. */
  left(cluster: string): string | undefined;
  /** Clusters that a Freeze covers: the run does not start or remove anything there. */
  readonly frozen?: Frozen;
  /**
   * Whether this run already gave the row its revision, even if the status does not record it yet; absent = use only
   * the status.
   */
  wasGiven?(row: string): boolean;
  /** Describes another run that rolls out this snapshot; undefined = none is known. */
  bringerOf?(snapshot: string): string | undefined;
  approval(name: string, stage: string): Approval;
  /** Another run that must end before this one may start. */
  readonly rival?: Rival;
  readonly run: ObjectRef;
  readonly placement: ObjectRef;
  readonly approvalRequest: { readonly group: string; readonly kind: string };
  readonly binding: { readonly group: string; readonly kind: string };
  /** The command that starts or resumes the run. */
  readonly howToStart: string;
}

export interface Rival {
  readonly ref: ObjectRef;
  /** It does not end by itself. */
  readonly isStopped: boolean;
  /** The command that resumes it. */
  readonly howToStart: string;
}

export interface Gate {
  readonly name: string;
  readonly stage: string;
  readonly when: 'before' | 'after';
}

export interface StagedPlan extends Plan<StagedUpdateRunStatus> {
  /** Rows that have their desired state but are not released to the work generator yet. */
  readonly release: readonly string[];
  /** Approvals to request. */
  readonly ask: readonly Gate[];
  /** Approval requests to delete, so that they can be created again. */
  readonly discard: readonly string[];
  /** Approvals to accept. */
  readonly accept: readonly string[];
  /** What the run as a whole waits for. */
  readonly gates: readonly Hold[];
  /** Why the run has failed, and the rows and approval requests that prove it. */
  readonly failure?: {
    readonly blame: 'user' | 'internal';
    readonly message: string;
    readonly rows: readonly string[];
    readonly requests?: readonly string[];
  };
}
