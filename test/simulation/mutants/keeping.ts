// Mutants of what stays on a member: objects of the cluster itself, objects that were never taken over, and those that
// a placement keeps.
import type { Mutant } from './mutant.ts';

export const keepingMutants: readonly Mutant[] = [
  {
    name: 'takes over what belongs to the cluster when a Work names it',
    danger: 'Somebody edits a Work, and the role of every administrator goes with the placement.',
    file: 'src/member/apply/judge.ts',
    find: 'if (own) {',
    replace: 'if (own && live === undefined) {',
    caughtBy: 'keeping',
  },
  {
    name: 'deletes what was taken over although the placement keeps it',
    danger: 'A placement that was asked to give objects back deletes what its owner made.',
    file: 'src/member/apply/taken-over.ts',
    find: '(keeps && isTakenOver(live));',
    replace: '(!keeps && isTakenOver(live));',
    caughtBy: 'keeping',
  },
  {
    name: 'deletes a left-over that it does not own',
    danger: 'An object that the agent never took over is deleted because a Work named it once.',
    file: 'src/member/apply/left-overs.ts',
    find: 'if (others.length === owners.length) return undefined;',
    replace: '',
    caughtBy: 'keeping',
    alone: true,
  },
];
