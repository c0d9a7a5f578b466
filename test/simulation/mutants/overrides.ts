// Mutants of overrides: each cluster must get its own content, by its rules and labels.
import type { Mutant } from './mutant.ts';

export const overrideMutants: readonly Mutant[] = [
  {
    name: 'renders once for all clusters of a revision',
    danger: 'Clusters get what was made for another one, with its name and its labels in it.',
    file: 'src/hub/work-generator/rendered.ts',
    find: 'snapshots.map(({ metadata }) => metadata.uid ?? metadata.name), values]',
    replace: 'snapshots.map(({ metadata }) => metadata.uid ?? metadata.name)]',
    caughtBy: 'overrides',
  },
  {
    name: 'compares overrides without the values of their variables',
    danger: 'A label that changes never reaches the cluster: it keeps values of the past.',
    file: 'src/hub/orders/order.ts',
    find: '...(hasValues ? { values } : {}) });',
    replace: '});',
    caughtBy: 'overrides',
  },
  // ---- a stale cache
  {
    name: 'drops an override that its cache does not have',
    danger: 'A stale cache knows nothing of an override that a cluster already has, and takes its changes away.',
    file: 'src/hub/orders/observe.ts',
    find: '  if (ask.length > 0) return { need: [], ask };\n',
    replace: '',
    caughtBy: 'overrides',
    alone: true,
  },
  {
    name: 'takes the newest snapshot of its cache for the newest',
    danger: 'A stale cache has an older snapshot of an override than a cluster has, and puts the cluster back.',
    file: 'src/hub/orders/observe.ts',
    find: '(newest?.index ?? -1) >= Number(index);',
    replace: '(newest?.index ?? Number(index)) >= 0;',
    caughtBy: 'overrides',
    alone: true,
  },
  {
    name: 'asks about cluster-scoped overrides only',
    danger: 'An override of a namespace goes back to what a stale cache has.',
    file: 'src/hub/orders/observe.ts',
    find: '    for (const each of spec.resourceOverrideSnapshots ?? []) named.set(keyOf(each.namespace, each.name), each);\n',
    replace: '',
    caughtBy: 'overrides',
    alone: true,
  },
];
