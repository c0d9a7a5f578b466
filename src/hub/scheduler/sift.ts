// Steps 1 and 2 of a cycle: prepare the plugins for a policy, then pass once over all members with what no pick can change.
import type { MemberCluster } from '../../api/member-cluster.ts';
import { type Judge, nameOf, type Plugin, type Prepared, type Run, type Score } from './plugin.ts';

export interface Candidate {
  readonly member: MemberCluster;
  readonly name: string;
  readonly score: Score;
  readonly notes: readonly string[];
}

export interface Rejection {
  readonly name: string;
  readonly reason: string;
}

export interface Sifted {
  /** In order of name. */
  readonly candidates: readonly Candidate[];
  /** In order of name. */
  readonly rejected: readonly Rejection[];
}

export interface Panel extends Sifted {
  /** A pick changes what the next may be: one per round. */
  readonly oneAtATime: boolean;
  alike(member: MemberCluster): string;
  round(present: ReadonlySet<string>): readonly Judge[];
}

const NOTHING: Score = Object.freeze({ topology: 0, affinity: 0, obsolete: 0 });
const NO_NOTES: readonly string[] = Object.freeze([]);

export function sift(run: Run, profile: readonly Plugin[]): Panel {
  const panel = profile.map((plugin) => plugin.prepare(run)).filter((each) => each !== undefined) as Prepared[];
  const all = run.members.map((member) => ({ member, name: nameOf(member), score: NOTHING, notes: NO_NOTES }));
  const rounds = panel.flatMap(({ round }) => (round === undefined ? [] : [round]));
  return {
    ...judged(all, panel),
    oneAtATime: panel.some((each) => each.oneAtATime),
    alike: (member) => panel.map((each) => each.alike?.(member) ?? '').join(';'),
    round: (present) => rounds.map((round) => round(present)),
  };
}

/** Those that pass every judge, with what each adds to their score, and the others with the first reason against them. */
export function judged(candidates: readonly Candidate[], judges: readonly Judge[]): Sifted {
  const passed: Candidate[] = [];
  const rejected: Rejection[] = [];
  for (const candidate of candidates) {
    const outcome = judge(candidate, judges);
    if (outcome === undefined) continue;
    if ('reason' in outcome) rejected.push(outcome);
    else passed.push(outcome);
  }
  return { candidates: passed, rejected };
}

type Order = (a: Candidate, b: Candidate) => number;

/** Takes one after the other. Of candidates that are judged alike only the first that is not taken needs to be looked at. */
export function picker({ candidates, alike, round }: Panel, order: Order) {
  const groups = new Map<string, Candidate[]>();
  // Last first: who is taken is dropped from the end.
  for (const candidate of candidates.toSorted((a, b) => order(b, a))) {
    const text = alike(candidate.member);
    const group = groups.get(text);
    if (group === undefined) groups.set(text, [candidate]);
    else group.push(candidate);
  }
  return (present: ReadonlySet<string>): Candidate | undefined => {
    const judges = round(present);
    let best: Candidate | undefined;
    for (const group of groups.values()) {
      while (group.length > 0 && present.has(group.at(-1)?.name ?? '')) group.pop();
      const first = group.at(-1);
      const outcome = first === undefined ? undefined : judge(first, judges);
      if (outcome === undefined || 'reason' in outcome) continue;
      if (best === undefined || order(outcome, best) < 0) best = outcome;
    }
    return best;
  };
}

/** undefined = taken already. */
function judge(candidate: Candidate, judges: readonly Judge[]): Candidate | Rejection | undefined {
  const { member, name } = candidate;
  let { score, notes } = candidate;
  for (const { filter } of judges) {
    const verdict = filter?.(member);
    if (verdict === undefined) continue;
    if (verdict.is === 'taken') return undefined;
    if (verdict.is === 'unfit') return { name, reason: verdict.reason };
    if (verdict.note !== undefined) notes = [...notes, verdict.note];
  }
  for (const { score: scored } of judges) if (scored !== undefined) score = sum(score, scored(member));
  return { member, name, score, notes };
}

const sum = (a: Score, b: Partial<Score>): Score => ({
  topology: a.topology + (b.topology ?? 0),
  affinity: a.affinity + (b.affinity ?? 0),
  obsolete: a.obsolete + (b.obsolete ?? 0),
});
