// What the staged planner is given besides rows, and what it says: limits, gates and the plan of a run.
import type { Hold } from '../../api/hold.ts';
import type { ObjectRef } from '../../api/object.ts';
import type { RunState, StagedUpdateRunStatus } from '../../api/staged-update-run.ts';
import type { StagedUpdateStrategySpec } from '../../api/staged-update-strategy.ts';
import type { Frozen } from '../freezes/frozen.ts';
import type { Plan } from './planner.ts';

/** How a gate that asks a person is. */
export type Approval =
  | { readonly state: 'absent' }
  /** There, and not approved; `hint` = why an approval does not count. */
  | { readonly state: 'open'; readonly hint?: string }
  /** Approved, and not accepted yet. */
  | { readonly state: 'approved' }
  | { readonly state: 'accepted' }
  /** Of an earlier run of the same name, or made by hand: it must go first. */
  | { readonly state: 'stale'; readonly hint: string; readonly isDeleting: boolean }
  /** It has the name, and is about something else. */
  | { readonly state: 'foreign' };

export interface StagedLimits {
  readonly strategy: StagedUpdateStrategySpec;
  readonly state: RunState;
  readonly generation: number | undefined;
  readonly stuckAfterMs: number;
  /** How long the run waits for an unreachable cluster; undefined = without end. */
  readonly unreachableAfterMs?: number;
  /** Why a recorded cluster is no target any more; undefined = it is one. */
  left(cluster: string): string | undefined;
  /** Clusters that a Freeze covers: the run starts and removes nothing there. */
  readonly frozen?: Frozen;
  /** Whether a row has had the revision because of this run, also if that is not recorded yet; absent = as far as the state tells. */
  wasGiven?(row: string): boolean;
  /** Another run that is about this snapshot, in words; undefined = none is known. */
  bringerOf?(snapshot: string): string | undefined;
  approval(name: string, stage: string): Approval;
  /** Another run that keeps this one from beginning. */
  readonly rival?: Rival;
  readonly run: ObjectRef;
  readonly placement: ObjectRef;
  readonly approvalRequest: { readonly group: string; readonly kind: string };
  readonly binding: { readonly group: string; readonly kind: string };
  /** The command that starts it, or lets it go on. */
  readonly howToStart: string;
}

export interface Rival {
  readonly ref: ObjectRef;
  /** It does not end by itself. */
  readonly isStopped: boolean;
  /** The command that lets it go on. */
  readonly howToStart: string;
}

export interface Gate {
  readonly name: string;
  readonly stage: string;
  readonly when: 'before' | 'after';
}

export interface StagedPlan extends Plan<StagedUpdateRunStatus> {
  /** Rows that have what they should have, and whose members are still to be told. */
  readonly release: readonly string[];
  /** Approvals to ask for. */
  readonly ask: readonly Gate[];
  /** Requests to delete, so that they can be requested again. */
  readonly discard: readonly string[];
  /** Approvals to accept. */
  readonly accept: readonly string[];
  /** What the run as a whole waits for. */
  readonly gates: readonly Hold[];
  /** Why it has failed, and the rows and approval requests that this rests on. */
  readonly failure?: {
    readonly blame: 'user' | 'internal';
    readonly message: string;
    readonly rows: readonly string[];
    readonly requests?: readonly string[];
  };
}
