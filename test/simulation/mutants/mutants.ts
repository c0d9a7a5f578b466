// The mutants. A new controller brings its own.
import type { Mutant } from './mutant.ts';

export const mutants: readonly Mutant[] = [
  // ---- what is known
  {
    name: 'takes absence from a selection for absence from the server',
    danger:
      'What a label hides, or the watch has not told yet, looks deleted: things are removed that are still wanted.',
    file: 'src/runtime/wholes.ts',
    find: 'if (isSynced && !cache.selection.filtered) isCovered = true;',
    replace: 'if (isSynced) isCovered = true;',
    caughtBy: 'two-copiers',
    alone: true,
  },
  {
    name: 'lists what the server remembers instead of what it has',
    danger:
      'Who begins anew, or lost its watch, knows less than before and takes it for news: done things are done again.',
    file: 'src/runtime/reflector.ts',
    find: 'limit: pageSize, ...(token',
    replace: "limit: pageSize, revision: '0', ...(token",
    caughtBy: 'turns',
    alone: true,
  },
  {
    name: 'hears of a deletion once more and forgets what came after it',
    danger: 'A server that tells again what it told before makes a living object vanish.',
    file: 'src/runtime/cache.ts',
    find: 'return isOver ? drop(key) : undefined;',
    replace: 'return drop(key);',
    caughtBy: 'copies',
  },
  {
    name: 'never notices that a watch has died',
    danger: 'The controller stands still for ever and says that all is well.',
    file: 'src/runtime/reflector.ts',
    find: 'isDead = true;\n        stop.abort();',
    replace: '',
    caughtBy: 'copies',
  },
  // ---- what was lost
  {
    name: 'decides before it has looked what became of a lost write',
    danger: 'A write that did happen is taken for one that did not: two clusters are updated where one may be.',
    file: 'src/runtime/pass.ts',
    find: 'await settle(of, key);\n      seen = await look(of, key);',
    replace: 'seen = await look(of, key);\n      await settle(of, key);',
    caughtBy: 'turns',
  },
  {
    name: 'looks at one of several lost writes',
    danger: 'The others are decided about as if they had never been sent.',
    file: 'src/runtime/pass.ts',
    find: 'await mapLimit([...places], LOOKS_AT_A_TIME,',
    replace: 'await mapLimit([...places].slice(0, 1), LOOKS_AT_A_TIME,',
    caughtBy: 'delivery-two-leaders',
    alone: true,
  },
  // ---- two at once
  {
    name: 'makes sure of nothing',
    danger: 'A patch that changes nothing seems to need no condition; it is there for its condition.',
    file: 'src/runtime/perform.ts',
    find: "const metadata = isObject(merge['metadata']) ? merge['metadata'] : {};",
    replace:
      "if (Object.keys(merge).length === 0) return merge;\n  const metadata = isObject(merge['metadata']) ? merge['metadata'] : {};",
    caughtBy: 'staged-two-leaders',
    alone: true,
  },
  // ---- members
  {
    name: 'lets go of the Works of all members',
    danger: 'One member leaves, and the orders of all others vanish.',
    file: 'src/hub/membership/controller.ts',
    find: 'works: see.all(works, place),',
    replace: 'works: see.all(works),',
    caughtBy: 'membership',
    alone: true,
  },
];
