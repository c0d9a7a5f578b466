// Mutants of overrides: what a cluster gets must be its own, by the rules for it, and follow its labels.
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
  {
    name: 'records no rules',
    danger: 'A cluster gets what the rules of an override have for other clusters.',
    file: 'src/hub/overrides/overriding.ts',
    find: 'if (rules.length < snapshot.rules.length)',
    replace: 'if (rules.length > snapshot.rules.length)',
    caughtBy: 'overrides',
  },
];
