// Mutants of evictions: a budget is useless if two leaders, a stale cache or a crash can exceed it.
import type { Mutant } from './mutant.ts';

export const evictionMutants: readonly Mutant[] = [
  {
    name: 'judges by the bindings of its cache',
    danger: 'A stale cache has clusters as available that failed or were evicted, and the budget is exceeded.',
    file: 'src/hub/eviction/controller.ts',
    find: 'const isAsked = view.isRefreshed?.(family.bindings, part) ?? true;',
    replace: 'const isAsked = true;',
    caughtBy: 'evictions',
    alone: true,
  },
  {
    name: 'counts bindings that the server no longer has',
    danger: 'A stale cache has available clusters that were evicted long ago, and one more is evicted.',
    file: 'src/hub/eviction/controller.ts',
    find: "answer?.has(keyOf(metadata.namespace, metadata.name ?? '')) ?? true",
    replace: "answer?.has(keyOf(metadata.namespace, metadata.name ?? '')) !== undefined",
    caughtBy: 'evictions',
    alone: true,
  },
  {
    name: 'deletes a binding before it has recorded that',
    danger: 'After a crash an eviction that was executed is reported as invalid, or evicts the next binding.',
    file: 'src/hub/eviction/decide.ts',
    find: "if (notes.length > 0) return { steps: [notes], holds: [], again: 'at once', because };",
    replace: "if (notes.length > 1) return { steps: [notes], holds: [], again: 'at once', because };",
    caughtBy: 'evictions',
    alone: true,
  },
  {
    name: 'counts any binding of the cluster as the one that it recorded',
    danger: 'The scheduler has replaced the binding meanwhile, and the next one is evicted, too.',
    file: 'src/hub/eviction/decide.ts',
    find: 'const target = bindings.find(({ metadata }) => metadata.uid === intent.binding);',
    replace:
      'const target = bindings.find(\n      ({ metadata, spec }) => metadata.uid === intent.binding || spec.targetCluster === eviction.spec.clusterName,\n    );',
    caughtBy: 'evictions',
    alone: true,
  },
  {
    name: 'tries a blocked eviction again',
    danger: 'An eviction that was refused is carried out hours later, when nobody expects it.',
    file: 'src/hub/eviction-source.ts',
    find: "conditionOf(conditions, 'Executed') !== undefined;",
    replace: "conditionOf(conditions, 'Executed')?.status === 'True';",
    caughtBy: 'evictions',
    alone: true,
  },
];
