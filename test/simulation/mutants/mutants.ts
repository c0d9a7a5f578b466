// The mutants of the runtime and of membership. Add mutants with every new controller.
import type { Mutant } from './mutant.ts';

export const mutants: readonly Mutant[] = [
  // ---- cached state
  {
    name: 'takes absence from a selection for absence from the server',
    danger:
      'What a label hides, or the watch has not told yet, looks deleted: things are removed that are still wanted.',
    file: 'src/runtime/full-objects.ts',
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
    name: 'asks a server and does not keep the answer',
    danger: 'A live read was made, and what a stale cache has is decided by all the same.',
    file: 'src/runtime/informers.ts',
    find: 'for (const object of list.items) emit(informer, informer.cache.answered(object));',
    replace:
      'if (list.items.length > PAGE) for (const object of list.items) emit(informer, informer.cache.answered(object));',
    caughtBy: 'overrides',
    alone: true,
  },
  {
    name: 'never notices that a watch has died',
    danger: 'The controller stands still for ever and says that all is well.',
    file: 'src/runtime/reflector.ts',
    find: 'isDead = true;\n        stop.abort();',
    replace: '',
    caughtBy: 'copies',
  },
  // ---- lost responses
  {
    name: 'remembers one of several lost writes of a step',
    danger: 'The others are written again, although they may have happened.',
    file: 'src/runtime/perform.ts',
    find: "if (look === 'first' || (look",
    replace: "if ((look === 'first' && unsettled.length === 0) || (look",
    caughtBy: 'delivery-two-leaders',
    alone: true,
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
  // ---- two active hubs
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
    find: 'works: view.all(works, place),',
    replace: 'works: view.all(works),',
    caughtBy: 'membership',
    alone: true,
  },
];
