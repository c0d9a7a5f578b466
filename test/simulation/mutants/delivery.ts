// Mutants of what delivers: placement, scheduler, rollout, work generator and applier. Each is caught by the simulation; that half of them are
// seen by nothing else is still to be shown, so they are tried with `npm run mutants -- --delivery` and not in CI yet.
import type { Mutant } from './mutant.ts';

export const deliveryMutants: readonly Mutant[] = [
  // ---- delivery: health and budget
  {
    name: 'believes what a binding said of an earlier order',
    danger: 'The next cluster is moved while the last one has not even begun.',
    file: 'src/hub/planners/health.ts',
    find: 'return condition?.observedGeneration === metadata.generation ? condition : undefined;',
    replace: 'return condition;',
    caughtBy: 'delivery',
  },
  {
    name: 'believes what a member said of an earlier Work',
    danger: 'A revision counts as healthy that no cluster has seen.',
    file: 'src/hub/work-generator/summary.ts',
    find: 'return condition?.observedGeneration === metadata.generation ? condition : undefined;',
    replace: 'return condition;',
    caughtBy: 'delivery',
  },
  {
    name: 'spends the budget on removals and once more on updates',
    danger: 'Of two copies one is taken out and the other one moved: nobody serves.',
    file: 'src/hub/planners/rolling.ts',
    find: ' - removing.length;',
    replace: ';',
    caughtBy: 'delivery',
  },
  {
    name: 'takes a copy of which nothing is known for one that is down',
    danger: 'What was just unscheduled most likely works, and is taken away before its successor does.',
    file: 'src/hub/planners/rolling.ts',
    find: "health === 'failed' || health === 'starting' || health === 'diff-failed';",
    replace: "health === 'failed' || health === 'starting' || health === 'diff-failed' || health === 'unknown';",
    caughtBy: 'delivery',
  },
  // ---- delivery: what was placed
  {
    name: 'makes Works before it has promised to clean up',
    danger: 'A binding that is deleted early leaves its Work behind.',
    file: 'src/hub/work-generator/decide.ts',
    find: 'if (!binding.metadata.finalizers?.includes(finalizers.workCleanup)) return hold(observed);',
    replace: '',
    caughtBy: 'delivery',
  },
  {
    name: 'lets a binding go while the member still cleans up',
    danger: 'A successor is placed into what is being deleted.',
    file: 'src/hub/work-generator/decide.ts',
    find: 'if (own.length > 0) {',
    replace: 'if (live.length > 0) {',
    caughtBy: 'delivery',
  },
  {
    name: 'does not find a Work that has lost its labels',
    danger: 'Somebody takes a label away, and what was placed stays for ever.',
    file: 'src/hub/work-generator/decide.ts',
    find: ' || each.metadata.labels?.[labels.parentBinding] === undefined);',
    replace: ');',
    caughtBy: 'delivery',
  },
  {
    name: 'removes nothing that an order no longer names',
    danger: 'What was taken out of the hub stays on the members.',
    file: 'src/member/apply/left-overs.ts',
    find: 'if (identifier.name !== undefined && !inSpec.has(text) && !found.has(text))',
    replace: 'if (identifier.name === undefined && !inSpec.has(text) && !found.has(text))',
    caughtBy: 'delivery',
  },
  {
    name: 'reports on a Work that it is about to change',
    danger: 'What the cluster said of the old content is taken for an answer to the new one.',
    file: 'src/hub/work-generator/decide.ts',
    find: 'return report(observed, writes.length > 0 ? undefined : present, [sure, writes, taken]);',
    replace: 'return report(observed, present.length === 0 ? undefined : present, [sure, writes, taken]);',
    caughtBy: 'delivery',
  },
  {
    name: 'schedules before it has promised to take down',
    danger: 'The placement goes, and its bindings stay.',
    file: 'src/hub/scheduler/decide.ts',
    find: 'held(family, observed.placement),',
    replace: '',
    caughtBy: 'delivery',
  },
  {
    name: 'moves all that are behind at once',
    danger: 'A bad release reaches the whole fleet.',
    file: 'src/hub/planners/rolling.ts',
    find: 'toUpdate.slice(0, Math.max(0, forUpdates))',
    replace: 'toUpdate.slice(0, Math.max(0, forUpdates) + 1)',
    caughtBy: 'delivery',
  },
  {
    name: 'takes a placement down without its bindings',
    danger: 'What was placed stays on every cluster, and nobody is left to remove it.',
    file: 'src/hub/scheduler/decide.ts',
    find: 'if (standing.length > 0) {',
    replace: 'if (standing.length > 99) {',
    caughtBy: 'delivery',
  },
];
