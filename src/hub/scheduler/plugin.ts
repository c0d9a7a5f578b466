// What a scheduling plugin is: one rule about clusters. It gives its verdict together with the reason, or a part of the score.
//
// A run prepares every plugin once over one immutable snapshot. What no pick can change (labels, taints, health) is judged once per member;
// what each pick changes (which are taken, how picks are spread) is judged again in every round.
import type { MemberCluster } from '../../api/member-cluster.ts';
import type { PlacementPolicy } from '../../api/placement-policy.ts';

/** The snapshot that a run works on. */
export interface Run {
  readonly policy: PlacementPolicy;
  /** Of a placement that lives in one. */
  readonly namespace?: string;
  /** All of the fleet, the unhealthy and the leaving ones included, in order of name. */
  readonly members: readonly MemberCluster[];
  /** One of them, by name. */
  find(name: string): MemberCluster | undefined;
  /** Clusters whose binding was made under an earlier policy. */
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
  | { readonly is: 'pass' /** What a person should know although it passed. */; readonly note?: string }
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
  /** At most so many picks per round, because a pick changes which cluster is the next best. At least 1; absent = no limit. */
  readonly batchLimit?: number;
  /** Members for which this gives the same text are judged alike in every round, but for those that are taken. Absent = all are. */
  alike?(member: MemberCluster): string;
  /** What a person should know about this member, whether it is picked or not. Asked only for decisions that are reported. */
  note?(member: MemberCluster): string | undefined;
  /** The judge of one round, given who has been picked so far. */
  round?(present: ReadonlySet<string>): Judge;
}

/** A member before and after a change; undefined = it was not known. */
export interface MemberChange {
  readonly older: MemberCluster | undefined;
  readonly newer: MemberCluster;
}

export interface Plugin {
  readonly name: string;
  /** undefined = nothing to say about this policy. */
  prepare(run: Run): Prepared | undefined;
  /** What a user should know about this policy, whatever is picked. The Scheduled condition carries it. */
  remarks?(run: Pick<Run, 'policy' | 'members'>): readonly string[];
  /**
   * Whether a change lets the member be picked under this policy, by something that only this plugin reads. It wakes the placements. Labels of
   * terms and of spread constraints, taints, health and namespaces are compared for all plugins (affected.ts).
   */
  admits?(change: MemberChange, policy: PlacementPolicy): boolean;
}

export const nameOf = (member: MemberCluster): string => member.metadata.name ?? '';
