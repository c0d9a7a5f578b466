// Throws of a seeded die, in the words that generators use.
import { type Random, seededRandom } from '../../../src/base/random.ts';

export interface Dice {
  /** True in so many of a hundred throws. */
  chance(percent: number): boolean;
  /** A whole number from 0 up to, not including, the limit. */
  below(limit: number): number;
  pick<T>(from: readonly T[]): T;
}

export function diceOf(seed: number): Dice {
  const random: Random = seededRandom(seed);
  const below = (limit: number) => Math.floor(random.next() * limit);
  return {
    below,
    chance: (percent) => random.next() * 100 < percent,
    pick: (from) => from[below(from.length)] as (typeof from)[number],
  };
}
