// All mutants, and which of them a gate tries.
import { deliveryMutants } from './delivery.ts';
import { driftingMutants } from './drifting.ts';
import { evictionMutants } from './evictions.ts';
import { freezeMutants } from './freezes.ts';
import { gitMutants } from './git.ts';
import { keepingMutants } from './keeping.ts';
import { membershipMutants } from './membership.ts';
import type { Mutant } from './mutant.ts';
import { mutants } from './mutants.ts';
import { overrideMutants } from './overrides.ts';
import { partitionedMutants } from './partitioned.ts';
import { schedulingMutants } from './scheduling.ts';
import { stagedMutants } from './staged.ts';
import { wanderingMutants } from './wandering.ts';

export const allMutants: readonly Mutant[] = [
  ...mutants,
  ...membershipMutants,
  ...deliveryMutants,
  ...stagedMutants,
  ...schedulingMutants,
  ...keepingMutants,
  ...driftingMutants,
  ...evictionMutants,
  ...overrideMutants,
  ...freezeMutants,
  ...gitMutants,
  ...partitionedMutants,
  ...wanderingMutants,
];

/** The minimum number of mutants that a gate tries. */
export const MIN_TRIED = 4;

/**
 * The mutants of changed files. If there are few, others are added, which depend on the seed, so that a gate always
 * proves that the simulation can fail. `changed` is undefined if the changes are not known: then all are tried,
 * starting with another one for each seed, because a time box may end first.
 */
export function mutantsFor(
  all: readonly Mutant[],
  changed: readonly string[] | undefined,
  seed: number,
): readonly Mutant[] {
  if (changed === undefined) return rotated(all, seed);
  const touched = all.filter(({ file }) => changed.includes(file));
  const others = all.filter((mutant) => !touched.includes(mutant));
  return [...touched, ...rotated(others, seed).slice(0, Math.max(0, MIN_TRIED - touched.length))];
}

function rotated(mutants: readonly Mutant[], seed: number): readonly Mutant[] {
  const start = mutants.length === 0 ? 0 : seed % mutants.length;
  return [...mutants.slice(start), ...mutants.slice(0, start)];
}
