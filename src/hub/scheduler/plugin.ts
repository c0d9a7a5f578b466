// The interface of a scheduling plugin: one rule about clusters, which returns a verdict with its reason, or a part of
// the score.
//
// A run prepares every plugin once over one immutable snapshot. Everything that picks do not change (labels, taints,
// health) is judged once per member; the rest (taken clusters, the spread of picks) is judged again in every round.
import type { MemberCluster } from '../../api/member-cluster.ts';
import type { PlacementPolicy } from '../../api/placement-policy.ts';

/** The snapshot that a run works on. */
export interface Run {
  readonly policy: PlacementPolicy;
  /** The namespace of a ResourcePlacement. */
  readonly namespace?: string;
  /** All members of the fleet, including unhealthy and leaving ones, sorted by name. */
  readonly members: readonly MemberCluster[];
  /** Finds a member by name. */
  find(name: string): MemberCluster | undefined;
  /** Clusters whose binding is from an earlier policy. */
  readonly obsolete: ReadonlySet<string>;
  readonly now: number;
}

/** Compared part by part in this order; the higher one wins. The last part is never stored. */
export interface Score {
  readonly topology: number;
  readonly affinity: number;
  readonly obsolete: number;
}

export type Verdict =
  | { readonly is: 'pass' /* A note for the user, although it passed. */; readonly note?: string }
  /** Neither picked again nor reported as unfit. */
  | { readonly is: 'taken' }
  | { readonly is: 'unfit'; readonly reason: string };

export const pass: Verdict = Object.freeze({ is: 'pass' });
export const taken: Verdict = Object.freeze({ is: 'taken' });
export const passWith = (note: string): Verdict => ({ is: 'pass', note });
export const unfit = (reason: string): Verdict => ({ is: 'unfit', reason });

export interface Judge {
  filter?(member: MemberCluster): Verdict;
  score?(member: MemberCluster): Partial<Score>;
}

export interface Prepared extends Judge {
  /** Maximum picks per round, because a pick changes which cluster is the next best. At least 1; absent = no limit. */
  readonly batchLimit?: number;
  /** Members with the same text are judged alike in every round, unless they are taken. Absent = all are. */
  alike?(member: MemberCluster): string;
  /** A note for the user about this member, picked or not. Called only for decisions that are reported. */
  note?(member: MemberCluster): string | undefined;
  /** The judge of one round, given the picks so far. */
  round?(present: ReadonlySet<string>): Judge;
}

/** A member before and after a change; undefined = it was not cached before. */
export interface MemberChange {
  readonly older: MemberCluster | undefined;
  readonly newer: MemberCluster;
}

export interface Plugin {
  readonly name: string;
  /** undefined = the plugin does not apply to this policy. */
  prepare(run: Run): Prepared | undefined;
  /** Notes for the user about this policy, whatever is picked. They are part of the Scheduled condition. */
  remarks?(run: Pick<Run, 'policy' | 'members'>): readonly string[];
  /**
   * Whether a change makes the member eligible under this policy, by values that only this plugin reads; then the
   * placements are requeued. Labels of terms and of spread constraints, taints, health and namespaces are compared for
   * all plugins (affected.ts).
   */
  admits?(change: MemberChange, policy: PlacementPolicy): boolean;
}

export const nameOf = (member: MemberCluster): string => member.metadata.name ?? '';
