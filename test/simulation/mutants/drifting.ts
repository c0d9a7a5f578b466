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
  {
    name: 'applies although only differences are asked for, when the first look was lost',
    danger: 'A dry look at a cluster in use changes it.',
    file: 'src/member/apply/one.ts',
    find: "if (one.strategy.type === 'ReportDiff') return onlyReported(one, live);",
    replace: "if (one.strategy.type === 'ReportDiff' && attempt === 1) return onlyReported(one, live);",
    caughtBy: 'drifting',
    alone: true,
  },
  {
    name: 'leaves a record on the member for a report',
    danger: 'A report makes garbage collection answer for objects that were never placed.',
    file: 'src/member/apply/pass.ts',
    find: "if (work.spec.applyStrategy?.type === 'ReportDiff') return reportDiff(input, hub, orders);",
    replace:
      "if (work.spec.applyStrategy?.type === 'ReportDiff' && work.status !== undefined) return reportDiff(input, hub, orders);",
    caughtBy: 'drifting',
  },
  {
    name: 'deletes what is abandoned when the placement is gone before the Works are marked',
    danger: 'A placement that was asked to leave everything deletes everything.',
    file: 'src/hub/work-generator/decide.ts',
    find: 'if (!isAbandoned(binding) || isAbandoned(known)) return keeping;',
    replace: 'if (keeps === undefined || !isAbandoned(binding) || isAbandoned(known)) return keeping;',
    caughtBy: 'drifting',
    alone: true,
  },
  {
    name: 'takes an object that cannot be read for one that is not there, before it is given back',
    danger: 'The API server is busy for a moment, and what was to stay is deleted or keeps our marks.',
    file: 'src/member/apply/taken-over.ts',
    find: "if (error instanceof ApiError && error.reason === 'NotFound') return false;",
    replace: 'if (error instanceof ApiError) return false;',
    caughtBy: 'drifting',
    alone: true,
  },
  {
    name: 'forces its fields on others as soon as one manager is ours',
    danger: 'Server-side apply without force overwrites what somebody else has set.',
    file: 'src/member/apply/server-side.ts',
    find: '(isKnown && writers.every(',
    replace: '(isKnown && writers.some(',
    caughtBy: 'drifting',
  },
];
