// Mutants of what an agent leaves to others: objects that it may not take over, and drifts that it may not put back.
import type { Mutant } from './mutant.ts';

export const driftingMutants: readonly Mutant[] = [
  {
    name: 'takes over what differs although only equal objects may be',
    danger: 'Somebody else’s configuration is overwritten by a placement that promised not to.',
    file: 'src/member/apply/judge.ts',
    find: "const diffs = whenToTakeOver === 'IfNoDiff' ? compared",
    replace: "const diffs = whenToTakeOver === 'Never' ? compared",
    caughtBy: 'drifting',
  },
  {
    name: 'takes over although nothing may be taken over',
    danger: 'An object that existed before becomes ours, and is deleted with the placement.',
    file: 'src/member/apply/judge.ts',
    find: "if (!isOurs && strategy.whenToTakeOver === 'Never') {",
    replace: "if (isOurs && strategy.whenToTakeOver === 'Never') {",
    caughtBy: 'drifting',
  },
  {
    name: 'puts a drift back although it is to be left alone',
    danger: 'An emergency fix on a cluster is undone while it is still needed.',
    file: 'src/member/apply/judge.ts',
    find: "if (whenToApply === 'Always' || hashOf(live) !== hashOf(wanted.object)) return undefined;",
    replace: "if (whenToApply === 'Always' || hashOf(live) === hashOf(wanted.object)) return undefined;",
    caughtBy: 'drifting',
  },
];
