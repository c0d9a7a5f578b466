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

/** A gate tries at least so many. */
export const MIN_TRIED = 4;

/**
 * The mutants whose file has changed. If these are few, others follow, which change with the seed: a gate always shows that the simulation
 * can fail. `changed` is undefined when it is not known what has changed: then all are tried, beginning with another one for each seed, since a
 * time box may end first.
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
