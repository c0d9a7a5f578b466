// Mutants of staged update runs: what counts as an approval, as done, as in progress and as newest, and what is
// verified before a cluster is updated. Each would let a rollout reach wrong clusters, or fail without a cause.
import type { Mutant } from './mutant.ts';

export const stagedMutants: readonly Mutant[] = [
  // ---- approvals
  {
    name: 'accepts an approval of another generation',
    danger: 'What was approved is not what is asked: a gate opens that nobody opened.',
    file: 'src/hub/staged/approvals.ts',
    find: "if (hint !== undefined) return { state: 'open', hint };",
    replace: '',
    caughtBy: 'staged',
  },
  {
    name: 'takes an approval that names no generation for one of this',
    danger: 'Whatever was approved once, by whatever tool, opens the gate.',
    file: 'src/hub/staged/approvals.ts',
    find: "if (approved?.status !== 'True' || approved.observedGeneration === generation) return undefined;",
    replace:
      "if (approved?.status !== 'True' || (approved.observedGeneration ?? generation) === generation) return undefined;",
    caughtBy: 'staged',
    alone: true,
  },
  {
    name: 'passes a gate on a hope',
    danger: 'What the run has not recorded is decided once more by whoever takes over, and perhaps otherwise.',
    file: 'src/hub/planners/staged.ts',
    find: "const mayMove = isReached && (wasBefore === undefined || isTrue(wasBefore, 'ApprovalRequestApproved'));",
    replace: 'const mayMove = isReached || wasBefore !== undefined;',
    caughtBy: 'staged',
  },
  {
    name: 'accepts a request that it never asked for',
    danger: 'Somebody makes one anew by hand after the gate was passed, and it says that the run has taken it.',
    file: 'src/hub/staged/approvals.ts',
    find: '    if (!isAskedBy(found, run.metadata)) return uncalledFor(family, run, found, now);\n',
    replace: '',
    caughtBy: 'staged',
    alone: true,
  },
  // ---- done and in progress
  {
    name: 'starts the next stage on the old revision',
    danger: 'A cluster that works with what it had before counts as done, and the bad revision is never noticed.',
    file: 'src/hub/planners/staged-walk.ts',
    find: 'const isThere = hasWanted(row) && row.released === true;\n    if (!(isThere',
    replace: 'const isThere = row.has !== undefined && row.released === true;\n    if (!(isThere',
    caughtBy: 'staged',
  },
  {
    name: 'counts concurrency before the write',
    danger: 'What is about to move does not count, so everything moves at once.',
    file: 'src/hub/planners/staged-walk.ts',
    find: 'if (mayMove) (hasWanted(row) ? release : move).push(row.key);\n      underWay.push(cluster);',
    replace: 'if (mayMove) (hasWanted(row) ? release : move).push(row.key);\n      else underWay.push(cluster);',
    caughtBy: 'staged',
  },
  {
    name: 'reports on the orders that are there when it does not know the revision',
    danger: 'A hub that is behind says of the new revision what was true of the old one, and the run goes on.',
    file: 'src/hub/work-generator/decide.ts',
    find: 'if (own.length > 0 && carry.length === own.length) {',
    replace: 'if (own.length > 0) {',
    caughtBy: 'staged-two-leaders',
    alone: true,
  },
  {
    name: 'tells a member before it is said that it may be told',
    danger: 'Whoever moves a cluster and thinks better of it is too late: what was let go once is let go for ever.',
    file: 'src/hub/orders/release.ts',
    find: 'boolean => startedOf(binding) !== undefined ||',
    replace: "boolean => conditionOf(binding.conditions, 'RolloutStarted') !== undefined ||",
    caughtBy: 'staged',
    alone: true,
  },
  {
    name: 'counts the silence of a cluster from its last word',
    danger:
      'The hub finds out late that nobody hears it, and the run goes on without it at once, however long it was to wait.',
    file: 'src/hub/planners/rows.ts',
    find: "const silentSince = Date.parse(conditionOf(member.status?.conditions, 'Healthy')?.lastTransitionTime ?? '');",
    replace:
      "const silentSince = Date.parse(member.status?.agentStatus?.[0]?.lastReceivedHeartbeat ?? conditionOf(member.status?.conditions, 'Healthy')?.lastTransitionTime ?? '');",
    caughtBy: 'staged',
    alone: true,
  },
  // ---- preconditions
  {
    name: 'moves a binding without ascertaining the run',
    danger: 'A hub that is behind goes on with a run that was stopped long ago.',
    file: 'src/hub/staged/decide.ts',
    find: '  }).steps;',
    replace: '  }).steps.slice(1);',
    caughtBy: 'staged-two-leaders',
  },
];
