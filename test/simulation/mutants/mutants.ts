// The mutants. A new controller brings its own.
import type { Mutant } from './mutant.ts';

export const mutants: readonly Mutant[] = [
  {
    name: 'patches whatever is there',
    file: 'src/runtime/perform.ts',
    before: 'return { ...merge, metadata: { ...metadata, uid, resourceVersion } } as Json;',
    after: 'void resourceVersion; return { ...merge, metadata: { ...metadata, uid } } as Json;',
    scenarios: ['copies'],
    isOnlySeenInSimulation: false,
  },
  {
    name: 'takes a lost write for a failed one',
    file: 'src/runtime/outcome.ts',
    before: "lost: { next: 'again', look: 'first', endsStep: true, level: 'warn' },",
    after: "lost: { next: 'again', endsStep: true, level: 'warn' },",
    scenarios: ['turns'],
    isOnlySeenInSimulation: false,
  },
  {
    name: 'folds in what is older than what is known',
    file: 'src/runtime/cache.ts',
    before: 'if (known !== undefined) return byRevision(at, revisionOf(known)) > 0;',
    after: 'if (known !== undefined) return true;',
    scenarios: ['turns'],
    isOnlySeenInSimulation: false,
  },
  {
    name: 'forgets what happens to a key while it runs',
    file: 'src/runtime/queue.ts',
    before: "if (entry.dirty !== 'fresh') entry.dirty = as;",
    after: '',
    scenarios: ['copies', 'turns'],
    isOnlySeenInSimulation: false,
  },
  {
    name: 'never notices that a watch has died',
    file: 'src/runtime/reflector.ts',
    before: 'isDead = true;',
    after: 'return;',
    scenarios: ['copies'],
    isOnlySeenInSimulation: false,
  },
  {
    name: 'takes over a lease that was renewed meanwhile',
    file: 'src/runtime/leader.ts',
    before: 'const body = { metadata: { uid, resourceVersion }, spec: { ...spec } };',
    after: 'const body = { metadata: { uid }, spec: { ...spec } }; void resourceVersion;',
    scenarios: ['membership'],
    isOnlySeenInSimulation: false,
  },
  {
    name: 'goes on writing after the lease has run out',
    file: 'src/runtime/perform.ts',
    before: "if (!options.mayWrite()) throw new FencedError('no writes any more');",
    after: '',
    scenarios: ['membership'],
    isOnlySeenInSimulation: false,
  },
  {
    name: 'believes that what a lost write did is known before it was looked at',
    file: 'src/runtime/manager.ts',
    before: 'await feeds.look(place, reading.signal);',
    after: 'void feeds.look(place, reading.signal).catch(() => {});',
    scenarios: ['turns'],
    isOnlySeenInSimulation: false,
  },
];
