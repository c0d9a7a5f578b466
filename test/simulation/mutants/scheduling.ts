// Mutants of the scheduler's watches: after a missed change a placement never gets a cluster.
import type { Mutant } from './mutant.ts';

export const schedulingMutants: readonly Mutant[] = [
  {
    name: 'counts a binding that was given up as one that is there',
    danger: 'A cluster that lost a placement never gets it back when its numbers fit again.',
    file: 'src/hub/scheduler/controller.ts',
    find: 'new Set(liveOn(view, family, nameOf(member)).map(placementKeyOf))',
    replace: "new Set(view.by(family.bindings, 'cluster', nameOf(member)).map(placementKeyOf))",
    caughtBy: 'scheduling',
    alone: true,
  },
  {
    name: 'wakes the first of the placements that a member fits now',
    danger: 'The others stay without a cluster that they ask for, and report that they have all.',
    file: 'src/hub/scheduler/controller.ts',
    find: 'return keysOf(latest).filter((key) => !having.has(key));',
    replace: 'return keysOf(latest)\n      .filter((key) => !having.has(key))\n      .slice(0, 1);',
    caughtBy: 'scheduling',
    alone: true,
  },
  {
    name: 'never hears that the numbers of a member fit',
    danger: 'A policy on properties picks by the numbers of the day on which it was written.',
    file: 'src/hub/scheduler/plugins/cluster-affinity.ts',
    find: 'return fits(newer) && !(older !== undefined && fits(older));',
    replace: 'return fits(newer) && older === undefined;',
    caughtBy: 'scheduling',
  },
];
