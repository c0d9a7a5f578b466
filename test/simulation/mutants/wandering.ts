// Mutants of the hand-over of objects between the Works of a binding.
import type { Mutant } from './mutant.ts';

export const wanderingMutants: readonly Mutant[] = [
  {
    name: 'deletes an object that another Work of the binding names',
    danger: 'An object that moves to another Work is deleted and created again: an outage that no budget counts.',
    file: 'src/member/apply/siblings.ts',
    find: '(each) => !isDeleting(each) && (names(each, identifier)',
    replace: '(each) => isDeleting(each) && (names(each, identifier)',
    caughtBy: 'wandering',
  },
  {
    name: 'deletes an object before the other Works of its revision have arrived',
    danger:
      'The Work that an object leaves arrives before the one that it enters, and the object is deleted in between.',
    file: 'src/member/apply/siblings.ts',
    find: '(!isDeleting(own) && isEarlier(each, own))',
    replace: '(isDeleting(own) && isEarlier(each, own))',
    caughtBy: 'wandering',
    alone: true,
  },
  {
    name: 'writes the Works that lose objects before those that gain them',
    danger: 'The member hears that a Work has lost an object before any other Work names it, and deletes it.',
    file: 'src/hub/work-generator/decide.ts',
    find: '[sure, made, changed, taken, told]',
    replace: '[sure, taken, changed, made, told]',
    caughtBy: 'wandering',
    alone: true,
  },
];
