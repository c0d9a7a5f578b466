// Mutants of evictions: a budget that two leaders, a stale cache or a crash can break protects nothing.
import type { Mutant } from './mutant.ts';

export const evictionMutants: readonly Mutant[] = [
  {
    name: 'judges by the bindings of its cache',
    danger: 'A stale cache has clusters as available that failed or were evicted, and the budget is exceeded.',
    file: 'src/hub/eviction/controller.ts',
    find: 'const isAsked = see.wasAsked?.(family.bindings, part) ?? true;',
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
    name: 'forgets which binding it has deleted',
    danger: 'After a crash an eviction that was executed is reported as invalid, or evicts the next binding.',
    file: 'src/hub/eviction/decide.ts',
    find: 'const intent = intentOf(eviction);',
    replace: 'const intent = intentOf({ ...eviction, metadata: {} });',
    caughtBy: 'evictions',
  },
  {
    name: 'tries a blocked eviction again',
    danger: 'An eviction that was refused is carried out hours later, when nobody expects it.',
    file: 'src/hub/eviction-source.ts',
    find: "conditionOf(conditions, 'Executed') !== undefined;",
    replace: "conditionOf(conditions, 'Executed')?.status === 'True';",
    caughtBy: 'evictions',
  },
];
