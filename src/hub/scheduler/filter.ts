// Steps 1 and 2 of a cycle: prepare the plugins for a policy, then filter all members once by everything that picks do
// not change.
import type { MemberCluster } from '../../api/member-cluster.ts';
import { bestFirst } from './best-first.ts';
import { type Judge, nameOf, type Plugin, type Prepared, pass, type Run, type Score } from './plugin.ts';

export interface Candidate {
  readonly member: MemberCluster;
  readonly name: string;
  readonly score: Score;
  readonly notes: readonly string[];
}

export interface Rejection {
  readonly name: string;
  readonly reason: string;
  /** The plugin that rejected it. */
  readonly plugin: string;
}

/** A judge with the name of its plugin. */
type NamedJudge = Judge & { readonly plugin: string };

export interface Filtered {
  /** Sorted by name. */
  readonly candidates: readonly Candidate[];
  /** Sorted by name. */
  readonly rejected: readonly Rejection[];
}

export interface Panel extends Filtered {
  /** Maximum picks per round. */
  readonly batchLimit: number;
  alike(member: MemberCluster): string;
  round(present: ReadonlySet<string>): readonly NamedJudge[];
  /** Notes of plugins about a member besides their verdict. */
  notesOn(member: MemberCluster): readonly string[];
}

const NOTHING: Score = Object.freeze({ topology: 0, affinity: 0, obsolete: 0 });
const NO_NOTES: readonly string[] = Object.freeze([]);

export function filterMembers(run: Run, profile: readonly Plugin[]): Panel {
  const panel = profile.flatMap((plugin): readonly (Prepared & NamedJudge)[] => {
    const prepared = plugin.prepare(run);
    return prepared === undefined ? [] : [{ ...prepared, plugin: plugin.name }];
  });
  const rounds = panel.flatMap(({ plugin, round }) =>
    round === undefined ? [] : [(present: ReadonlySet<string>) => ({ ...round(present), plugin })],
  );
  const alikes = panel.flatMap(({ alike }) => (alike === undefined ? [] : [alike]));
  const [first] = alikes;
  const noters = panel.flatMap(({ note }) => (note === undefined ? [] : [note]));
  return {
    ...judgedMembers(run.members, panel),
    batchLimit: Math.max(1, Math.min(...panel.map((each) => each.batchLimit ?? Number.POSITIVE_INFINITY))),
    alike:
      alikes.length === 1 && first !== undefined ? first : (member) => alikes.map((alike) => alike(member)).join(';'),
    round: (present) => rounds.map((round) => round(present)),
    notesOn: (member) => (noters.length === 0 ? NO_NOTES : noters.flatMap((note) => note(member) ?? [])),
  };
}

function judgedMembers(members: readonly MemberCluster[], judges: readonly NamedJudge[]): Filtered {
  const judge = judging(judges);
  const candidates: Candidate[] = [];
  const rejected: Rejection[] = [];
  for (const member of members) {
    const outcome = judge(member, nameOf(member), NOTHING, NO_NOTES);
    if (outcome === undefined) continue;
    if ('reason' in outcome) rejected.push(outcome);
    else candidates.push(outcome);
  }
  return { candidates, rejected };
}

/**
 * Splits candidates: those that pass every judge, with their scores, and the others with the first reason against them.
 */
export function judged(candidates: readonly Candidate[], judges: readonly NamedJudge[]): Filtered {
  const judge = judging(judges);
  const passed: Candidate[] = [];
  const rejected: Rejection[] = [];
  for (const candidate of candidates) {
    const outcome = judge(candidate.member, candidate.name, candidate.score, candidate.notes, candidate);
    if (outcome === undefined) continue;
    if ('reason' in outcome) rejected.push(outcome);
    else passed.push(outcome);
  }
  return { candidates: passed, rejected };
}

type Order = (a: Candidate, b: Candidate) => number;

/**
 * The best candidates that are not taken, best first. Of candidates that are judged alike, only as many are evaluated
 * as are requested.
 */
export type Picker = (present: ReadonlySet<string>, count: number) => readonly Candidate[];

export function picker({ candidates, alike, round }: Panel, order: Order): Picker {
  const groups = new Map<string, Candidate[]>();
  for (const candidate of candidates) {
    const text = alike(candidate.member);
    const group = groups.get(text);
    if (group === undefined) groups.set(text, [candidate]);
    else group.push(candidate);
  }
  const piles = [...groups.values()].map((group) => ({ nth: bestFirst(group, order), from: 0 }));
  return (present, count) => {
    const judge = judging(round(present));
    const found: Candidate[] = [];
    for (const pile of piles) {
      const isTaken = (each: Candidate | undefined) => each !== undefined && present.has(each.name);
      while (isTaken(pile.nth(pile.from))) pile.from++;
      const enough = found.length + count;
      for (let at = pile.from; found.length < enough; at++) {
        const each = pile.nth(at);
        if (each === undefined) break;
        const outcome = judge(each.member, each.name, each.score, each.notes, each);
        if (outcome === undefined) continue;
        if ('reason' in outcome) break;
        found.push(outcome);
      }
    }
    return firstOf(found, count, order);
  };
}

/** Called for many members, so a judgement allocates nothing but its result. undefined = taken already. */
function judging(judges: readonly NamedJudge[]) {
  const filters = judges.filter(({ filter }) => filter !== undefined);
  const scorers = judges.flatMap(({ score }) => (score === undefined ? [] : [score]));
  return (
    member: MemberCluster,
    name: string,
    score: Score,
    before: readonly string[],
    same?: Candidate,
  ): Candidate | Rejection | undefined => {
    let notes = before;
    for (const { filter, plugin } of filters) {
      const verdict = filter?.(member);
      if (verdict === undefined || verdict === pass) continue;
      if (verdict.is === 'taken') return undefined;
      if (verdict.is === 'unfit') return { name, reason: verdict.reason, plugin };
      if (verdict.note !== undefined) notes = [...notes, verdict.note];
    }
    let { topology, affinity, obsolete } = score;
    for (const scored of scorers) {
      const more = scored(member);
      topology += more.topology ?? 0;
      affinity += more.affinity ?? 0;
      obsolete += more.obsolete ?? 0;
    }
    const isSame =
      notes === before && topology === score.topology && affinity === score.affinity && obsolete === score.obsolete;
    if (isSame && same !== undefined) return same;
    return { member, name, score: isSame ? score : { topology, affinity, obsolete }, notes };
  };
}

/** The best `count` candidates in order; all if there are no more. Does not sort the rest. */
export function firstOf(candidates: readonly Candidate[], count: number, order: Order): readonly Candidate[] {
  if (count * 8 >= candidates.length) return candidates.toSorted(order).slice(0, count);
  const best: Candidate[] = [];
  for (const candidate of candidates) {
    const last = best.at(-1);
    if (best.length === count && last !== undefined && order(candidate, last) >= 0) continue;
    let at = best.length;
    while (at > 0 && order(candidate, best[at - 1] as Candidate) < 0) at--;
    best.splice(at, 0, candidate);
    if (best.length > count) best.pop();
  }
  return best;
}
