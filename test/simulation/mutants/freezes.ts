// Mutants of freezes: a freeze with exceptions is useless, and one that does not end stops the fleet.
import type { Mutant } from './mutant.ts';

export const freezeMutants: readonly Mutant[] = [
  {
    name: 'removes clusters that are frozen',
    danger: 'During an incident a policy change takes the last copies that work.',
    file: 'src/hub/strategies/plan.ts',
    find: 'remove: planned.remove.filter(isFree),',
    replace: 'remove: planned.remove,',
    caughtBy: 'freezes',
  },
  {
    name: 'hands a new apply strategy to frozen clusters',
    danger: 'Everything is applied anew on a cluster that must be left alone.',
    file: 'src/hub/rollout/decide.ts',
    find: 'if (frozen?.by(targetCluster, member(targetCluster)?.labels) !== undefined) return [];',
    replace: 'if (frozen?.by(targetCluster, {}) !== undefined) return [];',
    caughtBy: 'freezes',
    alone: true,
  },
  {
    name: 'starts frozen clusters of a stage',
    danger: 'A run goes on with a bad release while everybody believes that it is stopped.',
    file: 'src/hub/planners/staged-walk.ts',
    find: 'const frost = hasWanted(row) ? undefined : frozenBy(pass, row);',
    replace: 'const frost = hasWanted(row) ? frozenBy(pass, row) : undefined;',
    caughtBy: 'freezes',
    alone: true,
  },
  {
    name: 'does not wake when a freeze ends by itself',
    danger: 'The maintenance window is over, and the fleet stands still until somebody changes something.',
    file: 'src/hub/freezes/frozen.ts',
    find: '...(ends.length === 0 ? {} : { wakeAt: Math.min(...ends) }),',
    replace: '...(ends.length === 0 ? {} : { wakeAt: Math.max(...ends) + 86_400_000 }),',
    caughtBy: 'freezes',
  },
];
